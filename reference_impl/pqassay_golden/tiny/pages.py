"""Pages of the tiny writer: dividing rows into pages, levels, values or dictionary indexes, and page headers.

Source: apache/parquet-format, ``README.md``, section "Data Pages"; ``Encodings.md``.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pqassay_golden.tiny.codecs import COMPRESSED
from pqassay_golden.tiny.columns import Entry, Leaf
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.statistics import entries_of, nulls, statistics
from pqassay_reference.errors import Refused
from pqassay_spec.parquet.encoding import delta as delta_encoding
from pqassay_spec.parquet.encoding.delta import BITS
from pqassay_spec.parquet.encoding.levels import bit_packed, bit_width, encode, repeating_run
from pqassay_spec.parquet.encoding.names import encodes
from pqassay_spec.parquet.encoding.plain import LENGTH, packed_booleans
from pqassay_spec.parquet.thrift import (
    CompressionCodec,
    DataPageHeader,
    DataPageHeaderV2,
    DictionaryPageHeader,
    Encoding,
    PageHeader,
    PageLocation,
    PageType,
    Type,
)


@dataclass
class Page:
    """A page: its type, its type's header, its body.

    Attributes:
        codec: The compression of its body.
        entries: The entries of a data page.
        location: Its place in the file, once it is known.
    """

    type: PageType
    header: DataPageHeader | DataPageHeaderV2 | DictionaryPageHeader
    body: bytes
    crc: bool
    codec: CompressionCodec = CompressionCodec.UNCOMPRESSED
    entries: list[Entry] = field(default_factory=list[Entry])
    location: PageLocation = field(
        default_factory=lambda: PageLocation(offset=0, compressed_page_size=0, first_row_index=0)
    )

    @property
    def encoding(self) -> Encoding:
        """The encoding of its values."""
        return Encoding(self.header.encoding)

    @property
    def stored(self) -> bytes:
        """The body as stored."""
        return COMPRESSED[self.codec](self.body)

    def page_header(self) -> PageHeader:
        """The header of the page."""
        header = PageHeader(
            type=self.type,
            uncompressed_page_size=len(self.body),
            compressed_page_size=len(self.stored),
            crc=_signed(zlib.crc32(self.stored)) if self.crc else None,
        )
        match self.header:
            case DataPageHeader():
                header.data_page_header = self.header
            case DataPageHeaderV2():
                header.data_page_header_v2 = self.header
            case _:
                header.dictionary_page_header = self.header
        return header


def cut(rows: Sequence[list[Entry]], page_rows: int | Sequence[int] | None) -> list[Sequence[list[Entry]]]:
    """The rows of each page.

    Raises:
        Refused: More rows are requested than exist.
    """
    if page_rows is None or isinstance(page_rows, int):
        size = page_rows or max(len(rows), 1)
        return [rows[start : start + size] for start in range(0, len(rows), size)]
    pages: list[Sequence[list[Entry]]] = []
    start = 0
    for size in page_rows:
        if size > len(rows) - start:
            raise Refused(f"pages of {list(page_rows)} rows, where the row group has {len(rows)}")
        pages.append(rows[start : start + size])
        start += size
    return [*pages, rows[start:]] if start < len(rows) else pages


def pages_of(
    leaf: Leaf,
    layout: Layout,
    rows: Sequence[list[Entry]],
    page_rows: int | Sequence[int] | None,
    ordered: bool,
) -> list[Page]:
    """The pages of a chunk; the dictionary page comes first, if there is one."""
    parts = cut(rows, page_rows)
    limit = len(parts) if layout.dictionary_pages is None else layout.dictionary_pages
    dictionary: dict[bytes, int] | None = None
    pages: list[Page] = []
    if layout.dictionary is not None and parts:
        if leaf.element.type == Type.BOOLEAN:
            raise Refused(f"column {leaf.name}: booleans have no dictionary")
        values = [entry.raw for part in parts[:limit] for entry in entries_of(part) if entry.raw is not None]
        dictionary = {raw: place for place, raw in enumerate(dict.fromkeys(values))}
        pages.append(_dictionary_page(leaf, layout, list(dictionary)))
    first_row = 0
    for number, part in enumerate(parts):
        page = _data_page(leaf, layout, part, dictionary if number < limit else None, ordered)
        page.location.first_row_index = first_row
        first_row += len(part)
        pages.append(page)
    return pages


def _dictionary_page(leaf: Leaf, layout: Layout, values: list[bytes]) -> Page:
    old = layout.dictionary is Encoding.PLAIN_DICTIONARY
    encoding = Encoding.PLAIN_DICTIONARY if old else Encoding.PLAIN
    is_sorted = True if layout.sorted_dictionary else None
    header = DictionaryPageHeader(num_values=len(values), encoding=encoding, is_sorted=is_sorted)
    return Page(PageType.DICTIONARY_PAGE, header, _plain(leaf, values), layout.crc, layout.codec)


def _data_page(
    leaf: Leaf,
    layout: Layout,
    rows: Sequence[list[Entry]],
    dictionary: dict[bytes, int] | None,
    ordered: bool,
) -> Page:
    entries = entries_of(rows)
    page_statistics = statistics(leaf, layout, entries, ordered=ordered) if layout.page_statistics else None
    repetitions = _levels([entry.repetition for entry in entries], leaf.max_repetition, layout)
    definitions = _levels([entry.definition for entry in entries], leaf.max_definition, layout)
    raws = [entry.raw for entry in entries if entry.raw is not None]
    encoding = layout.encoding if dictionary is None else layout.dictionary or Encoding.RLE_DICTIONARY
    if dictionary is not None:
        values = _indexes([dictionary[raw] for raw in raws], len(dictionary))
    elif encoding in ENCODERS and encodes(encoding, leaf.element.type):
        values = ENCODERS[encoding](leaf, raws)
    else:
        raise Refused(f"column {leaf.name}: {encoding.name} does not encode its type")
    if layout.version == 2:
        header = DataPageHeaderV2(
            num_values=len(entries),
            num_nulls=nulls(entries),
            num_rows=len(rows),
            encoding=encoding,
            definition_levels_byte_length=len(definitions),
            repetition_levels_byte_length=len(repetitions),
            is_compressed=False,
            statistics=page_statistics,
        )
        body = repetitions + definitions + values
        return Page(PageType.DATA_PAGE_V2, header, body, layout.crc, entries=entries)
    of_levels = Encoding.BIT_PACKED if layout.bit_packed_levels else Encoding.RLE
    header_v1 = DataPageHeader(
        num_values=len(entries),
        encoding=encoding,
        definition_level_encoding=of_levels,
        repetition_level_encoding=of_levels,
        statistics=page_statistics,
    )
    body = b"".join(
        levels if layout.bit_packed_levels else LENGTH.build(len(levels)) + levels
        for levels, greatest in ((repetitions, leaf.max_repetition), (definitions, leaf.max_definition))
        if greatest
    )
    return Page(PageType.DATA_PAGE, header_v1, body + values, layout.crc, layout.codec, entries)


def _runs(_: Leaf, raws: Sequence[bytes]) -> bytes:
    runs = encode([raw[0] for raw in raws], width=1)
    return LENGTH.build(len(runs)) + runs


def _differences(leaf: Leaf, raws: Sequence[bytes]) -> bytes:
    numbers = [int.from_bytes(raw, "little", signed=True) for raw in raws]
    return delta_encoding.encode(numbers, bits=BITS[leaf.element.type or 0])


def _lengths_first(_: Leaf, raws: Sequence[bytes]) -> bytes:
    return delta_encoding.encode([len(raw) for raw in raws], bits=BITS[Type.INT32]) + b"".join(raws)


def _streams(_: Leaf, raws: Sequence[bytes]) -> bytes:
    return bytes(itertools.chain.from_iterable(zip(*raws, strict=True)))


def _levels(levels: list[int], greatest: int, layout: Layout) -> bytes:
    """Levels without their length; nothing if there is only level 0."""
    width = bit_width(greatest)
    if not greatest:
        return b""
    if layout.bit_packed_levels and layout.version == 1:
        return bit_packed(levels, width=width)
    if layout.packed_levels:
        return encode(levels, width=width)
    return b"".join(
        repeating_run(level, len(list(run)), width=width) for level, run in itertools.groupby(levels)
    )


def _plain(leaf: Leaf, raws: Sequence[bytes]) -> bytes:
    if leaf.element.type == Type.BOOLEAN:
        return packed_booleans([raw != b"\0" for raw in raws])
    if leaf.element.type == Type.BYTE_ARRAY:
        return b"".join(LENGTH.build(len(raw)) + raw for raw in raws)
    return b"".join(raws)


ENCODERS: Mapping[Encoding, Callable[[Leaf, Sequence[bytes]], bytes]] = {
    Encoding.PLAIN: _plain,
    Encoding.RLE: _runs,
    Encoding.DELTA_BINARY_PACKED: _differences,
    Encoding.DELTA_LENGTH_BYTE_ARRAY: _lengths_first,
    Encoding.BYTE_STREAM_SPLIT: _streams,
}
"""The functions that encode the values of a page without dictionary."""


def _indexes(places: list[int], size: int) -> bytes:
    """Dictionary indexes: their width in bits, then the runs. The width is at least 1, because readers need not support 0."""
    width = max(1, (size - 1).bit_length()) if size else 0
    return bytes((width,)) + encode(places, width=width)


def _signed(value: int) -> int:
    """The same 32 bits as a signed number."""
    return value - (1 << 32) if value >> 31 else value
