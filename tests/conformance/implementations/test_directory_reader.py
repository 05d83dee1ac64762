"""The reader of the index directory in Go, which was written from the chapter alone: it answers as the golden files say."""

from __future__ import annotations

import dataclasses

import pytest

from golden_cases import golden_cases
from pqassay.report.run_model import RunReport
from pqassay.suite.expectations import parse
from pqassay.suite.implementations import Implementation, implementation
from pqassay.suite.process import Limits
from pqassay.suite.runner import Settings, run

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
