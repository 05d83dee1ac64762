"""The structures of a chunk: read from their places, or refused with the rule that is broken."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_reference.columns.chunk_structures import (
    may_hold,
    read_bloom_filter,
    read_column_index,
    read_offset_index,
)
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import leaves

CHUNK = "footer.row_groups[0].columns[0]"
FILTER = "row_groups[0].columns[0].bloom_filter.header"

FILE = TinyParquet(
    (Column("grade", "double", [1.5, -0.0, 3.0], layout=Layout(page_rows=2)),),
    page_index=True,
    bloom_filters=("grade",),
).build()


def structures(data: bytes) -> tuple[Any, Any, Any]:
    """The offset index, the column index and the bloom filter of the first chunk."""
    source = BytesSource(data)
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    chunk, body = metadata.row_groups[0].columns[0], range(framing.body_start, framing.footer_start)
    assert chunk.meta_data is not None
    return (
        read_offset_index(source, body, chunk),
        read_column_index(source, body, chunk),
        read_bloom_filter(source, body, chunk.meta_data),
    )


def test_all_three_are_read_as_they_are_stored() -> None:
    offset_index, column_index, bloom_filter = structures(FILE)

    assert [0, 2] == [place.first_row_index for place in offset_index.page_locations]
    assert [False, False] == column_index.null_pages
    assert 32 == len(bloom_filter.bitset)


@pytest.mark.parametrize(
    ("mutation", "rule"),
    [
        (Mutation("remove", f"{CHUNK}.offset_index_length"), "PIX-002"),
        (Mutation("set", f"{CHUNK}.column_index_length", -1), "PIX-002"),
        (Mutation("set", f"{CHUNK}.offset_index_offset", 1 << 40), "PIX-002"),
        (Mutation("add", f"{CHUNK}.offset_index_length", -1), "PIX-010"),
        (Mutation("add", f"{CHUNK}.column_index_length", -1), "PIX-020"),
        (Mutation("remove", f"{FILTER}.hash"), "BLM-002"),
        (Mutation("set", f"{FILTER}.numBytes", 33), "BLM-004"),
        (Mutation("set", f"{FILTER}.numBytes", 1 << 20), "PQF-008"),
        (Mutation("set", f"{CHUNK}.meta_data.bloom_filter_offset", 1 << 40), "PQF-008"),
    ],
)
def test_what_cannot_be_read_breaks_a_rule(mutation: Mutation, rule: str) -> None:
    with pytest.raises(Malformed) as caught:
        structures(mutate(FILE, mutation))

    assert rule == caught.value.rule


@pytest.mark.parametrize(("value", "expected"), [(1.5, True), (0.0, True), (-0.0, True), (2.5, False)])
def test_a_zero_is_sought_with_both_signs(value: float, expected: bool) -> None:
    metadata, _ = read_footer(BytesSource(FILE), read_framing(BytesSource(FILE)))
    [leaf] = leaves(metadata)

    assert expected == may_hold(structures(FILE)[2].bitset, leaf, struct.pack("<d", value))
