"""Field paths as text (``row_groups[0].columns[1].meta_data``), and how to follow them through parsed structures.

The same spelling is used in findings, traces, golden cases and mutations.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, cast

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


@lru_cache(4096)
def steps(path: str) -> tuple[str | int, ...]:
    """Split a path into names and indexes.

    >>> steps("row_groups[0].columns[1].meta_data")
    ('row_groups', 0, 'columns', 1, 'meta_data')

    Raises:
        ValueError: It is not a path.
    """
    parts: list[str | int] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise ValueError(f"{path!r} is not a field path")
        parts.append(match[1] if match[2] is None else int(match[2]))
        position = match.end()
    return tuple(parts)


def get(owner: Any, path: str) -> Any:
    """Follow a path through attributes, members and elements.

    Raises:
        KeyError: Nothing is at the path; the argument is the path.
    """
    for step in steps(path):
        owner = _next(owner, step, path)
    return owner


def put(owner: Any, path: str, value: Any) -> None:
    """Set the value at a path, which must exist (an attribute or member may be ``None``). Raises `KeyError`."""
    *way, last = steps(path)
    for step in way:
        owner = _next(owner, step, path)
    _next(owner, last, path)
    if isinstance(owner, (dict, list)):
        cast("Any", owner)[last] = value
    else:
        setattr(owner, cast("str", last), value)


def _next(owner: Any, step: str | int, path: str) -> Any:
    try:
        if isinstance(owner, (dict, list)):
            return cast("Any", owner)[step]
        return getattr(owner, cast("str", step))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise KeyError(path) from None
