"""The driver of ``pqassay suite run``: its command, declarations, earlier wrong answers and times."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.failure import fail, fail_at_length

DriverCommand = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- DRIVER...", help="Command that starts the driver.", show_default=False),
]
"""The program of a driver and its arguments, after the options of a command."""

if TYPE_CHECKING:
    from pqassay.report.run.model import RunReport
    from pqassay_suite.cases.case import GoldenCase
    from pqassay_suite.drivers.driver import Settings
    from pqassay_suite.drivers.implementations import Implementation
    from pqassay_suite.running.runner import Times


@contextlib.contextmanager
def failing(*errors: type[Exception], of: Path | str = "") -> Generator[None]:
    """End the command if a file cannot be read or written, a driver cannot be started, or one of these errors is raised.

    Args:
        errors: Further errors that end the command.
        of: The subject of messages that do not name it.
    """
    from pqassay_suite.drivers.driver import CannotStartError

    ends: tuple[type[Exception], ...] = (CannotStartError, *errors)
    try:
        yield
    except ends as error:
        fail_at_length(f"{of}: {error}" if of else str(error))
    except OSError as error:
        place = error.filename or of
        fail(f"{place}: {error.strerror or error}" if place else str(error.strerror or error))


def require_positive(given: Mapping[str, float | None]) -> None:
    """End with a usage error if an option for a limit is not greater than 0."""
    for name, value in given.items():
        if value is not None and not (math.isfinite(value) and value > 0):
            fail(f"{name} is a number greater than 0")


@dataclass(frozen=True)
class NamedDriver:
    """A driver that a command names.

    Attributes:
        command: The program and its arguments.
        implementation: The shipped implementation; ``None`` for another driver.
    """

    command: list[str]
    implementation: Implementation | None = None

    @property
    def label(self) -> str:
        """A name for messages and folders."""
        return self.implementation.label if self.implementation else "driver"

    @property
    def seconds(self) -> float | None:
        """Processor time in seconds for a request, if it is a shipped driver."""
        return self.implementation.timeout if self.implementation else None


def named_drivers(command: list[str], shipped: Sequence[str]) -> list[NamedDriver]:
    """The shipped drivers, without repetition, then the driver of the command; at least one."""
    if not command and not shipped:
        fail(
            "name a driver: `--driver duckdb`, or after --, for example: pqassay suite run -- python3 driver.py"
        )
    named = [NamedDriver(*_shipped(name)) for name in dict.fromkeys(shipped)]
    return [*named, NamedDriver(command)] if command else named


def _shipped(name: str) -> tuple[list[str], Implementation]:
    """The command of a shipped driver."""
    from pqassay_suite.drivers.implementations import ImplementationError, implementation

    with failing(ImplementationError):
        shipped = implementation(name)
    if shipped.missing:
        fail(f"the driver {name} needs {', '.join(shipped.missing)}")
    if not shipped.is_built:
        fail(f"the driver {name} is not built; `pqassay suite drivers --build {name}` builds it")
    return shipped.argv, shipped


def results_in(path: Path) -> RunReport:
    """The results in a file."""
    from pqassay.errors import UsageError
    from pqassay.report.reading import parse
    from pqassay.report.run.model import RunReport

    with failing(UsageError):
        report = parse(path.read_bytes(), str(path))
    if not isinstance(report, RunReport):
        fail(f"{path}: this is a report of pqassay check, not results of pqassay suite run")
    return report


def wrong_in(path: Path) -> frozenset[tuple[str, str]]:
    """The cases and operations that fail in some results."""
    results = results_in(path).results
    found = frozenset((result.case, str(result.operation)) for result in results if not result.is_good)
    if not found:
        fail(f"{path}: no wrong answers are listed")
    return found


def say_hello(chosen: Sequence[GoldenCase], settings: Settings) -> None:
    """Greet a driver, and print its declarations and the cases that they select."""
    from pqassay_suite.running.runner import declared

    with failing():
        hello, asked, missing = declared(chosen, settings)
    if hello is not None:
        typer.echo(f"{hello.name} {hello.version} ({hello.language})")
        typer.echo(f"  answers requests {'one after the other' if hello.serve else 'one a process'}")
        typer.echo(f"  compares NaN as {hello.nan}, zeros as {hello.zeros}")
        typer.echo(f"  declares {', '.join(sorted(hello.capabilities))}")
    else:
        typer.echo("it does not answer hello: not supported (exit status 3)")
    typer.echo(f"{asked} question{'' if asked == 1 else 's'} would be asked")
    for one in missing:
        typer.echo(f"  {one.capability} would add {one.count}")


def print_times(times: Times) -> None:
    """Print the times for people."""
    parts = [f"{name} {seconds:.1f} s for {count}" for name, (count, seconds) in times.by_operation().items()]
    if parts:
        typer.echo(f"times: {', '.join(parts)}")
        slow = ", ".join(f"{case} {name} {seconds:.2f} s" for seconds, name, case in times.slowest())
        typer.echo(f"slowest: {slow}")
