"""The reference as a driver: answers the requests of the runner.

Source: ``conformance/PROTOCOL.md``.  Each operation imports only what it needs, because a driver starts once for each request.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from pqassay_reference.errors import Lacking, Refused, Undecodable
from pqassay_spec import __version__
from pqassay_spec.base.errors import FormatError

if TYPE_CHECKING:
    from pqassay_reference.rewrite.extract import Trust

Answer = dict[str, Any]
Request = dict[str, Any]


class NotSupportedError(Exception):
    """A request that this driver does not support."""


def answer_file(request: str | os.PathLike[str], answer: str | os.PathLike[str], *, trust: str) -> None:
    """Read a request, run it, and write the answers, one a line.

    Args:
        request: File with the request.
        answer: File to write.
        trust: The indexes that a scan may use, see `pqassay_reference.rewrite.extract.Trust`.

        Raises:
            NotSupportedError: The operation or family is not supported.
        TypeError, ValueError: The request is not a JSON object.
        OSError: A file cannot be read or written.
    """
    from pqassay_spec.base.sources import write_whole

    lines = respond(_request_of(Path(request).read_bytes()), trust=trust)
    write_whole(answer, "".join(f"{json.dumps(line)}\n" for line in lines).encode())


def serve(requests: Iterable[bytes], answers: TextIO, *, trust: str) -> None:
    """Answer one request after the other, each as soon as it arrives.

    Args:
        requests: The requests, one a line.
        answers: The stream for the answers, one a line.
        trust: See `answer_file`.

    Raises:
        TypeError, ValueError: A request is not a JSON object.
    """
    for line in requests:
        try:
            for answer in respond(_request_of(line), trust=trust):
                print(json.dumps(answer), file=answers, flush=True)
        except NotSupportedError as error:
            print(json.dumps({"answer": "unsupported", "reason": str(error)}), file=answers, flush=True)


def _request_of(text: bytes) -> Request:
    asked: Any = json.loads(text)
    if not isinstance(asked, dict):
        raise TypeError("the request is not a JSON object")
    return cast("Request", asked)


def respond(request: Request, *, trust: str = "companion") -> Iterator[Answer]:
    """The answers to a request: one, or one for each of its queries.

    >>> next(respond({"protocol": 2, "op": "hello"}))["name"]
    'pqassay-ref'

    Raises:
        NotSupportedError: The operation or family is not supported.
    """
    asked = f"{request.get('family', '')}.{request.get('op')}".lower().lstrip(".")
    operation = _hello if asked == "hello" else OPERATIONS.get(asked)
    if request.get("protocol") != 2 or operation is None:
        raise NotSupportedError(f"{asked} is not supported")
    if request["op"] != "scan":
        yield _answered(operation, request, trust)
        return
    for query in request["queries"]:
        answer = _answered(operation, {**request, **query}, trust)
        yield {"seq": query["seq"], **answer}


def _answered(operation: Callable[[Request, str], Answer], request: Request, trust: str) -> Answer:
    try:
        return operation(request, trust)
    except Lacking as error:
        return {"answer": "unsupported", "reason": str(error)}
    except (FormatError, Refused, Undecodable) as error:
        return {"answer": "reject", "message": str(error), "raised": type(error).__name__}


def _hello(_: Request, __: str) -> Answer:
    return {
        "answer": "accept",
        "name": "pqassay-ref",
        "version": __version__,
        "language": "Python",
        "capabilities": [*KNOWS, *OPERATIONS],
        "serve": True,
        "nan": "unordered",
        "zeros": "equal",
    }


def _read(request: Request, _: str) -> Answer:
    """All rows: a scan without a predicate and without indexes."""
    from pqassay_reader.cli.driver_rows import rows_of
    from pqassay_reader.query.rungs import Rung
    from pqassay_reader.query.scan import scan

    rows = scan(
        request["file"],
        None,
        request["columns"],
        without={Rung.FILES, Rung.ROW_GROUPS, Rung.PAGES, Rung.METADATA},
    )
    return {"answer": "accept", "rows": rows_of(rows.to_table(), request["columns"])}


def _decode(request: Request, _: str) -> Answer:
    from pqassay_reference.rewrite.extract import extract_file

    index = extract_file(request["file"])
    values = list(index.values)
    if values == [""] and _holds_no_value(request["file"], request.get("column")):
        values = []  # an empty payload: only the column shows its meaning
    value: Answer = {"values": values, "layout": index.layout.value, "offset": index.offset}
    return {"answer": "accept", "value": value}


def _holds_no_value(path: str, column: str | None) -> bool:
    from pqassay_reference.columns.column_values import read_distinct_values

    return column is not None and not read_distinct_values(path, column).values


def _lint(request: Request, _: str) -> Answer:
    from pqassay_reader.lint.idx1 import lint_file

    lint_file(request["file"], request.get("column"))
    return {"answer": "accept"}


def _encode(request: Request, _: str) -> Answer:
    from pqassay_reader.cli.driver_rows import table_of
    from pqassay_reference.rewrite.embed import IndexingWriter

    table = table_of(request["rows"])
    with IndexingWriter(request["output"], table.schema, request["column"], write_page_index=True) as writer:
        writer.write(table)
    return {"answer": "accept"}


def _scan(request: Request, trust: str) -> Answer:
    """Scan with the index of the family: IDX1 excludes files, distinct sets and the others exclude row groups and pages."""
    from pqassay_reader.cli.driver_rows import rows_of
    from pqassay_reader.query.rungs import Rung
    from pqassay_reader.query.scan import scan

    index = request["index"] == "on"
    statistics = {Rung.ROW_GROUPS, Rung.PAGES}
    of_family = {"IDX1": {Rung.FILES}, "PQF": {Rung.FILES}, "DIR": {Rung.SETS, Rung.PAGES}}
    used = of_family.get(request["family"], statistics) if index else set[Rung]()
    rows = scan(
        request["file"],
        request["predicate"],
        request["columns"],
        without={Rung.FILES, Rung.SETS, Rung.METADATA, *statistics} - used,
        column=request.get("column"),
        trust=cast("Trust", trust),
    )
    answer = rows_of(rows.to_table(), request["columns"])
    if not index or rows.counters.used:
        return {"answer": "accept", "rows": answer}
    nothing = "the file has no trusted metadata about the predicate"
    message = rows.messages.get(request["file"], nothing)
    return {"answer": "ignored-index", "rows": answer, "message": message}


def _decode_structure(request: Request, _: str) -> Answer:
    from pqassay_reference.pages.structures import bloom_filters, page_index
    from pqassay_spec.base.sources import FileSource

    with FileSource(request["file"]) as source:
        if request["family"] == "PIX":
            return {"answer": "accept", "value": page_index(source, request["column"])}
        probes: list[Any] = request.get("probes") or []
        return {"answer": "accept", "value": bloom_filters(source, request["column"], probes)}


def _decode_directory(request: Request, _: str) -> Answer:
    from pqassay_reference.directory.reading.stated_values import index_directory
    from pqassay_spec.base.sources import FileSource

    with FileSource(request["file"]) as source:
        return {"answer": "accept", "value": index_directory(source)}


def _encode_directory(request: Request, _: str) -> Answer:
    """Write the rows, and then the requested indexes."""
    import pyarrow.parquet

    from pqassay_reader.cli.driver_rows import table_of
    from pqassay_reference.directory.embedding import add_indexes
    from pqassay_reference.directory.making.entry import Request as Wanted
    from pqassay_spec.directory.codes import Granularity, IndexType, Placement

    wishes: dict[str, Any] = request.get("wishes") or {}
    others = [name for name, wish in wishes.items() if wish is not None and name != "indexes"]
    if others:
        raise NotSupportedError(f"{others[0]} is not supported")
    requests = [
        Wanted(
            IndexType[wish["type"]],
            tuple(tuple(path) for path in wish["columns"]),
            Granularity[wish["granularity"]],
            Placement[wish.get("placement") or Placement.BODY.name],
        )
        for wish in wishes.get("indexes") or ()
    ]
    arrow: Any = pyarrow.parquet  # the type stubs know only part of what it takes
    arrow.write_table(table_of(request["rows"]), request["output"], write_page_index=True)
    add_indexes(request["output"], requests)
    return {"answer": "accept"}


def _pm(name: str, request: Request, _: str) -> Answer:
    """Run an operation of `pqassay_reader.cli.driver_pm`."""
    from pqassay_reader.cli import driver_pm

    answer: Answer = getattr(driver_pm, name)(request)
    return answer


KNOWS = (
    "parquet",
    "idx1.companion",
    "pm.bloom",
    "pm.update.stop",
    "pm.extensions",
    *(
        f"type.{name}"
        for name in ("decimal", "date", "time", "timestamp", "timestamp-nanos", "timestamp-wide")
    ),
    *(f"type.{name}" for name in ("int96", "unsigned", "float16", "uuid", "fixed", "enum", "json", "bson")),
    "type.geometry",
    "type.unknown",
    "nested.map",
    *(f"codec.{name}" for name in ("snappy", "gzip", "zstd", "lz4", "lz4-raw", "brotli")),
    "order.ieee754",
    "order.int96",
)
"""Capabilities of the reference in addition to its operations."""

OPERATIONS: dict[str, Callable[[Request, str], Answer]] = {
    "read": _read,
    "idx1.decode": _decode,
    "idx1.lint": _lint,
    "idx1.encode": _encode,
    "idx1.scan": _scan,
    "pqf.scan": _scan,
    "sta.scan": _scan,
    "pix.decode": _decode_structure,
    "pix.scan": _scan,
    "blm.decode": _decode_structure,
    "blm.scan": _scan,
    "dir.decode": _decode_directory,
    "dir.encode": _encode_directory,
    "dir.scan": _scan,
    **{
        f"pm.{name}": partial(_pm, name)
        for name in ("decode", "lint", "encode", "update", "scan", "snapshot", "prune", "plan")
    },
}
"""The operations by capability: family and name."""
