"""A comparison of two reports, as text for a terminal or a log, and as Markdown for the page of a CI job."""

from __future__ import annotations

from typing import TextIO

from pqassay.report.comparison import CHANGES, ComparedEntry, ReportComparison
from pqassay.report.renderers.line import plain_console, write_line
from pqassay.report.renderers.markdown import code, escaped

COLOURS = {
    "broken": "bold red",
    "added": "red",
    "changed": "yellow",
    "fixed": "bold green",
    "not looked at": "magenta",
}

SHOWN = 50
"""The number of entries of one kind, or causes of results, that the text lists; the others are counted."""

CASES_SHOWN = 8
"""The number of further cases of a cause that are listed."""

SHOWN_AS_MARKDOWN = 20
"""The number of entries of one kind that Markdown lists."""


def render(comparison: ReportComparison, stream: TextIO) -> None:
    """Write the text."""
    console = plain_console(stream)
    for change in CHANGES:
        groups = _by_cause([entry for entry in comparison.entries if entry.change == change])
        for entries in groups[:SHOWN]:
            entry = entries[0]
            known = "" if entry.counted or change not in ("broken", "added") else " (does not count)"
            more = f", and {len(entries) - 1:,} more" if len(entries) > 1 else ""
            write_line(
                console, (f"{change:<14}", COLOURS[change]), f"{_name(entry, comparison)}{more}{known}"
            )
            if entry.before:
                write_line(console, ("    before  ", "dim"), entry.before)
            if entry.after:
                write_line(console, ("    after   ", "dim"), entry.after)
            if len(entries) > 1:
                write_line(console, ("    also    ", "dim"), _others(entries))
        if rest := sum(len(entries) for entries in groups[SHOWN:]):
            write_line(console, f"{change:<14}… and {rest:,} more; --format json has all")
    for remark in comparison.remarks:
        write_line(console, f"note: {remark}")
    write_line(console, ", ".join(f"{count:,} {change}" for change, count in comparison.counts.items()))


def _by_cause(entries: list[ComparedEntry]) -> list[list[ComparedEntry]]:
    """Results of runs grouped by cause and change; results without a cause stay alone."""
    grouped: dict[tuple[object, ...], list[ComparedEntry]] = {}
    for number, entry in enumerate(entries):
        fate = (entry.before.partition(":")[0], entry.after.partition(":")[0], entry.counted)
        key = (entry.severity, entry.cause, *fate) if entry.cause else (number,)
        grouped.setdefault(key, []).append(entry)
    return list(grouped.values())


def _others(entries: list[ComparedEntry]) -> str:
    """The cases after the first one."""
    names = [f"{entry.where} ({entry.part})" for entry in entries[1:]]
    rest = f" and {len(names) - CASES_SHOWN:,} more" if len(names) > CASES_SHOWN else ""
    return f"{', '.join(names[:CASES_SHOWN])}{rest}"


def _name(entry: ComparedEntry, comparison: ReportComparison) -> str:
    parts = [entry.rule, entry.where]
    if entry.part is not None:
        parts.append(f"column {entry.part}" if comparison.of == "check" else entry.part)
    return "  ".join(part for part in parts if part)


def render_markdown(comparison: ReportComparison, stream: TextIO) -> None:
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
        groups = _by_cause(entries)
        for same in groups[:SHOWN_AS_MARKDOWN]:
            entry = same[0]
            rule = f"{escaped(entry.rule)} " if entry.rule else ""
            part = f", {code(entry.part)}" if entry.part is not None else ""
            said = entry.after or entry.before
            also = f" (also {escaped(_others(same))})" if len(same) > 1 else ""
            stream.write(f"- {rule}{code(entry.where)}{part}: {escaped(said)}{also}\n")
        if rest := sum(len(same) for same in groups[SHOWN_AS_MARKDOWN:]):
            stream.write(f"- … and {rest:,} more\n")
        stream.write("\n")
    stream.writelines(f"- note: {escaped(remark)}\n" for remark in comparison.remarks)
