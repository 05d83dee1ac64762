"""Printing a report on the command line, and ending a check before there is one."""

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
    """One error for each line."""
    *first, last = message.split("\n")
    for line in first:
        typer.echo(f"error: {printable(line)}", err=True)
    fail(last)


@contextlib.contextmanager
def interruptible() -> Generator[None]:
    """Ctrl-C and SIGTERM end the check in one line; a store that hangs up does not end it at all."""

    def terminate(*_: object) -> NoReturn:
        raise SystemExit(TERMINATED)

    handlers: dict[signal.Signals, Any] = {}
    with contextlib.suppress(ValueError):  # only the main thread may
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
"""Writes a report as text."""


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
    """Print a report on stdout, or write it to a file, whole.

    Args:
        report: The report, of a check or of a run.
        format_name: As what.
        output: The file; ``None`` for stdout.
        render: Writes the text; by default the usual renderer.
        site: Address of the site with the rules' pages.
        salt: The salt of the digests that stand for values.
        values: Whether values are shown, see `write_report`; ``render`` shows what is in the report.
        verbose: Whether text has every detail.
    """

    def write(stream: TextIO) -> None:
        if render is not None and format_name is FormatName.TEXT:
            render(cast("Report", report), stream)
        else:
            write_report(report, format_name, stream, site, salt=salt, values=values, verbose=verbose)

    print_written(write, output)


def print_written(write: Callable[[TextIO], object], output: Path | None) -> None:
    """Print on stdout what a function writes, or write it to a file, whole."""
    if output is None:
        write(sys.stdout)
        return
    buffer = io.StringIO()
    write(buffer)
    write_output(buffer.getvalue(), output)


def write_output(text: str, output: Path) -> None:
    """Write what ``--output`` asks for to its file, whole; exit if that cannot be done."""
    content = text.encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(output) and not os.path.isfile(output):
            output.write_bytes(content)  # a pipe or a device is written, not replaced
        else:
            write_whole(output, content)
    except OSError as error:
        fail(f"{error.filename or output}: {error.strerror or error}")
