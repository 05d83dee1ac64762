"""Partition transforms of Iceberg for single values: from the value of a column to the value that rows are partitioned by.

>>> bucket(hashed("string", b"iceberg"), 16), truncated(-1, 10, 32), truncated(-(1 << 31), 3, 32)
(9, -10, 2147483647)
>>> since_1970("month", -NANOSECONDS_OF_A_DAY), since_1970("hour", 0), since_1970("year", -NANOSECONDS_OF_A_DAY)
(-1, 0, -1)

Source: the Iceberg specification, "Partition Transforms" and "Appendix B: 32-bit Hash Requirements".
"""

from __future__ import annotations

from pqassay_spec.table.murmur3 import murmur3
from pqassay_spec.table.single_values import NANOSECONDS

BUCKET_MASK = 0x7FFFFFFF
"""The bits of a hash that are used: all except its sign."""

TRUNCATED_BITS = {"int": 32, "long": 64}
"""Widths of the integers that are truncated, by type; the result wraps around at this width, as writers store it."""

NANOSECONDS_OF_A_DAY = 86_400 * 10**9
NANOSECONDS_OF_AN_HOUR = 3_600 * 10**9

OF_TIME = ("year", "month", "day", "hour")
"""Transforms of timestamps and dates: the number of these units between 1970 and the value."""

ORDERED = ("identity", "truncate", *OF_TIME)
"""Transforms that keep the order of values."""


def bucket(data: bytes, buckets: int) -> int:
    """The bucket of a value, given the bytes to hash."""
    return (murmur3(data) & BUCKET_MASK) % buckets


def hashed(kind: str, raw: bytes) -> bytes:
    """The bytes of a value that are hashed.

    Args:
        kind: The type in the schema of a table.
        raw: The value in single-value serialization.

    Raises:
        ValueError: The type does not support buckets.
    """
    if kind in ("string", "binary", "uuid") or kind.startswith("fixed"):
        return raw
    if kind.startswith("decimal"):
        unscaled = int.from_bytes(raw, "big", signed=True)
        return unscaled.to_bytes((unscaled + (unscaled < 0)).bit_length() // 8 + 1, "big", signed=True)
    if kind in ("int", "long", "date") or (kind in NANOSECONDS and len(raw) == 8):
        number = int.from_bytes(raw, "little", signed=True)
        if kind.endswith("_ns"):
            number //= 1000  # so that a value has the same bucket in every unit
        return number.to_bytes(8, "little", signed=True)
    raise ValueError(f"a value of type {kind} has no bucket")


def truncated(number: int, width: int, bits: int = 0) -> int:
    """The greatest multiple of a width that is at most a whole number, or the unscaled value of a decimal.

    Args:
        number: The number.
        width: The width.
        bits: The width at which a result below the least number wraps around; 0 for none.
    """
    lower = number - number % width
    return lower if not bits or lower >= -1 << bits - 1 else lower + (1 << bits)


def truncated_text(raw: bytes, width: int) -> bytes:
    """The first characters of a text in UTF-8. Raises `ValueError` if it is not UTF-8."""
    return raw.decode()[:width].encode()


def since_1970(transform: str, nanoseconds: int) -> int:
    """Whole years, months, days or hours between 1970 and a timestamp; negative before 1970.

    Args:
        transform: One of `OF_TIME`.
        nanoseconds: The timestamp, in nanoseconds since 1970.
    """
    if transform == "hour":
        return nanoseconds // NANOSECONDS_OF_AN_HOUR
    days = nanoseconds // NANOSECONDS_OF_A_DAY
    if transform == "day":
        return days
    year, month, _ = civil(days)
    return year - 1970 if transform == "year" else (year - 1970) * 12 + month - 1


def civil(day: int) -> tuple[int, int, int]:
    """Year, month and day, in the proleptic Gregorian calendar, from days since 1970.

    >>> civil(0), civil(-1), civil(19_782)
    ((1970, 1, 1), (1969, 12, 31), (2024, 2, 29))
    """
    day += 719_468  # since the first of March of the year 0, so that a leap day is the last of its year
    era, of_era = divmod(day, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    return era * 400 + year + (month > 9), (month + 2) % 12 + 1, of_year - (153 * month + 2) // 5 + 1
