"""The driver of ``pqassay suite run``: which it is, what it declares, what it got wrong before, how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pqassay.cli.failure import fail, fail_at_length

if TYPE_CHECKING:
    from pqassay_suite.cases.case import GoldenCase
    from pqassay_suite.drivers.driver import Settings
    from pqassay_suite.drivers.implementations import Implementation
    from pqassay_suite.running.runner import Times


def named_driver(command: list[str], shipped: str | None) -> tuple[list[str], Implementation | None]:
    """The command of a driver, and which of those that come with pqassay it is."""
    if bool(command) == bool(shipped):
        fail(
            "name a driver: `--driver duckdb`, or behind --, for example: pqassay suite run -- python3 driver.py"
        )
    return (command, None) if shipped is None else _shipped(shipped)


def _shipped(name: str) -> tuple[list[str], Implementation]:
    """The command of a driver that comes with pqassay."""
    from pqassay_suite.drivers.implementations import ImplementationError, implementation

    try:
        found = implementation(name)
    except ImplementationError as error:
        fail(str(error))
    if found.missing:
        fail(f"the driver {name} needs {', '.join(found.missing)}")
    if not found.is_built:
        fail(f"the driver {name} is not built; `pqassay suite drivers --build {name}` builds it")
    return found.argv, found


def wrong_in(path: Path) -> frozenset[tuple[str, str]]:
    """The cases and operations that came to no good in some results."""
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
        found = declared(chosen, settings)
    except CannotStartError as error:
        fail_at_length(str(error))
    hello = found.hello
    if isinstance(hello, HelloAnswer):
        typer.echo(f"{hello.name} {hello.version} ({hello.language})")
        typer.echo(f"  answers requests {'one after the other' if hello.serve else 'one a process'}")
        typer.echo(f"  compares NaN as {hello.nan}, zeros as {hello.zeros}")
        typer.echo(f"  declares {', '.join(sorted(hello.capabilities))}")
    else:
        typer.echo(f"it does not answer hello: {hello.reason}")
    typer.echo(f"{found.asked} question{'' if found.asked == 1 else 's'} would be asked")
    for one in found.more:
        typer.echo(f"  {one.capability} would add {one.count}")


def print_times(times: Times) -> None:
    """What took how long, for people."""
    parts = [f"{name} {seconds:.1f} s for {count}" for name, (count, seconds) in times.by_operation().items()]
    if parts:
        typer.echo(f"times: {', '.join(parts)}")
        slow = ", ".join(f"{case} {name} {seconds:.2f} s" for seconds, name, case in times.slowest())
        typer.echo(f"slowest: {slow}")
