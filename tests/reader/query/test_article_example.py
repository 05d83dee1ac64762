"""The published example of page pruning, scanned: the pages that are read, and the rows that are left after each rung."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest

from counting_source import CountingSource
from places import GOLDEN_FILES
from pqassay_reader import scan
from pqassay_reader.query import file_scan
from pqassay_reader.query.facts.footer_facts import FileFacts, read_facts
from pqassay_reader.query.fetching.field_pages import FieldPages
from pqassay_reader.query.fetching.page_layout import Numbers
from pqassay_reader.query.rungs import Rung
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.page_search import rows_of_page

ARTICLE = GOLDEN_FILES / "pix" / "article-two-columns" / "data.parquet"
CONDITION = "A > 35 AND B = 'F'"

FIRST = {"A": 1, "B": 3}
"""The numbers that the article gives to the first pages of its columns."""


def pages(data: bytes) -> dict[tuple[int, int], int]:
    """The article's numbers of pages, by the offsets at which they begin and end."""
    facts = facts_of(data)
    found: dict[tuple[int, int], int] = {}
    for leaf, (_, first) in enumerate(FIRST.items()):
        locations = facts.claims_of(BytesSource(data), 0, leaf).offset_index.page_locations
        for number, place in enumerate(locations, first):
            found[place.offset, place.offset + place.compressed_page_size] = number
    return found


def facts_of(data: bytes) -> FileFacts:
    return read_facts(BytesSource(data))


def ranges(rows: Numbers) -> list[tuple[int, int]]:
    """First and last rows of the ranges that some rows make up."""
    found: list[tuple[int, int]] = []
    for row in rows.tolist():
        if found and found[-1][1] == row - 1:
            found[-1] = found[-1][0], row
        else:
            found.append((row, row))
    return found


def test_pages_have_the_rows_and_bounds_of_the_articles_figure() -> None:
    data = ARTICLE.read_bytes()
    facts = facts_of(data)
    found: list[tuple[str, range, bytes, bytes]] = []
    for leaf, name in enumerate(FIRST):
        claims = facts.claims_of(BytesSource(data), 0, leaf)
        bounds = zip(claims.column_index.min_values, claims.column_index.max_values, strict=True)
        for page, (low, high) in enumerate(bounds):
            rows = rows_of_page(claims.offset_index, claims.row_count, page)
            found.append((name, rows, low.rstrip(b"\0"), high.rstrip(b"\0")))

    assert [
        ("A", range(200), bytes([10]), bytes([20])),
        ("A", range(200, 300), bytes([30]), bytes([40])),
        ("B", range(100), b"A", b"C"),
        ("B", range(100, 250), b"D", b"G"),
        ("B", range(250, 300), b"H", b"Z"),
    ] == found


@pytest.mark.parametrize(("condition", "read"), [("A > 35", [2, 4, 5]), (CONDITION, [2, 4])])
def test_no_other_page_is_read_than_the_article_says(
    monkeypatch: pytest.MonkeyPatch, condition: str, read: list[int]
) -> None:
    monkeypatch.setattr(
        file_scan, "REMOTE_TAIL", 8
    )  # the file is shorter than what is read of the end by default
    data = ARTICLE.read_bytes()
    numbers, ends = pages(data), facts_of(data).metadata.row_groups[0].columns
    source = CountingSource(data)
    scan(source, condition, ["B"], gap=0).to_table()
    last = max(chunk.meta_data.data_page_offset for chunk in ends if chunk.meta_data is not None)
    asked = [(offset, offset + length) for offset, length in source.ranges if 4 <= offset < last]

    # Pages side by side are asked for at once.
    assert read == sorted(
        number for place, number in numbers.items() if any(a <= place[0] and place[1] <= b for a, b in asked)
    )
    assert sum(b - a for a, b in asked) == sum(b - a for (a, b), n in numbers.items() if n in read)


def test_each_rung_leaves_the_rows_that_the_article_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, list[tuple[int, int]]]] = []
    decode = FieldPages.values

    def noted(self: FieldPages, rows: Numbers) -> Any:
        asked.append((self.field.arrow.name, ranges(rows)))
        return decode(self, rows)

    monkeypatch.setattr(FieldPages, "values", noted)
    rows = scan(ARTICLE, CONDITION, ["B"])

    assert [{"B": "F"}, {"B": "F"}] == rows.to_table().to_pylist()
    assert [("A", [(200, 249)]), ("B", [(205, 206), (238, 240)])] == asked
    left = [rows.counters.left[rung].rows for rung in (Rung.ROW_GROUPS, Rung.PAGES, Rung.LATE)]
    assert [300, 50, 2] == left


def test_the_five_rows_have_the_values_of_the_articles_figure() -> None:
    shown = [200, 205, 206, 238, 239, 240, 244]
    table = scan(ARTICLE, columns=["A", "B"]).to_table().take(shown).to_pydict()

    assert [30, 37, 36, 36, 36, 40, 34] == table["A"], "but for the last, which is 26 there"
    assert ["F", "F", "G", "F", "G", "G", "D"] == table["B"]


NARROWING = (Rung.FILES, Rung.ROW_GROUPS, Rung.PAGES, Rung.LATE)
OTHERS = tuple(rung for rung in Rung if rung not in NARROWING)


@pytest.mark.parametrize("others", [(), OTHERS], ids=["with the others", "without the others"])
def test_any_rungs_that_leave_out_rows_find_the_same(others: tuple[Rung, ...]) -> None:
    subsets = chain.from_iterable(combinations(NARROWING, size) for size in range(len(NARROWING) + 1))
    found = [
        scan(ARTICLE, CONDITION, ["C"], without=[*some, *others]).to_table().column("C").to_pylist()
        for some in subsets
    ]

    assert [[205, 238]] * 16 == found
