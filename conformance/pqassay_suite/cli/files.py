"""The option ``--files`` of ``pqassay suite run``: a driver is asked about somebody's own files."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import tempfile
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pqassay.cli.failure import fail, fail_at_length
from pqassay.report.run import files as run_files

if TYPE_CHECKING:
    from pqassay.report.run.model import RunReport
    from pqassay.stores.targets import Target
    from pqassay_suite.drivers.driver import Settings
    from pqassay_suite.drivers.implementations import Implementation
    from pqassay_suite.own_files.collection import FileCase, Files, Limits

MEBIBYTE = 1 << 20

DEFAULT_MEBIBYTES = 16.0
DEFAULT_VALUES = 200_000


@dataclass(frozen=True)
class OwnFiles:
    """The files of a folder that are to be asked about.

    Attributes:
        files: All of them.
        chosen: Those to ask about.
        limits: How large they may be.
    """

    files: Files
    chosen: dict[str, Target]
    limits: Limits

    @property
    def others(self) -> frozenset[str]:
        """The files that are not asked about."""
        return frozenset(self.files.targets) - frozenset(self.chosen)

    @contextlib.contextmanager
    def cases(
        self,
        settings: Settings,
        known: Implementation | None,
        progress: Callable[[int, int, str], object] | None,
    ) -> Generator[tuple[list[FileCase], run_files.Collection]]:
        """Cases made from them, and what reports say about them; the rows are kept until the end.

        Args:
            settings: How the driver is asked.
            known: The driver under test among those that come with pqassay.
            progress: See `CollectionCases.make`.
        """
        from pqassay_suite.drivers.driver import CannotStartError, DriverUnderTest
        from pqassay_suite.own_files.collection import CollectionCases
        from pqassay_suite.own_files.second_readers import TooFewReadersError, second_readers

        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            try:
                with contextlib.closing(DriverUnderTest(settings)) as driver:
                    greeting = driver.greet()
                name = greeting.name if greeting else None
                readers = second_readers(known.decoder if known else None, name)
            except CannotStartError as error:
                fail_at_length(str(error))
            except TooFewReadersError as error:
                fail(str(error))
            stack.callback(readers.close)
            makes = stack.enter_context(
                contextlib.closing(CollectionCases(readers, self.limits, Path(folder)))
            )
            try:
                cases, asked = makes.make(self.files, self.chosen, settings.jobs, progress)
            except CannotStartError as error:
                fail(str(error))
            if not cases:
                fail("; ".join(["there is nothing to ask about", *run_files.left_out_lines(asked.left_out)]))
            yield cases, asked


def files_to_ask(
    folder: Path,
    patterns: Sequence[str],
    wrong: Collection[tuple[str, str]],
    max_size: float,
    max_values: int,
) -> OwnFiles:
    """The files of a folder.

    Args:
        folder: The folder.
        patterns: Patterns of the files to ask about; all if there is none.
        wrong: Cases and operations that were wrong before, which alone are asked about if there are any.
        max_size: MiB of a file, at most.
        max_values: Values of a file, at most.

    What leaves none ends the command.
    """
    from pqassay_suite.cases.case import CaseError
    from pqassay_suite.own_files.collection import Limits, files_in

    try:
        files = files_in(folder)
        chosen = files.chosen(patterns, {case for case, _ in wrong} or None)
    except CaseError as error:
        fail(str(error))
    return OwnFiles(files, chosen, Limits(math.ceil(max_size * MEBIBYTE), max_values))


def list_files(own: OwnFiles) -> None:
    """Say what would be asked about."""
    for name in own.chosen:
        typer.echo(f"{name}  read")
    for line in run_files.left_out_lines(own.files.left_out):
        typer.echo(line, err=True)


def with_collection(report: RunReport, asked: run_files.Collection) -> RunReport:
    """A result with the files that it is about, and the features of what failed."""
    right = [result.case for result in report.results if result.outcome == "passed"]
    wrong = [result.case for result in report.results if not result.is_good]
    missing = [result.case for result in report.results if result.outcome == "unsupported"]
    counted = run_files.features(asked.tags, right, wrong, missing)
    return dataclasses.replace(report, collection=dataclasses.replace(asked, features=counted))
