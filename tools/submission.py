"""Checks of submitted results: whether they are complete, about the counting cases, and consistent.

A run of a closed reader, or on special hardware, cannot be repeated here. These checks test that the results are about the golden cases of
the revision, that nothing is missing, and that the counts follow from the list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pqassay.report.run.model import RunReport, ScoredBy
from pqassay.report.run.outcomes import UNSCORED
from pqassay_spec.base.terminal import printable
from pqassay_spec.golden.revision import RevisionError, revision
from pqassay_spec.rules.catalogue import ID_PATTERN, families
from pqassay_suite.cases.case import GoldenCase, inputs_digest
from pqassay_suite.drivers.protocol import PROTOCOL

NAMED = 3
"""The number of cases that a message names."""

LONGEST_SHOWN = 60
"""The number of characters of a name that a message shows."""


def problems(report: RunReport, cases: Sequence[GoldenCase]) -> list[str]:
    """The reasons why results cannot be accepted, one per line; empty if they can.

    Args:
        report: The results.
        cases: All current cases, see `pqassay_suite.cases.update_cases.asked_cases`.
    """
    texts = [*_about_names(report), *_about_the_driver(report)]
    if report.protocol != PROTOCOL:
        texts.append(
            f"protocol is {report.protocol}, and today's is {PROTOCOL}: run again with a newer pqassay"
        )
    if report.scored_by is None or report.asked is None:
        texts.append(
            "scored_by or asked is missing: the results do not say which cases they are about. Run `pqassay suite run` "
            "without --cases, of a version that knows revisions"
        )
        return texts
    if about := list(_about_the_revision(report, report.scored_by, cases)):
        return texts + about
    return texts + list(_contradictions(report, report.asked))


NAMES = {
    "a capability": re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*"),
    "a case": re.compile(r"[a-z0-9_]+(/[\w.-]+)+", re.ASCII),
    "a rule": re.compile(ID_PATTERN),
    "a date": re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
}
"""Patterns for names that pages show unchanged."""


def _about_names(report: RunReport) -> Iterator[str]:
    """Yield invalid names, since a page would show any text."""
    names_by_sort = {
        "a capability": [
            *(report.driver.capabilities or ()),
            *(result.capability for result in report.not_asked),
        ],
        "a case": [
            *(result.case for result in report.results if result.operation != "hello"),
            *(result.case for result in report.exposures),
            *(report.asked or ()),
        ],
        "a rule": [
            rule
            for result in report.results
            for rule in (*(result.rules or ()), *(result.reader_rules or ()))
        ],
        "a date": [report.date] if report.date is not None else [],
    }
    for what, names in names_by_sort.items():
        if wrong := next((name for name in names if not NAMES[what].fullmatch(name)), None):
            yield f"{printable(wrong)[:LONGEST_SHOWN]!r} is not the name of {what}"
    prefixes = {family.prefix for family in families()} | {""}
    known_families = {result.family for result in report.results} | {
        result.family for result in report.exposures
    }
    strange = (known_families | {result.family for result in report.scores}) - prefixes
    if strange:
        yield f"{printable(min(strange))[:LONGEST_SHOWN]!r} is not a family"


def _about_the_driver(report: RunReport) -> Iterator[str]:
    driver = report.driver
    for member in ("name", "version", "capabilities"):
        if not getattr(driver, member):
            yield f"driver.{member} is missing: the driver did not answer hello"
    if report.tested_nothing:
        yield "nothing was tested: everything is unsupported"


def _about_the_revision(report: RunReport, by: ScoredBy, cases: Sequence[GoldenCase]) -> Iterator[str]:
    try:
        known = revision(by.revision)
    except RevisionError as error:
        yield f"scored_by.revision: {error}"
        return
    if by.sha256 != known.sha256:
        yield (
            f"scored_by.sha256 is {by.sha256[:12]}, and the cases of revision {by.revision} have {known.sha256[:12]}: "
            "their list was rewritten since. Run again with a newer pqassay"
        )
        return
    if by.changed:
        yield f"{_named(by.changed)}: not the golden files of revision {by.revision}: the digests differ"
    elif by.chosen != by.cases or by.cases != len(known.cases):
        yield (
            f"scored_by: {by.chosen:,} of the {len(known.cases):,} cases of revision {by.revision} were chosen. Run without --case"
        )
    if by.narrowed:
        yield "scored_by.narrowed: questions were left out. Run without --operation and --rerun"
    mine = {golden.case.id: golden for golden in cases if golden.case.id in {*known.cases, *by.added}}
    same = all(case in mine and mine[case].asked_sha256 == digest for case, digest in by.added.items())
    if same and report.golden_files_sha256 != inputs_digest(mine.values()):
        yield "golden_files_sha256 is not the digest of the golden files of this revision"


def _contradictions(report: RunReport, asked: Mapping[str, Sequence[str]]) -> Iterator[str]:
    by = report.scored_by
    assert by is not None
    known = revision(by.revision).cases
    questions = {(case, str(operation)) for case, operations in asked.items() for operation in operations}
    if stray := sorted({case for case, _ in questions} - {*known, *by.added}):
        yield f"asked: {_named(stray)}: in no list of cases"
    answered = Counter(
        (result.case, str(result.operation)) for result in report.results if result.operation != "hello"
    )
    answered.update((result.case, "scan") for result in report.exposures)
    if twice := sorted({case for (case, _), count in answered.items() if count > 1}):
        yield f"results: {_named(twice)}: more than one answer to a question"
    if stray := sorted({case for case, _ in set(answered) - questions}):
        yield f"results: {_named(stray)}: an answer to what was not asked"
    marked = {result.case for result in report.results if result.unscored}
    if stray := sorted(marked - set(by.added)):
        yield f"results: {_named(stray)}: unscored, and in the revision"
    if stray := sorted({result.case for result in report.scored if result.case in by.added}):
        yield f"results: {_named(stray)}: scored, and not in the revision"
    lies = {result.case for result in report.exposures}
    counting = {(case, op) for case, op in questions if case in known and not (op == "scan" and case in lies)}
    greeting = sum(result.operation == "hello" for result in report.scored)
    yield from _wrong_counts(report, len(counting) + greeting)


def _wrong_counts(report: RunReport, questions: int) -> Iterator[str]:
    """Yield counts that contradict the list of results, which may omit passed results."""
    summary = report.summary
    listed = Counter(result.outcome for result in report.scored)
    stated = Counter(summary.outcomes)
    if not listed["passed"]:
        listed["passed"] = stated["passed"]
    if +listed != +stated:
        yield "summary.outcomes: not the outcomes of the results"
    if summary.results != stated.total() or summary.results != questions:
        yield f"summary.results is {summary.results:,}; {questions:,} questions were asked, and {stated.total():,} outcomes are counted"
    scored: Counter[str] = Counter()
    for score in report.scores:
        scored.update(score.outcomes)
        if score.asked != sum(count for outcome, count in score.outcomes.items() if outcome not in UNSCORED):
            yield f"scores: {score.family} {score.operation}: asked is not the sum of the outcomes"
    greeted = Counter(result.outcome for result in report.scored if not result.family)
    if +(scored + greeted) != +stated:
        yield "scores: their outcomes are not those of the summary"


def _named(cases: Sequence[str] | dict[str, str]) -> str:
    names = sorted(cases)
    return f"{', '.join(names[:NAMED])}{f' and {len(names) - NAMED:,} more' if names[NAMED:] else ''}"
