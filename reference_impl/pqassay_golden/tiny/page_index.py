"""Column and offset indexes and bloom filters of the tiny writer.

Source: apache/parquet-format, ``PageIndex.md`` and ``BloomFilter.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pqassay_golden.tiny.columns import Entry, Leaf
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.pages import Page
from pqassay_golden.tiny.statistics import (
    Bounds,
    bounds_of,
    counts_nan,
    histograms,
    nans,
    nulls,
    order_of,
    unencoded_bytes,
)
from pqassay_reference.errors import Refused
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.thrift import BloomFilterHeader, BoundaryOrder, ColumnIndex, OffsetIndex, Type


def column_index(leaf: Leaf, layout: Layout, pages: Sequence[Page]) -> ColumnIndex | None:
    """Bounds and counts of data pages; ``None`` if a page has values but no bounds, such as a page of only NaN."""
    order = order_of(leaf, layout)
    if order is None:
        return None
    bounds = [bounds_of(leaf, layout, page.entries, layout.index_truncate) for page in pages]
    null_counts = [nulls(page.entries) for page in pages]
    null_pages = [count == len(page.entries) for count, page in zip(null_counts, pages, strict=True)]
    if any(bound is None and not is_null for bound, is_null in zip(bounds, null_pages, strict=True)):
        return None
    repetition_histograms, definition_histograms = _histograms(leaf, layout, pages)
    return ColumnIndex(
        null_pages=null_pages,
        min_values=[b"" if bound is None else bound.least for bound in bounds],
        max_values=[b"" if bound is None else bound.greatest for bound in bounds],
        boundary_order=_boundary_order(layout, [bound for bound in bounds if bound is not None]),
        null_counts=null_counts if layout.null_counts else None,
        nan_counts=[nans(order, page.entries) for page in pages] if counts_nan(leaf, layout) else None,
        repetition_level_histograms=repetition_histograms,
        definition_level_histograms=definition_histograms,
    )


def _boundary_order(layout: Layout, bounds: Sequence[Bounds]) -> int:
    """The order that the layout claims; by default the actual order of the bounds."""
    if layout.boundary_order is not None:
        return layout.boundary_order
    lows, highs = [bound.least_key for bound in bounds], [bound.greatest_key for bound in bounds]
    if lows == sorted(lows) and highs == sorted(highs):
        return BoundaryOrder.ASCENDING
    if lows == sorted(lows, reverse=True) and highs == sorted(highs, reverse=True):
        return BoundaryOrder.DESCENDING
    return BoundaryOrder.UNORDERED


def _histograms(
    leaf: Leaf, layout: Layout, pages: Sequence[Page]
) -> tuple[list[int] | None, list[int] | None]:
    """The histograms of both kinds of levels, page after page; ``None`` if there is only level 0."""
    if not layout.histograms:
        return None, None
    of_pages = [histograms(leaf, page.entries) for page in pages]
    repetitions = [count for repetition, _ in of_pages for count in repetition or ()]
    definitions = [count for _, definition in of_pages for count in definition or ()]
    return (repetitions if leaf.max_repetition else None), (definitions if leaf.max_definition else None)


def offset_index(leaf: Leaf, layout: Layout, pages: Sequence[Page]) -> OffsetIndex:
    """Places of data pages that are already written."""
    index = OffsetIndex(page_locations=[page.location for page in pages])
    if layout.unencoded_bytes and leaf.element.type == Type.BYTE_ARRAY:
        index.unencoded_byte_array_data_bytes = [unencoded_bytes(leaf, page.entries) or 0 for page in pages]
    return index


def bloom_filter(layout: Layout, entries: Sequence[Entry]) -> tuple[BloomFilterHeader, bytes]:
    """Header and bitset; by default about one block for every eight distinct values, a power of two for some readers.

    Raises:
        Refused: The requested size is not a multiple of a block.
    """
    distinct = {entry.raw for entry in entries if entry.raw is not None}
    blocks = max(1, -(-len(distinct) // 8))
    size = bloom.BLOCK_SIZE << (blocks - 1).bit_length() if layout.bloom_bytes is None else layout.bloom_bytes
    if size <= 0 or size % bloom.BLOCK_SIZE:
        raise Refused(f"a bloom filter of {size} bytes does not consist of blocks of {bloom.BLOCK_SIZE}")
    return bloom.header_of(size), bitset_of(distinct, size)


def bitset_of(values: Iterable[bytes], size: int = bloom.BLOCK_SIZE) -> bytes:
    """A bitset of ``size`` bytes with some values, given by their PLAIN bytes."""
    import xxhash  # noqa: PLC0415 - only files with bloom filters need it

    bitset = bytearray(size)
    for raw in values:
        bloom.insert(bitset, xxhash.xxh64_intdigest(raw))
    return bytes(bitset)
