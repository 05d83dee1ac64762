"""A ``_pm`` file during its check: its bytes, its header, the chain of its snapshots, and the places of its blocks.

The limits below bound the work for hostile files: the number of snapshots to follow, and of row groups that they list in total.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, Source
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.block import Block
from pqassay_spec.pm.codes import NO_COLUMN, HeaderFeature, repetition
from pqassay_spec.pm.file import Snapshot
from pqassay_spec.pm.header import Header

SHOWN_NAME = 100
"""The number of characters of a column's name in findings."""

MOST_OVERLAP = 64 << 20
"""The number of bytes of names that are read beyond the file's size, since names can overlap."""

MOST_SNAPSHOTS = 10_000
"""The number of snapshots of a chain that are judged."""

MOST_ROW_GROUPS = 2_000_000
"""The number of row groups that the snapshots of a chain may list together; the rest is not judged."""


NAMING = ("name_offset", "name_length", "id")
ALL_BUT_NAME = itemgetter(
    *(place for place, name in enumerate(pm.ColumnDescriptor.offsets) if name not in NAMING)
)
"""The fields of a descriptor, except those of the name."""


@dataclass
class Chain:
    """The readable snapshots, from the newest to the oldest.

    Attributes:
        source: The committed bytes.
        snapshots: The readable snapshots.
        problem: The error of the first unreadable snapshot.
        cut: Why the rest is not judged, if the chain is too long.
    """

    source: Source
    snapshots: list[Snapshot]
    problem: FormatError | None = None
    cut: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether all snapshots were read."""
        return self.problem is None and not self.cut

    def require_whole(self) -> None:
        """Raise the reason why not all snapshots were read, if so: PM-019, PM-020, or `NotChecked`."""
        if self.problem is not None:
            raise self.problem.with_traceback(None)
        if self.cut:
            raise NotChecked(self.cut, "tool")

    @Remembered
    def checksums(self) -> list[int]:
        """The correct checksum of each snapshot."""
        return pm_file.checksums(self.source, self.snapshots)


@dataclass
class BlockPlace:
    """The place of a block, with the references to it.

    Attributes:
        number: Its position among all blocks, by offset; field paths use it.
        offset: The offset of its first byte.
        footer: Offset of the first footer that refers to it; the block ends before it.
        body_end: The end of the body of the shortest Parquet file that it describes.
        snapshot, row_group: The newest snapshot that refers to it, and the row group there.
        follows: The offset of the next block or footer.
    """

    number: int
    offset: int
    footer: int
    body_end: int
    snapshot: int
    row_group: int
    follows: int = 0

    @property
    def path(self) -> str:
        """Field path of the block."""
        return f"blocks[{self.number}]"


class ColumnUnderTest(NamedTuple):
    """A column with its descriptor.

    Attributes:
        parsed: The file.
        position: Its position.
        described: Its descriptor.
        is_nested: Whether it certainly belongs to a nested field: it has more than one definition level, or shares its name, that of the field, with other columns.
        is_sorted: Whether the rows are sorted by it.
    """

    parsed: PmUnderTest
    position: int
    described: pm.ColumnDescriptor
    is_nested: bool
    is_sorted: bool

    @property
    def shape(self) -> Hashable:
        """A key of everything that rules about a single column use: all but its name and its ID."""
        return ALL_BUT_NAME(self.described), self.is_nested, self.is_sorted

    @property
    def repetition(self) -> int:
        """FIELD_REPETITION."""
        return repetition(self.described.flags)

    def violation(self, name: str, message: str, expected: str, actual: str) -> Violation:
        """The violation at a field of its descriptor."""
        return self.parsed.in_descriptor(self.position, name, message, expected, actual)


class SortingColumnUnderTest(NamedTuple):
    """A sorting column of the header: its position, its column, and whether an earlier entry has the same column."""

    header: Header
    position: int
    column: int
    is_repeated: bool

    def violation(self, message: str, expected: str) -> Violation:
        """The violation at its entry."""
        left, size = len(self.header.sorting_columns) - self.position, pm.SortingColumn.size
        spot = Spot(f"sorting_columns[{self.position}].index", self.header.names_start - size * left, size)
        return spot.violation(message, expected, str(self.column))


class SnapshotUnderTest(NamedTuple):
    """A snapshot of a file."""

    parsed: PmUnderTest
    snapshot: Snapshot

    @property
    def flags(self) -> int:
        """FOOTER_FEATURE_FLAGS."""
        return self.snapshot.fields.footer_feature_flags


def header_field(name: str) -> Spot:
    """The spot of a field of the header."""
    return Spot.member("header", pm.FixedHeader, name)


def footer_field(snapshot: Snapshot, name: str) -> Spot:
    """The spot of a field of a footer."""
    return Spot(f"{snapshot.path}.footer.{name}", *snapshot.place(name))


def entry_field(snapshot: Snapshot, row_group: int) -> Spot:
    """The spot of the entry of a row group in a footer."""
    size = pm.RowGroupEntry.size
    path = f"{snapshot.path}.row_group_entries[{row_group}].block_offset"
    return Spot(path, snapshot.entries_start + row_group * size, size)


def descriptor_field(column: int, name: str) -> Spot:
    """The spot of a field of a column's descriptor."""
    path, width = f"column_descriptors[{column}].{name}", pm.ColumnDescriptor.widths[name]
    return Spot(path, pm_header.descriptor_place(column, name), width)


def chunk_field(place: BlockPlace, column: int, name: str) -> Spot:
    """The spot of a field of a column chunk."""
    start = place.offset + pm.BlockHeader.size + column * pm.ColumnChunk.size
    return Spot.member(f"{place.path}.column_chunks[{column}]", pm.ColumnChunk, name, start)


class _Unchecked:
    """Bytes in memory as a source for ranges that are already checked, since there may be very many names."""

    def __init__(self, source: BytesSource) -> None:
        self.name, self.size, self._view = source.name, source.size, source.view

    def read(self, offset: int, length: int) -> bytes:
        """The bytes of a range."""
        return bytes(self._view[offset : offset + length])


class PmUnderTest:
    """The parsed parts of a ``_pm`` file; one damage is one error, see `FileUnderTest`."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self._last: tuple[int, Block] | None = None

    # ------------------------------------------------------------------------------------- bytes and header

    @Remembered
    def size(self) -> int:
        """The committed size. Raises PM-001, PM-002."""
        return pm_header.read_committed_size(self.file.source)

    @Remembered
    def fixed(self) -> pm.FixedHeader:
        """The first bytes of the header. Raises PM-001, PM-002."""
        _ = self.size
        return pm.FixedHeader.read(self.file.source.read(0, pm.FixedHeader.size))

    @Remembered
    def content(self) -> memoryview:
        """All committed bytes. They are read, not mapped: a mapped file that becomes shorter kills the process."""
        source = self.file.source
        if isinstance(source, BytesSource):
            return source.view[: self.size]
        return memoryview(source.read(0, self.size))

    @Remembered
    def source(self) -> Source:
        """The committed bytes: in memory if the tier needs all of them, otherwise read on demand."""
        source = self.file.source
        return BytesSource(self.content, source.name) if self.file.options.reaches("index") else source

    @Remembered
    def header(self) -> Header:
        """The header. Raises PM-001, PM-002, PM-004, PM-007, PM-008, PM-011, PM-040, PM-041."""
        return pm_header.read_header(self.source, self.size)

    @Remembered
    def names(self) -> list[str]:
        """The name of each column in findings: truncated, or its position if the name cannot be read."""
        return self._read_names[0]

    @Remembered
    def wrong_names(self) -> list[tuple[int, FormatError]]:
        """The columns with unreadable names, and the errors: PM-021, PM-023."""
        return self._read_names[1]

    @Remembered
    def _read_names(self) -> tuple[list[str], list[tuple[int, FormatError]]]:
        names: list[str] = []
        wrong: list[tuple[int, FormatError]] = []
        source, header = self.source, self.header
        # A name outside the area of names is not read.
        area = _Unchecked(source) if isinstance(source, BytesSource) else source
        room = header.sections_start + MOST_OVERLAP
        for column, described in enumerate(header.descriptors):
            room -= described.name_length
            if room < 0:
                names.append(f"[{column}]")
                continue
            try:
                name = pm_header.read_name(area, header, column)
            except FormatError as error:
                names.append(f"[{column}]")
                wrong.append((column, error))
            else:
                names.append(name if len(name) <= SHOWN_NAME else f"{name[:SHOWN_NAME]}… [{column}]")
        return names, wrong

    def require_all_names(self) -> None:
        """Raise `NotChecked` unless all names were read."""
        if sum(described.name_length for described in self.header.descriptors) > (
            self.header.sections_start + MOST_OVERLAP
        ):
            raise NotChecked("the names overlap, and together are too long to be read", "tool")

    @property
    def designated(self) -> int:
        """Position of the designated timestamp.

        Raises:
            NotApplicable: The file has no designated timestamp.
            NotChecked: The file has no such column.
        """
        column = self.header.fixed.designated_timestamp
        if column == NO_COLUMN:
            raise NotApplicable
        if not 0 <= column < self.header.column_count:
            raise Broken("PM-033")
        return column

    @Remembered
    def columns(self) -> list[ColumnUnderTest]:
        """Every column."""
        header, names = self.header, self.names
        uses = Counter(names)
        sorting = set(header.sorting_columns)
        if self.has(HeaderFeature.SORTING_IS_DTS_ASC):
            sorting.add(header.fixed.designated_timestamp)
        return [
            ColumnUnderTest(
                self, position, described, described.max_def_level > 1 or uses[name] > 1, position in sorting
            )
            for position, (described, name) in enumerate(zip(header.descriptors, names, strict=True))
        ]

    @Remembered
    def sorting_columns(self) -> list[SortingColumnUnderTest]:
        """Every sorting column in the header."""
        first: dict[int, int] = {}
        return [
            SortingColumnUnderTest(
                self.header, position, column, first.setdefault(column, position) < position
            )
            for position, column in enumerate(self.header.sorting_columns)
        ]

    @Remembered
    def column_ids(self) -> frozenset[int]:
        """The IDs of all columns with an ID."""
        return frozenset(described.id for described in self.header.descriptors) - {NO_COLUMN}

    def has(self, feature: HeaderFeature) -> bool:
        """Whether the header sets a bit."""
        return feature in self.header.features

    # --------------------------------------------------------------------------------------------- snapshots

    @Remembered
    def newest(self) -> Snapshot:
        """The newest snapshot. Raises the errors of `header`, and PM-012 to PM-015, PM-085, PM-086."""
        return pm_file.read_snapshot(self.source, self.header, self.size)

    @Remembered
    def chain(self) -> Chain:
        """All snapshots. Raises the errors of `newest`; errors of earlier snapshots are in the chain."""
        chain, row_groups = Chain(self.source, [self.newest]), self.newest.fields.row_group_count
        if row_groups > MOST_ROW_GROUPS:
            chain.cut = f"there are more than {MOST_ROW_GROUPS:,} row groups"
        walk = pm_file.walk(self.source, self.header, self.size)
        try:
            for snapshot in walk:
                if snapshot.number == 0:
                    continue
                row_groups += snapshot.fields.row_group_count
                if snapshot.number == MOST_SNAPSHOTS:
                    chain.cut = f"the chain has more than {MOST_SNAPSHOTS:,} snapshots"
                elif row_groups > MOST_ROW_GROUPS:
                    chain.cut = f"the snapshots list more than {MOST_ROW_GROUPS:,} row groups together"
                if chain.cut:
                    break
                chain.snapshots.append(snapshot)
        except FormatError as error:
            chain.problem = error
        return chain

    @Remembered
    def in_reach(self) -> Sequence[Snapshot]:
        """The snapshots that the tier examines: the newest, or all readable ones."""
        return self.chain.snapshots if self.file.options.reaches("index") else [self.newest]

    @Remembered
    def snapshots(self) -> Sequence[Snapshot]:
        """All readable snapshots. Raises `NotChecked` if there are too many row groups."""
        if self.newest.fields.row_group_count > MOST_ROW_GROUPS:
            raise NotChecked(self.chain.cut, "tool")
        return self.chain.snapshots

    # ------------------------------------------------------------------------------------------------ blocks

    @Remembered
    def places(self) -> dict[int, BlockPlace]:
        """Every block that a snapshot refers to, sorted by offset, including unreadable blocks."""
        places: dict[int, BlockPlace] = {}
        for snapshot in self.snapshots:
            body_end = snapshot.fields.parquet_footer_offset
            for row_group, offset in enumerate(snapshot.blocks):
                place = places.get(offset)
                if place is None:
                    places[offset] = BlockPlace(
                        0, offset, snapshot.start, body_end, snapshot.number, row_group
                    )
                else:
                    place.footer = min(place.footer, snapshot.start)
                    place.body_end = min(place.body_end, body_end)
        ordered = dict(sorted(places.items()))
        edges = sorted({*ordered, *(snapshot.start for snapshot in self.snapshots)})
        for number, (offset, place) in enumerate(ordered.items()):
            place.number = number
            behind = bisect_right(edges, offset)
            place.follows = edges[behind] if behind < len(edges) else place.footer
        return ordered

    @Remembered
    def blocks(self) -> list[BlockPlace]:
        """The readable blocks. Raises `NotApplicable` if there are none.

        Blocks at impossible places (PM-050) are omitted.
        """
        if not self.places:
            raise NotApplicable
        footers = self.footers
        found = [place for place in self.places.values() if not self.why_misplaced(place, footers)]
        if not found:
            raise Broken("PM-050")
        return found

    @Remembered
    def footers(self) -> list[tuple[int, int]]:
        """Start and end of every footer with its trailer, by offset."""
        return sorted((snapshot.start, snapshot.size) for snapshot in self.snapshots)

    def why_misplaced(self, place: BlockPlace, footers: Sequence[tuple[int, int]]) -> str:
        """The reason why a block cannot be where it is claimed to be; empty if it can."""
        start, end = place.offset, place.offset + self.header.block_size
        if start < self.header.end or end > place.footer:
            return f"within [{self.header.end}, {place.footer})"
        position = bisect_right(footers, (end - 1, 1 << 64)) - 1
        if position >= 0 and footers[position][1] > start:
            return f"outside the footer [{footers[position][0]}, {footers[position][1]})"
        return ""

    def block(self, place: BlockPlace) -> Block:
        """The parsed block at a place; the last one is cached."""
        if self._last is None or self._last[0] != place.offset:
            block = pm_block.read_block(self.source, self.header, place.offset, place.footer)
            self._last = place.offset, block
        return self._last[1]

    def distinct_bloom_rows(self) -> Iterator[tuple[Snapshot, int, bytes]]:
        """Yield each distinct row of bloom filter entries: its snapshot, its row group and its bytes.

        Updates copy equal rows for the same block, of which one is yielded: that of the newest snapshot. If the filters are in the Parquet
        file, it is that of the oldest, when the file was shortest.
        """
        width = pm_file.bloom_entry_size(self.header) * len(self.header.bloom_columns)
        seen: dict[int, bytes] = {}
        is_external = self.has(HeaderFeature.BLOOM_FILTERS_EXTERNAL)
        for snapshot in reversed(self.snapshots) if is_external else self.snapshots:
            for row_group, offset in enumerate(snapshot.blocks):
                row = self.source.read(snapshot.bloom_start + row_group * width, width)
                if seen.get(offset) != row:
                    seen[offset] = row
                    yield snapshot, row_group, row

    # -------------------------------------------------------------------------------------------- violations

    def in_descriptor(self, column: int, name: str, message: str, expected: str, actual: str) -> Violation:
        """The violation at a field of a column's descriptor."""
        spot = descriptor_field(column, name)
        return spot.violation(message, expected, actual, column=self.names[column])

    def in_chunk(
        self, place: BlockPlace, column: int, name: str, message: str, expected: str, actual: str
    ) -> Violation:
        """The violation at a field of a column chunk."""
        spot, called = chunk_field(place, column, name), self.names[column]
        return spot.violation(message, expected, actual, column=called, row_group=place.row_group)
