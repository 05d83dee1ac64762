"""Several results side by side as one page of HTML that needs nothing else.

There is no script on it: families are chosen by radio buttons and a style sheet.  Marks are letters, so that readers do not need to see
their colors.
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
"""Classes of marks in the style sheet: what is about valid files is loud, what is never scored has a dashed border."""


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
    """The classes of a mark."""
    return MARK_CLASSES.get(mark, "quiet" if mark in QUIET_MARKS else "bad")


def _choosing(count: int) -> list[str]:
    """Rules that hide all families but the chosen one; they name families by number alone."""
    return [
        f"#family-{number}:checked ~ .families > :not(.family-{number}) {{ display: none; }}"
        for number in range(1, count + 1)
    ]


def _parts(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of a family that are scored, and those of lies."""
    return [row for row in rows if row.scored], [row for row in rows if not row.scored]


def _told(cell: Cell, label: str) -> str:
    """The tooltip of a cell."""
    lie = " (not scored)" if cell.mark in EXPOSURE_MARKS.values() else ""
    detail = f": {cell.detail}" if cell.detail and cell.detail != cell.meaning else ""
    return f"{label}: {cell.meaning}{lie}{detail}"
