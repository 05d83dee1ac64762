"""A column `st.x` at the top level and a member x of a struct st share a name; an index of one says nothing of the other."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pqassay_reader import open_indexed
from pqassay_reader.answer.answerer import Answerer
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.errors import Refused
from pqassay_spec.directory.codes import Granularity, IndexType

pytestmark = pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")

FLAT, NESTED = ("st.x",), ("st", "x")
KINDS = [IndexType.DISTINCT_SET, IndexType.KLL, IndexType.HLL, IndexType.ZONE_SUMS]


def write(path: Path, indexed: tuple[str, ...], **columns: list[object]) -> None:
    names = {name.replace("_dot_", "."): values for name, values in columns.items()}
    pq.write_table(pa.table(names), path)
    add_indexes(path, [Request(kind, (indexed,), Granularity.ROW_GROUP) for kind in KINDS])


@pytest.mark.parametrize("indexed", [FLAT, NESTED])
def test_the_index_of_one_column_leaves_rows_of_the_other(tmp_path: Path, indexed: tuple[str, ...]) -> None:
    write(tmp_path / "both.parquet", indexed, st_dot_x=[1, 1], st=[{"x": 5}, {"x": 5}])
    dataset, lake = open_indexed(tmp_path), Answerer.open(tmp_path)

    for value, of_flat, of_nested in ((1, 2, 0), (5, 0, 2)):
        question = f'SELECT COUNT(*) AS n FROM t WHERE "st.x" = {value}'
        assert [{"n": of_flat}] == lake.ask(question).table.to_pylist()
        assert of_flat == dataset.count_rows(filter=pc.field("st.x") == value)
        assert of_nested == dataset.count_rows(filter=pc.field("st", "x") == value)
    assert [{"st.x": 1, "n": 2}] == lake.ask(
        'SELECT "st.x", SUM("st.x") AS n FROM t GROUP BY "st.x"'
    ).table.to_pylist()


def test_a_file_that_has_only_the_other_column_has_nulls(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", FLAT, st_dot_x=[1, 1])
    write(tmp_path / "b.parquet", NESTED, st=[{"x": 5}, {"x": 5}])
    lake = Answerer.open(tmp_path)

    question = 'SELECT APPROX_COUNT_DISTINCT("st.x") AS d, APPROX_QUANTILE("st.x", 1.0) AS q, COUNT("st.x") AS n FROM t'
    assert [{"d": 1, "q": 1, "n": 2}] == lake.ask(question).table.to_pylist()
    assert 2 == open_indexed(tmp_path).count_rows(filter=pc.field("st.x").is_null())
    for test, count in (("IS NULL", 2), ("IS NOT NULL", 2), ("= 5", 0)):
        answer = lake.ask(f'SELECT COUNT(*) AS n FROM t WHERE "st.x" {test}')
        assert [{"n": count}] == answer.table.to_pylist(), test


def test_sets_of_a_member_of_a_struct_skip_files(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", NESTED, st=[{"x": 5}])
    dataset = open_indexed(tmp_path)

    assert [] == list(dataset.prune(pc.field("st", "x") == 1).kept)
    assert 1 == len(dataset.prune(pc.field("st", "x") == 5).kept)


def test_what_has_several_values_a_row_has_no_estimate(tmp_path: Path) -> None:
    pq.write_table(pa.table({"tags": [["a", "b"], ["c"]]}), tmp_path / "a.parquet")
    with pytest.raises(Refused, match="APPROX_COUNT_DISTINCT of list<element: string> is not supported"):
        Answerer.open(tmp_path).ask("SELECT APPROX_COUNT_DISTINCT(tags) FROM t")
