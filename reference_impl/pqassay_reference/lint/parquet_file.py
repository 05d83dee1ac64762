"""Looking at a Parquet file as a careful reader does: footer, pages, statistics, page indexes and bloom filters.

The reference's own opinion, without the judge: the pages are taken apart, what is said of them is compared with their
values, and the first difference is raised.  Of pages that cannot be decoded here, what the footer and the indexes say of
each other is compared all the same.

Source: chapters ``parquet_file.md``, ``page_index.md`` and ``bloom.md``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from pqassay_reference.columns.chunk_structures import (
    read_bloom_filter,
    read_column_index,
    read_offset_index,
)
from pqassay_reference.columns.page_values import DataPage, data_pages
from pqassay_reference.lint.bloom import lint_bloom_filter
from pqassay_reference.lint.decoded_chunk import DecodedChunk
from pqassay_reference.lint.logical_types import lint_logical_type
from pqassay_reference.lint.page_index import lint_page_index
from pqassay_reference.lint.parquet_file_footer import frame, lint_footer, wrong
from pqassay_reference.lint.parquet_file_groups import lint_groups
from pqassay_reference.lint.parquet_file_sorting import lint_sorting
from pqassay_reference.lint.schema_copies import lint_schema_copies
from pqassay_reference.lint.statistics import lint_statistics
from pqassay_reference.lint.summaries import lint_summary
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.parquet.column_order import FLOATING, type_order
from pqassay_spec.parquet.encoding.names import CODECS, ENCODINGS
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnMetaData,
    ColumnOrder,
    RowGroup,
    Type,
)


def lint_file(path: str | os.PathLike[str]) -> None:
    """Raise what is wrong with a Parquet file.

    Raises:
        FormatError: It is not well-formed, or says what is not true; with the rule that is broken.
    """
    with FileSource(path) as source:
        framing, metadata = frame(source)
        columns = leaves(metadata)
        lint_footer(metadata, columns)
        lint_schema_copies(metadata)
        lint_summary(path, metadata)
        body = range(framing.body_start, framing.footer_start)
        orders: Sequence[ColumnOrder | None] = [None] * len(columns)
        if metadata.column_orders is not None:
            orders = metadata.column_orders
        if len(orders) != len(columns):
            raise wrong("STA-002", f"{len(orders)} column orders for {len(columns)} columns", "footer")
        for leaf, order in zip(columns, orders, strict=True):
            _lint_order(leaf, order)
        for group in metadata.row_groups:
            _lint_row_group(source, body, group, columns, orders)


def _lint_numbers(facts: ColumnMetaData) -> None:
    """Codec and encodings of a chunk, which are among those that there are."""
    if facts.codec not in CODECS:
        raise wrong("PQF-082", f"there is no codec {facts.codec}", "footer.row_groups")
    counted = (entry.encoding for entry in facts.encoding_stats or ())
    if not ENCODINGS.issuperset((*facts.encodings, *counted)):
        raise wrong("PQF-083", "a column chunk lists an encoding that does not exist", "footer.row_groups")


def _lint_order(leaf: SchemaLeaf, order: ColumnOrder | None) -> None:
    if order is None:
        return
    floating = type_order(leaf.element) in FLOATING
    if (order.IEEE_754_TOTAL_ORDER is not None and not floating) or (
        order.INT96_TIMESTAMP_ORDER is not None and leaf.element.type != Type.INT96
    ):
        raise wrong("STA-004", f"column {leaf.name} has the order of another type", "footer.column_orders")


def _lint_row_group(
    source: Source,
    body: range,
    group: RowGroup,
    columns: Sequence[SchemaLeaf],
    orders: Sequence[ColumnOrder | None],
) -> None:
    decoded: dict[int, Sequence[DataPage] | None] = {}
    for number, (leaf, chunk, order) in enumerate(zip(columns, group.columns, orders, strict=True)):
        facts = chunk.meta_data
        if facts is None or chunk.file_path or chunk.crypto_metadata is not None:
            continue
        _lint_numbers(facts)
        pages = _pages(source, group, chunk, facts, leaf)
        _lint_chunk(source, body, DecodedChunk(chunk, facts, leaf, order, group.num_rows, pages))
        decoded[number] = pages
    lint_groups(columns, decoded)
    lint_sorting(group, columns, decoded)


def _pages(
    source: Source, group: RowGroup, chunk: ColumnChunk, facts: ColumnMetaData, leaf: SchemaLeaf
) -> Sequence[DataPage] | None:
    """The pages of a chunk; ``None`` where they cannot be decoded here."""
    start = chunk_start(chunk)
    if start is None:
        return []
    try:
        pages = data_pages(source, start, facts, leaf)
    except Unsupported:
        return None
    if sum(page.row_count for page in pages) != group.num_rows:
        raise wrong("PQF-074", "other rows begin in the pages than the row group has", "pages")
    if pages and pages[0].offset != facts.data_page_offset:
        raise wrong("PIX-017", "the first data page is stored elsewhere", "footer.data_page_offset")
    return pages


def _lint_chunk(source: Source, body: range, chunk: DecodedChunk) -> None:
    lint_statistics(chunk)
    lint_logical_type(chunk)
    offset_index = read_offset_index(source, body, chunk.chunk)
    column_index = read_column_index(source, body, chunk.chunk)
    lint_page_index(chunk, offset_index, column_index)
    try:
        bloom_filter = read_bloom_filter(source, body, chunk.facts)
    except Malformed as unknown:
        if unknown.rule != "BLM-003":
            raise
        bloom_filter = None  # made by means of a later version of the format, which nobody can judge here
    if bloom_filter is not None:
        lint_bloom_filter(chunk, bloom_filter)
