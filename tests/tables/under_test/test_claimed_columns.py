"""What a table says about the columns of a file, compared with the footer, for each type of column."""

from __future__ import annotations

import datetime as dt
import json
import struct
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import tries
from each import each
from pqassay.checks.asking import ask
from pqassay.tables.claims import ClaimPlace, Count, FileClaims
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.table.layout import TableKind
from pqassay_tables.metadata.delta.schema import DeltaSchema
from pqassay_tables.metadata.delta.schema import schema_of as delta_schema_of
from pqassay_tables.metadata.delta.statistics import MAX, MIN, NULLS, DeltaMetrics
from pqassay_tables.metadata.iceberg.entry_claims import LOWER, SIZES, UPPER, VALUES, IcebergMetrics
from pqassay_tables.metadata.iceberg.entry_claims import NULLS as NULL_COUNTS
from pqassay_tables.metadata.iceberg.schema import IcebergSchema, schema_of

PLACE = ClaimPlace("log", 0, ("add", "stats"))
RULES: dict[TableKind, tuple[str, ...]] = {
    "delta": ("DLT-023", "DLT-024", "DLT-025", "DLT-026", "DLT-046"),
    "iceberg": (
        "ICE-030", "ICE-031", "ICE-032", "ICE-033", "ICE-034", "ICE-059", "ICE-060", "ICE-062",
    ),
}  # fmt: skip

MOMENT = dt.datetime(2024, 2, 29, 1, 2, 3, 456789)  # noqa: DTZ001 - the zone is that of the column
ROWS: dict[str, list[Any]] = {
    "whole": [3, -1, None, 8],
    "wide": [2**40, 5, 7, None],
    "real": [0.5, -0.0, 2.25, 1e300],
    "single": [0.1, None, 3.4e38, -0.1],
    "text": ["b", "é", None, "abc"],
    "day": [dt.date(1969, 12, 31), dt.date(2024, 2, 29), None, dt.date(1, 1, 1)],
    "moment": [MOMENT, None, MOMENT.replace(year=1968), MOMENT],
    "price": [Decimal("1.25"), Decimal("-3.50"), None, Decimal("99.99")],
    "flag": [True, False, None, True],
    "nothing": [None, None, None, None],
}
TYPES: dict[str, tuple[pa.DataType, str, str]] = {
    "whole": (pa.int32(), "integer", "int"),
    "wide": (pa.int64(), "long", "long"),
    "real": (pa.float64(), "double", "double"),
    "single": (pa.float32(), "float", "float"),
    "text": (pa.string(), "string", "string"),
    "day": (pa.date32(), "date", "date"),
    "moment": (pa.timestamp("us", "UTC"), "timestamp", "timestamptz"),
    "price": (pa.decimal128(9, 2), "decimal(9,2)", "decimal(9, 2)"),
    "flag": (pa.bool_(), "boolean", "boolean"),
    "nothing": (pa.int64(), "long", "long"),
}
NAMES = list(TYPES)


def written(rows: int) -> bytes:
    arrays = [pa.array(ROWS[name], TYPES[name][0]) for name in NAMES]
    fields = [
        pa.field(name, TYPES[name][0], metadata={"PARQUET:field_id": str(number)})
        for number, name in enumerate(NAMES, 1)
    ]
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, schema=pa.schema(fields)), out, row_group_size=rows)
    return out.getvalue().to_pybytes()


FILES = [written(4), written(2)]


def delta_schema() -> DeltaSchema:
    fields = [{"name": name, "type": TYPES[name][1], "nullable": True, "metadata": {}} for name in NAMES]  # fmt: skip
    fields.append({"name": "gone", "type": "long", "nullable": True, "metadata": {}})
    return delta_schema_of({"schemaString": json.dumps({"type": "struct", "fields": fields}), "partitionColumns": []}, is_mapped=False)  # fmt: skip


def iceberg_schema() -> IcebergSchema:
    fields = [
        {"id": number, "name": name, "required": False, "type": TYPES[name][2]}
        for number, name in enumerate(NAMES, 1)
    ]
    fields.append({"id": 90, "name": "gone", "required": False, "type": "long"})
    fields.append({"id": 91, "name": "list", "required": False, "type": {"type": "list", "element-id": 92, "element": "long", "element-required": False}})  # fmt: skip
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    return schema_of({"format-version": 2, "schemas": [schema], "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}]})  # fmt: skip


DELTA, ICEBERG = delta_schema(), iceberg_schema()


def least_and_greatest(name: str) -> tuple[Any, Any]:
    there = [value for value in ROWS[name] if value is not None]
    return (min(there), max(there)) if there else (None, None)


def in_json(value: Any) -> Any:
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, dt.datetime):
        return f"{value.isoformat(timespec='milliseconds')}Z"
    return value.isoformat() if isinstance(value, dt.date) else value


def in_bytes(kind: str, value: Any) -> bytes:
    if isinstance(value, dt.datetime):
        value = (value - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)  # noqa: DTZ001
    elif isinstance(value, dt.date):
        value = (value - dt.date(1970, 1, 1)).days
    if kind.startswith("decimal"):
        number = int(value.scaleb(2))
        return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    if kind == "string":
        return str(value).encode()
    if kind == "boolean":
        return bytes([value])
    return struct.pack({"int": "<i", "date": "<i", "float": "<f", "double": "<d"}.get(kind, "<q"), value)


TRUE_STATS: dict[str, Any] = {
    MIN: {name: in_json(low) for name in NAMES if (low := least_and_greatest(name)[0]) is not None and name != "flag"},
    MAX: {name: in_json(high) for name in NAMES if (high := least_and_greatest(name)[1]) is not None and name != "flag"},
    NULLS: {name: ROWS[name].count(None) for name in NAMES},
}  # fmt: skip
TRUE_METRICS: dict[int, dict[int, Any]] = {
    VALUES: dict.fromkeys(range(1, len(NAMES) + 1), 4),
    NULL_COUNTS: {number: ROWS[name].count(None) for number, name in enumerate(NAMES, 1)},
    LOWER: {number: in_bytes(TYPES[name][2], low) for number, name in enumerate(NAMES, 1) if (low := least_and_greatest(name)[0]) is not None},
    UPPER: {number: in_bytes(TYPES[name][2], high) for number, name in enumerate(NAMES, 1) if (high := least_and_greatest(name)[1]) is not None},
}  # fmt: skip


def sizes_of(content: bytes) -> dict[int, int]:
    footer = pq.ParquetFile(pa.BufferReader(content)).metadata
    return {
        number: sum(footer.row_group(group).column(number - 1).total_compressed_size for group in range(footer.num_row_groups))
        for number in range(1, len(NAMES) + 1)
    }  # fmt: skip


def broken(content: bytes, claims: FileClaims) -> dict[str, list[str | None]]:
    """The rules that are broken, each with the columns."""
    file = FileUnderTest(BytesSource(content, "a"), Options("footer"), claims=claims)
    answers = ask(file, RULES[claims.table])
    return {rule: list(answer.groups) for rule, answer in answers.found.items() if answer.groups}


def delta_claims(stats: Mapping[str, Any], rows: int | None = 4) -> FileClaims:
    return FileClaims("delta", PLACE, "a", rows=None if rows is None else Count(rows, PLACE), metrics=DeltaMetrics(DELTA, dict(stats), PLACE))  # fmt: skip


def iceberg_claims(maps: Mapping[int, Any], splits: tuple[int, ...] = ()) -> FileClaims:
    metrics = IcebergMetrics(ICEBERG, PLACE, {}, frozenset(), maps)
    first = Count(splits[0], PLACE) if splits else None
    return FileClaims("iceberg", PLACE, "a", rows=Count(4, PLACE), metrics=metrics, first_split=first, splits=splits[1:])  # fmt: skip


@pytest.mark.parametrize("content", FILES)
def test_what_is_true_breaks_no_rule(content: bytes) -> None:
    assert {} == broken(content, delta_claims(TRUE_STATS))
    assert {} == broken(content, iceberg_claims({**TRUE_METRICS, SIZES: sizes_of(content)}, (4,)))


def beside(name: str, *, above: bool) -> Any:
    """A bound that leaves out one value of a column."""
    there = sorted({value for value in ROWS[name] if value is not None}, reverse=above)
    return there[1]


EXACT = [name for name in NAMES if name not in ("text", "nothing")]
"""Columns of whose bounds a footer does not have to say that they are values."""


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("name", EXACT)
def test_a_bound_that_excludes_a_value_is_found(name: str, above: bool) -> None:
    number, kind = NAMES.index(name) + 1, TYPES[name][2]
    member, field = (MAX, UPPER) if above else (MIN, LOWER)
    value = beside(name, above=above)
    by_name = {**TRUE_STATS, member: {**TRUE_STATS[member], name: in_json(value)}}
    by_id = {**TRUE_METRICS, field: {**TRUE_METRICS[field], number: in_bytes(kind, value)}}
    for content in FILES:
        assert {"DLT-025": [name]} == broken(content, delta_claims(by_name))
        assert {"ICE-032": [name]} == broken(content, iceberg_claims(by_id))


@each("name", NAMES)
def test_a_count_that_is_not_that_of_the_footer_is_found(name: str) -> None:
    number = NAMES.index(name) + 1
    by_name = {**TRUE_STATS, NULLS: {**TRUE_STATS[NULLS], name: ROWS[name].count(None) + 1}}
    by_id = {**TRUE_METRICS, NULL_COUNTS: {**TRUE_METRICS[NULL_COUNTS], number: ROWS[name].count(None) - 1}}
    for content in FILES:
        sizes = sizes_of(content)
        assert {"DLT-024": [name]} == broken(content, delta_claims(by_name))
        assert {"ICE-031": [name]} == broken(content, iceberg_claims(by_id))
        false = {**TRUE_METRICS, SIZES: {**sizes, number: sizes[number] + 1}}
        assert {"ICE-059": [name]} == broken(content, iceberg_claims(false))


BOUNDS = st.one_of(
    st.sampled_from([in_json(value) for name in NAMES for value in ROWS[name] if value is not None]),
    st.integers(-(2**70), 2**70),
    st.sampled_from(["NaN", "-Infinity", "", "\ud800", "2024-02-30", "2024-02-29T01:02:03.456Z", "2024-02-29T01:02:03.456789", "2024-W09-4"]),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000),
    st.none(),
    st.just({}),
)  # fmt: skip
RAW = st.one_of(
    st.sampled_from([raw for one in (LOWER, UPPER) for raw in TRUE_METRICS[one].values()]),
    st.binary(max_size=9),
    st.sampled_from([struct.pack("<d", value) for value in (float("nan"), 0.0, -0.0, float("inf"))]),
)


@tries(150)
@given(name=st.sampled_from([*NAMES, "gone", "unknown"]), above=st.booleans(), value=BOUNDS)
def test_one_bound_of_a_log_says_nothing_of_other_columns(name: str, above: bool, value: Any) -> None:
    member = MAX if above else MIN
    found = broken(FILES[0], delta_claims({**TRUE_STATS, member: {**TRUE_STATS[member], name: value}}))
    assert found in ({}, {"DLT-026": [name]} if name == "gone" else {"DLT-025": [name]})


@tries(150)
@given(number=st.sampled_from([*range(1, len(NAMES) + 1), 90, 92, 99]), above=st.booleans(), raw=RAW)
def test_one_bound_of_a_manifest_says_nothing_of_other_columns(number: int, above: bool, raw: bytes) -> None:
    field = UPPER if above else LOWER
    found = broken(FILES[0], iceberg_claims({**TRUE_METRICS, field: {**TRUE_METRICS[field], number: raw}}))
    name = NAMES[number - 1] if number <= len(NAMES) else "gone"
    assert found in ({}, {"ICE-033": [name]} if name == "gone" else {"ICE-032": [name]})
