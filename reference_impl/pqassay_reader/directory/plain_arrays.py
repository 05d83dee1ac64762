"""Values in the PLAIN encoding as Arrow arrays, of many blobs at once.

PLAIN values are one behind the other, so that those of several blobs make one page.  pyarrow decodes it from a small
file in memory, in the type that the schema element gives, as it decodes the column itself.

Source: chapter ``directory.md``, section "Values in blobs".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay_reference.errors import Undecodable
from pqassay_reference.pages.mini_file import LeafPages, mini_file
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.packed_values import LENGTH_SIZE, split_values, value_width
from pqassay_spec.grammar.thrift_encoder import encode
from pqassay_spec.parquet.thrift import (
    ColumnMetaData,
    CompressionCodec,
    FieldRepetitionType,
    PageType,
    SchemaElement,
    Type,
)
from pqassay_spec.parquet.thrift_pages import DataPageHeader, Encoding, PageHeader

NAME = "value"
"""The one column of the small file."""

MOST_BYTES = 1 << 30
"""Bytes of the greatest page: its header counts them in 31 bits."""


class Packed(NamedTuple):
    """Values as a blob holds them.

    Attributes:
        element: The leaf of the schema whose values they are.
        data: Their bytes.
        value_count: How many there are.
    """

    element: SchemaElement
    data: bytes
    value_count: int


def plain_array(element: SchemaElement, data: bytes, count: int) -> Any:
    """Values as an Arrow array, in the type that pyarrow reads the column in, an extension as what it stores.

    Raises:
        Undecodable: The bytes are not those of ``count`` values.
    """
    if element.type == Type.BOOLEAN:
        return _booleans(data, count)
    if element.type != Type.BYTE_ARRAY:
        width = value_width(element.type, element.type_length)
        if width is None or len(data) != width * count:
            raise Undecodable(f"{len(data)} bytes are not {count} values")
    array = _decoded(element, data, count)
    if element.type == Type.BYTE_ARRAY and not _fills(array, data, count):
        raise Undecodable(f"{len(data)} bytes are not {count} values")
    return array


def plain_arrays(packed: Sequence[Packed]) -> list[Any]:
    """The arrays of many blobs, of each what `plain_array` makes of it; ``None`` where it raises.

    Blobs of columns of one type are decoded together.
    """
    arrays: list[Any] = [None] * len(packed)
    alike: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(packed):
        alike[_signature(one.element)].append(place)
    for places in alike.values():
        together = _together([packed[place] for place in places]) if len(places) > 1 else None
        for number, place in enumerate(places):
            arrays[place] = _alone(packed[place]) if together is None else together[number]
    return arrays


def _signature(element: SchemaElement) -> tuple[Any, ...]:
    """What the type of a leaf depends on."""
    logical = repr(element.logicalType)
    return (
        element.type,
        element.type_length,
        logical,
        element.converted_type,
        element.scale,
        element.precision,
    )


def _together(packed: Sequence[Packed]) -> list[Any] | None:
    """The arrays of blobs of one type; ``None`` where one of them is not what it says, and each has to be looked at."""
    element = packed[0].element
    if element.type == Type.BOOLEAN or sum(len(one.data) for one in packed) > MOST_BYTES:
        return None
    width = value_width(element.type, element.type_length)
    if element.type != Type.BYTE_ARRAY and any(
        width is None or len(one.data) != width * one.value_count for one in packed
    ):
        return None
    ends = np.cumsum([0, *(one.value_count for one in packed)])
    try:
        array = _decoded(element, b"".join(one.data for one in packed), int(ends[-1]))
    except Undecodable:
        return None
    if element.type == Type.BYTE_ARRAY:
        lengths = _lengths(array)
        if lengths is None:
            return None
        reached = np.concatenate([[0], np.cumsum(lengths + LENGTH_SIZE)])[ends]
        if reached.tolist() != np.cumsum([0, *(len(one.data) for one in packed)]).tolist():
            return None
    return [
        array.slice(start, one.value_count) for start, one in zip(ends[:-1].tolist(), packed, strict=True)
    ]


def _alone(packed: Packed) -> Any:
    try:
        return plain_array(*packed)
    except Undecodable:
        return None


def _booleans(data: bytes, count: int) -> Any:
    try:
        values = split_values(Type.BOOLEAN, None, data, count)
    except FormatError as error:
        raise Undecodable(str(error)) from None
    return pa.array([value != b"\x00" for value in values], pa.bool_())


def _decoded(element: SchemaElement, data: bytes, count: int) -> Any:
    """Values of a page in a small file, as pyarrow decodes them; that there are no bytes behind them is not looked at."""
    leaf = SchemaElement(
        name=NAME,
        type=element.type,
        type_length=element.type_length,
        repetition_type=FieldRepetitionType.REQUIRED,
        converted_type=element.converted_type,
        scale=element.scale,
        precision=element.precision,
        logicalType=element.logicalType,
    )
    if len(data) > MOST_BYTES or count > MOST_BYTES:
        raise Undecodable(f"{len(data)} bytes are more than a page holds")
    facts = ColumnMetaData(
        type=element.type,
        encodings=[Encoding.PLAIN],
        path_in_schema=[NAME],
        codec=CompressionCodec.UNCOMPRESSED,
        num_values=count,
        total_uncompressed_size=0,
        total_compressed_size=0,
        data_page_offset=0,
    )
    values = DataPageHeader(
        num_values=count,
        encoding=Encoding.PLAIN,
        definition_level_encoding=Encoding.RLE,
        repetition_level_encoding=Encoding.RLE,
    )
    header = PageHeader(
        type=PageType.DATA_PAGE,
        uncompressed_page_size=len(data),
        compressed_page_size=len(data),
        data_page_header=values,
    )
    content = mini_file([leaf], [LeafPages(facts, b"", [encode(header), data])] if count else [], count)
    try:
        column: Any = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False).column(0)
        array = column.combine_chunks()
        array = array.storage if isinstance(array.type, pa.BaseExtensionType) else array
        if pa.types.is_string(array.type):
            array.validate(full=True)  # which finds what is not UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Undecodable(f"values cannot be decoded: {' '.join(str(error).split())}") from error
    if len(array) != count:
        raise Undecodable(f"there are {len(array)} values, not {count}")
    return array


def _lengths(array: Any) -> Any:
    """Bytes of each value; ``None`` for decimals, which do not tell any more how many bytes they had."""
    kind = array.type
    if not (pa.types.is_string(kind) or pa.types.is_binary(kind)):
        return None
    return pc.binary_length(array).to_numpy(zero_copy_only=False).astype(np.int64)


def _fills(array: Any, data: bytes, count: int) -> bool:
    """Whether values with their lengths take all the bytes."""
    lengths = _lengths(array)
    if lengths is not None:
        return int(lengths.sum()) + LENGTH_SIZE * count == len(data)
    try:
        return len(split_values(Type.BYTE_ARRAY, None, data, count)) == count
    except FormatError:
        return False


__all__ = ["Packed", "plain_array", "plain_arrays"]
