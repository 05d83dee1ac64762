"""The checker: runs every check that a tier reaches over each file and collects a report."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from pqassay.checks import Violation, registry, remedy
from pqassay.file_under_test import FileUnderTest, NotApplicable, NotChecked, Options
from pqassay.report import (
    COUNTED,
    FIRST_POSITIONS,
    SCHEMA_VERSION,
    Coverage,
    FileReport,
    Finding,
    Outcome,
    Position,
    Report,
    Threshold,
    summarise,
)
from pqassay_spec import __version__
from pqassay_spec.catalogue import TIERS, Rule, Tier, digest, rules
from pqassay_spec.errors import FormatError, Truncated, Unsupported
from pqassay_spec.hexdump import ROW, marked
from pqassay_spec.sources import BytesSource, FileSource, Source

VALUES_BY_DEFAULT_BELOW = 1 << 30
"""Bytes up to which one file alone is checked at tier ``values`` by default."""

HEXDUMP_ROWS = 3


@dataclass(frozen=True)
class Selection:
    """Which rules to test: those that match a pattern of ``only`` (all, if there is none) and none of ``skip``."""

    only: Sequence[str] = ()
    skip: Sequence[str] = ()

    def __contains__(self, rule: str) -> bool:
        wanted = not self.only or any(fnmatch.fnmatchcase(rule, pattern) for pattern in self.only)
        return wanted and not any(fnmatch.fnmatchcase(rule, pattern) for pattern in self.skip)


@dataclass
class _Progress:
    """What happened to each rule on one file so far."""

    checked: list[str] = field(default_factory=list[str])
    not_checked: dict[str, str] = field(default_factory=dict[str, str])
    not_applicable: list[str] = field(default_factory=list[str])
    trouble: list[str] = field(default_factory=list[str])

    def coverage(self, tier: Tier) -> Coverage:
        """The rules by what happened to them, in the order of their ids."""
        return Coverage(
            tier,
            sorted(self.checked),
            dict(sorted(self.not_checked.items())),
            sorted(self.not_applicable),
        )


class UsageError(ValueError):
    """The caller asked for something that does not exist: no path, an unknown tier, a pattern without a rule."""


def check(
    target: str | os.PathLike[str] | bytes | bytearray | memoryview | Sequence[str | os.PathLike[str]],
    *,
    tier: Tier | None = None,
    level: Threshold = "must",
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    idx1_column: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Check files against the specification.

    Args:
        target: A path, several paths, or the bytes of one file.
        tier: How deep to look; by default ``values`` for one file under 1 GiB, else ``index``.
        level: From which verdict on a finding makes a file nonconformant.
        only: Patterns of rule ids (``"IDX1-*"``) to test; all by default.
        skip: Patterns of rule ids not to test.
        idx1_column: Column that an IDX1 index describes, its path joined by dots.
        progress: Called with the name of each file before it is checked.

    Returns:
        The report. Broken files are findings in it; nothing that bytes can do raises.

    Raises:
        UsageError: No such tier or level, a pattern that matches no rule, a path that no system has, nothing to check.
        OSError: A path cannot be opened.
    """
    if tier is not None and tier not in TIERS:
        raise UsageError(f"there is no tier {tier!r}; tiers are {', '.join(TIERS)}")
    if level not in COUNTED:
        raise UsageError(f"there is no level {level!r}; levels are {', '.join(COUNTED)}")
    for pattern in (*only, *skip):
        if not fnmatch.filter(rules(), pattern):
            raise UsageError(f"no rule matches {pattern!r}; `pqassay explain` lists them")
    sources: list[Callable[[], Source]]
    if isinstance(target, (bytes, bytearray, memoryview)):
        data = cast("bytes", target)
        sources = [lambda: BytesSource(data)]
    else:
        paths = [target] if isinstance(target, (str, os.PathLike)) else list(target)
        sources = [_opener(path) for path in paths]
    if not sources:
        raise UsageError("nothing to check")
    files: list[FileReport] = []
    coverages: dict[str, Coverage] = {}
    for number, opened in enumerate(sources):
        source = opened()
        try:
            if progress is not None:
                progress(source.name)
            reached = tier or default_tier(len(sources), source.size)
            options = Options(reached, idx1_column)
            report, coverage = check_source(source, options, Selection(only, skip), level)
        finally:
            if isinstance(source, FileSource):
                source.close()
        key = next((key for key, known in coverages.items() if known == coverage), f"c{number + 1}")
        coverages[key] = coverage
        files.append(_with_coverage(report, key))
    return Report(
        schema_version=SCHEMA_VERSION,
        kind="check",
        pqassay=__version__,
        rules_sha256=digest(),
        coverages=coverages,
        files=files,
        summary=summarise(files),
    )


def default_tier(files: int, size: int) -> Tier:
    """The tier where none is asked for."""
    return "values" if files == 1 and size < VALUES_BY_DEFAULT_BELOW else "index"


def check_source(
    source: Source, options: Options, selection: Selection, level: Threshold
) -> tuple[FileReport, Coverage]:
    """Check one source. Never raises for what its bytes hold."""
    file = FileUnderTest(source, options)
    progress = _Progress()
    findings: list[Finding] = []
    for rule in rules().values():
        if (reason := _left_out(rule, selection, options)) is not None:
            progress.not_checked[rule.id] = reason
        elif (groups := _run(rule, file, progress)) is not None:
            progress.checked.append(rule.id)
            findings += [_finding(rule, group, file) for group in groups]
    counted = any(finding.verdict in COUNTED[level] for finding in findings)
    outcome: Outcome = "errored" if progress.trouble else "nonconformant" if counted else "conformant"
    report = FileReport(
        path=source.name,
        kind="parquet",
        size=source.size,
        outcome=outcome,
        coverage="",
        findings=findings,
        error=progress.trouble[0] if progress.trouble else None,
    )
    return report, progress.coverage(options.tier)


def _run(rule: Rule, file: FileUnderTest, progress: _Progress) -> list[_Group] | None:
    """Run one check; note why if it could not be carried out, and return ``None`` then."""
    try:
        return _groups(registry()[rule.id](file))
    except NotApplicable:
        progress.not_applicable.append(rule.id)
    except NotChecked as outcome:
        progress.not_checked[rule.id] = str(outcome)
        if not outcome.judgeable:
            progress.trouble.append(str(outcome))
    except Unsupported as error:
        progress.not_checked[rule.id] = error.reason
        progress.trouble.append(error.reason)
    except FormatError as error:
        if error.rule in (None, rule.id):
            return _groups([_violation_from(error, rule)])
        progress.not_checked[rule.id] = f"{error.rule} is broken"
    except OSError as error:
        progress.not_checked[rule.id] = reason = f"the file cannot be read: {error.strerror or error}"
        progress.trouble.append(reason)
    except MemoryError:
        progress.not_checked[rule.id] = reason = "there is not enough memory for it"
        progress.trouble.append(reason)
    return None


def _opener(path: str | os.PathLike[str]) -> Callable[[], Source]:
    if "\0" in os.fspath(path):
        raise UsageError(f"{os.fspath(path)!r} is no path")
    return lambda: FileSource(path)


def _with_coverage(report: FileReport, key: str) -> FileReport:
    return FileReport(
        report.path, report.kind, report.size, report.outcome, key, report.findings, report.error
    )


def _left_out(rule: Rule, selection: Selection, options: Options) -> str | None:
    if rule.id not in selection:
        return "left out by --rule or --skip-rule"
    if rule.excluded:
        return rule.excluded
    if not options.reaches(rule.tier):
        return f"needs tier {rule.tier}"
    return None if rule.id in registry() else "this version has no check for it"


def _violation_from(error: FormatError, rule: Rule) -> Violation:
    return Violation(
        message=error.reason,
        field=error.field or rule.field,
        offset=error.offset,
        length=error.length,
        expected=error.expected,
        actual=error.actual,
    )


@dataclass
class _Group:
    """The places in one column: the first ones, and how many there are."""

    column: str | None
    first: list[Violation]
    count: int = 0


def _groups(violations: Iterable[Violation]) -> list[_Group]:
    """Group violations by column as they come, holding no more than are shown."""
    groups: dict[str | None, _Group] = {}
    for violation in violations:
        group = groups.setdefault(violation.column, _Group(violation.column, []))
        group.count += 1 + violation.more
        if len(group.first) < FIRST_POSITIONS:
            group.first.append(violation)
    return list(groups.values())


def _finding(rule: Rule, group: _Group, file: FileUnderTest) -> Finding:
    positions = [_position(violation, file) for violation in group.first]
    return Finding(
        rule=rule.id,
        level=rule.level,
        verdict=rule.verdict,
        effect=rule.effect,
        path=file.source.name,
        column=group.column,
        count=group.count,
        at=positions,
        message=group.first[0].message,
        remedy=next((v.remedy for v in group.first if v.remedy), None) or remedy(file, rule.id),
        hexdump=hexdump(file.source, positions[0]),
    )


def _position(violation: Violation, file: FileUnderTest) -> Position:
    offset, length = violation.offset, violation.length
    if offset is None:
        try:
            offset, length = file.place(violation.field) if violation.field.startswith("footer") else (-1, 0)
        except FormatError:
            offset, length = -1, 0
    return Position(
        field=violation.field,
        offset=offset,
        length=length,
        expected=violation.expected,
        actual=violation.actual,
        row_group=violation.row_group,
    )


def hexdump(source: Source, position: Position) -> list[str]:
    """Up to three rows around a position; carets and the field's name under what is marked."""
    if not 0 <= position.offset < source.size:
        return []
    start = position.offset - position.offset % ROW
    try:
        data = source.read(start, min(HEXDUMP_ROWS * ROW, source.size - start))
    except (Truncated, OSError):
        return []
    rows = marked(data, start, position.offset, position.offset + max(position.length, 1))
    row, marks = rows[0]
    return [row, f"{marks}  {position.field}", *(line for pair in rows[1:] for line in pair if line)]
