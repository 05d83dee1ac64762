"""Predicates as JSON trees, and their truth on rows of literals.

The runner compares engines with this code, so it is as plain as possible. It uses SQL's three truth values: a comparison with null is
unknown, and a row is kept only if the whole predicate is true.
"""

from __future__ import annotations

import decimal
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from pqassay_spec.golden.literals import (
    BinaryLiteral,
    Date,
    Decimal,
    Float,
    List,
    LongInteger,
    Map,
    Struct,
    Time,
    Timestamp,
    Value,
    ValueNotReadableError,
    read_value,
)

Truth = bool | None
"""A truth value; ``None`` means unknown."""

Row = Mapping[str, Value]


class PredicateError(ValueError):
    """A tree that is not a predicate, or does not fit the columns."""


@dataclass(frozen=True)
class Semantics:
    """The comparison of floats where readers differ.

    Attributes:
        nan: NaN is ``unordered``, as in IEEE 754, or equal to itself and the ``greatest`` value.
        zeros: The two zeros are ``equal``, or ``apart`` with the negative zero less.
    """

    nan: Literal["unordered", "greatest"] = "unordered"
    zeros: Literal["equal", "apart"] = "equal"


IEEE = Semantics()
"""The semantics of IEEE 754, and of SQL in most engines."""


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Comparisons, ``[op, column, value]``. Text is ordered by code point, bytes by byte, numbers, dates and times by size."""


def _negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _all(truths: Sequence[Truth]) -> Truth:
    return False if False in truths else None if None in truths else True


def _any(truths: Sequence[Truth]) -> Truth:
    return _negated(_all([_negated(truth) for truth in truths]))


MEMBERSHIPS: dict[str, Callable[[Truth], Truth]] = {"in": lambda truth: truth, "not in": _negated}
"""Memberships, ``[op, column, [value, ...]]``: equal to one of the values, or to no value."""

NULL_TESTS: dict[str, bool] = {"is null": True, "is not null": False}
"""Null tests, ``[op, column]``."""

CONNECTIVES: dict[str, Callable[[Sequence[Truth]], Truth]] = {"and": _all, "or": _any}
"""Connectives, ``[op, predicate, ...]``."""

NEGATION = "not"
"""Negation, ``["not", predicate]``."""


def keeps(tree: Sequence[Any], row: Row, semantics: Semantics = IEEE) -> bool:
    """Whether a row satisfies a predicate.

    >>> keeps(["or", ["=", "n", "a"], ["is null", "n"]], {"n": None})
    True
    >>> keeps(["not", ["in", "n", ["a", None]]], {"n": "b"})  # whether "b" equals null is unknown
    False
    >>> keeps([">", "x", 1], {"x": float("nan")}, Semantics(nan="greatest"))
    True

    Raises:
        PredicateError: The tree is not a predicate, names a column that the row lacks, or compares unlike things.
    """
    return truth_of(tree, row, semantics) is True


def truth_of(tree: Sequence[Any], row: Row, semantics: Semantics = IEEE) -> Truth:
    """The truth of a predicate on a row. See `keeps`."""
    match tree:
        case [str(name), *parts] if name in CONNECTIVES and parts:
            return CONNECTIVES[name]([truth_of(part, row, semantics) for part in parts])
        case ["not", part]:
            return _negated(truth_of(part, row, semantics))
        case [str(name), str(column)] if name in NULL_TESTS:
            return (_value(column, row) is None) is NULL_TESTS[name]
        case [str(name), str(column), list()] if name in MEMBERSHIPS:
            value = _value(column, row)
            items = cast("list[Any]", tree[2])
            found = [_compared("=", value, literal(item), semantics) for item in items]
            return MEMBERSHIPS[name](_any(found))
        case [str(name), str(column), item] if name in COMPARISONS:
            return _compared(name, _value(column, row), literal(item), semantics)
        case _:
            raise PredicateError(f"{str(tree)[:80]} is not a predicate")


def columns_of(tree: Sequence[Any]) -> set[str]:
    """The columns that a predicate names."""
    if tree and (tree[0] in CONNECTIVES or tree[0] == NEGATION):
        return {name for part in tree[1:] for name in columns_of(part)}
    return {str(tree[1])}


def literal(written: Any) -> Value:
    """The Python value of a literal in a predicate.

    Raises:
        PredicateError: The literal is not valid.
    """
    match written:
        case None | bool() | str() | int():
            return written
        case {**members} if len(members) == 1 and set(members) <= set(_TAGS):
            ((tag, text),) = members.items()
            try:
                return read_value(_TAGS[str(tag)](str(text)))
            except ValueNotReadableError as error:
                raise PredicateError(str(error)) from None
        case _:
            raise PredicateError(f"{str(written)[:60]} is not a value")


_Tagged = LongInteger | Float | BinaryLiteral | Decimal | Date | Time | Timestamp

_TAGS: dict[str, Callable[[str], _Tagged]] = {
    "int": LongInteger,
    "float": Float,
    "bytes": BinaryLiteral,
    "decimal": Decimal,
    "date": Date,
    "time": Time,
    "timestamp": Timestamp,
}
"""The tagged values that predicates may have."""


def _value(column: str, row: Row) -> Value:
    if column not in row:
        raise PredicateError(f"there is no column {column}")
    return row[column]


def _compared(name: str, left: Value, right: Value, semantics: Semantics) -> Truth:
    if left is None or right is None:
        return None
    (kind, one), (other_kind, other) = _comparable(left), _comparable(right)
    if kind != other_kind:
        raise PredicateError(f"{left!r} cannot be compared with {right!r}")
    if kind == _NUMBER:
        if semantics.nan == "unordered" and (_is_nan(one) or _is_nan(other)):
            return name == "!="
        return COMPARISONS[name](_number_key(one, semantics), _number_key(other, semantics))
    return COMPARISONS[name](one, other)


_NUMBER = "number"


def _is_nan(value: float) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _number_key(value: float, semantics: Semantics) -> tuple[bool, float, bool]:
    """The sort key of a number: whether it is NaN, its size, and the sign of a zero if the zeros are apart.

    Integers stay integers, since Python compares them with floats exactly.
    """
    if _is_nan(value):
        return True, 0.0, False
    return False, value, semantics.zeros == "apart" and value == 0 and math.copysign(1, value) > 0


def _comparable(value: Value) -> tuple[str, Any]:
    """The kind of a value, since only values of one kind are compared, and the object that Python compares."""
    match value:
        case Decimal():
            return "decimal", decimal.Decimal(value.decimal)
        case Date() | Time() | Timestamp():
            return type(value).__name__, int(next(iter(vars(value).values())))
        case List() | Struct() | Map():
            raise PredicateError(f"{str(value)[:60]} cannot be compared")
        case bool():
            return "boolean", value
        case int() | float():
            return _NUMBER, value
        case _:
            return type(value).__name__, value
