"""Facts about a file for queries, capabilities and features: its layout, and the types and codecs that it uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import accumulate, pairwise

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Options
from pqassay.under_test.pages.walk import PageUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.literals import List, Rows, Written
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.file import ENCRYPTED_MAGIC
from pqassay_spec.parquet.schema.types import annotation_of, converted_of
from pqassay_spec.parquet.thrift import (
    CompressionCodec,
    ConvertedType,
    Encoding,
    FieldRepetitionType,
    SchemaElement,
    Type,
)
from pqassay_suite.drivers.capabilities import NULL_LISTS

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
"""The capability that a logical or converted type needs, by its name without parameters."""

NANOSECONDS = "type.timestamp-nanos"
WIDE = "type.timestamp-wide"
UNSIGNED = "type.unsigned"
INT96 = "type.int96"
FIXED = "type.fixed"
NESTED = "nested"

UNKNOWN = "unknown"
"""The name of a feature whose number has no name."""

MOST_DIGITS = 38
"""Most digits of a decimal that fit into 128 bits; more digits are a separate feature."""

ORDERS = {"IEEE_754_TOTAL_ORDER": "order.ieee754", "INT96_TIMESTAMP_ORDER": "order.int96"}
"""The capability that a column order needs."""


@dataclass(frozen=True)
class ChunkFacts:
    """Facts about one column chunk.

    Attributes:
        pages: The rows of each data page, counted from the first row of the file.
        blocks: The number of blocks of its bloom filter; 0 if it has none.
    """

    pages: tuple[range, ...]
    blocks: int = 0


@dataclass(frozen=True)
class FileFacts:
    """Facts about a valid file.

    Attributes:
        needs: Capabilities that its types, codecs and orders need.
        groups: The rows of each row group.
        chunks: The chunks of each top-level column that is one leaf, by row group.
        types: The physical types of these columns.
        names: All top-level columns, in the order of the schema.
        leaves: The top-level column of each leaf.
        has_choice: Whether a page index or a bloom filter lets readers skip parts of it.
        tags: Features that a reader meets in it: needs that are types, nesting and codecs, and ``physical.int96``,
            ``encoding.plain``, ``page.v2``, ``structure.bloom-filter``, …; for a damaged file, only the features that can be determined.
        values: The number of values, according to its footer.
    """

    needs: tuple[str, ...] = ()
    groups: tuple[range, ...] = ()
    chunks: dict[str, tuple[ChunkFacts, ...]] = field(default_factory=dict[str, tuple[ChunkFacts, ...]])
    types: dict[str, int] = field(default_factory=dict[str, int])
    names: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    has_choice: bool = False
    tags: tuple[str, ...] = ()
    values: int = 0


def facts_of(data: bytes) -> FileFacts:
    """The facts about a Parquet file; for a file that cannot be read, only the features that can be determined."""
    file = FileUnderTest(BytesSource(data), Options("pages"))
    tags = _tags(file)
    try:
        metadata, leaves = file.metadata, file.leaves
        ends = list(accumulate((group.num_rows for group in metadata.row_groups), initial=0))
        chunks = file.part(ColumnChunks).all
    except (FormatError, NotApplicable, NotChecked):
        return FileFacts(tags=tags)
    groups = tuple(range(start, end) for start, end in pairwise(ends))
    own = {leaf.name: leaf for leaf in leaves if len(leaf.path) == 1}
    facts: dict[str, list[ChunkFacts]] = {name: [] for name in own}
    for chunk in chunks:
        if chunk.leaf.name in own:
            facts[chunk.leaf.name].append(_chunk_facts(chunk, groups[chunk.row_group]))
    needs = {
        *(need for element in metadata.schema[1:] for need in _needs_of_element(element)),
        *(NESTED for leaf in leaves if len(leaf.path) > 1 or leaf.max_repetition_level),
        *(f"codec.{_dashed(_named(CompressionCodec, chunk.facts.codec))}" for chunk in chunks),
        *(
            need
            for order in metadata.column_orders or ()
            for name, need in ORDERS.items()
            if getattr(order, name) is not None
        ),
    } - {"codec.uncompressed", f"codec.{UNKNOWN}"}
    return FileFacts(
        tuple(sorted(needs)),
        groups,
        {name: tuple(parts) for name, parts in facts.items() if len(parts) == len(groups)},
        {name: int(leaf.element.type or 0) for name, leaf in own.items()},
        tuple(dict.fromkeys(leaf.path[0] for leaf in leaves)),
        tuple(leaf.path[0] for leaf in leaves),
        any(chunk.chunk.column_index_offset or chunk.facts.bloom_filter_offset for chunk in chunks),
        tags,
        sum(chunk.facts.num_values for chunk in chunks),
    )


def _tags(file: FileUnderTest) -> tuple[str, ...]:
    """The features of a file, sorted, without those of unreadable parts."""
    tags: set[str] = set()
    for derived in (tags_of_file, _tags_of_schema, _tags_of_chunks):
        try:
            tags.update(derived(file))
        except (FormatError, NotApplicable, NotChecked):
            continue
    return tuple(sorted(tags))


def tags_of_file(file: FileUnderTest) -> Iterator[str]:
    """The features of a file that do not belong to a column."""
    if file.source.read(0, min(len(ENCRYPTED_MAGIC), file.source.size)) == ENCRYPTED_MAGIC:
        yield "encrypted.footer"
        return
    metadata = file.metadata
    if any(chunk.crypto_metadata is not None for group in metadata.row_groups for chunk in group.columns):
        yield "encrypted.columns"
    if not sum(group.num_rows for group in metadata.row_groups):
        yield "rows.none"
    if len(metadata.row_groups) > 1:
        yield "row-groups.many"


def elements_of_columns(elements: Sequence[SchemaElement]) -> Iterator[tuple[str, SchemaElement]]:
    """Yield each element below the root, in order, after the name of its top-level column."""
    open_groups: list[int] = []
    name = ""
    for element in elements[1:]:
        if not open_groups:
            name = element.name
        else:
            open_groups[-1] -= 1
        yield name, element
        open_groups.append(element.num_children or 0)
        while open_groups and not open_groups[-1]:
            open_groups.pop()


def tags_of_element(element: SchemaElement) -> Iterator[str]:
    """The features of one element of a schema."""
    yield from _needs_of_element(element)
    name = annotation_of(element) or converted_of(element) or ""
    if name == "DECIMAL" and _digits(element) > MOST_DIGITS:
        yield "type.decimal-wide"
    if element.type is not None:
        yield f"physical.{_dashed(_named(Type, element.type))}"
        if element.repetition_type == FieldRepetitionType.REPEATED:
            yield "nested.repeated"
    elif name == "LIST":
        yield "nested.list"
    elif not name and element.repetition_type != FieldRepetitionType.REPEATED:
        yield "nested.struct"


def _tags_of_schema(file: FileUnderTest) -> Iterator[str]:
    for element in file.metadata.schema[1:]:
        yield from tags_of_element(element)
    for leaf in file.leaves:
        if leaf.max_repetition_level > 1:
            yield "nested.lists-within-lists"


def _digits(element: SchemaElement) -> int:
    """The number of digits of a decimal."""
    logical = element.logicalType
    decimal = logical.DECIMAL if logical is not None else None
    return decimal.precision if decimal is not None else element.precision or 0


def _tags_of_chunks(file: FileUnderTest) -> Iterator[str]:
    for chunk in file.part(ColumnChunks).all:
        yield from tags_of_chunk(chunk)


def tags_of_chunk(chunk: ColumnChunkUnderTest) -> Iterator[str]:
    """The features of one column chunk and its pages."""
    facts = chunk.facts
    yield f"codec.{_dashed(_named(CompressionCodec, facts.codec))}"
    has = {
        "structure.statistics": facts.statistics is not None,
        "structure.column-index": chunk.chunk.column_index_offset is not None,
        "structure.offset-index": chunk.chunk.offset_index_offset is not None,
        "structure.bloom-filter": facts.bloom_filter_offset is not None,
    }
    yield from (name for name, is_there in has.items() if is_there)
    if chunk.column_order is not None:
        yield from (need for name, need in ORDERS.items() if getattr(chunk.column_order, name) is not None)
    try:
        for page in chunk.pages:
            yield from _tags_of_page(page)
        yield from (
            f"encoding.{_dashed(_named(Encoding, encoding))}" for _, _, encoding in chunk.unusual_levels
        )
    except (FormatError, NotApplicable, NotChecked):  # use the encodings of the footer instead
        yield from (f"encoding.{_dashed(_named(Encoding, encoding))}" for encoding in facts.encodings)


def _tags_of_page(page: PageUnderTest) -> Iterator[str]:
    header = page.own_header
    if header is None:
        return
    yield "page.dictionary" if page.is_dictionary else "page.v2" if page.v2 is not None else "page.v1"
    if page.is_data:
        yield f"encoding.{_dashed(_named(Encoding, header.encoding))}"
    if page.header.crc is not None:
        yield "page.crc"


def _named(kind: type[IntEnum], number: int) -> str:
    """The name of a number in an enumeration; ``unknown`` if it has none."""
    return next((known.name for known in kind if int(known) == number), UNKNOWN)


def _dashed(name: str) -> str:
    return name.lower().replace("_", "-")


def _needs_of_element(element: SchemaElement) -> Iterator[str]:
    name = annotation_of(element) or converted_of(element) or ""
    if "unsigned" in name or name.startswith("UINT"):
        yield UNSIGNED
    if element.converted_type == ConvertedType.INTERVAL:
        yield TYPES["INTERVAL"]
    if name == "TIMESTAMP(NANOS)":
        yield NANOSECONDS
    if name.startswith("TIMESTAMP(") and element.type == Type.FIXED_LEN_BYTE_ARRAY:
        yield WIDE
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


def _chunk_facts(chunk: ColumnChunkUnderTest, rows: range) -> ChunkFacts:
    starts = _page_starts(chunk)
    ends = [*starts[1:], len(rows)][: len(starts)]
    pages = tuple(rows[start:end] for start, end in zip(starts, ends, strict=True) if start < end)
    try:
        blocks = len(chunk.bitset) // BLOCK_SIZE if chunk.facts.bloom_filter_offset is not None else 0
    except (FormatError, NotApplicable, NotChecked):
        blocks = 0
    return ChunkFacts(pages or (rows,), blocks)


def _page_starts(chunk: ColumnChunkUnderTest) -> Sequence[int]:
    """The first row of each data page, relative to the row group; only the first if the others are unknown."""
    try:
        if chunk.chunk.offset_index_offset is not None:
            return chunk.page_places.first_rows
        counts = [_rows_of(page) for page in chunk.data_pages]
        return list(accumulate(counts[:-1], initial=0)) if chunk.leaf.max_repetition_level == 0 else [0]
    except (FormatError, NotApplicable, NotChecked):
        return [0]


def _rows_of(page: PageUnderTest) -> int:
    """The number of rows of a page in a column without lists."""
    first = page.header.data_page_header
    return page.v2.num_rows if page.v2 is not None else first.num_values if first is not None else 0


def needs_of_rows(rows: Rows | None) -> list[str]:
    """The capabilities that rows need in addition to those of their file: not all software has null lists and maps."""
    if rows is None:
        return []
    nulls = (
        _holds_null_list(column.type, value)
        for row in rows.rows
        for column, value in zip(rows.columns, row, strict=True)
    )
    return [NULL_LISTS] if any(nulls) else []


def _holds_null_list(kind: str, value: Written) -> bool:
    """Whether a value of a type is a null list or map, or a list that contains one."""
    if not kind.startswith(("list<", "map<")):
        return False
    if value is None:
        return True
    inner = kind[len("list<") : -1]
    return isinstance(value, List) and any(_holds_null_list(inner, item) for item in value.list)
