"""Values of several columns in several row groups as they are stored, decoded from one small file in memory.

It is what `pqassay_reference.pages.stored_values` does for one chunk, at a fraction of the cost for many: of columns outside of lists and structs, whose
pages nobody asks for.

Source: apache/parquet-format, ``README.md``, section "Data Pages".
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.errors import Undecodable
from pqassay_reference.pages.mini_file import ROOT
from pqassay_reference.pages.stored_values import bare, stored_pages, without_claims
from pqassay_spec.grammar.thrift_encoder import encode
from pqassay_spec.parquet.file import HEAD, TAIL
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnMetaData,
    FileMetaData,
    RowGroup,
    SchemaElement,
    Type,
)


class FlatChunk(NamedTuple):
    """A column chunk.

    Attributes:
        facts: Its metadata.
        raw: Its bytes.
    """

    facts: ColumnMetaData
    raw: bytes


class FlatGroup(NamedTuple):
    """A row group.

    Attributes:
        row_count: Its rows.
        chunks: The chunks of the columns.
    """

    row_count: int
    chunks: tuple[FlatChunk, ...]


class FlatGroups:
    """Row groups whose columns are decoded one row group after the other.

    Args:
        columns: The leaves of the schema, each of which is a child of its root.
        groups: The row groups.

    Raises:
        Malformed: A page header cannot be read.
        Undecodable: pyarrow cannot open the small file.
    """

    def __init__(self, columns: Sequence[SchemaElement], groups: Sequence[FlatGroup]) -> None:
        self._groups = groups
        self._names = [f"column {place}" for place in range(len(columns))]
        content = self._content([bare(column) for column in columns])
        texts = [name for name, one in zip(self._names, columns, strict=True) if one.type == Type.BYTE_ARRAY]
        try:
            self._file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise Undecodable(f"values cannot be decoded: {' '.join(str(error).split())}") from error

    def _content(self, columns: Sequence[SchemaElement]) -> bytes:
        parts: list[bytes] = [bytes(HEAD.build({}))]
        position = len(parts[0])
        row_groups: list[RowGroup] = []
        for group in self._groups:
            chunks: list[ColumnChunk] = []
            for name, (stored, raw) in zip(self._names, group.chunks, strict=True):
                facts = without_claims(stored)
                begin = _data_begins(raw, stored.num_values)
                facts.path_in_schema = [name]
                facts.total_compressed_size = facts.total_uncompressed_size = len(raw)
                facts.dictionary_page_offset = position if begin else None
                facts.data_page_offset = position + begin
                chunks.append(ColumnChunk(file_offset=0, meta_data=facts))
                parts.append(raw)
                position += len(raw)
            length = sum(len(chunk.raw) for chunk in group.chunks)
            row_groups.append(RowGroup(columns=chunks, total_byte_size=length, num_rows=group.row_count))
        for name, column in zip(self._names, columns, strict=True):
            column.name = name
        root = SchemaElement(name=ROOT, num_children=len(columns))
        rows = sum(group.row_count for group in self._groups)
        footer = encode(
            FileMetaData(version=1, schema=[root, *columns], num_rows=rows, row_groups=row_groups)
        )
        return b"".join([*parts, footer, bytes(TAIL.build({"footer_length": len(footer)}))])

    def values(self) -> Generator[tuple[Any, ...] | None]:
        """The columns of each row group, a chunked array each, byte arrays as references to a dictionary; the next one is decoded meanwhile.

        ``None`` for a row group whose pages cannot be decoded, or hold other rows.
        """
        with ThreadPoolExecutor(1) as pool:
            ahead: Future[Any] | None = None
            for place in range(len(self._groups)):
                future = ahead or pool.submit(self._values, place)
                ahead = pool.submit(self._values, place + 1) if place + 1 < len(self._groups) else None
                yield future.result()

    def _values(self, place: int) -> tuple[Any, ...] | None:
        try:
            table = self._file.read_row_group(place, use_threads=False)
        except (pa.ArrowException, OSError, ValueError):
            return None
        return tuple(table.columns) if table.num_rows == self._groups[place].row_count else None


def _data_begins(raw: bytes, entries: int) -> int:
    """Where the first data page of a chunk begins: behind its dictionary, if it has one."""
    return next((page.start for page in stored_pages(raw, entries) if page.entries is not None), len(raw))


__all__ = ["FlatChunk", "FlatGroup", "FlatGroups"]
