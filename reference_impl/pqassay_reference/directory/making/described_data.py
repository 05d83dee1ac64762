"""The data that an index describes: the columns of a file by their physical types, row group by row group, and their digest.

Every chunk is read once: its stored bytes go into the digest and are decoded from there.

Source: chapter ``directory.md``, sections "Identity", "Granularity" and "What can be described".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from pqassay_reference.columns.chunk_structures import read_offset_index
from pqassay_reference.columns.column_values import listed
from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.pages.stored_values import StoredValues
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.entries import Path
from pqassay_spec.directory.packed_values import order_in_blobs
from pqassay_spec.parquet.column_order import Order
from pqassay_spec.parquet.file import Framing, chunk_start
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnMetaData, FileMetaData, Type

Numbers = NDArray[np.int64]


class DescribedColumn(NamedTuple):
    """A column that an index describes.

    Attributes:
        leaf: Its leaf in the schema.
        position: Its position among all leaves.
        order: The order of its values in a blob.
    """

    leaf: SchemaLeaf
    position: int
    order: Order

    @property
    def kind(self) -> int:
        """The physical type."""
        return int(self.leaf.element.type or 0)


@dataclass(frozen=True)
class OpenFile:
    """A Parquet file with its parsed footer.

    Attributes:
        source: Its bytes.
        framing: The place of its footer.
        metadata: Its footer.
    """

    source: Source
    framing: Framing
    metadata: FileMetaData


def find_columns(metadata: FileMetaData, paths: Sequence[Path]) -> list[DescribedColumn]:
    """The columns with some paths.

    Raises:
        Refused: There is no such column, or several, or no index can describe it.
    """
    known = leaves(metadata)
    return [_described(known, path) for path in paths]


def paths_called(metadata: FileMetaData, names: Sequence[str]) -> list[Path]:
    """The paths of columns whose names are paths joined by dots. Raises `Refused`."""
    known = leaves(metadata)
    paths: list[Path] = []
    for name in names:
        named = [leaf for leaf in known if leaf.is_called(name)]
        if not named:
            raise Refused(f"there is no column {name}; columns are: {listed(known)}")
        if len(named) > 1:
            raise Refused(f"there are {len(named)} columns called {name}")
        paths.append(named[0].path)
    return paths


def _described(known: Sequence[SchemaLeaf], path: Path) -> DescribedColumn:
    found = [(position, leaf) for position, leaf in enumerate(known) if leaf.is_at(path)]
    if len(found) != 1:
        there = "no column" if not found else f"{len(found)} columns"
        raise Refused(f"the file has {there} called {'.'.join(path)}")
    position, leaf = found[0]
    order = order_in_blobs(leaf)
    if leaf.max_repetition_level:
        raise Refused(f"column {leaf.name} has several values per row; an index needs one value per row")
    if order is None:
        raise Refused(f"column {leaf.name} has a type without an order, which no index describes")
    return DescribedColumn(leaf, position, order)


class GroupValues(NamedTuple):
    """The described columns in one row group.

    Attributes:
        columns: The values of each column, a chunked array of the physical type or of references to a dictionary.
        bounds: The first row of each part, and then the number of rows: one part, or one for each page.
    """

    columns: tuple[Any, ...]
    bounds: Numbers


class DescribedData:
    """The values of some columns of a file, which are read row group by row group.

    Args:
        file: The file.
        columns: The columns.
        granularity: The granularity of the parts.

        Attributes:
            content: The XXH64 of the stored bytes that were read so far; of all bytes after `row_groups` is finished.
    """

    def __init__(self, file: OpenFile, columns: Sequence[DescribedColumn], granularity: Granularity) -> None:
        self.file, self.granularity = file, granularity
        self.columns: tuple[DescribedColumn, ...] = tuple(columns)
        self._digest = xxhash.xxh64()

    @property
    def content(self) -> int:
        """The digest of the stored bytes, see the class."""
        return self._digest.intdigest()

    def row_groups(self) -> Iterator[GroupValues]:
        """The row groups, in the footer's order.

        Raises:
            Refused: A row group lacks a column, or has it in another file; or pages are requested without an offset index.
            Malformed: A chunk or its offset index is not at the place in the footer, or they contradict each other.
            Undecodable: Pages cannot be decoded.
            Unsupported: A chunk is encrypted.
        """
        for number, group in enumerate(self.file.metadata.row_groups):
            bounds: Numbers = np.array([0, group.num_rows], np.int64)
            values: list[Any] = []
            for column in self.columns:
                chunk = _chunk_of(group.columns, column.position, number)
                raw = self._raw(chunk, number)
                self._digest.update(raw)
                stored = self._stored(column, chunk.meta_data, raw, group.num_rows, number)
                if self.granularity == Granularity.PAGE:
                    bounds = self._page_bounds(column, chunk, stored, group.num_rows, number)
                values.append(stored.values)
            yield GroupValues(tuple(values), bounds)

    def read_stored(self, positions: Sequence[int]) -> None:
        """Read the chunks of any columns for the digest, without decoding. Raises the errors of `row_groups`."""
        for number, group in enumerate(self.file.metadata.row_groups):
            for position in positions:
                chunk = _chunk_of(group.columns, position, number)
                if self.granularity == Granularity.PAGE and group.num_rows and not chunk.offset_index_offset:
                    raise Refused(f"row group {number} has no offset index, which an index of pages needs")
                self._digest.update(self._raw(chunk, number))

    def _raw(self, chunk: ColumnChunk, number: int) -> bytes:
        facts, start = chunk.meta_data, chunk_start(chunk)
        if facts is None or start is None:
            return b""
        body = range(self.file.framing.body_start, self.file.framing.footer_start)
        length = max(facts.total_compressed_size, 0)
        if start not in body or start + length > body.stop:
            raise Malformed(
                "a column chunk does not lie in the body",
                rule="PQF-008",
                field=f"footer.row_groups[{number}]",
                offset=start,
            )
        return self.file.source.read(start, length)

    def _stored(
        self, column: DescribedColumn, facts: ColumnMetaData | None, raw: bytes, row_count: int, number: int
    ) -> StoredValues:
        assert facts is not None
        schema = self.file.metadata.schema[1:]
        try:
            return StoredValues(
                schema,
                column.position,
                facts,
                raw,
                row_count,
                by_dictionary=column.kind == Type.BYTE_ARRAY and self.granularity != Granularity.PAGE,
            )
        except Undecodable as error:
            raise Undecodable(f"column {column.leaf.name} in row group {number}: {error}") from error

    def _page_bounds(
        self, column: DescribedColumn, chunk: ColumnChunk, stored: StoredValues, row_count: int, number: int
    ) -> Numbers:
        """The first row of each page of a chunk according to its offset index, and then the number of rows."""
        body = range(self.file.framing.body_start, self.file.framing.footer_start)
        index = read_offset_index(self.file.source, body, chunk)
        if index is None:
            if not stored.pages and not row_count:
                return np.zeros(1, np.int64)
            raise Refused(
                f"column {column.leaf.name} has no offset index in row group {number}, which an index of pages needs; "
                "choose row groups, or write the file with a page index"
            )
        start = chunk_start(chunk) or 0
        listed_pages = [(place.offset, place.first_row_index) for place in index.page_locations]
        walked = [
            (start + page.start, int(row)) for page, row in zip(stored.pages, stored.first_rows, strict=False)
        ]
        if listed_pages != walked:
            raise Malformed(
                "the offset index lists other pages than the chunk has",
                rule="PIX-012",
                field=f"row_groups[{number}].columns[{column.position}].offset_index",
            )
        return np.array([*(row for _, row in walked), row_count], np.int64)


def _chunk_of(chunks: Sequence[ColumnChunk], position: int, number: int) -> ColumnChunk:
    """The chunk of a column in a row group. Raises `Refused`, `FormatError` if its rows cannot be read."""
    if position >= len(chunks):
        raise Malformed("a row group lacks a column", rule="PQF-012", field=f"footer.row_groups[{number}]")
    chunk = chunks[position]
    if chunk.file_path:
        raise Refused(
            f"row group {number} is stored in another file; an index describes the rows of one file"
        )
    if chunk.crypto_metadata is not None or chunk.meta_data is None:
        raise Unsupported(
            "the column chunk is encrypted; anyone could read its index",
            field=f"footer.row_groups[{number}].columns[{position}]",
        )
    return chunk
