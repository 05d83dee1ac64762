"""The structures of a chunk as an answer tells them: page indexes, and what bloom filters hold."""

from __future__ import annotations

from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_reference.pages.structures import bloom_filters, page_index
from pqassay_spec.base.sources import BytesSource


def test_a_page_index_is_decoded_row_group_by_row_group() -> None:
    numbers = Column("n", "int32", [1, None, None, 4], layout=Layout(page_rows=1))
    data = TinyParquet((numbers,), row_group_rows=2, page_index=True).build()
    first, second = page_index(BytesSource(data), "n")["row_groups"]

    assert {
        "null_pages": [False, True],
        "min_values": [{"bytes": "01000000"}, None],
        "max_values": [{"bytes": "01000000"}, None],
        "boundary_order": 1,
        "null_counts": [0, 1],
    } == first["column_index"]
    assert [0, 1] == [row for _, _, row in second["offset_index"]["page_locations"]]


def test_values_are_looked_up_in_bloom_filters_by_their_type() -> None:
    data = TinyParquet((Column("f", "float", [1.5, -0.0]),), bloom_filters=("f",)).build()
    probes = [{"float": "1.5"}, {"float": "0.0"}, {"float": "2.5"}]

    assert {"row_groups": [{"size": 32, "held": [True, True, False]}]} == bloom_filters(
        BytesSource(data), "f", probes
    )


def test_without_a_filter_or_an_index_there_is_nothing_to_say() -> None:
    source = BytesSource(TinyParquet((Column("f", "float", [1.5]),)).build())

    assert {"row_groups": [{}]} == bloom_filters(source, "f", []) == page_index(source, "f")
