"""Files of strangers are decoded in processes of ours: what hangs there costs one file, within a limit that no driver sets."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

import processes
from pqassay_suite.drivers import inspector
from pqassay_suite.drivers.inspector import Inspector
from pqassay_suite.drivers.process import Limits
from pqassay_suite.drivers.written_file import Inspection
from pqassay_suite.own_files import file_survey
from pqassay_suite.own_files.file_survey import Survey, Surveyor

HANGS = "import os, pathlib, signal; pathlib.Path('begun').write_text(str(os.getpid())); signal.pause()"

LIMITS = Limits(seconds=0.5)
"""By the clock ten times that: a hundredth of what such a process has."""


@pytest.fixture(autouse=True)
def decoders_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Every process that decodes hangs; it is ended by the end of the test."""
    monkeypatch.chdir(tmp_path)
    for module in (inspector, file_survey):
        monkeypatch.setattr(module, "own_program", lambda *_: [sys.executable, "-S", "-c", HANGS])
        monkeypatch.setattr(module, "LIMITS", LIMITS)
    yield
    assert processes.gone(int(Path("begun").read_text()))


def test_a_written_file_whose_decoding_hangs_is_told_by_how_it_ended() -> None:
    looking = Inspector()

    assert "no answer within the time limit" == looking.inspect(Inspection("a.parquet", {}, []))
    looking.close()


def test_a_file_of_somebody_whose_decoding_hangs_is_errored() -> None:
    looking = Surveyor()

    assert Survey("errored", error="no answer within the time limit") == looking.survey(Path("a.parquet"))
    looking.close()
