"""Differences between integers: bytes typed by hand, and agreement with what pyarrow writes and reads."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from each import each
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, TinyParquet
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar import thrift_decoder
from pqassay_spec.parquet.encoding.delta import blocks, decode, encode
from pqassay_spec.parquet.file import chunk_start, read_footer, read_framing
from pqassay_spec.parquet.thrift import PageHeader

RISING = bytes.fromhex("80 01 04 05 02 02 00 00 00 00")
"""1, 2, 3, 4, 5: the least difference is 1, and all others are nothing more."""


def integers(bits: int) -> st.SearchStrategy[list[int]]:
    ends = st.sampled_from([-(1 << bits - 1), (1 << bits - 1) - 1, 0, -1])
    return st.lists(st.one_of(ends, st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)), max_size=300)


def test_differences_that_are_all_the_least_one_take_no_bits() -> None:
    assert RISING == encode([1, 2, 3, 4, 5], bits=32)
    assert [1, 2, 3, 4, 5] == decode(RISING + b"whatever follows", bits=32)


@given(st.sampled_from([32, 64]).flatmap(lambda bits: st.tuples(st.just(bits), integers(bits))))
def test_what_is_encoded_decodes_and_takes_no_more_bits_than_a_value(given_: tuple[int, list[int]]) -> None:
    bits, values = given_
    encoded = encode(values, bits=bits)

    assert values == decode(encoded, bits=bits)
    assert max([one.bits for one in blocks(encoded)], default=0) <= bits


@given(integers(32))
def test_numbers_of_32_bits_that_are_subtracted_in_64_are_refused_where_32_bits_do_not_hold_it(
    values: list[int],
) -> None:
    encoded = encode(values, bits=64)
    if max([one.bits for one in blocks(encoded)], default=0) <= 32:
        assert values == decode(encoded, bits=32)
    else:
        with pytest.raises(Malformed, match="PQF-079"):
            decode(encoded, bits=32)


def pages_of(data: bytes) -> list[bytes]:
    """What is in the pages of a file of one required column."""
    source = BytesSource(data)
    footer, _ = read_footer(source, read_framing(source))
    pages: list[bytes] = []
    for group in footer.row_groups:
        (chunk,) = group.columns
        assert chunk.meta_data is not None
        at = chunk_start(chunk) or len(data)
        end = at + chunk.meta_data.total_compressed_size
        while at < end:
            header, length = thrift_decoder.decode(PageHeader, data[at:end], root="page")
            at += length + header.compressed_page_size
            pages.append(data[at - header.compressed_page_size : at])
    return pages


@settings(deadline=None)  # pyarrow takes its time at first
@given(st.sampled_from([32, 64]).flatmap(lambda bits: st.tuples(st.just(bits), integers(bits))))
def test_pyarrow_writes_what_is_decoded_here_and_reads_what_is_encoded_here(
    given_: tuple[int, list[int]],
) -> None:
    bits, values = given_
    kind: Any = pa.int32() if bits == 32 else pa.int64()
    sink = io.BytesIO()
    required = pa.schema([pa.field("n", kind, nullable=False)])
    table = pa.table({"n": pa.array(values, kind)}, schema=required)
    pq.write_table(
        table, sink, use_dictionary=False, column_encoding="DELTA_BINARY_PACKED", compression="none"
    )
    bodies = pages_of(sink.getvalue())
    assert values == [value for body in bodies for value in decode(body, bits=bits)]

    ours = TinyParquet(
        (Column("n", "int32" if bits == 32 else "int64", values),),
        layout=Layout(encoding=Encoding.DELTA_BINARY_PACKED),
    ).build()
    assert values == pq.read_table(io.BytesIO(ours))["n"].to_pylist()


@each(
    ("text", "why"),
    [
        ("", "not finished"),
        ("80 01 04", "not finished"),
        ("00 04 05 02", "blocks of 0 values"),
        ("80 01 00 05 02", "in 0 miniblocks"),
        ("80 01 03 05 02", "in 3 miniblocks"),
        ("80 01 08 05 02", "in 8 miniblocks"),
        ("81 01 01 05 02", "blocks of 129 values"),
        ("80 01 04 05 02", "not finished"),
        ("80 01 04 05 02 02 00 00", "before the widths"),
        ("80 01 04 05 02 02 08 00 00 00 01 02", "1 of 5 values are there"),
        ("80 01 04 05 02 02 21 00 00 00", "PQF-079"),
        ("80 01 04 05 02 ff ff ff ff ff ff ff ff ff 03", "PQF-079"),
        ("80 01 04 05 02 ff ff ff ff ff ff ff ff ff ff 01", "PQF-079"),
        ("80 01 04 ff ff ff ff ff ff ff ff 7f 02 02 00 00 00 00", "not finished"),
    ],
)
def test_what_is_no_such_encoding_is_refused(text: str, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        decode(bytes.fromhex(text), bits=32)


def test_a_miniblock_without_values_may_have_any_width() -> None:
    assert [1, 2, 3, 4, 5] == decode(bytes.fromhex("80 01 04 05 02 02 00 ff ff ff"), bits=32)


def test_a_few_bytes_that_state_many_values_are_refused_where_there_should_be_fewer() -> None:
    many = bytes.fromhex("80 80 80 80 80 80 80 80 40 01 ff ff ff ff 0f 00 00 00")

    with pytest.raises(Malformed, match="the header says 4294967295 values, and there should be 3"):
        decode(many, 3, bits=32)
