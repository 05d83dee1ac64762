"""What an audit of values says about a file."""

from __future__ import annotations

import pqassay
from pqassay.report.model import FileReport

RULES = (
    "STA-009", "STA-04?", "STA-050", "PIX-037", "PIX-05[0-3]", "PIX-05[679]", "BLM-02[01]", "PQF-075",
)  # fmt: skip


def judged(data: bytes, *, only: tuple[str, ...] = ()) -> FileReport:
    """The report on a file at tier values."""
    (report,) = pqassay.check(data, tier="values", only=only).files
    return report


def rules_of(data: bytes, *, only: tuple[str, ...] = RULES) -> set[str]:
    """The rules that a file breaks; it must have been judged."""
    report = judged(data, only=only)
    assert report.error is None
    return {finding.rule for finding in report.findings}
