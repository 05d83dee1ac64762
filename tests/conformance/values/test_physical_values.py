"""Values as they are stored, their order, their bounds, and the bloom filters that hold them."""

from __future__ import annotations

import decimal
import io
import math
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

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
from pqassay_spec.parquet.column_order import Order, shown, type_order
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import ConvertedType, FileMetaData, IntType, LogicalType, SchemaElement, Type

Raw = list[bytes | None]


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


def unsigned() -> LogicalType:
    """The annotation of an unsigned number."""
    return LogicalType(INTEGER=IntType(bitWidth=32, isSigned=False))


@pytest.mark.parametrize(
    ("element", "order"),
    [
        (SchemaElement(name="a", type=Type.BOOLEAN), Order.BOOLEAN),
        (SchemaElement(name="a", type=Type.INT32), Order.SIGNED),
        (SchemaElement(name="a", type=Type.INT32, logicalType=unsigned()), Order.UNSIGNED),
        (SchemaElement(name="a", type=Type.INT64, converted_type=ConvertedType.UINT_64), Order.UNSIGNED),
        (SchemaElement(name="a", type=Type.INT96), None),
        (SchemaElement(name="a", type=Type.FLOAT), Order.FLOAT),
        (SchemaElement(name="a", type=Type.BYTE_ARRAY, converted_type=ConvertedType.UTF8), Order.BYTES),
        (SchemaElement(name="a", type=Type.BYTE_ARRAY, converted_type=ConvertedType.DECIMAL), Order.DECIMAL),
        (
            SchemaElement(name="a", type=Type.FIXED_LEN_BYTE_ARRAY, converted_type=ConvertedType.INTERVAL),
            None,
        ),
        (SchemaElement(name="a", type=99), None),
    ],
)
def test_the_order_follows_from_the_type(element: SchemaElement, order: Order | None) -> None:
    """Where Parquet defines no order, there is none."""
    assert order == type_order(element)


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


SIGNED_KINDS = {4: (pa.int32(), "<i"), 8: (pa.int64(), "<q")}


@settings(deadline=None)
@given(st.sampled_from([4, 8]), st.data())
def test_true_bounds_of_numbers_are_silent_and_narrower_ones_are_found(
    width: int, data: st.DataObject
) -> None:
    """Signed numbers of both widths."""
    kind, code = SIGNED_KINDS[width]
    limit = 1 << width * 8 - 1
    values = data.draw(
        st.lists(st.none() | st.integers(-limit, limit - 1), min_size=1, max_size=20).filter(any_value)
    )
    numbers = [value for value in values if value is not None]
    low, high = min(numbers), max(numbers)
    good = verdict(Order.SIGNED, pa.array(values, kind), struct.pack(code, low), struct.pack(code, high))
    assert NOTHING_OUTSIDE == good
    if low < high:
        bad = verdict(
            Order.SIGNED, pa.array(values, kind), struct.pack(code, low + 1), struct.pack(code, high - 1)
        )
        expected = (numbers.count(low), values.index(low), numbers.count(high), values.index(high))
        assert expected == bad


def any_value(values: list[Any]) -> bool:
    """Whether not all are null."""
    return any(value is not None for value in values)


@settings(deadline=None)
@given(st.lists(st.none() | st.integers(0, 2**32 - 1), min_size=1, max_size=20).filter(any_value))
def test_unsigned_numbers_compare_unsigned(values: list[int | None]) -> None:
    """They are stored as signed ones."""
    numbers = [value for value in values if value is not None]
    stored = pa.array(values, pa.uint32()).view(pa.int32())
    low, high = min(numbers), max(numbers)
    good = verdict(Order.UNSIGNED, stored, struct.pack("<I", low), struct.pack("<I", high))
    assert NOTHING_OUTSIDE == good
    if low < high:
        bad = verdict(Order.UNSIGNED, stored, struct.pack("<I", high), struct.pack("<I", low))
        assert sum(n < high for n in numbers) == bad[0]
        assert sum(n > low for n in numbers) == bad[2]


FLOATS = {16: st.floats(width=16), 32: st.floats(width=32), 64: st.floats()}


@settings(deadline=None)
@given(
    st.sampled_from([(pa.float32(), "<f", 32), (pa.float64(), "<d", 64), (pa.float16(), "<e", 16)]), st.data()
)
def test_nan_is_beyond_no_bound_and_zero_has_no_sign(kind: tuple[Any, str, int], data: st.DataObject) -> None:
    """IEEE numbers of all widths; NaN as a bound bounds nothing."""
    arrow, code, width = kind
    values = data.draw(st.lists(st.none() | FLOATS[width], min_size=1, max_size=20))
    array = pa.array(np.array([np.nan if v is None else v for v in values], arrow.to_pandas_dtype()))
    order, stored = (Order.HALF, halves(array)) if width == 16 else (Order.FLOAT, array)
    numbers = [value for value in values if value is not None and not math.isnan(value)]
    nan = struct.pack(code, float("nan"))
    assert NOTHING_OUTSIDE == verdict(order, stored, nan, nan)
    if numbers:
        low, high = min(numbers), max(numbers)
        packed = [struct.pack(code, 0.0 if bound == 0 else bound) for bound in (low, high)]
        assert NOTHING_OUTSIDE == verdict(order, stored, *packed)
        if low < high:
            bad = verdict(order, stored, struct.pack(code, high), struct.pack(code, low))
            assert sum(n < high for n in numbers) == bad[0]
            assert sum(n > low for n in numbers) == bad[2]


def halves(array: pa.Array[Any]) -> pa.Array[Any]:
    """Half-precision numbers as they are stored: two bytes each."""
    return pa.array([struct.pack("<e", value) for value in array.to_pylist()], pa.binary(2))


@settings(deadline=None)
@given(st.lists(st.none() | st.binary(max_size=6), min_size=1, max_size=20).filter(any_value))
def test_bytes_compare_unsigned_from_the_first_on(values: Raw) -> None:
    """A bound may be shorter than the values."""
    found = [value for value in values if value is not None]
    low, high = min(found), max(found)
    array = pa.array(values, pa.binary())
    assert NOTHING_OUTSIDE == verdict(Order.BYTES, array, low[:2], high)
    bad = verdict(Order.BYTES, array, low + b"\0", high[:-1] if high else None)
    assert (found.count(low), values.index(low)) == bad[:2]
    assert (bad[2] > 0) == bool(high)


@settings(deadline=None)
@given(st.lists(st.none() | st.binary(min_size=3, max_size=3), min_size=1, max_size=20).filter(any_value))
def test_bytes_of_a_fixed_size_compare_alike(values: Raw) -> None:
    """Whatever the width of the bound."""
    found = [value for value in values if value is not None]
    array = pa.array(values, pa.binary(3))
    assert NOTHING_OUTSIDE == verdict(Order.BYTES, array, min(found), max(found))
    assert sum(v < b"\x80" for v in found) == verdict(Order.BYTES, array, b"\x80", None)[0]


@settings(deadline=None)
@given(
    st.booleans(), st.lists(st.none() | st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=20), st.data()
)
def test_decimals_compare_as_signed_big_endian_numbers(
    fixed: bool, values: list[int | None], data: st.DataObject
) -> None:
    """Also where each value takes as many bytes as it likes."""
    widths = st.just(5) if fixed else st.integers(4, 9)
    raw = [None if v is None else v.to_bytes(data.draw(widths), "big", signed=True) for v in values]
    array = pa.array(raw, pa.binary(5) if fixed else pa.binary())
    numbers = [value for value in values if value is not None]
    if not numbers:
        assert NOTHING_OUTSIDE == verdict(Order.DECIMAL, array, b"\1", b"\0")
        return
    low, high = min(numbers), max(numbers)
    packed = [bound.to_bytes(6, "big", signed=True) for bound in (low, high, low + 1, high - 1)]
    assert NOTHING_OUTSIDE == verdict(Order.DECIMAL, array, packed[0], packed[1])
    bad = verdict(Order.DECIMAL, array, packed[2], packed[3])
    expected = (numbers.count(low), values.index(low), numbers.count(high), values.index(high))
    assert expected == bad


@given(st.lists(st.integers(-(1 << 95) + 1, (1 << 95) - 2), min_size=1, max_size=9))
def test_numbers_of_twelve_bytes_are_compared_as_numbers(values: list[int]) -> None:
    array = pa.array([value.to_bytes(12, "little", signed=True) for value in values], pa.binary(12))
    low, high = min(values), max(values)
    packed = [bound.to_bytes(12, "little", signed=True) for bound in (low, high, low + 1, high - 1)]

    assert NOTHING_OUTSIDE == verdict(Order.SIGNED_12, array, packed[0], packed[1])
    expected = (values.count(low), values.index(low), values.count(high), values.index(high))
    assert expected == verdict(Order.SIGNED_12, array, packed[2], packed[3])


def test_decimals_beyond_all_measure_are_not_compared() -> None:
    """They would be extended to their longest."""
    with pytest.raises(NotChecked, match="decimals of 1000 bytes"):
        verdict(Order.DECIMAL, pa.array([b"\0" * 1000, b"\1"], pa.binary()), b"\0", b"\1")


def test_booleans_compare_false_before_true() -> None:
    """Bounds are bytes 0 and 1."""
    values = pa.array([True, None, False])
    assert NOTHING_OUTSIDE == verdict(Order.BOOLEAN, values, b"\0", b"\1")
    assert (1, 2, 1, 0) == verdict(Order.BOOLEAN, values, b"\1", b"\0")


def test_a_bound_of_another_width_bounds_nothing() -> None:
    """Another rule reports that its size is wrong."""
    values = pa.array([1, 2], pa.int32())
    assert NOTHING_OUTSIDE == verdict(Order.SIGNED, values, struct.pack("<q", 5), b"\0")


def test_bounds_are_shown_for_people() -> None:
    """Numbers as numbers, text as text, bytes as hex."""
    given_ = [
        (Order.SIGNED, struct.pack("<i", -5)),
        (Order.BOOLEAN, b"\1"),
        (Order.BYTES, b"tea"),
        (Order.BYTES, bytes(range(24))),
        (None, b"\xff\0"),
    ]
    expected = ["-5", "True", "'tea'", f"0x{bytes(range(20)).hex()}…", "0xff00"]
    assert expected == [shown(order, raw) for order, raw in given_]


# -------------------------------------------------------------------------------------------- bloom filters


@pytest.mark.parametrize("width", range(80))
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
