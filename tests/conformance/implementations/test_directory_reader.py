"""The reader of the index directory in Go, which was written from the chapter alone: it answers as the golden files say."""

from __future__ import annotations

import dataclasses

import pytest

from golden_cases import golden_cases
from pqassay.suite.expectations import parse
from pqassay.suite.implementations import Implementation, implementation
from pqassay.suite.process import Limits
from pqassay.suite.runner import Settings, run

GOLDENS = golden_cases()
OF_DIRECTORIES = [golden for golden in GOLDENS if golden.case.family == "DIR"]


@pytest.fixture
def reader() -> Implementation:
    found = implementation("directory-go")
    if not found.is_built:
        pytest.skip(f"{found.build_folder.name} is not built (make drivers)")
    return found


def test_it_answers_every_golden_file_as_foretold(reader: Implementation) -> None:
    known = parse((reader.folder / "expectations.toml").read_bytes())
    known = dataclasses.replace(known, others=frozenset({golden.case.id for golden in GOLDENS}))
    done = run(OF_DIRECTORIES, Settings(reader.argv, Limits(seconds=60), strict=True), known)

    wrong = [(one.case, one.outcome) for one in done.results if one.outcome != "passed" and not one.known]
    assert ([], []) == (wrong, done.problems)
    assert {golden.case.id for golden in OF_DIRECTORIES} == {one.case for one in done.results}
    assert {"decode"} == {one.operation for one in done.results}
