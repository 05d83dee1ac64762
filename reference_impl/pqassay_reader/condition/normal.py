"""The normal form of a condition: for each column the set of values that satisfy it, joined by AND and OR.

>>> condition = normal_form(["not", ["or", [">=", "id", 0.5], ["is null", "id"]]], lambda name: pa.int64())
>>> condition.column, condition.values.ends
('id', ((('<=', 0),),))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, TypeAlias, TypeVar

import pyarrow as pa

from pqassay_reader.condition.kinds import Incomparable, Kind, kind_of, shown
from pqassay_reader.condition.values import END, START, Interval, Values
from pqassay_reference.columns.literals import PlacedTree, python_value
from pqassay_reference.errors import Refused

Answer = TypeVar("Answer")
"""The result of evaluating a condition: rows, masks, true or false."""

TypeOf = Callable[[str], Any]
"""A function from the name of a column in conditions to its Arrow type."""


@dataclass(frozen=True)
class ColumnTest:
    """A condition on one column: true of a row whose value is in a set.

    Attributes:
        column: The name of the column in conditions.
        kind: Its type.
        values: The set.
    """

    column: str
    kind: Kind
    values: Values

    @property
    def columns(self) -> frozenset[str]:
        """The column."""
        return frozenset((self.column,))


@dataclass(frozen=True)
class Joined:
    """Joined conditions: true of a row if all of them are, or any of them is.

    Attributes:
        name: ``and`` or ``or``.
        parts: The conditions; tests of the same column are merged.
    """

    name: Literal["and", "or"]
    parts: tuple[Condition, ...]

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that it names."""
        return frozenset(chain.from_iterable(part.columns for part in self.parts))


Condition: TypeAlias = ColumnTest | Joined


def normal_form(tree: Sequence[Any], type_of: TypeOf) -> Condition:
    """The normal form of a condition.

    Args:
        tree: A tree as in the protocol.
        type_of: The types of the columns.

    Raises:
        Refused: It is not a condition, or a constant cannot be compared with its column.
    """
    try:
        return _normal(tree, type_of, negated=False)
    except RecursionError:
        raise Refused("the condition is nested too deeply") from None


def _normal(tree: Sequence[Any], type_of: TypeOf, *, negated: bool) -> Condition:
    match tree:
        case ["not", part]:
            return _normal(part, type_of, negated=not negated)
        case [("and" | "or") as name, *parts] if parts:
            return joined(
                "and" if (name == "and") != negated else "or",
                [_normal(part, type_of, negated=negated) for part in parts],
            )
        case [("is null" | "is not null") as name, str(column)]:
            constants: list[Any] = []
        case [("in" | "not in") as name, str(column), [*constants]]:
            pass
        case [("=" | "!=" | "<" | "<=" | ">" | ">=") as name, str(column), constant]:
            constants = [constant]
        case _:
            raise Refused(f"{str(tree)[:80]} is not a condition")
    at = f"at character {tree.position}: " if isinstance(tree, PlacedTree) else ""
    try:
        kind = kind_of(type_of(column))
    except Refused as error:
        raise Refused(f"{at}{error}") from None
    true, false = _test(OPPOSITES.get(name, name), kind, constants, f"{at}column {column}")
    return ColumnTest(column, kind, false if negated != (name in OPPOSITES) else true)


OPPOSITES = {"!=": "=", "not in": "in", "is not null": "is null"}


def _test(name: str, kind: Kind, written: Sequence[Any], where: str) -> tuple[Values, Values]:
    """The values for which a test is true, and those for which it is false; for other values, it is unknown."""
    nothing = kind.nothing
    if name == "is null":
        return nothing.only((), null=True), nothing.complement(null=False)
    constants = [python_value(each) for each in written]
    known = [constant for constant in constants if constant is not None]
    comparison = "=" if name == "in" else name
    true = nothing.only(chain.from_iterable(_compared(comparison, kind, each, where) for each in known))
    # No value is in an empty list, not even null; with null in the list, the result is unknown for other values.
    return true, true.complement(null=not constants) if len(known) == len(constants) else nothing


def _compared(name: str, kind: Kind, constant: Any, where: str) -> list[Interval]:
    """The values for which a comparison with a constant is true; NaN is not equal to, less or greater than any value."""
    try:
        place = kind.place(constant)
    except (Incomparable, pa.ArrowException, ValueError) as error:
        advice = str(error) if isinstance(error, Incomparable) and str(error) else kind.advice
        raise Refused(
            f"{where} is {kind.arrow} and cannot be compared with {shown(constant)}; {advice}"
        ) from None
    if place is None:
        return []
    low, high = place
    cuts = {"=": place, "<": (START, low), "<=": (START, high), ">": (high, END), ">=": (low, END)}
    return [Interval(*cuts[name])]


def joined(name: Literal["and", "or"], parts: Iterable[Condition]) -> Condition:
    """Conditions joined by AND or OR. Tests of the same column are merged into one set."""
    tests: dict[str, list[ColumnTest]] = {}
    others: list[Condition] = []
    for part in parts:
        for each in part.parts if isinstance(part, Joined) and part.name == name else (part,):
            if type(each) is ColumnTest:  # of others the set is not known
                tests.setdefault(each.column, []).append(each)
            else:
                others.append(each)
    together = Values.intersection if name == "and" else Values.union
    for column, (first, *rest) in tests.items():
        if rest:
            values = together(first.values, *(test.values for test in rest))
            tests[column] = [replace(first, values=values)]
    every = [*chain.from_iterable(tests.values()), *others]
    return every[0] if len(every) == 1 else Joined(name, tuple(every))


def folded(
    condition: Condition,
    of_test: Callable[[ColumnTest], Answer],
    of_all: Callable[[Iterator[Answer]], Answer],
    of_any: Callable[[Iterator[Answer]], Answer],
) -> Answer:
    """The result for a condition, from the results for its tests and a way to join them; parts are evaluated on demand."""
    if isinstance(condition, ColumnTest):
        return of_test(condition)
    parts = (folded(part, of_test, of_all, of_any) for part in condition.parts)
    return of_all(parts) if condition.name == "and" else of_any(parts)


def columns_named(tree: Sequence[Any]) -> set[str]:
    """The columns in a tree of the protocol.

    Raises:
        Refused: It is not a condition.
    """
    match tree:
        case [("and" | "or" | "not"), *parts]:
            return {name for part in parts for name in columns_named(part)}
        case [str(), str(name), *_]:
            return {name}
        case _:
            raise Refused(f"{str(tree)[:80]} is not a condition")


__all__ = ["ColumnTest", "Condition", "Joined", "columns_named", "folded", "joined", "normal_form"]
