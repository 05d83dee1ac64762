"""Engines that hang, or end late: what they leave is ended, and a report says what came of it."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pebble import ProcessPool

import pqassay
import processes
from places import GOLDEN_FILES
from pqassay.judge import workers
from pqassay.judge.workers import WorkerLimits
from pqassay.proof import engine_processes, trial
from pqassay.proof.engine_processes import NO_ANSWER, NOT_ASKED, EngineProcesses
from pqassay.proof.engines import ENGINES as REAL
from pqassay.proof.engines import Engine
from pqassay.proof.queries import Query
from pqassay.proof.worker import ProofAnswer
from pqassay.report.renderers.text import render

pytestmark = pytest.mark.slow

SECONDS = 6.0
"""Time of a query that hangs, in which it has to begin; a tenth of what a query has by default."""

PYARROW = next(engine for engine in REAL if engine.name == "pyarrow")

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
"""A program that ends by force alone, and prints a line when it has begun."""


def hanging(path: str, query: Query) -> str:
    """A program that hangs on every file but healthy copies, with a process that it has started."""
    if "healthy-" in path:
        return PYARROW.program(path, query)
    return (
        "import os, signal, subprocess, sys; "
        f"child = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}], stdout=subprocess.PIPE); "
        "child.stdout.readline(); "
        f"open({str(Path.cwd() / 'begun')!r}, 'a').write(f'{{os.getpid()}} {{child.pid}}\\n'); signal.pause()"
    )


HANGING = Engine("hanging", "Hanging", "pyarrow", hanging)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workers, "FAREWELL", 0.5)


@pytest.fixture
def running() -> Iterator[EngineProcesses]:
    """Processes without a time limit, until `limit` gives them one."""
    with EngineProcesses([PYARROW], WorkerLimits(2, timeout=0)) as processes_of_engines:
        yield processes_of_engines


def limit(running: EngineProcesses) -> None:
    """Let what hangs end; what answers is asked before, since on a busy machine it may take long."""
    running.limits = WorkerLimits(2, timeout=SECONDS)


def ended() -> set[bool]:
    """Whether the processes have ended that `hanging` has reported."""
    return {processes.gone(int(pid)) for pid in Path("begun").read_text().split()}


def test_an_engine_that_hangs_on_a_file_is_ended_and_said_to_give_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial, "require_engines", lambda _: (HANGING,))
    monkeypatch.setattr(engine_processes, "TIME_OF_EACH", 0.0)
    monkeypatch.setattr(EngineProcesses, "seconds", lambda self, _: SECONDS if self._begun else None)
    path = GOLDEN_FILES / "sta" / "max-too-small" / "data.parquet"
    report = trial.proved(pqassay.check(path, tier="values", only=["STA-041"]))
    found = report.files[0].findings[0].proof

    assert found is not None
    assert ("refused", [("crashed", NO_ANSWER)]) == (
        found.outcome,
        [(answer.verdict, answer.error) for answer in found.engines],
    )
    assert {True} == ended()
    stream = io.StringIO()
    render(report, stream)
    assert f"Hanging {pa.__version__}  crashed: {NO_ANSWER}\n" in stream.getvalue()


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    """The true rows of a query."""
    table = pa.table({"a": [1]})
    path = tmp_path / "truth.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path


RIGHT = "import pyarrow as pa; result = pa.table({'a': [1]})"
"""A program that answers with them."""


def test_an_engine_that_gave_no_answer_is_not_asked_again_about_the_file(
    running: EngineProcesses, truth: Path
) -> None:
    asked = (hanging("broken", None), truth)  # type: ignore[arg-type]  # of a broken file it does not matter
    running.start(PYARROW, (RIGHT, truth))
    limit(running)

    assert [ProofAnswer(error=NO_ANSWER, has_panicked=True)] == running.ask(PYARROW, "file", [asked], 0)
    assert {True} == ended()
    assert [ProofAnswer(error=NOT_ASKED, has_panicked=True)] == running.ask(PYARROW, "file", [asked], 0)
    assert 1 == len(Path("begun").read_text().splitlines())


def test_what_decodes_has_a_limit_as_well(running: EngineProcesses) -> None:
    limit(running)
    with pytest.raises(TimeoutError):
        running.decode(signal.pause, size=0)
    running.limits = WorkerLimits(2, timeout=0)

    assert os.getpid() != running.decode(os.getpid, size=0)


def test_a_process_that_does_not_even_begin_has_a_limit(
    running: EngineProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pool(*_: object, **__: object) -> ProcessPool:
        return ProcessPool(max_workers=1, initializer=signal.pause, context=workers._CONTEXT)

    monkeypatch.setattr(workers, "new_pool", pool)
    monkeypatch.setattr(engine_processes, "BEGINNING", 0.1)
    limit(running)
    with pytest.raises(TimeoutError):
        running.decode(os.getpid, size=0)


def test_a_process_that_ends_after_its_answer_is_followed_by_another(
    running: EngineProcesses, truth: Path, tmp_path: Path
) -> None:
    answered = tmp_path / "answered"
    os.mkfifo(answered)
    ends = f"lambda: (open({str(answered)!r}).close(), os._exit(3))"  # opened only when it is opened for writing, too
    late = f"import os, threading; threading.Thread(target={ends}).start(); {RIGHT}"

    assert [ProofAnswer(rows=1)] == running.ask(PYARROW, "a", [(late, truth)], 0)
    answered.write_bytes(b"")
    pool = running._pools[PYARROW.process]
    processes.until(lambda: not pool.active, "the process ends")
    assert [ProofAnswer(rows=1)] == running.ask(PYARROW, "a", [(RIGHT, truth)], 0)


LEADS = """
import os, pathlib, signal, subprocess, sys
from pqassay.judge import workers
from pqassay.proof.engines import ENGINES
from pqassay.proof.engine_processes import EngineProcesses

program = (
    "import os, pathlib, signal, subprocess; child = subprocess.Popen(['sleep', '1000']); "
    f"pathlib.Path({sys.argv[1]!r}).write_text(f'{{os.getpid()}} {{child.pid}} .'); signal.pause()"
)
with EngineProcesses(ENGINES, workers.WorkerLimits(2, timeout=0)) as running:
    running.ask(ENGINES[0], "file", [(program, pathlib.Path("truth"))], 0)
"""


def test_an_engine_ends_with_the_command_that_is_killed_and_takes_along_what_it_started(
    tmp_path: Path,
) -> None:
    begun = tmp_path / "begun"

    with processes.started([sys.executable, "-c", LEADS, str(begun)], stderr=processes.DEVNULL) as process:
        processes.until(lambda: begun.exists() and begun.read_text().endswith("."), "the engine begins")
        pids = [int(pid) for pid in begun.read_text().split()[:2]]
        process.kill()
        processes.until(lambda: not any(map(processes.alive, pids)), "the engine and its child end")
