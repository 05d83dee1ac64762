"""The columns that pandas can convert to its own types: it stores them as ``numpy_type`` and reads them from there.

Types of numpy are not included: for them, pandas uses the type of the column.

    >>> from pqassay_spec.parquet.thrift import ConvertedType
    >>> text = SchemaElement(name="metal", type=Type.BYTE_ARRAY, converted_type=ConvertedType.UTF8)
    >>> [is_made_of(name, text) for name in ("string", "Int64", "int64", "object")]
    [True, False, True, True]

Source: pandas 2.3 through pyarrow 26.0, the results of both; https://pandas.pydata.org/docs/development/developer.html.
"""

from __future__ import annotations

from pqassay_spec.parquet.schema_copies.arrow_types import ArrowColumn
from pqassay_spec.parquet.thrift import SchemaElement, Type

__all__ = ["is_made_of"]

_NUMBERS = frozenset(
    (*(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)), "Float32", "Float64")
)
"""Types of numbers that may be null."""

_OF_NUMBERS = (Type.INT32, Type.INT64, Type.FLOAT, Type.DOUBLE)
_OF_MOMENTS = (Type.INT64, Type.INT96)


def is_made_of(numpy_type: str, element: SchemaElement) -> bool:
    """Whether pandas can make a type from the values of a leaf; ``True`` for a type that is not in this table."""
    column = ArrowColumn.of(element)
    physical, annotation = column.physical, column.annotation
    is_integer = not annotation or annotation.startswith("INTEGER(")
    if numpy_type in _NUMBERS:
        return annotation == "FLOAT16" or (physical in _OF_NUMBERS and is_integer)
    if numpy_type == "boolean":
        return physical == Type.BOOLEAN
    if numpy_type == "string":
        return physical == Type.BYTE_ARRAY
    if numpy_type.startswith("period["):
        return physical == Type.INT64 and is_integer
    if numpy_type.startswith("datetime64[") and "," in numpy_type:  # with a zone
        return physical in _OF_MOMENTS and (not annotation or annotation.startswith("TIMESTAMP("))
    return True
