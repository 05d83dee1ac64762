"""The earlier footers of a Parquet file that has grown, and the shorter files that they belonged to.

QuestDB updates a Parquet file by appending row groups and a footer.  Earlier footers stay in the file, and
each ends with the magic. Each earlier version of the file is therefore a prefix of the current file.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from pqassay_reference.errors import Refused
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source, require_range
from pqassay_spec.parquet.file import (
    HEAD_SIZE,
    MAGIC,
    MAGIC_SIZE,
    TAIL_SIZE,
    Framing,
    read_footer,
    read_framing,
    referenced_ranges,
)
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet.fields import fields_of
from pqassay_spec.pm.from_parquet.questdb_key import QuestDBMetadata

STEP = 1 << 24
"""Bytes that are searched in one step."""

MOST_ATTEMPTS = 10_000
"""Most footers that are parsed; more magics are not a history, but data that imitates one."""


class Prefix:
    """The first bytes of a source, which are an earlier version of the file."""

    def __init__(self, source: Source, size: int) -> None:
        self._source = source
        self.name = source.name
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """See `Source.read`."""
        require_range(self, offset, length)
        return self._source.read(offset, length)


@dataclass(frozen=True)
class Version:
    """A Parquet file at one time: its bytes, its footer, and the ``questdb`` key in it."""

    source: Source
    framing: Framing
    metadata: FileMetaData
    questdb: QuestDBMetadata


def earlier_versions(newest: Version) -> list[Version]:
    """The earlier versions of the file, oldest first.

    They are only searched if the ``questdb`` key counts unused bytes, which updates leave behind.
    Bytes that only look like a footer are recognized by their place: inside a column chunk of a later
    version, they are data.

    Raises:
        Refused: More than `MOST_ATTEMPTS` places look like footers.
    """
    earlier: list[Version] = []
    latest = newest
    occupied = _ranges(newest)
    ends = sorted(_magic_ends(newest.source)) if newest.questdb.unused_bytes else []
    budget = 2 * newest.framing.size
    for end in reversed(ends):
        if end > latest.framing.footer_start or _lies_in(end - MAGIC_SIZE, occupied):
            continue
        prefix = Prefix(newest.source, end)
        try:
            framing = read_framing(prefix)
        except FormatError:
            continue
        budget -= framing.footer_length
        if budget < 0:
            raise Refused(
                "the bytes that look like earlier footers are longer than the file; leave out --history"
            )
        version = _version(prefix, framing)
        if version is None or not _precedes(version, latest):
            continue
        earlier.append(version)
        latest = version
        if not version.questdb.unused_bytes:  # the first: before it, nothing was ever appended
            break
        occupied = _merged([*occupied, *_ranges(version)])
    return earlier[::-1]


def _version(source: Source, framing: Framing) -> Version | None:
    """The version that ends with a magic, if that ends a valid footer with the ``questdb`` key."""
    try:
        metadata, _ = read_footer(source, framing)
        questdb = questdb_key.read(metadata, len(fields_of(metadata)))
    except FormatError:
        return None
    if questdb is None:
        return None
    version = Version(source, framing, metadata, questdb)
    is_whole = all(HEAD_SIZE <= start <= end <= framing.footer_start for start, end in _ranges(version))
    return version if is_whole else None


def _precedes(version: Version, later: Version) -> bool:
    """Whether updates can lead from one version to the other: the columns stay, and the unused bytes grow."""
    return (
        version.metadata.schema == later.metadata.schema
        and version.questdb.schema == later.questdb.schema
        and version.questdb.unused_bytes < later.questdb.unused_bytes
    )


def _ranges(version: Version) -> list[tuple[int, int]]:
    """The ranges that a version's footer assigns to its parts, merged."""
    return _merged((found.start, found.end) for found in referenced_ranges(version.metadata, version.source))


def _merged(ranges: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _lies_in(position: int, ranges: list[tuple[int, int]]) -> bool:
    index = bisect_right(ranges, (position, 1 << 64)) - 1
    return index >= 0 and position < ranges[index][1]


def _magic_ends(source: Source) -> Iterator[int]:
    """Yield the end offsets of the magics in the body of a source, if enough bytes for a file precede them."""
    attempts = itertools.count(1)
    for start in range(HEAD_SIZE + TAIL_SIZE - MAGIC_SIZE, source.size - MAGIC_SIZE, STEP):
        raw = source.read(start, min(STEP + MAGIC_SIZE - 1, source.size - MAGIC_SIZE - start))
        position = raw.find(MAGIC)
        while position >= 0:
            if next(attempts) > MOST_ATTEMPTS:
                raise Refused(
                    f"more than {MOST_ATTEMPTS} places look like earlier footers; leave out --history"
                )
            yield start + position + MAGIC_SIZE
            position = raw.find(MAGIC, position + 1)
