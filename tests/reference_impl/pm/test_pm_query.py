"""What _pm answers without the Parquet file."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counting_source import CountingSource
from pm_values import COLUMNS, MICROSECONDS, row_group, snapshot, snapshots
from pqassay_reader.condition.text import parse_predicate
from pqassay_reference.errors import Refused
from pqassay_reference.pm import query, write
from pqassay_reference.pm.column_values import with_stored_values
from pqassay_reference.pm.generate import generate
from pqassay_reference.pm.parts import Extensions
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet import bloom
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.value import (
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)


def filter_of(*values: str) -> bytes:
    """A bloom filter that holds some values."""
    bitset = bytearray(32)
    for value in values:
        bloom.insert(bitset, xxhash.xxh64_intdigest(value.encode()))
    return bytes(bitset)


OLD = snapshot(row_group(0), row_group(1))
VALUE = snapshot(
    OLD.row_groups[0],
    row_group(1, bloom=filter_of("Chad", "Peru")),
    row_group(2),
    row_group(3),
    footer=20_000,
)
READER = PmReader.from_bytes(write.create(VALUE))


def reader_of(value: SnapshotValue) -> PmReader:
    return PmReader.from_bytes(write.create(value))


# ------------------------------------------------------------------------------------------------ what to fetch


def test_a_projection_is_a_range_for_each_chunk_in_the_order_asked() -> None:
    assert [(154, 160), (4, 100), (1154, 160), (1004, 100)] == query.plan(READER, ["key", "ts"], [0, 1])
    assert [(2104, 50), (104, 50)] == query.plan(READER, ["größe"], [2, 0])
    assert 4 * 3 == len(query.plan(READER, ["ts", "größe", "key"]))
    assert [] == query.plan(READER, ["ts"], [])


def test_a_plan_leaves_out_row_groups_that_a_predicate_leaves_out() -> None:
    predicate = [">", "ts", 120 * MICROSECONDS]
    assert [(2004, 100), (3004, 100)] == query.plan(READER, ["ts"], predicate=predicate)
    assert [(3004, 100)] == query.plan(READER, ["ts"], [3, 0], predicate)


def test_chunks_of_nothing_but_nulls_need_not_be_fetched() -> None:
    groups = [row_group(number) for number in range(2)]
    chunks = groups[1].chunks
    groups[1] = replace(groups[1], chunks=(chunks[0], replace(chunks[1], null_count=10), chunks[2]))
    reader = reader_of(snapshot(*groups))
    assert [(104, 50)] == query.plan(reader, ["größe"], leave_out_nulls=True)
    assert ([(0, "größe", 104, 50)], 1) == query.planned(reader, ["größe"], leave_out_nulls=True)
    assert 0 == query.planned(reader, ["größe"]).left_out


def test_a_nested_column_stands_for_its_parts() -> None:
    reader = reader_of(replace(VALUE, columns=(COLUMNS[0], *(replace(COLUMNS[2], name="point"),) * 2)))
    assert [(104, 50), (154, 160)] == query.plan(reader, ["point"], [0])
    assert [0, 1, 2, 3] == query.prune(reader, ["=", "point", bytes(16)])


@pytest.mark.parametrize(
    ("columns", "row_groups", "predicate", "message"),
    [
        (["nation"], None, None, "there is no column nation"),
        (["ts"], [4], None, "there is no row group 4, of 4"),
        (["ts"], None, ["=", "nation", 1], "there is no column nation"),
        (["ts"], None, ["like", "ts", 1], "is not a predicate"),
    ],
)
def test_a_plan_for_what_is_not_there_is_refused(
    columns: list[str], row_groups: list[int] | None, predicate: list[Any] | None, message: str
) -> None:
    with pytest.raises(Refused, match=message):
        query.plan(READER, columns, row_groups, predicate)


# --------------------------------------------------------------------------------------------- what to leave out


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (["between", "ts", 59 * MICROSECONDS, 60 * MICROSECONDS], [0, 1]),
        (["=", "größe", "Chad"], [0, 1, 2, 3]),
        (["=", "größe", "China"], [0, 2, 3]),  # within all bounds; one bloom filter knows better
        (["in", "größe", ["China", "Iran"]], [0, 2, 3]),
        (["in", "größe", ["China", "Peru"]], [0, 1, 2, 3]),
        (["=", "größe", "Z"], []),
        (["is null", "ts"], []),
        (["is null", "key"], [0, 1, 2, 3]),
        (["and", ["=", "größe", "China"], ["<", "ts", 100 * MICROSECONDS]], [0]),
        (["not", [">=", "ts", 60 * MICROSECONDS]], [0]),
    ],
)
def test_row_groups_are_left_out(predicate: list[Any], expected: list[int]) -> None:
    assert expected == query.prune(READER, predicate)


def test_a_bound_or_bloom_filter_that_cannot_be_read_leaves_nothing_out() -> None:
    data = bytearray(write.create(VALUE))
    entry = pm_file.read_bloom_entries(BytesSource(data), READER.header, READER.footer)[1]
    struct.pack_into("<i", data, entry.offset, -1)
    chunk = READER.footer.blocks[1] + 8 + 64
    struct.pack_into("<Q", data, chunk + 56, 1 << 60 | 9)  # MAX, out of line, out of the file
    assert [0, 1, 2, 3] == query.prune(PmReader.from_bytes(bytes(data)), ["=", "größe", "China"])


# ------------------------------------------------------------------------------------------------ where a time is


def times(*bounds: tuple[int | None, int | None], **given: Any) -> PmReader:
    """A file whose row groups have these bounds of the designated timestamp."""
    groups: list[SnapshotRowGroup] = []
    for pair in bounds:
        least, greatest = (None if bound is None else struct.pack("<q", bound) for bound in pair)
        groups.append(SnapshotRowGroup(2, (SnapshotChunk(0, 1, 2, 4, 9, 0, None, least, greatest),)))
    return reader_of(replace(snapshot(*groups, bloom_columns=(), columns=COLUMNS[:1]), **given))


@given(
    st.lists(st.integers(-5, 5), max_size=14).map(sorted),
    st.integers(-6, 6),
    st.integers(-6, 6),
    st.sets(st.integers(0, 6)),
    st.booleans(),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_time_is_found_in_row_groups_that_ascend(
    edges: list[int], first: int, last: int, unknown: set[int], sorted_by_it: bool
) -> None:
    bounds = list(zip(edges[::2], edges[1::2], strict=False))
    known = [(None, None) if number in unknown else pair for number, pair in enumerate(bounds)]
    reader = times(*known, sorting=(SnapshotSorting(0),) if sorted_by_it else ())
    wanted = {
        number
        for number, (least, greatest) in enumerate(bounds)
        if least <= last and greatest >= first and first <= last
    }
    found = query.search_times(reader, first, last).row_groups
    assert wanted <= set(found)
    if first <= last:
        assert set(found) <= wanted | unknown


def test_a_search_reads_few_blocks_and_a_scan_reads_all() -> None:
    bounds = [(number * 10, number * 10 + 9) for number in range(1000)]
    for sorting, least, most in (((SnapshotSorting(0),), 2, 25), ((), 1000, 1000)):
        made = times(*bounds, sorting=sorting)
        wanted = {(offset, made.header.block_size) for offset in made.footer.blocks}
        source = CountingSource(made.source.read(0, made.size))
        assert [500, 501] == query.search_times(PmReader(source), 5005, 5010).row_groups
        assert least <= sum(one in wanted for one in source.ranges) <= most


@pytest.mark.parametrize("sorting", [(), (SnapshotSorting(0, descending=True),)])
def test_a_time_is_found_in_row_groups_that_do_not_ascend(sorting: tuple[SnapshotSorting, ...]) -> None:
    reader = times((30, 39), (20, 29), (0, 25), sorting=sorting)
    assert [1, 2] == query.search_times(reader, 20, 22).row_groups
    assert [0] == query.search_times(reader, 33, 50).row_groups


def test_without_designated_timestamp_no_time_is_found() -> None:
    with pytest.raises(Refused, match="<bytes> has no designated timestamp"):
        query.search_times(reader_of(replace(VALUE, designated_timestamp=-1)), 0, 9)


# ---------------------------------------------------------------------------------------------------- migration


@given(snapshots())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_file_of_one_snapshot_is_migrated_to_itself(value: SnapshotValue) -> None:
    data = write.create(value)
    assert data == query.migrate(data)


def test_a_chain_becomes_one_snapshot_of_which_nothing_is_dead() -> None:
    extensions = Extensions(((1, b"note"),), ((1, 2, 3),))
    old = write.update(write.create(OLD), replace(VALUE, seq_txn=9), extensions=extensions)
    new = query.migrate(old + b"left behind")
    assert write.create(replace(VALUE, seq_txn=9), extensions=extensions) == new
    assert write.create(OLD) == query.migrate(old, parquet_file_size=write.value_size(OLD))


def test_what_an_older_file_does_not_say_stays_unsaid() -> None:
    value = SnapshotValue(
        (SnapshotColumn("x", 1),), (SnapshotRowGroup(1, (SnapshotChunk(0, 1, 1, 4, 9),)),), 100, 10
    )
    found = PmReader.from_bytes(query.migrate(write.create(value))).value()
    assert (None, None, None) == (
        found.row_groups[0].chunks[0].null_count,
        found.row_groups[0].chunks[0].min,
        found.seq_txn,
    )


def test_a_bound_of_no_bytes_is_left_out() -> None:
    data = bytearray(write.create(VALUE))
    chunk = READER.footer.blocks[0] + 8 + 64
    struct.pack_into("<Q", data, chunk + 56, 0)  # MAX, out of line: no bytes at offset 0
    struct.pack_into(
        "<I", data, READER.footer.checksum_offset, pm_file.checksums(BytesSource(data), [READER.footer])[0]
    )
    assert b"" == PmReader.from_bytes(bytes(data)).bounds(0, 1)[1]
    found = PmReader.from_bytes(query.migrate(bytes(data))).value().row_groups[0].chunks[1]
    assert (b"Chad", None, True, False) == (found.min, found.max, found.min_exact, found.max_exact)


def test_a_damaged_file_is_not_migrated() -> None:
    data = bytearray(write.create(VALUE))
    data[READER.footer.blocks[0]] ^= 1
    with pytest.raises(Malformed, match="the checksum is wrong"):
        query.migrate(bytes(data))


def test_a_file_is_migrated_in_its_place_or_to_another(tmp_path: Path) -> None:
    path, other = tmp_path / "_pm", tmp_path / "other"
    path.write_bytes(old := write.update(write.create(OLD), VALUE))
    expected = write.create(VALUE)
    assert len(expected) == query.migrate_file(path, other)
    assert (old, expected) == (path.read_bytes(), other.read_bytes())
    query.migrate_file(path)
    assert expected == path.read_bytes()
    assert {"_pm", "other"} == {found.name for found in tmp_path.iterdir()}


def test_entries_that_all_lead_to_one_block_are_refused_before_they_fill_memory() -> None:
    columns, row_groups = 200, 20_000
    start = pm.FixedHeader.size + columns * pm.ColumnDescriptor.size
    column = pm.ColumnDescriptor(start, -1, -1, 0, 0, 0, 1, 0, 0, 0)
    block = pm.BlockHeader(1).build() + bytes(columns * pm.ColumnChunk.size)
    footer = pm.FooterFields(1 << 40, 9, row_groups, 0, 0, 0).build()
    footer += pm.RowGroupEntry(start >> 3).build() * row_groups
    length = len(footer) + pm.CHECKSUM_SIZE
    size = start + len(block) + length + pm.TRAILER_SIZE
    data = pm.FixedHeader(size, 0, -1, 0, columns, 0).build()
    data += pm.ColumnDescriptor.build(column) * columns + block + footer + bytes(pm.CHECKSUM_SIZE)
    reader = PmReader.from_bytes(data + pm.TRAILER.build({"footer_length": length}))

    for ask in (lambda: query.plan(reader, [""]), lambda: query.prune(reader, ["is null", ""])):
        with pytest.raises(Malformed) as caught:
            ask()
        assert caught.value.rule == "PM-052"


def described(table: pa.Table, **options: Any) -> PmReader:
    """The _pm of a table that pyarrow wrote, one row in each row group."""
    written = io.BytesIO()
    pq.write_table(table, written, row_group_size=1, **options)
    return PmReader.from_bytes(generate(BytesSource(written.getvalue())).raw)


def kept(reader: PmReader, text: str) -> list[int]:
    columns = {column.name: column for column in reader.columns}
    return query.prune(reader, with_stored_values(parse_predicate(text), columns))


@pytest.mark.parametrize("digits", [17, 28, 29, 38])
def test_a_decimal_of_many_digits_is_found(digits: int) -> None:
    values = [
        Decimal("9" * digits).scaleb(-5) if digits <= 28 else Decimal("9" * (digits - 5) + ".99999")
    ] * 2
    values[1] = values[1].copy_negate()
    reader = described(pa.table({"d": pa.array(values, pa.decimal128(38, 5))}))

    assert [[0], [1]] == [kept(reader, f"d = {value}") for value in values]
    assert [[0], [1]] == [kept(reader, f"d = '{value}'") for value in values]


def test_a_constant_between_two_values_is_compared_exactly() -> None:
    table = pa.table(
        {"n": [1, 5], "d": [Decimal("1.00"), Decimal("1.01")], "t": pa.array([0, 1], pa.timestamp("us"))}
    )
    reader = described(table, bloom_filter_options={"n": {"ndv": 100}})

    for text, expected in (
        ("n < 1.00000000000000000001", [0]),
        ("n < 1.5 AND n < 3", [0]),
        ("n = 1.5", []),
        ("n > 0.5", [0, 1]),
        ("d > 1.005", [1]),
        ("d <= 1.005", [0]),
        ("t < '1970-01-01 00:00:00.0000005'", [0]),
    ):
        assert expected == kept(reader, text), text


@pytest.mark.parametrize("value", [{"x": None}, {"x": 1}])
def test_a_required_struct_is_no_null_where_all_of_its_parts_are(value: dict[str, Any]) -> None:
    kind = pa.struct([pa.field("x", pa.int32())])
    table = pa.table({"s": pa.array([value], kind)}, schema=pa.schema([pa.field("s", kind, nullable=False)]))
    reader = described(table)

    assert [0] == query.prune(reader, ["is not null", "s"])
    assert 1 == len(query.plan(reader, ["s"], leave_out_nulls=True))


def test_empty_lists_have_to_be_fetched() -> None:
    reader = described(pa.table({"l": pa.array([[], None], pa.list_(pa.int32()))}))

    assert 2 == len(query.plan(reader, ["l"], leave_out_nulls=True))


def test_a_range_may_be_given_the_other_way_round() -> None:
    reader = described(pa.table({"n": pa.array([1, 5, 9])}))

    assert [1] == kept(reader, "n BETWEEN SYMMETRIC 7 AND 3")
    assert [] == kept(reader, "n BETWEEN 7 AND 3")


@pytest.mark.parametrize(
    "text",
    [
        "n < CAST(10.9 AS INT)",
        "n = '5'::int",
        "t >= CAST('2024-01-01 12:00' AS DATE)",
        "t = '2024-01-01 12:00:00.5'::timestamp(0)",
        "s = CAST('abc' AS CHAR(1))",
        "n = CAST('1.55' AS DECIMAL(5, 1))",
    ],
)
def test_a_cast_that_makes_another_value_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="may change the constant by its cast"):
        parse_predicate(text)


@pytest.mark.parametrize(
    "text", ["t >= DATE '2024-01-01'", "t >= '2024-01-01'::timestamp", "t >= CAST(NULL AS INT)"]
)
def test_a_cast_that_says_what_a_constant_is_anyhow_is_read(text: str) -> None:
    assert [">=", "t"] == parse_predicate(text)[:2]


def test_a_number_without_its_end_is_refused() -> None:
    with pytest.raises(Refused, match="'1e' is not a number"):
        parse_predicate("n = 1e")


def test_a_number_of_very_many_digits_is_refused() -> None:
    reader = described(pa.table({"d": pa.array([Decimal("1.5")])}))

    with pytest.raises(Refused, match="1E\\+99999999 is not such a value"):
        kept(reader, "d < 1e99999999")


@pytest.mark.parametrize("number", [10**40, -(2**200), 10**400])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_whole_numbers_beyond_floats_are_compared_with_floats(number: int, kind: pa.DataType) -> None:
    filters = {"bloom_filter_options": {"f": {"ndv": 100}}}
    reader = described(pa.table({"f": pa.array([0.5, -0.5], kind)}), **filters)

    below = [0, 1] if number > 0 else []
    assert [] == query.prune(reader, ["in", "f", [number]])
    assert below == query.prune(reader, ["<", "f", number])


def test_times_of_96_bits_are_compared_with_text_and_decide_nothing() -> None:
    stamps = pa.array([0, 10**15], pa.timestamp("us"))
    reader = described(pa.table({"t": stamps}), use_deprecated_int96_timestamps=True)

    assert [0, 1] == kept(reader, "t > '2024-01-01'")
