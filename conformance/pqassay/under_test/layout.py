"""The layout of a sound file, read off its footer in one pass.

Of nearly all files, every offset leads into the body, every structure lies there, and no two share a byte.  Where that holds, a few numbers
say all that rules ask of the places of structures.  Where it does not, or anything is unusual, there is no such layout, and the
rules look at the ranges one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pqassay_spec.parquet.file import Framing, chunk_start
from pqassay_spec.parquet.thrift import FileMetaData, RowGroup


class Extent(NamedTuple):
    """The range of a structure: start, end, kind and row group, as `pqassay_spec.parquet.file.ByteRange` has them."""

    start: int
    end: int
    kind: str
    row_group: int


class GroupSums(NamedTuple):
    """What the chunks of a row group add up to: bytes before and after compression, and the place of its first page."""

    uncompressed: int
    compressed: int
    first_page: int | None


class Layout(NamedTuple):
    """The ranges of a file, sorted, none of which overlap, and the sums of its row groups.

    Attributes:
        ranges: The ranges.
        groups: The sums.
        has_offsets: Whether the footer holds an offset into the file.
    """

    ranges: Sequence[Extent]
    groups: Sequence[GroupSums]
    has_offsets: bool


def layout_of(metadata: FileMetaData, framing: Framing) -> Layout | None:
    """The layout of a file that is no summary of others; ``None`` where anything about it is unsound or unusual."""
    found: list[Extent] = []
    start, end = framing.body_start, framing.footer_start
    groups: list[GroupSums] = []
    for number, group in enumerate(metadata.row_groups):
        sums = _add(found, number, group, start, end)
        if sums is None:
            return None
        groups.append(sums)
    found.sort()
    last = start
    for extent in found:
        if extent.start < last:
            return None
        last = extent.end
    if last > end:
        return None
    # Whatever has an offset has a range: a chunk with values, an index, or a bloom filter.
    return Layout(found, groups, bool(found))


def _add(found: list[Extent], number: int, group: RowGroup, start: int, end: int) -> GroupSums | None:
    """Add the ranges of a row group; ``None`` if one of its chunks is unusual."""
    uncompressed = compressed = 0
    first: int | None = None
    for chunk in group.columns:
        facts = chunk.meta_data
        if facts is None or chunk.file_path or facts.index_page_offset or facts.num_values <= 0:
            return None
        size, page = facts.total_compressed_size, chunk_start(chunk)
        dictionary = facts.dictionary_page_offset or start
        if size <= 0 or facts.total_uncompressed_size < 0 or page is None:
            return None
        if not start <= facts.data_page_offset < end or not start <= dictionary < end:
            return None
        found.append(Extent(page, page + size, "column chunk", number))
        uncompressed += facts.total_uncompressed_size
        compressed += size
        first = page if first is None else min(first, page)
        for kind, offset, length in (
            ("column index", chunk.column_index_offset, chunk.column_index_length),
            ("offset index", chunk.offset_index_offset, chunk.offset_index_length),
            ("bloom filter", facts.bloom_filter_offset, facts.bloom_filter_length),
        ):
            if offset:
                if length is None or length <= 0:
                    return None
                found.append(Extent(offset, offset + length, kind, number))
    return GroupSums(uncompressed, compressed, first)
