"""Values as they are stored, their order, their bounds, and the bloom filters that hold them."""

from __future__ import annotations

import decimal
import io
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from each import each
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay.values.claims.bloom import absent
from pqassay.values.decoding.chunk_values import ChunkValues, Decoders
from pqassay.values.decoding.extremes import beyond
from pqassay.values.decoding.hashes import hash_rows, hashes_of, held
from pqassay.values.decoding.keys import bound_keys, decimal_width
from pqassay.values.decoding.physical import decode_chunk, leaf_of, open_physical, stored_bytes
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet import file as parquet_file
from pqassay_spec.parquet.column_order import Order
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import FileMetaData


def written(table: pa.Table, **options: Any) -> bytes:
    """A table as pyarrow writes it."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def opened(data: bytes) -> tuple[pq.ParquetFile, FileMetaData]:
    """A file opened for its stored values, and its footer."""
    source = BytesSource(data)
    framing = parquet_file.read_framing(source)
    metadata, _ = parquet_file.read_footer(source, framing)
    return open_physical(source, source.read(framing.footer_start, framing.footer_length), metadata), metadata


def column(data: bytes, ordinal: int = 0) -> pa.Array[Any]:
    """All values of the first row group of a column."""
    file, metadata = opened(data)
    with file:
        pieces = decode_chunk(file, 0, ordinal, leaves(metadata)[ordinal])
    return pa.concat_arrays([leaf_of(piece) for piece in pieces])


NESTED = pa.table(
    {
        "list": pa.array([[1, None], [], None, [3, 4]]),
        "struct": pa.array(
            [{"x": 1, "y": [{"z": "a"}, None, {"z": None}]}, None, {"x": 3, "y": []}, {"x": 4}]
        ),
        "map": pa.array([[("k", 1), ("l", None)], None, [], [("z", 3)]], pa.map_(pa.string(), pa.int32())),
        "sized": pa.array([[1, 2], None, [3, None], [4, 5]], pa.list_(pa.int32(), 2)),
    }
)


def test_annotations_and_arrow_types_leave_stored_values_alone() -> None:
    """A date64 is stored as days, a duration as a number, a dictionary as its strings, a decimal as bytes."""
    day = 86_400_000
    table = pa.table(
        {
            "date64": pa.array([day, None, -day], pa.date64()),
            "ms": pa.array([1, None, -1], pa.timestamp("ms", "UTC")),
            "duration": pa.array([1, None, 2], pa.duration("s")),
            "uint8": pa.array([255, None, 0], pa.uint8()),
            "dictionary": pa.array(["x", None, "y"]).dictionary_encode(),
            "decimal": pa.array([decimal.Decimal("-1.5"), None, decimal.Decimal("7.2")], pa.decimal128(3, 1)),
        }
    )
    data = written(table)
    assert [1, None, -1] == column(data, 0).to_pylist()
    assert [1, None, -1] == column(data, 1).to_pylist()
    assert [1, None, 2] == column(data, 2).to_pylist()
    assert [255, None, 0] == column(data, 3).to_pylist()
    assert [b"x", None, b"y"] == column(data, 4).to_pylist()
    assert [b"\xff\xf1", None, b"\x00\x48"] == column(data, 5).to_pylist()


def test_items_of_lists_come_one_behind_the_other() -> None:
    """Nulls in lists are seen; missing and empty lists have no items."""
    data = written(NESTED)
    names = [leaf.name for leaf in leaves(opened(data)[1])]
    found = {name: column(data, ordinal).to_pylist() for ordinal, name in enumerate(names)}
    assert {
        "list.list.element": [1, None, 3, 4],
        "struct.x": [1, None, 3, 4],
        "struct.y.list.element.z": [b"a", None, None],
        "map.key_value.key": [b"k", b"l", b"z"],
        "map.key_value.value": [1, None, 3],
        "sized.list.element": [1, 2, 3, None, 4, 5],
    } == found


def test_what_stands_behind_the_footer_does_not_matter() -> None:
    """The footer that counts is the one that is given."""
    data = written(pa.table({"a": [1, 2, 3]}))
    source = BytesSource(data)
    framing = parquet_file.read_framing(source)
    metadata, _ = parquet_file.read_footer(source, framing)
    footer = source.read(framing.footer_start, framing.footer_length)
    with open_physical(BytesSource(data + b"not published yet"), footer, metadata) as file:
        assert [[1, 2, 3]] == [array.to_pylist() for array in decode_chunk(file, 0, 0, leaves(metadata)[0])]


def test_pages_that_cannot_be_decoded_are_said_to_be() -> None:
    """Damaged pages leave the file unjudged."""
    data = bytearray(written(pa.table({"a": list(range(100))}), compression="zstd", use_dictionary=False))
    data[40:200] = b"\xff" * 160
    with pytest.raises(NotChecked, match=r"row group 0 of column a cannot be decoded") as caught:
        column(bytes(data))
    assert not caught.value.judgeable


# --------------------------------------------------------------------------------------------------- the order


Verdict = tuple[int, int, int, int]
"""How many values lie outside on each side, and where the first of them is."""

NOTHING_OUTSIDE: Verdict = (0, -1, 0, -1)


def verdict(order: Order, array: pa.Array[Any], low: bytes | None, high: bytes | None) -> Verdict:
    """Which values of an array, nulls among them, lie outside bounds."""
    values, places = array.drop_null(), np.flatnonzero(np.asarray(array.is_valid()))
    width = max(decimal_width(values), len(low or b""), len(high or b"")) if order is Order.DECIMAL else 0
    found: list[int] = []
    for raw, above in ((low, False), (high, True)):
        keys, usable = bound_keys(order, [raw], values.type, width)
        mask = beyond(order, values, keys[0], width, above=above) & usable[0]
        found += [int(mask.sum()), int(places[mask.argmax()]) if mask.any() else -1]
    return found[0], found[1], found[2], found[3]


def test_decimals_beyond_all_measure_are_not_compared() -> None:
    """They would be extended to their longest."""
    with pytest.raises(NotChecked, match="decimals of 1000 bytes"):
        verdict(Order.DECIMAL, pa.array([b"\0" * 1000, b"\1"], pa.binary()), b"\0", b"\1")


def test_a_bound_of_another_width_bounds_nothing() -> None:
    """Another rule reports that its size is wrong."""
    values = pa.array([1, 2], pa.int32())
    assert NOTHING_OUTSIDE == verdict(Order.SIGNED, values, struct.pack("<q", 5), b"\0")


# -------------------------------------------------------------------------------------------- bloom filters


@each("width", [*range(0, 80, 3), 79])
def test_rows_are_hashed_as_the_library_does(width: int) -> None:
    """Every width up to several stripes."""
    rows = np.random.default_rng(width).integers(0, 256, (20, width), dtype=np.uint8)
    assert [xxhash.xxh64_intdigest(row.tobytes()) for row in rows] == hash_rows(rows).tolist()


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), max_size=40), st.integers(1, 5), st.data())
def test_filters_are_probed_as_the_specification_says(
    hashes: list[int], blocks: int, data: st.DataObject
) -> None:
    """For hashes that were inserted and others."""
    bitset = bytearray(blocks * bloom.BLOCK_SIZE)
    for number in data.draw(st.lists(st.sampled_from(hashes), max_size=20)) if hashes else []:
        bloom.insert(bitset, number)
    expected = [bloom.probe(bitset, number) for number in hashes]
    assert expected == held(bytes(bitset), np.array(hashes, np.uint64)).tolist()


VALUES: list[pa.Array[Any]] = [
    pa.array([1, None, -7, 1, 2**31 - 1], pa.int32()),
    pa.array([1, None, -7, 1, 2**63 - 1], pa.int64()),
    pa.array([1.5, None, -0.0, float("inf")], pa.float64()),
    pa.array([b"tea", b"", None, b"tea", b"x" * 100], pa.binary()),
    pa.array([bytes(range(32)), None, b"\xff" * 32], pa.binary(32)),
]


def filter_of(values: pa.Array[Any]) -> bytes:
    """A bloom filter that holds the values."""
    bitset = bytearray(8 * bloom.BLOCK_SIZE)
    for place in range(len(values)):
        if values[place].is_valid:
            bloom.insert(bitset, xxhash.xxh64_intdigest(stored_bytes(values[place : place + 1])))
    return bytes(bitset)


def lacking(bitset: bytes, values: pa.Array[Any]) -> list[Any]:
    """The values that a filter does not hold, once they are written to a file and read."""
    file = FileUnderTest(
        BytesSource(written(pa.table({"a": values}), use_dictionary=False)), Options("values")
    )
    found = ChunkValues(file.part(ColumnChunks).all[0], Decoders(file))
    mask = absent(found, bitset)
    return [] if mask is None else found.values.filter(pa.array(mask)).to_pylist()


@pytest.mark.parametrize("values", VALUES, ids=lambda values: str(values.type))
def test_a_filter_that_lacks_a_value_is_found_out(values: pa.Array[Any]) -> None:
    """The full one lacks none; one without the last value lacks this."""
    assert [] == lacking(filter_of(values), values)
    assert [values[-1].as_py()] == lacking(filter_of(values[:-1]), values)


@pytest.mark.parametrize(("stored", "other"), [("-0.0", "0.0"), ("0.0", "-0.0")])
def test_a_filter_that_holds_one_zero_lacks_the_other(stored: str, other: str) -> None:
    values = pa.array([float(stored), 1.0])

    assert [] == lacking(filter_of(values), values)
    assert [stored] == [repr(value) for value in lacking(filter_of(pa.array([float(other), 1.0])), values)]


def test_hashes_of_sliced_arrays_are_those_of_their_values() -> None:
    """A batch may be a slice of what was decoded."""
    whole = pa.array([bytes([number]) * 12 for number in range(9)], pa.binary(12))
    assert hashes_of(whole)[3:7].tolist() == hashes_of(whole[3:7]).tolist()
