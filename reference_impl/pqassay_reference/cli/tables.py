"""Tables as text: aligned and drawn on a terminal, plain columns in a pipe for other programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from unicodedata import east_asian_width

import typer

from pqassay_spec.base.terminal import printable


@dataclass(frozen=True)
class PrintedTable:
    """A table.

    Attributes:
        title: The line above it; may be empty.
        headings: The names of its columns.
        rows: Its cells, row by row; numbers stay as they are.
        right: Columns that are aligned to the right.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    right: frozenset[int] = frozenset()


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "row group"), counted(2, "byte"), counted(0, "column index")
    ('1 row group', '2 bytes', '0 column indexes')
    """
    plural = f"{noun}es" if noun.endswith("x") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def show(table: PrintedTable) -> None:
    """Print a table on stdout."""
    if sys.stdout.isatty():
        _draw(table)
        return
    if table.title:
        typer.echo(printable(table.title))
    for line in plain_lines(table):
        typer.echo(line)


def plain_lines(table: PrintedTable) -> list[str]:
    """The lines of a table, with two or more blanks between columns.

    >>> plain_lines(PrintedTable("", ("name", "n"), [("ab", "7"), ("日", "12")], right=frozenset((1,))))
    ['name   n', 'ab     7', '日    12']
    """
    return list(aligned_lines((table.headings, *table.rows), len(table.rows) + 1, table.right))


def aligned_lines(
    rows: Iterable[Sequence[object]], measured: int, right: frozenset[int] = frozenset()
) -> Iterator[str]:
    """Yield the lines of any number of rows, including the headings. A wide cell pushes the rest of its line to the right.

    Args:
        rows: The cells, row by row.
        measured: How many of the first rows set the width of the columns.
        right: Columns that are aligned to the right.
    """
    cells = ([printable(str(cell)) for cell in row] for row in rows)
    first = list(islice(cells, measured))
    widths = [max(map(_width, column)) for column in zip(*first, strict=True)]
    for row in chain(first, cells):
        padded: list[str] = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - _width(cell))
            padded.append(blanks + cell if index in right else cell + blanks)
        yield "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """The number of terminal columns that a text takes."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _draw(table: PrintedTable) -> None:
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(title=Text(printable(table.title)) if table.title else None, title_justify="left")
    for index, heading in enumerate(table.headings):
        drawn.add_column(Text(printable(heading)), justify="right" if index in table.right else "left")
    for row in table.rows:
        drawn.add_row(*(Text(printable(str(cell))) for cell in row))
    Console().print(drawn)
