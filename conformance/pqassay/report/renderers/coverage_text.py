"""Lines of a report for people about tested and untested rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pqassay.report.coverage import DEEPER, Unchecked, is_excluded, unchecked, without_crc
from pqassay.report.json_form import encodable
from pqassay.report.model import Coverage, FileReport, Report
from pqassay.report.renderers.line import counted
from pqassay_spec.base.terminal import shell_line
from pqassay_spec.rules.catalogue import TIERS, file_rules, rules_for

REASONS_SHOWN = 5
"""The number of reasons for untested rules that a report lists unless it is verbose."""


def coverage_lines(report: Report, *, verbose: bool) -> Iterator[str]:
    """Yield lines about the tested rules, the reasons why others were not, and invisible damage."""
    used = dict.fromkeys(file.coverage for file in report.files)
    deeper = ""
    if len(used) > 1:
        yield _coverage_of_many([report.coverages[key] for key in used], len(report.files))
    for key in used if len(used) == 1 else ():
        line, deeper = _coverage(report.coverages[key], report.files[0])
        yield line
    if used:
        yield from _obstacles(report, verbose=verbose)
    if deeper:
        yield deeper
    if blind := without_crc(report):
        files = (
            "no page has a CRC"
            if len(report.files) == 1
            else f"no CRC in the pages of {counted(blind, 'file')}"
        )
        yield f"{files}: damage inside values is only visible if other data contradict it"


def _coverage(coverage: Coverage, first: FileReport) -> tuple[str, str]:
    """The tested rules if all files have the same, and the command that tests more; empty if there is none."""
    blocked, deeper = _unchecked(coverage)
    mine = rules_for(first.kind) or file_rules()
    absent = [
        rule for rule in coverage.not_applicable if rule in mine
    ]  # rules for other kinds of files do not deserve a line
    parts = [f"tier {coverage.tier}: {counted(len(coverage.checked), 'rule')} checked"]
    if blocked or deeper:
        parts.append(f"{len(blocked) + len(deeper)} not checked")
    if absent:
        parts.append(f"{len(absent)} not applicable")
    if not deeper:
        return ", ".join(parts), ""
    command = shell_line(["pqassay", "check", "--tier", _deepest(deeper.values()), encodable(first.path)])
    return ", ".join(parts), f"  {counted(len(deeper), 'rule')} at a deeper tier: {command}"


def reasons(report: Report, *, verbose: bool) -> list[Unchecked]:
    """The reasons why rules were not checked, except other broken rules, which have their own findings."""
    return [
        why
        for why in unchecked(report)
        if not why.reason.startswith(DEEPER) and (verbose or why.obstacle != "another rule")
    ]


def _obstacles(report: Report, *, verbose: bool) -> Iterator[str]:
    """Yield a line for each reason."""
    whys = reasons(report, verbose=verbose)
    shown = len(whys) if verbose else REASONS_SHOWN
    for why in whys[:shown]:
        files = f" in {counted(why.files, 'file')}" if len(report.files) > 1 else ""
        yield f"  not checked{files}, because {why.reason}: {_shortened(why.rules)}"
    if rest := whys[shown:]:
        further = len({rule for why in rest for rule in why.rules})
        yield f"  … and {counted(len(rest), 'further reason')} ({counted(further, 'rule')}): see -v"


def _coverage_of_many(coverages: Sequence[Coverage], files: int) -> str:
    """The tested rules of files with different coverage, in one line: the least and the most of all files."""
    tiers = " and ".join(dict.fromkeys(coverage.tier for coverage in coverages))
    unchecked = [_unchecked(coverage) for coverage in coverages]
    numbers = sorted(len(coverage.checked) for coverage in coverages)
    least = f"{numbers[0]:,} to " if numbers[0] < numbers[-1] else ""
    parts = [f"tier {tiers}: {least}{counted(numbers[-1], 'rule')} checked on each of {files:,} files"]
    if most := max(len(deeper) for _, deeper in unchecked):
        tier = _deepest(why for _, deeper in unchecked for why in deeper.values())
        why = ", which compares bounds and indexes with the values" if tier == "values" else ""
        parts.append(f"up to {most} more with --tier {tier}{why}")
    if most := max(len(blocked) for blocked, _ in unchecked):
        parts.append(f"up to {most} not checked for other reasons")
    return f"{', '.join(parts)}; `coverages` of --format json lists them"


def _unchecked(coverage: Coverage) -> tuple[dict[str, str], dict[str, str]]:
    """The reasons why rules were not checked: reasons of the file or the request, and rules that a deeper tier checks.

    Rules that no version of this kit can test on any file are omitted.
    """
    blocked: dict[str, str] = {}
    deeper: dict[str, str] = {}
    for rule, why in coverage.not_checked.items():
        if not is_excluded(rule, why):
            (deeper if why.reason.startswith(DEEPER) else blocked)[rule] = why.reason
    return blocked, deeper


def _deepest(reasons: Iterable[str]) -> str:
    """The tier that checks all rules with these reasons."""
    return max((why.removeprefix(DEEPER) for why in reasons), key=TIERS.index)


def _shortened(ids: Iterable[str]) -> str:
    ids = list(ids)
    return ", ".join(ids) if len(ids) <= 4 else f"{ids[0]} … {ids[-1]} ({counted(len(ids), 'rule')})"
