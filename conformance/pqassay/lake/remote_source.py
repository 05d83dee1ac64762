"""A `Source` over an object in a remote store, made for few requests.

A request costs some milliseconds however little it reads.  So the end of an object, where the footer stands, is
fetched at once, an object that is hardly longer is fetched whole, and small reads elsewhere fetch what follows them.
"""

from __future__ import annotations

import errno
import re
from collections import OrderedDict
from typing import Protocol

from pqassay_spec.base.errors import Truncated
from pqassay_spec.base.sources import require_range

TAIL = 64 << 10
"""Bytes at the end that one request fetches."""

AHEAD = 64 << 10
"""Bytes that a smaller read elsewhere fetches."""

KEPT = 64 << 20
"""Bytes that are kept of what was fetched, for pages are walked, decoded and searched for levels, one after the other.

A longer read is handed through.
"""


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
"""Meanings of messages of stores, first match first."""


class RangedFile(Protocol):
    """The methods of a file of ``pyarrow.fs`` that are used."""

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
        self._kept = 0

    def read(self, offset: int, length: int) -> bytes:
        """Read the range. See `Source.read`; an object that became shorter is `Truncated` as well."""
        require_range(self, offset, length)
        end = offset + length
        latest = next(reversed(self._blocks), end)
        if latest <= offset and end <= latest + len(self._blocks.get(latest, b"")):
            return self._blocks[latest][offset - latest : end - latest]
        kept = self._kept_of(offset, end)
        if 2 * sum(map(len, (part for _, part in kept))) < length:
            kept = []  # one request for all is better than many for what lies between
        pieces: list[bytes] = []
        at = offset
        for start, part in [*kept, (end, b"")]:
            if at < start:
                begins, fetched = self._fetch(at, start)
                pieces.append(fetched[at - begins : start - begins])
            pieces.append(part)
            at = start + len(part)
        return b"".join(pieces)

    def _kept_of(self, offset: int, end: int) -> list[tuple[int, bytes]]:
        """The parts of a range that are kept, in their order, and where each begins."""
        found: list[tuple[int, bytes]] = []
        at = offset
        for start, block in sorted(self._blocks.items()):
            first, last = max(start, at), min(start + len(block), end)
            if first < last:
                found.append((first, block[first - start : last - start]))
                at = last
                self._blocks.move_to_end(start)
        return found

    def _fetch(self, offset: int, end: int) -> tuple[int, bytes]:
        """Fetch a range with one request, and what is worth fetching with it; where that begins."""
        start, end = self._range_to_fetch(offset, end - offset)
        try:
            block = self._file.read_at(end - start, start)
        except OSError as error:
            raise OSError(error.errno or errno.EIO, describe(error), self.name) from error
        if len(block) < end - start:
            raise Truncated("the file became shorter while it was read", offset=offset, file=self.name)
        if len(block) <= KEPT:
            self._kept += len(block) - len(self._blocks.get(start, b""))
            self._blocks[start] = block
            self._blocks.move_to_end(start)
            while self._kept > KEPT:
                self._kept -= len(self._blocks.popitem(last=False)[1])
        return start, block

    def _range_to_fetch(self, offset: int, length: int) -> tuple[int, int]:
        if self.size <= TAIL + AHEAD:
            return 0, self.size
        if offset >= self.size - TAIL:
            return self.size - TAIL, self.size
        return offset, min(self.size, offset + max(length, AHEAD))

    def close(self) -> None:
        """Close the object; reading afterwards is an error."""
        self._blocks.clear()
        self._kept = 0
        self._file.close()


def describe(error: BaseException) -> str:
    """Meaning of a store's error, in one line."""
    text = str(error)
    for pattern, words in _OUR_WORDS:
        if re.search(pattern, text):
            return words
    return " ".join(re.sub(r"\(Request ID:[^)]*\)", "", text).split())[:300] or type(error).__name__
