"""A report for people at a terminal or in a log.

Colour appears on a terminal only; in a pipe the text is plain.  No finding takes more than 25 lines.
"""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console
from rich.text import Text

from pqassay.report import Coverage, FileReport, Finding, Report
from pqassay_spec.catalogue import TIERS, rules
from pqassay_spec.terminal import printable

COLOURS = {
    "FAIL": "bold red",
    "WARN": "yellow",
    "POLICY": "cyan",
    "INFO": "blue",
    "conformant": "bold green",
    "nonconformant": "bold red",
    "errored": "bold magenta",
}
LABEL = 10
"""Width of the labels before values."""


def render(report: Report, stream: TextIO | None = None) -> None:
    """Write the report to a stream, by default stdout."""
    # A file name or a value from a file must not be taken for markup or broken into lines.
    console = Console(file=stream or sys.stdout, highlight=False, markup=False, soft_wrap=True, emoji=False)
    for file in report.files:
        _file(console, file)
    _summary(console, report)


def _line(console: Console, *parts: tuple[str, str] | str) -> None:
    text = Text()
    for part in parts:
        words, style = part if isinstance(part, tuple) else (part, "")
        text.append(printable(words), style)
    console.print(text)


def _file(console: Console, file: FileReport) -> None:
    _line(console, (file.path, "bold"), ": ", (file.outcome, COLOURS[file.outcome]), _counts(file))
    if file.error:
        _line(console, f"  not judged: {file.error}")
    for finding in file.findings:
        console.print()
        _finding(console, finding)
    if file.findings:
        console.print()


def _counts(file: FileReport) -> str:
    verdicts = [finding.verdict for finding in file.findings]
    parts = [f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts)]
    return f" ({', '.join(parts)})" if parts else ""


def _finding(console: Console, finding: Finding) -> None:
    rule = rules().get(finding.rule)
    more = f" ({finding.count} times)" if finding.count > 1 else ""
    _line(
        console,
        (f"  {finding.verdict}", COLOURS[finding.verdict]),
        (f" {finding.rule} ", "bold"),
        f"{finding.effect}{more}",
    )
    if rule is not None:
        _line(console, f"    {rule.sentence}")
    for label, value in _details(finding):
        _line(console, (f"    {label:<{LABEL}}", "dim"), value)
    if rule is not None and rule.reading:
        _line(console, ("    reading   ", "dim"), rule.reading)
    for row in finding.hexdump:
        _line(console, (f"    {row}", "red" if set(row.split("  ")[0]) <= set("^ ") else ""))


def _details(finding: Finding) -> list[tuple[str, str]]:
    details = [("found", finding.message)]
    if finding.column is not None:
        details.append(("column", finding.column))
    first = finding.at[0]
    place = first.field
    if first.offset >= 0:
        place += f", offset {first.offset}" + (f", {first.length} bytes" if first.length > 1 else "")
    details.append(("at", place))
    if first.expected:
        details.append(("expected", first.expected))
    if first.actual:
        details.append(("actual", first.actual))
    if finding.remedy:
        details.append(("remedy", finding.remedy))
    details.append(("more", f"pqassay explain {finding.rule}"))
    return details


def _summary(console: Console, report: Report) -> None:
    summary = report.summary
    if summary.files > 1:
        _line(
            console,
            f"{summary.files} files: {summary.conformant} conformant, "
            f"{summary.nonconformant} nonconformant, {summary.errored} errored",
        )
    for coverage in report.coverages.values():
        _coverage(console, coverage, report)


def _coverage(console: Console, coverage: Coverage, report: Report) -> None:
    blocked = {rule: why for rule, why in coverage.not_checked.items() if not why.startswith("needs tier ")}
    parts = [f"tier {coverage.tier}: {_rules(len(coverage.checked))} checked"]
    if coverage.not_checked:
        parts.append(f"{len(coverage.not_checked)} not checked")
    if coverage.not_applicable:
        parts.append(f"{len(coverage.not_applicable)} not applicable")
    _line(console, ", ".join(parts))
    for why in dict.fromkeys(blocked.values()):
        ids = [rule for rule, reason in blocked.items() if reason == why]
        _line(console, f"  not checked, because {why}: {_shortened(ids)}")
    deeper = [rule for rule in coverage.not_checked if rule not in blocked]
    if deeper:
        tier = max((rules()[rule].tier for rule in deeper), key=TIERS.index)
        _line(
            console,
            f"  {_rules(len(deeper))} at a deeper tier: pqassay check --tier {tier} {report.files[0].path}",
        )


def _rules(count: int) -> str:
    return f"{count} rule{'' if count == 1 else 's'}"


def _shortened(ids: list[str]) -> str:
    return ", ".join(ids) if len(ids) <= 4 else f"{ids[0]} … {ids[-1]} ({_rules(len(ids))})"
