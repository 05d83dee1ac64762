"""The operators of mutations, for trees of all kinds of files.

An operator takes the tree, a path into it and, if it needs one, a value.  Forms of files that need more define their own
operators under the same names (`pqassay_spec.mutation.file_operators`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias, cast

from pqassay_spec.grammar.field_paths import get, put, steps

Operator: TypeAlias = Callable[[Any, str, Any], None]
"""Takes a tree, a path and a value.

Raises `KeyError` if the path does not exist, and `TypeError` or `ValueError` if the operator does not fit the value.
"""


def add(tree: Any, path: str, to: Any) -> None:
    """Add to a number, or append to text, bytes or a list."""
    put(tree, path, get(tree, path) + to)


def prepend(tree: Any, path: str, to: Any) -> None:
    """Put before text, bytes or a list."""
    put(tree, path, to + get(tree, path))


def remove(tree: Any, path: str, _: Any) -> None:
    """Remove an element of a list, or an optional member."""
    owner, last = owner_of(tree, path)
    get(tree, path)
    if isinstance(owner, list):
        del owner[cast("int", last)]
    elif isinstance(owner, dict):
        raise TypeError("it cannot be absent")
    else:
        put(tree, path, None)


def duplicate(tree: Any, path: str, _: Any) -> None:
    """Insert a copy of an element after it."""
    owner, last = owner_of(tree, path)
    if not isinstance(owner, list) or not isinstance(last, int):
        raise TypeError("only elements of lists are duplicated")
    owner.insert(last + 1, copy.deepcopy(get(tree, path)))


def insert(tree: Any, path: str, to: Any) -> None:
    """Insert an element before an index."""
    owner, last = owner_of(tree, path)
    if not isinstance(owner, list) or not isinstance(last, int):
        raise TypeError("only into lists something is inserted")
    owner.insert(last, to)


def swap(tree: Any, path: str, to: Any) -> None:
    """Exchange the values at two paths."""
    one, other = get(tree, path), get(tree, to)
    put(tree, path, other)
    put(tree, to, one)


OPERATORS: Mapping[str, Operator] = {
    "set": put,
    "add": add,
    "prepend": prepend,
    "remove": remove,
    "duplicate": duplicate,
    "insert": insert,
    "swap": swap,
}
"""The operators that every form of file has."""


def thawed(live: Iterable[str], frozen: Collection[str]) -> set[str]:
    """The live paths, without the frozen paths and everything below them."""
    kept = tuple(f"{path}{end}" for path in frozen for end in (".", "["))
    return {path for path in live if path not in frozen and not path.startswith(kept)}


def owner_of(tree: Any, path: str) -> tuple[Any, str | int]:
    """The object that owns the value at a path, and the name or index of the value in it."""
    last = steps(path)[-1]
    end = len(path) - (len(f"[{last}]") if isinstance(last, int) else len(last))
    return get(tree, path[:end].rstrip(".")) if end > 0 else tree, last
