"""Run tests that depend on the date, the time zone, the locale or the umask in other settings: ``make test-elsewhen``.

    python tools/run_elsewhen.py                        run the listed tests in every setting
    python tools/run_elsewhen.py --setting "+ 1 day"    use only this setting
    python tools/run_elsewhen.py tests/conformance      run other tests

Prints a line for each setting with the names of failed tests, then pytest's output about them; fails if any test failed.

The library of ``faketime``, with a small one of ours that takes a C compiler, sets the clock of the tests and of their subprocesses.
The clock runs on, and the monotonic clock, by which programs wait, does not change. Files keep the system's times, so in a later setting they are
old. A test that needs a file of a certain age sets that age.
"""

from __future__ import annotations

import argparse
import calendar
import datetime as dt
import itertools
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent

TESTS = (
    "tests/compatibility/test_edge_values.py",
    "tests/compatibility/test_engines.py",
    "tests/conformance/cli/test_cli.py",
    "tests/suite/cli/test_drivers.py",
    "tests/lake/history",
    "tests/conformance/judge/test_baseline.py",
    "tests/tables/checks/test_delta_states.py",
    "tests/lake/test_owners.py",
    "tests/lake/test_sampling.py",
    "tests/tables/formats/test_since.py",
    "tests/tables/formats/test_stored_tables.py",
    "tests/lake/repair",
    "tests/conformance/report",
    "tests/suite/test_collection.py",
    "tests/suite/test_expectations.py",
    "tests/suite/test_pack.py",
    "tests/suite/test_session.py",
    "tests/tables/values/test_transforms.py",
    "tests/docs/test_claims.py",
    "tests/docs/test_events.py",
    "tests/docs/test_guides.py",
    "tests/docs/test_results_pages.py",
    "tests/docs/test_site.py",
    "tests/docs/test_submitted_results.py",
    "tests/pipeline/check",
    "tests/pipeline/index/test_listing.py",
    "tests/pipeline/index/test_pm.py",
    "tests/pipeline/query/test_lake_indexes.py",
    "tests/pipeline/query/test_questions.py",
    "tests/reader/lake/test_index_table.py",
    "tests/reference_impl/pm/test_pm_generate.py",
    "tests/reference_impl/pm/test_pm_txn.py",
    "tests/reader/query/test_scan_costs.py",
    "tests/reference_impl/rewrite/test_rewriting.py",
    "tests/reference_impl/rewrite/test_strip.py",
    "tests/spec/base",
    "tests/spec/golden/test_revision.py",
    "tests/spec/rules/test_observed.py",
)
"""Modules and folders of tests about dates and times, about times or modes of files, or about printed output."""

LIBRARY = "LD_PRELOAD"
"""The environment variable with the library that sets the clock."""

STEADY = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
"""Settings that the library must not change: waiting, and times of files, which it would change for only some programs."""

SLEEP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    if (clock == CLOCK_MONOTONIC)
        return syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0;
    int (*next)(clockid_t, int, const struct timespec *, struct timespec *) = dlsym(RTLD_NEXT, "clock_nanosleep");
    return next(clock, flags, until, left);
}
"""
"""C code that lets programs sleep by the monotonic clock, since the library would misread such a time as a set one."""

DAY = 86_400


class Setting(NamedTuple):
    """A setting: a time and a place.

    Attributes:
        name: Its name in the output.
        clock: The number of seconds by which the clock is ahead; ``None`` if each test begins shortly before a midnight in UTC.
        variables: Environment variables.
        umask: The umask of new files.
        lead: The number of seconds before midnight.
    """

    name: str
    clock: float | None = 0
    variables: Mapping[str, str] = {}
    umask: int = 0o022
    lead: float = 0


def next_leap_day(now: dt.datetime) -> dt.datetime:
    """Noon of the next 29 February in UTC.

    >>> next_leap_day(dt.datetime(2026, 11, 27, tzinfo=dt.UTC)).isoformat()
    '2028-02-29T12:00:00+00:00'
    """
    noons = (
        dt.datetime(year, 2, 29, 12, tzinfo=dt.UTC)
        for year in itertools.count(now.year)
        if calendar.isleap(year)
    )
    return next(noon for noon in noons if noon > now)


def seconds_until(hour: float, now: float) -> float:
    """The seconds from a moment until an hour in UTC, on that day or the next.

    >>> seconds_until(20, 21 * 3600), seconds_until(24, 86_399)
    (82800, 1)
    """
    return (hour * 3600 - now) % DAY


def settings(now: dt.datetime) -> tuple[Setting, ...]:
    """All settings for tests that begin at a moment."""
    leap_day = next_leap_day(now)
    return (
        Setting("+ 1 day", clock=DAY),
        Setting("+ 400 days", clock=400 * DAY),
        Setting(f"{leap_day:%Y-%m-%d %H:%M} UTC", clock=(leap_day - now).total_seconds()),
        Setting("1 s before midnight UTC", None, lead=1),
        Setting("0.1 s before midnight UTC", None, lead=0.1),
        Setting("TZ=Asia/Kathmandu", variables={"TZ": "Asia/Kathmandu"}),
        # A quarter to two in Kathmandu and noon in Los Angeles: of the two dates around it in UTC, one is the zone's date.
        Setting(
            "TZ=Asia/Kathmandu, tomorrow there",
            clock=seconds_until(20, now.timestamp()),
            variables={"TZ": "Asia/Kathmandu"},
        ),
        Setting(
            "TZ=America/Los_Angeles, yesterday there",
            clock=seconds_until(4, now.timestamp()),
            variables={"TZ": "America/Los_Angeles"},
        ),
        Setting("LC_ALL=tr_TR.UTF-8", variables={"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}),
        Setting("umask 077", umask=0o077),
    )


class MissingError(Exception):
    """A requirement of a setting is missing on this machine."""


def set_clock(path: Path, ahead: float) -> None:
    """Set the clock of all programs that use a file, atomically."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(f"{ahead:+f}", "ascii")
    fresh.replace(path)


SHOW = f"import os; print(os.environ['{LIBRARY}'])"
NEEDS = "the clock is set by faketime and a C compiler (on Debian and Ubuntu: apt-get install faketime gcc)"


def clock_variables(scratch: Path) -> dict[str, str]:
    """Environment variables that let programs take their clock from the file ``clock``, with faketime and our library.

    Raises:
        MissingError: Faketime or a C compiler is missing.
    """
    ours, clock = scratch / "sleep.so", scratch / "clock"
    compiler = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(ours), "-ldl"]
    show = ["faketime", "-m", "-f", "+0", sys.executable, "-c", SHOW]
    try:
        subprocess.run(compiler, input=SLEEP, check=True, capture_output=True, encoding="utf-8")
        shown = subprocess.run(show, check=True, capture_output=True, encoding="utf-8")
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingError(f"{NEEDS}: {error}") from None
    library = f"{ours} {shown.stdout.strip()}"
    return {**STEADY, LIBRARY: library, "FAKETIME_TIMESTAMP_FILE": str(clock)}


PROBE = """
import locale, os, sys, time
first = time.time()
time.sleep(0.01)
assert time.time() > first, "the clock does not go on"
assert abs(first - float(sys.argv[1])) < 60, "the library leaves the clock as it is"
assert "TZ" not in os.environ or time.localtime(1.7e9).tm_gmtoff, "there is no such time zone: install tzdata"
locale.setlocale(locale.LC_ALL, "")
"""
"""A program that fails if a setting has no effect. ``localedef -i tr_TR -f UTF-8 tr_TR.UTF-8`` creates a locale."""


def environment(setting: Setting, scratch: Path) -> dict[str, str]:
    """The environment variables of a setting, checked to have an effect.

    Raises:
        MissingError: They have no effect on this machine.
    """
    variables = {**os.environ, **setting.variables}
    if setting.clock != 0:
        variables |= clock_variables(scratch)
        variables |= {"FAKETIME_NO_CACHE": "1"} if setting.lead else {}
        set_clock(scratch / "clock", setting.clock or 0)
    probe = [sys.executable, "-c", PROBE, str(time.time() + (setting.clock or 0))]
    done = subprocess.run(probe, env=variables, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise MissingError(done.stderr.strip().splitlines()[-1])
    return variables


class Outcome(NamedTuple):
    """The outcome of tests in a setting: lines to print, pytest's output after a failure, and whether they ran."""

    lines: str
    failed: str = ""
    was_tried: bool = True


def outcome(setting: Setting, tests: list[str]) -> Outcome:
    """Run tests in a setting."""
    with tempfile.TemporaryDirectory(prefix="pqassay-") as name:
        scratch = Path(name)
        try:
            variables = environment(setting, scratch)
        except MissingError as error:
            return Outcome(f"NOT TRIED  {setting.name}: {error}", was_tried=False)
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), f"--within={setting.lead}", *tests],
            cwd=ROOT,
            env={**variables, BASE: str(scratch)},
            umask=setting.umask,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    failed = re.findall(r"^(?:FAILED|ERROR) tests/.*?(?= - |$)", done.stdout, re.MULTILINE)
    if done.returncode and not failed:
        failed = [f"pytest ended with {done.returncode}"]
    counts = re.findall(r"\b\d+ (?:passed|failed|errors?)\b.* in [\d.]+s", done.stdout) or [""]
    word, seconds = "FAILED" if failed else "ok", time.monotonic() - start
    lines = [f"{word:<9}  {setting.name:<40} {seconds:6.1f} s  {counts[-1]}", *dict.fromkeys(failed)]
    return Outcome("\n             ".join(lines), done.stdout if failed else "")


BASE = "PQASSAY_ELSEWHEN"
"""The environment variable with the folder of a setting: its clock, and temporary files of its tests."""


class Midnights:
    """A pytest plugin that lets each test begin shortly before a midnight, each on another day."""

    def __init__(self, lead: float, clock: Path) -> None:
        """Take the seconds before midnight, and the file that sets the clock."""
        self._lead, self._clock, self._ahead = lead, clock, 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Set the clock before a test and its fixtures use it."""
        self._ahead += seconds_until(24, time.time() + self._lead)
        set_clock(self._clock, self._ahead)


def run_within(lead: float, tests: list[str]) -> int:
    """Run tests in the setting of this process; return the exit status of pytest."""
    scratch = Path(os.environ.pop(BASE))
    options = ["-q", "-rfE", "--tb=short", "-m", "not spark", "-p", "no:cacheprovider"]
    return pytest.main(
        [*options, f"--basetemp={scratch / 'tests'}", *tests],
        [Midnights(lead, scratch / "clock")] if lead else [],
    )


def main() -> int:
    """Run the tests in each setting, two at a time; return the exit status."""
    known = settings(dt.datetime.now(dt.UTC))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tests", nargs="*", default=TESTS, metavar="TEST", help="modules or folders of tests")
    parser.add_argument(
        "--setting",
        action="append",
        choices=[setting.name for setting in known],
        help="try this one alone; may be repeated",
    )
    parser.add_argument(
        "--within", type=float, help=argparse.SUPPRESS
    )  # the arguments with which this program calls itself
    options = parser.parse_args()
    tests = list(options.tests)
    if options.within is not None:
        return run_within(options.within, tests)
    chosen = [setting for setting in known if options.setting is None or setting.name in options.setting]
    tried, written = 0, list[str]()
    with ThreadPoolExecutor(2) as pool:
        for setting, each in zip(
            chosen, pool.map(lambda setting: outcome(setting, tests), chosen), strict=True
        ):
            print(each.lines, flush=True)
            tried += each.was_tried
            if each.failed:
                written.append(f"\n{setting.name}\n{textwrap.indent(each.failed, '    ')}")
    print(*written, sep="\n", end="")
    if written or (tried < len(chosen) and os.environ.get("CI") == "true"):
        return 1
    print(f"The tests pass in {tried} of {len(known)} settings.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
