"""The view of a check's report for people; `pqassay.report.run.view` has the view of a run.

HTML is made from views of checks and runs, Markdown only from views of checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pqassay.report.coverage import unchecked
from pqassay.report.model import BROKEN, FileReport, Finding, Report
from pqassay.report.order import gravest_first, is_harmful, observed_effect
from pqassay.report.renderers.details import details, further
from pqassay.report.rules import judged_against_line
from pqassay.report.run import view as run_view
from pqassay.report.run.model import RunReport
from pqassay.report.view_model import OUTCOME_TONES, VERDICT_TONES, Item, ItemGroup, Tile, Tone, View


def view(report: Report | RunReport) -> View:
    """The view of a check's report for people."""
    return _of_check(report) if isinstance(report, Report) else run_view.view(report)


def _of_check(report: Report) -> View:
    summary = report.summary
    outcome = next(
        (
            outcome
            for outcome, count in (
                ("errored", summary.errored),
                ("nonconformant", summary.nonconformant),
                ("untrue", summary.untrue),
                ("conformant where checked", summary.conformant_where_checked),
            )
            if count
        ),
        "conformant",
    )
    sample = [] if report.sample is None else report.sample.lines
    stale = report.baseline.stale if report.baseline is not None else []
    loud = gravest_first(file for file in report.files if not _is_quiet(file))
    facts = [
        ("pqassay", report.pqassay),
        ("tier", ", ".join(_tiers(report))),
        ("counted", _counted(report)),
        ("gate", report.gate and report.gate.line),
        ("pin", report.pin and f'rules = "{report.pin.rules}"'),
        *(("sample", line.strip().removeprefix("sample: ")) for line in sample),
        ("profile", report.profile and f"{report.profile}: some rules have a higher severity"),
        ("rules", f"sha256 {report.rules_sha256[:16]}"),
        ("judged against", judged_against_line(report.judged_against)),
        ("baseline", report.baseline and report.baseline.line),
    ]
    tiles = [
        Tile("files", summary.files),
        Tile("conformant", summary.conformant, "good" if summary.conformant else "plain"),
        *(
            [Tile("conformant where checked", summary.conformant_where_checked, "warn")]
            if summary.conformant_where_checked
            else []
        ),
        *([Tile("untrue", summary.untrue, "bad")] if summary.untrue else []),
        Tile("nonconformant", summary.nonconformant, "bad" if summary.nonconformant else "plain"),
        Tile("errored", summary.errored, "unknown" if summary.errored else "plain"),
        *([Tile("gone", summary.gone)] if summary.gone else []),
        *([Tile("requests throttled and repeated", summary.throttled)] if summary.throttled else []),
        *(
            Tile(verdict, count, VERDICT_TONES.get(verdict, "plain"))
            for verdict, count in summary.findings.items()
        ),
        *([Tile("known", summary.known)] if summary.known else []),
    ]
    return View(
        kind="check",
        title="pqassay check",
        outcome=outcome,
        tone="warn" if outcome in BROKEN and not report.exit_code else _tone(report.files, outcome),
        not_failing=report.not_failing,
        place="file",
        facts=[(label, value) for label, value in facts if value],
        tiles=tiles,
        groups=[_file(file, report) for file in loud],
        quiet=[file.path for file in report.files if _is_quiet(file)],
        alarms=[f"stale: {entry.line}" for entry in stale],
        ignored=[
            f"{entry.count:,} ({entry.reason}), for example {entry.examples[0]}" for entry in report.ignored
        ],
        unchecked=unchecked(report),
    )


def _counted(report: Report) -> str:
    counted = "FAIL" if report.threshold == "must" else "FAIL and WARN"
    return f"{counted}, and what could not be checked" if report.complete else counted


def _tiers(report: Report) -> Iterable[str]:
    used = {file.coverage for file in report.files}
    return dict.fromkeys(coverage.tier for key, coverage in report.coverages.items() if key in used)


def _file(file: FileReport, report: Report) -> ItemGroup:
    remarks = [f"not judged: {file.error}"] if file.error else []
    remarks += [f"note: {note}" for note in file.notes]
    remarks += [f"{'known: ' if gap.known else ''}{gap.line}" for gap in file.gaps]
    if file.created_by:
        remarks.append(f"created by {file.created_by}")
    items = [_finding(finding, report) for finding in file.findings]
    return ItemGroup(file.path, file.outcome, _tone([file], file.outcome), remarks, items)


def _tone(files: Sequence[FileReport], outcome: str) -> Tone:
    """The tone of an outcome; it is not good if a finding could do harm."""
    harmful = outcome == "conformant" and is_harmful(finding for file in files for finding in file.findings)
    return "warn" if harmful else OUTCOME_TONES[outcome]


def _finding(finding: Finding, report: Report) -> Item:
    not_failing = report.is_not_failing(finding)
    tone = VERDICT_TONES[finding.verdict]
    return Item(
        where=finding.path,
        part=finding.column if finding.column is not None else "",
        verdict=finding.verdict,
        tone="bad" if report.is_counted(finding) else "warn" if not_failing else tone,
        rule=finding.rule,
        could=finding.could,
        observed=observed_effect(finding),
        message=finding.message,
        known=finding.known,
        not_failing=not_failing,
        count=finding.count,
        details=[row for row in details(finding) if row[0] not in ("found", "more")],
        hexdump=finding.hexdump,
        further=further(finding),
    )


def _is_quiet(file: FileReport) -> bool:
    """Whether a file is conformant, and has nothing else to report."""
    return file.outcome == "conformant" and not (file.findings or file.notes or file.gaps)
