"""``_pm`` against the values in the Parquet file: what is true is silent, what is not is found."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import tries
from pm_pairs import PmPair, generated, real, with_chunk, with_footer, written
from pqassay_spec.parquet.thrift import (
    AesGcmV1,
    ColumnCryptoMetaData,
    EncryptionAlgorithm,
    EncryptionWithColumnKey,
    FileMetaData,
)
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.value import ExternalBloom, SnapshotValue

VALUES = ["PM-14*"]
"""The rules of this module."""

MANY_ROWS = 1 << 16
"""Rows of which decoders make more than one batch, if they work batch by batch."""


def rules(pair: PmPair) -> list[str]:
    """The rules of this module that are broken, each as often as it has findings."""
    return pair.rules("values", VALUES)


def message(pair: PmPair) -> str:
    """What the only finding says."""
    report, _ = pair.report("values", VALUES)
    (finding,) = report.findings
    return finding.message


NAN = float("nan")

COLUMNS: dict[str, pa.Array[Any]] = {
    "boolean": pa.array([True, None, False, True]),
    "int8": pa.array([-128, None, 127, 0], pa.int8()),
    "uint8": pa.array([255, None, 0, 1], pa.uint8()),
    "uint32": pa.array([2**32 - 1, None, 0, 1], pa.uint32()),
    "uint64": pa.array([2**64 - 1, None, 0, 1], pa.uint64()),
    "small uint64": pa.array([7, None, 0, 1], pa.uint64()),
    "int64": pa.array([-(2**63), None, 2**63 - 1, 0]),
    "float": pa.array([NAN, -0.0, None, 1.5], pa.float32()),
    "double": pa.array([0.0, -0.0, NAN, None]),
    "nothing but NaN": pa.array([NAN, NAN, None, NAN]),
    "half": pa.array([1.5, -2.0, None, NAN], pa.float16()),
    "text": pa.array(["", "ü", None, "zebra " * 50]),
    "large text": pa.array(["b", "a", None, "c"], pa.large_string()),
    "view": pa.array(["b", "a", None, "c"]).cast(pa.string_view()),
    # Each of its row groups has all values: pyarrow takes the bounds of the dictionary, and calls them exact.
    "dictionary": pa.array(["b", "a", "a", "b"]).dictionary_encode(),
    "binary": pa.array([b"\xff\x00", b"\x00", None, b""]),
    "fixed": pa.array([b"\xff" * 20, b"\x00" * 20, None, b"\x7f" * 20], pa.binary(20)),
    "short fixed": pa.array([b"\xff\x00", b"\x00\xff", None, b"\x7f\x00"], pa.binary(2)),
    "decimal 9": pa.array(
        [decimal.Decimal("-1.5"), None, decimal.Decimal(7), decimal.Decimal(0)], pa.decimal128(9, 2)
    ),
    "decimal 38": pa.array(
        [decimal.Decimal(-1), None, decimal.Decimal(7), decimal.Decimal(0)], pa.decimal128(38, 2)
    ),
    "decimal 76": pa.array(
        [decimal.Decimal(-1), None, decimal.Decimal(7), decimal.Decimal(0)], pa.decimal256(76, 2)
    ),
    "date32": pa.array([dt.date(1900, 1, 1), None, dt.date(2100, 1, 1), None]),
    "date64": pa.array([0, None, -86_400_000, 86_400_000], pa.date64()),
    "time": pa.array([1, None, 3, 2], pa.time64("us")),
    "seconds": pa.array([1, None, -3, 2], pa.timestamp("s")),
    "nanoseconds": pa.array([1000, None, -3000, 2000], pa.timestamp("ns", "UTC")),
    "duration": pa.array([1, None, -3, 2], pa.duration("ms")),
    "list": pa.array([[1, None], [], None, [3, -4]]),
    "list of lists": pa.array([[[1.5], []], [None], None, [[NAN, -4]]]),
    "struct": pa.array([{"x": 1, "y": "a"}, None, {"x": None, "y": ""}, {"x": -3, "y": None}]),
    "list of structs": pa.array([[{"x": 1}, None], [], None, [{"x": None}]]),
    "map": pa.array([[("k", 1), ("l", None)], None, [], [("z", 3)]], pa.map_(pa.string(), pa.int32())),
    "fixed list": pa.array([[1, 2], None, [3, None], [4, 5]], pa.list_(pa.int32(), 2)),
    "null": pa.nulls(4),
}
"""Columns of every type, each with a null."""

WRITERS: dict[str, dict[str, Any]] = {
    "plain": {"use_dictionary": False},
    "dictionary": {"use_dictionary": True},
    "small pages": {"data_page_size": 1, "data_page_version": "2.0", "row_group_size": 2},
    "old": {"version": "1.0", "store_schema": False},
    "integers": {"store_decimal_as_integer": True, "compression": "zstd"},
}


@pytest.mark.parametrize("options", WRITERS.values(), ids=WRITERS)
def test_what_is_generated_from_a_file_is_true_of_its_values(options: dict[str, Any]) -> None:
    """Columns of all types, with nulls, NaN and lists; and every rule but that on bloom filters is tested."""
    table = pa.table({**COLUMNS, "required": pa.array([1, 2, 3, 4])})
    schema = table.schema.set(len(COLUMNS), pa.field("required", pa.int64(), nullable=False))
    pair = generated(written(table.cast(schema), **options))
    report, coverage = pair.report("values")
    assert [] == [(finding.rule, finding.message) for finding in report.findings]
    assert {} == {rule: why for rule, why in coverage.reasons.items() if rule.startswith("PM-1")}
    assert {"PM-140", "PM-141", "PM-142", "PM-145"} <= set(coverage.checked)


NUMBERS = st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=12)
TEXTS = st.lists(st.none() | st.text(max_size=12), min_size=1, max_size=12)
FLOATS = st.lists(st.none() | st.floats(), min_size=1, max_size=12)
TYPES: dict[str, tuple[st.SearchStrategy[list[Any]], Any]] = {
    "numbers": (NUMBERS, pa.int64()),
    "texts": (TEXTS, pa.string()),
    "floats": (FLOATS, pa.float64()),
}


@tries(60)
@given(st.sampled_from([*TYPES]), st.data())
def test_true_bounds_are_silent_and_bounds_moved_inside_are_found(kind: str, data: st.DataObject) -> None:
    """Whatever the values and the size of row groups."""
    values_of, arrow = TYPES[kind]
    values = data.draw(values_of)
    size = data.draw(st.integers(1, 12))
    pair = generated(written(pa.table({"a": pa.array(values, arrow)}), row_group_size=size))
    assert [] == rules(pair)
    first = [v for v in values[:size] if v is not None and not (isinstance(v, float) and math.isnan(v))]
    raw = sorted({as_bytes(v) for v in first}, key=lambda item: order_key(kind, item))
    if len(raw) > 1 and order_key(kind, raw[0]) < order_key(kind, raw[-1]):
        value = pair.value
        assert ["PM-140"] == rules(pair.saying(with_chunk(value, 0, 0, min=raw[-1])))
        least = raw[0] or b"\0"  # no bytes say that there is no bound
        if order_key(kind, least) < order_key(kind, raw[-1]):
            assert ["PM-141"] == rules(pair.saying(with_chunk(value, 0, 0, max=least)))


def as_bytes(value: float | str) -> bytes:
    """A value as Parquet stores it."""
    if isinstance(value, str):
        return value.encode()
    return struct.pack("<q" if isinstance(value, int) else "<d", value)


def order_key(kind: str, raw: bytes) -> Any:
    """What to sort stored values by."""
    if kind == "texts":
        return raw
    return struct.unpack("<q" if kind == "numbers" else "<d", raw)[0]


# ------------------------------------------------------------------------------------------------- one by one


def pair_of(*values: Any, **options: Any) -> PmPair:
    """A file with one column ``a`` of these values (or of one array), and what is generated for it."""
    column = values[0] if isinstance(values[0], pa.Array) else pa.array(values)
    return generated(written(pa.table({"a": column}), **options))


def changed(pair: PmPair, row_group: int = 0, **changes: Any) -> PmPair:
    """The pair with another chunk of the first column."""
    return pair.saying(with_chunk(pair.value, row_group, 0, **changes))


def test_a_value_below_min_is_found_at_its_row() -> None:
    """With the value, the bound and how many others there are."""
    pair = changed(pair_of(5, None, 3, 4, 9), min=struct.pack("<q", 5))
    report, _ = pair.report("values", VALUES)
    (finding,) = report.findings
    at = finding.at[0]
    expected = "row 2 of row group 0 of column a holds 3, MIN is 5 (1 more value like it)"
    assert ("PM-140", expected) == (finding.rule, finding.message)
    assert ("blocks[0].column_chunks[0].min_stat", "MIN at most 3", "5") == (at.field, at.expected, at.actual)
    assert struct.pack("<q", 5) == pair.raw[at.offset : at.offset + at.length]


def test_a_value_above_max_out_of_line_is_found() -> None:
    """The place is that of the bytes, not of the reference."""
    pair = changed(pair_of("a long text of tea", "a long text of salt"), max=b"a long text of salt")
    report, _ = pair.report("values", VALUES)
    (finding,) = report.findings
    at = finding.at[0]
    assert ("PM-141", "blocks[0].max_stats[0]") == (finding.rule, at.field)
    assert b"a long text of salt" == pair.raw[at.offset : at.offset + at.length]


def test_unsigned_values_compare_unsigned() -> None:
    """Where the Parquet schema says that they are."""
    pair = pair_of(pa.array([1, 2**32 - 1], pa.uint32()))
    packed = [struct.pack("<I", bound) for bound in (1, 2**32 - 1)]
    assert [] == rules(changed(pair, min=packed[0], max=packed[1]))
    assert ["PM-140", "PM-141"] == rules(changed(pair, min=packed[1], max=packed[0]))


def test_decimals_compare_as_numbers() -> None:
    """Big-endian, with a sign."""
    pair = pair_of(pa.array([decimal.Decimal("-1.50"), decimal.Decimal("2.00")], pa.decimal128(20, 2)))
    chunk = pair.value.row_groups[0].chunks[0]
    assert (b"\xff", b"\x00") == ((chunk.min or b"")[:1], (chunk.max or b"")[:1])
    assert ["PM-140", "PM-141"] == rules(changed(pair, min=chunk.max, max=chunk.min))


def test_a_nan_as_bound_bounds_nothing() -> None:
    """Nor is it said to occur or not to."""
    nan = struct.pack("<d", NAN)
    assert [] == rules(changed(pair_of(1.5, 2.5, NAN), min=nan, max=nan, min_exact=True, max_exact=True))


def test_nulls_are_counted() -> None:
    """In each row group."""
    pair = pair_of(1, None, None, 4, row_group_size=2)
    assert [] == rules(pair)
    wrong = changed(pair, 1, null_count=2)
    assert "row group 1 of column a holds 1 null, NULL_COUNT is 2" == message(wrong)
    assert ["PM-142"] == rules(wrong)


def test_missing_and_empty_lists_may_count_as_nulls() -> None:
    """Writers do not agree; what no writer counts is found."""
    pair = pair_of([1, None], [], None, [3, None])
    assert 6 == pair.value.row_groups[0].chunks[0].num_values
    found = {count: rules(changed(pair, null_count=count)) for count in range(1, 6)}
    assert {1: ["PM-142"], 2: [], 3: [], 4: [], 5: ["PM-142"]} == found


def test_exact_bounds_occur() -> None:
    """One that does not is merely mentioned; one that is not said to be exact is fine."""
    pair = pair_of("b", "c")
    value = changed(pair, min=b"a", min_exact=True)
    assert "MIN of row group 0 of column a is marked exact, but no value is 'a'" == message(value)
    assert ["PM-145"] == rules(value)
    assert [] == rules(changed(pair, min=b"a", min_exact=False))


def test_bounds_of_nothing_but_nulls_do_not_occur() -> None:
    """There is no value."""
    pair = pair_of(pa.array([None, None], pa.int64()))
    assert ["PM-145"] == rules(changed(pair, min=bytes(8), min_exact=True))


BLOOM, INT, VARCHAR = "questdb-9.4.3/bloom", 1, 2


@pytest.mark.parametrize("blooms", ["inlined", "external"])
def test_bloom_filters_hold_every_value(blooms: Any) -> None:
    """One of another row group does not."""
    pair = generated(real(BLOOM).data, blooms=blooms)
    report, coverage = pair.report("values", VALUES)
    assert [] == report.findings
    assert "PM-143" in coverage.checked
    value = pair.value
    other = value.row_groups[0].chunks[VARCHAR].bloom
    wrong = pair.saying(with_chunk(value, 2, VARCHAR, bloom=other))
    found, _ = wrong.report("values", VALUES)
    assert [("PM-143", "b", 2)] == [(f.rule, f.column, f.at[0].row_group) for f in found.findings]
    path = (
        "blocks[2].bloom_filters[1].bitset" if blooms == "inlined" else "snapshots[0].bloom_entries[9].offset"
    )
    assert path == found.findings[0].at[0].field
    assert "row 0 of row group 2 of column b holds 'val33', but its bloom filter does not" in (
        found.findings[0].message
    )


@pytest.mark.parametrize(("values", "broken"), [([NAN, NAN], []), ([NAN, 1.5], ["PM-143"])])
def test_no_reader_looks_for_nan_in_a_bloom_filter(values: list[float], broken: list[str]) -> None:
    """An empty filter lacks every number, and is not asked for other things."""
    pair = pair_of(*values)
    value = replace(pair.value, bloom_columns=(0,))
    assert broken == rules(pair.saying(with_chunk(value, 0, 0, bloom=bytes(32))))


def test_an_external_bloom_filter_outside_the_file_leaves_its_rule_unchecked() -> None:
    """Where it is is another rule's matter."""
    pair = generated(real(BLOOM).data, blooms="external")
    value = with_chunk(pair.value, 0, INT, bloom=ExternalBloom(1 << 40, 32))
    report, coverage = pair.saying(value).report("values", VALUES)
    assert ([], "PM-079 is broken") == (report.findings, coverage.not_checked["PM-143"].reason)


# --------------------------------------------------------------------------------------- the designated timestamp


def timed(*values: int, **options: Any) -> PmPair:
    """A file whose only column is said to be the designated timestamp."""
    times = pa.array(values, pa.timestamp("us"))
    table = pa.table({"t": times}, pa.schema([pa.field("t", times.type, nullable=False)]))
    pair = generated(written(table, **options))
    return pair.saying(replace(pair.value, designated_timestamp=0))


def test_a_designated_timestamp_ascends() -> None:
    """It may be equal."""
    assert [] == rules(timed(1, 2, 2, 3, 3, row_group_size=2))
    assert "PM-144" in timed(1, 2).report("values", VALUES)[1].checked


MANY = pa.array(range(MANY_ROWS + 10))


@pytest.mark.parametrize(
    ("made", "rule", "expected"),
    [
        (
            lambda: changed(pair_of(MANY), max=struct.pack("<q", MANY_ROWS + 4)),
            "PM-141",
            f"row {MANY_ROWS + 5} of row group 0 of column a holds {MANY_ROWS + 5}, MAX is {MANY_ROWS + 4} (4 more values like it)",
        ),
        (
            lambda: changed(pair_of([1, 2], [], [3, 9]), max=struct.pack("<q", 5)),
            "PM-141",
            "value 3 of row group 0 of column a.list.element holds 9, MAX is 5",
        ),
        (
            lambda: timed(1, 5, 3, 4, 2),
            "PM-144",
            "row 2 of row group 0 of column t holds 3, row 1 5 (1 more descent like it)",
        ),
        (
            lambda: timed(1, 5, 3, 4, row_group_size=2),
            "PM-144",
            "row 0 of row group 1 of column t holds 3, the row group before 5",
        ),
        (
            lambda: timed(*range(MANY_ROWS), 5),
            "PM-144",
            f"row {MANY_ROWS} of row group 0 of column t holds 5, row {MANY_ROWS - 1} {MANY_ROWS - 1}",
        ),
    ],
    ids=["batches", "lists", "within a row group", "between row groups", "between batches"],
)
def test_rows_are_counted_through_batches_lists_and_row_groups(
    made: Callable[[], PmPair], rule: str, expected: str
) -> None:
    pair = made()
    assert ([rule], expected) == (rules(pair), message(pair))


# ------------------------------------------------------------------------------------------- what is not compared


def test_int96_is_said_not_to_be_compared() -> None:
    """Parquet defines no order for it."""
    times = pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("ns"))  # noqa: DTZ001 - no zone is meant
    pair = pair_of(times, use_deprecated_int96_timestamps=True)
    said = changed(pair, min=bytes(12), max=bytes(12), null_count=1)
    report, coverage = said.report("values", VALUES)
    assert [] == report.findings
    assert "bounds of INT96 without an order are not tested" == coverage.not_checked["PM-140"].reason
    assert "PM-142" in coverage.checked


def test_pages_that_cannot_be_decoded_leave_the_file_unjudged() -> None:
    """What is found in other columns is still reported."""
    table = pa.table({"a": list(range(100)), "b": list(range(100))})
    data = bytearray(written(table, use_dictionary=False, compression="zstd"))
    facts = pq.read_metadata(pa.BufferReader(bytes(data))).row_group(0).column(0)
    data[facts.data_page_offset + 40 : facts.data_page_offset + 90] = b"\xff" * 50
    pair = generated(bytes(data))
    report, coverage = pair.report("values", VALUES)
    assert "errored" == report.outcome
    assert "row group 0 of column a cannot be decoded" in (report.error or "")
    assert "row group 0 of column a cannot be decoded" in coverage.not_checked["PM-140"].reason
    wrong = pair.saying(with_chunk(pair.value, 0, 1, min=struct.pack("<q", 5)))
    assert ["PM-140"] == [f.rule for f in wrong.report("values", VALUES)[0].findings]


def test_files_of_different_shape_are_not_compared() -> None:
    """Another rule says what differs."""
    pair = pair_of(1, 2, 3, row_group_size=1)
    fewer = pair.saying(replace(pair.value, row_groups=pair.value.row_groups[:2]))
    report, coverage = fewer.report("values", VALUES)
    assert ([], "PM-103 is broken") == (report.findings, coverage.not_checked["PM-140"].reason)


def test_a_statistic_that_cannot_be_read_leaves_its_rule_unchecked() -> None:
    """The others about the same column are tested."""
    pair = pair_of("a long text of salt", "a long text of tea")
    raw = bytearray(pair.raw)
    reference = struct.pack("<Q", 19 << 16 | 18)  # MAX is behind MIN, which takes 19 bytes
    place = pair.raw.index(reference)
    raw[place : place + len(reference)] = struct.pack("<Q", 1 << 60 | 18)
    report, coverage = PmPair(bytes(raw), pair.data).report("values", VALUES)
    assert ([], "PM-069 is broken") == (report.findings, coverage.not_checked["PM-141"].reason)
    assert {"PM-140", "PM-142"} <= set(coverage.checked)


def test_columns_stored_in_another_file_are_not_decoded() -> None:
    """Decoders would look for them in this one."""

    def elsewhere(metadata: FileMetaData) -> None:
        metadata.row_groups[0].columns[0].file_path = "other.parquet"

    pair = pair_of(1, 2)
    moved = with_footer(pair.data, elsewhere)
    value: SnapshotValue = replace(
        pair.value, parquet_footer_length=pair.value.parquet_footer_length + len(moved) - len(pair.data)
    )
    report, coverage = PmPair(pair.saying(value).raw, moved).report("values", VALUES)
    assert [] == report.findings
    assert "row group 0 of column a is stored in another file" == coverage.not_checked["PM-140"].reason


def test_encrypted_columns_are_not_decoded() -> None:
    """The others are."""

    def encrypt(metadata: FileMetaData) -> None:
        metadata.encryption_algorithm = EncryptionAlgorithm(AES_GCM_V1=AesGcmV1())
        metadata.row_groups[0].columns[0].crypto_metadata = ColumnCryptoMetaData(
            ENCRYPTION_WITH_COLUMN_KEY=EncryptionWithColumnKey(path_in_schema=["a"])
        )

    pair = generated(written(pa.table({"a": [1, 2], "b": [3, 4]})))
    locked = with_footer(pair.data, encrypt)
    growth = len(locked) - len(pair.data)
    value = replace(pair.value, parquet_footer_length=pair.value.parquet_footer_length + growth)
    report, coverage = PmPair(pair.saying(value).raw, locked).report("values", VALUES)
    assert (None, []) == (report.error, report.findings)
    assert (
        "row group 0 of column a is encrypted; pqassay has no keys" == coverage.not_checked["PM-140"].reason
    )
    wrong = with_chunk(value, 0, 1, min=struct.pack("<q", 4))
    assert ["PM-140"] == rules(PmPair(pair.saying(wrong).raw, locked))


@pytest.mark.parametrize("rows", [0, 1])
def test_files_of_few_rows_are_compared(rows: int) -> None:
    """Nothing is found in nothing."""
    assert [] == pair_of(pa.array([7] * rows, pa.int64())).rules("values")


def test_nothing_said_is_nothing_to_compare() -> None:
    """Without statistics, the rules are not applicable."""
    _, coverage = pair_of(1, 2, write_statistics=False).report("values", VALUES)
    assert {"PM-140", "PM-141", "PM-142", "PM-143", "PM-144", "PM-145"} <= set(coverage.not_applicable)


def test_a_designated_timestamp_that_is_no_column_is_another_rules_matter() -> None:
    """It is not followed."""
    pair = pair_of(1, 2)
    place = pm.FixedHeader.offsets["designated_timestamp"]
    raw = bytearray(pair.raw)
    raw[place : place + 4] = struct.pack("<i", 7)
    report, coverage = PmPair(bytes(raw), pair.data).report("values", VALUES)
    assert ([], "PM-033 is broken") == (report.findings, coverage.not_checked["PM-144"].reason)
