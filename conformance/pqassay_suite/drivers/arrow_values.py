"""Arrow's values as those of the protocol, of files that writers wrote."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from pqassay_spec.golden.literals import (
    Date,
    Decimal,
    List,
    Map,
    Struct,
    Time,
    Timestamp,
    Value,
    Written,
    read_value,
    write_value,
)

_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds of the units of Arrow."""


def rows_of(table: Any, columns: Sequence[str]) -> list[list[Value]]:
    """The rows of an Arrow table as Python values.

    Raises:
        ValueError: The columns are not those.
        TypeError: A column is of a type that the protocol does not have.
    """
    if sorted(table.column_names) != sorted(columns):
        raise ValueError(f"its columns are {', '.join(sorted(table.column_names))}")
    values = [_values(table.column(name)) for name in columns]
    return [[read_value(value) for value in row] for row in zip(*values, strict=True)]


def _values(array: Any) -> list[Written]:
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in _values(chunk)]
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _values(array.storage)
    if pa.types.is_dictionary(kind):
        return _values(array.dictionary_decode())
    for holds, made in _COUNTED:
        if holds(kind):
            numbers = array.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
            return [None if number is None else made(kind, number) for number in numbers]
    if pa.types.is_decimal(kind):
        return [None if value is None else Decimal(f"{value:f}") for value in array.to_pylist()]
    if pa.types.is_nested(kind):
        return _nested(array)
    plain = array.to_pylist()
    if not all(value is None or isinstance(value, bool | int | float | str | bytes) for value in plain):
        raise TypeError(f"the protocol has no values of the type {kind}")
    return [write_value(value) for value in plain]


def _nested(array: Any) -> list[Written]:
    there = array.is_valid().to_pylist()
    values: list[Written]
    if pa.types.is_struct(array.type):
        names = [field.name for field in array.type]
        rows = zip(*map(_values, array.flatten()), strict=True)
        values = [Struct(dict(zip(names, row, strict=True))) for row in rows]
    else:
        offsets = list(itertools.pairwise(array.offsets.to_pylist()))
        if pa.types.is_map(array.type):
            pairs = list(zip(_values(array.keys), _values(array.items), strict=True))
            first = array.offsets[0].as_py() if len(array.offsets) else 0
            values = [Map(pairs[start - first : end - first]) for start, end in offsets]
        else:
            items = _values(array.values)
            values = [List(items[start:end]) for start, end in offsets]
    return [value if present else None for value, present in zip(values, there, strict=True)]


_COUNTED: tuple[tuple[Callable[[Any], bool], Callable[[Any, int], Written]], ...] = (
    (pa.types.is_date32, lambda _, number: Date(str(number))),
    (pa.types.is_time, lambda kind, number: Time(str(number * _UNITS[kind.unit]))),
    (pa.types.is_timestamp, lambda kind, number: Timestamp(str(number * _UNITS[kind.unit]))),
)
"""Dates and times, which are counted in units."""

__all__ = ["rows_of"]
