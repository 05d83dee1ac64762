"""The kit tried on itself: what is right passes, what is wrong fails as foretold, on all golden files."""

from __future__ import annotations

import dataclasses
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast, get_args

import null_scores
import pytest

import pqassay
from engine_limits import FILES
from golden_cases import golden_cases
from inside import Here, ReferenceHere
from places import ROOT
from pqassay.literals.predicate import IEEE
from pqassay.report.model import Finding
from pqassay.report.run.model import RunReport
from pqassay.report.run.outcomes import Operation
from pqassay_suite.cases.case import GoldenCase, select
from pqassay_suite.cases.expectations import parse
from pqassay_suite.cases.update_cases import update_cases
from pqassay_suite.drivers import driver as driver_module
from pqassay_suite.drivers.capabilities import missing_capability
from pqassay_suite.drivers.process import Limits
from pqassay_suite.judging.answers import ASKING
from pqassay_suite.judging.bench import Bench
from pqassay_suite.running.runner import Settings, run, tasks
from pqassay_suite.running.scanning import Scanning

pytestmark = pytest.mark.slow

IMPLEMENTATIONS = ROOT / "conformance" / "implementations"
FAKE_FILES = ROOT / "tests" / "suite" / "fakes"
FAKES = tomllib.loads((IMPLEMENTATIONS / "null_scores.toml").read_text())
GOLDENS = golden_cases()


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Written files are looked at in this process: `test_runner` shows that it is another one."""
    monkeypatch.setattr(driver_module, "Inspector", Here)


def report(name: str, command: list[str], cases: Sequence[GoldenCase]) -> RunReport:
    """A run over golden files, with what the implementation is known to get wrong."""
    left_out = {golden.case.id for golden in GOLDENS} - {golden.case.id for golden in cases}
    known = parse((IMPLEMENTATIONS / name / "expectations.toml").read_bytes())
    known = dataclasses.replace(known, others=frozenset(left_out))
    patient = Limits(seconds=60)  # a busy machine is not a defect of a driver
    return run(cases, Settings(command, patient, strict=True), known)


def surprises(done: RunReport) -> list[str]:
    return [
        f"{r.outcome}: {r.case} {r.operation}: {r.reason}: {r.actual or r.stderr}"
        for r in done.results
        if r.outcome != "passed" and not r.known
    ]


STEPS: dict[Operation, int] = {"read": 12, "scan": 25}
"""For operations that take long, the reference is asked about some cases: a run over all is `pqassay suite run`."""


LINTED = {"IDX1", "PM"}
"""Families whose files the reference judges: no engine reads them."""


@pytest.mark.parametrize("operation", ASKING)
def test_the_reference_answers_everything_rightly(operation: Operation, tmp_path: Path) -> None:
    """Requests about cases of all families, judged as in a run, but within this process: that takes a tenth of the time."""
    reference, wrong = ReferenceHere(), list[str]()
    asked = [
        one
        for one, _ in tasks(GOLDENS, [operation])
        # The one is refused by pyarrow, with which the reference reads.
        if one.case.id != FILES and (operation != "lint" or one.case.family in LINTED)
    ]
    for number, golden in enumerate(asked[:: STEPS.get(operation, 1)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        bench = Bench(golden, folder, reference.inspector)
        if operation != "encode":
            bench.hand_over()
        asking = ASKING[operation]
        for expected in asking.expected(golden.case):
            judged = asking.judge(bench, expected, reference.ask(asking.request(bench, expected)))
            if not judged.right:
                wrong.append(f"{golden.case.id}: {judged.reason}: {judged.actual}")

    assert [] == wrong


def test_the_reference_gives_the_rows_of_every_query() -> None:
    """With the index; of well-formed lies that it believes, nothing is said."""
    reference, asked, wrong = ReferenceHere(), 0, list[str]()
    honest = [golden for golden, _ in tasks(GOLDENS, ["scan"]) if golden.case.expect.scan != "exposure"]
    for golden in honest[:: STEPS["scan"]]:
        for one in Scanning(cast("Any", reference), golden, IEEE).ask():
            asked += 1
            if not one.is_right:
                wrong.append(f"{golden.case.id}: {one.query.predicate}: {one.told}")

    assert [] == wrong
    assert asked > 100


def test_the_reference_passes_as_a_driver_and_knows_every_operation() -> None:
    """A program of its own, as in a run; what it answers to all others, the tests before see."""
    chosen = select(GOLDENS, ["idx1/companion", "pqf/key-twice", "pm/with-data"])
    chosen += [one for one in update_cases(GOLDENS) if one.case.id.startswith("update/three-snapshots/")]
    driver = [sys.executable, "-m", "pqassay", "driver"]
    done = report("reference", driver, chosen)

    assert [] == surprises(done)
    assert 0 == done.exit_code
    assert True is done.driver.serve
    assert set(get_args(Operation)) == {score.operation for score in done.scores}
    assert all(score.asked == score.passed > 0 for score in done.scores if score.outcomes)


OF_THE_CODEC = [
    "idx1/carriage-return-last",
    "idx1/carriage-return-before*",
    "idx1/empty-value-*",
    "idx1/length-1-*",
    "idx1/offset-p*",
]
"""Cases that the published codec gets right and wrong; each crash costs the start of a process."""


def test_the_published_codec_fails_exactly_as_foretold() -> None:
    driver = IMPLEMENTATIONS / "published-idx1" / "driver.py"
    done = report("published-idx1", [sys.executable, str(driver)], select(GOLDENS, OF_THE_CODEC))

    assert [] == [line for line in surprises(done) if not line.startswith("inherited")]
    assert ([], 0) == (done.problems, done.exit_code)
    assert done.summary.known > 7
    assert {"failed", "crashed"} == {result.outcome for result in done.results if result.known}


def test_every_fake_has_a_score() -> None:
    assert {path.name for path in FAKE_FILES.iterdir() if path.is_file() and not path.suffix} == set(FAKES)


PART = {"BLM", "PM"}
"""Families about which all operations are asked: the cases of others are asked about by `make damages`, where a fake is asked about many."""


@pytest.mark.parametrize("name", FAKES)
def test_a_fake_scores_what_is_written(name: str) -> None:
    is_asked_much = null_scores.FAKE_DRIVERS[name].cases in ((), null_scores.SLICE)
    families = PART if is_asked_much else {golden.case.family for golden in GOLDENS}
    chosen = {golden.case.id: golden for golden in GOLDENS if golden.case.family in families}
    chosen |= {golden.parent.case.id: golden.parent for golden in chosen.values() if golden.parent}
    scores = null_scores.score(name, list(chosen.values()))
    expected = {key: row for key, row in FAKES[name].items() if key.split()[0] in families}

    assert expected
    assert expected == {key: scores.get(key) for key in expected}


def test_who_claims_everything_is_asked_everything() -> None:
    everything = json.loads((FAKE_FILES / "capabilities.json").read_text())
    missing = {
        missing_capability(
            operation, golden.case.family, golden.case.requires, golden.facts.needs, everything
        )
        for golden, operation in tasks(GOLDENS)
    }

    assert {""} == missing


@pytest.mark.parametrize("name", ["accept_all", "reject_all"])
def test_the_score_over_all_is_one_over_the_golden_files_that_there_are(name: str) -> None:
    there = Counter(
        f"{golden.case.family} {operation}"
        for golden, operation in tasks(GOLDENS)
        if operation != "scan" or golden.case.expect.scan != "exposure"
    )
    rows = {name: row for name, row in FAKES[name].items() if isinstance(row, dict)}

    assert there == {name: row["cases"] for name, row in rows.items()}
    assert there == {name: row["asked"] + row.get("exposed", 0) for name, row in rows.items()}
    assert there == {name: sum(row.values()) - row["cases"] - row["asked"] for name, row in rows.items()}


def test_refusing_everything_earns_nothing_and_accepting_everything_earns_less_than_half() -> None:
    rows = [row for row in FAKES["reject_all"].values() if isinstance(row, dict)]
    assert {0} == {row.get("passed", 0) for row in rows}

    rows = [row for row in FAKES["accept_all"].values() if isinstance(row, dict)]
    assert all(row.get("passed", 0) * 2 < row["asked"] for row in rows)


def passed(name: str, operation: str) -> int:
    """What a fake passes of an operation, over all families."""
    return sum(
        row.get("passed", 0)
        for key, row in FAKES[name].items()
        if key.endswith(f" {operation}") and isinstance(row, dict)
    )


RIGHT_AT_TIMES = ["shy", "repeats", "bleeding", "every_fifth", "looks_up", "asked_twice", "narrows"]


@pytest.mark.parametrize("name", RIGHT_AT_TIMES)
def test_no_fake_that_is_right_now_and_then_is_green(name: str) -> None:
    assert 1 == FAKES[name]["exit_code"]


def test_who_looks_answers_up_is_wrong_about_a_new_file() -> None:
    patient = Limits(seconds=60)
    cases = select(GOLDENS, ("pqf/p*",))
    done = run(cases, Settings([str(FAKE_FILES / "looks_up")], patient, only=("read", "scan")))

    assert [("hello", f"{operation} of a new file is wrong") for operation in ("read", "scan")] == [
        (result.case, result.reason) for result in done.results if not result.is_good
    ]


def test_who_does_not_declare_what_it_reads_wrongly_is_asked_about_it_once() -> None:
    cases = select(GOLDENS, ("pqf/half", "pqf/plain"))
    done = run(cases, Settings([str(FAKE_FILES / "narrows")], Limits(seconds=60)))

    assert [("hello/type.float16", "not declared, but read of pqf/half returns wrong rows", 1)] == [
        (result.case, result.reason, result.severity) for result in done.results if not result.is_good
    ]
    assert [1, 1] == [score.undeclared for score in done.scores if score.operation in ("read", "scan")]


def test_who_answers_tests_for_null_alone_passes_no_case_of_comparisons() -> None:
    scans = [row for key, row in FAKES["shy"].items() if key.endswith(" scan")]

    assert passed("shy", "scan") * 10 < sum(row["cases"] for row in scans)
    assert sum(row["asked"] for row in scans) * 4 < sum(row["cases"] for row in scans)


def test_who_repeats_what_it_said_first_is_red_in_every_case_behind_the_first() -> None:
    assert passed("repeats", "read") <= 1
    assert 0 == passed("repeats", "scan")
    assert not any("inherited" in row for row in FAKES["repeats"].values() if isinstance(row, dict))


def test_a_crash_is_never_taken_for_a_refusal() -> None:
    assert {4} == {FAKES[name]["exit_code"] for name in ("crash_all", "hang", "garbage")}


def findings_of(golden: GoldenCase) -> list[Finding]:
    """What is wrong with a case's input, as far as its manifest says how deep to look."""
    path = golden.folder / golden.case.input.file
    (found, *_) = pqassay.check(path, tier=golden.case.expect.check.tier).files
    return found.findings


def test_every_case_asks_something_and_every_operation_is_asked_both_ways() -> None:
    asked: dict[str, set[str]] = {}
    for golden in GOLDENS:
        expect = golden.case.expect
        told = {
            "read": None if expect.read is None else expect.read.refusal,
            "decode": expect.decode,
            "lint": expect.lint,
            "encode": expect.encode,
            "scan": expect.scan,
        }
        lists = {"snapshot": expect.snapshots, "prune": expect.prune, "plan": expect.plan}
        if not any(told.values()) and not any(lists.values()):
            verdicts = {finding.verdict for finding in findings_of(golden)}
            assert verdicts, golden.case.id
            assert "FAIL" not in verdicts, golden.case.id
        for operation, wanted in told.items():
            asked.setdefault(operation, set()).update([wanted] if wanted else [])
        for operation, wanted_each in lists.items():
            asked.setdefault(operation, set()).update(each.answer for each in wanted_each or ())

    assert {"accept", "reject"} <= asked["decode"]
    assert {"accept", "reject"} == asked["lint"] == asked["encode"]
    assert {"never", "allowed", "demanded"} == asked["read"]
    assert {"same-rows", "refusal-allowed", "exposure"} == asked["scan"]
    assert {"accept", "reject"} <= asked["snapshot"] & asked["plan"]
    assert "accept" in asked["prune"]
