"""The parts of a condition, and the order in which they are put to the rows: first what leaves few rows for little reading.

Source: chapter ``scan.md``, section "Late materialisation".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pqassay_reference.predicate.expressions import columns_named
from pqassay_reference.predicate.literals import Tree

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


def share_of(predicate: Sequence[Any]) -> float:
    """The share of rows that a condition is expected to leave.

    >>> share_of(["=", "a", 1]) < share_of([">", "a", 1]) < share_of(["not", ["=", "a", 1]])
    True
    """
    match predicate:
        case ["and", *parts]:
            share = 1.0
            for part in parts:
                share *= share_of(part)
            return share
        case ["or", *parts]:
            return min(1.0, sum(share_of(part) for part in parts))
        case ["not", part]:
            return 1.0 - share_of(part)
        case [str(operator), *_]:
            return SHARES.get(operator, 0.5)
        case _:
            return 0.5


def in_order(parts: Sequence[Part], cost: Callable[[Part], float]) -> list[Part]:
    """Parts in the order in which they cost least: bytes to read, divided by the share of rows that they leave out."""
    return sorted(parts, key=lambda part: cost(part) / max(1.0 - part.share, 1e-3))


__all__ = ["Part", "in_order", "parts_of", "share_of"]
