"""Features of a written Parquet file, in words that can be listed, looked up and compared."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.file import chunk_start, chunks_of_this_file, read_footer, read_framing
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnIndex,
    ColumnMetaData,
    CompressionCodec,
    Encoding,
    FileMetaData,
    LogicalType,
    OffsetIndex,
    PageHeader,
    PageType,
    Type,
)

LONGEST_HEADER = 4096
"""Bytes in which the header of a page is looked for."""


def features(source: Source) -> set[str]:
    """The features of a file: ``row groups: 2``, and for its columns such as ``s: codec ZSTD`` and ``s: bloom filter``.

    The features of a column: physical type, annotation, codec, encodings of its data pages, kind of its pages, ``pages`` where
    a chunk has several of them, ``crc``, ``dictionary``, ``bounds``,
    ``column index``, ``longest page bound`` with its bytes, ``offset index``, ``bloom filter``.

    Raises:
        FormatError: The footer cannot be read, or a page header or offset index cannot.
    """
    metadata, _ = read_footer(source, read_framing(source))
    told = {f"row groups: {len(metadata.row_groups)}", *_annotations(metadata)}
    for _, _, name, chunk in chunks_of_this_file(metadata):
        if chunk.meta_data is not None:
            told.update(f"{name}: {words}" for words in _of_chunk(source, chunk, chunk.meta_data))
    return told


def _annotations(metadata: FileMetaData) -> Iterator[str]:
    """The logical types, by the dotted path of the node."""
    path: list[tuple[str, int]] = []
    for node in metadata.schema[1:]:
        while path and path[-1][1] == 0:
            path.pop()
        if path:
            path[-1] = (path[-1][0], path[-1][1] - 1)
        name = ".".join([*(parent for parent, _ in path), node.name])
        if node.logicalType is not None:
            members = [
                field for field in LogicalType.__slots__ if getattr(node.logicalType, field, None) is not None
            ]
            yield from (f"{name}: {member}" for member in members if member.isupper())
        path.append((node.name, node.num_children or 0))


def _of_chunk(source: Source, chunk: ColumnChunk, facts: ColumnMetaData) -> Iterator[str]:
    yield Type(facts.type).name
    yield f"codec {CompressionCodec(facts.codec).name}"
    for stats in facts.encoding_stats or ():
        if stats.page_type == PageType.DICTIONARY_PAGE:
            yield "dictionary"
        else:
            yield f"encoding {Encoding(stats.encoding).name}"
            yield PageType(stats.page_type).name
    statistics = facts.statistics
    if statistics is not None and statistics.min_value is not None:
        yield "bounds"
    if chunk.column_index_offset:
        yield "column index"
        if facts.type == Type.BYTE_ARRAY and chunk.column_index_length:
            stored = source.read(chunk.column_index_offset, chunk.column_index_length)
            found, _ = decode(ColumnIndex, stored, root="column_index", base=chunk.column_index_offset)
            yield f"longest page bound {max(map(len, [*found.min_values, *found.max_values]))}"
    if facts.bloom_filter_offset:
        yield "bloom filter"
    if chunk.offset_index_offset and chunk.offset_index_length:
        yield "offset index"
        stored = source.read(chunk.offset_index_offset, chunk.offset_index_length)
        index, _ = decode(OffsetIndex, stored, root="offset_index", base=chunk.offset_index_offset)
        if len(index.page_locations) > 1:
            yield "pages"
    start = chunk_start(chunk)
    if start is not None:
        stored = source.read(start, min(LONGEST_HEADER, source.size - start))
        header, _ = decode(PageHeader, stored, root="page", base=start)
        if header.crc is not None:
            yield "crc"
