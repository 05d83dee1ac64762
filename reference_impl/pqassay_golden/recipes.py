"""Recipes of golden cases: a valid file, or a valid file with one mutation, and the expected answers of all software.

The cases themselves are in the modules named like their family; `generator` writes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pqassay_golden.reads import OWN, expected_read, expected_scan, rows_to_read
from pqassay_golden.rows import literal_rows
from pqassay_golden.stories import misleading
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_reference.directory.reading.stated_values import index_directory
from pqassay_reference.pages.structures import bloom_filters, page_index
from pqassay_spec.base.errors import FormatError
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
    ReadExpectation,
    Scan,
)
from pqassay_spec.golden.literals import Rows
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.rules.catalogue import Tier, families
from pqassay_spec.rules.catalogue import rules as catalogue

DATA = "data.parquet"
"""The name of a Parquet file in a case."""

STRUCTURES: Mapping[str, Callable[[BytesSource, str, Sequence[Any]], dict[str, Any]]] = {
    "PIX": lambda source, column, _: page_index(source, column),
    "BLM": bloom_filters,
    "DIR": lambda source, *_: index_directory(source),
}
"""Families whose structures are decoded as they are stored in the file, with the reader of a column's structure."""

ENGINES = ("pyarrow", "DuckDB", "Polars", "DataFusion", "fastparquet", "Spark")
"""Foreign readers; tests read every valid case with them."""


@dataclass(frozen=True)
class Made:
    """A completed case.

    Attributes:
        manifest: The case's manifest.
        data: The bytes of its input.
        beside: Names and bytes of the files that are beside the input.
    """

    manifest: Case
    data: bytes
    beside: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


class Recipe(Protocol):
    """A case to make."""

    @property
    def id(self) -> str:
        """Path of the case's folder below ``golden_files``."""
        ...

    def make(self, before: Mapping[str, Made], /) -> Made:
        """Make the case, given the earlier cases by id."""
        ...


@dataclass(frozen=True)
class Valid:
    """A valid case.

    Attributes:
        id: Path of the case's folder below ``golden_files``.
        title: Its title in one line.
        rules: Rules that the case is about, if it was made for any.
        since: Version that added it.
    """

    id: str
    title: str
    rules: tuple[str, ...] = field(default=(), kw_only=True)
    since: str = field(default="0.2.0", kw_only=True)

    def manifest(
        self,
        input_: Input,
        expect: Expect,
        *capabilities: str,
        column: str | None = None,
        oracles: Sequence[str] = (),
    ) -> Case:
        """The manifest; ``capabilities`` are needed in addition to that of the family."""
        family = family_of(self.id)
        capability = next(known.capability for known in families() if known.prefix == family)
        return Case(
            id=self.id,
            family=family,
            kind="valid",
            since=self.since,
            title=self.title,
            effect="none",
            requires=[capability, *capabilities],
            rules=list(self.rules),
            column=column,
            input=input_,
            expect=expect,
            provenance=Provenance(by=GENERATOR, oracles=list(oracles)),
        )


@dataclass(frozen=True)
class Invalid:
    """An invalid case: a parent, and one mutation.

    Attributes:
        id: Path of the case's folder below ``golden_files``.
        title: Its title in one line.
        effect: What a user notices when an engine relies on the file.
        parent: Id of the case that it is made from.
        mutation: The one difference.
        rules: Exactly the rules that are broken, in the order of a report.
        decode: The answer of a reader; ``None`` if it is not asked, or if the rules decide it.
        tier: The tier at which the rules are reported.
        since: Version that added it.
        is_older: Whether the file has no mark of the release from which its rules oblige.
        also: Broken rules that a check does not report, because another rule covers them.
    """

    id: str
    title: str
    effect: str
    parent: str
    mutation: Mutation
    rules: tuple[str, ...]
    decode: Answering | None = None
    tier: Tier = "values"
    since: str = "0.2.0"
    is_older: bool = False
    also: tuple[str, ...] = ()

    def manifest(self, parent: Case, input_: Input, expect: Expect, *, column: str | None = None) -> Case:
        """The manifest, made from the parent's manifest."""
        more = [capability for rule in self.rules if (capability := catalogue()[rule].capability)]
        return Case(
            id=self.id,
            family=family_of(self.id),
            kind="invalid",
            since=self.since,
            title=self.title,
            effect=self.effect,
            parent=self.parent,
            mutation=self.mutation,
            requires=list(dict.fromkeys([*parent.requires, *more])),
            rules=list(self.rules),
            column=column,
            input=input_,
            expect=expect,
            provenance=Provenance(by=GENERATOR, oracles=[]),
        )

    @property
    def check(self) -> CheckExpectation:
        """The expected report of a check."""
        return CheckExpectation(rules=[rule for rule in self.rules if rule not in self.also], tier=self.tier)

    @property
    def lint(self) -> Acceptance | None:
        """The expected answer of a linter; ``None`` if no rule is a failure, or none obliged the writer."""
        return (
            "reject"
            if not self.is_older and any(catalogue()[rule].verdict == "FAIL" for rule in self.rules)
            else None
        )

    @property
    def answer(self) -> Answering | None:
        """The expected answer of a reader of the structure, from `decode`, or from the rules of its own family."""
        if self.decode is not None:
            return self.decode
        own = [catalogue()[rule] for rule in self.rules if rule.startswith(f"{family_of(self.id)}-")]
        answers: tuple[Answering, ...] = ("reject", "either")
        return next((answer for answer in answers if any(rule.decode == answer for rule in own)), None)


@dataclass(frozen=True)
class Good(Valid):
    """A valid Parquet file.

    Attributes:
        file: The file.
        predicate: The condition of a scan.
        values: Values of the index; by default those of the indexed column.
        column: The column whose page index or bloom filters are to be decoded; by default that of the predicate.
        probes: Values to look up in those bloom filters.
        decode: Whether a reader of the index must read it; ``None`` if there is nothing to decode.
        encode: Whether a writer must be able to write such a file; ``None`` if it is not asked.
        scan: The accepted result of a scan; ``None`` if it is not asked.
        misread_by: Engines that do not read the file right, because of their own limitations.
        remarks: Rules that the file breaks although readers must return its rows: their subject is part of the format.
        read: The accepted result of reading all rows.
    """

    file: TinyParquet
    predicate: Sequence[Any]
    values: Sequence[str] | None = None
    column: str | None = None
    probes: tuple[Any, ...] = ()
    decode: Answering | None = "accept"
    encode: Acceptance | None = "accept"
    scan: Scan | None = "same-rows"
    misread_by: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    read: ReadExpectation = OWN

    def make(self, _: Mapping[str, Made]) -> Made:
        """Make the case, see `Recipe`."""
        data = self.file.build()
        family, index = family_of(self.id), self.file.index
        column = None if index is None else index.column
        value: dict[str, Any] | None = None
        if self.decode is None:
            pass
        elif index is not None:
            values = column_values(self.file, index.column) if self.values is None else list(self.values)
            value = {"layout": index.layout.value, "values": values}
        elif family in STRUCTURES:
            column = self.column or str(self.predicate[1])
            value = STRUCTURES[family](BytesSource(data), column, self.probes)
        expect = Expect(
            check=CheckExpectation(rules=list(self.remarks), tier="values"),
            lint="accept",
            decode=None if value is None else self.decode,
            probes=None if value is None or family != "BLM" else list(self.probes),
            value=value,
            encode=None if index is None else self.encode,
            read=self.read,
            scan=self.scan,
            predicate=list(self.predicate),
            rows=literal_rows(self.file),
        )
        capabilities = ["idx1.companion"] * (index is not None and index.companion)
        oracles = [engine for engine in ENGINES if engine not in self.misread_by]
        manifest = self.manifest(input_of(DATA, data), expect, *capabilities, column=column, oracles=oracles)
        return Made(manifest, data)


@dataclass(frozen=True)
class Bad(Invalid):
    """An invalid Parquet file.

    Attributes:
        encode: The answer of a writer; ``None`` if it is not asked.
        scan: The accepted result of a scan; if it is ``None``, the broken rules decide (`expected_scan`).
        values: The values that an accepting reader must read; by default the parent's.
        predicate: The condition of a scan; see `_predicate`.
    """

    encode: Acceptance | None = None
    scan: Scan | None = None
    values: Sequence[str] | None = None
    predicate: Sequence[Any] | None = None

    def make(self, before: Mapping[str, Made]) -> Made:
        """Make the case, see `Recipe`."""
        parent = before[self.parent].manifest
        data = mutate(before[self.parent].data, self.mutation)
        value = None if self.answer in (None, "reject") else self._value(parent, data)
        column, rows = parent.column, rows_to_read(self.id, parent.expect.rows)
        if column is None and self.mutation.path == "idx1" and rows is not None:
            column = rows.columns[0].name
        read = expected_read(self.id, self.rules, is_older=self.is_older)
        scan = self.scan or expected_scan(read, self.rules)
        expect = Expect(
            check=self.check,
            lint=self.lint,
            decode=self.answer,
            probes=None if value is None else parent.expect.probes,
            value=value,
            encode=self.encode,
            read=read,
            scan=scan,
            predicate=None if scan is None else self._predicate(parent, scan, rows),
            rows=None if scan is None and self.encode is None else rows,
        )
        beside = before[self.parent].beside
        given = input_of(parent.input.file, data, beside)
        return Made(self.manifest(parent, given, expect, column=column), data, beside)

    def _predicate(self, parent: Case, scan: Scan, rows: Rows | None) -> list[Any]:
        """The condition of a scan: that of the table, or one about the subject of a lie, or the parent's condition."""
        lie = misleading(self.mutation.path, rows) if scan == "exposure" and rows is not None else None
        return list(self.predicate or lie or parent.expect.predicate or ())

    def _value(self, parent: Case, data: bytes) -> dict[str, Any]:
        """The value that a reader of the structure must read if it accepts the file."""
        value, family = dict(parent.expect.value or {}), family_of(self.id)
        if family == "BLM":  # the damaged filter is left aside
            damaged = _ROW_GROUP.search(self.mutation.path)
            value["row_groups"] = list(value["row_groups"])
            value["row_groups"][int(damaged[1]) if damaged else 0] = {}
        elif family in STRUCTURES:
            # as it is written: even if a recorded length cuts it, readers that start at its offset see all of it
            with contextlib.suppress(FormatError):
                value = STRUCTURES[family](BytesSource(data), parent.column or "", ())
        else:
            value["values"] = list(value["values"] if self.values is None else self.values)
            if self.mutation.path == "idx1.layout":
                value["layout"] = self.mutation.to
        return value


_ROW_GROUP = re.compile(r"row_groups\[(\d+)\]")


# ------------------------------------------------------------------------------------------------------ tables


def good(
    name: str,
    title: str,
    file: TinyParquet,
    predicate: Sequence[Any],
    *misread_by: str,
    family: str = "",
    **more: Any,
) -> Good:
    """A valid case as one line of a table. A name without family belongs to ``family``, in lower case."""
    return Good(_full(name, family), title, file, predicate, misread_by=misread_by, **more)


def bad(
    name: str,
    title: str,
    effect: str,
    parent: str,
    mutation: Mutation,
    *rules: str,
    family: str = "",
    **more: Any,
) -> Bad:
    """An invalid case as one line of a table. Names without family belong to ``family``, in lower case."""
    return Bad(_full(name, family), title, effect, _full(parent, family), mutation, rules, **more)


def _full(name: str, family: str) -> str:
    return name if "/" in name else f"{family}/{name}"


def set_to(path: str, to: Any) -> Mutation:
    """A mutation that gives a field another value."""
    return Mutation("set", path, to)


# --------------------------------------------------------------------------------------------------- manifests


def input_of(file: str, data: bytes, beside: Mapping[str, bytes] | None = None) -> Input:
    """The input of a case, with the files beside it."""
    others = [GoldenFile(file=name, sha256=_sha256(content)) for name, content in (beside or {}).items()]
    return Input(file=file, sha256=_sha256(data), beside=others or None)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def family_of(case_id: str) -> str:
    """The family's rule prefix, from the first part of a case's id."""
    return case_id.partition("/")[0].upper()


def column_values(file: TinyParquet, name: str) -> list[str]:
    """The distinct values of a column, in code point order."""
    column = next(column for column in file.columns if column.name == name)
    texts = {
        value.decode() if isinstance(value, bytes) else value for value in column.values if value is not None
    }
    return sorted(texts)
