"""The rules of the page index on files by several writers, each damaged in one way that engines were seen to fall for."""

from __future__ import annotations

import io
import shlex
import struct
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import pqassay
from counting_source import CountingSource
from damage import EXAMPLES
from idx1_files import edited
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.judge.file_check import Selection, check_source
from pqassay.under_test import index_reads
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, Options
from pqassay.under_test.pages.bounds import keys_of
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, TinyParquet
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.file_tree import FileTree
from pqassay_spec.parquet.column_order import Order, key, keys
from pqassay_spec.parquet.thrift import BoundaryOrder, ColumnIndex, FileMetaData, SchemaElement, Type
from pqassay_spec.rules.catalogue import Tier
from written_files import write_datafusion

ROWS, ROW_GROUP, PAGE = 2_000, 1_000, 100
ID, CATEGORY, AMOUNT = range(3)


def sample() -> pa.Table:
    """Ids that ascend, categories that change from page to page, and amounts with nulls in two pages."""
    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "category": [f"c{i // PAGE * 7 % 10}" for i in range(ROWS)],
            "amount": pa.array(
                [None if i % ROW_GROUP // PAGE in (3, 4) and i % 5 == 0 else i / 3 for i in range(ROWS)]
            ),
        }
    )


@cache
def written(writer: str) -> bytes:
    """The table as a writer writes it, in two row groups of ten pages."""
    buffer = io.BytesIO()
    if writer == "pyarrow":
        options: dict[str, Any] = {
            "row_group_size": ROW_GROUP,
            "max_rows_per_page": PAGE,
            "write_batch_size": PAGE,
        }
        pq.write_table(sample(), buffer, write_page_index=True, **options)
        return buffer.getvalue()
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        write_datafusion(
            path,
            sample(),
            max_row_group_size=ROW_GROUP,
            write_batch_size=PAGE,
            data_page_row_count_limit=PAGE,
        )
        return path.read_bytes()


def damaged(data: bytes, damage: Callable[[FileTree], Any]) -> bytes:
    """A file whose parsed parts were changed; of what follows from the layout, the indexes keep what they say."""
    tree = take_apart(data)
    damage(tree)
    kept = [
        f"row_groups[{number}].columns[{ordinal}].offset_index"
        for number, parts in enumerate(tree.row_groups)
        for ordinal in range(len(parts.columns))
    ]
    return put_together(tree, kept)


def column_index(tree: FileTree, column: int, row_group: int = 0) -> ColumnIndex:
    found = tree.row_groups[row_group].columns[column].column_index
    assert found is not None
    return found


def broken(data: bytes, tier: Tier = "index") -> set[str]:
    """The rules of the page index that are broken; all of them must have been tested or be about nothing."""
    report = pqassay.check(data, tier=tier)
    return {finding.rule for finding in report.files[0].findings}


TRUE_OF_WRITERS = {f"PIX-{number:03}" for number in (12, 13, 15, 22, 24, 25, 26, 28, 34, 35, 38)}
"""Rules that apply to the files of every writer here."""


@pytest.mark.parametrize("writer", ["pyarrow", "datafusion"])
def test_what_a_writer_writes_keeps_all_rules(writer: str) -> None:
    report = pqassay.check(written(writer), tier="index")
    (coverage,) = report.coverages.values()

    assert [] == report.files[0].findings
    assert TRUE_OF_WRITERS <= set(coverage.checked)


def remedies(path: Path) -> set[str]:
    """The commands that the findings about a file name."""
    return {finding.remedy for finding in pqassay.check(path).files[0].findings if finding.remedy}


@pytest.fixture(scope="module")
def removable() -> list[Path]:
    """Golden files, of which one of `EXAMPLES` is looked at, whose page index is false, and nothing beside it."""
    return [
        path
        for path in sorted(GOLDEN_FILES.glob("pix/*/data.parquet"))[::EXAMPLES]
        if (commands := "\n".join(remedies(path)))
        and "--page-index" in commands
        and "--statistics" not in commands
    ]


LEFT_OVER = {"PQF-037", "PQF-055"}
"""What a check reports about an index that the footer does not name, and a data page that the footer also misplaces."""


@pytest.mark.slow
def test_the_commands_of_the_findings_make_the_file_clean(removable: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "it's.parquet"
    for golden in removable[:: 1 + EXAMPLES // 3]:
        path.write_bytes(golden.read_bytes())
        for command in sorted(remedies(path)):
            assert command.startswith(f"pqassay strip {shlex.quote(str(path))} --page-index"), golden
            result = CliRunner().invoke(app, [*shlex.split(command)[1:], "--values-are-right"])
            assert 0 == result.exit_code, golden

        assert set() == broken(path.read_bytes(), "values") - LEFT_OVER, golden
        rows = repr(pq.read_table(golden).to_pylist())  # NaN equals NaN
        assert rows == repr(pq.read_table(path).to_pylist()), golden


def test_most_rules_of_the_page_index_have_a_remedy(removable: list[Path]) -> None:
    assert len(removable) >= 60 // EXAMPLES


def test_an_index_that_is_true_is_not_to_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"

    def forget(tree: FileTree) -> None:
        column_index(tree, ID).null_counts = None

    path.write_bytes(damaged(written("pyarrow"), forget))
    (finding,) = pqassay.check(path, tier="index").files[0].findings

    assert ("PIX-027", None) == (finding.rule, finding.remedy)


# ------------------------------------------------------------------------------------ further ways to be wrong

DICTIONARY = TinyParquet(
    (Column("metal", "string", ["tin", "lead", "tin", "zinc"]),),
    page_rows=2,
    page_index=True,
    layout=Layout(dictionary=Encoding.RLE_DICTIONARY),
).build()


def set_dictionary_offset(offset: int | None) -> Callable[[FileMetaData], None]:
    def change(metadata: FileMetaData) -> None:
        facts = metadata.row_groups[0].columns[0].meta_data
        assert facts is not None
        if offset is None:
            assert facts.dictionary_page_offset is not None
            facts.data_page_offset = facts.dictionary_page_offset
        facts.dictionary_page_offset = offset

    return change


def test_a_dictionary_page_at_data_page_offset_that_nobody_announced_is_an_old_habit() -> None:
    assert "PIX-017" not in broken(edited(DICTIONARY, set_dictionary_offset(None)))


@pytest.mark.parametrize("order", BoundaryOrder)
def test_of_one_page_that_holds_more_than_nulls_every_order_is_true(order: BoundaryOrder) -> None:
    values = [None, None, 5, 6, None, None]
    file = TinyParquet(
        (Column("number", "int32", values),),
        page_rows=2,
        page_index=True,
        layout=Layout(boundary_order=order),
    )

    assert set() == broken(file.build())


def test_a_page_of_lists_with_as_many_nulls_as_rows_is_no_page_of_nulls(tmp_path: Path) -> None:
    """parquet 59 of arrow-rs, which DataFusion 55 uses, compares the nulls of a page with its rows instead of its values."""
    path = tmp_path / "data.parquet"
    write_datafusion(path, pa.table({"words": pa.array([[1], [None, None]] * 50, pa.list_(pa.int64()))}))

    (finding,) = pqassay.check(path, tier="index").files[0].findings

    assert ("PIX-026", "words.list.item") == (finding.rule, finding.column)
    assert finding.message.startswith(
        "page 0 of column words.list.item in row group 0 holds 50 non-null values"
    )


def test_a_chunk_without_values_needs_no_index_beside_others() -> None:
    file = TinyParquet((Column("number", "int32", [1, 2]),), row_group_rows=(2, 0), page_index=True).build()

    def forget(metadata: FileMetaData) -> None:
        chunk = metadata.row_groups[1].columns[0]
        chunk.offset_index_offset = chunk.offset_index_length = None
        chunk.column_index_offset = chunk.column_index_length = None

    assert set() == broken(edited(file, forget))


def test_many_places_are_counted_and_three_are_shown() -> None:
    file = TinyParquet((Column("number", "int32", range(100)),), page_rows=1, page_index=True).build()

    def descend(tree: FileTree) -> None:
        column_index(tree, 0).boundary_order = BoundaryOrder.DESCENDING

    (finding,) = pqassay.check(damaged(file, descend), tier="index").files[0].findings

    assert (99, 3) == (finding.count, len(finding.at))
    assert "row_groups[0].columns[0].column_index.min_values[3]" == finding.at[2].field
    assert ("not greater than 2", "3") == (finding.at[2].expected, finding.at[2].actual)
    assert struct.pack("<i", 3) == damaged(file, descend)[finding.at[2].offset + 1 :][:4]


def test_a_column_without_an_order_is_not_judged_by_its_bounds() -> None:
    def forget(metadata: FileMetaData) -> None:
        metadata.column_orders = None

    file = TinyParquet(
        (Column("number", "int32", [1, 2]),), page_rows=1, page_index=True, statistics=False
    ).build()

    def wrong(tree: FileTree) -> None:
        index = column_index(tree, 0)
        index.min_values, index.boundary_order = [b"\xff" * 4, b""], BoundaryOrder.ASCENDING

    report = pqassay.check(edited(damaged(file, wrong), forget), tier="index")
    (coverage,) = report.coverages.values()

    assert not {"PIX-023", "PIX-024", "PIX-025", "PIX-034"} & {
        finding.rule for finding in report.files[0].findings
    }
    assert {"PIX-023", "PIX-024"} <= set(coverage.not_applicable)


def test_bounds_of_fixed_byte_arrays_may_be_cut_and_are_never_empty() -> None:
    element = SchemaElement(name="code", type=Type.FIXED_LEN_BYTE_ARRAY, type_length=4)

    assert [b"ab", b"abcd", None, None] == keys_of(Order.BYTES, element, [b"ab", b"abcd", b"", b"abcde"])


raws = st.lists(
    st.binary(max_size=12) | st.binary(min_size=4, max_size=4) | st.binary(min_size=8, max_size=8), max_size=5
)
same_width = st.integers(0, 12).flatmap(
    lambda size: st.lists(st.binary(min_size=size, max_size=size), max_size=5)
)


@settings(deadline=None)
@given(st.sampled_from(Order), raws | same_width)
def test_many_values_have_the_keys_that_each_of_them_has(order: Order, values: Sequence[bytes]) -> None:
    assert [key(order, value) for value in values] == keys(order, values)


# ---------------------------------------------------------------------------------------------- what is read


def reads_of(data: bytes, tier: Tier, *rules: str) -> list[tuple[int, int]]:
    """The ranges that a check reads."""
    source = CountingSource(data)
    check_source(source, Options(tier), Selection(rules), "must")
    return source.ranges


def index_range(data: bytes) -> tuple[int, int]:
    """From the first index of a file to the end of the last one."""
    ranges = [
        given
        for given in FileUnderTest(BytesSource(data), Options("index")).ranges
        if given.kind in ("column index", "offset index")
    ]
    return min(given.start for given in ranges), max(given.end for given in ranges)


def test_all_page_indexes_are_read_at_once_and_none_at_tier_footer() -> None:
    data = written("pyarrow")
    start, end = index_range(data)
    index, footer = (
        [given for given in reads_of(data, tier) if given[0] < end and sum(given) > start]
        for tier in ("index", "footer")
    )
    assert ([(start, end - start)], []) == (index, footer)


def test_what_lies_between_indexes_is_read_only_if_it_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    file = TinyParquet(
        (Column("number", "int64", range(2_000)),),
        page_index=True,
        page_rows=100,
        bloom_filters=("number",),
        layout=Layout(bloom_bytes=1 << 17),
        body=("row groups", "column indexes", "bloom filters", "offset indexes"),
    ).build()
    near = reads_of(file, "index", "PIX-*")
    monkeypatch.setattr(index_reads, "REMOTE", index_reads.LOCAL)
    far = reads_of(file, "index", "PIX-*")

    assert max(length for _, length in far) < 1 << 16
    assert 1 == len(far) - len(near)


def test_pieces_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_reads, "REMOTE", index_reads.Stride(gap=64 << 10, piece=100))
    monkeypatch.setattr(index_reads, "KEPT", 1)
    data = written("datafusion")
    source = CountingSource(data)
    report, _ = check_source(source, Options("index"), Selection(), "must")
    start, _ = index_range(data)
    longest = max(
        given.length
        for given in FileUnderTest(BytesSource(data), Options("index")).ranges
        if given.kind != "column chunk"
    )
    framing = FileUnderTest(BytesSource(data), Options("index")).framing

    assert [] == report.findings
    assert max(length for place, length in source.ranges if start <= place < framing.footer_start) <= max(
        100, longest
    )


def test_an_index_that_chunks_share_is_decoded_for_none_of_them() -> None:
    def share(metadata: FileMetaData) -> None:
        first = metadata.row_groups[0].columns[0]
        for chunk in metadata.row_groups[0].columns[1:]:
            chunk.offset_index_offset, chunk.offset_index_length = (
                first.offset_index_offset,
                first.offset_index_length,
            )

    file = FileUnderTest(BytesSource(edited(written("pyarrow"), share)), Options("index"))
    report = pqassay.check(edited(written("pyarrow"), share), tier="index")
    (coverage,) = report.coverages.values()

    assert 6 == len(file.part(ColumnChunks).having("offset_index"))
    assert "PQF-009" in {finding.rule for finding in report.files[0].findings}
    assert "PQF-009 is broken" == coverage.not_checked["PIX-010"].reason
