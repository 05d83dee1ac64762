"""A small Parquet file in memory, with one field of the schema and the chosen pages, for any decoder.

pyarrow supports all encodings and codecs.  It gets a file with the stored bytes of some pages, and a footer with
only the facts that decoding needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pqassay_spec.grammar.thrift_encoder import encode
from pqassay_spec.parquet.file import HEAD, TAIL
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnMetaData,
    FileMetaData,
    KeyValue,
    RowGroup,
    SchemaElement,
)

ROOT = "schema"
"""The name of the root of the schema."""


class LeafPages(NamedTuple):
    """Pages of one leaf column.

    Attributes:
        facts: Type, path, encodings, codec and number of values. Sizes and offsets are set by `mini_file`.
        dictionary: The dictionary page with its header; empty if there is none.
        pages: The data pages with their headers.
    """

    facts: ColumnMetaData
    dictionary: bytes | memoryview
    pages: Sequence[bytes | memoryview]


def mini_file(
    schema: Sequence[SchemaElement],
    columns: Sequence[LeafPages],
    row_count: int,
    *,
    key_values: Sequence[KeyValue] = (),
    created_by: str | None = None,
) -> bytes:
    """A Parquet file with one field of the schema.

    Args:
        schema: The elements below the root, depth first; the first is the only child of the root.
        columns: The pages of each leaf, in the order of the schema.
        row_count: Number of rows in the pages of each leaf.
        key_values: Additional content of the footer, such as Arrow's schema.
        created_by: The writer; decoders handle the known errors of some writers.
    """
    parts: list[bytes | memoryview] = [bytes(HEAD.build({}))]
    position = len(parts[0])
    chunks: list[ColumnChunk] = []
    total = 0
    for facts, dictionary, pages in columns:
        length = len(dictionary) + sum(map(len, pages))
        facts.total_compressed_size = facts.total_uncompressed_size = length
        facts.dictionary_page_offset = position if dictionary else None
        facts.data_page_offset = position + len(dictionary)
        chunks.append(ColumnChunk(file_offset=0, meta_data=facts))
        parts += [dictionary, *pages]
        position += length
        total += length
    groups = [RowGroup(columns=chunks, total_byte_size=total, num_rows=row_count)] if columns else []
    root = SchemaElement(name=ROOT, num_children=1)
    footer = FileMetaData(version=1, schema=[root, *schema], num_rows=row_count, row_groups=groups)
    footer.key_value_metadata = list(key_values) or None
    footer.created_by = created_by
    encoded = encode(footer)
    return b"".join([*parts, encoded, bytes(TAIL.build({"footer_length": len(encoded)}))])
