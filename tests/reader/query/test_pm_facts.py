"""Scans by the ``_pm`` beside a file: the rows that its footer leads to, and the footer is never read."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from damage import EXAMPLES
from drawn_conditions import Drawn, drawn, examples, written
from places import GOLDEN_FILES, INTEROP
from pqassay_reader.query.facts import pm_facts, pm_schema
from pqassay_reader.query.facts.pm_facts import row_groups_left
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import scan
from pqassay_reference.errors import Refused
from pqassay_reference.pm.generate import generate_file
from pqassay_reference.pm.read import PmReader
from pqassay_spec.parquet.file import TAIL_SIZE

REAL = sorted(path.parent for path in INTEROP.glob("questdb-*/*/_pm"))


@pytest.mark.parametrize(
    "folder", REAL[:: (EXAMPLES + 1) // 2], ids=lambda folder: f"{folder.parent.name}/{folder.name}"
)
def test_the_rows_of_real_files_are_those_of_their_footers(folder: Path) -> None:
    rows = scan(folder / "data.parquet", metadata="pm")

    assert pq.ParquetFile(folder / "data.parquet").read().to_pylist() == rows.to_table().to_pylist()
    assert 0 == rows.counters.metadata.requests
    assert {"_pm"} == rows.counters.used


def test_a_footer_that_is_gone_is_not_missed(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN_FILES / "pm/with-data", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "data.parquet"
    whole = path.read_bytes()
    length = int.from_bytes(whole[-TAIL_SIZE:][:4], "little")
    path.write_bytes(whole[: -TAIL_SIZE - length] + bytes(length + TAIL_SIZE))

    with pytest.raises(pa.ArrowInvalid):
        pq.read_table(path)
    assert 0 < scan(path, metadata="pm").to_table().num_rows


def test_the_bounds_in_pm_leave_row_groups_out() -> None:
    path = GOLDEN_FILES / "pm/with-data/data.parquet"
    assert 2 == pq.ParquetFile(path).num_row_groups
    none, first = (
        scan(path, f"venue = '{venue}'", ["price"], metadata="pm") for venue in ("nowhere", "XETR")
    )

    assert 0 == none.to_table().num_rows
    assert 0 == none.counters.left[Rung.ROW_GROUPS].row_groups
    assert {"_pm", "statistics"} == none.counters.used
    assert 0.5 in first.to_table().column("price").to_pylist()


def test_only_chunks_of_columns_that_are_asked_for_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    described: set[str] = set()

    def facts_of(elements: Any, *others: Any) -> Any:
        described.add(elements[0].name)
        return pm_schema.facts_of(elements, *others)

    monkeypatch.setattr(pm_facts, "facts_of", facts_of)
    scan(GOLDEN_FILES / "pm/with-data/data.parquet", "venue = 'XETR'", ["price"], metadata="pm").to_table()

    assert {"venue", "price"} == described


def test_a_pm_of_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="the file is stale"):
        scan(GOLDEN_FILES / "pm/stale/data.parquet", metadata="pm")
    alone = tmp_path / "data.parquet"
    shutil.copy(GOLDEN_FILES / "pm/with-data/data.parquet", alone)
    with pytest.raises(Refused, match="there is no _pm beside the file"):
        scan(alone, metadata="pm")


KINDS = [pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.bool_()]


@given(case=drawn(KINDS, rows=24, trees=4, strangers=False))
@settings(max_examples=examples(6, 300), deadline=None)
def test_a_plan_keeps_what_a_scan_keeps(case: Drawn, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Constants of every other type: fractions beside whole numbers, numbers beyond the type, NaN."""
    path = tmp_path_factory.mktemp("pm") / "data.parquet"
    pq.write_table(case.table, path, row_group_size=6)
    generate_file(path)
    with PmReader.map(path.with_name("_pm")) as reader:
        for drawn_tree in case.trees:
            tree = written(drawn_tree)
            expected = {row // 6 for row, each in enumerate(case.truths(drawn_tree) or []) if each}
            rows = scan(path, tree, ["x"], metadata="pm")
            rows.to_table()

            kept = row_groups_left(reader, tree)
            assert expected <= set(kept), (tree, case)
            assert len(kept) == rows.counters.left[Rung.ROW_GROUPS].row_groups, (tree, case)
