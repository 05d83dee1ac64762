"""Comparisons of columns with constants that their types do not hold: decided by size, and never by a cast.

``id < 0.5`` on whole numbers is ``id <= 0``, ``id = 0.5`` is true of no value, and ``u8 > -1`` is ``u8 >= 0``. A condition is rewritten
once for the types of the columns, so that bounds, bloom filters, indexes and rows are asked the same.

A float is exactly the number that it is. Compared with decimals, it is the number that was written: ``price = 0.1`` finds 0.10.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pqassay_reference.columns.literals import (
    Moment,
    PlacedTree,
    Tree,
    TypedText,
    decimal_text,
    python_value,
)
from pqassay_reference.errors import Refused

KindOf = Callable[[str], Any]
"""The type in which a column is compared, by the name of the column."""

COMPARED = ("=", "!=", "<", "<=", ">", ">=")

UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds of the units of Arrow."""

DAY = 86_400 * UNITS["s"]
"""Nanoseconds of a day."""

FARTHEST = 400
"""A number of more digits before the point is beyond all types; one with as many zeros behind it is next to zero in all."""


class Between(NamedTuple):
    """The place of a constant that is not a value of a type.

    Attributes:
        below: The greatest value that is less; ``None`` if there is none.
        above: The least value that is greater; ``None`` if there is none.
    """

    below: Any
    above: Any


class Unlike(Exception):  # noqa: N818 - becomes a refusal that says where
    """A constant is not comparable with a type. The message is what to do, if that is not to write a value of the type."""


# ------------------------------------------------------------------------------------------------- predicates


def exact_predicate(predicate: Sequence[Any], kind_of: KindOf) -> Tree:
    """A predicate with the same answers whose constants are values of the columns' types.

    Args:
        predicate: A tree as in the protocol.
        kind_of: The types of the columns.

    Raises:
        Refused: It is no predicate, or a constant is not comparable with its column.

    >>> exact_predicate(["and", ["<", "id", 0.5], ["in", "id", [0.5, 1]]], lambda name: pa.int64())
    ['and', ['<=', 'id', 0], ['in', 'id', [1]]]
    """
    match predicate:
        case [("and" | "or" | "not") as name, *parts] if parts:
            return [name, *(exact_predicate(part, kind_of) for part in parts)]
        case [("is null" | "is not null"), str()]:
            return list(predicate)
        case [("in" | "not in") as name, str(column), list(literals)]:
            kind = kind_of(column)
            places = [_place(column, literal, kind, predicate) for literal in literals]
            values = [place for place in places if not isinstance(place, Between)]
            if literals and not values:
                return _never(column) if name == "in" else ["not", _never(column)]
            return [name, column, values]
        case [str(name), str(column), literal] if name in COMPARED:
            place = _place(column, literal, kind_of(column), predicate)
            return _by_size(name, column, place) if isinstance(place, Between) else [name, column, place]
        case _:
            raise Refused(f"{str(predicate)[:80]} is no predicate")


def _by_size(name: str, column: str, place: Between) -> Tree:
    if name in ("=", "!="):
        return _never(column) if name == "=" else ["not", _never(column)]
    limit, inclusive = (place.below, "<=") if name in ("<", "<=") else (place.above, ">=")
    return _never(column) if limit is None else [inclusive, column, limit]


def _never(column: str) -> Tree:
    """What is false of every value, and unknown of null."""
    return ["and", ["is null", column], ["=", column, None]]


def _place(column: str, literal: Any, kind: Any, comparison: Sequence[Any]) -> Any:
    """A constant as predicates hold it, where it is a value of the type, or its place between two values."""
    value = python_value(literal)
    try:
        return _placed(value, kind)
    except (Unlike, pa.ArrowException, ValueError, TypeError) as error:
        at = f"at character {comparison.position}: " if isinstance(comparison, PlacedTree) else ""
        advice = str(error) if isinstance(error, Unlike) and str(error) else _advice(kind)
        raise Refused(
            f"{at}column {column} is {kind} and cannot be compared with {_shown(value)}; {advice}"
        ) from None


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {str(value)[:40]!r}"
    if isinstance(value, bytes):
        return f"the bytes x'{value[:20].hex()}'"
    if isinstance(value, Moment):
        return f"the {value.kind} {value.number}"
    return str(value).lower() if isinstance(value, bool) else f"the number {str(value)[:40]}"


def _advice(kind: Any) -> str:
    types = pa.types
    known: list[tuple[Callable[[Any], bool], str]] = [
        (_is_number, "write a number"),
        (types.is_boolean, "write true or false"),
        (_is_text, "write text in single quotes"),
        (_is_bytes, "write bytes as x'00ff'"),
        (types.is_date, "write a day as '2024-01-31'"),
        (types.is_time, "write a time as '12:30:00'"),
    ]
    if types.is_fixed_size_binary(kind):
        return f"write {kind.byte_width} bytes as x'00ff'"
    if types.is_timestamp(kind):
        return f"write a time as '2024-01-31 12:30:00{'Z' if kind.tz else ''}'"
    return next((advice for fits, advice in known if fits(kind)), "only IS NULL can be asked of it")


# ------------------------------------------------------------------------------------------------- constants


def scalar_of(value: Any, kind: Any) -> Any:
    """A constant that is a value of a type, as Arrow compares it with a column of that type."""
    grid = _grid_of(kind)
    if value is None or grid is None:
        return pa.scalar(value, kind)
    count = grid.place(_quantity(value, kind))
    assert not isinstance(count, Between)  # or the predicate is not exact
    return grid.scalar(count)


def _placed(value: Any, kind: Any) -> Any:
    """See `_place`.

    Raises:
        Unlike, ArrowException, ValueError, TypeError: It is not comparable with the type.
    """
    if value is None or pa.types.is_null(kind):
        return None
    grid = _grid_of(kind)
    if grid is None and not pa.types.is_floating(kind):
        return _placed_alone(value, kind)
    quantity = _quantity(value, kind)
    if grid is None:
        return _among_floats(quantity, kind)
    place = grid.place(quantity)
    if isinstance(place, Between):
        return Between(*(None if count is None else grid.constant(count) for count in place))
    return value if isinstance(value, str | Moment) else grid.constant(place)


def _placed_alone(value: Any, kind: Any) -> Any:
    """A constant of a type of which each value is compared with its like alone."""
    if isinstance(value, bool) != pa.types.is_boolean(kind) or isinstance(value, Moment):
        raise Unlike
    if isinstance(value, TypedText) and _is_text(kind):
        raise Unlike("write the text alone, without a type")
    pa.scalar(value, kind)
    return value


@dataclass(frozen=True)
class Grid:
    """A type whose values are the multiples of a step, from one to another.

    Attributes:
        kind: The type.
        step: The step; of times in nanoseconds.
        least: How many steps the least value is.
        most: How many steps the greatest value is.
    """

    kind: Any
    step: Fraction
    least: int
    most: int

    def place(self, quantity: Fraction | float) -> Any:
        """How many steps a quantity is, or its place between two numbers of steps."""
        if isinstance(quantity, float):  # NaN is between no values, so that no comparison with it is true
            if math.isnan(quantity):
                return Between(None, None)
            return Between(None, self.least) if quantity < 0 else Between(self.most, None)
        steps = (
            quantity if self.step == 1 else quantity / self.step
        )  # whole numbers, of which there may be many
        below, above = math.ceil(steps) - 1, math.floor(steps) + 1
        if above - below == 2 and self.least <= below + 1 <= self.most:
            return below + 1
        return Between(
            min(below, self.most) if below >= self.least else None,
            max(above, self.least) if above <= self.most else None,
        )

    def constant(self, count: int) -> Any:
        """A value as predicates hold it."""
        if pa.types.is_decimal(self.kind):
            return Decimal(decimal_text(count, self.kind.scale))
        for name, is_one in MOMENTS.items():
            if is_one(self.kind):
                return Moment(name, count if name == "date" else count * int(self.step))
        return count

    def scalar(self, count: int) -> Any:
        """A value as Arrow holds it."""
        if pa.types.is_decimal(self.kind):
            return pa.scalar(self.constant(count), self.kind)
        if pa.types.is_date64(self.kind):
            count *= DAY // UNITS["ms"]
        stored = pa.int32() if self.kind.bit_width == 32 else pa.int64()
        is_number = pa.types.is_integer(self.kind)
        return pa.scalar(count, self.kind) if is_number else pa.scalar(count, stored).cast(self.kind)


@cache
def _grid_of(kind: Any) -> Grid | None:
    """The grid of a type; ``None`` of one that has none."""
    if pa.types.is_decimal(kind):
        most = 10**kind.precision - 1
        return Grid(kind, Fraction(1, 10) ** kind.scale, -most, most)
    if pa.types.is_unsigned_integer(kind):
        return Grid(kind, Fraction(1), 0, (1 << kind.bit_width) - 1)
    is_moment = any(is_one(kind) for is_one in MOMENTS.values())
    if not is_moment and not pa.types.is_signed_integer(kind) and not pa.types.is_duration(kind):
        return None
    least, most = -(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1
    if pa.types.is_date64(kind):
        least, most = -(-least * UNITS["ms"] // DAY), most * UNITS["ms"] // DAY
    step = DAY if pa.types.is_date(kind) else UNITS[kind.unit] if is_moment else 1
    return Grid(kind, Fraction(step), least, most)


MOMENTS: dict[str, Callable[[Any], bool]] = {
    "date": pa.types.is_date,
    "time": pa.types.is_time,
    "timestamp": pa.types.is_timestamp,
}
"""The kinds of dates and times."""


def _quantity(value: Any, kind: Any) -> Fraction | float:
    """The number that a constant is, or its nanoseconds; a float only where it is none that is finite.

    Raises:
        Unlike, ArrowException, ValueError: It is not of the kind of the type.
    """
    if any(is_one(kind) for is_one in MOMENTS.values()):
        return _nanoseconds(value, kind)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise Unlike
    if isinstance(value, int):
        return value
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        return float(value)
    if isinstance(value, float):
        return Fraction(Decimal(repr(value)) if pa.types.is_decimal(kind) else value)
    # A number of any exponent is compared, and none takes a billion digits for it.
    if value and abs(value.adjusted()) > FARTHEST:
        value = Decimal((value.is_signed(), (1,), FARTHEST if value.adjusted() > 0 else -FARTHEST))
    return Fraction(value)


def _among_floats(number: Fraction | float, kind: Any) -> Any:
    """A number as a float of a type, or its place between two."""
    if isinstance(number, float):
        return number
    width = np.float32 if pa.types.is_float32(kind) else np.float64
    try:
        with np.errstate(over="ignore"):
            nearest = width(float(number))
    except OverflowError:
        nearest = width(math.inf if number > 0 else -math.inf)
    if math.isfinite(nearest) and Fraction(float(nearest)) == number:
        return float(nearest)
    is_less = nearest < 0 if math.isinf(nearest) else Fraction(float(nearest)) < number
    with np.errstate(over="ignore"):  # beside the greatest number is infinity
        beside = np.nextafter(nearest, width(math.inf if is_less else -math.inf))
    below, above = (nearest, beside) if is_less else (beside, nearest)
    return Between(float(below) + 0.0, float(above) + 0.0)  # a zero of either sign, without it


_FRACTION = re.compile(r"(?P<whole>.*:\d\d)\.(?P<digits>\d+)(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII)
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)


def _nanoseconds(value: Any, kind: Any) -> Fraction:
    """Nanoseconds since midnight or 1970 of a time, as fine as it is written."""
    if isinstance(value, Moment) and MOMENTS[value.kind](kind):
        return Fraction(value.number * DAY if value.kind == "date" else value.number)
    if not isinstance(value, str):
        raise Unlike
    found = _FRACTION.fullmatch(value)
    whole = f"{found['whole']}{found['zone'] or ''}" if found else str(value)
    fraction = Fraction(int(found["digits"]), 10 ** len(found["digits"])) if found else Fraction(0)
    if pa.types.is_time(kind):
        clock = _TIME.fullmatch(whole)
        if clock is None:
            raise Unlike
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        whole_seconds = (hours * 60 + minutes) * 60 + seconds
    else:
        zone = "UTC" if pa.types.is_timestamp(kind) and kind.tz else None
        moment: Any = pa.scalar(whole, pa.string()).cast(pa.timestamp("s", zone))
        whole_seconds = moment.cast(pa.int64()).as_py()
    return (whole_seconds + fraction) * UNITS["s"]


def _is_number(kind: Any) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _is_text(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_bytes(kind: Any) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


__all__ = ["KindOf", "exact_predicate", "scalar_of"]
