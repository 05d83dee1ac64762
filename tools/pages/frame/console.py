"""Colours in what commands print, as a terminal would show them, and what the button that copies a block leaves out."""

from __future__ import annotations

import re

OUTPUT = re.compile(r'<span class="go">(?P<text>[^<]*)</span>')
"""A line of output, as the highlighter marks it."""

PAINTED = re.compile(
    r"(?P<fail>\bFAIL\b|(?<!, 0 )\bnonconformant\b|\buntrue\b(?=,|$| \()|\b\d+ lost\b|\b\d+ wrong\b)"
    r"|(?P<marks>(?:\^\^ ?)+)"
    r"|(?P<warn>\bWARN\b|\bPOLICY\b|\bconformant\b(?= where checked| \())"
    r"|(?P<good>\bconformant\b|\bright\b$)"
    r"|(?P<quiet>^ {4}(?:found|column|at|expected|actual|could|observed|known|also|likelier|first|remedy|basis|more|proof|try it)\b)"
    r"|(?P<gap>(?<=  ) {4,})"
)
"""What has a colour: the verdicts of a report, what engines lose, marks below bytes, and the names of facts; and wide gaps, which a phone closes."""


SCROLLED = re.compile(r"(<pre><span></span><code)>")
"""A listing, which may be wider than the page, and then has to be scrolled by keyboard, too."""


def painted(page: str) -> str:
    """The HTML of a page in which output of commands has colours, and listings can be scrolled with the keyboard."""

    def line(found: re.Match[str]) -> str:
        return f'<span class="go">{PAINTED.sub(paint, found["text"])}</span>'

    return SCROLLED.sub(r'\g<1> tabindex="0">', OUTPUT.sub(line, page))


def paint(found: re.Match[str]) -> str:
    """A word with the class of its colour."""
    return f'<span class="out-{found.lastgroup}">{found[0]}</span>'
