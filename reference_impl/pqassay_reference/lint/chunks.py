"""Looking at column chunks as a careful reader does: their pages, statistics, page indexes and bloom filters.

The reference's own opinion, without the judge: the pages are taken apart, what is said of them is made anew from their
values, and the first difference is raised.  Of pages that it cannot decode, what the footer and the indexes say of each
other is compared all the same.

Source: chapters ``parquet_file.md``, ``page_index.md`` and ``bloom.md``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pqassay_reference.columns.page_values import DataPage, data_pages
from pqassay_reference.lint.footer import lint_footer, wrong
from pqassay_reference.lint.idx1 import frame
from pqassay_reference.lint.sorting import lint_sorting
from pqassay_reference.lint.statistics import lint_statistics
from pqassay_reference.scan.page_selection import zeros_hashed
from pqassay_reference.scan.structures import bloom_header, read_bloom_filter
from pqassay_spec.base.errors import Unsupported
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.column_order import TOTAL, Order, is_nan, key, order_of, width_of
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.schema import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import (
    BoundaryOrder,
    ColumnChunk,
    ColumnIndex,
    ColumnMetaData,
    ColumnOrder,
    FileMetaData,
    OffsetIndex,
    RowGroup,
    Type,
)

FLOATS = (Type.FLOAT, Type.DOUBLE)


def lint_file(path: str | os.PathLike[str]) -> None:
    """Raise what is wrong with a Parquet file.

    Raises:
        FormatError: It is not well-formed, or says what is not true; with the rule that is broken.
    """
    with FileSource(path) as source:
        framing, metadata = frame(source)
        columns = leaves(metadata)
        lint_footer(metadata, source.read(framing.footer_start, framing.footer_length), columns)
        orders = metadata.column_orders
        if orders is not None and len(orders) != len(columns):
            raise wrong("STA-002", f"{len(orders)} column orders for {len(columns)} columns", "footer")
        for leaf, order in zip(columns, orders or (), strict=False):
            _lint_order(leaf, order)
        for group in metadata.row_groups:
            _lint_row_group(source, framing.footer_start, metadata, group, columns)


def _lint_order(leaf: SchemaLeaf, order: ColumnOrder) -> None:
    logical = leaf.element.logicalType
    floating = leaf.element.type in FLOATS or (logical is not None and logical.FLOAT16 is not None)
    if (order.IEEE_754_TOTAL_ORDER is not None and not floating) or (
        order.INT96_TIMESTAMP_ORDER is not None and leaf.element.type != Type.INT96
    ):
        raise wrong("STA-004", f"column {leaf.name} has the order of another type", "footer.column_orders")


def _lint_row_group(
    source: Source, end: int, metadata: FileMetaData, group: RowGroup, columns: Sequence[SchemaLeaf]
) -> None:
    orders: Sequence[ColumnOrder | None] = metadata.column_orders or [None] * len(columns)
    decoded: dict[int, list[DataPage] | None] = {}
    for leaf_number, (leaf, chunk, order) in enumerate(zip(columns, group.columns, orders, strict=True)):
        facts = chunk.meta_data
        if facts is not None and not chunk.file_path and chunk.crypto_metadata is None:
            decoded[leaf_number] = _LintedChunk(source, end, group, chunk, facts, leaf, order).lint()
    lint_sorting(group, columns, decoded)


class _LintedChunk:
    """One chunk, and all that is said of it."""

    def __init__(
        self,
        source: Source,
        end: int,
        group: RowGroup,
        chunk: ColumnChunk,
        facts: ColumnMetaData,
        leaf: SchemaLeaf,
        order: ColumnOrder | None,
    ) -> None:
        self.source, self.end, self.group = source, end, group
        self.chunk, self.facts, self.leaf = chunk, facts, leaf
        self.column_order = order
        self.order: Order | None = order_of(leaf.element, order)

    def lint(self) -> list[DataPage] | None:
        """Raise the first thing that is wrong; return the pages, ``None`` where they cannot be decoded here."""
        pages = self._pages()
        lint_statistics(self.leaf, self.column_order, self.facts, pages)
        places = self._struct(OffsetIndex, "offset_index", "PIX-010")
        bounds = self._struct(ColumnIndex, "column_index", "PIX-020")
        if bounds is not None and places is None:
            raise wrong("PIX-001", "a column index stands without an offset index", "column_index")
        if places is not None:
            self._lint_places(places, pages)
        if places is not None and bounds is not None:
            self._lint_column_index(bounds, places, pages)
        if self.facts.bloom_filter_offset:
            self._lint_bloom_filter(self.facts.bloom_filter_offset, pages)
        return pages

    def _pages(self) -> list[DataPage] | None:
        """The pages; ``None`` where they cannot be decoded here."""
        start = chunk_start(self.chunk)
        if start is None:
            return []
        try:
            pages = data_pages(self.source, start, self.facts, self.leaf)
        except Unsupported:
            return None
        if sum(page.row_count for page in pages) != self.group.num_rows:
            raise wrong("PQF-074", "other rows begin in the pages than the row group has", "pages")
        if pages and pages[0].offset != self.facts.data_page_offset:
            raise wrong("PIX-017", "the first data page stands elsewhere", "footer.data_page_offset")
        return pages

    def _struct(self, kind: type[Record], name: str, rule: str) -> Any:
        offset, length = getattr(self.chunk, f"{name}_offset"), getattr(self.chunk, f"{name}_length")
        if offset is None and length is None:
            return None
        if not offset or not length or length < 0:
            raise wrong("PIX-002", f"the {name} has offset {offset} and length {length}", name)
        record, taken = decode(kind, self.source.read(offset, length), root=name, base=offset, rule=rule)
        if taken != length:
            raise wrong(rule, f"the {name} takes {taken} of {length} bytes", name)
        return record

    # ------------------------------------------------------------------------------------------ offset index

    def _lint_places(self, index: OffsetIndex, pages: Sequence[DataPage] | None) -> None:
        places = index.page_locations
        start = chunk_start(self.chunk)
        sizes = index.unencoded_byte_array_data_bytes
        if sizes is not None and (
            self.leaf.element.type != Type.BYTE_ARRAY
            or len(sizes) != len(places)
            or min(sizes, default=0) < 0
        ):
            raise wrong("PIX-018", "the sizes of byte arrays are not those of the pages", "offset_index")
        if start is None or not self.facts.num_values:
            return
        if not places or places[0].first_row_index:
            raise wrong("PIX-015", "the first page does not begin with row 0", "offset_index")
        end = start + self.facts.total_compressed_size
        for one, other in pairwise([*places, None]):
            if one is None:
                continue
            next_offset, next_row = (
                (end, self.group.num_rows) if other is None else (other.offset, other.first_row_index)
            )
            if one.compressed_page_size <= 0 or one.offset + one.compressed_page_size != next_offset:
                raise wrong("PIX-014", "a page does not end where the next one begins", "offset_index")
            if one.first_row_index >= next_row:
                raise wrong("PIX-016", "the rows of the pages do not ascend", "offset_index")
        if pages is None:
            return
        row, true = 0, [(page.offset, page.size) for page in pages]
        if [(place.offset, place.compressed_page_size) for place in places] != true:
            raise wrong("PIX-040", "the pages stand elsewhere", "offset_index")
        for place, page in zip(places, pages, strict=True):
            if place.first_row_index != row or (page.repetition and page.repetition[0]):
                raise wrong("PIX-054", f"a page begins with row {row}", "offset_index")
            row += page.row_count

    # ------------------------------------------------------------------------------------------ column index

    def _lint_column_index(
        self, index: ColumnIndex, places: OffsetIndex, pages: Sequence[DataPage] | None
    ) -> None:
        count = len(places.page_locations)
        lists: list[Sequence[Any] | None] = [index.null_pages, index.min_values, index.max_values]
        for entries in (*lists, index.null_counts, index.nan_counts):
            if entries is not None and len(entries) != count:
                raise wrong("PIX-021", f"a list has {len(entries)} entries for {count} pages", "column_index")
        if index.boundary_order not in list(BoundaryOrder):
            raise wrong("PIX-025", "the order of the bounds is unknown", "column_index.boundary_order")
        if index.nan_counts is not None and (not self._is_floating or min(index.nan_counts, default=0) < 0):
            raise wrong("PIX-032", "NaN is counted where none can be", "column_index.nan_counts")
        self._lint_sums(index)
        self._lint_histograms(index, places, pages)
        self._lint_bounds(index)
        for page, decoded in enumerate(pages or ()):
            self._lint_page(index, page, decoded)

    @property
    def _is_floating(self) -> bool:
        logical = self.leaf.element.logicalType
        return self.leaf.element.type in FLOATS or (logical is not None and logical.FLOAT16 is not None)

    def _lint_sums(self, index: ColumnIndex) -> None:
        said = self.facts.statistics
        for counts, total, rule in (
            (index.null_counts, said.null_count if said else None, "PIX-028"),
            (index.nan_counts, said.nan_count if said else None, "PIX-032"),
        ):
            if counts is not None and (
                min(counts, default=0) < 0 or (total is not None and sum(counts) != total)
            ):
                raise wrong(
                    rule, "the counts of the pages do not add up to that of the chunk", "column_index"
                )

    def _lint_histograms(
        self, index: ColumnIndex, places: OffsetIndex, pages: Sequence[DataPage] | None
    ) -> None:
        sizes = self.facts.size_statistics
        for counts, most, whole, name in (
            (
                index.repetition_level_histograms,
                self.leaf.max_repetition_level,
                sizes.repetition_level_histogram if sizes else None,
                "repetition",
            ),
            (
                index.definition_level_histograms,
                self.leaf.max_definition_level,
                sizes.definition_level_histogram if sizes else None,
                "definition",
            ),
        ):
            if counts is None:
                continue
            width = most + 1
            if len(counts) != width * len(places.page_locations):
                raise wrong(
                    "PIX-029", "a level histogram has other entries than pages and levels", "column_index"
                )
            if whole and [sum(counts[level::width]) for level in range(width)] != list(whole):
                raise wrong("PIX-029", "the level histograms do not add up", "column_index")
            for page, decoded in enumerate(pages or ()):
                found: list[int] = getattr(decoded, name)
                if counts[page * width : (page + 1) * width] != [
                    found.count(level) for level in range(width)
                ]:
                    raise wrong("PIX-058", "a level histogram is not that of its page", "column_index")

    def _lint_bounds(self, index: ColumnIndex) -> None:
        """What the bounds say of each other."""
        width = width_of(self.leaf.element)
        pairs = [
            (low, high)
            for low, high, null in zip(index.min_values, index.max_values, index.null_pages, strict=True)
            if not null
        ]
        if width is not None and any(len(raw) != width for pair in pairs for raw in pair):
            raise wrong("PIX-023", "a bound has another width than the type", "column_index")
        if self.order is None:
            return
        keys = [(key(self.order, low), key(self.order, high)) for low, high in pairs]
        if any(None in pair for pair in keys):
            raise wrong("PIX-030", "a bound is NaN, or no value", "column_index")
        if any(low > high for low, high in keys):
            raise wrong("PIX-024", "a lower bound is greater than the upper one", "column_index")
        lows, highs = [low for low, _ in keys], [high for _, high in keys]
        descending = index.boundary_order == BoundaryOrder.DESCENDING
        if index.boundary_order != BoundaryOrder.UNORDERED and any(
            bounds != sorted(bounds, reverse=descending) for bounds in (lows, highs)
        ):
            raise wrong("PIX-025", "the bounds do not stand in the order that is claimed", "column_index")
        said = self.facts.statistics
        if said is None or said.min_value is None or said.max_value is None or not keys:
            return
        least, greatest = key(self.order, said.min_value), key(self.order, said.max_value)
        numbers = [pair for pair, (low, _) in zip(keys, pairs, strict=True) if not is_nan(self.order, low)]
        if None in (least, greatest) or not numbers or is_nan(self.order, said.min_value):
            return
        if any(low > greatest or high < least for low, high in numbers):
            raise wrong("PIX-034", "the bounds of a page lie outside those of the chunk", "column_index")
        if (said.is_min_value_exact and min(low for low, _ in numbers) > least) or (
            said.is_max_value_exact and max(high for _, high in numbers) < greatest
        ):
            raise wrong("PIX-035", "no page reaches an exact bound of the chunk", "column_index")

    def _lint_page(self, index: ColumnIndex, page: int, decoded: DataPage) -> None:
        """What the column index says of a page, against its values."""
        nulls, values = decoded.null_count(self.leaf), decoded.values
        if index.null_pages[page] != (nulls == len(decoded.definition)):
            raise wrong("PIX-052", f"page {page} holds {nulls} nulls", "column_index.null_pages")
        if index.null_counts is not None and index.null_counts[page] != nulls:
            raise wrong("PIX-053", f"page {page} holds {nulls} nulls", "column_index.null_counts")
        if values is None or self.order is None or index.null_pages[page]:
            return
        nans = sum(is_nan(self.order, raw) for raw in values)
        if index.nan_counts is not None and index.nan_counts[page] != nans:
            raise wrong("PIX-056", f"page {page} holds {nans} NaN", "column_index.nan_counts")
        low, high = index.min_values[page], index.max_values[page]
        infinite = -key(self.order, low) == key(self.order, high) == math.inf if nans else False
        if nans == len(values) and self.order not in TOTAL and nans and not infinite:
            raise wrong("PIX-057", f"page {page} holds nothing but NaN", "column_index")
        for raw in values:
            if is_nan(self.order, raw) and (self.order not in TOTAL or nans != len(values)):
                continue
            found, least, greatest = (key(self.order, one) for one in (raw, low, high))
            if not least <= found <= greatest:
                raise wrong("PIX-050", f"page {page} holds a value outside its bounds", "column_index")

    # ------------------------------------------------------------------------------------------ bloom filter

    def _lint_bloom_filter(self, offset: int, pages: Sequence[DataPage] | None) -> None:
        import xxhash  # noqa: PLC0415 - only files with bloom filters need it

        bitset = read_bloom_filter(self.source, offset, self.end)
        length = self.facts.bloom_filter_length
        _, taken = bloom_header(self.source, offset, self.end)
        if length is not None and taken + len(bitset) != length:
            raise wrong("BLM-005", f"the bloom filter does not take {length} bytes", "bloom_filter_length")
        if self.leaf.element.type in (Type.BOOLEAN, Type.INT96):
            return  # what of such values is hashed is disputed
        for raw in self._distinct(pages):
            if not any(
                bloom.probe(bitset, xxhash.xxh64_intdigest(one)) for one in zeros_hashed(self.leaf, raw)
            ):
                raise wrong("BLM-020", f"the bloom filter lacks {raw[:20]!r}", "bloom_filter.bitset")

    @staticmethod
    def _distinct(pages: Sequence[DataPage] | None) -> Iterator[bytes]:
        yield from {raw for page in pages or () for raw in page.values or ()}
