"""The waterfall of a scan and the pages that it read, as text: ``pqassay scan --explain``."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import typer

from pqassay_reader.query.explained.text import FileTrace, GroupTrace, Trace
from pqassay_reader.query.explained.waterfall import Step, waterfall
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import Scan
from pqassay_reference.cli.tables import PrintedTable, counted, show
from pqassay_reference.rewrite.extract import NO_KEY
from pqassay_spec.base.terminal import printable

WIDE = 150
"""Width of a terminal in columns from which the table explains each technique; otherwise the explanations are listed below."""

MOST_NUMBERS = 12
"""Most row groups that are listed by number."""

KEY = "? column of the condition"


def print_explanation(scan: Scan) -> None:
    """Print the waterfall, the fetched data, the structures used, and the pages that were read of each row group."""
    steps = waterfall(scan)
    is_narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE
    show(_table(steps, with_titles=not is_narrow))
    if is_narrow:
        for step in steps:
            typer.echo(f"{step.name}: {step.title}")
    for line in _summary(scan):
        typer.echo(printable(line))
    trace = scan.trace or Trace()
    if any(file.shown for file in trace.files):
        typer.echo(f"\n{KEY}")
    for line in _files_lines(trace.files):
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
    is_stopped = scan.trace is not None and scan.trace.is_stopped
    stopped = "; the limit was reached" if is_stopped else ""
    unopened = len(scan.files) - len(scan.trace.files) if scan.trace else 0
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


# ----------------------------------------------------------------------------------------------------------- pages


def _files_lines(files: Sequence[FileTrace]) -> Iterator[str]:
    """Lines for the files whose row groups are shown, then the number of other files."""
    shown = [file for file in files if file.shown]
    for file in shown:
        yield from _file_lines(file, file.row_groups_left or ())
    ruled_out = sum(file.row_groups_left is None for file in files)
    empty = sum(file.row_groups_left is not None and not file.row_groups_visited for file in files)
    counts = (
        (ruled_out, "ruled out as a whole"),
        (empty, "no row group left"),
        (len(files) - len(shown) - ruled_out - empty, "read as well"),
    )
    lines = [f"{counted(count, 'file')} {what}" for count, what in counts if count]
    yield from ["", *lines] if lines else []


def _file_lines(file: FileTrace, left: Sequence[int]) -> Iterator[str]:
    yield ""
    left_out = sorted(set(range(file.row_groups)) - set(left))
    yield f"{file.file}: {counted(file.row_groups, 'row group')}"
    if left_out:
        yield f"  left out by statistics, bloom filters or distinct sets: {_numbers(left_out)}"
    if file.row_groups_visited < len(left):
        yield f"  not reached: {_numbers(left[file.row_groups_visited :])}"
    for group in file.shown:
        yield from _group_lines(group)
    more = file.row_groups_visited - len(file.shown)
    if more:
        yield f"  … and {counted(more, 'more row group')}"


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:MOST_NUMBERS]))
    more = len(numbers) - MOST_NUMBERS
    return f"{shown} and {more} more" if more > 0 else shown


def _group_lines(group: GroupTrace) -> Iterator[str]:
    left = sum(stop - start for start, stop in group.left)
    yield f"  row group {group.row_group}: {left:,} of {group.rows:,} rows left by pages, {group.matched:,} matched"
    names = [f"{column.column}{' ?' if column.in_condition else ''}" for column in group.columns]
    width = max(map(len, names), default=0)
    for name, column in zip(names, group.columns, strict=True):
        kind = "page" if column.pages_known else "chunk"
        read = [page.bytes for page in column.pages if page.read]
        yield f"    {name:<{width}}  {len(read)} of {counted(len(column.pages), kind)}, {sum(read):,} bytes"


__all__ = ["percent", "print_explanation"]
