"""The reader of the index directory in Go, which was written from the chapter alone: it answers as the golden files say."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
import processes
from golden_cases import golden_cases
from pqassay.report.run.model import RunReport
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.directory.reading.stated_values import index_directory
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_suite.cases.expectations import parse
from pqassay_suite.drivers.implementations import Implementation, implementation
from pqassay_suite.drivers.process import Limits
from pqassay_suite.running.runner import Settings, run

GOLDENS = golden_cases()
OF_DIRECTORIES = [golden for golden in GOLDENS if golden.case.family == "DIR"]


@pytest.fixture(scope="module")
def reader() -> Implementation:
    found = implementation("directory-go")
    if not found.is_built:
        pytest.skip(f"{found.build_folder.name} is not built (make drivers)")
    return found


@pytest.fixture(scope="module")
def done(reader: Implementation) -> RunReport:
    """What it answers about all golden files of directories, with what it is expected to answer otherwise."""
    known = parse((reader.folder / "expectations.toml").read_bytes())
    known = dataclasses.replace(known, others=frozenset({golden.case.id for golden in GOLDENS}))
    return run(OF_DIRECTORIES, Settings(reader.argv, Limits(seconds=60), strict=True), known)


def test_it_answers_every_golden_file_as_foretold(done: RunReport) -> None:
    ids = {golden.case.id for golden in OF_DIRECTORIES}
    wrong = [
        (one.case, one.operation, one.outcome)
        for one in done.results
        if one.outcome != "passed" and not one.known
    ]
    assert ([("dir/of-a-struct", "scan", "unsupported")], []) == (wrong, done.problems)
    assert ids == {one.case for one in done.results if one.operation == "decode"}


def test_it_believes_distinct_sets(done: RunReport) -> None:
    """False sets take rows away: so the right answers are those of a reader that leaves row groups out."""
    lost = {one.case for one in done.exposures if one.verdict == "rows lost"}
    assert {"dir/called-complete", "dir/nan-denied"} <= lost


def test_an_empty_row_group_has_no_page_and_needs_no_offset_index(
    reader: Implementation, tmp_path: Path
) -> None:
    """pyarrow gives it none: what the reference makes of the other pages is conformant, and other readers use it."""
    path = tmp_path / "data.parquet"
    table = pa.table({"lot": pa.array([7, 8, 9], pa.int64())})
    with pq.ParquetWriter(path, table.schema, write_page_index=True) as writer:
        for part in (table, table.slice(0, 0), table):
            writer.write_table(part)
    metadata = pq.ParquetFile(path).metadata
    has_index = [metadata.row_group(group).column(0).has_offset_index for group in range(3)]
    add_indexes(path, [Request(IndexType.DISTINCT_SET, (("lot",),), Granularity.PAGE)])
    report = pqassay.check(path, tier="values")
    (coverage,) = report.coverages.values()
    sets = [{"complete": True, "nulls": False, "nan": False, "values": [7, 8, 9]}] * 2

    assert [True, False, True] == has_index
    assert ([], []) == (
        report.files[0].findings,
        [rule for rule in coverage.reasons if rule.startswith("DIR-")],
    )
    assert {"DIR-018", "DIR-021", "DIR-026"} <= set(coverage.checked)
    stated = {
        "entries": [{"type": "DISTINCT_SET", "granularity": "PAGE", "columns": [["lot"]], "parts": sets}]
    }
    assert stated == index_directory(BytesSource(path.read_bytes()))
    request = {"protocol": 2, "op": "decode", "family": "DIR", "file": str(path)}
    asked = processes.run(
        [*reader.argv, "--serve"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    assert {"answer": "accept", "value": stated} == json.loads(asked.stdout)
