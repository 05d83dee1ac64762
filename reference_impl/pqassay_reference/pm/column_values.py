"""Convert values of a column between text and Parquet's encoding: show bounds, and prepare constants for comparisons.

``_pm`` has a column's physical type and QuestDB's type code; the two decide the meaning of its bytes.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from ipaddress import AddressValueError, IPv4Address
from typing import Any, cast
from uuid import UUID

from pqassay_reference.columns.literals import Tree, decimal_text
from pqassay_reference.errors import Refused
from pqassay_spec.base.terminal import printable
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.pm.codes import (
    DECIMALS,
    NANOSECONDS_TYPE_BIT,
    ColumnType,
    PhysicalType,
    type_tag,
)
from pqassay_spec.pm.skip import PLAIN_FORMATS
from pqassay_spec.pm.types import described_type, type_parts
from pqassay_spec.pm.value import SnapshotColumn

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 10**9
"""Nanoseconds in a second."""

TICKS = {"days": 86_400 * SECOND, "milliseconds": 10**6, "microseconds": 1000, "nanoseconds": 1}
"""Nanoseconds in each time unit of a column."""

MOST_DIGITS = 10_000
"""Most zeros at the end of a number that is compared with decimals."""

MOST_WHOLE = 1 << 64
"""A number beyond every column of whole numbers."""

MOST_SHOWN = 40
"""Most characters of a value that are shown."""


def unit_of_time(column: SnapshotColumn) -> str | None:
    """The time unit of a column of timestamps or dates, a key of `TICKS`; ``None`` for other columns."""
    tag = type_tag(column.type)
    if tag == ColumnType.TIMESTAMP and column.physical_type == PhysicalType.INT64:
        return "nanoseconds" if column.type & NANOSECONDS_TYPE_BIT else "microseconds"
    if tag == ColumnType.DATE:
        return {PhysicalType.INT32: "days", PhysicalType.INT64: "milliseconds"}.get(
            cast("PhysicalType", column.physical_type)
        )
    return None


# ------------------------------------------------------------------------------------------------ bounds, to be shown


def shown_value(raw: bytes, column: SnapshotColumn) -> str:
    """A value in Parquet's encoding as text for people; if it does not fit the column's type, it is shown as bytes.

    >>> shown_value((1704067200000000).to_bytes(8, "little"), SnapshotColumn("ts", PhysicalType.INT64, type=131080))
    '2024-01-01 00:00:00'
    >>> shown_value(bytes.fromhex("ff85"), SnapshotColumn("d16", PhysicalType.FIXED_LEN_BYTE_ARRAY, type=525341, fixed_byte_len=2))
    '-1.23'
    """
    width = WIDTHS.get(cast("PhysicalType", column.physical_type))
    if width is not None and len(raw) != width:
        return _hex(raw)
    tag = type_tag(column.type)
    if column.physical_type in PLAIN_FORMATS:
        (number,) = struct.unpack(PLAIN_FORMATS[PhysicalType(column.physical_type)], raw)
        return _shown_number(number, column, raw)
    if column.physical_type == PhysicalType.BOOLEAN:
        return "true" if raw[0] else "false"
    if tag in DECIMALS:
        return decimal_text(int.from_bytes(raw, "big", signed=True), type_parts(column.type).scale)
    if tag == ColumnType.UUID and len(raw) == len(UUID(int=0).bytes):
        return str(UUID(bytes=raw))
    if tag in (ColumnType.VARCHAR, ColumnType.STRING, ColumnType.SYMBOL):
        return _shown_text(raw)
    return _hex(raw)


def _shown_number(number: float, column: SnapshotColumn, raw: bytes) -> str:
    tag, unit = type_tag(column.type), unit_of_time(column)
    if isinstance(number, float):
        return repr(number) if column.physical_type == PhysicalType.DOUBLE else f"{number:.9g}"
    if unit is not None:
        return _shown_time(number, unit)
    if tag in DECIMALS:
        return decimal_text(number, type_parts(column.type).scale)
    if tag == ColumnType.IPV4 and column.physical_type == PhysicalType.INT32:
        return str(IPv4Address(raw[::-1]))
    if tag == ColumnType.CHAR and 0 < number <= 0xFFFF:
        return printable(repr(chr(number)))
    return str(number)


def _shown_time(count: int, unit: str) -> str:
    seconds, rest = divmod(count * TICKS[unit], SECOND)
    try:
        moment = EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return f"{count} {unit}"
    if unit == "days":
        return moment.date().isoformat()
    digits = {"milliseconds": 3, "microseconds": 6, "nanoseconds": 9}[unit]
    fraction = f".{rest:09d}"[: 1 + digits] if rest else ""
    return f"{moment:%Y-%m-%d %H:%M:%S}{fraction}" if moment.year >= 1000 else f"{count} {unit}"


def _shown_text(raw: bytes) -> str:
    try:
        text = raw[: 4 * MOST_SHOWN].decode(errors="strict" if len(raw) <= 4 * MOST_SHOWN else "ignore")
    except UnicodeDecodeError:
        return _hex(raw)
    return repr(text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…")


def _hex(raw: bytes) -> str:
    """Bytes in the notation of conditions."""
    return f"x'{raw.hex()}'" if len(raw) * 2 <= MOST_SHOWN else f"x'{raw[: MOST_SHOWN // 2].hex()}…'"


# ------------------------------------------------------------------------------------------- constants, to be compared


def with_stored_values(tree: Tree, columns: Mapping[str, SnapshotColumn]) -> Tree:
    """A predicate with constants in the stored form: times as numbers of their unit, decimals as unscaled numbers.

    Raises:
        Refused: There is no such column, or a constant is not a value of it.
    """
    match tree:
        case [("and" | "or" | "not") as name, *parts]:
            return [name, *(with_stored_values(part, columns) for part in parts)]
        case ["in" | "not in" as name, str(column), values]:
            found = _find(columns, column)
            return [name, column, [stored_value(value, found) for value in cast("list[Any]", values)]]
        case [name, str(column), *values]:
            found = _find(columns, column)
            return [name, column, *(stored_value(value, found) for value in values)]
        case _:
            raise Refused(f"{tree!r} is not a predicate")


def _find(columns: Mapping[str, SnapshotColumn], name: str) -> SnapshotColumn:
    if name not in columns:
        shown = ", ".join(columns) if len(columns) <= MOST_SHOWN else f"{len(columns)} others"
        raise Refused(f"there is no column {name}; columns are {shown}")
    return columns[name]


def stored_value(value: Any, column: SnapshotColumn) -> Any:
    """A constant in the stored form of the column; a fraction if it is between two values.

    >>> stored_value("2024-01-01", SnapshotColumn("ts", PhysicalType.INT64, type=131080))
    1704067200000000
    >>> stored_value(1.5, SnapshotColumn("d32", PhysicalType.FIXED_LEN_BYTE_ARRAY, type=788766, fixed_byte_len=4))
    1500

    Raises:
        Refused: It is not a value of the column.
    """
    if value is None:
        return None
    physical, tag = PhysicalType(column.physical_type), type_tag(column.type)
    readers: list[Callable[[Any, SnapshotColumn], Any]] = []
    if tag in DECIMALS:
        readers = [_unscaled]
    elif unit_of_time(column) is not None:
        readers = [_count_of_time]
    elif tag == ColumnType.IPV4:
        readers = [_address]
    elif tag == ColumnType.CHAR:
        readers = [_char]
    elif tag == ColumnType.UUID:
        readers = [_uuid]
    readers.append(_READERS[physical])
    for reader in readers:
        found = reader(value, column)
        if found is not None:
            return found
    kind = described_type(column.type) if tag >= 0 else physical.name
    shown = str(value) if isinstance(value, Decimal) else repr(value)
    if isinstance(value, bytes):
        shown = f"x'{value.hex()}'"
    raise Refused(f"column {column.name} holds {kind}; {shown} is not such a value")


def _number(value: Any, _: SnapshotColumn) -> Any:
    """A number unchanged. Decimals that are not floats stay decimals, because floats are not exact."""
    return value if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else None


def _whole(value: Any, column: SnapshotColumn) -> Any:
    """A number for a comparison with whole numbers; one between two of them becomes a fraction."""
    if isinstance(value, float | Decimal):
        exact = Decimal(value)
        if exact.is_finite() and abs(exact) < MOST_WHOLE and exact % 1:
            return Fraction(exact)
    return _number(value, column)


def _float(value: Any, column: SnapshotColumn) -> Any:
    if isinstance(value, str):
        with_sign = value.strip().lower()
        named = {"nan": math.nan, "inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "infinity": math.inf}
        return named.get(with_sign)
    return _number(value, column)


def _instance(*kinds: type) -> Callable[[Any, SnapshotColumn], Any]:
    return lambda value, _: value if isinstance(value, kinds) else None


_READERS: dict[PhysicalType, Callable[[Any, SnapshotColumn], Any]] = {
    PhysicalType.BOOLEAN: _instance(bool),
    PhysicalType.INT32: _whole,
    PhysicalType.INT64: _whole,
    PhysicalType.INT96: _instance(str, bytes),
    PhysicalType.FLOAT: _float,
    PhysicalType.DOUBLE: _float,
    PhysicalType.BYTE_ARRAY: _instance(str, bytes),
    PhysicalType.FIXED_LEN_BYTE_ARRAY: _instance(bytes),
}


def _unscaled(value: Any, column: SnapshotColumn) -> Fraction | int | None:
    if isinstance(value, bool | bytes):
        return None
    try:
        sign, digits, exponent = Decimal(str(value)).as_tuple()
    except (InvalidOperation, ValueError):
        return None
    kind = described_type(column.type)
    if not isinstance(exponent, int) or exponent > MOST_DIGITS:
        raise Refused(f"column {column.name} holds {kind}; {_short(value)} is not such a value")
    # In whole numbers: arithmetic of the module decimal rounds to 28 digits, but QuestDB's decimals have up to 76.
    exponent += type_parts(column.type).scale
    number = int("".join(map(str, (*digits, *[0] * exponent)))) * (-1 if sign else 1)
    return _exactly(Fraction(number, 10 ** min(-exponent, MOST_DIGITS)) if exponent < 0 else number)


def _exactly(number: Fraction | int) -> Fraction | int:
    """A whole number as an integer, other numbers as a fraction."""
    return number if number.denominator != 1 else int(number)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _count_of_time(value: Any, column: SnapshotColumn) -> Fraction | int | None:
    """A date or time from text; a number is already in the unit of the column."""
    unit = unit_of_time(column)
    if not isinstance(value, str) or unit is None:
        return None
    nanoseconds = _nanoseconds(value)
    if nanoseconds is None:
        return None
    return _exactly(Fraction(nanoseconds, TICKS[unit]))


_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:[T ](?P<minute>\d\d:\d\d)(?P<second>:\d\d(?:[.](?P<fraction>\d{1,9}))?)?(?P<zone>Z|[+-]\d\d:\d\d)?)?"
)


def _nanoseconds(text: str) -> int | None:
    """Nanoseconds from the epoch to a date or time, which is UTC by default."""
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        return None
    try:
        if match["minute"] is None:
            moment = datetime.combine(date.fromisoformat(match["day"]), datetime.min.time(), tzinfo=UTC)
        else:
            clock = match["minute"] + (match["second"] or ":00")[:3]
            moment = datetime.fromisoformat(f"{match['day']}T{clock}{match['zone'] or 'Z'}")
    except ValueError:
        return None
    seconds = (moment - EPOCH) // timedelta(seconds=1)
    return seconds * SECOND + int((match["fraction"] or "").ljust(9, "0"))


def _address(value: Any, _: SnapshotColumn) -> int | None:
    try:
        return int(IPv4Address(value)) if isinstance(value, str) else None
    except AddressValueError:
        return None


def _char(value: Any, _: SnapshotColumn) -> int | None:
    return ord(value) if isinstance(value, str) and len(value) == 1 else None


def _uuid(value: Any, _: SnapshotColumn) -> bytes | None:
    try:
        return UUID(value).bytes if isinstance(value, str) else None
    except ValueError:
        return None
