"""The processes in which engines answer queries: started on demand, limited in time and memory, ended with all their children."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from pqassay.judge import workers
from pqassay.judge.time_limit import default_seconds
from pqassay.proof.engines import Engine
from pqassay.proof.worker import ProofAnswer, QueryPlan, answers, plan
from pqassay.report.model import Finding

STARTING = 240.0
"""Seconds for an engine's first query, in addition to the time of each query."""

STARTING_AGAIN = 60.0
"""Seconds for a restart of Java, when its files are cached."""

BEGINNING = 60.0
"""Seconds until a process must begin a task, in addition to the time of the answer."""

TIME_OF_EACH = 5.0
"""Additional seconds for each of several queries asked at once, but at most a tenth of the time of one query."""

Found = TypeVar("Found")

Asked = tuple[str, Path]
"""A program, and the path of the file with the true rows."""

ENDINGS = (ProcessExpired, BrokenProcessPool, TimeoutError, MemoryError)
"""Exceptions of processes that did not answer."""

NO_ANSWER = "no answer within the time limit"

NOT_ASKED = "not asked because another query of this file had no answer"

MOST_ENDINGS = 2
"""The number of crashes of an engine's process over one file after which no more queries are asked."""


def ending(error: BaseException) -> str:
    """The reason why a process did not answer."""
    if isinstance(error, TimeoutError):
        return NO_ANSWER
    if isinstance(error, ProcessExpired):
        return f"the process {workers.how_it_ended(error.exitcode)}"
    return str(error) or type(error).__name__


@dataclass
class EngineProcesses:
    """The processes of a run, each started on demand: one for each engine, and one that decodes."""

    engines: Sequence[Engine]
    limits: workers.WorkerLimits
    _pools: dict[str, ProcessPool] = field(default_factory=dict[str, ProcessPool])
    _leaders: dict[str, int] = field(default_factory=dict[str, int])
    _begun: set[str] = field(default_factory=set[str])
    _endings: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._pools):
            self._end(name)

    def seconds(self, size: int) -> float | None:
        """The time limit in seconds for one query of a file of a size in bytes."""
        if self.limits.timeout is None:
            return default_seconds(size)
        return self.limits.timeout or None

    def plan(self, path: str, findings: Sequence[Finding], folder: Path, size: int) -> QueryPlan:
        """See `pqassay.proof.worker.plan`. Raises the error that ends the process."""
        return self.decode(plan, path, findings, folder, size=size)

    def decode(self, work: Callable[..., Found], *arguments: Any, size: int) -> Found:
        """Run a function in the decoding process, on a file of a size in bytes.

        Raises the error that ends it.
        """
        return self._done("", work, arguments, self.seconds(size), limits_memory=True)

    def start(self, engine: Engine, healthy: Asked) -> None:
        """Let an engine first answer a query of a healthy file, so that its start does not count for later queries."""
        if engine.process not in self._begun:
            with contextlib.suppress(*ENDINGS):
                self._ask(engine, [healthy], 0)
            self._begun.add(engine.process)

    def ask(self, engine: Engine, file: str, asked: Sequence[Asked], size: int) -> list[ProofAnswer]:
        """Let an engine answer some queries of a file: all at once or, if its process ends, one by one.

        Args:
            engine: The engine.
            file: The file. After one timeout or two crashes, an engine is not asked about it again.
            asked: The queries.
            size: The size of the file in bytes.
        """
        if self._endings[engine.process, file] >= MOST_ENDINGS:
            return [ProofAnswer(error=NOT_ASKED, has_panicked=True)] * len(asked)
        try:
            return self._ask(engine, asked, size)
        except ENDINGS as error:
            if len(asked) == 1:
                # Waiting or restarting Java repeatedly takes too long.
                is_slow = isinstance(error, TimeoutError) or engine.runs_on_java
                self._endings[engine.process, file] += MOST_ENDINGS if is_slow else 1
                return [ProofAnswer(error=ending(error), has_panicked=True)]
        return [answer for one in asked for answer in self.ask(engine, file, [one], size)]

    def _ask(self, engine: Engine, asked: Sequence[Asked], size: int) -> list[ProofAnswer]:
        """Let an engine answer queries in one process. Raises the error that ends it."""
        seconds = self.seconds(size)
        if seconds is not None:
            seconds += min(TIME_OF_EACH, seconds / 10) * (len(asked) - 1)
            if engine.process not in self._begun:
                seconds += STARTING
            elif engine.runs_on_java and engine.process not in self._leaders:
                seconds += STARTING_AGAIN
        self._begun.add(engine.process)
        limits_memory = not (engine.runs_on_java or engine.reserves_memory)
        return self._done(engine.process, answers, (list(asked),), seconds, limits_memory=limits_memory)

    def _done(
        self,
        name: str,
        work: Callable[..., Found],
        arguments: Sequence[Any],
        seconds: float | None,
        *,
        limits_memory: bool,
    ) -> Found:
        """Run a function in a named process. If an error ends the process, its children are ended, and the error is raised."""
        if name in self._pools and not self._pools[name].active:
            self._end(name)  # it ended after its last answer
        pool = self._pools.get(name)
        if pool is None:
            memory = self.limits.bytes_per_worker() if limits_memory else 0
            pool = self._pools[name] = workers.new_pool(1, memory, leads=True)
        most = None if seconds is None else seconds + BEGINNING
        try:
            if name not in self._leaders:
                self._leaders[name] = workers.result_of(pool, pool.schedule(os.getpid), most)
            return workers.result_of(pool, pool.schedule(work, args=arguments, timeout=seconds), most)
        except ENDINGS:
            self._end(name)
            raise

    def _end(self, name: str) -> None:
        """End a named process, if it exists, and all its children."""
        pool, leader = self._pools.pop(name), self._leaders.pop(name, None)
        pool.stop()  # type: ignore[no-untyped-call]  # Pebble's annotations have gaps
        pool.join()
        if leader is not None:
            workers.end_group(leader)
