"""Checks of dictionary pages: the number of entries, bytes after them, and their order if marked as sorted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.faults import FaultKind, PageFault, wrong_encoding
from pqassay.values.decoding.keys import keys_of, less
from pqassay.values.decoding.levels import counted
from pqassay.values.decoding.one_page import decoded_alone
from pqassay.values.decoding.page_values import are_wider, byte_arrays, width_of_all
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.column_order import type_order
from pqassay_spec.parquet.encoding.names import ENTRY_ENCODINGS
from pqassay_spec.parquet.thrift import DictionaryPageHeader, Encoding, Type

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest


def entry_faults(
    chunk: ColumnChunkUnderTest, header: DictionaryPageHeader, content: memoryview, there: int
) -> Iterator[PageFault]:
    """Yield the faults of the entries of a dictionary page.

    Args:
        chunk: The chunk.
        header: The header of its type.
        content: Its uncompressed body; empty if only its size is needed.
        there: The size of the uncompressed body.

    Raises:
        Faulty: The number of entries is negative, or dictionaries cannot have the encoding.
        NotChecked: The entries cannot be decoded, for unknown reasons.
    """
    count = counted(header)
    if header.encoding not in ENTRY_ENCODINGS:
        raise wrong_encoding(header.encoding, FaultKind.UNSUITABLE_ENTRY_ENCODING)
    needed = _size_of_entries(chunk, count, content)
    if needed is None:
        return
    if needed > there:
        yield PageFault(FaultKind.MISSING_ENTRIES, needed, there, count)
        return
    if needed < there and are_wider(chunk, count, there):
        yield PageFault(FaultKind.WIDER_ENTRIES, actual=there // count)
        return
    if needed < there:
        yield PageFault(FaultKind.ENTRIES_RUN_ON, needed, there, count)
    if header.is_sorted and count:
        yield from _falls(chunk, count, content[:needed])


def _size_of_entries(chunk: ColumnChunkUnderTest, count: int, content: memoryview) -> int | None:
    """The size of the entries in bytes; at most the existing bytes for byte arrays; ``None`` if entries have no width."""
    element = chunk.leaf.element
    if element.type != Type.BYTE_ARRAY:
        return width_of_all(element, count)
    if chunk.dictionary_size is not None:
        return chunk.dictionary_size
    try:
        return byte_arrays(content, count) if count else 0
    except Malformed:
        return len(content) + 1


def _falls(chunk: ColumnChunkUnderTest, count: int, content: memoryview) -> Iterator[PageFault]:
    """Yield the fault of the first entry that is less than the previous one."""
    order = chunk.order or type_order(chunk.leaf.element)
    if order is None:
        raise NotChecked(f"the values of column {chunk.column} have no order", "file")
    keys = keys_of(order, decoded_alone(content, count, chunk.leaf.element, Encoding.PLAIN))
    falls = np.flatnonzero(less(keys[1:], keys[:-1]))
    if len(falls):
        yield PageFault(FaultKind.UNSORTED_ENTRY, place=int(falls[0]) + 1)
