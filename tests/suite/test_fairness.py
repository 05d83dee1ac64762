"""What a reader is not blamed for, what earns it nothing, and what weighs less."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from golden_cases import ROWS, golden_cases, valid_case, write_case, write_driver
from idx1_files import Idx1File
from pqassay.cli.main import suite as app
from pqassay.report.run import text as run_text
from pqassay.report.run.model import Result, RunReport
from pqassay.report.side_by_side.model import side_by_side
from pqassay_spec.golden.literals import Rows
from pqassay_suite.cases.case import load
from pqassay_suite.cases.file_facts import needs_of_rows
from pqassay_suite.cases.writer_cases import writer_cases
from pqassay_suite.drivers.process import Limits
from pqassay_suite.drivers.protocol import Reject, Wishes, missing_capability
from pqassay_suite.judging.answers import demanded, operations
from pqassay_suite.judging.bench import described
from pqassay_suite.running.runner import Settings, run

LIE = {"rules": ["IDX1-016"], "tier": "values"}
CHECK = {"rules": ["IDX1-006"], "tier": "values"}
RIGHT = json.dumps({"answer": "accept", "rows": ROWS["rows"]})
PREDICATE = ["=", "nation", "Peru"]

SERVING = """\
import json, sys
def answer(request):
    if request["op"] == "hello":
        return {"answer": "accept", "name": "made", "version": "1", "language": "Python", "capabilities": CAPABILITIES, "serve": True}
    if request["op"] == "read":
        return {"answer": "accept", "rows": ROWS}
    return None
if sys.argv[1] == "--serve":
    for line in sys.stdin:
        request = json.loads(line)
        for query in request.get("queries", [None]):
            told = answer(request) or {"answer": "unsupported", "reason": "no", **({} if query is None else {"seq": query["seq"]})}
            print(json.dumps(told), flush=True)
else:
    json.dump(answer(json.load(open(sys.argv[1]))), open(sys.argv[2], "w"))
"""


def serving(folder: Path, *capabilities: str) -> list[str]:
    """A driver that goes on, and gives the rows of all files."""
    path = folder / "serving.py"
    told = json.loads(json.dumps(ROWS["rows"]))
    path.write_text(SERVING.replace("CAPABILITIES", repr([*capabilities])).replace("ROWS", repr(told)))
    return [sys.executable, "-S", str(path)]


def in_sh(folder: Path, answer: str) -> str:
    """A command of a driver in sh that answers this."""
    path = folder / f"{len([*folder.iterdir()])}.json"
    path.write_text(answer)
    return f'cp {path} "$2"'


def by_file(folder: Path, good: str, odd: str) -> str:
    """The body of a driver in sh that does one thing with the good file, and another with the odd one."""
    path = folder / "cases/made/good/data.parquet"
    return f'if cmp -s "$(dirname "$1")/data.parquet" {path}; then {good}; else {odd}; fi'


def asked(folder: Path, body: str, *operations_: str, hello: list[str] | None = None) -> RunReport:
    """What becomes of the cases in ``folder/cases`` with a driver in sh."""
    settings = Settings(write_driver(folder, body, hello=hello), Limits(seconds=20), only=operations_)  # type: ignore[arg-type] # names of operations
    return run(load(folder / "cases"), settings)


def result_of(report: RunReport, case: str) -> Result:
    return next(result for result in report.results if result.case == case)


def damaged_case(folder: Path, check: dict[str, Any], refusal: str, **expect: Any) -> None:
    """A good case, and one made from it whose rows are the same."""
    valid_case(folder, rows=ROWS, read={"rows": "own", "refusal": "never"})
    told = {"check": check, "rows": ROWS, "read": {"rows": "parent", "refusal": refusal}, **expect}
    write_case(folder, "made/odd", told, Idx1File(magic=b"IDX2").build(), parent="made/good")


# --------------------------------------------------------------------------------------------------- exposure


@pytest.mark.parametrize(
    ("scan", "rows", "outcome", "severity"),
    [
        ("exposure", [], "exposed", None),
        ("refusal-allowed", [], "failed", 4),
        ("exposure", None, "crashed", 5),
        ("exposure", ROWS["rows"], "passed", None),
    ],
)
def test_who_is_not_blamed_for_believing_a_lie_in_a_scan_is_not_in_a_read(
    scan: str, rows: list[Any] | None, outcome: str, severity: int | None, tmp_path: Path
) -> None:
    damaged_case(tmp_path / "cases", LIE, "allowed", scan=scan, predicate=PREDICATE)
    told = json.dumps({"answer": "accept", "rows": rows})
    odd = "exit 1" if rows is None else in_sh(tmp_path, told)
    report = asked(tmp_path, by_file(tmp_path, in_sh(tmp_path, RIGHT), odd), "read")

    found = result_of(report, "made/odd")
    assert (outcome, severity) == (found.outcome, found.severity)
    asked_ = 1 if outcome == "exposed" else 2
    assert [(asked_, 2)] == [(score.asked, score.cases) for score in report.scores]


def test_what_is_stored_in_a_column_of_unknown_type_is_right() -> None:
    case = next(one.case for one in golden_cases() if one.case.id == "pqf/unknown-with-a-value")

    assert case.expect.read is not None
    assert ("unspecified", "allowed") == (case.expect.read.rows, case.expect.read.refusal)
    assert ["read", "lint"] == operations(case)


@pytest.mark.parametrize("name", ["integer-of-7-bits", "integer-too-wide", "uuid-on-a-number"])
def test_an_annotation_that_does_not_fit_may_be_ignored_or_refused(name: str) -> None:
    case = next(one.case for one in golden_cases() if one.case.id == f"pqf/{name}")

    assert case.expect.read is not None
    assert ("parent", "allowed") == (case.expect.read.rows, case.expect.read.refusal)


# -------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(("raised", "severity"), [("ArrowInvalid", 8), ("KeyError", 3)])
def test_a_refusal_in_words_of_an_odd_but_legal_file_weighs_less(
    raised: str, severity: int, tmp_path: Path
) -> None:
    damaged_case(tmp_path / "cases", CHECK, "never")
    refusal = json.dumps({"answer": "reject", "message": "no", "raised": raised})
    body = by_file(tmp_path, in_sh(tmp_path, RIGHT), in_sh(tmp_path, refusal))
    found = result_of(asked(tmp_path, body, "read"), "made/odd")

    assert ("failed", severity, f"reject ({raised}): no") == (found.outcome, found.severity, found.actual)


def test_a_refusal_of_a_good_file_weighs_as_before(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases", rows=ROWS, read={"rows": "own", "refusal": "never"})
    report = asked(tmp_path, 'answer \'{"answer": "reject", "message": "no"}\'', "read")

    assert [("failed", 3)] == [(one.outcome, one.severity) for one in report.results]


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (None, "reject: no magic"),
        ("OSError", "reject (OSError): no magic"),
        ("a.b.E: at 0x1f", "reject (a.b.E): no magic"),
    ],
)
def test_the_class_of_a_refusal_is_shown(raised: str | None, words: str) -> None:
    assert words == described(Reject("reject", "no magic", raised))


# -------------------------------------------------------------------------------------- past foreign bytes


def test_reads_past_foreign_bytes_are_counted_apart(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases", rows=ROWS, read={"rows": "own", "refusal": "never"})
    plain = {"rows": ROWS, "read": {"rows": "own", "refusal": "never"}}
    write_case(tmp_path / "cases", "made/plain", plain, family="PQF")
    body = in_sh(tmp_path, RIGHT)
    past, knows = (
        asked(tmp_path, body, "read", hello=hello)
        for hello in (["read", "codec.snappy"], ["read", "codec.snappy", "idx1.decode"])
    )

    assert "1 of 1 passed" == run_text.tally(past)
    assert "2 of 2 passed" == run_text.tally(knows)
    assert "reads past foreign bytes, counted apart: 1 of 1 passed" == run_text.past_foreign(past)
    assert "" == run_text.past_foreign(knows)
    both = side_by_side([past, knows], ["past", "knows"]).implementations
    assert [(1, 1, 1), (2, 2, 0)] == [(each.passed, each.asked, each.past_foreign) for each in both]


# ---------------------------------------------------------------------------------------------- what is asked


def test_a_driver_declares_that_it_has_no_null_lists() -> None:
    with_nulls = next(one for one in golden_cases() if one.case.id == "pqf/lists")
    without = next(one for one in golden_cases() if one.case.id == "pqf/repeated")
    needs = ["nested", *needs_of_rows(with_nulls.rows)]

    assert ["nested.null-lists"] == needs_of_rows(with_nulls.rows)
    assert [] == needs_of_rows(without.rows)
    assert "" == missing_capability("read", "PQF", [], needs, ["read", "nested"])
    lacks = ["nested.null-lists"]
    assert "nested.null-lists" == missing_capability("read", "PQF", [], needs, ["read", "nested"], lacks)
    assert "" == missing_capability("read", "PQF", [], ["nested"], ["read", "nested"], lacks)


def test_a_column_of_nulls_needs_no_bloom_filter() -> None:
    case = next(one for one in writer_cases() if one.case.id == "write/only-nulls/bloom-filters")
    rows = case.case.expect.rows
    assert isinstance(rows, Rows)
    assert case.wishes is not None

    assert Wishes() == demanded(case.wishes, rows)
    assert ["id"] == demanded(
        dataclasses.replace(case.wishes, bloom_filter=["id", "name"]), rows
    ).bloom_filter


def test_requests_carry_types_and_answers_are_kept(tmp_path: Path) -> None:
    everything = {"rows": ROWS, "read": {"rows": "own", "refusal": "never"}, "scan": "same-rows"}
    valid_case(tmp_path / "cases", **everything, predicate=PREDICATE)
    command = serving(tmp_path, "read", "codec.snappy", "idx1.scan")
    run(load(tmp_path / "cases"), Settings(command, Limits(seconds=20), keep=tmp_path / "kept"))
    kept = tmp_path / "kept/made/good"
    read, scan = (json.loads((kept / name / "request.json").read_text()) for name in ("read-1", "scan-1"))

    assert {"nation": "string", "year": "int64"} == read["types"] == scan["types"]
    assert {"answer": "accept", "rows": ROWS["rows"]} == json.loads(
        (kept / "read-1/answers.jsonl").read_text()
    )
    answers = [json.loads(line) for line in (kept / "scan-1/answers.jsonl").read_text().splitlines()]
    assert [query["seq"] for query in scan["queries"]] == [answer["seq"] for answer in answers]


# ----------------------------------------------------------------------------------------- several drivers


def test_several_drivers_are_asked_at_once_and_put_side_by_side(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases", rows=ROWS, read={"rows": "own", "refusal": "never"})
    options = ["run", "--cases", str(tmp_path / "cases"), "--driver", "pyarrow", "--operation", "read"]
    command = [
        *options,
        "--keep",
        str(tmp_path / "kept"),
        "--format",
        "json",
        "--",
        *serving(tmp_path, "read", "codec.snappy"),
    ]
    result = CliRunner().invoke(app, command)

    assert 0 == result.exit_code, result.output
    found = json.loads(result.stdout)
    assert ["pyarrow", "made"] == [each["name"] for each in found["implementations"]]
    assert {"driver", "pyarrow"} == {path.name for path in (tmp_path / "kept").iterdir()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hello"], "--hello is for one driver; name one"),
        (["--format", "junit"], "several results are printed in the formats text, json, html, not junit"),
    ],
)
def test_what_is_about_one_driver_is_refused_with_several(options: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["run", "--driver", "pyarrow", *options, "--", "true"])

    assert 2 == result.exit_code
    assert message in result.stderr
