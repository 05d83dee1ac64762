"""Partition transforms of single values: the range of partition values that follows from the bounds of a column.

`pqassay_tables.values.transforms` does the same for all values of a column at once, with numpy.

>>> transformed("bucket", 16, "string", b"iceberg"), transformed("truncate", 10, "int", bytes([0xFF] * 4))
(9, -10)
>>> transformed("truncate", 3, "int", (-(1 << 31)).to_bytes(4, "little", signed=True))
2147483647
>>> transformed("month", 0, "date", (-1).to_bytes(4, "little", signed=True))
-1

The transforms themselves are in `pqassay_spec.table.partition_transforms`.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Any, NamedTuple

from pqassay.tables.claims import Scalar, UnknownType, ValueKind
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.partition_transforms import (
    ORDERED,
    TRUNCATED_BITS,
    bucket,
    hashed,
    since_1970,
    truncated,
    truncated_text,
)
from pqassay_tables.metadata.iceberg.manifests import Entry
from pqassay_tables.metadata.iceberg.schema import DECIMAL, IcebergColumn, IcebergSchema, PartitionField
from pqassay_tables.metadata.iceberg.values import partition_scalar, shown, value_of
from pqassay_tables.metadata.moments import DAY

ROWS, NULLS = field_ids.RECORD_COUNT, field_ids.NULL_VALUE_COUNTS
LOWER, UPPER = field_ids.LOWER_BOUNDS, field_ids.UPPER_BOUNDS
"""Field ids of an entry's bounds."""

_DIGITS = Context(prec=100)


class Outside(NamedTuple):
    """A partition value that no value between the bounds of its column can have.

    Attributes:
        field: The partition field.
        column: Its source column.
        low, high: The transformed bounds.
        actual: The partition value, for messages.
    """

    field: PartitionField
    column: IcebergColumn
    low: str
    high: str
    actual: str


def outside(entry: Entry, schema: IcebergSchema) -> Iterator[Outside]:
    """Yield the partition values of an entry that are impossible for values between its bounds."""
    for field in schema.specs.get(entry.manifest.listed.spec, ()):
        column = schema.columns.get(field.source)
        if column is None or not (field.transform in ORDERED or field.transform == "bucket"):
            continue
        low, high = (entry.map(side).get(field.source) for side in (LOWER, UPPER))
        if low is None or high is None or (low != high and (field.transform == "bucket" or column.type == "uuid")):  # fmt: skip
            continue
        is_there, value = entry.partition_value(field.id)
        if not is_there or (value is None and _is_null(entry, field.source)):
            continue
        try:
            ends = [transformed(field.transform, field.parameter, column.type, raw) for raw in (low, high)]
        except (ValueError, UnknownType):
            continue
        if not _holds(ends[0], ends[1], value, result_type(field, column)):
            least, greatest = _shown(field, column, low, ends[0]), _shown(field, column, high, ends[1])
            yield Outside(field, column, least, greatest, "null" if value is None else str(value)[:60])


def _is_null(entry: Entry, identifier: int) -> bool:
    """Whether the counts mark all values of a column as null, so that its bounds mean nothing."""
    nulls = entry.map(NULLS).get(identifier)
    return nulls is not None and bool(nulls >= entry.value(ROWS))


def _holds(low: Scalar, high: Scalar, value: Any, kind: str) -> bool:
    """Whether values between two bounds may have a partition value; true if unknown."""
    if value is None:
        return False
    found = partition_scalar(low, value, kind)
    if found is None or not low <= high:  # type: ignore[operator]  # other rules speak of bounds
        return True
    return bool(low <= found <= high)  # type: ignore[operator]


def _shown(field: PartitionField, column: IcebergColumn, raw: bytes, end: Scalar) -> str:
    if field.transform == "identity":
        return shown(column.type, raw)
    return repr(end.decode(errors="replace")) if isinstance(end, bytes) else str(end)


def result_type(field: PartitionField, column: IcebergColumn) -> str:
    """The type of the values of a partition field, for a known transform."""
    return column.type if field.transform in ("identity", "truncate") else "int"


def transformed(transform: str, parameter: int, kind: str, raw: bytes) -> Scalar:
    """The transform of a serialized value; timestamps are in nanoseconds.

    Raises:
        ValueError: The bytes are not a value of the type, or the transform does not apply to the type.
        UnknownType: Values of the type are not compared.
    """
    typed = value_of(kind, raw)
    if transform == "identity":
        return typed.value
    if transform == "truncate":
        return _truncated(typed.kind, typed.value, kind, raw, parameter)
    if transform == "bucket":
        return bucket(hashed(kind, raw), parameter)
    if typed.kind not in (ValueKind.DATE, ValueKind.TIMESTAMP) or not isinstance(typed.value, int):
        raise ValueError(f"a value of type {kind} has no {transform}")
    return since_1970(transform, typed.value * (DAY if typed.kind is ValueKind.DATE else 1))


def _truncated(kind: ValueKind, value: Scalar, name: str, raw: bytes, width: int) -> Scalar:
    if kind is ValueKind.TEXT:
        return truncated_text(raw, width)
    if kind is ValueKind.BYTES:
        return raw[:width]
    if (match := DECIMAL.fullmatch(name)) is not None:
        unscaled = int.from_bytes(raw, "big", signed=True)
        return Decimal(truncated(unscaled, width)).scaleb(-int(match[2]), _DIGITS)
    if kind is not ValueKind.NUMBER or not isinstance(value, int):
        raise ValueError(f"a value of type {name} is not truncated")
    return truncated(value, width, TRUNCATED_BITS.get(name, 64))
