"""What a `Layout` changes in the bytes of the tiny writer, by what is in the structures afterwards."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import pytest

from pqassay_golden.tiny.columns import type_name
from pqassay_golden.tiny.parquet import (
    VARIANT,
    AnyType,
    Column,
    Encoding,
    Layout,
    ListOf,
    MapOf,
    Member,
    Repeated,
    SortingColumn,
    Struct,
    TinyParquet,
    decimal,
    fixed,
)
from pqassay_reference.errors import Refused
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.parquet.encoding import levels
from pqassay_spec.parquet.thrift import (
    BoundaryOrder,
    ColumnChunk,
    ColumnMetaData,
    GeospatialStatistics,
    PageType,
    Statistics,
    Type,
)

NAN = float("nan")


def taken(values: Sequence[Any], kind: AnyType = "string", **options: Any) -> tuple[Any, Any]:
    """The first chunk of a file of one column with a page index: what the footer says, and what is in the body."""
    layout = {name: options.pop(name) for name in list(options) if name in Layout.__dataclass_fields__}
    column = Column("a", kind, values, layout=Layout(**layout))
    tree: Any = take_apart(TinyParquet([column], page_index=True, **options).build())
    return tree.footer.row_groups[0].columns[0], tree.row_groups[0].columns[0]


def statistics(values: Sequence[Any], kind: AnyType = "string", **options: Any) -> Any:
    """The statistics of the chunk."""
    return taken(values, kind, **options)[0].meta_data.statistics


@pytest.mark.parametrize(
    ("kind", "values", "least", "greatest"),
    [
        ("boolean", [True, False], "00", "01"),
        ("int32", [-1, 1], "ffffffff", "01000000"),
        ("uint32", [1 << 31, 1], "01000000", "00000080"),
        ("uint64", [1 << 63, 1], "0100000000000000", "0000000000000080"),
        ("float", [2.0, NAN], "00000040", "00000040"),
        ("float", [0.0, -0.0], "00000080", "00000000"),
        ("float16", [1.0, -1.0, NAN], "00bc", "003c"),
        (decimal(9, 0, Type.BYTE_ARRAY), [-129, 128], "ff7f", "0080"),
        (decimal(9, 0, Type.FIXED_LEN_BYTE_ARRAY, 3), [-1, 1], "ffffff", "000001"),
        (fixed(2), [b"\x80\0", b"\x7f\xff"], "7fff", "8000"),
        ("date", [3, -3], "fdffffff", "03000000"),
    ],
)
def test_bounds_follow_the_order_of_the_type(
    kind: AnyType, values: list[Any], least: str, greatest: str
) -> None:
    found = statistics(values, kind)

    assert (bytes.fromhex(least), bytes.fromhex(greatest)) == (found.min_value, found.max_value)


@pytest.mark.parametrize("kind", ["int96", "interval", "geometry", "geography"])
def test_a_type_without_an_order_has_neither_bounds_nor_a_column_index(kind: AnyType) -> None:
    chunk, parts = taken([bytes(12), None], kind)
    found = chunk.meta_data.statistics

    assert (None, None, 1) == (found.min_value, found.max_value, found.null_count)
    assert parts.column_index is None


def test_int96_has_bounds_under_its_own_order() -> None:
    late, early = struct.pack("<qi", 0, 2_440_589), struct.pack("<qi", 1, 2_440_588)
    found = statistics([late, early], "int96", order="timestamp")

    assert (early, late) == (found.min_value, found.max_value)
    assert late == statistics([86_400_000_000_000], "int96", order="timestamp").max_value


def test_under_the_total_order_nan_is_counted_and_bounds_only_other_nan() -> None:
    less, more = (struct.pack("<I", bits) for bits in (0x7FC00000, 0x7FC00001))
    chunk, parts = taken([1.0, NAN, more, less], "float", order="total", page_rows=2)
    found = chunk.meta_data.statistics

    assert (struct.pack("<f", 1.0),) * 2 == (found.min_value, found.max_value)
    assert 3 == found.nan_count
    assert [1, 2] == parts.column_index.nan_counts
    assert [struct.pack("<f", 1.0), less] == parts.column_index.min_values
    assert [struct.pack("<f", 1.0), more] == parts.column_index.max_values


def test_under_the_order_of_the_type_a_page_of_nan_leaves_the_chunk_without_column_index() -> None:
    chunk, parts = taken([1.0, NAN], "double", page_rows=1, nan_count=True)

    assert (None, 1) == (parts.column_index, chunk.meta_data.statistics.nan_count)


@pytest.mark.parametrize(
    ("kind", "value", "size", "least", "greatest"),
    [
        ("string", "abc", 2, b"ab", b"ac"),
        ("string", "abc", 3, b"abc", b"abc"),
        ("string", "aé", 2, b"a", b"b"),
        ("string", "a\U0010ffffx", 5, "a\U0010ffff".encode(), b"b"),
        ("string", "\ud7ffx", 3, "\ud7ff".encode(), "\ue000".encode()),
        ("string", "\U0010ffffx", 4, "\U0010ffff".encode(), "\U0010ffffx".encode()),
        ("binary", b"a\xffb", 2, b"a\xff", b"b"),
        ("binary", b"\xff\xff\xff", 2, b"\xff\xff", b"\xff\xff\xff"),
    ],
)
def test_bounds_are_cut_and_the_upper_one_raised(
    kind: AnyType, value: Any, size: int, least: bytes, greatest: bytes
) -> None:
    raw = value.encode() if isinstance(value, str) else value
    chunk, parts = taken([value], kind, truncate=size, exact=True, index_truncate=size)
    found = chunk.meta_data.statistics

    assert (least, greatest) == (found.min_value, found.max_value)
    assert (least == raw, greatest == raw) == (found.is_min_value_exact, found.is_max_value_exact)
    assert ([least], [greatest]) == (parts.column_index.min_values, parts.column_index.max_values)


def test_numbers_are_never_cut() -> None:
    assert struct.pack("<q", 258) == statistics([258], "int64", truncate=1).max_value


def test_counts_are_written_as_asked() -> None:
    values = ["a", "b", "a", None]
    everything = statistics(values, distinct_count=True, deprecated=True)
    nothing = statistics(values, null_count=False, bounds=False)

    assert (1, 2, b"a", b"b") == (
        *(everything.null_count, everything.distinct_count),
        *(everything.min, everything.max),
    )
    assert Statistics() == nothing
    assert statistics(values, statistics=False) is None


NESTED: list[Any] = [["a", None], [], None, ["bc"]]


def test_level_histograms_and_bytes_are_counted_for_chunk_and_pages() -> None:
    options: dict[str, Any] = {"size_statistics": True, "histograms": True, "unencoded_bytes": True}
    chunk, parts = taken(NESTED, ListOf("string"), page_rows=2, **options)
    sizes = chunk.meta_data.size_statistics

    assert (3, [4, 1], [1, 1, 1, 2]) == (
        sizes.unencoded_byte_array_data_bytes,
        sizes.repetition_level_histogram,
        sizes.definition_level_histogram,
    )
    assert [2, 1, 2, 0] == parts.column_index.repetition_level_histograms
    assert [0, 1, 1, 1, 1, 0, 0, 1] == parts.column_index.definition_level_histograms
    assert [1, 2] == parts.offset_index.unencoded_byte_array_data_bytes


def test_where_there_is_one_level_no_histogram_counts_it() -> None:
    chunk, _ = taken([1], "int32", size_statistics=True)
    file = TinyParquet([Column("a", "int32", [1], optional=False, layout=Layout(size_statistics=True))])
    footer: Any = take_apart(file.build()).footer
    sizes = footer.row_groups[0].columns[0].meta_data.size_statistics

    assert [0, 1] == chunk.meta_data.size_statistics.definition_level_histogram
    assert (None, None, None) == (
        sizes.unencoded_byte_array_data_bytes,
        sizes.repetition_level_histogram,
        sizes.definition_level_histogram,
    )


@pytest.mark.parametrize(
    ("pages", "order"),
    [
        ("abc", BoundaryOrder.ASCENDING),
        ("cba", BoundaryOrder.DESCENDING),
        ("acb", BoundaryOrder.UNORDERED),
        ("aaa", BoundaryOrder.ASCENDING),
    ],
)
def test_the_boundary_order_is_found_or_forced(pages: str, order: BoundaryOrder) -> None:
    _, found = taken([pages[0], None, *pages[1:]], page_rows=1)
    _, forced = taken(list(pages), page_rows=1, boundary_order=BoundaryOrder.UNORDERED, null_counts=False)

    assert (order, [False, True, False, False]) == (
        found.column_index.boundary_order,
        found.column_index.null_pages,
    )
    assert (BoundaryOrder.UNORDERED, None) == (
        forced.column_index.boundary_order,
        forced.column_index.null_counts,
    )


def test_pages_have_the_rows_that_are_asked_for_and_may_be_empty() -> None:
    _, parts = taken(NESTED, ListOf("string"), page_rows=(1, 0, 2))
    headers = [page.header.data_page_header for page in parts.pages]

    assert [2, 0, 2, 1] == [header.num_values for header in headers if header]
    assert [0, 1, 1, 3] == [location.first_row_index for location in parts.offset_index.page_locations]


def test_a_page_of_version_2_says_where_its_parts_end() -> None:
    _, parts = taken(NESTED, ListOf("string"), version=2, page_statistics=True, crc=False)
    (page,) = parts.pages
    header = page.header.data_page_header_v2

    assert (PageType.DATA_PAGE_V2, None) == (page.header.type, page.header.crc)
    assert (5, 3, 4) == (header.num_values, header.num_nulls, header.num_rows)
    ends = header.repetition_levels_byte_length
    assert [0, 1, 0, 0, 0] == levels.decode(page.body[:ends], width=1, count=5)[0]
    runs = page.body[ends : ends + header.definition_levels_byte_length]
    assert ([3, 2, 1, 0, 3], len(runs)) == levels.decode(runs, width=2, count=5)
    assert b"\1\0\0\0a\2\0\0\0bc" == page.body[ends + len(runs) :]
    assert (b"a", b"bc") == (header.statistics.min_value, header.statistics.max_value)


def test_the_dictionary_comes_first_and_holds_every_value_once() -> None:
    chunk, parts = taken(["b", "a", None, "b"], dictionary=Encoding.RLE_DICTIONARY, encoding_stats=True)
    dictionary, data = parts.pages

    assert (PageType.DICTIONARY_PAGE, 2) == (
        dictionary.header.type,
        dictionary.header.dictionary_page_header and dictionary.header.dictionary_page_header.num_values,
    )
    assert b"\1\0\0\0b\1\0\0\0a" == dictionary.body
    assert bytes((1,)) + levels.encode([0, 1, 0], width=1) == data.body[-3:]
    assert [Encoding.PLAIN, Encoding.RLE, Encoding.RLE_DICTIONARY] == chunk.meta_data.encodings
    assert [(2, 0, 1), (0, 8, 1)] == [
        (found.page_type, found.encoding, found.count) for found in chunk.meta_data.encoding_stats
    ]
    assert 4 == chunk.meta_data.dictionary_page_offset
    assert 4 + len(dictionary.build()) == chunk.meta_data.data_page_offset


def test_a_writer_may_give_its_dictionary_up() -> None:
    options: dict[str, Any] = {"dictionary": Encoding.PLAIN_DICTIONARY, "dictionary_pages": 1, "page_rows": 1}
    chunk, parts = taken(["a", "b"], **options)
    headers = [page.header.data_page_header for page in parts.pages[1:]]

    assert b"\1\0\0\0a" == parts.pages[0].body
    assert [Encoding.PLAIN_DICTIONARY, Encoding.PLAIN] == [header.encoding for header in headers if header]
    assert [Encoding.PLAIN, Encoding.PLAIN_DICTIONARY, Encoding.RLE] == chunk.meta_data.encodings


@pytest.mark.parametrize(
    ("behind", "kind"), [("ColumnMetaData", ColumnMetaData), ("ColumnChunk", ColumnChunk)]
)
def test_a_copy_of_the_metadata_stands_behind_the_pages(behind: Any, kind: Any) -> None:
    file = TinyParquet([Column("a", "int32", [1]), Column("b", "int32", [2])], layout=Layout(behind=behind))
    data = file.build()
    group: Any = take_apart(data).footer.row_groups[0]

    for chunk in group.columns:
        end = chunk.meta_data.data_page_offset + chunk.meta_data.total_compressed_size
        assert end == chunk.file_offset
        copy, _ = decode(kind, data[end:], root="copy", base=end)
        assert copy == (chunk if kind is ColumnChunk else chunk.meta_data)
    assert (
        sum(chunk.meta_data.total_compressed_size for chunk in group.columns) == group.total_compressed_size
    )


def test_bytes_of_nobody_stand_where_they_are_asked_for() -> None:
    column = Column("a", "int32", [1], layout=Layout(behind=b"tail"))
    pieces = take_apart(TinyParquet([column], body=(b"head", "row groups", bytes(8))).build()).body

    assert [b"head", "row_groups[0].columns[0].pages", b"tail" + bytes(8)] == [
        piece.path or piece.build() for piece in pieces
    ]


def test_a_bloom_filter_is_as_large_as_asked() -> None:
    _, parts = taken(["a"], bloom_filters=("a",), bloom_bytes=96)

    assert (96, 96) == (parts.bloom_filter.header.numBytes, len(parts.bloom_filter.bitset))


def test_the_footer_says_what_it_is_told() -> None:
    sorting = SortingColumn(column_idx=0, descending=True, nulls_first=False)
    shapes = GeospatialStatistics(geospatial_types=[1])
    file = TinyParquet(
        [Column("a", "geometry", [b"x"], layout=Layout(geospatial=shapes), field_id=7)],
        sorting_columns=[sorting],
        created_by=None,
        version=2,
    )
    footer: Any = take_apart(file.build()).footer

    assert (2, None, 7) == (footer.version, footer.created_by, footer.schema[1].field_id)
    assert [sorting] == footer.row_groups[0].sorting_columns
    assert shapes == footer.row_groups[0].columns[0].meta_data.geospatial_statistics


def test_without_column_orders_only_the_deprecated_bounds_are_written() -> None:
    file = TinyParquet(
        [Column("a", "int32", [1, 2], layout=Layout(deprecated=True))], column_orders=False, page_index=True
    )
    tree: Any = take_apart(file.build())
    found = tree.footer.row_groups[0].columns[0].meta_data.statistics

    assert tree.footer.column_orders is None
    assert (b"\1\0\0\0", b"\2\0\0\0", None, None) == (found.min, found.max, found.min_value, found.max_value)
    assert tree.row_groups[0].columns[0].column_index is None


def test_row_groups_have_the_rows_that_are_asked_for() -> None:
    footer: Any = take_apart(
        TinyParquet([Column("a", "int32", [1, 2, 3])], row_group_rows=(1, 0, 2)).build()
    ).footer

    assert [1, 0, 2] == [group.num_rows for group in footer.row_groups]
    assert 0 == footer.row_groups[1].columns[0].meta_data.data_page_offset


EXTENDED = (
    "footer",
    "footer.schema[1]",
    "footer.row_groups[0].columns[0].meta_data.statistics",
    "row_groups[0].columns[0].pages[0].header",
    "row_groups[0].columns[0].column_index",
    "row_groups[0].columns[0].offset_index.page_locations[0]",
    "row_groups[0].columns[0].bloom_filter.header",
)


@pytest.mark.parametrize("path", EXTENDED)
def test_any_struct_carries_an_extension_field(path: str) -> None:
    file = TinyParquet([Column("a", "int32", [1])], page_index=True, bloom_filters=("a",))
    plain, data = file.build(), TinyParquet(**{**vars_of(file), "extensions": {path: b"any"}}).build()

    assert bytes.fromhex("08 fe ff 03 03") + b"any" in data
    assert plain not in data
    take_apart(data)


def vars_of(file: TinyParquet) -> dict[str, Any]:
    """What a file was made of."""
    return {name: value for name, value in vars(file).items() if not name.startswith("_")}


def test_a_variant_is_a_group_of_two_byte_arrays() -> None:
    value = {"metadata": b"\1\0\0", "value": b"\0"}
    schema: Any = take_apart(TinyParquet([Column("a", VARIANT, [value, None])]).build()).footer.schema

    assert ["schema", "a", "metadata", "value"] == [element.name for element in schema]
    assert schema[1].logicalType is not None
    assert schema[1].logicalType.VARIANT is not None


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (MapOf("string", ListOf("date")), "map<string, list<date>>"),
        (Struct((Member("x", decimal(5, 1)),)), "struct<x: decimal(5,1)>"),
        (fixed(7), "fixed(7)"),
        (Repeated("timestamp_micros"), "list<timestamp_micros>"),
    ],
)
def test_a_type_has_a_name(kind: AnyType, name: str) -> None:
    assert name == type_name(kind)


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("boolean", 1, "a value that is not boolean"),
        ("uint8", -1, "a value that is not uint8"),
        (fixed(2), b"abc", "3 bytes where 2 belong"),
        ("uuid", b"", "0 bytes where 16 belong"),
        (decimal(9, 0, Type.FIXED_LEN_BYTE_ARRAY, 1), 128, "a value that is not decimal"),
        (ListOf("int32"), 5, "a value that is not list<int32>"),
        (ListOf("int32", optional=False), [None], "column a is required and holds a null"),
        (Struct((Member("x", "int32"),)), {}, "a value that is not struct<x: int32>"),
        (Struct((Member("x", "int32", optional=False),)), {"x": None}, "required and holds a null"),
        (MapOf("string", "int32"), [(None, 1)], "required and holds a null"),
    ],
)
def test_a_value_of_another_type_is_refused(kind: AnyType, value: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        TinyParquet([Column("a", kind, [value])]).build()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"layout": Layout(page_rows=(2,))}, "the row group has 1"),
        ({"layout": Layout(bloom_bytes=33), "bloom_filters": ("a",)}, "does not consist of blocks"),
        ({"layouts": {"b": Layout()}}, "no leaf column b; there is a"),
        ({"bloom_filters": ("b",)}, "no leaf column b"),
        ({"row_group_rows": (2,)}, "where there are 1"),
        ({"extensions": {"footer.nothing": b""}}, "no footer.nothing to extend"),
        ({"extensions": {"row_groups[0].columns[0].column_index": b""}}, "no row_groups.* to extend"),
        ({"layout": Layout(dictionary=Encoding.RLE_DICTIONARY)}, "booleans have no dictionary"),
        (
            {"layout": Layout(offset_index=True), "body": ("offset indexes", "row groups")},
            "behind all row groups",
        ),
    ],
)
def test_what_cannot_be_laid_out_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        TinyParquet([Column("a", "boolean", [True])], **options).build()


def test_nan_of_any_payload_is_written_as_given() -> None:
    raw = bytes.fromhex("0100c0ff")
    _, parts = taken([raw], "float")

    assert math.isnan(struct.unpack("<f", raw)[0])
    assert raw == parts.pages[0].body[-4:]
