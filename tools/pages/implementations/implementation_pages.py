"""A page for each implementation: failures by cause, misleading lies, expected failures, and differences between versions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import finding_programs
import kept_results
from kept_results import Kept

from pages.implementations.answers import BAD, Answer, answers, counted
from pages.implementations.matrix import KINDS, catalogue_title, kind_of, matrix_rows
from pages.page import File, Page, Site, implementation_page
from pqassay.report.run.model import Result
from pqassay.report.run.outcomes import SEVERITIES, WRITER_SEVERITIES, WRITING
from pqassay_spec.rules import catalogue
from pqassay_suite.cases.expectations import Expectation, parse
from pqassay_suite.drivers.implementations import EXPECTATIONS, Implementation

CASES_SHOWN = 12
"""The number of cases of one cause that are listed; the rest is counted."""

BOOST = 3
"""The factor by which an implementation's page ranks before other pages with its name."""

CSV_COLUMNS = (
    "implementation", "version", "case", "family", "kind", "operation", "verdict", "severity", "query", "reason", "actual", "expected",
)  # fmt: skip


class Cause(NamedTuple):
    """Wrong answers with one cause.

    Attributes:
        first: The first wrong answer.
        observed: The observation in words.
        cases: The ids of the listed cases.
        more: The number of further cases.
    """

    first: Answer
    observed: str
    cases: Sequence[str]
    more: int


class Change(NamedTuple):
    """The differences between two versions: case ids with the operation whose verdict changed."""

    older: str
    newer: str
    repaired: Sequence[tuple[str, str, str, str]]
    broken: Sequence[tuple[str, str, str, str]]


def pages(site: Site) -> Iterator[Page]:
    """Yield a page for each implementation that has results."""
    known = {driver.name: driver for driver in kept_results.in_the_matrix()}
    findings = [
        *finding_programs.findings(finding_programs.READERS),
        *finding_programs.findings(finding_programs.WRITERS),
    ]
    for kept in site.results.newest:
        mine = site.answers[kept.name]
        path = implementation_page(kept.name)
        title = known[kept.name].title if kept.name in known else kept.name
        all_answers = [answer for case in mine.values() for answer in case]
        lies = [answer for answer in all_answers if answer.is_lie and answer.verdict in BAD]
        body = site.render(
            "implementation.html",
            path,
            kept=kept,
            title=title,
            report=kept.report,
            is_todays=kept.report.golden_files_sha256 == site.results.digest,
            matrix=[(catalogue_title(prefix), row) for prefix, row in matrix_rows(site, mine)],
            kinds=KINDS,
            causes=list(_causes(kept)),
            lies=_by_rules(lies, site),
            sentences={rule.id: rule.sentence for rule in catalogue.rules().values()},
            expectations=_expectations(known.get(kept.name)),
            changes=list(_changes(kept.name, site)),
            exchange=site.results.exchange,
            findings=[finding for finding in findings if _is_about(kept, finding)],
            slug=slug,
            known_cases=site.cases,
        )
        counts = ", ".join(f"{count:,} {verdict}" for verdict, count in counted(all_answers))
        yield Page(
            path,
            f"{title} {kept.version}",
            f"What {title} {kept.version} makes of the golden files: {counts}.",
            body,
            boost=BOOST,
        )


def files(site: Site) -> Iterator[File]:
    """Yield all answers as CSV, and a badge for each implementation."""
    stream = io.StringIO()
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow(CSV_COLUMNS)
    for mine in site.answers.values():
        for given in mine.values():
            lines.writerows(_line(answer, site) for answer in given)
    yield File("implementations/answers.csv", stream.getvalue().encode())
    for kept in site.results.newest:
        counts = {
            name: sum(getattr(score, name) for score in kept.report.own_scores)
            for name in ("passed", "asked", "cases")
        }
        path = f"implementations/{kept.name}.svg"
        badge = site.render("badge.svg", path, kept=kept, **counts)
        yield File(path, f"{badge}\n".encode())


def _line(answer: Answer, site: Site) -> Sequence[str]:
    case = site.cases.get(answer.case)
    family, kind = (case["family"], kind_of(case)) if case is not None else ("", "table to write")
    severity = "" if answer.severity is None else str(answer.severity)
    row = (
        answer.name, answer.version, answer.case, family, kind, answer.operation, answer.verdict, severity,
        answer.query, answer.reason, answer.actual, answer.expected,
    )  # fmt: skip
    return [f"'{text}" if text.startswith(("=", "+", "-", "@")) else text for text in row]


# ------------------------------------------------------------------------------------------------------- parts


def slug(text: str) -> str:
    """A text in the form of an anchor."""
    return "-".join("".join(one if one.isalnum() else " " for one in text.lower()).split())


def _causes(kept: Kept) -> Iterator[Cause]:
    by_case = answers(kept)
    for group in kept.report.causes:
        first = group[0]
        if first.operation == "hello":
            continue
        answer = next(one for one in by_case[first.case] if one.operation == first.operation)
        cases = list(dict.fromkeys(result.case for result in group))
        yield Cause(answer, observed(first), cases[:CASES_SHOWN], len(cases[CASES_SHOWN:]))


def observed(result: Result) -> str:
    """The observation of a result in words."""
    if result.severity is None:
        return result.outcome
    names = SEVERITIES | (WRITER_SEVERITIES if result.operation in WRITING else {})
    return f"{result.severity}, {names[result.severity]}"


def _by_rules(lies: Sequence[Answer], site: Site) -> Mapping[tuple[str, ...], Sequence[Answer]]:
    found: dict[tuple[str, ...], list[Answer]] = {}
    for lie in lies:
        rules = site.cases[lie.case]["expect"]["check"]["rules"] if lie.case in site.cases else []
        found.setdefault(tuple(rules), []).append(lie)
    return dict(sorted(found.items()))


def _expectations(known: Implementation | None) -> Sequence[Expectation]:
    path = known.folder / EXPECTATIONS if known is not None else None
    return parse(path.read_bytes()).entries if path is not None and path.exists() else ()


def _changes(name: str, site: Site) -> Iterator[Change]:
    """Yield the differences between each version and the previous one, the newest first, for questions that both were asked."""
    versions = [kept for kept in site.results.kept if kept.name == name]
    for older, newer in reversed(list(pairwise(versions))):
        before, after = (
            {
                (answer.case, answer.operation): answer.verdict
                for case in answers(kept).values()
                for answer in case
            }
            for kept in (older, newer)
        )
        other = [
            (*key, before[key], after[key]) for key in after if key in before and before[key] != after[key]
        ]
        yield Change(
            older.version,
            newer.version,
            [change for change in other if change[2] in BAD and change[3] not in BAD],
            [change for change in other if change[3] in BAD],
        )


def _is_about(kept: Kept, finding: finding_programs.Finding) -> bool:
    """Whether an implementation is among the software of a finding, such as ``Spark 4.3.0``."""
    names = {software.rpartition(" ")[0].lower() for software in finding.software}
    return not names.isdisjoint((kept.name, (kept.report.driver.name or "").lower()))
