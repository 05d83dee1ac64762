"""Process items ahead of the consumer of the results, in order and with a limit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(
    pool: Executor | None,
    function: Callable[[Item], Result],
    items: Iterable[Item],
    most: int,
    *,
    slowly: bool = False,
) -> Iterator[Result]:
    """Yield the results of a function, in the order of its arguments; some are computed before they are requested.

    Args:
        pool: Runs the function; ``None`` to run it when a result is requested.
        function: The function.
        items: Its arguments, taken no earlier than needed.
        most: Most results that are computed at the same time.
        slowly: Whether to start with one and double the number after each result: for callers that may soon have enough.
    """
    left = iter(items)
    first = list(islice(left, 2)) if pool is not None else []
    if pool is None or len(first) < 2:
        # A single item is processed by the caller: starting a thread for it takes longer than looking up a row.
        yield from map(function, chain(first, left))
        return
    waiting: deque[Future[Result]] = deque()
    allowed = 1 if slowly else most
    try:
        for item in chain(first, left):
            waiting.append(pool.submit(function, item))
            if len(waiting) >= allowed:
                yield waiting.popleft().result()
                allowed = min(2 * allowed, most)
        while waiting:
            yield waiting.popleft().result()
    finally:
        for task in waiting:
            task.cancel()
        for task in waiting:
            if not task.cancelled():
                task.exception()  # running tasks still read the file, which is closed next


__all__ = ["ahead"]
