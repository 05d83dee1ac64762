"""A report as JUnit XML, which Jenkins, GitLab and others show in their test panels.

In a check, each file is a test suite. Its test cases are one for whether it could be judged, and one for each family of rules, whether the
file is broken or sound. In a run, each family is a suite and each request a test case, the most severe first. Cases that were not asked
have no test case, but are a property of the first suite. Well-formed lies are never scored, so they are omitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TextIO
from xml.etree import ElementTree as ET

from pqassay.report.model import GONE, Coverage, FileReport, Finding, Report
from pqassay.report.renderers.details import details, further, place
from pqassay.report.rules import judged_against_line
from pqassay.report.run import text as run_text
from pqassay.report.run.model import Result, RunReport
from pqassay.report.run.observed import observed_words
from pqassay.report.run.outcomes import BROKEN, NEITHER, UNCLASSED
from pqassay_spec.base.terminal import printable
from pqassay_spec.rules.catalogue import families

JUDGED = "judged"
"""The first test case of each file."""

FINDINGS_OF_A_RULE = 10
"""The number of findings of one rule in one file that are listed; the others are counted."""


def render(report: Report | RunReport, stream: TextIO) -> None:
    """Write the XML."""
    suites = list(_of_check(report) if isinstance(report, Report) else _of_run(report))
    total = {
        name: sum(int(suite.get(name, "0")) for suite in suites) for name in ("tests", "failures", "errors")
    }
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    head = " ".join(f'{name}="{number}"' for name, number in total.items())
    stream.write(f'<testsuites name="pqassay {report.kind}" {head}>\n')
    for suite in suites:
        ET.indent(suite, level=1)
        stream.write(f"  {ET.tostring(suite, encoding='unicode')}\n")
    stream.write("</testsuites>\n")


@dataclass(frozen=True)
class _Case:
    """One test case with its result (``failure``, ``error``, ``skipped`` or nothing) and its text."""

    name: str
    result: str = ""
    message: str = ""
    kind: str = ""
    text: tuple[str, ...] = ()
    output: tuple[str, ...] = ()


def _suite(name: str, class_name: str, cases: Iterable[_Case], file: str = "") -> ET.Element:
    cases = list(cases)
    element = ET.Element(
        "testsuite",
        name=printable(name),
        tests=str(len(cases)),
        failures=str(sum(case.result == "failure" for case in cases)),
        errors=str(sum(case.result == "error" for case in cases)),
        skipped=str(sum(case.result == "skipped" for case in cases)),
    )
    if file:
        element.set("file", printable(file))
    for case in cases:
        entry = ET.SubElement(element, "testcase", name=printable(case.name), classname=printable(class_name))
        if case.result:
            result = ET.SubElement(entry, case.result, message=printable(case.message))
            if case.kind:
                result.set("type", printable(case.kind))
            result.text = _lines(case.text)
        if case.output:
            ET.SubElement(entry, "system-out").text = _lines(case.output)
    return element


def _lines(lines: Iterable[str]) -> str:
    """Lines of untrusted text with unprintable characters escaped, since XML cannot contain all of them."""
    return "\n".join(printable(line) for line in lines)


def _class_of(path: str) -> str:
    """A path as a class name with dots for folders, since panels read dots as package borders."""
    parts = [part for part in path.replace(".", "_").split("/") if part not in ("", "_", "__")]
    return ".".join(parts) or "file"


def _of_check(report: Report) -> Iterator[ET.Element]:
    for number, file in enumerate(report.files):
        suite = _suite(file.path, _class_of(file.path), _cases(file, report), file.path)
        about = {
            "judged against": judged_against_line(report.judged_against),
            "not failing": report.not_failing,
        }
        if not number and any(about.values()):
            # Once for the whole check, since there may be very many files.
            _say(suite, {name: value for name, value in about.items() if value})
        yield suite
    if report.baseline is not None and report.baseline.stale:
        yield _suite(
            f"baseline {report.baseline.path}",
            "baseline",
            [
                _Case(
                    f"{entry.rule} {entry.path}" + (f" {entry.column}" if entry.column is not None else ""),
                    "failure",
                    f"stale: {entry.reason}",
                    "stale",
                )
                for entry in report.baseline.stale
            ],
        )


def _cases(file: FileReport, report: Report) -> Iterator[_Case]:
    coverage = report.coverages[file.coverage]
    yield _judged(file, report, coverage)
    for family in _families(file, coverage):
        findings = [finding for finding in file.findings if _prefix(finding.rule) == family]
        name = " ".join(filter(None, (family, _titles().get(family))))
        yield _broken(name, findings, report) if findings else _unbroken(name, family, coverage)


def _judged(file: FileReport, report: Report, coverage: Coverage) -> _Case:
    """The test case for whether a file could be judged completely."""
    if file.outcome == "errored":
        return _Case(JUDGED, "error", file.error or "not judged", "errored")
    if file.outcome == "gone":
        return _Case(JUDGED, "failure" if report.complete else "skipped", file.error or GONE, "gone")
    if report.is_partly_checked(file):
        result = "failure" if report.complete else "skipped"
        gaps = "; ".join(gap.line for gap in file.gaps if not gap.known)
        return _Case(JUDGED, result, gaps, file.outcome)
    checked = f"{len(coverage.checked)} rules checked at tier {coverage.tier}"
    return _Case(JUDGED, output=(checked, *file.notes))


def _prefix(rule: str) -> str:
    return rule.rpartition("-")[0]


@cache
def _titles() -> dict[str, str]:
    return {family.prefix: family.title for family in families()}


def _families(file: FileReport, coverage: Coverage) -> list[str]:
    """The families that judge files of a kind, and the families about table claims on a file."""
    asked = {*coverage.checked, *coverage.not_checked, *(finding.rule for finding in file.findings)}
    of_kind = {family.prefix for family in families() if family.file == file.kind}
    return sorted(of_kind | {_prefix(rule) for rule in asked})


def _unbroken(name: str, family: str, coverage: Coverage) -> _Case:
    if any(_prefix(rule) == family for rule in coverage.checked):
        return _Case(name)
    reasons = (reason for rule, reason in coverage.reasons.items() if _prefix(rule) == family)
    return _Case(name, "skipped", next((f"not checked: {reason}" for reason in reasons), "not in the file"))


def _broken(name: str, findings: list[Finding], report: Report) -> _Case:
    """The test case for one family in one file: a failure if a finding counts, else a remark on a passed test."""
    counted = [finding for finding in findings if report.is_counted(finding)]
    text: tuple[str, ...] = ()
    for _, of_rule in groupby(counted or findings, lambda finding: finding.rule):
        shown = list(of_rule)
        text += tuple(line for finding in shown[:FINDINGS_OF_A_RULE] for line in _told(finding))
        if len(shown) > FINDINGS_OF_A_RULE:
            text += (f"... and {len(shown) - FINDINGS_OF_A_RULE} further columns",)
    if not counted:
        if report.pin is not None and (line := report.pin.line(filter(report.is_not_failing, findings))):
            text = (line, *text)
        return _Case(name, output=text)
    first = counted[0]
    more = f" (and {len(counted) - 1} further findings)" if len(counted) > 1 else ""
    return _Case(
        name, "failure", f"{first.rule} {first.message}{more}", f"{first.verdict} {first.could}", text
    )


def _told(finding: Finding) -> Iterator[str]:
    known = " known" if finding.known else ""
    yield f"{finding.verdict} {finding.rule}{known}{finding.times}"
    for label, value in details(finding):
        if label == "could":  # proofs on this file come before known effects of the rule
            for position in finding.at[1:]:
                yield f"  {'also at':<10}{place(position)}"
            for name, lines in further(finding).items():
                yield f"  {name}"
                yield from (f"    {line}" for line in lines)
        yield f"  {label:<10}{value}"
    yield from (f"  {row}" for row in finding.hexdump)


def _say(suite: ET.Element, about: dict[str, str]) -> None:
    """Write the properties of a suite."""
    properties = ET.Element("properties")
    for name, value in about.items():
        ET.SubElement(properties, "property", name=name, value=printable(value))
    suite.insert(0, properties)


def _of_run(report: RunReport) -> Iterator[ET.Element]:
    for number, (family, unordered) in enumerate(report.by_family.items()):
        results = sorted(unordered, key=_gravity)
        element = _suite(family, family, (_result(result, report) for result in results))
        for entry, result in zip(element.iter("testcase"), results, strict=True):
            entry.set("classname", printable(_class_of(result.case)))
        if not number:
            about = {"driver": report.driver.line, "result": run_text.tally(report)}
            about |= {"not asked": run_text.undeclared(report)} if report.not_asked else {}
            about |= {"revision": report.scored_by.revision} if report.scored_by else {}
            _say(element, about | ({"not scored": said} if (said := run_text.apart(report)) else {}))
        yield element
    if report.problems:
        yield _suite(
            "expectations",
            "expectations",
            [_Case(problem.entry, "failure", problem.problem, "expectation") for problem in report.problems],
        )
    if report.tested_nothing:
        why = "the driver supports no operation that was asked for"
        yield _suite(report.driver.label, "run", [_Case("tested", "failure", why, "nothing")])


def _gravity(result: Result) -> tuple[bool, bool, int, str]:
    """A sort key: failures first, by severity and cause, then known failures, then the other results in order."""
    if result.is_good:
        return True, True, 0, ""
    return False, bool(result.known or result.unscored), result.severity or UNCLASSED, result.cause or ""


def _result(result: Result, report: RunReport) -> _Case:
    """The test case of one request. For a failure, the type is the observation, and the first line of text is the cause."""
    name = result.operation
    if result.outcome in NEITHER:
        return _Case(name, "skipped", result.reason or result.outcome)
    if result.is_good:
        return _Case(name)
    cause = [("cause", result.cause)] if result.cause else []
    text = tuple(f"{label:<10}{value}" for label, value in [*cause, *run_text.details(result, report)])
    if result.known:
        return _Case(name, "skipped", f"expected: {result.outcome}", "expected", output=text)
    if result.unscored:
        why = f"{run_text.not_scored(report)}: {result.outcome}"
        return _Case(name, "skipped", why, "not scored yet", output=text)
    kind = "error" if result.outcome in BROKEN else "failure"
    seen = observed_words(result)
    return _Case(
        name,
        kind,
        ": ".join(filter(None, (seen, result.reason or result.outcome))),
        seen or result.outcome,
        text,
    )
