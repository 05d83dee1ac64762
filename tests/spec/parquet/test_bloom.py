"""Split-block bloom filters, against filters that foreign software wrote and read."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from places import GOLDEN_FILES
from pqassay_spec.base.errors import Malformed
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.parquet import bloom

hashes = st.integers(0, (1 << 64) - 1)


@given(st.lists(hashes, max_size=20), st.integers(1, 5))
def test_what_was_inserted_is_found(inserted: list[int], blocks: int) -> None:
    bitset = bytearray(blocks * bloom.BLOCK_SIZE)
    for value in inserted:
        bloom.insert(bitset, value)

    assert [] == [value for value in inserted if not bloom.probe(bitset, value)]


@given(hashes, st.integers(1, 1000))
def test_a_hash_sets_one_bit_in_each_word_of_one_block(value: int, blocks: int) -> None:
    bitset = bytearray(blocks * bloom.BLOCK_SIZE)
    bloom.insert(bitset, value)
    start = bloom.block_start(value, len(bitset))
    words = [bitset[place : place + 4] for place in range(start, start + bloom.BLOCK_SIZE, 4)]

    assert 0 == start % bloom.BLOCK_SIZE
    assert [1] * 8 == [sum(byte.bit_count() for byte in word) for word in words]
    assert 8 == sum(byte.bit_count() for byte in bitset)


@given(hashes)
def test_an_empty_filter_holds_nothing(value: int) -> None:
    assert not bloom.probe(bytes(bloom.BLOCK_SIZE), value)


def test_the_filters_of_a_file_that_rust_wrote_hold_the_values_of_their_row_groups() -> None:
    path = GOLDEN_FILES / "interop/datafusion-55.2/page-index-and-bloom-filters/data.parquet"
    tree = take_apart(path.read_bytes())
    file = pq.ParquetFile(path)
    filters = [group.columns[0].bloom_filter for group in tree.row_groups]

    assert 4 == len(filters)
    for number, found in enumerate(filters):
        assert found is not None
        values = {str(v) for v in file.read_row_group(number, columns=["category"])["category"].to_pylist()}
        lacking = [v for v in values if not bloom.probe(found.bitset, xxhash.xxh64_intdigest(v.encode()))]
        strange = [n for n in range(1000) if bloom.probe(found.bitset, xxhash.xxh64_intdigest(b"?%d" % n))]
        assert [] == lacking
        assert len(strange) < 100


@pytest.mark.parametrize("size", [0, 31])
def test_a_bitset_without_a_block_is_malformed(size: int) -> None:
    message = f"a bitset of {size} bytes holds no block, which takes 32"
    with pytest.raises(Malformed, match=message):
        bloom.probe(bytes(size), 1)
    with pytest.raises(Malformed, match=message):
        bloom.insert(bytearray(size), 1)
