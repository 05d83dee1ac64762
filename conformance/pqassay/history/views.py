"""Views on a history: its runs, and the findings of one of them, all or those that are new, one by one or by writer, rule or owner.

A finding is known by file, rule and column.  It is *new* in a run if none of the runs before had it, back to the last one that judged all of
the same scope: so a check of what was added since yesterday does not make everything else new, and what was mended and broken again is.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from pqassay.errors import UsageError
from pqassay.history.stores import History, NoRunError, newest_first
from pqassay.report.model import members_json

SCHEMA_VERSION = 1

By = Literal["writer", "rule", "owner"]
"""By what findings are grouped."""

NO_OWNER = "no table"
"""The owner of findings in files that belong to no table."""

RUN_COLUMNS = (
    "run",
    "at",
    "kind",
    "scope",
    "partial",
    "tier",
    "exit_code",
    "files",
    "nonconformant",
    "errored",
)
KEY_COLUMNS = (
    "run",
    "kind",
    "path",
    "rule",
    "column",
    "known",
    "counts",
    "verdict",
    "could",
    "writer",
    "owner",
)
SHOWN_COLUMNS = (
    *KEY_COLUMNS,
    "count",
    "message",
    "remedy",
    "observed",
    "owner_user",
    "owner_query",
    "owner_commit",
)

Key = tuple[str, str, str | None]


@dataclass(frozen=True)
class RunLine:
    """A run in the list of runs. ``new`` counts findings that count and that no run before had."""

    run: str
    at: str
    scope: str
    partial: bool
    files: int
    nonconformant: int
    errored: int
    exit_code: int
    findings: int
    new: int


@dataclass(frozen=True)
class GroupLine:
    """The findings of a group.

    ``judged`` says how many files of a writer were looked at, and is ``None`` of other groups; ``rules`` are those that are broken, the most frequent
    first; ``first`` is when the first run had one of its findings.
    """

    name: str
    files: int
    findings: int
    new: int
    known: int
    rules: list[str]
    first: str
    judged: int | None = None


@dataclass(frozen=True)
class FindingLine:
    """A finding of a run. ``first`` is when the first run had it."""

    path: str
    rule: str
    verdict: str
    could: str
    message: str
    new: bool
    known: bool
    first: str
    writer: str
    owner: str | None = None
    column: str | None = None
    commit: str | None = None
    user: str | None = None
    query: str | None = None
    remedy: str | None = None


@dataclass(frozen=True)
class HistoryView:
    """What ``pqassay history`` tells. ``run`` is the one that groups and findings are of."""

    schema_version: int
    kind: Literal["history"]
    runs: list[RunLine] = field(default_factory=list[RunLine])
    run: str | None = None
    by: By | None = None
    only_new: bool = False
    groups: list[GroupLine] = field(default_factory=list[GroupLine])
    findings: list[FindingLine] = field(default_factory=list[FindingLine])

    def to_json(self, indent: int | None = 2) -> str:
        """The view as JSON text in ASCII. Members that have their default are left out."""
        return members_json(self, indent)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a view."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only this needs it

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What pqassay history tells",
        **TypeAdapter(HistoryView).json_schema(),
    }


def runs_view(history: History, most: int) -> HistoryView:
    """The newest runs, the newest first.

    Raises:
        UsageError: There is no history, or it cannot be read.
    """
    past = _Past(history, KEY_COLUMNS)
    lines = [past.line(number) for number in range(min(most, len(past.runs)))]
    return HistoryView(SCHEMA_VERSION, "history", lines)


def findings_view(
    history: History,
    run: str | None = None,
    by: By | None = None,
    *,
    only_new: bool = False,
    lesser: bool = False,
) -> HistoryView:
    """The findings of a run, the newest by default, one by one or in groups.

    Args:
        history: The history.
        run: The id of a run, or the beginning of one.
        by: By what they are grouped.
        only_new: Whether those that are not new, or are known to a baseline, are left out.
        lesser: Whether those are told too that do not make a file nonconformant.

    Raises:
        UsageError: There is no history, or no such run.
    """
    past = _Past(history, SHOWN_COLUMNS)
    number = past.number(run)
    new = past.new(number)
    rows = [
        row
        for row in past.findings[past.runs[number]["run"]]
        if (lesser or row["counts"]) and (not only_new or (_key(row) in new and not row["known"]))
    ]
    view = HistoryView(SCHEMA_VERSION, "history", [past.line(number)], past.runs[number]["run"], by, only_new)
    if by is None:
        view.findings.extend(past.shown(row, new) for row in rows)
    else:
        view.groups.extend(_groups(past, past.runs[number]["run"], rows, by, new))
    return view


def last_versions(history: History, scope: str) -> dict[str, int]:
    """The version or snapshot of each table that a run of a scope judged last, by the table's name; none before the first run.

    A run counts if it could judge all of its files, so that what it could not is judged again.
    """
    try:
        table = history.read(["run", "at", "kind", "scope", "errored", "path", "version"])
    except NoRunError:
        return {}
    runs = newest_first(_of_kind(table, "run"))
    good = {
        run["run"]: number for number, run in enumerate(runs) if run["scope"] == scope and not run["errored"]
    }
    found: dict[str, tuple[int, int]] = {}
    for row in _of_kind(table, "table").to_pylist():
        if row["run"] in good:
            number = good[row["run"]]
            if row["path"] not in found or number < found[row["path"]][0]:
                found[row["path"]] = number, int(row["version"])
    return {name: version for name, (_, version) in found.items()}


class _Past:
    """The runs of a history, and what each found."""

    def __init__(self, history: History, columns: Sequence[str]) -> None:
        table = history.read([*dict.fromkeys([*RUN_COLUMNS, *columns])])
        self.runs = newest_first(_of_kind(table, "run").select(list(RUN_COLUMNS)))
        if not self.runs:
            raise NoRunError("there is no run in this history")
        self.findings: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in _of_kind(table, "finding").select(list(columns)).to_pylist():
            self.findings[row["run"]].append(row)
        writers = _of_kind(table, "writer").select(["run", "writer", "files"]).to_pylist()
        self.judged = {(row["run"], row["writer"]): row["files"] for row in writers}
        self._first: dict[Key, str] = {}
        for run in reversed(self.runs):
            for row in self.findings[run["run"]]:
                self._first.setdefault(_key(row), _time(run))

    def number(self, run: str | None) -> int:
        """The position of a run among all, the newest first."""
        if run is None:
            return 0
        found = [number for number, one in enumerate(self.runs) if one["run"].startswith(run)]
        if len(found) != 1:
            what = "there is no run" if not found else f"{len(found)} runs begin with"
            raise UsageError(f"{what} {run}; `pqassay history` lists them")
        return found[0]

    def new(self, number: int) -> set[Key]:
        """The findings of a run that none of the runs before had, back to the last one that judged all of the same scope."""
        run = self.runs[number]
        found = {_key(row) for row in self.findings[run["run"]]}
        for earlier in self.runs[number + 1 :]:
            found -= {_key(row) for row in self.findings[earlier["run"]]}
            if earlier["scope"] == run["scope"] and not earlier["partial"]:
                break
        return found

    def line(self, number: int) -> RunLine:
        run = self.runs[number]
        new = self.new(number)
        rows = [row for row in self.findings[run["run"]] if row["counts"] and not row["known"]]
        return RunLine(
            run["run"],
            _time(run),
            run["scope"],
            run["partial"],
            run["files"],
            run["nonconformant"],
            run["errored"],
            run["exit_code"],
            len(rows),
            sum(_key(row) in new for row in rows),
        )

    def first(self, rows: Iterable[Mapping[str, Any]]) -> str:
        return min(self._first[_key(row)] for row in rows)

    def shown(self, row: Mapping[str, Any], new: set[Key]) -> FindingLine:
        return FindingLine(
            path=row["path"],
            rule=row["rule"],
            verdict=row["verdict"],
            could=row["could"],
            message=row["message"],
            new=_key(row) in new,
            known=row["known"],
            first=self.first([row]),
            writer=row["writer"],
            owner=row["owner"],
            column=row["column"],
            commit=row["owner_commit"],
            user=row["owner_user"],
            query=row["owner_query"],
            remedy=row["remedy"],
        )


def _groups(
    past: _Past, run: str, rows: Sequence[Mapping[str, Any]], by: By, new: set[Key]
) -> list[GroupLine]:
    grouped: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        grouped[row[by] or NO_OWNER].append(row)
    lines: list[GroupLine] = []
    for name, members in grouped.items():
        rules: dict[str, int] = defaultdict(int)
        for row in members:
            rules[row["rule"]] += 1
        lines.append(
            GroupLine(
                name,
                len({row["path"] for row in members}),
                len(members),
                sum(_key(row) in new for row in members),
                sum(row["known"] for row in members),
                sorted(rules, key=lambda rule: (-rules[rule], rule)),
                past.first(members),
                past.judged.get((run, name)) if by == "writer" else None,
            )
        )
    return sorted(lines, key=lambda line: (-line.files, line.name))


def _of_kind(table: pa.Table, kind: str) -> pa.Table:
    """The rows about one kind of thing."""
    kinds: Any = table["kind"]
    return table.filter(pc.equal(kinds, pa.scalar(kind)))


def _key(row: Mapping[str, Any]) -> Key:
    return row["path"], row["rule"], row["column"]


def _time(run: Mapping[str, Any]) -> str:
    return f"{run['at']:%Y-%m-%d %H:%M:%S}"
