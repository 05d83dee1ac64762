"""The limit of time for one file that is judged in this process."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

import pqassay
from idx1_files import Idx1File
from pqassay.judge import file_check, one_file, time_limit


def test_one_job_in_this_process_has_the_default_limit_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "slow", "z"):
        (tmp_path / f"{name}.parquet").write_bytes(b"" if name == "slow" else Idx1File().build())
    usual = file_check.check_source

    def check_source(source: Any, *arguments: Any, **options: Any) -> Any:
        if "slow" in source.name:
            threading.Event().wait()
        return usual(source, *arguments, **options)

    monkeypatch.setattr(one_file, "check_source", check_source)
    monkeypatch.setattr(time_limit, "TIMEOUT_BASE", 0.3)
    monkeypatch.setattr(
        time_limit, "TIMEOUT_BYTES_PER_SECOND", 1
    )  # a quarter of an hour for those that hold something
    report = pqassay.check(tmp_path, tier="index", jobs=1)

    assert {"a": None, "slow": "judging it took longer than 0 s; raise --timeout", "z": None} == {
        Path(file.path).stem: file.error for file in report.files
    }
    assert signal.SIG_DFL is signal.getsignal(signal.SIGALRM)


def test_an_alarm_of_the_program_stays_its_own() -> None:
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        with time_limit.limited(0.01):
            assert (0.0, 0.0) == signal.getitimer(signal.ITIMER_REAL)
            assert signal.SIG_IGN is signal.getsignal(signal.SIGALRM)
        assert signal.SIG_IGN is signal.getsignal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
