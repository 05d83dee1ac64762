"""The view of a run's result for people: observations by cause, the most severe first."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import get_args

from pqassay.report.json_form import encodable
from pqassay.report.run import files as run_files
from pqassay.report.run import text as run_text
from pqassay.report.run.model import Exposure, Result, RunReport
from pqassay.report.run.observed import OF_WRITER, observed_counts, observed_words, sign_words
from pqassay.report.run.outcomes import GOOD, ExposureVerdict
from pqassay.report.view_model import OUTCOME_TONES, Item, ItemGroup, Tile, Tone, View
from pqassay_spec.rules.catalogue import rules

SEVERITY_TONES: dict[int, Tone] = {
    1: "bad",
    2: "unknown",
    3: "warn",
    4: "bad",
    5: "unknown",
    6: "warn",
    7: "bad",
    8: "warn",
    9: "warn",
}

EXPOSURE_VERDICTS: tuple[ExposureVerdict, ...] = get_args(ExposureVerdict)

MISLED: tuple[ExposureVerdict, ...] = ("rows lost", "wrong rows", "crashed", "refused")
"""Answers to a well-formed lie that are not right, the most severe first."""

NEVER_SCORED = (
    "The metadata of these files is well formed but untrue, which readers cannot detect. The "
    "answers are shown, but never scored."
)

TOLD_ELSEWHERE = ("rule", "more", "because", "stderr")
"""Labels of text lines that are other members of an item."""


def view(report: RunReport) -> View:
    """The view of a run's result for people."""
    groups = list(_groups(report))
    return View(
        kind="run",
        title=f"pqassay run of {report.driver.label}",
        outcome="nothing was tested" if report.tested_nothing else run_text.tally(report),
        tone="bad" if report.exit_code else "good",
        place="case",
        facts=_facts(report),
        tiles=list(_tiles(report)),
        groups=groups,
        scores=_scores(report),
        alarms=[f"expectation {problem.entry}: {problem.problem}" for problem in report.problems],
        remarks=list(_remarks(report)),
        features=run_files.feature_rows(report.collection) if report.collection else [],
        basis=run_files.lines(report.collection) if report.collection else [],
        exposure=exposure_table(report.exposures),
        misled=sorted(
            (one for one in report.exposures if one.verdict in MISLED),
            key=lambda one: (MISLED.index(one.verdict), encodable(one.case)),
        ),
    )


def _facts(report: RunReport) -> list[tuple[str, str]]:
    driver, limits = report.driver, report.limits
    asked = [*report.options, *run_text.how_it_is_named(report)]
    return [
        ("driver", driver.line),
        ("asked with", shlex.join(asked)),
        ("pqassay", f"{report.pqassay}, protocol {report.protocol}"),
        ("limits", f"{limits.seconds:g} s and {limits.memory / (1 << 30):g} GiB for each request"),
        *(
            [("scored by", f"revision {by.revision}, sha256 {by.sha256[:16]}")]
            if (by := report.scored_by)
            else []
        ),
        ("cases", f"sha256 {report.suite_sha256[:16]}"),
        ("golden files", f"sha256 {report.golden_files_sha256[:16]}"),
    ]


def _tiles(report: RunReport) -> Iterator[Tile]:
    """Yield the count of passed results, and the counts by severity and outcome, including expected results."""
    outcomes = report.summary.outcomes
    yield Tile("cases", report.summary.cases)
    foreign = sum(score.passed for score in report.past_foreign)
    yield Tile("passed", outcomes.get("passed", 0) - foreign, "good")
    if foreign:
        yield Tile("passed past foreign bytes", foreign)
    for sign, count in observed_counts(report.scored).items():
        yield Tile(sign_words(sign), count, SEVERITY_TONES.get(int(sign.lstrip(OF_WRITER)), "bad"))
    rest: Counter[str] = Counter(result.outcome for result in report.scored if result.severity is None)
    for outcome, count in outcomes.items():
        shown = count if outcome in GOOD else rest[outcome]
        if shown and outcome != "passed":
            yield Tile(outcome, shown, OUTCOME_TONES.get(outcome, "plain"))
    if report.summary.known:
        yield Tile("of these expected", report.summary.known)
    if report.summary.unscored:
        yield Tile("not scored yet", sum(report.summary.unscored.values()))


def _scores(report: RunReport) -> list[tuple[str, ...]]:
    rows = [
        (
            *(score.family, score.operation),
            *(str(count) for count in (score.cases, score.asked, score.passed)),
            "past foreign bytes" if score in report.past_foreign else score.otherwise,
        )
        for score in [*report.own_scores, *report.past_foreign]
    ]
    return [("family", "operation", "cases", "asked", "passed", "otherwise"), *rows] if rows else []


def _remarks(report: RunReport) -> Iterator[str]:
    if said := run_text.apart(report):
        yield said
    if said := run_text.past_foreign(report):
        yield said
    if report.index_left_aside:
        yield run_text.left_aside(report)
    yield from run_text.warned(report)
    if report.not_asked:
        yield run_text.undeclared(report)


def _groups(report: RunReport) -> Iterator[ItemGroup]:
    """Yield the failures by cause, then the expected failures."""
    for results in report.causes:
        first = results[0]
        yield ItemGroup(
            first.cause or first.reason or first.outcome,
            observed_words(first) or first.outcome,
            _tone(first),
            run_text.shared_features(results, report) if len(results) > 1 else [],
            [_item(result, report) for result in results],
        )
    for results in report.unscored_causes:
        first = results[0]
        yield ItemGroup(
            f"{run_text.not_scored(report)}: {first.cause or first.reason or first.outcome}",
            observed_words(first) or first.outcome,
            "plain",
            [],
            [_item(result, report) for result in results],
        )
    if known := [result for result in report.results if not result.is_good and result.known]:
        yield ItemGroup("expected", "known", "plain", [], [_item(result, report) for result in known])


def _tone(result: Result) -> Tone:
    if result.severity in SEVERITY_TONES:
        return SEVERITY_TONES[result.severity]
    return OUTCOME_TONES[result.outcome]


def _item(result: Result, report: RunReport) -> Item:
    named = [*(result.reader_rules or []), *(result.rules or [])]
    rule = (named or [""])[0]
    rows = [row for row in run_text.details(result, report) if row[0] not in TOLD_ELSEWHERE]
    others = [("also about", _with_sentence(other)) for other in named[1:]]
    before_last = len(rows) - (result.operation != "hello")
    rows[before_last:before_last] = others
    return Item(
        where=result.case,
        part=result.operation,
        verdict=result.outcome,
        tone=OUTCOME_TONES[result.outcome],
        rule=rule,
        could="",
        observed=observed_words(result),
        message=result.reason or result.title or result.outcome,
        known=bool(result.known),
        details=rows,
        further={"stderr": result.stderr.splitlines()} if result.stderr else {},
        of=result.family,
    )


def _with_sentence(rule: str) -> str:
    return f"{rule} {rules()[rule].sentence}" if rule in rules() else rule


def exposure_table(exposures: list[Exposure]) -> list[tuple[str, ...]]:
    """The effects of well-formed lies on a reader by family, with a header and the sum; empty if there are none."""
    if not exposures:
        return []
    met = [verdict for verdict in EXPOSURE_VERDICTS if any(one.verdict == verdict for one in exposures)]
    families = sorted({one.family for one in exposures})

    def row(name: str, chosen: list[Exposure]) -> tuple[str, ...]:
        counts = Counter(one.verdict for one in chosen)
        return (name, str(len(chosen)), *(str(counts[verdict]) for verdict in met))

    rows = [row(family, [one for one in exposures if one.family == family]) for family in families]
    total = [row("all", exposures)] if len(families) > 1 else []
    return [("family", "asked", *met), *rows, *total]
