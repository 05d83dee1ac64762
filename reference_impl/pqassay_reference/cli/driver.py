"""The reference as a driver: answers one request of the runner.

Source: ``conformance/PROTOCOL.md``.  Each operation loads only what it needs: a driver starts once for each request.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pqassay_reference.errors import Refused, Undecodable
from pqassay_spec import __version__
from pqassay_spec.base.errors import FormatError

if TYPE_CHECKING:
    from pqassay_reference.rewrite.extract import Trust

Answer = dict[str, Any]
Request = dict[str, Any]


class NotSupportedError(Exception):
    """A request that this driver does not know."""


def answer_file(request: str | os.PathLike[str], answer: str | os.PathLike[str], *, trust: str) -> None:
    """Read a request, do what it asks, and write the answer.

    Args:
        request: File with the request.
        answer: File to write.
        trust: Which index a scan may use, see `pqassay_reference.rewrite.extract.Trust`.

    Raises:
        NotSupportedError: No operation or family that is known here.
        TypeError, ValueError: The request is no JSON object.
        OSError: A file cannot be read or written.
    """
    from pqassay_spec.base.sources import write_whole

    asked: Any = json.loads(Path(request).read_bytes())
    if not isinstance(asked, dict):
        raise TypeError("the request is no JSON object")
    done = respond(cast("Request", asked), trust=trust)
    write_whole(answer, json.dumps(done).encode())


def respond(request: Request, *, trust: str = "companion") -> Answer:
    """The answer to a request.

    >>> respond({"protocol": 1, "op": "hello"})["name"]
    'pqassay-ref'

    Raises:
        NotSupportedError: No operation or family that is known here.
    """
    asked = f"{request.get('family', '')}.{request.get('op')}".lower()
    operation = _hello if asked == ".hello" else OPERATIONS.get(asked)
    if request.get("protocol") != 1 or operation is None:
        raise NotSupportedError(f"{asked} is not supported")
    try:
        return operation(request, trust)
    except (FormatError, Refused, Undecodable) as error:
        return {"answer": "reject", "message": str(error)}


def _hello(_: Request, __: str) -> Answer:
    return {
        "answer": "accept",
        "name": "pqassay-ref",
        "version": __version__,
        "language": "Python",
        "capabilities": ["parquet", "idx1.companion", "pm.bloom", "pm.extensions", *OPERATIONS],
    }


def _decode(request: Request, _: str) -> Answer:
    from pqassay_reference.rewrite.extract import extract_file

    found = extract_file(request["file"])
    values = list(found.values)
    if values == [""] and _holds_no_value(request["file"], request.get("column")):
        values = []  # an empty payload: only the column tells what it stands for
    value: Answer = {
        "values": values,
        "layout": found.layout.value,
        "offset": found.offset,
    }
    return {"answer": "accept", "value": value}


def _holds_no_value(path: str, column: str | None) -> bool:
    from pqassay_reference.columns.column_values import read_distinct_values

    return column is not None and not read_distinct_values(path, column).values


def _lint(request: Request, _: str) -> Answer:
    from pqassay_reference.lint.idx1 import lint_file

    lint_file(request["file"], request.get("column"))
    return {"answer": "accept"}


def _encode(request: Request, _: str) -> Answer:
    from pqassay_reference.columns.rows import table_of
    from pqassay_reference.rewrite.embed import IndexingWriter

    table = table_of(request["rows"])
    with IndexingWriter(request["output"], table.schema, request["column"], write_page_index=True) as writer:
        writer.write(table)
    return {"answer": "accept"}


def _scan(request: Request, trust: str) -> Answer:
    """Scan by the index that the family is about: IDX1 decides about files, the others about row groups and pages."""
    from pqassay_reference.columns.rows import rows_of
    from pqassay_reference.query.rungs import Rung
    from pqassay_reference.query.scan import scan

    index = request["index"] == "on"
    about_files = request["family"] in ("IDX1", "PQF")
    deciding = {Rung.FILES} if about_files else {Rung.ROW_GROUPS, Rung.PAGES}
    used = deciding if index else set[Rung]()
    rows = scan(
        request["file"],
        request["predicate"],
        request["columns"],
        without={Rung.FILES, Rung.ROW_GROUPS, Rung.PAGES, Rung.METADATA} - used,
        column=request.get("column"),
        trust=cast("Trust", trust),
    )
    answer = rows_of(rows.to_table(), request["columns"])
    if not index or rows.counters.used:
        return {"answer": "accept", "rows": answer}
    nothing = "nothing in the file says anything about the predicate that can be trusted"
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


def _lint_parquet_file(request: Request, _: str) -> Answer:
    from pqassay_reference.lint.parquet_file import lint_file

    lint_file(request["file"])
    return {"answer": "accept"}


def _pm(name: str) -> Callable[[Request, str], Answer]:
    """An operation of `pqassay_reference.cli.driver_pm`."""

    def operation(request: Request, _: str) -> Answer:
        from pqassay_reference.cli import driver_pm

        answer: Answer = getattr(driver_pm, name)(request)
        return answer

    return operation


OPERATIONS: dict[str, Callable[[Request, str], Answer]] = {
    "idx1.decode": _decode,
    "idx1.lint": _lint,
    "idx1.encode": _encode,
    "idx1.scan": _scan,
    "pqf.lint": _lint_parquet_file,
    "pqf.scan": _scan,
    "sta.lint": _lint_parquet_file,
    "sta.scan": _scan,
    "pix.decode": _decode_structure,
    "pix.lint": _lint_parquet_file,
    "pix.scan": _scan,
    "blm.decode": _decode_structure,
    "blm.lint": _lint_parquet_file,
    "blm.scan": _scan,
    **{f"pm.{name}": _pm(name) for name in ("decode", "lint", "encode", "scan", "snapshot", "prune", "plan")},
}
"""The operations by capability: family and name."""
