"""A small Parquet file in memory, of one column and the pages that were chosen, which any decoder reads.

pyarrow knows all encodings and codecs.  It is given a file that holds the bytes of some pages as they are stored, and a
footer that says no more than what their decoding needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.parquet.file import HEAD, TAIL
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnMetaData, FileMetaData, RowGroup, SchemaElement

ROOT = "schema"
"""The name of the root of the schema."""


def mini_file(
    schema: Sequence[SchemaElement], facts: ColumnMetaData, dictionary: bytes, pages: bytes, row_count: int
) -> bytes:
    """A Parquet file of one column.

    Args:
        schema: The elements below the root that lead to the leaf, depth first; the first is the only child of the root.
        facts: Type, path, encodings, codec and number of values of the column chunk. Sizes and offsets are set here.
        dictionary: The dictionary page with its header; empty without one.
        pages: The data pages with their headers.
        row_count: Rows that the pages hold.
    """
    head = bytes(HEAD.build({}))
    length = len(dictionary) + len(pages)
    facts.total_compressed_size = facts.total_uncompressed_size = length
    facts.dictionary_page_offset = len(head) if dictionary else None
    facts.data_page_offset = len(head) + len(dictionary)
    chunk = ColumnChunk(file_offset=0, meta_data=facts)
    group = RowGroup(columns=[chunk], total_byte_size=length, num_rows=row_count)
    root = SchemaElement(name=ROOT, num_children=1)
    footer = FileMetaData(version=1, schema=[root, *schema], num_rows=row_count, row_groups=[group])
    encoded = bytes(grammar(FileMetaData).build(footer))
    return head + dictionary + pages + encoded + bytes(TAIL.build({"footer_length": len(encoded)}))
