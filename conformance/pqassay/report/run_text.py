"""The result of a run for people at a terminal or in a log.

Colour appears on a terminal only.  No failure takes more than 25 lines, and each ends with the command that repeats it.
"""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console

from pqassay.report.line import plain_console, write_line, write_row
from pqassay.report.run_model import Result, RunReport, Score
from pqassay_spec.rules.catalogue import rules

COLOURS = {
    "passed": "bold green",
    "failed": "bold red",
    "crashed": "bold magenta",
    "protocol error": "bold magenta",
    "no credit": "yellow",
    "not applicable": "dim",
}
GREATEST_VALUE = 400
"""Characters of an expected or actual value that are shown."""

STDERR_LINES = 6
RULES_SHOWN = 3


def render(report: RunReport, stream: TextIO | None = None) -> None:
    """Write the result to a stream, by default stdout."""
    console = plain_console(stream or sys.stdout)
    for result in report.results:
        if not result.is_good and not result.known:
            write_line(
                console, (result.outcome, COLOURS[result.outcome]), f"  {result.case}  {result.operation}"
            )
            for label, value in details(result, report):
                write_row(console, label, value)
            console.print()
    for problem in report.problems:
        write_line(console, ("expectation", "bold red"), f"  {problem.entry}: {problem.problem}")
    if report.problems:
        console.print()
    _summary(console, report)


def details(result: Result, report: RunReport) -> Iterator[tuple[str, str]]:
    """Label and value of the lines after the first: at most 24.

    The last is the command that asks for one operation on one case again, and keeps request, answer and files.
    """
    if result.title:
        yield "case", result.title
    if result.effect:
        yield "effect", result.effect
    named = (result.rules or [])[:RULES_SHOWN]
    for rule in named:
        known = rules().get(rule)
        yield "rule", f"{rule} {known.sentence}" if known else rule
    if result.reason:
        yield "because", result.reason
    if result.expected:
        yield "expected", _shortened(result.expected)
    if result.actual:
        yield "actual", _shortened(result.actual)
    if result.stderr:
        lines = [line for line in result.stderr.splitlines() if line.strip()][-STDERR_LINES:]
        for line in lines:
            yield "stderr", _shortened(line)
    if named:
        yield "more", f"pqassay explain {named[0]}"
    if result.operation != "hello":
        again = ["--case", result.case, "--operation", result.operation, "--keep", "kept"]
        yield (
            "repeat",
            shlex.join(["pqassay", "run", *report.options, *again, "--", *report.driver.command]),
        )


def _shortened(text: str) -> str:
    return textwrap.shorten(text, GREATEST_VALUE, placeholder=" …") if len(text) > GREATEST_VALUE else text


def _summary(console: Console, report: RunReport) -> None:
    summary = report.summary
    cases = "1 case" if summary.cases == 1 else f"{summary.cases} cases"
    write_line(console, (report.driver.line, "bold"), f": {cases}")
    for score in report.scores:
        _score(console, score)
    if report.tested_nothing:
        write_line(
            console, ("nothing was tested", "bold red"), ": the driver supports none of these operations"
        )
    if summary.known:
        write_line(console, f"{summary.known} as expected, though not passed")


def _score(console: Console, score: Score) -> None:
    name = f"  {score.family:<6}{score.operation:<9}"
    if not score.asked:
        write_line(console, name, ("not applicable", COLOURS["not applicable"]))
        return
    style = "green" if score.passed == score.asked else "red"
    rest = f"; {score.otherwise}" if score.otherwise else ""
    write_line(console, name, (f"{score.passed} of {score.asked} passed", style), rest)
