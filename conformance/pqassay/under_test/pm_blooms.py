"""The bloom filters of a ``_pm`` file that stand in it: which entries refer to them, and what they take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pqassay.under_test.file import FileUnderTest, NotChecked, Remembered
from pqassay.under_test.pm import Place, PmUnderTest
from pqassay.under_test.pm_chunks import Sweep
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import HeaderFeature, block_offset
from pqassay_spec.pm.file import Snapshot


class Row(NamedTuple):
    """The entries of one row group: its snapshot, its number, its block (``None`` where that cannot be read), its bytes."""

    snapshot: Snapshot
    row_group: int
    place: Place | None
    raw: bytes


class BloomFilter(NamedTuple):
    """A bloom filter in the file: its entry, its column, where it stands, and its LENGTH (``None`` where that has no place)."""

    row: Row
    position: int
    column: int
    offset: int
    length: int | None

    @property
    def end(self) -> int:
        """Where it ends, if it can."""
        return self.offset + pm.BLOOM_LENGTH_SIZE + max(self.length or 0, 0)

    @property
    def is_sized(self) -> bool:
        """Whether LENGTH is possible."""
        return self.length is not None and self.length > 0 and self.length % BLOCK_SIZE == 0


class BloomFilters:
    """All bloom filters that stand in the file, row group by row group; never all of them at once."""

    def __init__(self, file: FileUnderTest) -> None:
        self.parsed = file.part(PmUnderTest)

    @Remembered
    def rows(self) -> list[Row]:
        """The entries of every row group; of equal ones for the same block, those of one snapshot."""
        if not self.parsed.header.bloom_columns:
            return []
        known = {place.offset: place for place in self.parsed.blocks} if self.parsed.places else {}
        return [
            Row(snapshot, row_group, known.get(snapshot.blocks[row_group]), raw)
            for snapshot, row_group, raw in self.parsed.distinct_bloom_rows()
        ]

    @Remembered
    def _ends(self) -> list[int | None]:
        """For each row, where its last filter ends, if a screen proves that nothing is wrong with any."""
        sweep = self.parsed.file.part(Sweep)
        if not self.rows or self.are_external or sweep.screened is None or sweep.screens is None:
            return [None] * len(self.rows)
        content, ends = self.parsed.content, self.region_ends
        return [
            None
            if row.place is None
            else sweep.screens.end_of_filters(content, row.raw, ends[row.place.offset], row.place.follows)
            for row in self.rows
        ]

    def suspects(self) -> list[Row]:
        """The rows with whose filters something may be wrong."""
        return [row for row, end in zip(self.rows, self._ends, strict=True) if end is None]

    @property
    def are_external(self) -> bool:
        """Whether the filters stand in the Parquet file."""
        return self.parsed.has(HeaderFeature.BLOOM_FILTERS_EXTERNAL)

    @Remembered
    def region_ends(self) -> dict[int, int]:
        """For each block that can be read, where its statistics out of line end."""
        facts = self.parsed.file.part(Sweep).facts
        return {place.offset: fact.region_end for place, fact in zip(self.parsed.blocks, facts, strict=True)}

    def entry_place(self, row: Row, position: int) -> tuple[str, int]:
        """Field path, without the last name, and offset of an entry."""
        width = pm_file.bloom_entry_size(self.parsed.header)
        number = row.row_group * len(self.parsed.header.bloom_columns) + position
        return f"{row.snapshot.path}.bloom_entries[{number}]", row.snapshot.bloom_start + number * width

    def external(self, row: Row) -> list[pm.BloomEntry]:
        """The entries of a row where the filters stand in the Parquet file."""
        return pm.BloomEntry.read_many(row.raw, 0, len(self.parsed.header.bloom_columns))

    def inlined(self, row: Row) -> list[BloomFilter]:
        """The filters of a row, those that are absent left out; none where the block cannot be read."""
        columns = self.parsed.header.bloom_columns
        found: list[BloomFilter] = []
        if row.place is None:
            return found
        stored = memoryview(row.raw).cast("B")
        content, step = self.parsed.content, pm.InlinedBloom.size
        for position, column in enumerate(columns):
            entry = int.from_bytes(stored[position * step : (position + 1) * step], "little")
            if not entry:
                continue
            offset, length = block_offset(entry), None
            if offset + pm.BLOOM_LENGTH_SIZE <= row.place.follows:
                raw = content[offset : offset + pm.BLOOM_LENGTH_SIZE]
                length = int.from_bytes(raw, "little", signed=True)
            found.append(BloomFilter(row, position, column, offset, length))
        return found

    def is_misplaced(self, bloom: BloomFilter) -> bool:
        """Whether a filter begins before it may, or ends behind what it may; with an impossible LENGTH, where that stands."""
        place = bloom.row.place
        if place is None or bloom.length is None:
            return True
        end = bloom.end if bloom.is_sized else bloom.offset + pm.BLOOM_LENGTH_SIZE
        return bloom.offset < self.region_ends[place.offset] or end > place.follows

    def gaps(self, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield the stretches of the file that neither ``taken`` nor a bloom filter covers.

        Args:
            taken: Start and end of everything else; a block's begins where the block does.

        Raises:
            NotChecked: Where a filter stands, or how long it is, cannot be right.
        """
        of_block: dict[int, list[Row]] = {}
        packed: dict[int, int] = {}
        for row, last in zip(self.rows, self._ends, strict=True):
            if self.are_external:
                break
            if row.place is not None:
                of_block.setdefault(row.place.offset, []).append(row)
                if last is not None:
                    packed[row.place.offset] = last
        position = 0
        for start, end in sorted(taken):
            if start > position:
                yield position, start
            position = max(position, end)
            if start in packed and len(of_block[start]) == 1:
                position = max(position, packed[start])
                continue
            blooms = [bloom for row in of_block.get(start, ()) for bloom in self.inlined(row)]
            for bloom in blooms:
                if self.is_misplaced(bloom) or not bloom.is_sized:
                    raise NotChecked(f"{'PM-077' if not self.is_misplaced(bloom) else 'PM-076'} is broken")
            for begin, stop in sorted({(bloom.offset, bloom.end) for bloom in blooms}):
                if begin > position:
                    yield position, begin
                position = max(position, stop)
