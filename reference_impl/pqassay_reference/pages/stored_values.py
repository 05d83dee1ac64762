"""The values of one column chunk in their stored form: in the physical type, with their pages and rows.

Bounds, counts and bloom filters describe these values.  A decoder that converts them to dates or decimals would
lose the stored form, so the mini file has no logical types: an INT64 is read as int64, a BYTE_ARRAY as bytes,
an INT96 as twelve bytes.

Source: apache/parquet-format, ``README.md``, sections "Data Pages" and "Nested Encoding".
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pqassay_reference.errors import Lacking, Undecodable
from pqassay_reference.pages.mini_file import LeafPages, mini_file
from pqassay_reference.pages.page_headers import header_at
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.thrift import (
    ColumnMetaData,
    Encoding,
    FieldRepetitionType,
    PageType,
    SchemaElement,
    Type,
)


class StoredPage(NamedTuple):
    """A page as its header describes it.

    Attributes:
        start: Offset of its first byte in the chunk.
        stop: Offset after its last byte in the chunk.
        entries: Its values, nulls and empty lists; ``None`` for a dictionary page.
    """

    start: int
    stop: int
    entries: int | None


def stored_pages(raw: bytes | memoryview, entries: int) -> Iterator[StoredPage]:
    """Yield the pages of a chunk, from header to header, without index pages.

    Args:
        raw: The bytes of the chunk.
        entries: Number of its values, nulls and empty lists. Bytes after the page with the last of them do not belong to a
            structure.

    Raises:
        Malformed: A header cannot be read, or a page exceeds the chunk.
    """
    view, at, value_count = memoryview(raw), 0, 0
    while at < len(raw) and (value_count < entries or not entries):
        header, length = header_at(view, at)
        stop = at + length + header.compressed_page_size
        if header.compressed_page_size < 0 or stop > len(raw):
            raise Malformed("a page reaches beyond its chunk", rule="PQF-051", field="pages", offset=at)
        data = header.data_page_header or header.data_page_header_v2
        if header.type == PageType.DICTIONARY_PAGE:
            yield StoredPage(at, stop, None)
        elif data is not None:
            yield StoredPage(at, stop, data.num_values)
            value_count += data.num_values
        at = stop


class StoredValues:
    """All values of a chunk.

    Args:
        schema: The elements of the top-level field that contains the leaf, depth first.
        number: Position of the leaf among the leaves of the field.
        facts: The chunk's metadata.
        raw: The chunk's bytes.
        row_count: Number of rows of its row group.
        by_dictionary: Whether byte arrays are returned as references to a dictionary, which is faster. If an encoding does not
            support that, they are returned as values.

        Attributes:
        pages: Its data pages.
        values: A chunked array with one value or null for each row; for a leaf inside lists, with one list for each row.
        field: The same for the whole top-level field that contains the leaf.

    Raises:
        Malformed: A page header cannot be read.
        Undecodable: The pages cannot be decoded, or have other rows than the row group.
    """

    def __init__(
        self,
        schema: Sequence[SchemaElement],
        number: int,
        facts: ColumnMetaData,
        raw: bytes,
        row_count: int,
        *,
        by_dictionary: bool = False,
    ) -> None:
        found = list(stored_pages(raw, facts.num_values))
        self.pages = [page for page in found if page.entries is not None]
        begin = self.pages[0].start if self.pages else len(raw)
        chunk = LeafPages(without_claims(facts), raw[:begin], [raw[begin:]])
        path = leaf_path(schema, number)
        require_runs(path, chunk)
        content = mini_file(path, [chunk], row_count)
        # Not of fields of structs: there pyarrow fails.
        kept = [path[0].name] if by_dictionary and len(path) == 1 and "." not in path[0].name else None
        try:
            table = _decoded(content, kept)
        except Undecodable:
            if kept is None:
                raise
            table = _decoded(content, None)
        if table.num_rows != row_count:
            raise Undecodable(f"pages hold {table.num_rows} rows, where the file says {row_count}")
        values: Any = table.column(0)
        while pa.types.is_struct(values.type):
            values = pc.struct_field(values, [0])
        self.field: Any = table.column(0)
        self.values = values

    @property
    def first_rows(self) -> NDArray[np.int64]:
        """The first row of each page, and then the number of rows; only for a leaf outside of lists."""
        return np.cumsum([0, *(page.entries or 0 for page in self.pages)])


def require_runs(path: Sequence[SchemaElement], chunk: LeafPages) -> None:
    """Raise `Lacking` for levels in the deprecated encoding, whose bits pyarrow reads in reverse order.

    Args:
        path: The elements from below the root to the leaf.
        chunk: Its pages.
    """
    if (
        Encoding.BIT_PACKED not in chunk.facts.encodings
    ):  # old writers name it for columns without levels, too
        return
    kinds = {element.repetition_type for element in path}
    for raw in chunk.pages:
        for page in stored_pages(raw, 0):
            data = header_at(memoryview(raw), page.start)[0].data_page_header
            if data is None:
                continue
            used = {data.definition_level_encoding} if kinds != {FieldRepetitionType.REQUIRED} else set[int]()
            used |= {data.repetition_level_encoding} if FieldRepetitionType.REPEATED in kinds else set[int]()
            if Encoding.BIT_PACKED in used:
                raise Lacking("levels that are BIT_PACKED are not read")


def _decoded(content: bytes, kept: list[str] | None) -> Any:
    """The table of a small file. Raises `Undecodable`."""
    try:
        return pq.ParquetFile(pa.BufferReader(content), read_dictionary=kept).read(use_threads=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Undecodable(f"values cannot be decoded: {' '.join(str(error).split())}") from error


def leaf_path(schema: Sequence[SchemaElement], number: int) -> list[SchemaElement]:
    """The elements from below the root to one leaf, with only their types.

    Args:
        schema: The elements of a field, depth first.
        number: Position of the leaf among the leaves of the field.
    """
    path: list[tuple[SchemaElement, int]] = []
    for element in schema:
        while path and not path[-1][1]:
            path.pop()
        if path:
            path[-1] = path[-1][0], path[-1][1] - 1
        path.append((element, element.num_children or 0))
        if element.type is not None:
            if not number:
                break
            number -= 1
    return [bare(element) for element, _ in path]


def bare(element: SchemaElement) -> SchemaElement:
    """An element with only its type. From an INT96, Arrow would make a timestamp, which may not be able to represent it."""
    is_int96 = element.type == Type.INT96
    return SchemaElement(
        type=Type.FIXED_LEN_BYTE_ARRAY if is_int96 else element.type,
        type_length=WIDTHS[Type.INT96] if is_int96 else element.type_length,
        repetition_type=element.repetition_type,
        name=element.name,
        num_children=None if element.type is not None else 1,
    )


def without_claims(facts: ColumnMetaData) -> ColumnMetaData:
    """The metadata that decoding needs, without the claims that a check compares."""
    kept = copy.copy(facts)
    kept.statistics = kept.size_statistics = kept.encoding_stats = kept.geospatial_statistics = None
    kept.bloom_filter_offset = kept.bloom_filter_length = None
    return kept


__all__ = [
    "StoredPage",
    "StoredValues",
    "bare",
    "leaf_path",
    "require_runs",
    "stored_pages",
    "without_claims",
]
