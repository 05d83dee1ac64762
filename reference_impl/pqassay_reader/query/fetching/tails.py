"""The ends of files: of each the last bytes, in one read."""

from __future__ import annotations

from typing import Any, Self

from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import Source, require_range

REQUEST_SIZE = 64 << 10
"""Bytes that are read from the end of a file. Most footers are in them, and most blobs, which are stored before the footer."""

LOCAL_REQUEST_SIZE = 8 << 10
"""The same for files of this machine, where a second read costs less than bytes that are not needed."""


class TailSource:
    """A source whose last bytes are in memory; what is stored before them is read where it is asked for.

    Attributes:
        name: What messages call it.
        size: Length in bytes.
        start: Offset of the first byte in memory.
        tail: The bytes from there on.
    """

    __slots__ = ("_whole", "name", "size", "start", "tail")

    def __init__(self, whole: Source, tail_size: int = REQUEST_SIZE) -> None:
        self.name, self.size = whole.name, whole.size
        self._whole = whole
        self.start = max(0, whole.size - tail_size)
        self.tail = whole.read(self.start, whole.size - self.start)

    def read(self, offset: int, length: int) -> bytes:
        """Return a range. See `pqassay_spec.base.sources.Source.read`."""
        require_range(self, offset, length)
        if offset < self.start:
            return self._whole.read(offset, length)
        return self.tail[offset - self.start : offset - self.start + length]


class NativeSource:
    """A source over a file that a `pyarrow.fs` filesystem opens; use it as a context manager."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self.name = path
        self._file = filesystem.open_input_file(path)
        self.size = int(self._file.size())

    def read(self, offset: int, length: int) -> bytes:
        """Read a range. See `pqassay_spec.base.sources.Source.read`."""
        require_range(self, offset, length)
        data = bytes(self._file.read_at(length, offset))
        if len(data) != length:
            raise Malformed("the file became shorter while it was read", offset=offset, file=self.name)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


__all__ = ["LOCAL_REQUEST_SIZE", "REQUEST_SIZE", "NativeSource", "TailSource"]
