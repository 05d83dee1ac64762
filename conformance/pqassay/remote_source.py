"""A `Source` over an object in a remote store, made for few requests.

A request costs some milliseconds however little it reads.  So the end of an object, where the footer stands, is
fetched at once, an object that is hardly longer is fetched whole, and small reads elsewhere fetch what follows them.
"""

from __future__ import annotations

import errno
import re
from collections import OrderedDict
from typing import Protocol

from pqassay_spec.errors import Truncated
from pqassay_spec.sources import require_range

TAIL = 64 << 10
"""Bytes at the end that one request fetches."""

AHEAD = 64 << 10
"""Bytes that a smaller read elsewhere fetches."""

KEPT_READ = 1 << 20
"""Reads longer than this are handed through and not kept."""

KEPT_BLOCKS = 16


_OUR_WORDS = (
    (
        r"NETWORK_CONNECTION|[Cc]ould ?n.t connect|Could not connect",
        "the store cannot be reached; is its endpoint right?",
    ),
    (
        r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT_MATCH|HTTP status 40[13]|Anonymous|PermissionDenied",
        "the store denies access; are the credentials right (for S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)?",
    ),
    (
        r"NO_SUCH_BUCKET|[Bb]ucket .* not found",
        "there is no such bucket",
    ),
    (
        r"libjvm|libhdfs",
        "HDFS needs Java and Hadoop's native library; set JAVA_HOME, HADOOP_HOME and CLASSPATH",
    ),
)
"""What messages of stores mean, first match first."""


class RangedFile(Protocol):
    """What is used of a file of ``pyarrow.fs``."""

    def size(self) -> int:
        """Length in bytes."""
        ...

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Up to so many bytes from a place."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class RemoteSource:
    """A source over a file of ``pyarrow.fs``; use it as a context manager, or close it."""

    def __init__(self, file: RangedFile, name: str) -> None:
        self._file = file
        self.name = name
        self.size = file.size()
        self._blocks: OrderedDict[int, bytes] = OrderedDict()

    def read(self, offset: int, length: int) -> bytes:
        """Read the range. See `Source.read`; an object that became shorter is `Truncated` as well."""
        require_range(self, offset, length)
        for start, block in self._blocks.items():
            if start <= offset and offset + length <= start + len(block):
                self._blocks.move_to_end(start)
                return block[offset - start : offset - start + length]
        start, end = self._range_to_fetch(offset, length)
        try:
            block = self._file.read_at(end - start, start)
        except OSError as error:
            raise OSError(error.errno or errno.EIO, describe(error), self.name) from error
        if len(block) < end - start:
            raise Truncated("the file became shorter while it was read", offset=offset, file=self.name)
        if len(block) <= KEPT_READ:
            self._blocks[start] = block
            if len(self._blocks) > KEPT_BLOCKS:
                self._blocks.popitem(last=False)
        return block[offset - start : offset - start + length]

    def _range_to_fetch(self, offset: int, length: int) -> tuple[int, int]:
        if self.size <= TAIL + AHEAD:
            return 0, self.size
        if offset >= self.size - TAIL:
            return self.size - TAIL, self.size
        return offset, min(self.size, offset + max(length, AHEAD))

    def close(self) -> None:
        """Close the object; reading afterwards is an error."""
        self._blocks.clear()
        self._file.close()


def describe(error: BaseException) -> str:
    """What a store's error means, in one line."""
    text = str(error)
    for pattern, words in _OUR_WORDS:
        if re.search(pattern, text):
            return words
    return " ".join(re.sub(r"\(Request ID:[^)]*\)", "", text).split())[:300] or type(error).__name__
