"""A report as one page of HTML that needs nothing else: no network, no fonts, no files beside it.

A policy in the page forbids every request and every script but its own.  Without JavaScript the page is complete; only its
filters are missing.  What comes out of files is escaped, first what is not printable, then what would be markup.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, TextIO

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup

from pqassay.report import rules as rule_help
from pqassay.report.model import Report, encodable
from pqassay.report.rules import obligation
from pqassay.report.run_model import RunReport
from pqassay.report.view import Item, View, view
from pqassay_spec.base.terminal import printable
from pqassay_spec.grammar import hexdump
from pqassay_spec.rules.catalogue import rules

QUIET_SHOWN = 1000
"""Conformant files that are named; further ones are counted."""

OPEN_BELOW = 4
"""Findings up to which they are shown open."""


def render(report: Report | RunReport, stream: TextIO, site: str | None = None) -> None:
    """Write the page.

    Args:
        report: The report.
        stream: Where to.
        site: Address of the site with the rules' pages.
    """
    shown = view(report)
    style, script = _part("report.css"), _part("report.js")
    pieces = _template().generate(
        view=shown,
        is_open=len(shown.items) < OPEN_BELOW,
        choices=_choices(shown),
        rules=_rules(shown, site),
        quiet_shown=QUIET_SHOWN,
        dump=_dump,
        style=Markup(style),  # noqa: S704 - of this package
        script=Markup(script),  # noqa: S704 - of this package
        policy="; ".join(
            (
                "default-src 'none'",
                f"style-src '{_digest(style)}'",
                f"script-src '{_digest(script)}'",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
    )
    stream.writelines(pieces)


def _part(name: str) -> str:
    return (files("pqassay") / "templates" / name).read_text("utf-8")


def _digest(text: str) -> str:
    """Name of a style or a script in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _template() -> Template:
    environment = Environment(
        loader=DictLoader({"page": _part("report.html.j2")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    return environment.get_template("page")


def _finalize(value: Any) -> Any:
    """No control character reaches the page: not even escaped would it be legal."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value)


def _dump(rows: list[str]) -> list[tuple[list[tuple[str, bool]], str]]:
    """The rows of a hexdump, each in pieces with whether they are marked, and what stands behind its marks."""
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

    named = "Verdict" if shown.kind == "check" else "Outcome"
    part = [] if shown.kind == "check" else [("part", "Operation", values(lambda item: item.part))]
    choices = [
        ("verdict", named, values(lambda item: item.verdict)),
        ("family", "Rule family", values(lambda item: item.family)),
        *part,
        ("could", "Could", values(lambda item: item.could)),
        ("observed", "Observed", values(lambda item: item.observed)),
    ]
    return [choice for choice in choices if len(choice[2]) > 1]


def _rules(found: View, site: str | None) -> list[dict[str, Any]]:
    """The help on each rule that is named."""
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
