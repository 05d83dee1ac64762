"""The protocol between the runner and a driver: operations, requests and answers, as data.

A request is one JSON object; its answers are lines of JSON, one for each query if the request has queries.
``conformance/PROTOCOL.md`` describes it for people; the JSON Schemas in ``schemas/`` are derived from these classes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, cast, get_args, get_type_hints

from pqassay.report.json_form import schema_of
from pqassay.report.run.outcomes import Operation
from pqassay_spec.base.strict_json import Closed
from pqassay_spec.golden.case import Stop
from pqassay_spec.golden.literals import LongInteger, Rows, ValueNotReadableError, Written, read_value

PROTOCOL: Literal[2] = 2

Index = Literal["on", "off"]
"""Whether a scan may use the file's metadata about its values."""

Nan = Literal["unordered", "greatest"]
"""How a reader compares NaN: unordered, as in IEEE 754, or as equal to itself and greater than all other values."""

Zeros = Literal["equal", "apart"]
"""How a reader compares the two zeros."""


@dataclass(frozen=True)
class Message(Closed):
    """A request or an answer; undeclared members are not allowed."""


# -------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True)
class HelloAnswer(Message):
    """The name of the driver, its capabilities, and the comparisons of its library.

    Attributes:
        capabilities: Names of its capabilities; see `pqassay_suite.drivers.capabilities`.
        lacks: Names of capabilities that it lacks, although its capabilities imply them.
        serve: Whether ``driver --serve`` answers several requests in one process.
        nan: How NaN is compared.
        zeros: How the two zeros are compared.
        index_off: Whether the library can ignore an index for a query with index ``off``, without other
            changes.
        raises: Classes of exceptions, or patterns of them, that the library raises on purpose; any other exception is an accident.
    """

    answer: Literal["accept"]
    name: str
    version: str
    language: str
    capabilities: list[str]
    lacks: list[str] = field(default_factory=list[str])
    serve: bool = False
    nan: Nan = "unordered"
    zeros: Zeros = "equal"
    index_off: bool = False
    raises: list[str] | None = None


@dataclass(frozen=True)
class AnswerLine(Message):
    """Members of every answer to a request about a case.

    Attributes:
        seq: The query that is answered; without it, the answer is for all remaining queries.
    """

    seq: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Accept(AnswerLine):
    """The operation succeeded. It carries the result of the operation: a value, rows or their digest, row groups, ranges, or nothing."""

    answer: Literal["accept"]
    value: dict[str, Any] | None = None
    rows: list[list[Written]] | None = None
    digest: str | None = None
    row_groups: list[int] | None = None
    ranges: list[list[int | LongInteger]] | None = None
    message: str | None = None


@dataclass(frozen=True)
class Reject(AnswerLine):
    """The file, or the request, is refused, for this reason.

    Attributes:
        message: The reason, for people.
        raised: Class of the exception that the driver caught. If the library does not raise it on purpose, the refusal counts as
            an accident.
    """

    answer: Literal["reject"]
    message: str
    raised: str | None = None


@dataclass(frozen=True)
class Unsupported(AnswerLine):
    """The library lacks what the request needs, and reports it: a codec, a type, a wish. Neither right nor wrong."""

    answer: Literal["unsupported"]
    reason: str


@dataclass(frozen=True)
class IgnoredIndex(AnswerLine):
    """The index was requested, but a scan ran without it, or row groups were kept without using it."""

    answer: Literal["ignored-index"]
    rows: list[list[Written]] | None = None
    digest: str | None = None
    row_groups: list[int] | None = None
    message: str | None = None


Answer = Accept | Reject | IgnoredIndex | Unsupported

ANSWERS = frozenset({"accept", "reject", "ignored-index", "unsupported"})
"""The values of the member that distinguishes answers."""


# ------------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True)
class HelloRequest(Message):
    """Asks for the name of the driver and its capabilities."""

    protocol: Literal[2]
    op: Literal["hello"]


@dataclass(frozen=True)
class CaseRequest(Message):
    """Members of every request about a case.

    Attributes:
        may_ignore_index: Whether `IgnoredIndex` is an allowed answer.
        carries: Members of the result; an answer other than a refusal has one of them.
    """

    may_ignore_index: ClassVar[bool] = False
    carries: ClassVar[tuple[str, ...]] = ()
    protocol: Literal[2]
    op: Operation


@dataclass(frozen=True)
class ReadRequest(CaseRequest):
    """Return all rows of a file, with these columns, in this order; ``types`` has the type of each, if it is known.

    Files with future features are requested with some of their columns, and the library must be asked for only these.  Otherwise
    these are all columns.
    """

    carries = ("rows", "digest")
    op: Literal["read"]
    file: str
    columns: list[str]
    types: dict[str, str] | None = None


@dataclass(frozen=True)
class FileRequest(CaseRequest):
    """Members of every request about a structure of a file."""

    family: str
    file: str


@dataclass(frozen=True)
class DecodeRequest(FileRequest):
    """Read the structure of this family from a file, and return its value."""

    carries = ("value",)
    op: Literal["decode"]
    column: str | None = None
    probes: list[Any] | None = None


@dataclass(frozen=True)
class LintRequest(FileRequest):
    """Check the structure of this family in a file."""

    op: Literal["lint"]
    column: str | None = None


@dataclass(frozen=True)
class SortingWish(Message):
    """A column that the rows are sorted by; nulls come last."""

    column: str
    descending: bool = False


@dataclass(frozen=True)
class IndexWish(Message):
    """An index that the file's directory must have.

    Attributes:
        type: ``DISTINCT_SET``, ``ZONE_SUMS``, ``HLL``, ``KLL`` or ``IDX1``.
        granularity: ``FILE``, ``ROW_GROUP`` or ``PAGE``.
        columns: The path of each described column.
        placement: ``BODY``, ``INLINE`` or ``EXTENSION``; without it, the writer chooses.
    """

    type: str
    granularity: str
    columns: list[list[str]]
    placement: str | None = None


@dataclass(frozen=True)
class Wishes(Message):
    """The requested properties of a written file. A writer that cannot fulfill one answers ``unsupported``.

    Attributes:
        page_rows: Most rows of a page.
        row_group_rows: Most rows of a row group.
        dictionary: Whether values are encoded by dictionaries.
        bloom_filter: Columns that get bloom filters.
        page_index: Whether there is a page index.
        statistics: Whether there are statistics.
        sorting: The columns that the rows are sorted by, which the file must declare; the rows are already
            sorted.
        data_page_version: Version of data pages.
        codec: Name of the compression, in lower case: ``uncompressed``, ``snappy``, ``gzip``, ``zstd``, ``lz4_raw``, ``brotli``.
        indexes: Indexes that the file's index directory has.
    """

    page_rows: int | None = None
    row_group_rows: int | None = None
    dictionary: bool | None = None
    bloom_filter: list[str] | None = None
    page_index: bool | None = None
    statistics: bool | None = None
    sorting: list[SortingWish] | None = None
    data_page_version: Literal[1, 2] | None = None
    codec: str | None = None
    indexes: list[IndexWish] | None = None


@dataclass(frozen=True)
class EncodeRequest(CaseRequest):
    """Write a file with the structure of this family.

    Either these rows as a Parquet file, with a structure that describes ``column``, or a separate file with the content ``value``.
    """

    family: str
    op: Literal["encode"]
    output: str
    column: str | None = None
    rows: Rows | None = None
    value: dict[str, Any] | None = None
    wishes: Wishes | None = None


@dataclass(frozen=True)
class UpdateRequest(FileRequest):
    """Append a snapshot with the content ``value`` to a ``_pm``, in place.

    Attributes:
        stop: Where to stop, as if killed; ``before-size``: when all is written except the committed size.
    """

    op: Literal["update"]
    value: dict[str, Any]
    stop: Stop | None = None


@dataclass(frozen=True)
class Query(Message):
    """A query of a scan.

    Attributes:
        seq: Its number, which its answer repeats.
        predicate: The condition on rows.
        columns: The columns to return, in this order.
        index: Whether the file's metadata about its values may be used.
    """

    seq: int
    predicate: list[Any]
    columns: list[str]
    index: Index


@dataclass(frozen=True)
class ScanRequest(FileRequest):
    """Answer queries about a file: for each, these columns of the rows that satisfy the predicate.

    Attributes:
        types: The type of each column of the file, if it is known.
    """

    may_ignore_index = True
    carries = ("rows", "digest")
    op: Literal["scan"]
    queries: list[Query]
    column: str | None = None
    types: dict[str, str] | None = None


@dataclass(frozen=True)
class SnapshotRequest(FileRequest):
    """Return the content of the snapshot that describes a Parquet file of this size."""

    carries = ("value",)
    op: Literal["snapshot"]
    parquet_file_size: int | LongInteger


@dataclass(frozen=True)
class PruneRequest(FileRequest):
    """Return the row groups that may have rows which satisfy a predicate; without a size, those of the newest snapshot."""

    may_ignore_index = True
    carries = ("row_groups",)
    op: Literal["prune"]
    predicate: list[Any]
    parquet_file_size: int | LongInteger | None = None


@dataclass(frozen=True)
class PlanRequest(FileRequest):
    """Return the byte ranges of the Parquet file for these columns in these row groups; without row groups, in all."""

    carries = ("ranges",)
    op: Literal["plan"]
    columns: list[str]
    row_groups: list[int] | None = None
    parquet_file_size: int | LongInteger | None = None


Request = (
    HelloRequest
    | ReadRequest
    | DecodeRequest
    | LintRequest
    | EncodeRequest
    | UpdateRequest
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
    """A request or an answer that does not follow the protocol. The message gives the place."""


@cache
def _discriminated(union: Any, member: str) -> Any:
    from pydantic import Field  # noqa: PLC0415 - only a run needs it

    return Annotated[union, Field(discriminator=member)]


@cache
def adapter(kind: Any) -> Any:
    """The pydantic adapter that reads and checks JSON of a class; cached."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only a run needs it

    return TypeAdapter(kind)


def request_schema() -> dict[str, Any]:
    """JSON Schema of a request."""
    return schema_of(_discriminated(Request, "op"))


def answer_schema() -> dict[str, Any]:
    """JSON Schema of an answer."""
    return schema_of(Answer | HelloAnswer)


def to_json(record: HelloRequest | CaseRequest | Answer | HelloAnswer) -> str:
    """A request or an answer as one line of JSON in ASCII, without members that are ``None``; null values of rows stay."""
    return json.dumps(given(record), default=given)


def given(record: object) -> dict[str, Any]:
    """The members of a record that are not ``None``."""
    return {name: value for name, value in vars(record).items() if value is not None}


def check_request(text: str) -> None:
    """Validate a request of ours.

    Raises:
        ProtocolError: It does not follow the schema: an error in this package.
    """
    _validated(_discriminated(Request, "op"), text.encode(), strict=True)


def read_hello(text: bytes, *, strict: bool) -> HelloAnswer:
    """Read the answer to ``hello``.

    Raises:
        ProtocolError: See `read_answer`.
    """
    return cast("HelloAnswer", _validated(HelloAnswer, text, strict=strict))


def read_answer(text: bytes, operation: Operation, *, strict: bool) -> Answer:
    """Read a line that answers an operation.

    Args:
        text: The line.
        operation: The operation of the request.
        strict: Refuse undeclared members; otherwise they are ignored.

        Raises:
            ProtocolError: Not JSON, another type, a missing member, a value that does not fit its tag, or an answer that the
                operation does not allow.
    """
    answer = cast("Answer", _validated(_discriminated(Answer, "answer"), text, strict=strict))
    asked = OPERATIONS[operation]
    if isinstance(answer, IgnoredIndex) and not asked.may_ignore_index:
        raise ProtocolError(f"{answer.answer!r} does not answer {operation}")
    if asked.carries and isinstance(answer, Accept | IgnoredIndex):
        carried = [name for name in asked.carries if getattr(answer, name, None) is not None]
        if len(carried) != 1:
            raise ProtocolError(f"the answer to {operation} carries {' or '.join(asked.carries)}")
        for number, row in enumerate(answer.rows or ()):
            for column, value in enumerate(row):
                try:
                    read_value(value)
                except ValueNotReadableError as error:
                    raise ProtocolError(f"rows.{number}.{column}: {error}") from None
    return answer


def _validated(kind: Any, text: bytes, *, strict: bool) -> Any:
    from pydantic import ValidationError  # noqa: PLC0415 - only a run needs it

    try:
        return adapter(kind).validate_json(text, strict=True, extra="forbid" if strict else "ignore")
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
    if first["loc"][1:2] == ("rows",) and len(first["loc"]) > 4:  # one of the types that a value may have
        row, column = first["loc"][2:4]
        raise ProtocolError(f"rows.{row}.{column}: not a value as the protocol writes values")
    place = ".".join(str(part) for part in first["loc"] if part not in ANSWERS)
    raise ProtocolError(f"{place}: {first['msg']}" if place else first["msg"])
