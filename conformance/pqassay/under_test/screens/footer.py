"""A first look at what the footer says of a file as a whole, which finds most files in order, at once.

The rules are in `pqassay.checks`.  A file or row group whose shape is returned here breaks none of those that name the screen; how
shapes are used is said in `pqassay.checks.asking`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.footer_parts import RowGroupUnderTest
from pqassay.under_test.layout import Extent
from pqassay.under_test.schemas.known_schemas import Schema
from pqassay.under_test.screens.facts import Shape
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.file import FOOTER_VERSIONS, is_signed
from pqassay_spec.parquet.schema.lists_and_maps import misfits
from pqassay_spec.parquet.thrift import ColumnChunk

_NOT_SOUND = (FormatError, NotApplicable, NotChecked)


def _are_members_sound(schema: Schema) -> bool:
    """Whether every leaf has a name of its own, and lists and maps have their members."""
    names = {leaf.element.name for leaf in schema.leaves}
    return len(names) == len(schema.leaves) and next(iter(misfits(schema.elements)), None) is None


def _has_old_bounds(chunk: ColumnChunk) -> bool:
    """Whether a chunk has deprecated bounds and no others."""
    statistics = chunk.meta_data.statistics if chunk.meta_data is not None else None
    return (
        statistics is not None
        and (statistics.min is not None or statistics.max is not None)
        and statistics.min_value is None
        and statistics.max_value is None
    )


def footer_shape(file: FileUnderTest) -> Shape | None:
    """The shape of a footer whose counts, offsets and keys certainly break no rule."""
    try:
        layout, schema, (metadata, taken) = file.layout, file.schema, file.decoded
    except _NOT_SOUND:
        return None
    if layout is None or file.has_unknown_fields or not schema.view(_are_members_sound):
        return None
    if taken != file.framing.footer_length or is_signed(metadata) or metadata.version not in FOOTER_VERSIONS:
        return None
    pairs, rows = file.key_values, 0
    if len({pair.key for pair in pairs}) < len(pairs):
        return None
    for group in metadata.row_groups:
        if group.num_rows < 0 or group.total_byte_size < 0 or (group.total_compressed_size or 0) < 0:
            return None
        rows += group.num_rows
        # Bounds that readers may distrust by what wrote them.
        if any(map(_has_old_bounds, group.columns)):
            return None
    has_groups = len(schema.elements) > len(schema.leaves) + 1
    return (bool(pairs), len(layout.ranges), has_groups) if metadata.num_rows == rows else None


def row_group_shape(group: RowGroupUnderTest) -> Shape | None:
    """The shape of a row group that lists a chunk for each leaf, whose sizes add up, and whose sorting columns are leaves."""
    file, part = group.file, group.part
    try:
        layout, chunks = file.layout, file.part(ColumnChunks)
        _ = chunks.all
    except _NOT_SOUND:
        return None
    if layout is None or chunks.left_out:
        return None
    sums, sorting = layout.groups[group.number], part.sorting_columns or ()
    if part.total_byte_size != sums.uncompressed or part.total_compressed_size not in (None, sums.compressed):
        return None
    places = {entry.column_idx for entry in sorting}
    if places and (len(places) < len(sorting) or min(places) < 0 or max(places) >= len(file.leaves)):
        return None
    return part.total_compressed_size is None, bool(sorting)


def own_row_group_shape(group: RowGroupUnderTest) -> Shape | None:
    """The shape of a row group that says truly where it begins, how long and which one it is, as far as it says so."""
    try:
        layout = group.file.layout
    except _NOT_SOUND:
        return None
    if layout is None:
        return None
    part, sums = group.part, layout.groups[group.number]
    first = sums.first_page
    if part.total_compressed_size not in (None, sums.compressed):
        return None
    if part.file_offset is not None and first is not None and part.file_offset != first:
        return None
    if part.ordinal is not None and part.ordinal != group.number:
        return None
    return (
        part.file_offset is None or first is None,
        first is None,
        part.total_compressed_size is None,
        part.ordinal is None,
    )


def file_shape(file: FileUnderTest) -> Shape | None:
    """The shape of a file that is framed, decodes, has no gaps, and has its indexes and bloom filters in order."""
    try:
        file.head()
        layout, chunks, framing = file.layout, file.part(ColumnChunks), file.framing
        indexed, filters = chunks.having("offset_index"), chunks.having("bloom_filter")
    except (*_NOT_SOUND, OSError, MemoryError):
        return None
    if layout is None or file.metadata.column_orders is None or framing.body_start == framing.footer_start:
        return None
    if indexed and len(indexed) < len(chunks.all):
        return None
    offsets = [chunk.facts.bloom_filter_offset or 0 for chunk in filters]
    if offsets != sorted(offsets) or not _stand_together(layout.ranges):
        return None
    # What does not overlap and is as long as the body leaves no gap.
    if (
        sum(extent.end - extent.start for extent in layout.ranges)
        != framing.footer_start - framing.body_start
    ):
        return None
    return (
        bool(indexed),
        len(filters) > 1,
        any(extent.kind == "offset index" for extent in layout.ranges),
    )


def _stand_together(ranges: Iterable[Extent]) -> bool:
    """Whether nothing is between the offset indexes of a row group."""
    last: int | None = None
    seen: set[int] = set()
    for extent in ranges:
        group = extent.row_group if extent.kind == "offset index" else None
        if group is not None and group != last:
            if group in seen:
                return False
            seen.add(group)
        last = group
    return True
