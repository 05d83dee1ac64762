"""Scans of files with distinct sets: the same rows, fewer row groups and pages, and reasons for what is left aside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from damage import tries
from indexed_directories import add_sets
from pqassay.cli.main import app
from pqassay_reader import scan
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.rungs import Rung
from pqassay_spec.directory.codes import Granularity, Placement

GROUP, PAGE = 8, 2
"""Rows of a row group, and of a page."""

PAGES = [(row, PAGE) for row in range(0, 4 * GROUP, PAGE)]


def written(path: Path, columns: dict[str, Any]) -> Path:
    """A file whose bounds exclude nothing that lies between its values."""
    pq.write_table(
        pa.table(columns),
        path,
        row_group_size=GROUP,
        max_rows_per_page=PAGE,
        write_batch_size=1,
        write_page_index=True,
        use_dictionary=False,
    )
    return path


@pytest.fixture
def cargo(tmp_path: Path) -> Path:
    """Four row groups; each has carriers from A to Z, and nations from Austria to Zambia."""
    nations = ["Austria", "Zambia", "Austria", "Peru", "Austria", "Zambia", "Austria", "Zambia"]
    carriers = ["A", "Z", "A", "Z", "A", "Z", "A", "M"]
    return written(
        tmp_path / "cargo.parquet",
        {
            "nation": [*nations, *(nations[0:2] * 4), *nations, *(nations[0:2] * 4)],
            "carrier": [*carriers, *carriers, *(carriers[0:2] * 4), *(carriers[0:2] * 4)],
            "id": list(range(4 * GROUP)),
        },
    )


def left(path: Path, condition: str, **options: Any) -> dict[str, Any]:
    """What each rung leaves."""
    KEPT_FACTS.clear()
    rows = scan(path, condition, ["id"], **options)
    found = rows.to_table().column("id").to_pylist()
    return {"ids": found, "used": rows.counters.used, **rows.counters.left}


def test_sets_on_two_columns_leave_out_row_groups_together(cargo: Path) -> None:
    both = "nation = 'Peru' AND carrier = 'M'"
    for columns, groups in ((["nation"], 2), (["nation", "carrier"], 1)):
        for column in columns:
            add_sets(cargo, column)
        found = left(cargo, both)
        assert (4, groups) == (found[Rung.ROW_GROUPS].row_groups, found[Rung.SETS].row_groups)
        assert "distinct sets" in found["used"]
    assert 4 == left(cargo, both, without=["sets"])[Rung.SETS].row_groups


def test_a_set_of_the_file_leaves_out_the_file(cargo: Path) -> None:
    add_sets(cargo, "nation", Granularity.FILE)
    found = left(cargo, "nation = 'Mali'")
    assert ([], 0) == (found["ids"], found[Rung.SETS].files)


def test_sets_of_pages_leave_rows(cargo: Path) -> None:
    add_sets(cargo, "nation", Granularity.PAGE, parts=PAGES)
    found = left(cargo, "nation = 'Peru'")
    assert [3, 19] == found["ids"]
    assert 4 == found[Rung.PAGES].rows
    assert 4 < left(cargo, "nation = 'Peru'", without=["sets"])[Rung.PAGES].rows


def test_what_is_left_aside_is_said(cargo: Path) -> None:
    add_sets(cargo, "nation", placement=Placement.BODY, change=lambda head: head.changed(crc32=1))
    for _ in range(2):  # of the second scan, the facts are known
        result = CliRunner().invoke(app, ["scan", str(cargo), "nation = 'Peru'", "--explain"])
        said = "unused   index entry of 1 file: DISTINCT_SET of nation by ROW_GROUP: the checksum does not fit the blob's bytes"
        assert said in result.stdout
    assert [3, 19] == left(cargo, "nation = 'Peru'")["ids"]


def texts(values: list[str | None]) -> Any:
    """A column of text, also where all is null."""
    return pa.array(values, pa.string())


VALUE = st.sampled_from([None, "a", "b", "c"])
CONDITION = st.sampled_from(
    [
        "x = 'b'",
        "x <> 'b' AND y IS NULL",
        "x IN ('a', 'c') OR y = 'b'",
        "NOT (x = 'a' AND y = 'a')",
        "x > 'a' AND x < 'c' AND y <> 'c'",
        "x IS NULL",
    ]
)


@tries(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(VALUE, VALUE), min_size=4 * GROUP, max_size=4 * GROUP),
    condition=CONDITION,
    granularities=st.tuples(st.sampled_from(Granularity), st.sampled_from(Granularity)),
    without=st.sets(st.sampled_from(["pages", "row-groups", "late"])),
)
def test_the_rows_are_those_of_a_scan_without_sets(
    tmp_path: Path, rows: list[Any], condition: str, granularities: Any, without: set[str]
) -> None:
    path = written(
        tmp_path / "any.parquet",
        {
            "x": texts([row[0] for row in rows]),
            "y": texts([row[1] for row in rows]),
            "id": list(range(len(rows))),
        },
    )
    expected = left(path, condition, without=["sets"])["ids"]
    for column, granularity in zip("xy", granularities, strict=True):
        add_sets(path, column, granularity, parts=PAGES if granularity is Granularity.PAGE else None)
    assert expected == left(path, condition, without=without)["ids"]
