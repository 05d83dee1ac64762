"""What the engines of the tests give for each type is comparable, and what they cannot give is declared."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engines import ENGINES, WHOLE, Limit, Query, Where, cell, engine, expected, parameters

MOMENT = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC)

COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "flag": (pa.bool_(), [True, False, None]),
    "whole": (pa.int64(), [2**63 - 1, -(2**63), None]),
    "single": (pa.float32(), [0.5, float("-inf"), -0.0]),
    "double": (pa.float64(), [0.1, float("nan"), -0.0]),
    "price": (pa.decimal128(12, 2), [Decimal("-0.01"), Decimal("9999999999.99"), None]),
    "day": (pa.date32(), [dt.date(1969, 12, 31), dt.date(2024, 2, 29), None]),
    "when": (pa.timestamp("us", tz="UTC"), [MOMENT, dt.datetime(2024, 2, 29, tzinfo=dt.UTC), None]),
    "raw": (pa.binary(), [b"\xff\x00", b"", None]),
    "text": (pa.string(), ["\u0000", "", None]),
}

LIMITS = {
    ("fastparquet", "price"): Limit("2026.9.0", "decimals become floats", "DECIMAL, which becomes a float"),
    ("fastparquet", "double"): Limit("2026.9.0", "a NaN may be a null", "nulls in a column of floats"),
}
"""Engine and column to what the engine gives instead."""


@pytest.mark.parametrize("name", parameters([*ENGINES, "spark, row by row"]))
def test_every_engine_gives_the_same_values(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "data.parquet"
    data = {column: values for column, (_, values) in COLUMNS.items()}
    pq.write_table(pa.table({column: pa.array(v, kind) for column, (kind, v) in COLUMNS.items()}), path)
    queries = {column: Query(columns=(column,)) for column in COLUMNS}

    found = engine(name, lambda: request.getfixturevalue("spark")).read_all([path], list(queries.values()))

    for column, query in queries.items():
        answer, limit = found[path, query], LIMITS.get((name, column))
        if limit is None:
            assert expected(data, query) == answer
        else:
            assert limit.explains(answer), answer


def test_values_that_python_calls_equal_are_told_apart() -> None:
    assert 5 == len({cell(1), cell(1.0), cell(True), cell(0.0), cell(-0.0)})
    assert cell(float("nan")) == cell(float("nan"))
    assert cell(MOMENT) == cell(MOMENT.astimezone(dt.timezone(dt.timedelta(hours=5))))
    assert ("timestamp", "-1000") == cell(MOMENT)


def test_rows_are_filtered_as_sql_says() -> None:
    table: dict[str, list[Any]] = {"n": [1, None, 3, 3], "s": ["a", "b", None, ""]}

    def ids(where: Where) -> list[Any]:
        return sorted(row[0] or 0 for row in expected(table, Query(where, ("n",))).elements())

    assert [3, 3] == ids(Where("n", "=", (3,)))
    assert [1, 3, 3] == ids(Where("n", "between", (0, 9)))
    assert [0] == ids(Where("n", "is null"))
    assert [1, 3] == ids(Where("s", "in", ("a", "")))
    assert 4 == expected(table, WHOLE).total()
