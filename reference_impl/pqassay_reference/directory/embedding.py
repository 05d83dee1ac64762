"""Add, remove or rebuild indexes in a finished file: the body stays, and the footer gets a new directory.

Source: chapter ``directory.md``, sections "Several indexes" and "Writing".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pqassay_reference.directory.making.described_data import OpenFile
from pqassay_reference.directory.making.entry import WRITER, MadeIndex, Request, make_index
from pqassay_reference.directory.reading.inventory import size_settings
from pqassay_reference.directory.reading.usable_entries import why_unknown
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.extract import idx1_range
from pqassay_reference.rewrite.finished_file import FinishedFile, WrittenState, finished_file
from pqassay_reference.rewrite.index_directory import (
    Indexes,
    body_blobs,
    body_places,
    relocated,
    require_room_for_extension,
    stored_indexes,
    with_indexes,
    without_keys,
)
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.entries import Entry, EntryKey
from pqassay_spec.directory.identity import why_stale
from pqassay_spec.parquet.file import is_summary, referenced_ranges
from pqassay_spec.parquet.thrift import CompressionCodec, FileMetaData


class Change(NamedTuple):
    """A file with changed indexes: the number of kept bytes of its body, the bytes after them, and the footer."""

    body_end: int
    added: bytes
    footer: bytes


class EmbeddingPlan(NamedTuple):
    """The planned changes of the entries of a file; `Changed` describes `removed` and `unable`."""

    made: Sequence[MadeIndex] = ()
    removed: tuple[Entry, ...] = ()
    unable: tuple[tuple[Entry, str], ...] = ()


@dataclass(frozen=True)
class Changed:
    """The result of a change of a file.

    Attributes:
        path: The file.
        made: The new entries.
        replaced: Keys of the entries that they replaced.
        removed: Entries that were removed.
        left: Entries that stay.
        damaged: The errors of unreadable directories, which were left out.
        dead: Bytes of unused blobs in the body, without references.
        unable: For `refresh_indexes`, the stale entries that stay, each with the reason.
        state: Size and time of the written file; ``None`` if nothing was written.
    """

    path: str
    made: tuple[Entry, ...] = ()
    replaced: tuple[EntryKey, ...] = ()
    removed: tuple[Entry, ...] = ()
    left: tuple[Entry, ...] = ()
    damaged: tuple[Malformed, ...] = ()
    dead: int = 0
    unable: tuple[tuple[Entry, str], ...] = ()
    state: WrittenState | None = None


def add_indexes(
    path: str | os.PathLike[str],
    requests: Callable[[FileMetaData], Sequence[Request]] | Sequence[Request],
    *,
    inside_table: bool = False,
    writer: str = WRITER,
) -> Changed:
    """Make indexes for a finished file and write them into it, replacing it atomically.

    Other entries stay; one with the same type, granularity and columns is replaced.

    Args:
        path: A local Parquet file.
        requests: The indexes, or a function that returns them for a footer.
        inside_table: Do it even inside a table (Iceberg, Delta, …) whose manifests record the old file size.
        writer: The program's name for the entries.

    Raises:
        Refused: An index cannot be made, or its placement is used by other software; a file inside a table.
        FormatError: The file is not a Parquet file, or its footer must not be changed.
        OSError: The file cannot be read or its directory written; it changed meanwhile; it is being written.
        Undecodable: Pages cannot be decoded.
    """

    def plan(file: OpenFile, _: Indexes) -> EmbeddingPlan:
        asked = requests(file.metadata) if callable(requests) else requests
        return EmbeddingPlan([make_index(file, request, writer=writer) for request in asked])

    return change_indexes(path, plan, inside_table=inside_table)


def drop_indexes(
    path: str | os.PathLike[str], goes: Callable[[Entry, FileMetaData], bool], *, inside_table: bool = False
) -> Changed:
    """Remove entries from a finished file, replacing it atomically; a file without such entries is not changed.

    Args:
        path: A local Parquet file.
        goes: Decides from an entry and the footer whether to remove the entry.
        inside_table: See `add_indexes`.

    Raises:
        Refused, FormatError, OSError: See `add_indexes`.
    """

    def plan(file: OpenFile, indexes: Indexes) -> EmbeddingPlan:
        return EmbeddingPlan(removed=tuple(entry for entry in indexes.entries if goes(entry, file.metadata)))

    return change_indexes(path, plan, inside_table=inside_table)


def refresh_indexes(
    path: str | os.PathLike[str], *, inside_table: bool = False, writer: str = WRITER
) -> Changed:
    """Rebuild the stale entries of a finished file, with their columns, granularity, placement and codec.

    Fresh entries do not change, and neither do stale ones that cannot be rebuilt.

    Args:
        path: A local Parquet file.
        inside_table: See `add_indexes`.
        writer: See `add_indexes`.

    Raises:
        Refused, FormatError, OSError: See `add_indexes`; but not for an entry that cannot be rebuilt.
    """

    def plan(file: OpenFile, indexes: Indexes) -> EmbeddingPlan:
        made: list[MadeIndex] = []
        unable: list[tuple[Entry, str]] = []
        for entry in indexes.entries:
            if why_stale(entry, file.metadata):
                try:
                    made.append(make_index(file, _again(file, indexes, entry), writer=writer))
                except Refused as error:
                    unable.append((entry, str(error)))
        return EmbeddingPlan(made, unable=tuple(unable))

    return change_indexes(path, plan, inside_table=inside_table)


def change_indexes(
    path: str | os.PathLike[str],
    plan: Callable[[OpenFile, Indexes], EmbeddingPlan],
    *,
    inside_table: bool = False,
) -> Changed:
    """Change the entries of a finished file according to a plan. A file that stays the same is not written.

    Raises:
        Refused, FormatError, OSError, Undecodable: See `add_indexes`.
    """
    with finished_file(path, inside_table=inside_table) as file:
        opened, indexes = _opened(file), stored_indexes(file.metadata)
        made, removed, unable = plan(opened, indexes)
        coming = {index.entry.key for index in made}
        gone = coming | {entry.key for entry in removed}
        going = [entry for entry in indexes.entries if entry.key in gone]
        done = Changed(
            os.fspath(path),
            tuple(index.entry for index in made),
            replaced=tuple(entry.key for entry in going if entry.key in coming),
            removed=removed,
            left=tuple(without_keys(indexes.entries, gone)),
            damaged=indexes.damaged,
            unable=unable,
        )
        if not gone:
            return done
        file.require_unchanged()  # or the values are those of another file than the footer
        change = changed_file(opened, file.footer, indexes, made, gone)
        state = file.rewrite(change.footer, body_end=change.body_end, added=change.added)
        blobs = body_blobs(going, file.framing, file.source)
        dead = sum(min(end, change.body_end) - start for start, end in blobs if start < change.body_end)
        return replace(done, dead=dead, state=state)


def _again(file: OpenFile, indexes: Indexes, entry: Entry) -> Request:
    """The request that would make an entry again, as far as it is known. Raises `Refused`."""
    head = entry.head
    if entry.type_name:
        raise Refused(
            f"only the owner of {entry.type_name} can make it; add it again with --blob, or drop it"
        )
    if unknown := why_unknown(entry):
        raise Refused(unknown)
    return Request(
        IndexType(head.type),
        entry.columns,
        Granularity(head.granularity),
        Placement(head.placement),
        CompressionCodec(head.codec),
        *size_settings(file, indexes, entry),
    )


# ------------------------------------------------------------------------------------------------------ the file


def _opened(file: FinishedFile) -> OpenFile:
    """The file in the form from which indexes are made. Raises `Refused`, `Unsupported` for a file that must not be changed."""
    metadata = file.metadata
    if metadata.encryption_algorithm is not None:
        raise Unsupported("the file is encrypted; anyone could read its index", field="footer")
    if any(is_summary(metadata, name, file.framing) for name in (os.fspath(file.path), str(file.target))):
        raise Refused("this is a summary of other files; index each of those")
    return OpenFile(file.source, file.framing, metadata)


def changed_file(
    file: OpenFile,
    footer: bytes,
    indexes: Indexes,
    made: Sequence[MadeIndex],
    gone: Collection[EntryKey],
) -> Change:
    """The parts of a file after adding and removing indexes.

    Args:
        file: The file.
        footer: Its footer, encoded.
        indexes: The content of the footer.
        made: The indexes to add.
        gone: Keys of the entries to remove, including replaced ones.

        Raises:
            Refused: The extension field is used by other software.
        FormatError: The footer must not be changed.
    """
    kept = without_keys(indexes.entries, gone)
    going = [entry for entry in indexes.entries if entry.key in gone]
    body_end = _body_end(file, kept, going)
    added = b""
    placed: list[Entry] = []
    for index in made:
        if index.entry.head.placement == Placement.BODY:
            placed.append(index.entry.at_offset(body_end + len(added)))
            added += index.stored
        elif index.entry.head.placement == Placement.INLINE:
            placed.append(index.entry)
    coming = [
        (index.entry, index.stored) for index in made if index.entry.head.placement == Placement.EXTENSION
    ]
    if coming:
        require_room_for_extension(file.metadata)
    entries, area = relocated([*kept, *placed], indexes, coming)
    return Change(body_end, added, with_indexes(footer, indexes, entries, area))


def _body_end(file: OpenFile, kept: Sequence[Entry], going: Sequence[Entry]) -> int:
    """The end of the body after cutting unused blobs at its end.

    Only blobs that are certain are cut: the checksum agrees, and neither another entry nor the footer refers to their bytes.
    """
    end = file.framing.footer_start
    ends = {stop: start for start, stop in body_blobs(going, file.framing, file.source) if start < stop}
    if not ends:
        return end
    needed = [(found.start, found.end) for found in referenced_ranges(file.metadata, file.source)]
    needed += body_places(kept)
    blob = idx1_range(file.metadata, file.source, end)
    needed += [blob] if blob is not None else []
    while (start := ends.get(end)) is not None and not any(one < end and start < two for one, two in needed):
        end = start
    return end
