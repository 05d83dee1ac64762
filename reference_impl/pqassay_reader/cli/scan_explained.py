"""The waterfall of a scan and the pages that it read, as text: ``pqassay scan --explain``."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import typer

from pqassay_reader.query.explained.text import ColumnTrace, FileTrace, GroupTrace, PageTrace, Trace
from pqassay_reader.query.explained.waterfall import Step, waterfall
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import Scan
from pqassay_reference.cli.tables import Table, counted, show
from pqassay_reference.rewrite.extract import NO_KEY
from pqassay_spec.base.terminal import printable
from pqassay_spec.parquet.page_search import Rows

WIDTH = 60
"""Characters of the bar that stands for the rows of a row group."""

WIDE = 150
"""Columns of a terminal in which the table has room for what each technique does; in fewer, that is listed below."""

MOST_PAGES = 6
"""Pages of a column whose bounds are listed."""

MOST_NUMBERS = 12
"""Row groups that are listed by their numbers."""

FULL, PARTLY, NONE = "█", "▒", "░"

KEY = f"{FULL} read, or left   {PARTLY} in part   {NONE} neither   a blank ends a page   ? column of the condition"


def print_explanation(scan: Scan) -> None:
    """Print the waterfall, what was fetched and what took part, and a picture of the pages of each row group."""
    steps = waterfall(scan)
    is_narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE
    show(_table(steps, with_titles=not is_narrow))
    if is_narrow:
        for step in steps:
            typer.echo(f"{step.name}: {step.title}")
    for line in _summary(scan):
        typer.echo(printable(line))
    trace = scan.trace or Trace()
    if any(file.groups for file in trace.files):
        typer.echo(f"\n{KEY}")
    for line in _files_lines(trace.files):
        typer.echo(printable(line))


# ------------------------------------------------------------------------------------------------------- waterfall


def _table(steps: Sequence[Step], *, with_titles: bool) -> Table:
    headings = ["left after", "files", "row groups", "rows", "pages", "bytes", "requests", "saved", "share"]
    rows = [_cells(step) for step in steps]
    if with_titles:
        headings.append("what it does")
        rows = [[*row, step.title] for row, step in zip(rows, steps, strict=True)]
    return Table("", headings, rows, right=frozenset(range(1, 9)))


def _cells(step: Step) -> list[str]:
    left = step.left
    name = step.name if step.is_on else f"{step.name} (off)"
    pages = "?" if left.pages is None else f"{left.pages:,}"
    numbers = [f"{left.files:,}", f"{left.row_groups:,}", f"{left.rows:,}", pages, f"{left.length:,}"]
    saved = "" if not step.saved else f"{step.saved:,}"
    return [name, *numbers, f"{left.requests:,}", saved, percent(step)]


def percent(step: Step) -> str:
    """What a step saved of what was left before it.

    >>> from pqassay_reader.query.explained.counters import Left
    >>> percent(Step("late", "", True, Left(length=1), before=3))
    '66.7 %'
    """
    if not step.share:
        return ""
    # 100 % is said of nothing being left only.
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
    """The files of which row groups are shown, then how many others there are."""
    shown = [file for file in files if file.groups]
    for file in shown:
        yield from _file_lines(file, file.left or ())
    ruled_out = sum(file.left is None for file in files)
    empty = sum(file.left is not None and not file.visited for file in files)
    more = len(files) - len(shown) - ruled_out - empty
    counts = (
        (ruled_out, "ruled out as a whole"),
        (empty, "without a row group that is left"),
        (more, "read as well"),
    )
    lines = [f"{counted(count, 'file')} {what}" for count, what in counts if count]
    yield from ["", *lines] if lines else []


def _file_lines(file: FileTrace, left: Sequence[int]) -> Iterator[str]:
    yield ""
    left_out = sorted(set(range(file.row_groups)) - set(left))
    yield f"{file.name}: {counted(file.row_groups, 'row group')}"
    if left_out:
        yield f"  left out by statistics, bloom filters or distinct sets: {_numbers(left_out)}"
    if file.visited < len(left):
        yield f"  not reached: {_numbers(left[file.visited :])}"
    for group in file.groups:
        yield from _group_lines(group)
    more = file.visited - len(file.groups)
    if more:
        yield f"  … and {counted(more, 'more row group')}"


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:MOST_NUMBERS]))
    more = len(numbers) - MOST_NUMBERS
    return f"{shown} and {more} more" if more > 0 else shown


def _group_lines(group: GroupTrace) -> Iterator[str]:
    yield f"  row group {group.row_group}: {group.rows_left:,} of {group.row_count:,} rows left by pages, {group.matched:,} matched"
    names = {column.name: f"{column.name}{' ?' if column.is_asked else ''}" for column in group.columns}
    width = max(map(len, [*names.values(), "rows left"]))
    yield f"    {'rows left':<{width}}  {rows_bar(group.left, group.row_count)}"
    for column in group.columns:
        bar = pages_bar(column.pages, group.row_count)
        kind = "page" if column.has_pages else "chunk"
        read = f"{column.pages_read} of {counted(len(column.pages), kind)}, {column.length_read:,} bytes"
        yield f"    {names[column.name]:<{width}}  {bar}  {read}"
        yield from _bounds_lines(column, width)


def _bounds_lines(column: ColumnTrace, width: int) -> Iterator[str]:
    """The bounds of the pages: of all of them where they are few, else of the first that were read."""
    known = [page for page in column.pages if page.bounds is not None]
    shown = known if len(known) <= MOST_PAGES else [page for page in known if page.is_read][:MOST_PAGES]
    for page in shown:
        verdict = "read" if page.is_read else "skipped"
        rows = f"{page.row:,} to {page.row + page.row_count - 1:,}"
        yield f"    {'':<{width}}  rows {rows}: {bounds_text(page)} ({verdict})"
    if len(shown) < len(known):
        yield f"    {'':<{width}}  … and {counted(len(known) - len(shown), 'more page')}"


def bounds_text(page: PageTrace) -> str:
    """The bounds of a page in words."""
    return " to ".join(page.bounds) if page.bounds else "nulls only"


def rows_bar(left: Rows, row_count: int) -> str:
    """Ranges of rows as a bar.

    >>> rows_bar([range(0, 30), range(90, 100)], 100)[::6]
    '███░░░░░░█'
    """
    cells = [0] * min(WIDTH, row_count)
    for part in left:
        _fill(cells, part.start, part.stop, row_count)
    return "".join(map(_shade, cells, _room(len(cells), row_count)))


def pages_bar(pages: Sequence[PageTrace], row_count: int) -> str:
    """Pages as a bar: what was read of each part of the rows. Where pages are wide enough, a blank ends each.

    >>> pages_bar([PageTrace(0, 50, 9, True, None), PageTrace(50, 50, 9, False, None)], 100)[25:35]
    '████ ░░░░░'
    """
    cells = [0] * min(WIDTH, row_count)
    for page in pages:
        if page.is_read:
            _fill(cells, page.row, page.row + page.row_count, row_count)
    shades = list(map(_shade, cells, _room(len(cells), row_count)))
    places = [
        (_cell(page.row, len(cells), row_count), _cell(page.row + page.row_count, len(cells), row_count))
        for page in pages
    ]
    if all(end - start > 1 for start, end in places):
        for _, end in places[:-1]:
            shades[end - 1] = " "
    return "".join(shades)


def _cell(row: int, cells: int, row_count: int) -> int:
    return row * cells // row_count


def _room(cells: int, row_count: int) -> Iterable[int]:
    """The rows that each cell stands for."""
    if not cells:
        return ()
    edges = [-(-number * row_count // cells) for number in range(cells + 1)]
    return (stop - start for start, stop in pairwise(edges))


def _fill(cells: list[int], start: int, stop: int, row_count: int) -> None:
    """Add the rows of a range to the cells that stand for them."""
    count = len(cells)
    for number in range(_cell(start, count, row_count), _cell(stop - 1, count, row_count) + 1):
        first, last = -(-number * row_count // count), -(-(number + 1) * row_count // count)
        cells[number] += min(stop, last) - max(start, first)


def _shade(filled: int, room: int) -> str:
    return NONE if not filled else FULL if filled >= room else PARTLY


__all__ = ["bounds_text", "pages_bar", "percent", "print_explanation", "rows_bar"]
