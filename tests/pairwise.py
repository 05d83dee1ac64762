"""Choices of options such that every two options meet with all their values, without trying all choices.

Most mistakes need two options at most. The choices are found greedily and are the same each time.

    >>> chosen = pairwise({"a": (1, 2), "b": (1, 2), "c": (1, 2)})
    >>> len(chosen)
    4
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

Pair = tuple[tuple[str, int], tuple[str, int]]


def pairs(choice: Mapping[str, int]) -> set[Pair]:
    """The pairs of values that meet in a choice; a value is its place among those of its option."""
    return set(itertools.combinations(sorted(choice.items()), 2))


def pairwise(options: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The choices, each with a value for every option; the first values of all are the first choice."""
    missing: set[Pair] = {
        ((one, place), (other, there))
        for (one, first), (other, second) in itertools.combinations(sorted(options.items()), 2)
        for place, there in itertools.product(range(len(first)), range(len(second)))
    }
    found: list[dict[str, int]] = []
    while missing or not found:
        choice = dict.fromkeys(options, 0) if not found else _grown(options, missing)
        missing -= pairs(choice)
        found.append(choice)
    return [{name: options[name][place] for name, place in choice.items()} for choice in found]


def _grown(options: Mapping[str, Sequence[Any]], missing: set[Pair]) -> dict[str, int]:
    """A choice around one missing pair, to which each option adds the value that meets most missing ones."""
    choice = dict(min(missing))
    for name in sorted(options, key=lambda name: -len(options[name])):
        if name not in choice:
            choice[name] = max(
                range(len(options[name])),
                key=lambda place: sum(
                    name in dict(pair) for pair in pairs({**choice, name: place}) & missing
                ),
            )
    return choice
