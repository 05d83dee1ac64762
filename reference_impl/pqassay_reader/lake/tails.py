"""The ends of files: of each the last bytes, in one read.

Of a store, `NativeSource` reads a file, and threads wait for several at once. On this machine `local_tails` reads many:
it tells the system of all reads before it waits for the first, so that the disk serves them side by side. Threads would
do that as well, but where the system has the files in memory already, to read 4 KiB takes less time than to hand the interpreter
from one thread to the next.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import Source, require_range

REQUEST_SIZE = 64 << 10
"""Bytes that are read from the end of a file. Most footers are in them, and most blobs, which are stored before the footer."""

LOCAL_REQUEST_SIZE = 4 << 10
"""The same for files of this machine, where a second read costs less than bytes that nobody needs."""

AT_ONCE = 128
"""Local files that are open at the same time: enough to keep a disk busy, and few beside the limit of a process."""

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""As `pqassay_spec.base.sources.FileSource` opens files: without ``O_NONBLOCK``, a pipe waits for somebody who writes."""


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


def local_tails(paths: Sequence[str], sizes: Sequence[int], length: int) -> list[bytes | None]:
    """The last bytes of at most `AT_ONCE` local files.

    Args:
        paths: Of the files.
        sizes: Of the files, as they were listed.
        length: Bytes that are wanted; of a shorter file, all.

    Returns:
        For each file its last bytes; ``None`` if it cannot be opened or read, or if it has another size by now.
    """
    wanted = [(max(0, size - length), size) for size in sizes]
    descriptors: list[int] = []
    try:
        for path, (offset, _) in zip(paths, wanted, strict=True):
            descriptors.append(_opened(path, offset, length))
        return [
            _end(descriptor, offset, size)
            for descriptor, (offset, size) in zip(descriptors, wanted, strict=True)
        ]
    finally:
        for descriptor in descriptors:
            if descriptor != _NOT_OPEN:
                os.close(descriptor)


_HAS_ADVICE = hasattr(os, "posix_fadvise")
"""False on macOS, where reads are served one after another."""

_NOT_OPEN = -1


def _opened(path: str, offset: int, length: int) -> int:
    """The descriptor of a file of which a range is about to be read; `_NOT_OPEN` if it cannot be opened."""
    descriptor = _NOT_OPEN
    try:
        descriptor = os.open(path, _FLAGS)
        if _HAS_ADVICE:
            os.posix_fadvise(descriptor, offset, length, os.POSIX_FADV_WILLNEED)
    except OSError:
        pass  # what is wrong, with a pipe for instance, reading will tell
    return descriptor


def _end(descriptor: int, offset: int, size: int) -> bytes | None:
    if descriptor == _NOT_OPEN:
        return None
    try:
        # One byte more than there should be, which a file that has grown gives.
        data = os.pread(descriptor, size - offset + 1, offset)
    except OSError:
        return None
    return data if len(data) == size - offset else None
