"""Several results side by side as one self-contained HTML page.

It has no script: radio buttons and a style sheet select families. Marks are letters, so that readers do not need to see their colors.
"""

from __future__ import annotations

from typing import TextIO

from pqassay.report.renderers.page import part, write_page
from pqassay.report.side_by_side.model import EXPOSURE_MARKS, QUIET_MARKS, Cell, Row, SideBySide
from pqassay.report.side_by_side.text import LIES

MARK_CLASSES: dict[str, str] = {
    "W": "bad loud",
    "C": "unknown loud",
    "R": "warn loud",
    "w": "bad",
    "c": "unknown",
    "a": "warn",
    "x": "bad",
    "f": "bad",
    "p": "unknown",
    "n": "warn",
    "✓": "right",
    "(L)": "lie bad",
    "(W)": "lie bad",
    "(C)": "lie unknown",
    "(R)": "lie warn",
    "(✓)": "lie right",
    "(u)": "lie",
}
"""CSS classes of marks: marks about valid files are prominent, unscored marks have a dashed border."""


def render(shown: SideBySide, stream: TextIO) -> None:
    """Write the page."""
    families = shown.families
    write_page(
        "side_by_side.html.j2",
        stream,
        "\n".join([part("report.css"), part("side_by_side.css"), *_choosing(len(families))]),
        shown=shown,
        families=[
            (family, *_parts([row for row in shown.rows if row.family == family])) for family in families
        ],
        lies=LIES,
        class_of=class_of,
        told=_told,
    )


def class_of(mark: str) -> str:
    """The CSS classes of a mark."""
    return MARK_CLASSES.get(mark, "quiet" if mark in QUIET_MARKS else "bad")


def _choosing(count: int) -> list[str]:
    """CSS rules that hide all families except the chosen one; families are named only by number."""
    return [
        f"#family-{number}:checked ~ .families > :not(.family-{number}) {{ display: none; }}"
        for number in range(1, count + 1)
    ]


def _parts(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """The scored rows of a family, and its rows about lies."""
    return [row for row in rows if row.scored], [row for row in rows if not row.scored]


def _told(cell: Cell, label: str) -> str:
    """The tooltip of a cell."""
    lie = " (not scored)" if cell.mark in EXPOSURE_MARKS.values() else ""
    detail = f": {cell.detail}" if cell.detail and cell.detail != cell.meaning else ""
    return f"{label}: {cell.meaning}{lie}{detail}"
