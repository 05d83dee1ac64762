"""A mistake of the judge costs the rule that it is about, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.checks.parquet_file import pages
from pqassay.report.model import FileReport
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import Mistake
from pqassay.values.claims.bound_claims import ChunkBound
from pqassay.values.claims.count_claims import NullsOfChunk

FILE = GOLDEN_FILES / "sta/max-too-small/data.parquet"
SAID = "a mistake in pqassay, please report it: ZeroDivisionError: an unexpected failure"


@pytest.fixture(autouse=True)
def mistakes_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mistake, "by", Mistake)


def fail(*_: Any, **__: Any) -> NoReturn:
    raise ZeroDivisionError("an unexpected failure")


def checked() -> tuple[FileReport, dict[str, str]]:
    """The report on the file, and why rules of it were not checked."""
    report = pqassay.check(FILE, tier="values")
    file = report.files[0]
    return file, report.coverages[file.coverage].reasons


def require_the_rest(file: FileReport, reasons: dict[str, str], mistaken: set[str]) -> None:
    assert ("errored", SAID) == (file.outcome, file.error)
    assert mistaken == {rule for rule, reason in reasons.items() if reason == SAID}
    assert ["STA-041"] == [finding.rule for finding in file.findings]


def test_what_a_check_raises_costs_its_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "encodes", fail)
    require_the_rest(*checked(), {"PQF-084"})
    assert 70 == pqassay.check(FILE, tier="values").exit_code


def test_what_a_claim_raises_costs_its_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NullsOfChunk, "compare", fail)
    require_the_rest(*checked(), {"STA-043"})


def test_what_a_view_raises_costs_the_rules_that_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def pages(chunk: ColumnChunkUnderTest) -> NoReturn:
        asked.append(chunk.path)
        fail()

    monkeypatch.setattr(ColumnChunkUnderTest.__dict__["pages"], "_compute", pages)
    file, reasons = checked()

    mistaken = {rule for rule, reason in reasons.items() if reason == SAID}
    assert {"PQF-050", "PQF-052", "PQF-063"} <= mistaken
    assert {"PQF-004", "PQF-016"}.isdisjoint(reasons)
    assert "errored" == file.outcome
    assert sorted(set(asked)) == sorted(asked)


def test_places_that_were_found_before_a_mistake_count(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = ChunkBound.compare

    def judge_and_fail(self: ChunkBound, *args: Any) -> Iterator[Any]:
        yield from judge(self, *args)
        fail()

    monkeypatch.setattr(ChunkBound, "compare", judge_and_fail)
    file, _ = checked()

    assert ("errored", SAID) == (file.outcome, file.error)
    assert ["STA-041"] == [finding.rule for finding in file.findings]
