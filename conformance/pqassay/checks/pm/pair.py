"""``_pm`` and the Parquet file beside it: the snapshot that describes the file, and the parts that both have.

`Pair` is the view of both that the rules across them share. Its properties raise the error that prevents a check: a stale ``_pm`` breaks
only PM-100, and a broken rule of either file is reported by that rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from pqassay.under_test.file import DATA_PREFIX, Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.index_reads import IndexReads
from pqassay.under_test.pm.file import BlockPlace, PmUnderTest, chunk_field, footer_field
from pqassay.under_test.violation import Spot
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import Source, require_range
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ColumnMetaData, FileMetaData
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import Block, Side
from pqassay_spec.pm.codes import HeaderFeature
from pqassay_spec.pm.file import Snapshot
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet.fields import LeafField, fields_of
from pqassay_spec.pm.from_parquet.questdb_key import QuestDBMetadata
from pqassay_spec.pm.header import Header

Value = TypeVar("Value")

LISTED = 3
"""The number of sizes that a message lists before an ellipsis."""


@dataclass(frozen=True)
class Prefix:
    """The beginning of a source: the file before something was appended."""

    whole: Source
    size: int

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.whole.name

    def read(self, offset: int, length: int) -> bytes:
        """See `Source.read`."""
        require_range(self, offset, length)
        return self.whole.read(offset, length)


@dataclass(frozen=True)
class Match:
    """The snapshot that describes the Parquet file.

    Attributes:
        snapshot: The newest such snapshot.
        unpublished: The number of bytes of the Parquet file after the described part.
    """

    snapshot: Snapshot
    unpublished: int


class FilePair:
    """``_pm`` and ``data.parquet``; each property raises an error if its part cannot be read."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self.parsed = file.part(PmUnderTest)

    @property
    def source(self) -> Source:
        """The committed bytes of ``_pm``. Raises PM-001, PM-002."""
        return self.parsed.source

    @property
    def header(self) -> Header:
        """The header of ``_pm``. Raises the errors of `pm_header.read_header`."""
        return self.parsed.header

    @property
    def data(self) -> Source:
        """The whole Parquet file. Raises `NotChecked` if there is none."""
        return self.file.data.source

    @Remembered
    def match(self) -> Match:
        """The snapshot that describes the Parquet file.

        Raises:
            Malformed: Rule PM-100, no snapshot does: ``_pm`` is stale. Rules PM-012 to PM-020, the snapshots cannot be read.
        """
        there = self.data.size
        newest, chain = self.newest, self.parsed.chain
        for snapshot in chain.snapshots:
            if snapshot.fields.parquet_file_size == there:
                _require_footer(self.data, snapshot)
                return Match(snapshot, 0)
        chain.require_whole()
        described = newest.fields.parquet_file_size
        if described < there:
            try:
                _require_footer(Prefix(self.data, described), newest)
            except Malformed:
                pass
            else:
                return Match(newest, there - described)
        sizes = [snapshot.fields.parquet_file_size for snapshot in chain.snapshots]
        listed = ", ".join(map(str, sizes[:LISTED])) + ", …" * (len(sizes) > LISTED)
        what = "the snapshot is" if len(sizes) == 1 else f"the {len(sizes)} snapshots are"
        raise _stale(newest, f"{what} of {listed}", there)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that describes the Parquet file. Raises PM-100."""
        return self.match.snapshot

    @Remembered
    def parquet(self) -> FileUnderTest:
        """The Parquet file up to the end of the snapshot's footer."""
        size = self.snapshot.fields.parquet_file_size
        if self.match.unpublished:
            return FileUnderTest(Prefix(self.data, size), self.file.options, prefix=DATA_PREFIX)
        return self.file.data

    @Remembered
    def metadata(self) -> FileMetaData:
        """The footer of the Parquet file.

        Raises:
            NotChecked: It cannot be read; the report on that file says why.
        """
        return self._read(lambda parquet: parquet.metadata)

    @Remembered
    def leaves(self) -> Sequence[SchemaLeaf]:
        """The leaf columns of the Parquet file. Raises as `metadata` does."""
        return self._read(lambda parquet: parquet.leaves)

    @Remembered
    def fields(self) -> Sequence[LeafField]:
        """The leaf columns with their top-level fields. Raises as `metadata` does."""
        _ = self.leaves
        return fields_of(self.metadata)

    @Remembered
    def questdb(self) -> QuestDBMetadata | None:
        """The content of the key ``questdb``; ``None`` without it. Raises PM-121."""
        return questdb_key.read(self.metadata, len(self.leaves))

    @Remembered
    def given_ids(self) -> list[set[int]]:
        """For each column, the numbers that the key or field_id gives to it and to no other column. Raises PM-121."""
        fields, questdb = self.fields, self.questdb
        by_key = [None] * len(fields) if questdb is None else [column.id for column in questdb.schema]
        given = [
            {number for number in (field.top.field_id, named) if number is not None and number >= 0}
            for field, named in zip(fields, by_key, strict=True)
        ]
        times = Counter(number for numbers in given for number in numbers)
        return [set() if any(times[number] > 1 for number in numbers) else numbers for numbers in given]

    @property
    def said_by_questdb(self) -> QuestDBMetadata:
        """The content of the key ``questdb``. Raises `NotApplicable` without the key, and PM-121."""
        if self.questdb is None:
            raise NotApplicable
        return self.questdb

    def _read(self, what: Callable[[FileUnderTest], Value]) -> Value:
        parquet = self.parquet
        try:
            return what(parquet)
        except Unsupported as error:
            raise NotChecked(f"{pm.DATA_NAME}: {error.reason}", "tool") from error
        except FormatError as error:
            raise NotChecked(f"{error.rule} is broken in {pm.DATA_NAME}", "another rule") from error

    @Remembered
    def blocks(self) -> Sequence[Block]:
        """The blocks of the snapshot's row groups.

        Raises:
            NotChecked: A block is at an impossible place (PM-050), or row groups share a block (PM-052).
        """
        parsed, snapshot = self.parsed, self.snapshot
        offsets, footers = snapshot.blocks, parsed.footers
        if any(parsed.why_misplaced(parsed.places[offset], footers) for offset in offsets):
            raise Broken("PM-050")
        if len(set(offsets)) < len(offsets) or len(offsets) * self.header.block_size > snapshot.start:
            raise Broken("PM-052")
        return [pm_block.read_block(self.source, self.header, offset, snapshot.start) for offset in offsets]

    @property
    def newest(self) -> Snapshot:
        """The newest snapshot. Raises the errors of `pm_file.read_snapshot`."""
        return self.parsed.newest

    @Remembered
    def facts(self) -> Sequence[Sequence[ColumnMetaData | None]]:
        """The Parquet footer's metadata of each chunk, by row group and column; ``None`` if it is encrypted."""
        _ = self.row_group_count
        return [[chunk.meta_data for chunk in row_group.columns] for row_group in self.metadata.row_groups]

    @cached_property
    def bloom_positions(self) -> dict[int, int]:
        """The position of each column with bloom filters among these columns."""
        return {column: position for position, column in enumerate(self.header.bloom_columns)}

    def bloom_number(self, row_group: int, column: int) -> int | None:
        """The number of a chunk's bloom filter entry; ``None`` if the column has none."""
        position = self.bloom_positions.get(column)
        return None if position is None else row_group * len(self.bloom_positions) + position

    def bitset(self, number: int) -> bytes:
        """The bitset of a bloom filter entry, in this file or in the Parquet file.

        Raises:
            Malformed: Rules PM-076, PM-077, PM-079: the bitset cannot be read.
        """
        entry = self.bloom_entries[number]
        if self.is_external:
            parquet = self.parquet
            if (
                entry.length % BLOCK_SIZE
                or not 0 < entry.length <= parquet.framing.footer_start - entry.offset
            ):
                raise Malformed(
                    f"no bitset of {entry.length} bytes is at {entry.offset} in {pm.DATA_NAME}",
                    rule="PM-079",
                )
            return parquet.part(IndexReads).read(entry.offset, entry.length)
        return pm_block.read_inlined_bloom(self.source, entry.offset, self.snapshot.start)

    @Remembered
    def bloom_entries(self) -> Sequence[pm.BloomEntry]:
        """The snapshot's bloom filter entries, row group by row group."""
        return pm_file.read_bloom_entries(self.source, self.header, self.snapshot)

    @property
    def is_external(self) -> bool:
        """Whether bloom filters are in the Parquet file."""
        return HeaderFeature.BLOOM_FILTERS_EXTERNAL in self.header.features

    # -------------------------------------------------------------------------------- what both have in common

    @Remembered
    def column_count(self) -> int:
        """The number of columns, which both files agree on.

        Raises:
            NotChecked: The numbers differ, PM-104.
        """
        if len(self.leaves) != self.header.column_count:
            raise Broken("PM-104")
        return self.header.column_count

    @Remembered
    def row_group_count(self) -> int:
        """The number of row groups, which both files agree on.

        Raises:
            NotChecked: The numbers differ (PM-103), or a row group of the Parquet file lacks columns.
        """
        row_groups = self.metadata.row_groups
        if len(row_groups) != len(self.snapshot.blocks):
            raise Broken("PM-103")
        for number, row_group in enumerate(row_groups):
            if len(row_group.columns) != self.column_count:
                raise NotChecked(
                    f"row group {number} of {pm.DATA_NAME} has {len(row_group.columns)} chunks for {self.column_count} columns",
                    "another rule",
                )
        return len(row_groups)

    # ----------------------------------------------------------------------------------------------- the places

    def place(self, row_group: int) -> BlockPlace:
        """The place of a row group's block."""
        return self.parsed.places[self.snapshot.blocks[row_group]]

    def chunk_field(self, row_group: int, column: int, name: str) -> Spot:
        """The spot of a field in a column chunk's record."""
        return chunk_field(self.place(row_group), column, name)

    def statistic(self, row_group: int, column: int, side: Side) -> Spot | None:
        """The spot of a statistic's bytes, in its slot or out of line; ``None`` if it is absent."""
        place = pm_block.find_statistic(self.blocks[row_group], column, side)
        if place is None:
            return None
        path = f"{self.place(row_group).path}.{side.field}s[{column}]"
        if place.inlined:
            path = self.chunk_field(row_group, column, side.field).path
        return Spot(path, place.offset, place.length)

    def bloom_entry(self, number: int) -> Spot:
        """The spot of a bloom filter entry."""
        width = pm_file.bloom_entry_size(self.header)
        path = f"{self.snapshot.path}.bloom_entries[{number}].offset"
        return Spot(path, self.snapshot.bloom_start + number * width, width)

    def inlined_bitset(self, row_group: int, column: int, length: int) -> Spot:
        """The spot of the first bytes of a bloom filter's bitset in this file."""
        number, position = self.bloom_number(row_group, column), self.bloom_positions[column]
        path = f"{self.place(row_group).path}.bloom_filters[{position}].bitset"
        return Spot(path, self.bloom_entries[number or 0].offset + pm.BLOOM_LENGTH_SIZE, length)


def _require_footer(data: Source, snapshot: Snapshot) -> None:
    """Raise PM-100 unless a Parquet file ends where the snapshot says.

    Only the end is checked; PM-102 judges where the footer begins.
    """
    try:
        read_framing(data)
    except Unsupported as error:
        raise NotChecked(f"{pm.DATA_NAME}: {error.reason}", "tool") from error
    except FormatError as error:
        raise _stale(snapshot, f"no Parquet file ends at {data.size}: {error.reason}", data.size) from error


def _stale(snapshot: Snapshot, why: str, there: int) -> Malformed:
    spot = footer_field(snapshot, "parquet_footer_offset")
    return Malformed(
        f"stale: no snapshot describes the {there} bytes of {pm.DATA_NAME}; {why}",
        rule="PM-100",
        field=spot.path,
        offset=spot.offset,
        length=spot.length,
        expected=f"a Parquet file of {there} bytes",
        actual=f"one of {snapshot.fields.parquet_file_size} bytes",
    )
