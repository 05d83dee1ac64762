"""The parts of a condition, and the order in which they are put to the rows: first what leaves few rows for little reading.

Source: chapter ``scan.md``, section "Late materialisation".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from pqassay_reader.predicate.expressions import columns_named
from pqassay_reference.columns.literals import Tree

SHARES: dict[str, float] = {
    "=": 0.05,
    "in": 0.15,
    "is null": 0.1,
    "<": 0.35,
    "<=": 0.35,
    ">": 0.35,
    ">=": 0.35,
    "!=": 0.95,
    "not in": 0.9,
    "is not null": 0.9,
}
"""The share of rows that each test is expected to leave, where nothing is known of the values; only their order matters."""


Estimate = Callable[[str, str, Any], float | None]
"""The share of rows that satisfy a test of a column and a constant; ``None`` where nothing is known."""


class Part(NamedTuple):
    """A part of a condition that has to be true by itself.

    Attributes:
        tree: The part.
        columns: The columns that it names.
        share: The share of rows that it is expected to leave.
    """

    tree: Tree
    columns: frozenset[str]
    share: float


def parts_of(predicate: Sequence[Any]) -> list[Part]:
    """The parts that AND joins at the top; those that name the same columns are one.

    >>> [part.tree for part in parts_of(["and", [">", "a", 1], ["and", ["=", "b", 2], ["<", "a", 9]]])]
    [['and', ['>', 'a', 1], ['<', 'a', 9]], ['=', 'b', 2]]

    Raises:
        Refused: It is not a predicate.
    """
    joined: dict[frozenset[str], list[Tree]] = {}
    for tree in _conjuncts(predicate):
        joined.setdefault(frozenset(columns_named(tree)), []).append(tree)
    return [
        Part(tree, columns, share_of(tree))
        for columns, trees in joined.items()
        for tree in [trees[0] if len(trees) == 1 else ["and", *trees]]
    ]


def _conjuncts(predicate: Sequence[Any]) -> list[Tree]:
    match predicate:
        case ["and", *parts] if parts:
            return [tree for part in parts for tree in _conjuncts(part)]
        case _:
            return [list(predicate)]


def share_of(predicate: Sequence[Any], estimate: Estimate | None = None) -> float:
    """The share of rows that a condition is expected to leave.

    Args:
        predicate: The condition.
        estimate: What is known of the values.

    >>> share_of(["=", "a", 1]) < share_of([">", "a", 1]) < share_of(["not", ["=", "a", 1]])
    True
    >>> share_of(["and", [">", "a", 1], ["<", "a", 3]], lambda operator, name, literal: 0.6)
    0.2
    """
    match predicate:
        case ["and", *parts]:
            return _share_of_all(parts, estimate)
        case ["or", *parts]:
            return min(1.0, sum(share_of(part, estimate) for part in parts))
        case ["not", part]:
            return 1.0 - share_of(part, estimate)
        case [("in" | "not in") as operator, str(name), *rest] if estimate is not None and rest:
            shares = [share_of(["=", name, one], estimate) for one in cast("list[Any]", rest[0])]
            return min(1.0, sum(shares)) if operator == "in" else max(0.0, 1.0 - sum(shares))
        case [str(operator), str(name), *rest]:
            found = estimate(operator, name, rest[0] if rest else None) if estimate is not None else None
            return SHARES.get(operator, 0.5) if found is None else found
        case _:
            return 0.5


def _share_of_all(parts: Sequence[Any], estimate: Estimate | None) -> float:
    """The share that all parts leave: as if they had nothing to do with each other, but for the two ends of a range of known values."""
    share = 1.0
    ends: dict[tuple[str, bool], float] = {}
    for part in parts:
        match part:
            case [("<" | "<=" | ">" | ">=") as operator, str(name), _] if estimate is not None:
                key = name, operator.startswith("<")
                ends[key] = min(ends.get(key, 1.0), share_of(part, estimate))
            case _:
                share *= share_of(part, estimate)
    for name in {name for name, _ in ends}:
        share *= max(ends.get((name, True), 1.0) + ends.get((name, False), 1.0) - 1.0, 0.0)
    return round(share, 12)


def in_order(parts: Sequence[Part], cost: Callable[[Part], float]) -> list[Part]:
    """Parts in the order in which they cost least: bytes to read, divided by the share of rows that they leave out."""
    return sorted(parts, key=lambda part: cost(part) / max(1.0 - part.share, 1e-3))


__all__ = ["Part", "in_order", "parts_of", "share_of"]
