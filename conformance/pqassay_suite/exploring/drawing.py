"""Drawing: hypothesis strategies of files and of queries about them, the plainest first, so that they shrink to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from pqassay_suite.exploring.changes import LIES, OPTIONAL, Lie
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question, Tree
from pqassay_suite.exploring.kinds import KINDS, Kind

ROWS = (1, 2, 3, 5, 8)
MOST_COLUMNS = 3
QUERIES = (1, 4, 8, 12)
"""Numbers of rows and queries: lists of any length are short for the most part, and pages have few neighbors in them."""

USUAL = 7
"""Kinds, the first ones, that are drawn more often than the others."""

RANGES = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Choices:
    """What may be drawn: kinds of columns and codecs, whether there are queries, whether files lie."""

    kinds: Sequence[str]
    codecs: Sequence[str]
    scans: bool = True
    lies: bool = False


@st.composite
def questions(draw: st.DrawFn, choices: Choices) -> list[Question]:
    """Some questions about one file: a read of all rows, unless files lie, and queries."""
    file = draw(files(choices))
    names = tuple(column.name for column in file.columns)
    asked = [] if choices.lies else [Question(file, None, names)]
    if choices.scans:
        for tree in [draw(predicates(file)) for _ in range(draw(st.sampled_from(QUERIES)))]:
            beside = tuple(name for name in names if name not in _named(tree))
            leaves_out = bool(beside) and draw(st.booleans())
            asked.append(Question(file, tree, beside if leaves_out else names))
    return asked


@st.composite
def files(draw: st.DrawFn, choices: Choices) -> DrawnFile:
    """A file of a few rows."""
    kind = st.one_of(st.sampled_from(choices.kinds[:USUAL]), st.sampled_from(choices.kinds))
    kinds = draw(st.lists(kind, min_size=1, max_size=MOST_COLUMNS))
    required = [draw(st.booleans()) for _ in kinds]
    encodings = [draw(st.sampled_from(("PLAIN", *KINDS[kind].encodings))) for kind in kinds]
    row = st.tuples(
        *(_values(KINDS[kind], never_null=must) for kind, must in zip(kinds, required, strict=True))
    )
    rows = [draw(row) for _ in range(draw(st.sampled_from(ROWS)))]
    columns = tuple(
        DrawnColumn("abc"[place], kind, values, not required[place], encodings[place])
        for place, (kind, values) in enumerate(zip(kinds, zip(*rows, strict=True), strict=True))
    )
    few = st.sampled_from((0, 1, 2, 3))
    flags, mostly = st.booleans(), st.sampled_from((False, True, True))
    fields: dict[str, Any] = {
        "row_group_rows": draw(few),
        "page_rows": draw(few),
        "version": draw(st.sampled_from((1, 2))),
        "dictionary": draw(flags),
        "codec": draw(st.sampled_from(choices.codecs)),
        "statistics": draw(mostly) or choices.lies,
        "page_index": draw(mostly),
        "bloom": draw(flags),
        "checksums": draw(flags),
    }
    without = (
        draw(st.lists(st.sampled_from(sorted(OPTIONAL)), max_size=2, unique=True)) if draw(flags) else []
    )
    place = st.integers(0, MOST_COLUMNS)
    lie = (
        Lie(draw(st.sampled_from(sorted(LIES))), draw(place), draw(place), draw(place))
        if choices.lies
        else None
    )
    return DrawnFile(columns, **fields, without=tuple(without), lie=lie)


def _values(kind: Kind, *, never_null: bool) -> st.SearchStrategy[Any]:
    """Values of a kind: mostly those of its pool."""
    among: st.SearchStrategy[Any] = st.sampled_from(kind.pool)
    others: list[st.SearchStrategy[Any]] = [] if never_null else [st.none()]
    if kind.bits:
        width = abs(kind.bits)
        others.append(
            st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1)
            if kind.bits < 0
            else st.integers(0, 2**width - 1)
        )
    elif kind.name == "string":
        others.append(st.text(st.characters(codec="utf-8"), max_size=3))
    elif kind.name in ("float", "double"):
        others.append(st.floats(width=32 if kind.name == "float" else 64))
    return st.one_of(among, among, among, *others)


@st.composite
def predicates(draw: st.DrawFn, file: DrawnFile) -> Tree:
    """A predicate about a file, whose values mostly occur in it. None is null in a list, about which dialects of SQL differ."""
    shape = draw(st.sampled_from(("single", "single", "single", "single", "and", "or", "not")))
    if shape == "single":
        return draw(_comparisons(file))
    return (shape, *(draw(_comparisons(file)) for _ in range(1 if shape == "not" else 2)))


@st.composite
def _comparisons(draw: st.DrawFn, file: DrawnFile) -> Tree:
    column = draw(st.sampled_from(file.columns))
    nulls = ("is null", "is not null")
    if column.of.is_nested:
        return (draw(st.sampled_from(nulls)), column.name)
    name = draw(
        st.sampled_from(("=", *(RANGES if column.of.is_ordered else ()), "in", "!=", *nulls, "not in"))
    )
    if name in nulls:
        return (name, column.name)
    occurring = [value for value in column.values if value is not None]
    value = st.one_of(
        *([st.sampled_from(occurring)] if occurring else []), _values(column.of, never_null=True)
    )
    if name in ("in", "not in"):
        return (name, column.name, tuple(draw(st.lists(value, min_size=1, max_size=3))))
    return (name, column.name, draw(value))


def _named(tree: Tree) -> set[str]:
    return {tree[1]} if isinstance(tree[1], str) else {name for part in tree[1:] for name in _named(part)}
