"""A `Source` over an object in a remote store, which needs few requests.

Each request costs some milliseconds, even for few bytes. So the end of an object, with the footer, is fetched at once, and a slightly
longer object is fetched whole. Small reads elsewhere also fetch the following bytes: more of them, the longer the object is read
sequentially. Readers need about the same number of end bytes for all objects of a table, which `Tails` remembers.
"""

from __future__ import annotations

import errno
import random
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pqassay_spec.base.errors import Truncated
from pqassay_spec.base.sources import require_range

TAIL = 64 << 10
"""The default number of bytes that the first request reads from the end."""

MOST_TAIL = 4 << 20
"""The largest number of bytes that the first request reads from the end."""

AHEAD = 64 << 10
"""The least number of bytes of a request elsewhere."""

MOST_AHEAD = 4 << 20
"""The largest number of bytes of a short read, after requests that each began at the end of the previous one."""

KEPT = 64 << 20
"""The number of fetched bytes that are kept.

Pages are walked, decoded and searched for levels, one after the other, so the same bytes are read again. Longer reads are not kept.
"""


WAITS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds of waiting before each repetition of a throttled request.

Each is multiplied by a random factor between one half and one and a half, so that workers do not return at the same time.
"""

THROTTLING = re.compile(
    r"(?i)SLOW_?DOWN|THROTTL|TOO[_ ]?MANY[_ ]?REQUESTS|REQUEST_?LIMIT|SERVER_?BUSY|HTTP status (?:429|503)"
)
"""Messages of stores that refuse a request because of too many requests."""


@dataclass
class Throttled:
    """The number of requests of this process that stores refused as too many, and that were repeated."""

    requests: int = 0


THROTTLED = Throttled()

Answer = TypeVar("Answer")


def patiently(request: Callable[[], Answer]) -> Answer:
    """Make a request, and repeat it with growing delays while the store reports too many requests.

    The library of the store has already repeated it before it raises. Raises the errors of the request.
    """
    for wait in WAITS:
        try:
            return request()
        except OSError as error:
            if not THROTTLING.search(str(error)):
                raise
            THROTTLED.requests += 1
            time.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311 - not a secret
    return request()


_OUR_WORDS = (
    (THROTTLING.pattern, "the store throttles requests; use fewer --jobs, or try again later"),
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
"""The meanings of store messages; the first match is used."""


class RangedFile(Protocol):
    """The methods of a ``pyarrow.fs`` file that are used."""

    def size(self) -> int:
        """The size in bytes."""
        ...

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Up to ``nbytes`` bytes from an offset."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class Tails:
    """The number of end bytes to fetch, by table: slightly more than the previous object needed."""

    MOST_TABLES = 1000

    def __init__(self) -> None:
        self._lengths: OrderedDict[str, int] = OrderedDict()

    def of(self, name: str) -> int:
        """The number of end bytes to fetch for an object with this name."""
        return self._lengths.get(table_of(name), TAIL)

    def note(self, name: str, needed: int) -> None:
        """Note how many end bytes an object needed."""
        table = table_of(name)
        length = (needed + needed // 8 + TAIL - 1) // TAIL * TAIL
        self._lengths[table] = max(TAIL, min(length, MOST_TAIL))
        self._lengths.move_to_end(table)
        if len(self._lengths) > self.MOST_TABLES:
            self._lengths.popitem(last=False)

    def clear(self) -> None:
        """Forget all numbers."""
        self._lengths.clear()


def table_of(name: str) -> str:
    """The folder of an object without partition folders, plus its extension: objects with the same key are similar.

    >>> table_of("s3://lake/sales/year=2026/month=3/part-0.parquet")
    's3://lake/sales/*.parquet'
    """
    *folders, last = name.split("/")
    while folders and "=" in folders[-1]:
        folders.pop()
    return "/".join([*folders, f"*{last[last.rfind('.') :] if '.' in last else last}"])


class RemoteSource:
    """A source over a file of ``pyarrow.fs``; use it as a context manager, or close it.

    Args:
        file: The file.
        name: Its name in messages.
        tails: Provides the number of end bytes to fetch, and receives the number that was needed; by default `TAIL`.
    """

    def __init__(self, file: RangedFile, name: str, tails: Tails | None = None) -> None:
        self._file = file
        self.name = name
        self.size = file.size()
        self._tails = tails
        self._tail = TAIL if tails is None else tails.of(name)
        self._needed_from = self.size
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._kept = 0
        self._after, self._ahead = -1, AHEAD
        self._refused: OSError | None = None

    def read(self, offset: int, length: int) -> bytes:
        """Read a range. See `Source.read`; also raises `Truncated` for an object that became shorter."""
        require_range(self, offset, length)
        if not length:
            return b""
        end = offset + length
        if offset < self._needed_from <= end + AHEAD:
            self._needed_from = offset
        latest = next(reversed(self._blocks), end)
        if latest <= offset and end <= latest + len(self._blocks.get(latest, b"")):
            return self._blocks[latest][offset - latest : end - latest]
        kept = self._kept_of(offset, end)
        if _holes(offset, end, kept) > 1 and 2 * sum(map(len, (part for _, part in kept))) < length:
            kept = []  # one request for everything is better than many for the missing parts
        pieces: list[bytes] = []
        at = offset
        for start, part in [*kept, (end, b"")]:
            if at < start:
                begins, fetched = self._fetch(at, start)
                pieces.append(fetched[at - begins : start - begins])
            pieces.append(part)
            at = start + len(part)
        return self._joined(pieces)

    def _joined(self, pieces: list[bytes]) -> bytes:
        return b"".join(pieces)

    def _kept_of(self, offset: int, end: int) -> list[tuple[int, bytes]]:
        """The kept parts of a range in order, each with its offset."""
        parts: list[tuple[int, bytes]] = []
        at = offset
        for start, block in sorted(self._blocks.items()):
            first, last = max(start, at), min(start + len(block), end)
            if first < last:
                parts.append((first, block[first - start : last - start]))
                at = last
                self._blocks.move_to_end(start)
        return parts

    def _fetch(self, offset: int, end: int) -> tuple[int, bytes]:
        """Fetch a range with one request, and neighboring bytes if worthwhile; return the offset and the bytes."""
        start, end = self._range_to_fetch(offset, end)
        self._after = end
        if self._refused is not None:
            raise self._refused
        try:
            block = patiently(lambda: self._file.read_at(end - start, start))
        except OSError as error:
            words = OSError(error.errno or errno.EIO, describe(error), self.name)
            if THROTTLING.search(str(error)):
                self._refused = words  # the next sequential read does not wait
            raise words from error
        if len(block) < end - start:
            raise Truncated("the file became shorter while it was read", offset=offset, file=self.name)
        if len(block) <= KEPT:
            self._kept += len(block) - len(self._blocks.get(start, b""))
            self._blocks[start] = block
            self._blocks.move_to_end(start)
            while self._kept > KEPT:
                self._kept -= len(self._blocks.popitem(last=False)[1])
        return start, block

    def _range_to_fetch(self, offset: int, end: int) -> tuple[int, int]:
        if self.size <= self._tail + AHEAD:
            return 0, self.size
        if offset >= self.size - self._tail:
            return self.size - self._tail, self.size
        self._ahead = min(2 * self._ahead, MOST_AHEAD) if offset == self._after else AHEAD
        if end in self._blocks:  # the following bytes are already kept
            return max(0, min(offset, end - AHEAD)), end
        return offset, min(self.size, max(end, offset + self._ahead))

    def close(self) -> None:
        """Close the object; reading afterwards is an error."""
        if self._tails is not None and self._needed_from < self.size:
            self._tails.note(self.name, self.size - self._needed_from)
        self._blocks.clear()
        self._kept = 0
        self._file.close()


def _holes(offset: int, end: int, parts: list[tuple[int, bytes]]) -> int:
    """The number of stretches of a range that its parts do not cover."""
    holes, at = 0, offset
    for start, part in parts:
        holes += at < start
        at = start + len(part)
    return holes + (at < end)


def describe(error: BaseException) -> str:
    """The meaning of a store's error, in one line."""
    text = str(error)
    for pattern, words in _OUR_WORDS:
        if re.search(pattern, text):
            return words
    return " ".join(re.sub(r"\(Request ID:[^)]*\)", "", text).split())[:300] or type(error).__name__
