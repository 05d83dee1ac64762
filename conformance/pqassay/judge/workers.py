"""Judging in worker processes: what kills, hangs or bloats one of them costs one file.

A worker is a fresh process, never a copy of this one, whose threads and connections would not survive that.  The files
go to the workers in batches, small files many at a time.  When a worker dies or takes too long, its batch is done again
file by file, so that only the guilty one is `errored`.  Reports come back in the order of the targets, whatever
finished first.
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

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from pqassay.errors import UsageError
from pqassay.judge.one_file import Judged, Settings, judge_all, mistake, unjudged
from pqassay.judge.time_limit import default_seconds, out_of_time
from pqassay.stores.targets import Target
from pqassay.tables.kept import keep_states

BATCH_FILES = 64
"""Files that one task holds at most; a task of one file would spend more on messages than on judging."""

BATCH_BYTES = 4 << 20
"""Bytes that one task holds at most, except the file that goes beyond."""

MEMORY_GIVEN_LEAST = 512 << 20
"""Bytes that a worker must be given: with less, threads of the decoder fail to start, and it waits for them."""

MEMORY_LEAST = 1 << 30
"""Bytes that a worker has by default even on a small machine."""

MEMORY_SHARE = 0.8
"""Part of the machine's memory that all workers together have by default."""

WINDOW = 8
"""Tasks per worker that are under way or wait for their turn to be reported."""

GLANCE = 0.5
"""Seconds between two looks at whether the workers are still there, while one waits for a result."""

RESTARTS = 3
"""Attempts at starting workers before giving up."""

FAREWELL = 5.0
"""Seconds that what a worker started has for tidying up; Java removes its folders then."""

Result = TypeVar("Result")

JudgeAll = Callable[[Sequence[Target], Settings], list[Judged]]
"""The work on a batch in a worker."""


@dataclass(frozen=True)
class WorkerLimits:
    """The number of workers, and what one of them may use.

    Attributes:
        jobs: Worker processes.
        timeout: Seconds per file; ``None`` for the default, which grows with the size of the file; 0 for no limit.
        memory: Bytes that a worker may allocate; ``None`` for the default, a share of the machine's; 0 for no limit.
    """

    jobs: int = 1
    timeout: float | None = None
    memory: int | None = None

    def seconds(self, targets: Sequence[Target], *, is_deep: bool = False) -> float | None:
        """Time for judging some files, with what is beside them if that is read as well; ``None`` for any."""
        if self.timeout is None:
            sizes = [target.known_size() + (target.size_beside() if is_deep else 0) for target in targets]
            return sum(map(default_seconds, sizes))
        return self.timeout * len(targets) or None

    def bytes_per_worker(self) -> int:
        """Memory of one worker; 0 for any, and where the system would not enforce it."""
        if not limits_memory():
            return 0
        if self.memory is not None:
            return self.memory
        return default_memory(self.jobs)


def machine_memory() -> int:
    """Bytes of memory that this machine has, or that its container may use."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError), open(limit, encoding="ascii") as file:  # noqa: PTH123 - no path
            found = min(found, int(file.read()))
    return found


def default_memory(workers: int) -> int:
    """Bytes that each of a number of workers of one machine has by default."""
    return max(MEMORY_LEAST, int(machine_memory() * MEMORY_SHARE / workers))


def limits_memory() -> bool:
    """Whether this system enforces a limit on the memory of a process. macOS does not."""
    return sys.platform.startswith("linux")


def require_memory(given: int | None) -> None:
    """Make sure that a worker can live with the memory that it is given.

    Raises:
        UsageError: It cannot.
    """
    if given and given < MEMORY_GIVEN_LEAST:
        raise UsageError(f"a worker needs at least {MEMORY_GIVEN_LEAST >> 20} MiB of memory")


def preload() -> None:
    """Have workers started from a process that has loaded what they need. For programs that own their process."""
    global _is_ours  # noqa: PLW0603 - as much of this process as what Python keeps about its helper
    _CONTEXT.set_forkserver_preload([__name__, "pqassay.judge.preloaded"])
    _is_ours = True


_is_ours = False
"""Whether the process from which workers are started serves this pool alone."""


def _start_deaf() -> None:
    """Start the process from which workers are started so that it never hears Ctrl-C.

    A terminal sends that to every process. This one ends the others; without this, the helper would complain while it
    loads, which is before Python protects it.
    """
    resource_tracker.ensure_running()  # it protects itself, and where it does, it ends what is blocked
    with undisturbed():
        forkserver.ensure_running()


@contextlib.contextmanager
def undisturbed() -> Generator[None]:
    """Keep Ctrl-C until the end of the block, which leaves workers half started or half stopped if it is cut short."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ------------------------------------------------------------------------------------- inside a worker process


def _begin(memory: int, environment: Mapping[str, str], *, leads: bool = False) -> None:
    """Prepare a worker: it ends at once when told to or when its parent is gone, and cannot take all memory.

    The environment is that of the run: the one that a worker is born with may be from long before.  A worker that leads is in a group of
    processes of its own, with all that it starts.
    """
    if leads:
        os.setpgid(0, 0)
    keep_states()
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent says when to end
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
    """A worker that does not run the main script again, which need not expect that."""

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
    """Hide the main script while a process is prepared, so that it is not named as something to import."""
    with _main_lock:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


class _Pool(ProcessPool):
    """A pool that ends its workers before it takes away what connects them: a worker that just begins would complain."""

    def _stop_pool(self) -> None:
        if self._pool_manager_loop is not None:
            self._pool_manager_loop.join()
        self._pool_manager.worker_manager.force_stop_workers()  # type: ignore[no-untyped-call]  # as in `stop`
        super()._stop_pool()  # type: ignore[no-untyped-call]  # as in `stop`


def new_pool(workers: int, memory: int, *, leads: bool = False) -> ProcessPool:
    """Worker processes that may allocate a number of bytes each, 0 for any; see `_begin`."""
    if _is_ours:
        _start_deaf()
    begin = functools.partial(_begin, leads=True) if leads else _begin
    return _Pool(
        max_workers=workers, initializer=begin, initargs=(memory, dict(os.environ)), context=_CONTEXT
    )


def result_of(pool: ProcessPool, future: ProcessFuture[Result], seconds: float | None) -> Result:
    """Wait for a task; the limit of the pool holds for a worker that has begun with it, this one for any.

    Raises:
        TimeoutError: It is not done within the limit.
        BrokenProcessPool: The pool broke and will never do it. A task that is handed over at the moment at which the pool breaks is forgotten by it.
    """
    end = None if seconds is None else time.monotonic() + seconds
    while not wait([future], timeout=GLANCE).done:
        if not pool.active and not future.done():
            raise BrokenProcessPool("the worker processes end at once")
        if end is not None and time.monotonic() > end:
            raise TimeoutError
    return future.result()


def end_group(leader: int) -> None:
    """End the remaining processes of the group of a worker that has ended: first with SIGTERM, then by force."""
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
    """The processes of a group that have not ended."""
    import psutil  # noqa: PLC0415 - few workers lead

    found: list[int] = []
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getpgid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


@dataclass
class _Task:
    """A batch under way."""

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
        """Make a pool of workers."""
        with undisturbed():
            self.pool = new_pool(self.limits.jobs, self.limits.bytes_per_worker())

    def stop(self) -> None:
        """End all workers, whatever they are doing."""
        with undisturbed():
            self.pool.stop()  # type: ignore[no-untyped-call]  # Pebble's annotations have gaps
            self.pool.join()

    def submit(self, task: _Task) -> None:
        """Hand a batch to the workers."""
        seconds = self.limits.seconds(task.targets, is_deep=self.settings.tier == "values")
        task.attempts += 1
        try:
            with undisturbed():  # the first task starts the workers
                task.future = self.pool.schedule(
                    self.judge, args=(task.targets, self.settings), timeout=seconds
                )
        except RuntimeError:  # the pool is broken; waiting for the result will find out
            task.future = None

    def results(self, batches: Iterator[Sequence[Target]]) -> Iterator[Judged]:
        """Yield what the workers say, in order."""
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
        """The result of a task; nothing if it is tried again."""
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
