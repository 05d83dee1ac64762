"""The layout of a sound file, computed from its footer in one pass.

In nearly all files, every offset leads into the body, every structure lies there, and no two share a byte. If
this holds, a few numbers answer all rules about the places of structures.  Otherwise there is no such layout,
and the rules look at the ranges one by one.

The numbers are columns: first of the similar chunks (`pqassay.under_test.alike`), then of all other chunks.
"""

from __future__ import annotations

from operator import add, attrgetter, le
from typing import Any, NamedTuple

from pqassay.under_test.alike import Alike, has_old_bounds
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.thrift import FileMetaData

CHUNKS = "column chunk"
COLUMN_INDEXES = "column index"
OFFSET_INDEXES = "offset index"
INDEXES = (COLUMN_INDEXES, OFFSET_INDEXES)
FILTERS = "bloom filter"


class Extents(NamedTuple):
    """The ranges of structures of one kind, as columns."""

    starts: list[int]
    ends: list[int]
    row_groups: list[int]


class GroupSums:
    """The sums over the chunks of a row group: uncompressed and compressed bytes, and the place of its first page."""

    def __init__(self) -> None:
        self.uncompressed = 0
        self.compressed = 0
        self.first_page: int | None = None


class Layout:
    """The ranges of a file, which do not overlap, and the sums of its row groups.

    Attributes:
        kinds: The ranges by kind, unsorted.
        groups: The sums.
        count: The number of ranges.
        length: The total number of bytes in them.
        has_old_bounds: Whether a chunk has only deprecated bounds.
    """

    def __init__(self, row_groups: int) -> None:
        self.kinds: dict[str, Extents] = {kind: Extents([], [], []) for kind in (CHUNKS, *INDEXES, FILTERS)}
        self.groups = [GroupSums() for _ in range(row_groups)]
        self.count = 0
        self.length = 0
        self.has_old_bounds = False

    def places(self, *kinds: str) -> list[tuple[int, int]]:
        """Start and end of the structures of some kinds, sorted."""
        return sorted(
            place
            for kind in kinds
            for place in zip(self.kinds[kind].starts, self.kinds[kind].ends, strict=True)
        )

    def is_dense(self, kind: str) -> bool:
        """Whether the structures of a kind in each row group are contiguous."""
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


class _Columns:
    """Columns of the chunks of a footer, with ``None`` for absent fields."""

    def __init__(self, metadata: FileMetaData, alike: Alike | None) -> None:
        self._alike = () if alike is None else alike.groups
        self.row_groups: list[int] = []
        groups = metadata.row_groups
        places = [
            (number, place) for number, group in enumerate(groups) for place in range(len(group.columns))
        ]
        if alike is not None:
            self.row_groups = [places[place][0] for chunks in alike.groups for place in chunks.places]
            places = [places[place] for place in alike.others]
        self.row_groups += [number for number, _ in places]
        self.records = [groups[number].columns[ordinal] for number, ordinal in places]

    @property
    def has_old_bounds(self) -> bool:
        """Whether a chunk has only deprecated bounds."""
        return any(chunks.has_old_bounds for chunks in self._alike) or any(
            chunk.meta_data is not None and has_old_bounds(chunk.meta_data.statistics)
            for chunk in self.records
        )

    def named(self, *path: str) -> list[Any] | None:
        """The column of a field; ``None`` if all chunks lack it."""
        values: list[Any] = []
        for chunks in self._alike:
            place = chunks.shapes[0].places.get(path)
            values += [None] * len(chunks.places) if place is None else chunks[place + 1]
        if self.records:
            values += map(attrgetter(".".join(path)), self.records)
        return values if values.count(None) < len(values) else None


def layout_of(metadata: FileMetaData, framing: Framing, alike: Alike | None = None) -> Layout | None:
    """The layout of a file that is not a summary; ``None`` if anything about it is unsound or unusual."""
    layout = Layout(len(metadata.row_groups))
    columns = _Columns(metadata, alike)
    if any(chunk.meta_data is None for chunk in columns.records):
        return None
    if columns.row_groups and not (
        _add_chunks(layout, columns, framing)
        and all(_add_kind(layout.kinds[kind], columns, *paths) for kind, *paths in _PLACES)
    ):
        return None
    starts = sorted([start for extents in layout.kinds.values() for start in extents.starts])
    ends = sorted([end for extents in layout.kinds.values() for end in extents.ends])
    # No range is empty. There are as many starts as ends, so ranges do not overlap if each ends before the next begins.
    if starts and not (
        framing.body_start <= starts[0]
        and ends[-1] <= framing.footer_start
        and all(map(le, ends, starts[1:]))
    ):
        return None
    layout.count = len(starts)
    layout.length = sum(ends) - sum(starts)
    layout.has_old_bounds = columns.has_old_bounds
    return layout


def _add_chunks(layout: Layout, columns: _Columns, framing: Framing) -> bool:
    """Add the ranges of chunks; return whether all of them are usual."""
    values, compressed, uncompressed, data = (
        columns.named("meta_data", name) or ()
        for name in ("num_values", "total_compressed_size", "total_uncompressed_size", "data_page_offset")
    )
    if columns.named("file_path") or columns.named("meta_data", "index_page_offset"):
        return False
    if min(values) <= 0 or min(compressed) <= 0 or min(uncompressed) < 0:
        return False
    pages, dictionary = data, columns.named("meta_data", "dictionary_page_offset")
    if dictionary is not None:
        pages = [min(first, page) if first else page for first, page in zip(dictionary, data, strict=True)]
    offsets = [*data, *filter(None, dictionary or ())]
    if not framing.body_start <= min(offsets) <= max(offsets) < framing.footer_start:
        return False
    chunks = layout.kinds[CHUNKS]
    chunks.starts.extend(pages)
    chunks.ends.extend(map(add, pages, compressed))
    chunks.row_groups.extend(columns.row_groups)
    for number, before, after, page in zip(columns.row_groups, uncompressed, compressed, pages, strict=True):
        sums = layout.groups[number]
        sums.uncompressed += before
        sums.compressed += after
        if sums.first_page is None or page < sums.first_page:
            sums.first_page = page
    return True


_PLACES = (
    (COLUMN_INDEXES, ("column_index_offset",), ("column_index_length",)),
    (OFFSET_INDEXES, ("offset_index_offset",), ("offset_index_length",)),
    (FILTERS, ("meta_data", "bloom_filter_offset"), ("meta_data", "bloom_filter_length")),
)


def _add_kind(extents: Extents, columns: _Columns, place: tuple[str, ...], size: tuple[str, ...]) -> bool:
    """Add the structures of a kind; return whether all of them have a possible offset and a length."""
    offsets, lengths, row_groups = columns.named(*place), columns.named(*size), columns.row_groups
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
