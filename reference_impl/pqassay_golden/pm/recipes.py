"""Recipes of golden cases of ``_pm``: a file made from values, or such a file with one mutation.

The cases themselves are in `pm`, `pm_damaged` and `pm_data`; `generator` writes them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pqassay_golden.pm.rows import SOUGHT, rows_beside, scan_of
from pqassay_golden.pm.values import size_of
from pqassay_golden.reads import MISLEADING, expected_read, expected_scan
from pqassay_golden.recipes import DATA, Invalid, Made, Valid, input_of
from pqassay_golden.stories import misleading
from pqassay_reference.pm import write as pm_write
from pqassay_reference.pm.parts import NO_EXTENSIONS, Extensions
from pqassay_spec.golden.case import (
    Acceptance,
    Answering,
    Case,
    CheckExpectation,
    Expect,
    PlanExpectation,
    PruneExpectation,
    Scan,
    SnapshotExpectation,
)
from pqassay_spec.mutation.mutations import Mutation, mutate_files
from pqassay_spec.mutation.operators import owner_of
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.txn import FILE_NAME as TXN_NAME
from pqassay_spec.pm.value import SnapshotValue
from pqassay_spec.pm.value_json import to_json
from pqassay_spec.rules.catalogue import Tier

SINCE = "0.3.0"


@dataclass(frozen=True)
class PmFile:
    """A ``_pm`` to make.

    Attributes:
        snapshots: The values of the snapshots, the oldest first.
        written_out: Whether sorting columns are written explicitly, even if a flag would be enough.
        dead: Bytes of an interrupted update before the newest snapshot.
        tail: Bytes of an interrupted update after the newest snapshot.
        extensions: Sections of later revisions.
    """

    snapshots: tuple[SnapshotValue, ...]
    written_out: bool = False
    dead: bytes = b""
    tail: bytes = b""
    extensions: Extensions = NO_EXTENSIONS

    def build(self) -> bytes:
        """The bytes of the file."""
        first, *others = self.snapshots
        data = pm_write.create(first, sorting_written_out=self.written_out, extensions=self.extensions)
        for number, value in enumerate(others, 1):
            data += self.dead if number == len(others) else b""
            data = pm_write.update(data, value, append_base=len(data), extensions=self.extensions)
        return data + self.tail

    @property
    def newest(self) -> SnapshotValue:
        """The value of the newest snapshot."""
        return self.snapshots[-1]


@dataclass(frozen=True)
class Prune:
    """A predicate, the row groups that an answer must keep, and the row groups that it may keep; by default, the same."""

    predicate: Sequence[Any]
    must_keep: Sequence[int]
    kept: Sequence[int] | None = None
    snapshot: SnapshotValue | None = None

    def expectation(self) -> PruneExpectation:
        """The expectation for the manifest."""
        return PruneExpectation(
            predicate=list(self.predicate),
            must_keep=list(self.must_keep),
            kept=list(self.must_keep if self.kept is None else self.kept),
            parquet_file_size=None if self.snapshot is None else size_of(self.snapshot),
        )


@dataclass(frozen=True)
class Plan:
    """Names of columns whose bytes are requested, and the row groups; by default, all."""

    columns: Sequence[str]
    row_groups: Sequence[int] | None = None

    def expectation(self, value: SnapshotValue) -> PlanExpectation:
        """The expectation for the manifest, with the ranges of the value."""
        names = [column.name for column in value.columns]
        chosen = range(len(value.row_groups)) if self.row_groups is None else self.row_groups
        chunks = [
            value.row_groups[number].chunks[names.index(name)] for number in chosen for name in self.columns
        ]
        return PlanExpectation(
            columns=list(self.columns),
            row_groups=None if self.row_groups is None else list(self.row_groups),
            ranges=[[chunk.offset, chunk.length] for chunk in chunks],
        )


@dataclass(frozen=True)
class PmGood(Valid):
    """A valid ``_pm``.

    Attributes:
        file: The file.
        data: The Parquet file beside it, if there is one.
        txn: The ``_txn`` of its table, if there is one.
        prune, plan: The questions about the newest snapshot, or about the named one.
        asked: The snapshots to ask for, by the size of the Parquet file; by default all.
        encode: Whether a writer must be able to write a file with the same content; ``None`` if it is not asked.
    """

    file: PmFile
    data: bytes | None = None
    prune: tuple[Prune, ...] = ()
    plan: tuple[Plan, ...] = ()
    txn: bytes | None = None
    asked: tuple[SnapshotValue, ...] | None = None
    encode: Acceptance | None = "accept"
    since: str = field(default=SINCE, kw_only=True)

    def make(self, _: Mapping[str, Made]) -> Made:
        """Make the case, see `pqassay_golden.recipes.Recipe`."""
        data = self.file.build()
        beside = {} if self.data is None else {DATA: self.data}
        if self.txn is not None:
            beside[TXN_NAME] = self.txn
        newest = self.file.newest
        asked = tuple(reversed(self.file.snapshots)) if self.asked is None else self.asked
        snapshots = [
            SnapshotExpectation(parquet_file_size=size_of(value), answer="accept", value=to_json(value))
            for value in asked
        ]
        unknown = max(map(size_of, self.file.snapshots)) + 1
        # A question about a missing size alone would reward refusing everything.
        snapshots += [SnapshotExpectation(parquet_file_size=unknown, answer="reject")] * bool(asked)
        expect = Expect(
            check=CheckExpectation(rules=[], tier="values"),
            lint="accept",
            decode="accept",
            value=to_json(newest),
            encode=self.encode if len(self.file.snapshots) == 1 else None,
            snapshots=snapshots,
            prune=[question.expectation() for question in self.prune] or None,
            plan=[question.expectation(newest) for question in self.plan] or None,
            **scan_of(rows_beside(beside), "same-rows", SOUGHT),
        )
        capabilities = ["pm.bloom"] * bool(newest.bloom_columns)
        return Made(self.manifest(input_of(pm.FILE_NAME, data, beside), expect, *capabilities), data, beside)


@dataclass(frozen=True)
class PmBad(Invalid):
    """An invalid ``_pm``; a path of the mutation that begins with ``data.`` changes the Parquet file beside it.

    Attributes:
        reads: Members of the parent's value (paths into its JSON) that an accepting reader reads differently.
        older: The answer of a reader about the parent's oldest snapshot; ``None`` if it is not asked.
        prune: The questions about row groups.
        scan: The accepted result of a scan of the Parquet file beside it; if it is ``None``, the broken rules decide. Each of the two
            files is well-formed, so a contradiction shows in neither alone.
    """

    tier: Tier = "index"
    since: str = SINCE
    reads: Mapping[str, Any] = field(default_factory=dict[str, Any])
    older: Answering | None = None
    prune: tuple[Prune, ...] = ()
    scan: Scan | None = None

    def make(self, before: Mapping[str, Made]) -> Made:
        """Make the case, see `pqassay_golden.recipes.Recipe`."""
        made = before[self.parent]
        parent, name = made.manifest, made.manifest.input.file
        files = mutate_files({name: made.data, **made.beside}, name, self.mutation)
        data = files.pop(name)
        value: dict[str, Any] | None = None
        if self.answer not in (None, "reject"):
            value = copy.deepcopy(parent.expect.value) or {}
            for path, member in self.reads.items():
                owner, member_name = owner_of(value, path)
                owner[member_name] = member
        snapshots: list[SnapshotExpectation] | None = None
        if self.older is not None:
            oldest = (parent.expect.snapshots or [])[-2]
            answer = None if self.older == "reject" else oldest.value
            snapshots = [replace(oldest, answer=self.older, value=answer)]
        expect = Expect(
            check=self.check,
            lint=self.lint,
            decode=self.answer,
            value=value,
            snapshots=snapshots,
            prune=[question.expectation() for question in self.prune] or None,
            **self._scan_of(parent, files),
        )
        return Made(self.manifest(parent, input_of(name, data, files), expect), data, files)

    def _scan_of(self, parent: Case, files: Mapping[str, bytes]) -> dict[str, Any]:
        """The members about a scan of the Parquet file beside it."""
        rows = rows_beside(files)
        if rows is None:
            return {}
        scan = self.scan or expected_scan(
            expected_read(self.id, self.rules), self.rules, (*MISLEADING, "read fails")
        )
        asked = self.prune[0].predicate if self.prune else None
        return scan_of(rows, scan, asked, misleading(self.mutation.path, rows), parent.expect.predicate)


def pm_bad(
    name: str, title: str, effect: str, parent: str, mutation: Mutation, *rules: str, **more: Any
) -> PmBad:
    """An invalid case as one line of a table: its name, parent and rules are given without the prefix of ``_pm``."""
    ids = tuple(f"PM-{rule}" for rule in rules)
    return PmBad(f"pm/{name}", title, effect, f"pm/{parent}", mutation, ids, **more)


def add_to(path: str, number: int) -> Mutation:
    """A mutation that adds a number to a field."""
    return Mutation("add", path, number)


def column_field(column: int, name: str) -> str:
    """The path of a field of a column descriptor."""
    return f"column_descriptors[{column}].{name}"


def chunk_field(column: int, name: str) -> str:
    """The path of a field of a column chunk of the first block."""
    return f"blocks[0].column_chunks[{column}].{name}"
