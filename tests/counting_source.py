"""A source that is neither a file nor memory, like an object store, and notes what is read from it."""

from __future__ import annotations

from pqassay_spec.base.sources import BytesSource


class CountingSource:
    """Ranged reads of some bytes, and the ranges."""

    def __init__(self, data: bytes) -> None:
        self.name = "<store>"
        self.size = len(data)
        self.ranges: list[tuple[int, int]] = []
        self._bytes = BytesSource(data, self.name)

    def read(self, offset: int, length: int) -> bytes:
        self.ranges.append((offset, length))
        return self._bytes.read(offset, length)
