"""The fast encoder and the grammar write the same bytes: of random structs, of foreign footers, of what cannot be written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import tries
from pqassay.strategies import records
from pqassay_spec.grammar.thrift import Record, UnknownField, grammar
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.thrift_encoder import encode
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnIndex, FileMetaData, PageHeader, PageLocation
from thrift_strategies import footer_of, small_file


def same(record: Record) -> bool:
    return bytes(grammar(type(record)).build(record)) == encode(record)


@pytest.mark.parametrize("kind", [FileMetaData, ColumnIndex, PageHeader, BloomFilterHeader])
@tries(30)
@given(data=st.data())
def test_what_the_grammar_writes_the_encoder_writes(kind: type[Record], data: st.DataObject) -> None:
    """Lists of bools and bytes, bools outside of lists, and unions."""
    assert same(data.draw(records(kind)))


def test_a_footer_of_pyarrow_is_written_as_it_was() -> None:
    footer = footer_of(small_file())
    record, length = decode(FileMetaData, footer)
    assert encode(record) == footer[:length]


@pytest.mark.parametrize("count", [14, 15, 63, 64, 200])
def test_lists_of_any_length(count: int) -> None:
    assert same(ColumnIndex(null_pages=[True] * count, min_values=[], max_values=[], boundary_order=0))


def test_what_no_table_knows_is_kept() -> None:
    location = PageLocation(offset=1, compressed_page_size=2, first_row_index=3)
    location.unknown = (UnknownField(2 + 7, int(WireType.BYTE), b"\x05"),)
    assert same(location)


@pytest.mark.parametrize(
    "location",
    [
        PageLocation(offset=1, compressed_page_size=2),
        PageLocation(offset=1, compressed_page_size=1 << 31, first_row_index=3),
        PageLocation(offset=-(1 << 63) - 1, compressed_page_size=2, first_row_index=3),
    ],
)
def test_what_the_grammar_refuses_the_encoder_refuses(location: PageLocation) -> None:
    with pytest.raises(ValueError, match=r"is required|does not fit"):
        grammar(PageLocation).build(location)
    with pytest.raises(ValueError, match=r"is required|does not fit"):
        encode(location)
