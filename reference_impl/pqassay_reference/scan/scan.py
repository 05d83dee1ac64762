"""Scanning one file with a predicate, and leaving it unread where its index proves that no row can match.

The file is left unread only on the word of an index that may be trusted: its companion record agrees with it, or the caller
vouches for the writer.  In every other case, a damaged or stale index included, the rows are read and tried one by one: an
index may save work, it may never decide more than it knows.

Source: chapter ``idx1.md``, sections "Reading exactly", "When it may be trusted" and "Security considerations".
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay_reference.columns.column_values import native_file
from pqassay_reference.errors import Undecodable
from pqassay_reference.predicate.expressions import (
    CONNECTIVES,
    TableColumns,
    columns_named,
    evaluated,
    folded,
    require_columns,
)
from pqassay_reference.rewrite.extract import Extracted, extract_file
from pqassay_spec.base.errors import FormatError
from pqassay_spec.idx1 import blob as idx1

Trust = Literal["companion", "published"]
"""The indexes that count: those whose companion record may be trusted, or also those for which the caller vouches."""


@dataclass(frozen=True)
class Scanned:
    """The rows of a scan.

    Attributes:
        table: The rows that satisfy the predicate.
        used: Whether the index took part in the decision.
        message: Why it did not, where it was asked for.
    """

    table: pa.Table
    used: bool
    message: str = ""


def scan_file(
    path: str | Path,
    predicate: Sequence[Any],
    columns: Sequence[str],
    *,
    index: bool = True,
    column: str | None = None,
    trust: Trust = "companion",
) -> Scanned:
    """Read the rows of a file that satisfy a predicate.

    Args:
        path: A local Parquet file.
        predicate: A tree ``[op, column, value]`` as in the protocol.
        columns: The columns wanted.
        index: Whether an IDX1 index may be used.
        column: The column that an index without companion record describes, its path joined by dots.
        trust: Which index counts.

    Raises:
        Refused: The predicate is none, or does not fit the columns.
        Undecodable: The file cannot be read.
    """
    try:
        with native_file(path) as handle, pq.ParquetFile(handle) as file:
            schema = file.schema_arrow
            require_columns(schema.names, {*columns, *columns_named(predicate)})
            skip, message = _decide(Path(path), predicate, schema, column, trust) if index else (None, "")
            if skip:
                return Scanned(schema.empty_table().select(list(columns)), used=True)
            table = file.read(columns=sorted({*columns, *columns_named(predicate)}))
            kept = table.filter(_mask(predicate, table))
            return Scanned(kept.select(list(columns)), used=skip is not None, message=message)
    except (pa.ArrowException, OSError) as error:
        raise Undecodable(f"the file cannot be read: {' '.join(str(error).split())}") from error


def _decide(
    path: Path, predicate: Sequence[Any], schema: pa.Schema, column: str | None, trust: Trust
) -> tuple[bool | None, str]:
    """True if the index proves that no row matches; ``None`` if it has no say, and why."""
    try:
        index = extract_file(path)
    except FormatError as error:
        return None, str(error)
    if index.companion is not None:
        name = ".".join(index.companion.column)
        if len(index.companion.column) != 1:
            return None, f"the index describes the nested column {name}"
        values = [*index.values, *[None] * bool(index.companion.null_count)]
        possible = _possible(predicate, name, _one_column(schema, name, values))
        return not pc.any(possible).as_py(), ""
    if trust == "published" and column in schema.names:
        return _decide_vouched(index, predicate, column)
    return None, index.mistrust or "the index has no companion record, and nobody vouches for it"


def _decide_vouched(index: Extracted, predicate: Sequence[Any], column: str) -> tuple[bool | None, str]:
    """An index without companion record says nothing of nulls, and a value with a line feed stands in it in pieces.

    So it can only prove the absence of given values that hold no line feed.
    """
    match predicate:
        case ["=", name, literal] if name == column:
            literals = [literal]
        case ["in", name, list(literals)] if name == column:
            pass
        case _:
            return None, f"without companion record, only = and in on {column} can be decided"
    if any(not isinstance(literal, str) or idx1.SEPARATOR in literal for literal in literals):
        return None, "a value with a line feed cannot be looked up"
    return not set(literals) & set(index.values), ""


def _one_column(schema: pa.Schema, name: str, values: list[Any]) -> pa.Table:
    kind = schema.field(name).type
    flat = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.table({name: pa.array(values, pa.string()).cast(flat)})


def _possible(predicate: Sequence[Any], column: str, values: pa.Table) -> Any:
    """For each value, whether the predicate may be true: where other columns decide, it may."""
    if columns_named(predicate) == {column}:
        return pc.fill_null(_mask(predicate, values), False)
    match predicate:
        case [("and" | "or") as name, *parts]:
            possible = [_possible(part, column, values) for part in parts]
            return folded(CONNECTIVES[name], possible)
        case _:
            return pa.array([True] * len(values), pa.bool_())


def _mask(predicate: Sequence[Any], table: pa.Table) -> Any:
    """The truth of a predicate on each row: true, false, or null for unknown."""
    return evaluated(predicate, TableColumns(table))
