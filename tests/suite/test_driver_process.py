from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import processes
from pqassay_suite.drivers import process
from pqassay_suite.drivers.excerpt import KEPT
from pqassay_suite.drivers.process import GREATEST_ANSWER, Launcher, Limits, Watch, read_answer_file

pytestmark = pytest.mark.slow


def launched(script: str, folder: Path, limits: Limits | None = None) -> tuple[str, str]:
    """Why a script of sh crashed, if it did, and its stderr."""
    ended = Launcher(limits or Limits()).run(["/bin/sh", "-c", script], folder)
    return ended.crash, ended.stderr


@pytest.mark.parametrize(
    ("script", "crash"),
    [
        ("exit 0", ""),
        ("exit 3", ""),
        ("exit 1", "exit status 1"),
        ("exit 101", "exit status 101"),
        ("kill -SEGV $$", "ended by SIGSEGV"),
        ("kill -ABRT $$", "ended by SIGABRT"),
    ],
)
def test_only_0_and_3_are_no_crash(script: str, crash: str, tmp_path: Path) -> None:
    assert crash == launched(script, tmp_path)[0]


def test_a_driver_does_not_see_what_is_set_for_pqassay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PQASSAY_DRIVERS", "builds")

    assert ("", "\n") == launched('echo "$PQASSAY_DRIVERS" >&2', tmp_path)


WITH_A_CHILD = "sleep 100000 & echo $! > {0}/written; mv {0}/written {0}/child"
"""Starts a child that goes on, and writes its number into a file."""


def test_the_time_limit_ends_a_process_and_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Patient(Watch):
        """Lets a process start its child, however busy the machine is."""

        @property
        def is_over(self) -> bool:
            return (tmp_path / "child").exists() and super().is_over

    monkeypatch.setattr(process, "Watch", Patient)
    script = f"{WITH_A_CHILD.format(tmp_path)}; exec sleep 100000"
    crash, _ = launched(script, tmp_path, Limits(seconds=0.05))

    assert "no answer within the time limit" == crash
    _wait_for_the_end_of_the_child(tmp_path)


def test_a_child_left_behind_is_ended_and_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    # The child outlives the time limit: were it waited for, the answer would come too late.
    assert ("", "") == launched(WITH_A_CHILD.format(tmp_path), tmp_path)
    _wait_for_the_end_of_the_child(tmp_path)


def _wait_for_the_end_of_the_child(folder: Path) -> None:
    child = int((folder / "child").read_text())
    processes.until(lambda: not processes.alive(child), "the child is gone")


def test_stderr_is_kept_shortened_in_the_middle(tmp_path: Path) -> None:
    _, stderr = launched("echo first >&2; head -c 1000000 /dev/zero >&2; echo last >&2", tmp_path)

    assert stderr.startswith("first\n")
    assert stderr.endswith("last\n")
    assert "bytes left out" in stderr
    assert len(stderr) < 3 * KEPT


def test_endless_stderr_is_cut_off_by_the_time_limit(tmp_path: Path) -> None:
    crash, stderr = launched("yes >&2", tmp_path, Limits(seconds=0.1))

    assert "no answer within the time limit" == crash
    assert len(stderr) < 3 * KEPT


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts RLIMIT_DATA")
def test_the_memory_limit_holds() -> None:
    code = "x = bytearray(1 << 30)"
    ended = Launcher(Limits(memory=256 << 20)).run([sys.executable, "-c", code], Path())

    assert "exit status 1" == ended.crash
    assert "MemoryError" in ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts RLIMIT_DATA")
def test_memory_that_is_only_reserved_does_not_count() -> None:
    # What the runtimes of Java, Go and JavaScript do at their start: address space without access.
    code = "import mmap; mmap.mmap(-1, 8 << 30, prot=0)"
    ended = Launcher(Limits(memory=256 << 20)).run([sys.executable, "-c", code], Path())

    assert ("", "") == (ended.crash, ended.stderr)


def test_a_driver_cannot_fill_the_disk(tmp_path: Path) -> None:
    script = f"exec dd if=/dev/zero of={tmp_path}/big bs=1048576 seek=1023 count=4"
    crash, _ = launched(script, tmp_path)
    size = (tmp_path / "big").stat().st_size

    assert crash  # by SIGXFSZ, or by the error that follows where it is ignored
    assert 1 << 30 >= size


def test_stdin_is_empty_and_temporary_files_go_into_the_folder(tmp_path: Path) -> None:
    crash, stderr = launched('cat >&2; echo "$TMPDIR" >&2', tmp_path)

    assert ("", f"{tmp_path}\n") == (crash, stderr)


def test_stop_ends_what_runs_and_starts_nothing_more(tmp_path: Path) -> None:
    launcher = Launcher(Limits(seconds=60))
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(
            launcher.run, ["/bin/sh", "-c", f"touch {tmp_path}/started; sleep 100000"], tmp_path
        )
        try:
            processes.until((tmp_path / "started").exists, "the process runs")
        finally:
            launcher.stop()
        processes.until(run.done, "the process is ended")

    assert "ended by SIGKILL" == run.result().crash
    with pytest.raises(RuntimeError):
        launcher.run(["/bin/sh", "-c", "exit 0"], tmp_path)


def test_an_answer_is_a_regular_file_of_bounded_size(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    with pytest.raises(ValueError, match="no answer was written"):
        read_answer_file(path)
    path.write_bytes(b"{}")

    assert b"{}" == read_answer_file(path)
    os.truncate(path, GREATEST_ANSWER + 1)
    with pytest.raises(ValueError, match="larger than 64 MiB"):
        read_answer_file(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(ValueError, match="not a regular file"):
        read_answer_file(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ValueError, match="not a regular file"):
        read_answer_file(path)
