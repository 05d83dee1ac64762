"""A cache of tables for one check: each table is read once, for the list of its files, for its own verdict and for its delete files.

A check begins with `kept_states`, and its end lets go of what is kept.  A worker process serves one check, and keeps it until it ends.
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
    """Begin a check: keep what is read of tables from now on, and forget that of before."""
    return _KEPT.set({})


@contextlib.contextmanager
def kept_states() -> Generator[None]:
    """Keep what is read of tables until the end of the block, which is one check; outside of any, nothing is kept."""
    token = keep_states()
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept(read: Callable[Arguments, Read], most: int) -> Callable[Arguments, Read]:
    """A function that returns again what was read in this check.

    Args:
        read: Reads something of a table.
        most: How much of it is kept; what was not asked for longest is read again.
    """
    known = _KEPT.get()
    if known is None:
        return read
    if read not in known:
        known[read] = lru_cache(most)(read)
    return cast("Callable[Arguments, Read]", known[read])
