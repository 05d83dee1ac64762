"""The schema that Spark stores under its own key, and the columns that fit its types.

    >>> column = SchemaElement(name="n", type=Type.INT32)
    >>> is_stored_as("integer", column), is_stored_as("short", column), is_stored_as("of a later version", column)
    (True, False, True)

Source: apache/spark, the behavior of ``ParquetToSparkSchemaConverter`` and ``ParquetWriteSupport``. Which false types Spark follows
was measured with Spark 4.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pqassay_spec.parquet.schema_copies.arrow_types import ArrowColumn
from pqassay_spec.parquet.thrift import SchemaElement, Type

SPARK_KEY = "org.apache.spark.sql.parquet.row.metadata"
"""The key whose value is the schema, as JSON."""

_INTEGER_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_DECIMAL = re.compile(r"decimal\((\d{1,3}), ?(-?\d{1,3})\)")
_WIDTH = re.compile(r"INTEGER\((\d+), (un)?signed\)")


def is_stored_as(name: str, element: SchemaElement) -> bool:
    """Whether a leaf can be read as a type of Spark without losing values; ``True`` for an unknown type.

    Args:
        name: The name of a type that is not nested, with parameters, as in the JSON.
        element: The leaf.
    """
    column = ArrowColumn.of(element)
    if name in _INTEGER_BITS:
        return _is_integer(_INTEGER_BITS[name], column)
    if name.startswith("interval "):
        wanted = Type.INT32 if "day" not in name and re.search("year|month", name) else Type.INT64
        return column.physical == wanted and column.is_bare
    if decimal := _DECIMAL.fullmatch(name):
        precision, scale = int(decimal[1]), int(decimal[2])
        return column.annotation == "DECIMAL" and (
            scale == column.digits[1] and precision >= column.digits[0]
        )
    test = _TESTS.get(re.sub(r"[( ].*", "", name))
    return test is None or test(column)


def _is_integer(bits: int, column: ArrowColumn) -> bool:
    """Whether an integer type has enough bits for the values of a column."""
    if column.physical not in (Type.INT32, Type.INT64):
        return False
    if column.is_bare:
        return bits >= (32 if column.physical == Type.INT32 else 64)
    if column.annotation == "TIMESTAMP(NANOS)":
        return bits == 64
    width = _WIDTH.fullmatch(column.annotation)
    return width is not None and bits >= min(int(width[1]) * (2 if width[2] else 1), 64)


def _is_timestamp(column: ArrowColumn, *, is_local: bool) -> bool:
    if column.physical == Type.INT96:
        return True
    return column.annotation.startswith("TIMESTAMP(") and column.is_local == is_local


_TESTS: dict[str, Callable[[ArrowColumn], bool]] = {
    "boolean": lambda column: column.physical == Type.BOOLEAN,
    "float": lambda column: column.physical == Type.FLOAT,
    "double": lambda column: (
        column.physical in (Type.FLOAT, Type.DOUBLE) or (column.physical == Type.INT32 and column.is_integer)
    ),
    "date": lambda column: column.annotation == "DATE",
    "timestamp": lambda column: _is_timestamp(column, is_local=False),
    "timestamp_ltz": lambda column: _is_timestamp(column, is_local=False),
    "timestamp_ntz": lambda column: _is_timestamp(column, is_local=True) or column.annotation == "DATE",
    "string": lambda column: column.physical == Type.BYTE_ARRAY and column.annotation != "DECIMAL",
    "char": lambda column: column.physical == Type.BYTE_ARRAY and column.annotation != "DECIMAL",
    "varchar": lambda column: column.physical == Type.BYTE_ARRAY and column.annotation != "DECIMAL",
    "binary": lambda column: (
        column.physical in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY) and column.annotation != "STRING"
    ),
}
"""Tests by the first word of a type's name."""
