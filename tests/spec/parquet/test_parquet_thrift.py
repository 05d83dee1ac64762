"""The Thrift tables of Parquet: what every table keeps to, and the ids that a slip would move unseen."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import IntEnum

from each import each
from pqassay_spec.grammar.thrift import EnumOf, FieldType, ListOf, Record, type_name
from pqassay_spec.parquet import thrift as parquet_thrift
from pqassay_spec.parquet.thrift import (
    ColumnIndex,
    ColumnMetaData,
    ColumnOrder,
    FileCryptoMetaData,
    FileMetaData,
    LogicalType,
    OffsetIndex,
    PageHeader,
    Statistics,
)


def declared(base: type) -> list[type]:
    """The classes of the module under a base, without the base."""
    members = vars(parquet_thrift).values()
    return [
        member
        for member in members
        if inspect.isclass(member) and issubclass(member, base) and member is not base
    ]


STRUCTS: list[type[Record]] = declared(Record)
ENUMS: list[type[IntEnum]] = declared(IntEnum)
UNIONS = {
    "TimeUnit",
    "LogicalType",
    "BloomFilterAlgorithm",
    "BloomFilterHash",
    "BloomFilterCompression",
    "ColumnCryptoMetaData",
    "ColumnOrder",
    "EncryptionAlgorithm",
}


def test_the_tables_are_all_there() -> None:
    assert (len(STRUCTS), len(ENUMS)) == (61, 8)


@each("struct", STRUCTS)
def test_a_struct_is_documented_with_its_fields_whose_ids_ascend_and_says_whether_it_is_a_union(
    struct: type[Record],
) -> None:
    ids = [field.id for field in struct.fields]
    names = [field.name for field in struct.fields]
    assert ids == sorted(set(ids))
    assert all(identifier > 0 for identifier in ids)
    assert len(set(names)) == len(names)

    assert (struct.__doc__ or "").endswith(".")
    for field in struct.fields:
        assert len(field.doc) > 4
        assert field.doc.endswith("."), f"{struct.__name__}.{field.name}"
        assert field.doc[0].isupper() or field.doc[0].isdigit(), f"{struct.__name__}.{field.name}"

    says = "union" in (struct.__doc__ or "")
    assert says == (struct.__name__ in UNIONS) == struct.is_union
    if says:
        assert not any(field.required for field in struct.fields)


@each("enum", ENUMS)
def test_every_enum_is_documented_and_its_values_ascend(enum: type[IntEnum]) -> None:
    assert (enum.__doc__ or "").endswith(".")
    values = [member.value for member in enum]
    assert values == sorted(set(values))


def parts(kind: FieldType) -> Iterator[FieldType]:
    """A type and, of a list, its element's."""
    yield kind
    if isinstance(kind, ListOf):
        yield from parts(kind.element)


def test_every_struct_and_enum_is_used_or_stands_on_its_own() -> None:
    alone = {
        FileMetaData,
        FileCryptoMetaData,
        PageHeader,
        ColumnIndex,
        OffsetIndex,
        parquet_thrift.BloomFilterHeader,
    }
    used: set[type] = set(alone)
    for struct in STRUCTS:
        for field in struct.fields:
            for part in parts(field.type):
                used.add(
                    part.names if isinstance(part, EnumOf) else part if isinstance(part, type) else type(part)
                )
    assert {*STRUCTS, *ENUMS} - used == set()


PINNED: list[tuple[type[Record], int, str, str]] = [
    (ColumnMetaData, 16, "size_statistics", "SizeStatistics"),
    (ColumnMetaData, 17, "geospatial_statistics", "GeospatialStatistics"),
    (ColumnMetaData, 14, "bloom_filter_offset", "i64"),
    (ColumnMetaData, 15, "bloom_filter_length", "i32"),
    (Statistics, 7, "is_max_value_exact", "bool"),
    (Statistics, 8, "is_min_value_exact", "bool"),
    (Statistics, 9, "nan_count", "i64"),
    (ColumnIndex, 6, "repetition_level_histograms", "list<i64>"),
    (ColumnIndex, 7, "definition_level_histograms", "list<i64>"),
    (ColumnIndex, 8, "nan_counts", "list<i64>"),
    (OffsetIndex, 2, "unencoded_byte_array_data_bytes", "list<i64>"),
    (ColumnOrder, 1, "TYPE_ORDER", "TypeDefinedOrder"),
    (ColumnOrder, 2, "IEEE_754_TOTAL_ORDER", "IEEE754TotalOrder"),
    (ColumnOrder, 3, "INT96_TIMESTAMP_ORDER", "Int96TimestampOrder"),
    (LogicalType, 10, "INTEGER", "IntType"),
    (LogicalType, 15, "FLOAT16", "Float16Type"),
    (LogicalType, 16, "VARIANT", "VariantType"),
    (LogicalType, 17, "GEOMETRY", "GeometryType"),
    (LogicalType, 18, "GEOGRAPHY", "GeographyType"),
    (LogicalType, 19, "FILE", "FileType"),
    (FileMetaData, 7, "column_orders", "list<ColumnOrder>"),
    (FileMetaData, 8, "encryption_algorithm", "EncryptionAlgorithm"),
    (FileMetaData, 9, "footer_signing_key_metadata", "binary"),
    (FileCryptoMetaData, 1, "encryption_algorithm", "EncryptionAlgorithm"),
]


@each(("struct", "identifier", "name", "kind"), PINNED)
def test_the_newest_fields_have_the_ids_of_the_standard(
    struct: type[Record], identifier: int, name: str, kind: str
) -> None:
    found = {field.id: (field.name, type_name(field.type)) for field in struct.fields}
    assert found[identifier] == (name, kind)


@each(
    ("struct", "required"),
    [
        (FileMetaData, ["version", "schema", "num_rows", "row_groups"]),
        (ColumnIndex, ["null_pages", "min_values", "max_values", "boundary_order"]),
        (OffsetIndex, ["page_locations"]),
        (PageHeader, ["type", "uncompressed_page_size", "compressed_page_size"]),
        (parquet_thrift.SchemaElement, ["name"]),
        (parquet_thrift.ColumnChunk, ["file_offset"]),
        (parquet_thrift.RowGroup, ["columns", "total_byte_size", "num_rows"]),
        (parquet_thrift.KeyValue, ["key"]),
        (parquet_thrift.BloomFilterHeader, ["numBytes", "algorithm", "hash", "compression"]),
        (
            ColumnMetaData,
            [
                "type",
                "encodings",
                "path_in_schema",
                "codec",
                "num_values",
                "total_uncompressed_size",
                "total_compressed_size",
                "data_page_offset",
            ],
        ),
    ],
)  # fmt: skip
def test_required_fields_are_those_of_the_standard(struct: type[Record], required: list[str]) -> None:
    assert [field.name for field in struct.fields if field.required] == required


@each(
    ("enum", "name", "value"),
    [
        (parquet_thrift.Encoding, "ALP", 10),
        (parquet_thrift.Encoding, "BYTE_STREAM_SPLIT", 9),
        (parquet_thrift.CompressionCodec, "LZ4_RAW", 7),
        (parquet_thrift.PageType, "DATA_PAGE_V2", 3),
        (parquet_thrift.ConvertedType, "INTERVAL", 21),
        (parquet_thrift.Type, "FIXED_LEN_BYTE_ARRAY", 7),
        (parquet_thrift.BoundaryOrder, "DESCENDING", 2),
        (parquet_thrift.EdgeInterpolationAlgorithm, "KARNEY", 4),
        (parquet_thrift.FieldRepetitionType, "REPEATED", 2),
    ],
)
def test_the_last_names_of_the_enums_have_the_values_of_the_standard(
    enum: type[IntEnum], name: str, value: int
) -> None:
    assert enum[name].value == value
    assert max(enum).value >= value
