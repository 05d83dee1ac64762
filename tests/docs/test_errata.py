"""Errata, and what the chapter of the scan refers to: each mistake is shown, each rule and section exists."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pages.rules.errata_tables import Mistake, contradictions, documents
from typer.testing import CliRunner

import pqassay
from damage import bounded_memory
from places import GOLDEN_FILES, ROOT
from pqassay.cli.main import app
from pqassay_reader import scan
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.query.facts.footer_facts import read_facts
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.column_order import Order
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.page_search import candidate_pages, intersection, rows_of_pages
from pqassay_spec.parquet.thrift import BoundaryOrder, ColumnIndex, ColumnMetaData, PageLocation
from pqassay_spec.rules.catalogue import rules

CHAPTER = ROOT / "spec" / "chapters" / "scan.md"


def data(case: str) -> bytes:
    return (GOLDEN_FILES / "pix" / case / "data.parquet").read_bytes()


def chunk(case: str, column: int) -> ChunkClaims:
    """What a golden file of the page index says about a chunk of its first row group."""
    source = BytesSource(data(case))
    return read_facts(source).claims_of(source, 0, column)


# ------------------------------------------------------------------------------------------------ what is referred to

MISTAKES = [mistake for document in documents().values() for mistake in document.mistakes]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.place)
def test_each_mistake_has_a_golden_file_and_a_test(mistake: Mistake) -> None:
    path, _, name = mistake.test.partition("::")

    assert (GOLDEN_FILES / mistake.golden / "case.json").is_file()
    assert f"\ndef {name}(" in (ROOT / path).read_text()


def test_the_page_of_errata_shows_every_document() -> None:
    page = (ROOT / "docs" / "errata.md").read_text()

    assert {*documents(), "pm"} == set(re.findall(r"^<!-- errata: (\S+) -->$", page, re.MULTILINE))


def test_the_table_about_pm_links_to_its_chapter() -> None:
    table = "\n".join(contradictions(lambda page, anchor: f"{page}#{anchor}"))

    assert "[PM-002](spec/pm.md#pm-002)" in table
    assert "](#" not in table


def test_a_rung_relies_on_rules_that_there_are() -> None:
    named = re.findall(r"^<!-- relied on: (\S+) -->$", CHAPTER.read_text(), re.MULTILINE)
    ids = [rule for each in named for rule in each.split(",")]

    assert ids
    assert [] == [rule for rule in ids if rule not in rules()]
    assert [] == [rule for rule in ids if rules()[rule].could == "cosmetic"], "nothing rests on these"


def test_every_section_of_the_chapter_that_the_code_names_is_there() -> None:
    headings = set(re.findall(r"^##+ (.+)$", CHAPTER.read_text(), re.MULTILINE))
    named: set[str] = set()
    for path in (ROOT / "reference_impl").rglob("*.py"):
        for told in re.findall(r"[Cc]hapter ``scan\.md``, sections? ([^.]+)\.", path.read_text()):
            named |= set(re.findall(r'"([^"]+)"', told))

    assert {"Pages", "Metadata"} <= named
    assert set() == named - headings


# ---------------------------------------------------------------------------------------------- the article's mistakes


def test_the_ranges_of_the_articles_example_end_with_row_249() -> None:
    a, b = chunk("article-two-columns", 0), chunk("article-two-columns", 1)
    above = candidate_pages(a.column_index, Order.SIGNED, ">", (35).to_bytes(4, "little"))
    equal = candidate_pages(b.column_index, Order.BYTES, "=", b"F")
    of_a, of_b = rows_of_pages(a.offset_index, 300, above), rows_of_pages(b.offset_index, 300, equal)

    assert [range(100, 250)] == of_b
    assert [range(200, 250)] == intersection(of_a, of_b)
    assert (50, 150) == (sum(map(len, intersection(of_a, of_b))), sum(map(len, of_b)))


def test_a_26_in_row_244_breaks_the_lower_bound_of_its_page() -> None:
    good = data("article-two-columns")
    values: list[int] = scan(BytesSource(good), columns=["A"]).to_table().to_pydict()["A"]
    values[244] = 26
    body = b"".join(value.to_bytes(4, "little") for value in values[200:])
    shown = mutate(good, Mutation("set", "row_groups[0].columns[0].pages[1].body", body))
    report = pqassay.check(shown, tier="values")
    source = BytesSource(shown)

    assert ["PIX-050"] == [finding.rule for file in report.files for finding in file.findings]
    assert 0 == scan(source, "A = 26", ["A"]).to_table().num_rows
    assert 1 == scan(source, "A = 26", ["A"], without=["pages"]).to_table().num_rows


def test_rows_of_pages_are_told_by_the_offset_index_alone() -> None:
    assert [] == [field.name for field in ColumnIndex.fields if "row" in field.name]
    assert ["first_row_index"] == [field.name for field in PageLocation.fields if "row" in field.name]
    assert [0, 3, 6] == [
        place.first_row_index for place in chunk("three-pages", 0).offset_index.page_locations
    ]


def test_the_footer_locates_the_first_page_of_a_chunk_and_the_page_index_stands_before_it() -> None:
    facts = read_facts(BytesSource(data("three-pages")))
    claims = chunk("three-pages", 0)
    starts = [place.offset for place in claims.offset_index.page_locations]
    index = claims.chunk.column_index_offset, claims.chunk.column_index_length

    assert {"data_page_offset", "index_page_offset", "dictionary_page_offset"} == {
        field.name for field in ColumnMetaData.fields if "page" in field.name
    }
    assert (3, starts[0]) == (len(starts), claims.facts.data_page_offset)
    assert max(starts) < sum(one or 0 for one in index) <= facts.framing.footer_start


# ------------------------------------------------------------------------------- those of the document on the page index


def test_where_cut_bounds_meet_a_lookup_reads_two_pages() -> None:
    names = chunk("document-truncated", 0)

    assert BoundaryOrder.ASCENDING == names.column_index.boundary_order
    assert [0, 1] == candidate_pages(names.column_index, Order.BYTES, "=", b"C")


def test_a_sorted_column_has_two_bounds_for_each_page() -> None:
    numbers = chunk("ordered-three-ways", 0)
    index = numbers.column_index

    assert BoundaryOrder.ASCENDING == index.boundary_order
    assert (3, 3, 3) == (
        len(numbers.offset_index.page_locations),
        len(index.min_values),
        len(index.max_values),
    )


def test_a_column_index_lists_pages_as_they_are_stored() -> None:
    metals = chunk("three-pages", 0)

    assert BoundaryOrder.UNORDERED == metals.column_index.boundary_order
    assert metals.column_index.min_values != sorted(metals.column_index.min_values)


def test_the_bounds_of_null_pages_are_in_no_order() -> None:
    numbers = chunk("null-pages", 0).column_index
    stored = [int.from_bytes(bound, "little") for bound in numbers.min_values]

    assert BoundaryOrder.ASCENDING == numbers.boundary_order
    assert stored != sorted(stored)


# --------------------------------------------------------------------------- those of the article on embedded indexes


def golden_file(case: str) -> bytes:
    return (GOLDEN_FILES / case / "data.parquet").read_bytes()


def payload_of(case: str) -> bytes:
    """The payload of the IDX1 blob of a golden file."""
    source = BytesSource(golden_file(case))
    framing = read_framing(source)
    pairs = read_footer(source, framing)[0].key_value_metadata or []
    offset = next(pair.value or "" for pair in pairs if pair.key == idx1.KEY)
    return idx1.read_blob(source, idx1.parse_offset(offset), framing.footer_start).payload


def test_a_list_of_values_decides_a_range_that_bounds_do_not(tmp_path: Path) -> None:
    condition = "category > 'bar' AND category < 'foo'"
    path = tmp_path / "file.parquet"
    path.write_bytes(golden_file("idx1/article-first-file"))
    listing = CliRunner().invoke(app, ["scan", "--files", str(tmp_path), condition])
    bounds: Any = pq.read_metadata(path).row_group(0).column(0).statistics

    assert ("bar", "foo") == (bounds.min, bounds.max)
    assert "skip  file.parquet" in listing.stdout


def test_values_that_are_joined_by_line_feeds_do_not_all_come_back() -> None:
    assert ["a\r", "b"] == sorted(idx1.exact_values(payload_of("idx1/carriage-return-before-line-feed")))
    assert ["a", "b"] == sorted(idx1.published_values(payload_of("idx1/carriage-return-before-line-feed")))
    assert ["a"] == idx1.published_values(payload_of("idx1/empty-value-last"))
    rows = pq.read_table(BytesIO(golden_file("idx1/value-with-line-feed"))).column(0).to_pylist()
    assert set(rows) - set(idx1.published_values(payload_of("idx1/value-with-line-feed"))) - {None}


def test_a_length_is_refused_before_memory_is_asked_for() -> None:
    with bounded_memory(1 << 20), pytest.raises(Malformed) as caught:
        payload_of("idx1/length-1-tib")
    assert "IDX1-008" == caught.value.rule


def test_an_embedded_index_outlives_its_data() -> None:
    found = pqassay.check(golden_file("interop/pyarrow-26.0.1/index-of-unsorted-rows"), tier="footer")
    assert "DIR-016" in {finding.rule for finding in found.files[0].findings}


def test_of_two_indexes_under_one_key_readers_take_the_first() -> None:
    data = golden_file("idx1/key-twice-first-stale")
    source = BytesSource(data)
    pairs = read_footer(source, read_framing(source))[0].key_value_metadata or []
    first, second = (pair.value or "" for pair in pairs if pair.key == idx1.KEY)

    with pytest.raises(Malformed):
        idx1.read_published(source, first)
    assert {"Peru", "Singapore"} <= idx1.read_published(source, second)


def test_statistics_have_a_number_of_distinct_values() -> None:
    chunks: Any = pq.read_metadata(BytesIO(golden_file("sta/counted"))).row_group(0)
    assert any(
        chunks.column(place).statistics.has_distinct_count
        for place in range(chunks.num_columns)
        if chunks.column(place).is_stats_set
    )
