"""Rules of footers, schemas, extensions and gaps where Python has cases beside the golden ones: annotations, wire types, encryption."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

import pqassay
from each import each
from idx1_files import edited, parquet
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_reference.rewrite.footer_splice import footer_and_tail
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import Record, UnknownField, grammar
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet.extension_fields import FIELD, MISTAKEN_FIELD
from pqassay_spec.parquet.file import MAGIC, read_footer, read_framing
from pqassay_spec.parquet.thrift import (
    AesGcmV1,
    ColumnCryptoMetaData,
    ConvertedType,
    DecimalType,
    EncryptionAlgorithm,
    EncryptionWithColumnKey,
    FieldRepetitionType,
    FileMetaData,
    FileType,
    IntType,
    ListType,
    LogicalType,
    MilliSeconds,
    NullType,
    SchemaElement,
    SortingColumn,
    Statistics,
    StringType,
    TimestampType,
    TimeType,
    TimeUnit,
    Type,
    UUIDType,
    VariantType,
)
from pqassay_spec.rules.catalogue import Tier

ROWS = 6
PLAIN = TinyParquet(
    (
        Column("a", "string", ["x", None, "y", "z", "x", ""]),
        Column("b", "int64", list(range(ROWS)), optional=False),
    ),
    row_group_rows=3,
).build()
EXTENSION = struct.pack("<16s", b"sixteen bytes id") + b"and content"


@dataclass
class Case:
    """A file and the rules that a check reports on it, no more and no less."""

    name: str
    make: Callable[[], bytes]
    rules: tuple[str, ...] = ()
    tier: Tier = "index"


def with_footer(change: Callable[[FileMetaData], Any], data: bytes = PLAIN) -> Callable[[], bytes]:
    """A file whose footer was changed."""
    return lambda: edited(data, change)


def with_group(change: Callable[[Any], Any], data: bytes = PLAIN) -> Callable[[], bytes]:
    """A file whose first row group was changed."""
    return with_footer(lambda footer: change(footer.row_groups[0]), data)


def with_chunk(change: Callable[[Any], Any], data: bytes = PLAIN) -> Callable[[], bytes]:
    """A file whose first chunk was changed."""
    return with_group(lambda group: change(group.columns[0]), data)


def with_facts(data: bytes = PLAIN, **values: Any) -> Callable[[], bytes]:
    """A file whose first chunk has other metadata."""

    def change(chunk: Any) -> None:
        for name, value in values.items():
            setattr(chunk.meta_data, name, value)

    return with_chunk(change, data)


def set_to(name: str, value: Any) -> Callable[[Any], None]:
    """Sets an attribute."""
    return lambda owner: setattr(owner, name, value)


def schema(*elements: SchemaElement) -> Callable[[], bytes]:
    """A file without rows with a schema; the elements are below the root."""
    children, left = 0, 0
    for element in elements:
        if left:
            left -= 1
        else:
            children += 1
        left += element.num_children or 0
    root = SchemaElement(name="root", num_children=children)
    footer = FileMetaData(version=1, schema=[root, *elements], num_rows=0, row_groups=[])
    return lambda: MAGIC + footer_and_tail(bytes(grammar(FileMetaData).build(footer)))


def leaf(kind: Type, logical: LogicalType | None = None, **more: Any) -> SchemaElement:
    """A leaf of a schema."""
    optional = FieldRepetitionType.OPTIONAL
    return SchemaElement(name="leaf", type=kind, repetition_type=optional, logicalType=logical, **more)


def group(logical: LogicalType | None = None, **more: Any) -> SchemaElement:
    """A group of a schema with one child."""
    return SchemaElement(
        name="group",
        num_children=1,
        repetition_type=FieldRepetitionType.OPTIONAL,
        logicalType=logical,
        **more,
    )


def decimal(
    kind: Type, precision: int, scale: int = 0, length: int | None = None, older: dict[str, Any] | None = None
) -> SchemaElement:
    """A decimal, with its converted type."""
    said: dict[str, Any] = {"precision": precision, "scale": scale, **(older or {})}
    logical = LogicalType(DECIMAL=DecimalType(precision=precision, scale=scale))
    return leaf(kind, logical, type_length=length, converted_type=ConvertedType.DECIMAL, **said)


def extended(
    content: bytes, *, identifier: int = FIELD, wire: int = WireType.BINARY, owner: str = "footer"
) -> Callable[[], bytes]:
    """A file with an extension in one of its structs; the content is the encoded value."""

    def change(footer: FileMetaData) -> None:
        chunk = footer.row_groups[0].columns[0]
        owners: dict[str, Record | None] = {
            "footer": footer,
            "schema": footer.schema[1],
            "group": footer.row_groups[0],
            "chunk": chunk,
            "metadata": chunk.meta_data,
            "statistics": chunk.meta_data and chunk.meta_data.statistics,
        }
        record = owners[owner]
        assert record is not None
        record.unknown = (UnknownField(identifier, wire, content),)

    return with_footer(change)


def mistyped(owner: str, name: str, wire: int, content: bytes) -> Callable[[], bytes]:
    """A file in which a field of one of its structs is written with a wire type of our choice."""

    def change(footer: FileMetaData) -> None:
        facts = footer.row_groups[0].columns[0].meta_data
        assert facts is not None
        element = footer.schema[1]
        owners: dict[str, Record | None] = {
            "footer": footer,
            "schema": element,
            "type": element.logicalType,
            "group": footer.row_groups[0],
            "metadata": facts,
            "statistics": facts.statistics,
        }
        record = owners[owner]
        assert record is not None
        (identifier,) = (field.id for field in record.fields if field.name == name)
        setattr(record, name, None)
        record.unknown = (UnknownField(identifier, wire, content),)

    return with_footer(change)


def binary(content: bytes) -> bytes:
    return bytes((len(content),)) + content


def signed(data: bytes = PLAIN, *, hidden: bool = False, key: bool = True) -> Callable[[], bytes]:
    """A file with a signed footer; the metadata of the first chunk may be hidden, by a column key or by none."""

    def make() -> bytes:
        source = BytesSource(data)
        framing = read_framing(source)
        footer, _ = read_footer(source, framing)
        footer.encryption_algorithm = EncryptionAlgorithm(AES_GCM_V1=AesGcmV1(aad_file_unique=b"unique"))
        if hidden:
            chunk = footer.row_groups[0].columns[0]
            chunk.meta_data, chunk.encrypted_column_metadata = None, b"secret"
            if key:
                column = EncryptionWithColumnKey(path_in_schema=["a"])
                chunk.crypto_metadata = ColumnCryptoMetaData(ENCRYPTION_WITH_COLUMN_KEY=column)
        content = bytes(grammar(FileMetaData).build(footer)) + bytes(28)
        return data[: framing.footer_start] + content + len(content).to_bytes(4, "little") + MAGIC

    return make


def between(filler: bytes, keys: tuple[tuple[str, str], ...] = ()) -> Callable[[], bytes]:
    """A file with bytes behind its row groups; ``{offset}`` in a key's value is where they are."""

    def make() -> bytes:
        columns = (Column("a", "string", ["x", "y"]),)
        plain = TinyParquet(columns).build()
        offset = read_framing(BytesSource(plain)).footer_start
        pairs = tuple((key, value.replace("{offset}", str(offset))) for key, value in keys)
        return TinyParquet(columns, keys=pairs, body=("row groups", filler)).build()

    return make


MILLIS = TimeUnit(MILLIS=MilliSeconds())
LOCAL = LogicalType(TIMESTAMP=TimestampType(isAdjustedToUTC=False, unit=MILLIS))
MOMENT = LogicalType(TIMESTAMP=TimestampType(isAdjustedToUTC=True, unit=MILLIS))
TIME = LogicalType(TIME=TimeType(isAdjustedToUTC=True, unit=MILLIS))
TEXT = LogicalType(STRING=StringType())
UUID = LogicalType(UUID=UUIDType())
LISTED = LogicalType(LIST=ListType())
NOTHING_KNOWN = LogicalType(unknown=(UnknownField(99, WireType.STRUCT, b"\0"),))
BYTES_LEAF = leaf(Type.BYTE_ARRAY)


def number(bits: int, signed: bool) -> LogicalType:
    return LogicalType(INTEGER=IntType(bitWidth=bits, isSigned=signed))


VALID = [
    Case("all that pyarrow writes", lambda: parquet(pa.table({"t": pa.array([1, None], pa.timestamp("us")), "l": [[1], []]}))),
    Case("version 2", with_footer(set_to("version", 2))),
    Case("no created_by", with_footer(set_to("created_by", None))),
    Case("created_by without version, no deprecated bounds", with_footer(set_to("created_by", "by hand"))),
    Case("no total_compressed_size", with_group(set_to("total_compressed_size", None))),
    Case("no file_offset", with_group(set_to("file_offset", None))),
    Case("no ordinal", with_group(set_to("ordinal", None))),
    Case("file_offset of a chunk at its first page", with_chunk(lambda chunk: setattr(chunk, "file_offset", chunk.meta_data.data_page_offset))),
    Case("file_offset of a chunk at its end", with_chunk(lambda chunk: setattr(chunk, "file_offset", chunk.meta_data.data_page_offset + chunk.meta_data.total_compressed_size))),
    Case("empty file_path", with_chunk(set_to("file_path", ""))),
    Case("sorted by two columns", with_group(set_to("sorting_columns", [SortingColumn(column_idx=i, descending=False, nulls_first=True) for i in (1, 0)]))),
    Case("extension in statistics", extended(binary(EXTENSION), owner="statistics")),
    Case("extension of just a UUID", extended(binary(bytes(range(16))))),
    Case("an id near that of extensions", extended(binary(b"any"), identifier=32766)),
    Case("a number in the field of the mistake", extended(b"\x02", identifier=MISTAKEN_FIELD, wire=WireType.I32)),
    Case("a boolean in an undeclared field", extended(b"", identifier=99, wire=WireType.FALSE, owner="schema")),
    Case("a boolean that is true, and one that is false", with_facts(statistics=Statistics(null_count=0, is_min_value_exact=True, is_max_value_exact=False, min_value=b"a", max_value=b"b"))),
    Case("local time without converted type", schema(leaf(Type.INT64, LOCAL))),
    Case("local time with converted type", schema(leaf(Type.INT64, LOCAL, converted_type=ConvertedType.TIMESTAMP_MILLIS))),
    Case("converted type alone", schema(leaf(Type.BYTE_ARRAY, converted_type=ConvertedType.UTF8))),
    Case("interval", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, converted_type=ConvertedType.INTERVAL, type_length=12))),
    Case("map with the converted type of its pairs", schema(group(None, converted_type=ConvertedType.MAP_KEY_VALUE), BYTES_LEAF), ("PQF-127",)),
    Case("variant of one member", schema(group(LogicalType(VARIANT=VariantType(specification_version=1))), BYTES_LEAF), ("PQF-173",)),
    Case("file of another member", schema(group(LogicalType(FILE=FileType())), BYTES_LEAF), ("PQF-174",)),
    Case("a type of only nulls on anything", schema(leaf(Type.BOOLEAN, LogicalType(UNKNOWN=NullType())))),
    *(Case(f"decimal of {digits} digits on {kind.name}", schema(decimal(kind, digits, length=length))) for kind, digits, length in ((Type.INT32, 9, None), (Type.INT64, 18, None), (Type.FIXED_LEN_BYTE_ARRAY, 38, 16), (Type.FIXED_LEN_BYTE_ARRAY, 2, 1), (Type.BYTE_ARRAY, 5000, None))),
    Case("decimal whose scale is its precision", schema(decimal(Type.INT32, 4, 4))),
    Case("decimal of scale 0 that is left out", schema(decimal(Type.INT32, 4, 0))),
    Case("blob named by an object", between(b"something", (("blob", '{"offset": {offset}, "length": 9}'),))),
    Case("signed footer", signed()),
    Case("hidden chunk", signed(hidden=True)),
]  # fmt: skip

INVALID = [
    Case("text instead of a file", lambda: b"no Parquet file at all", ("PQF-001",)),
    Case("hidden without key", signed(hidden=True, key=False), ("PQF-014",)),
    Case("a name twice in groups of one name", schema(group(), BYTES_LEAF, group(), BYTES_LEAF), ("PQF-018",)),
    Case("text on fixed bytes", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, TEXT, type_length=4, converted_type=ConvertedType.UTF8)), ("PQF-155",)),
    Case("old text on a number", schema(leaf(Type.INT32, converted_type=ConvertedType.UTF8)), ("PQF-155",)),
    Case("text on a group", schema(group(TEXT, converted_type=ConvertedType.UTF8), BYTES_LEAF), ("PQF-027",)),
    Case("list on a leaf", schema(leaf(Type.INT32, LISTED, converted_type=ConvertedType.LIST)), ("PQF-155",)),
    Case("UUID of 15 bytes", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, UUID, type_length=15)), ("PQF-155",)),
    Case("interval of 8 bytes", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, converted_type=ConvertedType.INTERVAL, type_length=8)), ("PQF-155",)),
    Case("milliseconds on INT64", schema(leaf(Type.INT64, TIME, converted_type=ConvertedType.TIME_MILLIS)), ("PQF-155",)),
    Case("8 bits on INT64", schema(leaf(Type.INT64, number(8, True), converted_type=ConvertedType.INT_8)), ("PQF-155",)),
    *(Case(f"decimal of {digits} digits on {kind.name}", schema(decimal(kind, digits, length=length)), ("PQF-027",)) for kind, digits, length in ((Type.INT32, 10, None), (Type.INT64, 19, None), (Type.FIXED_LEN_BYTE_ARRAY, 39, 16), (Type.FIXED_LEN_BYTE_ARRAY, 3, 1), (Type.BYTE_ARRAY, 0, None))),
    Case("decimal of a scale beyond its precision", schema(decimal(Type.INT32, 4, 5)), ("PQF-027",)),
    Case("decimal of negative scale", schema(decimal(Type.INT32, 4, -1)), ("PQF-027",)),
    Case("moment of 12 bytes", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, MOMENT, type_length=12))),
    Case("moment of 11 bytes", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, MOMENT, type_length=11)), ("PQF-155",)),
    Case("old moment of 12 bytes", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, converted_type=ConvertedType.TIMESTAMP_MILLIS, type_length=12)), ("PQF-155",)),
    Case("moment of 12 bytes, and in old words", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, MOMENT, type_length=12, converted_type=ConvertedType.TIMESTAMP_MILLIS)), ("PQF-028",)),
    Case("UUID on a number", schema(leaf(Type.INT32, UUID)), ("PQF-155",)),
    Case("decimal on a flag", schema(decimal(Type.BOOLEAN, 4, 2)), ("PQF-155",)),
    Case("decimal on a floating point number", schema(decimal(Type.FLOAT, 5)), ("PQF-155",)),
    Case("old decimal without precision", schema(leaf(Type.INT32, converted_type=ConvertedType.DECIMAL)), ("PQF-027",)),
    Case("moment without converted type", schema(leaf(Type.INT64, MOMENT)), ("PQF-028",)),
    Case("moment with another converted type", schema(leaf(Type.INT64, MOMENT, converted_type=ConvertedType.TIMESTAMP_MICROS)), ("PQF-028",)),
    Case("UUID with a converted type", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, UUID, type_length=16, converted_type=ConvertedType.UTF8)), ("PQF-028",)),
    Case("unsigned, and signed for old readers", schema(leaf(Type.INT32, number(16, False), converted_type=ConvertedType.INT_16)), ("PQF-028",)),
    Case("decimal without precision for old readers", schema(decimal(Type.INT32, 4, 2, older={"precision": None})), ("PQF-028",)),
    *(Case(f"fixed bytes of length {length}", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, type_length=length)), ("PQF-029",)) for length in (None, 0, -4)),
    Case("UUID without length", schema(leaf(Type.FIXED_LEN_BYTE_ARRAY, UUID)), ("PQF-029",)),
    *(Case(f"number for an extension of {owner}", extended(b"\x02", wire=WireType.I32, owner=owner), ("PQF-032",)) for owner in ("footer", "schema", "group", "chunk", "metadata", "statistics")),
    *(Case(f"short extension of {owner}", extended(binary(b"mine"), owner=owner), ("PQF-033",)) for owner in ("footer", "schema", "group", "chunk", "metadata", "statistics")),
    Case("empty extension", extended(binary(b"")), ("PQF-033",)),
    *(Case(f"id without zigzag in {owner}", extended(binary(EXTENSION), identifier=MISTAKEN_FIELD, owner=owner), ("PQF-034",)) for owner in ("footer", "metadata")),
    Case("short, and without zigzag", extended(binary(b"mine"), identifier=MISTAKEN_FIELD), ("PQF-033", "PQF-034")),
    Case("a logical type of the future", schema(leaf(Type.BOOLEAN, NOTHING_KNOWN)), ("PQF-167",)),
    Case("a group without repetition type", schema(SchemaElement(name="group", num_children=1), leaf(Type.INT32)), ("PQF-040",)),
    Case("a repetition type that is a boolean", mistyped("schema", "repetition_type", WireType.TRUE, b""), ("PQF-039",)),
    Case("an offset of 32 bits", mistyped("group", "file_offset", WireType.I32, b"\x08"), ("PQF-130",)),
    Case("an ordinal of one byte", mistyped("group", "ordinal", WireType.BYTE, b"\x00"), ("PQF-130",)),
    Case("a count that is a boolean", mistyped("statistics", "null_count", WireType.FALSE, b""), ("PQF-130",)),
    Case("a bound that is a number", mistyped("statistics", "min_value", WireType.I64, b"\x02"), ("PQF-130",)),
    Case("a flag that is a number", mistyped("statistics", "is_min_value_exact", WireType.BYTE, b"\x01"), ("PQF-130",)),
    Case("a list that is a set", mistyped("metadata", "encoding_stats", WireType.SET, b"\x0c"), ("PQF-130",)),
    Case("a text that is a number", mistyped("type", "STRING", WireType.I32, b"\x02"), ("PQF-039",)),
    Case("orders that are one struct", mistyped("footer", "column_orders", WireType.STRUCT, b"\x00"), ("PQF-039",)),
    Case("bytes behind padding", between(bytes(50) + b"something"), ("PQF-037",)),
    Case("a key whose value is too long for an offset", between(b"something", (("blob", "1" * 5000),)), ("PQF-037",)),
]  # fmt: skip


def found(case: Case, **options: Any) -> list[str]:
    """The rules that are reported, each once."""
    findings = pqassay.check(case.make(), tier=case.tier, only=["PQF-*"], **options).files[0].findings
    return list(dict.fromkeys(finding.rule for finding in findings))


@each("case", [*VALID, *INVALID])
def test_exactly_the_expected_rules_are_reported(case: Case) -> None:
    assert list(case.rules) == found(case)


def test_a_signed_footer_and_hidden_chunks_are_mentioned() -> None:
    (file,) = pqassay.check(signed(hidden=True)(), tier="index").files

    assert ["the signature of the footer is not verified: pqassay has no keys"] == file.notes


@pytest.mark.parametrize("magic", [b"PARE", b"PAR3", b"PARX"])
@pytest.mark.parametrize("head", [True, False])
def test_a_foreign_magic_is_no_damage(magic: bytes, head: bool) -> None:
    data = (magic if head else MAGIC) + PLAIN[4:-4] + magic
    (file,) = pqassay.check(data, tier="index").files

    assert ("errored", []) == (file.outcome, file.findings)
    assert file.error is not None
    assert magic.decode() in file.error or "encrypted" in file.error


def flatbuffer(table_size: int = 12) -> bytes:
    """A root table with one field, behind its vtable."""
    vtable = struct.pack("<HHH", 6, table_size, 4) + b"\0\0"
    table = struct.pack("<iII", len(vtable), 7, 0)
    return struct.pack("<I", 4 + len(vtable)) + vtable + table


def test_a_footer_in_a_flatbuffer_is_no_damage() -> None:
    (file,) = pqassay.check(MAGIC + footer_and_tail(flatbuffer()), tier="index").files

    assert ("errored", []) == (file.outcome, file.findings)
    assert (
        "the footer is a FlatBuffer, which is proposed and not specified; pqassay does not read it"
        == file.error
    )


def test_what_is_neither_thrift_nor_a_flatbuffer_is_damage() -> None:
    for content in (flatbuffer(table_size=400), flatbuffer()[:-5], b"\x04\0\0\0" * 3, b"\xff" * 40):
        (finding,) = pqassay.check(MAGIC + footer_and_tail(content), tier="index").files[0].findings

        assert "PQF-004" == finding.rule


@pytest.mark.parametrize("name", ["moment of 11 bytes", "UUID on a number", "list on a leaf"])
def test_what_newer_text_has_readers_ignore_is_no_failure(name: str) -> None:
    case = next(case for case in INVALID if case.name == name)
    report = pqassay.check(case.make(), tier="footer")

    assert (0, ["POLICY"]) == (report.exit_code, [one.verdict for one in report.files[0].findings])
