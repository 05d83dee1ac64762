"""Run work in several threads, and yield the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, wait
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

GLANCE = 0.5
"""Seconds after which waiting for a result is interrupted, so that signals are handled."""


def in_order(pool: Executor, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield the result of each task, in the order of the tasks; when the caller stops early, pending tasks are dropped.

    Signals are handled while it waits. `Executor.map` would block: Python calls no handler for a signal that
    arrived just before, or in another thread, until a result is there. That may take as long as the time
    limit of drivers.
    """
    futures = deque(pool.submit(work, task) for task in tasks)
    try:
        while futures:
            while not wait([futures[0]], timeout=GLANCE).done:
                pass
            yield futures.popleft().result()
    finally:
        for future in futures:
            future.cancel()
