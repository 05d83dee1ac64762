"""A report as one self-contained HTML page, written by `pqassay.report.renderers.page`.

Without JavaScript the page is complete; only its filters are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO

from pqassay.report import rules as rule_help
from pqassay.report.json_form import encodable
from pqassay.report.model import Report
from pqassay.report.renderers.page import part, write_page
from pqassay.report.rules import obligation
from pqassay.report.run import text as run_text
from pqassay.report.run.model import RunReport
from pqassay.report.run.outcomes import SEVERITIES
from pqassay.report.run.view import NEVER_SCORED
from pqassay.report.view import view
from pqassay.report.view_model import Item, Tone, View
from pqassay_spec.grammar import hexdump
from pqassay_spec.rules.catalogue import rules

QUIET_SHOWN = 1000
"""The number of conformant files that are named; the others are counted."""

OPEN_BELOW = 4
"""The number of findings up to which all are shown open."""


def render(report: Report | RunReport, stream: TextIO, site: str | None = None) -> None:
    """Write the page.

    Args:
        report: The report.
        stream: The output stream.
        site: Address of the site with the rules' pages.
    """
    shown = view(report)
    write_page(
        "report.html.j2",
        stream,
        part("report.css"),
        part("report.js"),
        view=shown,
        is_open=len(shown.items) < OPEN_BELOW,
        choices=_choices(shown),
        rules=_rules(shown, site),
        quiet_shown=QUIET_SHOWN,
        dump=_dump,
        never_scored=NEVER_SCORED,
        query=run_text.shown,
        tones=LIE_TONES,
    )


LIE_TONES: dict[str, Tone] = {
    "rows lost": "bad",
    "wrong rows": "bad",
    "crashed": "unknown",
    "refused": "warn",
}
"""The colors of a reader's answers to a well-formed lie."""


def _dump(rows: list[str]) -> list[tuple[list[tuple[str, bool]], str]]:
    """The rows of a hexdump, each split into marked and unmarked pieces, and the text after its marks."""
    pieces: list[tuple[list[tuple[str, bool]], str]] = []
    for number, row in enumerate(rows):
        if hexdump.is_line_of_marks(row):
            continue
        following = rows[number + 1] if number + 1 < len(rows) else ""
        marks = following if hexdump.is_line_of_marks(following) else ""
        pieces.append((hexdump.segments(row, marks), hexdump.note_of(marks)))
    return pieces


def _choices(shown: View) -> list[tuple[str, str, list[str]]]:
    """The filters: name of the attribute, label, and the values that occur."""

    def values(of: Callable[[Item], str]) -> list[str]:
        return sorted({text for item in shown.items if (text := of(item))}, key=encodable)

    verdicts = values(lambda item: item.verdict)
    families = values(lambda item: item.family)
    if shown.kind == "run":
        seen = values(lambda item: item.observed)
        choices = [
            ("observed", "Observed", sorted(seen, key=_gravity)),
            ("verdict", "Outcome", verdicts),
            ("family", "Family", families),
            ("part", "Operation", values(lambda item: item.part)),
        ]
    else:
        choices = [
            ("verdict", "Verdict", verdicts),
            ("family", "Rule family", families),
            ("could", "Could", values(lambda item: item.could)),
            ("observed", "Observed", values(lambda item: item.observed)),
        ]
    return [choice for choice in choices if len(choice[2]) > 1]


def _gravity(severity: str) -> int:
    """The rank of a severity, given in words."""
    words = list(SEVERITIES.values())
    return words.index(severity) if severity in words else len(words)


def _rules(found: View, site: str | None) -> list[dict[str, Any]]:
    """The help on each rule that occurs."""
    ids = sorted({item.rule for item in found.items if item.rule in rules()})
    return [
        {
            "id": rule,
            "sentence": rules()[rule].sentence,
            "rows": obligation(rules()[rule]),
            "address": rule_help.address(rules()[rule], site),
            "is_page": site is not None,
        }
        for rule in ids
    ]
