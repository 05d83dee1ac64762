"""The normal form of conditions, with constants of every type, against exact arithmetic."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import Phase, given, seed, settings

from drawn_conditions import KINDS, Drawn, drawn, examples, written
from duckdb_conditions import sql_of
from pqassay_reader.condition.kinds import Kind
from pqassay_reader.condition.normal import ColumnTest, Condition, folded, normal_form
from pqassay_reader.condition.rows import expression_of, rows_of
from pqassay_reader.condition.values import END, START, Cut, before
from pqassay_reference.errors import Refused


def is_in(test: ColumnTest, key: Any) -> bool:
    """Whether the value of a key is in the set of a test."""
    if key is None:
        return test.values.null
    if isinstance(key, float) and math.isnan(key):
        return test.values.nan
    place = 1, (int(key) if isinstance(key, bool) else key), 0
    return any(each.low <= place < each.high for each in test.values.intervals)


def is_kept(condition: Condition, row: dict[str, Any]) -> bool:
    """Whether a row of keys satisfies a condition."""
    return folded(condition, lambda test: is_in(test, row[test.column]), all, any)


def require_exact(case: Drawn) -> None:
    """Compare the normal form of conditions, and of their opposites, with exact arithmetic, by membership and as Arrow evaluates it."""
    table, schema = case.table, case.table.schema
    for tree in case.trees:
        truths = case.truths(tree)
        if truths is None:
            with pytest.raises(Refused):
                normal_form(written(tree), lambda name: schema.field(name).type)
            continue
        for wanted, asked in ((True, tree), (False, ["not", tree])):
            condition = normal_form(written(asked), lambda name: schema.field(name).type)
            expected = [each is wanted for each in truths]

            rows = [
                is_kept(condition, {name: keys[row] for name, keys in case.keys.items()})
                for row in range(len(table))
            ]
            assert expected == rows, (asked, case)
            assert expected == rows_of(condition, table).tolist(), (asked, case)


@given(case=drawn(KINDS))
@settings(max_examples=examples(120, 40_000), deadline=None)
def test_a_row_is_kept_if_its_values_are_in_the_sets(case: Drawn) -> None:
    require_exact(case)


EXACT_PLACE = Kind.place


def cast_place(kind: Kind, constant: Any) -> tuple[Cut, Cut] | None:
    """The place of a constant that is cast to the type of its column first, as it was once."""
    number = kind._number(constant)
    if isinstance(number, float) or kind.step is None:
        return EXACT_PLACE(kind, constant)
    least, most = kind.limits
    count = min(max(math.trunc(number / kind.step), least), most)
    return START if count == least else before(count), END if count == most else before(count + 1)


@pytest.mark.parametrize(
    ("kinds", "number"),
    [
        pytest.param([pa.int64(), pa.int8()], 1, id="whole"),
        pytest.param([pa.uint8(), pa.uint64()], 2, id="unsigned"),
        pytest.param([pa.decimal128(4, 2), pa.decimal128(18, 0)], 3, id="decimal"),
        pytest.param([pa.timestamp("ms"), pa.date32()], 4, id="moment"),
    ],
)
def test_a_cast_that_is_put_back_is_found(
    kinds: list[Any], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Kind, "place", cast_place)

    @seed(number)
    @given(case=drawn(kinds, strangers=False))
    @settings(max_examples=60, phases=[Phase.generate], database=None, deadline=None)
    def holds(case: Drawn) -> None:
        require_exact(case)

    with pytest.raises((AssertionError, BaseExceptionGroup)):
        holds()


HELD_BY_ARROW = [kind for kind in KINDS if not pa.types.is_float16(kind) and kind != pa.string_view()]
"""Types whose columns datasets compare."""

HELD_BY_DUCKDB: list[Any] = [
    kind
    for kind in HELD_BY_ARROW
    if not pa.types.is_decimal256(kind)
    and kind
    not in (pa.date64(), pa.time32("s"), pa.time64("ns"), pa.timestamp("ns", "UTC"), pa.duration("us"))
    and not (pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"))
]
"""Types whose values DuckDB holds as they are, but for those near the ends of the types that are left out here."""


@given(case=drawn(HELD_BY_ARROW, strangers=False))
@settings(max_examples=examples(25, 4_000), deadline=None)
def test_an_expression_keeps_the_same_rows(case: Drawn) -> None:
    table = case.table.append_column("n", pa.array(range(len(case.table))))
    for tree in case.trees:
        expected = [row for row, each in enumerate(case.truths(tree) or []) if each]

        assert expected == table.filter(expression_of(written(tree), table.schema)).column("n").to_pylist()


@given(case=drawn(HELD_BY_DUCKDB, strangers=False))
@settings(max_examples=examples(12, 2_000), deadline=None)
def test_duckdb_keeps_the_same_rows(case: Drawn) -> None:
    rows = case.table.append_column("n", pa.array(range(len(case.table))))
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("rows", rows)
        for tree in case.trees:
            condition = normal_form(written(tree), lambda name: rows.schema.field(name).type)
            expected = [row for row, each in enumerate(case.truths(tree) or []) if each]

            try:
                text = sql_of(condition)
            except Refused:
                continue  # a constant at the end of a type
            found = connection.execute(f"SELECT n FROM rows WHERE {text} ORDER BY n").fetchall()
            assert expected == [row for (row,) in found], (tree, case)
