"""The true values of a file for queries: numbers, texts and dates, made from the decoding of tier ``values``.

They do not depend on engines, statistics or indexes. Pages are read from the first header on, and all their rows count, whatever the footer
says.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay.proof.queries import NoQuery, QueryColumn, QueryKind
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.values.decoding.keys import extended
from pqassay.values.decoding.levels import PageCounts
from pqassay.values.decoding.physical import decode_chunk, first_line, open_physical
from pqassay.values.decoding.survey import counts_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    ConvertedType,
    FieldRepetitionType,
    FileMetaData,
    SchemaElement,
    Type,
)

MOST_ROWS = 20_000_000
"""The number of rows of the largest file whose values are kept in memory."""

DECIMAL_BYTES = 16
"""The size in bytes of the largest decimal that engines and pyarrow compare."""

DECIMAL_DIGITS = 38
"""The number of digits of such a decimal."""


def _whole_numbers(element: SchemaElement) -> Any:
    """The pyarrow type of an integer column; ``None`` if the integers have another meaning."""
    logical, converted = element.logicalType, element.converted_type
    if logical is not None and logical.INTEGER is not None:
        return pa.int64() if logical.INTEGER.isSigned else pa.uint64()
    if logical is not None:
        return None
    signed = (ConvertedType.INT_8, ConvertedType.INT_16, ConvertedType.INT_32, ConvertedType.INT_64)
    unsigned = (ConvertedType.UINT_8, ConvertedType.UINT_16, ConvertedType.UINT_32, ConvertedType.UINT_64)
    if converted is None or converted in signed:
        return pa.int64()
    return pa.uint64() if converted in unsigned else None


_UNITS = {ConvertedType.TIMESTAMP_MILLIS: "ms", ConvertedType.TIMESTAMP_MICROS: "us"}


def _timestamp(element: SchemaElement) -> Any:
    """The pyarrow type of timestamps; ``None`` for other types."""
    logical = element.logicalType
    if logical is None:
        old: Any = next((unit for kind, unit in _UNITS.items() if kind == element.converted_type), None)
        return None if old is None else pa.timestamp(old, "UTC")
    if logical.TIMESTAMP is None:
        return None
    unit = logical.TIMESTAMP.unit
    name: Any = "ms" if unit.MILLIS is not None else "us" if unit.MICROS is not None else "ns"
    zone: Any = "UTC" if logical.TIMESTAMP.isAdjustedToUTC else None
    return pa.timestamp(name, zone)


def _decimal(element: SchemaElement) -> Any:
    logical = element.logicalType
    if logical is not None and logical.DECIMAL is not None:
        precision, scale = logical.DECIMAL.precision, logical.DECIMAL.scale
    elif logical is None and element.converted_type == ConvertedType.DECIMAL:
        precision, scale = element.precision or 0, element.scale or 0
    else:
        return None
    return pa.decimal128(precision, scale) if 0 < precision <= DECIMAL_DIGITS and scale >= 0 else None


_PLAIN_KINDS: dict[int, tuple[QueryKind, Any]] = {
    Type.BOOLEAN: (QueryKind.BOOLEAN, pa.bool_()),
    Type.FLOAT: (QueryKind.SINGLE, pa.float64()),
    Type.DOUBLE: (QueryKind.DOUBLE, pa.float64()),
    Type.INT32: (QueryKind.INTEGER, pa.int64()),
    Type.INT64: (QueryKind.INTEGER, pa.int64()),
    Type.BYTE_ARRAY: (QueryKind.BYTES, pa.large_binary()),
    Type.FIXED_LEN_BYTE_ARRAY: (QueryKind.BYTES, pa.large_binary()),
}
"""Kinds and types of values without an annotation."""


def _meaning(element: SchemaElement) -> tuple[QueryKind, Any] | None:
    """The kind of a leaf's values, and the type in which they are compared; ``None`` if queries cannot name the leaf."""
    logical, converted_type = element.logicalType, element.converted_type
    if logical is None and converted_type is None:
        return _PLAIN_KINDS.get(element.type if element.type is not None else -1)
    meaning: tuple[QueryKind, Any | None] = (QueryKind.DECIMAL, _decimal(element))
    if meaning[1] is None and element.type in (Type.INT32, Type.INT64):
        meaning = QueryKind.INTEGER, _whole_numbers(element)
    if meaning[1] is None and element.type == Type.INT64:
        meaning = QueryKind.TIMESTAMP, _timestamp(element)
    is_date = logical.DATE is not None if logical is not None else converted_type == ConvertedType.DATE
    if is_date and element.type == Type.INT32:
        meaning = QueryKind.DATE, pa.date32()
    is_text = logical.STRING is not None if logical is not None else converted_type == ConvertedType.UTF8
    if is_text and element.type == Type.BYTE_ARRAY:
        meaning = QueryKind.TEXT, pa.large_string()
    return None if meaning[1] is None else (meaning[0], meaning[1])


def meaning_of(leaf: SchemaLeaf) -> tuple[QueryKind, Any]:
    """The kind of a column's values, and the type in which they are compared.

    Raises:
        NoQuery: Queries cannot name such a column.
    """
    if len(leaf.path) > 1 or leaf.element.repetition_type == FieldRepetitionType.REPEATED:
        raise NoQuery(
            f"column {leaf.name} is nested; engines have no common way to write conditions on nested columns"
        )
    found = _meaning(leaf.element)
    if found is None:
        raise NoQuery(f"the engines do not agree on the type of column {leaf.name}")
    return found


def converted(array: Any, kind: Any) -> Any:
    """Stored values converted to the type in which they are compared; nulls stay.

    Raises:
        NotChecked: The values do not fit that type.
    """
    try:
        if pa.types.is_decimal(kind):
            return _decimals(array, kind)
        if pa.types.is_timestamp(kind):
            return array.view(kind)
        if kind == pa.uint64():
            width = array.type.bit_width
            return array.view(pa.uint32() if width == 32 else pa.uint64()).cast(kind)
        if pa.types.is_fixed_size_binary(array.type):
            array = array.cast(pa.binary())
        return array.cast(kind)
    except (pa.ArrowException, ValueError) as error:
        raise NotChecked(f"the values cannot be compared as {kind}: {first_line(error)}", "tool") from None


def _decimals(array: Any, kind: Any) -> Any:
    valid = array.is_valid()
    if pa.types.is_integer(array.type):
        numbers = array.drop_null().to_numpy().astype(np.int64)
        rows = np.zeros((len(numbers), DECIMAL_BYTES), np.uint8)
        rows[:, :8] = numbers.astype("<i8").view(np.uint8).reshape(-1, 8)
        rows[:, 8:] = np.where(numbers < 0, 0xFF, 0).astype(np.uint8)[:, np.newaxis]
    else:
        values = array.drop_null()
        if pa.types.is_fixed_size_binary(values.type) and values.type.byte_width > DECIMAL_BYTES:
            raise NotChecked(f"decimals of {values.type.byte_width} bytes are not compared", "tool")
        rows = extended(values, DECIMAL_BYTES)[:, ::-1]
    content: Any = np.ascontiguousarray(rows)
    dense = pa.Array.from_buffers(kind, len(content), [None, pa.py_buffer(content)])
    if not array.null_count:
        return dense
    places = np.cumsum(valid.to_numpy(zero_copy_only=False)) - 1
    return dense.take(pc.if_else(valid, pa.array(places), None))


_PLAIN: dict[int, Callable[[bytes], Any]] = {
    Type.BOOLEAN: lambda raw: pa.array([raw != b"\0"]),
    Type.INT32: lambda raw: pa.array(np.frombuffer(raw, "<i4", 1)),
    Type.INT64: lambda raw: pa.array(np.frombuffer(raw, "<i8", 1)),
    Type.FLOAT: lambda raw: pa.array(np.frombuffer(raw, "<f4", 1)),
    Type.DOUBLE: lambda raw: pa.array(np.frombuffer(raw, "<f8", 1)),
    Type.BYTE_ARRAY: lambda raw: pa.array([raw], pa.binary()),
    Type.FIXED_LEN_BYTE_ARRAY: lambda raw: pa.array([raw], pa.binary(len(raw))),
}


def bound_value(leaf: SchemaLeaf, raw: bytes | None) -> Any:
    """A bound as a pyarrow scalar of the type in which values are compared; ``None`` if it is not a value."""
    meaning = _meaning(leaf.element)
    if raw is None or meaning is None or leaf.element.type not in _PLAIN:
        return None
    try:
        return converted(_PLAIN[leaf.element.type](raw), meaning[1])[0]
    except (ValueError, NotChecked, pa.ArrowException):
        return None


class TrueValues:
    """The values of one file, column by column, read on demand."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self._columns: dict[str, tuple[QueryColumn, list[Any]]] = {}

    @Remembered
    def chunks(self) -> dict[tuple[int, str], ColumnChunkUnderTest]:
        """The chunks by row group and column.

        Raises:
            NotChecked: Two columns of a row group have the same name.
        """
        try:
            return {(chunk.row_group, chunk.column): chunk for chunk in self.file.part(ColumnChunks).all}
        except NotApplicable:
            raise NotChecked("the file describes other files", "file") from None
        except FormatError as error:
            raise NotChecked.because(error) from None

    def counts(self, row_group: int, name: str) -> PageCounts:
        """The counts of the levels of a chunk's pages.

        Raises:
            NotChecked: The pages cannot be walked.
        """
        if (row_group, name) not in self.chunks:
            raise NotChecked(
                f"row group {row_group} of column {name} is encrypted or stored elsewhere", "file"
            )
        try:
            return counts_of(self.chunks[row_group, name])
        except FormatError as error:
            raise NotChecked.because(error) from None

    @Remembered
    def _decoder(self) -> pq.ParquetFile:
        return open_physical(self.file.source, self.file.footer, self.file.metadata)

    def _decoder_by_pages(self, ordinal: int, name: str) -> pq.ParquetFile:
        """A decoder that uses the contents of one column's pages instead of the footer."""
        metadata: FileMetaData = copy.deepcopy(self.file.metadata)
        for number, group in enumerate(metadata.row_groups):
            facts = group.columns[ordinal].meta_data
            rows = int(self.counts(number, name).rows.sum())
            group.num_rows = rows
            if facts is not None:
                facts.num_values = rows
        metadata.num_rows = sum(group.num_rows for group in metadata.row_groups)
        return open_physical(self.file.source, bytes(grammar(FileMetaData).build(metadata)), metadata)

    def stored(self, row_group: int, name: str) -> Any:
        """The stored values of a column chunk: every row of its pages.

        Raises:
            NotChecked: They cannot be decoded.
        """
        ordinal, leaf = self._leaf(name)
        rows = int(self.counts(row_group, name).rows.sum())
        facts = self.chunks[row_group, name].facts
        group = self.file.metadata.row_groups[row_group]
        is_told = rows == facts.num_values == group.num_rows
        decoder = self._decoder if is_told else self._decoder_by_pages(ordinal, name)
        pieces = decode_chunk(decoder, row_group, ordinal, leaf)
        array = pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)
        if rows != len(array):
            raise NotChecked(
                (
                    f"the pages of column {name} hold {rows} rows in row group {row_group}, but "
                    f"pyarrow decodes {len(array)}"
                ),
                "file",
            )
        return array

    def _leaf(self, name: str) -> tuple[int, SchemaLeaf]:
        found = [(ordinal, leaf) for ordinal, leaf in enumerate(self.file.leaves) if leaf.is_called(name)]
        if len(found) != 1:
            count = len(found) or "no"
            raise NoQuery(f"{count} columns with values are called {name}")
        return found[0]

    def column(self, name: str) -> QueryColumn:
        """The column with a name. Raises `NotChecked` if queries cannot name it."""
        return self._read(name)[0]

    def by_row_group(self, name: str) -> list[Any]:
        """The values of a column, an array for each row group. Raises `NotChecked`."""
        return self._read(name)[1]

    def _read(self, name: str) -> tuple[QueryColumn, list[Any]]:
        if name not in self._columns:
            self._columns[name] = self._decoded(name)
        return self._columns[name]

    def _decoded(self, name: str) -> tuple[QueryColumn, list[Any]]:
        kind, type_ = meaning_of(self._leaf(name)[1])
        if self.file.metadata.num_rows > MOST_ROWS:
            raise NotChecked(f"the file has more than {MOST_ROWS:,} rows", "tool")
        arrays: list[Any] = []
        has_nan = False
        for group in range(len(self.file.metadata.row_groups)):
            arrays.append(converted(self.stored(group, name), type_))
            if pa.types.is_floating(type_):
                has_nan = has_nan or bool(pc.any(pc.is_nan(arrays[-1])).as_py())
        return QueryColumn(name, kind, type_, has_nan), arrays

    def table(self, columns: Sequence[QueryColumn]) -> pa.Table:
        """All rows of some columns. Raises `NotChecked` if they have different numbers of rows."""
        arrays = [pa.chunked_array(self.by_row_group(column.name), column.type) for column in columns]
        if len({len(array) for array in arrays}) > 1:
            raise NotChecked("the columns hold different numbers of rows", "file")
        return pa.Table.from_arrays(arrays, names=[column.name for column in columns])
