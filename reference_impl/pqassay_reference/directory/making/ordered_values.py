"""Values of one column in a form whose natural order is the column's order, and as the PLAIN bytes of a blob.

Numbers become integers with the same order, and decimals in bytes become bytes with the same order. Results of Arrow's
grouping, sorting and comparing are therefore in the order of the chapter, and are converted back to PLAIN bytes at the end.

Source: chapter ``directory.md``, section "Values in blobs".
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay_reference.directory.making.described_data import DescribedColumn
from pqassay_reference.errors import Undecodable
from pqassay_spec.directory.packed_values import LENGTH_SIZE
from pqassay_spec.parquet.column_order import TOTAL, Order
from pqassay_spec.parquet.thrift import Type

AnyNumbers = NDArray[Any]

_UNSIGNED = {pa.int32(): pa.uint32(), pa.int64(): pa.uint64()}
_FLOATING: dict[int, tuple[Any, Any]] = {
    2: (pa.float16(), pa.int16()),
    4: (pa.float32(), pa.int32()),
    8: (pa.float64(), pa.int64()),
}
"""Floating point types by their width in bytes, with the integers of the same width."""

_NUMBERS_IN_BYTES: dict[Order | None, Literal["big", "little"]] = {
    Order.DECIMAL: "big",
    Order.SIGNED_12: "little",
}
"""Orders of whole numbers that are stored as bytes, with their byte order."""

_PREFIX = 4
"""Bytes of the prefix with the sign and the length of such a number."""
_ZERO_PREFIX = 1 << 8 * _PREFIX - 1


class OrderedValues(NamedTuple):
    """The values of a column in some rows.

    Attributes:
        values: An Arrow array in the order of the column, or a dictionary of such values; null for null and
            for NaN.
        nan: For each row, whether it is NaN, as an Arrow array.
    """

    values: Any
    nan: Any

    def slice(self, start: int, stop: int) -> OrderedValues:
        """The values of a range of rows."""
        return OrderedValues(self.values.slice(start, stop - start), self.nan.slice(start, stop - start))

    @property
    def nan_count(self) -> int:
        """The number of rows that are NaN."""
        return int(self.nan.true_count)

    @property
    def distinct(self) -> Any:
        """The distinct values, in any order."""
        return united([pc.unique(self.values)])


def ordered_values(column: DescribedColumn, stored: Any) -> OrderedValues:
    """The values of a column.

    Args:
        column: The column.
        stored: A chunked array of its physical type, or of references to a dictionary of it.

    Raises:
        Undecodable: A row refers to a missing entry of its dictionary.
    """
    _require_entries(column, stored)
    array: Any = stored.unify_dictionaries().combine_chunks()
    if is_bytes(column):
        if column.order in _NUMBERS_IN_BYTES:
            array = _ordered_numbers(array, _NUMBERS_IN_BYTES[column.order])
        elif not pa.types.is_dictionary(array.type):
            array = array.cast(pa.binary())
        return OrderedValues(array, pa.repeat(False, len(array)))
    if column.order in TOTAL:
        floating, whole = _FLOATING[array.type.byte_width]
        nan = pc.is_nan(array.view(floating)).fill_null(False)
        numbers = pa.array(_turned(numbers_of(array.view(whole))))
        if array.null_count or nan.true_count:
            numbers = pc.if_else(pc.or_(nan, array.is_null()), None, numbers)
        return OrderedValues(numbers, nan)
    if column.kind == Type.BOOLEAN:
        array = array.cast(pa.uint8())
    elif column.order is Order.UNSIGNED:
        array = array.view(_UNSIGNED[array.type])
    return OrderedValues(array, pa.repeat(False, len(array)))


def is_bytes(column: DescribedColumn) -> bool:
    """Whether values are byte arrays, of fixed length or not, except floating point numbers."""
    return column.kind in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY) and column.order not in TOTAL


def joined(several: list[Any]) -> Any:
    """Several arrays of values as one."""
    arrays: list[Any] = [
        array.cast(pa.binary()) if pa.types.is_dictionary(array.type) else array
        for array in several
        if len(array)
    ]
    return pa.concat_arrays(arrays) if arrays else pa.array([], pa.uint8())


def united(several: list[Any]) -> Any:
    """The distinct values of several arrays of values, in any order and without null."""
    return pc.unique(joined(several)).drop_null()


def _require_entries(column: DescribedColumn, stored: Any) -> None:
    """Raise `Undecodable` if a row refers to a missing entry of its dictionary, because the decoder does not check that."""
    for chunk in stored.chunks if pa.types.is_dictionary(stored.type) else []:
        ends: Any = pc.min_max(chunk.indices)
        least, greatest, count = ends["min"].as_py(), ends["max"].as_py(), len(chunk.dictionary)
        if least is not None and not 0 <= least <= greatest < count:
            raise Undecodable(
                f"column {column.leaf.name}: a row refers to entry {greatest} of a dictionary of {count}"
            )


# ------------------------------------------------------------------------------------------------------ numbers


def _turned(bits: AnyNumbers) -> AnyNumbers:
    """The bits of floating point numbers as integers in IEEE 754 total order, and back."""
    if not len(bits) or bits.min() >= 0:
        return bits  # which compare as they are
    turned: AnyNumbers = bits ^ (bits >> (8 * bits.dtype.itemsize - 1) & np.iinfo(bits.dtype).max)
    return turned


def numbers_of(values: Any) -> AnyNumbers:
    """Whole numbers as a numpy array, with 0 for null."""
    numbers: AnyNumbers = (values.fill_null(0) if values.null_count else values).to_numpy()
    return numbers


def doubles(column: DescribedColumn, values: Any) -> NDArray[np.float64]:
    """Values of a column as doubles, with decimals unscaled; a null becomes 0."""
    if values.null_count == len(values):
        return np.zeros(len(values))
    if is_bytes(column):
        distinct = values.dictionary_encode() if not pa.types.is_dictionary(values.type) else values
        numbers = pa.array([float(number) for number in decimals(distinct.dictionary)], pa.float64())
        return np.asarray(numbers.take(distinct.indices).fill_null(0))
    whole = numbers_of(values)
    if column.order in TOTAL:
        whole = _turned(whole).view(f"<f{whole.dtype.itemsize}")
    return whole.astype(np.float64, copy=False)


# ------------------------------------------------------------------------------------- numbers in bytes


def _ordered_numbers(array: Any, end: Literal["big", "little"]) -> Any:
    """Numbers in bytes, converted through a dictionary to bytes with the same order; equal numbers are ordered by their stored bytes."""
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    ordered = [_ordered_number(raw, end) for raw in array.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(array.indices, pa.array(ordered, pa.binary()))


def _ordered_number(raw: bytes, end: Literal["big", "little"]) -> bytes:
    r"""Sign and length, then the number in as few bytes as possible, then the stored bytes.

    >>> _ordered_number(b"\xff", "big") < _ordered_number(b"\xff\xff", "big") < _ordered_number(b"\x01", "big")
    True
    """
    number = int.from_bytes(raw, end, signed=True)
    size = number.bit_length() // 8 + 1
    prefix = _ZERO_PREFIX + size if number >= 0 else _ZERO_PREFIX - size
    return prefix.to_bytes(_PREFIX, "big") + number.to_bytes(size, "big", signed=True) + raw


def _number_end(ordered: bytes) -> int:
    return _PREFIX + abs(int.from_bytes(ordered[:_PREFIX], "big") - _ZERO_PREFIX)


def decimals(values: Any) -> list[int]:
    """The unscaled numbers of decimals."""
    return [
        int.from_bytes(ordered[_PREFIX : _number_end(ordered)], "big", signed=True)
        for ordered in values.to_pylist()
    ]


# ----------------------------------------------------------------------------------------------- back into bytes


def plain_bytes(column: DescribedColumn, values: Any) -> bytes:
    """The PLAIN bytes of values that are not null, one after the other."""
    if not len(values):
        return b""
    if column.kind == Type.BOOLEAN:
        return np.packbits(np.asarray(values), bitorder="little").tobytes()
    if not is_bytes(column):
        numbers = np.asarray(values)
        return (_turned(numbers) if column.order in TOTAL else numbers).tobytes()
    raws = each_plain(column, values)
    if column.kind == Type.BYTE_ARRAY:
        raws = [len(raw).to_bytes(LENGTH_SIZE, "little") + raw for raw in raws]
    return b"".join(raws)


def each_plain(column: DescribedColumn, values: Any) -> list[bytes]:
    """The PLAIN bytes of each value that is not null; a boolean takes one byte, and byte arrays are without their length."""
    if is_bytes(column):
        raws: list[bytes] = values.to_pylist()
        if column.order in _NUMBERS_IN_BYTES:
            return [raw[_number_end(raw) :] for raw in raws]
        return raws
    numbers = np.asarray(values)
    data = (_turned(numbers) if column.order in TOTAL else numbers).tobytes()
    width = numbers.dtype.itemsize
    return [data[at : at + width] for at in range(0, len(data), width)]


__all__ = [
    "OrderedValues",
    "decimals",
    "doubles",
    "each_plain",
    "is_bytes",
    "joined",
    "numbers_of",
    "ordered_values",
    "plain_bytes",
    "united",
]
