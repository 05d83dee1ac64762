"""Partition transforms of Iceberg, for all values of a column chunk at once.

Source: the Iceberg specification, "Partition Transforms" and "Appendix B: 32-bit Hash Requirements".
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.tables.claims import PartitionValue
from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.chunk_values import ChunkValues, plain
from pqassay.values.decoding.keys import extended
from pqassay_spec.parquet.schema.logical_values import UNITS, logical_name
from pqassay_spec.parquet.thrift import SchemaElement, Type
from pqassay_spec.table.partition_transforms import BUCKET_MASK
from pqassay_tables.metadata.iceberg.schema import transform_parts
from pqassay_tables.values.murmur3 import hashes_of_bytes, hashes_of_decimals, hashes_of_numbers

MICROSECONDS = ("time", "timestamp", "timestamptz")
NANOSECONDS = ("timestamp_ns", "timestamptz_ns")
TEXTS = ("string", "binary", "uuid", "fixed")

_UNIT = {**dict.fromkeys(MICROSECONDS, 10**6), **dict.fromkeys(NANOSECONDS, 10**9)}
_OF_TIME = {"year": "Y", "month": "M", "day": "D"}


def transformed(values: ChunkValues, transform: str, kind: str) -> Any:
    """The results of a transform for all values, in order.

    Args:
        values: The values, without nulls.
        transform: The transform as written in tables, but not ``identity`` or ``void``.
        kind: The type of the column.

    Returns:
        Numbers, or an Arrow array of texts or bytes.

    Raises:
        NotChecked: The transform is not implemented for such values.
    """
    name, parameter = transform_parts(transform)
    kind = kind.partition("(")[0].partition("[")[0]
    if name == "truncate" and parameter:
        return _truncated(values, kind, parameter)
    if name == "bucket" and parameter:
        return (_hashes(values, kind) & BUCKET_MASK) % parameter
    if name in _OF_TIME or name == "hour":
        return _of_time(values, kind, name)
    raise _unknown(transform)


def breaking(values: ChunkValues, claim: PartitionValue) -> NDArray[np.bool_] | None:
    """A mask of the values whose transform differs from the partition value.

    Args:
        values: The values, without nulls.
        claim: The partition value, which is not null.

    Returns:
        A bool for each value; ``None`` if the transform decides nothing.

    Raises:
        NotChecked: The transform is not implemented for such values.
    """
    name, parameter = transform_parts(claim.transform)
    if name == "void":
        return None
    kind = claim.type.partition("(")[0].partition("[")[0]
    if name == "identity" or (name == "truncate" and parameter):
        return _unlike(_truncated(values, kind, parameter), claim, kind)
    if not isinstance(claim.value, int):
        raise _unreadable(claim)
    return np.asarray(transformed(values, claim.transform, claim.type) != claim.value, np.bool_)


def _unknown(transform: str) -> NotChecked:
    return NotChecked(f"pqassay does not know the transform {transform[:40]!r}", "tool")


def _unreadable(claim: PartitionValue) -> NotChecked:
    return NotChecked(f"the transform of {claim.name} cannot make this partition value", "tool")


def _strange(values: ChunkValues, kind: str) -> NotChecked:
    stored = logical_name(values.chunk.leaf.element) or "its physical type"
    return NotChecked(f"values of type {kind} stored as {stored} are not transformed", "tool")


def _array(values: ChunkValues) -> Any:
    array = plain(values.values)
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in array.chunks])
    return array


def _whole(values: ChunkValues, kind: str) -> NDArray[np.int64]:
    """The values as integers: timestamps in the unit of the table's type, decimals without their scale."""
    element: SchemaElement = values.chunk.leaf.element
    array = _array(values)
    if kind == "decimal":
        return _unscaled(values, array)
    if element.type not in (Type.INT32, Type.INT64):
        raise _strange(values, kind)
    numbers = np.asarray(array.to_numpy(zero_copy_only=False), np.int64)
    unit = _UNIT.get(kind)
    if unit is None:
        return numbers
    name = (logical_name(element) or "").rpartition("(")[2].removesuffix(")")
    stored = UNITS.get(name)
    if stored is None:
        raise _strange(values, kind)
    return numbers * (unit // stored) if unit >= stored else numbers // (stored // unit)


def _rows(values: ChunkValues, array: Any) -> NDArray[np.uint8]:
    """The big-endian bytes of decimals, one row for each."""
    if values.chunk.leaf.element.type in (Type.INT32, Type.INT64):
        numbers = np.ascontiguousarray(array.to_numpy(zero_copy_only=False), ">i8")
        return numbers.view(np.uint8).reshape(len(numbers), 8)
    width = 1
    if len(array):
        width = (
            array.type.byte_width
            if pa.types.is_fixed_size_binary(array.type)
            else int(pc.max(pc.binary_length(array)).as_py())
        )
    return np.ascontiguousarray(extended(array, max(width, 1)), np.uint8)


def _unscaled(values: ChunkValues, array: Any) -> NDArray[np.int64]:
    rows = _rows(values, array)
    count, width = rows.shape
    if width < 8:
        fill = (rows[:, :1] >= 0x80).astype(np.uint8) * np.uint8(0xFF)
        rows = np.hstack([np.repeat(fill, 8 - width, axis=1), rows])
    elif width > 8:
        sign = (rows[:, width - 8 : width - 7] >= 0x80).astype(np.uint8) * np.uint8(0xFF)
        if not (rows[:, : width - 8] == sign).all():
            raise NotChecked("decimals beyond 64 bits are not transformed", "tool")
    return np.ascontiguousarray(rows[:, -8:]).view(">i8").reshape(count).astype(np.int64)


def _truncated(values: ChunkValues, kind: str, width: int) -> Any:
    """The values as numbers or byte arrays, truncated unless the width is 0."""
    if kind in TEXTS:
        array = _array(values)
        if values.chunk.leaf.element.type not in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY):
            raise _strange(values, kind)
        if not pa.types.is_large_binary(array.type):
            array = array.cast(pa.binary()) if not pa.types.is_fixed_size_binary(array.type) else array
        if not width:
            return array
        if kind == "string":
            text = pa.large_utf8() if pa.types.is_large_binary(array.type) else pa.utf8()
            try:
                return pc.utf8_slice_codeunits(array.cast(text), 0, width)
            except pa.ArrowException:
                raise NotChecked("a text is not UTF-8", "file") from None
        return pc.binary_slice(array, 0, width)
    if kind in ("float", "double", "boolean"):
        return np.asarray(_array(values).to_numpy(zero_copy_only=False))
    numbers = _whole(values, kind)
    if not width:
        return numbers
    lower = numbers - numbers % width
    return (
        lower.astype(np.int32) if kind == "int" else lower
    )  # a number below the least wraps, as in the writers


def _unlike(found: Any, claim: PartitionValue, kind: str) -> NDArray[np.bool_]:
    value = claim.value
    if kind in TEXTS:
        raw = value.encode() if isinstance(value, str) else value
        if kind == "uuid" and isinstance(value, str):  # the form of some Avro writers
            with suppress(ValueError):
                raw = UUID(value).bytes
        if not isinstance(raw, bytes):
            raise _unreadable(claim)
        same = pc.equal(found.cast(pa.large_binary()), pa.scalar(raw, pa.large_binary()))
        return ~np.asarray(same.to_numpy(zero_copy_only=False), np.bool_)
    if kind == "decimal" and isinstance(value, bytes):
        value = int.from_bytes(value, "big", signed=True)
    if not isinstance(value, int | float):
        raise _unreadable(claim)
    if isinstance(value, float) and np.isnan(value):
        return np.asarray(~np.isnan(found), np.bool_)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return np.ones(len(found), np.bool_)
    return np.asarray(found != value, np.bool_)


def _hashes(values: ChunkValues, kind: str) -> NDArray[np.int32]:
    if kind in TEXTS:
        array = _array(values)
        if pa.types.is_fixed_size_binary(array.type):
            array = array.cast(pa.binary())
        return hashes_of_bytes(array)
    if kind == "decimal":
        return hashes_of_decimals(_rows(values, _array(values)))
    if kind in ("float", "double", "boolean"):
        raise NotChecked(f"values of type {kind} have no buckets", "tool")
    return hashes_of_numbers(_whole(values, kind))


def _of_time(values: ChunkValues, kind: str, name: str) -> NDArray[np.int64]:
    numbers = _whole(values, kind)
    if kind == "date":
        days = numbers
    elif kind in _UNIT and kind != "time":
        if name == "hour":
            return numbers // (3600 * _UNIT[kind])
        days = numbers // (86_400 * _UNIT[kind])
    else:
        raise NotChecked(f"values of type {kind} have no {name}", "tool")
    if name == "hour":
        raise NotChecked("dates have no hours", "tool")
    return days.astype("M8[D]").astype(f"M8[{_OF_TIME[name]}]").astype(np.int64)
