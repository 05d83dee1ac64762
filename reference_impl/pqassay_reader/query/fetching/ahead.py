"""Work that is done ahead of the consumer of the results, in order, and never more of it than agreed."""

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
    """The results of a function, in the order of its arguments, some of them worked on before they are asked for.

    Args:
        pool: Works on them; ``None`` to work on each when it is asked for.
        function: What is done.
        items: Its arguments, taken no earlier than needed.
        most: Results that are worked on at once.
        slowly: Whether one is worked on at first, and twice as many after each: for those who may soon have enough.
    """
    left = iter(items)
    first = list(islice(left, 2)) if pool is not None else []
    if pool is None or len(first) < 2:
        # A single item is worked on where it is asked for: to start a thread for it takes longer than to look up a row.
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
                task.exception()  # what is under way still reads the file, which is closed next


__all__ = ["ahead"]
