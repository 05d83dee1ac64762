"""The index directory of a footer: what is there, and a footer with other entries.

Nothing here reads data or makes an index.  Directories of other major versions stay; what cannot be read is left out of the next footer.

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
    """The index directories of a footer, taken together.

    Attributes:
        entries: The entries; of those with one key, the last.
        places: Positions of the pairs that hold them, or that cannot be read, among all pairs.
        foreign: Directories of other major versions, which are left alone.
        damaged: The problems of those that cannot be read.
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
    """A footer whose directory has these entries, and whose extension field these blobs.

    Args:
        footer: The footer as it is.
        indexes: What it has.
        entries: The entries that it is to have.
        area: The blobs of the extension field; ``None`` where there is to be none.

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
    """Raise `Refused` if the footer's extension field is taken by something else."""
    if has_other_extension(metadata):
        raise Refused(
            "another program uses the footer's extension field; choose the placement body or inline"
        )


def body_blobs(entries: Iterable[Entry], framing: Framing, source: Source) -> list[tuple[int, int]]:
    """The ranges of the body that hold blobs, of those entries whose checksum agrees."""
    return body_places(entry for entry in entries if _is_certain(entry, framing, source))


def body_places(entries: Iterable[Entry]) -> list[tuple[int, int]]:
    """The ranges of the body that entries name, whatever is there."""
    return [
        (entry.head.offset, entry.head.offset + entry.head.stored_length)
        for entry in entries
        if entry.head.placement == Placement.BODY
    ]


def _is_certain(entry: Entry, framing: Framing, source: Source) -> bool:
    """Whether the blob of an entry is in the body where the entry says, with its checksum."""
    try:
        stored_blob(entry, source, body_start=framing.body_start, body_end=framing.footer_start, area=None)
    except (Malformed, Unsupported):
        return False
    return True


def relocated(
    kept: Sequence[Entry], indexes: Indexes, added: Sequence[tuple[Entry, bytes]]
) -> tuple[list[Entry], bytes | None]:
    """Entries and the extension area that holds their blobs: those that stay, and those that come.

    Blobs without references are left out, unless there may be some: a directory of another major version.

    Args:
        kept: Entries that stay, wherever their blobs are.
        indexes: The content of the footer.
        added: Entries that come, with their blobs.

    Returns:
        The entries whose blobs are in the area, those that stay and those that come, with their offsets; other entries as they
        are; and the area.
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
    """The entries of a footer whose statistics or page index were taken away, so that those that were good stay good.

    Args:
        before: The footer as it was.
        after: The footer that describes the same data and says less about it.

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
    """The entries that have none of some keys."""
    return [entry for entry in entries if entry.key not in keys]
