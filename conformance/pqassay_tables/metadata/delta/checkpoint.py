"""The actions of a checkpoint: one or several Parquet files or JSON lines, and the sidecars that they name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from pqassay.tables.files import TableFiles
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.table.layout import DELTA_LOG, DELTA_SIDECARS
from pqassay_tables.metadata.delta.actions import Json, actions
from pqassay_tables.metadata.delta.checkpoint_reader import BrokenCheckpointError, batches

READABLE = "DLT-003"

Placed = tuple[str, int, Json]
"""A file, the number of an entry in it, and the entry."""


def checkpoint_actions(files: TableFiles, names: Sequence[str], sizes: dict[str, int]) -> Iterator[Placed]:
    """Yield the actions of a checkpoint.

    Args:
        files: The files of the table.
        names: The files of the checkpoint, in the folder of the log.
        sizes: Receives the sizes of the files that are read.

    Raises:
        Malformed: DLT-003, a file of the checkpoint cannot be read.
    """
    sidecars: dict[str, Any] = {}
    for name in names:
        for file, number, action in _of_file(files, f"{DELTA_LOG}/{name}", sizes):
            sidecar: Any = action.get("sidecar")
            if isinstance(sidecar, dict):
                folder, _, own = unquote(str(sidecar.get("path") or "")).rpartition("/")
                if not own or own in sidecars or (folder and not folder.endswith(DELTA_SIDECARS)):
                    again = " twice" if own in sidecars else ""
                    raise _broken(file, f"it names the sidecar {str(sidecar.get('path'))[:80]!r}{again}")
                sidecars[own] = sidecar.get("sizeInBytes")
            yield file, number, action
    # Sidecars of sidecars are not followed, so there are no cycles.
    for name, size in sidecars.items():
        file = f"{DELTA_LOG}/{DELTA_SIDECARS}/{name}"
        yield from _of_file(files, file, sizes)
        if size is not None and size != sizes[file]:
            raise _broken(file, f"it has {sizes[file]} bytes, but the checkpoint says {size}")


def _of_file(files: TableFiles, file: str, sizes: dict[str, int]) -> Iterator[Placed]:
    try:
        data = files.read(file)
    except FileNotFoundError:
        raise _broken(file, "it is not there") from None
    sizes[file] = len(data)
    if file.endswith(".json"):
        try:
            for number, action in actions(file, data):
                yield file, number, action
        except FormatError as error:
            error.rule = READABLE
            raise
        return
    yield from actions_of_parquet(file, data)


def actions_of_parquet(file: str, data: bytes) -> Iterator[Placed]:
    """Yield the actions of a checkpoint in Parquet, or a sidecar, each with its row. Raises `Malformed`, DLT-003, and `Unsupported`."""
    number = 0
    try:
        for batch in batches(file, data):
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                for row in column.is_valid().to_numpy(zero_copy_only=False).nonzero()[0].tolist():
                    yield file, number + row, {name: _plain(column[row].as_py())}
            number += batch.num_rows
    except (BrokenCheckpointError, ValueError, OverflowError) as error:
        raise _broken(file, " ".join(str(error).split())[:200]) from None


def _plain(value: Any) -> Json:
    """A struct as a JSON object: without null members, and with maps as objects."""
    plain: Json = {}
    for name, member in value.items():
        if member is None:
            continue
        is_map = isinstance(member, list) and all(
            isinstance(pair, tuple) and len(pair) == 2 for pair in member
        )
        if is_map and name not in ("readerFeatures", "writerFeatures", "partitionColumns"):
            plain[name] = dict(member)
        elif isinstance(member, dict):
            plain[name] = _written(member) if name.endswith("_parsed") else _plain(member)
        else:
            plain[name] = member
    return plain


def _written(value: Any) -> Any:
    """A value of a column's type in the JSON form of statistics."""
    if isinstance(value, dict):
        return {name: _written(member) for name, member in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, datetime):
        return (
            f"{value.replace(tzinfo=None).isoformat()}Z"  # a type without time zone accepts a value with one
        )
    return value.isoformat() if isinstance(value, date) else value


def _broken(file: str, reason: str) -> Malformed:
    return Malformed(
        f"{file.rpartition('/')[2]} cannot be read: {reason}",
        rule=READABLE,
        field=file,
        expected="a checkpoint that can be read",
        actual=reason,
        file=file,
    )
