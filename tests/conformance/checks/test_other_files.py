"""Chunks that name another file: which ones this file holds all the same, and which files are summaries of others."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from idx1_files import edited, parquet
from pqassay_reference.cli.main import app as reference
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.file import HEAD_SIZE, read_framing
from pqassay_spec.parquet.thrift import FileMetaData

TABLE = pa.table({"x": pa.array(range(100, 120), pa.int32()), "y": pa.array(range(20), pa.int32())})


def moved(metadata: FileMetaData) -> None:
    """Have every chunk name another file."""
    for group in metadata.row_groups:
        for chunk in group.columns:
            chunk.file_path = "x.parquet"


def false_maximum(metadata: FileMetaData) -> None:
    """Have every chunk name another file, and the first one a maximum that is too small."""
    moved(metadata)
    facts = metadata.row_groups[0].columns[0].meta_data
    assert facts is not None
    assert facts.statistics is not None
    facts.statistics.max_value = facts.statistics.max = (101).to_bytes(4, "little")


def verdicts(data: bytes) -> list[tuple[str, str]]:
    return sorted({(finding.verdict, finding.rule) for finding in pqassay.check(data).files[0].findings})


def test_a_file_with_pages_is_judged_by_them_though_every_chunk_names_another_file() -> None:
    plain = parquet(TABLE)

    assert [] == verdicts(plain)
    assert [("WARN", "PQF-023")] == verdicts(edited(plain, moved))
    assert [("FAIL", "STA-041"), ("FAIL", "STA-048"), ("WARN", "PQF-023")] == verdicts(
        edited(plain, false_maximum)
    )


def test_as_many_rules_are_checked_as_without_the_paths() -> None:
    plain = parquet(TABLE)
    (alone,) = pqassay.check(plain).coverages.values()
    (elsewhere,) = pqassay.check(edited(plain, moved)).coverages.values()

    assert set(alone.checked) | {"PQF-023"} == set(elsewhere.checked)


@pytest.mark.parametrize("name", ["_metadata", "summary.parquet"])
def test_a_summary_is_one_by_its_name_or_because_it_holds_no_pages(tmp_path: Path, name: str) -> None:
    plain = edited(parquet(TABLE), false_maximum)
    summary = tmp_path / name
    summary.write_bytes(plain[:HEAD_SIZE] + plain[read_framing(BytesSource(plain)).footer_start :])

    assert [] == [finding.rule for finding in pqassay.check(summary).files[0].findings]


def test_a_chunk_whose_pages_cannot_be_here_is_not_checked() -> None:
    def move(metadata: FileMetaData) -> None:
        chunk = metadata.row_groups[0].columns[1]
        assert chunk.meta_data is not None
        chunk.file_path = "x.parquet"
        chunk.meta_data.data_page_offset += 1_000_000
        chunk.meta_data.dictionary_page_offset = None
        metadata.row_groups[0].total_compressed_size = None

    report = pqassay.check(edited(parquet(TABLE), move))
    (coverage,) = report.coverages.values()

    assert ["PQF-023"] == [finding.rule for finding in report.files[0].findings]
    assert "row group 0 of column y is stored in another file" == coverage.not_checked["STA-041"].reason


def test_strip_removes_what_is_said_of_pages_that_are_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(edited(parquet(TABLE), false_maximum))

    stripped = CliRunner().invoke(reference, ["strip", str(path), "--statistics"])

    assert (0, [("WARN", "PQF-023")]) == (stripped.exit_code, verdicts(path.read_bytes()))
    assert TABLE.equals(pq.read_table(path))
