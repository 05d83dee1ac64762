"""The waterfall of a scan as text: ``pqassay scan --explain``."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import typer

from pqassay_reader.query.explained.waterfall import Step, waterfall
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import Scan
from pqassay_reference.cli.tables import PrintedTable, counted, show
from pqassay_reference.rewrite.extract import NO_KEY
from pqassay_spec.base.terminal import printable

WIDE = 150
"""Width of a terminal in columns from which the table explains each technique; otherwise the explanations are listed below."""


def print_explanation(scan: Scan) -> None:
    """Print the waterfall, the fetched data and the structures used."""
    steps = waterfall(scan)
    is_narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE
    show(_table(steps, with_titles=not is_narrow))
    if is_narrow:
        for step in steps:
            typer.echo(f"{step.name}: {step.title}")
    for line in _summary(scan):
        typer.echo(printable(line))


# ------------------------------------------------------------------------------------------------------- waterfall


def _table(steps: Sequence[Step], *, with_titles: bool) -> PrintedTable:
    headings = ["left after", "files", "row groups", "rows", "pages", "bytes", "requests"]
    headings += ["metadata read", "saved", "share"]
    rows = [_cells(step) for step in steps]
    if with_titles:
        headings.append("what it does")
        rows = [[*row, step.title] for row, step in zip(rows, steps, strict=True)]
    return PrintedTable("", headings, rows, right=frozenset(range(1, 10)))


def _cells(step: Step) -> list[str]:
    left = step.left
    name = step.name if step.is_on else f"{step.name} (off)"
    pages = "?" if left.pages is None else f"{left.pages:,}"
    numbers = [f"{left.files:,}", f"{left.row_groups:,}", f"{left.rows:,}", pages, f"{left.length:,}"]
    saved = "" if not step.saved else f"{step.saved:,}"
    metadata = f"{left.metadata:,}" if left.metadata else ""
    return [name, *numbers, f"{left.requests:,}", metadata, saved, percent(step)]


def percent(step: Step) -> str:
    """The share that a step saved.

    >>> from pqassay_reader.query.explained.counters import Left
    >>> percent(Step("late", "", True, Left(length=1), before=3))
    '66.7 %'
    """
    if not step.share:
        return ""
    # 100 % is shown only if nothing is left.
    share = min(step.share, 0.999) if step.left.length else step.share
    return f"{share:.1%}".replace("%", " %")


def _summary(scan: Scan) -> Iterator[str]:
    counters = scan.counters
    rows = counters.left[Rung.STREAM].rows
    stopped = "; the limit was reached" if counters.is_stopped else ""
    unopened = len(scan.files) - counters.files
    if unopened:
        stopped += f"; not opened, and not counted: {counted(unopened, 'file')}"
    yield f"{counted(rows, 'row')} found{stopped}"
    for kind, fetched in (("metadata", counters.metadata), ("data", counters.data)):
        yield f"fetched  {fetched.length:,} bytes of {kind} in {counted(fetched.requests, 'request')}"
    yield f"of       {sum(scan.files.values()):,} bytes in {counted(len(scan.files), 'file')}"
    if counters.used:
        yield f"used     {', '.join(sorted(counters.used))}"
    reasons = Counter(reason for reason in scan.messages.values() if NO_KEY not in reason)
    for message, count in reasons.most_common():
        yield f"unused   embedded index of {counted(count, 'file')}: {message}"
    for line, count in Counter(line for lines in scan.aside.values() for line in lines).most_common():
        yield f"unused   index entry of {counted(count, 'file')}: {line}"


__all__ = ["percent", "print_explanation"]
