"""The operations about ``_pm`` in the reference driver.

Source: ``conformance/PROTOCOL.md``.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pqassay_reference.columns.literals import json_value, python_tree, python_value
from pqassay_reference.errors import Refused
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.sources import write_whole
from pqassay_spec.pm.grammar import DATA_NAME
from pqassay_spec.pm.value import SnapshotValue
from pqassay_spec.pm.value_json import NotAValueError, from_json, to_json

Answer = dict[str, Any]
Request = dict[str, Any]


def snapshot(request: Request) -> Answer:
    """The value of the snapshot for a Parquet file of a given size, or of the newest snapshot."""
    with _opened(request) as reader:
        return {"answer": "accept", "value": to_json(reader.value())}


decode = snapshot
"""The same operation for requests without a size."""


def encode(request: Request) -> Answer:
    """Write a file with one snapshot."""
    from pqassay_reference.pm.write import create

    value = _value_of(request)
    if value.previous_sizes:
        raise Refused("the value has earlier snapshots, which are not given")
    write_whole(request["output"], create(value))
    return {"answer": "accept"}


def _value_of(request: Request) -> SnapshotValue:
    try:
        return from_json(request["value"])
    except NotAValueError as error:
        raise Refused(str(error)) from None


def update(request: Request) -> Answer:
    """Append a snapshot, in place; with ``stop``, the committed size stays the same."""
    from pqassay_reference.pm.storage import FileStorage
    from pqassay_reference.pm.write import update_in

    value = _value_of(request)
    with FileStorage(request["file"]) as storage:
        update_in(storage, value, commits=request.get("stop") is None)
    return {"answer": "accept"}


def lint(request: Request) -> Answer:
    """Accept a file that is right and agrees with the Parquet file beside it."""
    from pqassay_reader.lint.pm import lint_file

    lint_file(request["file"])
    return {"answer": "accept"}


def prune(request: Request) -> Answer:
    """The row groups in which a row may satisfy a predicate."""
    from pqassay_reference.pm.query import prune as kept_by

    with _opened(request) as reader:
        return {"answer": "accept", "row_groups": kept_by(reader, python_tree(request["predicate"]))}


def plan(request: Request) -> Answer:
    """The byte ranges of the Parquet file to fetch for some columns."""
    from pqassay_reference.pm.query import plan as ranges_of

    with _opened(request) as reader:
        found = ranges_of(reader, request["columns"], request.get("row_groups"))
    return {"answer": "accept", "ranges": [[json_value(number) for number in one] for one in found]}


def scan(request: Request) -> Answer:
    """Rows of the Parquet file beside it, which with index ``on`` is read using only ``_pm``."""
    from pqassay_reader.cli.driver_rows import rows_of
    from pqassay_reader.query.rungs import Rung
    from pqassay_reader.query.scan import scan as rows_by

    with_pm = request["index"] == "on"
    if with_pm:
        with _opened(request):
            pass  # a damaged file is refused
    rows = rows_by(
        Path(request["file"]).with_name(DATA_NAME),
        request["predicate"],
        request["columns"],
        without=() if with_pm else (Rung.FILES, Rung.ROW_GROUPS, Rung.PAGES, Rung.METADATA),
        metadata="pm" if with_pm else "footer",
    )
    return {"answer": "accept", "rows": rows_of(rows.to_table(), request["columns"])}


@contextmanager
def _opened(request: Request) -> Generator[PmReader]:
    """The requested snapshot. Its checksum must be right, as QuestDB requires when it opens a file."""
    size: int | None = python_value(request.get("parquet_file_size"))
    with PmReader.map(request["file"], parquet_file_size=size) as reader:
        reader.verify()
        yield reader
