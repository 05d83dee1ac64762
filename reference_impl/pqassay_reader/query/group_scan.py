"""The scan of one row group: the rows that its metadata keep, and the rows of a window that satisfy the condition.

Source: chapter ``scan.md``, sections "Row groups", "Pages" and "Late materialization".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay_reader.condition.normal import ColumnTest, Condition
from pqassay_reader.condition.rows import rows_of
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.pages.row_selection import by_statistics_and_bloom, rows_left
from pqassay_reader.query.conditions import Part, in_order
from pqassay_reader.query.explained.counters import Left
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reader.query.fetching.field_pages import FieldPages, Reading
from pqassay_reader.query.fetching.page_layout import Numbers
from pqassay_reader.query.fetching.ranges import FetchedRanges, Piece
from pqassay_reader.query.rungs import Rung
from pqassay_spec.parquet.page_search import Rows

WINDOW_BYTES = 32 << 20
"""Target size of a window in bytes of decoded values."""

WINDOW_ROWS = 1 << 10, 1 << 18
"""The fewest rows of a window, and the most."""


@dataclass(frozen=True)
class GroupQuestion:
    """The query for each row group of a file.

    Attributes:
        condition: The condition; ``None`` for all rows.
        parts: Its parts.
        output: Positions of the fields that are returned.
        needed: Positions of the fields that the query needs.
        constants: Columns that have one value in all rows of the file.
        rungs: The rungs that are used.
        reading: Settings for reading fields.
        reads_all: Whether every row is read, in windows of any length: a row group with a single window needs no offset index.
    """

    condition: Condition | None
    parts: Sequence[Part]
    output: Sequence[int]
    needed: Sequence[int]
    constants: dict[str, Any]
    rungs: frozenset[Rung]
    reading: Reading
    reads_all: bool = False


class GroupScan:
    """One row group, in which several threads may read different windows.

    Args:
        facts: The file's facts.
        ranges: Its bytes.
        row_group: Position of the row group.
        first_row: Number of earlier rows in the file.
        question: The query.
    """

    def __init__(
        self, facts: FileFacts, ranges: FetchedRanges, row_group: int, first_row: int, question: GroupQuestion
    ) -> None:
        self.row_group, self.first_row = row_group, first_row
        self.row_count = facts.metadata.row_groups[row_group].num_rows
        self.used: set[str] = set()
        """The structures that were used in decisions."""
        self.matched = 0
        """Number of rows that have satisfied the condition so far."""
        self.tried = 0
        """Number of rows for which the condition has been evaluated so far."""
        self.parts: Sequence[Part] = question.parts
        """The parts of the condition, with their expected shares here."""
        self._facts, self._ranges, self._question = facts, ranges, question
        self._claims: dict[str, ChunkClaims | None] = {}

    # -------------------------------------------------------------------------------------------- metadata

    def rows_of_group(self) -> Rows:
        """All rows or none, by statistics and bloom filters."""
        return self._rows_left(by_statistics_and_bloom)

    def rows_of_pages(self) -> Rows:
        """The rows that column indexes keep."""
        return self._rows_left(ChunkClaims.rows)

    def _rows_left(self, answer: Callable[[ChunkClaims, ColumnTest], Rows]) -> Rows:
        everything = [range(self.row_count)] if self.row_count else []
        if self._question.condition is None or not everything:
            return everything
        rows = rows_left(self._question.condition, self.claims_of, self.row_count, answer)
        for name, claims in self._claims.items():
            if claims is not None:
                self.used |= claims.used
                claims.__dict__.pop("bitset", None)  # may be long, and is not asked again
                place = self._facts.leaf_of(name)
                if place is not None:
                    self._facts.remember(self.row_group, place, claims)
        return rows

    def claims_of(self, name: str) -> ChunkClaims | None:
        """The claims of the chunk for a name in conditions; ``None`` for constants and for columns with several values a row."""
        if name not in self._claims:
            chunk_claims = None
            if name not in self._question.constants:
                place = self._facts.leaf_of(name)
                if place is not None:
                    claims = self._facts.claims_of(self._ranges, self.row_group, place)
                    chunk_claims = claims if claims.is_readable else None
            self._claims[name] = chunk_claims
        return self._claims[name]

    def has_bounds(self, name: str) -> bool:
        """Whether the footer gives bounds of a column."""
        claims = self.claims_of(name)
        return claims is not None and claims.has_bounds

    def index_pieces(self, asked: Collection[int]) -> Iterator[Piece]:
        """The ranges of page indexes that will be needed and are not read yet.

        Args:
            asked: Positions of the leaves in the condition, whose column indexes are needed.
        """
        chunks, body = self._facts.metadata.row_groups[self.row_group].columns, self._facts.body
        for leaf in (leaf for place in self._question.needed for leaf in self._facts.fields[place].leaves):
            chunk, kept = chunks[leaf], self._facts.claims.get((self.row_group, leaf))
            places: list[tuple[int | None, int | None]] = []
            if kept is None or "offset_index" not in kept.__dict__:
                places.append((chunk.offset_index_offset, chunk.offset_index_length))
            if leaf in asked and (kept is None or "column_index" not in kept.__dict__):
                places.append((chunk.column_index_offset, chunk.column_index_length))
            for start, length in places:
                if start and length and length > 0 and body.start <= start and start + length <= body.stop:
                    yield Piece(start, start + length)

    # ----------------------------------------------------------------------------------------- its fields

    @cached_property
    def fields(self) -> dict[int, FieldPages]:
        """The fields that the query needs, by their positions."""
        reading = self._question.reading
        if self._question.reads_all and self.row_count <= self.window_rows():
            reading = replace(reading, indexed=False)
        return {
            place: FieldPages(
                self._facts,
                self._ranges,
                self.row_group,
                self.first_row,
                self._facts.fields[place],
                reading,
            )
            for place in self._question.needed
        }

    def _fields_of(self, part: Part) -> set[int]:
        """Positions of the fields that a part of the condition names."""
        return {self._facts.place_of(name) for name in part.columns if name not in self._question.constants}

    def windows(self, rows: Rows, most: int) -> Iterator[Numbers]:
        """Yield the remaining rows, in windows of limited size."""
        window: list[Numbers] = []
        size = 0
        for part in rows:
            for start in _cuts(part, most, size):
                stop = min(part.stop, start + most - size)
                window.append(np.arange(start, stop, dtype=np.int64))
                size += stop - start
                if size == most:
                    yield window[0] if len(window) == 1 else np.concatenate(window)
                    window, size = [], 0
        if window:
            yield np.concatenate(window)

    def window_rows(self) -> int:
        """Number of rows whose values take about `WINDOW_BYTES`."""
        group = self._facts.metadata.row_groups[self.row_group]
        size = sum(
            chunk.meta_data.total_uncompressed_size
            for place in self._question.needed
            for leaf in self._facts.fields[place].leaves
            if (chunk := group.columns[leaf]).meta_data is not None
        )
        fewest, most = WINDOW_ROWS
        return max(fewest, min(most, WINDOW_BYTES * max(self.row_count, 1) // max(size, 1)))

    # ------------------------------------------------------------------------------------------- one window

    def matches(self, rows: Numbers) -> pa.Table | None:
        """The rows of a window that satisfy the condition, with the returned fields; ``None`` if there are none.

        Raises:
            Refused: The condition does not fit the columns.
            Undecodable, Malformed: The pages cannot be decoded.
        """
        late = Rung.LATE in self._question.rungs
        found = self._matches_late(rows) if late else self._matches_at_once(rows)
        self.tried += len(rows)
        self.matched += 0 if found is None else len(found)
        return found

    def _matches_late(self, rows: Numbers) -> pa.Table | None:
        question = self._question
        columns: dict[int, Any] = {}
        parts = self._ordered(rows)
        if parts and self._ranges.step:
            self._want_little(parts, rows)
        for part in parts:
            self._read(self._fields_of(part), rows, columns)
            mask = self._mask(part.condition, columns, len(rows))
            if mask.all():
                continue
            rows = rows[mask]
            if not len(rows):
                return None
            kept = pa.array(mask)
            columns = {place: values.filter(kept) for place, values in columns.items()}
        self._read(question.output, rows, columns)
        return self._table(columns, len(rows))

    def _want_little(self, parts: Sequence[Part], rows: Numbers) -> None:
        """Fetch all fields together if the fields after the first part are small compared with the cost of a step."""
        first = self._fields_of(parts[0])
        later = {place for part in parts[1:] for place in self._fields_of(part)}
        later = (later | set(self._question.output)) - first
        pieces = [piece for place in later for piece in self.fields[place].pieces(rows)]
        if self._ranges.is_little(pieces):
            self._ranges.want(
                [*pieces, *(piece for place in first for piece in self.fields[place].pieces(rows))]
            )

    def _matches_at_once(self, rows: Numbers) -> pa.Table | None:
        columns: dict[int, Any] = {}
        self._read(self._question.needed, rows, columns)
        table = self._table(columns, len(rows))
        if self._question.condition is None:
            return table
        kept = table.filter(pa.array(self._mask(self._question.condition, columns, len(rows))))
        return kept if len(kept) else None

    def _ordered(self, rows: Numbers) -> list[Part]:
        """The parts of the condition in the cheapest order."""
        parts = self.parts
        if len(parts) < 2:
            return list(parts)

        def cost(part: Part) -> float:
            layouts = [self.fields[place].layout for place in self._fields_of(part)]
            return sum(layout.cost_of(layout.blocks_of(rows))[1] for layout in layouts)

        return in_order(parts, cost)

    def _read(self, places: Iterable[int], rows: Numbers, columns: dict[int, Any]) -> None:
        """Read missing fields: first fetch their ranges together, then decode each."""
        missing = [place for place in places if place not in columns]
        self._ranges.want(chain.from_iterable(self.fields[place].pieces(rows) for place in missing))
        for place in missing:
            columns[place] = self.fields[place].values(rows)

    def _mask(self, condition: Condition, columns: dict[int, Any], row_count: int) -> NDArray[np.bool_]:
        """The rows for which a condition is true."""
        constants = self._question.constants
        names = [self._facts.schema.field(place).name for place in columns]
        table = pa.table(
            [*columns.values(), *(pa.repeat(value, row_count) for value in constants.values())],
            [*names, *constants],
        )
        return rows_of(condition, table)

    def _table(self, columns: dict[int, Any], row_count: int) -> pa.Table:
        """The returned fields, with the types in the file."""
        output = self._question.output
        if not output:
            # A table without columns would lose its number of rows.
            return pa.table({"": pa.nulls(row_count)})
        fields = [self._facts.schema.field(place) for place in output]
        return pa.table([columns[place] for place in output], [one.name for one in fields])

    # --------------------------------------------------------------------------------------------- counting

    def cost_of(self, rows: Rows) -> Left:
        """The cost of reading all needed fields for some rows, page by page."""
        left = Left(files=0, row_groups=1 if rows else 0, rows=sum(part.stop - part.start for part in rows))
        if not rows:
            return left
        for one in self.fields.values():
            pages, length, dictionaries = one.layout.cost_of(one.layout.blocks_of_ranges(rows))
            left += Left(pages=pages, length=length + dictionaries, requests=pages + bool(dictionaries))
        return left

    def rows_tried(self, left: Rows) -> Rows:
        """The rows of some ranges for which the condition was evaluated: windows are processed in order."""
        tried: Rows = []
        room = self.tried
        for part in left:
            if room:
                tried.append(part[:room])
                room -= len(tried[-1])
        return tried

    def read_so_far(self) -> ReadSoFar:
        """The data that were read of it, page by page."""
        fields = [field for field in self.fields.values() if field.read_pages]
        pages = {page for field in fields for page in field.read_pages}
        read = {place for field in fields for place in field.read_dictionaries}
        unread = {place for field in fields for place in field.unread_dictionaries} - read
        without = Left(
            row_groups=int(bool(fields)),
            rows=self.matched,
            pages=len(pages),
            length=_length(pages) + _length(read),
            requests=len(pages) + len(read),
        )
        extra = Left(length=_length(unread), requests=len(unread))
        both = replace(without)
        both += extra
        return ReadSoFar(both, without, any(field.uses_index for field in fields))


class ReadSoFar(NamedTuple):
    """The data that were read of a row group.

    Attributes:
        with_dictionaries: The amount if the dictionary of every column had been read.
        without_dictionaries: The amount with only the dictionaries that a page refers to.
        uses_index: Whether an offset index was used.
    """

    with_dictionaries: Left
    without_dictionaries: Left
    uses_index: bool


def _length(places: Iterable[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in places)


def _cuts(part: range, most: int, row_count: int) -> Iterator[int]:
    """The first rows of the windows in a range of rows, of which the first completes the previous window."""
    yield part.start
    yield from range(part.start + most - row_count, part.stop, most)


__all__ = ["GroupQuestion", "GroupScan"]
