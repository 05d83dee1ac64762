"""Views of a history: its runs; and all or only new findings of a run, one by one or by writer, rule or owner.

A finding is identified by file, rule and column. It is *new* in a run if no earlier run had it, back to the last run that judged the whole
scope. So a check of yesterday's additions does not make everything else new, but a finding that was repaired and recurs is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from pqassay.report.json_form import members_json
from pqassay_lake.history.past import (
    Compared,
    Keys,
    Past,
    RunFindings,
    flags_of,
    hashes_of,
    keys_of,
    new_among,
    runs_of,
    time_of,
)
from pqassay_lake.history.stores import History, NoRunError, Selection

SCHEMA_VERSION = 1

By = Literal["writer", "rule", "owner"]
"""The grouping of findings."""

NO_OWNER = "no table"
"""The owner of findings in files outside tables."""

AS_STORED = ("path", "rule", "verdict", "could", "message", "writer", "owner", "column", "remedy")
"""Members of a finding that are columns of the history."""

OF_OWNERS = ("commit", "user", "query")
"""Members of a finding that are columns with the prefix ``owner_``."""

SHOWN_COLUMNS = ("known", "counts", "not_failing", *AS_STORED, *map("owner_{}".format, OF_OWNERS))


@dataclass(frozen=True)
class RunLine:
    """A run in the list of runs.

    ``findings`` counts findings that no baseline lists, ``new`` those of them that no earlier run had, and ``known`` those that would count
    without a baseline. ``not_failing`` counts findings that do not fail the check since their rules are newer than the pinned release.
    """

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
    known: int = 0
    not_failing: int = 0


@dataclass(frozen=True)
class GroupLine:
    """The findings of a group.

    ``judged`` is the number of judged files of a writer, and ``None`` for other groups. ``rules`` are the broken rules, the most frequent
    first. ``first`` is the time of the first run with one of the findings. ``known`` findings are listed in a baseline, and are never
    ``new``.
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
    """A finding of a run; ``first`` is the time of the first run with it."""

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
    not_failing: bool = False


@dataclass(frozen=True)
class HistoryView:
    """The result of ``pqassay history``; groups and findings belong to the run ``run``."""

    schema_version: int
    kind: Literal["history"]
    runs: list[RunLine] = field(default_factory=list[RunLine])
    run: str | None = None
    by: By | None = None
    only_new: bool = False
    groups: list[GroupLine] = field(default_factory=list[GroupLine])
    findings: list[FindingLine] = field(default_factory=list[FindingLine])

    def to_json(self, indent: int | None = 2) -> str:
        """The view as ASCII JSON. Members with their default value are omitted."""
        return members_json(self, indent)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a view."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only this needs it

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of pqassay history",
        **TypeAdapter(HistoryView).json_schema(),
    }


def runs_view(history: History, most: int) -> HistoryView:
    """The latest runs, the newest first.

    Raises:
        UsageError: There is no history, or it cannot be read.
    """
    past = Past(history)
    listed = range(min(most, len(past.runs)))
    found = past.findings({*listed, *(earlier for number in listed for earlier in past.before(number))})
    lines = [
        _line(
            past.runs[number],
            found[number],
            new_among(found[number], [found[one] for one in past.before(number)]),
        )
        for number in listed
    ]
    return HistoryView(SCHEMA_VERSION, "history", lines)


def findings_view(
    history: History,
    run: str | None = None,
    by: By | None = None,
    *,
    only_new: bool = False,
    lesser: bool = False,
) -> HistoryView:
    """The findings of a run, by default the newest one, individually or in groups.

    Args:
        history: The history.
        run: The id of a run, or the beginning of an id.
        by: The grouping.
        only_new: Whether to omit findings that are not new, or that a baseline lists.
        lesser: Whether to include findings that do not make a file nonconformant.

    Raises:
        UsageError: There is no history, or no such run.
    """
    past = Past(history)
    number = past.number(run)
    found = past.findings([number])[number]
    compared = past.compared(number, found)
    is_new = compared.is_new[compared.at(found.keys)] & ~found.known
    line = _line(past.runs[number], found, is_new)
    view = HistoryView(SCHEMA_VERSION, "history", [line], line.run, by, only_new)
    chosen = _Chosen(past, number, compared, only_new=only_new, lesser=lesser)
    if by is None:
        view.findings.extend(chosen.lines())
    else:
        view.groups.extend(chosen.groups(by))
    return view


def last_versions(history: History, scope: str) -> dict[str, int]:
    """The version or snapshot of each table in the last run of a scope, by the table's name; empty before the first run.

    Only runs that could judge all their files are used, so that unjudged files are judged again.
    """
    try:
        runs = runs_of(history)
    except NoRunError:
        return {}
    good = {
        run["run"]: number for number, run in enumerate(runs) if run["scope"] == scope and not run["errored"]
    }
    versions: dict[str, tuple[int, int]] = {}
    for batch in history.batches(Selection(("run", "path", "version"), ("table",))):
        for row in batch.to_pylist():
            number = good.get(row["run"])
            if number is not None and (row["path"] not in versions or number < versions[row["path"]][0]):
                versions[row["path"]] = number, int(row["version"])
    return {name: version for name, (_, version) in versions.items()}


def _line(run: Mapping[str, Any], findings: RunFindings, is_new: Any) -> RunLine:
    counted = findings.counts & ~findings.known
    names = ("run", "scope", "partial", "files", "nonconformant", "errored", "exit_code")
    return RunLine(
        at=time_of(run),
        findings=int(counted.sum()),
        new=int((counted & is_new).sum()),
        known=int((findings.counts & findings.known).sum()),
        not_failing=int(findings.not_failing.sum()),
        **{name: run[name] for name in names},
    )


@dataclass
class _Group:
    """The counts of findings of a group."""

    paths: list[Keys] = field(default_factory=list[Keys])
    rules: Counter[str] = field(default_factory=Counter[str])
    new: int = 0
    known: int = 0
    first: int = 0


class _Chosen:
    """The findings of a run that are shown."""

    def __init__(self, past: Past, number: int, compared: Compared, *, only_new: bool, lesser: bool) -> None:
        self._past, self._number, self._compared = past, number, compared
        self._only_new, self._lesser = only_new, lesser

    def _rows(self, columns: Iterable[str]) -> Iterator[tuple[pa.RecordBatch, Any, Any]]:
        """Yield the findings in batches, with whether each is new and the position of the first run with it."""
        for batch in self._past.rows(self._number, [*dict.fromkeys(["known", "counts", *columns])]):
            at = self._compared.at(keys_of(batch))
            known, counts = (flags_of(batch, name) for name in ("known", "counts"))
            is_new = self._compared.is_new[at] & ~known
            wanted = (counts | self._lesser) & (is_new | (not self._only_new))
            yield batch.filter(pa.array(wanted)), is_new[wanted], self._compared.first[at][wanted]

    def lines(self) -> Iterator[FindingLine]:
        """Yield a line for each finding."""
        for batch, is_new, first in self._rows(SHOWN_COLUMNS):
            for row, new, earliest in zip(batch.to_pylist(), is_new.tolist(), first.tolist(), strict=True):
                yield FindingLine(
                    new=new,
                    known=bool(row["known"]),
                    first=time_of(self._past.runs[earliest]),
                    not_failing=bool(row["not_failing"]),
                    **{name: row[name] for name in AS_STORED},
                    **{name: row[f"owner_{name}"] for name in OF_OWNERS},
                )

    def groups(self, by: By) -> list[GroupLine]:
        """The findings in groups, the group with most files first."""
        grouped: dict[str, _Group] = {}
        for batch, is_new, first in self._rows((by,)):
            names = batch.column(by).fill_null(NO_OWNER).dictionary_encode()
            rules: list[Any] = batch.column("rule").to_pylist()
            paths, known = hashes_of(batch.column("path")), flags_of(batch, "known")
            codes = names.indices.to_numpy(zero_copy_only=False)
            for code, name in enumerate(names.dictionary.to_pylist()):
                [mine] = np.nonzero(codes == code)
                group = grouped.setdefault(name or NO_OWNER, _Group())
                group.paths.append(np.unique(paths[mine]))
                group.rules.update(rules[one] for one in mine.tolist())
                group.new += int(is_new[mine].sum())
                group.known += int(known[mine].sum())
                group.first = max(group.first, int(first[mine].max()))
        judged = self._past.judged(self._number) if by == "writer" else {}
        lines = [
            GroupLine(
                name,
                len(np.unique(np.concatenate(group.paths))),
                group.rules.total(),
                group.new,
                group.known,
                sorted(group.rules, key=lambda rule: (-group.rules[rule], rule)),
                time_of(self._past.runs[group.first]),
                judged.get(name),
            )
            for name, group in grouped.items()
        ]
        return sorted(lines, key=lambda line: (-line.files, line.name))
