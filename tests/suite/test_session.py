"""Drivers that go on: what comes of requests one after the other, whatever the driver does meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import processes
from pqassay_suite.drivers import process as process_module
from pqassay_suite.drivers import session as session_module
from pqassay_suite.drivers.driver import MOST_CRASHES, DriverUnderTest, NoAnswer, Reply, Settings
from pqassay_suite.drivers.process import Launcher, Limits, processor_seconds
from pqassay_suite.drivers.protocol import Accept, LintRequest, Query, Reject, ScanRequest
from pqassay_suite.drivers.session import MORE_THAN_ASKED, Said, Session

pytestmark = pytest.mark.slow

OK = '{"answer": "accept"}'

ECHO = f"while IFS= read -r request; do n=$((n+1)); echo '{OK}'; done"


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    launcher = Launcher(Limits(seconds=20))
    yield launcher
    launcher.stop()


def program(folder: Path, script: str) -> list[str]:
    """A command of a script of sh, which sees the requests on stdin."""
    path = folder / "driver"
    path.write_text(f'#!/bin/sh\n[ "$1" = --serve ] || exit 9\n{script}\n')
    path.chmod(0o755)
    return [str(path)]


def said(launcher: Launcher, folder: Path, script: str, *requests: str, lines: int = 1) -> list[Said]:
    """What came of requests, each of which wants as many lines."""
    session = Session(launcher, program(folder, script), folder)
    try:
        return [session.ask(request, lambda found: len(found) >= lines) for request in requests]
    finally:
        session.close()


def test_one_process_answers_one_request_after_the_other(launcher: Launcher, tmp_path: Path) -> None:
    script = 'while IFS= read -r request; do echo "$$ $request"; done'
    first, second = said(launcher, tmp_path, script, "a", "b")
    (one,), (other,) = first.lines, second.lines

    assert one.split()[0] == other.split()[0]
    assert [b"a", b"b"] == [one.split()[1], other.split()[1]]


def test_a_process_that_has_ended_is_started_anew(launcher: Launcher, tmp_path: Path) -> None:
    session = Session(launcher, program(tmp_path, 'IFS= read -r request; echo "$$"; exit 0'), tmp_path)
    numbers: set[bytes] = set()
    for _ in range(3):
        numbers |= set(session.ask("x", bool).lines)
        _wait_for_the_end(session)
    session.close()

    assert 3 == len(numbers)


def _wait_for_the_end(session: Session) -> None:
    process = session._process
    assert process is not None
    processes.until(lambda: process.poll() is not None, "the process has ended")


def test_after_many_requests_another_process_goes_on(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "MOST_REQUESTS", 2)
    script = 'while IFS= read -r request; do echo "$$"; done'
    numbers = [found.lines[0] for found in said(launcher, tmp_path, script, *"abcde")]

    assert numbers[0] == numbers[1] != numbers[2] == numbers[3] != numbers[4]


def test_how_many_requests_a_process_has_answered_is_known(launcher: Launcher, tmp_path: Path) -> None:
    session = Session(launcher, program(tmp_path, ECHO), tmp_path)
    answered: list[int] = []
    for _ in range(3):
        session.ask("x", bool)
        answered.append(session.answered)
    session.close()
    session.ask("x", bool)
    answered.append(session.answered)
    session.close()

    assert [0, 1, 2, 0] == answered


@pytest.mark.parametrize(
    ("script", "crash"),
    [
        ("IFS= read -r request; exit 1", "exit status 1"),
        ("IFS= read -r request; kill -SEGV $$", "ended by SIGSEGV"),
        ("exit 101", "exit status 101"),
        ("IFS= read -r request; exit 0", ""),
    ],
)
def test_an_end_before_the_answer_is_told(
    script: str, crash: str, launcher: Launcher, tmp_path: Path
) -> None:
    (found,) = said(launcher, tmp_path, f"echo why >&2; {script}", "x")

    assert found.ended is not None
    assert ([], crash, "", "why\n") == (found.lines, found.ended.crash, found.problem, found.stderr)


def test_answers_before_the_end_are_kept(launcher: Launcher, tmp_path: Path) -> None:
    (found,) = said(launcher, tmp_path, "echo one; echo two; printf half; exit 7", "x", lines=5)

    assert found.ended is not None
    assert ([b"one", b"two"], 7) == (found.lines, found.ended.status)


def test_a_closed_stdout_of_a_process_that_goes_on_is_a_problem(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "GRACE", 0.1)
    monkeypatch.setattr(launcher, "limits", Limits(seconds=1))
    (found,) = said(launcher, tmp_path, "exec >&-; exec sleep 60", "x")

    assert (None, "it closed stdout but kept running") == (found.ended, found.problem)


def test_a_closed_stdin_is_no_problem(launcher: Launcher, tmp_path: Path) -> None:
    (found,) = said(
        launcher, tmp_path, f"head -c 9 > /dev/null; exec <&-; echo '{OK}'; exec sleep 60", "x" * 1_000_000
    )

    assert ([OK.encode()], None, "") == (found.lines, found.ended, found.problem)


@pytest.mark.parametrize("more", [f"echo '{OK}'", "printf half"])
def test_more_than_was_asked_is_a_problem_and_no_answer_to_the_next_request(
    more: str, launcher: Launcher, tmp_path: Path
) -> None:
    script = f"IFS= read -r request; echo first; {more}; touch {tmp_path}/said; exec sleep 60"
    session = Session(launcher, program(tmp_path, script), tmp_path)
    first = session.ask("x", bool)
    processes.until(
        lambda: first.problem or (tmp_path / "said").exists(), "all is said, or the process was ended for it"
    )
    second = session.ask("x", bool) if not first.problem else first
    session.close()

    assert b"first" == first.lines[0]
    assert MORE_THAN_ASKED == second.problem
    assert second is first or [] == second.lines


def test_a_request_and_an_answer_larger_than_pipes_pass(launcher: Launcher, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "import sys\nfor line in sys.stdin: print(line[::-1].strip(), flush=True)",
    ]
    session = Session(launcher, command, tmp_path)
    request = "".join(map(str, range(300_000)))
    (line,) = session.ask(request, bool).lines
    session.close()

    assert request[::-1].encode() == line


def test_an_answer_that_is_too_large_is_cut_off(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "GREATEST_ANSWER", 3 << 20)
    (found,) = said(launcher, tmp_path, "exec tr '\\0' x < /dev/zero", "x")

    assert (None, "the answer is larger than 3 MiB") == (found.ended, found.problem)


def test_a_long_line_takes_time_in_proportion_to_its_length(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_through = 0

    def counting(name: str) -> Callable[..., Any]:
        plain = getattr(bytearray, name)

        def method(self: bytearray, *arguments: Any) -> Any:
            nonlocal looked_through
            looked_through += len(self)
            return plain(self, *arguments)

        return method

    through_all = ["split", "splitlines", "partition", "find", "index", "count", "strip"]
    through_all += ["__contains__", "__getitem__", "__add__", "__iter__"]
    counted = type("Counted", (bytearray,), {name: counting(name) for name in through_all})
    monkeypatch.setattr(session_module, "bytearray", counted, raising=False)
    length = 32 << 20  # comes in 32 pieces or more: each of them would be looked through 16 times
    (found,) = said(launcher, tmp_path, f"head -c {length} /dev/zero | tr '\\0' x; echo; exec sleep 60", "x")

    assert [length] == [len(line) for line in found.lines]
    assert length <= looked_through <= 2 * length


def test_stderr_is_kept_of_each_request_apart(launcher: Launcher, tmp_path: Path) -> None:
    script = 'while IFS= read -r request; do echo "about $request" >&2; echo ok; done'
    found = said(launcher, tmp_path, script, "a", "b")

    assert ["about a\n", "about b\n"] == [one.stderr for one in found]


def test_stderr_without_end_holds_nothing_up(launcher: Launcher, tmp_path: Path) -> None:
    script = f"head -c 3000000 /dev/zero >&2; IFS= read -r request; echo '{OK}'; exec sleep 60"
    (found,) = said(launcher, tmp_path, script, "x")

    assert ([OK.encode()], "") == (found.lines, found.problem)
    assert "bytes left out" in found.stderr


NO_CLOCK = 1_000_000
"""With this for `CLOCK`, only the time of the processor is limited."""


def test_time_of_the_processor_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "CLOCK", NO_CLOCK)
    (found,) = said(Launcher(Limits(seconds=0.2)), tmp_path, "while :; do :; done", "x")

    assert found.ended is not None
    assert "no answer within the time limit" == found.ended.crash


def test_time_is_limited_by_the_clock(tmp_path: Path) -> None:
    (found,) = said(Launcher(Limits(seconds=0.04)), tmp_path, "sleep 100000 & wait", "x")

    assert found.ended is not None
    assert "no answer within the time limit" == found.ended.crash


def test_neither_sleep_nor_what_the_processor_did_before_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "CLOCK", NO_CLOCK)
    monkeypatch.setattr(process_module, "processor_seconds", lambda pid: 1000 + processor_seconds(pid))
    # Sleeps for several times its limit of processor time: so the processor is asked a few times.
    script = "while IFS= read -r request; do sleep 0.5; echo ok; done"
    found = said(Launcher(Limits(seconds=0.1)), tmp_path, script, "a", "b")

    assert [[b"ok"]] * 2 == [one.lines for one in found]


def test_the_time_of_earlier_requests_does_not_count(tmp_path: Path) -> None:
    # A request takes a hundredth of the limit, and all of them more than twice as long as it.
    script = """
while IFS= read -r request; do
    i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done
    echo ok
done
"""
    found = said(Launcher(Limits(seconds=0.25)), tmp_path, script, *map(str, range(200)))

    assert [[b"ok"]] * 200 == [one.lines for one in found]


# ------------------------------------------------------------------------------------ queries of one request

QUERIES = [Query(seq, ["=", "metal", str(seq)], ["lot"], "on") for seq in range(5)]
SCAN = ScanRequest(2, "scan", "IDX1", "/nowhere", QUERIES)

PYTHON = """
import json, os, sys
asked = 0
for line in sys.stdin:
    request = json.loads(line)
    asked += 1
    for query in request["queries"]:
        seq = query["seq"]
        {what}
        print(json.dumps({{"seq": seq, "answer": "accept", "rows": [[seq]]}}), flush=True)
"""

BY_FILES = """
import json, os, sys
request = json.load(open(sys.argv[1]))
with open(sys.argv[2], "w") as told:
    for query in request["queries"]:
        seq = query["seq"]
        {what}
        print(json.dumps({{"seq": seq, "answer": "accept", "rows": [[seq]]}}), file=told, flush=True)
"""


def replies(folder: Path, what: str, request: ScanRequest = SCAN, *, serves: bool = True) -> list[Reply]:
    """The replies to queries of a driver that does something before it answers one."""
    script = folder / "driver.py"
    script.write_text((PYTHON if serves else BY_FILES).format(what=what))
    driver = DriverUnderTest(Settings([sys.executable, "-S", str(script)], Limits(seconds=20)))
    driver.serves = serves
    try:
        return driver.ask_queries(request, folder)
    finally:
        driver.close()


def shown(found: Sequence[Reply]) -> list[object]:
    """The rows of replies, or why there are none."""
    return [
        one.rows if isinstance(one, Accept) else one.reason if isinstance(one, NoAnswer) else one
        for one in found
    ]


@pytest.mark.parametrize("serves", [True, False], ids=["line by line", "by files"])
def test_of_several_queries_the_first_without_answer_is_the_crash_and_the_rest_is_asked_again(
    serves: bool, tmp_path: Path
) -> None:
    found = replies(tmp_path, "if seq == 2: print('panic: at 2', file=sys.stderr); os.abort()", serves=serves)

    assert [[[0]], [[1]], "ended by SIGABRT", [[3]], [[4]]] == shown(found)
    assert NoAnswer("crashed", "ended by SIGABRT", "panic: at 2") == found[2]


def test_after_some_crashes_the_rest_is_not_asked(tmp_path: Path) -> None:
    found = replies(tmp_path, "if seq > 0: os._exit(3 if seq == 9 else 1)")

    assert [[[0]], *["exit status 1"] * MOST_CRASHES, "not asked after 3 queries without an answer"] == shown(
        found
    )
    assert {"crashed"} == {one.outcome for one in found if isinstance(one, NoAnswer)}


def test_a_malformed_answer_is_no_crash_nor_is_what_was_not_asked_behind_it(tmp_path: Path) -> None:
    found = replies(tmp_path, "print('noise'); continue")

    assert {"protocol error"} == {one.outcome for one in found if isinstance(one, NoAnswer)}
    assert 5 == len(found)


@pytest.mark.parametrize(
    ("what", "seq"),
    [("seq = 17", 17), ("seq = 0", 0)],
)
def test_an_answer_to_what_was_not_asked_is_a_protocol_error(what: str, seq: int, tmp_path: Path) -> None:
    found = replies(tmp_path, f"if seq == 1: {what}")

    assert [[0]] == shown(found)[0]
    assert f"seq {seq} is not a query that waits for an answer" == shown(found)[1]


def test_a_line_without_seq_answers_all_that_have_no_answer_yet(tmp_path: Path) -> None:
    refusal = '{"answer": "reject", "message": "no"}'
    found = replies(tmp_path, f"if seq == 3: print('{refusal}', flush=True); break")

    assert [[[0]], [[1]], [[2]], Reject("reject", "no"), Reject("reject", "no")] == shown(found)


def test_answers_may_come_in_any_order(tmp_path: Path) -> None:
    found = replies(tmp_path, "seq = 4 - seq")

    assert [[[seq]] for seq in range(5)] == shown(found)


def test_queries_without_answer_of_a_driver_by_files_are_a_protocol_error(tmp_path: Path) -> None:
    found = replies(tmp_path, "if seq == 1: break", serves=False)

    assert "there are queries without an answer" == shown(found)[1]


@pytest.mark.parametrize("had_answered", [False, True])
def test_a_crash_is_asked_again_only_if_the_process_had_answered_before(
    had_answered: bool, tmp_path: Path
) -> None:
    script = tmp_path / "driver.py"
    script.write_text(PYTHON.format(what=f"if asked == {1 + had_answered} and seq == 2: os.abort()"))
    driver = DriverUnderTest(Settings([sys.executable, "-S", str(script)], Limits(seconds=20)))
    driver.serves = True
    try:
        found = [driver.ask_queries(SCAN, tmp_path) for _ in range(1 + had_answered)]
        assert "ended by SIGABRT" == shown(found[-1])[2]
        assert had_answered == driver.may_ask_again()
    finally:
        driver.close()


def test_only_some_answers_of_a_run_are_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = DriverUnderTest(Settings(program(tmp_path, ECHO)))
    monkeypatch.setattr(driver, "_fresh_left", 1)
    driver.serves = True
    lint = LintRequest(2, "lint", "IDX1", "/nowhere")
    try:
        assert [Accept("accept")] * 2 == [driver.ask(lint, tmp_path) for _ in range(2)]
        assert [True, False] == [driver.may_ask_again() for _ in range(2)]
        driver.start_afresh()
        driver.ask(lint, tmp_path)
        assert not driver.may_ask_again()
    finally:
        driver.close()
