"""The values of one page, decoded by pyarrow without the rest of the chunk.

The page becomes the only one of a file of one column, without levels and without compression.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.physical import decode_chunk, leaf_of, open_physical
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.parquet.file import HEAD, MAGIC
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnMetaData,
    CompressionCodec,
    DataPageHeader,
    Encoding,
    FieldRepetitionType,
    FileMetaData,
    PageHeader,
    PageType,
    RowGroup,
    SchemaElement,
)

NAME = "value"

MOST_VALUES = 1 << 24
"""The largest number of values that a few bytes may expand to."""


def decoded_alone(raw: memoryview, count: int, element: SchemaElement, encoding: int) -> Any:
    """The values of a page.

    Args:
        raw: The bytes after its levels; there may be further bytes after the values.
        count: The number of values.
        element: The leaf of the schema; only its physical type and length are used.
        encoding: Their encoding.

    Raises:
        NotChecked: They cannot be decoded, or there are implausibly many for the bytes.
    """
    if count > max(MOST_VALUES, len(raw)):
        raise NotChecked(f"{count:,} values in {len(raw):,} bytes are not decoded", "tool")
    header = PageHeader(
        type=PageType.DATA_PAGE,
        uncompressed_page_size=len(raw),
        compressed_page_size=len(raw),
        data_page_header=DataPageHeader(
            num_values=count,
            encoding=encoding,
            definition_level_encoding=Encoding.RLE,
            repetition_level_encoding=Encoding.RLE,
        ),
    )
    start = HEAD.build({"magic": MAGIC}) + bytes(grammar(PageHeader).build(header))
    size = len(start) - HEAD.sizeof() + len(raw)
    facts = ColumnMetaData(
        type=element.type or 0,
        encodings=[encoding],
        path_in_schema=[NAME],
        codec=CompressionCodec.UNCOMPRESSED,
        num_values=count,
        total_uncompressed_size=size,
        total_compressed_size=size,
        data_page_offset=HEAD.sizeof(),
    )
    own = SchemaElement(
        type=element.type,
        type_length=element.type_length,
        repetition_type=FieldRepetitionType.REQUIRED,
        name=NAME,
    )
    metadata = FileMetaData(
        version=1,
        schema=[SchemaElement(name="schema", num_children=1), own],
        num_rows=count,
        row_groups=[
            RowGroup(
                columns=[ColumnChunk(file_offset=0, meta_data=facts)], total_byte_size=size, num_rows=count
            )
        ],
    )
    footer = bytes(grammar(FileMetaData).build(metadata))
    with open_physical(BytesSource(start + bytes(raw)), footer, metadata) as file:
        pieces = [leaf_of(piece) for piece in decode_chunk(file, 0, 0, leaves(metadata)[0])]
    return pieces[0] if len(pieces) == 1 else pa.chunked_array(pieces)
