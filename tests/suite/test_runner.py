"""The runner: what becomes of what a driver does, on cases made for the purpose."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import processes
from golden_cases import ROWS, VALUES, broken_case, valid_case, write_case, write_driver
from idx1_files import Idx1File, parquet, table
from inside import Here
from places import ROOT
from pqassay.cli.main import suite as app
from pqassay.report.run.model import RunReport, json_schema
from pqassay_spec.rules.catalogue import rules
from pqassay_suite.cases.case import load
from pqassay_suite.drivers import driver as driver_module
from pqassay_suite.drivers import inspector
from pqassay_suite.drivers.process import Limits
from pqassay_suite.running.runner import CannotStartError, Settings, run

pytestmark = pytest.mark.slow

GOOD_VALUE = json.dumps({"answer": "accept", "value": {"values": VALUES}})
REJECT = '{"answer": "reject", "message": "no thanks"}'


LOOKED_AT_ELSEWHERE = {
    "test_rows_of_all_types_survive_a_writer",
    "test_judging_a_written_file_has_a_time_limit_of_its_own",
}
"""Tests in which written files are looked at in a process of its own, as they are in a run."""


@pytest.fixture(autouse=True)
def here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.name not in LOOKED_AT_ELSEWHERE:
        monkeypatch.setattr(driver_module, "Inspector", Here)


def asked(tmp_path: Path, body: str, *operations: str, hello: list[str] | None = None) -> RunReport:
    """What becomes of the cases in ``tmp_path/cases`` with a driver in sh."""
    command = write_driver(tmp_path, body, hello=hello)
    settings = Settings(command, Limits(seconds=20), only=operations)  # type: ignore[arg-type] # names of operations
    return run(load(tmp_path / "cases"), settings)


def outcome(tmp_path: Path, body: str, operation: str, hello: list[str] | None = None) -> tuple[str, str]:
    """Outcome and reason of one operation on a valid case."""
    valid_case(tmp_path / "cases")
    (result,) = asked(tmp_path, body, operation, hello=hello).results
    return result.outcome, result.reason


@pytest.mark.parametrize(
    ("body", "became"),
    [
        (f"answer '{GOOD_VALUE.replace(chr(39), chr(39) * 2)}'", ("failed", "wrong values")),
        ('answer \'{"answer": "accept", "value": {"values": []}}\'', ("failed", "wrong values")),
        ('answer \'{"answer": "accept", "value": {"values": "Peru"}}\'', ("failed", "wrong values")),
        ('answer \'{"answer": "accept", "value": {"offset": 4}}\'', ("failed", "incomplete value")),
        (f"answer '{REJECT}'", ("failed", "refused")),
        ("exit 1", ("crashed", "exit status 1")),
        (f"answer '{REJECT}'; exit 1", ("crashed", "exit status 1")),
        ("kill -KILL $$", ("crashed", "ended by SIGKILL")),
        ("exit 3", ("unsupported", "not supported (exit status 3)")),
        ("exit 0", ("protocol error", "exit status 0, and no answer was written")),
        ("answer nonsense", ("protocol error", "Invalid JSON: expected ident at line 1 column 2")),
        ('answer \'{"answer": "accept"}\'', ("protocol error", "the answer to decode carries value")),
        ('mkdir "$2"', ("protocol error", "the answer is not a regular file")),
        ('ln -s /dev/zero "$2"', ("protocol error", "the answer is not a regular file")),
        ('answer \'{"answer": "unsupported", "reason": "no such index"}\'', ("unsupported", "no such index")),
    ],
)
def test_what_becomes_of_a_decode(body: str, became: tuple[str, str], tmp_path: Path) -> None:
    assert became == outcome(tmp_path, body, "decode")


def value_file(tmp_path: Path, **members: object) -> str:
    """A body that answers with the right values, repeated and in another order, and further members."""
    value = {"values": [*reversed(VALUES), VALUES[0]], **members}
    (tmp_path / "value.json").write_text(json.dumps({"answer": "accept", "value": value}))
    return f'cp {tmp_path}/value.json "$2"'


def test_values_are_compared_as_a_set_and_other_members_where_the_answer_has_them(tmp_path: Path) -> None:
    expect = {"decode": "accept", "value": {"values": VALUES, "offset": 52}}
    write_case(tmp_path / "cases", "made/offset", expect)
    for members, became in (
        ({}, "passed"),
        ({"offset": 52, "more": 1}, "passed"),
        ({"offset": 53}, "failed"),
    ):
        (result,) = asked(tmp_path, value_file(tmp_path, **members), "decode").results

        assert became == result.outcome


def parquet_file(tmp_path: Path, name: str, content: bytes) -> str:
    path = tmp_path / name
    path.write_bytes(content)
    return str(path)


OTHER = table(["Peru", "Peru", None, "Chad", "Peru", "日本"])


@pytest.mark.parametrize(
    ("content", "became", "told"),
    [
        (Idx1File().build(), ("passed", ""), ""),
        (Idx1File(payload=b"Peru").build(), ("failed", "the written file breaks rules"), "IDX1-016"),
        (b"PAR1", ("failed", "the written file breaks rules"), "PQF-001"),
        (parquet(table()), ("failed", "the written file holds no IDX1"), "IDX1-016"),
        (
            Idx1File(data=parquet(OTHER), payload="Chad\nPeru\n日本".encode()).build(),
            ("failed", "the written file holds other rows"),
            "rows missing",
        ),
        (
            Idx1File(data=parquet(table().rename_columns(["nation", "jahr"]))).build(),
            ("failed", "the written file cannot be read"),
            "jahr, nation",
        ),
        (
            Idx1File(data=parquet(table().rename_columns(["land", "year"]))).build(),
            ("failed", "the written file breaks rules"),
            "IDX1-018",
        ),
    ],
)
def test_what_a_writer_writes_is_checked_and_read_back(
    content: bytes, became: tuple[str, str], told: str, tmp_path: Path
) -> None:
    written = parquet_file(tmp_path, "written", content)
    target = 'sed \'s/.*"output": "\\([^"]*\\)".*/\\1/\' "$1"'
    body = f'cp {written} "$({target})"; answer \'{{"answer": "accept"}}\''
    valid_case(tmp_path / "cases")
    (result,) = asked(tmp_path, body, "encode").results

    assert became == (result.outcome, result.reason)
    assert told in (result.actual or "")


@pytest.mark.parametrize(
    ("body", "became"),
    [
        ('answer \'{"answer": "accept"}\'', ("failed", "nothing was written")),
        (f"answer '{REJECT}'", ("failed", "refused")),
    ],
)
def test_a_writer_has_to_write(body: str, became: tuple[str, str], tmp_path: Path) -> None:
    assert became == outcome(tmp_path, body, "encode")


def test_a_writer_that_refuses_leaves_nothing_behind(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases", encode="reject", rows=ROWS)
    target = 'sed \'s/.*"output": "\\([^"]*\\)".*/\\1/\' "$1"'
    leaving = f"echo half > \"$({target})\"; answer '{REJECT}'"

    assert "passed" == asked(tmp_path, f"answer '{REJECT}'").results[0].outcome
    assert "refused, and left a file" == asked(tmp_path, leaving).results[0].reason
    assert "accepted" == asked(tmp_path, 'answer \'{"answer": "accept"}\'').results[0].reason


def test_a_writer_gets_no_file_to_copy(tmp_path: Path) -> None:
    body = 'ls "$(dirname "$1")" >&2; exit 1'
    valid_case(tmp_path / "cases")
    (result,) = asked(tmp_path, body, "encode").results

    assert "request.json" == result.stderr


def test_without_its_parent_a_right_answer_to_a_damaged_file_gets_no_credit(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    broken_case(tmp_path / "cases", parent="made/good")
    results = asked(tmp_path, f"answer '{REJECT}'", "decode", "lint").results
    seen = {(result.case, result.operation): result.outcome for result in results}

    assert {
        ("made/broken", "decode"): "no credit",
        ("made/broken", "lint"): "no credit",
        ("made/good", "decode"): "failed",
        ("made/good", "lint"): "failed",
    } == seen
    assert "right, but the driver does not pass its valid parent made/good" == results[0].reason


def test_a_parent_that_has_no_credit_lends_none(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    check = {"check": {"rules": ["IDX1-006"], "tier": "values"}, "decode": "reject"}
    broken_case(tmp_path / "cases", parent="made/good")
    write_case(tmp_path / "cases", "made/worse", check, Idx1File(magic=b"IDX3").build(), parent="made/broken")
    results = asked(tmp_path, f"answer '{REJECT}'", "decode").results

    assert ["no credit", "failed", "no credit"] == [result.outcome for result in results]


def test_a_file_that_is_only_warned_about_stands_alone(tmp_path: Path) -> None:
    check = {"check": {"rules": ["IDX1-011"], "tier": "values"}, "lint": "accept"}
    twice = Idx1File(payload="\n".join([*VALUES, VALUES[0]]).encode())
    write_case(tmp_path / "cases", "made/warned", check, twice.build())
    (result,) = asked(tmp_path, 'answer \'{"answer": "accept"}\'').results

    assert "passed" == result.outcome


def test_credit_needs_the_same_operation_where_the_parent_was_asked_for_it(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases", lint="accept")
    broken_case(tmp_path / "cases", parent="made/good")
    body = f"[ $op = decode ] && answer '{REJECT}' || answer '{{\"answer\": \"accept\"}}'"
    seen = {(r.case, r.operation): r.outcome for r in asked(tmp_path, body).results}

    # The parent was asked for lint only: passing that is what decode gets its credit from.
    assert "passed" == seen["made/broken", "decode"]
    assert "failed" == seen["made/broken", "lint"]


def test_a_damaged_file_without_parent_needs_any_valid_case(tmp_path: Path) -> None:
    broken_case(tmp_path / "cases")

    assert ["no credit"] * 2 == [r.outcome for r in asked(tmp_path, f"answer '{REJECT}'").results]
    assert (
        "was not asked about any valid case of IDX1"
        in asked(tmp_path, f"answer '{REJECT}'").results[0].reason
    )


def test_a_refusal_of_a_good_file_that_may_be_refused_earns_nothing_beside_what_must_be_read(
    tmp_path: Path,
) -> None:
    rows = {"rows": ROWS, "predicate": ["=", "nation", "Peru"]}
    write_case(tmp_path / "cases", "made/old", {"read": {"rows": "own", "refusal": "allowed"}, **rows})
    alone = asked(tmp_path, f"answer '{REJECT}'", "read").results
    write_case(tmp_path / "cases", "made/good", {"read": {"rows": "own", "refusal": "never"}, **rows})
    beside = asked(tmp_path, f"answer '{REJECT}'", "read").results

    assert ["passed"] == [result.outcome for result in alone]
    assert {"made/good": "failed", "made/old": "no credit"} == {r.case: r.outcome for r in beside}


def test_a_refusal_is_recorded_where_a_reader_may_do_either(tmp_path: Path) -> None:
    for name, rows, refusal in (("free", "own", "allowed"), ("bad", "unspecified", "demanded")):
        write_case(
            tmp_path / "cases", f"made/{name}", {"read": {"rows": rows, "refusal": refusal}, "rows": ROWS}
        )

    assert ["made/free"] == asked(tmp_path, f"answer '{REJECT}'", "read").refused
    assert [] == asked(tmp_path, 'answer \'{"answer": "accept", "rows": []}\'', "read").refused


def test_only_what_is_declared_is_asked(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    report = asked(tmp_path, "exit 1", hello=["idx1.lint", "codec.snappy"])

    assert {"lint": "crashed"} == {result.operation: result.outcome for result in report.results}
    assert [("idx1.decode", 1), ("idx1.encode", 1), ("idx1.scan", 1)] == [
        (one.capability, one.count) for one in report.not_asked
    ]


def test_declared_and_not_supported_is_a_failure(tmp_path: Path) -> None:
    told = outcome(tmp_path, "exit 3", "decode", hello=["idx1.decode", "codec.snappy"])

    assert ("failed", "declared, and then not supported (exit status 3)") == told


def test_a_driver_that_does_not_answer_the_greeting_is_greeted_twice_and_asked_nothing_else(
    tmp_path: Path,
) -> None:
    valid_case(tmp_path / "cases", lint="accept")
    driver = write_driver(tmp_path, "")
    Path(driver[0]).write_text(
        f'#!/bin/sh\ncat "$1" >> {tmp_path}/asked\necho >> {tmp_path}/asked\necho usage: driver FILE >&2\nexit 1\n'
    )
    with pytest.raises(CannotStartError) as raised:
        run(load(tmp_path / "cases"), Settings(driver))

    assert ["hello", "hello"] == [
        json.loads(line)["op"] for line in (tmp_path / "asked").read_text().splitlines()
    ]
    first, *more = str(raised.value).splitlines()
    assert "the driver does not answer hello (asked twice): exit status 1; nothing else was asked" == first
    assert "  on stderr    usage: driver FILE" in more
    assert f"               {driver[0]} request.json answer.json; echo $?; cat answer.json" == more[-1]


def test_a_greeting_that_succeeds_the_second_time_is_taken(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases", lint="accept")
    driver = write_driver(tmp_path, f"answer '{REJECT}'", hello=["idx1.lint", "codec.snappy"])
    script = Path(driver[0]).read_text().split("\n", 1)
    once = f"[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; exit 1; }}"
    Path(driver[0]).write_text("\n".join([script[0], once, script[1]]))

    (result,) = run(load(tmp_path / "cases"), Settings(driver)).results
    assert ("lint", "failed") == (result.operation, result.outcome)


def test_nothing_about_a_request_tells_which_case_it_is(tmp_path: Path) -> None:
    # Only the end of what a driver says is kept, and an environment may be long.
    body = 'env | grep -e secret -e broken >&2; cat "$1" >&2; ls "$(dirname "$1")" >&2; exit 1'
    broken_case(tmp_path / "cases", "made/secret")
    (result, _) = asked(tmp_path, body).results

    assert "data.parquet" in (result.stderr or "")
    assert "secret" not in (result.stderr or "")
    assert "broken" not in (result.stderr or "").replace(str(tmp_path), "")


def test_a_driver_gets_a_copy_and_can_harm_nothing(tmp_path: Path) -> None:
    home = valid_case(tmp_path / "cases")
    before = (home / "data.parquet").read_bytes()
    body = 'for file in "$(dirname "$1")"/*; do echo harm > "$file"; done; rm -r "$(dirname "$1")"; exit 0'
    results = asked(tmp_path, body).results

    assert {"protocol error"} == {result.outcome for result in results}
    assert {"decode", "lint", "encode", "scan"} == {result.operation for result in results}
    assert before == (home / "data.parquet").read_bytes()


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    valid_case(tmp_path / "cases")
    asked(tmp_path, 'mktemp; mktemp "$(dirname "$1")/XXXX"; exit 1')

    assert [] == list(place.iterdir())


def test_two_runs_give_the_same_bytes_whatever_runs_side_by_side(tmp_path: Path) -> None:
    for name in "abcdef":
        valid_case(tmp_path / "cases", f"made/{name}")
    command = write_driver(tmp_path, "sleep 0.0$(($$ % 7)); [ $op = lint ] && exit 1; exit 3")
    reports = [run(load(tmp_path / "cases"), Settings(command, jobs=jobs)).to_json() for jobs in (1, 6)]

    assert reports[0] == reports[1]
    assert str(tmp_path / "cases") not in reports[0]


# ----------------------------------------------------------------------------------------------- the command


def command(tmp_path: Path, *options: str, body: str = "exit 3") -> Result:
    arguments = ["run", "--cases", str(tmp_path / "cases"), *options, "--", *write_driver(tmp_path, body)]
    return CliRunner().invoke(app, arguments)


ACCEPT_LINT = '[ $op = lint ] || exit 3; answer \'{"answer": "accept"}\''


def test_a_driver_that_is_right_exits_0_and_gets_its_score(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    result = command(tmp_path, body=ACCEPT_LINT)

    assert 0 == result.exit_code
    *told, times, slowest = result.stdout.splitlines()
    assert [
        f"{tmp_path}/driver: 1 case, 1 of 1 passed, 3 unsupported",
        "  IDX1  decode   0 of 0 passed, 1 in all; 1 unsupported",
        "  IDX1  lint     1 of 1 passed",
        "  IDX1  encode   0 of 0 passed, 1 in all; 1 unsupported",
        "  IDX1  scan     0 of 0 passed, 1 in all; 1 unsupported",
    ] == told
    assert re.fullmatch(r"times: (\w+ \d+\.\d s for 1(, )?){4}", times)
    assert re.fullmatch(r"slowest: (made/good \w+ \d+\.\d\d s(, )?){4}", slowest)


def test_a_driver_that_supports_nothing_has_not_passed(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")

    assert (
        "nothing was tested: the driver supports no operation that was asked for" in command(tmp_path).stdout
    )
    assert 0 == command(tmp_path, body=ACCEPT_LINT).exit_code


def test_judging_a_written_file_has_a_time_limit_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = parquet_file(tmp_path, "written", Idx1File().build())
    target = 'sed \'s/.*"output": "\\([^"]*\\)".*/\\1/\' "$1"'
    body = f'cp {written} "$({target})"; answer \'{{"answer": "accept"}}\''
    valid_case(tmp_path / "cases", encode="accept", rows=ROWS)

    assert 0 == command(tmp_path, body=body).exit_code
    monkeypatch.setattr(inspector, "LIMITS", Limits(seconds=0.01))
    assert 1 == command(tmp_path, body=body).exit_code


def test_temporary_paths_do_not_get_into_the_result(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    refusal = 'printf \'{"answer": "reject", "message": "%s"}\' "$1" > "$2"'
    report = asked(tmp_path, f'echo "$1: what a path" >&2; [ $op = lint ] || exit 1; {refusal}')

    assert "request.json: what a path" == report.results[0].stderr
    assert "reject: request.json" == report.results[1].actual


def test_a_failure_shows_the_rule_what_was_expected_what_came_and_how_to_repeat_it(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    broken_case(tmp_path / "cases", parent="made/good", effect="The table cannot be read.")
    result, verbose = (command(tmp_path, "--timeout", "7", *more, body=ACCEPT_LINT) for more in ([], ["-v"]))
    lines, every = result.stdout.splitlines(), verbose.stdout.splitlines()
    end = lines.index("")

    assert 1 == result.exit_code
    assert ["    case      The case made/broken", "    more      pqassay explain IDX1-006"] == [
        line for line in every[: every.index("")] if line not in lines
    ]
    assert [
        "failed  made/broken  lint",
        "    observed  accepts a file that must be refused",
        f"    rule      IDX1-006 {rules()['IDX1-006'].sentence}",
        "    because   accepted",
        "    expected  reject",
        "    actual    accept",
        (
            f"    repeat    pqassay suite run --cases {tmp_path}/cases --timeout 7 --case made/broken --operation lint "
            f"--keep kept -- {tmp_path}/driver"
        ),
    ] == lines[:end]


def test_no_failure_takes_more_than_25_lines_and_no_control_characters_get_through(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases", "made/good")
    body = 'i=0; while [ $i -lt 200 ]; do echo "\033[31mline $i" >&2; i=$((i+1)); done; echo "\033[31mpanic: at 150" >&2; exit 1'
    result = command(tmp_path, "--operation", "decode", "--verbose", body=body)
    lines = result.stdout.splitlines()

    assert 4 == result.exit_code
    assert 25 >= lines.index("")
    assert r"    stderr    \x1b[31mline 2" in lines
    assert r"    stderr    \x1b[31mpanic: at 150" in lines
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("body", "code"), [("exit 1", 4), ("answer x", 4), (f"answer '{REJECT}'", 1), ("exit 3", 2)]
)
def test_exit_codes(body: str, code: int, tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")

    assert code == command(tmp_path, body=body).exit_code


def test_expectations_turn_known_failures_into_a_pass_and_surprises_into_3(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    known = tmp_path / "known.toml"
    known.write_text('[[expectation]]\ncase = "made/*"\noutcome = "failed"\n')
    options = ("--expectations", str(known))

    assert 1 == command(tmp_path, body=f"answer '{REJECT}'").exit_code
    assert 0 == command(tmp_path, *options, body=f"answer '{REJECT}'").exit_code
    surprise = command(tmp_path, *options, body=ACCEPT_LINT)
    assert 3 == surprise.exit_code
    assert "expectation  made/*: made/good lint passes now; remove the entry" in surprise.stdout
    assert 4 == command(tmp_path, *options, body="exit 1").exit_code


def test_written_expectations_make_the_same_run_pass(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    known = tmp_path / "known.toml"
    body = f"[ $op = scan ] && exit 1; answer '{REJECT}'"
    made = command(tmp_path, "--write-expectations", str(known), body=body)

    assert (0, f"{known}: 4 expectations written") == (made.exit_code, made.stderr.strip())
    again = command(tmp_path, "--expectations", str(known), body=body)
    assert 0 == again.exit_code
    assert "4 as expected, though not passed" in again.stdout
    narrowed = command(tmp_path, "--expectations", str(known), "--operation", "lint", body=body)
    assert 0 == narrowed.exit_code


def test_another_wrong_answer_than_the_one_that_is_known_exits_3(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    known = tmp_path / "known.toml"
    answers = [
        f"""answer '{{"answer": "accept", "value": {{"values": {json.dumps(values)}}}}}'"""
        for values in ([], ["x"])
    ]
    narrow = ("--operation", "decode")
    command(tmp_path, "--write-expectations", str(known), *narrow, body=answers[0])
    exits = [
        command(tmp_path, "--expectations", str(known), *narrow, body=answer).exit_code for answer in answers
    ]

    assert [0, 3] == exits


EVERY_FIFTH = """
import json, sys

HELLO = {"answer": "accept", "name": "made", "version": "1", "language": "Python", "capabilities": ["idx1.lint", "codec.snappy"], "serve": True}
if sys.argv[1] == "--serve":
    for number, line in enumerate(sys.stdin, 1):
        print(json.dumps({"answer": "accept"} if number % 5 else {"answer": "reject", "message": "no"}), flush=True)
else:
    json.dump(HELLO, open(sys.argv[2], "w"))
"""


def test_a_driver_that_is_wrong_every_fifth_time_is_unstable(tmp_path: Path) -> None:
    for name in "abcdefgh":
        valid_case(tmp_path / "cases", f"made/{name}")
    driver = tmp_path / "driver.py"
    driver.write_text(EVERY_FIFTH)
    settings = Settings([sys.executable, "-S", str(driver)], Limits(seconds=20), jobs=1, only=("lint",))
    report = run(load(tmp_path / "cases"), settings)
    wrong = [result for result in report.results if result.outcome != "passed"]

    assert [("made/e", "unstable", "reject: no; from a fresh process: accept")] == [
        (result.case, result.outcome, result.actual) for result in wrong
    ]
    assert {"passed": 7, "unstable": 1} == report.summary.outcomes
    assert 1 == report.exit_code


def test_a_driver_that_is_known_to_be_unstable_may_pass_and_may_do_nothing_else(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    known = tmp_path / "known.toml"
    known.write_text('[[expectation]]\ncase = "made/*"\noperation = "lint"\noutcome = "unstable"\n')
    options = ("--expectations", str(known), "--operation", "lint")

    assert 0 == command(tmp_path, *options, body=ACCEPT_LINT).exit_code
    wrong = command(tmp_path, *options, body=f"answer '{REJECT}'")
    assert 3 == wrong.exit_code
    assert "made/good lint: failed (refused), not unstable" in wrong.stdout


def test_of_an_unstable_driver_every_bad_answer_is_asked_for_again(tmp_path: Path) -> None:
    for name in "abcdefghijklmno":
        valid_case(tmp_path / "cases", f"made/{name}")
    driver = tmp_path / "driver.py"
    driver.write_text(EVERY_FIFTH.replace("number % 5", "number < 2"))
    settings = Settings(
        [sys.executable, "-S", str(driver)], Limits(seconds=20), jobs=1, only=("lint",), fresh=1
    )
    report = run(load(tmp_path / "cases"), settings)

    assert {"passed": 1, "unstable": 14} == report.summary.outcomes


def test_json_follows_its_schema_and_names_what_was_compared(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    target = tmp_path / "results.json"
    result = command(tmp_path, "--format", "json", "--output", str(target), body="exit 1")
    report = json.loads(target.read_text())
    jsonschema.validate(report, json_schema())

    assert (4, "") == (result.exit_code, result.stdout)
    assert {"kind": "run", "schema_version": 2, "protocol": 2}.items() <= report.items()
    assert report["driver"]["command"] == [str(tmp_path / "driver")]
    digests = [report[name] for name in ("rules_sha256", "suite_sha256", "golden_files_sha256")]
    assert all(len(digest) == 64 for digest in [*digests, report["driver"]["sha256"]])


def test_the_drivers_digest_changes_with_the_driver(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    reports = [
        json.loads(command(tmp_path, "--format", "json", body=body).stdout) for body in ("exit 3", "exit 1")
    ]

    assert reports[0]["driver"]["sha256"] != reports[1]["driver"]["sha256"]


def test_what_is_kept_can_be_given_to_the_driver_again(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    kept = tmp_path / "kept"
    command(tmp_path, "--keep", str(kept), body=f"answer '{REJECT}'")
    scan = json.loads((kept / "made/good/scan-1/request.json").read_text())
    decode = json.loads((kept / "made/good/decode-1/request.json").read_text())

    assert {"on"} == {query["index"] for query in scan["queries"]}
    assert [scan["file"], decode["file"]] == [
        str(kept / "made/good" / name / "data.parquet") for name in ("scan-1", "decode-1")
    ]
    for request in (scan, decode):
        assert Idx1File().build() == Path(request["file"]).read_bytes()
    assert json.loads(REJECT) == json.loads((kept / "made/good/decode-1/answer.json").read_text())


def test_list_says_what_would_be_asked_and_starts_nothing(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    broken_case(tmp_path / "cases", parent="made/good")
    result = CliRunner().invoke(
        app, ["run", "--cases", str(tmp_path / "cases"), "--list", "--case", "*/broken"]
    )

    assert ["made/broken  decode lint", "made/good  decode lint encode scan"] == result.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "name a driver: `--driver duckdb`, or after --, for example"),
        (["run", "--driver", "unheard"], "there is no driver 'unheard'; there are arrow-go, "),
        (["run", "--rerun", "/nowhere", "--", "true"], "/nowhere: No such file"),
        (["run", "--", "no-such-program"], "there is no program no-such-program, or it is not executable"),
        (["run", "--case", "nothing/*", "--", "true"], "no case matches 'nothing/*'"),
        (["run", "--cases", "/nowhere", "--", "true"], "/nowhere contains no case.json"),
        (["run", "--expectations", "/nowhere", "--", "true"], "/nowhere: No such file"),
        (
            ["run", "--case", "pqf/plain", "--operation", "encode", "--", "true"],
            "these cases do not have that operation",
        ),
        (["run", "--timeout", "0", "--", "true"], "--timeout is a number greater than 0"),
        (["run", "--memory", "nan", "--", "true"], "--memory is a number greater than 0"),
        (
            ["run", "--output", "/nowhere/x", "--case", "idx1/one-value", "--", "sh", "-c", "exit 3"],
            "/nowhere/",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_exits_2(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, arguments)

    assert 2 == result.exit_code
    assert message in result.stderr
    assert 1 == len(result.stderr.splitlines())


def test_help_has_an_example() -> None:
    assert "pqassay suite run -- python3 driver.py" in CliRunner().invoke(app, ["run", "--help"]).stdout


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_that_is_ended_takes_its_drivers_along(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    numbers = tmp_path / "numbers"  # of the drivers: several run side by side
    numbers.touch()
    driver = write_driver(tmp_path, f"echo $$ >> {numbers}; exec sleep 100000")
    roots = [str(ROOT / name) for name in ("spec", "conformance")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots), "TMPDIR": str(tmp_path)}
    arguments = ["run", "--cases", str(tmp_path / "cases"), "--timeout", "60", "--", *driver]
    with processes.started([sys.executable, "-m", "pqassay", *arguments], env=environment) as process:
        processes.until(numbers.read_text, "a driver is asked")
        process.send_signal(sent)
        processes.ended(process)

    assert code == process.returncode
    drivers = [int(number) for number in numbers.read_text().split()]
    processes.until(lambda: not any(map(processes.alive, drivers)), "the drivers are gone")
    assert {"cases", "driver", "numbers"} == {path.name for path in tmp_path.iterdir()}


def test_rows_of_all_types_survive_a_writer(tmp_path: Path) -> None:
    columns = [
        {"name": "nation", "type": "string", "nullable": True},
        {"name": "i", "type": "int32", "nullable": True},
        {"name": "l", "type": "int64", "nullable": False},
        {"name": "d", "type": "double", "nullable": True},
        {"name": "b", "type": "binary", "nullable": True},
    ]
    rows = [
        ["Peru", 1, {"int": "9007199254740993"}, {"float": "nan"}, {"bytes": "00ff"}],
        [None, None, 2, {"float": "-0.0"}, None],
    ]
    data = pa.table(
        {
            "nation": pa.array(["Peru", None]),
            "i": pa.array([1, None], pa.int32()),
            "l": pa.array([2**53 + 1, 2], pa.int64()),
            "d": pa.array([float("nan"), -0.0]),
            "b": pa.array([b"\x00\xff", None], pa.binary()),
        }
    )
    expect = {"encode": "accept", "rows": {"columns": columns, "rows": rows}}
    write_case(tmp_path / "cases", "made/types", expect)
    source = tmp_path / "plain.parquet"
    pq.write_table(data, source)
    written = parquet_file(tmp_path, "written", Idx1File(data=source.read_bytes(), payload=b"Peru").build())
    target = 'sed \'s/.*"output": "\\([^"]*\\)".*/\\1/\' "$1"'
    (result,) = asked(tmp_path, f'cp {written} "$({target})"; answer \'{{"answer": "accept"}}\'').results

    assert ("passed", "") == (result.outcome, result.reason)


READS = """
import json, sys

request = json.load(open(sys.argv[1]))
answer = {"answer": "accept", "name": "made", "version": "1", "language": "Python", "capabilities": ["parquet", "read", "idx1", "codec.snappy"]}
if request["op"] == "read":
    answer = {"answer": "accept", "rows": DAMAGED if b"IDX2" in open(request["file"], "rb").read() else []}
json.dump(answer, open(sys.argv[2], "w"))
"""


@pytest.mark.parametrize(
    ("rows", "outcome", "severity_"), [("[]", "inherited", None), ('[["Chad", 1]]', "failed", 4)]
)
def test_a_reader_that_says_of_a_damaged_file_what_it_says_of_the_good_one_inherits_the_fault(
    rows: str, outcome: str, severity_: int | None, tmp_path: Path
) -> None:
    valid_case(tmp_path / "cases", rows=ROWS, read={"rows": "own", "refusal": "never"})
    check = {"rules": ["IDX1-006"], "tier": "values"}
    expect = {"check": check, "rows": ROWS, "read": {"rows": "own", "refusal": "allowed"}}
    damaged = Idx1File(magic=b"IDX2").build()
    write_case(tmp_path / "cases", "made/bad", expect, damaged, parent="made/good")
    driver = tmp_path / "driver.py"
    driver.write_text(READS.replace("DAMAGED", rows))
    settings = Settings([sys.executable, "-S", str(driver)], Limits(seconds=20), only=("read",))
    report = run(load(tmp_path / "cases"), settings)

    assert {"made/good": ("failed", 1), "made/bad": (outcome, severity_)} == {
        result.case: (result.outcome, result.severity) for result in report.results
    }
