"""A place where a rule is broken, as a check reports it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """One place where a rule is broken; see `pqassay.report.model.Position` for the fields.

    ``message`` says in one sentence what is wrong, with names and values; ``remedy`` is a command that mends it,
    where the family's own (`remedies_of`) is not the best one.
    ``offset`` may be left out for a field below ``footer``: it is looked up for those places that are shown.
    ``more`` counts further places, so that a check need not yield thousands of them.
    """

    message: str
    field: str
    offset: int | None = None
    length: int = 0
    expected: str = ""
    actual: str = ""
    column: str | None = None
    row_group: int | None = None
    remedy: str = ""
    more: int = 0
