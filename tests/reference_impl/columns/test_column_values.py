from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import tries
from pqassay_reference.columns.column_values import BATCH_ROWS, DistinctValues, read_distinct_values

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 1 << 20


def collected(array: pa.Array[Any]) -> tuple[set[str], int, int]:
    found = DistinctValues("c", LIMIT)
    found.add(array)
    return found.values, found.null_count, found.row_count


def test_a_null_in_the_dictionary_is_a_null_in_each_row_that_refers_to_it() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([1, None, 1, 0], pa.int8()), pa.array(["Peru", None]))
    assert collected(array) == ({"Peru"}, 3, 4)


@given(rows=st.lists(st.none() | st.text(max_size=3)), held=st.lists(st.text(max_size=3)))
def test_a_dictionary_says_what_its_rows_say(rows: list[str | None], held: list[str]) -> None:
    values = [*held, *{row for row in rows if row is not None}]
    indices = pa.array([None if row is None else values.index(row) for row in rows], pa.int32())
    array = pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string()))
    assert collected(array) == ({row for row in rows if row is not None}, rows.count(None), len(rows))


@tries(15)
@given(
    distinct=st.integers(1, 5000),
    dictionary_bytes=st.sampled_from([100, 5000, 1 << 20]),
    group_rows=st.sampled_from([1000, BATCH_ROWS - 1, 10 * BATCH_ROWS]),
    is_nested=st.booleans(),
)
def test_a_file_says_the_same_whatever_its_dictionaries_and_row_groups(
    tmp_path_factory: Any, distinct: int, dictionary_bytes: int, group_rows: int, is_nested: bool
) -> None:
    path: Path = tmp_path_factory.mktemp("columns") / "a.parquet"
    rows = [None if row % 7 == 3 else f"value {row * row % distinct}" for row in range(2 * BATCH_ROWS + 5)]
    array: Any = pa.array(rows, pa.string())
    if is_nested:
        array = pa.StructArray.from_arrays([array], ["inner"])
    pq.write_table(
        pa.table({"c": array}),
        path,
        row_group_size=group_rows,
        dictionary_pagesize_limit=dictionary_bytes,
        data_page_size=4096,
    )
    found = read_distinct_values(path, "c.inner" if is_nested else "c", LIMIT)
    assert found.values == {row for row in rows if row is not None}
    assert (found.null_count, found.row_count) == (rows.count(None), len(rows))


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_columns_of_every_encoding_are_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"c": pa.array(["Peru", None, "Kenya", "Peru"])})
    pq.write_table(table, path, use_dictionary=False, column_encoding={"c": encoding})
    found = read_distinct_values(path, "c")
    assert ({"Peru", "Kenya"}, 1, 4) == (found.values, found.null_count, found.row_count)
