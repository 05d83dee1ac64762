"""One line of a report for people: words with styles, without control characters for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console

LABEL = 10
"""The width of labels before values."""

Part = tuple[str, str] | str
"""A text, with or without a style."""


def plain_console(stream: TextIO) -> Console:
    """A console without markup and line breaks, since names and values are untrusted."""
    from rich.console import Console  # noqa: PLC0415 - the HTML of a report, in a browser too, needs none

    return Console(file=stream, highlight=False, markup=False, soft_wrap=True, emoji=False)


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number with the noun that it counts.

    >>> counted(1, "row"), counted(1200, "entry", "entries")
    ('1 row', '1,200 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def write_line(console: Console, *parts: Part) -> None:
    """Print parts as a line, each a text or a text with a style."""
    from rich.text import Text  # noqa: PLC0415 - as above

    text = Text()
    for part in parts:
        words, style = part if isinstance(part, tuple) else (part, "")
        text.append(printable(words), style)
    console.print(text)


def labelled(label: str, *parts: Part) -> Sequence[Part]:
    """The parts of a line with a label and a value."""
    return (f"    {label:<{LABEL}}", "dim"), *parts


def write_row(console: Console, label: str, *parts: Part) -> None:
    """Print a value after its label."""
    write_line(console, *labelled(label, *parts))
