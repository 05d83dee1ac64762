"""What a scan reports about itself: which pages were read, and what each rung left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pairwise import pairwise
from places import GOLDEN_FILES
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, Encoding, ListOf, TinyParquet
from pqassay_reader.query.explained.text import MOST_GROUPS
from pqassay_reader.query.explained.waterfall import explanation, waterfall
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.scan import Scan, scan
from pqassay_spec.base.sources import BytesSource

NUMBERS = list(range(0, 240, 10))
METALS = [["tin", "lead", "zinc", "iron"][at // 6] for at in range(24)]
MARKS: list[Any] = [[at, at] for at in range(24)]


def metals(**options: Any) -> BytesSource:
    """Two row groups of twelve rows; numbers in pages of four, metals in pages of three, lists in pages of two."""
    chosen: dict[str, Any] = {"page_index": True, **options}
    file = TinyParquet(
        (
            Column("number", "int32", NUMBERS, layout=Layout(page_rows=4)),
            Column("metal", "string", METALS, layout=Layout(page_rows=3, dictionary=Encoding.RLE_DICTIONARY)),
            Column("marks", ListOf("int32"), MARKS, layout=Layout(page_rows=2)),
        ),
        row_group_rows=12,
        **chosen,
    )  # fmt: skip
    return BytesSource(file.build(), "metals.parquet")


def done(source: Any, predicate: str | None = None, columns: list[str] | None = None, **options: Any) -> Scan:
    rows = scan(source, predicate, columns, explain=True, **options)
    rows.to_table()
    return rows


def pages_read(rows: Scan) -> dict[tuple[int, str], list[int]]:
    """First rows of the pages that were read, by row group and column."""
    assert rows.trace is not None
    return {
        (group.row_group, column.column): [page.row for page in column.pages if page.read]
        for file in rows.trace.files
        for group in file.shown
        for column in group.columns
    }


def test_of_each_column_the_pages_are_told_that_were_read() -> None:
    rows = done(metals(), "number BETWEEN 40 AND 110 AND metal = 'lead'", ["marks"])

    assert {(0, "number"): [4, 8], (0, "metal"): [6, 9], (0, "marks.list.element"): [6, 8, 10]} == pages_read(
        rows
    )
    assert rows.trace is not None
    [file] = rows.trace.files
    [group] = file.shown
    assert ("metals.parquet", 2, [0]) == (file.file, file.row_groups, file.row_groups_left)
    assert ([(6, 12)], 12, 6) == (group.left, group.rows, group.matched)
    assert {"number": True, "metal": True, "marks.list.element": False} == {
        column.column: column.in_condition for column in group.columns
    }


def test_pages_are_those_of_the_offset_index() -> None:
    rows = done(metals(), "number = 50", ["metal"])
    assert rows.trace is not None
    number, metal = rows.trace.files[0].shown[0].columns

    assert [3] * 4 == [page.rows for page in metal.pages]
    assert [4, 4, 4] == [page.rows for page in number.pages]


def test_a_row_group_of_which_the_page_index_leaves_nothing_is_told_with_the_pages_that_say_so() -> None:
    rows = done(metals(), "number = 30 AND metal = 'lead'", ["number"])
    assert rows.trace is not None
    [group] = rows.trace.files[0].shown

    assert [] == group.left
    assert {(0, "number"): [], (0, "metal"): []} == pages_read(rows)


def test_without_an_index_a_chunk_is_read_as_a_whole() -> None:
    rows = done(metals(page_index=False), columns=["number"])
    assert rows.trace is not None
    [column] = rows.trace.files[0].shown[1].columns

    assert (False, True) == (column.pages_known, column.pages[0].read)
    assert (0, 12) == (column.pages[0].row, column.pages[0].rows)


def test_nothing_is_kept_where_nobody_asks_and_nothing_more_is_read_where_somebody_does() -> None:
    asked, other = done(metals(), "number = 50"), scan(metals(), "number = 50")
    other.to_table()

    assert other.trace is None
    assert (asked.counters.data, asked.counters.metadata) == (other.counters.data, other.counters.metadata)


def test_of_many_row_groups_the_first_are_kept() -> None:
    file = TinyParquet((Column("n", "int32", list(range(50))),), row_group_rows=1)
    rows = done(BytesSource(file.build()))
    assert rows.trace is not None

    assert (50, MOST_GROUPS) == (rows.trace.files[0].row_groups_visited, len(rows.trace.files[0].shown))


# --------------------------------------------------------------------------------------------------------- waterfall


@pytest.mark.parametrize(
    "asked",
    pairwise(
        {
            "limit": [None, 0, 1, 7, 24],
            "predicate": [None, "number >= 40", "number = 50 AND metal = 'lead'"],
            "without": [[], ["pages"], ["late", "fetch"], ["stream", "row-groups"]],
        }
    ),
    ids=str,
)
def test_the_last_step_is_what_was_fetched_and_none_adds_rows(asked: dict[str, Any]) -> None:
    predicate, without = asked.pop("predicate"), asked["without"]
    rows = done(metals(), predicate, ["metal"], **asked)
    steps = waterfall(rows)
    last = steps[-1].left

    assert (rows.counters.data.length, rows.counters.data.requests) == (last.length, last.requests)
    assert [True] * 11 == [
        before.left.rows >= after.left.rows
        for before, after in zip(steps, [*steps[1:], steps[-1]], strict=True)
    ]
    assert [name not in without for name in rows.counters.left] == [step.is_on for step in steps]


def test_what_a_limit_saves_is_saved_by_the_last_rung(tmp_path: Path) -> None:
    path = tmp_path / "metals.parquet"
    path.write_bytes(TinyParquet((Column("metal", "string", ["tin" * 500] * 24),), row_group_rows=12).build())
    whole, first = done(path), done(path, limit=2)
    last = {step.name: step for step in waterfall(first)}

    assert [step.left.length for step in waterfall(whole)[:7]] == [
        step.left.length for step in waterfall(first)[:7]
    ]
    assert last["stream"].saved == last["fetch"].left.length - first.counters.data.length
    assert last["stream"].saved is not None
    assert 0 < last["stream"].saved
    assert first.trace is not None
    assert first.trace.is_stopped
    assert whole.trace is not None
    assert not whole.trace.is_stopped


def test_metadata_that_was_fetched_to_know_the_columns_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "metals.parquet"
    path.write_bytes(metals().read(0, metals().size))
    KEPT_FACTS.clear()

    assert 1 == done(path, columns=["number"], without=["pages"]).counters.metadata.requests
    assert 0 == done(path, columns=["number"], without=["pages"]).counters.metadata.requests


def test_the_explanation_is_an_object_of_json() -> None:
    told = json.loads(json.dumps(explanation(done(metals(), "number = 50", ["metal"]))))
    pages = next(step for step in told["rungs"] if step["rung"] == "pages")
    [group] = told["pictures"][0]["shown"]

    assert (1, False, 1) == (told["rows"], told["limit_reached"], told["files"])
    assert (4, 2, True) == (pages["rows"], pages["pages"] - 1, pages["on"])
    assert [[4, 8]] == group["left"]
    assert {"row": 4, "rows": 4, "read": True} == {
        name: value for name, value in group["columns"][0]["pages"][1].items() if name != "bytes"
    }


def test_a_row_group_of_less_than_no_rows_is_malformed() -> None:
    from pqassay_spec.base.errors import Malformed

    with pytest.raises(Malformed, match="row group 0 has -1 rows"):
        scan(GOLDEN_FILES / "pqf" / "rows-of-group-negative" / "data.parquet")
