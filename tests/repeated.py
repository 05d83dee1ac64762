"""A plugin of pytest that runs tests that wait again and again: ``pytest -p repeated --times 20``.

A test waits if it starts a process or a thread, uses a socket, or asks Spark or a browser: the events of Python's audit hook and the
test's fixtures say so. Each of these runs a number of times; one that takes over five seconds runs a quarter as often.
A test that does not wait runs once. The report of each run counts, and a file gets a line about each: see `tools/run_loaded.py`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from pytest_timeout import _get_item_settings  # type: ignore[import-untyped]  # it is not typed

LONG = 5.0
"""Seconds from which on a test runs a quarter as often."""

EVENTS = {
    "subprocess.Popen",
    "os.fork",
    "os.posix_spawn",
    "socket.bind",
    "socket.connect",
    "_thread.start_new_thread",
}
"""Events of Python after which something is waited for."""

FIXTURES = {"spark", "browser", "address"}
"""Fixtures whose processes were started before the test."""

_events: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("repeated")
    group.addoption("--times", type=int, default=1, help="Run each test that waits N times.")
    group.addoption("--runs", type=Path, help="Append a line of JSON about each run to this file.")


def pytest_configure() -> None:
    sys.addaudithook(_hear)


def _hear(event: str, _: tuple[object, ...]) -> None:
    if event in EVENTS:
        _events.append(event)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test as often as it has to, each time with new fixtures of its own and within its limit of time."""
    times, runs = 1, 0
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    while runs < times:
        item.ihook.pytest_timeout_cancel_timer(item=item)  # a limit is for one run
        item.ihook.pytest_timeout_set_timer(item=item, settings=_get_item_settings(item))
        _events.clear()
        began = time.monotonic()
        # As if another test of the same module came next: what its fixtures have made stays.
        reports = runtestprotocol(item, nextitem=item.parent)  # type: ignore[arg-type]  # only its place in the tree is asked for
        seconds = time.monotonic() - began
        runs += 1
        if runs == 1 and _waits(item):
            wanted: int = item.config.getoption("--times")
            times = wanted if seconds < LONG else -(-wanted // 4)
        _note(item, seconds, reports, runs, times)
    end = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), "teardown")
    if end.excinfo is not None:  # of a fixture of the module or the session
        item.ihook.pytest_runtest_logreport(report=item.ihook.pytest_runtest_makereport(item=item, call=end))
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _waits(item: pytest.Item) -> bool:
    names = getattr(item, "fixturenames", ())
    return bool(_events) or not FIXTURES.isdisjoint(names) or item.get_closest_marker("spark") is not None


def _note(item: pytest.Item, seconds: float, reports: list[pytest.TestReport], run: int, times: int) -> None:
    path: Path | None = item.config.getoption("--runs")
    if path is None:
        return
    failed = next((report for report in reports if report.failed), None)
    outcome = "failed" if failed else "skipped" if any(report.skipped for report in reports) else "passed"
    noted = {
        "test": item.nodeid,
        "run": run,
        "times": times,
        "seconds": round(seconds, 3),
        "outcome": outcome,
    }
    if failed:
        noted["words"] = failed.longreprtext
    with path.open("a", encoding="utf-8") as stream:  # short lines, which several processes may append
        stream.write(json.dumps(noted) + "\n")
