"""The manifest of a golden case: the members of a ``case.json``, in their order."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, cast

from pqassay_spec.base.strict_json import Closed
from pqassay_spec.golden.literals import LongInteger, Rows
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.rules.catalogue import Tier

MANIFEST = "case.json"
"""The name of the manifest in the folder of its case."""

GENERATOR = "generator"
OWN = (GENERATOR, "hand")
"""Authors of the cases that do not come from foreign software."""

Acceptance = Literal["accept", "reject"]
Answering = Literal["accept", "reject", "either"]
Scan = Literal["same-rows", "refusal-allowed", "exposure"]
"""The accepted result of a scan: the right rows; the right rows or a refusal; any result, which is shown and not scored."""

Stop = Literal["before-size"]

RowsToRead = Literal["own", "parent", "unspecified"]
Refusal = Literal["never", "allowed", "demanded"]


@dataclass(frozen=True, kw_only=True)
class GoldenFile(Closed):
    """A file in the folder of a case, with its SHA-256."""

    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Input(Closed):
    """The file that a case is about, with its SHA-256, and the files beside it under the names that they need."""

    file: str
    sha256: str
    beside: list[GoldenFile] | None = None


@dataclass(frozen=True, kw_only=True)
class CheckExpectation(Closed):
    """The rules that ``pqassay check`` reports: exactly these rules, in this order, at this tier, with these options."""

    rules: list[str]
    tier: Tier
    options: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class ReadExpectation(Closed):
    """The expected result of reading all rows of a Parquet file. A crash is never right.

    Attributes:
        rows: ``own``: the rows of the case; ``parent``: the rows of the file before it was damaged, which the case also contains;
            ``unspecified``: any rows are accepted, unless a refusal is required.
        refusal: Whether a reader may refuse the file, or must refuse because it cannot return any right rows.
    """

    rows: RowsToRead
    refusal: Refusal


@dataclass(frozen=True, kw_only=True)
class SnapshotExpectation(Closed):
    """The expected snapshot for a Parquet file of a given size: whether ``_pm`` has it, and its value."""

    parquet_file_size: int | LongInteger
    answer: Answering
    value: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class UpdateExpectation(Closed):
    """Appending the snapshot `Expect.value` to a ``_pm``.

    Attributes:
        stop: Where the writer stops, as if it were killed; ``before-size``: when all is written except the committed size.
    """

    stop: Stop | None = None


@dataclass(frozen=True, kw_only=True)
class PruneExpectation(Closed):
    """The row groups of a snapshot that a predicate keeps; without a size, the newest snapshot is meant.

    Attributes:
        predicate: The condition.
        must_keep: Row groups with rows that satisfy it. An answer that lacks one of them loses rows.
        kept: The most row groups that may remain, if everything that the document describes is used.
        parquet_file_size: Which snapshot, by the size of its Parquet file in bytes.
        answer: ``either``: a reader can see the damage, so a refusal is also right.
    """

    predicate: list[Any]
    must_keep: list[int]
    kept: list[int]
    parquet_file_size: int | LongInteger | None = None
    answer: Answering = "accept"


@dataclass(frozen=True, kw_only=True)
class PlanExpectation(Closed):
    """The byte ranges of a Parquet file that hold some columns; without row groups, all of them are meant.

    Attributes:
        columns: The names of the columns.
        ranges: Offset and length of each chunk, row group by row group, in the order of the columns.
        row_groups: The row groups to read.
        parquet_file_size: Which snapshot; without a size, the newest.
        answer: Whether an answer is possible.
    """

    columns: list[str]
    row_groups: list[int] | None = None
    ranges: list[list[int | LongInteger]] | None = None
    parquet_file_size: int | LongInteger | None = None
    answer: Answering = "accept"


@dataclass(frozen=True, kw_only=True)
class Expect(Closed):
    """The expected answers of a checker, a reader and a writer. A part that is absent is not tested.

    Attributes:
        check: The report of the judge.
        decode: Whether a reader must read the structure; ``either``: it may refuse, but if it accepts, it must read `value`.
        value: The value that it must read.
        probes: Values to look up in bloom filters.
        lint: Whether a linter must accept it.
        encode: Whether a writer must be able to write `rows`, or a ``_pm`` with the content `value`, or must refuse.
        read: The result of a reader of all rows; ``None`` if the input is not a Parquet file.
        scan: The accepted rows of a query: exactly the right rows, or the right rows or a refusal. ``exposure``: the file has a
            well-formed lie, or the lie shows only across several structures. An answer shows its effect on readers, and is not scored.
        predicate: The condition of that query.
        rows: The rows that a reader must return. For a damaged file, the rows of its parent, unless `read` is ``own``.
        update: Whether a writer must be able to append `value` to a ``_pm``.
        snapshots, prune, plan: The questions about a ``_pm``, one for each entry.
    """

    check: CheckExpectation
    lint: Acceptance | None = None
    decode: Answering | None = None
    probes: list[Any] | None = None
    value: dict[str, Any] | None = None
    encode: Acceptance | None = None
    update: UpdateExpectation | None = None
    snapshots: list[SnapshotExpectation] | None = None
    prune: list[PruneExpectation] | None = None
    plan: list[PlanExpectation] | None = None
    read: ReadExpectation | None = None
    scan: Scan | None = None
    predicate: list[Any] | None = None
    rows: Rows | None = None


@dataclass(frozen=True, kw_only=True)
class Provenance(Closed):
    """Origin of the files.

    Attributes:
        by: The writer: ``generator``, ``hand``, or foreign software.
        oracles: The programs that confirmed the content.
        steps: What the foreign software was asked to do, in its own language.
    """

    by: str
    oracles: list[str]
    steps: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Sighting(Closed):
    """One report of a defect: the software, its versions if they are known, and a link to a discussion."""

    software: str
    versions: str | None = None
    reference: str | None = None


@dataclass(frozen=True, kw_only=True)
class Exhibit(Closed):
    """An exhibit in the museum of defects that software had.

    Attributes:
        numbers: Numbers of the defects in the museum.
        story: The harm that they did to users.
        seen: The software in which they were seen.
    """

    numbers: list[int]
    story: str
    seen: list[Sighting]


@dataclass(frozen=True, kw_only=True)
class Case(Closed):
    """One golden case; the attributes are the members of its manifest.

    Attributes:
        id: Path of its folder below ``golden_files``, with slashes.
        family: Prefix of the family's rules.
        kind: ``invalid`` exactly if the judge reports a problem with it. A file as foreign software wrote it is ``valid``
            if there are only remarks (`REMARKS`).
        since: Version of this specification that added it.
        title: What it is, in one line.
        effect: What a user notices when an engine relies on the file.
        requires: Capabilities that an implementation needs to be asked.
        rules: The rules that the case is about.
        input: The file of the case.
        expect: The expected result.
        provenance: Where it comes from.
        parent: The valid case that it was made from.
        mutation: How it differs from its parent.
        column: The column that an index in it describes, its path joined by dots.
        exhibit: The defect of some software that it shows.
    """

    id: str
    family: str
    kind: Literal["valid", "invalid"]
    since: str
    title: str
    effect: str
    parent: str | None = None
    mutation: Mutation | None = None
    requires: list[str]
    rules: list[str]
    column: str | None = None
    exhibit: Exhibit | None = None
    input: Input
    expect: Expect
    provenance: Provenance

    @property
    def is_foreign(self) -> bool:
        """Whether its input is as foreign software wrote it."""
        return self.parent is None and self.provenance.by not in OWN


def to_json(value: Any) -> Any:
    """A manifest or a part of one as JSON. Members that have their default value are left out.

    >>> to_json(Sighting(software="a reader"))
    {'software': 'a reader'}
    """
    if isinstance(value, Mutation):
        return value.to_json()
    if is_dataclass(value):
        members = {field: getattr(value, field.name) for field in fields(value)}
        return {
            field.name: to_json(member) for field, member in members.items() if member is not field.default
        }
    if isinstance(value, dict):
        return {name: to_json(member) for name, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in cast("list[Any]", value)]
    return value
