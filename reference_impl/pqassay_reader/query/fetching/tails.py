"""The ends of files, of which the last bytes are read at once, and files of stores."""

from __future__ import annotations

from typing import Any, Self

from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import require_range

LOCAL_TAIL = 8 << 10
"""Bytes that are read from the end of a local file before its footer is looked for."""

REMOTE_TAIL = 64 << 10
"""The least that is read from the end of a file behind a URI, where a second request costs more than bytes that nobody needs."""


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


__all__ = ["LOCAL_TAIL", "REMOTE_TAIL", "NativeSource"]
