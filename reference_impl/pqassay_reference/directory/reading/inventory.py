"""The indexes of a file, and whether they are usable.

Source: chapter ``directory.md``, sections "Reading" and "Identity".
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

from pqassay_reference.directory.making.described_data import OpenFile
from pqassay_reference.directory.reading.blob import plain_blob
from pqassay_reference.directory.reading.usable_entries import why_unknown
from pqassay_reference.errors import about
from pqassay_reference.rewrite.index_directory import Indexes, stored_indexes
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.distinct_set import SetFlags, set_parts
from pqassay_spec.directory.entries import Entry
from pqassay_spec.directory.identity import why_stale
from pqassay_spec.directory.sketches import HllPreamble, KllPreamble, split_sketches
from pqassay_spec.parquet.file import read_footer, read_framing, read_head


@dataclass(frozen=True)
class InventoryEntry:
    """One entry of a file.

    Attributes:
        entry: The entry.
        stale: Why it is stale; empty if it is fresh.
        unusable: Why a reader of this version ignores it although it is fresh; empty if it does not.
    """

    entry: Entry
    stale: str
    unusable: str


@dataclass(frozen=True)
class Inventory:
    """The indexes of a file.

    Attributes:
        path: The file.
        entries: Its entries, in their order.
        foreign: Directories of other major versions.
        damaged: The problems of unreadable directories.
    """

    path: str
    entries: tuple[InventoryEntry, ...]
    foreign: int
    damaged: tuple[Malformed, ...]


def list_indexes(path: str | os.PathLike[str]) -> Inventory:
    """The indexes of a local file. Reads the footer and the blobs, but no data.

    Raises:
        FormatError: The file is not a Parquet file, or an encrypted one.
        OSError: It cannot be read.
    """
    with about(os.fspath(path)), FileSource(path) as source:
        read_head(source)
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        file = OpenFile(source, framing, metadata)
        indexes = stored_indexes(metadata)
        stale = [why_stale(entry, metadata) for entry in indexes.entries]
        entries = tuple(
            InventoryEntry(entry, why, "" if why else _unusable(file, indexes, entry))
            for entry, why in zip(indexes.entries, stale, strict=True)
        )
    return Inventory(os.fspath(path), entries, indexes.foreign, indexes.damaged)


def _unusable(file: OpenFile, indexes: Indexes, entry: Entry) -> str:
    if unknown := why_unknown(entry):
        return unknown
    try:
        plain_blob(entry, file.source, file.framing, indexes.area)
    except FormatError as error:
        return error.reason
    return ""


def size_settings(file: OpenFile, indexes: Indexes, entry: Entry) -> tuple[int | None, int | None]:
    """The most values in a part of a distinct set (if a part is incomplete), and the size parameter of sketches; ``None`` if unknown."""
    kind = entry.head.type
    with suppress(FormatError):
        if kind == IndexType.DISTINCT_SET:
            heads = [
                part.head for part in set_parts(plain_blob(entry, file.source, file.framing, indexes.area))
            ]
            return max(
                (one.value_count for one in heads if not one.flags & SetFlags.COMPLETE), default=None
            ), None
        if kind in (IndexType.HLL, IndexType.KLL):
            preamble, name = (HllPreamble, "lg_k") if kind == IndexType.HLL else (KllPreamble, "k")
            made = split_sketches(plain_blob(entry, file.source, file.framing, indexes.area))
            sizes = [getattr(preamble.read(one), name) for one in made if len(one) >= preamble.size]
            return None, next(iter(sizes), None)
    return None, None
