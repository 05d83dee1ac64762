"""Conditions as text for DuckDB, on columns of the types that DuckDB makes of Arrow's.

Constants are values of the column's type, so that DuckDB casts nothing. To DuckDB, NaN is greater than all numbers; the text leaves it out
where the condition is not true of it.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pqassay_reader.condition.kinds import DAY, UNITS, Kind
from pqassay_reader.condition.normal import ColumnTest, Condition, folded
from pqassay_reader.condition.values import Sides
from pqassay_reference.errors import Refused

MOST_DIGITS = 38
"""Digits of the longest decimal of DuckDB."""

MOST_DAYS = (1 << 31) - 2
"""Days since 1970 beyond which DuckDB has no dates."""

MOST_COUNT = (1 << 63) - 1
"""Microseconds or nanoseconds since 1970 beyond which it has no timestamps of these units."""


def sql_of(condition: Condition) -> str:
    """The text of a condition in DuckDB's SQL. Names of columns are quoted, those with dots as one name.

    Raises:
        Refused: DuckDB holds values of a column as another type.

    >>> from pqassay_reader.condition.normal import normal_form
    >>> sql_of(normal_form(["or", ["<", "id", 0.5], ["in", "id", [7, 9, 8.5]]], lambda name: pa.int64()))
    '("id" <= 0 OR "id" = 7 OR "id" = 9)'
    """
    return folded(
        condition,
        _test,
        lambda parts: f"({' AND '.join(parts)})",
        lambda parts: f"({' OR '.join(parts)})",
    )


def _test(test: ColumnTest) -> str:
    name, values, kind = '"{}"'.format(test.column.replace('"', '""')), test.values, test.kind
    if values.has_all:
        return "true" if values.null else f"{name} IS NOT NULL"
    others = values.complement(null=False)
    is_turned = len(others.intervals) < len(values.intervals)
    parts = [_interval(name, kind, sides) for sides in (others if is_turned else values).ends]
    if values.is_floating:
        parts = [f"({part} AND NOT isnan({name}))" for part in parts]
        if values.nan != is_turned:
            parts.append(f"isnan({name})")
    text = " OR ".join(parts) or "false"
    if is_turned:
        text = f"NOT ({text})"
    if values.null:
        text = f"{text} OR {name} IS NULL"
    return f"({text})" if " " in text else text


def _interval(name: str, kind: Kind, sides: Sides) -> str:
    texts = [f"{name} {operator} {_constant(kind, value)}" for operator, value in sides]
    return f"({' AND '.join(texts)})" if len(texts) > 1 else "".join(texts) or "true"


def _constant(kind: Kind, value: Any) -> str:  # noqa: PLR0911 - a form for each type
    arrow, types = kind.arrow, pa.types
    if types.is_boolean(arrow):
        return "true" if value else "false"
    if types.is_integer(arrow):
        return str(value)
    if types.is_floating(arrow):
        return f"CAST('{value!r}' AS {'FLOAT' if types.is_float32(arrow) else 'DOUBLE'})"
    if types.is_decimal(arrow) and arrow.precision <= MOST_DIGITS:
        return f"CAST('{kind.constant(value):f}' AS DECIMAL({arrow.precision}, {arrow.scale}))"
    if types.is_date32(arrow) and abs(value) < MOST_DAYS:
        return f"CAST(DATE '1970-01-01' + {value} AS DATE)"
    if types.is_timestamp(arrow) and arrow.unit == "ns" and not arrow.tz and abs(value) < MOST_COUNT:
        return f"make_timestamp_ns({value})"
    if kind.moment in ("time", "timestamp") and arrow.unit != "ns":
        micros = value * UNITS[arrow.unit] // UNITS["us"]
        if types.is_time(arrow) and 0 <= value < DAY // UNITS[arrow.unit]:
            minutes, rest = divmod(micros, 60_000_000)
            return f"make_time({minutes // 60}, {minutes % 60}, {rest / 1_000_000!r})"
        if types.is_timestamp(arrow) and abs(micros) < MOST_COUNT:
            return f"make_timestamp{'tz' if arrow.tz else ''}({micros})"
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", "''"))
    if isinstance(value, bytes):
        return f"from_hex('{value.hex()}')"
    raise Refused(f"DuckDB does not hold {value} of {arrow} as it is")


__all__ = ["sql_of"]
