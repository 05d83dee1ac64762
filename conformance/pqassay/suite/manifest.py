"""The manifest of a golden case: the members of a ``case.json``, and what they must not say against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from pqassay.lake.kinds import kind_of
from pqassay.literals.predicate import PredicateError, columns_of, keeps
from pqassay.literals.rows import CLOSED, LongInteger, Rows, ValueNotReadableError
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.value_json import NotAValueError
from pqassay_spec.pm.value_json import from_json as pm_value
from pqassay_spec.rules.catalogue import Tier, rules

MANIFEST = "case.json"

HANDED_OVER = {"pm": pm.FILE_NAME}
"""The name under which an input is handed over, by the kind of file: neither it nor its folder gives the verdict away."""

HANDED_OVER_OTHERWISE = "data.parquet"

OWN = ("generator", "hand")
"""Authors of the cases that come from no foreign software."""

Acceptance = Literal["accept", "reject"]
Answering = Literal["accept", "reject", "either"]


@dataclass(frozen=True)
class GoldenFile:
    """A file in the folder of a case, and its SHA-256."""

    __pydantic_config__: ClassVar = CLOSED
    file: str
    sha256: str


@dataclass(frozen=True)
class Input:
    """The file that a case is about, its SHA-256, and the files that stand beside it under the names that they need."""

    __pydantic_config__: ClassVar = CLOSED
    file: str
    sha256: str
    beside: list[GoldenFile] | None = None


@dataclass(frozen=True)
class Mutation:
    """The one thing in which an invalid case differs from its parent; ``raw``: nothing derived was mended after it."""

    __pydantic_config__: ClassVar = {"extra": "allow"}
    op: str
    path: str | None = None
    to: Any = None
    raw: bool = False


@dataclass(frozen=True)
class CheckExpectation:
    """The rules that ``pqassay check`` reports: exactly these, in this order, at this tier, with these options."""

    __pydantic_config__: ClassVar = CLOSED
    rules: list[str]
    tier: Tier
    options: dict[str, str] | None = None


@dataclass(frozen=True)
class SnapshotExpectation:
    """Whether ``_pm`` has a snapshot of a Parquet file of a size, and its value."""

    __pydantic_config__: ClassVar = CLOSED
    parquet_file_size: int | LongInteger
    answer: Answering
    value: dict[str, Any] | None = None


@dataclass(frozen=True)
class PruneExpectation:
    """What row groups of a snapshot a predicate leaves, of the newest without a size.

    Attributes:
        predicate: The condition.
        must_keep: Row groups with rows that satisfy it: an answer without one of them loses rows.
        kept: Row groups that remain at most, if everything that the document describes is used.
        parquet_file_size: Which snapshot.
        answer: ``either``: the damage can be seen, and refusing is right as well.
    """

    __pydantic_config__: ClassVar = CLOSED
    predicate: list[Any]
    must_keep: list[int]
    kept: list[int]
    parquet_file_size: int | LongInteger | None = None
    answer: Answering = "accept"


@dataclass(frozen=True)
class PlanExpectation:
    """The bytes of a Parquet file that hold some columns, all row groups if none are named.

    Attributes:
        columns: The names of the columns.
        ranges: Offset and length of each chunk, row group by row group, in the order of the columns.
        row_groups: Which row groups.
        parquet_file_size: Which snapshot; the newest without.
        answer: Whether it can be said.
    """

    __pydantic_config__: ClassVar = CLOSED
    columns: list[str]
    ranges: list[list[int | LongInteger]] | None = None
    row_groups: list[int] | None = None
    parquet_file_size: int | LongInteger | None = None
    answer: Answering = "accept"


@dataclass(frozen=True)
class Expect:
    """What a checker, a reader and a writer must make of a case. What is absent is not asked.

    Attributes:
        check: What the judge reports.
        decode: Whether a reader must read the structure; ``either``: it may refuse, but what it accepts must be `value`.
        value: What it must read.
        probes: Values that it looks up in bloom filters.
        lint: Whether a linter must find it good.
        encode: Whether a writer must be able to write `rows`, or a ``_pm`` that says `value`, or must refuse to.
        scan: Rows that a query must give: exactly the right ones, or these or a refusal.
        predicate: The condition of that query.
        rows: The rows that the file was made from.
        snapshots, prune, plan: What is asked of a ``_pm``, once for each entry.
    """

    __pydantic_config__: ClassVar = CLOSED
    check: CheckExpectation
    decode: Answering | None = None
    value: dict[str, Any] | None = None
    probes: list[Any] | None = None
    lint: Acceptance | None = None
    encode: Acceptance | None = None
    scan: Literal["same-rows", "refusal-allowed"] | None = None
    predicate: list[Any] | None = None
    rows: Rows | None = None
    snapshots: list[SnapshotExpectation] | None = None
    prune: list[PruneExpectation] | None = None
    plan: list[PlanExpectation] | None = None


@dataclass(frozen=True)
class Provenance:
    """Where the files come from.

    Attributes:
        by: Who wrote them: ``generator``, ``hand``, or foreign software.
        oracles: Who confirmed what they hold.
        steps: What the foreign software was told, in its own language.
    """

    __pydantic_config__: ClassVar = CLOSED
    by: str
    oracles: list[str]
    steps: list[str] | None = None


@dataclass(frozen=True)
class Sighting:
    """Where a defect was seen: the software, its versions if they are known, and a link to where people spoke of it."""

    __pydantic_config__: ClassVar = CLOSED
    software: str
    versions: str | None = None
    reference: str | None = None


@dataclass(frozen=True)
class Exhibit:
    """What a case shows in the museum of defects that software had.

    Attributes:
        numbers: Numbers of the defects in the museum.
        story: What they did to people.
        seen: Where they were seen.
    """

    __pydantic_config__: ClassVar = CLOSED
    numbers: list[int]
    story: str
    seen: list[Sighting]


@dataclass(frozen=True)
class Case:
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
        expect: What must come of it.
        provenance: Where it comes from.
        parent: The valid case that it was made from.
        mutation: In what it differs from its parent.
        column: The column that an index in it describes, its path joined by dots.
        exhibit: The defect of some software that it shows.
    """

    __pydantic_config__: ClassVar = CLOSED
    id: str
    family: str
    kind: Literal["valid", "invalid"]
    since: str
    title: str
    effect: str
    requires: list[str]
    rules: list[str]
    input: Input
    expect: Expect
    provenance: Provenance
    parent: str | None = None
    mutation: Mutation | None = None
    column: str | None = None
    exhibit: Exhibit | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether its input is as foreign software wrote it."""
        return self.parent is None and self.provenance.by not in OWN

    @property
    def file_kind(self) -> str:
        """The kind of its input, see `pqassay.lake.kinds`; empty for one that has no kind."""
        kind = kind_of(self.input.file)
        return kind.name if kind else ""

    @property
    def handed_over(self) -> str:
        """The name under which an implementation gets the input."""
        return HANDED_OVER.get(self.file_kind, HANDED_OVER_OTHERWISE)


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter  # noqa: PLC0415 - only a run needs it

    return TypeAdapter(Case)


def json_schema() -> dict[str, Any]:
    """JSON Schema of a manifest, derived from the classes."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_adapter().json_schema()}


class ManifestError(ValueError):
    """A manifest that does not say what one must, or that contradicts itself. The message names the member."""


def read_manifest(text: bytes, place: str) -> Case:
    """The case that a manifest describes.

    Args:
        text: The manifest, JSON.
        place: The folder that it stands in, below that of all cases, with slashes.

    Raises:
        ManifestError: See there.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - only a run needs it

    try:
        case = cast("Case", _adapter().validate_json(text, strict=True))
    except ValidationError as error:
        first = error.errors()[0]
        member = ".".join(str(part) for part in first["loc"])
        raise ManifestError(f"{member or 'the manifest'}: {first['msg']}") from None
    if problem := _inconsistency(case, place):
        raise ManifestError(problem)
    return case


REMARKS = ("INFO", "POLICY")
"""Verdicts that leave a file of foreign software valid."""


def _worse_than_remarks(reported: Sequence[str]) -> bool:
    known = rules()
    return any(rule not in known or known[rule].verdict not in REMARKS for rule in reported)


def _inconsistency(case: Case, place: str) -> str:
    """What members of a manifest say against each other; empty if nothing."""
    expect, others = case.expect, [given.file for given in case.input.beside or ()]
    wrong = {
        f"its id is {case.id}, its folder {place}": case.id != place,
        "an input outside its folder": not all(map(_is_plain, [case.input.file, *others])),
        "two files of one name": len({case.handed_over, *others}) <= len(others),
        "kind is invalid exactly if the judge reports rules, of foreign software more than remarks": (
            case.kind == "invalid"
        )
        != (_worse_than_remarks(expect.check.rules) if case.is_foreign else bool(expect.check.rules)),
        "decode needs a value": expect.decode in ("accept", "either") and expect.value is None,
        "scan needs rows and a predicate": bool(expect.scan)
        and (expect.rows is None or expect.predicate is None),
        "only a _pm has snapshots, prune and plan": case.file_kind != "pm"
        and any((expect.snapshots, expect.prune, expect.plan)),
    }
    if case.file_kind == "pm":
        wrong["encode needs the value of a file with one snapshot"] = bool(expect.encode) and (
            expect.value is None or bool(expect.value.get("previous_sizes"))
        )
    else:
        wrong["encode needs rows and a column"] = bool(expect.encode) and None in (expect.rows, case.column)
    problem = next((words for words, applies in wrong.items() if applies), "")
    return problem or (_pm_problem(expect) if case.file_kind == "pm" else "") or _row_problem(expect)


def _is_plain(name: str) -> bool:
    """Whether a name leads nowhere else than into its folder, and to no manifest."""
    return Path(name).name == name and name not in ("", "..", MANIFEST)


def _pm_problem(expect: Expect) -> str:
    """What is wrong with the expectations about a ``_pm``; empty if nothing."""
    try:
        if expect.value is not None:
            pm_value(expect.value)
        for number, snapshot in enumerate(expect.snapshots or ()):
            if snapshot.value is not None:
                pm_value(snapshot.value)
            elif snapshot.answer != "reject":
                return f"snapshots[{number}] needs a value"
    except NotAValueError as error:
        return f"value: {error}"
    for number, prune in enumerate(expect.prune or ()):
        if not set(prune.must_keep) <= set(prune.kept):
            return f"prune[{number}]: kept lacks row groups of must_keep"
        if problem := _predicate_problem(prune.predicate):
            return f"prune[{number}]: {problem}"
    for number, plan in enumerate(expect.plan or ()):
        if plan.answer != "reject" and plan.ranges is None:
            return f"plan[{number}] needs ranges"
    return ""


def _predicate_problem(predicate: list[Any]) -> str:
    """What is wrong with a predicate whose columns have no rows at hand; empty if nothing."""
    try:
        keeps(predicate, dict.fromkeys(columns_of(predicate)))
    except (PredicateError, ValueNotReadableError, IndexError, TypeError) as error:
        return str(error)
    return ""


def _row_problem(expect: Expect) -> str:
    if expect.rows is None:
        return ""
    names = expect.rows.names()
    try:
        records = [dict(zip(names, values, strict=True)) for values in expect.rows.values()]
        for record in records if expect.predicate is not None else ():
            keeps(expect.predicate or [], record)
        unknown = columns_of(expect.predicate) - set(names) if expect.predicate is not None else set[str]()
    except (PredicateError, ValueNotReadableError, ValueError, IndexError, TypeError) as error:
        return f"rows and predicate: {error}"
    return f"the predicate names {min(unknown)}, which is no column" if unknown else ""
