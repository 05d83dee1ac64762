"""What every driver in Python has in common: requests and answers, values, predicates.

A driver lets ``pqassay suite run`` test a library. This module starts it in both ways that the protocol knows, turns what the library
raises into answers, and holds what no library has: the values of the protocol and the truth of predicates. It needs the
standard library alone; what Arrow's tables need is in `arrow_tables`.

Source: ``conformance/PROTOCOL.md`` of pqassay. It imports nothing of pqassay.
"""

from __future__ import annotations

import decimal
import faulthandler
import json
import operator
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn, TextIO, cast

PROTOCOL = 2
"""The version of the protocol that is spoken here."""

NOT_SUPPORTED = 3
"""Exit status of a process that does not know the operation or family of its request."""

LONGEST_MESSAGE = 300
"""Characters of a message that are passed on."""

EXACT_INTEGERS = 2**53
"""Whole numbers up to it, and down to its negative, are written as JSON numbers."""

Predicate = Sequence[Any]
"""A tree such as ``["and", ["=", "metal", "tin"], ["is null", "year"]]``."""

Written = Any
"""A value as JSON holds it: ``null``, ``true``, ``"tin"``, ``5``, or tagged such as ``{"date": "19000"}``."""

Record = Mapping[str, Written]
"""The values of a row by the names of its columns."""

Answer = dict[str, Any]
"""One line of answer."""

ALL_FAMILIES = ("pqf", "sta", "pix", "blm", "idx1", "dir")
"""The families of structures that a file can be scanned by."""

USUAL_TYPES = (
    *("nested", "nested.map", "type.unsigned", "type.decimal", "type.date", "type.time", "type.timestamp"),
    *("type.timestamp-nanos", "type.int96", "type.float16", "type.uuid", "type.fixed", "type.enum"),
)
"""Capabilities of readers that know every type of long standing."""

USUAL_CODECS = ("codec.snappy", "codec.gzip", "codec.zstd", "codec.lz4-raw", "codec.brotli")
"""Capabilities of readers that know every codec but the deprecated ones."""

USUAL_READER = ("parquet", "read", *(f"{family}.scan" for family in ALL_FAMILIES), *USUAL_CODECS)
"""Capabilities of readers that filter rows."""


class Unsupported(Exception):  # noqa: N818 - says what the library lacks; nothing went wrong
    """The library does not have what is asked: a codec, a type, a wish."""


@dataclass(frozen=True)
class Query:
    """One question of a scan.

    Attributes:
        predicate: Which rows are wanted.
        columns: Names of their columns, in order.
        index: Whether the file's metadata about values may be used to skip some of it.
        about: The column that the structure of the family is about, if it is about one.
    """

    predicate: Predicate
    columns: list[str]
    index: bool
    about: str | None = None


class Driver:
    """A library under test. Subclasses fill in what they have, and leave the rest.

    Attributes:
        name: Name of the library.
        distribution: What pip calls it; `version` asks that for its version.
        language: What it is written in.
        capabilities: What it can do; the protocol lists the names. What is not declared is not asked.
        nan: How it compares NaN: ``unordered`` as IEEE 754 does, or ``greatest`` and equal to itself.
        zeros: Whether 0.0 and -0.0 are ``equal`` or ``apart``.
        ignores: Families whose structures it knows nothing of.
        index_off: Whether the library itself can leave indexes aside, and still filters rows, as `scan` asks without index.
        raises: Classes of exceptions that the library raises on purpose, or patterns of them; without any, the runner goes by their names.
    """

    name: ClassVar[str]
    distribution: ClassVar[str]
    language: ClassVar[str] = "Python"
    capabilities: ClassVar[Sequence[str]]
    nan: ClassVar[Literal["unordered", "greatest"]] = "unordered"
    zeros: ClassVar[Literal["equal", "apart"]] = "equal"
    ignores: ClassVar[frozenset[str]] = frozenset({"IDX1", "DIR"})
    index_off: ClassVar[bool] = False
    raises: ClassVar[Sequence[str]] = ()

    @property
    def version(self) -> str:
        """The version of the library, which is not imported for that."""
        from importlib import metadata

        return metadata.version(self.distribution)

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows of a file with these columns. Raises what the library raises, or `Unsupported`."""
        raise NotImplementedError

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The rows that satisfy a predicate. Raises what the library raises, or `Unsupported`."""
        raise NotImplementedError

    def decode(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What the structure of a family says. Raises what the library raises, or `Unsupported`."""
        raise NotImplementedError

    def encode(self, request: Mapping[str, Any]) -> None:
        """Write rows as a Parquet file. Raises what the library raises, or `Unsupported`."""
        raise NotImplementedError

    def is_crash(self, error: Exception) -> bool:
        """Whether an exception is one that no caller could expect, and the end of the process."""
        return type(error) is MemoryError or isinstance(error, RecursionError)

    def message(self, error: Exception) -> str:
        """What an exception says."""
        return str(error)

    def class_name(self, error: Exception) -> str:
        """The class of an exception, by which the runner tells whether the library meant to throw it."""
        kind = type(error)
        return (
            kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        )


# ------------------------------------------------------------------------------------------- requests and answers


def main(driver: Driver) -> None:
    """Answer one request (``driver.py REQUEST ANSWER``), or those on standard input (``driver.py --serve``)."""
    if not faulthandler.is_enabled():
        faulthandler.enable(2)
    match sys.argv[1:]:
        case ["--serve"]:
            _serve(driver)
        case [request, answer]:
            _answer_file(driver, request, answer)
        case _:
            sys.exit(f"usage: {sys.argv[0]} REQUEST ANSWER, or {sys.argv[0]} --serve")


def _serve(driver: Driver) -> None:
    # Some libraries print. Standard output is for answers alone, so it moves, and what is printed goes to people.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as sink:
        os.dup2(2, 1)
        for line in sys.stdin:
            if line.strip():
                request = json.loads(line)
                if knows(driver, request):
                    _write(answers(driver, request), sink)
                else:
                    _write([{"answer": "unsupported", "reason": _capability(request)}], sink)


def _answer_file(driver: Driver, request_path: str, answer_path: str) -> None:
    with open(request_path, encoding="utf-8") as source:  # noqa: PTH123 - pathlib costs as much as the request
        request = json.load(source)
    if not knows(driver, request):
        sys.exit(NOT_SUPPORTED)
    with open(answer_path, "w", encoding="utf-8") as sink:  # noqa: PTH123 - as above
        _write(answers(driver, request), sink)


def _write(lines: Iterable[Answer], sink: TextIO) -> None:
    for line in lines:
        sink.write(json.dumps(line) + "\n")
        sink.flush()


def knows(driver: Driver, request: Mapping[str, Any]) -> bool:
    """Whether a driver declares the operation and family of a request; exits if it is not a request of this protocol."""
    if request.get("protocol") != PROTOCOL:
        sys.exit(f"this driver speaks protocol {PROTOCOL}")
    return request["op"] == "hello" or _capability(request) in driver.capabilities


def _capability(request: Mapping[str, Any]) -> str:
    family = request.get("family", "").lower()
    return f"{family}.{request['op']}" if family else str(request["op"])


def answers(driver: Driver, request: Mapping[str, Any]) -> Iterator[Answer]:
    """The lines of answer to a request that the driver knows."""
    match request["op"]:
        case "hello":
            yield hello(driver)
        case "read":
            path, columns = request["file"], request["columns"]
            yield _answer(driver, lambda: {"rows": driver.read(path, columns)})
        case "scan":
            for asked in request["queries"]:
                yield {"seq": asked["seq"], **_scanned(driver, request, asked)}
        case "decode":
            yield _answer(driver, lambda: {"value": driver.decode(request)})
        case _:
            yield _answer(driver, lambda: _encoded(driver, request))


def hello(driver: Driver) -> Answer:
    """The driver's name, version and capabilities. The library is not imported for that."""
    return {
        "answer": "accept",
        "name": driver.name,
        "version": driver.version,
        "language": driver.language,
        "capabilities": list(driver.capabilities),
        "serve": True,
        "nan": driver.nan,
        "zeros": driver.zeros,
        "index_off": driver.index_off,
        **({"raises": list(driver.raises)} if driver.raises else {}),
    }


def _encoded(driver: Driver, request: Mapping[str, Any]) -> Answer:
    driver.encode(request)
    return {}


def _scanned(driver: Driver, request: Mapping[str, Any], asked: Mapping[str, Any]) -> Answer:
    query = Query(asked["predicate"], asked["columns"], asked["index"] == "on", request.get("column"))
    answer = _answer(driver, lambda: {"rows": driver.scan(request["file"], query)})
    if answer["answer"] == "accept" and query.index and request["family"] in driver.ignores:
        answer["answer"] = "ignored-index"
    return answer


def _answer(driver: Driver, work: Callable[[], Answer]) -> Answer:
    """What became of some work of the library. A panic is not an `Exception`, and ends the process."""
    try:
        return {"answer": "accept", **work()}
    except Unsupported as lacking:
        return {"answer": "unsupported", "reason": str(lacking)}
    except Exception as error:
        if driver.is_crash(error):
            raise
        return {
            "answer": "reject",
            "message": short(driver.message(error)),
            "raised": driver.class_name(error),
        }


def short(message: str) -> str:
    """A message in one line."""
    return " ".join(message.split())[:LONGEST_MESSAGE]


# --------------------------------------------------------------------------------------------------------- values


def written_integer(value: int) -> Written:
    """A whole number as JSON holds it.

    >>> written_integer(5), written_integer(2**53 + 1)
    (5, {'int': '9007199254740993'})
    """
    return value if -EXACT_INTEGERS <= value <= EXACT_INTEGERS else {"int": str(value)}


def written_float(value: float) -> Written:
    """A float of any width as JSON holds it."""
    return {"float": repr(float(value))}


def tagged(tag: str, value: object) -> Written:
    """A value as JSON holds it under a tag whose text is its own: decimals, days, nanoseconds."""
    return {tag: str(value)}


def tag_of(written: Written) -> str | None:
    """The tag of a value, ``None`` if it has none."""
    return str(next(iter(cast("dict[str, Any]", written)))) if isinstance(written, dict) else None


def native(written: Written) -> Any:
    r"""A value that compares as the protocol says.

    Dates are whole numbers of days; times and timestamps are nanoseconds.

    >>> native({"decimal": "1.50"}), native({"date": "-1"}), native({"bytes": "00ff"}), native("tin")
    (Decimal('1.50'), -1, b'\x00\xff', 'tin')

    Raises:
        Unsupported: A list, struct or map, which have no order.
    """
    if not isinstance(written, dict):
        return written
    ((tag, text),) = cast("dict[str, Any]", written).items()
    if tag not in _NATIVE:
        raise Unsupported(f"a comparison of values of kind {tag}")
    return _NATIVE[tag](text)


_NATIVE: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bytes": bytes.fromhex,
    "decimal": decimal.Decimal,
    "date": int,
    "time": int,
    "timestamp": int,
}


# ----------------------------------------------------------------------------------------------------- predicates

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What a comparison is in Python, of values as well as of a library's expressions."""


def truth(predicate: Predicate, record: Record) -> bool | None:
    """Whether a predicate is true of a row: ``None`` stands for unknown, which a comparison with null is.

    Text is ordered by code point, bytes by byte, numbers by size, NaN as IEEE 754 says.

    >>> truth(["not", ["in", "metal", ["tin", None]]], {"metal": "lead"}) is None
    True
    """
    return _test(predicate)(record)


def _test(predicate: Predicate) -> Callable[[Record], bool | None]:
    """What `truth` asks of a row: made once for many rows, of which each is asked the same."""
    name, *parts = predicate
    match name:
        case "and" | "or":
            together = _all if name == "and" else _any
            tests = [_test(part) for part in parts]
            return lambda record: together([test(record) for test in tests])
        case "not":
            negated = _test(parts[0])
            return lambda record: _not(negated(record))
        case "is null":
            return lambda record: record[parts[0]] is None
        case "is not null":
            return lambda record: record[parts[0]] is not None
        case "in" | "not in":
            equal = [_comparison("=", parts[0], item) for item in parts[1]]
            if name == "in":
                return lambda record: _any([test(record) for test in equal])
            return lambda record: _not(_any([test(record) for test in equal]))
        case _:
            return _comparison(name, *parts)


def matching(
    predicate: Predicate, names: Sequence[str], rows: Iterable[Sequence[Written]]
) -> Iterator[Record]:
    """The rows of which a predicate is true, given as lists of values in the order of ``names``."""
    records = (dict(zip(names, row, strict=True)) for row in rows)
    is_true = _test(predicate)
    return (record for record in records if is_true(record))


def columns_of(predicate: Predicate) -> list[str]:
    """Names of the columns that a predicate is about, each once, in order."""
    name, *parts = predicate
    if name in ("and", "or", "not"):
        return list(dict.fromkeys(column for part in parts for column in columns_of(part)))
    return [parts[0]]


def _comparison(name: str, column: str, literal: Written) -> Callable[[Record], bool | None]:
    compare = COMPARISONS[name]
    is_ordered = tag_of(literal) in (None, *_NATIVE)  # if not, only a row with a value refuses it
    right = native(literal) if is_ordered else None

    def compared(record: Record) -> bool | None:
        value = record[column]
        if value is None or literal is None:
            return None
        return bool(compare(native(value), right if is_ordered else native(literal)))

    return compared


def _not(one: bool | None) -> bool | None:
    return None if one is None else not one


def _all(truths: Sequence[bool | None]) -> bool | None:
    return False if False in truths else None if None in truths else True


def _any(truths: Sequence[bool | None]) -> bool | None:
    return True if True in truths else None if None in truths else False


_OPPOSITES: Mapping[str, str] = {
    "and": "or",
    "or": "and",
    "in": "not in",
    "not in": "in",
    "is null": "is not null",
    "is not null": "is null",
}


def without_negations(predicate: Predicate, *, negated: bool = False) -> Predicate:
    """A predicate that is true of the same rows, with ``not`` only before comparisons and lists without nulls.

    It is for libraries whose negation of an unknown is true.

    >>> without_negations(["not", ["or", ["in", "metal", ["tin", None]], ["is null", "year"]]])
    ['and', ['in', 'metal', []], ['is not null', 'year']]
    """
    name, *parts = predicate
    opposite = _OPPOSITES.get(name, name) if negated else name
    match name:
        case "not":
            return without_negations(parts[0], negated=not negated)
        case "and" | "or":
            return [opposite, *(without_negations(part, negated=negated) for part in parts)]
        case "is null" | "is not null":
            return [opposite, *parts]
        case "in" | "not in":
            return _without_nulls(opposite, *parts)
        case _:
            return ["not", predicate] if negated else predicate


def _without_nulls(name: str, column: str, values: Sequence[Written]) -> Predicate:
    """``in`` or ``not in``, true of the same rows. With a null in the list, no value is surely none of it."""
    present = [value for value in values if value is not None]
    if name == "in":
        return ["in", column, present]
    if len(present) < len(values):
        return ["in", column, []]
    unequal = ["not", ["in", column, present]]
    return ["and", unequal, ["is not null", column]] if present else unequal


class Expressions(NamedTuple):
    """How a library with overloaded operators writes the parts of a predicate.

    Attributes:
        column: The column of a name.
        literal: A value that a column of this name is compared with.
        is_null: Whether a column is null.
        is_not_null: Whether it is not.
        among: Whether a column, given with its name, is one of several values, of which there is at least one.
        nothing: A condition that is false.
    """

    column: Callable[[str], Any]
    literal: Callable[[str, Written], Any]
    is_null: Callable[[Any], Any]
    is_not_null: Callable[[Any], Any]
    among: Callable[[str, list[Written]], Any]
    nothing: Callable[[], Any]


def expression(predicate: Predicate, made: Expressions) -> Any:
    """A predicate as an expression of a library whose expressions know SQL's three values of truth."""
    name, *parts = predicate
    match name:
        case "and" | "or":
            first, *rest = (expression(part, made) for part in parts)
            for part in rest:
                first = first & part if name == "and" else first | part
            return first
        case "not":
            return ~expression(parts[0], made)
        case "is null":
            return made.is_null(made.column(parts[0]))
        case "is not null":
            return made.is_not_null(made.column(parts[0]))
        case "in":
            return made.among(*parts) if parts[1] else made.nothing()
        case "not in":
            return ~(made.among(*parts) if parts[1] else made.nothing())
        case _:
            return COMPARISONS[name](made.column(parts[0]), made.literal(*parts))


# ---------------------------------------------------------------------------------------------------------- writing


def options_for(
    request: Mapping[str, Any], options: Mapping[str, Callable[[Any], dict[str, Any]]]
) -> dict[str, Any]:
    """The options of a library's writer that fulfil the wishes of a request, and write the structure of its family.

    Args:
        request: The request to write.
        options: By the name of a wish, the options that fulfil it.

    Raises:
        Unsupported: There is no option for one of the wishes.
    """
    of_family: Mapping[str, dict[str, Any]] = {
        "STA": {"statistics": True},
        "PIX": {"page_index": True},
        "BLM": {"bloom_filter": [request.get("column")]},
    }
    wishes: dict[str, Any] = {**of_family.get(request["family"], {}), **(request.get("wishes") or {})}
    if lacking := sorted(wishes.keys() - set(options)):
        lacks(lacking[0])
    return {key: value for wish, told in wishes.items() for key, value in options[wish](told).items()}


@contextmanager
def replacing(target: str, suffix: str = ".tmp") -> Generator[str, None, None]:
    """The path of a file beside another one that it replaces when it is written, or that goes if that fails."""
    temporary = Path(target + suffix)
    try:
        yield str(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def only(wish: str, value: object) -> Callable[[Any], dict[str, Any]]:
    """What `options_for` takes for a wish of which a writer, without any option, fulfils this value alone."""
    return lambda told: {} if told == value else lacks(wish)


def lacks(wish: str) -> NoReturn:
    """Say that a wish cannot be fulfilled.

    Raises:
        Unsupported: Always.
    """
    raise Unsupported(f"wish {wish}")
