"""Dates and timestamps: conversion of text to days or nanoseconds since 1970, in the proleptic Gregorian calendar.

>>> days("1970-01-02"), days("0001-01-01"), nanoseconds("1970-01-01T00:00:00.001Z", zone=None)
(1, -719162, 1000000)
>>> nanoseconds("1900-01-01T00:00:00+00:53:28", zone=None) == nanoseconds("1899-12-31T23:06:32Z", zone=None)
True
"""

from __future__ import annotations

import re
from datetime import date, datetime

_DATE = re.compile(r"([+-]?\d{4,6})-(\d{1,2})-(\d{1,2})", re.ASCII)
_TIMESTAMP = re.compile(
    r"(?P<date>[+-]?\d{4,6}-\d{1,2}-\d{1,2})(?:[T ](?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2})(?:\.(?P<f>\d{1,9}))?)?)?"
    r"(?P<zone>Z|UTC|(?P<sign>[+-])(?P<zh>\d{2}):?(?P<zm>\d{2})(?::?(?P<zs>\d{2}))?)?",
    re.ASCII,
)
_ERA, _ERA_DAYS = 400, 146_097

_EPOCH, _EPOCH_DAY = datetime(1970, 1, 1), date(1970, 1, 1).toordinal()  # noqa: DTZ001 - moments are counted without zones

_PLAIN_LENGTHS = (19, 23, 26)
"""The lengths of timestamps with seconds, milliseconds and microseconds."""

SECOND = 1_000_000_000
"""The number of nanoseconds in a second."""

DAY_SECONDS = 86_400
DAY = DAY_SECONDS * SECOND
"""The number of nanoseconds in a day."""

MILLISECOND = 1_000_000
"""The number of nanoseconds in a millisecond."""


def days(text: str) -> int:
    """Days since 1970 of ``year-month-day``. Raises `ValueError`."""
    if len(text) == 10 and text[4] == "-" == text[7]:
        # Nearly all dates. Python's other ten-character forms lack one of these dashes, and it has no year 0.
        try:
            return date.fromisoformat(text).toordinal() - _EPOCH_DAY
        except ValueError:
            pass
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError("it is not a date")
    year, month, day = (int(part) for part in match.groups())
    era, of_era = divmod(year, _ERA)
    try:  # Python supports the years 1 to 9999, and eras of 400 years are alike
        return date(_ERA + of_era, month, day).toordinal() + (era - 1) * _ERA_DAYS - _EPOCH_DAY
    except ValueError:
        raise ValueError("there is no such day") from None


def nanoseconds(text: str, *, zone: bool | None) -> int:
    """Nanoseconds since 1970 of an ISO 8601 timestamp, with ``T`` or a space between its parts.

    Args:
        text: The timestamp.
        zone: Whether it must have a zone or offset (true) or must not have one (false); ``None`` allows both.

    Raises:
        ValueError: The text is not a timestamp.
    """
    is_utc = text.endswith("Z")
    if zone is None or zone is is_utc:
        plain = _plain_moment(text[:-1] if is_utc else text)
        if plain is not None:
            return plain
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError("it is not a timestamp")
    if zone is not None and zone is not bool(match["zone"]):
        raise ValueError("it has no zone" if zone else "it has a zone")
    hour, minute, second = (int(match[name] or 0) for name in "hms")
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError("there is no such time")
    total = days(match["date"]) * DAY_SECONDS + hour * 3600 + minute * 60 + second
    if match["sign"]:
        offset = int(match["zh"]) * 3600 + int(match["zm"]) * 60 + int(match["zs"] or 0)
        total -= offset if match["sign"] == "+" else -offset
    return total * SECOND + int((match["f"] or "").ljust(9, "0"))


def _plain_moment(text: str) -> int | None:
    """Nanoseconds since 1970 of a timestamp without zone in the usual form; ``None`` for other forms."""
    if len(text) not in _PLAIN_LENGTHS or not (text[4] == "-" == text[7] and text[13] == ":" == text[16]):
        return None
    if text[10] not in "T " or text[19:20] not in ("", "."):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        return None
    since = moment - _EPOCH
    return (since.days * DAY_SECONDS + since.seconds) * SECOND + since.microseconds * 1000
