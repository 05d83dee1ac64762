"""The driver of ``pqassay suite run``: which it is, what it declares, what it got wrong before, how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.failure import fail, fail_at_length

DriverCommand = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- DRIVER...", help="Command that starts the driver.", show_default=False),
]
"""The program of a driver and its arguments, behind the options of a command."""

if TYPE_CHECKING:
    from pqassay_suite.cases.case import GoldenCase
    from pqassay_suite.drivers.driver import Settings
    from pqassay_suite.drivers.implementations import Implementation
    from pqassay_suite.running.runner import Times


@dataclass(frozen=True)
class NamedDriver:
    """A driver that a command names.

    Attributes:
        command: The program and its arguments.
        implementation: Which of those that come with pqassay it is; ``None`` for another.
    """

    command: list[str]
    implementation: Implementation | None = None

    @property
    def label(self) -> str:
        """A name for messages and folders."""
        return self.implementation.label if self.implementation else "driver"

    @property
    def seconds(self) -> float | None:
        """Processor time that one which comes with pqassay gets for a request."""
        return self.implementation.timeout if self.implementation else None


def named_drivers(command: list[str], shipped: Sequence[str]) -> list[NamedDriver]:
    """The drivers that come with pqassay, each once, then that of a command; one at least."""
    if not command and not shipped:
        fail(
            "name a driver: `--driver duckdb`, or behind --, for example: pqassay suite run -- python3 driver.py"
        )
    named = [NamedDriver(*_shipped(name)) for name in dict.fromkeys(shipped)]
    return [*named, NamedDriver(command)] if command else named


def _shipped(name: str) -> tuple[list[str], Implementation]:
    """The command of a driver that comes with pqassay."""
    from pqassay_suite.drivers.implementations import ImplementationError, implementation

    try:
        shipped = implementation(name)
    except ImplementationError as error:
        fail(str(error))
    if shipped.missing:
        fail(f"the driver {name} needs {', '.join(shipped.missing)}")
    if not shipped.is_built:
        fail(f"the driver {name} is not built; `pqassay suite drivers --build {name}` builds it")
    return shipped.argv, shipped


def wrong_in(path: Path) -> frozenset[tuple[str, str]]:
    """The cases and operations that failed in some results."""
    from pqassay.errors import UsageError
    from pqassay.report.reading import parse
    from pqassay.report.run.model import RunReport

    try:
        report = parse(path.read_bytes(), str(path))
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")
    except UsageError as error:
        fail(str(error))
    if not isinstance(report, RunReport):
        fail(f"{path}: these are not results of pqassay suite run")
    found = frozenset((result.case, str(result.operation)) for result in report.results if not result.is_good)
    if not found:
        fail(f"{path}: nothing is wrong there")
    return found


def say_hello(chosen: Sequence[GoldenCase], settings: Settings) -> None:
    """What a driver declares, and what follows."""
    from pqassay_suite.drivers.driver import CannotStartError
    from pqassay_suite.drivers.protocol import HelloAnswer
    from pqassay_suite.running.runner import declared

    try:
        declaration = declared(chosen, settings)
    except CannotStartError as error:
        fail_at_length(str(error))
    hello = declaration.hello
    if isinstance(hello, HelloAnswer):
        typer.echo(f"{hello.name} {hello.version} ({hello.language})")
        typer.echo(f"  answers requests {'one after the other' if hello.serve else 'one a process'}")
        typer.echo(f"  compares NaN as {hello.nan}, zeros as {hello.zeros}")
        typer.echo(f"  declares {', '.join(sorted(hello.capabilities))}")
    else:
        typer.echo(f"it does not answer hello: {hello.reason}")
    typer.echo(f"{declaration.asked} question{'' if declaration.asked == 1 else 's'} would be asked")
    for one in declaration.more:
        typer.echo(f"  {one.capability} would add {one.count}")


def print_times(times: Times) -> None:
    """What took how long, for people."""
    parts = [f"{name} {seconds:.1f} s for {count}" for name, (count, seconds) in times.by_operation().items()]
    if parts:
        typer.echo(f"times: {', '.join(parts)}")
        slow = ", ".join(f"{case} {name} {seconds:.2f} s" for seconds, name, case in times.slowest())
        typer.echo(f"slowest: {slow}")
