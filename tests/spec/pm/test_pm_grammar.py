"""The grammar of ``_pm``: expected bytes as literals, and the faster readings that follow from it."""

from __future__ import annotations

import pickle
import struct
import zlib
from typing import Any

import pytest
from construct import Array, Bytes, Int8ul, Int32ul, Struct
from hypothesis import given
from hypothesis import strategies as st

from each import each
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, integer_format, member
from pqassay_spec.grammar.trace import trace
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import codes as pm_codes
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header

ONE_COLUMN = bytes.fromhex(
    "7100000000000000 0000000000000000 ffffffff 00000000 01000000 00000000"  # header
    "4000000000000000 00000000 05000000 00000000 00000000 01000000 00 00 00 00"  # descriptor
    "78"  # name
    "0000000000000000 00000000 00000000 0000000000000000 0000000000000000 0000000000000000"  # footer
    "028ff12c 2c000000"  # checksum, trailer
)
"""A column ``x`` and no row groups, as QuestDB's own writer makes it."""

RECORDS: list[type[FlatStruct]] = [
    pm.FixedHeader,
    pm.ColumnDescriptor,
    pm.ColumnChunk,
    pm.FooterFields,
    pm.BloomEntry,
]


def opened(data: bytes) -> tuple[BytesSource, int, pm_header.Header]:
    source = BytesSource(data)
    size = pm_header.read_committed_size(source)
    return source, size, pm_header.read_header(source, size)


def with_checksum(data: bytes) -> bytes:
    """The file with the checksum that its newest footer should hold."""
    return data[:-8] + struct.pack("<I", zlib.crc32(data[8:-8])) + data[-4:]


def chained(*previous: int) -> bytes:
    """`ONE_COLUMN` with further footers behind, each with the committed size of the one before as given."""
    data = ONE_COLUMN
    for size in previous:
        fields = pm.FooterFields(4 + len(data), 10, 0, 0, size, 0)
        data += fields.build() + bytes(4) + struct.pack("<I", pm.LEAST_FOOTER)
        data = with_checksum(struct.pack("<Q", len(data)) + data[8:])
    return data


# ------------------------------------------------------------------------------------------------ the bytes


def test_the_file_of_one_column_reads_as_it_was_typed() -> None:
    source, size, header = opened(ONE_COLUMN)
    snapshot = pm_file.read_snapshot(source, header, size)

    assert size == 113
    assert header.fixed == pm.FixedHeader(113, 0, -1, 0, 1, 0)
    assert list(header.descriptors) == [pm.ColumnDescriptor(64, 0, 5, 0, 0, 1, 0, 0, 0, 0)]
    assert (header.names_start, header.sections_start, header.end) == (64, 65, 65)
    assert pm_header.read_name(source, header, 0) == "x"
    assert (snapshot.start, snapshot.length, snapshot.blocks) == (65, 44, [])
    assert snapshot.fields == pm.FooterFields(0, 0, 0, 0, 0, 0)
    assert snapshot.checksum == 0x2CF18F02
    assert pm_file.checksums(source, [snapshot]) == [0x2CF18F02]


def test_the_sizes_are_those_of_the_document() -> None:
    assert [record.size for record in RECORDS] == [32, 32, 64, 40, 16]
    assert (pm.LEAST_FOOTER, pm.LEAST_FILE) == (44, 80)


@pytest.mark.parametrize(
    ("grammar", "value", "raw"),
    [
        (pm.BLOOM_COLUMNS, {"bloom_col_count": 2, "bloom_filter_columns": [1, 7]}, "02000000 01000000 07000000"),
        (pm.SQUASH_TRACKER, {"squash_tracker": -2}, "feffffffffffffff"),
        (pm.BLOOM_BITSET, {"length": 2, "bitset": b"\x01\x02"}, "02000000 0102"),
        (pm.RowGroupEntry.grammar, {"block_offset": 9}, "09000000"),
        (pm.SEQ_TXN, {"seq_txn": -1}, "ffffffffffffffff"),
        (
            pm.SCRATCHPAD,
            {"entry_count": 1, "entries": [{"code": 3, "length": 2, "data": b"ab"}]},
            "01000000 03000000 02000000 6162",
        ),
        (
            pm.COVERING_INDEX,
            {"index_count": 1, "indexes": [{"column_id": 1, "index_txn": 2, "im_file_size": 3}]},
            "01000000 01000000 0200000000000000 0300000000000000",
        ),
    ],
)  # fmt: skip
def test_a_section_is_built_and_parsed_as_declared(grammar: Any, value: dict[str, Any], raw: str) -> None:
    data = bytes.fromhex(raw)

    assert grammar.build(value) == data
    assert grammar.build(grammar.parse(data)) == data


# -------------------------------------------------------------------------------------- the faster readings


@given(st.data())
def test_a_flat_record_reads_what_the_grammar_reads(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(RECORDS))
    count = data.draw(st.integers(0, 5))
    raw = data.draw(st.binary(min_size=record.size * count, max_size=record.size * count))
    parsed = [tuple(row[name] for name in record.offsets) for row in Array(count, record.grammar).parse(raw)]

    assert list(map(tuple, record.read_many(raw, 0, count))) == parsed
    assert b"".join(record.build(row) for row in record.iterate(raw, 0, count)) == raw


@given(st.data())
def test_numpy_reads_what_the_grammar_reads(data: st.DataObject) -> None:
    import numpy as np

    record = data.draw(st.sampled_from(RECORDS))
    raw = data.draw(st.binary(min_size=3 * record.size, max_size=3 * record.size))
    array = np.frombuffer(raw, np.dtype(record.dtype))

    assert array.dtype.itemsize == record.size
    assert [tuple(row) for row in array.tolist()] == list(map(tuple, record.read_many(raw, 0, 3)))


def test_a_flat_record_refuses_what_is_not_flat() -> None:
    with pytest.raises(TypeError, match="second is not a little-endian integer"):

        @flat_struct
        class Listed(FlatStruct):
            first: int = member(Int8ul, "First.")
            second: list[int] = member(Array(2, Int32ul), "Second.")

    taken = {"size": member(Int8ul, "First."), "grammar": member(Int8ul, "Second.")}
    with pytest.raises(TypeError, match="Named cannot have a field grammar, size"):
        flat_struct(type("Named", (FlatStruct,), taken))


def test_a_flat_struct_is_a_named_tuple_with_the_docs_of_its_fields() -> None:
    entry = pm.BloomEntry(4, length=32)

    assert (4, 32) == tuple(entry)
    assert entry == pm.BloomEntry.read(entry.build())
    assert pm.BloomEntry(4, 64) == entry.changed(length=64)
    assert {"offset": 4, "length": 32} == entry.members()
    assert entry == pickle.loads(pickle.dumps(entry))
    assert [
        "Offset of the bitset in the Parquet file.",
        "Bytes of the bitset. Both are 0 if there is none.",
    ] == [field.docs for field in pm.BloomEntry.grammar.subcons]


def test_one_integer_of_any_structure_has_a_format() -> None:
    declared = Struct("magic" / Bytes(4), "length" / Int32ul)

    assert (7,) == integer_format(declared, "length").unpack_from(b"abcd\x07\0\0\0", 4)
    with pytest.raises(TypeError, match="magic is not a little-endian integer"):
        integer_format(declared, "magic")


def test_records_that_do_not_fit_are_not_read() -> None:
    with pytest.raises(struct.error):
        pm.ColumnChunk.read_many(bytes(100), 0, 2)


# -------------------------------------------------------------------------------------------- what is refused


def changed(offset: int, format_: str, value: int, data: bytes = ONE_COLUMN) -> bytes:
    mutable = bytearray(data)
    struct.pack_into(format_, mutable, offset, value)
    return bytes(mutable)


@each(
    ("data", "rule", "field"),
    [
        (ONE_COLUMN[:31], "PM-001", "header"),
        (changed(0, "<Q", 0), "PM-002", "header.parquet_meta_file_size"),
        (changed(0, "<Q", 114), "PM-002", "header.parquet_meta_file_size"),
        (changed(8, "<Q", 1 << 32), "PM-004", "header.feature_flags"),
        (changed(8, "<Q", 0b10), "PM-007", "header.feature_flags"),
        (changed(8, "<Q", 0b100), "PM-008", "header.feature_flags"),
        (changed(24, "<I", 2), "PM-011", "header.column_count"),
        (changed(20, "<I", 0xFFFFFFFF), "PM-011", "header.column_count"),
        (changed(32, "<Q", (1 << 64) - 1), "PM-011", "column_descriptors[0].name_offset"),
        (changed(8, "<Q", 0b1), "PM-040", "header_sections.bloom_filters.bloom_col_count"),
        (changed(109, "<I", 45), "PM-012", "snapshots[0].footer_length"),
        (changed(109, "<I", 43), "PM-012", "snapshots[0].footer_length"),
        (changed(109, "<I", 0xFFFFFFFF), "PM-012", "snapshots[0].footer_length"),
        (changed(65 + 12, "<I", 1), "PM-014", "snapshots[0].footer.row_group_count"),
        (changed(65 + 32, "<Q", 1 << 40), "PM-015", "snapshots[0].footer.footer_feature_flags"),
        (changed(65 + 32, "<Q", 1 << 32), "PM-015", "snapshots[0].footer.footer_feature_flags"),
        (changed(65 + 32, "<Q", 0b10), "PM-085", "snapshots[0].scratchpad"),
        (changed(65 + 32, "<Q", 0b100), "PM-086", "snapshots[0].covering_index"),
        (changed(65 + 24, "<Q", 65), "PM-019", "snapshots[0].footer.prev_parquet_meta_file_size"),
        (changed(65 + 24, "<Q", 113), "PM-019", "snapshots[0].footer.prev_parquet_meta_file_size"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_names_its_rule_and_its_place(data: bytes, rule: str, field: str) -> None:
    with pytest.raises(Malformed) as caught:
        list(pm_file.walk(*_in_order(data)))

    assert (caught.value.rule, caught.value.field) == (rule, field)


def _in_order(data: bytes) -> tuple[BytesSource, pm_header.Header, int]:
    source, size, header = opened(data)
    return source, header, size


def test_optional_features_that_are_unknown_are_read_past() -> None:
    source, size, header = opened(changed(8, "<Q", 1 << 31))

    assert header.column_count == 1
    assert pm_file.read_snapshot(source, header, size).length == 44


@pytest.mark.parametrize(("start", "length", "rule"), [(63, 1, "PM-021"), (65, 0, ""), (64, 1, "PM-023")])
def test_a_name_lies_among_the_names_and_is_text(start: int, length: int, rule: str) -> None:
    data = changed(32, "<Q", start, changed(56, "<I", length, changed(64, "<B", 0xFF)))
    source, _, header = opened(data)
    if not rule:
        assert pm_header.read_name(source, header, 0) == ""
        return
    with pytest.raises(Malformed) as caught:
        pm_header.read_name(source, header, 0)

    assert caught.value.rule == rule


# ------------------------------------------------------------------------------------------------- the chain


def test_a_chain_is_walked_back_to_its_first_footer() -> None:
    source, size, header = opened(chained(113, 161))
    snapshots = list(pm_file.walk(source, header, size))

    assert [snapshot.size for snapshot in snapshots] == [209, 161, 113]
    assert [snapshot.number for snapshot in snapshots] == [0, 1, 2]
    assert [snapshot.fields.prev_parquet_meta_file_size for snapshot in snapshots] == [161, 113, 0]


def test_each_checksum_of_a_chain_covers_all_before_it() -> None:
    data = chained(113, 161)
    source, size, header = opened(data)
    snapshots = list(pm_file.walk(source, header, size))

    assert pm_file.checksums(source, snapshots) == [
        zlib.crc32(data[8 : s.checksum_offset]) for s in snapshots
    ]
    assert pm_file.checksums(source, snapshots) == [s.checksum for s in snapshots]


def test_the_snapshot_of_a_parquet_file_is_found_by_its_size() -> None:
    source, size, header = opened(chained(113, 161))
    found = pm_file.find_snapshot(source, header, size, 4 + 113 + 10 + 8)

    assert found is not None
    assert found.size == 161
    assert pm_file.find_snapshot(source, header, size, 7) is None


@pytest.mark.parametrize("previous", [162, 209, 1 << 63, 1, 108])
def test_a_chain_that_does_not_lead_back_ends_with_an_error(previous: int) -> None:
    source, size, header = opened(chained(113, previous))
    walked: list[int] = []
    with pytest.raises(Malformed) as caught:
        walked += [snapshot.size for snapshot in pm_file.walk(source, header, size)]

    assert caught.value.rule in ("PM-019", "PM-020")


def test_an_earlier_footer_that_cannot_be_read_is_named_as_such() -> None:
    data = changed(109, "<I", 12, chained(113))
    source, size, header = opened(data)
    with pytest.raises(Malformed) as caught:
        list(pm_file.walk(source, header, size))

    assert (caught.value.rule, caught.value.field) == ("PM-020", "snapshots[1].footer_length")


@given(st.binary(max_size=200))
def test_nothing_but_an_error_with_a_rule_comes_of_any_bytes(raw: bytes) -> None:
    source = BytesSource(struct.pack("<Q", 8 + len(raw)) + raw)
    rules: list[str | None] = []
    try:
        size = pm_header.read_committed_size(source)
        header = pm_header.read_header(source, size)
        for snapshot in pm_file.walk(source, header, size):
            pm_file.read_bloom_entries(source, header, snapshot)
            for offset in snapshot.blocks:
                pm_block.read_block(source, header, offset, snapshot.start)
    except Malformed as error:
        rules.append(error.rule)

    assert None not in rules


# -------------------------------------------------------------------------------------------------- the codes


def test_a_reference_holds_an_offset_and_a_length() -> None:
    assert pm_codes.reference(0x1234, 12) == 0x1234_000C
    assert pm_codes.split_reference(0x1234_000C) == (0x1234, 12)
    with pytest.raises(ValueError, match="65536"):
        pm_codes.reference(0, 65536)


def test_an_offset_is_stored_shifted() -> None:
    assert pm_codes.stored_offset(72) == 9
    assert pm_codes.block_offset(9) == 72
    for offset in (73, 1 << 35):
        with pytest.raises(ValueError, match=str(offset)):
            pm_codes.stored_offset(offset)


def test_numbers_and_flags_are_shown_by_name() -> None:
    raw = bytes((6, 3, 0xBF, 0x84)) + bytes(60)
    labels = {leaf.path: leaf.label for leaf in trace(pm.ColumnChunk.grammar, raw)[1] if leaf.label}

    assert labels == {
        "codec": "ZSTD",
        "encodings": "PLAIN|RLE_DICTIONARY",
        "stat_flags": "MIN_STAT_PRESENT|MIN_STAT_INLINED|MIN_STAT_VALUE_EXACT|"
        "MAX_STAT_PRESENT|MAX_STAT_INLINED|MAX_STAT_VALUE_EXACT|NULL_COUNT_PRESENT",
    }
