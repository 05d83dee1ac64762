"""The protocol between the runner and a driver: operations, requests and answers, as data.

A request is one JSON object; its answers are lines of JSON, one for each query of a request that has queries.
``conformance/PROTOCOL.md`` is its description for people; the JSON Schemas in ``schemas/`` are derived from these classes.
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
"""Whether a scan may use what the file says about its values."""

Nan = Literal["unordered", "greatest"]
"""How a reader compares NaN: with nothing, as IEEE 754 says, or as equal to itself and greater than all else."""

Zeros = Literal["equal", "apart"]
"""How a reader compares the two zeros."""


@dataclass(frozen=True)
class Message(Closed):
    """A request or an answer; no member beside those that it declares is allowed in it."""


# -------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True)
class HelloAnswer(Message):
    """The name of the driver, its capabilities, and the comparisons of its library.

    Attributes:
        capabilities: Names of what it can do; see `pqassay_suite.drivers.capabilities`.
        lacks: Names of what it cannot do, though its capabilities imply it.
        serve: Whether ``driver --serve`` answers request after request.
        nan: How NaN is compared.
        zeros: How the two zeros are compared.
        index_off: Whether the library can ignore an index for a query with index ``off``, without other
            changes.
        raises: Classes of exceptions, or patterns of them, that the library raises on purpose; any other one is an accident.
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
        seq: The query that is answered; without it, all that are not answered yet.
    """

    seq: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Accept(AnswerLine):
    """Done. Carries what the operation asks for: a value, rows or their digest, row groups, ranges, or nothing."""

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
        raised: Class of the exception that reached the driver. One that no library raises on purpose makes the refusal one
            by accident.
    """

    answer: Literal["reject"]
    message: str
    raised: str | None = None


@dataclass(frozen=True)
class Unsupported(AnswerLine):
    """The library does not have what is asked for, and says so: a codec, a type, a wish. Neither right nor wrong."""

    answer: Literal["unsupported"]
    reason: str


@dataclass(frozen=True)
class IgnoredIndex(AnswerLine):
    """A scan was done without the index, although it was asked for, or row groups were kept without a look at them."""

    answer: Literal["ignored-index"]
    rows: list[list[Written]] | None = None
    digest: str | None = None
    row_groups: list[int] | None = None
    message: str | None = None


Answer = Accept | Reject | IgnoredIndex | Unsupported

ANSWERS = frozenset({"accept", "reject", "ignored-index", "unsupported"})
"""The words that tell answers apart."""


# ------------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True)
class HelloRequest(Message):
    """Asks who the driver is, and what it can do."""

    protocol: Literal[2]
    op: Literal["hello"]


@dataclass(frozen=True)
class CaseRequest(Message):
    """Members of every request about a case.

    Attributes:
        may_ignore_index: Whether `IgnoredIndex` is an answer.
        carries: Members; an answer other than a refusal carries one of them.
    """

    may_ignore_index: ClassVar[bool] = False
    carries: ClassVar[tuple[str, ...]] = ()
    protocol: Literal[2]
    op: Operation


@dataclass(frozen=True)
class ReadRequest(CaseRequest):
    """Give all rows of a file, with these columns, in this order; ``types`` has the type of each, if it is known.

    Files from the future are asked for some of their columns: the library is asked for no other then.  Else these are all columns.
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
class SortingWish(Message):
    """A column that the rows are sorted by; nulls come last."""

    column: str
    descending: bool = False


@dataclass(frozen=True)
class IndexWish(Message):
    """An index that the file's directory is to have.

    Attributes:
        type: ``DISTINCT_SET``, ``ZONE_SUMS``, ``HLL``, ``KLL`` or ``IDX1``.
        granularity: ``FILE``, ``ROW_GROUP`` or ``PAGE``.
        columns: The path of each described column.
        placement: ``BODY``, ``INLINE`` or ``EXTENSION``; the writer chooses if it is not given.
    """

    type: str
    granularity: str
    columns: list[list[str]]
    placement: str | None = None


@dataclass(frozen=True)
class Wishes(Message):
    """How a file is to be written. A writer that cannot fulfill one answers ``unsupported``.

    Attributes:
        page_rows: Rows of a page, at most.
        row_group_rows: Rows of a row group, at most.
        dictionary: Whether values are encoded by dictionaries.
        bloom_filter: Columns that get bloom filters.
        page_index: Whether there is a page index.
        statistics: Whether there are statistics.
        sorting: The columns that the rows are sorted by, to be declared in the file; the rows are already
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

    Either these rows as a Parquet file, with a structure that describes ``column``, or a file of its own that says ``value``.
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
    """Append a snapshot that says ``value`` to a ``_pm``, in place.

    Attributes:
        stop: Where to stop, as if killed: ``before-size``, when all is written but the committed size.
    """

    op: Literal["update"]
    value: dict[str, Any]
    stop: Stop | None = None


@dataclass(frozen=True)
class Query(Message):
    """A query of a scan.

    Attributes:
        seq: Its number, which its answer repeats.
        predicate: Which rows.
        columns: Which columns of them, in this order.
        index: Whether what the file says about its values may be used.
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
    """A request or an answer that does not follow the protocol. The message says where."""


@cache
def _discriminated(union: Any, member: str) -> Any:
    from pydantic import Field  # noqa: PLC0415 - only a run needs it

    return Annotated[union, Field(discriminator=member)]


@cache
def adapter(kind: Any) -> Any:
    """Reads and checks JSON of a kind, by pydantic; made once."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only a run needs it

    return TypeAdapter(kind)


def request_schema() -> dict[str, Any]:
    """JSON Schema of a request."""
    return schema_of(_discriminated(Request, "op"))


def answer_schema() -> dict[str, Any]:
    """JSON Schema of an answer."""
    return schema_of(Answer | HelloAnswer)


def to_json(record: HelloRequest | CaseRequest | Answer | HelloAnswer) -> str:
    """A request or an answer as one line of JSON in ASCII; members that are ``None`` are left out, values of rows are kept."""
    return json.dumps(given(record), default=given)


def given(record: object) -> dict[str, Any]:
    """The members of a record that are not ``None``."""
    return {name: value for name, value in vars(record).items() if value is not None}


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
    """Read a line that answers an operation.

    Args:
        text: The line.
        operation: What was asked.
        strict: Refuse members that the protocol does not know; they are ignored otherwise.

    Raises:
        ProtocolError: Not JSON, another type, a missing member, a value that is not what its tag says, an answer that the
            operation does not know.
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
