"""The bytes of a changed field in both files, as rows of a hexdump with marks below the bytes that differ."""

from __future__ import annotations

from pqassay.difference.model import Change, Place
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.hexdump import ROW, marked

ROWS = 4
"""Rows that are shown of one field."""

MOST_READ = 1 << 20
"""Bytes of a field in which the first difference is sought."""

Rows = list[tuple[str, str]]
"""Rows, each with its line of marks."""


def marked_rows(change: Change, sources: tuple[Source, Source], most: int = ROWS) -> tuple[Rows, Rows]:
    """The rows of the old and of the new file.

    Args:
        change: The change.
        sources: Both files.
        most: Rows of each.
    """
    spans = [
        None if place is None else (place.offset, place.offset + place.length)
        for place in (change.old, change.new)
    ]
    if change.old is not None and change.new is not None:
        spans = list(_apart(change.old, change.new, sources))
    old, new = (
        [] if span is None else _rows(span, source, most) for span, source in zip(spans, sources, strict=True)
    )
    return old, new


def _apart(old: Place, new: Place, sources: tuple[Source, Source]) -> tuple[tuple[int, int], tuple[int, int]]:
    """The parts of two fields that differ; all of short ones."""
    if max(old.length, new.length) <= ROW or max(old.length, new.length) > MOST_READ:
        return (old.offset, old.offset + old.length), (new.offset, new.offset + new.length)
    ours, theirs = (
        source.read(place.offset, place.length) for place, source in zip((old, new), sources, strict=True)
    )
    shorter = min(len(ours), len(theirs))
    first = next((k for k in range(shorter) if ours[k] != theirs[k]), shorter)
    last = next((k for k in range(shorter - first) if ours[-1 - k] != theirs[-1 - k]), shorter - first)
    return (
        (old.offset + first, old.offset + old.length - last),
        (new.offset + first, new.offset + new.length - last),
    )


def _rows(span: tuple[int, int], source: Source, most: int) -> Rows:
    start, end = span
    begin = min(start, max(source.size - 1, 0)) // ROW * ROW
    stop = min(max(-(-end // ROW) * ROW, begin + ROW), begin + most * ROW, source.size)
    return marked(source.read(begin, stop - begin), begin, start, end)
