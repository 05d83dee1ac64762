"""The column chunks of a file under test, each with its data from the footer and the body.

Most rules of a Parquet file are about one chunk, or about a structure of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

from pqassay.under_test.bloom_rate import rate
from pqassay.under_test.fields import ChunkFields
from pqassay.under_test.file import (
    Broken,
    FileUnderTest,
    Hindrances,
    Mistake,
    NotApplicable,
    NotChecked,
    Remembered,
)
from pqassay.under_test.index_reads import IndexReads
from pqassay.under_test.layout import CHUNKS, COLUMN_INDEXES, FILTERS, OFFSET_INDEXES
from pqassay.under_test.pages.bounds import PageBounds, even_column_index
from pqassay.under_test.pages.places import PagePlaces
from pqassay.under_test.pages.walk import PageUnderTest, chunk_range, walk
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.grammar.thrift_decoder import decode, decoder
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.column_order import Order, order_of
from pqassay_spec.parquet.file import BLOOM_HEADER_LIMIT, chunk_start
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    BloomFilterHeader,
    ColumnChunk,
    ColumnIndex,
    ColumnMetaData,
    ColumnOrder,
    DataPageHeaderV2,
    Encoding,
    FileMetaData,
    OffsetIndex,
    PageType,
    RowGroup,
    Statistics,
)

Part = TypeVar("Part")
Index = TypeVar("Index", ColumnIndex, OffsetIndex)

SMALL_FILTER = 64 << 10
"""The size of a bloom filter up to which header and bitset are read at once; for a larger filter, the header is read first."""

LONG_HEADER = 16 << 10
"""The number of bytes to try if a bloom filter header does not fit into `BLOOM_HEADER_LIMIT`."""

Structure = Literal[
    "statistics",
    "size_statistics",
    "column_index",
    "offset_index",
    "bloom_filter",
    "pages",
    "data_pages",
    "dictionary_pages",
    "second_version",
]
"""The structures of a chunk that rules are about, if it has them."""


class ColumnChunkUnderTest:
    """One column chunk whose metadata is not encrypted and whose pages are in this file.

    Attributes:
        file: The file.
        row_group: Position of its row group.
        ordinal: Position of its column among the leaves.
        group: Its row group.
        chunk, facts: The footer's records of it.
        leaf: Its column in the schema.
        path: The prefix of the paths of its fields: ``row_groups[0].columns[1]``. Its record in the footer has the same path below ``footer``.
        is_decoded: Whether all its values were decoded, so that its pages are known to decompress.
        dictionary_size: The stored size of its dictionary entries in bytes, if they are byte arrays and were decoded.
        byte_arrays_size: The size in bytes of all its values as PLAIN byte arrays, if they were decoded without a dictionary.
    """

    def __init__(
        self,
        file: FileUnderTest,
        row_group: int,
        ordinal: int,
        group: RowGroup,
        chunk: ColumnChunk,
        facts: ColumnMetaData,
        leaf: SchemaLeaf,
    ) -> None:
        self.file = file
        self.row_group = row_group
        self.ordinal = ordinal
        self.group = group
        self.chunk = chunk
        self.facts = facts
        self.leaf = leaf
        self.path = f"row_groups[{row_group}].columns[{ordinal}]"
        self.is_decoded = False
        self.dictionary_size: int | None = None
        self.byte_arrays_size: int | None = None
        self._parts: dict[Any, tuple[Any, Exception | None]] = {}

    def part(self, make: Callable[[ColumnChunkUnderTest], Part]) -> Part:
        """A view of this chunk that another module computes; the view or its error is cached."""
        if make not in self._parts:
            try:
                self._parts[make] = make(self), None
            except (FormatError, NotApplicable, NotChecked) as error:
                self._parts[make] = None, error
            except (OSError, MemoryError):
                raise
            except Exception as error:  # noqa: BLE001 - what does not need this view is still checked
                self._parts[make] = None, Mistake.by(error)
        made, problem = self._parts[make]
        if problem is not None:
            raise problem.with_traceback(None)
        return cast("Part", made)

    def forget_frames(self) -> None:
        """Release the stack frames of cached errors, and with them the decoded values in those frames."""
        for problem in (
            *(each for _, each in self._parts.values()),
            *vars(self).get("_problems", {}).values(),
        ):
            if problem is not None:
                problem.__traceback__ = None

    @Remembered
    def fields(self) -> ChunkFields:
        """Its fields, for the positions of findings."""
        return ChunkFields(self)

    @property
    def column(self) -> str:
        """The column's path joined by dots, for messages."""
        return self.leaf.name

    def __str__(self) -> str:
        return f"column {self.column} in row group {self.row_group}"

    @property
    def statistics(self) -> Statistics | None:
        """The statistics of the chunk."""
        return self.facts.statistics

    @Remembered
    def column_order(self) -> ColumnOrder | None:
        """The column's order in the footer; ``None`` if absent.

        Raises STA-002 if it is unknown which order belongs to which column.
        """
        orders = self.file.metadata.column_orders
        if orders is None:
            return None
        if len(orders) != len(self.file.leaves):
            raise Broken("STA-002")
        return orders[self.ordinal]

    @Remembered
    def order(self) -> Order | None:
        """The order of the column's values; ``None`` if it is undefined or unknown. Raises STA-002."""
        return order_of(self.leaf.element, self.column_order)

    # ------------------------------------------------------------------------------------ what is in the body

    def _require(self, offset: int, length: int, part: str) -> None:
        """Raise PQF-008 or PQF-009 unless the range of a part of the record lies in the body and overlaps nothing."""
        framing = self.file.framing
        if length < 0 or offset < framing.body_start or offset + max(length, 1) > framing.footer_start:
            raise Broken("PQF-008")
        if self.file.overlapping and f"footer.{self.path}.{part}" in self.file.overlapping:
            raise Broken("PQF-009")

    def _range(self, offset: int, length: int, part: str) -> bytes:
        self._require(offset, length, part)
        return self.file.part(IndexReads).read(offset, length)

    @Remembered
    def span(self) -> tuple[int, int]:
        """The range from the first page to the end of the last one. Raises `NotApplicable` (no pages), PQF-008, PQF-009."""
        start = chunk_start(self.chunk)
        if start is None:
            raise NotApplicable
        # Both fields state the start of the chunk.
        if stray := self.file.stray_offsets:
            for name in ("dictionary_page_offset", "data_page_offset"):
                if f"footer.{self.path}.meta_data.{name}" in stray:
                    raise Broken("PQF-008")
        length = self.facts.total_compressed_size
        if self.file.layout is None:
            self._require(start, length, "meta_data.data_page_offset")
        return start, start + length

    @property
    def column_index_bytes(self) -> bytes:
        """The bytes of the column index. Raises `NotApplicable`, PIX-002, PQF-008, PQF-009."""
        return self._index_bytes("column_index")

    @property
    def offset_index_bytes(self) -> bytes:
        """The bytes of the offset index. Raises `NotApplicable`, PIX-002, PQF-008, PQF-009."""
        return self._index_bytes("offset_index")

    def _index_bytes(self, name: str) -> bytes:
        offset, length = getattr(self.chunk, f"{name}_offset"), getattr(self.chunk, f"{name}_length")
        if offset is None:
            raise NotApplicable
        if not length or length < 0 or not offset:
            raise Broken("PIX-002")
        if self.file.layout is None:
            self._require(offset, length, f"{name}_offset")
        return self.file.part(IndexReads).read(offset, length)

    @Remembered
    def column_index(self) -> ColumnIndex:
        """The column index. Raises `NotApplicable`, PIX-020 and the errors of `column_index_bytes`."""
        return self._whole(ColumnIndex, self.column_index_bytes, "column_index", "PIX-020")

    @Remembered
    def offset_index(self) -> OffsetIndex:
        """The offset index. Raises `NotApplicable`, PIX-010 and the errors of `offset_index_bytes`."""
        return self._whole(OffsetIndex, self.offset_index_bytes, "offset_index", "PIX-010")

    def _whole(self, kind: type[Index], raw: bytes, name: str, rule: str) -> Index:
        try:
            quick: tuple[Index, int] = decoder(kind)(raw, 0, len(raw))
            if quick[1] == len(raw):
                return quick[0]
        except (FormatError, ValueError, IndexError):
            pass  # the rules below report its errors and their places
        base: int = getattr(self.chunk, f"{name}_offset")
        root = f"{self.path}.{name}"
        record, taken = decode(kind, raw, root=root, base=base, rule=rule)
        if taken != len(raw):
            raise Malformed(
                f"the {kind.__name__} struct takes {taken} of {len(raw)} bytes",
                rule=rule,
                field=root,
                offset=base + taken,
                length=len(raw) - taken,
                expected=f"{len(raw)} bytes",
                actual=f"{taken} bytes",
            )
        return record

    @Remembered
    def even_column_index(self) -> ColumnIndex:
        """The column index, checked to have lists with an entry for each page. Raises PIX-011, PIX-021 and the errors of both indexes."""
        return even_column_index(self)

    @Remembered
    def page_places(self) -> PagePlaces:
        """The places of the pages from the offset index, as lists. Raises the errors of `offset_index`."""
        return PagePlaces(self)

    @Remembered
    def page_bounds(self) -> PageBounds:
        """The bounds of the pages, ready for comparison. Raises PIX-021, `NotApplicable` (no order) and the errors of `column_index`."""
        return PageBounds(self)

    @Remembered
    def _bloom_filter(self) -> tuple[BloomFilterHeader, int, bytes]:
        """The header of the bloom filter, its size in bytes, and the part of the bitset that was read with it."""
        offset = self.facts.bloom_filter_offset
        if not offset:
            raise NotApplicable
        part, root = "meta_data.bloom_filter_offset", f"{self.path}.bloom_filter.header"
        room = self.file.framing.footer_start - offset
        length = self.facts.bloom_filter_length or 0
        first = min(room, max(BLOOM_HEADER_LIMIT, length if length <= SMALL_FILTER else 0))
        raw = self._range(offset, first, part)
        try:
            header, taken = decode(BloomFilterHeader, raw, root=root, base=offset, rule="BLM-002")
        except Malformed:
            if first == min(room, LONG_HEADER):
                raise
            raw = self._range(offset, min(room, LONG_HEADER), part)  # an extension may lengthen the header
            header, taken = decode(BloomFilterHeader, raw, root=root, base=offset, rule="BLM-002")
        return header, taken, raw[taken : length if length <= SMALL_FILTER else taken]

    @property
    def bloom_filter_header(self) -> tuple[BloomFilterHeader, int]:
        """The header of the bloom filter, and its size in bytes. Raises `NotApplicable`, BLM-002, PQF-008."""
        header, taken, _ = self._bloom_filter
        return header, taken

    @property
    def bitset(self) -> bytes:
        """The bitset of the bloom filter, in whole blocks. It may be large, so it is not cached.

        Raises BLM-003 (another kind of bitset), BLM-004, BLM-005, PQF-008 and the errors of `bloom_filter_header`.
        """
        header, taken, read = self._bloom_filter
        if None in (header.algorithm.BLOCK, header.hash.XXHASH, header.compression.UNCOMPRESSED):
            raise Broken("BLM-003")
        size, given = header.numBytes, self.facts.bloom_filter_length
        if size <= 0 or size % BLOCK_SIZE:
            raise Broken("BLM-004")
        if given is not None and given != taken + size:
            raise Broken("BLM-005")
        if len(read) == size:
            return read
        start = (self.facts.bloom_filter_offset or 0) + taken
        return self._range(start, size, "meta_data.bloom_filter_offset")

    @Remembered
    def bloom_filter_rate(self) -> float:
        """The share of absent values that pass the bloom filter, see `pqassay.under_test.bloom_rate`. Raises the errors of `bitset`."""
        return rate(self.bitset)

    # ------------------------------------------------------------------------------------------------- its pages

    @Remembered
    def pages(self) -> list[PageUnderTest]:
        """Its pages in file order, including dictionary pages. Raises the errors of `walk` and `chunk_range`."""
        start, end = chunk_range(self.file, self.chunk, self.path)
        try:
            return walk(self.file.source, start, end, self.path, self.facts.num_values)
        except Malformed as error:
            if (
                self.chunk.crypto_metadata is not None
            ):  # the pages are encrypted, though the footer names no algorithm
                raise Malformed(error.reason, rule="PQF-170") from None
            raise

    @Remembered
    def data_pages(self) -> list[PageUnderTest]:
        """Its data pages. Raises the errors of `pages`."""
        return [page for page in self.pages if page.is_data]

    @property
    def dictionary_pages(self) -> list[PageUnderTest]:
        """Its dictionary pages; valid chunks have at most one. Raises the errors of `pages`."""
        return [page for page in self.pages if page.is_dictionary]

    @Remembered
    def unusual_levels(self) -> list[tuple[PageUnderTest, str, int]]:
        """The levels of V1 pages that are not encoded as RLE: page, field of its header, encoding. Raises as `pages`.

        Levels that the column does not have are omitted, since their encoding has no meaning.
        """
        greatest = {
            "repetition_level_encoding": self.leaf.max_repetition_level,
            "definition_level_encoding": self.leaf.max_definition_level,
        }
        names = [name for name, level in greatest.items() if level]
        return [
            (page, name, encoding)
            for page in self.data_pages
            if page.header.type == PageType.DATA_PAGE and (first := page.header.data_page_header) is not None
            for name in names
            if (encoding := getattr(first, name)) != Encoding.RLE
        ]

    @Remembered
    def second_version(self) -> list[tuple[int, DataPageHeaderV2]]:
        """The headers of data pages of version 2, each with its position among the data pages. Raises as `pages`."""
        return [(number, v2) for number, page in enumerate(self.data_pages) if (v2 := page.v2) is not None]


def why_left_out(
    metadata: FileMetaData, chunk: ColumnChunk, row_group: int, leaf: SchemaLeaf
) -> NotChecked | None:
    """The reason why a chunk of this file cannot be read; ``None`` if it can."""
    of = f"row group {row_group} of column {leaf.name}"
    if chunk.meta_data is None or is_encrypted(metadata, chunk):
        return NotChecked(f"{of} is encrypted; pqassay has no keys", "key")
    if not leaf.is_defined:
        return NotChecked(
            f"the storage of column {leaf.name} is unknown, possibly from a later version", "tool"
        )
    return NotChecked(f"{of} is stored in another file", "file") if chunk.file_path else None


def is_encrypted(metadata: FileMetaData, chunk: ColumnChunk) -> bool:
    """Whether a chunk is encrypted. A claim of encryption is ignored if the footer names no algorithm (PQF-170)."""
    return chunk.crypto_metadata is not None and metadata.encryption_algorithm is not None


class ColumnChunks:
    """All column chunks of a file, available as ``file.part(ColumnChunks)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self.left_out = Hindrances()
        """The columns of chunks that are missing from `all`, and why."""
        self._having: dict[str, list[ColumnChunkUnderTest]] = {}

    @Remembered
    def all(self) -> list[ColumnChunkUnderTest]:
        """The chunks in the order of row groups and columns, except those that are encrypted or stored elsewhere.

        Raises:
            NotApplicable: The file describes other files.
            Malformed: PQF-004; or PQF-012, if it is unknown which chunk belongs to which column.
        """
        if self.file.is_summary:
            raise NotApplicable
        leaves, metadata = self.file.leaves, self.file.metadata
        are_defined = self.file.schema.are_defined
        chunks: list[ColumnChunkUnderTest] = []
        for number, group in enumerate(metadata.row_groups):
            if len(group.columns) != len(leaves):
                raise Malformed(
                    f"row group {number} lists {len(group.columns)} column chunks for {len(leaves)} leaves",
                    rule="PQF-012",
                    field=f"footer.row_groups[{number}].columns",
                    expected=f"{len(leaves)} column chunks",
                    actual=str(len(group.columns)),
                )
            for ordinal, (chunk, leaf) in enumerate(zip(group.columns, leaves, strict=True)):
                facts = chunk.meta_data
                if facts is None or chunk.file_path or chunk.crypto_metadata is not None or not are_defined:
                    reason = why_left_out(metadata, chunk, number, leaf)
                    if reason is not None:
                        self.left_out.note(reason, leaf.name)
                    # Readers that ignore the file path find the pages that may be here, so these are judged as well.
                    if facts is None or (
                        reason is not None and (reason.obstacle != "file" or self.file.is_elsewhere(chunk))
                    ):
                        continue
                if not leaf.is_at(facts.path_in_schema):
                    raise Malformed(
                        f"chunk {ordinal} of row group {number} is of column {'.'.join(facts.path_in_schema)}, "
                        f"and leaf {ordinal} is {leaf.name}",
                        rule="PQF-012",
                        field=f"footer.row_groups[{number}].columns[{ordinal}].meta_data.path_in_schema",
                        expected=leaf.name,
                        actual=".".join(facts.path_in_schema),
                    )
                chunks.append(ColumnChunkUnderTest(self.file, number, ordinal, group, chunk, facts, leaf))
        return chunks

    def count(self, kind: str) -> int:
        """The number of all chunks, or of chunks with an index or a bloom filter. Raises the errors of `all`.

        Args:
            kind: The kind of a structure, as in `pqassay.under_test.layout`.
        """
        file = self.file
        if not file.is_summary and file.alike is not None and file.layout is not None:
            return len(file.layout.kinds[kind].starts)
        return len(self.all if kind == CHUNKS else self.having(_STRUCTURES[kind]))

    def having(self, structure: Structure) -> list[ColumnChunkUnderTest]:
        """The chunks that have a structure."""
        if structure not in self._having:
            has = HAS[structure]
            self._having[structure] = [chunk for chunk in self.all if has(chunk)]
        return self._having[structure]


def _is_there(read: Callable[[], list[Any]]) -> bool:
    """Whether a structure exists; also true if reading it fails, since using it then raises the reason."""
    try:
        return bool(read())
    except (FormatError, NotApplicable, NotChecked):
        return True


_STRUCTURES: dict[str, Structure] = {
    COLUMN_INDEXES: "column_index",
    OFFSET_INDEXES: "offset_index",
    FILTERS: "bloom_filter",
}

HAS: dict[Structure, Callable[[ColumnChunkUnderTest], bool]] = {
    "statistics": lambda chunk: chunk.facts.statistics is not None,
    "size_statistics": lambda chunk: chunk.facts.size_statistics is not None,
    "column_index": lambda chunk: chunk.chunk.column_index_offset is not None,
    "offset_index": lambda chunk: chunk.chunk.offset_index_offset is not None,
    "bloom_filter": lambda chunk: bool(chunk.facts.bloom_filter_offset),
    "pages": lambda chunk: _is_there(lambda: chunk.pages),
    "data_pages": lambda chunk: _is_there(lambda: chunk.data_pages),
    "dictionary_pages": lambda chunk: _is_there(lambda: chunk.dictionary_pages),
    "second_version": lambda chunk: _is_there(lambda: chunk.second_version),
}
"""Whether a chunk has each of these structures."""
