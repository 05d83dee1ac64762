"""The index directory of a footer: its current entries, and a footer with other entries.

This module does not read data or make indexes.  Directories of other major versions stay; unreadable ones are not in the new footer.

Source: chapter ``directory.md``, sections "Several indexes", "Placement" and "Writing".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.footer_splice import with_extension, with_pairs
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Granularity, Placement
from pqassay_spec.directory.entries import (
    KEY,
    Directory,
    Entry,
    EntryKey,
    directory_text,
    merged,
    parse_directory,
)
from pqassay_spec.directory.identity import described_places, shape_of, why_stale
from pqassay_spec.directory.placement import (
    EXTENSION,
    extension_area,
    has_other_extension,
    stored_blob,
)
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue


@dataclass(frozen=True)
class Indexes:
    """The combined index directories of a footer.

    Attributes:
        entries: The entries; if several have the same key, the last.
        places: Positions of their pairs, and of pairs with unreadable directories, among all pairs.
        foreign: Directories of other major versions, which are left alone.
        damaged: The problems of unreadable directories.
        area: The blobs in the footer's extension field; ``None`` if there is no such field.
    """

    entries: tuple[Entry, ...]
    places: frozenset[int]
    foreign: int
    damaged: tuple[Malformed, ...]
    area: bytes | None


def stored_indexes(metadata: FileMetaData) -> Indexes:
    """The directories of a footer."""
    directories: list[Directory] = []
    places: set[int] = set()
    damaged: list[Malformed] = []
    foreign = 0
    for place, pair in enumerate(metadata.key_value_metadata or []):
        if pair.key != KEY:
            continue
        try:
            if pair.value is None:
                raise Malformed("the key has no value", rule="DIR-001")  # noqa: TRY301 - one place for all damages
            directories.append(parse_directory(pair.value))
        except Unsupported:
            foreign += 1
            continue
        except Malformed as error:
            damaged.append(error)
        places.add(place)
    return Indexes(
        tuple(merged(directories)), frozenset(places), foreign, tuple(damaged), extension_area(metadata)
    )


def with_indexes(footer: bytes, indexes: Indexes, entries: Sequence[Entry], area: bytes | None) -> bytes:
    """A footer with these entries in its directory, and these blobs in its extension field.

    Args:
        footer: The current footer.
        indexes: Its current indexes.
        entries: The new entries.
        area: The blobs of the extension field; ``None`` for no field.

    Raises:
        Unsupported, Malformed: See `pqassay_reference.rewrite.footer_splice.with_key_values`.
    """
    if indexes.places or entries:
        added = [KeyValue(key=KEY, value=directory_text(entries))] if entries else []
        footer = with_pairs(footer, without=indexes.places, add=added)
    if area != indexes.area:
        content = None if area is None else bytes(EXTENSION.build({"area": area}))
        footer = with_extension(footer, content)
    return footer


def require_room_for_extension(metadata: FileMetaData) -> None:
    """Raise `Refused` if the footer's extension field is used by other software."""
    if has_other_extension(metadata):
        raise Refused(
            "another program uses the footer's extension field; choose the placement body or inline"
        )


def body_blobs(entries: Iterable[Entry], framing: Framing, source: Source) -> list[tuple[int, int]]:
    """The ranges of blobs in the body, for entries with a correct checksum."""
    return body_places(entry for entry in entries if _is_certain(entry, framing, source))


def body_places(entries: Iterable[Entry]) -> list[tuple[int, int]]:
    """The ranges in the body that entries name, without checking their content."""
    return [
        (entry.head.offset, entry.head.offset + entry.head.stored_length)
        for entry in entries
        if entry.head.placement == Placement.BODY
    ]


def _is_certain(entry: Entry, framing: Framing, source: Source) -> bool:
    """Whether the blob of an entry is in the body at its place, with its checksum."""
    try:
        stored_blob(entry, source, body_start=framing.body_start, body_end=framing.footer_start, area=None)
    except (Malformed, Unsupported):
        return False
    return True


def relocated(
    kept: Sequence[Entry], indexes: Indexes, added: Sequence[tuple[Entry, bytes]]
) -> tuple[list[Entry], bytes | None]:
    """Entries and the new extension area with the blobs of kept and added entries.

    Blobs without references are removed, unless a directory of another major version may refer to them.

    Args:
        kept: Entries to keep, with any placement.
        indexes: The content of the footer.
        added: Entries to add, with their blobs.

    Returns:
        The entries with blobs in the area, kept and added, with their new offsets; other entries unchanged;
        and the area.
    """
    old = indexes.area or b""
    inside = [entry for entry in kept if entry.head.placement == Placement.EXTENSION]
    movable = not indexes.foreign and all(
        entry.head.offset + entry.head.stored_length <= len(old) for entry in inside
    )
    area = b"" if movable else old
    entries: list[Entry] = []
    for entry, coming in [*((entry, None) for entry in kept), *added]:
        blob = coming
        if blob is None and movable and entry in inside:
            blob = old[entry.head.offset : entry.head.offset + entry.head.stored_length]
        placed = entry if blob is None else entry.at_offset(len(area))
        entries.append(placed)
        area += blob or b""
    is_needed = added or inside or not movable
    return entries, area if is_needed else None


def restamped(before: FileMetaData, after: FileMetaData) -> tuple[list[Entry], list[Entry]]:
    """The entries of a footer whose statistics or page index were removed, updated so that fresh entries stay fresh.

    Args:
        before: The old footer.
        after: The new footer, which describes the same data with fewer facts.

    Returns:
        The entries, with fresh ones updated to the shape of the new footer; and the removed entries, which
        need an offset index that no longer exists.
    """
    kept: list[Entry] = []
    lost: list[Entry] = []
    for entry in stored_indexes(after).entries:
        if why_stale(entry, before):
            kept.append(entry)
        elif entry.head.granularity == Granularity.PAGE and not _has_offset_indexes(after, entry):
            lost.append(entry)
        else:
            kept.append(replace(entry, head=entry.head.changed(shape=shape_of(after, entry.columns))))
    return kept, lost


def _has_offset_indexes(metadata: FileMetaData, entry: Entry) -> bool:
    return all(
        group.columns[position].offset_index_offset is not None
        for position, _ in described_places(metadata, entry.columns)
        for group in metadata.row_groups
    )


def without_keys(entries: Iterable[Entry], keys: Collection[EntryKey]) -> list[Entry]:
    """The entries without those with the given keys."""
    return [entry for entry in entries if entry.key not in keys]
