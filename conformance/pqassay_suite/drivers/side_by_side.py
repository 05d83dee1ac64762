"""Work that threads do side by side, and whose results are taken in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, wait
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

GLANCE = 0.5
"""Seconds after which one who waits for a result looks up."""


def in_order(pool: Executor, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield the result of each task, in the order of the tasks; what was not begun when this is left is not done.

    A signal is heard while one waits. `Executor.map` blocks. Python calls no handler for a signal that
    arrived just before, or in another thread, until a result is there, which may take as long as the time
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
