"""The usable entries of a file's index directories, according to the footer.

The content of a directory never raises an error here: an index may save work, but a damaged index must not
cause a failure or a wrong decision.  An unknown or stale entry is ignored, with the reason.

Source: chapter ``directory.md``, section "Reading".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import xxhash

from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import CODECS, TYPE_VERSION, Granularity, IndexType, Placement
from pqassay_spec.directory.entries import KEY, Directory, Entry, merged, parse_directory
from pqassay_spec.directory.identity import described, why_stale
from pqassay_spec.directory.packed_values import order_in_blobs
from pqassay_spec.directory.zone_sums import is_key
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import FileMetaData


class LeftAside(NamedTuple):
    """An entry, or a whole directory, that is not used.

    Attributes:
        name: Its description: ``DISTINCT_SET of nation by ROW_GROUP``.
        reason: Why it is not used.
    """

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True)
class UsableEntry:
    """An entry that describes the current data of the file, according to the footer.

    Attributes:
        entry: The entry.
        leaves: The leaves of the schema that it describes.
    """

    entry: Entry
    leaves: tuple[SchemaLeaf, ...]

    @property
    def type(self) -> IndexType:
        """The type of the index."""
        return IndexType(self.entry.head.type)

    @property
    def granularity(self) -> Granularity:
        """The granularity of the parts."""
        return Granularity(self.entry.head.granularity)

    @property
    def name(self) -> str:
        """The entry as text for people."""
        return name_of(self.entry)

    @property
    def columns(self) -> tuple[str, ...]:
        """The described columns, as paths joined by dots."""
        return tuple(".".join(path) for path in self.entry.columns)


@dataclass
class FileDirectory:
    """The entries of one file.

    Attributes:
        entries: The usable entries.
        aside: The ignored entries, with reasons; it grows when blobs are read.
    """

    entries: list[UsableEntry] = field(default_factory=list[UsableEntry])
    aside: list[LeftAside] = field(default_factory=list[LeftAside])


def name_of(entry: Entry) -> str:
    """An entry as text for people."""
    head = entry.head
    kind = IndexType(head.type).name if head.type in set(IndexType) else f"an index of type {head.type}"
    granularity = (
        Granularity(head.granularity).name
        if head.granularity in set(Granularity)
        else f"granularity {head.granularity}"
    )
    return f"{kind} of {entry.names or 'no column'} by {granularity}"


def has_directory(footer: bytes) -> bool:
    """Whether the bytes of a footer may contain the key; otherwise it need not be decoded for its entries."""
    return KEY.encode() in footer


def read_entries(
    metadata: FileMetaData, types: Collection[IndexType] = (IndexType.DISTINCT_SET, IndexType.ZONE_SUMS)
) -> FileDirectory:
    """The entries of some types in the directories of a footer. Reads only the footer, and never raises an error.

    Args:
        metadata: The footer.
        types: The types; entries of other types are skipped silently.
    """
    directory = FileDirectory()
    directories: list[Directory] = []
    for pair in metadata.key_value_metadata or []:
        if pair.key == KEY:
            try:
                directories.append(parse_directory(pair.value or ""))
            except FormatError as error:
                directory.aside.append(LeftAside("index directory", error.reason or str(error)))
    for entry in merged(directories):
        if entry.head.type in types:
            usable = _usable(entry, metadata)
            if isinstance(usable, str):
                directory.aside.append(LeftAside(name_of(entry), usable))
            else:
                directory.entries.append(usable)
    return directory


def why_unknown(entry: Entry) -> str:
    """A description of the entry's unknown number; empty if all are known, or the type is the only unknown one and has a name."""
    head = entry.head
    if not entry.type_name and head.type not in set(IndexType):
        return f"type {head.type} is not known"
    if not entry.type_name and head.type_version != TYPE_VERSION:
        return f"version {head.type_version} of the type is not known"
    for what, value, known in (
        ("granularity", head.granularity, set(Granularity)),
        ("placement", head.placement, set(Placement)),
        ("codec", head.codec, set(CODECS)),
    ):
        if value not in known:
            return f"{what} {value} is not known"
    return ""


def _usable(entry: Entry, metadata: FileMetaData) -> UsableEntry | str:
    """The entry, or the reason why it is ignored."""
    if unknown := why_unknown(entry):
        return unknown
    stale = why_stale(entry, metadata, xxhash.xxh64_intdigest)
    if stale:
        return f"stale: {stale}"
    found = tuple(described(metadata, entry.columns))  # which the shape was made of
    reason = _why_not_described(entry, found)
    return reason or UsableEntry(entry, found)


def _why_not_described(entry: Entry, leaves: Sequence[SchemaLeaf]) -> str:
    """Why an entry of its type cannot describe some columns; empty if it can."""
    head = entry.head
    if not leaves:
        return "it describes no column"
    if any(order_in_blobs(leaf) is None for leaf in leaves):
        return f"{entry.names} is not a column that an index can describe"
    if head.type == IndexType.DISTINCT_SET and len(leaves) != 1:
        return f"it describes {len(leaves)} columns, and not one"
    if head.granularity == Granularity.PAGE and len(leaves) != 1:
        return "pages of several columns do not begin at the same rows"
    if head.type == IndexType.ZONE_SUMS and not all(is_key(leaf) for leaf in leaves[:-1]):
        return "a floating point column cannot be a key"
    return ""


__all__ = [
    "FileDirectory",
    "LeftAside",
    "UsableEntry",
    "has_directory",
    "name_of",
    "read_entries",
    "why_unknown",
]
