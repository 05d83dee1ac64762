"""The index directory of a file: the directories in its footer keys, and their entries, as described in the footer.

An entry is *superseded* if another one with the same key follows it, and *stale* if it was made from other data than the footer describes.
Each such entry has one finding, and no other rule is tested on it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest, why_left_out
from pqassay.under_test.directory_key import DirectoryUnderTest
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.base.errors import FormatError, Malformed, boundary
from pqassay_spec.directory import entries as grammar
from pqassay_spec.directory import identity, placement
from pqassay_spec.directory.codes import CODECS, TYPE_VERSION, Granularity, IndexType, Placement
from pqassay_spec.directory.entries import Directory, Entry, EntryHead, Path
from pqassay_spec.directory.named_types import is_named
from pqassay_spec.directory.packed_values import order_in_blobs
from pqassay_spec.directory.sketches import has_quantiles
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.column_order import FLOATING, Order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string
from pqassay_spec.parquet.thrift import CompressionCodec

SINGLE_COLUMN = frozenset({IndexType.IDX1, IndexType.DISTINCT_SET, IndexType.HLL, IndexType.KLL})
"""The types whose entries have one column."""


class BlobPlace(NamedTuple):
    """The place of a blob in the body, with its entry."""

    start: int
    end: int
    entry: EntryUnderTest


class EntryUnderTest:
    """One entry of a directory.

    Attributes:
        directory: Its directory.
        number: Its position in that directory.
        entry: The parsed entry.
        is_last: Whether no entry with the same key follows.
    """

    def __init__(self, directory: DirectoryUnderTest, number: int, entry: Entry, *, is_last: bool) -> None:
        self.directory, self.number, self.entry, self.is_last = directory, number, entry, is_last
        self.file = directory.file
        self.head: EntryHead = entry.head

    def __str__(self) -> str:
        return f"entry {self.number} ({self.kind} of {self.entry.names or 'no column'})"

    @property
    def kind(self) -> str:
        """The name of its type; its number, if it has no known name."""
        known = [member.name for member in IndexType if member == self.head.type]
        return known[0] if known else self.entry.type_name or f"type {self.head.type}"

    @property
    def is_named(self) -> bool:
        """Whether its type is user-defined: everything about it is judged except the meaning of its blob."""
        return is_named(self.head.type)

    @property
    def column(self) -> str | None:
        """The column that it describes, for positions of findings; of several columns, the measure."""
        return ".".join(self.entry.columns[-1]) if self.entry.columns else None

    @property
    def root(self) -> str:
        """The path of its fields."""
        return f"{self.directory.root}.entries[{self.number}]"

    def spot(self, name: str) -> Spot:
        """The spot of a field of its head."""
        start = self.directory.directory.starts[self.number]
        offset, length = EntryHead.place(name, start)
        return self.directory.spot(f"directory.entries[{self.number}].head.{name}", offset, length)

    def violation(self, name: str, said: str, expected: str, actual: str) -> Violation:
        """The violation at a field of its head."""
        return self.spot(name).violation(f"{self}: {said}", expected, actual, column=self.column)

    def malformed(self, rule: str, name: str, said: str, expected: str = "", actual: str = "") -> Malformed:
        """The error at a field of its head."""
        spot = self.spot(name)
        return Malformed(
            f"{self}: {said}",
            rule=rule,
            field=spot.path,
            offset=spot.offset,
            length=spot.length,
            expected=expected,
            actual=actual,
        )

    # ---------------------------------------------------------------------------------- whether rules are tested on it

    def require_known(self) -> None:
        """Raise `NotChecked` if its type or the type's version is unknown; named types are known, since the chapter defines them in general."""
        if self.is_named:
            return
        if self.head.type not in list(IndexType):
            raise NotChecked(f"indexes of type {self.head.type} are not known to pqassay", "tool")
        if self.head.type_version != TYPE_VERSION:
            raise NotChecked(
                f"version {self.head.type_version} of {self.kind} is not known to pqassay", "tool"
            )

    def require_current(self) -> None:
        """Raise the errors of `require_known`, and DIR-009 for a superseded entry."""
        self.require_known()
        if not self.is_last:
            raise Broken("DIR-009")

    def strange_codes(self) -> Iterator[str]:
        """Yield the names of the fields among granularity, placement and codec whose number is unknown."""
        known: dict[str, Sequence[int]] = {
            "granularity": list(Granularity),
            "placement": list(Placement),
            "codec": CODECS,
        }
        for name, numbers in known.items():
            if getattr(self.head, name) not in numbers:
                yield name

    @Remembered
    def leaves(self) -> list[SchemaLeaf]:
        """The columns that it describes. Raises DIR-010, PQF-004."""
        try:
            return identity.described(self.file.metadata, self.entry.columns)
        except Malformed as error:
            if error.rule != "DIR-010":
                raise
            raise self.malformed("DIR-010", "column_count", error.reason) from None

    @Remembered
    def stale(self) -> str:
        """The reason why it is stale; empty if it is not.

        Raises:
            Malformed: DIR-010, and PQF-012.
            NotChecked: The chunks are encrypted, or in another file.
        """
        _ = self.file.part(ColumnChunks).all, self.leaves
        for _ in self._chunks_of_footer():
            pass
        rows = sum(group.num_rows for group in self.file.metadata.row_groups)
        if self.head.row_count != rows:
            return f"it describes {self.head.row_count} rows, but the file has {rows}"
        return "" if self.shape == self.head.shape else f"{self.entry.names} was rewritten since it was made"

    @property
    def shape(self) -> int:
        """The digest of the footer's data about its columns."""
        shapes = self.file.part(_Shapes)
        return shapes.of(self.entry.columns)

    def _chunks_of_footer(self) -> Iterator[int]:
        """Yield the number of each row group; raise `NotChecked` at the first chunk that cannot be read."""
        positions = self.ordinals
        for number, group in enumerate(self.file.metadata.row_groups):
            for position, leaf in zip(positions, self.leaves, strict=True):
                reason = why_left_out(self.file.metadata, group.columns[position], number, leaf)
                if reason is not None:
                    raise reason
            yield number

    @property
    def ordinals(self) -> list[int]:
        """The position of each of its columns among the leaves. Raises DIR-010."""
        _ = self.leaves
        known = self.file.leaves
        return [
            next(place for place, leaf in enumerate(known) if leaf.is_at(column))
            for column in self.entry.columns
        ]

    @Remembered
    def is_fresh(self) -> bool:
        """Always true; raises an error if the entry is not fresh.

        Raises:
            NotChecked: It is superseded (DIR-009) or stale (DIR-010, DIR-016), or its type is unknown.
        """
        self.require_current()
        if self.stale:
            raise Broken("DIR-016")
        return True

    @Remembered
    def is_described(self) -> bool:
        """Always true. Raises the errors of `is_fresh`, and DIR-007, DIR-011, DIR-018, with which its blob cannot be judged."""
        _ = self.is_fresh
        if any(self.strange_codes()):
            raise Broken("DIR-007")
        if next(self.wrong_columns(), ""):
            raise Broken("DIR-011")
        if self.pages_problem():
            raise Broken("DIR-018")
        return True

    def wrong_columns(self) -> Iterator[str]:
        """Yield the problems of its columns, in words: a wrong number, or a column that its type cannot describe."""
        count, kind = len(self.entry.columns), self.head.type
        if count != 1 and (kind in SINGLE_COLUMN or not count):
            yield f"{count} columns, and {self.kind} describes {'one' if kind in SINGLE_COLUMN else 'at least one'}"
            return
        for place, leaf in enumerate(() if self.is_named else self.leaves):
            order = order_in_blobs(leaf)
            if leaf.max_repetition_level:
                yield f"column {leaf.name} has more than one value per row"
            elif order is None:
                yield f"the values of column {leaf.name} have no order"
            elif kind == IndexType.IDX1 and not is_string(leaf):
                yield f"column {leaf.name} is not text"
            elif kind == IndexType.KLL and not has_quantiles(leaf):
                yield f"column {leaf.name} is not numeric"
            elif place < count - 1 and order in FLOATING:
                yield f"column {leaf.name} holds floating point numbers, which cannot be keys"

    def pages_problem(self) -> str:
        """Why it cannot describe pages, though it claims to; empty if it can, or makes no such claim."""
        if self.head.granularity != Granularity.PAGE:
            return ""
        if len(self.entry.columns) != 1:
            return f"pages of {len(self.entry.columns)} columns do not begin at the same rows"
        (position,) = self.ordinals
        for number, group in enumerate(self.file.metadata.row_groups):
            if group.num_rows and group.columns[position].offset_index_offset is None:
                return f"column {self.entry.names} has no offset index in row group {number}"
        return ""

    @property
    def order(self) -> Order:
        """The order of the values of its last column. Raises the errors of `is_described`."""
        _ = self.is_described
        order = order_in_blobs(self.leaves[-1])
        assert order is not None, "is_described requires it"
        return order

    @Remembered
    def chunks(self) -> list[list[ColumnChunkUnderTest]]:
        """The chunks of its columns, row group by row group. Raises the errors of `stale`."""
        _ = self.stale
        places = {place: rank for rank, place in enumerate(self.ordinals)}
        groups: list[list[ColumnChunkUnderTest]] = [[] for _ in self.file.metadata.row_groups]
        for chunk in self.file.part(ColumnChunks).all:
            if chunk.ordinal in places:
                groups[chunk.row_group].append(chunk)
        return [sorted(group, key=lambda chunk: places[chunk.ordinal]) for group in groups]

    @Remembered
    def part_rows(self) -> list[int]:
        """The number of rows of each part. Raises the errors of `is_described`, and for pages those of `PagePlaces.row_counts`."""
        _ = self.is_described
        groups = self.file.metadata.row_groups
        if self.head.granularity == Granularity.FILE:
            return [sum(group.num_rows for group in groups)]
        if self.head.granularity == Granularity.ROW_GROUP:
            return [group.num_rows for group in groups]
        return [rows for chunk in self._chunks_of_pages() for rows in chunk.page_places.row_counts]

    @Remembered
    def part_groups(self) -> list[int | None]:
        """The row group of each part; ``None`` for a part that is the file. Raises the errors of `part_rows`."""
        if self.head.granularity == Granularity.FILE:
            return [None]
        if self.head.granularity == Granularity.ROW_GROUP:
            return list(range(len(self.part_rows)))
        return [chunk.row_group for chunk in self._chunks_of_pages() for _ in chunk.page_places.row_counts]

    def _chunks_of_pages(self) -> Iterator[ColumnChunkUnderTest]:
        """Yield the chunks of its only column, except chunks without rows, which have no pages and usually no offset index."""
        for (chunk,), group in zip(self.chunks, self.file.metadata.row_groups, strict=True):
            if group.num_rows:
                yield chunk

    # ------------------------------------------------------------------------------------------- where its blob is

    @property
    def span(self) -> tuple[int, int]:
        """The stated range of its blob, in the file or in the extension's area."""
        return self.head.offset, self.head.offset + self.head.stored_length

    @Remembered
    def is_placed(self) -> bool:
        """Always true. Raises the errors of `is_described`, and DIR-012."""
        _ = self.is_described
        framing, area = self.file.framing, self.file.part(IndexDirectory).area
        start, end = self.span
        if self.head.placement == Placement.BODY:
            first, last, there = framing.body_start, framing.footer_start, "the body is"
        elif self.head.placement == Placement.EXTENSION:
            first, last, there = 0, -1 if area is None else len(area), "the extension holds"
        else:
            return True
        if not first <= start <= end <= last:
            room = f"{there} [{first}, {last})" if last >= 0 else "the footer has no such extension"
            said = f"its entry places the blob at [{start}, {end}), but {room}"
            raise self.malformed("DIR-012", "offset", said, "a place inside", f"[{start}, {end})")
        return True

    @Remembered
    def stored(self) -> bytes:
        """The bytes of its blob as stored. Raises the errors of `is_placed`, and DIR-014."""
        _ = self.is_placed
        framing = self.file.framing
        try:
            return placement.stored_blob(
                self.entry,
                self.file.source,
                body_start=framing.body_start,
                body_end=framing.footer_start,
                area=self.file.part(IndexDirectory).area,
            )
        except Malformed as error:
            name = "crc32" if error.rule == "DIR-014" else "offset"
            raise self.malformed(error.rule or "", name, error.reason, error.expected, error.actual) from None

    def blob_spot(self, path: str, offset: int = 0, length: int | None = None) -> Spot:
        """The spot of a field of its blob, given its path and its place in the blob; of the whole blob, if it is compressed."""
        named = ".".join(filter(None, (f"{self.root}.blob", path)))
        size = self.head.stored_length
        if self.head.codec != CompressionCodec.UNCOMPRESSED or length is None:
            offset, length = 0, size
        if self.head.placement == Placement.INLINE:
            spot = self.directory.spot("directory", self._inline_start + offset, length)
            return Spot(named, spot.offset, spot.length)
        base = self.head.offset
        if self.head.placement == Placement.EXTENSION:
            area = self.file.part(IndexDirectory).area_start
            if area is None:
                return Spot(named, -1, 0)
            base += area
        return Spot(named, base + offset, length)

    @Remembered
    def _inline_start(self) -> int:
        """The offset of its inline blob among the directory's bytes."""
        inline = f"directory.entries[{self.number}].inline"
        leaves = grammar.trace_directory(self.directory.data)
        return next(leaf.offset for leaf in leaves if leaf.path == inline)

    def has_its_bytes(self) -> bool:
        """Whether the bytes at its place in the body match its checksum, regardless of other fields."""
        start, end = self.span
        if not self.file.framing.body_start <= start <= end <= self.file.framing.footer_start:
            return False
        return zlib.crc32(self.file.source.read(start, end - start)) == self.head.crc32


class _Shapes:
    """The shapes of columns of one file, each computed once."""

    def __init__(self, file: FileUnderTest) -> None:
        self._file = file
        self._known: dict[tuple[Path, ...], int] = {}

    def of(self, columns: tuple[Path, ...]) -> int:
        """The shape of some columns. Raises `Malformed` if the footer has an impossible number."""
        if columns not in self._known:
            with boundary():
                self._known[columns] = identity.shape_of(self._file.metadata, columns)
        return self._known[columns]


class IndexDirectory:
    """All directories of a file, available as ``file.part(IndexDirectory)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @Remembered
    def directories(self) -> list[DirectoryUnderTest]:
        """The directories, in the order of their keys; empty in a summary of other files. Raises PQF-004."""
        if self.file.is_summary:
            return []
        found = [(index, pair) for index, pair in enumerate(self.file.key_values) if pair.key == grammar.KEY]
        roots = ["directory", *(f"directory[{number}]" for number in range(1, len(found)))]
        return [
            DirectoryUnderTest(self.file, index, pair, root)
            for root, (index, pair) in zip(roots, found, strict=False)
        ]

    @Remembered
    def entries(self) -> list[EntryUnderTest]:
        """The entries of all readable directories."""
        read: list[tuple[DirectoryUnderTest, Directory]] = []
        for one in self.directories:
            with suppress(FormatError, NotChecked):  # its own rules report that
                read.append((one, one.directory))
        last = {entry.key: id(entry) for _, directory in read for entry in directory.entries}
        return [
            EntryUnderTest(one, number, entry, is_last=last[entry.key] == id(entry))
            for one, directory in read
            for number, entry in enumerate(directory.entries)
        ]

    @Remembered
    def area(self) -> bytes | None:
        """The bytes after the UUID of the footer's extension."""
        with boundary():
            return placement.extension_area(self.file.metadata)

    @Remembered
    def area_start(self) -> int | None:
        """The offset of these bytes in the file; ``None`` if they are not found."""
        start = placement.extension_start(bytes(self.file.footer))
        return None if start is None else self.file.framing.footer_start + start

    @Remembered
    def stretches(self) -> Sequence[BlobPlace]:
        """The blobs in the body, in the order of their places, of all types.

        A blob of a fresh entry is at its stated place. A blob of a stale entry is listed only if the bytes there still match its checksum.
        """
        blobs_there: list[BlobPlace] = []
        framing = self.file.framing
        for entry in self.entries:
            start, end = entry.span
            if entry.head.placement != Placement.BODY or start == end:
                continue
            if framing.body_start <= start and end <= framing.footer_start and _explains(entry):
                blobs_there.append(BlobPlace(start, end, entry))
        return sorted(blobs_there, key=lambda one: (one.start, one.end))

    @Remembered
    def idx1_stretch(self) -> tuple[int, int] | None:
        """The range of the blob that the key of IDX1 refers to; ``None`` if it refers to none."""
        text = next((pair.value for pair in self.file.key_values if pair.key == idx1.KEY), None)
        try:
            blob = idx1.read_blob(
                self.file.source, idx1.parse_offset(text or ""), self.file.framing.footer_start
            )
        except FormatError:
            return None
        return blob.start, blob.end

    @property
    def misplaced(self) -> str:
        """The rule that an entry breaks if its blob in the body is not at its place; empty if there is none."""
        end = 0
        for stretch in self.stretches:
            if stretch.start < end and stretch.entry.is_last:
                return "DIR-013"
            end = max(end, stretch.end if stretch.entry.is_last else 0)
        for entry in self.entries:
            with suppress(NotApplicable, NotChecked):
                if entry.is_fresh and entry.head.placement not in list(Placement):
                    return "DIR-007"
                if entry.head.placement != Placement.BODY:
                    continue
                try:
                    _ = entry.stored
                except FormatError as error:
                    return error.rule or ""
        return ""

    def require_readable(self) -> None:
        """Raise the error that prevents reading a directory, since its bytes are unknown then."""
        for one in self.directories:
            _ = one.directory


def _explains(entry: EntryUnderTest) -> bool:
    """Whether the bytes at an entry's place are its blob."""
    try:
        entry.require_known()
        if not entry.stale:
            return True
    except NotChecked:
        return True  # unknown types are not judged
    except (FormatError, NotApplicable):
        pass
    return entry.has_its_bytes()
