"""The option ``--files`` of ``pqassay suite run``: test a driver with a user's own files."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import tempfile
from collections.abc import Callable, Collection, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pqassay.cli.failure import fail
from pqassay.report.run import files as run_files
from pqassay_suite.cli.driver import failing

if TYPE_CHECKING:
    from pqassay.report.run.model import RunReport
    from pqassay_suite.drivers.driver import Settings
    from pqassay_suite.drivers.implementations import Implementation
    from pqassay_suite.own_files.collection import FileCase, Files

MEBIBYTE = 1 << 20

DEFAULT_MEBIBYTES = 16.0
DEFAULT_VALUES = 200_000


@contextlib.contextmanager
def cases_of(
    files: Files,
    limits: tuple[float, int],
    settings: Settings,
    known: Implementation | None,
    progress: Callable[[int, int, str], object] | None,
) -> Generator[tuple[list[FileCase], run_files.Collection]]:
    """Cases made from files, and the facts about the files for reports; the rows are kept until the end.

    Args:
        files: The files to ask about.
        limits: The most MiB and values of a file.
        settings: Settings of the requests.
        known: The implementation under test, if it is a shipped one.
        progress: See `CollectionCases.make`.
    """
    from pqassay_suite.drivers.driver import DriverUnderTest
    from pqassay_suite.own_files.collection import CollectionCases, SurveyLimits
    from pqassay_suite.own_files.second_readers import TooFewReadersError, second_readers

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        with failing(TooFewReadersError), contextlib.closing(DriverUnderTest(settings)) as driver:
            greeting = driver.greet()
            name = greeting.name if greeting else None
            readers = second_readers(known.decoder if known else None, name)
        stack.callback(readers.close)
        size, values = limits
        most = SurveyLimits(math.ceil(size * MEBIBYTE), values)
        makes = stack.enter_context(contextlib.closing(CollectionCases(readers, most, Path(folder))))
        with failing():
            cases, asked = makes.make(files, settings.jobs, progress)
        if not cases:
            fail("; ".join(["there are no files to test", *run_files.left_out_lines(asked.left_out)]))
        yield cases, asked


def files_to_ask(folder: Path, patterns: Sequence[str], wrong: Collection[tuple[str, str]]) -> Files:
    """The files of a folder to ask about; if there are none, the command ends.

    Args:
        folder: The folder.
        patterns: Patterns of the files to ask about; all if it is empty.
        wrong: Cases and operations that were wrong before; if there are any, only these are asked.
    """
    from pqassay_suite.cases.case import CaseError
    from pqassay_suite.own_files.collection import files_in

    with failing(CaseError):
        return files_in(folder).chosen(patterns, {case for case, _ in wrong} or None)


def list_files(files: Files) -> None:
    """Print the files that would be asked about."""
    for name in files.targets:
        typer.echo(f"{name}  read")
    for line in run_files.left_out_lines(files.left_out):
        typer.echo(line, err=True)


def with_collection(report: RunReport, asked: run_files.Collection) -> RunReport:
    """A report with the files that it is about, and the features that failures have in common."""
    right = [result.case for result in report.results if result.outcome == "passed"]
    wrong = [result.case for result in report.results if not result.is_good]
    missing = [result.case for result in report.results if result.outcome == "unsupported"]
    counted = run_files.features(asked.tags, right, wrong, missing)
    return dataclasses.replace(report, collection=dataclasses.replace(asked, features=counted))
