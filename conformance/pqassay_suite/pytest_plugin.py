"""The pytest plugin: the golden cases as tests of a driver.

``pytest --pqassay-driver "python3 driver.py"`` adds one test for each request of ``pqassay suite run``.  Modules are imported only
when they are used, so a test run without a driver is not slower.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from pqassay.report.run.model import Result, RunReport
    from pqassay_suite.cases.case import GoldenCase

# ruff: noqa: PLC0415


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of a test run of a driver."""
    group = parser.getgroup("pqassay", "golden cases of Parquet metadata")
    group.addoption(
        "--pqassay-driver",
        metavar="COMMAND",
        help="Test this driver: one test for each golden case and operation.",
    )
    group.addoption(
        "--pqassay-case",
        metavar="GLOB",
        action="append",
        default=[],
        help="Only these cases, and their parents; may be repeated.",
    )
    group.addoption(
        "--pqassay-expectations", metavar="FILE", help="Known failures: these tests are expected to fail."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that need a driver if there is none."""
    given = config.getoption("--pqassay-case") or config.getoption("--pqassay-expectations")
    if given and not config.getoption("--pqassay-driver"):
        raise pytest.UsageError("--pqassay-case and --pqassay-expectations need --pqassay-driver")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the tests of a driver to the collected tests."""
    if command := session.config.getoption("--pqassay-driver"):
        items += _driver_items(session, command)


def _driver_items(session: pytest.Session, command: str) -> list[pytest.Item]:
    from pqassay_suite.cases.case import CaseError, golden_folder, load, select
    from pqassay_suite.cases.expectations import Expectations, ExpectationsError, parse
    from pqassay_suite.running.runner import tasks

    config = session.config
    path = config.getoption("--pqassay-expectations")
    try:
        words = shlex.split(command)
        every = load(golden_folder())
        chosen = select(every, cast("list[str]", config.getoption("--pqassay-case")))
        known = Expectations()
        if path:
            with open(path, "rb") as file:  # noqa: PTH123 - the name that was given is in the error
                known = parse(file.read())
    except (CaseError, ValueError) as error:
        raise pytest.UsageError(f"--pqassay-driver: {error}") from None
    except (OSError, ExpectationsError) as error:
        raise pytest.UsageError(f"--pqassay-expectations {path}: {error}") from None
    if not words:
        raise pytest.UsageError("--pqassay-driver: there is no program in the command")
    run = _Run(words, chosen, known, {golden.case.id for golden in every})
    make = cast("Callable[..., DriverItem]", DriverItem.from_parent)
    tests: list[pytest.Item] = [
        make(session, name=f"pqassay/{golden.case.id}/{operation}", run=run)
        for golden, operation in tasks(chosen, ())
    ]
    tests.append(make(session, name=WHOLE, run=run))
    return tests


@dataclass
class _Run:
    """The run that all tests of a driver share; the first test starts it."""

    command: list[str]
    chosen: Sequence[GoldenCase]
    known: Any
    every: set[str]

    def report(self) -> RunReport:
        """The report of the run; the test fails if the driver cannot be started."""
        if isinstance(self._report, str):
            pytest.fail(self._report, pytrace=False)
        return self._report

    @cached_property
    def _report(self) -> RunReport | str:
        """The report, or why there is none."""
        import dataclasses

        from pqassay_spec.golden.revision import current
        from pqassay_suite.cli.run import DEFAULT_GIBIBYTES, DEFAULT_SECONDS, GIBIBYTE
        from pqassay_suite.drivers.process import Limits
        from pqassay_suite.running.runner import CannotStartError, Settings, run

        limits = Limits(DEFAULT_SECONDS, int(DEFAULT_GIBIBYTES * GIBIBYTE))
        left_out = self.every - {golden.case.id for golden in self.chosen}
        known = dataclasses.replace(self.known, others=frozenset(left_out))
        try:
            return run(self.chosen, Settings(self.command, limits), known, revision=current())
        except CannotStartError as error:
            return str(error)


WHOLE = "pqassay/driver"
"""The test of a driver as a whole."""


class DriverItem(pytest.Item):
    """One operation on one golden case; or the driver as a whole: its greeting, and expectations that no longer hold."""

    def __init__(self, *, run: _Run, **others: Any) -> None:
        super().__init__(**others)
        self._run = run

    def runtest(self) -> None:
        """Look up the result; the first test runs all of them."""
        report = self._run.report()
        by_name = {f"pqassay/{result.case}/{result.operation}": result for result in report.results}
        result = by_name.get(self.name)
        if result is not None:
            self._tell(result, report)
        elif self.name == WHOLE:
            self._tell_of_the_whole(report)
        else:
            exposures = [f"pqassay/{one.case}/scan" for one in report.exposures]
            pytest.skip("shown, not scored" if self.name in exposures else "not asked: not declared")

    def _tell(self, result: Result, report: RunReport) -> None:
        from pqassay.report.run.outcomes import NEITHER
        from pqassay.report.run.text import details, not_scored

        if result.outcome in NEITHER:
            pytest.skip(f"{result.outcome}: {result.reason}")
        if result.is_good:
            return
        if result.unscored and report.scored_by is not None:
            pytest.skip(f"{result.outcome}, {not_scored(report)}: {result.reason}")
        rows = [f"{label:<10}{value}" for label, value in details(result, report)]
        if result.known:
            pytest.xfail(f"{result.outcome}: {result.reason}")
        pytest.fail("\n".join([result.outcome, *rows]), pytrace=False)

    def _tell_of_the_whole(self, report: RunReport) -> None:
        rows = [f"expectation {problem.entry}: {problem.problem}" for problem in report.problems]
        rows += [
            f"{result.outcome}: {result.reason}"
            for result in report.results
            if result.operation == "hello" and not result.known
        ]
        if report.tested_nothing:
            rows.append("nothing was tested: the driver supports no operation that was asked for")
        if rows:
            pytest.fail("\n".join(rows), pytrace=False)

    def reportinfo(self) -> tuple[str, None, str]:
        """Its name for pytest."""
        return "pqassay", None, self.name
