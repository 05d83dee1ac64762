"""Constants in the form in which Spark compares them with a column, for `pqassay_reader.condition`.

Before Spark compares, it converts both sides to one type, by rules that depend on the types, on settings, and on ``=`` or ``IN``.
If that may change which values satisfy a condition, the indexes of the column are not used:

- text compared with other types than text, a date or a time, and numbers or booleans compared with text;
- whole numbers of 64 bits compared with a floating point number from 2^53 on, which Spark compares as floating point numbers;
- decimals without a common type of 38 digits, where Spark rounds; `float` compared with whole numbers that it cannot store exactly;
- NaN as a constant: for Spark it equals itself and is greater than every number, but not for conditions.

NaN in a column does not matter: files with NaN are always kept.  Both zeros are equal in Spark.

Source: Spark 4, ``AnsiTypeCoercion``, ``TypeCoercion`` and ``DecimalPrecision``; their behavior was measured and is tested.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import types as st

from pqassay_reference.columns.literals import Moment

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Comparisons, for columns of Spark as well as fields of Arrow."""

MEMBERSHIPS = ("in", "not in")
"""Tests for lists."""

EXACT_DOUBLE = 1 << 53
"""Limit up to which every whole number is exact as a double."""

EXACT_FLOAT = 1 << 24
"""Limit up to which every whole number is exact as a float."""

MOST_DIGITS = 38
"""Most digits of a decimal in Spark."""

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
EPOCH_OF_CLOCKS = EPOCH.replace(tzinfo=None)
EPOCH_DAY = EPOCH.date()
MICROSECOND = dt.timedelta(microseconds=1)

NANOSECONDS = 1000
"""Nanoseconds in a microsecond."""


@dataclass(frozen=True)
class KnownMoment:
    """A date or a time as Spark understands it: days, or microseconds, since 1970."""

    number: int


UNSURE = object()
"""Stands for a constant whose meaning in Spark is unknown."""


def arrow_type(kind: st.DataType) -> Any:
    """The Arrow type for the values of a Spark type; ``None`` if it is unknown how Spark compares it."""
    found: Any = ARROW_TYPES.get(type(kind))
    if isinstance(kind, st.DecimalType):
        found = pa.decimal128(kind.precision, kind.scale)
    return found


ARROW_TYPES: dict[type[st.DataType], Any] = {
    st.BooleanType: pa.bool_(),
    st.ByteType: pa.int8(),
    st.ShortType: pa.int16(),
    st.IntegerType: pa.int32(),
    st.LongType: pa.int64(),
    st.FloatType: pa.float32(),
    st.DoubleType: pa.float64(),
    st.StringType: pa.string(),
    st.BinaryType: pa.binary(),
    st.DateType: pa.date32(),
    st.TimestampType: pa.timestamp("us", "UTC"),
    st.TimestampNTZType: pa.timestamp("us"),
}


Constants: TypeAlias = "list[Any] | None"
"""Constants as Spark compares them; ``None`` if that is unknown."""


def compared(kind: st.DataType, literals: Sequence[Any]) -> Constants:
    """The constants as Spark compares them with a column, in the form of the protocol.

    Args:
        kind: The type of the column in Spark.
        literals: The constants as Spark gets them, without nulls: one constant, or those of a list.
    """
    reader = READERS.get(type(kind))
    return None if reader is None else reader(kind, literals)


def _whole(kind: Any, literals: Sequence[Any]) -> Constants:
    bits = WHOLE_BITS[type(kind)]
    if not all(map(_is_number, literals)):
        return None
    exact = [literal for literal in literals if not isinstance(literal, float)]
    if len(exact) < len(literals):  # compared as doubles, all of them
        if any(isinstance(literal, Decimal) for literal in exact) or any(map(math.isnan, literals)):
            return None
        if bits > 32 and any(abs(literal) >= EXACT_DOUBLE for literal in literals if not math.isinf(literal)):
            return None
    elif not _have_common_type(DIGITS[bits], 0, literals):
        return None
    if any(not -GREATEST_LONG - 1 <= literal <= GREATEST_LONG for literal in exact):
        return None  # Spark replaces `<` and `>` by TRUE or FALSE, for nulls as well
    return list(literals)


GREATEST_LONG = (1 << 63) - 1
"""The greatest whole number that Spark does not treat as a decimal."""

WHOLE_BITS: dict[type[st.DataType], int] = {
    st.ByteType: 8,
    st.ShortType: 16,
    st.IntegerType: 32,
    st.LongType: 64,
}

DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
"""Digits of the decimals that Spark makes from whole numbers, by their bits."""


def _decimal(kind: Any, literals: Sequence[Any]) -> Constants:
    if not all(_is_number(one) and not isinstance(one, float) for one in literals):
        return None
    if not _have_common_type(kind.precision - kind.scale, kind.scale, literals):
        return None
    return list(literals)


def _is_number(literal: Any) -> bool:
    if isinstance(literal, Decimal):
        return literal.is_finite()
    return isinstance(literal, int | float) and not isinstance(literal, bool)


def _have_common_type(before: int, behind: int, literals: Sequence[Any]) -> bool:
    """Whether a decimal type with digits before and after the point and some constants have a common type without rounding."""
    for literal in literals:
        if isinstance(literal, Decimal):
            _, digits, exponent = literal.as_tuple()
            assert isinstance(exponent, int)  # it is finite
            before = max(before, len(digits) + exponent)
            behind = max(behind, -exponent)
        else:
            before = max(before, DIGITS[64])
    return before + behind <= MOST_DIGITS


def _double(_kind: Any, literals: Sequence[Any]) -> Constants:
    if not all(map(_is_number, literals)):
        return None
    try:
        numbers = [float(one) for one in literals]
    except OverflowError:
        return None
    return None if any(map(math.isnan, numbers)) else numbers


def _float(_kind: Any, literals: Sequence[Any]) -> Constants:
    """The constants of a comparison with a floating point number, if they are exact as floats: Spark compares as floats or as doubles."""
    for literal in literals:
        if isinstance(literal, bool) or not isinstance(literal, int | float):
            return None
        if isinstance(literal, int) and abs(literal) > EXACT_FLOAT:
            return None
        if math.isnan(literal):
            return None
    return list(literals)


def _boolean(_kind: Any, literals: Sequence[Any]) -> Constants:
    return list(literals) if all(isinstance(one, bool) for one in literals) else None


def _text(_kind: Any, literals: Sequence[Any]) -> Constants:
    return [str(one) for one in literals] if all(isinstance(one, str) for one in literals) else None


def _bytes(_kind: Any, literals: Sequence[Any]) -> Constants:
    if not all(isinstance(one, bytes | bytearray) for one in literals):
        return None
    return [bytes(one) for one in literals]


def _moments(
    name: str, number_of: Callable[[Any], int | None], limit: int
) -> Callable[[Any, Sequence[Any]], Constants]:
    """A function that reads constants as days, or microseconds, since 1970, if they fit into signed numbers."""

    def read(_kind: Any, literals: Sequence[Any]) -> Constants:
        numbers = [one.number if isinstance(one, KnownMoment) else number_of(one) for one in literals]
        if any(number is None or not -limit <= number < limit for number in numbers):
            return None
        step = 1 if name == "date" else NANOSECONDS
        return [Moment(name, number * step) for number in numbers if number is not None]

    return read


def days_of(day: dt.date) -> int:
    """Days since 1970."""
    return (day - EPOCH_DAY).days


def micros_of(moment: dt.datetime) -> int:
    """Microseconds since 1970; for a timestamp without a zone, as if it were UTC."""
    return (moment - (EPOCH_OF_CLOCKS if moment.utcoffset() is None else EPOCH)) // MICROSECOND


def _day_of(literal: Any) -> int | None:
    is_day = isinstance(literal, dt.date) and not isinstance(literal, dt.datetime)
    return days_of(literal) if is_day else None


def _moment_of(literal: Any) -> int | None:
    is_moment = isinstance(literal, dt.datetime) and literal.utcoffset() is not None
    return micros_of(literal) if is_moment else None


def _clock_of(literal: Any) -> int | None:
    is_clock = isinstance(literal, dt.datetime) and literal.utcoffset() is None
    return micros_of(literal) if is_clock else None


READERS: dict[type[st.DataType], Callable[[Any, Sequence[Any]], Constants]] = {
    **dict.fromkeys(WHOLE_BITS, _whole),
    st.DecimalType: _decimal,
    st.DoubleType: _double,
    st.FloatType: _float,
    st.BooleanType: _boolean,
    st.StringType: _text,
    st.BinaryType: _bytes,
    st.DateType: _moments("date", _day_of, 1 << 31),
    st.TimestampType: _moments("timestamp", _moment_of, 1 << 63),
    st.TimestampNTZType: _moments("timestamp", _clock_of, 1 << 63),
}
