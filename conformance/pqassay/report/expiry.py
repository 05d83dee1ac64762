"""The day that decides what has expired: that of UTC, so that an entry ends at the same moment on every machine."""

from __future__ import annotations

import datetime as dt


def today() -> dt.date:
    """The day in UTC."""
    return dt.datetime.now(dt.UTC).date()
