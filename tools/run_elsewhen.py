"""Run the tests that the calendar, the time zone, the locale or the umask could disturb as if it were another day and another place.

    python tools/run_elsewhen.py                        every setting, and the tests that are listed here
    python tools/run_elsewhen.py --setting "+ 1 day"    one of them
    python tools/run_elsewhen.py tests/conformance      other tests

Says one line about each setting, with the names of the tests that failed, and fails if any did; what pytest wrote about them follows.
`make test-elsewhen` calls this with the Python of its virtual environment.

The library of the program ``faketime`` sets the clock, in the tests and in what they start, together with a small one of ours, which takes a
C compiler.  The clock goes on, and the monotonic one, by which programs wait, is left alone.  Files keep the times that the system gives them,
so that where it is later they are old: a test that needs a file of a certain age gives it that age.
"""

from __future__ import annotations

import argparse
import datetime as dt
import functools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

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
    "tests/reference_impl/rewrite/test_finished_file.py",
    "tests/reference_impl/rewrite/test_strip.py",
    "tests/spec/base",
    "tests/spec/golden/test_revision.py",
    "tests/spec/rules/test_observed.py",
)
"""Modules and folders of tests that look at days and moments, at the times or the mode of files, or at what programs print."""

LIBRARY = "LD_PRELOAD"
"""Environment variable with the library that sets the clock."""

STEADY = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
"""What the library leaves alone: waiting, and times of files, which it changes for some programs and not for others."""

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
"""Lets programs sleep by the monotonic clock: the library takes a moment of that one, too, for one that it has set."""

DAY = 86_400


@dataclass(frozen=True)
class Setting:
    """A time and a place.

    Attributes:
        name: What its line says.
        clock: Seconds by which the clock is ahead.
        until_midnight: Seconds before a midnight in UTC at which each test begins, in place of ``clock``.
        variables: Environment variables.
        umask: The permissions that new files do not get.
    """

    name: str
    clock: float = 0
    until_midnight: float | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    umask: int = 0o022

    @property
    def sets_clock(self) -> bool:
        """Whether it needs the library."""
        return bool(self.clock or self.until_midnight)


def next_leap_day(now: dt.datetime) -> dt.datetime:
    """Noon of the next 29 February in UTC.

    >>> next_leap_day(dt.datetime(2026, 11, 27, tzinfo=dt.UTC)).isoformat()
    '2028-02-29T12:00:00+00:00'
    """
    year = now.year
    while True:
        try:
            noon = dt.datetime(year, 2, 29, 12, tzinfo=dt.UTC)
        except ValueError:
            pass  # no leap year
        else:
            if noon > now:
                return noon
        year += 1


def seconds_until(hour: float, now: float) -> float:
    """Seconds from a moment until it is so late in UTC, on that day or the next.

    >>> seconds_until(20, 21 * 3600), seconds_until(24, 86_399)
    (82800, 1)
    """
    return (hour * 3600 - now) % DAY


def settings(now: dt.datetime) -> tuple[Setting, ...]:
    """All settings, for tests that begin at a moment."""
    leap_day = next_leap_day(now)
    return (
        Setting("+ 1 day", clock=DAY),
        Setting("+ 400 days", clock=400 * DAY),
        Setting(f"{leap_day:%Y-%m-%d %H:%M} UTC", clock=(leap_day - now).total_seconds()),
        Setting("1 s before midnight UTC", until_midnight=1),
        Setting("0.1 s before midnight UTC", until_midnight=0.1),
        Setting("TZ=Asia/Kathmandu", variables={"TZ": "Asia/Kathmandu"}),
        # A quarter to two in Kathmandu and noon in Los Angeles: of two days that are not the same in UTC, one is that of the zone.
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
    """What a setting needs is not here."""


@functools.cache
def library() -> str:
    """The library that sets the clock, as its own program finds it.

    Raises:
        MissingError: There is none.
    """
    show = [sys.executable, "-c", f"import os; print(os.environ['{LIBRARY}'])"]
    try:
        done = subprocess.run(
            ["faketime", "-m", "-f", "+0", *show], check=True, capture_output=True, encoding="utf-8"
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingError(
            f"the clock cannot be set ({error}): it takes Linux and faketime (on Debian and Ubuntu: apt-get install faketime)"
        ) from None
    return done.stdout.strip()


def compiled(scratch: Path) -> Path:
    """The small library with which programs sleep.

    Raises:
        MissingError: There is no compiler of C.
    """
    made = scratch / "sleep.so"
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(made), "-ldl"]
    try:
        subprocess.run(command, input=SLEEP, check=True, capture_output=True, encoding="utf-8")
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingError(
            f"there is no C compiler ({error}): install one (on Debian and Ubuntu: apt-get install gcc)"
        ) from None
    return made


def environment(setting: Setting, scratch: Path) -> dict[str, str]:
    """The environment variables of a setting; a file in ``scratch`` says how far ahead its clock is.

    Raises:
        MissingError: The clock cannot be set here.
    """
    variables = {**os.environ, **setting.variables}
    if setting.sets_clock:
        variables |= {**STEADY, LIBRARY: f"{compiled(scratch)} {library()}"}
        if setting.until_midnight is None:
            variables["FAKETIME"] = f"{setting.clock:+f}"
        else:
            variables |= {
                "FAKETIME_TIMESTAMP_FILE": str(scratch / "clock"),
                "FAKETIME_NO_CACHE": "1",
            }
            set_clock(scratch / "clock", 0)
    return variables


def set_clock(path: Path, ahead: float) -> None:
    """Set the clock of all programs that look at a file: a whole one, whenever they look."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(f"{ahead:+f}", "ascii")
    fresh.replace(path)


PROBE = """
import locale, time
first = time.time()
time.sleep(0.01)
assert time.time() > first, "the clock does not go on"
locale.setlocale(locale.LC_ALL, "")
print(first, time.localtime(1.7e9).tm_gmtoff)
"""
"""A program that shows what a setting does: the clock, and the zone."""


def require_effect(setting: Setting, variables: Mapping[str, str]) -> None:
    """Make sure that a setting does something.

    Raises:
        MissingError: It does not; the message says what helps.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=variables, capture_output=True, encoding="utf-8", check=False
    )
    if "locale.Error" in done.stderr:
        name = setting.variables["LC_ALL"]
        raise MissingError(
            f"there is no locale {name}: localedef -i {name.partition('.')[0]} -f UTF-8 {name} makes it"
        )
    if done.returncode:
        raise MissingError(done.stderr.strip().splitlines()[-1])
    shown, zone = (float(part) for part in done.stdout.split())
    if abs(shown - time.time() - setting.clock) > 60:
        raise MissingError("the library leaves the clock as it is")
    if "TZ" in setting.variables and not zone:
        raise MissingError(f"there is no time zone {setting.variables['TZ']}: install tzdata")


@dataclass(frozen=True)
class Outcome:
    """What became of the tests in a setting.

    Attributes:
        setting: The setting.
        seconds: What they took.
        counted: The line in which pytest counts them.
        failed: Names of tests that failed, or what else went wrong.
        missing: Why they did not run; empty if they did.
        output: What pytest wrote.
    """

    setting: Setting
    seconds: float = 0
    counted: str = ""
    failed: tuple[str, ...] = ()
    missing: str = ""
    output: str = ""

    def __str__(self) -> str:
        if self.missing:
            return f"NOT TRIED  {self.setting.name}: {self.missing}"
        word = "FAILED" if self.failed else "ok"
        lines = [f"{word:<9}  {self.setting.name:<40} {self.seconds:6.1f} s  {self.counted}"]
        return "\n".join([*lines, *(f"             {name}" for name in self.failed)])


def outcome(setting: Setting, tests: list[str]) -> Outcome:
    """Run tests in a setting."""
    with tempfile.TemporaryDirectory(prefix="pqassay-") as name:
        scratch = Path(name)
        try:
            variables = environment(setting, scratch)
            require_effect(setting, variables)
        except MissingError as error:
            return Outcome(setting, missing=str(error))
        inside = [] if setting.until_midnight is None else [f"--within={setting.until_midnight}"]
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), *(inside or ["--within=0"]), *tests],
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
    lines = done.stdout.splitlines()
    failed = list(
        dict.fromkeys(line.split(" - ")[0] for line in lines if re.match(r"(FAILED|ERROR) tests/", line))
    )
    if done.returncode and not failed:
        failed = [f"pytest ended with {done.returncode}"]
    counts = [line for line in lines if re.search(r"\b\d+ (passed|failed|errors?)\b.* in [\d.]+s", line)]
    return Outcome(
        setting,
        time.monotonic() - start,
        counts[-1].strip("= ") if counts else "",
        tuple(failed),
        output=done.stdout,
    )


BASE = "PQASSAY_ELSEWHEN"
"""Environment variable with the folder for what a setting needs: its clock, and the temporary files of its tests."""


class Midnights:
    """A plugin of pytest that lets each test begin shortly before a midnight, each that of another day."""

    def __init__(self, lead: float, clock: Path) -> None:
        """Take the seconds before midnight, and the file that sets the clock."""
        self._lead, self._clock, self._ahead = lead, clock, 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Set the clock before the fixtures of a test, too, look at it."""
        self._ahead += seconds_until(24, time.time() + self._lead)
        set_clock(self._clock, self._ahead)


def run_within(lead: float, tests: list[str]) -> int:
    """Run tests in the setting that this process is in; return the exit status of pytest."""
    scratch = Path(os.environ.pop(BASE))
    options = ["-q", "-rfE", "--tb=short", "-m", "not spark", "-p", "no:cacheprovider"]
    return pytest.main(
        [*options, f"--basetemp={scratch / 'tests'}", *tests],
        [Midnights(lead, scratch / "clock")] if lead else [],
    )


def main() -> int:
    """Run the tests in each setting, two at a time; return the exit status."""
    known = settings(dt.datetime.now(dt.UTC))
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tests", nargs="*", default=TESTS, metavar="TEST", help="modules or folders of tests")
    parser.add_argument(
        "--setting",
        action="append",
        choices=[one.name for one in known],
        help="try this one alone; may be repeated",
    )
    parser.add_argument("--within", type=float, help=argparse.SUPPRESS)  # how this program calls itself
    options = parser.parse_args()
    tests = list(options.tests)
    if options.within is not None:
        return run_within(options.within, tests)
    chosen = [one for one in known if options.setting is None or one.name in options.setting]
    try:
        if any(one.sets_clock for one in chosen):
            with tempfile.TemporaryDirectory() as folder:
                library()
                compiled(Path(folder))
    except MissingError as error:
        print(f"Nothing was tried: {error}.")
        return 1
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(2) as pool:
        for each in pool.map(lambda setting: outcome(setting, tests), chosen):
            print(each, flush=True)
            outcomes.append(each)
    for each in outcomes:
        if each.failed:
            print(f"\n{each.setting.name}\n" + "".join(f"    {line}\n" for line in each.output.splitlines()))
    left_out = [each for each in outcomes if each.missing]
    if any(each.failed for each in outcomes) or (left_out and os.environ.get("CI") == "true"):
        return 1
    print(f"The tests pass in {len(outcomes) - len(left_out)} of {len(known)} settings.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
