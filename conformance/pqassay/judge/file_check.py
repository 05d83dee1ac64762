"""The check of one file: runs every check of a tier and turns the results into findings."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pqassay.checks import registry
from pqassay.checks.asking import (
    AlikeQuestions,
    Answer,
    BrokenPlaces,
    Questions,
    answers_of,
    by_subject,
    obliges,
    verdict_of,
)
from pqassay.checks.commands import OURS
from pqassay.checks.remedies import remedy
from pqassay.judge.explanations import explained
from pqassay.judge.shapes import shape_of
from pqassay.judge.table_reader import engine_of, metadata_size, notes_about, reader_of
from pqassay.report.model import (
    HIDING,
    Coverage,
    FileReport,
    Finding,
    Gap,
    Obstacle,
    Position,
    Threshold,
    Untested,
    outcome_of,
)
from pqassay.stores.formats import formats
from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import FileClaims
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.fields import NOWHERE, Field, named
from pqassay.under_test.file import (
    FileUnderTest,
    Hindrances,
    NotApplicable,
    NotChecked,
    Options,
    nothing_beside,
)
from pqassay.under_test.pm.chunks import Screens
from pqassay.under_test.pm.file import PmUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError, Truncated
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.base.terminal import printable
from pqassay_spec.directory.placement import extension_area
from pqassay_spec.grammar.hexdump import ROW, marked
from pqassay_spec.parquet.extension_fields import extensions
from pqassay_spec.rules.catalogue import DEFAULT_FILE, TIERS, Rule, Tier, asked_about, file_rules
from pqassay_spec.rules.observed import observed_like
from pqassay_spec.rules.releases import release

HEXDUMP_ROWS = 3

OF_BODIES = ("PQF-063",)
"""Rules of tier ``pages`` that need page bodies, not only headers."""

NEEDS_BODIES = "needs --crc or tier values"
"""The reason why these rules are not checked if bodies are not read."""

NOT_JUDGED = "the file could not be judged"
"""The reason why rules are not checked on an unreadable file; the report on the file says more."""

IN_S3 = f"{OURS} strip s3://"
"""The first words of the only command that writes to a store."""

CREATED_BY_LENGTH = 200
"""The number of characters of ``created_by`` that a report shows."""


@dataclass(frozen=True)
class Selection:
    """The rules to test: those that match a pattern of ``only`` (all without patterns) and no pattern of ``skip``."""

    only: Sequence[str] = ()
    skip: Sequence[str] = ()

    def __contains__(self, rule: str) -> bool:
        wanted = not self.only or any(fnmatch.fnmatchcase(rule, pattern) for pattern in self.only)
        return wanted and not any(fnmatch.fnmatchcase(rule, pattern) for pattern in self.skip)


def why_none(selection: Selection, options: Options, kinds: Collection[str] = (DEFAULT_FILE,)) -> str:
    """The reason why a selection leaves no rule to test with these options on these kinds of files; empty if it leaves one.

    For a table, the rules about its claims about files also count, even if it has no files.
    """
    if not (selection.only or selection.skip) and options.reaches(TIERS[-1]):
        return ""  # without loading the checks, which this process may not need
    left_out = _all_left_out(selection, options)
    if any(not asked_about(kind, kind).keys() <= left_out.keys() for kind in kinds):
        return ""
    chosen = [rule for rule in file_rules().values() if rule.id in selection and not rule.excluded]
    asked = [rule for rule in chosen if any(rule.id in asked_about(kind, kind) for kind in kinds)]
    if chosen and not asked:
        others = (
            f" and {len(chosen) - 1} other{'s' * (len(chosen) > 2)} judge" if len(chosen) > 1 else " judges"
        )
        return f"no rule is left to test: {chosen[0].id}{others} files of another kind"
    if any(left_out[rule.id].reason == NEEDS_BODIES for rule in asked):
        return f"no rule is left to test: a CRC {NEEDS_BODIES}"
    deeper = [rule for rule in asked if not options.reaches(rule.tier)]
    if not deeper:
        return "no rule is left to test: all are skipped"
    tiers = " or ".join(name for name in TIERS if name in {rule.tier for rule in deeper})
    others = f" and {len(deeper) - 1} other{'s' * (len(deeper) > 2)} need" if len(deeper) > 1 else " needs"
    told = f"no rule is left to test at tier {options.tier}: {deeper[0].id}{others} tier {tiers}"
    if options.tier == "meta" and formats():
        told += f"; tier meta is about tables, and a folder is one {', or '.join(one.sign for one in formats().values())}"
    return told


def check_source(
    source: Source,
    options: Options,
    selection: Selection,
    level: Threshold,
    *,
    kind: str = DEFAULT_FILE,
    beside: Callable[[str], Source | None] = nothing_beside,
    table: TableAt | None = None,
    claims: FileClaims | None = None,
) -> tuple[FileReport, Coverage]:
    """Check one source. The content of its bytes never raises an error.

    Args:
        source: The bytes.
        options: The options of the check.
        selection: The rules to test.
        level: The lowest verdict that counts.
        kind: The kind of file that the bytes are; rules for other kinds are not applicable.
        beside: Opens a file of the same folder by its name.
        table: The table that is judged, or that has the file.
        claims: The claims of that table about the file.

    Returns:
        The report, and the coverage for it.
    """
    said_by = "" if claims is None else claims.table
    plan = _planned(tuple(selection.only), tuple(selection.skip), options, kind, said_by)
    file = FileUnderTest(source, options, kind, beside, pm_screens, plan.left_out, table=table, claims=claims)
    answers = answers_of(file, plan.questions)
    ordered = sorted(answers.found.items(), key=lambda item: plan.order[item[0]])
    reasons: list[tuple[str, Untested]] = []
    broken: list[tuple[Rule, Answer]] = []
    for rule_id, answer in ordered:
        why = answer.why_not_checked
        if why is None:
            broken.append((file_rules()[rule_id], answer))
        else:
            reasons.append((rule_id, why))
    findings = [_finding(rule, group, file) for rule, answer in broken for group in answer.groups.values()]
    gaps = _gaps(file, [(rule_id, answer.hindrances) for rule_id, answer in ordered if answer.hindrances])
    trouble = next((said for _, answer in ordered if (said := answer.trouble)), None)
    report = FileReport(
        path=source.name,
        kind=kind,
        size=source.size if table is None or claims is not None else metadata_size(file),
        outcome="errored" if trouble else outcome_of(findings, gaps, level),
        coverage="",
        findings=findings,
        error=trouble,
        created_by=_created_by(file),
        notes=_notes(file),
        gaps=gaps,
    )
    checked = frozenset(answers.applied.union(rule.id for rule, _ in broken))
    file.forget()
    return report, _coverage(plan, options.tier, checked, tuple(reasons))


def not_tested(options: Options, selection: Selection) -> Collection[str]:
    """The rules about Parquet files that a check does not test."""
    return _planned(tuple(selection.only), tuple(selection.skip), options, DEFAULT_FILE, "").left_out.keys()


@dataclass(frozen=True, eq=False)
class _Planned:
    """The rules to test on files of one kind, which are the same for every file of a run.

    Attributes:
        asked: Their ids, in the order of the catalogue.
        questions: Their checks, by subject.
        order: The position of each of them.
        left_out: The reasons why other rules are not checked.
        others: Rules for files of other kinds.
    """

    asked: tuple[str, ...]
    questions: Sequence[Questions | AlikeQuestions]
    order: Mapping[str, int]
    left_out: Mapping[str, Untested]
    others: Sequence[str]


@lru_cache(maxsize=64)
def _planned(
    only: tuple[str, ...], skip: tuple[str, ...], options: Options, kind: str, table: str
) -> _Planned:
    left_out = _computed_left_out(only, skip, options)
    mine = asked_about(kind, table)
    asked = tuple(rule_id for rule_id in mine if rule_id not in left_out)
    return _Planned(
        asked,
        by_subject(asked),
        {rule_id: number for number, rule_id in enumerate(asked)},
        {rule_id: left_out[rule_id] for rule_id in mine if rule_id in left_out},
        [rule_id for rule_id in file_rules() if rule_id not in mine],
    )


@lru_cache(maxsize=256)
def _coverage(
    plan: _Planned, tier: Tier, checked: frozenset[str], reasons: tuple[tuple[str, Untested], ...]
) -> Coverage:
    """The rules by outcome, in the order of their ids. It is cached, since files of one lake share it."""
    not_checked = {**plan.left_out, **dict(reasons)}
    return Coverage(
        tier,
        sorted(checked.difference(not_checked)),
        dict(sorted(not_checked.items())),
        sorted([*plan.others, *(set(plan.asked) - checked - not_checked.keys())]),
    )


def pm_screens() -> Screens | None:
    """The screens of ``_pm``; ``None`` without numpy, as in a browser."""
    try:
        from pqassay.values.pm import screens  # noqa: PLC0415 - numpy, for many chunks only
    except ImportError:
        return None
    return screens


def not_judged(selection: Selection, options: Options, kind: str = DEFAULT_FILE, table: str = "") -> Coverage:
    """The coverage of a file that could not be read."""
    mine = asked_about(kind, table) or file_rules()
    left_out = _all_left_out(selection, options)
    reasons = {rule: left_out.get(rule, Untested("tool", NOT_JUDGED)) for rule in mine}
    return Coverage(
        options.tier, [], dict(sorted(reasons.items())), sorted(file_rules().keys() - mine.keys())
    )


def _created_by(file: FileUnderTest) -> str | None:
    """The writer's name in the footer of a Parquet file or the log of a table; ``None`` for other kinds of files."""
    if file.kind != DEFAULT_FILE:
        return engine_of(file)
    try:
        text = file.metadata.created_by
    except (FormatError, OSError, MemoryError):
        return None
    return text[:CREATED_BY_LENGTH] if text else None


def _notes(file: FileUnderTest) -> list[str]:
    """Messages about the parts of a Parquet file or table that no rule covers."""
    if file.kind != DEFAULT_FILE:
        return notes_about(file)
    try:
        metadata = file.metadata
        if metadata.encryption_algorithm is None and not file.has_unknown_fields:
            return []
        extended = [extension.struct for extension in extensions(metadata, file.footer, "footer")]
    except (FormatError, NotApplicable, NotChecked, OSError, MemoryError):
        return []
    notes: list[str] = []
    if metadata.encryption_algorithm is not None:
        notes.append("the signature of the footer is not verified: pqassay has no keys")
    # Blobs of an index directory in the footer's extension are judged.
    of_directory = extension_area(metadata) is not None
    structs = [struct for struct in dict.fromkeys(extended) if not (of_directory and struct == "footer")]
    if structs:
        more = f" and {len(structs) - 1:,} further structs" if len(structs) > 1 else ""
        notes.append(f"the content of the extension of {structs[0]}{more} is not judged")
    return notes


def _gaps(file: FileUnderTest, hindrances: Iterable[tuple[str, Hindrances]]) -> list[Gap]:
    """The parts of a file that could not be checked, one gap for each obstacle."""
    every = Hindrances()
    rules_of: dict[Obstacle, list[str]] = {}
    for rule_id, hindered in hindrances:
        every.merge(hindered)
        for obstacle in hindered:
            rules_of.setdefault(obstacle, []).append(rule_id)
    if file.kind == DEFAULT_FILE:
        every.merge(file.part(ColumnChunks).left_out)
    count = _column_count(file) if every else 0
    return [
        Gap(
            obstacle,
            printable(found.reason),
            rules_of.get(obstacle, []),
            sorted(found.columns),
            count,
        )
        for obstacle in HIDING
        if (found := every.get(obstacle)) is not None
    ]


def _column_count(file: FileUnderTest) -> int:
    """The number of columns of a file; 0 if unknown."""
    try:
        if file.table is not None and file.claims is None:
            return 0
        return len(file.leaves) if file.kind == DEFAULT_FILE else file.part(PmUnderTest).header.column_count
    except (FormatError, NotApplicable, NotChecked, OSError, MemoryError):
        return 0


def _left_out(rule: Rule, selection: Selection, options: Options) -> Untested | None:
    if rule.id not in selection:
        return Untested("request", "left out by --rule or --skip-rule")
    if rule.excluded:
        return Untested("tool", rule.excluded)
    if not options.reaches(rule.tier):
        return Untested("request", f"needs tier {rule.tier}")
    if rule.id in OF_BODIES and not options.reads_bodies:
        return Untested("request", NEEDS_BODIES)
    return None if rule.id in registry() else Untested("tool", "this version has no check for it")


def _all_left_out(selection: Selection, options: Options) -> Mapping[str, Untested]:
    """The reasons why rules are not tested, by rule id."""
    return _computed_left_out(tuple(selection.only), tuple(selection.skip), options)


@lru_cache(maxsize=64)
def _computed_left_out(
    only: tuple[str, ...], skip: tuple[str, ...], options: Options
) -> Mapping[str, Untested]:
    """Like `_all_left_out`. It is cached, since computing it for each file takes noticeable time if files are small."""
    selection = Selection(only, skip)
    reasons = {rule.id: _left_out(rule, selection, options) for rule in file_rules().values()}
    return {rule: reason for rule, reason in reasons.items() if reason is not None}


def _finding(rule: Rule, group: BrokenPlaces, file: FileUnderTest) -> Finding:
    fields = [_field(violation, file) for violation in group.first]
    younger = _younger(rule, file)
    positions = [_position(*both) for both in zip(group.first, fields, strict=True)]
    holder = file if fields[0] is None else fields[0].structure.file
    verdict = verdict_of(rule, file)
    is_news = verdict != "INFO"  # asks for no action
    shape = shape_of(positions[0], group.first[0].message, group.column, file)
    return Finding(
        rule=rule.id,
        level=rule.level,
        verdict=verdict,
        could=rule.could,
        observed=observed_like(rule.id, shape),
        shape=shape,
        path=file.source.name,
        column=group.column,
        count=group.count,
        at=positions,
        # Names come from the file, and a message is one line.
        message=printable(group.first[0].message) + younger,
        remedy=_remedy(rule, group, file) if is_news else None,
        hexdump=hexdump(holder.source, positions[0]) if is_news else [],
        explanation=explained(rule.id, group.first, file),
        files=list(group.files),
        also=sorted(group.also),
        compares_values=rule.compares_values,
        weighed=group.weighed,
        basis=rule.origin.kind,
    )


def _younger(rule: Rule, file: FileUnderTest) -> str:
    """The end of the message if a rule is newer than all signs of the writer's release; empty if it applies."""
    if obliges(rule, file):
        return ""
    return (
        f" (required since {release(rule.obliged_since).name}; the file has no feature of "
        "that release or a later one)"
    )


def _remedy(rule: Rule, group: BrokenPlaces, file: FileUnderTest) -> str | None:
    """The repair: for a local file a command of pqassay, for a file of a table a command of the table's own software."""
    command = next((v.remedy for v in group.first if v.remedy), None) or remedy(
        file, rule.id, group.column, group.row_groups
    )
    is_evidence = group.weighed is not None and group.weighed.wrong == "values"
    if command is None or is_evidence:
        return None
    if not command.startswith(OURS):
        return command if file.table is None else reader_of(file.table.kind).remedy_of(rule.id, command)
    if file.claims is not None:
        return reader_of(file.claims.table).rewriting(file.claims)
    is_local = isinstance(file.source, FileSource)
    return command if is_local or command.startswith(IN_S3) else None


def _field(violation: Violation, file: FileUnderTest) -> Field | None:
    """The field at which a rule is broken; ``None`` if the position exists only in the file under test."""
    field = violation.field
    return named(file, field) if isinstance(field, str) else field


def _position(violation: Violation, field: Field | None) -> Position:
    offset, length = violation.offset, violation.length
    if offset is None:
        offset, length = NOWHERE if field is None else field.place()
    return Position(
        file=None if field is None else field.structure.beside,
        field=str(violation.field),
        offset=offset,
        length=length,
        expected=violation.expected,
        actual=violation.actual,
        row_group=violation.row_group,
    )


def hexdump(source: Source, position: Position) -> list[str]:
    """Up to three hexdump rows around a position, with carets and the field's name below the marked bytes."""
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
