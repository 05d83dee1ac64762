"""The queries of a case, derived from its rows and the layout of its file, never typed.

A wrong answer usually comes from one page, one block of a bloom filter, one bound, or a column beside the
damaged one. The queries are therefore chosen to *touch* as much as possible: each candidate lists the pages, blocks,
bounds and kinds of comparison that it touches. The candidate that touches the most new ones is chosen, until
there are `MOST`. Pages only count if others can be skipped: a query that needs all pages would be answered correctly
without any index.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from pqassay.literals.predicate import columns_of
from pqassay_spec.golden.literals import (
    BinaryLiteral,
    Date,
    Decimal,
    Float,
    List,
    LongInteger,
    Map,
    Rows,
    Struct,
    Time,
    Timestamp,
    Written,
)
from pqassay_spec.parquet.bloom import BLOCK_SIZE, block_start
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH, UNSIGNED
from pqassay_spec.parquet.thrift import Type
from pqassay_suite.cases.file_facts import ChunkFacts, FileFacts

MOST = 16
"""Most queries of a case."""

MOST_BOUNDS = 12
"""Most values of a column that are tried as bounds of a range."""

HEAVY = 3
"""Extra weight of the column that the case is about."""

WEIGHTS = {
    "bound": 3,
    "block": 3,
    "special": 2,
    "value": 5,
    "null": 4,
    "in": 2,
    "or": 2,
    "range": 2,
    "middle": 4,
}
"""Extra weights of some marks: only a query at a false bound reveals it, while many queries touch other marks anyway."""

WITHOUT_ORDER = frozenset({"boolean", "geometry", "geography", "bson", "json", "interval", "variant"})
"""Types of columns with only equality queries, because readers disagree on their order."""

LIGHT = {"bound": 1, "range": 1}
"""Low weights of some marks in columns that the case is not about, because their bounds are true."""

Mark = tuple[Hashable, ...]
"""A part of a file that a query touches."""


@dataclass(frozen=True)
class CaseQuery:
    """A query of a case.

    Attributes:
        predicate: The condition on rows.
        columns: The columns to return.
        decides: Whether it compares values of the column that the case is about. A reader that answers it uses the metadata that
            the case may falsify.  If no query is decisive, all of them are.
    """

    predicate: list[Any]
    columns: list[str]
    decides: bool = True


@dataclass(frozen=True)
class _Candidate:
    predicate: list[Any]
    marks: frozenset[Mark]


def queries(
    rows: Rows, facts: FileFacts, column: str | None, story: Sequence[Any] | None, most: int = MOST
) -> list[CaseQuery]:
    """The queries about a file with these rows.

    Args:
        rows: All rows of the file, in its order.
        facts: Its layout.
        column: The column that the case is about; it gets the most queries.
        story: The predicate that shows the case's effect; it comes first.
        most: The most queries to return.

    Returns:
        At most ``most`` queries. Every second query does not return the columns of its predicate, if there are others:
        a wrong selection then shows in the other columns.
    """
    names = rows.names()
    columns = [_Column(name, place, rows, facts, is_about=name == column) for place, name in enumerate(names)]
    columns.sort(key=lambda one: one.name != column)
    candidates = [candidate for one in columns for candidate in one.candidates()]
    candidates += _pairs(columns)
    chosen = [list(story)] if story else []
    touched: set[Mark] = set()
    for candidate in candidates:
        if candidate.predicate in chosen:
            touched |= candidate.marks

    weights: dict[Mark, int] = {}
    for candidate in candidates:
        for mark in candidate.marks:
            own = WEIGHTS.get(str(mark[0]), 1)
            light = min(own, LIGHT.get(str(mark[0]), HEAVY))
            weights[mark] = HEAVY * own if mark[1] == column else light

    def weight(candidate: _Candidate) -> int:
        return sum(map(weights.__getitem__, candidate.marks - touched))

    while len(chosen) < most and candidates:
        best = max(candidates, key=weight)
        if not best.marks - touched:
            break
        chosen.append(best.predicate)
        for same in [one for one in candidates if one.predicate == best.predicate]:
            touched |= same.marks
            candidates.remove(same)
    deciding = [_compares(tree, column) for tree in chosen]
    return [
        CaseQuery(tree, _output(names, tree, number), decides=decides or not any(deciding))
        for number, (tree, decides) in enumerate(zip(chosen, deciding, strict=True))
    ]


def _compares(tree: Sequence[Any], column: str | None) -> bool:
    """Whether a predicate compares values of the given column, or of any column; a test for null does not."""
    if tree[0] in ("and", "or", "not"):
        return any(_compares(part, column) for part in tree[1:])
    return tree[0] not in ("is null", "is not null") and column in (None, tree[1])


def _output(names: Sequence[str], tree: Sequence[Any], number: int) -> list[str]:
    beside = [name for name in names if name not in columns_of(tree)]
    return beside if number % 2 and beside else list(names)


def _pairs(columns: Sequence[_Column]) -> Iterator[_Candidate]:
    """Conditions on two columns, whose pages must be cut at the same rows: both values of one row (AND), or either value (OR)."""
    able = [column for column in columns if column.is_comparable]
    for first, second in pairwise(able):
        for row in (0, -1):
            parts = [[">=", first.name, first.written(row)], ["=", second.name, second.written(row)]]
            if None not in (parts[0][2], parts[1][2]):
                yield _Candidate(
                    ["and", *parts], frozenset({("and", first.name, row), ("and", second.name, row)})
                )
        last = first.written(-1)
        other = ["is null", second.name] if second.has_nulls else ["=", second.name, second.written(0)]
        if last is not None and other[-1] is not None:
            yield _Candidate(
                ["or", ["=", first.name, last], other], frozenset({("or", first.name), ("or", second.name)})
            )


class _Column:
    """A column of a case, and the marks that queries about it touch."""

    def __init__(self, name: str, place: int, rows: Rows, facts: FileFacts, *, is_about: bool) -> None:
        self.name, self._is_about = name, is_about
        self.type = rows.columns[place].type
        self._values: list[Written] = [row[place] for row in rows.rows]
        self._facts = facts

    @cached_property
    def keys(self) -> list[Any]:
        """The sort key of each value; ``None`` for null and for values without an order."""
        return [_key(value) for value in self._values]

    @cached_property
    def is_comparable(self) -> bool:
        """Whether its values can be in a predicate."""
        return not any(isinstance(value, List | Map | Struct) for value in self._values)

    def written(self, row: int) -> Any:
        """The value in a row as JSON; ``None`` if there is no such row."""
        return as_json(self._values[row]) if self._values else None

    @property
    def has_nulls(self) -> bool:
        """Whether some, but not all, of its values are null."""
        return len({value is None for value in self._values}) > 1

    @cached_property
    def _chunks(self) -> Sequence[ChunkFacts]:
        return self._facts.chunks.get(self.name) or [
            ChunkFacts((rows,)) for rows in self._facts.groups or [range(len(self._values))]
        ]

    @property
    def _has_filter(self) -> bool:
        return any(chunk.blocks for chunk in self._chunks)

    @cached_property
    def _pages(self) -> list[range]:
        return [page for chunk in self._chunks for page in chunk.pages]

    def _bounds(self) -> Iterable[Any]:
        """The least and the greatest key of each page, and of all pages, without repetition."""
        ends: dict[Any, None] = {}
        for page in self._pages:
            keys = [self.keys[row] for row in page if row < len(self.keys) and _is_ordered(self.keys[row])]
            if keys:
                ends |= dict.fromkeys((min(keys), max(keys)))
        ordered = sorted(ends)
        return (
            ordered
            if len(ordered) <= MOST_BOUNDS
            else [*ordered[: MOST_BOUNDS // 2], *ordered[-MOST_BOUNDS // 2 :]]
        )

    def candidates(self) -> Iterator[_Candidate]:
        """Every useful query about this column."""
        for test, null in (("is null", True), ("is not null", False)):
            rows = [row for row, value in enumerate(self._values) if (value is None) == null]
            yield _Candidate(
                [test, self.name], frozenset({("null", self.name, test), *self._touched("null", rows)})
            )
        if not self.is_comparable:
            return
        places: dict[Any, list[int]] = {}
        for row, key in enumerate(self.keys):
            if key is not None:
                places.setdefault(_same(key), []).append(row)
        bounds = set(self._bounds())
        for rows in places.values():
            key, value = self.keys[rows[0]], self.written(rows[0])
            marks = {*self._touched("=", rows), *self._blocks(self._values[rows[0]], rows)}
            marks |= {("value", self.name, _same(key))} if self._has_filter and self._is_about else set()
            marks |= {("special", self.name, str(key))} if _is_special(key) else set()
            marks |= {("bound", self.name, key)} if _is_ordered(key) and key in bounds else set()
            yield _Candidate(["=", self.name, value], frozenset(marks))
        if len(places) > 1:
            ends = [
                as_json(self._values[rows[0]])
                for rows in (*list(places.values())[:1], *list(places.values())[-1:])
            ]
            marks = {
                ("in", self.name),
                *({("middle", self.name, "in")} if self.type in WITHOUT_ORDER else ()),
            }
            yield _Candidate(["in", self.name, ends], frozenset(marks))
        if self.type not in WITHOUT_ORDER:
            yield from self._ranges(bounds)

    def _ranges(self, bounds: set[Any]) -> Iterator[_Candidate]:
        """Comparisons with bounds: each of the four operators, at the ends and between them, also with NaN."""
        by_key = {key: row for row, key in reversed(list(enumerate(self.keys))) if _is_ordered(key)}
        ordered = sorted(bounds)
        has_nan = any(_is_special(key) and key != key for key in self.keys)  # noqa: PLR0124 - NaN equals nothing
        for place, key in enumerate(ordered):
            end = "first" if place == 0 else "last" if place == len(ordered) - 1 else "between"
            for name, holds in _COMPARED.items():
                rows = [
                    row for row, other in enumerate(self.keys) if _is_ordered(other) and holds(other, key)
                ]
                marks: set[Mark] = {
                    ("range", self.name, name),
                    ("end", self.name, end),
                    *self._touched("range", rows),
                }
                marks |= {("middle", self.name, name[0])} if end == "between" else set()
                marks |= {("beside NaN", self.name, name)} if has_nan else set()
                yield _Candidate([name, self.name, self.written(by_key[key])], frozenset(marks))

    def _touched(self, how: str, rows: Sequence[int]) -> Iterator[Mark]:
        """The pages with some of the rows, if there are other pages; in the column of the case, once for each kind of test."""
        found = set(rows)
        pages = [page.start for page in self._pages if not found.isdisjoint(page)]
        for start in pages if len(pages) < len(self._pages) else ():
            yield how if self._is_about else "any", self.name, "page", start

    def _blocks(self, value: Written, rows: Sequence[int]) -> Iterator[Mark]:
        """The blocks of bloom filters that a value selects, in the chunks of these rows."""
        if not self._has_filter:
            return
        plain = plain_bytes(value, self._facts.types.get(self.name))
        if plain is None:
            return
        import xxhash  # noqa: PLC0415 - only for files with filters

        hashed, found = xxhash.xxh64_intdigest(plain), set(rows)
        for number, chunk in enumerate(self._chunks):
            if chunk.blocks and any(not found.isdisjoint(page) for page in chunk.pages):
                yield "block", self.name, number, block_start(hashed, chunk.blocks * BLOCK_SIZE)


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def as_json(value: Written) -> Any:
    """A value in the JSON form of a predicate."""
    return value if value is None or isinstance(value, bool | int | str) else vars(value)


def _key(value: Written) -> Any:
    """A Python value with the order of the value; ``None`` for null and for values without an order."""
    match value:
        case LongInteger() | Date() | Time() | Timestamp():
            return int(next(iter(vars(value).values())))
        case Float():
            return float(value.float)
        case BinaryLiteral():
            return bytes.fromhex(value.bytes)
        case Decimal():
            return decimal.Decimal(value.decimal)
        case List() | Map() | Struct():
            return None
        case _:
            return value


def _is_ordered(key: Any) -> bool:
    return key is not None and not (isinstance(key, float) and math.isnan(key))


def _is_special(key: Any) -> bool:
    """Whether a key is a special float, which readers treat differently."""
    return isinstance(key, float) and (math.isnan(key) or math.isinf(key) or not key)


def _same(key: Any) -> Hashable:
    """A key that distinguishes values: the two zeros differ, and all NaN are equal."""
    return ("float", "nan" if math.isnan(key) else repr(key)) if isinstance(key, float) else key


def plain_bytes(value: Written, kind: int | None) -> bytes | None:
    """The bytes of a value that a bloom filter hashes; ``None`` if it is not a number, a text or bytes."""
    match value:
        case str():
            return value.encode()
        case BinaryLiteral():
            return bytes.fromhex(value.bytes)
        case Float():
            stored = FIXED_WIDTH[Type.FLOAT if kind == Type.FLOAT else Type.DOUBLE]
            return bytes(stored.build(float(value.float)))
        case int() | LongInteger() if not isinstance(value, bool) and kind in UNSIGNED:
            number = value if isinstance(value, int) else int(value.int)
            widths = FIXED_WIDTH if number < 0 else UNSIGNED  # a number has the same bytes in both
            return bytes(widths[Type(kind)].build(number))
        case _:
            return None
