"""The page indexes of a file as they are read: neighbours at once, since they usually stand together.

A file of 500 columns and 100 row groups has 100,000 of them.  Read one by one they would cost as many system calls, and
from an object store as many requests.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict

from pqassay.under_test.file import FileUnderTest

GAP = 64 << 10
"""Bytes between two indexes that are read along, since a second request would cost more."""

PIECE = 4 << 20
"""Bytes that are read at once; an index that alone is longer is read whole."""

KEPT = 4
"""Pieces that are kept. Offset indexes and column indexes are read at the same time, mostly from two places."""


class IndexReads:
    """The bytes of a file's page indexes, in pieces that are read when first asked for; its part of that name.

    Bloom filters, which may be large, and everything else that stands farther than `GAP` from an index are not read.
    """

    def __init__(self, file: FileUnderTest) -> None:
        self._source = file.source
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        for given in file.ranges_inside if file.layout is None else file.layout.ranges:
            if given.kind in ("column index", "offset index"):
                self._add(given.start, given.end)

    def _add(self, start: int, end: int) -> None:
        """Take another range, not before those there are, into the last piece or as a new one."""
        if self._starts:
            joined = max(end, self._ends[-1])
            if start - self._ends[-1] <= GAP and joined - self._starts[-1] <= PIECE:
                self._ends[-1] = joined
                return
        self._starts.append(start)
        self._ends.append(end)

    def read(self, offset: int, length: int) -> bytes:
        """The bytes of an index. Raises what the source does."""
        place = bisect_right(self._starts, offset) - 1
        if place < 0 or offset + length > self._ends[place]:
            return self._source.read(offset, length)
        start = self._starts[place]
        piece = self._kept.get(place)
        if piece is None:
            piece = self._kept[place] = self._source.read(start, self._ends[place] - start)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return piece[offset - start : offset - start + length]
