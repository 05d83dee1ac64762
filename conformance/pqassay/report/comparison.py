"""The comparison of two reports: fixed, broken, new, and not checked again.

Two checks are compared finding by finding (file, rule and column), two runs result by result (case and operation). A missing finding counts
as fixed only if the later check tested that rule on that file; otherwise its state is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from pqassay.errors import UsageError
from pqassay.report.json_form import members_json
from pqassay.report.model import UNJUDGED, FileReport, Finding, Report, counts
from pqassay.report.run.model import Result, RunReport
from pqassay.report.run.observed import observed_words
from pqassay.report.run.outcomes import NEITHER, UNCLASSED

SCHEMA_VERSION = 1

Change = Literal["broken", "added", "changed", "fixed", "not looked at", "unchanged"]
"""The kind of change of a finding or result.

``broken``: was right, or was wrong in fewer places. ``added``: wrong, and not tested by the earlier report. ``changed``: wrong in another
way. ``fixed``: is right now. ``not looked at``: was wrong, and is not tested by the later report.
"""

CHANGES: tuple[Change, ...] = get_args(Change)


@dataclass(frozen=True)
class ComparedEntry:
    """The change of one finding or result.

    Attributes:
        change: The kind of change.
        where: The file or the case.
        part: The column or the operation.
        rule: The rule, if any.
        before: The value in the earlier report.
        after: The value in the later report.
        counted: Whether the change fails the comparison.
        severity: The severity of a run's result, see `SEVERITIES`: the later one, or the earlier one if it is right now.
        cause: The common parts of results with the same cause.
    """

    change: Change
    where: str
    part: str | None
    rule: str | None
    before: str
    after: str
    counted: bool = False
    severity: int | None = None
    cause: str | None = None


@dataclass(frozen=True)
class ReportComparison:
    """The comparison of two reports: ``counts`` of the changes, and ``remarks`` about limits of the comparison."""

    schema_version: int
    kind: Literal["comparison"]
    of: Literal["check", "run"]
    counts: dict[str, int]
    entries: list[ComparedEntry]
    remarks: list[str] = field(default_factory=list[str])

    @property
    def exit_code(self) -> int:
        """1 if something that counts is worse than before, otherwise 0."""
        return 1 if any(entry.counted for entry in self.entries) else 0

    def to_json(self, indent: int | None = 2) -> str:
        """The comparison as ASCII JSON."""
        return members_json(self, indent)


def compare(old: Report | RunReport, new: Report | RunReport) -> ReportComparison:
    """Compare two reports.

    Raises:
        UsageError: One report is of a check, the other of a run.
    """
    if isinstance(old, Report) and isinstance(new, Report):
        entries = list(_of_checks(old, new))
        remarks = _remarks_of_checks(old, new)
    elif isinstance(old, RunReport) and isinstance(new, RunReport):
        entries = list(_of_runs(old, new))
        remarks = _remarks_of_runs(old, new)
    else:
        raise UsageError(
            f"the earlier report is one of pqassay {old.kind}, the later one of pqassay {new.kind}; "
            "they cannot be compared"
        )
    changed = [entry for entry in entries if entry.change != "unchanged"]
    changed.sort(
        key=lambda entry: (
            CHANGES.index(entry.change),
            entry.severity or UNCLASSED,
            entry.cause or "",
            entry.where,
            entry.rule or "",
            entry.part or "",
        )
    )
    counted: dict[str, int] = {change: sum(entry.change == change for entry in entries) for change in CHANGES}
    return ReportComparison(SCHEMA_VERSION, "comparison", new.kind, counted, changed, remarks)


def _of_checks(old: Report, new: Report) -> Iterator[ComparedEntry]:
    before, after = _Checked(old), _Checked(new)
    for key in dict.fromkeys([*before.findings, *after.findings]):
        path, rule, column = key
        was, now = before.findings.get(key), after.findings.get(key)
        if was is None:
            assert now is not None
            change: Change = "broken" if before.has_looked(path, rule) else "added"
        elif now is None:
            change = "fixed" if after.has_looked(path, rule) else "not looked at"
        elif now.count > was.count:
            change = "broken"
        else:
            change = "changed" if now.verdict != was.verdict else "unchanged"
        is_worse = change in ("broken", "added") or (
            change == "changed" and was is not None and not counts(was, new.threshold)
        )
        counted = is_worse and now is not None and new.may_fail(now)
        yield ComparedEntry(change, path, column, rule, _said(was), _said(now), counted)
    for path, file in after.files.items():
        earlier = before.files.get(path)
        was_errored = earlier is not None and earlier.outcome == "errored"
        if file.outcome == "errored" and not was_errored:
            change = "added" if earlier is None else "broken"
            before_that = earlier.outcome if earlier else ""
            yield ComparedEntry(change, path, None, None, before_that, f"errored: {file.error}", counted=True)
        elif was_errored and file.outcome not in UNJUDGED:
            yield ComparedEntry("fixed", path, None, None, "errored", file.outcome)


def _said(finding: Finding | None) -> str:
    if finding is None:
        return ""
    return f"{finding.verdict}{' known' if finding.known else ''}: {finding.message}{finding.times}"


class _Checked:
    """The findings of a check by file, rule and column, and the tested files and rules."""

    def __init__(self, report: Report) -> None:
        self.files: dict[str, FileReport] = {file.path: file for file in report.files}
        self.findings = {
            (file.path, finding.rule, finding.column): finding
            for file in report.files
            for finding in file.findings
        }
        self._rules = {
            key: frozenset(coverage.checked) | frozenset(coverage.not_applicable)
            for key, coverage in report.coverages.items()
        }
        self._broken = {(path, rule) for path, rule, _ in self.findings}

    def has_looked(self, path: str, rule: str) -> bool:
        """Whether a rule was tested on a file; a rule without a subject counts as kept."""
        file = self.files.get(path)
        if file is None or file.outcome in UNJUDGED:
            return False
        return rule in self._rules[file.coverage] or (path, rule) in self._broken


def _remarks_of_checks(old: Report, new: Report) -> list[str]:
    remarks = _remarks_of_rules(old, new)
    gone = {file.path for file in old.files} - {file.path for file in new.files}
    if gone:
        count = f"{len(gone):,} file{'' if len(gone) == 1 else 's'}"
        remarks.append(f"{count} of the earlier report are not in the later one, for example {min(gone)}")
    if new.not_failing:
        remarks.append(new.not_failing)
    if old.threshold != new.threshold:
        remarks.append(
            f"the earlier report counts from level {old.threshold}, the later one from level {new.threshold}"
        )
    return remarks


def _remarks_of_rules(old: Report | RunReport, new: Report | RunReport) -> list[str]:
    if old.rules_sha256 == new.rules_sha256:
        return []
    return [f"the rules are not the same: pqassay {old.pqassay} and {new.pqassay}"]


def _of_runs(old: RunReport, new: RunReport) -> Iterator[ComparedEntry]:
    before = {(result.case, result.operation): result for result in old.results}
    after = {(result.case, result.operation): result for result in new.results}
    for key in dict.fromkeys([*before, *after]):
        was, now = before.get(key), after.get(key)
        rule = next((each.rules[0] for each in (now, was) if each is not None and each.rules), None)
        change, counted = _change(was, now)
        wrong = next((each for each in (now, was) if each is not None and not each.is_good), None)
        if now is not None and now.unscored:
            counted = False
        yield ComparedEntry(
            change,
            key[0],
            key[1],
            rule,
            _outcome(was),
            _outcome(now),
            counted,
            wrong.severity if wrong else None,
            wrong.cause if wrong else None,
        )


def _change(was: Result | None, now: Result | None) -> tuple[Change, bool]:
    """The kind of change of one result, and whether it fails the comparison. Unsupported results count as not tested."""
    good_before = was is not None and was.outcome == "passed"
    asked_before = was is not None and was.outcome not in NEITHER
    if now is None or now.outcome in NEITHER:
        lost = good_before or (asked_before and was is not None and not was.is_good)
        return ("not looked at" if lost else "unchanged"), False
    if now.outcome == "passed":
        return ("fixed" if asked_before and not good_before else "unchanged"), False
    if good_before:
        return "broken", not now.known
    if not asked_before:
        return "added", not now.known
    if was is None or (was.outcome, was.severity) != (now.outcome, now.severity):
        return "changed", _is_graver(was, now) and not now.known
    return "unchanged", False


def _is_graver(was: Result | None, now: Result) -> bool:
    """Whether the current observation is worse than the earlier one."""
    if was is None or was.severity is None or now.severity is None:
        return False
    return now.severity < was.severity


def _outcome(result: Result | None) -> str:
    if result is None:
        return ""
    said = [] if result.is_good else [observed_words(result), result.reason]
    return ": ".join([f"{result.outcome}{' as expected' if result.known else ''}", *filter(None, said)])


def _remarks_of_runs(old: RunReport, new: RunReport) -> list[str]:
    remarks = _remarks_of_rules(old, new)
    if old.driver.label != new.driver.label:
        remarks.append(f"the earlier result is of {old.driver.label}, the later one of {new.driver.label}")
    numbers = [each.scored_by.revision if each.scored_by else "none" for each in (old, new)]
    if numbers[0] != numbers[1]:
        remarks.append(
            f"the earlier result is scored by revision {numbers[0]}, the later one by {numbers[1]}"
        )
    if old.asked_about != new.asked_about:
        remarks.append("different cases were asked, so the digests of golden files cannot be compared")
    else:
        if old.suite_sha256 != new.suite_sha256:
            remarks.append("the cases are not the same")
        if old.golden_files_sha256 != new.golden_files_sha256:
            remarks.append("the golden files are not the same")
    if old.driver.sha256 == new.driver.sha256:
        remarks.append("the driver is the same")
    remarks += _remarks_of_lies(old, new)
    return remarks


def _remarks_of_lies(old: RunReport, new: RunReport) -> Iterator[str]:
    """Lines about changed results of well-formed lies. They never fail the comparison, since no reader can detect such lies."""
    before = {one.case: one.verdict for one in old.exposures}
    moved: dict[tuple[str, str], list[str]] = {}
    for one in new.exposures:
        was = before.get(one.case)
        if was is not None and was != one.verdict:
            moved.setdefault((was, one.verdict), []).append(one.case)
    for (earlier, later), cases in sorted(moved.items()):
        more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
        yield f"well-formed lies, which are not scored: {earlier} before, {later} now: {min(cases)}{more}"
