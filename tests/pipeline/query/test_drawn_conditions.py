"""200 drawn conditions mean the same to Spark and to the reader, but for differences that are Spark's by design and have names here."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, seed, settings

from drawn_conditions import Drawn, constants_of, drawn, written
from pqassay_reader.condition.rows import condition_of, rows_of
from pqassay_reference.errors import Refused
from pqassay_spark.query.comparisons import compared
from pqassay_spark.query.predicates import find_column, spark_condition, spark_value
from spark_lakes import setting

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KINDS: list[Any] = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()),
    *(pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.binary(), pa.binary(2), pa.date32()),
    *(pa.decimal128(4, 2), pa.decimal128(18, 0), pa.decimal128(30, 10), pa.decimal128(38, 38)),
    *(pa.timestamp("us"), pa.timestamp("us", "UTC")),
]
"""Types that Spark reads."""

CONDITIONS = 200
"""How many conditions Spark is asked at least."""

SEEDS, CASES, TREES, ROWS = (40, 46, 48), 14, 8, 6


def drawn_cases() -> list[Drawn]:
    """Two columns and some conditions on them for each case: always the same ones."""
    cases: list[Drawn] = []
    for number in SEEDS:
        of_seed: list[Drawn] = []

        @seed(number)
        @given(case=drawn(KINDS, rows=ROWS, trees=TREES, strangers=False))
        @settings(max_examples=CASES + 1, phases=[Phase.generate], database=None, deadline=None)
        def draw(case: Drawn) -> None:
            of_seed.append(case)  # noqa: B023 - called at once

        draw()
        cases += of_seed[1:]  # the first one is the least that there is
    return cases


def numbered(case: Drawn, number: int) -> Drawn:
    """A case whose columns have names of their own, and `ROWS` values each."""
    names = {name: f"{name}{number}" for name in case.kinds}

    def renamed(tree: Any) -> Any:
        if isinstance(tree, list):
            return [names.get(part, part) if isinstance(part, str) else renamed(part) for part in tree]
        return tree

    return Drawn(
        {names[name]: kind for name, kind in case.kinds.items()},
        {names[name]: [*keys, *[None] * (ROWS - len(keys))] for name, keys in case.keys.items()},
        [renamed(tree) for tree in case.trees],
    )


NAN = "NaN is equal to itself and greater than all numbers"
ROUNDED = "numbers without a common type are rounded to one"
FINE = "there is no time finer than a microsecond"
LONG = "there is no decimal of more than 38 digits"


def differences(case: Drawn, tree: Any, schema: Any) -> set[str]:
    """By which designs of Spark a condition may mean something else, or is not one; empty where it means the same."""
    names: set[str] = set()
    for name, constant in constants_of(tree):
        value, kind = constant.written, find_column(schema, name, case_sensitive=False).kind
        if any(isinstance(each, float) and math.isnan(each) for each in (value, *case.keys[name])):
            names.add(NAN)
        elif value is not None:
            try:
                literal = spark_value(value, kind)
            except Refused as error:
                names.add(LONG if "digits" in str(error) else FINE)
                continue
            is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
            if is_number and compared(kind, [literal]) is None:
                names.add(ROUNDED)
    return names


def test_spark_keeps_the_rows_that_the_reader_keeps(spark: SparkSession, tmp_path: Path) -> None:
    cases = [numbered(case, number) for number, case in enumerate(drawn_cases())]
    columns = {name: case.table.column(name) for case in cases for name in case.kinds}
    path = tmp_path / "drawn.parquet"
    pq.write_table(pa.table(columns), path, store_decimal_as_integer=True)
    frame = spark.read.parquet(str(path))
    trees = [(case, tree, differences(case, tree, frame.schema)) for case in cases for tree in case.trees]
    same = [(case, tree) for case, tree, names in trees if not names]

    asked = [
        spark_condition(written(tree), frame.schema).alias(str(place)) for place, (_, tree) in enumerate(same)
    ]
    with setting(spark, "spark.sql.codegen.factoryMode", "NO_CODEGEN"):  # compiling takes most of the time
        rows = frame.select(*asked).collect()  # of all conditions in one job
    assert len(same) >= CONDITIONS
    assert {NAN, ROUNDED, FINE, LONG} == {name for _, _, names in trees for name in names}
    for place, (case, tree) in enumerate(same):
        kept = rows_of(condition_of(written(tree), case.table.schema), case.table).tolist()
        assert [row[place] is True for row in rows] == kept, (tree, case)
