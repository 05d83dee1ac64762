"""The report of a check as SARIF 2.1.0, for code scanning.

Parquet files have no lines, so places are byte ranges. Relative paths stay relative to ``%SRCROOT%``, the root of the repository. The
command line is omitted. A result with the same rule, file and column keeps its fingerprint from run to run, even if its bytes move.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterable
from typing import Any, TextIO
from urllib.parse import quote

from pqassay.report import rules as rule_help
from pqassay.report.coverage import unchecked
from pqassay.report.json_form import encodable, members
from pqassay.report.model import FileReport, Finding, Position, Report
from pqassay.report.renderers.details import details, place
from pqassay_spec.base.terminal import printable
from pqassay_spec.pm.grammar import DATA_NAME
from pqassay_spec.rules.catalogue import rules
from pqassay_spec.rules.observed import observed

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

ROOT = "%SRCROOT%"
"""The base of relative paths."""

FINGERPRINT = "pqassay/v1"
"""The name of the fingerprint: a digest of rule, path and column."""

GITHUB_FINGERPRINT = "primaryLocationLineHash"
"""The name under which GitHub uses the fingerprint to follow a result from commit to commit."""

LEVELS = {"FAIL": "error", "WARN": "warning", "POLICY": "note", "INFO": "note"}

NOTIFICATIONS = {
    "not-checked": "Rules that were not checked, and why.",
    "not-judged": "A file that could not be judged.",
    "note": "A part of a file that no rule judges.",
    "not-failing": "Findings of rules that are newer than the pinned release.",
    "stale": "A stale entry of the baseline.",
}

Json = dict[str, Any]


def render(report: Report, stream: TextIO, site: str | None = None) -> None:
    """Write the JSON, in ASCII.

    Args:
        report: The report.
        stream: The output stream.
        site: Address of the site with the rules' pages.
    """
    json.dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [_of_check(report, site)]}, stream, indent=2)
    stream.write("\n")


def _run(
    report: Report,
    ids: list[str],
    results: list[Json],
    notifications: dict[str, list[Json]],
    site: str | None,
) -> Json:
    return {
        "tool": {
            "driver": {
                "name": "pqassay",
                "version": report.pqassay,
                "rules": [_rule(rule, site) for rule in ids],
                "notifications": [
                    {"id": name, "shortDescription": {"text": text}} for name, text in NOTIFICATIONS.items()
                ],
            }
        },
        "invocations": [
            {
                "executionSuccessful": report.exit_code < 4,
                "exitCode": report.exit_code,
                **{name: found for name, found in notifications.items() if found},
            }
        ],
        "originalUriBaseIds": {
            ROOT: {"description": {"text": "The folder in which the files were checked."}}
        },
        "results": results,
        "columnKind": "unicodeCodePoints",
        "properties": {
            "rules_sha256": report.rules_sha256,
            "summary": members(report.summary),
            "judged_against": members(report.judged_against),
        },
    }


def _rule(rule_id: str, site: str | None) -> Json:
    rule = rules().get(rule_id)
    if rule is None:  # another version, or not a rule
        return {"id": rule_id}
    described: Json = {
        "id": rule.id,
        "shortDescription": {"text": rule.sentence},
        "fullDescription": {
            "text": f"{rule.sentence} Breaking it could mean: {rule.could}. Observed: {observed(rule.id).sentence}."
        },
        "help": {"text": rule_help.text(rule), "markdown": rule_help.markdown(rule, site)},
        "defaultConfiguration": {"level": LEVELS[rule.verdict]},
        "properties": {
            "tags": [rule.id.rpartition("-")[0], rule.could, f"tier {rule.tier}", rule.level],
            "precision": "very-high",
        },
    }
    if address := rule_help.address(rule, site):
        described["helpUri"] = address
    return described


def _of_check(report: Report, site: str | None) -> Json:
    findings = [finding for file in report.files for finding in file.findings]
    ids = sorted({finding.rule for finding in findings})
    number = {rule: index for index, rule in enumerate(ids)}
    results = [_finding(finding, number[finding.rule], report) for finding in findings]
    configuration = [
        _notification(
            "not-checked",
            "note",
            f"not checked on {entry.files:,} files, because {entry.reason}: {', '.join(entry.rules)}",
        )
        for entry in unchecked(report)
    ]
    if report.not_failing:
        configuration.append(_notification("not-failing", "warning", report.not_failing))
    if report.baseline is not None:
        configuration += [
            _notification("stale", "warning", f"baseline {report.baseline.path}: {entry.line}")
            for entry in report.baseline.stale
        ]
    return _run(
        report,
        ids,
        results,
        {
            "toolExecutionNotifications": list(_about_files(report.files)),
            "toolConfigurationNotifications": configuration,
        },
        site,
    )


def _about_files(files: Iterable[FileReport]) -> Iterable[Json]:
    for file in files:
        where = [{"physicalLocation": {"artifactLocation": artifact(file.path)}}]
        if file.error is not None:
            yield _notification("not-judged", "error", file.error, where)
        for note in file.notes:
            yield _notification("note", "note", note, where)


def _notification(name: str, level: str, text: str, locations: list[Json] | None = None) -> Json:
    notification: Json = {
        "descriptor": {"id": name, "index": list(NOTIFICATIONS).index(name)},
        "level": level,
        "message": {"text": printable(text)},
    }
    return {**notification, "locations": locations} if locations else notification


def _finding(finding: Finding, number: int, report: Report) -> Json:
    shown = {
        label: value
        for label, value in details(finding)
        if label in ("column", "expected", "actual", "could", "observed", "first", "remedy", "basis")
    }
    text = ". ".join(
        [
            finding.message,
            *(f"{label.capitalize()}: {value}" for label, value in shown.items()),
        ]
    )
    digest = fingerprint(finding.rule, finding.path, finding.column)
    properties: Json = {
        "verdict": finding.verdict,
        "could": finding.could,
        "hexdump": [printable(row) for row in finding.hexdump],
    }
    if report.is_not_failing(finding):
        properties["notFailing"] = True
    if finding.observed is not None:
        properties["observed"] = members(finding.observed)
    if finding.also:
        properties["also"] = finding.also
    if finding.explanation:
        properties["explanation"] = printable(finding.explanation)
    if finding.proof is not None:
        properties["proof"] = members(finding.proof)
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": number,
        # Code scanning fails a change for errors, so findings that do not fail the check are not errors.
        "level": "warning" if report.is_not_failing(finding) else LEVELS[finding.verdict],
        "message": {"text": printable(text)},
        "locations": [_location(position, finding) for position in finding.at[:1]],
        "relatedLocations": [
            {"id": index, **_location(position, finding)} for index, position in enumerate(finding.at[1:], 1)
        ],
        "occurrenceCount": finding.count,
        "partialFingerprints": {FINGERPRINT: digest, GITHUB_FINGERPRINT: f"{digest}:1"},
        "properties": properties,
    }
    if report.baseline is not None:
        suppression = {"kind": "external", "status": "accepted", "justification": "The baseline lists it."}
        result["baselineState"] = "unchanged" if finding.known else "new"
        result["suppressions"] = [suppression] if finding.known else []
    return result


def fingerprint(rule: str, path: str, column: str | None) -> str:
    """The identity of a result across runs: 32 hexadecimal digits from rule, path and column."""
    text = json.dumps(
        [rule, encodable(posixpath.normpath(path)), None if column is None else encodable(column)]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _location(position: Position, finding: Finding) -> Json:
    path = position.file or finding.path
    if position.file is None and position.field.startswith("data."):  # bytes of the file beside it
        path = posixpath.join(posixpath.dirname(path), DATA_NAME)
    physical: Json = {"artifactLocation": artifact(path)}
    if position.offset >= 0:
        physical["region"] = {"byteOffset": position.offset, "byteLength": position.length}
    return {
        "physicalLocation": physical,
        "logicalLocations": [{"fullyQualifiedName": printable(position.field), "kind": "member"}],
        "message": {"text": printable(place(position))},
    }


def artifact(path: str) -> Json:
    """The location of a file: relative paths below `ROOT`, others unchanged."""
    text = encodable(path)
    if "://" in text:
        scheme, _, rest = text.partition("://")
        return {"uri": f"{scheme}://{quote(rest)}"}
    if text.startswith("/"):
        return {"uri": f"file://{quote(text)}"}
    return {"uri": quote(posixpath.normpath(text)), "uriBaseId": ROOT}
