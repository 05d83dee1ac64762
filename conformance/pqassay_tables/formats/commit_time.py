"""The time of a commit, as both formats write it: milliseconds since 1970."""

from __future__ import annotations

import datetime as dt
from typing import Any


def time_in(milliseconds: Any) -> dt.datetime | None:
    """The time that a member of JSON gives; ``None`` where it gives none."""
    if not isinstance(milliseconds, int) or not 0 <= milliseconds < 1 << 47:
        return None
    return dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
