"""Arrow's values as those of the protocol, of files that writers wrote."""

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
"""Nanoseconds of the units of Arrow."""


def rows_of(table: Any, columns: Sequence[str]) -> list[list[Value]]:
    """The rows of an Arrow table as Python values.

    Raises:
        ValueError: The columns are not those.
        TypeError: A column is of a type that the protocol does not have.
    """
    if sorted(table.column_names) != sorted(columns):
        raise ValueError(f"its columns are {', '.join(sorted(table.column_names))}")
    values = [[read_value(_written(value)) for value in table.column(name)] for name in columns]
    return [list(row) for row in zip(*values, strict=True)]


def _written(scalar: Any) -> Written:
    if not scalar.is_valid:
        return None
    found: Written
    match scalar:
        case pa.ExtensionScalar() | pa.DictionaryScalar():
            found = _written(scalar.value)
        case pa.Date32Scalar():
            found = Date(str(scalar.value))
        case pa.Time32Scalar() | pa.Time64Scalar():
            found = Time(str(scalar.value * _UNITS[scalar.type.unit]))
        case pa.TimestampScalar():
            found = Timestamp(str(scalar.value * _UNITS[scalar.type.unit]))
        case pa.Decimal32Scalar() | pa.Decimal64Scalar() | pa.Decimal128Scalar() | pa.Decimal256Scalar():
            found = Decimal(f"{scalar.as_py():f}")
        case pa.StructScalar():
            found = Struct({field.name: _written(scalar[place]) for place, field in enumerate(scalar.type)})
        case pa.MapScalar():
            found = Map([(_written(pair[0]), _written(pair[1])) for pair in scalar.values])
        case pa.ListScalar():
            found = List([_written(value) for value in scalar.values])
        case _:
            plain = scalar.as_py()
            if not isinstance(plain, bool | int | float | str | bytes):
                raise TypeError(f"the protocol has no values of the type {scalar.type}")
            found = write_value(plain)
    return found
