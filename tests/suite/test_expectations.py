from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqassay.report.run.model import Result
from pqassay.report.run.outcomes import Outcome
from pqassay_suite.cases.expectations import Expectations, ExpectationsError, parse, written

TODAY = dt.date(2026, 6, 1)

FAILED = Result(
    "made/a", "IDX1", "decode", "failed", "wrong values", ["IDX1-014"], cause="decode of IDX1: wrong values"
)
PASSED = Result("made/a", "IDX1", "lint", "passed")
CRASHED = Result(
    "made/b",
    "IDX1",
    "decode",
    "crashed",
    "exit status 1",
    ["IDX1-008"],
    cause="crash: panic: index in main.read",
)
SKIPPED = Result("made/b", "IDX1", "scan", "unsupported", "codec LZ4")
RESULTS = [FAILED, PASSED, CRASHED, SKIPPED]


def entries(*rows: str) -> Expectations:
    return replace(parse("\n".join(f"[[expectation]]\n{row}" for row in rows).encode()), today=TODAY)


def compared(*rows: str, **settings: Any) -> tuple[list[tuple[str, str]], list[str]]:
    """The results that are known, and the problems."""
    results, problems = replace(entries(*rows), **settings).compare(RESULTS)
    return [(r.case, r.operation) for r in results if r.known], [found.problem for found in problems]


A = 'case = "made/a"\noperation = "decode"\noutcome = "failed"\n'
B = 'case = "made/b"\noutcome = "crashed"\n'


def test_what_is_foretold_is_known() -> None:
    assert ([("made/a", "decode"), ("made/b", "decode")], []) == compared(A, B)


def test_a_pattern_may_stand_for_many_cases() -> None:
    assert [("made/a", "decode")] == compared('case = "*/a"\noperation = "decode"\noutcome = "failed"\n')[0]


def test_an_entry_may_name_several_cases_and_patterns() -> None:
    known, problems = compared('case = ["made/a", "*/b"]\noperation = "decode"\noutcome = "crashed"\n')

    assert [("made/b", "decode")] == known
    assert ["made/a decode: failed (wrong values), not crashed"] == problems


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('case = "made/a"\noperation = "lint"\noutcome = "failed"\n', "made/a lint passes now"),
        ('case = "made/b"\noutcome = "failed"\n', "made/b decode: crashed (exit status 1), not failed"),
        (f'{A}rule = "IDX1-012"\n', "made/a decode: failed, but about IDX1-014"),
        (f'{B}cause = "nil map"\n', "made/b decode: crashed, but with another cause: crash: panic: index"),
        (f"{A}expires = 2026-05-31\n", "expired on 2026-05-31"),
        ('case = "made/gone"\noutcome = "failed"\n', "no case that ran matches"),
        ('case = "made/a"\noperation = "encode"\noutcome = "failed"\n', "no case that ran matches"),
        ('case = "made/b"\noperation = "scan"\noutcome = "failed"\n', "no case that ran matches"),
    ],
)
def test_whatever_differs_is_a_problem(row: str, problem: str) -> None:
    (found,) = compared(row)[1]

    assert found.startswith(problem)


@pytest.mark.parametrize(
    "row", [A, f"{A}expires = 2026-06-01\n", f'{A}rule = "IDX1-014"\n', f'{A}cause = "wrong values"\n']
)
def test_what_holds_is_no_problem(row: str) -> None:
    assert ([("made/a", "decode")], []) == compared(row)


def test_an_entry_without_operation_is_about_all_that_was_asked() -> None:
    known, problems = compared('case = "made/a"\noutcome = "failed"\n')

    assert [("made/a", "decode")] == known
    assert ["made/a lint passes now; remove the entry"] == problems


def test_the_first_entry_decides_and_what_it_leaves_nothing_for_is_dead() -> None:
    known, problems = compared(A, 'case = "made/*"\noperation = "decode"\noutcome = "crashed"\n', A)

    assert [("made/a", "decode"), ("made/b", "decode")] == known
    assert ["no case that ran matches; remove the entry"] == problems


def test_what_is_unsupported_can_be_foretold() -> None:
    row = 'case = "made/b"\noperation = "scan"\noutcome = "unsupported"\n'

    assert ([("made/b", "scan")], []) == compared(row)


def test_an_entry_about_cases_that_were_left_out_is_not_judged() -> None:
    gone = 'case = "made/gone"\noutcome = "failed"\n'

    assert [] == compared(gone, others=frozenset({"made/gone"}))[1]
    assert [] == compared(gone, narrowed=True)[1]
    assert 1 == len(compared(gone, others=frozenset({"made/other"}))[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[expectation]", "Expected"),
        ("\xff", "invalid start byte"),
        ("[[expectations]]", "expectations [key]: Input should be 'expectation'"),
        ("expectation = 5", "expectation: Input should be a valid list"),
        ("expectation = [5]", "expectation 1: Input should be a dictionary"),
        ('[[expectation]]\ncase = "a"', "expectation 1 outcome: Field required"),
        ('[[expectation]]\noutcome = "failed"', "expectation 1 case: Field required"),
        ('[[expectation]]\ncase = "a"\noutcome = "passed"', "an outcome that is not passed"),
        ('[[expectation]]\ncase = "a"\noutcome = "odd"', "1 outcome: Input should be 'passed', 'failed'"),
        (
            '[[expectation]]\ncase = "a"\noutcome = "failed"\noperation = "write"',
            "should be 'read', 'decode'",
        ),
        ('[[expectation]]\ncase = "a"\noutcome = "failed"\nexpire = 2027-01-01', "1 expire: Unexpected"),
        ('[[expectation]]\ncase = "a"\noutcome = "failed"\nexpires = "soon"', "should be a valid date"),
        ('[[expectation]]\ncase = 1\noutcome = "failed"', "expectation 1 case: Input should be a valid"),
        ('[[expectation]]\ncase = ["a", 1]\noutcome = "failed"', "1 case: Input should be a valid string"),
        ('[[expectation]]\ncase = []\noutcome = "failed"', "expectation 1 needs a case"),
    ],
)
def test_a_wrong_file_names_the_entry(text: str, message: str) -> None:
    with pytest.raises(ExpectationsError) as caught:
        parse(text.encode("latin-1"))

    assert message in str(caught.value)


def test_what_is_written_foretells_all_and_keeps_what_people_wrote() -> None:
    before = entries(f'{A}issue = "https://example.org/7"\nexpires = 2027-03-01\nreason = "known"\n')
    again = replace(parse(written(RESULTS, before).encode()), today=TODAY)
    results, problems = again.compare(RESULTS)

    assert [FAILED.case, CRASHED.case] == [result.case for result in results if result.known]
    assert [] == problems
    first, second = again.entries
    assert ("https://example.org/7", dt.date(2027, 3, 1), "known") == (
        first.issue,
        first.expires,
        first.reason,
    )
    assert ("crashed", "crash: panic: index in main.read", "exit status 1") == (
        second.outcome,
        second.cause,
        second.reason,
    )


def test_failures_of_one_cause_are_written_as_one_entry() -> None:
    alike = [replace(FAILED, case=f"made/{name}") for name in "xyz"]
    (entry,) = parse(written([*alike, PASSED], Expectations()).encode()).entries

    assert (("made/x", "made/y", "made/z"), "decode of IDX1: wrong values") == (entry.case, entry.cause)


PINNED = replace(FAILED, pin="rows 8fd0a3c1b2e4f567")


def test_another_wrong_answer_is_not_the_one_that_was_foretold() -> None:
    foretold = replace(parse(written([PINNED], Expectations()).encode()), today=TODAY)
    other = replace(PINNED, pin="rows 0000000000000000")
    told = "made/a decode: failed, but with another answer: rows 0000000000000000; pinned is rows 8fd0a3c1b2e4f567"

    assert [] == foretold.compare([PINNED])[1]
    assert [told] == [problem.problem for problem in foretold.compare([other])[1]]
    assert 0 == foretold.unpinned(foretold.compare([PINNED])[0])


def test_an_entry_that_pins_no_answer_is_counted() -> None:
    foretold = entries(A)

    assert 1 == foretold.unpinned(foretold.compare([PINNED])[0])
    assert 0 == foretold.unpinned(foretold.compare([FAILED])[0])  # nothing came that could be pinned


def test_pins_written_anew_keep_what_people_wrote() -> None:
    answers = '[expectation.answers]\n"made/a" = "rows 8fd0a3c1b2e4f567"\n'
    before = entries(f'{A}issue = "https://example.org/7"\n{answers}')
    again = parse(written([replace(PINNED, pin="refusal")], before).encode())

    assert [("https://example.org/7", {"made/a": "refusal"})] == [
        (entry.issue, entry.answers) for entry in again.entries
    ]


OUTCOMES: list[Outcome] = ["failed", "crashed", "protocol error", "no credit"]


@given(st.text(max_size=20), st.sampled_from(OUTCOMES))
def test_any_reason_can_be_written_and_read_back(reason: str, outcome: Outcome) -> None:
    text = written([replace(FAILED, reason=reason, outcome=outcome)], Expectations())
    (entry,) = parse(text.encode()).entries

    assert (reason or None, outcome) == (entry.reason, entry.outcome)


VARIES = 'case = "made/a"\noperation = "decode"\nreason = "memory that was not filled"\nvaries = true\n'


def test_what_varies_keeps_nothing_of_an_answer() -> None:
    known = entries(f'{VARIES}outcome = "failed"\ncause = "wrong values"\n')
    (once, *_), problems = known.compare([replace(FAILED, pin="rows 1", actual="1")])
    (again, *_), others = known.compare([replace(FAILED, pin="rows 2", actual="2")])

    assert ([], []) == (problems, others)
    assert once == again
    assert ("failed", "wrong values", True) == (once.outcome, once.reason, once.known)


def test_what_passes_now_and_then_is_unstable_whatever_comes() -> None:
    known = entries(f'{VARIES}outcome = "unstable"\n')
    crashed = replace(CRASHED, case="made/a", severity=5)
    comes = [known.compare([one]) for one in (FAILED, crashed, replace(PASSED, operation="decode"))]

    assert [[]] * 3 == [problems for _, problems in comes]
    assert 1 == len({repr(results) for results, _ in comes})
    assert ("unstable", False) == (comes[0][0][0].outcome, comes[0][0][0].is_good)


def test_what_varies_is_written_again_as_it_is() -> None:
    for outcome, result in {"failed": FAILED, "unstable": CRASHED}.items():
        before = entries(f'{VARIES.replace("made/a", result.case)}outcome = "{outcome}"\n')
        results, _ = before.compare([replace(result, pin="rows 1")])

        (again,) = parse(written(results, before).encode()).entries

        assert before.entries == (replace(again, cause=None),)
