"""The walk over the pages of a column chunk, and the checks of what their headers say."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from counting_source import CountingSource
from each import each
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay.under_test.pages.walk import REMOTE, bodies
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource, Source
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.file_tree import FileTree
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import DataPageHeader, IndexPageHeader, PageHeader, PageType, Statistics

ROWS = 40_000


def arrow_file(**options: Any) -> bytes:
    table = pa.table(
        {
            "number": pa.array(range(ROWS), pa.int64()),
            "word": pa.array([f"word {i % 1000}" for i in range(ROWS)]),
            "long": pa.array([f"{i}" * 40 for i in range(ROWS)]),
        }
    )
    sink = io.BytesIO()
    options = {"data_page_size": 2_000, "write_batch_size": 100, "compression": "none", **options}
    pq.write_table(table, sink, write_page_index=True, write_page_checksum=True, **options)
    return sink.getvalue()


@cache
def small_pages() -> bytes:
    return arrow_file()


@cache
def great_pages() -> bytes:
    return arrow_file(data_page_size=1 << 20, write_batch_size=20_000, use_dictionary=False)


THREE_PAGES = TinyParquet(
    (Column("metal", "string", ["tin", None, "lead"]), Column("year", "int64", [1, 2, 3], optional=False)),
    page_rows=1,
).build()


def chunks_of(source: Source | bytes, **options: Any) -> list[ColumnChunkUnderTest]:
    source = BytesSource(source) if isinstance(source, bytes) else source
    return FileUnderTest(source, Options("pages", **options)).part(ColumnChunks).all


ABOUT_PAGES = ["PQF-05*", "PQF-06*", "PQF-07*"]


def findings(data: bytes, tier: Any = "pages", **options: Any) -> list[tuple[str, str]]:
    """Rule and field of every place that a check finds."""
    (file,) = pqassay.check(data, tier=tier, only=ABOUT_PAGES, **options).files
    assert file.error is None
    return [(finding.rule, place.field) for finding in file.findings for place in finding.at]


def rules_of(data: bytes, tier: Any = "pages", **options: Any) -> set[str]:
    (file,) = pqassay.check(data, tier=tier, only=ABOUT_PAGES, **options).files
    assert file.error is None
    return {rule for finding in file.findings for rule in (finding.rule, *finding.also)}


@pytest.mark.parametrize("written", [small_pages, great_pages])
def test_the_pages_are_those_of_the_page_index(written: Callable[[], bytes]) -> None:
    for chunk in chunks_of(written()):
        found = [(page.offset, page.stored_length) for page in chunk.data_pages]
        said = [(place.offset, place.compressed_page_size) for place in chunk.offset_index.page_locations]

        assert said == found
        assert list(range(len(chunk.pages))) == [page.number for page in chunk.pages]
        assert chunk.facts.total_compressed_size == sum(page.stored_length for page in chunk.pages)


def test_small_pages_of_a_store_take_few_requests_and_great_ones_few_bytes() -> None:
    for data in (small_pages(), great_pages()):
        for chunk in chunks_of(CountingSource(data)):
            source = chunk.file.source
            assert isinstance(source, CountingSource)
            _ = chunk.file.metadata
            before = len(source.ranges)
            pages = chunk.pages
            ranges = source.ranges[before:]

            assert len(ranges) <= min(len(pages), 2 + chunk.facts.total_compressed_size // REMOTE.most)
            assert all(length <= REMOTE.most for _, length in ranges)


def test_of_great_pages_in_a_file_little_more_than_the_headers_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chunk = chunks_of(great_pages())[2]
    read, lengths = BytesSource.read, []

    def noted(self: BytesSource, offset: int, length: int) -> bytes:
        lengths.append(length)
        return read(self, offset, length)

    _ = chunk.file.ranges
    monkeypatch.setattr(BytesSource, "read", noted)

    assert len(chunk.pages) == len(lengths) > 1
    assert sum(lengths) < chunk.facts.total_compressed_size / 10


def test_a_header_longer_than_what_is_read_at_once_is_read_whole() -> None:
    long = "x" * 100_000
    layout = Layout(page_statistics=True)
    data = TinyParquet((Column("text", "string", [long, "a", long]),), page_rows=1, layout=layout).build()
    (chunk,) = chunks_of(data)
    lengths = [page.header_length for page in chunk.pages]

    assert lengths[0] > 200_000 > lengths[1]
    assert set() == rules_of(data, "values")


@pytest.mark.parametrize("batch", [1, 1_000, 1 << 22])
def test_bodies_come_whole_and_in_order_however_many_are_read_at_once(
    batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pqassay.under_test.pages.walk.BATCH", batch)
    for chunk in chunks_of(small_pages()):
        found = [(page.number, bytes(body)) for page, body in bodies(chunk.file.source, chunk.pages)]

        assert [
            (page.number, small_pages()[page.body_start :][: page.header.compressed_page_size])
            for page in chunk.pages
        ] == found


def test_a_chunk_without_values_has_no_page() -> None:
    data = TinyParquet((Column("a", "int32", []), Column("b", "string", [])), row_group_rows=(0,)).build()

    assert [[], []] == [chunk.pages for chunk in chunks_of(data)]
    assert set() == rules_of(data, "values")


def test_too_many_pages_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pqassay.under_test.pages.walk.MOST_PAGES", 2)

    with pytest.raises(NotChecked, match="a column chunk has more than 2 pages"):
        _ = chunks_of(THREE_PAGES)[0].pages


def test_chunks_that_share_bytes_are_not_walked() -> None:
    data = mutate(
        THREE_PAGES, Mutation("add", "footer.row_groups[0].columns[0].meta_data.total_compressed_size", 1)
    )

    for chunk in chunks_of(data):
        with pytest.raises(Malformed) as caught:
            _ = chunk.pages
        assert "PQF-009" == caught.value.rule
    assert set() == rules_of(data, "values")


# ---------------------------------------------------------------------------------------------- where the walk breaks

FIRST = "row_groups[0].columns[0].pages"


@pytest.mark.parametrize(
    ("mutation", "rule", "field"),
    [
        (Mutation("remove", f"{FIRST}[0].header.type"), "PQF-050", f"{FIRST}[0].header"),
        (Mutation("remove", f"{FIRST}[2].header.compressed_page_size"), "PQF-050", f"{FIRST}[2].header"),
        (Mutation("set", f"{FIRST}[1].header.compressed_page_size", -1), "PQF-058", f"{FIRST}[1].header.compressed_page_size"),
        (Mutation("add", f"{FIRST}[2].header.compressed_page_size", 1), "PQF-051", f"{FIRST}[2].header.compressed_page_size"),
        (Mutation("add", f"{FIRST}[2].header.compressed_page_size", -1), "PQF-051", "row_groups[0].columns[0]"),
        (Mutation("set", f"{FIRST}[0].header.compressed_page_size", 2**31 - 1), "PQF-051", f"{FIRST}[0].header.compressed_page_size"),
    ],
)  # fmt: skip
def test_where_the_walk_breaks_one_rule_is_broken(mutation: Mutation, rule: str, field: str) -> None:
    assert [(rule, field)] == findings(mutate(THREE_PAGES, mutation))


# ------------------------------------------------------------------------------------------- what headers say

TWO_VERSIONS = {
    version: TinyParquet(
        (Column("metal", "string", ["tin", None, "lead", "tin"]), Column("marks", ListOf("int32"), [[1, 2], [], None, [3]])),
        page_rows=2,
        layout=Layout(version=version, encoding_stats=True),
    ).build()
    for version in (1, 2)
}  # fmt: skip
DICTIONARY = TinyParquet(
    (Column("metal", "string", ["tin", None, "lead", "tin"]),),
    page_rows=2,
    layout=Layout(dictionary=Encoding.PLAIN_DICTIONARY, encoding_stats=True),
).build()
FACTS = "footer.row_groups[0].columns[0].meta_data"


def edited(data: bytes, edit: Callable[[FileTree], object], *frozen: str) -> bytes:
    tree = take_apart(data)
    edit(tree)
    return put_together(tree, frozen)


def header_of(tree: FileTree, number: int = 0) -> PageHeader:
    return tree.row_groups[0].columns[0].pages[number].header


def with_other_headers(tree: FileTree) -> None:
    header_of(tree).index_page_header = IndexPageHeader()


def without_own_header(tree: FileTree) -> None:
    header_of(tree).data_page_header = None


def of_unknown_type(tree: FileTree) -> None:
    """A page of a type that a later version may know, before the pages that hold everything."""
    pages = tree.row_groups[0].columns[0].pages
    header = PageHeader(type=7, uncompressed_page_size=3, compressed_page_size=3)
    made = type(pages[0])(
        header, b"new", type(pages[0].encoded)(header, bytes(grammar(PageHeader).build(header)))
    )
    pages.append(made)


def test_pages_of_types_that_nobody_knows_are_passed_over() -> None:
    assert set() == rules_of(edited(TWO_VERSIONS[1], of_unknown_type), "values")


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (with_other_headers, {"PQF-053"}),
        (without_own_header, {"PQF-053"}),
        (lambda tree: setattr(header_of(tree), "type", PageType.INDEX_PAGE), {"PQF-053", "PQF-057", "PQF-055", "PQF-061"}),
    ],
)  # fmt: skip
def test_a_page_has_the_header_of_its_type(edit: Callable[[FileTree], object], rules: set[str]) -> None:
    assert rules == rules_of(edited(TWO_VERSIONS[1], edit, f"{FACTS}.num_values"))


@each(
    ("data", "mutation", "rules"),
    [
        (1, Mutation("add", f"{FACTS}.total_uncompressed_size", -1), {"PQF-052"}),
        (1, Mutation("add", f"{FACTS}.num_values", 1), {"PQF-057"}),
        (1, Mutation("set", f"{FACTS}.encodings", [3]), {"PQF-060"}),
        (1, Mutation("set", f"{FACTS}.encodings", []), {"PQF-060"}),
        (1, Mutation("set", f"{FACTS}.encodings", [0]), set()),
        (1, Mutation("set", f"{FACTS}.encoding_stats[0].encoding", 8), {"PQF-061"}),
        (1, Mutation("set", f"{FACTS}.encoding_stats[0].page_type", 3), set()),
        (1, Mutation("set", f"{FACTS}.encoding_stats[0].page_type", 2), {"PQF-061"}),
        (1, Mutation("set", f"{FIRST}[0].header.uncompressed_page_size", -1), {"PQF-058"}),
        (1, Mutation("set", f"{FIRST}[0].header.data_page_header.num_values", -1), {"PQF-058"}),
        (1, Mutation("set", f"{FIRST}[0].header.data_page_header.num_values", 0), {"PQF-062"}),
        (2, Mutation("set", f"{FIRST}[0].header.data_page_header_v2.num_rows", -2), {"PQF-058"}),
        (2, Mutation("set", f"{FIRST}[0].header.data_page_header_v2.num_rows", 1), {"PQF-059"}),
        (2, Mutation("set", f"{FIRST}[0].header.data_page_header_v2.repetition_levels_byte_length", -1), {"PQF-058"}),
        (2, Mutation("set", f"{FIRST}[0].header.data_page_header_v2.definition_levels_byte_length", 99), {"PQF-058"}),
        (2, Mutation("set", f"{FIRST}[0].header.uncompressed_page_size", 3), {"PQF-058"}),
        (2, Mutation("set", f"{FIRST}[0].header.data_page_header_v2.num_nulls", 3), {"PQF-064"}),
        (2, Mutation("set", f"{FIRST}[0].header.data_page_header_v2.num_nulls", -1), {"PQF-064"}),
        (2, Mutation("set", f"{FIRST}[0].header.data_page_header_v2.num_nulls", 0), set()),
        (0, Mutation("set", f"{FACTS}.encodings", [8, 3]), set()),
        (0, Mutation("set", f"{FACTS}.data_page_offset", 4), {"PQF-055"}),
        (0, Mutation("swap", f"{FACTS}.data_page_offset", f"{FACTS}.dictionary_page_offset"), {"PQF-055", "PQF-056"}),
        (0, Mutation("duplicate", f"{FIRST}[0]"), {"PQF-054", "PQF-055", "PQF-061"}),
    ],
)  # fmt: skip
def test_each_rule_of_headers_is_broken_by_what_it_is_about(
    data: int, mutation: Mutation, rules: set[str]
) -> None:
    assert rules == rules_of(mutate(TWO_VERSIONS.get(data, DICTIONARY), mutation))


@pytest.mark.parametrize("good", [*TWO_VERSIONS.values(), DICTIONARY])
def test_the_headers_of_good_files_break_no_rule(good: bytes) -> None:
    assert set() == rules_of(good, "values")


def test_the_old_way_to_point_at_a_dictionary_is_a_warning() -> None:
    """As parquet-java of old and Polars: the dictionary page at data_page_offset, and no offset of its own."""

    def as_of_old(tree: FileTree) -> None:
        facts = tree.footer.row_groups[0].columns[0].meta_data
        assert facts is not None
        facts.data_page_offset, facts.dictionary_page_offset = 4, None

    data = edited(DICTIONARY, as_of_old, f"{FACTS}.data_page_offset", f"{FACTS}.dictionary_page_offset")
    (file,) = pqassay.check(data, only=["PQF-05*"]).files

    assert [("PQF-055", "WARN", ["PQF-056"])] == [(one.rule, one.verdict, one.also) for one in file.findings]
    assert "the dictionary page is at data_page_offset" in file.findings[0].message


def test_statistics_in_page_headers_change_nothing_of_this() -> None:
    def with_statistics(tree: FileTree) -> None:
        header = header_of(tree).data_page_header
        assert isinstance(header, DataPageHeader)
        header.statistics = Statistics(null_count=1)

    assert set() == rules_of(edited(TWO_VERSIONS[1], with_statistics), "values")


# ---------------------------------------------------------------------------------------------------------- CRC


def with_flipped_bit(data: bytes, number: int = 1) -> bytes:
    page = chunks_of(data)[0].pages[number]
    return data[: page.body_start] + bytes((data[page.body_start] ^ 1,)) + data[page.body_start + 1 :]


@pytest.mark.parametrize("version", [1, 2])
def test_a_flipped_bit_breaks_the_crc(version: int) -> None:
    data = with_flipped_bit(TWO_VERSIONS[version])

    assert ("PQF-063", f"{FIRST}[1].header.crc") in findings(data, crc=True)
    assert "PQF-063" in rules_of(data, "values")


def test_the_crc_of_a_page_can_be_zero() -> None:
    year = int.from_bytes(with_crc_zero(b"2026"), "little", signed=True)
    good = TinyParquet((Column("year", "int64", [year], optional=False),)).build()

    assert 0 == chunks_of(good)[0].pages[0].header.crc
    assert set() == rules_of(good, crc=True)
    assert {"PQF-063"} == rules_of(with_flipped_bit(good, 0), crc=True)


def with_crc_zero(start: bytes) -> bytes:
    """Bytes that begin with ``start`` and have the CRC-32 0: the four behind it are found bit by bit."""
    base = zlib.crc32(start + bytes(4))
    effects = [zlib.crc32(start + (1 << bit).to_bytes(4, "little")) ^ base for bit in range(32)]
    rows = [(effect, 1 << bit) for bit, effect in enumerate(effects)]
    answer = 0
    for place in range(32):
        pivot = next(row for row in rows if row[0] >> place & 1)
        rows = [
            (row[0] ^ pivot[0], row[1] ^ pivot[1]) if row[0] >> place & 1 else row
            for row in rows
            if row != pivot
        ]
        if base >> place & 1:
            base, answer = base ^ pivot[0], answer ^ pivot[1]
    return start + answer.to_bytes(4, "little")


def test_without_the_option_the_tier_of_pages_does_not_check_crcs() -> None:
    data = with_flipped_bit(TWO_VERSIONS[1])
    report = pqassay.check(data, tier="pages")
    (coverage,) = report.coverages.values()

    assert "needs --crc or tier values" == coverage.not_checked["PQF-063"].reason
    assert "PQF-063" not in {finding.rule for finding in report.files[0].findings}


def test_a_file_without_crcs_has_none_to_check() -> None:
    data = TinyParquet((Column("year", "int64", [1]),), layout=Layout(crc=False)).build()
    (coverage,) = pqassay.check(data, tier="pages", crc=True).coverages.values()

    assert "PQF-063" in coverage.not_applicable
