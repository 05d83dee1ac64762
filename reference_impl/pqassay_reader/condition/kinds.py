"""The values that a type has, and the place of a constant of any type among them.

A constant is compared as the number, moment, text or bytes that it is: nothing is cast. ``0.5`` lies between the whole numbers 0 and 1, and
``-1`` before all unsigned ones. A float is exactly the number that it is; compared with decimals, it is the number that was written, so that
``price = 0.1`` matches 0.10.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, cast
from uuid import UUID

import numpy as np
import pyarrow as pa

from pqassay_reader.condition.values import END, START, Cut, Values, after, before
from pqassay_reference.columns.literals import Moment, TypedText, decimal_text
from pqassay_reference.errors import Refused

UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds of the units of Arrow."""

DAY = 86_400 * UNITS["s"]
"""Nanoseconds of a day."""

FARTHEST = 400
"""A number with more digits before the point is beyond all types; one with as many zeros behind it is next to zero in all."""

UUID_WIDTH = 16
"""Bytes of a UUID."""


class Incomparable(Exception):  # noqa: N818 - becomes a refusal that names the place
    """A constant cannot be compared with a type. The message is what to write instead, if that depends on the constant."""


@dataclass(frozen=True)
class Kind:
    """A type of Arrow whose values are compared.

    Attributes:
        arrow: The type.
    """

    arrow: Any

    # ---------------------------------------------------------------------------------------------- its values

    @cached_property
    def nothing(self) -> Values:
        """The set of no values."""
        if self.step is not None:
            return Values(is_discrete=True, least=self.limits[0], most=self.limits[1])
        if pa.types.is_floating(self.arrow):
            return Values(is_floating=True, least=-math.inf, most=math.inf)
        width = self._width
        if width:
            return Values(least=b"\0" * width, most=b"\xff" * width)
        return Values(least="" if _is_text(self.arrow) else b"")

    @cached_property
    def step(self) -> Fraction | None:
        """What a value is a multiple of: of moments in nanoseconds; ``None`` of types without such a step."""
        if pa.types.is_decimal(self.arrow):
            return cast("Fraction", Fraction(10) ** -self.arrow.scale)
        if pa.types.is_date(self.arrow):
            return Fraction(DAY)
        if self.moment is not None:
            return Fraction(UNITS[self.arrow.unit])
        whole = pa.types.is_integer, pa.types.is_duration, pa.types.is_boolean
        return Fraction(1) if any(fits(self.arrow) for fits in whole) else None

    @cached_property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value of a type with steps, counted in steps."""
        kind = self.arrow
        if pa.types.is_boolean(kind):
            return 0, 1
        if pa.types.is_decimal(kind):
            most = 10**kind.precision - 1
            return -most, most
        if pa.types.is_unsigned_integer(kind):
            return 0, (1 << kind.bit_width) - 1
        least, most = -(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1
        if pa.types.is_date64(kind):
            return -(-least * UNITS["ms"] // DAY), most * UNITS["ms"] // DAY
        return least, most

    @cached_property
    def moment(self) -> str | None:
        """``date``, ``time`` or ``timestamp``; ``None`` of other types."""
        return next((name for name, fits in MOMENTS.items() if fits(self.arrow)), None)

    @property
    def _width(self) -> int:
        """Bytes of each value of a type of bytes of one width; 0 of other types."""
        return self.arrow.byte_width if pa.types.is_fixed_size_binary(self.arrow) else 0

    # ------------------------------------------------------------------------------------- a value, for others

    def constant(self, value: Any) -> Any:
        """A value of a set as conditions of the protocol write it."""
        if pa.types.is_boolean(self.arrow):
            return bool(value)
        if pa.types.is_decimal(self.arrow):
            return Decimal(decimal_text(value, self.arrow.scale))
        if self.moment is not None:
            return Moment(self.moment, value if self.moment == "date" else value * int(self.step or 1))
        return value

    def scalar(self, value: Any) -> Any:
        """A value of a set as Arrow compares it with a column of the type."""
        return self.array([value])[0]

    def array(self, values: Sequence[Any]) -> Any:
        """Values of a set as Arrow holds them."""
        if pa.types.is_decimal(self.arrow) or pa.types.is_boolean(self.arrow):
            return pa.array([self.constant(value) for value in values], self.arrow)
        if self.moment is not None or pa.types.is_duration(self.arrow):
            unit = DAY // UNITS["ms"] if pa.types.is_date64(self.arrow) else 1
            stored: Any = pa.int32() if self.arrow.bit_width == pa.int32().bit_width else pa.int64()
            return pa.array([value * unit for value in values], stored).cast(self.arrow)
        return pa.array(values, self.arrow)

    # ------------------------------------------------------------------------------------- the place of a constant

    def place(self, constant: Any) -> tuple[Cut, Cut] | None:
        """The cuts before and after a constant, which are the same if it is not a value of the type; ``None`` for NaN.

        Raises:
            Incomparable, ArrowException, ValueError: It cannot be compared with values of the type.
        """
        kind = self.arrow
        if pa.types.is_null(kind):
            return END, END
        if has_bytes(kind):
            return self._among_texts(constant)
        if self.step is None and not pa.types.is_floating(kind):
            raise Incomparable
        number = self._number(constant)
        if isinstance(number, float) and math.isnan(number):
            return None
        if self.step is None:
            return self._among_floats(number)
        if isinstance(number, float):
            return (START, START) if number < 0 else (END, END)
        return self._among_steps(number / self.step)

    def _among_steps(self, steps: Any) -> tuple[Cut, Cut]:
        least, most = self.limits

        def cut(count: int) -> Cut:
            return START if count <= least else END if count > most else before(count)

        return cut(math.ceil(steps)), cut(math.floor(steps) + 1)

    def _among_floats(self, number: Any) -> tuple[Cut, Cut]:
        width: Any = np.float32 if pa.types.is_float32(self.arrow) else np.float64
        with np.errstate(over="ignore"):  # beside the greatest number is infinity
            try:
                nearest = width(float(number))
            except OverflowError:
                nearest = width(math.inf if number > 0 else -math.inf)
            value = float(nearest) + 0.0  # a zero of either sign, without it
            if value == number:
                return (START if value == -math.inf else before(value)), (
                    END if value == math.inf else after(value)
                )
            if value < number:
                return after(value), after(value)
            below = after(float(np.nextafter(nearest, width(-math.inf))) + 0.0)
            return below, below

    def _among_texts(self, constant: Any) -> tuple[Cut, Cut]:
        width = self._width
        if isinstance(constant, str) and width == UUID_WIDTH and UUID_TEXT.fullmatch(constant):
            constant = UUID(constant).bytes
        if _is_text(self.arrow):
            if isinstance(constant, TypedText):
                raise Incomparable("write the text alone, without a type")
            if not isinstance(constant, str):
                raise Incomparable
            constant.encode()
        elif isinstance(constant, str) and not width and not isinstance(constant, TypedText):
            constant = constant.encode()
        elif not isinstance(constant, bytes):
            raise Incomparable
        if width and len(constant) != width:
            # With one width, it follows those that are its beginning, or precedes those that begin with it.
            place = after(constant[:width]) if len(constant) > width else before(constant.ljust(width, b"\0"))
            return place, place
        return (before(constant) if constant else START), after(constant)

    def _number(self, constant: Any) -> Any:
        """The number that a constant is, or its nanoseconds, as a fraction; a float where it is infinite or NaN."""
        if self.moment is not None:
            return _nanoseconds(constant, self.arrow, self.moment)
        is_boolean = pa.types.is_boolean(self.arrow)
        if isinstance(constant, bool) != is_boolean or not isinstance(constant, int | float | Decimal):
            raise Incomparable
        if isinstance(constant, int):
            return Fraction(constant)
        if not (constant.is_finite() if isinstance(constant, Decimal) else math.isfinite(constant)):
            return float(constant)
        if isinstance(constant, float):
            return Fraction(Decimal(repr(constant)) if pa.types.is_decimal(self.arrow) else constant)
        # A number of any exponent is compared, and none takes a billion digits for it.
        if constant and abs(constant.adjusted()) > FARTHEST:
            exponent = FARTHEST if constant.adjusted() > 0 else -FARTHEST
            constant = Decimal((constant.is_signed(), (1,), exponent))
        return Fraction(constant)

    @property
    def advice(self) -> str:
        """What to write as a constant."""
        if pa.types.is_timestamp(self.arrow) and self.arrow.tz:
            return "write a time with its zone, as '2024-01-31 12:30:00Z'"
        if self._width == UUID_WIDTH:
            return f"write {UUID_WIDTH} bytes as x'00ff', or a UUID as UUID '00000000-0000-0000-0000-000000000000'"
        return next(
            (text for text, fits in ADVICE.items() if fits(self.arrow)), "only IS NULL can be asked of it"
        )


def _is_number(kind: Any) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _is_text(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_bytes(kind: Any) -> bool:
    types = pa.types
    return types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)


def has_bytes(kind: Any) -> bool:
    """Whether values of a type are bytes, or text, which compares like bytes."""
    return _is_text(kind) or _is_bytes(kind)


ADVICE: dict[str, Callable[[Any], bool]] = {
    "write a number": _is_number,
    "write true or false": pa.types.is_boolean,
    "write text in single quotes": _is_text,
    "write bytes as x'00ff'": _is_bytes,
    "write a day as '2024-01-31'": pa.types.is_date,
    "write a time as '12:30:00'": pa.types.is_time,
    "write a time as '2024-01-31 12:30:00'": pa.types.is_timestamp,
}
"""What to write as a constant, for the types that are compared."""

MOMENTS: dict[str, Callable[[Any], bool]] = {
    "date": pa.types.is_date,
    "time": pa.types.is_time,
    "timestamp": pa.types.is_timestamp,
}
"""The kinds of dates and times."""

UUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)

_FRACTION = re.compile(r"(?P<whole>.*:\d\d)\.(?P<digits>\d+)(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII)
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)


def _nanoseconds(value: Any, kind: Any, name: str) -> Fraction:
    """Nanoseconds since midnight or 1970 of a moment, as fine as it is written."""
    if isinstance(value, Moment) and value.kind == name:
        return Fraction(value.number * DAY if name == "date" else value.number)
    if not isinstance(value, str):
        raise Incomparable
    parsed = _FRACTION.fullmatch(value)
    whole = f"{parsed['whole']}{parsed['zone'] or ''}" if parsed else str(value)
    fraction = Fraction(int(parsed["digits"]), 10 ** len(parsed["digits"])) if parsed else Fraction(0)
    if name == "time":
        clock = _TIME.fullmatch(whole)
        if clock is None:
            raise Incomparable
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        whole_seconds = (hours * 60 + minutes) * 60 + seconds
    else:
        zone = "UTC" if name == "timestamp" and kind.tz else None
        moment: Any = pa.scalar(whole, pa.string()).cast(pa.timestamp("s", zone))
        whole_seconds = moment.cast(pa.int64()).as_py()
    return (whole_seconds + fraction) * UNITS["s"]


@cache
def kind_of(arrow: Any) -> Kind:
    """The kind of a type of Arrow, in which columns of that type are compared."""
    return Kind(compared_type(arrow))


def compared_type(kind: Any) -> Any:
    """The type in which values are compared: Arrow compares no views, halves and extensions, and dictionaries only in part."""
    if isinstance(kind, pa.BaseExtensionType):
        return compared_type(kind.storage_type)
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_dictionary(kind):
        return compared_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(kind) else kind


def shown(constant: Any) -> str:
    """A constant, for people."""
    if isinstance(constant, str):
        return f"the text {str(constant)[:40]!r}"
    if isinstance(constant, bytes):
        return f"the bytes x'{constant[:20].hex()}'"
    if isinstance(constant, Moment):
        return f"the {constant.kind} {constant.number}"
    return str(constant).lower() if isinstance(constant, bool) else f"the number {str(constant)[:40]}"


def find_column(schema: pa.Schema, name: str) -> tuple[tuple[str, ...], pa.DataType]:
    """The names from the root to a column, and its type. A name with dots may be that of a member of a struct.

    Raises:
        Refused: There is no such column, or several.
    """
    at = schema.get_field_index(name)
    if at >= 0:
        return (name,), schema.field(at).type
    if name in schema.names:
        raise Refused(f"there are several columns {name}")
    path = tuple(name.split("."))
    place: Any = schema
    for part in path:
        names = place.names if isinstance(place, pa.Schema | pa.StructType) else []
        if names.count(part) != 1:
            raise Refused(f"there is no column {name}; columns are: {', '.join(schema.names[:10])}")
        field = place.field(part)
        place = field.type
    return path, place


__all__ = ["Incomparable", "Kind", "compared_type", "find_column", "has_bytes", "kind_of", "shown"]
