"""The current day in UTC, so an entry expires at the same time on every machine."""

from __future__ import annotations

import datetime as dt


def today() -> dt.date:
    """The day in UTC."""
    return dt.datetime.now(dt.UTC).date()
