"""The trace of a ``_pm`` file: header, blocks, footers, and gaps between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from pqassay.dump.forms import Sink
from pqassay.dump.regions import unparsed
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.pm.header import read_committed_size
from pqassay_spec.pm.trace import trace_pm

PADDING = "padding: zeros"
UNCLAIMED = "bytes that belong to no structure that could be read"
UNCOMMITTED = "bytes after the committed size: readers ignore them"

WINDOW = 1 << 20
"""The number of bytes of a gap that are searched at once for bytes other than zero."""


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`.

    The structures of a damaged file may be anywhere, so the gaps are known only at the end. Therefore, the file is read twice.
    """
    seen = _Seen()
    for batch in trace_pm(source):
        seen.add(batch)
    gaps = list(_gaps(source, seen))[::-1]
    problems: list[FormatError] = []
    for batch in trace_pm(source, problems):
        complete: list[Leaf] = []
        for leaf in batch:
            while gaps and gaps[-1].offset < leaf.offset:
                complete.append(gaps.pop())
            complete.append(leaf)
        sink(complete)
    sink(gaps[::-1])
    if seen.overlap is not None:
        problems.append(seen.overlap)
    return problems


class _Seen:
    """The bytes that already have a leaf, as ranges in order of arrival; touching ranges are merged."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []
        self.overlap: FormatError | None = None

    def add(self, leaves: list[Leaf]) -> None:
        for leaf in leaves:
            start, end = leaf.offset, leaf.offset + leaf.length
            if self.ranges and self.ranges[-1][1] == start:
                start = self.ranges.pop()[0]
            if start < end:
                self.ranges.append((start, end))


def _gaps(source: Source, seen: _Seen) -> Iterator[Leaf]:
    position, number = 0, 0
    committed: int | None = None
    with suppress(FormatError):  # the trace says so
        committed = read_committed_size(source)
    for start, end in [*sorted(seen.ranges), (source.size, source.size)]:
        for first, last in _parted(position, start, committed):
            yield unparsed(f"gaps[{number}]", first, last, _what(source, first, last, committed))
            number += 1
        if start < position and end > start and seen.overlap is None:
            shared = min(position, end) - start
            told = f"the bytes [{start}, {start + shared}) belong to more than one structure"
            seen.overlap = Malformed(told, offset=start, length=shared)
        position = max(position, end)


def _parted(start: int, end: int, committed: int | None) -> Iterator[tuple[int, int]]:
    """A gap, split in two at the end of the committed bytes."""
    if committed is not None and start < committed < end:
        yield start, committed
        start = committed
    if start < end:
        yield start, end


def _what(source: Source, start: int, end: int, committed: int | None) -> str:
    if committed is not None and start >= committed:
        return UNCOMMITTED
    for position in range(start, end, WINDOW):
        if any(source.read(position, min(WINDOW, end - position))):
            return UNCLAIMED
    return PADDING
