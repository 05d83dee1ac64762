"""A report as Markdown: a short summary for the page of a CI job, or for a comment.

Findings are grouped by rule, results of a run by cause, each with its first files or cases.  Text out of files is escaped, so that it can be neither markup
nor a mention.  GitHub refuses summaries of more than 1 MiB: what does not fit is cut, and the last line says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from pqassay.report.model import Report
from pqassay.report.run import text as run_text
from pqassay.report.run.model import Exposure, RunReport
from pqassay.report.run.view import NEVER_SCORED
from pqassay.report.view import view
from pqassay.report.view_model import Group, Item, View
from pqassay_spec.base.terminal import printable
from pqassay_spec.rules.catalogue import rules

GREATEST_SIZE = 1 << 20
"""Bytes that GitHub takes as the summary of one step."""

LEFT_FOR_LAST = 1 << 12
"""Bytes that are kept free for the line that says what is missing."""

ITEMS_OF_A_RULE = 3
"""Findings of one rule that are shown; further ones are counted."""

NAMED = 20
"""Files that could not be judged, or entries of another list, that are named; further ones are counted."""

IDS_SHOWN = 12
"""Rules of one reason that are named."""

SHOWN_OF_A_FINDING = ("first", "remedy", "repeat")
SHOWN_OF_A_RESULT = ("query", "expected", "actual", "repeat", "features")
"""Details of a finding of a check, and of a result of a run, that are shown."""

GREATEST_TEXT = 500
"""Characters of one message that are shown."""

MARKS = {"good": "✅", "bad": "❌", "warn": "⚠️", "unknown": "❓", "plain": ""}

_NEEDS_ESCAPE = re.compile(r"[\\`*_{}\[\]#|~<>&$]")


def render(report: Report | RunReport, stream: TextIO) -> None:
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
    r"""Untrusted text as a code span: nothing in it is markup, a link or a mention.

    >>> code("a|b"), code("a`b")
    ('`a\\\\|b`', '`` a`b ``')
    """
    shown = printable(text)[:GREATEST_TEXT].replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or not shown.strip() else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def escaped(text: str) -> str:
    r"""Untrusted text as text: markup, HTML, links and mentions in it are escaped.

    >>> escaped("<b> @someone *x*")
    '\\\\<b\\\\> &#64;someone \\\\*x\\\\*'
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
        yield "### Lists of known findings that do not hold"
        yield _list([escaped(alarm) for alarm in shown.alarms], "entries")
    yield from _of_check(shown) if shown.kind == "check" else _of_run(shown)
    yield from _rest(shown)


def _of_check(shown: View) -> Iterator[str]:
    if lost := [group for group in shown.groups if group.tone == "unknown"]:
        yield "### Not judged"
        yield _list([f"{code(group.name)}: {escaped('; '.join(group.remarks))}" for group in lost], "files")
    if partly := [group for group in shown.groups if group.outcome == "conformant where checked"]:
        yield "### Conformant where checked"
        yield _list([f"{code(group.name)}: {escaped('; '.join(group.remarks))}" for group in partly], "files")
    yield from _rules(shown)
    if known := [item for item in shown.items if item.known]:
        yield f"{len(known):,} known, which count for nothing."


def _of_run(shown: View) -> Iterator[str]:
    """What was observed by cause, the scores, and what is not scored."""
    new = [group for group in shown.groups if not all(item.known for item in group.items)]
    if new:
        yield "### What was observed"
        rows = [
            (
                f"{MARKS[group.tone]} {group.outcome}",
                escaped(group.name),
                f"{len(group.items):,}",
                f"{len(group.places):,}",
            )
            for group in new
        ]
        yield table([("observed", "cause", "results", "cases"), *rows])
    if shown.scores:
        yield "### Scores"
        yield table([tuple(escaped(cell) for cell in row) for row in shown.scores])
    if shown.features:
        yield "### Features of the files that were not read"
        yield table([tuple(escaped(cell) for cell in row) for row in shown.features])
    if shown.basis:
        yield "### What the verdicts rest on"
        yield _list([escaped(line.strip()) for line in shown.basis], "lines")
    for group in new:
        yield _cause(group)
    if known := [item for item in shown.items if item.known]:
        yield f"{len(known):,} known, which count for nothing."
    if shown.exposure:
        yield "### Well-formed lies"
        yield NEVER_SCORED
        yield table([tuple(escaped(cell) for cell in row) for row in shown.exposure])
        if shown.misled:
            yield _list([_lie(one) for one in shown.misled], "cases")
    if shown.remarks:
        yield "\n".join(f"- {escaped(remark)}" for remark in shown.remarks)


def _cause(group: Group) -> str:
    """One cause with its first results."""
    lines = [f"#### {group.outcome}: {escaped(group.name)}", ""]
    lines += [f"{escaped(remark)}\n" for remark in group.remarks]
    lines += [_item(item) for item in group.items[:ITEMS_OF_A_RULE]]
    rest = [f"{code(item.where)}, {code(item.part)}" for item in group.items[ITEMS_OF_A_RULE:]]
    if rest:
        more = f" and {len(rest) - NAMED:,} more" if len(rest) > NAMED else ""
        lines.append(f"- also {'; '.join(rest[:NAMED])}{more}")
    return "\n".join(lines)


def _lie(one: Exposure) -> str:
    """One well-formed lie that misled the reader."""
    query = f", {code(run_text.shown(one.predicate))}" if one.predicate is not None else ""
    detail = f": {escaped(one.detail)}" if one.detail else ""
    return f"{one.verdict}: {code(one.case)}, {one.misled:,} of {one.asked:,} queries{query}{detail}"


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
            reading = rules()[row.rule].reading
            lines += ["", f"*Reading:* {reading}"] if reading else []
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
    """One item; members that take several lines follow in one line each."""
    column = f", {code(item.part)}" if item.part else ""
    times = f" ({item.count:,} times)" if item.count > 1 else ""
    mark = "not failing, " if item.not_failing else ""
    lines = [f"- {mark}{code(item.where)}{column}: {escaped(item.message)}{times}"]
    if item.of and item.rule:
        lines.append(f"    - rule: {escaped(item.rule)} {item.sentence}".rstrip())
    wanted = SHOWN_OF_A_RESULT if item.of else SHOWN_OF_A_FINDING
    lines += [f"    - {label}: {code(value)}" for label, value in item.details if label in wanted]
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
    """Rows, the first of them the header, whose cells are Markdown already."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
