"""The pages of a column chunk taken apart: their headers, their levels, and the PLAIN bytes of each value.

For small files: pages that are not compressed, in PLAIN or with a dictionary.  What is stored otherwise is `Unsupported`,
and says nothing against the file.

Source: apache/parquet-format, ``README.md``, section "Data Pages"; ``Encodings.md``.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.column_order import width_of
from pqassay_spec.parquet.encoding import delta as delta_encoding
from pqassay_spec.parquet.encoding import levels
from pqassay_spec.parquet.encoding.delta import BITS
from pqassay_spec.parquet.encoding.names import ENTRY_ENCODINGS, encodes
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    DICTIONARY_ENCODINGS,
    ColumnMetaData,
    CompressionCodec,
    DataPageHeader,
    DataPageHeaderV2,
    Encoding,
    PageHeader,
    PageType,
    Type,
)

LEVEL_ENCODINGS = (Encoding.RLE, Encoding.BIT_PACKED)
"""Encodings of levels; those that are called BIT_PACKED are read as RLE."""


@dataclass
class DataPage:
    """A data page.

    Attributes:
        offset, size: Where it is, header included.
        header: Its header.
        repetition, definition: The levels of its entries.
        values: The PLAIN bytes of its values, of byte arrays without their length; ``None`` where the encoding is not
            one that is known here.
    """

    offset: int
    size: int
    header: PageHeader
    repetition: list[int] = field(default_factory=list[int])
    definition: list[int] = field(default_factory=list[int])
    values: list[bytes] | None = None

    @property
    def data(self) -> DataPageHeader | DataPageHeaderV2:
        """The header of its version."""
        found = self.header.data_page_header or self.header.data_page_header_v2
        if found is None:
            raise Malformed(
                "a data page lacks the header of its version", rule="PQF-053", field="pages.header"
            )
        return found

    @property
    def row_count(self) -> int:
        """The rows that begin in it."""
        return self.repetition.count(0)

    def null_count(self, leaf: SchemaLeaf) -> int:
        """The entries that hold no value."""
        return sum(level < leaf.max_definition_level for level in self.definition)


def data_pages(source: Source, start: int, facts: ColumnMetaData, leaf: SchemaLeaf) -> list[DataPage]:
    """The data pages of a chunk that begins at ``start``.

    Raises:
        Malformed: They cannot be read: rules PQF-050 to PQF-079.
        Unsupported: They are compressed.
    """
    if facts.codec != CompressionCodec.UNCOMPRESSED:
        raise Unsupported("the pages are compressed", field="pages")
    end, at = start + facts.total_compressed_size, start
    pages: list[DataPage] = []
    dictionary: list[bytes] | None = None
    while at < end:
        header, body, taken = _next_page(source, at, end)
        if header.type == PageType.DICTIONARY_PAGE:
            if dictionary is not None or pages or header.dictionary_page_header is None:
                raise _malformed("a dictionary page is not the first page", "PQF-054", at)
            if header.dictionary_page_header.encoding not in ENTRY_ENCODINGS:
                raise _malformed("the entries of a dictionary are not PLAIN", "PQF-085", at)
            dictionary = plain_values(body, leaf, header.dictionary_page_header.num_values)
        elif header.type in (PageType.DATA_PAGE, PageType.DATA_PAGE_V2):
            page = DataPage(at, taken, header)
            _require_levels(page, leaf)
            _fill(page, body, leaf, dictionary)
            pages.append(page)
        at += taken
    if at != end:
        raise _malformed("the pages do not fill their chunk", "PQF-051", at)
    count = sum(page.data.num_values for page in pages)
    if count != facts.num_values:
        raise _malformed(
            f"the pages hold {count} values, the footer says {facts.num_values}", "PQF-057", start
        )
    return pages


def _require_levels(page: DataPage, leaf: SchemaLeaf) -> None:
    """Raise where the levels of a page of version 1 have an encoding that no levels have."""
    first = page.header.data_page_header
    if first is None:
        return
    encodings = (
        (leaf.max_repetition_level, first.repetition_level_encoding),
        (leaf.max_definition_level, first.definition_level_encoding),
    )
    if any(greatest and encoding not in LEVEL_ENCODINGS for greatest, encoding in encodings):
        raise _malformed("levels have no encoding of levels", "PQF-080", page.offset)


def _next_page(source: Source, at: int, end: int) -> tuple[PageHeader, bytes, int]:
    """The header and the body of the page at an offset, and the bytes that both take."""
    raw = source.read(at, end - at)
    header, taken = decode(PageHeader, raw, root="pages.header", base=at, rule="PQF-050")
    size = header.compressed_page_size
    if size < 0 or size != header.uncompressed_page_size or taken + size > end - at:
        raise _malformed("a page is longer than its chunk, or than it says", "PQF-051", at)
    body = raw[taken : taken + size]
    if header.crc is not None and header.crc & 0xFFFFFFFF != zlib.crc32(body):
        raise _malformed("the CRC of a page is not that of its bytes", "PQF-063", at)
    return header, body, taken + size


def _malformed(message: str, rule: str, offset: int) -> Malformed:
    return Malformed(message, rule=rule, field="pages", offset=offset)


def _fill(page: DataPage, body: bytes, leaf: SchemaLeaf, dictionary: Sequence[bytes] | None) -> None:
    data, second = page.data, page.header.data_page_header_v2
    if (page.header.type == PageType.DATA_PAGE_V2) != (second is not None) or data.num_values < 0:
        raise _malformed("a page holds the header of another type", "PQF-053", page.offset)
    position = 0
    greatest = (leaf.max_repetition_level, leaf.max_definition_level)
    both: list[list[int]] = []
    lengths = (0, 0)  # pages of version 1 say it themselves
    if second is not None:
        lengths = second.repetition_levels_byte_length, second.definition_levels_byte_length
    for most, length in zip(greatest, lengths, strict=True):
        taken, size = 0, length
        if second is None and most:
            size = int(
                LENGTH.parse(body[position : position + LENGTH.sizeof()].ljust(LENGTH.sizeof(), b"\0"))
            )
            position += LENGTH.sizeof()
        if size < 0 or position + size > len(body):
            raise _malformed("the levels are longer than their page", "PQF-058", page.offset)
        entries = [0] * data.num_values
        if most:
            section = body[position : position + size]
            entries, taken = _runs(section, levels.bit_width(most), data.num_values)
        if max(entries, default=0) > most or taken > size:
            raise _malformed("a level exceeds the greatest of its column", "PQF-071", page.offset)
        both.append(entries)
        position += size
    page.repetition, page.definition = both
    nulls = page.null_count(leaf)
    if second is not None and (second.num_nulls != nulls or second.num_rows != page.row_count):
        raise _malformed("a page counts other nulls or rows than its levels", "PQF-072", page.offset)
    if not encodes(data.encoding, leaf.element.type):
        raise _malformed(
            f"values of {leaf.physical_type} have encoding {data.encoding}", "PQF-084", page.offset
        )
    page.values = _values(body[position:], leaf, data.encoding, data.num_values - nulls, dictionary)


def _values(
    body: bytes, leaf: SchemaLeaf, encoding: int, count: int, dictionary: Sequence[bytes] | None
) -> list[bytes] | None:
    if encoding == Encoding.PLAIN:
        return plain_values(body, leaf, count)
    bits = BITS.get(leaf.element.type or 0)
    if encoding == Encoding.DELTA_BINARY_PACKED and bits is not None and count:
        return _from_differences(body, bits, count)
    if encoding == Encoding.BYTE_STREAM_SPLIT and len(body) != count * (width_of(leaf.element) or 0):
        raise Malformed("the streams have another size than the values", rule="PQF-089", field="pages")
    if encoding not in DICTIONARY_ENCODINGS or not count:
        return None if count else []
    if dictionary is None or not body or body[0] > levels.WIDEST:
        raise Malformed("there is no dictionary, or no width of its indexes", rule="PQF-078", field="pages")
    indexes, _ = _runs(body[1:], body[0], count)
    if max(indexes) >= len(dictionary):
        raise Malformed("an index lies beyond the dictionary", rule="PQF-077", field="pages")
    return [dictionary[index] for index in indexes]


def _runs(raw: bytes, width: int, count: int) -> tuple[list[int], int]:
    """The values of runs, and the bytes that they take. Raises `Malformed`, PQF-141."""
    found = levels.decode(raw, width=width, count=count)
    if not levels.last_run_is_whole(raw, width=width, count=count):
        raise Malformed("the last run lacks groups of values", rule="PQF-141", field="pages")
    return found


def _from_differences(body: bytes, bits: int, count: int) -> list[bytes]:
    """The values of a page of differences. Raises `Malformed`, PQF-078, PQF-079."""
    try:
        found = delta_encoding.decode(body, count, bits=bits)
    except Malformed as error:
        raise error.within(rule=error.rule or "PQF-078", field="pages") from None
    if not _is_last_miniblock_whole(body):
        raise Malformed("the last miniblock is cut off", rule="PQF-092", field="pages")
    return [value.to_bytes(bits // 8, "little", signed=True) for value in found]


def _is_last_miniblock_whole(body: bytes) -> bool:
    """Whether the bytes of a miniblock are there that no value takes: they fill it up."""
    return all(
        start + block.size * width // 8 <= len(body)
        for block in delta_encoding.blocks(body)
        for start, width, _ in block.miniblocks()
    )


def plain_values(body: bytes, leaf: SchemaLeaf, count: int) -> list[bytes]:
    """The PLAIN values at the start of some bytes; of booleans a byte each. Raises `Malformed`, PQF-078."""
    values: list[bytes] = []
    if leaf.element.type == Type.BOOLEAN:
        bits = int.from_bytes(body, "little")
        values = [bytes((bits >> place & 1,)) for place in range(min(count, len(body) * 8))]
    elif (width := width_of(leaf.element)) is not None:
        values = [body[at : at + width] for at in range(0, min(count * width, len(body) - width + 1), width)]
    else:
        at = 0
        while len(values) < count and at + LENGTH.sizeof() <= len(body):
            length = int(LENGTH.parse(body[at : at + LENGTH.sizeof()]))
            at += LENGTH.sizeof()
            if at + length > len(body):
                break
            values.append(body[at : at + length])
            at += length
    if len(values) != count:
        raise Malformed(f"a page holds {len(values)} of {count} values", rule="PQF-078", field="pages")
    return values
