"""Several results side by side, as text for a terminal or a log.

Implementations are numbered, so the matrix stays narrow even with long names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console

from pqassay.report.renderers.line import Part, plain_console, write_line
from pqassay.report.side_by_side.model import Row, SideBySide
from pqassay_spec.base.terminal import printable

LIES = "well-formed lies, which are never scored"

STYLES: dict[str, str] = {
    "W": "bold red",
    "C": "bold magenta",
    "R": "bold yellow",
    "w": "red",
    "c": "magenta",
    "a": "yellow",
    "x": "red",
    "✓": "green",
    "(L)": "red",
    "(W)": "red",
    "(C)": "magenta",
    "(R)": "yellow",
}
"""Colors of marks on a terminal."""

GAP = "  "


def render(shown: SideBySide, stream: TextIO) -> None:
    """Write the text."""
    render_scores(shown, stream)
    console = plain_console(stream)
    console.print()
    _matrix(console, shown)
    for line in _legend(shown):
        write_line(console, line)
    for remark in shown.remarks:
        write_line(console, f"note: {remark}")


def render_scores(shown: SideBySide, stream: TextIO) -> None:
    """Write the passed cases of each implementation: in total with the most severe marks, and by family and operation."""
    console = plain_console(stream)
    _table(console, overview(shown))
    console.print()
    _table(console, scores(shown))


def overview(shown: SideBySide) -> list[list[str]]:
    """A header, and a row for each implementation: passed cases, counts by mark, and unasked cases."""
    columns = shown.counted
    header = [
        "",
        "implementation",
        "cases",
        "passed",
        "past foreign bytes",
        "questions",
        *(column.mark for column in columns),
        "not asked",
    ]
    rows = [
        [
            str(place + 1),
            each.label,
            f"{each.cases:,}",
            f"{each.passed:,} of {each.asked:,}",
            f"{each.past_foreign:,}",
            f"{each.questions:,}",
            *(f"{column.counts[place]:,}" for column in columns),
            f"{each.not_asked:,}",
        ]
        for place, each in enumerate(shown.implementations)
    ]
    return [header, *rows]


def scores(shown: SideBySide) -> list[list[str]]:
    """Passed and asked cases by family and operation, with a column for each implementation under its number."""
    return [
        ["family", "operation", *_numbers(shown)],
        *(
            [family, operation, *shown.passed_of_asked(family, operation)]
            for family, operation in shown.questions
        ),
    ]


def _numbers(shown: SideBySide) -> list[str]:
    return [str(number) for number in range(1, len(shown.implementations) + 1)]


def _width(rows: Sequence[Sequence[str]], column: int) -> int:
    return max(cell_len(printable(row[column])) for row in rows)


def _padded(text: str, width: int, *, to_the_right: bool = False) -> str:
    """A text padded to the width of its column, in terminal cells."""
    text = printable(text)
    pad = " " * (width - cell_len(text))
    return pad + text if to_the_right else text + pad


def _table(console: Console, rows: list[list[str]]) -> None:
    """Write rows below a header; columns after the second are aligned to the right."""
    widths = [_width(rows, column) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [
            _padded(cell, width, to_the_right=place > 1)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        write_line(console, (GAP.join(cells).rstrip(), "" if number else "dim"))


def _matrix(console: Console, shown: SideBySide) -> None:
    if not shown.rows:
        write_line(console, "every implementation answered everything correctly")
        return
    numbers = _numbers(shown)
    head = "not right everywhere"
    names = max(len(head), *(2 + cell_len(printable(_name(row))) for row in shown.rows))
    width = max(len(mark) for mark in [*numbers, *(cell.mark for row in shown.rows for cell in row.cells)])
    heads = GAP.join(_padded(number, width) for number in numbers)
    write_line(console, (f"{_padded(head, names)}{GAP}{heads}".rstrip(), "dim"))
    for (family, scored), rows in groupby(shown.rows, key=lambda row: (row.family, row.scored)):
        write_line(console, (family if scored else f"{family}: {LIES}", "bold"))
        for row in rows:
            parts: list[Part] = [_padded(f"  {_name(row)}", names)]
            for cell in row.cells:
                parts += [GAP, (_padded(cell.mark, width), STYLES.get(cell.mark, ""))]
            parts[-1] = (row.cells[-1].mark, STYLES.get(row.cells[-1].mark, ""))
            write_line(console, *parts)
    console.print()


def _legend(shown: SideBySide) -> Iterator[str]:
    """Yield the meanings of the marks: one line for scored marks, one for marks of lies."""
    scored, lies = ("; ".join(f"{mark} {meaning}" for mark, meaning in part.items()) for part in shown.legend)
    if scored:
        yield scored
    if lies:
        yield f"{LIES}: {lies}"


def _name(row: Row) -> str:
    return f"{row.case} {row.operation}"
