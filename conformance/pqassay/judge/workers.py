"""Judging in worker processes: a crash, a hang or excessive memory affects only one file.

A worker is a fresh process, not a fork of this one, since threads and connections do not survive a fork. Workers receive files in batches
of many small files. If a worker dies or takes too long, its batch is repeated file by file, so that only the cause is `errored`. Reports
come back in the order of the targets.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
import threading
import time
import types
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import connection, forkserver, resource_tracker
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any, TypeVar

from pebble import CONSTS, ProcessExpired, ProcessFuture, ProcessPool

from pqassay.errors import UsageError
from pqassay.judge.one_file import Judged, Settings, judge_all, mistake, unjudged
from pqassay.judge.time_limit import default_seconds, out_of_time
from pqassay.stores.targets import Target
from pqassay.tables.kept import keep_states

BATCH_FILES = 64
"""The largest number of files in a task; a task of one file would spend more time on messages than on judging."""

BATCH_BYTES = 4 << 20
"""The number of bytes at which a task is full; its last file may exceed this."""

MEMORY_GIVEN_LEAST = 512 << 20
"""The least memory limit of a worker in bytes: with less, the decoder's threads fail to start, and it waits for them."""

MEMORY_LEAST = 1 << 30
"""The least default memory of a worker in bytes, even on a small machine."""

MEMORY_SHARE = 0.8
"""The default share of the machine's memory for all workers together."""

WINDOW = 8
"""The number of tasks per worker that are running or waiting to be reported."""

GLANCE = 0.5
"""Seconds between two checks that the workers are alive, while waiting for a result."""

RESTARTS = 3
"""The number of attempts to start workers."""

CONSTS.sleep_unit = 0.02
"""Seconds between two looks of a pool at its workers. With Pebble's 0.1, a check of one small file waits longer than it works."""

FAREWELL = 5.0
"""Seconds for programs started by a worker to clean up; Java removes its folders in this time."""

Result = TypeVar("Result")

JudgeAll = Callable[[Sequence[Target], Settings], list[Judged]]
"""The function that a worker calls for a batch."""


@dataclass(frozen=True)
class WorkerLimits:
    """The number of workers, and the limits of each.

    Attributes:
        jobs: Worker processes.
        timeout: Seconds per file; ``None`` for the default, which grows with the size of the file; 0 for no limit.
        memory: Bytes that a worker may allocate; ``None`` for the default, a share of the machine's memory; 0 for no limit.
    """

    jobs: int = 1
    timeout: float | None = None
    memory: int | None = None

    def seconds(self, targets: Sequence[Target], *, is_deep: bool = False) -> float | None:
        """The time limit in seconds for some files, including files beside them if those are read; ``None`` for no limit."""
        if self.timeout is None:
            sizes = [target.known_size() + (target.size_beside() if is_deep else 0) for target in targets]
            return sum(map(default_seconds, sizes))
        return self.timeout * len(targets) or None

    def bytes_per_worker(self) -> int:
        """The memory limit of one worker in bytes; 0 for no limit, or if the system does not enforce limits."""
        if not limits_memory():
            return 0
        if self.memory is not None:
            return self.memory
        return default_memory(self.jobs)


def machine_memory() -> int:
    """The memory of this machine or its container, in bytes."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError), open(limit, encoding="ascii") as file:  # noqa: PTH123 - no path
            found = min(found, int(file.read()))
    return found


def default_memory(workers: int) -> int:
    """The default memory in bytes of each worker, for a number of workers on one machine."""
    return max(MEMORY_LEAST, int(machine_memory() * MEMORY_SHARE / workers))


def limits_memory() -> bool:
    """Whether this system enforces a limit on the memory of a process. macOS does not."""
    return sys.platform.startswith("linux")


def require_memory(given: int | None) -> None:
    """Make sure that a worker can run with a memory limit.

    Raises:
        UsageError: The limit is too low.
    """
    if given and given < MEMORY_GIVEN_LEAST:
        raise UsageError(f"a worker needs at least {MEMORY_GIVEN_LEAST >> 20} MiB of memory")


def preload() -> None:
    """Start workers from a process that has preloaded their imports. For programs that own their process."""
    global _is_ours  # noqa: PLW0603 - as much of this process as what Python keeps about its helper
    _CONTEXT.set_forkserver_preload([__name__, "pqassay.judge.preloaded"])
    _is_ours = True


_is_ours = False
"""Whether the process that starts workers serves only this pool."""


def _start_deaf() -> None:
    """Start the process that starts workers so that it ignores Ctrl-C from the beginning.

    A terminal sends Ctrl-C to every process, and this process ends the others. Otherwise the helper would print errors while it loads,
    before Python protects it.
    """
    resource_tracker.ensure_running()  # it protects itself later, and then it ends blocked processes
    with undisturbed():
        forkserver.ensure_running()


@contextlib.contextmanager
def undisturbed() -> Generator[None]:
    """A context that delays Ctrl-C until its end; an interruption would leave workers half started or half stopped."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ------------------------------------------------------------------------------------- inside a worker process


def _begin(memory: int, environment: Mapping[str, str], *, leads: bool = False) -> None:
    """Prepare a worker: it ends when told to or when its parent ends, and has a memory limit.

    The environment is that of the run, since the inherited one may be outdated. With ``leads``, the worker and the processes that it starts
    form their own process group.
    """
    if leads:
        os.setpgid(0, 0)
    keep_states()
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # a terminal sends it to all processes; the parent decides when to end
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel, leads), daemon=True).start()
    if memory:
        import resource  # noqa: PLC0415 - there is none in a browser

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        bound = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))


def _end_with(sentinel: int, leads: bool) -> None:
    connection.wait([sentinel])
    if leads:
        os.killpg(0, signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGKILL)


# ------------------------------------------------------------------------------------------ in this process


class _Process(ForkServerProcess):
    """A worker that does not run the main script again, since scripts may not expect that."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - the name that multiprocessing calls
        with _hidden_main():
            return ForkServerProcess._Popen(process_obj)  # noqa: SLF001 - there is no public hook


class _Context(ForkServerContext):
    Process = _Process


_CONTEXT = _Context()
_main_lock = threading.Lock()


@contextlib.contextmanager
def _hidden_main() -> Generator[None]:
    """A context that hides the main script while a process is prepared, so that the process does not import it."""
    with _main_lock:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


class _Pool(ProcessPool):
    """A pool that ends its workers before it closes their connections; otherwise a starting worker would print errors."""

    def _stop_pool(self) -> None:
        if self._pool_manager_loop is not None:
            self._pool_manager_loop.join()
        self._pool_manager.worker_manager.force_stop_workers()  # type: ignore[no-untyped-call]  # as in `stop`
        super()._stop_pool()  # type: ignore[no-untyped-call]  # as in `stop`


def new_pool(workers: int, memory: int, *, leads: bool = False) -> ProcessPool:
    """A pool of worker processes that may each allocate a number of bytes, 0 for no limit; see `_begin`."""
    if _is_ours:
        _start_deaf()
    begin = functools.partial(_begin, leads=True) if leads else _begin
    return _Pool(
        max_workers=workers, initializer=begin, initargs=(memory, dict(os.environ)), context=_CONTEXT
    )


def result_of(pool: ProcessPool, future: ProcessFuture[Result], seconds: float | None) -> Result:
    """Wait for a task. The limit of the pool applies only to tasks that have begun, this limit to any task.

    Raises:
        TimeoutError: The task is not done within the limit.
        BrokenProcessPool: The pool broke and will never do the task. The pool forgets a task that is submitted at the moment when it breaks.
    """
    end = None if seconds is None else time.monotonic() + seconds
    while not wait([future], timeout=GLANCE).done:
        if not pool.active and not future.done():
            raise BrokenProcessPool("the worker processes end at once")
        if end is not None and time.monotonic() > end:
            raise TimeoutError
    return future.result()


def end_group(leader: int) -> None:
    """End the remaining processes in the group of a worker that has ended: first with SIGTERM, then by force."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + FAREWELL
        while left := _group(leader):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, sent)
            if time.monotonic() > end:
                break
            time.sleep(0.05)
        else:
            return


def _group(leader: int) -> list[int]:
    """The processes of a group that are still running."""
    import psutil  # noqa: PLC0415 - few workers lead

    found: list[int] = []
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getpgid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


@dataclass
class _Task:
    """A submitted batch."""

    targets: Sequence[Target]
    future: ProcessFuture[list[Judged]] | None = None
    attempts: int = 0


@dataclass
class _Run:
    """One run over all targets."""

    settings: Settings
    limits: WorkerLimits
    judge: JudgeAll
    pool: ProcessPool = field(init=False)
    has_worked: bool = False

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Create the pool of workers."""
        with undisturbed():
            self.pool = new_pool(self.limits.jobs, self.limits.bytes_per_worker())

    def stop(self) -> None:
        """End all workers at once."""
        with undisturbed():
            self.pool.stop()  # type: ignore[no-untyped-call]  # Pebble's annotations have gaps
            self.pool.join()

    def submit(self, task: _Task) -> None:
        """Submit a batch to the workers."""
        seconds = self.limits.seconds(task.targets, is_deep=self.settings.tier == "values")
        task.attempts += 1
        try:
            with undisturbed():  # the first task starts the workers
                task.future = self.pool.schedule(
                    self.judge, args=(task.targets, self.settings), timeout=seconds
                )
        except RuntimeError:  # the pool is broken; waiting for the result will show that
            task.future = None

    def results(self, batches: Iterator[Sequence[Target]]) -> Iterator[Judged]:
        """Yield the workers' results in order."""
        pending: deque[_Task] = deque()
        while True:
            while len(pending) < WINDOW * self.limits.jobs and (batch := next(batches, None)):
                task = _Task(batch)
                self.submit(task)
                pending.append(task)
            if not pending:
                return
            yield from self._result(pending.popleft(), pending)

    def _result(self, task: _Task, pending: deque[_Task]) -> Sequence[Judged]:
        """The result of a task; empty if it will be tried again."""
        try:
            if task.future is not None and self._is_done(task.future):
                results = task.future.result()
                self.has_worked = True
                return results
        except (BrokenProcessPool, CancelledError):
            pass
        except Exception as error:  # noqa: BLE001 - whatever a worker raised
            if len(task.targets) == 1:
                return [unjudged(task.targets[0], self.settings, self._reason(error, task.targets[0]))]
            alone = [_Task([target]) for target in task.targets]
            for again in alone:
                self.submit(again)
            pending.extendleft(reversed(alone))
            return []
        if task.attempts <= RESTARTS:
            self._restart(task, pending)
            return []
        if not self.has_worked:
            raise UsageError("the worker processes end at once; is there enough memory?")
        return [
            unjudged(target, self.settings, "every worker process crashed on it") for target in task.targets
        ]

    def _is_done(self, future: ProcessFuture[list[Judged]]) -> bool:
        """Wait for a task; ``False`` if the pool broke and will never do it.

        A task that is handed over at the moment at which the pool breaks is forgotten by it.
        """
        while not wait([future], timeout=GLANCE).done:
            if not self.pool.active:
                return future.done()
        return True

    def _restart(self, task: _Task, pending: deque[_Task]) -> None:
        """Begin again with new workers and all that is not done: the old ones are gone."""
        self.stop()
        self.start()
        pending.appendleft(task)
        for again in pending:
            if again.future is None or not again.future.done() or again.future.exception() is not None:
                self.submit(again)

    def _reason(self, error: Exception, target: Target) -> str:
        if isinstance(error, TimeoutError):
            seconds = self.limits.seconds([target], is_deep=self.settings.tier == "values") or 0
            return out_of_time(seconds)
        if isinstance(error, ProcessExpired):
            return f"the process that judged it {how_it_ended(error.exitcode)}"
        if isinstance(error, MemoryError):
            return "there is not enough memory for it"
        return mistake(error)


def judged(
    targets: Sequence[Target], settings: Settings, limits: WorkerLimits, *, judge: JudgeAll = judge_all
) -> Generator[Judged]:
    """Judge files in worker processes; yield the reports in the order of the targets.

    Args:
        targets: The files.
        settings: How to judge them.
        limits: How many workers, and what one may use.
        judge: The function that a worker calls with a batch of files; it must be importable.

    Raises:
        UsageError: The limit on memory is too low, or no worker can be started.
    """
    require_memory(limits.memory)
    run = _Run(settings, limits, judge)
    try:
        yield from run.results(_batches(targets, settings, limits))
    finally:
        run.stop()


def _batches(
    targets: Sequence[Target], settings: Settings, limits: WorkerLimits
) -> Iterator[Sequence[Target]]:
    """Cut the targets into tasks: one file each where values are decoded, many small ones elsewhere."""
    most = BATCH_FILES if settings.tier != "values" else 1
    most = max(1, min(most, len(targets) // (4 * limits.jobs)))
    batch: list[Target] = []
    size = 0
    for target in targets:
        batch.append(target)
        size += target.known_size() if most > 1 else 0
        if len(batch) >= most or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def how_it_ended(code: int) -> str:
    """The way a process ended, by its exit code."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; the system may have run out of memory" if -code == signal.SIGKILL else ""
        return f"was killed by {name}{hint}"
    return f"ended with exit code {code}"
