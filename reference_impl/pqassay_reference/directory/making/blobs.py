"""The blob of an index before compression and placement."""

from __future__ import annotations

from typing import NamedTuple


class MadeBlob(NamedTuple):
    """A blob before compression.

    Attributes:
        data: Its bytes.
        value_count: Number of values, groups or sketched values in all its parts.
    """

    data: bytes
    value_count: int
