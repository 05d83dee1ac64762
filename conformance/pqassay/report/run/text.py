"""The result of a run as text for a terminal or a log.

Failures are shown by cause, the gravest first; failures with a common cause are shown once. The first causes have the most important lines
and the command that repeats them; the others have one line each. A verbose text has every cause with all lines, at most 25. Colour appears
on a terminal only.
"""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO, get_args

from pqassay.report.json_form import members
from pqassay.report.renderers.line import plain_console, write_line, write_row
from pqassay.report.run import files as run_files
from pqassay.report.run.model import Result, RunReport, Score
from pqassay.report.run.observed import observed_counts, observed_words, sign_words
from pqassay.report.run.outcomes import TELLING, ExposureVerdict
from pqassay_spec.rules.catalogue import rules

if TYPE_CHECKING:
    from rich.console import Console

COLOURS = {
    "passed": "bold green",
    "failed": "bold red",
    "crashed": "bold magenta",
    "protocol error": "bold magenta",
    "unstable": "bold red",
    "refused by accident": "yellow",
    "no credit": "yellow",
    "inherited": "dim",
    "exposed": "dim",
    "unsupported": "dim",
}
GREATEST_VALUE = 400
"""The number of characters of an expected or actual value that are shown."""

RULES_SHOWN = 3
FEATURES_SHOWN = 12
"""The number of features shown that fail most, for a user's own files."""

CASES_SHOWN = 8
"""The number of further cases of a cause that are listed."""

CAUSES_IN_FULL, CAUSES_SHOWN = 3, 10
"""The number of causes with several lines, and of causes with at least one line; the others are counted."""

GIST = (
    "observed",
    "rule",
    "because",
    "differs",
    "query",
    "expected",
    "actual",
    "stderr",
    "in common",
    "also",
    "repeat",
)
"""Labels of the most important lines."""


def render(report: RunReport, stream: TextIO | None = None, *, verbose: bool = False) -> None:
    """Write the result to a stream, by default stdout; a verbose text has all causes with all lines."""
    console = plain_console(stream or sys.stdout)
    causes = [*report.causes, *report.unscored_causes]
    for number, results in enumerate(causes if verbose else causes[:CAUSES_SHOWN]):
        first = results[0]
        is_short = number >= CAUSES_IN_FULL and not verbose
        more = f", and {len(results) - 1} more" if len(results) > 1 else ""
        mark = f"  ({not_scored(report)})" if first.unscored else ""
        write_line(
            console,
            (first.outcome, COLOURS[first.outcome]),
            f"  {first.case}  {first.operation}{more}{mark}{f': {_reason(first)}' if is_short else ''}",
        )
        if is_short:
            continue
        lines = [*details(first, report), *_shared(results, report), *_others(results)]
        for label, value in lines if verbose else _gist(lines):
            if label != "features" or len(results) == 1:  # their common features are shown instead
                write_row(console, label, value)
        console.print()
    if not verbose and causes[CAUSES_IN_FULL:]:
        left = len(causes) - CAUSES_SHOWN
        write_line(
            console,
            *([f"… and {_counted(left, 'further cause')}; "] if left > 0 else []),
            "`-v` shows every detail",
        )
        console.print()
    for problem in report.problems:
        write_line(console, ("expectation", "bold red"), f"  {problem.entry}: {problem.problem}")
    if report.problems:
        console.print()
    _summary(console, report)


def details(result: Result, report: RunReport) -> Iterator[tuple[str, str]]:
    """Yield label and value of the lines after the first: at most 24.

    The last one is the command that repeats one operation on one case, and keeps request, answer and files.
    """
    if result.severity is not None:
        yield "observed", observed_words(result)
    if result.title:
        yield "case", result.title
    named = (result.rules or [])[:RULES_SHOWN]
    for rule in [*(result.reader_rules or [])[:RULES_SHOWN], *named]:
        known = rules().get(rule)
        yield "rule", f"{rule} {known.sentence}" if known else rule
    if result.reason:
        yield "because", result.reason
    if result.first_difference and result.first_difference not in result.reason:
        yield "differs", result.first_difference
    if result.query is not None:
        query = result.query
        yield "query", _shortened(f"{shown(query.predicate)}; columns {', '.join(query.columns)}")
        yield "queries", f"{query.wrong} of {query.asked} failed"
    told = {
        "answered": result.answered.unless_all if result.answered else "",
        "expected": result.expected,
        "actual": result.actual,
    }
    yield from ((label, _shortened(text)) for label, text in told.items() if text)
    yield from (("warning", _shortened(warning)) for warning in (result.warnings or [])[:RULES_SHOWN])
    for line in (result.stderr or "").splitlines():
        yield "stderr", _shortened(line)
    yield from (("features", line) for line in shared_features([result], report))
    if first := next(iter(result.reader_rules or named), None):
        yield "more", f"pqassay explain {first}"
    if result.operation != "hello":
        again = ["--case", result.case, "--operation", result.operation, "--keep", "kept"]
        yield (
            "repeat",
            shlex.join(["pqassay", "suite", "run", *report.options, *again, *how_it_is_named(report)]),
        )


def _gist(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The lines with `GIST` labels: the first line of each label, and for stderr the line with the error."""
    first = dict(reversed(lines))
    if said := [value for label, value in lines if label == "stderr"]:
        first["stderr"] = naming_the_error(said)
    return [(label, first[label]) for label in GIST if label in first]


def naming_the_error(lines: Sequence[str]) -> str:
    r"""The line of stderr with the error: the first line of a trace; in Python, the last line.

    >>> naming_the_error(["fatal error: runtime: out of memory", "runtime stack:", "panic.go:1229 +0x48"])
    'fatal error: runtime: out of memory'
    >>> naming_the_error(["Traceback (most recent call last):", "KeyError: 'a'", "ValueError: no column"])
    'ValueError: no column'
    >>> naming_the_error(["thread 'main' panicked at src/main.rs:7:9:", "no such page"])
    "thread 'main' panicked at src/main.rs:7:9: no such page"
    """
    telling = [number for number, line in enumerate(lines) if TELLING.search(line)]
    if not telling or lines[0].startswith("Traceback"):
        return lines[-1]
    place = telling[0]
    return " ".join(line.strip() for line in lines[place : place + 1 + lines[place].endswith(":")])


def _reason(result: Result) -> str:
    """The reason in one line, with the last output of the driver."""
    if result.reason == "accepted":  # the word alone would not say what is wrong
        return observed_words(result) or result.reason
    said = (result.stderr or "").splitlines()
    return f"{result.reason}: {_shortened(naming_the_error(said))}" if said else result.reason


def _shared(results: Sequence[Result], report: RunReport) -> Iterator[tuple[str, str]]:
    """Yield the common features of several results of one cause."""
    if len(results) > 1:
        yield from (("in common", line) for line in shared_features(results, report))


def shared_features(results: Sequence[Result], report: RunReport) -> list[str]:
    """A line with the features that all files of one cause have and no passed file has; empty without such features."""
    if report.collection is None:
        return []
    names = list(dict.fromkeys(result.case for result in results))
    passed = [result.case for result in report.results if result.outcome == "passed"]
    shared = run_files.suspects(report.collection.tags, names, passed) if passed else []
    where = "this file" if len(names) == 1 else f"all {len(names)} files"
    return [f"{', '.join(shared)}: in {where}, but in no file that passed"] if shared else []


def how_it_is_named(report: RunReport) -> list[str]:
    """The arguments of a command that select this driver."""
    name = report.driver.shipped
    return ["--driver", name] if name else ["--", *report.driver.command]


def shown(predicate: Sequence[Any]) -> str:
    """A predicate as JSON."""
    return json.dumps(members(list(predicate)), ensure_ascii=False)


def _others(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Yield the other cases of a cause."""
    operation = results[0].operation
    names = [
        result.case if result.operation == operation else f"{result.case} ({result.operation})"
        for result in results[1:]
    ]
    if names:
        rest = f" and {len(names) - CASES_SHOWN} more" if len(names) > CASES_SHOWN else ""
        yield "also", f"{', '.join(names[:CASES_SHOWN])}{rest}"


def _shortened(text: str) -> str:
    return textwrap.shorten(text, GREATEST_VALUE, placeholder=" …") if len(text) > GREATEST_VALUE else text


def _summary(console: Console, report: RunReport) -> None:
    summary = report.summary
    write_line(console, (report.driver.line, "bold"), f": {_counted(summary.cases, 'case')}, {tally(report)}")
    if counts := observed(report):
        write_line(console, f"  observed: {counts}")
    for score in report.own_scores:
        _score(console, score)
    for line in filter(None, (past_foreign(report), apart(report))):
        write_line(console, f"  {line}")
    if report.limits.queries is not None:
        write_line(console, f"  at most {_counted(report.limits.queries, 'query', 'queries')} a case")
    if report.exposures:
        write_line(console, f"  well-formed lies, which are not scored: {exposed(report)}")
    if report.index_left_aside:
        write_line(console, f"  {left_aside(report)}")
    for line in warned(report):
        write_line(console, f"  {line}")
    if report.not_asked:
        write_line(console, f"  {undeclared(report)}")
    if report.collection is not None:
        _collection(console, report.collection)
    if report.tested_nothing:
        write_line(
            console,
            ("nothing was tested", "bold red"),
            ": the driver supports no operation that was asked for",
        )
    if summary.known:
        unpinned = f"; {summary.unpinned} may have any answer: --write-expectations pins them"
        pins = unpinned if summary.unpinned else ""
        write_line(console, f"{summary.known} as expected, though not passed{pins}")


def _collection(console: Console, collection: run_files.Collection) -> None:
    for line in run_files.lines(collection):
        write_line(console, f"  {line}")
    rows = run_files.feature_rows(collection)
    width = max((len(row[0]) for row in rows), default=0)
    for number, (feature, *counts) in enumerate(rows[: FEATURES_SHOWN + 1]):
        cells = "".join(
            f"{count:>{max(len(name), 6) + 2}}" for name, count in zip(rows[0][1:], counts, strict=True)
        )
        write_line(console, (f"  {feature:<{width}}{cells}", "dim" if number == 0 else ""))
    if len(rows) > FEATURES_SHOWN + 1:
        write_line(console, f"  … and {len(rows) - FEATURES_SHOWN - 1} features more")


def tally(report: RunReport) -> str:
    """All results in a line, such as ``327 of 356 passed, 9 crashed``, without files whose index is ignored; unsupported cases could not pass."""
    foreign = Counter[str]()
    for score in report.past_foreign:
        foreign.update(score.outcomes)
    left = Counter(report.summary.outcomes)
    left.subtract(foreign)
    outcomes = {name: count for name, count in left.items() if name != "passed" and count}
    asked = report.summary.results - foreign.total() - left["unsupported"]
    parts = [
        f"{left['passed']} of {asked} passed",
        *(f"{count} {name}" for name, count in outcomes.items()),
    ]
    return ", ".join(parts)


def not_scored(report: RunReport) -> str:
    """The reason why a case does not count."""
    return f"not scored yet: after revision {report.scored_by.revision}" if report.scored_by else "not scored"


def apart(report: RunReport) -> str:
    """A line with the outcomes of cases that do not count; empty if there are none."""
    by, outcomes = report.scored_by, report.summary.unscored
    if by is None or not (by.added or by.changed):
        return ""
    parts = [f"{_counted(len(by.added), 'case')} added"] if by.added else []
    parts += [f"{_counted(len(by.changed), 'case')} changed"] if by.changed else []
    told = ", ".join(f"{count} {outcome}" for outcome, count in (outcomes or {}).items())
    return (
        f"not scored yet, {' and '.join(parts)} after revision {by.revision}: {told or 'nothing was asked'}"
    )


def exposed(report: RunReport) -> str:
    """A line with the effects of well-formed lies on the driver."""
    counts: dict[str, int] = {}
    for one in report.exposures:
        counts[one.verdict] = counts.get(one.verdict, 0) + 1
    return ", ".join(f"{counts[name]} {name}" for name in get_args(ExposureVerdict) if name in counts)


def past_foreign(report: RunReport) -> str:
    """A line with the number of files that it read without knowing their indexes; empty if there are none."""
    passed, asked = (sum(getattr(one, name) for one in report.past_foreign) for name in ("passed", "asked"))
    return f"reads past foreign bytes, counted apart: {passed} of {asked} passed" if asked else ""


def undeclared(report: RunReport) -> str:
    """A line with the cases that were not asked."""
    missing = ", ".join(f"{one.count} for {one.capability}" for one in report.not_asked)
    return f"not asked because the driver does not declare it: {missing}"


def observed(report: RunReport) -> str:
    """A line with the observed severities of all counting results, including expected ones, as counted side by side."""
    counts = observed_counts(report.scored)
    return "; ".join(f"{sign_words(sign)}: {count}" for sign, count in counts.items())


def warned(report: RunReport) -> Iterator[str]:
    """Yield the judge's warnings about files that the driver wrote, one line for each rule."""
    files: dict[str, list[tuple[str, str]]] = {}
    for result in report.results:
        for warning in result.warnings or []:
            rule, _, message = warning.partition(": ")
            files.setdefault(rule, []).append((result.case, message))
    for rule, found in sorted(files.items()):
        cases = list(dict.fromkeys(case for case, _ in found))
        more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
        yield _shortened(f"warning about written files: {rule} in {cases[0]}{more}: {found[0][1]}")


def left_aside(report: RunReport) -> str:
    """A line with the number of queries that did not use the index."""
    return f"{_counted(report.index_left_aside, 'query', 'queries')} answered without the index"


def _counted(number: int, thing: str, things: str = "") -> str:
    return f"{number} {thing if number == 1 else things or f'{thing}s'}"


def _score(console: Console, score: Score) -> None:
    name = f"  {score.family:<6}{score.operation:<9}"
    style = "red" if score.passed != score.asked else "green" if score.asked else "dim"
    rest = f"; {score.otherwise}" if score.otherwise else ""
    write_line(console, name, (score.line, style), rest)
