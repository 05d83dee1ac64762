"""The report of a check as Markdown: a short summary for the page of a CI job, or for a comment.

Findings are grouped by rule, each with its first files. Text from files is escaped, so it cannot be markup or a mention. GitHub refuses
summaries of more than 1 MiB, so longer ones are truncated, and the last line says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from pqassay.report.model import Report
from pqassay.report.rules import newer
from pqassay.report.view import view
from pqassay.report.view_model import Item, View
from pqassay_spec.base.terminal import printable
from pqassay_spec.rules.catalogue import rules

GREATEST_SIZE = 1 << 20
"""The largest size in bytes of the summary of one step on GitHub."""

LEFT_FOR_LAST = 1 << 12
"""The number of bytes that are reserved for the line about omitted parts."""

ITEMS_OF_A_RULE = 3
"""The number of findings of one rule that are shown; the others are counted."""

NAMED = 20
"""The number of listed files that could not be judged, or entries of another list; the others are counted."""

IDS_SHOWN = 12
"""The number of rules listed for one reason."""

SHOWN_OF_A_FINDING = ("first", "remedy", "repeat")
"""Details of a finding that are shown."""

GREATEST_TEXT = 500
"""The number of characters of one message that are shown."""

MARKS = {"good": "✅", "bad": "❌", "warn": "⚠️", "unknown": "❓", "plain": ""}

_NEEDS_ESCAPE = re.compile(r"[\\`*_{}\[\]#|~<>&$]")


def render(report: Report, stream: TextIO) -> None:
    """Write the Markdown, at most `GREATEST_SIZE` bytes."""
    shown = view(report)
    size = 0
    blocks = list(_blocks(shown))
    for number, block in enumerate(blocks):
        text = f"{block}\n\n" if number < len(blocks) - 1 else f"{block}\n"
        size += len(text.encode())
        if size > GREATEST_SIZE - LEFT_FOR_LAST:
            left = len(blocks) - number
            stream.write(
                f"**{left:,} of {len(blocks):,} parts are missing here**, since a summary may have 1 MiB at most; "
                "`--format json` or `--format html` has everything.\n"
            )
            return
        stream.write(text)


def code(text: str) -> str:
    r"""Untrusted text as a code span, free of markup, links and mentions.

    >>> code("a|b"), code("a`b")
    ('`a\\|b`', '`` a`b ``')
    """
    shown = printable(text)[:GREATEST_TEXT].replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or not shown.strip() else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def escaped(text: str) -> str:
    r"""Untrusted text with markup, HTML, links and mentions escaped.

    >>> escaped("<b> @someone *x*")
    '\\<b\\> &#64;someone \\*x\\*'
    """
    shown = printable(text)
    if len(shown) > GREATEST_TEXT:
        shown = f"{shown[:GREATEST_TEXT]}…"
    shown = _NEEDS_ESCAPE.sub(lambda match: f"\\{match[0]}", shown)
    return shown.replace("@", "&#64;").replace("://", "&#58;//").replace("www.", "www&#46;")


def _blocks(shown: View) -> Iterator[str]:
    """Parts of the summary, the most important first, separated by empty lines."""
    yield f"## {MARKS[shown.tone]} {escaped(shown.title)}: {escaped(shown.outcome)}".replace("  ", " ")
    yield table(
        [tuple(escaped(tile.label) for tile in shown.tiles), tuple(f"{tile.count:,}" for tile in shown.tiles)]
    )
    if shown.not_failing:
        yield f"**{escaped(shown.not_failing)}**"
    if shown.alarms:
        yield "### Stale lists of known findings"
        yield _list([escaped(alarm) for alarm in shown.alarms], "entries")
    if lost := [group for group in shown.groups if group.tone == "unknown"]:
        yield "### Not judged"
        yield _list([f"{code(group.name)}: {escaped('; '.join(group.remarks))}" for group in lost], "files")
    if partly := [group for group in shown.groups if group.outcome == "conformant where checked"]:
        yield "### Conformant where checked"
        yield _list([f"{code(group.name)}: {escaped('; '.join(group.remarks))}" for group in partly], "files")
    yield from _rules(shown)
    if known := [item for item in shown.items if item.known]:
        yield f"{len(known):,} known, which do not count."
    yield from _rest(shown)


def _rules(shown: View) -> Iterator[str]:
    rows = shown.by_rule()
    if not rows:
        return
    yield "### Findings"
    yield table(
        [
            ("", "rule", "verdict", "could", "observed", "findings", f"{shown.place}s"),
            *(
                (
                    MARKS[row.tone],
                    escaped(row.rule),
                    row.verdict,
                    escaped(row.could),
                    escaped(row.observed),
                    f"{len(row.items):,}",
                    f"{row.places:,}",
                )
                for row in rows
            ),
        ]
    )
    for row in rows:
        title = f"#### {escaped(row.rule)} {row.verdict}"
        lines = [title if row.effects else f"{title}: {escaped(row.could)}"]
        if row.sentence:
            lines += ["", row.sentence]
            rule = rules()[row.rule]
            reading = next((text for item in row.items if (text := rule.reading_for(item.message))), "")
            lines += ["", f"*Reading:* {reading}"] if reading else []
            lines += ["", f"*Newer text:* {newer(rule)}"] if rule.newer else []
        for label, value in row.effects:
            lines += ["", f"**{label}** {escaped(value)}"]
        lines.append("")
        lines += [_item(item) for item in row.items[:ITEMS_OF_A_RULE]]
        if len(row.items) > ITEMS_OF_A_RULE:
            rest = len(row.items) - ITEMS_OF_A_RULE
            lines.append(
                f"- … and {rest:,} further finding{'' if rest == 1 else 's'} in {row.places:,} {shown.place}s altogether"
            )
        yield "\n".join(lines)


def _item(item: Item) -> str:
    """One item; multi-line members follow on one line each."""
    column = f", {code(item.part)}" if item.part else ""
    times = f" ({item.count:,} times)" if item.count > 1 else ""
    mark = "not failing, " if item.not_failing else ""
    lines = [f"- {mark}{code(item.where)}{column}: {escaped(item.message)}{times}"]
    lines += [f"    - {label}: {code(value)}" for label, value in item.details if label in SHOWN_OF_A_FINDING]
    lines += [f"    - {escaped(name)}: {code('; '.join(rows))}" for name, rows in item.further.items()]
    return "\n".join(lines)


def _rest(shown: View) -> Iterator[str]:
    if shown.unchecked:
        yield "### Not checked"
        yield _list(
            [
                f"{len(entry.rules)} rule{'' if len(entry.rules) == 1 else 's'} on {entry.files:,} files, because "
                f"{escaped(entry.reason)}: {_ids(entry.rules)}"
                for entry in shown.unchecked
            ],
            "reasons",
        )
    if shown.ignored:
        yield _list([f"ignored: {escaped(line)}" for line in shown.ignored], "reasons")
    yield "\n".join(f"- {label}: {escaped(value)}" for label, value in shown.facts)


def _ids(ids: list[str]) -> str:
    more = f" and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
    return ", ".join(escaped(rule) for rule in ids[:IDS_SHOWN]) + more


def _list(lines: list[str], noun: str) -> str:
    shown = [f"- {line}" for line in lines[:NAMED]]
    if len(lines) > NAMED:
        shown.append(f"- … and {len(lines) - NAMED:,} further {noun}")
    return "\n".join(shown)


def table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table from rows of Markdown cells; the first row is the header."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
