"""Storage for a ``_pm`` file that is written in place: bytes in memory, or a locked file.

An update of ``_pm`` appends to the file and then changes its first eight bytes.  This is the purpose of the
format. It is the only write in this project without a new file and a rename: readers with an open file can
continue.
"""

from __future__ import annotations

import errno
import os
from typing import Protocol

from pqassay_spec.base.sources import BusyError, FileSource, Source, require_range


class Storage(Source, Protocol):
    """A source that can be written to.

    Writes may reach the disk in any order until `sync` returns.  Eight bytes at offset 0 are one aligned
    word, which is written atomically.
    """

    def write(self, offset: int, data: bytes) -> None:
        """Write all of the bytes at an offset, which is at most the size; bytes after them stay."""
        ...

    def sync(self) -> None:
        """Return when everything written before is on disk."""
        ...


class MemoryStorage:
    """Bytes in memory, which grow."""

    def __init__(self, data: bytes = b"", name: str = "<bytes>") -> None:
        self.data = bytearray(data)
        """The bytes."""
        self.name = name

    @property
    def size(self) -> int:
        """Length in bytes."""
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        """See `Source.read`."""
        require_range(self, offset, length)
        return bytes(memoryview(self.data)[offset : offset + length])

    def write(self, offset: int, data: bytes) -> None:
        """See `Storage.write`."""
        self.data[offset : offset + len(data)] = data

    def sync(self) -> None:
        """Do nothing, because memory needs no sync."""


class FileStorage(FileSource):
    """A locked file without other writers; use it as a context manager.

    Raises:
        BusyError: Another process is writing the file.
        OSError: The file cannot be opened for writing, or is not a regular file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, flags=os.O_RDWR)
        try:
            self._lock()
        except BaseException:
            self.close()
            raise

    def _lock(self) -> None:
        import fcntl  # noqa: PLC0415 - reading works where there are no locks, in a browser for instance

        try:
            fcntl.flock(self.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(errno.EBUSY, "another process is writing it", self.name) from None
        # If the file was replaced between the two calls, this one is a file without a name.
        if not os.path.samestat(os.fstat(self.fileno()), os.stat(self.name)):  # noqa: PTH116 - beside samestat
            raise BusyError(errno.EBUSY, "another process replaced it", self.name)
        self.measure()

    def write(self, offset: int, data: bytes) -> None:
        """See `Storage.write`; a single call if the system accepts all bytes at once."""
        left = memoryview(data)
        while left:
            written = os.pwrite(self.fileno(), left, offset)
            offset, left = offset + written, left[written:]
        self.measure()

    def sync(self) -> None:
        """See `Storage.sync`."""
        os.fsync(self.fileno())
