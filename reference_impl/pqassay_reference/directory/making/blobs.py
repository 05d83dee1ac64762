"""What an index consists of before it is compressed and placed."""

from __future__ import annotations

from typing import NamedTuple


class MadeBlob(NamedTuple):
    """A blob before compression.

    Attributes:
        data: Its bytes.
        value_count: Values, groups or sketched values in all its parts.
    """

    data: bytes
    value_count: int
