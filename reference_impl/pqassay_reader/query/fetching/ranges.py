"""Ranges of one file to fetch: each byte at most once, neighbors in one request, several requests at once.

Fetched bytes are kept while they may be needed: metadata while the file is open, pages until their rows have
been read.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple, Self

from pqassay_spec.base.sources import Source, require_range

GAP = 64 << 10
"""Largest gap in bytes between two ranges of a local file that are fetched in one request.

Measured (``docs/guide/scan-speed.md``): in local files no gap is reliably better than another. This one joins page indexes of neighboring
columns, and is smaller than most pages.
"""

REMOTE_GAP = 256 << 10
"""The largest such gap behind a URI. Requests run at the same time, so a larger gap saves requests, but hardly any time; from 1 MiB on
it also reads unnecessary pages."""

STEP_GAPS = 4
"""The cost of another step behind a URI, in gaps: requests of one step run at the same time, but a step waits for the previous one. At
30 ms a request, a store sends about this much in the time of a step."""

STEP_REQUESTS = 4
"""How many times the cost of a step may be fetched early if the ranges are scattered, because several requests fetch them at once."""

LOCAL_TAIL = 8 << 10
"""Bytes that are read from the end of a local file to find its footer."""

REMOTE_TAIL = 64 << 10
"""Least bytes that are read from the end of a file behind a URI, where a second request costs more than unnecessary bytes."""

LONGEST = 8 << 20
"""Most bytes of a request that joins several ranges; longer ones are split into requests that run at the same time."""

FOREVER = math.inf


class Piece(NamedTuple):
    """A range of bytes to fetch.

    Attributes:
        start: Offset of its first byte.
        stop: Offset after its last byte.
        until: The row of the file up to which it is needed.
    """

    start: int
    stop: int
    until: float = FOREVER


def joined(
    pieces: Iterable[Piece], gap: int | None, keeps_apart: Callable[[int, int], object] | None = None
) -> list[Piece]:
    """Joined ranges that include the given ones, by offset: one for each request.

    Args:
        pieces: Ranges in any order.
        gap: Largest gap in bytes between two ranges to join; ``None`` to join only ranges that overlap.
        keeps_apart: Whether the gap between two offsets separates the ranges around it.

    >>> joined([Piece(40, 50), Piece(4, 20), Piece(20, 30)], gap=0)
    [Piece(start=4, stop=30, until=inf), Piece(start=40, stop=50, until=inf)]
    """
    requests: list[Piece] = []
    for part in sorted(piece for piece in pieces if piece.stop > piece.start):
        if requests:
            last = requests[-1]
            is_near = (
                gap is not None
                and part.start - last.stop <= gap
                and part.stop - last.start <= LONGEST
                and not (keeps_apart and keeps_apart(last.stop, part.start))
            )
            if part.start < last.stop or is_near:
                until = max(last.until, part.until)
                requests[-1] = Piece(last.start, max(last.stop, part.stop), until)
                continue
        requests.append(part)
    return requests


@dataclass
class Fetched:
    """The amount of fetched data.

    Attributes:
        requests: Number of requests.
        length: Number of bytes.
    """

    requests: int = 0
    length: int = 0

    def __iadd__(self, other: Fetched) -> Self:
        self.requests += other.requests
        self.length += other.length
        return self


@dataclass(order=True)
class _Segment:
    """A requested range, whose bytes arrive later."""

    start: int
    stop: int = field(compare=False)
    until: float = field(compare=False)
    data: Future[bytes] = field(compare=False, default_factory=Future[bytes])


class FetchedRanges:
    """A source that keeps fetched bytes. See `pqassay_spec.base.sources.Source`; safe for several threads.

    Args:
        source: The file.
        gap: Largest gap in bytes between two ranges that are fetched in one request; ``None`` for one request per range.
        pool: Runs requests at the same time; by default, they run one after the other.
    """

    def __init__(self, source: Source, *, gap: int | None = GAP, pool: Executor | None = None) -> None:
        self.name, self.size = source.name, source.size
        self.metadata, self.data = Fetched(), Fetched()
        """The amounts fetched so far, of metadata and of pages."""
        self.gap, self.pool = gap, pool
        self.step = 0
        """The cost of another step, in bytes of one request."""
        self._source = source
        self._held: list[_Segment] = []
        self._planned: list[Piece] = []
        self._lock = Lock()

    def plan(self, pieces: Iterable[Piece]) -> None:
        """Plan requests for ranges that will all be needed; each is fetched as a whole when its first part is needed.

        Ranges outside the file are ignored here: they are reported when they are needed.
        """
        inside = (piece for piece in pieces if piece.start >= 0 and piece.stop <= self.size)
        self._planned = joined(inside, self.gap)

    def want(self, pieces: Iterable[Piece]) -> None:
        """Fetch the missing bytes of some ranges, in as few requests as the gap allows; return when all are there.

        Raises:
            Truncated: A range lies outside the file.
            OSError: It cannot be read.
        """
        wanted = sorted(piece for piece in pieces if piece.stop > piece.start)
        for piece in wanted:
            require_range(self, piece.start, piece.stop - piece.start)
        with self._lock:
            parts = [part for piece in wanted for part in self._missing(piece)]
            missing = self._joined(self._with_planned(parts) if self._planned else parts)
            for segment in missing:
                insort(self._held, segment)
                counted = self.metadata if segment.until == FOREVER else self.data
                counted += Fetched(1, segment.stop - segment.start)
        if self.pool is None or len(missing) < 2:
            for segment in missing:
                self._fetch(segment)
        else:
            for segment in missing[1:]:
                self.pool.submit(self._fetch, segment)
            self._fetch(missing[0])  # by the thread that would only wait
        for segment in missing:
            segment.data.exception()  # all have ended before one raises, and the file is closed
        for segment in missing:
            segment.data.result()

    def is_little(self, pieces: Iterable[Piece]) -> bool:
        """Whether fetching some ranges early is cheaper than a separate step for them."""
        with self._lock:
            lengths = [one.stop - one.start for one in self._joined(pieces)]
        return max(lengths, default=0) <= self.step and sum(lengths) <= STEP_REQUESTS * self.step

    def read(self, offset: int, length: int) -> bytes:
        """Return a range; missing bytes are fetched now. See `pqassay_spec.base.sources.Source.read`."""
        return bytes(self.view(offset, length))

    def view(self, offset: int, length: int) -> memoryview:
        """A range as in `read`, without a copy if it was fetched in one piece."""
        require_range(self, offset, length)
        if not length:
            return memoryview(b"")
        stop = offset + length
        with self._lock:
            segments = self._overlapping(offset, stop)
            covered = sum(min(segment.stop, stop) - max(segment.start, offset) for segment in segments)
        if covered < length:
            self.want([Piece(offset, stop)])
            with self._lock:
                segments = self._overlapping(offset, stop)
        if len(segments) == 1:
            data, start = segments[0].data.result(), segments[0].start
            return memoryview(data)[offset - start : stop - start]
        parts = (
            segment.data.result()[max(offset - segment.start, 0) : stop - segment.start]
            for segment in segments
        )
        return memoryview(b"".join(parts))

    def release(self, row: float) -> None:
        """Free the ranges that are only needed for rows before this one."""
        with self._lock:
            self._held = [segment for segment in self._held if segment.until > row]

    def drop_long(self, longer_than: int) -> None:
        """Free metadata that were fetched in ranges longer than this, such as bloom filters, which are used once."""
        with self._lock:
            self._held = [
                one for one in self._held if one.until != FOREVER or one.stop - one.start <= longer_than
            ]

    def _overlapping(self, start: int, stop: int) -> list[_Segment]:
        first = max(bisect_right(self._held, start, key=lambda one: one.start) - 1, 0)
        segments: list[_Segment] = []
        for segment in self._held[first:]:
            if segment.start >= stop:
                break
            if segment.stop > start:
                segments.append(segment)
        return segments

    def _missing(self, piece: Piece) -> list[Piece]:
        """The parts of a range that were not requested yet; existing parts are kept as long as this range needs them."""
        parts: list[Piece] = []
        start = piece.start
        for segment in self._overlapping(piece.start, piece.stop):
            segment.until = max(segment.until, piece.until)
            if segment.start > start:
                parts.append(Piece(start, segment.start, piece.until))
            start = max(start, segment.stop)
        if start < piece.stop:
            parts.append(Piece(start, piece.stop, piece.until))
        return parts

    def _with_planned(self, parts: Iterable[Piece]) -> Iterator[Piece]:
        """The parts, after replacing those inside planned requests by these requests."""
        taken: set[Piece] = set()
        for part in parts:
            place = bisect_right(self._planned, part.start, key=lambda planned: planned.start) - 1
            whole = self._planned[place] if place >= 0 else part
            if whole.stop < part.stop:
                yield part
            elif whole not in taken:
                taken.add(whole)
                yield from self._missing(whole)

    def _joined(self, parts: Iterable[Piece]) -> list[_Segment]:
        return [_Segment(*part) for part in joined(parts, self.gap, self._overlapping)]

    def _fetch(self, segment: _Segment) -> None:
        try:
            segment.data.set_result(self._source.read(segment.start, segment.stop - segment.start))
        except BaseException as error:  # noqa: BLE001 - the thread that waits for the bytes gets it
            with self._lock:
                self._held = [one for one in self._held if one is not segment]
            segment.data.set_exception(error)


__all__ = [
    "FOREVER",
    "GAP",
    "LOCAL_TAIL",
    "REMOTE_GAP",
    "REMOTE_TAIL",
    "STEP_GAPS",
    "Fetched",
    "FetchedRanges",
    "Piece",
    "joined",
]
