"""What a scan tells of itself: which pages were read, what each rung left, and the picture of both."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from places import GOLDEN_FILES
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, Encoding, ListOf, TinyParquet, decimal, timestamp
from pqassay_reader.pages.bound_text import bound_text
from pqassay_reader.query.explained.picture import STYLE, drawn
from pqassay_reader.query.explained.text import MOST_GROUPS, PageTrace, Trace
from pqassay_reader.query.explained.waterfall import explanation, waterfall
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.scan import Scan, scan
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.column_order import Order
from pqassay_spec.parquet.thrift import ConvertedType, SchemaElement, Type

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
        (group.row_group, column.name): [page.row for page in column.pages if page.is_read]
        for file in rows.trace.files
        for group in file.groups
        for column in group.columns
    }


def test_of_each_column_the_pages_are_told_that_were_read() -> None:
    rows = done(metals(), "number BETWEEN 40 AND 110 AND metal = 'lead'", ["marks"])

    assert {(0, "number"): [4, 8], (0, "metal"): [6, 9], (0, "marks.list.element"): [6, 8, 10]} == pages_read(
        rows
    )
    assert rows.trace is not None
    [file] = rows.trace.files
    [group] = file.groups
    assert ("metals.parquet", 2, [0]) == (file.name, file.row_groups, file.left)
    assert ([range(6, 12)], 12, 6) == (group.left, group.row_count, group.matched)
    assert {"number": True, "metal": True, "marks.list.element": False} == {
        column.name: column.is_asked for column in group.columns
    }


def test_bounds_are_those_of_the_column_index_where_it_was_used() -> None:
    rows = done(metals(), "number = 50", ["metal"])
    assert rows.trace is not None
    number, metal = rows.trace.files[0].groups[0].columns

    assert [("0", "30"), ("40", "70"), ("80", "110")] == [page.bounds for page in number.pages]
    assert [None] * 4 == [page.bounds for page in metal.pages]
    assert [4, 4, 4] == [page.row_count for page in number.pages]


def test_a_row_group_of_which_the_page_index_leaves_nothing_is_told_with_the_pages_that_say_so() -> None:
    rows = done(metals(), "number = 30 AND metal = 'lead'", ["number"])
    assert rows.trace is not None
    [group] = rows.trace.files[0].groups

    assert [] == group.left
    assert {(0, "number"): [], (0, "metal"): []} == pages_read(rows)


def test_without_an_index_a_chunk_is_read_as_a_whole() -> None:
    rows = done(metals(page_index=False), columns=["number"])
    assert rows.trace is not None
    [column] = rows.trace.files[0].groups[1].columns

    assert (False, True) == (column.has_pages, column.pages[0].is_read)
    assert (0, 12) == column.pages[0][:2]


@pytest.mark.parametrize(
    ("kind", "values", "bounds"),
    [
        ("int32", [3, -4], ("-4", "3")),
        ("float", [0.1, 2.5], ("0.1", "2.5")),
        ("string", ["a\nb", "é" * 40], ("'a\\nb'", f"'{'é' * 30}…")),
        ("binary", [b"\xff", b"\xff\xfe"], ("x'ff'", "x'fffe'")),
        (decimal(9, 2), [125, 1250], ("1.25", "12.50")),
        (timestamp("millis"), [-(1 << 63), 0], ("-9223372036854775808", "1970-01-01 00:00:00")),
        (timestamp("millis"), [0, 1500], ("1970-01-01 00:00:00", "1970-01-01 00:00:01.500")),
        ("int32", [None, None], ()),
    ],
)
def test_bounds_are_written_as_people_read_them(
    kind: Any, values: list[Any], bounds: tuple[str, ...]
) -> None:
    file = TinyParquet((Column("n", kind, values),), page_index=True)
    rows = done(BytesSource(file.build()), "n IS NULL" if values == [None, None] else "n IS NOT NULL")
    assert rows.trace is not None

    assert bounds == rows.trace.files[0].groups[0].columns[0].pages[0].bounds


@pytest.mark.parametrize(
    ("order", "raw", "text"),
    [
        (Order.DECIMAL, (-(10**37) - 1).to_bytes(16, "big", signed=True), "-10000000.000000000000000000000…"),
        (Order.BYTES, "aé".encode() * 90, f"'{'aé' * 15}…"),
        (Order.BYTES, b"\xc3", "x'c3'"),
        (Order.BYTES, b"\xff" * 900, f"x'{'ff' * 14}f…"),
    ],
)
def test_a_long_bound_is_cut(order: Order, raw: bytes, text: str) -> None:
    element = SchemaElement(
        name="n", type=Type.BYTE_ARRAY, converted_type=ConvertedType.DECIMAL, precision=38, scale=30
    )

    assert text == bound_text(element, order, raw)


@pytest.mark.parametrize("scale", [0, 2_000_000_000])
def test_a_decimal_of_absurd_size_is_shown_in_short(scale: int) -> None:
    element = SchemaElement(
        name="n", type=Type.BYTE_ARRAY, converted_type=ConvertedType.DECIMAL, precision=9, scale=scale
    )

    assert "x'7f7f7f7f7f7f7f7f7f7f7f7f7f7f…" == bound_text(element, Order.DECIMAL, b"\x7f" * 20_000)
    assert len(bound_text(element, Order.DECIMAL, b"\x7f" * 9)) <= 32


def test_days_are_dates(tmp_path: Path) -> None:
    path = tmp_path / "days.parquet"
    pq.write_table(pa.table({"day": [date(2024, 2, 28), date(2024, 2, 29)]}), path, write_page_index=True)
    rows = done(path, "day > DATE '2024-02-28'")
    assert rows.trace is not None

    assert ("2024-02-28", "2024-02-29") == rows.trace.files[0].groups[0].columns[0].pages[0].bounds


def test_nothing_is_kept_where_nobody_asks_and_nothing_more_is_read_where_somebody_does() -> None:
    asked, other = done(metals(), "number = 50"), scan(metals(), "number = 50")
    other.to_table()

    assert other.trace is None
    assert (asked.counters.data, asked.counters.metadata) == (other.counters.data, other.counters.metadata)


def test_of_many_row_groups_the_first_are_kept() -> None:
    file = TinyParquet((Column("n", "int32", list(range(50))),), row_group_rows=1)
    rows = done(BytesSource(file.build()))
    assert rows.trace is not None

    assert (50, MOST_GROUPS) == (rows.trace.files[0].visited, len(rows.trace.files[0].groups))


# --------------------------------------------------------------------------------------------------------- waterfall


@pytest.mark.parametrize("limit", [None, 0, 1, 7, 24])
@pytest.mark.parametrize("predicate", [None, "number >= 40", "number = 50 AND metal = 'lead'"])
@pytest.mark.parametrize("without", [[], ["pages"], ["late", "fetch"], ["stream", "row-groups"]])
def test_the_last_step_is_what_was_fetched_and_none_adds_rows(
    limit: int | None, predicate: str | None, without: list[str]
) -> None:
    rows = done(metals(), predicate, ["metal"], limit=limit, without=without)
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
    assert {"row": 4, "rows": 4, "read": True, "bounds": ["40", "70"]} == {
        name: value for name, value in group["columns"][0]["pages"][1].items() if name != "bytes"
    }


def test_a_row_group_of_less_than_no_rows_is_malformed() -> None:
    from pqassay_spec.base.errors import Malformed

    with pytest.raises(Malformed, match="row group 0 has -1 rows"):
        scan(GOLDEN_FILES / "pqf" / "rows-of-group-negative" / "data.parquet")


# ----------------------------------------------------------------------------------------------------------- picture


def rectangles(svg: str, kind: str) -> list[str]:
    """The hints of the rectangles of a kind."""
    found: list[str] = []
    for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect"):
        if kind in each.get("class", "").split():
            hint = each.find("{http://www.w3.org/2000/svg}title")
            found.append("" if hint is None else hint.text or "")
    return found


def test_the_picture_shows_each_page() -> None:
    svg = drawn(done(metals(), "number BETWEEN 40 AND 110 AND metal = 'lead'", ["metal"]), "metals")
    key = 1

    assert 2 + 2 == len(rectangles(svg, "read")) - key
    assert 1 + 2 == len(rectangles(svg, "skipped")) - key
    assert any(
        hint.startswith("rows 4 to 7, ") and hint.endswith(": read; 40 … 70")
        for hint in rectangles(svg, "read")
    )


def test_narrow_pages_are_drawn_together_and_what_was_read_is_seen() -> None:
    numbers = list(range(1000))
    file = TinyParquet((Column("n", "int32", numbers, layout=Layout(page_rows=2)),), page_index=True)
    svg = drawn(done(BytesSource(file.build()), "n = 500"), "numbers")

    assert ["", "rows 500 to 501, 37 bytes: read; 500 … 501"] == rectangles(svg, "read")
    assert 3 == len(rectangles(svg, "skipped"))
    assert svg.rindex('class="skipped"') < svg.rindex('class="read'), "what was read is drawn over the rest"


def test_the_picture_has_words_for_those_who_do_not_see_it_two_colour_schemes_and_no_scripts() -> None:
    svg = drawn(done(metals(), "metal = 'tin'", ["number"]), "metals: <metal> \x1b = 'tin'")
    root = ET.fromstring(svg)

    assert ["title", "desc"] == [each.tag.partition("}")[2] for each in root][:2]
    assert "metals: <metal> \\x1b = 'tin'" == root[0].text
    assert "late: 6 rows" in (root[1].text or "")
    assert "prefers-color-scheme: dark" in STYLE
    assert "<script" not in svg
    assert svg == drawn(done(metals(), "metal = 'tin'", ["number"]), "metals: <metal> \x1b = 'tin'")


def test_traces_of_nothing_are_pictures_too() -> None:
    rows = done(BytesSource(TinyParquet((Column("n", "int32", []),)).build()))

    assert [] == [hint for hint in rectangles(drawn(rows, "nothing"), "read") if hint]
    assert 0 == PageTrace(0, 0, 0, False, None).row_count
    assert MOST_GROUPS == Trace().room
