"""Dictionary pages, read to their end: as many entries as the header says, nothing behind them, and in order where it says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from pqassay.under_test.file import NotChecked
from pqassay.under_test.pages.walk import PageUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.decoding.keys import keys_of
from pqassay.values.decoding.one_page import decoded_alone
from pqassay.values.decoding.page_values import byte_arrays, width_of_all
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.parquet.column_order import type_order
from pqassay_spec.parquet.encoding.names import ENTRY_ENCODINGS
from pqassay_spec.parquet.thrift import DictionaryPageHeader, Encoding, Type

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest

ENCODED, COMPLETE, EXCESS, SORTED = "PQF-085", "PQF-086", "PQF-087", "PQF-088"


def entry_violations(
    chunk: ColumnChunkUnderTest, page: PageUnderTest, header: DictionaryPageHeader, content: memoryview
) -> Iterator[tuple[str, Violation]]:
    """The rules that the entries of a dictionary page break, with the place.

    Args:
        chunk: The chunk.
        page: The page.
        header: The header of its type.
        content: Its body without compression.

    Raises:
        Malformed: PQF-058, a negative number of entries; PQF-085, an encoding that no dictionary has.
        NotChecked: The entries cannot be decoded, and nobody can tell why.
    """
    count = header.num_values
    if count < 0:
        raise Malformed("a page with fewer values than none", rule="PQF-058", offset=page.offset)
    if header.encoding not in ENTRY_ENCODINGS:
        raise Malformed(f"entries of encoding {header.encoding}", rule=ENCODED, offset=page.offset)
    needed = _size_of_entries(chunk, count, content)
    if needed is None:
        return
    if needed > len(content):
        yield COMPLETE, _incomplete(chunk, page, count, len(content), f"which take {needed}")
        return
    if needed < len(content):
        yield (
            EXCESS,
            Violation(
                f"the dictionary page goes on behind its {count} entries, which take {needed} bytes",
                chunk.fields.body(page),
                expected=f"{needed} bytes",
                actual=f"{len(content)} bytes",
            ),
        )
    if header.is_sorted and count:
        yield from _order(chunk, page, count, content[:needed])


def _size_of_entries(chunk: ColumnChunkUnderTest, count: int, content: memoryview) -> int | None:
    """Bytes that the entries take, of byte arrays that are not there more than there are; ``None`` where they have no width."""
    element = chunk.leaf.element
    if element.type != Type.BYTE_ARRAY:
        return width_of_all(element, count)
    if chunk.dictionary_size is not None:
        return chunk.dictionary_size
    try:
        return byte_arrays(content, count) if count else 0
    except Malformed:
        return len(content) + 1


def _incomplete(
    chunk: ColumnChunkUnderTest, page: PageUnderTest, count: int, length: int, which: str
) -> Violation:
    is_of_bytes = chunk.leaf.element.type == Type.BYTE_ARRAY
    said = "which do not all fit" if is_of_bytes else which
    return Violation(
        f"the dictionary page has {length} bytes for {count} entries, {said}",
        chunk.fields.own_header(page) / "num_values",
        expected=f"as many entries as {length} bytes hold",
        actual=f"{count} entries",
    )


def _order(
    chunk: ColumnChunkUnderTest, page: PageUnderTest, count: int, content: memoryview
) -> Iterator[tuple[str, Violation]]:
    """Whether the entries ascend, where the header says that they do."""
    try:
        order = chunk.order or type_order(chunk.leaf.element)
    except FormatError:  # STA-002: which order belongs to which column, nobody can say
        order = type_order(chunk.leaf.element)
    if order is None:
        raise NotChecked(f"the values of column {chunk.column} have no order", "file")
    keys = keys_of(order, decoded_alone(content, count, chunk.leaf.element, Encoding.PLAIN))
    if isinstance(keys, np.ndarray):
        falls = np.flatnonzero(keys[1:] < keys[:-1])
    else:
        falls = np.flatnonzero(np.asarray(pc.less(keys[1:], keys[:-1])))
    if len(falls):
        place = int(falls[0]) + 1
        yield (
            SORTED,
            Violation(
                f"entry {place} of the dictionary is less than the one before, and is_sorted is true",
                chunk.fields.own_header(page) / "is_sorted",
                expected="false, or no is_sorted",
                actual="true",
            ),
        )
