"""Colors in command output, as on a terminal, and the parts that the copy button omits."""

from __future__ import annotations

import re

OUTPUT = re.compile(r'<span class="go">(?P<text>[^<]*)</span>')
"""A pattern for a line of output in highlighted HTML."""

PAINTED = re.compile(
    r"(?P<fail>\bFAIL\b|(?<!, 0 )\bnonconformant\b|\buntrue\b(?=,|$| \()|\b\d+ lost\b|\b\d+ wrong\b)"
    r"|(?P<marks>(?:\^\^ ?)+)"
    r"|(?P<warn>\bWARN\b|\bPOLICY\b|\bconformant\b(?= where checked| \())"
    r"|(?P<good>\bconformant\b|\bright\b$)"
    r"|(?P<quiet>^ {4}(?:found|column|at|expected|actual|could|observed|known|also|likelier|first|remedy|basis|more|proof|try it)\b)"
    r"|(?P<gap>(?<=  ) {4,})"
)
"""A pattern for colored words (verdicts, losses of engines, marks below bytes, names of facts), and for wide gaps, which phones close."""


SCROLLED = re.compile(r"(<pre><span></span><code)>")
"""A pattern for a listing that may be wider than the page, and must then be scrollable by keyboard."""


def painted(page: str) -> str:
    """The HTML of a page with colored command output, and with listings that the keyboard can scroll."""

    def line(match: re.Match[str]) -> str:
        return f'<span class="go">{PAINTED.sub(paint, match["text"])}</span>'

    return SCROLLED.sub(r'\g<1> tabindex="0">', OUTPUT.sub(line, page))


def paint(match: re.Match[str]) -> str:
    """A matched word with the CSS class of its color."""
    return f'<span class="out-{match.lastgroup}">{match[0]}</span>'
