"""A comparison of two reports, as text for a terminal or a log, and as Markdown for the page of a CI job."""

from __future__ import annotations

from typing import TextIO

from pqassay.report.comparison import CHANGES, Comparison, Entry
from pqassay.report.line import plain_console, write_line
from pqassay.report.markdown import code, escaped

COLOURS = {
    "broken": "bold red",
    "added": "red",
    "changed": "yellow",
    "fixed": "bold green",
    "not looked at": "magenta",
}

SHOWN = 50
"""Entries of one kind that the text names; further ones are counted."""

SHOWN_AS_MARKDOWN = 20
"""The same for Markdown."""


def render(comparison: Comparison, stream: TextIO) -> None:
    """Write the text."""
    console = plain_console(stream)
    for change in CHANGES:
        entries = [entry for entry in comparison.entries if entry.change == change]
        for entry in entries[:SHOWN]:
            known = "" if entry.counted or change not in ("broken", "added") else " (does not count)"
            write_line(console, (f"{change:<14}", COLOURS[change]), f"{_name(entry, comparison)}{known}")
            if entry.before:
                write_line(console, ("    before  ", "dim"), entry.before)
            if entry.after:
                write_line(console, ("    after   ", "dim"), entry.after)
        if len(entries) > SHOWN:
            write_line(console, f"{change:<14}… and {len(entries) - SHOWN:,} more; --format json has all")
    for remark in comparison.remarks:
        write_line(console, f"note: {remark}")
    write_line(console, ", ".join(f"{count:,} {change}" for change, count in comparison.counts.items()))


def _name(entry: Entry, comparison: Comparison) -> str:
    parts = [entry.rule, entry.where]
    if entry.part is not None:
        parts.append(f"column {entry.part}" if comparison.of == "check" else entry.part)
    return "  ".join(part for part in parts if part)


def render_markdown(comparison: Comparison, stream: TextIO) -> None:
    """Write the Markdown."""
    verdict = "❌ worse than before" if comparison.exit_code else "✅ nothing got worse"
    names = [change for change in CHANGES if comparison.counts[change]]
    stream.write(f"## pqassay {comparison.of}, compared: {verdict}\n\n")
    if names:
        stream.write(f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n")
        stream.write(f"| {' | '.join(f'{comparison.counts[name]:,}' for name in names)} |\n\n")
    for change in CHANGES:
        entries = [entry for entry in comparison.entries if entry.change == change]
        if not entries:
            continue
        stream.write(f"### {change.capitalize()}\n\n")
        for entry in entries[:SHOWN_AS_MARKDOWN]:
            rule = f"{escaped(entry.rule)} " if entry.rule else ""
            part = f", {code(entry.part)}" if entry.part is not None else ""
            said = entry.after or entry.before
            stream.write(f"- {rule}{code(entry.where)}{part}: {escaped(said)}\n")
        if len(entries) > SHOWN_AS_MARKDOWN:
            stream.write(f"- … and {len(entries) - SHOWN_AS_MARKDOWN:,} more\n")
        stream.write("\n")
    stream.writelines(f"- note: {escaped(remark)}\n" for remark in comparison.remarks)
