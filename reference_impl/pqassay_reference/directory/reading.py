"""The entries of a file's index directories that may be used, and what their blobs hold as arrays.

Nothing here raises for what a directory says: an index may save work, it may never decide more than it knows, and a damaged one
is no reason to fail.  An entry that is not known, stale or damaged is left aside, with the reason.

Source: chapter ``directory.md``, sections "Reading" and "The blob".
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from pqassay_reference.columns.chunk_structures import read_offset_index
from pqassay_reference.directory.plain_arrays import Packed, plain_arrays
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import CODECS, TYPE_VERSION, Granularity, IndexType, Placement
from pqassay_spec.directory.distinct_set import SetFlags, SetHead, set_parts
from pqassay_spec.directory.entries import KEY, Directory, Entry, merged, parse_directory
from pqassay_spec.directory.identity import described, why_stale
from pqassay_spec.directory.packed_values import order_in_blobs
from pqassay_spec.directory.placement import extension_area, stored_blob
from pqassay_spec.directory.zone_sums import Group, SumKind, is_key, sum_kind, sums_places
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.schema import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import CompressionCodec, FileMetaData

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_BYTES = 256 << 20
"""Bytes that a blob may take before compression; a greater one is left aside rather than kept in memory."""

CODEC_NAMES = {
    CompressionCodec.SNAPPY: "snappy",
    CompressionCodec.GZIP: "gzip",
    CompressionCodec.ZSTD: "zstd",
    CompressionCodec.LZ4_RAW: "lz4_raw",
}
"""What pyarrow calls the codecs of `CODECS`."""


class LeftAside(NamedTuple):
    """An entry, or a whole directory, that is not used.

    Attributes:
        name: What it is: ``DISTINCT_SET of nation by ROW_GROUP``.
        reason: Why.
    """

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True)
class UsableEntry:
    """An entry that describes the data of the file, as far as the footer tells.

    Attributes:
        entry: The entry.
        leaves: The leaves of the schema that it describes.
    """

    entry: Entry
    leaves: tuple[SchemaLeaf, ...]

    @property
    def type(self) -> IndexType:
        """What the blob is."""
        return IndexType(self.entry.head.type)

    @property
    def granularity(self) -> Granularity:
        """What each part describes."""
        return Granularity(self.entry.head.granularity)

    @property
    def name(self) -> str:
        """The entry, for people."""
        return name_of(self.entry)

    @property
    def columns(self) -> tuple[str, ...]:
        """The described columns, their paths joined by dots."""
        return tuple(".".join(path) for path in self.entry.columns)


@dataclass
class FileDirectory:
    """The entries of one file.

    Attributes:
        entries: Those that may be used.
        aside: What is not, and why; it grows when blobs are read.
    """

    entries: list[UsableEntry] = field(default_factory=list[UsableEntry])
    aside: list[LeftAside] = field(default_factory=list[LeftAside])


def name_of(entry: Entry) -> str:
    """An entry, for people."""
    head = entry.head
    kind = IndexType(head.type).name if head.type in set(IndexType) else f"an index of type {head.type}"
    granularity = (
        Granularity(head.granularity).name
        if head.granularity in set(Granularity)
        else f"granularity {head.granularity}"
    )
    return f"{kind} of {entry.names or 'no column'} by {granularity}"


# ---------------------------------------------------------------------------------------------- from the footer alone


def has_directory(footer: bytes) -> bool:
    """Whether the bytes of a footer may hold the key; where they do not, it need not be decoded for its entries."""
    return KEY.encode() in footer


def read_entries(
    metadata: FileMetaData, types: Collection[IndexType] = (IndexType.DISTINCT_SET, IndexType.ZONE_SUMS)
) -> FileDirectory:
    """The entries of some types that a footer's directories hold. Nothing but the footer is looked at, and nothing is raised.

    Args:
        metadata: The footer.
        types: The types; entries of others are passed over without a word.
    """
    found = FileDirectory()
    directories: list[Directory] = []
    for pair in metadata.key_value_metadata or []:
        if pair.key == KEY:
            try:
                directories.append(parse_directory(pair.value or ""))
            except FormatError as error:
                found.aside.append(LeftAside("index directory", error.reason or str(error)))
    for entry in merged(directories):
        if entry.head.type in types:
            usable = _usable(entry, metadata)
            if isinstance(usable, str):
                found.aside.append(LeftAside(name_of(entry), usable))
            else:
                found.entries.append(usable)
    return found


def _usable(entry: Entry, metadata: FileMetaData) -> UsableEntry | str:
    """The entry, or why it is left aside."""
    head = entry.head
    if head.type_version != TYPE_VERSION:
        return f"version {head.type_version} of the type is not known"
    for what, value, known in (
        ("granularity", head.granularity, set(Granularity)),
        ("placement", head.placement, set(Placement)),
        ("codec", head.codec, set(CODECS)),
    ):
        if value not in known:
            return f"{what} {value} is not known"
    stale = why_stale(entry, metadata, xxhash.xxh64_intdigest)
    if stale:
        return f"stale: {stale}"
    found = tuple(described(metadata, entry.columns))  # which the shape was made of
    reason = _why_not_described(entry, found)
    return reason or UsableEntry(entry, found)


def _why_not_described(entry: Entry, found: Sequence[SchemaLeaf]) -> str:
    """Why an entry of its type cannot describe some columns; empty if it can."""
    head = entry.head
    if not found:
        return "it describes no column"
    if any(order_in_blobs(leaf) is None for leaf in found):
        return f"{entry.names} is no column that can be described"
    if head.type == IndexType.DISTINCT_SET and len(found) != 1:
        return f"it describes {len(found)} columns, and not one"
    if head.granularity == Granularity.PAGE and len(found) != 1:
        return "pages of several columns do not begin at the same rows"
    if head.type == IndexType.ZONE_SUMS and not all(is_key(leaf) for leaf in found[:-1]):
        return "a floating point column cannot be a key"
    return ""


# ----------------------------------------------------------------------------------------------------------- the blob


@dataclass(frozen=True)
class Parts:
    """Where the parts of a blob are in the file.

    Attributes:
        row_group: For each part its row group; -1 for one of the whole file.
        first_row: For each part the first of its rows, in the row group, or in the file for one of the file.
        row_count: For each part its rows.
    """

    row_group: Numbers
    first_row: Numbers
    row_count: Numbers

    def __len__(self) -> int:
        return len(self.row_group)


class Blob(NamedTuple):
    """The blob of an entry, decompressed, and its parts."""

    data: bytes
    parts: Parts


def read_blob(usable: UsableEntry, source: Source, framing: Framing, metadata: FileMetaData) -> Blob:
    """Read, check and decompress the blob of an entry.

    Raises:
        FormatError: Place, checksum or lengths are wrong, or pages are not to be found.
        OSError: The file cannot be read.
    """
    entry = usable.entry
    head = entry.head
    if head.plain_length > MOST_BYTES:
        raise Unsupported(f"a blob of {head.plain_length} bytes; the most are {MOST_BYTES}")
    stored = stored_blob(
        entry,
        source,
        body_start=framing.body_start,
        body_end=framing.footer_start,
        area=extension_area(metadata),
    )
    return Blob(
        _decompressed(stored, head.codec, head.plain_length), _parts(usable, source, framing, metadata)
    )


def _decompressed(stored: bytes, codec: int, length: int) -> bytes:
    if codec != CompressionCodec.UNCOMPRESSED:
        try:
            name: Any = CODEC_NAMES[CompressionCodec(codec)]
            opened: Any = pa.Codec(name)
            stored = opened.decompress(stored, length, asbytes=True)
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            said = " ".join(str(error).split())
            raise Malformed(f"the blob cannot be decompressed: {said}", rule="DIR-015") from None
    if len(stored) != length:
        raise Malformed(f"the blob has {len(stored)} bytes, where the entry says {length}", rule="DIR-015")
    return stored


def _parts(usable: UsableEntry, source: Source, framing: Framing, metadata: FileMetaData) -> Parts:
    """The parts that a blob has to have. Raises `FormatError` where pages are not to be found."""
    counts = [group.num_rows for group in metadata.row_groups]
    if usable.granularity is Granularity.FILE:
        return Parts(np.array([-1]), np.array([0]), np.array([sum(counts)]))
    if usable.granularity is Granularity.ROW_GROUP:
        return Parts(np.arange(len(counts)), np.zeros(len(counts), np.int64), np.array(counts, np.int64))
    place = next(number for number, leaf in enumerate(leaves(metadata)) if leaf == usable.leaves[0])
    groups: list[int] = []
    starts: list[int] = []
    rows: list[int] = []
    body = range(framing.body_start, framing.footer_start)
    for number, group in enumerate(metadata.row_groups):
        index = read_offset_index(source, body, group.columns[place])
        if index is None and not group.num_rows:
            continue  # a chunk without pages
        if index is None:
            raise Malformed("the column has no offset index, which says where its pages are", rule="DIR-018")
        begins = [page.first_row_index for page in index.page_locations]
        ends = [*begins[1:], group.num_rows]
        if begins and (begins[0] != 0 or any(end < begin for begin, end in zip(begins, ends, strict=True))):
            raise Malformed("the offset index does not divide the rows", rule="PIX-013")
        groups += [number] * len(begins)
        starts += begins
        rows += [end - begin for begin, end in zip(begins, ends, strict=True)]
    return Parts(np.array(groups, np.int64), np.array(starts, np.int64), np.array(rows, np.int64))


# ------------------------------------------------------------------------------------------------------ distinct sets


@dataclass(frozen=True)
class Sets:
    """The distinct sets of one column in one file.

    Attributes:
        column: The column, its path joined by dots.
        granularity: What each set is about.
        parts: Where they are.
        values: The values of all sets, one set behind the other: an Arrow array, as pyarrow reads the column.
        starts: Where those of each set begin, and where the last ones end.
        nulls: For each set whether its part has a null.
        nans: Whether it has a NaN.
        complete: Whether no value is missing.
    """

    column: str
    granularity: Granularity
    parts: Parts
    values: Any
    starts: Numbers
    nulls: Mask
    nans: Mask
    complete: Mask


@dataclass(frozen=True)
class Sums:
    """The zone sums of one measure in one file, a row for each group.

    Attributes:
        measure: The measure, its path joined by dots.
        keys: The key columns likewise.
        granularity: What each part is about.
        kind: How sums are written.
        parts: Where the parts are.
        part: For each group the number of its part.
        groups: Counts and sums, a record of `Group` for each.
        key_values: For each key an Arrow array, null where it is null.
        minima, maxima: An Arrow array each, null where there is no measure that is neither null nor NaN.
    """

    measure: str
    keys: tuple[str, ...]
    granularity: Granularity
    kind: SumKind
    parts: Parts
    part: Numbers
    groups: Any
    key_values: tuple[Any, ...]
    minima: Any
    maxima: Any


class Located(NamedTuple):
    """A usable entry of a file whose blob is to be read."""

    usable: UsableEntry
    source: Source
    framing: Framing
    metadata: FileMetaData
    aside: list[LeftAside]


@dataclass
class OpenIndex:
    """An index that is read but for its values, which are decoded together with those of other files.

    Attributes:
        located: The entry.
        packed: Its values.
        head: What its parts say beside them.
        parts: Where they are.
        more: What else the type needs.
    """

    located: Located
    packed: list[Packed]
    head: Any
    parts: Parts
    more: tuple[Any, ...] = ()


def open_index(located: Located) -> OpenIndex | None:
    """Read the blob of an entry; ``None`` if the entry is left aside, as its file's list says then.

    Raises:
        OSError: The file cannot be read.
    """
    usable = located.usable
    try:
        blob = read_blob(usable, located.source, located.framing, located.metadata)
        of_type = _open_sets if usable.type is IndexType.DISTINCT_SET else _open_sums
        return of_type(located, blob)
    except FormatError as error:
        located.aside.append(LeftAside(usable.name, error.reason or str(error)))
        return None


def decoded_indexes(opened: Sequence[OpenIndex | None]) -> list[Sets | Sums | None]:
    """What many indexes hold; ``None`` for one that is left aside, as its file's list says then."""
    arrays = iter(plain_arrays([packed for one in opened if one is not None for packed in one.packed]))
    found: list[Sets | Sums | None] = []
    for index in opened:
        values = [next(arrays) for _ in index.packed] if index is not None else []
        if index is None or any(array is None for array in values):
            if index is not None:
                index.located.aside.append(
                    LeftAside(index.located.usable.name, "its values cannot be decoded")
                )
            found.append(None)
            continue
        close = _sets if index.located.usable.type is IndexType.DISTINCT_SET else _sums
        found.append(close(index.located.usable, index, values))
    return found


def read_indexes(located: Sequence[Located]) -> list[Sets | Sums | None]:
    """What the blobs of many entries hold, whose files are open. See `open_index` and `decoded_indexes`."""
    return decoded_indexes([open_index(one) for one in located])


def _require_parts(count: int, parts: Parts) -> None:
    if count != len(parts):
        raise Malformed(f"the blob has {count} parts, where the file has {len(parts)}", rule="DIR-021")


def _open_sets(located: Located, blob: Blob) -> OpenIndex:
    places = set_parts(blob.data)
    _require_parts(len(places), blob.parts)
    heads = np.array([tuple(place.head) for place in places], np.dtype(SetHead.dtype))
    element = located.usable.leaves[0].element
    packed = [Packed(element, blob.data[place.start : place.end], place.head.value_count) for place in places]
    return OpenIndex(located, packed, heads, blob.parts)


def _sets(usable: UsableEntry, index: OpenIndex, values: Sequence[Any]) -> Sets:
    flags = index.head["flags"]
    return Sets(
        usable.columns[0],
        usable.granularity,
        index.parts,
        pa.concat_arrays(values) if values else pa.nulls(0),
        np.concatenate([[0], np.cumsum(index.head["value_count"], dtype=np.int64)]),
        (flags & SetFlags.NULLS) != 0,
        (flags & SetFlags.NAN) != 0,
        (flags & SetFlags.COMPLETE) != 0,
    )


def _open_sums(located: Located, blob: Blob) -> OpenIndex:
    usable = located.usable
    places = sums_places(blob.data)
    _require_parts(places.head.part_count, blob.parts)
    measure = usable.leaves[-1]
    if places.head.key_count != len(usable.leaves) - 1:
        raise Malformed(
            f"the blob has {places.head.key_count} keys, where the entry has {len(usable.leaves) - 1}",
            rule="DIR-031",
        )
    kind = sum_kind(measure)
    if places.head.sum_kind != kind:
        raise Malformed(
            f"sums of kind {places.head.sum_kind}, where the column has {kind.name}", rule="DIR-031"
        )
    count = places.head.group_count
    groups = np.frombuffer(blob.data, np.dtype(Group.dtype), count, places.groups.start)
    nulls, nans, rows_of_groups = groups["null_count"], groups["nan_count"], groups["row_count"]
    if (nulls > rows_of_groups).any() or (nans > rows_of_groups - nulls).any():
        raise Malformed("a group has more nulls and NaN than rows", rule="DIR-033")
    part = np.repeat(np.arange(len(blob.parts)), places.part_sizes)
    rows = np.zeros(len(blob.parts), np.int64)
    np.add.at(rows, part, groups["row_count"].astype(np.int64))
    if (rows != blob.parts.row_count).any():
        raise Malformed("the groups of a part do not have as many rows as it has", rule="DIR-033")
    packed: list[Packed] = []
    there: list[Mask] = []
    for place, leaf in zip(places.keys, usable.leaves[:-1], strict=True):
        nulls = np.frombuffer(blob.data, np.uint8, count, place.nulls.start)
        if (nulls > 1).any():
            raise Malformed("a byte that says whether a key is null is neither 0 nor 1", rule="DIR-022")
        is_there = nulls == 0
        there.append(is_there)
        data = blob.data[place.values.start : place.values.end]
        packed.append(Packed(leaf.element, data, int(is_there.sum())))
    has_bounds = groups["row_count"] > groups["null_count"] + groups["nan_count"]
    for span in (places.minima, places.maxima):
        there.append(has_bounds)
        packed.append(Packed(measure.element, blob.data[span.start : span.end], int(has_bounds.sum())))
    return OpenIndex(located, packed, kind, blob.parts, (part, groups, there))


def _sums(usable: UsableEntry, index: OpenIndex, values: Sequence[Any]) -> Sums:
    part, groups, there = index.more
    columns = [_spread(array, is_there) for array, is_there in zip(values, there, strict=True)]
    return Sums(
        usable.columns[-1],
        usable.columns[:-1],
        usable.granularity,
        index.head,
        index.parts,
        part,
        groups,
        tuple(columns[:-2]),
        *columns[-2:],
    )


def _spread(values: Any, is_there: Mask) -> Any:
    """Values at the places where there is one, null elsewhere."""
    if is_there.all():
        return values
    places = np.cumsum(is_there) - 1
    return values.take(pa.array(places, pa.int64(), mask=~is_there))


__all__ = [
    "FileDirectory",
    "LeftAside",
    "Located",
    "OpenIndex",
    "Parts",
    "Sets",
    "Sums",
    "UsableEntry",
    "decoded_indexes",
    "has_directory",
    "open_index",
    "read_blob",
    "read_entries",
    "read_indexes",
]
