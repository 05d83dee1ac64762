"""The protocol between the runner and a driver: operations, requests and answers, as data.

``conformance/PROTOCOL.md`` is its description for people; the JSON Schemas in ``schemas/`` are derived from these classes.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, cast, get_args, get_type_hints

from pqassay.report.model import schema_of
from pqassay.report.run_model import Operation
from pqassay_spec.base.strict_json import Closed
from pqassay_spec.golden.literals import LongInteger, Rows, Written

PROTOCOL: Literal[1] = 1

Index = Literal["on", "off"]
"""Use of the structure in a scan."""


@dataclass(frozen=True)
class Message(Closed):
    """A request or an answer; no member beside those that it declares is allowed in it."""


# -------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True)
class HelloAnswer(Message):
    """The driver's name, and its capabilities."""

    answer: Literal["accept"]
    name: str
    version: str
    language: str
    capabilities: list[str]


@dataclass(frozen=True)
class Accept(Message):
    """Done. Carries what the operation asks for: a value, rows or their digest, row groups, ranges, or nothing."""

    answer: Literal["accept"]
    value: dict[str, Any] | None = None
    rows: list[list[Written]] | None = None
    digest: str | None = None
    row_groups: list[int] | None = None
    ranges: list[list[int | LongInteger]] | None = None
    message: str | None = None


@dataclass(frozen=True)
class Reject(Message):
    """The file, or the request, is refused, for this reason."""

    answer: Literal["reject"]
    message: str


@dataclass(frozen=True)
class IgnoredIndex(Message):
    """A scan was done without the index, although it was asked for, or row groups were kept without a look at them."""

    answer: Literal["ignored-index"]
    rows: list[list[Written]] | None = None
    digest: str | None = None
    row_groups: list[int] | None = None
    message: str | None = None


Answer = Accept | Reject | IgnoredIndex


# ------------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True)
class HelloRequest(Message):
    """Asks who the driver is, and what it can do."""

    protocol: Literal[1]
    op: Literal["hello"]


@dataclass(frozen=True)
class CaseRequest(Message):
    """Members of every request about a case.

    Attributes:
        may_ignore_index: Whether `IgnoredIndex` is an answer.
        carries: Members of which an answer that is no refusal carries one.
    """

    may_ignore_index: ClassVar[bool] = False
    carries: ClassVar[tuple[str, ...]] = ()
    protocol: Literal[1]
    op: Operation
    family: str


@dataclass(frozen=True)
class FileRequest(CaseRequest):
    """Members of every request about a file."""

    file: str


@dataclass(frozen=True)
class DecodeRequest(FileRequest):
    """Read the structure of this family from a file, and say what it holds."""

    carries = ("value",)
    op: Literal["decode"]
    column: str | None = None
    probes: list[Any] | None = None


@dataclass(frozen=True)
class LintRequest(FileRequest):
    """Say whether the structure of this family in a file is right."""

    op: Literal["lint"]
    column: str | None = None


@dataclass(frozen=True)
class EncodeRequest(CaseRequest):
    """Write a file with the structure of this family.

    Either these rows as a Parquet file, with a structure that describes ``column``, or a file of its own that says ``value``.
    """

    op: Literal["encode"]
    output: str
    column: str | None = None
    rows: Rows | None = None
    value: dict[str, Any] | None = None


@dataclass(frozen=True)
class ScanRequest(FileRequest):
    """Give these columns of the rows that satisfy a predicate, with the structure of this family or without."""

    may_ignore_index = True
    carries = ("rows", "digest")
    op: Literal["scan"]
    predicate: list[Any]
    columns: list[str]
    index: Index
    column: str | None = None


@dataclass(frozen=True)
class SnapshotRequest(FileRequest):
    """Say what the snapshot says that describes a Parquet file of this size."""

    carries = ("value",)
    op: Literal["snapshot"]
    parquet_file_size: int | LongInteger


@dataclass(frozen=True)
class PruneRequest(FileRequest):
    """Name the row groups that may hold rows which satisfy a predicate; of the newest snapshot, if no size is given."""

    may_ignore_index = True
    carries = ("row_groups",)
    op: Literal["prune"]
    predicate: list[Any]
    parquet_file_size: int | LongInteger | None = None


@dataclass(frozen=True)
class PlanRequest(FileRequest):
    """Say which bytes of the Parquet file hold these columns of these row groups; of all, if none are named."""

    carries = ("ranges",)
    op: Literal["plan"]
    columns: list[str]
    row_groups: list[int] | None = None
    parquet_file_size: int | LongInteger | None = None


Request = (
    HelloRequest
    | DecodeRequest
    | LintRequest
    | EncodeRequest
    | ScanRequest
    | SnapshotRequest
    | PruneRequest
    | PlanRequest
)

OPERATIONS: dict[Operation, type[CaseRequest]] = {
    get_args(get_type_hints(kind)["op"])[0]: kind
    for kind in get_args(Request)
    if issubclass(kind, CaseRequest)
}
"""The request of each operation."""


class ProtocolError(Exception):
    """A request or an answer that does not follow the protocol. The message says where."""


@cache
def _discriminated(union: Any, member: str) -> Any:
    from pydantic import Field  # noqa: PLC0415 - only a run needs it

    return Annotated[union, Field(discriminator=member)]


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter  # noqa: PLC0415 - only a run needs it

    return TypeAdapter(kind)


def request_schema() -> dict[str, Any]:
    """JSON Schema of a request."""
    return schema_of(_discriminated(Request, "op"))


def answer_schema() -> dict[str, Any]:
    """JSON Schema of an answer."""
    return schema_of(Answer | HelloAnswer)


def to_json(record: Request | Answer | HelloAnswer) -> str:
    """A request or an answer as JSON in ASCII; members that are ``None`` are left out, values of rows are kept."""
    members = {name: value for name, value in vars(record).items() if value is not None}
    return json.dumps(members, default=vars)


def check_request(text: str) -> None:
    """Validate a request of ours.

    Raises:
        ProtocolError: It does not follow the schema: a mistake in this package.
    """
    _validated(_discriminated(Request, "op"), text.encode(), strict=True)


def read_hello(text: bytes, *, strict: bool) -> HelloAnswer:
    """Read the answer to ``hello``.

    Raises:
        ProtocolError: See `read_answer`.
    """
    return cast("HelloAnswer", _validated(HelloAnswer, text, strict=strict))


def read_answer(text: bytes, operation: Operation, *, strict: bool) -> Answer:
    """Read the answer to an operation.

    Args:
        text: The content of the answer's file.
        operation: What was asked.
        strict: Refuse members that the protocol does not know; they are ignored otherwise.

    Raises:
        ProtocolError: No JSON, another type, a missing member, an answer that the operation does not know.
    """
    answer = cast("Answer", _validated(_discriminated(Answer, "answer"), text, strict=strict))
    asked = OPERATIONS[operation]
    if isinstance(answer, IgnoredIndex) and not asked.may_ignore_index:
        raise ProtocolError(f"{answer.answer!r} is no answer to {operation}")
    if asked.carries and not isinstance(answer, Reject):
        carried = [name for name in asked.carries if getattr(answer, name, None) is not None]
        if len(carried) != 1:
            raise ProtocolError(f"the answer to {operation} carries {' or '.join(asked.carries)}")
    return answer


def _validated(kind: Any, text: bytes, *, strict: bool) -> Any:
    from pydantic import ValidationError  # noqa: PLC0415 - only a run needs it

    try:
        return _adapter(kind).validate_json(text, strict=True, extra="forbid" if strict else "ignore")
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
    if first["loc"][1:2] == ("rows",) and len(first["loc"]) > 4:  # one of the types that a value may have
        row, column = first["loc"][2:4]
        raise ProtocolError(f"rows.{row}.{column}: no value as the protocol writes values")
    place = ".".join(str(part) for part in first["loc"] if part not in ("accept", "reject", "ignored-index"))
    raise ProtocolError(f"{place}: {first['msg']}" if place else first["msg"])


def applicable(operation: str, family: str, requires: Collection[str], capabilities: Collection[str]) -> str:
    """The capability that is missing for an operation on a case; empty for none.

    A capability is a name with dots, and implies the names that it begins with.

    >>> applicable("scan", "IDX1", ["idx1"], ["idx1.decode"])
    'idx1.scan'
    >>> applicable("decode", "IDX1", ["idx1"], ["idx1.decode"])
    ''
    """
    declared = {
        ".".join(parts[:length])
        for parts in (name.split(".") for name in capabilities)
        for length in range(1, len(parts) + 1)
    }
    needed = [*requires, f"{family.lower()}.{operation}"]
    return next((name for name in needed if name not in declared), "")
