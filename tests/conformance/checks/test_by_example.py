"""Rules that are asked about examples say what they say when they are asked about each chunk."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pqassay
from damage import EXAMPLES
from idx1_files import edited
from places import GOLDEN_FILES
from pqassay.checks import asking, by_example
from pqassay.judge import file_check
from pqassay.under_test import file as file_module
from pqassay.under_test.alike import CHUNKS, Alike, AlikeChunks
from pqassay.under_test.alike_groups import alike_groups
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar import thrift_runs
from pqassay_spec.mutation.file_mutations import mutations_of_file
from pqassay_spec.mutation.mutations import Inapplicable, Mutation, mutate
from pqassay_spec.parquet.thrift import FileMetaData

pytestmark = pytest.mark.slow

ROWS, ROW_GROUP, PAGE = 600, 100, 50

ROW_GROUPS = ROWS // ROW_GROUP


def table() -> pa.Table:
    """Numbers, texts with nulls, lists, and floats, in columns some of which are alike."""
    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "other": pa.array(range(ROWS, 2 * ROWS), pa.int64()),
            "category": [None if i % 9 == 0 else f"{'c' * (i % 40)}{i}" for i in range(ROWS)],
            "amount": [None if i % 4 == 0 else i / 8 for i in range(ROWS)],
            "flag": [i % 2 == 0 for i in range(ROWS)],
            "tags": [["a", None][: i % 3] for i in range(ROWS)],
        }
    )


@cache
def written(writer: str) -> bytes:
    """The table as a writer writes it, in six row groups."""
    buffer = io.BytesIO()
    if writer == "pyarrow":
        pq.write_table(table(), buffer, row_group_size=ROW_GROUP, write_page_index=True)
    elif writer == "pyarrow, pages":
        options: dict[str, Any] = {"max_rows_per_page": PAGE, "write_batch_size": PAGE}
        pq.write_table(table(), buffer, row_group_size=ROW_GROUP, write_page_index=True, **options)
    else:
        pq.write_table(table(), buffer, row_group_size=ROW_GROUP, compression="zstd", data_page_version="2.0")
    return buffer.getvalue()


WRITERS = ["pyarrow", "pyarrow, pages", "pyarrow, without indexes"]


@pytest.fixture(autouse=True, scope="module")
def _shapes_at_once() -> Iterator[None]:
    """Make a shape of whatever is met."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHUNKS._known, "_seen_first", 0)
        patch.setattr(thrift_runs, "AT_ONCE", 1 << 30)
        patch.setattr(by_example, "SEEN_FIRST", 0)
        yield


@contextmanager
def one_by_one() -> Iterator[None]:
    """Let the rules be asked about each thing."""

    @cache
    def plain(asked: tuple[str, ...]) -> Any:
        return [
            replace(question, subject=replace(question.subject, of_schema=False))
            if isinstance(question, asking.Questions)
            else question
            for question in asking.by_subject.__wrapped__(asked)
        ]

    def none_alike(*_: Any) -> Alike | None:
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_check, "by_subject", plain)
        patch.setattr(file_check, "_planned", cache(file_check._planned.__wrapped__))
        patch.setattr(file_module, "alike_chunks", none_alike)
        yield


def outcome(data: bytes) -> tuple[Any, ...]:
    """What a check says: findings, and which rules were checked."""
    report = pqassay.check(data, tier="index")
    (coverage,) = report.coverages.values()
    findings = [
        (finding.rule, finding.column, finding.count, finding.message, finding.at)
        for finding in report.files[0].findings
    ]
    return findings, coverage.checked, coverage.not_checked, report.files[0].gaps, report.files[0].error


def outcomes(files: Sequence[bytes]) -> list[tuple[Any, ...]]:
    """The same for files whose shapes are known from a first time."""
    for data in files:
        pqassay.check(data, tier="index")
    return list(map(outcome, files))


def plain_outcomes(files: Sequence[bytes]) -> list[tuple[Any, ...]]:
    with one_by_one():
        return list(map(outcome, files))


JUDGED = [
    path
    for folder in ("pix", "pqf", "sta", "blm", "idx1", "interop")
    for path in GOLDEN_FILES.glob(f"{folder}/**/data.parquet")
]


STEP = 4 * EXAMPLES - 3
"""One of this number of golden files and mutations is looked at; all by `make damages`."""


def test_golden_files() -> None:
    assert len(JUDGED) > 100
    chosen = JUDGED[::STEP]
    files = [path.read_bytes() for path in chosen]
    for path, expected, actual in zip(chosen, plain_outcomes(files), outcomes(files), strict=True):
        assert (path, expected) == (path, actual)


DAMAGED = (
    "pix/ordered-three-ways",
    "pix/histograms",
    "pix/null-pages",
    "sta/counted",
    "sta/flags",
    "blm/dictionary",
)


def test_damaged_golden_files() -> None:
    files: list[bytes] = []
    for name in DAMAGED:
        data = (GOLDEN_FILES / name / "data.parquet").read_bytes()
        possible = [m for m in mutations_of_file(data) if "_index" in m.path or ".meta_data" in m.path]
        attempts = [attempt(data, mutation) for mutation in possible[:: 11 * STEP]]
        files += [changed for changed in attempts if changed is not None]

    assert len(files) > 90 // STEP
    assert plain_outcomes(files) == outcomes(files)


def attempt(data: bytes, mutation: Mutation) -> bytes | None:
    try:
        return mutate(data, mutation)
    except Inapplicable:
        return None


# --------------------------------------------------------------------------------------- files with many chunks


@pytest.mark.parametrize("writer", WRITERS)
def test_nothing_is_left_to_be_asked_about_each_chunk_of_what_writers_write(writer: str) -> None:
    outcomes([written(writer)])
    left: list[object] = []
    learned: list[object] = []

    class Watched(by_example.Examples):
        def ask(self, file: FileUnderTest, group: AlikeChunks, applied: set[str]) -> list[Any]:
            learned.append(group)
            found = super().ask(file, group, applied)
            left.extend(found)
            return found

    question = next(
        question
        for question in file_check._planned((), (), Options("index"), "parquet", "").questions
        if isinstance(question, asking.AlikeQuestions)
    )
    file = FileUnderTest(BytesSource(written(writer)), Options("index"))
    answers = asking.answers_of(file, [replace(question, examples=Watched(question.examples.questions))])

    groups = file.part(alike_groups)
    assert groups is not None
    assert (ROW_GROUPS * 6, 0) == (sum(len(group.places) for group in groups.groups), len(groups.others))
    assert ({}, [], len(groups.groups)) == (answers.found, left, len(learned))


NUMBERS = [
    "file_offset",
    "offset_index_offset",
    "offset_index_length",
    "column_index_offset",
    "column_index_length",
    "meta_data.num_values",
    "meta_data.total_uncompressed_size",
    "meta_data.total_compressed_size",
    "meta_data.data_page_offset",
    "meta_data.dictionary_page_offset",
    "meta_data.bloom_filter_offset",
    "meta_data.statistics.null_count",
    "meta_data.statistics.distinct_count",
    "meta_data.statistics.nan_count",
    "meta_data.type",
    "meta_data.codec",
]
BOUNDS = [f"meta_data.statistics.{name}" for name in ("min_value", "max_value", "min", "max")]


@st.composite
def damages(draw: st.DrawFn) -> list[tuple[int, int, str, Any]]:
    """Row group, column, field and new value of some damages; in a few row groups, the same one."""
    found: list[tuple[int, int, str, Any]] = []
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from([*NUMBERS, *BOUNDS]))
        change: Any = draw(st.sampled_from([None, "+1", "-1", 0, -1, 1 << 30]))
        if name in BOUNDS:
            change = draw(
                st.sampled_from([None, b"", bytes(8), b"\xff" * 8, b"\xff\xff", bytes(6) + b"\xf8\x7f"])
            )
        column = draw(st.integers(0, 5))
        first = draw(st.integers(0, ROW_GROUPS - 1))
        found += [
            (group, column, name, change)
            for group in range(first, min(ROW_GROUPS, first + draw(st.integers(1, 5))))
        ]
    return found


def damaged(data: bytes, changes: Sequence[tuple[int, int, str, Any]]) -> bytes:
    def change_footer(metadata: FileMetaData) -> None:
        for group, column, path, change in changes:
            part: Any = metadata.row_groups[group].columns[column]
            *way, name = path.split(".")
            for step in way:
                part = getattr(part, step)
            before = getattr(part, name)
            value = change
            if change in ("+1", "-1"):
                value = None if before is None else before + int(change)
            if value is not None or not next(field for field in part.fields if field.name == name).required:
                setattr(part, name, value)

    return edited(data, change_footer)


def test_damaged_footers() -> None:
    reported: set[str] = set()

    @settings(max_examples=75 if EXAMPLES == 1 else 7, deadline=None)
    @given(st.sampled_from(WRITERS), damages())
    def check(writer: str, changes: list[tuple[int, int, str, Any]]) -> None:
        data = damaged(written(writer), changes)
        expected = plain_outcomes([data])
        reported.update(finding[0] for finding in expected[0][0])
        assert expected == outcomes([data])

    check()
    assert len(reported) > 4 // EXAMPLES


def test_what_one_chunk_of_many_breaks_is_found_there() -> None:
    def change(metadata: FileMetaData) -> None:
        metadata.row_groups[4].columns[1].meta_data.num_values += 1  # type: ignore[union-attr]

    data = edited(written("pyarrow, without indexes"), change)
    findings = [finding for finding in outcomes([data])[0][0] if finding[0] == "PQF-017"]

    assert [("PQF-017", "other", 1)] == [finding[:3] for finding in findings]
    assert "footer.row_groups[4].columns[1].meta_data.num_values" == findings[0][4][0].field
