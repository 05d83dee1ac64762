"""Chunks that name another file: which ones this file still holds, and which files are summaries of others."""

from __future__ import annotations

from pathlib import Path

import fastparquet  # type: ignore[import-untyped] # it has no types
import pandas as pd  # type: ignore[import-untyped] # its stubs are not installed
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from idx1_files import edited, parquet
from pqassay.cli.main import app as reference
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


def test_what_the_other_file_holds_is_a_gap() -> None:
    plain = parquet(TABLE)
    report = pqassay.check(edited(plain, moved))
    (alone,) = pqassay.check(plain).coverages.values()
    (coverage,) = report.coverages.values()

    assert set(alone.checked) <= {*coverage.checked, *coverage.not_checked}
    assert "row group 0 of column x is stored in another file" == coverage.reasons["STA-041"]
    assert "conformant where checked" == report.files[0].outcome


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

    stripped = CliRunner().invoke(reference, ["strip", str(path), "--statistics", "--values-are-right"])

    assert (0, [("WARN", "PQF-023")]) == (stripped.exit_code, verdicts(path.read_bytes()))
    assert TABLE.equals(pq.read_table(path))


# ------------------------------------------------------------------------------------------ what a summary says


def parts(folder: Path, rows: dict[str, int], row_group_size: int = 1000) -> None:
    """Write files of a number of rows, as a partitioned folder has them."""
    for name, count in rows.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        table = pa.table({"x": pa.array(range(count), pa.int64())})
        pq.write_table(table, folder / name, row_group_size=row_group_size)


def summary(folder: Path, names: list[str], called: dict[str, str] | None = None) -> Path:
    """Write the summary of files."""
    found = []
    for name in names:
        metadata = pq.read_metadata(folder / name)
        metadata.set_file_path((called or {}).get(name, name))
        found.append(metadata)
    whole = found[0]
    for one in found[1:]:
        whole.append_row_groups(one)
    whole.write_metadata_file(folder / "_metadata")
    return folder / "_metadata"


FOLDER = {"a=1/p.parquet": 2500, "a=2/p.parquet": 1500}


@pytest.mark.parametrize(
    ("now", "size", "message"),
    [
        (2500, 1000, None),
        (
            1300,
            1000,
            "a=1/p.parquet has 1,300 rows in 2 row groups, but the summary counts 2,500 rows in 3 row groups",
        ),
        (
            2500,
            5000,
            "a=1/p.parquet has 2,500 rows in 1 row group, but the summary counts 2,500 rows in 3 row groups",
        ),
    ],
)
def test_a_summary_is_compared_with_the_files_that_it_names(
    tmp_path: Path, now: int, size: int, message: str | None
) -> None:
    parts(tmp_path, FOLDER)
    path = summary(tmp_path, list(FOLDER))
    parts(tmp_path, {"a=1/p.parquet": now}, size)
    (file,) = [one for one in pqassay.check(tmp_path).files if one.path == str(path)]

    assert [("FAIL", "PQF-156", message)] * (message is not None) == [
        (one.verdict, one.rule, one.message) for one in file.findings
    ]


def test_a_file_of_as_many_rows_but_other_sizes_is_another_one(tmp_path: Path) -> None:
    parts(tmp_path, FOLDER)
    path = summary(tmp_path, list(FOLDER))
    pq.write_table(pa.table({"x": [5] * 1500}), tmp_path / "a=2/p.parquet", row_group_size=1000)

    assert {"PQF-156"} == {one.rule for one in pqassay.check(path).files[0].findings}


def test_a_summary_that_fastparquet_writes_is_that_of_its_files(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 1, 2, 2], "x": [1.5, 2.5, 3.5, 4.5]})
    fastparquet.write(str(tmp_path), frame, file_scheme="hive", partition_on=["a"])
    report = pqassay.check(tmp_path / "_metadata")

    assert "PQF-156" in next(iter(report.coverages.values())).checked
    assert [] == [one.rule for one in report.files[0].findings if one.rule == "PQF-156"]


@pytest.mark.parametrize(
    ("called", "reason"),
    [
        ("gone.parquet", "gone.parquet, which the summary names, does not exist"),
        ("../a.parquet", "../a.parquet is not in the folder of the summary"),
        ("/etc/a.parquet", "/etc/a.parquet is not in the folder of the summary"),
        ("s3://bucket/a.parquet", "s3://bucket/a.parquet is not in the folder of the summary"),
    ],
)
def test_files_that_are_not_below_a_summary_are_not_opened(tmp_path: Path, called: str, reason: str) -> None:
    parts(tmp_path, {"a.parquet": 10})
    report = pqassay.check(summary(tmp_path, ["a.parquet"], {"a.parquet": called}))
    (coverage,) = report.coverages.values()

    assert ([], reason) == (report.files[0].findings, coverage.not_checked["PQF-156"].reason)
