"""What is read and built without the grammar, for speed, is what the grammar reads and builds."""

from __future__ import annotations

from typing import Any, cast

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from pqassay_spec.base.errors import Malformed
from pqassay_spec.directory import identity
from pqassay_spec.directory.entries import ENTRY, Entry, EntryHead, read_entry
from pqassay_spec.directory.named_types import type_number
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnMetaData,
    FieldRepetitionType,
    FileMetaData,
    RowGroup,
    SchemaElement,
    Statistics,
    Type,
)

COUNTS = st.integers(0, 1 << 40)
BOUNDS = st.none() | st.binary(max_size=9)
NAMES = st.text(min_size=1, max_size=5)

CHUNKS = st.builds(
    ColumnMetaData,
    type=st.just(Type.FIXED_LEN_BYTE_ARRAY),
    encodings=st.just([]),
    path_in_schema=st.just(["x"]),
    codec=st.integers(0, 7),
    num_values=COUNTS,
    total_uncompressed_size=COUNTS,
    total_compressed_size=COUNTS,
    data_page_offset=st.just(4),
    statistics=st.none()
    | st.builds(Statistics, null_count=st.none() | COUNTS, min_value=BOUNDS, max_value=BOUNDS),
)


def footer_of(chunks: list[ColumnMetaData], *, length: int | None = 9, name: str = "x") -> FileMetaData:
    """The footer of a file with one column and a row group for each chunk."""
    root = SchemaElement(name="schema", num_children=1)
    leaf = SchemaElement(
        name=name,
        type=Type.FIXED_LEN_BYTE_ARRAY,
        type_length=length,
        repetition_type=FieldRepetitionType.OPTIONAL,
    )
    groups = [
        RowGroup(
            columns=[ColumnChunk(file_offset=0, meta_data=one)], total_byte_size=1, num_rows=one.num_values
        )
        for one in chunks
    ]
    return FileMetaData(version=1, schema=[root, leaf], num_rows=1, row_groups=groups)


@given(st.lists(CHUNKS, max_size=3), st.none() | st.integers(1, 99), NAMES)
def test_the_bytes_of_a_shape_are_those_of_the_grammar(
    chunks: list[ColumnMetaData], length: int | None, name: str
) -> None:
    footer = footer_of(chunks, length=length, name=name)
    data = identity.shape_bytes(footer, [(name,)])
    parsed = cast("Any", identity.COLUMN.parse(data))
    assert data == identity.COLUMN.build(parsed)
    assert [name.encode()] == [one.text for one in parsed.path.names]
    assert (Type.FIXED_LEN_BYTE_ARRAY, -1 if length is None else length) == (parsed.type, parsed.type_length)
    for one, found in zip(chunks, parsed.chunks, strict=True):
        stored = one.statistics or Statistics()
        assert (one.num_values, one.num_values) == (found.shape.num_rows, found.shape.num_values)
        sizes = (one.total_uncompressed_size, one.total_compressed_size, one.codec)
        assert sizes == (found.shape.uncompressed_size, found.shape.compressed_size, found.shape.codec)
        assert (-1 if stored.null_count is None else stored.null_count) == found.shape.null_count
        for bound, wanted in ((found.min_value, stored.min_value), (found.max_value, stored.max_value)):
            assert (wanted is not None, wanted or b"") == (bool(bound.is_there), bound.value)
    assert identity.shape_of(footer, [(name,)]) == identity.shape_of(
        footer, [(name,)], xxhash.xxh64_intdigest
    )


def test_a_number_that_no_footer_has_is_named() -> None:
    chunk = ColumnMetaData(
        type=Type.INT32,
        encodings=[],
        path_in_schema=["x"],
        codec=-1,
        num_values=1,
        total_uncompressed_size=1,
        total_compressed_size=1,
        data_page_offset=4,
    )
    with pytest.raises(Malformed) as caught:
        identity.shape_bytes(footer_of([chunk]), [("x",)])
    assert "DIR-010" == caught.value.rule
    head = EntryHead.of(row_count=1)
    assert identity.why_stale(Entry(head, (("x",),)), footer_of([chunk]))


ENTRIES = st.builds(
    lambda columns, writer, inline, later, offset, name: Entry(
        EntryHead.of(
            type=type_number(name) if name else 1, placement=1, stored_length=len(inline), offset=offset
        ),
        columns,
        writer,
        inline,
        later,
        name,
    ),
    st.lists(st.lists(NAMES, max_size=3).map(tuple), max_size=3).map(tuple),
    NAMES,
    st.binary(max_size=9),
    st.binary(max_size=9),
    COUNTS,
    st.just("") | NAMES,
)


@given(ENTRIES, st.integers(0, 200))
def test_an_entry_is_read_as_the_grammar_reads_it(entry: Entry, kept: int) -> None:
    data = entry.build()
    found, parsed = read_entry(data), cast("Any", ENTRY.parse(data))
    assert (entry.columns, entry.writer, entry.inline, entry.later) == (
        found.columns,
        found.writer,
        found.inline,
        found.later,
    )
    assert tuple(found.head) == tuple(getattr(parsed.head, name) for name in EntryHead.offsets)
    assert (parsed.inline, parsed.later) == (found.inline, found.later)
    assert [entry.type_name] * bool(entry.type_name) == [name.text.decode() for name in parsed.type_name]
    assert (entry.type_name, entry.build()) == (found.type_name, found.build())
    short = len(data) - len(entry.later) - 1
    with pytest.raises(Malformed) as caught:
        read_entry(data[: min(short, kept)])
    assert "DIR-006" == caught.value.rule
