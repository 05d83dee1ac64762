"""What a golden case is: a good file, or a good file with one mutation, and what everybody has to make of it.

The cases themselves are in the modules named like their family; `generator` writes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pqassay_reference.golden.rows import literal_rows
from pqassay_reference.scan.structures import bloom_filters, page_index
from pqassay_reference.tiny.parquet import TinyParquet
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.case import (
    GENERATOR,
    Acceptance,
    Answering,
    Case,
    CheckExpectation,
    Expect,
    GoldenFile,
    Input,
    Provenance,
    Scan,
)
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.rules.catalogue import Tier, families, rules

DATA = "data.parquet"
"""The name of a Parquet file in a case."""

STRUCTURES: Mapping[str, Callable[[BytesSource, str, Sequence[Any]], dict[str, Any]]] = {
    "PIX": lambda source, column, _: page_index(source, column),
    "BLM": bloom_filters,
}
"""Families whose structures are decoded as they are stored in the file, and what reads those of a column."""

ENGINES = ("pyarrow", "DuckDB", "Polars", "DataFusion", "fastparquet", "Spark")
"""Foreign readers that the tests have read every valid case."""


@dataclass(frozen=True)
class Made:
    """What a recipe gives.

    Attributes:
        manifest: The case's manifest.
        data: The bytes of its input.
        beside: Names and bytes of the files that stand beside the input.
    """

    manifest: Case
    data: bytes
    beside: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


class Recipe(Protocol):
    """How to make a case."""

    @property
    def id(self) -> str:
        """Path of the case's folder below ``golden_files``."""
        ...

    def make(self, before: Mapping[str, Made], /) -> Made:
        """Make the case, from what was made before it, by id."""
        ...


@runtime_checkable
class Derived(Recipe, Protocol):
    """How to make a case from another one."""

    @property
    def parent(self) -> str:
        """Id of that other one."""
        ...


@dataclass(frozen=True)
class Good:
    """A valid case.

    Attributes:
        id: Path of the case's folder below ``golden_files``.
        title: One line.
        file: The file.
        predicate: What a scan looks for.
        rules: Rules that the case is about, if it was made for some.
        values: Values of the index; by default those of the indexed column.
        column: The column whose page index or bloom filters are to be decoded; by default that of the predicate.
        probes: Values that are looked up in those bloom filters.
        decode: Whether a reader of the index must read it; ``None`` where there is nothing to decode.
        encode: Whether a writer must be able to write such a file; ``None`` where it is not asked.
        scan: What a scan must do; ``None`` where it is not asked.
        misread_by: Engines that do not read the file right, through a limit of their own.
        since: Version that added it.
    """

    id: str
    title: str
    file: TinyParquet
    predicate: Sequence[Any]
    rules: tuple[str, ...] = ()
    values: Sequence[str] | None = None
    column: str | None = None
    probes: tuple[Any, ...] = ()
    decode: Answering | None = "accept"
    encode: Acceptance | None = "accept"
    scan: Scan | None = "same-rows"
    misread_by: tuple[str, ...] = ()
    since: str = "0.2.0"

    def make(self, _: Mapping[str, Made]) -> Made:
        """See `Recipe`."""
        data = self.file.build()
        return Made(manifest_of_good(self, data), data)


@dataclass(frozen=True)
class Bad:
    """An invalid case: its parent with one mutation.

    Attributes:
        id: Path of the case's folder below ``golden_files``.
        title: One line.
        effect: What a user notices when an engine relies on the file.
        parent: Id of the case that it is made from.
        mutation: The one difference.
        rules: Exactly the rules that a check reports, in the order of the report.
        decode, encode, scan: What a reader or writer must do; ``None`` where it is not asked, and where the rules say it.
        values: The values that a reader which accepts must read; by default the parent's.
        predicate: What a scan looks for; by default what it looks for in the parent.
        tier: The tier at which the rules are reported.
        since: Version that added it.
    """

    id: str
    title: str
    effect: str
    parent: str
    mutation: Mutation
    rules: tuple[str, ...]
    decode: Answering | None = None
    encode: Acceptance | None = None
    scan: Scan | None = None
    values: Sequence[str] | None = None
    predicate: Sequence[Any] | None = None
    tier: Tier = "values"
    since: str = "0.2.0"

    def make(self, before: Mapping[str, Made]) -> Made:
        """See `Recipe`."""
        parent = before[self.parent]
        data = mutate(parent.data, self.mutation)
        return Made(manifest_of_bad(self, parent.manifest, data), data)


def manifest_of_good(case: Good, data: bytes) -> Case:
    """The manifest of a valid case."""
    family, index = family_of(case.id), case.file.index
    column = None if index is None else index.column
    value: dict[str, Any] | None = None
    if case.decode is None:
        pass
    elif index is not None:
        values = column_values(case.file, index.column) if case.values is None else list(case.values)
        value = {"layout": index.layout.value, "values": values}
    elif family in STRUCTURES:
        column = case.column or str(case.predicate[1])
        value = STRUCTURES[family](BytesSource(data), column, case.probes)
    return Case(
        id=case.id,
        family=family,
        kind="valid",
        since=case.since,
        title=case.title,
        effect="none",
        requires=capabilities_of(family, *["idx1.companion"] * (index is not None and index.companion)),
        rules=list(case.rules),
        column=column,
        input=input_of(DATA, data),
        expect=Expect(
            check=CheckExpectation(rules=[], tier="values"),
            lint="accept",
            decode=None if value is None else case.decode,
            probes=None if value is None or family != "BLM" else list(case.probes),
            value=value,
            encode=None if index is None else case.encode,
            scan=case.scan,
            predicate=list(case.predicate),
            rows=literal_rows(case.file),
        ),
        provenance=Provenance(
            by=GENERATOR, oracles=[engine for engine in ENGINES if engine not in case.misread_by]
        ),
    )


def manifest_of_bad(case: Bad, parent: Case, data: bytes) -> Case:
    """The manifest of an invalid case, from that of its parent."""
    decode = case.decode or decode_of(case.id, case.rules)
    value: dict[str, Any] | None = None
    if decode not in (None, "reject"):
        value = dict(parent.expect.value or {})
        value["values"] = list(value["values"] if case.values is None else case.values)
        if case.mutation.path == "idx1.layout":
            value["layout"] = case.mutation.to
    column, rows = parent.column, parent.expect.rows
    if column is None and case.mutation.path == "idx1" and rows is not None:
        column = rows.columns[0].name
    return Case(
        id=case.id,
        family=family_of(case.id),
        kind="invalid",
        since=case.since,
        title=case.title,
        effect=case.effect,
        parent=case.parent,
        mutation=case.mutation,
        requires=capabilities_of_bad(case.rules, parent),
        rules=list(case.rules),
        column=column,
        input=input_of(parent.input.file, data),
        expect=Expect(
            check=CheckExpectation(rules=list(case.rules), tier=case.tier),
            lint=lint_of(case.rules),
            decode=decode,
            value=value,
            encode=case.encode,
            scan=case.scan,
            predicate=None if case.scan is None else list(case.predicate or parent.expect.predicate or ()),
            rows=None if case.scan is None and case.encode is None else rows,
        ),
        provenance=Provenance(by=GENERATOR, oracles=[]),
    )


def input_of(file: str, data: bytes, beside: Mapping[str, bytes] | None = None) -> Input:
    """The input of a case, with the files beside it."""
    others = [GoldenFile(file=name, sha256=_sha256(content)) for name, content in (beside or {}).items()]
    return Input(file=file, sha256=_sha256(data), beside=others or None)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def family_of(case_id: str) -> str:
    """The family's rule prefix, from the first part of a case's id."""
    return case_id.partition("/")[0].upper()


def capabilities_of(family: str, *more: str) -> list[str]:
    """What an implementation has to know to be asked about a valid case of a family, by its prefix."""
    return [next(known.capability for known in families() if known.prefix == family), *more]


def capabilities_of_bad(broken: Sequence[str], parent: Case) -> list[str]:
    """What an implementation has to know to be asked about a case that breaks rules."""
    more = [capability for rule in broken if (capability := rules()[rule].capability)]
    return list(dict.fromkeys([*parent.requires, *more]))


def lint_of(broken: Sequence[str]) -> Acceptance | None:
    """What a linter must say of a case that breaks rules; ``None`` where none of them is a failure."""
    return "reject" if any(rules()[rule].verdict == "FAIL" for rule in broken) else None


def decode_of(case_id: str, broken: Sequence[str]) -> Answering | None:
    """What a reader of the case's structure must do by the rules of its family alone; ``None`` where they leave it open."""
    own = [rules()[rule] for rule in broken if rule.startswith(f"{family_of(case_id)}-")]
    return "reject" if any(rule.decode == "reject" for rule in own) else None


def column_values(file: TinyParquet, name: str) -> list[str]:
    """The distinct values of a column, in code point order."""
    column = next(column for column in file.columns if column.name == name)
    texts = {
        value.decode() if isinstance(value, bytes) else value for value in column.values if value is not None
    }
    return sorted(texts)
