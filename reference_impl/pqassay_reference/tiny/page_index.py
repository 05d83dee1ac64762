"""Column and offset indexes and bloom filters of the tiny writer.

Source: apache/parquet-format, ``PageIndex.md`` and ``BloomFilter.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pqassay_reference.errors import Refused
from pqassay_reference.tiny.columns import Entry, Leaf
from pqassay_reference.tiny.layout import Layout
from pqassay_reference.tiny.pages import Page
from pqassay_reference.tiny.statistics import (
    bounds_of,
    counts_nan,
    histograms,
    nans,
    nulls,
    order_of,
    unencoded_bytes,
)
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.thrift import (
    BloomFilterAlgorithm,
    BloomFilterCompression,
    BloomFilterHash,
    BloomFilterHeader,
    BoundaryOrder,
    ColumnIndex,
    OffsetIndex,
    SplitBlockAlgorithm,
    Type,
    Uncompressed,
    XxHash,
)


def column_index(leaf: Leaf, layout: Layout, pages: Sequence[Page]) -> ColumnIndex | None:
    """Bounds and counts of data pages; ``None`` if a page holds values and has no bounds, as one of nothing but NaN."""
    order = order_of(leaf, layout)
    if order is None:
        return None
    bounds = [bounds_of(leaf, layout, page.entries, layout.index_truncate) for page in pages]
    null_pages = [nulls(page.entries) == len(page.entries) for page in pages]
    if any(bound is None and not null for bound, null in zip(bounds, null_pages, strict=True)):
        return None
    known = [bound for bound in bounds if bound is not None]
    index = ColumnIndex(
        null_pages=null_pages,
        min_values=[b"" if bound is None else bound.least for bound in bounds],
        max_values=[b"" if bound is None else bound.greatest for bound in bounds],
        boundary_order=layout.boundary_order,
        null_counts=[nulls(page.entries) for page in pages] if layout.null_counts else None,
    )
    if layout.boundary_order is None:
        lows, highs = [bound.least_key for bound in known], [bound.greatest_key for bound in known]
        index.boundary_order = _boundary_order(lows, highs)
    if counts_nan(leaf, layout):
        index.nan_counts = [nans(order, page.entries) for page in pages]
    if layout.histograms:
        found = [histograms(leaf, page.entries) for page in pages]
        if leaf.max_repetition:
            index.repetition_level_histograms = [count for levels, _ in found for count in levels or ()]
        if leaf.max_definition:
            index.definition_level_histograms = [count for _, levels in found for count in levels or ()]
    return index


def _boundary_order(lows: list[Any], highs: list[Any]) -> BoundaryOrder:
    if lows == sorted(lows) and highs == sorted(highs):
        return BoundaryOrder.ASCENDING
    if lows == sorted(lows, reverse=True) and highs == sorted(highs, reverse=True):
        return BoundaryOrder.DESCENDING
    return BoundaryOrder.UNORDERED


def offset_index(leaf: Leaf, layout: Layout, pages: Sequence[Page]) -> OffsetIndex:
    """Places of data pages that stand already."""
    index = OffsetIndex(page_locations=[page.location for page in pages])
    if layout.unencoded_bytes and leaf.element.type == Type.BYTE_ARRAY:
        index.unencoded_byte_array_data_bytes = [unencoded_bytes(leaf, page.entries) or 0 for page in pages]
    return index


def bloom_filter(layout: Layout, entries: Sequence[Entry]) -> tuple[BloomFilterHeader, bytes]:
    """Header and bitset; by default about one block for every eight distinct values: some readers want a power of two.

    Raises:
        Refused: The size asked for is no multiple of a block.
    """
    import xxhash  # noqa: PLC0415 - only files with bloom filters need it

    distinct = {entry.raw for entry in entries if entry.raw is not None}
    blocks = max(1, -(-len(distinct) // 8))
    size = bloom.BLOCK_SIZE << (blocks - 1).bit_length() if layout.bloom_bytes is None else layout.bloom_bytes
    if size <= 0 or size % bloom.BLOCK_SIZE:
        raise Refused(f"a bloom filter of {size} bytes does not consist of blocks of {bloom.BLOCK_SIZE}")
    bitset = bytearray(size)
    for raw in distinct:
        bloom.insert(bitset, xxhash.xxh64_intdigest(raw))
    header = BloomFilterHeader(
        numBytes=len(bitset),
        algorithm=BloomFilterAlgorithm(BLOCK=SplitBlockAlgorithm()),
        hash=BloomFilterHash(XXHASH=XxHash()),
        compression=BloomFilterCompression(UNCOMPRESSED=Uncompressed()),
    )
    return header, bytes(bitset)
