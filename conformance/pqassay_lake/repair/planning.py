"""Making of a repair plan: the affected files, their tables, and the repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from pqassay.checks.commands import OURS
from pqassay.errors import UsageError
from pqassay.report.gate import EFFECTS
from pqassay.report.model import MOST_FILES, Finding
from pqassay.report.rules import compare_first
from pqassay.tables.kept import kept_states
from pqassay_lake.repair.delta import FALSE_COUNTS, UNCOUNTED, delta_sql
from pqassay_lake.repair.iceberg import iceberg_sql
from pqassay_lake.repair.model import (
    BY_HAND,
    CATALOG,
    SCHEMA_VERSION,
    Dialect,
    Plan,
    PlannedTable,
    Quarantined,
    Step,
)
from pqassay_lake.repair.open_tables import OpenTable, open_table
from pqassay_lake.repair.reports import Concerned, Reported
from pqassay_spec import __version__
from pqassay_spec.rules.catalogue import Effect
from pqassay_spec.table.layout import TableKind
from pqassay_tables.metadata.repairs import ICEBERG_SORTED, OF_FILES, PLANNED, REPAIRS, SEEN, SEEN_BY_READERS

TABLES: tuple[TableKind, ...] = ("delta", "iceberg")

COMMANDS = "run commands"
"""The name of the step for files outside tables."""

SAFE = frozenset((*(one.name for one in OF_FILES.values()), ICEBERG_SORTED.name))
"""Repairs that read files and rewrite their rows."""

GRAVEST: Mapping[str, int] = {effect: at for at, effect in enumerate(EFFECTS.values())}

SQL: Mapping[TableKind, Callable[[OpenTable, str, Sequence[str]], tuple[list[str], list[str]]]] = {
    "delta": delta_sql,
    "iceberg": iceberg_sql,
}
"""The function for each table format that makes statements and notes from a table, a repair's name, and relative file paths."""


@dataclass
class _Work:
    """The work for one kind of repair.

    Attributes:
        rules: The rules that are broken.
        files: The files, by their names in the report.
        commands: Commands for files outside tables.
        remedies: The remedies in the findings.
        notes: Notes for the user.
    """

    rules: dict[str, None] = field(default_factory=dict[str, None])
    files: dict[str, None] = field(default_factory=dict[str, None])
    commands: dict[str, None] = field(default_factory=dict[str, None])
    remedies: dict[str, None] = field(default_factory=dict[str, None])
    notes: dict[str, None] = field(default_factory=dict[str, None])


@kept_states()
def plan_of(
    report: Reported,
    *,
    dialect: Dialect = "spark",
    names: Mapping[str, str] | None = None,
    catalog: str = CATALOG,
) -> Plan:
    """Make a plan from a report.

    Args:
        report: The files and findings of the report.
        dialect: The dialect of the statements; tables of another format have none.
        names: The names of tables in statements, by path.
        catalog: The catalog of Iceberg tables without a name, in which they have the names of their folders.

    Raises:
        UsageError: A table cannot be read, a name belongs to something other than a table of the report, or no finding counts.
    """
    tables = {file.path: file for file in report.files if file.kind in TABLES}
    names = names or {}
    for path in names:
        if path not in tables:
            known = ", ".join(tables) or "none"
            raise UsageError(f"{path} is not a table of the report; its tables are: {known}")
    work: dict[tuple[str, str], _Work] = {}
    files: dict[str, Quarantined] = {}
    for concerned in report.files:
        table = _table_of(concerned, tables)
        for finding in concerned.findings:
            repair = _repair_of(finding, table)
            mine = work.setdefault(("" if table is None else table.path, repair), _Work())
            _note(mine, finding)
            for path in _files_of(concerned, finding):
                mine.files[path] = None
                files[path] = _quarantined(files.get(path), path, finding, repair, table, concerned)
    if not work:
        raise UsageError(f"{report.name}: no finding in it counts, so there is nothing to repair")
    left_out = _leave_out_unsafe(work)
    opened: dict[str, OpenTable] = {}
    for path in dict.fromkeys(path for path, _ in work if path):
        try:
            opened[path] = open_table(path, cast("TableKind", tables[path].kind), names.get(path, ""), catalog)  # fmt: skip
        except UsageError:  # a table that cannot be read is repaired by hand, and stops no other's repair
            repaired = {of for of, repair in work if repair != BY_HAND}
            if path in repaired or not repaired:
                raise
    steps = [_step(item, repair, opened.get(path), dialect) for (path, repair), item in work.items()]
    quarantined = [
        replace(file, repair=BY_HAND) if file.path in left_out else file for file in files.values()
    ]
    planned = [PlannedTable(table.path, table.kind, table.moment, table.name) for table in opened.values()]
    return Plan(
        SCHEMA_VERSION,
        "repair plan",
        __version__,
        report.name,
        report.tier,
        dialect,
        planned,
        _owned(quarantined, opened),
        steps,
    )


def _table_of(concerned: Concerned, tables: Mapping[str, Concerned]) -> Concerned | None:
    """The table that has the file, or that is the target itself; ``None`` without a table."""
    if concerned.path in tables:
        return concerned
    above = [path for path in tables if concerned.path.startswith(f"{path.rstrip('/')}/")]
    return tables[max(above, key=len)] if above else None


def _repair_of(finding: Finding, table: Concerned | None) -> str:
    """The name of the repair of a finding."""
    remedy = finding.remedy or ""
    if table is not None and finding.rule in SEEN_BY_READERS:
        return SEEN[cast("TableKind", table.kind)].name
    if remedy in REPAIRS:
        return REPAIRS[remedy].name
    if remedy.startswith(OURS) or (remedy.endswith(PLANNED) and table is not None):
        return COMMANDS if table is None else OF_FILES[cast("TableKind", table.kind)].name
    return BY_HAND


def _note(work: _Work, finding: Finding) -> None:
    work.rules[finding.rule] = None
    if first := compare_first(compares_values=finding.compares_values, remedy=finding.remedy):
        work.notes[first] = None
    remedy = finding.remedy or ""
    if remedy.startswith(OURS):
        work.commands[remedy] = None
    elif remedy in REPAIRS:
        work.remedies[remedy] = None
    else:
        work.notes[f"{finding.rule} {finding.path}: {remedy or finding.message}"] = None
    if len(finding.files) == MOST_FILES:
        work.notes[
            f"the report lists {MOST_FILES:,} files of {finding.rule}; check and plan again after this"
        ] = None


def _files_of(concerned: Concerned, finding: Finding) -> Iterable[str]:
    if concerned.kind not in TABLES:
        return (concerned.path,)
    return (f"{concerned.path.rstrip('/')}/{file}" for file in finding.files)


def _quarantined(
    before: Quarantined | None,
    path: str,
    finding: Finding,
    repair: str,
    table: Concerned | None,
    concerned: Concerned,
) -> Quarantined:
    rules = [] if before is None else before.rules
    effects: list[Effect] = [finding.could] if before is None else [finding.could, before.could]
    return Quarantined(
        path=path,
        rules=sorted({*rules, finding.rule}),
        could=min(effects, key=GRAVEST.__getitem__),
        repair=repair if before is None or before.repair == BY_HAND else before.repair,
        table="" if table is None else table.path,
        created_by=concerned.created_by
        if concerned.kind not in TABLES
        else None
        if before is None
        else before.created_by,
    )


def _leave_out_unsafe(work: Mapping[tuple[str, str], _Work]) -> set[str]:
    """Exclude files from rewrites if they have an error that a rewrite does not repair, since wrong data might be read and written."""
    unsafe = {
        path: rule
        for (_, repair), item in work.items()
        if repair not in SAFE
        for path in item.files
        for rule in item.rules
    }
    left_out: set[str] = set()
    for (table, repair), item in work.items():
        unsafe_files = [path for path in item.files if path in unsafe]
        if table and repair in SAFE and unsafe_files:
            left_out.update(unsafe_files)
            for path in unsafe_files:
                del item.files[path]
            rules = ", ".join(sorted({unsafe[path] for path in unsafe_files}))
            item.notes[
                f"left out: {_count(len(unsafe_files))}, where {rules} must be repaired first, since what is read there may be wrong; then check and plan again"
            ] = None
    return left_out


def _count(files: int) -> str:
    return f"{files:,} file{'s' * (files != 1)}"


def _owned(files: Sequence[Quarantined], opened: Mapping[str, OpenTable]) -> list[Quarantined]:
    """The quarantined files with their writers, if the tables name them; each log is read once."""
    owners: dict[str, str] = {}
    for name, table in opened.items():
        of_table = {table.relative(one.path): one.path for one in files if one.table == name}
        owners.update({of_table[path]: line for path, line in table.owners(of_table).items()})
    return [replace(one, owner=owners.get(one.path)) for one in files]


def _step(work: _Work, repair: str, table: OpenTable | None, dialect: Dialect) -> Step:
    rules, notes = sorted(work.rules), list(work.notes)
    if table is None:
        return Step(repair, rules, len(work.files), statements=list(work.commands), notes=notes)
    if dialect not in ("spark", table.kind):
        notes.append(
            f"this is {table.kind.capitalize()}, for which {dialect} has no statements; see --dialect"
        )
        return Step(repair, rules, len(work.files), table.path, notes=notes)
    relative = [table.relative(path) for path in work.files]
    live = [path for path in relative if path in table.live]
    if gone := sum(path not in table.live and path not in table.deletes for path in relative):
        notes.append(f"{_count(gone)} of these {'is' if gone == 1 else 'are'} not in the table any more")
    if repair in SAFE and not live:
        return Step(repair, rules, len(work.files), table.path, notes=notes)
    statements, more = SQL[table.kind](table, repair, live)
    if not statements:
        more = [*work.remedies, *more]
    elif FALSE_COUNTS & work.rules.keys():
        statements = [UNCOUNTED, *statements]
    return Step(repair, rules, len(work.files), table.path, statements, [*more, *notes])
