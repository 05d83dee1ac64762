"""A cache of tables for one check: each table is read once for its list of files, its verdict and its delete files.

A check begins with `kept_states`, whose end clears the cache. A worker process serves one check, and keeps the cache until the process
ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar, Token
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar, cast

Arguments = ParamSpec("Arguments")
Read = TypeVar("Read")

Kept = dict[Any, Any]

_KEPT: ContextVar[Kept | None] = ContextVar("_KEPT", default=None)


def keep_states() -> Token[Kept | None]:
    """Begin a check: from now on, keep the tables that are read, and forget earlier ones."""
    return _KEPT.set({})


@contextlib.contextmanager
def kept_states() -> Generator[None]:
    """A context for one check, which keeps the tables that are read; outside it, nothing is kept."""
    token = keep_states()
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept(read: Callable[Arguments, Read], most: int) -> Callable[Arguments, Read]:
    """A function that caches its results during a check.

    Args:
        read: Reads a part of a table.
        most: The number of results that are kept; the least recently used ones are dropped.
    """
    known = _KEPT.get()
    if known is None:
        return read
    if read not in known:
        known[read] = lru_cache(most)(read)
    return cast("Callable[Arguments, Read]", known[read])
