"""The blob of an entry of the index directory: decompressed and parsed.

Only decompression needs pyarrow; the grammar parses the content.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator
from contextlib import contextmanager
from itertools import accumulate, pairwise, starmap
from typing import Any

from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.index_directory import EntryUnderTest
from pqassay.under_test.violation import Spot
from pqassay_spec.base.errors import Malformed, boundary
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory import distinct_set, sketches, zone_sums
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.distinct_set import SetHead, SetPart
from pqassay_spec.directory.packed_values import (
    LENGTH_SIZE,
    order_in_blobs,
    sort_keys,
    split_values,
    value_width,
)
from pqassay_spec.directory.zone_sums import Group, Span, SumsPlaces
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import CompressionCodec, Type

MOST_PLAIN = 1 << 28
"""The largest decompressed size of a blob in bytes that is examined."""


class BlobUnderTest:
    """The blob of one entry.

    Attributes:
        entry: The entry.
    """

    def __init__(self, entry: EntryUnderTest) -> None:
        self.entry = entry
        self._values: dict[Span, list[bytes]] = {}

    def __str__(self) -> str:
        return str(self.entry)

    @Remembered
    def plain(self) -> bytes:
        """Its bytes without compression. Raises the errors of `EntryUnderTest.stored`, and DIR-015.

        Raises:
            NotChecked: It is larger than `MOST_PLAIN`, or no decompressor is available.
        """
        entry, head = self.entry, self.entry.head
        if head.plain_length > MOST_PLAIN and head.codec != CompressionCodec.UNCOMPRESSED:
            said = (
                f"{entry} has {head.plain_length:,} bytes without compression; pqassay "
                f"reads up to {MOST_PLAIN:,}"
            )
            raise NotChecked(said, "tool")
        stored = entry.stored
        if head.codec == CompressionCodec.UNCOMPRESSED:
            if len(stored) != head.plain_length:
                raise self._wrong_length(f"{len(stored)} bytes")
            return stored
        try:
            from pqassay.values.decoding.codecs import decompressed  # noqa: PLC0415 - pyarrow, for compressed blobs only
        except ImportError:
            raise NotChecked("decompressing a blob needs pyarrow, which is not installed", "tool") from None
        try:
            return bytes(decompressed(memoryview(stored), head.codec, head.plain_length))
        except Malformed as error:
            raise self._wrong_length(error.actual or error.reason, error.reason) from None

    def _wrong_length(self, actual: str, reason: str = "") -> Malformed:
        said = "its blob does not decompress to the declared length"
        if reason:
            said += f": {reason}"
        expected = f"{self.entry.head.plain_length} bytes"
        return self.entry.malformed("DIR-015", "plain_length", said, expected, actual)

    @contextmanager
    def _reading(self, path: str = "") -> Generator[None]:
        """A context that adds the entry and the place to errors in the blob."""
        try:
            with boundary():
                yield
        except Malformed as error:
            spot = self.entry.blob_spot(path, error.offset or 0, error.length or None)
            error.field, error.offset, error.length = spot
            error.reason = f"{self.entry}: {error.reason}"
            raise

    # ------------------------------------------------------------------------------------------------- its parts

    @Remembered
    def sets(self) -> list[SetPart]:
        """The parts of a distinct set. Raises the errors of `plain`, and DIR-020."""
        self._require(IndexType.DISTINCT_SET)
        plain = self.plain
        with self._reading():
            return distinct_set.set_parts(plain)

    @Remembered
    def sums(self) -> SumsPlaces:
        """The places of everything in zone sums. Raises the errors of `plain`, DIR-020, DIR-030."""
        self._require(IndexType.ZONE_SUMS)
        plain = self.plain
        with self._reading():
            return zone_sums.sums_places(plain)

    @Remembered
    def sketches(self) -> list[bytes]:
        """The sketches. Raises the errors of `plain`, and DIR-020."""
        self._require(IndexType.HLL, IndexType.KLL)
        plain = self.plain
        with self._reading():
            return sketches.split_sketches(plain)

    @Remembered
    def texts(self) -> list[str]:
        """The values of an IDX1 blob. Raises the errors of `plain`, and DIR-048."""
        self._require(IndexType.IDX1)
        plain = self.plain
        with self._reading():
            return idx1.exact_values(_idx1_payload(plain))

    @property
    def payload_place(self) -> tuple[int, int]:
        """Offset and length of the payload in an IDX1 blob. Raises the errors of `texts`."""
        payload = _idx1_payload(self.plain)
        return len(self.plain) - len(payload), len(payload)

    def _require(self, *kinds: IndexType) -> None:
        if self.entry.head.type not in kinds:
            raise NotApplicable

    def require_known(self) -> None:
        """Raise the errors of `plain`, and `NotChecked` for a named type, whose blob only its owner understands."""
        if self.entry.is_named:
            count_of_bytes = len(self.plain)
            reason = f"the payload of {self.entry.kind} ({count_of_bytes:,} bytes) is not known to pqassay"
            raise NotChecked(reason, "tool", hides_column=False)

    @Remembered
    def part_count(self) -> int:
        """The number of parts of the blob. Raises the errors of reading them, and `NotChecked` for a named type."""
        kind = self.entry.head.type
        self.require_known()
        if kind == IndexType.DISTINCT_SET:
            return len(self.sets)
        if kind == IndexType.IDX1:
            return len([self.texts])
        return len(self.sums.part_sizes) if kind == IndexType.ZONE_SUMS else len(self.sketches)

    @Remembered
    def has_its_parts(self) -> bool:
        """Always true. Raises the errors of `part_count` and `EntryUnderTest.part_rows`, and DIR-021; for an IDX1 blob, DIR-048."""
        head = self.entry.head
        if head.type == IndexType.IDX1 and head.granularity != Granularity.FILE:
            raise Broken("DIR-048")
        if self.part_count != len(self.entry.part_rows):
            raise Broken("DIR-021")
        return True

    @Remembered
    def sums_parts(self) -> list[range]:
        """The groups of each part of zone sums. Raises the errors of `has_its_parts`."""
        _ = self.has_its_parts
        return list(starmap(range, pairwise(accumulate(self.sums.part_sizes, initial=0))))

    @Remembered
    def groups(self) -> list[Group]:
        """The groups of zone sums. Raises the errors of `sums`."""
        return self.sums.read_groups(self.plain)

    @Remembered
    def is_consistent(self) -> bool:
        """Always true. Raises the errors of `sums_parts`, and DIR-031, with which the columns of its values are unknown."""
        _ = self.sums_parts
        head, leaves = self.sums.head, self.entry.leaves
        if head.key_count != len(leaves) - 1 or head.sum_kind != zone_sums.sum_kind(leaves[-1]):
            raise Broken("DIR-031")
        return True

    def row_group_of(self, group: int) -> int | None:
        """The row group of a group of zone sums; ``None`` if it is about the whole file."""
        number = bisect_right(
            [part.stop for part in self.sums_parts], group
        )  # parts without groups end before it
        return self.entry.part_groups[number]

    # ------------------------------------------------------------------------------------------------ its values

    def values_of_part(self, number: int) -> list[bytes]:
        """The values of a part of a distinct set, or of an IDX1 blob. Raises the errors of `sets` or `texts`, and DIR-022."""
        if self.entry.head.type == IndexType.IDX1:
            return [text.encode() for text in self.texts]
        part = self.sets[number]
        return self._split(
            self.entry.leaves[-1], Span(part.start, part.end), part.head.value_count, f"values[{number}]"
        )

    def values_spot(self, number: int) -> Spot:
        """The spot of the values of a part of a distinct set, or of an IDX1 blob."""
        if self.entry.head.type == IndexType.IDX1:
            return self.entry.blob_spot("payload", *self.payload_place)
        part = self.sets[number]
        return self.entry.blob_spot(f"values[{number}]", part.start, part.end - part.start)

    def head_spot(self, number: int, name: str) -> Spot:
        """The spot of a field of the head of a part of a distinct set."""
        offset, length = SetHead.place(name, distinct_set.HEADS_START + number * SetHead.size)
        return self.entry.blob_spot(f"heads[{number}].{name}", offset, length)

    def group_spot(self, number: int, name: str) -> Spot:
        """The spot of a field of a group of zone sums."""
        offset, length = Group.place(name, self.sums.groups.start + number * Group.size)
        return self.entry.blob_spot(f"groups[{number}].{name}", offset, length)

    def key_values(self, number: int) -> list[bytes | None]:
        """One key column: the key of each group; ``None`` for null. Raises the errors of `is_consistent`, and DIR-022."""
        _ = self.is_consistent
        place = self.sums.keys[number]
        nulls = self.plain[place.nulls.start : place.nulls.end]
        there = nulls.count(0)
        if there + nulls.count(1) != len(nulls):
            with self._reading(f"keys[{number}].nulls"):
                raise Malformed(
                    "a null byte is neither 0 nor 1",
                    rule="DIR-022",
                    offset=place.nulls.start,
                    length=len(nulls),
                )
        values = iter(self._split(self.entry.leaves[number], place.values, there, f"keys[{number}].values"))
        return [None if null else next(values) for null in nulls]

    @Remembered
    def key_columns(self) -> list[list[bytes | None]]:
        """The keys of each group, column by column. Raises the errors of `key_values`."""
        return [self.key_values(number) for number in range(len(self.sums.keys))]

    @Remembered
    def sort_keys(self) -> list[tuple[tuple[bool, Any], ...]]:
        """The sort keys of each group for Python, nulls first. Raises the errors of `key_values`."""
        columns: list[list[tuple[bool, Any]]] = []
        for leaf, raws in zip(self.entry.leaves[:-1], self.key_columns, strict=True):
            order = order_in_blobs(leaf)
            if order is None:
                raise Broken("DIR-011")
            keys = iter(sort_keys(order, [raw for raw in raws if raw is not None]))
            columns.append([(raw is not None, None if raw is None else next(keys)) for raw in raws])
        return list(zip(*columns, strict=True))

    def out_of_order(self, number: int) -> int | None:
        """The first group of a part of zone sums that does not come after the previous group; ``None`` if all do.

        Without keys, it is the first group unless there is exactly one. Raises the errors of `sums_parts` and `key_values`.
        """
        part = self.sums_parts[number]
        if not self.sums.keys:
            return None if len(part) == 1 else part.start
        keys = self.sort_keys
        return next((place for place in part[1:] if not keys[place - 1] < keys[place]), None)

    def bounds(self, name: str) -> list[bytes]:
        """All ``minima`` or ``maxima``. Raises the errors of `is_consistent`, and DIR-022."""
        _ = self.is_consistent
        leaf, place = self.entry.leaves[-1], getattr(self.sums, name)
        if place in self._values:  # called once for each group
            return self._values[place]
        return self._split(leaf, place, self._count_in(leaf, place, len(self.bounded)), name)

    @Remembered
    def bounded(self) -> list[int]:
        """The groups with a measure that is neither null nor NaN, which have bounds. Raises the errors of `sums`."""
        return [
            place
            for place, group in enumerate(self.groups)
            if group.row_count > group.null_count + group.nan_count
        ]

    def bound(self, name: str, group: int) -> bytes | None:
        """The minimum or maximum of a group; ``None`` without a measure. Raises the errors of `bounds`, and DIR-034 if it is ambiguous."""
        rank = self._ranks_of_bounds.get(group)
        return None if rank is None else self.bounds(name)[rank]

    @Remembered
    def _ranks_of_bounds(self) -> dict[int, int]:
        if not len(self.bounded) == len(self.bounds("minima")) == len(self.bounds("maxima")):
            raise Broken("DIR-034")
        return {group: rank for rank, group in enumerate(self.bounded)}

    def _count_in(self, leaf: SchemaLeaf, place: Span, expected: int) -> int:
        """The number of values in some bytes; the expected number if the bytes do not show it."""
        size, kind = place.end - place.start, leaf.element.type
        if kind == Type.BYTE_ARRAY:
            count, position = 0, place.start
            while position + LENGTH_SIZE <= place.end:
                position += LENGTH_SIZE + LENGTH.parse(self.plain[position : position + LENGTH_SIZE])
                count += 1
            return count
        width = value_width(kind, leaf.element.type_length)
        return size // width if width and not size % width else expected

    def _split(self, leaf: SchemaLeaf, place: Span, count: int, path: str) -> list[bytes]:
        if place not in self._values:
            data = self.plain[place.start : place.end]
            width = value_width(leaf.element.type, leaf.element.type_length)
            with self._reading(path):
                if width == 0 and count > 1:
                    raise Malformed(
                        f"{count} values without a byte", rule="DIR-022", offset=place.start, length=len(data)
                    )
                try:
                    self._values[place] = split_values(
                        leaf.element.type or 0, leaf.element.type_length, data, count
                    )
                except Malformed as error:
                    error.offset, error.length = place.start, len(data)
                    raise
        return self._values[place]


def _idx1_payload(plain: bytes) -> bytes:
    """The payload of an IDX1 blob that takes all of some bytes, checked to be UTF-8. Raises DIR-048."""
    try:
        blob = idx1.read_blob(BytesSource(plain), 0, len(plain))
        _ = idx1.exact_values(blob.payload)
    except Malformed as error:
        raise Malformed(error.reason, rule="DIR-048") from None
    if blob.end != len(plain):
        raise Malformed(f"the IDX1 blob takes {blob.end} of {len(plain)} bytes", rule="DIR-048")
    return blob.payload


def blob_of(entry: EntryUnderTest) -> BlobUnderTest:
    """The blob of an entry, read once."""
    return entry.file.part(_blobs).setdefault(id(entry), BlobUnderTest(entry))


def _blobs(_: FileUnderTest) -> dict[int, BlobUnderTest]:
    return {}


def require_content(entry: EntryUnderTest) -> None:
    """Raise DIR-017 if the described chunks differ from the chunks from which an entry was made."""
    if "DIR-017" in entry.file.left_out:
        return
    if content_of(entry) != entry.head.content:
        raise Broken("DIR-017")


def content_of(entry: EntryUnderTest) -> int:
    """The XXH64 digest of the stored bytes of the described chunks.

    Raises:
        NotChecked: The chunks are not where they should be, or ``xxhash`` is not installed.
    """
    known, columns = entry.file.part(_contents), entry.entry.columns
    if columns not in known:
        known[columns] = _hashed(entry)
    return known[columns]


PIECE = 8 << 20
"""The number of bytes that are hashed at once."""


def _contents(_: FileUnderTest) -> dict[tuple[tuple[str, ...], ...], int]:
    return {}


def _hashed(entry: EntryUnderTest) -> int:
    try:
        import xxhash  # noqa: PLC0415 - a library of this tier only
    except ImportError:
        raise NotChecked("hashing pages needs xxhash, which is not installed", "tool") from None
    digest = xxhash.xxh64()
    for chunk in (chunk for group in entry.chunks for chunk in group):
        try:
            start, end = chunk.span
        except NotApplicable:
            continue
        for first in range(start, end, PIECE):
            digest.update(entry.file.source.read(first, min(PIECE, end - first)))
    return digest.intdigest()
