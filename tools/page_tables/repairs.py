"""What became of tables that statements were to repair: the lines that `tools/try_repairs.py` stored."""

from __future__ import annotations

from functools import partial

from page_tables import Figures


def stored(figures: Figures, name: str) -> list[str]:
    """The lines of a table."""
    lines: list[str] = figures[name]
    return lines


TABLES = {name: partial(stored, name=name) for name in ("repairs tried", "golden plans")}
"""By the name in the comment."""
