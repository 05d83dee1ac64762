"""The bytes of a changed field in both files, as rows of a hexdump with marks below the bytes that differ."""

from __future__ import annotations

from pqassay.difference.fields import same_ends
from pqassay.difference.model import Change
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.hexdump import ROW, marked

ROWS = 4
"""The number of rows shown for one field."""

MOST_READ = 1 << 20
"""The number of bytes of a field that are searched for the first difference."""

Rows = list[tuple[str, str]]
"""Hexdump rows, each with its line of marks."""


def marked_rows(change: Change, sources: tuple[Source, Source], most: int = ROWS) -> tuple[Rows, Rows]:
    """The rows of the old and of the new file.

    Args:
        change: The change.
        sources: Both files.
        most: The largest number of rows for each file.
    """
    places = (change.old, change.new)
    lengths = [place.length for place in places if place is not None]
    first = last = 0
    if len(lengths) == len(places) and ROW < max(lengths) <= MOST_READ:
        raws = [
            source.read(place.offset, place.length)
            for place, source in zip(places, sources, strict=True)
            if place is not None
        ]
        first, last = same_ends(*raws)
    old, new = (
        [] if place is None else _rows(place.offset + first, place.offset + place.length - last, source, most)
        for place, source in zip(places, sources, strict=True)
    )
    return old, new


def _rows(start: int, end: int, source: Source, most: int) -> Rows:
    begin = min(start, max(source.size - 1, 0)) // ROW * ROW
    stop = min(max(-(-end // ROW) * ROW, begin + ROW), begin + most * ROW, source.size)
    return marked(source.read(begin, stop - begin), begin, start, end)
