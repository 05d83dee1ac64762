"""One line of a report for people: words with their styles, and nothing in them that a terminal would obey."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from pqassay_spec.base.terminal import printable


def write_line(console: Console, *parts: tuple[str, str] | str) -> None:
    """Print parts, each a text or a text with its style."""
    text = Text()
    for part in parts:
        words, style = part if isinstance(part, tuple) else (part, "")
        text.append(printable(words), style)
    console.print(text)
