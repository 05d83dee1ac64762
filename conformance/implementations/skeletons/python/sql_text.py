"""Predicates as text of SQL, for libraries that take nothing else.

It needs the standard library alone, and `pqassay_driver` beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pqassay_driver import Expressions, Predicate, Written, expression


@dataclass(frozen=True, eq=False)
class Condition:
    """A part of a condition, as text. Operators join parts, as in libraries that have expressions."""

    text: str

    def __hash__(self) -> int:
        return hash(self.text)

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"({self.text} AND {other.text})")

    def __or__(self, other: Condition) -> Condition:
        return Condition(f"({self.text} OR {other.text})")

    def __invert__(self) -> Condition:
        return Condition(f"(NOT {self.text})")

    def __eq__(self, other: object) -> Condition:  # type: ignore[override] # as in libraries that have expressions
        return self._compared("=", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override] # likewise
        return self._compared("!=", other)

    def __lt__(self, other: object) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: object) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Condition:
        return self._compared(">=", other)

    def _compared(self, operator: str, other: object) -> Condition:
        assert isinstance(other, Condition)
        return Condition(f"({self.text} {operator} {other.text})")


def condition(
    predicate: Predicate, column: Callable[[str], str], literal: Callable[[str, Written], str]
) -> str:
    """A predicate as text.

    >>> condition(["not", ["or", ["in", "a", [1, None]], ["is null", "b"]]], repr, lambda _, value: str(value))
    "(NOT (('a' IN (1, None)) OR ('b' IS NULL)))"

    Args:
        predicate: The predicate.
        column: The text for the column of a name.
        literal: The text for a value that a column of this name is compared with.
    """

    def among(name: str, values: list[Written]) -> Condition:
        return Condition(f"({column(name)} IN ({', '.join(literal(name, value) for value in values)}))")

    made = Expressions(
        column=lambda name: Condition(column(name)),
        literal=lambda name, value: Condition(literal(name, value)),
        is_null=lambda part: Condition(f"({part.text} IS NULL)"),
        is_not_null=lambda part: Condition(f"({part.text} IS NOT NULL)"),
        among=among,
        nothing=lambda: Condition("FALSE"),
    )
    text: str = expression(predicate, made).text
    return text
