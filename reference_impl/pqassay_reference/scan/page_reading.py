"""Reading the pages of chosen rows and no others, and the rows of a file that satisfy a predicate by them.

The pages of a column that hold any of the rows are copied, with the page of its dictionary, into a small Parquet file in
memory, which pyarrow decodes: it knows all encodings and codecs, and never sees a page that was not chosen.  Columns of
several leaves (structs, maps) are read whole, row group by row group, since pages of their leaves end at different rows; so
is a column whose offset index cannot be trusted.

Source: chapter ``page_index.md``.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.columns.column_values import native_file
from pqassay_reference.errors import Undecodable
from pqassay_reference.predicate.expressions import TableColumns, columns_named, evaluated, require_columns
from pqassay_reference.scan.mini_file import mini_file
from pqassay_reference.scan.page_selection import ChunkParts, Mistrusted, chunks_by_name, rows_left
from pqassay_reference.scan.scan import Scanned
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.page_search import Rows, pages_of_rows, reads, rows_of_page
from pqassay_spec.parquet.schema import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import FileMetaData, PageHeader, PageType


@dataclass
class PageScan:
    """One scan: the file, and what was done.

    Attributes:
        source: The file as bytes.
        file: The file as pyarrow reads it.
        metadata: Its footer.
        leaves: Its columns.
        body: Where its body begins and ends.
        used: What took part in a decision.
        pages: Row group, column and position of every page that was read alone.
    """

    source: Source
    file: pq.ParquetFile
    metadata: FileMetaData
    leaves: list[SchemaLeaf]
    body: range
    used: set[str] = field(default_factory=set[str])
    pages: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])

    def table(self, predicate: Sequence[Any], columns: Sequence[str]) -> pa.Table:
        """The rows that satisfy a predicate."""
        needed = sorted({*columns, *columns_named(predicate)})
        kept = [self.file.schema_arrow.empty_table().select(list(columns))]
        for number, group in enumerate(self.metadata.row_groups):
            chunks = chunks_by_name(self.source, self.body, self.metadata, self.leaves, number)
            rows = rows_left(predicate, chunks, group.num_rows)
            for chunk in chunks.values():
                self.used |= chunk.used
            if not rows:
                continue
            read = pa.table([self._column(number, name, chunks.get(name), rows) for name in needed], needed)
            kept.append(read.filter(evaluated(predicate, TableColumns(read))).select(list(columns)))
        return pa.concat_tables([one.cast(kept[0].schema) for one in kept])

    def _column(self, number: int, name: str, chunk: ChunkParts | None, rows: Rows) -> Any:
        """Some rows of a column, by its pages where that can be done."""
        kind = self.file.schema_arrow.field(name).type
        whole = sum(map(len, rows)) == self.metadata.row_groups[number].num_rows
        if chunk is not None and not whole:
            try:
                return self._by_pages(number, chunk, rows).cast(kind)
            except (Mistrusted, FormatError, pa.ArrowException):
                self.used.discard("offset index")
        read = self.file.read_row_group(number, columns=[name]).column(name)
        return pa.chunked_array(
            [part for one in rows for part in read.slice(one.start, len(one)).chunks], kind
        )

    def _by_pages(self, number: int, chunk: ChunkParts, rows: Rows) -> Any:
        index, count = chunk.offset_index, chunk.group.num_rows
        chosen = pages_of_rows(index, count, rows)
        held = [len(rows_of_page(index, count, page)) for page in chosen]
        first = chunk.facts.dictionary_page_offset or index.page_locations[0].offset
        dictionary = self.source.read(first, index.page_locations[0].offset - first)
        pages: list[bytes] = []
        values = 0
        for page, row_count in zip(chosen, held, strict=True):
            place = index.page_locations[page]
            raw = self.source.read(place.offset, place.compressed_page_size)
            values += _values_of(raw, row_count, chunk)
            pages.append(raw)
        content = one_column_file(chunk, dictionary, pages, values, sum(held))
        table = pq.read_table(pa.BufferReader(content))
        if table.num_rows != sum(held):
            raise Mistrusted("the pages hold other rows than the offset index says")
        read, start = table.column(0), 0
        parts: list[Any] = []
        for row_count, (_, taken) in zip(held, reads(index, count, rows), strict=True):
            parts += [piece for one in taken for piece in read.slice(start + one.start, len(one)).chunks]
            start += row_count
        self.pages += [(number, chunk.leaf.name, page) for page in chosen]
        self.used.add("offset index")
        return pa.chunked_array(parts, read.type)


def _values_of(raw: bytes, row_count: int, chunk: ChunkParts) -> int:
    """The values of a page that holds so many rows. Raises `Mistrusted` where it says otherwise."""
    header, taken = decode(PageHeader, raw)
    data = header.data_page_header or header.data_page_header_v2
    if header.type == PageType.DICTIONARY_PAGE or data is None:
        raise Mistrusted("at the place of a page stands none of data")
    if taken + header.compressed_page_size != len(raw):
        raise Mistrusted("a page has another size than the offset index says")
    second = header.data_page_header_v2
    counted = second.num_rows if second is not None else data.num_values if chunk.is_flat else row_count
    if counted != row_count:
        raise Mistrusted("a page holds other rows than the offset index says")
    return data.num_values


def one_column_file(
    chunk: ChunkParts,
    dictionary: bytes,
    pages: Sequence[bytes],
    value_count: int,
    row_count: int,
) -> bytes:
    """A Parquet file of some pages of a column, as they are stored."""
    facts = copy.copy(chunk.facts)
    facts.num_values = value_count
    facts.statistics = facts.size_statistics = facts.encoding_stats = None
    facts.bloom_filter_offset = facts.bloom_filter_length = None
    return mini_file([chunk.leaf.element], facts, dictionary, b"".join(pages), row_count)


def scan_pages(path: str | Path, predicate: Sequence[Any], columns: Sequence[str]) -> Scanned:
    """Read the rows of a file that satisfy a predicate, by its statistics, bloom filters and page index.

    Args:
        path: A local Parquet file.
        predicate: A tree ``[op, column, value]`` as in the protocol.
        columns: The columns wanted.

    Raises:
        Refused: The predicate is none, or does not fit the columns.
        Undecodable: The file cannot be read.
        FormatError: The footer cannot be read.
    """
    return page_scan(path, predicate, columns)[0]


def page_scan(path: str | Path, predicate: Sequence[Any], columns: Sequence[str]) -> tuple[Scanned, PageScan]:
    """See `scan_pages`; with what was done."""
    try:
        with FileSource(path) as source, native_file(path) as handle, pq.ParquetFile(handle) as file:
            require_columns(file.schema_arrow.names, {*columns, *columns_named(predicate)})
            framing = read_framing(source)
            metadata, _ = read_footer(source, framing)
            body = range(framing.body_start, framing.footer_start)
            scan = PageScan(source, file, metadata, leaves(metadata), body)
            table = scan.table(predicate, columns)
    except (pa.ArrowException, OSError) as error:
        raise Undecodable(f"the file cannot be read: {' '.join(str(error).split())}") from error
    message = "" if scan.used else "nothing in the file says anything about the predicate that can be trusted"
    return Scanned(table, used=bool(scan.used), message=message), scan
