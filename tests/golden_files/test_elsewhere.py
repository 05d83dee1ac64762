"""An engine in a process of its own: what it does to that, it does not do to the tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import processes
from elsewhere import EngineDiedError, Worker
from engines import WHOLE
from places import GOLDEN_FILES

pytestmark = pytest.mark.slow

PATH = GOLDEN_FILES / "pqf" / "numbers" / "data.parquet"


def test_an_engine_that_hangs_is_ended_and_named_with_its_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    silent = tmp_path / "silent.parquet"
    os.mkfifo(silent)  # to open it waits for somebody who writes
    with Worker() as worker:
        assert 1 == len(worker.ask("fastparquet", PATH, [WHOLE]))
        worker.limit = 1
        with pytest.raises(
            processes.HungError, match=f"^fastparquet had not answered about {silent} after 1 s$"
        ):
            worker.ask("fastparquet", silent, [WHOLE])

    assert not processes.alive(worker.pid)
    assert "fastparquet" in capfd.readouterr().err  # what its threads did


def test_an_engine_that_ends_its_process_is_followed_by_another() -> None:
    with Worker() as worker:
        answers = worker.ask("pyarrow", PATH, [WHOLE])
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(EngineDiedError, match=f"^pyarrow ended its process over {PATH}$"):
            worker.ask("pyarrow", PATH, [WHOLE])
        assert answers == worker.ask("pyarrow", PATH, [WHOLE])

    assert not processes.alive(worker.pid)
