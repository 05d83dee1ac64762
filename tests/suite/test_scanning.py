"""Scans: what becomes of answers to queries, whose fault they are, and how grave."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from golden_cases import ROWS, broken_case, valid_case, write_case
from idx1_files import Idx1File
from places import ROOT
from pqassay.literals.predicate import IEEE, Semantics
from pqassay.report.run.model import Result, RunReport
from pqassay.report.run.outcomes import SEVERITIES, Outcome
from pqassay.report.run.text import details
from pqassay_spec.golden.literals import Column, Float, Rows
from pqassay_suite.cases.case import load
from pqassay_suite.cases.queries import CaseQuery
from pqassay_suite.drivers.driver import NoAnswer, Reply
from pqassay_suite.drivers.process import Limits
from pqassay_suite.drivers.protocol import ScanRequest
from pqassay_suite.judging.causes import ACCIDENTS, Fault, cause_of, severity
from pqassay_suite.running.runner import Settings, run
from pqassay_suite.running.scanning import GRAVITY, Scanning, records_of, wanted_rows

pytestmark = pytest.mark.slow

DRIVER = """
import json, os, sys
sys.path.insert(0, {skeletons!r})
from pqassay_driver import matching

NAMES, ROWS, HELLO = {names!r}, {rows!r}, {hello!r}
asked = 0

def answers(request):
    global asked
    asked += 1
    damaged = b"IDX1" not in open(request["file"], "rb").read()
    for query in request["queries"]:
        tree, on = query["predicate"], query["index"] == "on"
        rows = [[row[name] for name in query["columns"]] for row in matching(tree, NAMES, ROWS)]
        answer = {{"answer": "accept", "rows": rows}}
{twist}
        yield {{"seq": query["seq"], **answer}}

if sys.argv[1] == "--serve":
    for line in sys.stdin:
        for answer in answers(json.loads(line)):
            print(json.dumps(answer), flush=True)
else:
    json.dump(HELLO, open(sys.argv[2], "w"))
"""
"""A driver that knows the rows of the cases made here, and answers rightly but for a twist."""

HELLO = {
    "answer": "accept",
    "name": "made",
    "version": "1",
    "language": "Python",
    "capabilities": ["idx1.scan", "codec.snappy"],
    "serve": True,
    "index_off": True,
}


def scanned(tmp_path: Path, twist: str = "pass", table: dict[str, Any] = ROWS, **hello: Any) -> RunReport:
    """What becomes of the scans of the cases in ``tmp_path/cases`` with a driver with a twist."""
    script = tmp_path / "driver.py"
    script.write_text(
        DRIVER.format(
            skeletons=str(ROOT / "conformance" / "implementations" / "skeletons" / "python"),
            names=[column["name"] for column in table["columns"]],
            rows=table["rows"],
            hello={**HELLO, **hello},
            twist="".join(f"        {line}\n" for line in twist.splitlines()),
        )
    )
    settings = Settings(
        [sys.executable, "-S", str(script)], Limits(seconds=20), jobs=1, strict=True, only=["scan"]
    )
    return run(load(tmp_path / "cases"), settings)


def result_of(report: RunReport, case: str = "made/good") -> Result:
    (found,) = [result for result in report.results if result.case == case]
    return found


LOSES = 'if tree[0] == "is null": answer["rows"] = []'


@pytest.mark.parametrize(
    ("twist", "outcome", "reason", "index", "severity_"),
    [
        ("pass", "passed", "", None, None),
        ("answer['rows'].reverse()", "passed", "", None, None),
        ("if on: answer['answer'] = 'ignored-index'", "passed", "", None, None),
        ('if on and tree[0] == "is null": answer["rows"] = []',
         "failed", "wrong rows, by the index", "by the index", 1),
        (LOSES, "failed", "wrong rows, without it too", "without it too", 1),
        ('answer["rows"] *= 2', "failed", "wrong rows, without it too", "without it too", 1),
        ('answer["rows"] = [[str(v) for v in row] for row in rows]', "failed", "wrong rows, without it too", "without it too", 1),
        ('answer = {"answer": "accept", "digest": "00"}', "failed", "wrong rows, without it too", "without it too", 1),
        ('if on: answer = {"answer": "reject", "message": "no"}', "failed", "refused, by the index", "by the index", 3),
        ('if tree[0] == "is null": os.abort()', "crashed", "ended by SIGABRT", "without it too", 2),
        ('if tree[0] == "is null": os._exit(0)', "crashed", "it ended without an answer", "without it too", 2),
        ('answer["rows"] = [[{"int": "x"}]]', "protocol error", "rows.0.0: 'x' is not a whole number", "without it too", 2),
        ('answer = {"answer": "unsupported", "reason": "scans"}', "unsupported", "no query is supported", None, None),
        ('if tree[0] == "=": answer = {"answer": "unsupported", "reason": "="}', "passed", "", None, None),
        ('if tree[0] == "=": sys.exit(3)', "crashed", "it ended without an answer", "without it too", 2),
    ],
)  # fmt: skip
def test_what_becomes_of_a_scan(
    twist: str, outcome: Outcome, reason: str, index: str | None, severity_: int | None, tmp_path: Path
) -> None:
    valid_case(tmp_path / "cases")
    found = result_of(scanned(tmp_path, twist))

    assert (outcome, reason, severity_) == (found.outcome, found.reason, found.severity)
    assert index == (found.query.index if found.query else None)


def test_a_case_counts_by_its_worst_query(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    found = result_of(scanned(tmp_path, f"{LOSES}\nif tree[0] == 'is not null': os.abort()"))

    assert found.query is not None
    assert ("crashed", ["is not null"]) == (found.outcome, found.query.predicate[:1])
    assert 2 <= found.query.wrong < found.query.asked


def test_how_many_queries_are_answered_is_told(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    report = scanned(
        tmp_path, f'{LOSES}\nif tree[0] == "=": answer = {{"answer": "unsupported", "reason": "="}}'
    )
    found = result_of(report)

    assert found.answered is not None
    assert 0 < found.answered.queries < found.answered.of
    words = f"{found.answered.queries} of {found.answered.of} queries, "
    assert [words] == [text[: len(words)] for name, text in details(found, report) if name == "answered"]


SPOILS = """
failed, answers.failed = getattr(answers, "failed", False), tree == ["is null", "nation"]
if failed or answers.failed: answer = {"answer": "reject", "message": "of the query before" if failed else "no"}
"""


def test_a_query_that_fails_is_not_told_by_what_it_spoils(tmp_path: Path) -> None:
    for name in "ab":
        valid_case(tmp_path / "cases", f"made/{name}")
    found = result_of(scanned(tmp_path, SPOILS.strip()), "made/b")

    assert found.query is not None
    assert ("failed", "reject: no", 1) == (found.outcome, found.actual, found.query.wrong)
    assert "without it too" == found.query.index


FORGETS = """
answers.seen = getattr(answers, "seen", set())
if str(query["predicate"]) in answers.seen: answer["rows"] = []
answers.seen.add(str(query["predicate"]))
"""


def test_a_reader_that_answers_otherwise_when_asked_again_is_wrong_in_its_first_request(
    tmp_path: Path,
) -> None:
    valid_case(tmp_path / "cases")
    found = result_of(scanned(tmp_path, FORGETS.strip()))

    assert found.query is not None
    assert ("failed", 1) == (found.outcome, found.query.wrong)


def test_the_query_and_the_rows_that_are_missing_are_told(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    found = result_of(scanned(tmp_path, 'if on and tree == ["is null", "nation"]: answer["rows"] = []'))

    assert found.query is not None
    assert ["is null", "nation"] == found.query.predicate
    assert '1 row with ["is null", "nation"]' == found.expected
    assert found.actual is not None
    assert found.actual.startswith("1 row missing: ")


def test_what_is_left_aside_is_counted(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    twist = "if on and tree[0] == '=': answer['answer'] = 'ignored-index'"

    assert 0 == scanned(tmp_path).index_left_aside
    assert 0 < scanned(tmp_path, twist).index_left_aside < 16


class Hanging:
    """A driver that never answers: each request takes all the time that it may take."""

    inspector = None

    def __init__(self) -> None:
        self.waits = 0

    def ask_queries(self, request: ScanRequest, _: Path) -> list[Reply]:
        self.waits += 1
        return [NoAnswer("crashed", "no answer within the time limit", timed_out=True)] * len(request.queries)

    def may_ask_again(self) -> bool:
        return True

    def start_afresh(self) -> None:
        pass


def test_a_driver_that_hangs_is_waited_for_twice_about_a_case(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    damaged_case(tmp_path)
    (damaged,) = (golden for golden in load(tmp_path / "cases") if golden.parent)
    driver = Hanging()
    scanning = Scanning(cast("Any", driver), damaged, IEEE)
    judged = scanning.ask()

    assert ["no answer within the time limit"] * len(judged) == [one.told for one in judged]
    assert [None] * len(judged) == scanning.blames(judged)
    assert [False] * len(judged) == scanning.inherited(judged)
    assert 2 == driver.waits


@pytest.mark.parametrize(
    ("twist", "first", "severity_"),
    [
        ("if asked > 1: answer['rows'] = []", " missing: ", 1),
        ("if asked > 1: os.abort()", "ended by SIGABRT; from a fresh process: ", 2),
    ],
)
def test_what_is_right_only_in_a_fresh_process_is_unstable(
    twist: str, first: str, severity_: int, tmp_path: Path
) -> None:
    for name in "abc":
        valid_case(tmp_path / "cases", f"made/{name}")
    report = scanned(tmp_path, twist)
    unstable = [result for result in report.results if result.outcome != "passed"]

    assert {("unstable", severity_)} == {(result.outcome, result.severity) for result in unstable}
    assert unstable
    for result in unstable:
        assert first in str(result.actual)
        assert "; from a fresh process: " in str(result.actual)
    assert 1 == report.exit_code


def damaged_case(tmp_path: Path, name: str = "made/damaged", scan: str = "refusal-allowed") -> None:
    expect = {
        "check": {"rules": ["IDX1-006"], "tier": "values"},
        "scan": scan,
        "predicate": ["=", "nation", "Peru"],
        "rows": ROWS,
    }
    write_case(tmp_path / "cases", name, expect, Idx1File(magic=b"IDX2").build(), parent="made/good")


REFUSAL = 'answer = {"answer": "reject", "message": "bad magic at 17"'


@pytest.mark.parametrize(
    ("twist", "outcome", "severity_"),
    [
        ("pass", "passed", None),
        (f"if damaged: {REFUSAL}}}", "passed", None),
        (f'if damaged: {REFUSAL}, "raised": "org.apache.parquet.FormatException"}}', "passed", None),
        (f'if damaged: {REFUSAL}, "raised": "java.util.NoSuchElementException"}}', "refused by accident", 6),
        ("if damaged: answer['rows'] = []", "failed", 4),
        ("if damaged: os.abort()", "crashed", 5),
        (LOSES, "inherited", None),
        (f"{LOSES}\nif damaged and tree[0] == '=': answer['rows'] = []", "failed", 4),
        (
            "if tree[0] == 'is null': answer['rows'] = [[None] * len(query['columns'])] * (1 + damaged)",
            "failed",
            4,
        ),
    ],
)
def test_what_becomes_of_a_scan_of_a_damaged_file(
    twist: str, outcome: Outcome, severity_: int | None, tmp_path: Path
) -> None:
    valid_case(tmp_path / "cases")
    damaged_case(tmp_path)
    found = result_of(scanned(tmp_path, twist), "made/damaged")

    assert (outcome, severity_) == (found.outcome, found.severity)


NAMES_THE_FILE = 'answer = {"answer": "reject", "message": f"cannot read {request[\'file\']}"}'


def test_an_answer_that_names_the_file_is_inherited_as_any_other(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    damaged_case(tmp_path, scan="same-rows")
    report = scanned(tmp_path, f"if tree[0] == 'is null': {NAMES_THE_FILE}")

    assert ("failed", "reject: cannot read data.parquet") == (
        result_of(report).outcome,
        result_of(report).actual,
    )
    assert "inherited" == result_of(report, "made/damaged").outcome


def test_no_folder_of_the_run_stays_in_what_a_driver_says(tmp_path: Path) -> None:
    """Neither in an answer nor on stderr: results of two runs are equal to the last byte."""
    valid_case(tmp_path / "cases")
    dies = "sys.stderr.write('panic: ' + request['file']); sys.stderr.flush(); os.abort()"
    twist = f"if tree[0] == '=': {dies}\n{NAMES_THE_FILE}"
    one, other = (scanned(tmp_path, twist) for _ in range(2))

    assert "panic: data.parquet" == result_of(one).stderr
    assert one.to_json() == other.to_json()


def test_what_is_inherited_counts_where_it_comes_from(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    damaged_case(tmp_path)
    report = scanned(tmp_path, LOSES)

    assert {"made/good": "failed", "made/damaged": "inherited"} == {r.case: r.outcome for r in report.results}
    assert [["made/good"]] == [[result.case for result in group] for group in report.causes]


@pytest.mark.parametrize(
    ("twist", "verdict", "misled"),
    [
        ("pass", "right", 0),
        ("if on: answer['rows'] = []", "rows lost", None),
        ("if on: answer['rows'] *= 2", "wrong rows", None),
        (f"if on: {REFUSAL}}}", "refused", 0),
        ("if on: os.abort()", "crashed", 0),
        (LOSES, "right", 0),
        ('answer = {"answer": "unsupported", "reason": "scans"}', "unsupported", 0),
    ],
)
def test_a_well_formed_lie_is_shown_and_never_scored(
    twist: str, verdict: str, misled: int | None, tmp_path: Path
) -> None:
    valid_case(tmp_path / "cases", lint="accept")
    damaged_case(tmp_path, scan="exposure")
    report = scanned(tmp_path, twist)
    (found,) = report.exposures

    assert ("made/damaged", verdict) == (found.case, found.verdict)
    assert found.misled == misled if misled is not None else found.misled > 0
    assert [] == report.results
    assert [] == report.scores


# ------------------------------------------------------------------------------------------------ semantics

FLOATS = Rows(
    [Column("x", "double", True)], [[Float("nan")], [Float("-0.0")], [Float("0.0")], [Float("1.0")], [None]]
)
GREATEST, APART = Semantics("greatest", "equal"), Semantics("unordered", "apart")


@pytest.mark.parametrize(
    ("predicate", "semantics", "rows"),
    [
        (["=", "x", {"float": "nan"}], IEEE, []),
        (["=", "x", {"float": "nan"}], GREATEST, ["nan"]),
        ([">", "x", {"float": "0.0"}], IEEE, ["1.0"]),
        ([">", "x", {"float": "0.0"}], GREATEST, ["nan", "1.0"]),
        ([">=", "x", {"float": "nan"}], GREATEST, ["nan"]),
        (["<", "x", {"float": "nan"}], GREATEST, ["-0.0", "0.0", "1.0"]),
        (["<", "x", {"float": "nan"}], IEEE, []),
        (["=", "x", {"float": "0.0"}], IEEE, ["-0.0", "0.0"]),
        (["=", "x", {"float": "0.0"}], APART, ["0.0"]),
        (["=", "x", {"float": "-0.0"}], APART, ["-0.0"]),
        (["<", "x", {"float": "0.0"}], APART, ["-0.0"]),
        (["in", "x", [{"float": "0.0"}, {"float": "nan"}]], GREATEST, ["nan", "-0.0", "0.0"]),
    ],
)
def test_the_truth_follows_how_the_library_compares(
    predicate: list[Any], semantics: Semantics, rows: list[str]
) -> None:
    found = wanted_rows(records_of(FLOATS), CaseQuery(predicate, ["x"]), semantics)

    assert rows == [str(value) for (value,) in found]


def test_what_a_driver_declares_decides_what_is_right(tmp_path: Path) -> None:
    """The same answers, by which NaN equals nothing: right or wrong by what is declared."""
    rows = {
        "columns": [{"name": "nation", "type": "string", "nullable": True}, {"name": "x", "type": "double", "nullable": True}],
        "rows": [["Peru", {"float": "nan"}], ["Chile", {"float": "1.0"}]],
    }  # fmt: skip
    expect = {"scan": "same-rows", "predicate": ["=", "x", {"float": "nan"}], "rows": rows}
    write_case(tmp_path / "cases", "made/good", expect)
    report = scanned(tmp_path, table=rows, nan="unordered")

    assert "passed" == result_of(report).outcome
    report = scanned(tmp_path, table=rows, nan="greatest")
    assert ("failed", "wrong rows, without it too") == (result_of(report).outcome, result_of(report).reason)
    assert "1 row missing" in (result_of(report).actual or "")


# ------------------------------------------------------------------------------------- severities and causes


def test_every_fault_has_its_severity(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    broken_case(tmp_path / "cases", parent="made/good")
    broken, good = (golden.case for golden in load(tmp_path / "cases"))
    of_good: dict[Fault, int] = {
        fault: severity(good, fault) for fault in get_args(Fault) if fault != "accepted"
    }
    of_broken: dict[Fault, int] = {fault: severity(broken, fault) for fault in get_args(Fault)}

    assert set(SEVERITIES) == {*of_good.values(), *of_broken.values()}
    assert {
        "wrong": 1,
        "crashed": 2,
        "protocol": 2,
        "refused": 3,
        "declined": 3,
        "accident": 3,
        "unfulfilled": 9,
    } == of_good
    assert {
        "wrong": 4,
        "crashed": 5,
        "protocol": 5,
        "accident": 6,
        "accepted": 7,
        "refused": 3,
        "declined": 8,
        "unfulfilled": 9,
    } == of_broken
    assert set(get_args(Fault)) - {"unfulfilled"} == set(GRAVITY)


@pytest.mark.parametrize(
    ("raised", "accident"),
    [
        (None, False),
        ("java.util.NoSuchElementException", True),
        ("java.lang.ArrayIndexOutOfBoundsException", True),
        ("TypeError", True),
        ("IndexError", True),
        ("org.apache.parquet.io.ParquetDecodingException", False),
        ("ArrowInvalid", False),
        ("IndexErrorOfOurs", False),
        ("pkg::module::RangeError", True),
    ],
)
def test_exceptions_that_tell_of_a_mistake_make_a_refusal_one_by_accident(
    raised: str | None, accident: bool
) -> None:
    assert accident == ACCIDENTS.include(raised)


GO = """panic: runtime error: index out of range [7] with length 3
goroutine 1 [running]:
github.com/parquet-go/parquet-go.(*File).page(0xc000)
\t/root/go/pkg/mod/github.com/parquet-go@v1/file.go:12 +0x1d"""

JAVA = """starting
Exception in thread "main" java.lang.NullPointerException: no page 12
\tat org.apache.parquet.Reader.next(Reader.java:10)
\tat org.apache.parquet.Main.main(Main.java:3)"""


@pytest.mark.parametrize(
    ("outcome", "reason", "actual", "stderr", "cause"),
    [
        ("crashed", "exit status 2", None, GO, "crash: panic: runtime error: index out of range [#] with length # in github.com/parquet-go/parquet-go.(*File).page"),
        ("crashed", "exit status 1", None, JAVA, 'crash: Exception in thread "main" java.lang.NullPointerException: no page # in org.apache.parquet.Reader.next'),
        ("crashed", "ended by SIGSEGV", None, None, "crash: ended by SIGSEGV"),
        ("protocol error", "rows.3.1: not a value", None, None, "protocol: rows.#.#: not a value"),
        ("failed", "refused", "reject: bad page 7 of /tmp/a/data.parquet", None, "refusal: bad page # of data.parquet"),
        ("failed", "wrong rows, by the index", "1 row missing", None, "scan: wrong rows, by the index"),
    ],
)  # fmt: skip
def test_results_of_one_cause_have_their_numbers_and_folders_alone_of_their_own(
    outcome: Outcome, reason: str, actual: str | None, stderr: str | None, cause: str
) -> None:
    found = cause_of("scan", outcome, reason, actual=actual, stderr=stderr)

    assert cause == found


def test_failures_are_grouped_by_cause_and_the_gravest_come_first(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    for name in "ab":
        damaged_case(tmp_path, f"made/{name}")
    damaged_case(tmp_path, "made/c", scan="same-rows")
    twist = f"if damaged and tree[0] == '=': {REFUSAL}, 'raised': 'KeyError'}}\nelif tree[0] == 'is null': answer['rows'] = []"
    report = scanned(tmp_path, twist)

    assert [(1, ["made/good"]), (3, ["made/c", "made/a", "made/b"])] == [
        (group[0].severity, [result.case for result in group]) for group in report.causes
    ]
    assert report.to_json() == scanned(tmp_path, twist).to_json()
    assert json.loads(report.to_json())["driver"]["serve"] is True


IN_THE_FILTER = 'if on and tree[0] == "is null": answer["rows"] = []'


@pytest.mark.parametrize(("hello", "blame"), [({}, "by the index"), ({"index_off": False}, "of the filter")])
def test_the_index_is_blamed_only_by_a_driver_that_can_switch_it_off(
    hello: dict[str, Any], blame: str, tmp_path: Path
) -> None:
    valid_case(tmp_path / "cases")
    result = result_of(scanned(tmp_path, IN_THE_FILTER, **hello))

    assert (blame, f"wrong rows, {blame}") == (result.query and result.query.index, result.reason)
    assert f"wrong rows: rows missing where a value is null, {blame}" == result.cause


def test_what_is_refused_by_accident_goes_by_what_the_driver_declares(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    damaged_case(tmp_path, "made/a")
    refusing = f"if damaged: {REFUSAL}, 'raised': RAISED}}"

    def outcome(raised: str, **hello: Any) -> str:
        return result_of(
            scanned(tmp_path, refusing.replace("RAISED", repr(raised)), **hello), "made/a"
        ).outcome

    assert "refused by accident" == outcome("KeyError")
    assert "passed" == outcome("KeyError", raises=["KeyError"])
    assert "passed" == outcome("org.acme.io.BadPage", raises=["org.acme.*"])
    assert "refused by accident" == outcome("java.io.IOException", raises=["org.acme.*"])


UNSUPPORTED = 'answer = {"answer": "unsupported", "reason": "no comparisons"}'


def test_a_case_of_which_no_query_that_compares_is_answered_is_unsupported(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    shy = result_of(scanned(tmp_path, f"if tree[0] not in ('is null', 'is not null'): {UNSUPPORTED}"))
    bold = result_of(scanned(tmp_path, f"if tree[0] == 'in': {UNSUPPORTED}"))

    assert ("unsupported", 0) == (shy.outcome, shy.answered and shy.answered.deciding)
    assert shy.answered is not None
    assert f"answers none of the {shy.answered.of_deciding} queries that decide" == shy.reason
    assert "passed" == bold.outcome
    assert bold.answered is not None
    assert 0 < bold.answered.queries < bold.answered.of


def test_what_is_unstable_is_not_excused_by_what_is_unsupported(tmp_path: Path) -> None:
    for name in "ab":
        valid_case(tmp_path / "cases", f"made/{name}")
    shy = f"if tree[0] not in ('is null', 'is not null'): {UNSUPPORTED}"
    report = scanned(tmp_path, f"{shy}\nelif asked > 1: answer['rows'] = []")

    assert "unstable" in {result.outcome for result in report.results}
    assert 1 == report.exit_code
