"""Results that others hand in: what is taken, what is refused and why, and how the page marks it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kept_results
import matrix
import pytest
import take_results
from pages.implementations import results_tables
from pages.implementations.results import Results
from submission import problems

from pqassay.report.reading import parse
from pqassay.report.run.model import SCHEMA_VERSION, Result, RunReport, json_schema
from pqassay.report.run.outcomes import Operation
from pqassay_spec.golden.revision import current
from pqassay_suite.cases import writer_cases
from pqassay_suite.cases.case import inputs_digest
from pqassay_suite.cases.expectations import Expectations
from pqassay_suite.cases.revision_score import counted_by
from pqassay_suite.drivers.protocol import HelloAnswer
from pqassay_suite.running.run_report import run_report
from pqassay_suite.running.runner import Settings

URL = "https://ci.example.org/reader/runs/7"

ADDED = "pix/of-tomorrow"

PROMISED = {
    "schema_version", "kind", "pqassay", "protocol", "rules_sha256", "suite_sha256", "golden_files_sha256",
    "driver", "limits", "results", "scores", "problems", "summary", "exposures", "not_asked", "index_left_aside",
    "scored_by", "asked",
}  # fmt: skip
"""Members that docs/guide/submit.md promises for this version of the schema."""


@pytest.fixture(scope="module")
def whole() -> RunReport:
    """A run that was about every case, by a reader that passes all but one of what it was asked. No library answered."""
    cases = kept_results.asked_cases()
    asked: dict[str, list[Operation]] = {one.case.id: ["read"] for one in cases if one.case.expect.read}
    families = {one.case.id: one.case.family for one in cases}
    results = [Result(case, families[case], "read", "passed") for case in asked]
    results[3] = Result(results[3].case, results[3].family, "read", "failed", "wrong rows", severity=1)
    hello = HelloAnswer(
        answer="accept", name="Made Up", version="1.2", language="none", capabilities=["read"]
    )
    report = run_report(cases, Settings(["made"]), hello, results, [], 0, [], [], Expectations())
    return counted_by(current(), dataclasses.replace(report, asked=asked), cases)


@pytest.fixture
def take(whole: RunReport, tmp_path: Path) -> Callable[..., tuple[int, Path]]:
    """Hand in these results, changed as wished; the exit status and where they would be kept."""

    def taking(change: Callable[[dict[str, Any]], object] = lambda _: None, *more: str) -> tuple[int, Path]:
        members = json.loads(whole.to_json())
        change(members)
        (tmp_path / "results.json").write_text(json.dumps(members))
        options = ["--from", URL, "--by", "the makers", "--folder", str(tmp_path / "kept"), *more]
        status = take_results.main([str(tmp_path / "results.json"), *options])
        return status, tmp_path / "kept" / "made-up" / "1.2.json"

    return taking


def test_whole_results_are_kept_and_marked_as_submitted(
    take: Callable[..., tuple[int, Path]], tmp_path: Path
) -> None:
    status, path = take()
    (one,) = kept_results.results(tmp_path / "kept")

    assert (0, path) == (status, one.path)
    mark = one.report.submitted
    assert mark is not None
    assert (URL, "the makers") == (mark.url, mark.by)
    assert hashlib.sha256((tmp_path / "results.json").read_bytes()).hexdigest() == mark.sha256
    assert ["failed"] == [result.outcome for result in one.report.results]
    digest = hashlib.sha256((tmp_path / "results.json").read_bytes()).hexdigest()
    assert [
        f"submitted: made-up 1.2 by the makers, {URL}, {mark.date}, SHA-256 {digest}"
    ] == matrix.submitted([one])
    overview = results_tables.PARTS["overview"](
        Results([one], kept_results.asked_cases()), lambda page, _: page
    )
    (row,) = (line for line in overview if line.startswith("| `made-up`"))
    assert f"**submitted** by the makers, [from here]({URL}), taken {mark.date}" in row
    assert mark.sha256[:12] in row


def test_the_matrix_does_not_write_over_what_was_submitted(
    take: Callable[..., tuple[int, Path]], whole: RunReport, tmp_path: Path
) -> None:
    _, path = take()
    before = path.read_bytes()

    assert matrix.keep("made-up", whole, tmp_path / "kept") is None
    assert before == path.read_bytes()
    assert tmp_path / "kept" / "another" / "1.2.json" == matrix.keep("another", whole, tmp_path / "kept")


def test_what_the_matrix_asked_is_not_replaced_by_what_is_submitted(
    take: Callable[..., tuple[int, Path]],
    whole: RunReport,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    matrix.keep("made-up", whole, tmp_path / "kept")

    assert 1 == take()[0]
    assert "`make matrix` asked this version itself; its answers are not replaced" in capsys.readouterr().err


def test_a_case_that_was_added_after_the_revision_is_no_reason_to_refuse(
    take: Callable[..., tuple[int, Path]],
) -> None:
    def later(members: dict[str, Any]) -> None:
        members["scored_by"].setdefault("added", {})[ADDED] = "1" * 64
        members["asked"][ADDED] = ["read"]
        members["results"].append(
            {"case": ADDED, "family": "PIX", "operation": "read", "outcome": "failed", "unscored": True}
        )
        unscored = members["summary"].setdefault("unscored", {})
        unscored["failed"] = unscored.get("failed", 0) + 1

    assert 0 == take(later)[0]


def _drop(members: dict[str, Any], name: str) -> None:
    del members[name]


def _scored(members: dict[str, Any], **others: Any) -> None:
    members["scored_by"] |= others


def _stranger(members: dict[str, Any]) -> None:
    members["results"].append({"case": "a/b", "family": "PIX", "operation": "read", "outcome": "failed"})


def _lost(members: dict[str, Any]) -> None:
    members["asked"] = dict(list(members["asked"].items())[5:])


def _boast(members: dict[str, Any]) -> None:
    members["summary"]["outcomes"] = {"passed": members["summary"]["results"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: m.update(schema_version=1),
            f"schema_version is 1, and this version of pqassay reads {SCHEMA_VERSION}",
        ),
        (lambda m: m.update(kind="check"), "not a pqassay report of kind check"),
        (lambda m: m.update(protocol=1), "protocol is 1, and today's is 2"),
        (lambda m: _drop(m, "scored_by"), "scored_by or asked is missing"),
        (lambda m: _drop(m, "asked"), "scored_by or asked is missing"),
        (lambda m: _scored(m, revision="77"), "scored_by.revision: there is no revision 77; there are 1.0"),
        (
            lambda m: _scored(m, sha256="0" * 64),
            "scored_by.sha256 is 000000000000, and the cases of revision",
        ),
        (lambda m: _scored(m, changed={"pix/a": "1" * 64}), "pix/a: not the golden files of revision"),
        (lambda m: _scored(m, chosen=6), "scored_by: 6 of the "),
        (lambda m: _scored(m, narrowed=True), "scored_by.narrowed: questions were left out"),
        (lambda m: m.update(golden_files_sha256="0" * 64), "golden_files_sha256 is not the digest"),
        (lambda m: m["driver"].update(version=""), "driver.version is missing"),
        (lambda m: m.update(date="<script>"), "'<script>' is not the name of a date"),
        (lambda m: m["driver"]["capabilities"].append("`<b>"), "'`<b>' is not the name of a capability"),
        (lambda m: m["asked"].update({"pix/<b>": ["read"]}), "'pix/<b>' is not the name of a case"),
        (lambda m: m["results"][3].update(rules=["<b>"]), "'<b>' is not the name of a rule"),
        (lambda m: m["results"][3].update(family="<b>"), "'<b>' is not a family"),
        (_stranger, "results: a/b: an answer to what was not asked"),
        (_lost, "an answer to what was not asked"),
        (_boast, "summary.outcomes: not the outcomes of the results"),
        (lambda m: m["scores"].pop(), "scores: their outcomes are not those of the summary"),
        (lambda m: m["results"].append(m["results"][3]), "more than one answer to a question"),
        (lambda m: m["results"][3].update(unscored=True), "unscored, and in the revision"),
    ],
)
def test_results_that_cannot_be_taken_are_refused_and_nothing_is_written(
    take: Callable[..., tuple[int, Path]],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    change: Callable[[dict[str, Any]], object],
    message: str,
) -> None:
    assert 1 == take(change)[0]
    assert f"error: {tmp_path / 'results.json'}: " in (said := capsys.readouterr().err)
    assert message in said
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    "url", ["http://example.org", "https://", "https://a b", "javascript:x", "https://a/)|x"]
)
def test_an_address_that_no_page_can_link_to_is_refused(
    take: Callable[..., tuple[int, Path]], url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == take(lambda _: None, "--from", url)[0]
    assert f"--from {url}: no address that begins with https://" in capsys.readouterr().err


def test_the_schema_keeps_what_is_promised(whole: RunReport) -> None:
    """A member that leaves, or that was optional and is demanded, takes a new version of the schema."""
    schema = json_schema()

    assert set() == PROMISED - set(schema["properties"])
    assert set() == set(schema["required"]) - PROMISED
    assert 2 == SCHEMA_VERSION
    assert whole == parse(whole.to_json().encode(), "results.json")


def test_the_digest_of_the_golden_files_is_that_of_all_cases_that_were_chosen(whole: RunReport) -> None:
    assert inputs_digest(kept_results.asked_cases()) == whole.golden_files_sha256


def test_what_the_matrix_keeps_would_be_taken_if_it_were_submitted() -> None:
    """As long as the revision is the one that it names, and no case was asked in an older form: a draft may be rewritten."""
    mine = [
        one
        for one in kept_results.results()
        if one.report.scored_by is not None
        and one.report.scored_by.sha256 == current().sha256
        and not one.report.scored_by.changed
    ]

    assert {} == {
        one.path: found for one in mine if (found := problems(one.report, kept_results.asked_cases()))
    }


def test_only_tables_to_write_are_exchanged_and_not_golden_files_that_a_writer_made_anew(
    tmp_path: Path,
) -> None:
    table = writer_cases.writer_cases()[0]
    for name in (table.case.id, "idx1/absent-value"):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"PAR1")
    expected = {"writer": {"files": 1, "readers": {}}}
    assert expected == matrix.exchanged([], {"writer": tmp_path})
