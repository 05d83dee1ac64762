"""What queries and capabilities are derived from: the layout of a good file, and the types and codecs that it uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Options
from pqassay.under_test.page_walk import PageUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.thrift import (
    ColumnOrder,
    CompressionCodec,
    ConvertedType,
    FieldRepetitionType,
    SchemaElement,
    Type,
)
from pqassay_spec.parquet.types import annotation_of, converted_of

TYPES = {
    "DECIMAL": "type.decimal",
    "DATE": "type.date",
    "TIME": "type.time",
    "TIMESTAMP": "type.timestamp",
    "ENUM": "type.enum",
    "JSON": "type.json",
    "BSON": "type.bson",
    "UUID": "type.uuid",
    "FLOAT16": "type.float16",
    "INTERVAL": "type.interval",
    "GEOMETRY": "type.geometry",
    "GEOGRAPHY": "type.geometry",
    "VARIANT": "type.variant",
    "UNKNOWN": "type.unknown",
    "MAP": "nested.map",
    "MAP_KEY_VALUE": "nested.map",
}
"""The capability that a logical or converted type takes, by its name without parameters."""

NANOSECONDS = "type.timestamp-nanos"
UNSIGNED = "type.unsigned"
INT96 = "type.int96"
FIXED = "type.fixed"
NESTED = "nested"

ORDERS = {"IEEE_754_TOTAL_ORDER": "order.ieee754", "INT96_TIMESTAMP_ORDER": "order.int96"}
"""The capability that an order of columns takes."""


@dataclass(frozen=True)
class ChunkFacts:
    """Facts about one column chunk.

    Attributes:
        pages: The rows of each data page, counted from the first row of the file.
        blocks: The blocks of its bloom filter; 0 without one.
    """

    pages: tuple[range, ...]
    blocks: int = 0


@dataclass(frozen=True)
class FileFacts:
    """Facts about a good file.

    Attributes:
        needs: Capabilities that its types, codecs and orders take.
        groups: The rows of each row group.
        chunks: The chunks of each top-level column that is one leaf, by row group.
        types: The physical types of these columns.
        names: All top-level columns, in the order of the schema.
        leaves: The top-level column of each leaf.
        has_choice: Whether an index of pages or a bloom filter tells readers what to leave out.
    """

    needs: tuple[str, ...] = ()
    groups: tuple[range, ...] = ()
    chunks: dict[str, tuple[ChunkFacts, ...]] = field(default_factory=dict[str, tuple[ChunkFacts, ...]])
    types: dict[str, int] = field(default_factory=dict[str, int])
    names: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    has_choice: bool = False


def facts_of(data: bytes) -> FileFacts:
    """The facts about a Parquet file; none of one that cannot be read."""
    file = FileUnderTest(BytesSource(data), Options("pages"))
    try:
        metadata, leaves = file.metadata, file.leaves
        ends = list(accumulate((group.num_rows for group in metadata.row_groups), initial=0))
        chunks = file.part(ColumnChunks).all
    except (FormatError, NotApplicable, NotChecked):
        return FileFacts()
    groups = tuple(range(start, end) for start, end in pairwise(ends))
    own = {leaf.name: leaf for leaf in leaves if len(leaf.path) == 1}
    found: dict[str, list[ChunkFacts]] = {name: [] for name in own}
    for chunk in chunks:
        if chunk.leaf.name in own:
            found[chunk.leaf.name].append(_chunk_facts(chunk, groups[chunk.row_group]))
    needs = {
        *(need for element in metadata.schema[1:] for need in _needs_of_element(element)),
        *(NESTED for leaf in leaves if len(leaf.path) > 1 or leaf.max_repetition_level),
        *(need for chunk in chunks for need in _needs_of_codec(chunk.facts.codec)),
        *(need for order in metadata.column_orders or () for need in _needs_of_order(order)),
    }
    return FileFacts(
        tuple(sorted(needs)),
        groups,
        {name: tuple(parts) for name, parts in found.items() if len(parts) == len(groups)},
        {name: int(leaf.element.type or 0) for name, leaf in own.items()},
        tuple(dict.fromkeys(leaf.path[0] for leaf in leaves)),
        tuple(leaf.path[0] for leaf in leaves),
        any(chunk.chunk.column_index_offset or chunk.facts.bloom_filter_offset for chunk in chunks),
    )


def _needs_of_element(element: SchemaElement) -> Iterator[str]:
    name = annotation_of(element) or converted_of(element) or ""
    if "unsigned" in name or name.startswith("UINT"):
        yield UNSIGNED
    if element.converted_type == ConvertedType.INTERVAL:
        yield TYPES["INTERVAL"]
    if name == "TIMESTAMP(NANOS)":
        yield NANOSECONDS
    base = name.partition("(")[0]
    base = (
        base if base in TYPES else base.rpartition("_")[0]
    )  # the converted type names the unit: TIME_MILLIS
    if base in TYPES:
        yield TYPES[base]
    elif element.type == Type.FIXED_LEN_BYTE_ARRAY:
        yield FIXED
    if element.type == Type.INT96:
        yield INT96
    if element.type is None or element.repetition_type == FieldRepetitionType.REPEATED:
        yield NESTED


def _needs_of_codec(codec: int) -> Iterator[str]:
    names = {int(known): known.name for known in CompressionCodec}
    if codec != CompressionCodec.UNCOMPRESSED and codec in names:
        yield f"codec.{names[codec].lower().replace('_', '-')}"


def _needs_of_order(order: ColumnOrder) -> Iterator[str]:
    for name, need in ORDERS.items():
        if getattr(order, name) is not None:
            yield need


def _chunk_facts(chunk: ColumnChunkUnderTest, rows: range) -> ChunkFacts:
    starts = _page_starts(chunk)
    ends = [*starts[1:], len(rows)]
    pages = tuple(rows[start:end] for start, end in zip(starts, ends, strict=True) if start < end)
    try:
        blocks = len(chunk.bitset) // BLOCK_SIZE if chunk.facts.bloom_filter_offset is not None else 0
    except (FormatError, NotApplicable, NotChecked):
        blocks = 0
    return ChunkFacts(pages or (rows,), blocks)


def _page_starts(chunk: ColumnChunkUnderTest) -> Sequence[int]:
    """The first row of each data page, of the row group's rows; just the first where nothing tells."""
    try:
        if chunk.chunk.offset_index_offset is not None:
            return chunk.page_places.first_rows
        counts = [_rows_of(page) for page in chunk.data_pages]
        return list(accumulate(counts[:-1], initial=0)) if chunk.leaf.max_repetition_level == 0 else [0]
    except (FormatError, NotApplicable, NotChecked):
        return [0]


def _rows_of(page: PageUnderTest) -> int:
    """The rows of a page of a column without lists."""
    first = page.header.data_page_header
    return page.v2.num_rows if page.v2 is not None else first.num_values if first is not None else 0
