"""The layout of a sound file, read off its footer in one pass.

Of nearly all files, every offset leads into the body, every structure lies there, and no two share a byte.  Where that holds, a few numbers
say all that rules ask of the places of structures.  Where it does not, or anything is unusual, there is no such layout, and the
rules look at the ranges one by one.

Numbers are looked at in columns: those of chunks that are encoded alike (`pqassay.under_test.alike`), and of all others together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import add, le
from typing import Any, NamedTuple, Protocol

from pqassay.under_test.alike import FEW, Alike, AlikeChunks
from pqassay_spec.grammar.thrift_shapes import NUMBERS
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.thrift import ColumnChunk, FileMetaData

CHUNKS = "column chunk"
COLUMN_INDEXES = "column index"
OFFSET_INDEXES = "offset index"
INDEXES = (COLUMN_INDEXES, OFFSET_INDEXES)
FILTERS = "bloom filter"


class Extent(NamedTuple):
    """The range of a structure: start, end, kind and row group, as `pqassay_spec.parquet.file.ByteRange` has them."""

    start: int
    end: int
    kind: str
    row_group: int


class Extents(NamedTuple):
    """The ranges of structures of one kind, as columns."""

    starts: list[int]
    ends: list[int]
    row_groups: list[int]


class GroupSums:
    """What the chunks of a row group add up to: bytes before and after compression, and the place of its first page."""

    def __init__(self) -> None:
        self.uncompressed = 0
        self.compressed = 0
        self.first_page: int | None = None

    def add(self, uncompressed: Sequence[int], compressed: Sequence[int], pages: Sequence[int]) -> None:
        """Add chunks."""
        self.uncompressed += sum(uncompressed)
        self.compressed += sum(compressed)
        first = min(pages)
        self.first_page = first if self.first_page is None else min(first, self.first_page)


class Layout:
    """The ranges of a file, none of which overlap, and the sums of its row groups.

    Attributes:
        kinds: The ranges by kind; those of one kind are in no order.
        groups: The sums.
        count: Ranges.
        length: Bytes in all of them.
        has_offsets: Whether the footer holds an offset into the file.
        has_old_bounds: Whether a chunk has deprecated bounds and no others.
    """

    def __init__(self, row_groups: int) -> None:
        self.kinds: dict[str, Extents] = {kind: Extents([], [], []) for kind in (CHUNKS, *INDEXES, FILTERS)}
        self.groups = [GroupSums() for _ in range(row_groups)]
        self.count = 0
        self.length = 0
        self.has_offsets = False
        self.has_old_bounds = False

    @property
    def ranges(self) -> list[Extent]:
        """The ranges, sorted."""
        return sorted(
            Extent(start, end, kind, row_group)
            for kind, extents in self.kinds.items()
            for start, end, row_group in zip(*extents, strict=True)
        )

    def places(self, *kinds: str) -> list[tuple[int, int]]:
        """Start and end of the structures of some kinds, sorted."""
        return sorted(
            place
            for kind in kinds
            for place in zip(self.kinds[kind].starts, self.kinds[kind].ends, strict=True)
        )

    def is_dense(self, kind: str) -> bool:
        """Whether nothing is between the structures of a kind that belong to one row group."""
        extents = self.kinds[kind]
        length = sum(extents.ends) - sum(extents.starts)
        if length == max(extents.ends, default=0) - min(extents.starts, default=0):
            in_order = [number for _, number in sorted(zip(extents.starts, extents.row_groups, strict=True))]
            if all(map(le, in_order, in_order[1:])):
                return True
        starts: dict[int, int] = {}
        ends: dict[int, int] = {}
        lengths: dict[int, int] = {}
        for start, end, row_group in zip(*extents, strict=True):
            starts[row_group] = min(start, starts.get(row_group, start))
            ends[row_group] = max(end, ends.get(row_group, end))
            lengths[row_group] = lengths.get(row_group, 0) + end - start
        return all(ends[group] - starts[group] == length for group, length in lengths.items())


class _Block(Protocol):
    """Column chunks, row group after row group."""

    @property
    def runs(self) -> Sequence[tuple[int, int, int]]: ...

    @property
    def row_groups(self) -> Sequence[int]: ...

    @property
    def has_old_bounds(self) -> bool: ...

    def named(self, *path: str) -> Sequence[Any] | None: ...

    def has(self, *path: str) -> bool: ...


class _Few:
    """Column chunks of groups of a few, in columns in which ``None`` stands where one does not have a field."""

    def __init__(self, groups: Sequence[AlikeChunks]) -> None:
        self._groups = groups
        self.row_groups = [number for chunks in groups for number in chunks.row_groups]
        self.runs: list[tuple[int, int, int]] = []
        for chunks in groups:
            before = self.runs[-1][2] if self.runs else 0
            self.runs += [(number, before + first, before + last) for number, first, last in chunks.runs]

    @property
    def has_old_bounds(self) -> bool:
        return any(chunks.has_old_bounds for chunks in self._groups)

    def named(self, *path: str) -> Sequence[Any] | None:
        found: list[int | None] = []
        for chunks in self._groups:
            place = chunks.shape.places.get(path)
            found += [None if place is None else NUMBERS[row[place]] for row in chunks.rows]
        return found if found.count(None) < len(found) else None

    def has(self, *path: str) -> bool:
        return any(chunks.has(*path) for chunks in self._groups)


class _Records:
    """Column chunks that are not alike, in columns in which ``None`` stands where one does not have a field."""

    def __init__(self, chunks: Sequence[tuple[int, ColumnChunk]]) -> None:
        self.row_groups = [number for number, _ in chunks]
        self.runs: list[tuple[int, int, int]] = []
        self._parts: dict[tuple[str, ...], list[Any]] = {(): [chunk for _, chunk in chunks]}
        for number, members in groupby(self.row_groups):
            before = self.runs[-1][2] if self.runs else 0
            self.runs.append((number, before, before + len(list(members))))

    @property
    def has_old_bounds(self) -> bool:
        return any(
            statistics is not None
            and statistics.min_value is None
            and statistics.max_value is None
            and (statistics.min is not None or statistics.max is not None)
            for statistics in self._values(("meta_data", "statistics"))
        )

    def named(self, *path: str) -> Sequence[Any] | None:
        found = self._values(path)
        return found if found.count(None) < len(found) else None

    def has(self, *path: str) -> bool:
        return self.named(*path) is not None

    def _values(self, path: tuple[str, ...]) -> list[Any]:
        if path not in self._parts:
            name = path[-1]
            self._parts[path] = [
                None if record is None else getattr(record, name) for record in self._values(path[:-1])
            ]
        return self._parts[path]


def _blocks(metadata: FileMetaData, alike: Alike | None) -> Iterator[_Block]:
    groups = metadata.row_groups
    if alike is None:
        others = [(number, chunk) for number, group in enumerate(groups) for chunk in group.columns]
    else:
        few: list[AlikeChunks] = []
        for chunks in alike.groups:
            if len(chunks.rows) > FEW:
                yield chunks
            else:
                few.append(chunks)
        if few:
            yield _Few(few)
        others = [(number, groups[number].columns[ordinal]) for number, ordinal in alike.others]
    if others:
        yield _Records(others)


def layout_of(metadata: FileMetaData, framing: Framing, alike: Alike | None = None) -> Layout | None:
    """The layout of a file that is no summary of others; ``None`` where anything about it is unsound or unusual."""
    layout = Layout(len(metadata.row_groups))
    if not all(_add(layout, block, framing) for block in _blocks(metadata, alike)):
        return None
    starts = sorted([start for extents in layout.kinds.values() for start in extents.starts])
    ends = sorted([end for extents in layout.kinds.values() for end in extents.ends])
    # None is empty: as many begin as end, so that no two share a byte if each ends before the next one begins.
    if starts and not (
        framing.body_start <= starts[0]
        and ends[-1] <= framing.footer_start
        and all(map(le, ends, starts[1:]))
    ):
        return None
    layout.count = len(starts)
    layout.length = sum(ends) - sum(starts)
    # Whatever has an offset has a range: a chunk with values, an index, or a bloom filter.
    layout.has_offsets = bool(starts)
    return layout


def _add(layout: Layout, block: _Block, framing: Framing) -> bool:
    """Add the ranges of some chunks; say whether none of them is unusual."""
    start, end = framing.body_start, framing.footer_start
    values = block.named("meta_data", "num_values")
    uncompressed = block.named("meta_data", "total_uncompressed_size")
    compressed = block.named("meta_data", "total_compressed_size")
    data = block.named("meta_data", "data_page_offset")
    if values is None or uncompressed is None or compressed is None or data is None or not all(values):
        return False
    if block.has("file_path") or block.has("meta_data", "index_page_offset"):
        return False
    if (
        min(values) <= 0
        or min(compressed) <= 0
        or min(uncompressed) < 0
        or not start <= min(data) <= max(data) < end
    ):
        return False
    pages, dictionary = data, block.named("meta_data", "dictionary_page_offset")
    if dictionary is not None:
        given = dictionary if all(dictionary) else list(filter(None, dictionary))
        if given and not start <= min(given) <= max(given) < end:
            return False
        pages = [min(first, page) if first else page for first, page in zip(dictionary, data, strict=True)]
    chunks = layout.kinds[CHUNKS]
    chunks.starts.extend(pages)
    chunks.ends.extend(map(add, pages, compressed))
    chunks.row_groups.extend(block.row_groups)
    for number, first, last in block.runs:
        layout.groups[number].add(uncompressed[first:last], compressed[first:last], pages[first:last])
    if block.has_old_bounds:
        layout.has_old_bounds = True
    return all(_add_kind(layout.kinds[kind], block, *paths) for kind, *paths in _PLACES)


_PLACES = (
    (COLUMN_INDEXES, ("column_index_offset",), ("column_index_length",)),
    (OFFSET_INDEXES, ("offset_index_offset",), ("offset_index_length",)),
    (FILTERS, ("meta_data", "bloom_filter_offset"), ("meta_data", "bloom_filter_length")),
)


def _add_kind(extents: Extents, block: _Block, place: tuple[str, ...], size: tuple[str, ...]) -> bool:
    """Add the structures of a kind; say whether all of them have an offset that can be one, and a length."""
    offsets, lengths = block.named(*place), block.named(*size)
    row_groups: Sequence[int] = block.row_groups
    if offsets is None:
        return True
    if lengths is None or 0 in offsets:
        return False
    if not all(offsets):
        given = [number for number, offset in enumerate(offsets) if offset is not None]
        offsets, lengths, row_groups = (
            [column[number] for number in given] for column in (offsets, lengths, row_groups)
        )
    if not all(lengths) or min(lengths) < 0:
        return False
    extents.starts.extend(offsets)
    extents.ends.extend(map(add, offsets, lengths))
    extents.row_groups.extend(row_groups)
    return True
