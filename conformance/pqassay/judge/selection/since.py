"""The files that were added to tables since a version, a snapshot or a time: those alone are judged, and their tables."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pqassay.errors import UsageError
from pqassay.stores.table_files import TableAt

_NUMBER = re.compile(r"-?\d{1,19}", re.ASCII)
"""Versions and ids of snapshots; times have other characters in them."""


@dataclass(frozen=True)
class Since:
    """From when on files are judged.

    Attributes:
        number: The number of a state, such as a version or the id of a snapshot: files that came after it.
        time: A time: files that were committed after it.
        by_table: A number for each table, by the name that reports have for it; tables that are not in it are judged whole.
    """

    number: int | None = None
    time: dt.datetime | None = None
    by_table: Mapping[str, int] | None = None

    def of(self, table: TableAt) -> Since | None:
        """The same for one table; ``None`` if all of it is judged."""
        if self.by_table is None:
            return self
        number = self.by_table.get(table.name)
        return None if number is None else Since(number)

    def __str__(self) -> str:
        if self.time is not None:
            return f"{self.time:%Y-%m-%d %H:%M:%S}Z"
        return "the last run" if self.number is None else str(self.number)


def parse_since(text: str) -> Since:
    """What ``--since`` means: a number, or a time as in ISO 8601, in UTC where it has no zone.

    Raises:
        UsageError: Neither.

    >>> parse_since("12").number, parse_since("2026-11-20").time.hour
    (12, 0)
    """
    if _NUMBER.fullmatch(text):
        return Since(int(text))
    try:
        time = dt.datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a version, a snapshot id or a time such as 2026-11-20 or 2026-11-20T03:00Z"
        ) from None
    return Since(time=time if time.tzinfo is not None else time.replace(tzinfo=dt.UTC))
