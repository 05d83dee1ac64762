"""The bounds of a column chunk, copied from Parquet's statistics into ``_pm``: byte for byte, or not at all.

Readers of ``_pm`` see the physical type of a column and QuestDB's type code, but not Parquet's annotations.  They may
then compare in another order than that of Parquet's bounds; such bounds would lose rows.

Source: "Parquet metadata file" (``parquet-metadata.md``), section "Stat encoding".
"""

from __future__ import annotations

from typing import NamedTuple

from pqassay_spec.parquet.column_order import width_of
from pqassay_spec.parquet.thrift import ConvertedType, SchemaElement, Statistics, Type
from pqassay_spec.pm.codes import MOST_OUT_OF_LINE, NO_TYPE
from pqassay_spec.pm.types import decimal_digits


class Bounds(NamedTuple):
    """MIN and MAX of a chunk, and the name and reason of each bound that is left out."""

    min: bytes | None
    max: bytes | None
    left_out: tuple[tuple[str, str], ...] = ()


def verbatim_bounds(statistics: Statistics) -> tuple[bytes | None, bytes | None]:
    """MIN and MAX as in Parquet. An empty bound counts as missing, because ``_pm`` cannot store it."""
    return statistics.min_value or None, statistics.max_value or None


def bounds_of(statistics: Statistics, element: SchemaElement, code: int) -> Bounds:
    """MIN and MAX of a chunk, if ``_pm`` can store them, and its readers, who see ``code``, compare them as Parquet does."""
    bounds = verbatim_bounds(statistics)
    if bounds == (None, None):
        return Bounds(None, None)
    if why := _why_not_comparable(element, code, *bounds):
        return Bounds(None, None, (("MIN and MAX", why),))
    width = width_of(element)
    kept: list[bytes | None] = []
    left_out: list[tuple[str, str]] = []
    for name, bound in zip(("MIN", "MAX"), bounds, strict=True):
        why = ""
        if bound is not None and len(bound) > MOST_OUT_OF_LINE:
            why = f"{len(bound)} bytes; _pm can hold at most {MOST_OUT_OF_LINE}"
        elif bound is not None and width is not None and len(bound) != width:
            why = f"{len(bound)} bytes, but a value has {width}"
        if why:
            left_out.append((name, why))
        kept.append(None if why else bound)
    return Bounds(kept[0], kept[1], tuple(left_out))


def _why_not_comparable(
    element: SchemaElement, code: int, minimum: bytes | None, maximum: bytes | None
) -> str:
    """The reason why readers of ``_pm`` would compare the bounds in another order than Parquet's; empty if they would not.

    They only see the physical type and TYPE: they compare integers as signed, and bytes as unsigned except for decimals.
    """
    logical = element.logicalType
    if logical is not None and logical.FLOAT16 is not None:
        return "half-precision floats, which _pm cannot tell from bytes"
    if element.converted_type == ConvertedType.INTERVAL:
        return "intervals have no order"
    if logical is not None and (logical.GEOMETRY or logical.GEOGRAPHY or logical.VARIANT) is not None:
        return "values without an order"
    if element.type in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY):
        if decimal_digits(element) is not None and code == NO_TYPE:
            return "a decimal that QuestDB has no type for, which _pm cannot tell from bytes"
        return ""
    if is_unsigned(element) and (
        maximum is None or maximum[-1:] > b"\x7f" or (minimum or b"")[-1:] > b"\x7f"
    ):
        return "unsigned integers that are negative to readers of _pm"
    return ""


def is_unsigned(element: SchemaElement) -> bool:
    """Whether a column has unsigned integers."""
    logical = element.logicalType
    if logical is not None:
        return logical.INTEGER is not None and not logical.INTEGER.isSigned
    return element.converted_type in (
        ConvertedType.UINT_8,
        ConvertedType.UINT_16,
        ConvertedType.UINT_32,
        ConvertedType.UINT_64,
    )
