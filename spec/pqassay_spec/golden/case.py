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
"""Authors of the cases that come from no foreign software."""

Acceptance = Literal["accept", "reject"]
Answering = Literal["accept", "reject", "either"]
Scan = Literal["same-rows", "refusal-allowed", "exposure"]
"""What a scan must give: the right rows; these or a refusal; or whatever it gives is shown, and never scored."""

Stop = Literal["before-size"]

RowsToRead = Literal["own", "parent", "unspecified"]
Refusal = Literal["never", "allowed", "demanded"]


@dataclass(frozen=True, kw_only=True)
class GoldenFile(Closed):
    """A file in the folder of a case, and its SHA-256."""

    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Input(Closed):
    """The file that a case is about, its SHA-256, and the files beside it under the names that they need."""

    file: str
    sha256: str
    beside: list[GoldenFile] | None = None


@dataclass(frozen=True, kw_only=True)
class CheckExpectation(Closed):
    """The rules that ``pqassay check`` reports: exactly these, in this order, at this tier, with these options."""

    rules: list[str]
    tier: Tier
    options: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class ReadExpectation(Closed):
    """What reading all rows of a Parquet file must give. A crash is never right.

    Attributes:
        rows: ``own``: the rows of the case; ``parent``: those of the file before it was damaged, which the case holds as well;
            ``unspecified``: no rows are wrong, unless a refusal is demanded.
        refusal: Whether a reader may refuse the file, or must: there is nothing that it could give instead.
    """

    rows: RowsToRead
    refusal: Refusal


@dataclass(frozen=True, kw_only=True)
class SnapshotExpectation(Closed):
    """The snapshot of a Parquet file of a size: whether ``_pm`` has it, and its value."""

    parquet_file_size: int | LongInteger
    answer: Answering
    value: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class UpdateExpectation(Closed):
    """Appending the snapshot `Expect.value` to a ``_pm``.

    Attributes:
        stop: Where the writer is to stop, as if it were killed: ``before-size``, when all is written but the committed size.
    """

    stop: Stop | None = None


@dataclass(frozen=True, kw_only=True)
class PruneExpectation(Closed):
    """The row groups of a snapshot that a predicate leaves, of the newest without a size.

    Attributes:
        predicate: The condition.
        must_keep: Row groups with rows that satisfy it: an answer without one of them loses rows.
        kept: Row groups that remain at most, if everything that the document describes is used.
        parquet_file_size: Which snapshot.
        answer: ``either``: the damage can be seen, and refusing is right as well.
    """

    predicate: list[Any]
    must_keep: list[int]
    kept: list[int]
    parquet_file_size: int | LongInteger | None = None
    answer: Answering = "accept"


@dataclass(frozen=True, kw_only=True)
class PlanExpectation(Closed):
    """The bytes of a Parquet file that hold some columns, all row groups if none are named.

    Attributes:
        columns: The names of the columns.
        ranges: Offset and length of each chunk, row group by row group, in the order of the columns.
        row_groups: Which row groups.
        parquet_file_size: Which snapshot; the newest without.
        answer: Whether it can be said.
    """

    columns: list[str]
    row_groups: list[int] | None = None
    ranges: list[list[int | LongInteger]] | None = None
    parquet_file_size: int | LongInteger | None = None
    answer: Answering = "accept"


@dataclass(frozen=True, kw_only=True)
class Expect(Closed):
    """The expected answers of a checker, a reader and a writer. What is absent is not asked.

    Attributes:
        check: What the judge reports.
        decode: Whether a reader must read the structure; ``either``: it may refuse, but what it accepts must be `value`.
        value: What it must read.
        probes: Values that it looks up in bloom filters.
        lint: Whether a linter must find it good.
        encode: Whether a writer must be able to write `rows`, or a ``_pm`` that says `value`, or must refuse to.
        read: What a reader of all rows must give; ``None`` where the input is not a Parquet file.
        scan: Rows that a query must give: exactly the right ones, or these or a refusal. ``exposure``: the file tells a well-formed
            lie, or what gives it away is in several structures; an answer shows what the lie does to readers, and is not scored.
        predicate: The condition of that query.
        rows: The rows that a reader must find. For a damaged file, those that it was made from, unless `read` says ``own``.
        update: Whether a writer must be able to append `value` to a ``_pm``.
        snapshots, prune, plan: What is asked of a ``_pm``, once for each entry.
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
        oracles: The programs that confirmed what they hold.
        steps: What the foreign software was told, in its own language.
    """

    by: str
    oracles: list[str]
    steps: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Sighting(Closed):
    """A sighting of a defect: the software, its versions if they are known, and a link to a discussion of it."""

    software: str
    versions: str | None = None
    reference: str | None = None


@dataclass(frozen=True, kw_only=True)
class Exhibit(Closed):
    """An exhibit in the museum of defects that software had.

    Attributes:
        numbers: Numbers of the defects in the museum.
        story: What they did to people.
        seen: Where they were seen.
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
        kind: ``invalid`` exactly if the judge reports something about it; a file as foreign software wrote it is ``valid``
            as long as there are only remarks (`REMARKS`).
        since: Version of this specification that added it.
        title: What it is, in one line.
        effect: What a user notices when an engine relies on the file.
        requires: Capabilities without which an implementation is not asked.
        rules: Rules that it is about.
        input: Its file.
        expect: The expected result.
        provenance: Where it comes from.
        parent: The valid case that it was made from.
        mutation: In what it differs from its parent.
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
    """A manifest or a part of one as JSON. Members that are what they would be without being named are left out.

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
