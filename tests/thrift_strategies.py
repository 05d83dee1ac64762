"""What tests of compact Thrift share: footers of foreign writers, and random edits of their bytes."""

from __future__ import annotations

import functools
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st


def written_by_pyarrow(table: pa.Table, **options: Any) -> bytes:
    """The bytes of a Parquet file that pyarrow writes."""
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def footer_of(file: bytes) -> bytes:
    """The bytes of the footer, found by the length before the magic that ends a file."""
    length = int.from_bytes(file[-8:-4], "little")
    return file[-8 - length : -8]


def small_file() -> bytes:
    """A file with nulls, two row groups and a page index whose footer has some 500 bytes."""
    table = pa.table({"n": pa.array([1, 2, None, 4]), "text": ["a", "b", "c", "d"]})
    return written_by_pyarrow(table, row_group_size=2, write_page_index=True, store_schema=False)


@functools.lru_cache(maxsize=16)
def _replacements(data: bytes) -> st.SearchStrategy[bytes]:
    """What is in the place of some bytes; to make the strategy takes longer than to draw from it."""
    return st.one_of(
        st.integers(0, 255).map(lambda byte: bytes((byte,))),
        st.binary(max_size=12),
        st.sampled_from([bytes.fromhex(text) for text in EDGES]),
        st.integers(0, len(data)).map(lambda place: data[place : place + 12]),
    )


@st.composite
def edited(draw: st.DrawFn, data: bytes) -> bytes:
    """The data after one to four edits: a byte set, bytes inserted, removed or copied elsewhere, the end cut off."""
    content = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 12)))
        content[start:end] = draw(_replacements(data))
        if draw(st.integers(0, 9)) == 0:
            del content[draw(st.integers(0, len(content))) :]
    return bytes(content)


EDGES = (
    "00",  # a stop byte
    "11",  # a bool field
    "19 fc ff ff ff ff 0f",  # a list of 2^32 - 1 structs
    "18 ff ff ff ff ff ff ff ff ff 01",  # a binary of 2^64 - 1 bytes
    "05 ff ff 03",  # an i32 field whose id, -32768, is in long form
    "16 ff ff ff ff ff ff ff ff ff 02",  # a varint of 65 bits
    "1b 01 88 00 00",  # a map
    "1c 1c 1c 1c",  # structs in structs
    "1d",  # a UUID
    "1e",  # no wire type
)
"""Pieces of compact Thrift that decoders get wrong."""
