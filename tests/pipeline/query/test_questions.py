"""Questions to indexes: which values of a column may satisfy a condition of Spark, by the type of the column."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.sql import types as st

from pqassay_spark.query.comparisons import KnownMoment
from pqassay_spark.query.predicates import CHAR_KEY, SchemaColumn
from pqassay_spark.query.questions import AskedColumn, question

OPEN = None
"""Nothing is said: every row group is read."""

UTC = ZoneInfo("UTC")
D = Decimal


def may_satisfy(kind: st.DataType, values: list[Any], tree: list[Any], **options: Any) -> list[Any] | None:
    """The values of a column for which a condition may be true, null included; `OPEN` where nothing is said."""
    column = AskedColumn.of(SchemaColumn(("x",), kind, {}))
    assert column is not None
    condition = question(tree, {"x": column}, **options)
    if condition is None:
        return OPEN
    table = pa.table({"x": pa.array([*values, None], column.arrow_type)})
    found: list[Any] = table.filter(condition)["x"].to_pylist()
    return found


BYTES = [-128, 0, 127]
LONGS = [-(1 << 63), 0, 1 << 53, (1 << 53) + 1]
DOUBLES = [-math.inf, -0.0, 0.0, 0.1, math.inf]
FLOATS = [-math.inf, 0.0, 0.10000000149011612, 1.5, 3.4028234663852886e38]
MONEY = [D("-1.50"), D("0.00"), D("1.25")]
DAYS = [dt.date(1, 1, 1), dt.date(1582, 10, 15), dt.date(2024, 2, 29)]
MOMENTS = [dt.datetime(1850, 1, 1, tzinfo=UTC), dt.datetime(1900, 1, 1, tzinfo=UTC)]
CLOCKS = [dt.datetime(1850, 1, 1), dt.datetime(1900, 1, 1)]  # noqa: DTZ001 - what a clock shows


CASES: list[tuple[st.DataType, list[Any], list[Any], list[Any] | None]] = [
    # Whole numbers: constants of every other type of number are brought to theirs.
    (st.ByteType(), BYTES, ["=", "x", 127], [127]),
    (st.ByteType(), BYTES, ["=", "x", 128], []),
    (st.ByteType(), BYTES, ["<", "x", 300], BYTES),
    (st.ByteType(), BYTES, [">=", "x", -129], BYTES),
    (st.ByteType(), BYTES, ["<=", "x", -129], []),
    (st.ByteType(), BYTES, ["!=", "x", 300], BYTES),
    (st.ByteType(), BYTES, ["not in", "x", [300, 0]], [-128, 127]),
    (st.ByteType(), BYTES, ["<", "x", 0.5], [-128, 0]),
    (st.ByteType(), BYTES, [">", "x", D("-0.5")], [0, 127]),
    (st.ByteType(), BYTES, ["=", "x", 0.5], []),
    (st.ByteType(), BYTES, ["in", "x", [0.5, 0, 127.0]], [0, 127]),
    (st.ByteType(), BYTES, ["<", "x", math.inf], BYTES),
    (st.ByteType(), BYTES, ["<", "x", math.nan], OPEN),
    (st.ByteType(), BYTES, ["=", "x", "5"], OPEN),
    (st.ByteType(), BYTES, ["=", "x", True], OPEN),
    (st.ByteType(), BYTES, ["in", "x", [0.5, D("0.5")]], OPEN),
    (st.LongType(), LONGS, ["=", "x", (1 << 53) + 1], [(1 << 53) + 1]),
    (st.LongType(), LONGS, ["=", "x", float(1 << 53)], OPEN),  # to Spark, both of the last two
    (st.LongType(), LONGS, ["in", "x", [0.0, (1 << 53) + 1]], OPEN),
    (st.LongType(), LONGS, [">", "x", 0.5], LONGS[2:]),
    (st.LongType(), LONGS, ["<", "x", D(1 << 63)], OPEN),  # of nulls it is true to Spark
    (st.ByteType(), BYTES, [">", "x", -(1 << 63) - 1], OPEN),
    (st.ByteType(), BYTES, [">", "x", -(1 << 63)], BYTES),
    # Decimals: as long as Spark has a type for both sides that rounds neither.
    (st.DecimalType(9, 2), MONEY, ["=", "x", D("1.250")], [D("1.25")]),
    (st.DecimalType(9, 2), MONEY, ["=", "x", D("1.255")], []),
    (st.DecimalType(9, 2), MONEY, [">", "x", D("-1.501")], MONEY),
    (st.DecimalType(9, 2), MONEY, ["<", "x", 1], MONEY[:2]),
    (st.DecimalType(9, 2), MONEY, ["<", "x", 10**9], MONEY),
    (st.DecimalType(9, 2), MONEY, ["=", "x", D("0E-31")], [D("0.00")]),
    (st.DecimalType(9, 2), MONEY, ["=", "x", D("0E-32")], OPEN),
    (st.DecimalType(9, 2), MONEY, ["=", "x", 1.25], OPEN),
    (st.DecimalType(38, 10), [D("0E-10")], ["=", "x", D("0E-11")], OPEN),
    # Floating point numbers: zeros are equal, and a constant NaN is Spark's business.
    (st.DoubleType(), DOUBLES, ["=", "x", 0], [-0.0, 0.0]),
    (st.DoubleType(), DOUBLES, ["in", "x", [-0.0, 0.1]], [-0.0, 0.0, 0.1]),
    (st.DoubleType(), DOUBLES, ["not in", "x", [0.0]], [-math.inf, 0.1, math.inf]),
    (st.DoubleType(), DOUBLES, ["<", "x", D("0.1")], [-math.inf, -0.0, 0.0]),
    (st.DoubleType(), DOUBLES, ["<", "x", math.nan], OPEN),
    (st.DoubleType(), DOUBLES, ["in", "x", [0.1, math.nan]], OPEN),
    (st.FloatType(), FLOATS, ["=", "x", 0.1], []),
    (st.FloatType(), FLOATS, [">", "x", 0.1], FLOATS[2:]),
    (st.FloatType(), FLOATS, ["<", "x", 0.1], FLOATS[:2]),
    (st.FloatType(), FLOATS, ["<", "x", 1e300], FLOATS),
    (st.FloatType(), FLOATS, [">", "x", -1e300], FLOATS[1:]),
    (st.FloatType(), FLOATS, ["=", "x", (1 << 24) + 1], OPEN),
    (st.FloatType(), FLOATS, ["=", "x", D("1.5")], OPEN),
    # Others are compared with constants of their own type.
    (st.BooleanType(), [False, True], ["=", "x", True], [True]),
    (st.BooleanType(), [False, True], ["<", "x", True], [False]),
    (st.BooleanType(), [False, True], ["=", "x", 1], OPEN),
    (st.StringType(), ["5", "a"], ["=", "x", "5"], ["5"]),
    (st.StringType(), ["5", "a"], ["=", "x", 5], OPEN),
    (st.BinaryType(), [b"a", b"\xff"], [">", "x", b"\x80"], [b"\xff"]),
    (st.BinaryType(), [b"a", b"\xff"], ["=", "x", "a"], OPEN),
    (st.DateType(), DAYS, ["=", "x", DAYS[2]], [DAYS[2]]),
    (st.DateType(), DAYS, ["=", "x", KnownMoment(19782)], [DAYS[2]]),
    (st.DateType(), DAYS, ["=", "x", "2024-02-29"], OPEN),
    (st.DateType(), DAYS, ["=", "x", MOMENTS[0]], OPEN),
    (st.TimestampType(), MOMENTS, [">=", "x", MOMENTS[1]], [MOMENTS[1]]),
    (st.TimestampType(), MOMENTS, [">=", "x", CLOCKS[1]], OPEN),
    (st.TimestampType(), MOMENTS, [">=", "x", DAYS[1]], OPEN),
    (st.TimestampNTZType(), CLOCKS, ["in", "x", [CLOCKS[0]]], [CLOCKS[0]]),
    (st.TimestampNTZType(), CLOCKS, ["in", "x", [MOMENTS[0]]], OPEN),
    # Nulls.
    (st.DateType(), DAYS, ["is null", "x"], [None]),
    (st.DateType(), DAYS, ["not", ["is null", "x"]], DAYS),
    (st.DateType(), DAYS, ["=", "x", None], []),
    (st.DateType(), DAYS, ["in", "x", [DAYS[0], None]], [DAYS[0]]),
    (st.DateType(), DAYS, ["not in", "x", [DAYS[0], None]], []),
    (st.ByteType(), BYTES, ["in", "x", []], []),
    (st.ByteType(), BYTES, ["not in", "x", []], [*BYTES, None]),
    (st.ByteType(), BYTES, ["not", [">", "x", 0]], [-128, 0]),
]
"""Types, values, conditions, and the values for which the condition may be true."""


@pytest.mark.parametrize(
    ("kind", "values", "tree", "expected"),
    CASES,
    ids=[f"{kind.simpleString()}: {tree}" for kind, _, tree, _ in CASES],
)
def test_a_condition_is_true_of_the_values_of_which_it_is_to_spark(
    kind: st.DataType, values: list[Any], tree: list[Any], expected: list[Any] | None
) -> None:
    assert repr(expected) == repr(may_satisfy(kind, values, tree))


def test_of_days_that_may_be_counted_by_another_calendar_nothing_is_said() -> None:
    tree = ["=", "x", DAYS[2]]
    assert [DAYS[0], DAYS[2]] == may_satisfy(st.DateType(), DAYS, tree, may_be_old=True)
    tree = [">", "x", dt.datetime(1950, 1, 1, tzinfo=UTC)]
    assert [MOMENTS[0]] == may_satisfy(st.TimestampType(), MOMENTS, tree, may_be_old=True)
    clocks = ["=", "x", CLOCKS[1]]
    assert [CLOCKS[1]] == may_satisfy(st.TimestampNTZType(), CLOCKS, clocks, may_be_old=True)


@pytest.mark.parametrize(
    ("kind", "metadata"),
    [
        (st.StringType("UTF8_LCASE"), {}),
        (st.StringType(), {CHAR_KEY: "char(8)"}),
        (st.ArrayType(st.IntegerType()), {}),
        (st.StructType([]), {}),
        (st.DayTimeIntervalType(), {}),
    ],
)
def test_columns_that_spark_compares_in_another_way_are_not_asked(
    kind: st.DataType, metadata: dict[str, Any]
) -> None:
    assert AskedColumn.of(SchemaColumn(("x",), kind, metadata)) is None
    assert AskedColumn.of(SchemaColumn(("s", "x"), st.LongType(), {})) is None
