"""The values of a type, and the place of a constant of any type among them.

A constant is compared as a number, timestamp, text or bytes, without a cast. ``0.5`` is between the whole numbers 0 and 1, and
``-1`` is before all unsigned ones. A float is exactly its binary value; compared with decimals, it is the number as it is written, so
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
import pyarrow.types as pt

from pqassay_reader.condition.values import END, START, Cut, Values, after, before
from pqassay_reference.columns.literals import Moment, TypedText, decimal_text
from pqassay_reference.errors import Refused

UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds in each time unit of Arrow."""

DAY = 86_400 * UNITS["s"]
"""Nanoseconds in a day."""

FARTHEST = 400
"""Digits before the point from which a number is beyond all types; with as many zeros after the point, it is next to zero in all types."""

UUID_WIDTH = 16
"""Bytes of a UUID."""

UUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)

_FRACTION = re.compile(r"(?P<whole>.*:\d\d)\.(?P<digits>\d+)(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII)

FAMILIES: dict[str, tuple[str, tuple[Callable[[Any], bool], ...]]] = {
    "number": ("write a number", (pt.is_integer, pt.is_floating, pt.is_decimal)),
    "boolean": ("write true or false", (pt.is_boolean,)),
    "text": ("write text in single quotes", (pt.is_string, pt.is_large_string)),
    "bytes": ("write bytes as x'00ff'", (pt.is_binary, pt.is_large_binary, pt.is_fixed_size_binary)),
    "date": ("write a day as '2024-01-31'", (pt.is_date,)),
    "time": ("write a time as '12:30:00'", (pt.is_time,)),
    "timestamp": ("write a time as '2024-01-31 12:30:00'", (pt.is_timestamp,)),
}
"""For each group of comparable types, the advice what to write as a constant, and the tests that recognize the types."""


class Incomparable(Exception):  # noqa: N818 - becomes a refusal that names the place
    """A constant cannot be compared with a type. The message is advice what to write instead, if that depends on the constant."""


@dataclass(frozen=True)
class Kind:
    """An Arrow type whose values can be compared.

    Attributes:
        arrow: The type.
    """

    arrow: Any

    # ---------------------------------------------------------------------------------------------- its values

    @cached_property
    def family(self) -> str:
        """The name in `FAMILIES`; empty for types whose values cannot be compared with written constants."""
        return next(
            (name for name, (_, tests) in FAMILIES.items() if any(fits(self.arrow) for fits in tests)), ""
        )

    @property
    def moment(self) -> str | None:
        """``date``, ``time`` or ``timestamp``; ``None`` for other types."""
        return self.family if self.family in ("date", "time", "timestamp") else None

    @property
    def has_bytes(self) -> bool:
        """Whether values are bytes, or text, which compares like bytes."""
        return self.family in ("text", "bytes")

    @cached_property
    def nothing(self) -> Values:
        """The empty set of values."""
        if self.step is not None:
            return Values(*self.limits, is_discrete=True)
        if pt.is_floating(self.arrow):
            return Values(-math.inf, math.inf, is_floating=True)
        width = self._width
        return (
            Values(b"\0" * width, b"\xff" * width) if width else Values("" if self.family == "text" else b"")
        )

    @cached_property
    def step(self) -> Fraction | None:
        """The difference between neighboring values, for dates and times in nanoseconds; ``None`` for types without such a step."""
        if pt.is_decimal(self.arrow):
            return cast("Fraction", Fraction(10) ** -self.arrow.scale)
        if self.moment is not None:
            return Fraction(DAY if self.moment == "date" else UNITS[self.arrow.unit])
        is_whole = self.family == "boolean" or pt.is_integer(self.arrow) or pt.is_duration(self.arrow)
        return Fraction(1) if is_whole else None

    @cached_property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value of a type with steps, in steps."""
        kind = self.arrow
        if pt.is_boolean(kind):
            return 0, 1
        if pt.is_decimal(kind):
            most = 10**kind.precision - 1
            return -most, most
        if pt.is_unsigned_integer(kind):
            return 0, (1 << kind.bit_width) - 1
        least, most = -(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1
        if pt.is_date64(kind):
            return -(-least * UNITS["ms"] // DAY), most * UNITS["ms"] // DAY
        return least, most

    @property
    def _width(self) -> int:
        """Width in bytes of the values of a fixed-width type of bytes; 0 for other types."""
        return self.arrow.byte_width if pt.is_fixed_size_binary(self.arrow) else 0

    # ------------------------------------------------------------------------------------- a value, for others

    def constant(self, value: Any) -> Any:
        """A value of a set in the form of the protocol's conditions."""
        if pt.is_boolean(self.arrow):
            return bool(value)
        if pt.is_decimal(self.arrow):
            return Decimal(decimal_text(value, self.arrow.scale))
        if self.moment is not None:
            return Moment(self.moment, value if self.moment == "date" else value * int(self.step or 1))
        return value

    def array(self, values: Sequence[Any]) -> Any:
        """Values of a set as an Arrow array that can be compared with a column of the type."""
        if pt.is_decimal(self.arrow) or pt.is_boolean(self.arrow):
            values = [self.constant(value) for value in values]
        elif pt.is_date64(self.arrow):
            values = [value * DAY // UNITS["ms"] for value in values]
        return pa.array(values, self.arrow)

    # ------------------------------------------------------------------------------------- the place of a constant

    def place(self, constant: Any) -> tuple[Cut, Cut] | None:
        """The cuts before and after a constant, which are the same if it is not a value of the type; ``None`` for NaN.

        Raises:
            Incomparable, ArrowException, ValueError: It cannot be compared with values of the type.
        """
        kind = self.arrow
        if pt.is_null(kind):
            return END, END
        if self.has_bytes:
            return self._among_texts(constant)
        if self.step is None and not pt.is_floating(kind):
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
        width: Any = np.float32 if pt.is_float32(self.arrow) else np.float64
        with np.errstate(over="ignore"):  # beside the greatest number is infinity
            try:
                nearest = width(float(number))
            except OverflowError:
                nearest = width(math.inf if number > 0 else -math.inf)
            if float(nearest) > number:
                nearest = np.nextafter(nearest, width(-math.inf))
        below = float(nearest) + 0.0  # a zero of either sign, without it
        high = END if below == math.inf else after(below)
        low = START if below == -math.inf else before(below)
        return low if below == number else high, high

    def _among_texts(self, constant: Any) -> tuple[Cut, Cut]:
        width, is_text = self._width, self.family == "text"
        if is_text and isinstance(constant, TypedText):
            raise Incomparable("write the text alone, without a type")
        if isinstance(constant, str) and width == UUID_WIDTH and UUID_TEXT.fullmatch(constant):
            constant = UUID(constant).bytes
        elif isinstance(constant, str) and not width and not isinstance(constant, TypedText):
            encoded = constant.encode()  # not every text can be
            constant = constant if is_text else encoded
        expected: Any = str if is_text else bytes
        if not isinstance(constant, expected):
            raise Incomparable
        if width and len(constant) != width:
            # With a fixed width, it follows the values that are its prefix, or precedes the values that it is a prefix of.
            place = after(constant[:width]) if len(constant) > width else before(constant.ljust(width, b"\0"))
            return place, place
        return (before(constant) if constant else START), after(constant)

    def _number(self, constant: Any) -> Any:
        """The number that a constant is, or its nanoseconds, as a fraction; a float if it is infinite or NaN."""
        if self.moment is not None:
            return _nanoseconds(constant, self.arrow, self.moment)
        if isinstance(constant, bool) != pt.is_boolean(self.arrow) or not isinstance(
            constant, int | float | Decimal
        ):
            raise Incomparable
        if isinstance(constant, float) and pt.is_decimal(self.arrow):
            constant = Decimal(repr(constant))
        # Numbers with any exponent can be compared without computing a billion digits.
        if isinstance(constant, Decimal) and constant and abs(constant.adjusted()) > FARTHEST:
            exponent = FARTHEST if constant.adjusted() > 0 else -FARTHEST
            constant = Decimal((constant.is_signed(), (1,), exponent))
        try:
            return Fraction(constant)
        except (OverflowError, ValueError):
            return float(constant)

    @property
    def advice(self) -> str:
        """The advice what to write as a constant."""
        if pt.is_timestamp(self.arrow) and self.arrow.tz:
            return "write a time with its zone, as '2024-01-31 12:30:00Z'"
        if self._width == UUID_WIDTH:
            return f"write {UUID_WIDTH} bytes as x'00ff', or a UUID as UUID '00000000-0000-0000-0000-000000000000'"
        return FAMILIES[self.family][0] if self.family else "only IS NULL is supported for it"


def _nanoseconds(value: Any, kind: Any, name: str) -> Fraction:
    """Nanoseconds since midnight or 1970 of a date or time, in its full precision."""
    if isinstance(value, Moment) and value.kind == name:
        return Fraction(value.number * DAY if name == "date" else value.number)
    if not isinstance(value, str):
        raise Incomparable
    parsed = _FRACTION.fullmatch(value)
    whole = f"{parsed['whole']}{parsed['zone'] or ''}" if parsed else str(value)
    fraction = Fraction(int(parsed["digits"]), 10 ** len(parsed["digits"])) if parsed else Fraction(0)
    if name == "time":
        if ":" not in whole:
            raise Incomparable
        whole = f"1970-01-01 {whole}"
    zone = "UTC" if name == "timestamp" and kind.tz else None
    moment: Any = pa.scalar(whole, pa.string()).cast(pa.timestamp("s", zone))
    seconds: int = moment.value
    return (seconds + fraction) * UNITS["s"]


@cache
def kind_of(arrow: Any) -> Kind:
    """The kind in which columns of an Arrow type are compared."""
    return Kind(compared_type(arrow))


def compared_type(kind: Any) -> Any:
    """The type in which values are compared: Arrow does not compare views, halves and extensions, and dictionaries only in part."""
    if isinstance(kind, pa.BaseExtensionType):
        return compared_type(kind.storage_type)
    if pt.is_float16(kind):
        return pa.float32()
    if pt.is_dictionary(kind):
        return compared_type(kind.value_type)
    if pt.is_string_view(kind):
        return pa.string()
    return pa.binary() if pt.is_binary_view(kind) else kind


def shown(constant: Any) -> str:
    """A constant as text for people."""
    if isinstance(constant, str):
        return f"the text {str(constant)[:40]!r}"
    if isinstance(constant, bytes):
        return f"the bytes x'{constant[:20].hex()}'"
    if isinstance(constant, Moment):
        return f"the {constant.kind} {constant.number}"
    return str(constant).lower() if isinstance(constant, bool) else f"the number {str(constant)[:40]}"


def find_column(schema: pa.Schema, name: str) -> tuple[tuple[str, ...], pa.DataType]:
    """The names from the root to a column, and its type. A name with dots may refer to a member of a struct.

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


__all__ = ["Incomparable", "Kind", "compared_type", "find_column", "kind_of", "shown"]
