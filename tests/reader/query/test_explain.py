"""What a scan reports about itself: what each rung left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pairwise import pairwise
from places import GOLDEN_FILES
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, Encoding, ListOf, TinyParquet
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
    rows = scan(source, predicate, columns, **options)
    rows.to_table()
    return rows


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
    assert first.counters.is_stopped
    assert not whole.counters.is_stopped


def test_metadata_that_was_fetched_to_know_the_columns_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "metals.parquet"
    path.write_bytes(metals().read(0, metals().size))
    KEPT_FACTS.clear()

    assert 1 == done(path, columns=["number"], without=["pages"]).counters.metadata.requests
    assert 0 == done(path, columns=["number"], without=["pages"]).counters.metadata.requests


def test_the_explanation_is_an_object_of_json() -> None:
    told = json.loads(json.dumps(explanation(done(metals(), "number = 50", ["metal"]))))
    pages = next(step for step in told["rungs"] if step["rung"] == "pages")

    assert (1, False, 1) == (told["rows"], told["limit_reached"], told["files"])
    assert (4, 2, True) == (pages["rows"], pages["pages"] - 1, pages["on"])


def test_a_row_group_of_less_than_no_rows_is_malformed() -> None:
    from pqassay_spec.base.errors import Malformed

    with pytest.raises(Malformed, match="row group 0 has -1 rows"):
        scan(GOLDEN_FILES / "pqf" / "rows-of-group-negative" / "data.parquet")
