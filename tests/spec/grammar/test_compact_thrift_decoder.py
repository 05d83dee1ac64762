"""The generated decoder and the grammar are one: on random structs, on damaged footers, on foreign files."""

from __future__ import annotations

import datetime as dt
import decimal
import tracemalloc
from pathlib import Path
from typing import cast

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import FEWER, tries
from each import each
from pqassay.strategies import records
from pqassay_spec.base.errors import FormatError, Malformed, boundary
from pqassay_spec.grammar.thrift import ListOf, Record, grammar, optional, thrift_struct
from pqassay_spec.grammar.thrift_decoder import WatchedBytes, decode, decoder
from pqassay_spec.grammar.thrift_runs import SharedStructs
from pqassay_spec.parquet.thrift import ColumnIndex, FileMetaData, OffsetIndex, PageHeader, SchemaElement
from thrift_strategies import edited, footer_of, small_file, written_by_pyarrow

pytestmark = pytest.mark.slow

SMALL_FOOTER = footer_of(small_file())


def by_grammar(record: type[Record], data: bytes) -> Record | None:
    """What the grammar parses; ``None`` if it raises `FormatError`. Anything else escapes and fails the test."""
    try:
        with boundary():
            return cast("Record", grammar(record).parse(data))
    except FormatError:
        return None


def by_decoder(record: type[Record], data: bytes) -> Record | None:
    try:
        return decode(record, data)[0]
    except FormatError:
        return None


def agree(record: type[Record], data: bytes) -> bool:
    """Whether both give the same record, or both refuse; NaN, which does not equal itself, by its bytes."""
    first, second = by_grammar(record, data), by_decoder(record, data)
    if first == second:
        return True
    return first is not None and second is not None and repr(first) == repr(second)


# ------------------------------------------------------------------------------------------- random structs


@pytest.mark.parametrize("kind", [FileMetaData, ColumnIndex, OffsetIndex, PageHeader])
@tries(150)
@given(data=st.data())
def test_a_struct_decodes_to_what_was_built(kind: type[Record], data: st.DataObject) -> None:
    record = data.draw(records(kind))
    built = grammar(kind).build(record)
    decoded, length = decode(kind, built)
    assert (decoded, length) == (record, len(built))
    assert grammar(kind).parse(built) == record
    assert grammar(kind).build(decoded) == built


# ------------------------------------------------------------------------------------------- damaged footers


def test_both_agree_on_every_footer_with_one_bit_flipped() -> None:
    assert len(SMALL_FOOTER) > 250
    for place in range(len(SMALL_FOOTER)):
        for bit in range(place % FEWER, 8, FEWER):
            data = bytearray(SMALL_FOOTER)
            data[place] ^= 1 << bit
            assert agree(FileMetaData, bytes(data)), (place, bit)


@tries(600)
@given(edited(SMALL_FOOTER))
def test_both_agree_on_footers_with_random_edits(data: bytes) -> None:
    assert agree(FileMetaData, data)


@tries(200)
@given(st.sampled_from([ColumnIndex, OffsetIndex, PageHeader]), st.data())
def test_both_agree_on_random_edits_of_other_structs(record: type[Record], data: st.DataObject) -> None:
    built = grammar(record).build(data.draw(records(record)))
    assert agree(record, data.draw(edited(built)))


@tries(300)
@given(st.sampled_from([FileMetaData, ColumnIndex, OffsetIndex, PageHeader]), st.binary(max_size=40))
def test_both_agree_on_noise(record: type[Record], data: bytes) -> None:
    assert agree(record, data)


@tries(300)
@given(edited(SMALL_FOOTER))
def test_whatever_decodes_can_be_built_and_then_stays_the_same(data: bytes) -> None:
    record = by_decoder(FileMetaData, data)
    if record is not None:
        canonical = grammar(FileMetaData).build(record)
        again = decode(FileMetaData, canonical)[0]
        assert grammar(FileMetaData).build(again) == canonical


# ------------------------------------------------------------------------------------------- foreign footers


def every_type() -> pa.Table:
    """A table of two rows, one of them null, with a column of every type that pyarrow writes."""
    moment = dt.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=dt.UTC)
    values = {
        pa.bool_(): True,
        pa.int8(): -1,
        pa.uint8(): 255,
        pa.int16(): -300,
        pa.uint16(): 300,
        pa.int32(): -70000,
        pa.uint32(): 70000,
        pa.int64(): -(2**40),
        pa.uint64(): 2**40,
        pa.float32(): -0.0,
        pa.float64(): float("nan"),
        pa.string(): "é\u2028",
        pa.large_string(): "x" * 100,
        pa.binary(): b"\x00\xff",
        pa.binary(16): bytes(16),
        pa.date32(): moment.date(),
        pa.time32("ms"): dt.time(1, 2, 3),
        pa.time64("ns"): dt.time(1, 2, 3),
        pa.timestamp("ms"): dt.datetime(1969, 12, 31),  # noqa: DTZ001 - a local time is meant
        pa.timestamp("us", "UTC"): moment,
        pa.timestamp("ns", "Europe/Berlin"): moment,
        pa.duration("s"): dt.timedelta(days=1),
        pa.decimal128(9, 2): decimal.Decimal("-1.25"),
        pa.decimal128(38, 10): decimal.Decimal("1.25"),
        pa.decimal256(76, 0): decimal.Decimal(10**70),
        pa.list_(pa.int32()): [1, None, 3],
        pa.list_(pa.list_(pa.string())): [["a"], []],
        pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.bool_())]))]): {"a": 1, "b": {"c": False}},
        pa.map_(pa.string(), pa.int64()): [("k", 1)],
        pa.dictionary(pa.int8(), pa.string()): "category",
        pa.null(): None,
    }
    columns = {str(kind): pa.array([value, None], kind) for kind, value in values.items()}
    return pa.table(columns)


NUMBERS = pa.table({"a": range(1000), "b": [f"value {i % 7}" for i in range(1000)]})

PYARROW: dict[str, bytes] = {
    "every type": written_by_pyarrow(every_type()),
    "every type, format version 1": written_by_pyarrow(
        every_type().drop_columns("timestamp[ns, tz=Europe/Berlin]"), version="1.0"
    ),
    "every type, data pages of version 2": written_by_pyarrow(
        every_type(), data_page_version="2.0", compression="zstd"
    ),
    "decimals as integers": written_by_pyarrow(every_type(), store_decimal_as_integer=True),
    "timestamps as INT96": written_by_pyarrow(every_type(), use_deprecated_int96_timestamps=True),
    "page index and checksums": written_by_pyarrow(
        NUMBERS,
        write_page_index=True,
        write_page_checksum=True,
        data_page_size=512,
        write_batch_size=50,
        row_group_size=300,
    ),
    "sorting columns": written_by_pyarrow(
        NUMBERS, sorting_columns=[pq.SortingColumn(0), pq.SortingColumn(1, descending=True, nulls_first=True)]
    ),
    "no statistics, no dictionary": written_by_pyarrow(
        NUMBERS, write_statistics=False, use_dictionary=False, compression="none"
    ),
    "keys of the writer's choice": written_by_pyarrow(
        NUMBERS.replace_schema_metadata({"é": "\u2028", "": ""})
    ),
    "no rows": written_by_pyarrow(NUMBERS.slice(0, 0)),
    "no columns": written_by_pyarrow(pa.table({})),
    "byte stream split": written_by_pyarrow(
        NUMBERS, use_dictionary=False, column_encoding={"a": "BYTE_STREAM_SPLIT", "b": "DELTA_BYTE_ARRAY"}
    ),
}


def assert_canonical(record: type[Record], data: bytes) -> Record:
    decoded, length = decode(record, data)
    assert length == len(data)
    assert decoded == grammar(record).parse(data)
    assert grammar(record).build(decoded) == data
    return decoded


@each("file", PYARROW.values())
def test_footers_of_pyarrow_are_built_again_byte_for_byte(file: bytes) -> None:
    assert_canonical(FileMetaData, footer_of(file))


def test_a_page_index_of_pyarrow_is_built_again_byte_for_byte() -> None:
    file = PYARROW["page index and checksums"]
    metadata = decode(FileMetaData, footer_of(file))[0]
    chunks = [chunk for row_group in metadata.row_groups for chunk in row_group.columns]
    assert len(chunks) == 8
    for chunk in chunks:
        for record, start, length in (
            (ColumnIndex, chunk.column_index_offset, chunk.column_index_length),
            (OffsetIndex, chunk.offset_index_offset, chunk.offset_index_length),
        ):
            assert start is not None
            assert length is not None
            assert_canonical(record, file[start : start + length])


def test_page_headers_of_pyarrow_are_built_again_byte_for_byte() -> None:
    file = PYARROW["page index and checksums"]
    start, headers = 4, 0
    end = decode(FileMetaData, footer_of(file))[0].row_groups[0].total_compressed_size or 0
    while start < end:
        header, length = decode(PageHeader, file[start:])
        assert_canonical(PageHeader, file[start : start + length])
        start += length + header.compressed_page_size
        headers += 1
    assert headers > 4


@pytest.mark.parametrize(
    "query",
    [
        "SELECT range AS a, range::VARCHAR AS b, range % 3 = 0 AS c, NULL AS d FROM range(3000)",
        "SELECT 1.25::DECIMAL(9, 2) AS a, 'x'::BLOB AS b, DATE '2024-02-29' AS c, TIMESTAMPTZ '2024-02-29' AS d",
        "SELECT [1, NULL] AS a, {'b': {'c': 'd'}} AS e, MAP {'k': 1} AS m, UUID '00000000-0000-0000-0000-000000000001' AS u, 1e300 AS f",
    ],
)
def test_footers_of_duckdb_are_built_again_byte_for_byte(tmp_path: Path, query: str) -> None:
    path = tmp_path / "file.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    record = assert_canonical(FileMetaData, footer_of(path.read_bytes()))
    assert isinstance(record, FileMetaData)
    assert (record.created_by or "").startswith("DuckDB")


# --------------------------------------------------------------------------------------- the generated code


def test_a_decoder_is_generated_once() -> None:
    assert decoder(FileMetaData) is decoder(FileMetaData)


def test_a_list_of_lists_which_parquet_has_not_is_refused_when_the_decoder_is_made() -> None:
    @thrift_struct
    class Matrix(Record):
        """Lists in a list."""

        rows: list[list[int]] | None = optional(1, ListOf(ListOf(FileMetaData)), "Rows.")

    with pytest.raises(TypeError, match="a list of lists"):
        decode(Matrix, b"\x00")


@pytest.mark.parametrize("element", ["00", "1c 00 00", "dc 00 00"], ids=["none", "known", "unknown"])
def test_a_union_has_a_member_be_it_unknown(element: str) -> None:
    footer = bytes.fromhex(f"15 02 19 0c 16 00 19 0c 39 1c {element} 00")
    for read in (lambda: decode(FileMetaData, footer)[0], lambda: grammar(FileMetaData).parse(footer)):
        if element == "00":
            with pytest.raises(Malformed, match="ColumnOrder is a union without a member"):
                read()
        else:
            assert len(read().column_orders or []) == 1


def test_a_footer_of_empty_unions_takes_no_memory() -> None:
    count = 1 << 22
    footer = (
        bytes.fromhex("15 02 19 0c 16 00 19 0c 39 fc") + bytes((0x80, 0x80, 0x80, 0x02)) + bytes(count + 1)
    )
    tracemalloc.start()
    with pytest.raises(Malformed):
        decode(FileMetaData, footer)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * len(footer) // 8


# ------------------------------------------------------------------------------------------- shared lists

SCHEMA = [SharedStructs(SchemaElement)]


def test_footers_that_encode_one_schema_share_the_list() -> None:
    alone, _ = decode(FileMetaData, SMALL_FOOTER)
    first, _ = decode(FileMetaData, SMALL_FOOTER, readers=SCHEMA)
    second, taken = decode(FileMetaData, SMALL_FOOTER + b"more", readers=SCHEMA)

    assert alone == first == second
    assert len(SMALL_FOOTER) == taken
    assert first.schema is second.schema
    assert first.schema is not alone.schema


def test_a_schema_that_comes_twice_is_the_last_one_whatever_is_shared() -> None:
    first, _ = decode(FileMetaData, SMALL_FOOTER, readers=SCHEMA)
    other = [SchemaElement(name="other", num_children=0)]
    changed = FileMetaData(version=first.version, schema=other, num_rows=0, row_groups=[])
    again = bytes(grammar(FileMetaData).build(changed))
    # Field 2 in the long form, behind all others.
    start = again.index(b"\x19") + 1
    end = again.index(b"\x16", start)
    twice = SMALL_FOOTER[:-1] + b"\x09\x04" + again[start:end] + b"\x00"

    assert other == decode(FileMetaData, twice)[0].schema
    assert other == decode(FileMetaData, twice, readers=SCHEMA)[0].schema


def test_bytes_note_unknown_fields_while_they_are_decoded() -> None:
    known, strange = WatchedBytes(SMALL_FOOTER), WatchedBytes(SMALL_FOOTER[:-1] + b"\x08\x80\x01\x00\x00")
    decode(FileMetaData, known, readers=SCHEMA)
    decode(FileMetaData, strange, readers=SCHEMA)

    assert [False, True] == [known.has_unknown, strange.has_unknown]
