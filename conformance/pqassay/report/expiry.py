"""The current day in UTC, so that entries expire at the same time on every machine."""

from __future__ import annotations

import datetime as dt


def today() -> dt.date:
    """The current day in UTC."""
    return dt.datetime.now(dt.UTC).date()
