r"""Values of a column in a blob, in PLAIN encoding, one after the other.

    >>> split_values(Type.BYTE_ARRAY, None, bytes.fromhex("03000000 74696e 04000000 6c656164"), 2)
    [b'tin', b'lead']
    >>> split_values(Type.INT32, None, bytes.fromhex("07000000 08000000"), 2)
    [b'\x07\x00\x00\x00', b'\x08\x00\x00\x00']

A value has exactly the bytes of its type; a BOOLEAN takes one bit.

Source: chapter ``directory.md``, section "Values in blobs"; apache/parquet-format, ``Encodings.md``, section "Plain".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.column_order import Order, keys, type_order
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH, LENGTH, packed_booleans
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import Type

BITS = 8
"""BOOLEAN values in one byte."""

LENGTH_SIZE = LENGTH.sizeof()
"""Bytes of the length before a BYTE_ARRAY value."""


def value_width(kind: int | None, type_length: int | None) -> int | None:
    """Bytes of a value of a physical type; ``None`` if values differ in length (BYTE_ARRAY) or are bits (BOOLEAN)."""
    if kind == Type.FIXED_LEN_BYTE_ARRAY:
        return type_length
    return FIXED_WIDTH[Type(kind)].sizeof() if kind in FIXED_WIDTH else None


def split_values(kind: int, type_length: int | None, data: bytes, count: int) -> list[bytes]:
    """The bytes of each value; a BOOLEAN is one byte, 0 or 1, and a BYTE_ARRAY comes without its length.

    Raises:
        Malformed: Rule DIR-022, the bytes are not those of ``count`` values.
    """
    if kind == Type.BOOLEAN:
        _require(len(data) == -(-count // BITS), data, count)
        values = [data[place // BITS] >> place % BITS & 1 for place in range(count)]
        _require(packed_booleans([bool(value) for value in values]) == data, data, count)
        return [bytes((value,)) for value in values]
    if kind != Type.BYTE_ARRAY:
        width = value_width(kind, type_length)
        _require(width is not None and width >= 0 and len(data) == count * width, data, count)
        assert width is not None
        return [data[place * width : (place + 1) * width] for place in range(count)]
    values_found: list[bytes] = []
    position = 0
    for _ in range(count):
        start = position + LENGTH_SIZE
        _require(start <= len(data), data, count)
        end = start + LENGTH.parse(data[position:start])
        _require(end <= len(data), data, count)
        values_found.append(data[start:end])
        position = end
    _require(position == len(data), data, count)
    return values_found


def _require(good: bool, data: bytes, count: int) -> None:
    if not good:
        raise Malformed(f"{len(data)} bytes are not {count} values in the PLAIN encoding", rule="DIR-022")


def join_values(kind: int, values: Iterable[bytes]) -> bytes:
    """The inverse of `split_values`."""
    if kind == Type.BOOLEAN:
        return packed_booleans([value != b"\x00" for value in values])
    if kind == Type.BYTE_ARRAY:
        return b"".join(LENGTH.build(len(value)) + value for value in values)
    return b"".join(values)


# --8<-- [start:order]
def sort_keys(order: Order, values: Sequence[bytes]) -> list[Any]:
    r"""Keys that Python sorts in the order of values in a blob; decimals of equal value are ordered by their bytes.

    >>> sort_keys(Order.DECIMAL, [bytes.fromhex("ff"), bytes.fromhex("ffff")])
    [(-1, b'\xff'), (-1, b'\xff\xff')]
    """
    found = keys(order, values)
    return list(zip(found, values, strict=True)) if order is Order.DECIMAL else found


# --8<-- [end:order]


# --8<-- [start:describable]
def order_in_blobs(leaf: SchemaLeaf) -> Order | None:
    """The order of a column's values in a blob; ``None`` if indexes of this chapter cannot describe the column.

    It is the type-defined order, except for floating point numbers, which are in IEEE 754 total order, so
    both zeros have a place.  A column has to have one value a row, and a type that has an order.
    """
    if leaf.max_repetition_level:
        return None
    order = type_order(leaf.element)
    return {Order.FLOAT: Order.TOTAL, Order.HALF: Order.HALF_TOTAL}.get(order, order) if order else None


# --8<-- [end:describable]
