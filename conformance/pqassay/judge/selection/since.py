"""The files added to tables since a version, a snapshot or a time: only these files and their tables are judged."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pqassay.errors import UsageError
from pqassay.stores.table_files import TableAt

_NUMBER = re.compile(r"-?\d{1,19}", re.ASCII)
"""A pattern for versions and snapshot ids; times contain other characters."""


@dataclass(frozen=True)
class Since:
    """The state or time after which added files are judged.

    Attributes:
        number: The number of a state, such as a version or a snapshot id; files added after it are judged.
        time: A time; files committed after it are judged.
        by_table: A number for each table, by its name in reports; other tables are judged completely.
    """

    number: int | None = None
    time: dt.datetime | None = None
    by_table: Mapping[str, int] | None = None

    def of(self, table: TableAt) -> Since | None:
        """The value for one table; ``None`` if the whole table is judged."""
        if self.by_table is None:
            return self
        number = self.by_table.get(table.name)
        return None if number is None else Since(number)

    def __str__(self) -> str:
        if self.time is not None:
            return f"{self.time:%Y-%m-%d %H:%M:%S}Z"
        return "the last run" if self.number is None else str(self.number)


def parse_since(text: str) -> Since:
    """Parse ``--since``: a number, or an ISO 8601 time, in UTC if it has no zone.

    Raises:
        UsageError: The text is neither.

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
