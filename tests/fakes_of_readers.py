"""Fakes of readers: what each believes beside every index, or which mistake it makes. `believing_reader` says how they read."""

from __future__ import annotations

from typing import Literal, get_args

Belief = Literal[
    "deprecated bounds",
    "statistics of page headers",
    "counts of nulls in page headers",
    "rows in page headers",
    "dictionary holds all values",
    "dictionary is sorted",
    "rows of the row group",
    "ranges of splits",
    "paths of columns",
    "ids of fields",
    "counts of NaN",
    "null counts alone",
    "null pages of lists",
    "types of chunks",
    "ends of chunks",
    "types of documents",
    "bounds of NaN are compared",
    "zeros have a sign",
]
"""Something that is believed beside statistics, column index, offset index and bloom filter."""

Mistake = Literal[
    "zero is sought with one sign",
    "block 0 of every filter",
    "integers are hashed as 64 bits",
    "length is hashed",
    "descending is ascending",
    "NaN is within the bounds",
    "unsigned is signed",
    "text is of signed bytes",
    "bounds of null pages count",
    "entries of lists are rows",
    "no null count means no null",
    "no NaN count means no NaN",
]
"""A mistake in the use of what is true."""

Fake = frozenset[Belief | Mistake]

BELIEFS: dict[str, Fake] = {
    "every index": frozenset(),
    **{name: frozenset({name}) for name in get_args(Belief)},
    "deprecated bounds": frozenset({"deprecated bounds", "unsigned is signed", "text is of signed bytes"}),
    "deprecated bounds of page headers": frozenset({"statistics of page headers", "deprecated bounds"}),
    "bounds, of NaN as well": frozenset({"NaN is within the bounds"}),
    "that NaN would be counted": frozenset({"no NaN count means no NaN"}),
}
"""Fakes by what they believe."""

MISTAKES: dict[str, Fake] = {name: frozenset({name}) for name in get_args(Mistake)}
"""Fakes by their mistakes."""
