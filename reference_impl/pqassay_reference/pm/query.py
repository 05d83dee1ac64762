"""Questions that ``_pm`` answers without the Parquet file: what to fetch, what to skip, and which row groups have a time.

A reader is one snapshot. Row groups are numbers, columns are names; ranges are of the Parquet file.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Access patterns" and "Migration".
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import xxhash

from pqassay_reference.errors import Refused
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import FileStorage
from pqassay_reference.pm.write import create, sections_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import write_whole
from pqassay_spec.parquet.bloom import probe
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import PhysicalType, StatFlag
from pqassay_spec.pm.skip import (
    Facts,
    NotAPredicateError,
    columns_of,
    is_all_null,
    is_nested,
    may_match,
    read_bound,
)
from pqassay_spec.pm.value import SnapshotChunk, SnapshotColumn, SnapshotRowGroup


class Range(NamedTuple):
    """A range of bytes of the Parquet file."""

    offset: int
    length: int


# ------------------------------------------------------------------------------------------------ what to fetch


class PlannedRange(NamedTuple):
    """The range of a column chunk to fetch."""

    row_group: int
    column: str
    offset: int
    length: int


class FetchPlan(NamedTuple):
    """The chunks to fetch, and those to skip.

    Attributes:
        ranges: The column chunks to fetch.
        left_out: Number of column chunks that need not be fetched, because they have only nulls.
    """

    ranges: list[PlannedRange]
    left_out: int


def plan(
    reader: PmReader,
    columns: Sequence[str],
    row_groups: Iterable[int] | None = None,
    predicate: Sequence[Any] | None = None,
    *,
    leave_out_nulls: bool = False,
) -> list[Range]:
    """The byte ranges to fetch for some columns, as in `planned`."""
    found = planned(reader, columns, row_groups, predicate, leave_out_nulls=leave_out_nulls)
    return [Range(each.offset, each.length) for each in found.ranges]


def planned(
    reader: PmReader,
    columns: Sequence[str],
    row_groups: Iterable[int] | None = None,
    predicate: Sequence[Any] | None = None,
    *,
    leave_out_nulls: bool = False,
) -> FetchPlan:
    """The column chunks to fetch for some columns, row group by row group, in the order of the columns.

    Args:
        reader: The snapshot.
        columns: Names of the columns; the name of a nested field means all its parts.
        row_groups: The row groups; all by default.
        predicate: Row groups in which no row satisfies it are left out; see `prune`.
        leave_out_nulls: Whether to leave out the chunks with only nulls, which need not be fetched.

    Raises:
        Refused: There is no such column or row group, or the predicate is not valid.
        Malformed: A block cannot be read.
    """
    reader.require_distinct_blocks()
    positions = [position for name in columns for position in reader.columns_of(name)]
    asked = list(range(reader.row_group_count)) if row_groups is None else list(row_groups)
    if predicate is not None:
        asked = _pruned(reader, predicate, asked)
    ranges: list[PlannedRange] = []
    left_out = 0
    for number in asked:
        block = reader.block(number)
        for column in positions:
            chunk = block.chunks[column]
            if leave_out_nulls and has_only_nulls(reader.columns[column], chunk, block.num_rows):
                left_out += 1
                continue
            name = reader.columns[column].name
            ranges.append(PlannedRange(number, name, chunk.byte_range_start, chunk.total_compressed))
    return FetchPlan(ranges, left_out)


MOST_BYTES_OF_NULLS = 1 << 24
"""Most bytes of nulls that are made without reading the chunk, which alone proves that the rows exist."""


def has_only_nulls(column: SnapshotColumn, chunk: pm.ColumnChunk, num_rows: int) -> bool:
    """Whether every row of a chunk is null; its rows are then known, and it need not be fetched."""
    # An empty list is also counted, and so is a struct with nulls.
    if is_nested(column) or not column.max_def_level or chunk.num_values != num_rows:
        return False
    if num_rows * max(column.fixed_byte_len, 8) > MOST_BYTES_OF_NULLS:
        return False
    return is_all_null(Facts(column, chunk.num_values, _null_count(chunk), None, None))


# ------------------------------------------------------------------------------------------------------ skipping


def prune(reader: PmReader, predicate: Sequence[Any]) -> list[int]:
    """The row groups in which a row may satisfy a predicate, by null counts, bloom filters and bounds.

    Args:
        reader: The snapshot.
        predicate: A tree as in ``conformance/PROTOCOL.md``, with Python values; see `pm_skip.may_match`.

    Raises:
        Refused: The predicate is not valid, or names a missing column.
        Malformed: A block cannot be read.
    """
    reader.require_distinct_blocks()
    return _pruned(reader, predicate, range(reader.row_group_count))


def _pruned(reader: PmReader, predicate: Sequence[Any], row_groups: Iterable[int]) -> list[int]:
    try:
        # The facts about a part of a nested column do not apply to the whole.
        named = {name: reader.columns_of(name) for name in columns_of(predicate)}
        positions = {name: found[0] for name, found in named.items() if len(found) == 1}
        return [
            number
            for number in row_groups
            if may_match(predicate, _facts_of_row_group(reader, number, positions))
        ]
    except NotAPredicateError as error:
        raise Refused(str(error)) from None


def _facts_of_row_group(
    reader: PmReader, row_group: int, positions: Mapping[str, int]
) -> Callable[[str], Facts | None]:
    """The facts about a chunk of a row group, by the name of its column; unreadable facts count as absent."""
    block = reader.block(row_group)

    def of(name: str) -> Facts | None:
        position = positions.get(name)
        if position is None:
            return None
        column, chunk = reader.columns[position], block.chunks[position]
        least, greatest = (
            read_bound(reader.source, block, position, column, side, reader.footer.start)
            for side in pm_block.SIDES
        )
        bitset = functools.cache(lambda: _bitset(reader, row_group, position))

        def may_hold(plain: bytes) -> bool:
            return (bits := bitset()) is None or probe(bits, xxhash.xxh64_intdigest(plain))

        return Facts(column, chunk.num_values, _null_count(chunk), least, greatest, may_hold)

    return of


def _bitset(reader: PmReader, row_group: int, column: int) -> bytes | None:
    try:
        found = reader.bloom(row_group, column)
    except FormatError:
        return None
    return found if isinstance(found, bytes) else None


def _null_count(chunk: pm.ColumnChunk) -> int | None:
    return chunk.null_count if chunk.stat_flags & StatFlag.NULL_COUNT_PRESENT else None


# ------------------------------------------------------------------------------------------------ search of times


class TimeSearch(NamedTuple):
    """The row groups that a search found, and how many blocks it read."""

    row_groups: list[int]
    blocks_read: int


def designated_timestamp(reader: PmReader) -> SnapshotColumn:
    """The designated timestamp. Raises `Refused` if there is none."""
    return reader.columns[_designated(reader)]


def _designated(reader: PmReader) -> int:
    position = reader.header.fixed.designated_timestamp
    if not 0 <= position < reader.header.column_count:
        raise Refused(f"{reader.source.name} has no designated timestamp to search")
    return position


def search_times(reader: PmReader, first: int, last: int) -> TimeSearch:
    """The row groups that may hold a designated timestamp in ``[first, last]``, in the unit of the Parquet file.

    If the rows are sorted by it, ascending, a binary search reads the blocks of a few row groups.
    Otherwise, or if a bound is missing, all row groups are examined, and row groups without bounds are kept.

    Raises:
        Refused: There is no designated timestamp.
        Malformed: A block cannot be read.
    """
    column = _designated(reader)
    times, everything = _Times(reader, column), range(reader.row_group_count)
    if reader.header.sorted_by[:1] == [(column, False)]:
        try:
            start = bisect.bisect_left(everything, first, key=times.greatest)
            stop = bisect.bisect_right(everything, last, lo=start, key=times.least)
        except _NoBoundError:
            pass
        else:
            return TimeSearch(list(everything[start:stop]), len(times.blocks))
    return TimeSearch(
        [number for number in everything if times.may_hold(number, first, last)], len(times.blocks)
    )


class _NoBoundError(Exception):
    """The least or greatest timestamp of a row group is not known."""


class _Times:
    """The bounds of the designated timestamp, row group by row group."""

    def __init__(self, reader: PmReader, column: int) -> None:
        self.reader, self.column = reader, column
        self.blocks: set[int] = set()
        """Row groups whose blocks were read."""

    @functools.cache  # noqa: B019 - lives as long as one search
    def bounds(self, row_group: int) -> tuple[int, int]:
        """The least and the greatest timestamp. Raises `_NoBoundError`."""
        reader, column = self.reader, self.reader.columns[self.column]
        block = reader.block(row_group)
        self.blocks.add(row_group)
        stored = [
            read_bound(reader.source, block, self.column, column, side, reader.footer.start)
            for side in pm_block.SIDES
        ]
        if column.physical_type != PhysicalType.INT64 or None in stored:
            raise _NoBoundError
        least, greatest = (int.from_bytes(bound or b"", "little", signed=True) for bound in stored)
        return least, greatest

    def least(self, row_group: int) -> int:
        """The least timestamp."""
        return self.bounds(row_group)[0]

    def greatest(self, row_group: int) -> int:
        """The greatest timestamp."""
        return self.bounds(row_group)[1]

    def may_hold(self, row_group: int, first: int, last: int) -> bool:
        """Whether a row group may have a time in the range."""
        try:
            least, greatest = self.bounds(row_group)
        except _NoBoundError:
            return True
        return least <= last and greatest >= first


# ---------------------------------------------------------------------------------------------------- migration


def migrate(data: bytes, *, parquet_file_size: int | None = None) -> bytes:
    """Rewrite an older file without the Parquet file: with one snapshot, and without unused bytes.

    Facts that the older file lacks are left out: for a reader they are absent, not zero.

    Args:
        data: The older file.
        parquet_file_size: The snapshot; the newest by default.

    Raises:
        Malformed: The older file is damaged.
        Refused: It has no such snapshot, or has content that cannot be written.
    """
    return migrated(PmReader.from_bytes(data, parquet_file_size=parquet_file_size))


def migrate_file(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    parquet_file_size: int | None = None,
) -> int:
    """Migrate a file, which is replaced, or stays unchanged with ``output``. Returns the number of written bytes.

    Raises:
        Malformed: The older file is damaged.
        Refused: It has no such snapshot, or has content that cannot be written.
        BusyError: Another process is writing it.
        OSError: It cannot be read or replaced.
    """
    if output is not None:
        with PmReader.map(path, parquet_file_size=parquet_file_size) as reader:
            raw = migrated(reader)
        write_whole(output, raw)
        return len(raw)
    with FileStorage(path) as storage:  # no update may come in between
        raw = migrated(PmReader(storage, parquet_file_size=parquet_file_size))
        write_whole(path, raw)
    return len(raw)


def migrated(reader: PmReader) -> bytes:
    """The bytes of a file with only the snapshot of a reader. Raises `Malformed` and `Refused`; see `migrate`."""
    reader.verify()
    value = reader.value()
    groups = tuple(
        SnapshotRowGroup(group.num_rows, tuple(map(_without_empty_bounds, group.chunks)))
        for group in value.row_groups
    )
    value = dataclasses.replace(value, row_groups=groups, previous_sizes=())
    return create(value, extensions=sections_of(reader.footer))


def _without_empty_bounds(chunk: SnapshotChunk) -> SnapshotChunk:
    """A chunk without bounds of length 0, which other writers omit."""
    least, greatest = chunk.min or None, chunk.max or None
    return dataclasses.replace(
        chunk,
        min=least,
        max=greatest,
        min_exact=least is not None and chunk.min_exact,
        max_exact=greatest is not None and chunk.max_exact,
    )
