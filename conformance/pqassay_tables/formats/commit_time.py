"""The time of a commit in the form of both formats: milliseconds since 1970."""

from __future__ import annotations

import datetime as dt
from typing import Any


def time_in(milliseconds: Any) -> dt.datetime | None:
    """The time in a JSON member; ``None`` if it is not valid."""
    if not isinstance(milliseconds, int) or not 0 <= milliseconds < 1 << 47:
        return None
    return dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
