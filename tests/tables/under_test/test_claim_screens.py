"""What the screens of table claims call sound, the rules find nothing against; and things of one shape have the same rules apply."""

from __future__ import annotations

import datetime as dt
import json
import struct
from collections.abc import Hashable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqassay.checks import registry
from pqassay.checks.asking import answers_of, by_subject
from pqassay.tables.claims import Count, FileClaims, Place
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.rules.catalogue import file_rules
from pqassay_spec.table.layout import TableKind
from pqassay_tables.checks.delta_table.data import CLAIMED as OF_DELTA
from pqassay_tables.checks.iceberg_table.data import CLAIMED as OF_ICEBERG
from pqassay_tables.metadata.delta.schema import DeltaSchema
from pqassay_tables.metadata.delta.schema import schema_of as delta_schema_of
from pqassay_tables.metadata.delta.statistics import MAX, MIN, NULLS, StatisticsSaid
from pqassay_tables.metadata.iceberg.entry_claims import LOWER, SIZES, UPPER, VALUES, MetricsSaid
from pqassay_tables.metadata.iceberg.entry_claims import NULLS as NULL_COUNTS
from pqassay_tables.metadata.iceberg.schema import IcebergSchema, schema_of

PLACE = Place("log", 0, ("add", "stats"))
RULES: dict[TableKind, tuple[str, ...]] = {
    "delta": ("DLT-023", "DLT-024", "DLT-025", "DLT-026", "DLT-046"),
    "iceberg": (
        "ICE-030", "ICE-031", "ICE-032", "ICE-033", "ICE-034", "ICE-059", "ICE-060", "ICE-062",
    ),
}  # fmt: skip
SCREENS: dict[TableKind, Any] = {"delta": OF_DELTA.shape, "iceberg": OF_ICEBERG.shape}

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


APPLIED: dict[Hashable, set[str]] = {}


def shape_beside_rules(content: bytes, claims: FileClaims) -> Hashable | None:
    """The shape that the screen gives a file, which is compared with what the rules say."""
    file = FileUnderTest(BytesSource(content, "a"), Options("footer"), claims=claims)
    screen = SCREENS[claims.table]
    assert screen is not None
    shape: Hashable | None = screen(file)
    if shape is not None:
        questions = by_subject.__wrapped__(RULES[claims.table])
        answers = answers_of(file, questions)
        assert {} == answers.found
        assert answers.applied == APPLIED.setdefault((claims.table, shape), answers.applied)
    return shape


def delta_claims(stats: Mapping[str, Any], rows: int | None = 4) -> FileClaims:
    return FileClaims("delta", PLACE, "a", rows=None if rows is None else Count(rows, PLACE), said=StatisticsSaid(DELTA, dict(stats), PLACE))  # fmt: skip


def iceberg_claims(metrics: Mapping[int, Any], splits: tuple[int, ...] = ()) -> FileClaims:
    said = MetricsSaid(ICEBERG, PLACE, {}, frozenset(), metrics)
    first = Count(splits[0], PLACE) if splits else None
    return FileClaims("iceberg", PLACE, "a", rows=Count(4, PLACE), said=said, first_split=first, splits=splits[1:])  # fmt: skip


@pytest.mark.parametrize("content", FILES)
def test_what_is_true_is_called_sound(content: bytes) -> None:
    assert shape_beside_rules(content, delta_claims(TRUE_STATS)) is not None
    assert shape_beside_rules(content, iceberg_claims({**TRUE_METRICS, SIZES: sizes_of(content)}, (4,))) is not None  # fmt: skip


@pytest.mark.parametrize("name", [name for name in NAMES if name in TRUE_STATS[MIN]])
def test_a_bound_that_excludes_a_value_is_left_to_the_rules(name: str) -> None:
    low = least_and_greatest(name)[0]
    another = next(value for value in ROWS[name] if value not in (None, low))
    raised = {**TRUE_STATS, MIN: {**TRUE_STATS[MIN], name: in_json(another)}}
    lowered = {**TRUE_STATS, MAX: {**TRUE_STATS[MAX], name: in_json(low)}}
    number, kind = NAMES.index(name) + 1, TYPES[name][2]
    by_id = {**TRUE_METRICS, UPPER: {**TRUE_METRICS[UPPER], number: in_bytes(kind, low)}}
    is_exact = name != "text"  # of texts a footer may hold something that encloses the values
    for content in FILES:
        for claims in (delta_claims(raised), delta_claims(lowered), iceberg_claims(by_id)):
            shape = shape_beside_rules(content, claims)
            assert shape is None or not is_exact


BOUNDS = st.one_of(
    st.sampled_from([in_json(value) for name in NAMES for value in ROWS[name] if value is not None]),
    st.integers(-(2**70), 2**70),
    st.sampled_from(["NaN", "-Infinity", "", "\ud800", "2024-02-30", "2024-02-29T01:02:03.456Z", "2024-02-29T01:02:03.456789", "2024-W09-4"]),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000),
    st.none(),
    st.just({}),
)  # fmt: skip
COUNTS = st.one_of(st.integers(-1, 5), st.none(), st.just("1"))


@st.composite
def mixed(draw: st.DrawFn, truth: dict[Any, Any], keys: list[Any], others: st.SearchStrategy[Any]) -> Any:
    """A map that is mostly true."""
    found = dict(truth)
    for key in draw(st.lists(st.sampled_from(keys), max_size=2)):
        if draw(st.booleans()):
            found[key] = draw(others)
        else:
            found.pop(key, None)
    return found


STATS = st.fixed_dictionaries(
    {
        MIN: mixed(TRUE_STATS[MIN], [*NAMES, "gone", "unknown"], BOUNDS),
        MAX: mixed(TRUE_STATS[MAX], [*NAMES, "gone", "unknown"], BOUNDS),
        NULLS: mixed(TRUE_STATS[NULLS], [*NAMES, "gone", "unknown"], COUNTS),
    }
)
RAW = st.one_of(
    st.sampled_from([raw for one in (LOWER, UPPER) for raw in TRUE_METRICS[one].values()]),
    st.binary(max_size=9),
    st.sampled_from([struct.pack("<d", value) for value in (float("nan"), 0.0, -0.0, float("inf"))]),
)
IDS = [*range(1, len(NAMES) + 1), 90, 92, 99]


@settings(max_examples=150, deadline=None)
@given(stats=STATS, rows=st.sampled_from([4, 4, 4, None, 5]), content=st.sampled_from(FILES))
def test_what_the_screen_of_a_log_calls_sound_the_rules_do(
    stats: dict[str, Any], rows: int | None, content: bytes
) -> None:
    _ = shape_beside_rules(content, delta_claims(stats, rows))


@settings(max_examples=150, deadline=None)
@given(
    low=mixed(TRUE_METRICS[LOWER], IDS, RAW),
    high=mixed(TRUE_METRICS[UPPER], IDS, RAW),
    nulls=mixed(TRUE_METRICS[NULL_COUNTS], IDS, st.integers(-1, 5)),
    sizes=st.one_of(st.none(), mixed(sizes_of(FILES[0]), IDS, st.integers(0, 500))),
    splits=st.sampled_from([(), (4,), (4, 300), (5,), (3,)]),
    content=st.sampled_from(FILES),
)
def test_what_the_screen_of_a_manifest_calls_sound_the_rules_do(
    low: Any, high: Any, nulls: Any, sizes: Any, splits: tuple[int, ...], content: bytes
) -> None:
    metrics = {LOWER: low, UPPER: high, NULL_COUNTS: nulls, **({} if sizes is None else {SIZES: sizes})}
    _ = shape_beside_rules(content, iceberg_claims(metrics, splits))


def test_the_rules_of_the_screens_are_all_those_of_their_subjects() -> None:
    for table, screen in SCREENS.items():
        found = [rule for rule, check in registry().items() if check.subject.shape is screen]
        assert sorted(RULES[table]) == sorted(rule for rule in found if rule in file_rules())
