"""Convert Arrow's values, in files that writers wrote, to values of the protocol."""

from __future__ import annotations

from collections.abc import Sequence
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
"""Nanoseconds in each time unit of Arrow."""


def rows_of(table: Any, columns: Sequence[str]) -> list[list[Value]]:
    """The rows of an Arrow table as Python values.

    Raises:
        ValueError: The table has other columns.
        TypeError: The type of a column is not in the protocol.
    """
    if sorted(table.column_names) != sorted(columns):
        raise ValueError(f"its columns are {', '.join(sorted(table.column_names))}")
    values = [[read_value(_written(value)) for value in table.column(name)] for name in columns]
    return [list(row) for row in zip(*values, strict=True)]


def _written(scalar: Any) -> Written:
    if not scalar.is_valid:
        return None
    kind = scalar.type
    found: Written
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        found = _written(scalar.value)
    elif pa.types.is_date32(kind):
        found = Date(str(scalar.value))
    elif pa.types.is_time(kind):
        found = Time(str(scalar.value * _UNITS[kind.unit]))
    elif pa.types.is_timestamp(kind):
        found = Timestamp(str(scalar.value * _UNITS[kind.unit]))
    elif pa.types.is_decimal(kind):
        found = Decimal(f"{scalar.as_py():f}")
    elif pa.types.is_struct(kind):
        found = Struct({field.name: _written(scalar[place]) for place, field in enumerate(kind)})
    elif pa.types.is_map(kind):
        found = Map([(_written(pair[0]), _written(pair[1])) for pair in scalar.values])
    elif pa.types.is_nested(kind):
        found = List([_written(value) for value in scalar.values])
    elif isinstance(plain := scalar.as_py(), bool | int | float | str | bytes):
        found = write_value(plain)
    else:
        raise TypeError(f"the protocol has no values of the type {kind}")
    return found
