"""The trace of a whole ``_pm`` file: the place of every field of every readable structure.

Frequent records (descriptors, chunks) are traced by a pattern: their grammar is traced once, and
the leaves of each record follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from construct import Bytes

from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import BytesSource, Source
from pqassay_spec.grammar.constructs import bare
from pqassay_spec.grammar.flat_records import FlatStruct
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.grammar.trace import Leaf, trace
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.block import MIN, SIDES, Block
from pqassay_spec.pm.codes import HeaderFeature, column_flags_name, type_name
from pqassay_spec.pm.file import Snapshot
from pqassay_spec.pm.header import Header

BATCH = 512
"""Records in one batch of leaves."""

MOST_SNAPSHOTS = 10_000
"""Most snapshots of a chain that are traced."""

Batches = Iterator[list[Leaf]]
Label = Callable[[int], str]
"""A function that returns the name of a value."""


def trace_pm(source: Source, problems: list[FormatError] | None = None) -> Batches:
    """Yield the leaves of a file, damaged or not, in the order of their bytes, batch by batch.

    Errors that prevent further leaves from being read are appended to ``problems``.
    """
    tracer = _Tracer(source, [] if problems is None else problems)
    yield from (batch for batch in tracer.whole() if batch)


def traced(data: bytes) -> list[Leaf]:
    """The leaves of a file in memory, in the order of their bytes."""
    leaves = [leaf for batch in trace_pm(BytesSource(data)) for leaf in batch]
    return sorted(leaves, key=lambda leaf: leaf.offset)


class Pattern:
    """Traces records that consist only of integers, many at a time."""

    def __init__(self, record: type[FlatStruct], **labels: Label) -> None:
        self.size = record.size
        self._record = record
        self._leaves = trace(record.grammar, bytes(record.size))[1]
        self._labels = [labels.get(member.name) or _label(bare(member)) for member in record.grammar.subcons]

    def trace(self, raw: bytes, root: str, base: int, first: int) -> list[Leaf]:
        """The leaves of the records in ``raw``, which begin at ``base``; the first of them is ``root[first]``."""
        leaves: list[Leaf] = []
        for number, row in enumerate(self._record.read_many(raw, 0, len(raw) // self.size)):
            start = base + number * self.size
            for leaf, label, value in zip(self._leaves, self._labels, row, strict=True):
                path = f"{root}[{first + number}].{leaf.path}"
                name = label(value) if label else ""
                leaves.append(Leaf(path, start + leaf.offset, leaf.length, value, leaf.doc, name))
        return leaves


def _label(field: Any) -> Label | None:
    return field.label if isinstance(field, Labelled) else None


_DESCRIPTORS = Pattern(pm.ColumnDescriptor, type=type_name, flags=column_flags_name)
_SORTING_COLUMNS = Pattern(pm.SortingColumn)
_CHUNKS = Pattern(pm.ColumnChunk)
_ROW_GROUPS = Pattern(pm.RowGroupEntry)
_INLINED_BLOOMS = Pattern(pm.InlinedBloom)
_EXTERNAL_BLOOMS = Pattern(pm.BloomEntry)


NAMES, BLOCKS, CONTENTS = "names", "blocks", "statistics and bloom filters"
"""The kinds of structures that can overlap."""


class _Tracer:
    """The state of one trace."""

    def __init__(self, source: Source, problems: list[FormatError]) -> None:
        self.source = source
        self.problems = problems
        self._left: dict[str, int] = dict.fromkeys((NAMES, BLOCKS, CONTENTS), 2 * source.size)

    def _afford(self, kind: str, length: int, field: str) -> bool:
        """Whether more bytes may be traced: overlapping structures would otherwise never end."""
        left = self._left[kind]
        if left >= 0 > left - length:
            self.problems.append(Malformed(f"{kind} overlap; the others are left out", field=field))
        self._left[kind] = left - length
        return left >= length

    def whole(self) -> Batches:
        """Yield all leaves of the file."""
        try:
            raw = self.source.read(0, pm.FixedHeader.size)
        except FormatError as error:
            self.problems.append(error.within(rule="PM-001", field="header"))
            return
        fixed = pm.FixedHeader.read(raw)
        yield trace(pm.FixedHeader.grammar, raw, root="header")[1]
        try:
            size = pm_header.read_committed_size(self.source)
            header = pm_header.read_header(self.source, size)
        except FormatError as error:
            self.problems.append(error)
            room = max(0, self.source.size - pm.FixedHeader.size) // pm.ColumnDescriptor.size
            yield from self._descriptors(min(fixed.column_count, room))
            return
        yield from self._header(header)
        yield from self._snapshots(header, size)

    def _records(self, pattern: Pattern, root: str, start: int, count: int) -> Batches:
        for first in range(0, count, BATCH):
            base = start + first * pattern.size
            raw = self.source.read(base, min(BATCH, count - first) * pattern.size)
            yield pattern.trace(raw, root, base, first)

    # ------------------------------------------------------------------------------------------- the header

    def _descriptors(self, count: int) -> Batches:
        return self._records(_DESCRIPTORS, "column_descriptors", pm.FixedHeader.size, count)

    def _header(self, header: Header) -> Batches:
        yield from self._descriptors(header.column_count)
        start = pm.FixedHeader.size + pm.ColumnDescriptor.size * header.column_count
        yield from self._records(_SORTING_COLUMNS, "sorting_columns", start, len(header.sorting_columns))
        names: list[Leaf] = []
        for column, described in enumerate(header.descriptors):
            if not self._afford(NAMES, described.name_length, f"names[{column}]"):
                break
            try:
                name: str | bytes = pm_header.read_name(self.source, header, column)
            except FormatError as error:
                self.problems.append(error)
                if error.rule != "PM-023":
                    continue
                name = self.source.read(described.name_offset, described.name_length)
            doc = f"Name of column {column}."
            names.append(Leaf(f"names[{column}]", described.name_offset, described.name_length, name, doc))
        yield sorted(names, key=lambda leaf: leaf.offset)
        start = header.sections_start
        for section in pm.HEADER_SECTIONS:
            if header.fixed.feature_flags & section.bit:
                raw = self.source.read(start, header.end - start)
                leaves = trace(section.structure, raw, root=f"header_sections.{section.name}", base=start)[1]
                yield leaves
                start = leaves[-1].offset + leaves[-1].length

    # ---------------------------------------------------------------------------------- blocks and footers

    def _snapshots(self, header: Header, size: int) -> Batches:
        """The blocks and footers, by offset."""
        snapshots: list[Snapshot] = []
        try:
            for snapshot in pm_file.walk(self.source, header, size):
                snapshots.append(snapshot)
                if len(snapshots) == MOST_SNAPSHOTS:
                    self.problems.append(Malformed(f"the chain goes on behind {MOST_SNAPSHOTS} snapshots"))
                    break
        except FormatError as error:
            self.problems.append(error)
        ends: dict[int, int] = {}  # for each block, the offset after everything that may belong to it
        for snapshot in snapshots:
            for offset in snapshot.blocks:
                ends[offset] = max(ends.get(offset, 0), snapshot.start)
        blooms = self._blooms(header, snapshots)
        footers = {snapshot.start: snapshot for snapshot in snapshots}
        numbers = {offset: number for number, offset in enumerate(sorted(ends))}
        for offset in sorted({*ends, *footers}):
            if offset in ends:
                yield from self._block(header, numbers[offset], offset, ends[offset], blooms.get(offset, {}))
            if offset in footers:
                yield from self._footer(header, footers[offset])

    def _blooms(self, header: Header, snapshots: Sequence[Snapshot]) -> dict[int, dict[int, int]]:
        """For each block, the offsets of its inlined bloom filters by position; if snapshots differ, the newest counts."""
        offsets: dict[int, dict[int, int]] = {}
        if HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features or not header.bloom_columns:
            return offsets
        width = len(header.bloom_columns)
        for snapshot in snapshots:
            for place, entry in enumerate(pm_file.read_bloom_entries(self.source, header, snapshot)):
                if entry.offset:
                    of_block = offsets.setdefault(snapshot.blocks[place // width], {})
                    of_block.setdefault(place % width, entry.offset)
        return offsets

    def _block(self, header: Header, number: int, offset: int, end: int, blooms: dict[int, int]) -> Batches:
        path = f"blocks[{number}]"
        if not self._afford(BLOCKS, header.block_size, path):
            return
        try:
            block = pm_block.read_block(self.source, header, offset, end)
        except FormatError as error:
            self.problems.append(error.within(field=path))
            return
        yield trace(
            pm.BlockHeader.grammar, self.source.read(offset, pm.BlockHeader.size), root=path, base=offset
        )[1]
        start = offset + pm.BlockHeader.size
        yield from self._records(_CHUNKS, f"{path}.column_chunks", start, header.column_count)
        yield from self._out_of_line(block, path, end)
        for position, place in sorted(blooms.items(), key=lambda item: item[1]):
            yield self._bloom(f"{path}.bloom_filters[{position}]", place, end)

    def _out_of_line(self, block: Block, path: str, end: int) -> Batches:
        leaves: list[Leaf] = []
        for column in range(len(block.chunks)):
            for side in SIDES:
                place = pm_block.find_statistic(block, column, side)
                if place is None or place.inlined:
                    continue
                field = f"{path}.{side.field}s[{column}]"
                if not self._afford(CONTENTS, place.length, field):
                    break
                try:
                    raw = pm_block.read_statistic(self.source, block, column, side, end) or b""
                except FormatError as error:
                    self.problems.append(error.within(field=field))
                    continue
                doc = f"{'Least' if side is MIN else 'Greatest'} value of column {column}, out of line."
                leaves.append(Leaf(field, place.offset, place.length, raw, doc))
        yield sorted(leaves, key=lambda leaf: leaf.offset)

    def _bloom(self, path: str, offset: int, end: int) -> list[Leaf]:
        if self._left[CONTENTS] < 0:
            return []
        try:
            raw = pm_block.read_inlined_bloom(self.source, offset, end)
            if not self._afford(CONTENTS, len(raw), path):
                return []
        except FormatError as error:
            self.problems.append(error.within(field=path))
            if error.rule != "PM-077" and offset + pm.BLOOM_LENGTH_SIZE > end:
                return []
            head = self.source.read(offset, pm.BLOOM_LENGTH_SIZE)
            return trace(pm.BLOOM_LENGTH, head, root=path, base=offset)[1]
        whole = self.source.read(offset, pm.BLOOM_LENGTH_SIZE + len(raw))
        return trace(pm.BLOOM_BITSET, whole, root=path, base=offset)[1]

    def _footer(self, header: Header, snapshot: Snapshot) -> Batches:
        path = snapshot.path
        raw = self.source.read(snapshot.start, pm.FooterFields.size)
        yield trace(pm.FooterFields.grammar, raw, root=f"{path}.footer", base=snapshot.start)[1]
        entries = f"{path}.row_group_entries"
        yield from self._records(_ROW_GROUPS, entries, snapshot.entries_start, len(snapshot.blocks))
        is_external = HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features
        pattern = _EXTERNAL_BLOOMS if is_external else _INLINED_BLOOMS
        entries = f"{path}.bloom_entries"
        yield from self._records(pattern, entries, snapshot.bloom_start, snapshot.bloom_count)
        ends = [*[place for _, place in snapshot.sections.values()][1:], snapshot.sections_end]
        for (name, (_, place)), end in zip(snapshot.sections.items(), ends, strict=False):
            structure = next(section.structure for section in pm.FOOTER_SECTIONS if section.name == name)
            raw = self.source.read(place, end - place)
            yield trace(structure, raw, root=f"{path}.{name}", base=place)[1]
        rest = snapshot.checksum_offset - snapshot.sections_end
        if rest:
            raw = self.source.read(snapshot.sections_end, rest)
            yield trace(Bytes(rest), raw, root=f"{path}.unknown", base=snapshot.sections_end)[1]
        start = snapshot.checksum_offset
        yield trace(pm.CHECKSUM, self.source.read(start, pm.CHECKSUM_SIZE), root=path, base=start)[1]
        start += pm.CHECKSUM_SIZE
        yield trace(pm.TRAILER, self.source.read(start, pm.TRAILER_SIZE), root=path, base=start)[1]
