"""Drawing: hypothesis strategies of files and queries about them; the simplest come first, because examples shrink to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from pqassay_suite.exploring.changes import LIES, OPTIONAL, Lie
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question, Tree, columns_asked
from pqassay_suite.exploring.kinds import KINDS

ROWS = (1, 2, 3, 5, 8)
MOST_COLUMNS = 3
QUERIES = (1, 4, 8, 12)
"""Numbers of rows and queries to draw: lists of any length would mostly be short, with few neighbors in a page."""

USUAL = 7
"""Number of kinds, from the first, that are drawn more often than the others."""

RANGES = ("<", "<=", ">", ">=")
NULLS = ("is null", "is not null")

# Making a strategy takes longer than drawing from it.
_COUNTS, _ROWS, _FEW = st.sampled_from(QUERIES), st.sampled_from(ROWS), st.sampled_from((0, 1, 2, 3))
_FLAGS, _MOSTLY, _VERSIONS = st.booleans(), st.sampled_from((False, True, True)), st.sampled_from((1, 2))
_FIELDS = st.lists(st.sampled_from(sorted(OPTIONAL)), max_size=2, unique=True)
_LIES, _PLACES = st.sampled_from(sorted(LIES)), st.integers(0, MOST_COLUMNS)
_SHAPES = st.sampled_from(("single", "single", "single", "single", "and", "or", "not"))
_NULL_TESTS = st.sampled_from(NULLS)


@dataclass(frozen=True)
class Choices:
    """The possible choices: kinds of columns and codecs, queries or not, false metadata or not."""

    kinds: Sequence[str]
    codecs: Sequence[str]
    scans: bool = True
    lies: bool = False


@st.composite
def questions(draw: st.DrawFn, choices: Choices) -> list[Question]:
    """Some questions about one file: queries and, unless the file may lie, a read of all rows."""
    file = draw(files(choices))
    names = tuple(column.name for column in file.columns)
    asked = [] if choices.lies else [Question(file, None, names)]
    if choices.scans:
        for tree in [draw(predicates(file)) for _ in range(draw(_COUNTS))]:
            beside = tuple(name for name in names if name not in columns_asked(tree))
            leaves_out = bool(beside) and draw(_FLAGS)
            asked.append(Question(file, tree, beside if leaves_out else names))
    return asked


@st.composite
def files(draw: st.DrawFn, choices: Choices) -> DrawnFile:
    """A file of a few rows."""
    kinds = draw(_kinds(tuple(choices.kinds)))
    required = [draw(_FLAGS) for _ in kinds]
    encodings = [draw(_encodings(kind)) for kind in kinds]
    row = st.tuples(*(_values(kind, never_null=must) for kind, must in zip(kinds, required, strict=True)))
    rows = [draw(row) for _ in range(draw(_ROWS))]
    columns = tuple(
        DrawnColumn("abc"[place], kind, values, not required[place], encodings[place])
        for place, (kind, values) in enumerate(zip(kinds, zip(*rows, strict=True), strict=True))
    )
    fields: dict[str, Any] = {
        "row_group_rows": draw(_FEW),
        "page_rows": draw(_FEW),
        "version": draw(_VERSIONS),
        "dictionary": draw(_FLAGS),
        "codec": draw(st.sampled_from(choices.codecs)),
        "statistics": draw(_MOSTLY) or choices.lies,
        "page_index": draw(_MOSTLY),
        "bloom": draw(_FLAGS),
        "checksums": draw(_FLAGS),
    }
    without = draw(_FIELDS) if draw(_FLAGS) else []
    lie = Lie(draw(_LIES), draw(_PLACES), draw(_PLACES), draw(_PLACES)) if choices.lies else None
    return DrawnFile(columns, **fields, without=tuple(without), lie=lie)


@cache
def _kinds(names: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    """The kinds of the columns of a file."""
    kind = st.one_of(st.sampled_from(names[:USUAL]), st.sampled_from(names))
    return st.lists(kind, min_size=1, max_size=MOST_COLUMNS)


@cache
def _encodings(name: str) -> st.SearchStrategy[str]:
    """The encodings of a kind."""
    return st.sampled_from(("PLAIN", *KINDS[name].encodings))


@cache
def _values(name: str, *, never_null: bool) -> st.SearchStrategy[Any]:
    """Values of a kind, mostly from its pool."""
    kind = KINDS[name]
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
        others.append(st.text(st.characters(exclude_categories=["Cs"]), max_size=3))
    elif kind.name in ("float", "double"):
        others.append(st.floats(width=32 if kind.name == "float" else 64))
    return st.one_of(among, among, among, *others)


@cache
def _operators(is_ordered: bool) -> st.SearchStrategy[str]:
    """The operators of a column, the simplest first."""
    return st.sampled_from(("=", *(RANGES if is_ordered else ()), "in", "!=", *NULLS, "not in"))


@st.composite
def predicates(draw: st.DrawFn, file: DrawnFile) -> Tree:
    """A predicate about a file, with values that mostly occur in it. Lists never contain null, because dialects of SQL differ there."""
    shape = draw(_SHAPES)
    if shape == "single":
        return draw(_comparisons(file))
    return (shape, *(draw(_comparisons(file)) for _ in range(1 if shape == "not" else 2)))


@st.composite
def _comparisons(draw: st.DrawFn, file: DrawnFile) -> Tree:
    column = draw(st.sampled_from(file.columns))
    if column.of.is_nested:
        return (draw(_NULL_TESTS), column.name)
    name = draw(_operators(column.of.is_ordered))
    if name in NULLS:
        return (name, column.name)
    occurring = [value for value in column.values if value is not None]
    others = _values(column.kind, never_null=True)
    value = st.one_of(st.sampled_from(occurring), others) if occurring else others
    if name in ("in", "not in"):
        return (name, column.name, tuple(draw(st.lists(value, min_size=1, max_size=3))))
    return (name, column.name, draw(value))
