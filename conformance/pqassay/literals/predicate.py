"""Predicates as JSON trees, and their truth on rows of literals.

This is the truth that the runner compares engines with, so it is as plain as possible: SQL's three values of truth, where
a comparison with null is unknown, and a row is kept only where the whole predicate is true.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pqassay_spec.golden.literals import Binary, Float, LongInteger, Value, ValueNotReadableError, read_value

Truth = bool | None
"""``None``: unknown."""

Row = Mapping[str, Value]


class PredicateError(ValueError):
    """A tree that is no predicate, or one that the columns do not fit."""


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""``[op, column, value]``. Text is ordered by code point, bytes by byte, numbers by size; NaN as IEEE 754 says."""


def _negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _all(truths: Sequence[Truth]) -> Truth:
    return False if False in truths else None if None in truths else True


def _any(truths: Sequence[Truth]) -> Truth:
    return _negated(_all([_negated(truth) for truth in truths]))


MEMBERSHIPS: dict[str, Callable[[Truth], Truth]] = {"in": lambda truth: truth, "not in": _negated}
"""``[op, column, [value, ...]]``: equal to one of them, or to none."""

NULL_TESTS: dict[str, bool] = {"is null": True, "is not null": False}
"""``[op, column]``."""

CONNECTIVES: dict[str, Callable[[Sequence[Truth]], Truth]] = {"and": _all, "or": _any}
"""``[op, predicate, ...]``."""

NEGATION = "not"
"""``["not", predicate]``."""


def keeps(tree: Sequence[Any], row: Row) -> bool:
    """True if a row satisfies a predicate.

    >>> keeps(["or", ["=", "n", "a"], ["is null", "n"]], {"n": None})
    True
    >>> keeps(["not", ["in", "n", ["a", None]]], {"n": "b"})  # whether "b" equals null is unknown
    False

    Raises:
        PredicateError: The tree is no predicate, names a column that the row lacks, or compares unlike things.
    """
    return truth_of(tree, row) is True


def truth_of(tree: Sequence[Any], row: Row) -> Truth:
    """The truth of a predicate on a row. See `keeps`."""
    match tree:
        case [str(name), *parts] if name in CONNECTIVES and parts:
            return CONNECTIVES[name]([truth_of(part, row) for part in parts])
        case ["not", part]:
            return _negated(truth_of(part, row))
        case [str(name), str(column)] if name in NULL_TESTS:
            return (_value(column, row) is None) is NULL_TESTS[name]
        case [str(name), str(column), list()] if name in MEMBERSHIPS:
            value = _value(column, row)
            found = [_compared("=", value, literal(item)) for item in cast("list[Any]", tree[2])]
            return MEMBERSHIPS[name](_any(found))
        case [str(name), str(column), item] if name in COMPARISONS:
            return _compared(name, _value(column, row), literal(item))
        case _:
            raise PredicateError(f"{str(tree)[:80]} is no predicate")


def columns_of(tree: Sequence[Any]) -> set[str]:
    """The columns that a predicate names."""
    if tree and (tree[0] in CONNECTIVES or tree[0] == NEGATION):
        return {name for part in tree[1:] for name in columns_of(part)}
    return {str(tree[1])}


def literal(written: Any) -> Value:
    """A value as it stands in a predicate.

    Raises:
        PredicateError: It is none.
    """
    tags: dict[str, Callable[[str], LongInteger | Float | Binary]] = {
        "int": LongInteger,
        "float": Float,
        "bytes": Binary,
    }
    match written:
        case None | str() | int() if not isinstance(written, bool):
            return written
        case {**members} if len(members) == 1 and set(members) <= set(tags):
            ((tag, text),) = members.items()
            try:
                return read_value(tags[str(tag)](str(text)))
            except ValueNotReadableError as error:
                raise PredicateError(str(error)) from None
        case _:
            raise PredicateError(f"{str(written)[:60]} is no value")


def _value(column: str, row: Row) -> Value:
    if column not in row:
        raise PredicateError(f"there is no column {column}")
    return row[column]


def _compared(name: str, left: Value, right: Value) -> Truth:
    if left is None or right is None:
        return None
    kinds = {float if isinstance(value, int) else type(value) for value in (left, right)}
    if len(kinds) > 1:
        raise PredicateError(f"{left!r} cannot be compared with {right!r}")
    if any(isinstance(value, float) and math.isnan(value) for value in (left, right)):
        return name == "!="
    return COMPARISONS[name](left, right)
