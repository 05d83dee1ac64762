"""Judging in worker processes: what kills, hangs or bloats one of them costs one file."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
import processes
import wicked_judges
from idx1_files import Idx1File
from places import ROOT
from pqassay.errors import UsageError
from pqassay.judge import workers
from pqassay.judge.one_file import Judged, Settings
from pqassay.judge.workers import WorkerLimits
from pqassay.stores.targets import Target, find

pytestmark = pytest.mark.slow

GOOD = Idx1File().build()
BAD = Idx1File(payload=b"Peru\nSingapura").build()

TIMEOUT = 1
"""Seconds for a file whose worker hangs; see `OnlyForThoseThatHang`."""

REASONS = {
    "kill": "the process that judged it was killed by SIGKILL; the system may have run out of memory",
    "segfault": "the process that judged it was killed by SIGSEGV",
    "hang": f"judging it took longer than {TIMEOUT} s; raise --timeout",
    "deaf": f"judging it took longer than {TIMEOUT} s; raise --timeout",
    "eat": "there is not enough memory for it",
    "exit": "the process that judged it ended with exit code 7",
    "raise": "a mistake in pqassay, please report it: ZeroDivisionError: a mistake",
}


class OnlyForThoseThatHang(WorkerLimits):
    """A limit of time that no good file can exceed, however busy the machine is: only tasks with a file that hangs have it."""

    def seconds(self, targets: Sequence[Target], *, is_deep: bool = False) -> float | None:
        return super().seconds(targets, is_deep=is_deep) if any(map(wicked_judges.hangs, targets)) else None


def environment(*folders: Path) -> dict[str, str]:
    roots = [ROOT / name for name in ("spec", "reference_impl", "conformance", "pipeline")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(path) for path in (*folders, *roots))}


def lake(folder: Path, *names: str, content: bytes = GOOD) -> list[Target]:
    for name in names:
        (folder / f"{name}.parquet").write_bytes(content)
    return find([str(folder)]).targets


def outcomes(results: Iterator[Judged]) -> dict[str, tuple[str, str | None]]:
    return {Path(report.path).stem: (report.outcome, report.error) for report, _ in results}


def test_of_a_batch_only_the_guilty_files_are_errored(tmp_path: Path) -> None:
    names = [f"{letter}{number}" for letter in "aitz" for number in range(10)]
    targets = lake(tmp_path, *names, "kill", "segfault", "hang")
    limits = OnlyForThoseThatHang(jobs=2, timeout=0.2)
    batches = list(workers._batches(targets, Settings("index"), limits))
    found = outcomes(workers.judged(targets, Settings("index"), limits, judge=wicked_judges.wicked))

    assert 5 <= max(len(batch) for batch in batches)
    assert dict.fromkeys(names, "conformant") | dict.fromkeys(["kill", "segfault", "hang"], "errored") == {
        name: outcome for name, (outcome, _) in found.items()
    }
    assert sorted([*names, "hang", "kill", "segfault"]) == list(found)


def test_reports_come_in_the_order_of_the_files_whatever_finishes_first(tmp_path: Path) -> None:
    names = [f"{number:03}" for number in range(12)]
    targets = lake(tmp_path, *names)
    os.mkfifo(tmp_path / wicked_judges.TURN)

    assert names == list(
        outcomes(workers.judged(targets, Settings("values"), WorkerLimits(2), judge=wicked_judges.first_last))
    )


def test_a_run_whose_workers_all_die_still_ends(tmp_path: Path) -> None:
    targets = lake(tmp_path, "a", "b", "c")
    found = outcomes(
        workers.judged(targets, Settings("index"), WorkerLimits(2), judge=wicked_judges.always_dies)
    )

    assert dict.fromkeys(["a", "b", "c"], ("errored", REASONS["kill"])) == found


def test_workers_that_cannot_even_start_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake(tmp_path, "a", "b")
    monkeypatch.setattr(workers, "_begin", wicked_judges.die_at_start)

    with pytest.raises(UsageError, match="the worker processes end at once"):
        pqassay.check(tmp_path, jobs=2)


@pytest.mark.parametrize("tier", ["index", "values"])
def test_the_report_is_the_same_for_any_number_of_jobs(tier: Any, tmp_path: Path) -> None:
    lake(tmp_path, "a", "c", "f")
    lake(tmp_path, "b", "e", content=BAD)
    lake(tmp_path, "d", content=GOOD[:-9])
    (tmp_path / "link.parquet").symlink_to("nowhere")
    (tmp_path / "encrypted.parquet").write_bytes(b"PARE" + GOOD[4:-4] + b"PARE")
    reports = [pqassay.check(tmp_path, tier=tier, jobs=jobs).to_json() for jobs in (None, 1, 2)]

    assert [reports[0]] * 3 == reports
    assert 8 == json.loads(reports[0])["summary"]["files"]


def test_bytes_can_be_judged_in_a_worker() -> None:
    for data in (BAD, bytearray(BAD)):
        assert pqassay.check(data).to_json() == pqassay.check(data, jobs=1).to_json()


def test_a_column_that_unpacks_to_more_than_there_is_costs_one_file(tmp_path: Path) -> None:
    # The pieces share their memory, and one page after the other is written.
    text = pa.chunked_array([pa.array(["a" * (1 << 20)])] * 240)
    pq.write_table(
        pa.table({"nation": text}),
        tmp_path / "bomb.parquet",
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    )
    bomb = Idx1File(data=(tmp_path / "bomb.parquet").read_bytes(), payload=b"a").build()
    (tmp_path / "bomb.parquet").write_bytes(bomb)
    lake(tmp_path, "good")
    report = pqassay.check(tmp_path, tier="values", jobs=1, memory=512 << 20, timeout=0)

    assert len(bomb) < 1 << 20
    assert ["errored", "conformant"] == [file.outcome for file in report.files]
    assert "there is not enough memory for it" == report.files[0].error


def test_time_and_memory_have_defaults_that_fit_the_work() -> None:
    small, large = Target("a", "a", size=0), Target("b", "b", size=500_000_000)

    assert (60, 560, 620) == (
        WorkerLimits().seconds([small]),
        WorkerLimits().seconds([large]),
        WorkerLimits().seconds([small, large]),
    )
    assert (5, 10, None) == (
        WorkerLimits(timeout=5).seconds([large]),
        WorkerLimits(timeout=5).seconds([large, small]),
        WorkerLimits(timeout=0).seconds([large]),
    )
    assert 1 << 30 <= WorkerLimits(jobs=1000).bytes_per_worker() <= WorkerLimits(jobs=1).bytes_per_worker()
    assert (0, 7) == (WorkerLimits(memory=0).bytes_per_worker(), WorkerLimits(memory=7).bytes_per_worker())


def test_small_files_share_a_task_and_large_ones_do_not() -> None:
    small = [Target(f"{number}", "", size=1000) for number in range(1000)]
    large = [Target(f"{number}", "", size=5 << 20) for number in range(10)]

    def sizes(targets: list[Target], tier: Any, jobs: int) -> set[int]:
        return {len(batch) for batch in workers._batches(targets, Settings(tier), WorkerLimits(jobs))}

    assert 64 == max(sizes(small, "index", 2))
    assert {1} == sizes(small, "values", 2)
    assert {1} == sizes(large, "index", 2)
    assert {2, 1} >= sizes(small[:9], "index", 2)


def test_no_jobs_and_a_limit_on_memory_that_no_decoder_can_live_with_are_wrong_usage() -> None:
    with pytest.raises(UsageError, match="jobs must be at least 1, not 0"):
        pqassay.check(GOOD, jobs=0)
    with pytest.raises(UsageError, match="at least 512 MiB"):
        pqassay.check(GOOD, memory=1 << 20)


# ------------------------------------------------------------------------------- the command, as a user starts it


@pytest.fixture
def patched(tmp_path: Path) -> Path:
    """A folder on the path of Python whose ``sitecustomize`` makes the decoder as wicked as the files are called.

    For each file that it begins with, there is one of that name in the folder.
    """
    folder = tmp_path / "patched"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        f"sys.path += [{str(ROOT / 'tests')!r}, *{[str(ROOT / r) for r in ('spec', 'conformance')]!r}]\n"
        "from pathlib import Path\n"
        "from pqassay.judge.workers import WorkerLimits\n"
        "from pqassay.values.decoding import physical\n"
        "from wicked_judges import _obey, hangs\n"
        "native = physical._native\n"
        "def _native(source):\n"
        "    name = Path(source.name).stem\n"
        f"    Path({str(folder)!r}, name).touch()\n"
        "    _obey(name)\n"
        "    return native(source)\n"
        "physical._native = _native\n"
        "seconds = WorkerLimits.seconds\n"
        "def only_for_those_that_hang(limits, targets, **options):\n"
        "    return seconds(limits, targets, **options) if any(map(hangs, targets)) else None\n"
        "WorkerLimits.seconds = only_for_those_that_hang\n"
    )
    return folder


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pqassay", "check", "--config", "none", *arguments]


def test_the_command_survives_whatever_the_decoder_does(tmp_path: Path, patched: Path) -> None:
    folder = tmp_path / "lake"
    folder.mkdir()
    lake(folder, "a", "z", *REASONS)
    limits = ["--jobs", "1", "--timeout", str(TIMEOUT), "--memory", "1G"]
    arguments = ["--tier", "values", "--format", "json", *limits]
    done = processes.run(
        command(*arguments, str(folder)), capture_output=True, text=True, env=environment(patched)
    )
    files = json.loads(done.stdout)["files"]

    assert (4, "") == (done.returncode, done.stderr)
    assert {"a": None, "z": None, **REASONS} == {Path(file["path"]).stem: file.get("error") for file in files}


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "error: interrupted; there is no report\n"),
        (signal.SIGTERM, 143, ""),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_an_interrupted_check_leaves_no_process_and_no_traceback(
    number: int, code: int, words: str, tmp_path: Path, patched: Path
) -> None:
    folder = tmp_path / "lake"
    folder.mkdir()
    lake(folder, "hang", "a", "b")
    with processes.started(
        command("--tier", "values", "--jobs", "2", str(folder)),
        stdout=processes.PIPE,
        stderr=processes.PIPE,
        text=True,
        env=environment(patched),
    ) as process:
        processes.until((patched / "hang").exists, "a worker begins with the file that hangs")
        # Two helpers of Python's, and two workers.
        processes.until(lambda: len(processes.children(process.pid)) >= 4, "all processes are there")
        children = processes.children(process.pid)
        process.send_signal(number)
        out, error = processes.ended(process)

    assert (code, "") == (process.returncode, out)
    if number != signal.SIGKILL:  # Python's own helper says that semaphores were left
        assert words == error
    processes.until(lambda: not any(map(processes.alive, children)), "its processes are gone")


IMPORTS_OF_A_WORKER = """
import sys
from pqassay.judge import preloaded
from pqassay.judge.one_file import Settings, judge_all
from pqassay.stores.targets import find

before = set(sys.modules)
for tier in ("footer", "index", "pages", "values"):
    judge_all(find(sys.argv[1:]).targets, Settings(tier))
print(sorted(name for name in set(sys.modules) - before if name.startswith("pqassay.")))
"""
"""Judges as a worker does, and prints what of the judge had to be imported for that."""


def test_workers_begin_with_all_that_judging_imports(tmp_path: Path) -> None:
    lake(tmp_path, "good")
    lake(tmp_path, "bad", content=BAD)
    pm = ROOT / "golden_files" / "pm" / "all-null"
    done = processes.run(
        [sys.executable, "-c", IMPORTS_OF_A_WORKER, str(tmp_path), str(pm)],
        capture_output=True,
        text=True,
        env=environment(),
    )

    assert ("[]\n", "") == (done.stdout, done.stderr)


INTERRUPTED_HELPER = """
import os, signal
from multiprocessing import forkserver
from pqassay.judge import workers

if __name__ == "__main__":
    workers.preload()
    pool = workers.new_pool(1, 0)
    os.kill(forkserver._forkserver._forkserver_pid, signal.SIGINT)
    print(pool.schedule(os.getppid).result() == forkserver._forkserver._forkserver_pid)
    pool.stop()
    pool.join()
"""
"""Sends what a terminal sends to all processes to the one from which workers are started, while that one loads."""


def test_the_process_from_which_workers_are_started_does_not_hear_the_terminal(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED_HELPER)
    done = processes.run([sys.executable, str(script)], capture_output=True, text=True, env=environment())

    assert (0, "True\n", "") == (done.returncode, done.stdout, done.stderr)


def test_a_script_without_a_main_guard_may_use_jobs(tmp_path: Path) -> None:
    lake(tmp_path, "a", "b")
    script = tmp_path / "script.py"
    script.write_text(
        "import pqassay\n"
        f"report = pqassay.check({str(tmp_path)!r}, tier='values', jobs=2)\n"
        "print(report.summary.conformant, __name__)\n"
    )
    done = processes.run([sys.executable, str(script)], capture_output=True, text=True, env=environment())

    assert (0, "2 __main__\n", "") == (done.returncode, done.stdout, done.stderr)
