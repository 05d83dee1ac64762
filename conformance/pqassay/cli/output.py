"""Printing of reports on the command line, and early endings of a check."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NoReturn, TextIO, cast

import typer

from pqassay.cli.failure import fail
from pqassay.report.formats import FormatName
from pqassay.report.model import Report
from pqassay.report.rendering import write_report
from pqassay.report.run.model import RunReport
from pqassay_spec.base.interrupts import INTERRUPTED, Interrupted
from pqassay_spec.base.sources import write_whole
from pqassay_spec.base.terminal import printable

TERMINATED = 143
"""Exit code after SIGTERM."""


def fail_with_lines(message: str) -> NoReturn:
    """Print one error per line and exit."""
    *first, last = message.split("\n")
    for line in first:
        typer.echo(f"error: {printable(line)}", err=True)
    fail(last)


@contextlib.contextmanager
def interruptible() -> Generator[None]:
    """A context in which Ctrl-C and SIGTERM end the check with one line, and a lost connection does not end it."""

    def terminate(*_: object) -> NoReturn:
        raise SystemExit(TERMINATED)

    handlers: dict[signal.Signals, Any] = {}
    with contextlib.suppress(ValueError):  # only the main thread may set handlers
        handlers[signal.SIGTERM] = signal.signal(signal.SIGTERM, terminate)
        handlers[signal.SIGPIPE] = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    except (KeyboardInterrupt, Interrupted):
        fail("interrupted; there is no report", INTERRUPTED)
    except MemoryError:
        fail("there is not enough memory for this report", 4)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


Renderer = Callable[[Report, TextIO], None]
"""A function that writes a report as text."""


def print_report(
    report: Report | RunReport,
    format_name: FormatName,
    output: Path | None,
    render: Renderer | None = None,
    *,
    site: str | None = None,
    salt: str | None = None,
    values: bool | None = None,
    verbose: bool = False,
) -> None:
    """Print a report on stdout, or write it to a file atomically.

    Args:
        report: The report, of a check or of a run.
        format_name: The format.
        output: The file; ``None`` for stdout.
        render: Writes the text; by default the usual renderer.
        site: Address of the site with the rules' pages.
        salt: The salt of the digests that replace values.
        values: Whether values are shown, see `write_report`. It does not affect ``render``.
        verbose: Whether text has every detail.
    """

    def write(stream: TextIO) -> None:
        if render is not None and format_name is FormatName.TEXT:
            render(cast("Report", report), stream)
        else:
            write_report(report, format_name, stream, site, salt=salt, values=values, verbose=verbose)

    print_written(write, output)


def print_written(write: Callable[[TextIO], object], output: Path | None) -> None:
    """Print the output of a function on stdout, or write it to a file atomically."""
    if output is None:
        write(sys.stdout)
        return
    buffer = io.StringIO()
    write(buffer)
    write_output(buffer.getvalue(), output)


def write_output(text: str, output: Path) -> None:
    """Write the text of ``--output`` to its file atomically; exit if that fails."""
    content = text.encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(output) and not os.path.isfile(output):
            output.write_bytes(content)  # pipes and devices are written in place
        else:
            write_whole(output, content)
    except OSError as error:
        fail(f"{error.filename or output}: {error.strerror or error}")
