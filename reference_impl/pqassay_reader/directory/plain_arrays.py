"""Decode values in PLAIN encoding to Arrow arrays, for many blobs at once.

PLAIN values follow each other, so values of several blobs form one page.  pyarrow decodes it from a small
file in memory, in the type that the schema element gives, as it decodes the column itself.

Source: chapter ``directory.md``, section "Values in blobs".
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

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
"""The name of the only column of the small file."""

MOST_BYTES = 1 << 30
"""Bytes of the greatest page: its header counts them in 31 bits."""


class Packed(NamedTuple):
    """Values as stored in a blob.

    Attributes:
        element: The leaf of the schema for the values.
        data: Their bytes.
        value_count: Their number.
    """

    element: SchemaElement
    data: bytes
    value_count: int


def plain_arrays(packed: Sequence[Packed]) -> list[Any]:
    """An Arrow array for each blob, in the type in which pyarrow reads the column; an extension as its storage type.

    It is ``None`` if the bytes are not exactly that number of values.  Blobs of columns with the same type are decoded together.
    """
    arrays: list[Any] = [None] * len(packed)
    alike: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(packed):
        alike[stored_type(one.element)].append(place)
    for places in alike.values():
        decoded = _together([packed[place] for place in places])
        if decoded is None and len(places) > 1:
            decoded = [(_together([packed[place]]) or [None])[0] for place in places]
        for place, array in zip(places, decoded or [None], strict=True):
            arrays[place] = array
    return arrays


def stored_type(element: SchemaElement) -> tuple[Any, ...]:
    """The facts that decide the type of a leaf."""
    logical = repr(element.logicalType), element.converted_type
    return element.type, element.type_length, *logical, element.scale, element.precision


def _together(packed: Sequence[Packed]) -> list[Any] | None:
    """The arrays of blobs with the same type; ``None`` if one of them is invalid, so each must be decoded separately."""
    element, sizes = packed[0].element, [len(blob.data) for blob in packed]
    counts = [blob.value_count for blob in packed]
    try:
        if element.type == Type.BOOLEAN:
            return [_booleans(blob) for blob in packed]
        if max(sum(sizes), sum(counts)) > MOST_BYTES:
            return None
        width = value_width(element.type, element.type_length)
        if element.type != Type.BYTE_ARRAY and (
            width is None or sizes != [width * count for count in counts]
        ):
            return None
        data = b"".join(blob.data for blob in packed)
        array = _decoded(element, data, sum(counts))
        ends = np.cumsum([0, *counts])
        if element.type == Type.BYTE_ARRAY:
            reached = np.concatenate([[0], np.cumsum(_lengths(array, data) + LENGTH_SIZE)])
            if reached[ends].tolist() != np.cumsum([0, *sizes]).tolist():
                return None
    except (pa.ArrowException, FormatError, OSError, ValueError, IndexError):
        return None
    return [array.slice(start, count) for start, count in zip(ends[:-1].tolist(), counts, strict=True)]


def _booleans(packed: Packed) -> Any:
    values = split_values(Type.BOOLEAN, None, packed.data, packed.value_count)
    return pa.array([value != b"\x00" for value in values], pa.bool_())


def _decoded(element: SchemaElement, data: bytes, count: int) -> Any:
    """Values of a page in a small file, as pyarrow decodes them; bytes after them are not detected."""
    leaf = copy.copy(element)
    leaf.name, leaf.repetition_type = NAME, FieldRepetitionType.REQUIRED
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
    column: Any = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False).column(0)
    array = column.combine_chunks()
    array = array.storage if isinstance(array.type, pa.BaseExtensionType) else array
    if pa.types.is_string(array.type):
        array.validate(full=True)  # which finds what is not UTF-8
    if len(array) != count:
        raise ValueError(f"there are {len(array)} values, not {count}")
    return array


def _lengths(array: Any, data: bytes) -> Any:
    """Bytes of each value; for decimals, they cannot be determined from the array. Raises `Malformed`."""
    if pa.types.is_string(array.type) or pa.types.is_binary(array.type):
        return pc.binary_length(array).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.array([len(one) for one in split_values(Type.BYTE_ARRAY, None, data, len(array))], np.int64)


__all__ = ["Packed", "plain_arrays", "stored_type"]
