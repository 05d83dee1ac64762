"""Scans of files with KLL sketches: the same rows, fewer row groups where there are no statistics, and the selective column first."""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import tries
from pqassay_reader import scan
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.indexes import quantiles
from pqassay_reader.query.rungs import Rung
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_spec.directory.codes import Granularity, IndexType

pytest.importorskip("datasketches", reason="sketches take the extra `sketches`")

GROUP, K = 2000, 16
"""Rows of a row group, and the size of small sketches."""


def written(
    path: Path,
    columns: dict[str, Any],
    *,
    group: int = GROUP,
    granularity: Granularity = Granularity.ROW_GROUP,
    statistics: bool = False,
) -> Path:
    """A file with sketches of its columns."""
    table = pa.table(columns)
    pq.write_table(
        table,
        path,
        row_group_size=group,
        write_statistics=statistics,
        use_dictionary=False,
        compression="none",
        data_page_size=1 << 10,
        write_batch_size=50,
        write_page_index=statistics,
    )
    names = [name for name in columns if name != "id"]
    add_indexes(path, [Request(IndexType.KLL, ((name,),), granularity, parameter=K) for name in names])
    return path


def left(path: Path, condition: str, **options: Any) -> dict[str, Any]:
    """What each rung leaves, and how many bytes were read."""
    KEPT_FACTS.clear()
    rows = scan(path, condition, ["id"], **options)
    found = rows.to_table().column("id").to_pylist()
    return {"ids": found, "used": rows.counters.used, "data": rows.counters.data.length, **rows.counters.left}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four row groups of ascending numbers."""
    ascending = np.arange(4 * GROUP)
    columns = {"x": ascending, "y": ascending.astype(float), "id": ascending}
    return written(tmp_path_factory.mktemp("numbers") / "t.parquet", columns)


@pytest.mark.parametrize(
    ("condition", "groups"),
    [
        ("x >= 4000 AND x < 4005", 1),
        ("x > 7998", 1),
        ("x > 7999", 0),
        ("x >= 7999", 1),  # a bound that equals the constant leaves nothing out
        ("x > 8000", 0),
        ("x = 2500", 1),
        ("x IN (100, 7000)", 2),
        ("NOT x < 6000", 1),
        ("x <> 5", 4),
        ("x IS NULL", 4),
        ("x < 10 OR y < 10", 1),
        ("x < 10 AND y > 2500", 0),
    ],
)
def test_smallest_and_largest_values_leave_out_row_groups_without_statistics(
    numbers: Path, condition: str, groups: int
) -> None:
    found, without = left(numbers, condition), left(numbers, condition, without=["sets"])
    assert (4, groups) == (found[Rung.ROW_GROUPS].row_groups, found[Rung.SETS].row_groups)
    assert (4, without["ids"]) == (without[Rung.SETS].row_groups, found["ids"])
    assert "KLL sketches" in found["used"]


def test_the_column_that_leaves_few_rows_is_tried_first(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    columns = {name: random.random(4 * GROUP) for name in ("a", "b")}
    path = written(
        tmp_path / "t.parquet", {**columns, "id": range(4 * GROUP)}, group=4 * GROUP, statistics=True
    )
    least = 8 * 4 * GROUP  # bytes of a column
    before: list[int] = []
    for rare, common in (("a", "b"), ("b", "a")):
        ranges = {rare: "BETWEEN 0.5 AND 0.501", common: "BETWEEN 0.1 AND 0.9"}
        condition = f"a {ranges['a']} AND b {ranges['b']}"
        found = left(path, condition, gap=0)
        without = left(path, condition, gap=0, without=["sets"])
        expected = np.flatnonzero(
            (abs(columns[rare] - 0.5005) <= 0.0005) & (abs(columns[common] - 0.5) <= 0.4)
        ).tolist()
        assert [expected, expected] == [found["ids"], without["ids"]]
        assert least < found["data"] < 1.7 * least  # one column, and of the others the pages with few rows
        before.append(without["data"])
    assert max(before) > 1.9 * least  # where the other one came first


def test_without_the_library_everything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = list(range(2 * GROUP))
    path = written(tmp_path / "t.parquet", {"x": numbers, "id": numbers})
    monkeypatch.setitem(sys.modules, "datasketches", None)
    found = left(path, "x < 3")
    assert ([0, 1, 2], 2) == (found["ids"], found[Rung.SETS].row_groups)


BIG = 1 << 53
INTEGERS = st.sampled_from([None, 0, 1, -5, BIG, BIG + 1, BIG + 2, -BIG - 1, (1 << 63) - 1, -(1 << 63)])
DOUBLES = st.sampled_from([None, 0.0, -0.0, 1.5, -2.0, math.nan, math.inf, -math.inf])
FORMS = st.sampled_from(
    [
        *("{0} = {1}", "{0} <> {1}", "{0} < {1}", "{0} <= {1}", "{0} > {1}", "{0} >= {1}", "{0} IN ({1}, 7)"),
        *("{0} NOT IN ({1})", "{0} IS NULL", "{0} IS NOT NULL", "NOT {0} > {1}", "NOT {0} = {1}"),
    ]
)
TESTS = st.tuples(
    FORMS, st.just("x"), st.sampled_from([0, 1, BIG, BIG + 1, -BIG - 1, (1 << 63) - 1])
) | st.tuples(FORMS, st.just("y"), st.sampled_from([0, 1.5, -2, 1e300]))


@tries(60)
@given(
    rows=st.lists(st.tuples(INTEGERS, DOUBLES), min_size=1, max_size=9),
    tests=st.lists(TESTS, min_size=1, max_size=3),
    joined=st.sampled_from([" AND ", " OR "]),
    granularity=st.sampled_from([Granularity.FILE, Granularity.ROW_GROUP]),
)
def test_no_row_is_lost(rows: Any, tests: Any, joined: str, granularity: Granularity) -> None:
    condition = joined.join(test.format(name, literal) for test, name, literal in tests)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantiles, "WORTH", 0)
        columns = {
            "x": pa.array([row[0] for row in rows], pa.int64()),
            "y": pa.array([row[1] for row in rows], pa.float64()),
            "id": range(len(rows)),
        }
        path = written(Path(folder) / "t.parquet", columns, group=3, granularity=granularity)
        found = left(path, condition)
        assert left(path, condition, without=["sets"])["ids"] == found["ids"]
        # Tests of one column may leave no value, for which nothing is asked.
        assert not found["ids"] or "KLL sketches" in found["used"]
