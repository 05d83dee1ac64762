"""Values of one column as numbers that compare like them, and as the PLAIN bytes of a blob.

Numbers become the integers that their order compares; byte arrays become their ranks among the distinct values.  Both turn
back into PLAIN bytes, all at once.

Source: chapter ``directory.md``, section "Values in blobs".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay_reference.directory.making.described_data import DescribedColumn
from pqassay_reference.errors import Undecodable
from pqassay_spec.directory.packed_values import LENGTH_SIZE
from pqassay_spec.parquet.column_order import TOTAL, Order, key
from pqassay_spec.parquet.thrift import Type

AnyNumbers = NDArray[Any]
Flags = NDArray[np.bool_]

_UNSIGNED = {pa.int32(): np.uint32, pa.int64(): np.uint64}


@dataclass(frozen=True)
class Uniques:
    """Distinct values of a column, ascending: integers in the place of numbers, or the byte arrays themselves.

    Attributes:
        column: The column.
        values: A numpy array of sortable integers, or an Arrow array of bytes.
    """

    column: DescribedColumn
    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def plain(self) -> bytes:
        """Their PLAIN bytes, one behind the other."""
        return plain_bytes(self.column, self.values)

    def each(self) -> list[bytes]:
        """The PLAIN bytes of each; byte arrays come without their length."""
        return each_plain(self.column, self.values)

    def first(self, count: int) -> Uniques:
        """The least of them."""
        return Uniques(self.column, self.values[:count])


class ColumnValues:
    """The values of a column in some rows.

    Args:
        column: The column.
        values: A chunked array of its physical type, or of references to a dictionary of it.

    Attributes:
        null: For each row, whether it is null; ``None`` where none is.
        nan: For each row, whether it is NaN; ``None`` where none is.

    Raises:
        Undecodable: A row refers to an entry that its dictionary does not have.
    """

    def __init__(self, column: DescribedColumn, values: Any) -> None:
        self.column = column
        _require_entries(column, values)
        array = _one_array(values)
        self._length = len(array)
        self.nan: Flags | None = None
        self.null: Flags | None = None
        if array.null_count:
            self.null = array.is_null().to_numpy(zero_copy_only=False)
        self._bytes: _DistinctBytes | None = None
        if is_bytes(column):
            self._bytes = _distinct_bytes(column, array)
            return
        self.codes = _codes(column, array)
        if column.order in TOTAL and len(self.codes):
            nan = _nan(self.codes, *self.ends)
            if nan is not None and self.null is not None:
                nan &= ~self.null
            self.nan = nan

    @cached_property
    def ends(self) -> tuple[Any, Any]:
        """The least and the greatest code of numbers, those where `valid` is false among them."""
        return self.codes.min(), self.codes.max()

    @cached_property
    def valid(self) -> Flags:
        """For each row, whether it is neither null nor NaN."""
        found = np.ones(self._length, np.bool_) if self.null is None else ~self.null
        return found if self.nan is None else found & ~self.nan

    @cached_property
    def codes(self) -> AnyNumbers:
        """For each row, a number that compares like its value; anything where `valid` is false."""
        found = self._bytes
        return np.zeros(0, np.uint8) if found is None else found.ranks.take(found.places)

    def __len__(self) -> int:
        return self._length

    @property
    def distinct_bytes(self) -> Any:
        """Distinct byte arrays, ascending, to which `codes` are positions; ``None`` of numbers. Some may be in no row."""
        return None if self._bytes is None else self._bytes.values

    def floats(self, codes: AnyNumbers) -> NDArray[np.float64]:
        """The doubles with some codes, of a column of floating point numbers."""
        bits = _turned(codes) if len(codes) and self.ends[0] < 0 else codes
        return bits.view(np.dtype(f"<f{bits.dtype.itemsize}")).astype(np.float64, copy=False)

    def with_codes(self, codes: AnyNumbers) -> Any:
        """The values with some codes, as `plain_bytes` takes them: byte arrays in an Arrow array, of numbers the codes themselves."""
        return codes if self._bytes is None else self._bytes.values.take(pa.array(codes))

    def uniques(self, start: int, stop: int) -> Uniques:
        """The distinct values of some rows that are neither null nor NaN."""
        if self._bytes is not None:
            return Uniques(self.column, self._bytes.of_rows(start, stop, self.null))
        codes = self.codes[start:stop]
        if self.null is not None or self.nan is not None:
            codes = codes[self.valid[start:stop]]
        found: Any = pc.unique(pa.array(codes)) if len(codes) else pa.array(codes)
        return Uniques(self.column, np.sort(found.to_numpy(zero_copy_only=False)))


def united(column: DescribedColumn, parts: list[Uniques]) -> Uniques:
    """The distinct values of several parts."""
    if len(parts) == 1:
        return parts[0]
    if not is_bytes(column):
        pieces = [part.values for part in parts]
        return Uniques(column, np.unique(np.concatenate(pieces)) if pieces else _no_codes(column))
    pieces = [part.values for part in parts]
    found: Any = pa.concat_arrays(pieces).unique() if pieces else pa.array([], pa.binary())
    return Uniques(column, found.take(_byte_order(column, found)))


def joined(column: DescribedColumn, several: Sequence[Any]) -> Any:
    """Values as `ColumnValues.with_codes` gives them, of several parts."""
    if not is_bytes(column):
        return np.concatenate(several) if several else _no_codes(column)
    return pa.concat_arrays(several) if several else pa.array([], pa.binary())


def stored_array(column: DescribedColumn, values: Any, null: Flags) -> Any:
    """Values at the places that are not null, as the array of the physical type that `ColumnValues` takes."""
    places = np.cumsum(~null) - 1
    chosen = pa.array(places, mask=null)
    if is_bytes(column):
        return values.take(chosen)
    numbers = _numbers(column, values)
    whole: Any = pa.array(
        numbers.astype(np.bool_) if column.kind == Type.BOOLEAN else _signed(column, numbers)
    )
    return whole.take(chosen)


def is_bytes(column: DescribedColumn) -> bool:
    """Whether values are byte arrays, of one length or not, that are no floating point numbers."""
    return column.kind in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY) and column.order not in TOTAL


def _require_entries(column: DescribedColumn, values: Any) -> None:
    """Raise `Undecodable` where a row refers beyond its dictionary, which the decoder lets pass."""
    if not pa.types.is_dictionary(values.type):
        return
    chunks: list[Any] = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    for chunk in chunks:
        ends: Any = pc.min_max(chunk.indices)
        if ends["min"].is_valid and not 0 <= ends["min"].as_py() <= ends["max"].as_py() < len(
            chunk.dictionary
        ):
            raise Undecodable(
                f"column {column.leaf.name}: a row refers to entry {ends['max']} of a dictionary of {len(chunk.dictionary)}"
            )


def _one_array(values: Any) -> Any:
    """A chunked array in one piece."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    if pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)


# ------------------------------------------------------------------------------------------------------ numbers


def _codes(column: DescribedColumn, array: Any) -> AnyNumbers:
    """Numbers as integers in their order."""
    if column.kind == Type.BOOLEAN:
        flags: AnyNumbers = pc.fill_null(array, False).cast(pa.uint8()).to_numpy(zero_copy_only=False)
        return flags
    bits = _bits(array)
    if column.order is Order.UNSIGNED:
        return bits.view(_UNSIGNED[array.type])
    return _turned(bits) if column.order in TOTAL else bits


def _bits(array: Any) -> AnyNumbers:
    """The stored integers, or the bits of floating point numbers as signed integers; null rows hold anything."""
    width = array.type.byte_width if pa.types.is_fixed_size_binary(array.type) else array.type.bit_width // 8
    kind, buffer = np.dtype(f"<i{width}"), array.buffers()[1]
    if buffer is None:
        return np.zeros(len(array), kind)
    whole: AnyNumbers = np.frombuffer(buffer, kind, count=buffer.size // width)
    return whole[array.offset : array.offset + len(array)]


def _turned(bits: AnyNumbers) -> AnyNumbers:
    """The bits of floating point numbers as integers in IEEE 754 total order, and back."""
    if not len(bits) or bits.min() >= 0:
        return bits  # which compare as they are
    most = np.array(np.iinfo(bits.dtype).max, bits.dtype)
    signs = bits >> np.array(
        8 * bits.dtype.itemsize - 1, bits.dtype
    )  # all bits of a negative number, none of others
    turned: AnyNumbers = bits ^ (signs & most)
    return turned


def _nan(codes: AnyNumbers, least: Any, greatest: Any) -> Flags | None:
    """Whether numbers, as `_codes` has them with their least and greatest, are NaN: beyond either infinity; ``None`` where none is."""
    highest = {2: 0x7C00, 4: 0x7F80_0000, 8: 0x7FF0_0000_0000_0000}[codes.dtype.itemsize]
    if greatest <= highest and least >= -highest - 1:
        return None
    return (codes > highest) | (codes < -highest - 1)


def _signed(column: DescribedColumn, numbers: AnyNumbers) -> Any:
    """Numbers as pyarrow has their physical type."""
    kinds = {Type.INT32: "<i4", Type.INT64: "<i8", Type.FLOAT: "<f4", Type.DOUBLE: "<f8"}
    kind = kinds.get(Type(column.kind))
    if kind is not None:
        return numbers.view(np.dtype(kind))
    width = numbers.dtype.itemsize
    buffer = pa.py_buffer(numbers.tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(numbers), [None, buffer])


def _no_codes(column: DescribedColumn) -> AnyNumbers:
    kinds = {Type.BOOLEAN: "u1", Type.INT32: "<i4", Type.INT64: "<i8", Type.FLOAT: "<i4", Type.DOUBLE: "<i8"}
    return np.zeros(0, np.dtype(kinds.get(Type(column.kind), "<i2")))


# -------------------------------------------------------------------------------------------------- byte arrays


class _DistinctBytes(NamedTuple):
    """Byte arrays by a dictionary of theirs.

    Attributes:
        values: Distinct ones, ascending; some may be in no row.
        places: For each row the place of its value in the dictionary as it was; any place for null.
        ranks: For each place there the rank of its value.
        order: For each rank the place.
    """

    values: Any
    places: AnyNumbers
    ranks: AnyNumbers
    order: AnyNumbers

    def of_rows(self, start: int, stop: int, null: Flags | None) -> Any:
        """The values that are in some rows."""
        places = self.places[start:stop]
        if null is not None:
            places = places[~null[start:stop]]
        if len(places) < len(self.values):
            return self.values.take(pa.array(np.unique(self.ranks[places])))
        there = np.bincount(places, minlength=len(self.values)) > 0
        return self.values if there.all() else self.values.filter(pa.array(there[self.order]))


def _distinct_bytes(column: DescribedColumn, array: Any) -> _DistinctBytes:
    """The byte arrays of some rows."""
    if pa.types.is_dictionary(array.type):
        indices, values = array.indices, array.dictionary
        if values.null_count or len(pc.unique(values)) < len(values):
            return _distinct_bytes(column, array.dictionary_decode())
    else:
        encoded = array.dictionary_encode()
        indices, values = encoded.indices, encoded.dictionary
    order = np.asarray(_byte_order(column, values)).astype(np.int64)
    ranks = np.empty(len(values), np.min_scalar_type(len(values)))
    ranks[order] = np.arange(len(values))
    places = (indices.fill_null(0) if indices.null_count else indices).to_numpy(zero_copy_only=False)
    if not len(values):  # all rows are null
        ranks = np.zeros(1, np.uint8)
    return _DistinctBytes(values.take(pa.array(order)), places, ranks, order)


def _byte_order(column: DescribedColumn, values: Any) -> Any:
    """The places of distinct byte arrays in ascending order."""
    if column.order is not Order.DECIMAL:
        return pc.sort_indices(values)
    raws = values.to_pylist()
    keys = [(key(Order.DECIMAL, raw), raw) for raw in raws]
    return pa.array(sorted(range(len(raws)), key=keys.__getitem__), pa.int64())


# ----------------------------------------------------------------------------------------------- back into bytes


def plain_bytes(column: DescribedColumn, values: Any) -> bytes:
    """The PLAIN bytes of values, one behind the other; of numbers, these come as their codes."""
    if column.kind == Type.BOOLEAN:
        return np.packbits(np.asarray(values, np.uint8), bitorder="little").tobytes()
    if column.kind == Type.BYTE_ARRAY:
        return _with_lengths(values)
    if is_bytes(column):
        return b"".join(values.to_pylist())
    return _numbers(column, values).tobytes()


def each_plain(column: DescribedColumn, values: Any) -> list[bytes]:
    """The PLAIN bytes of each value; a boolean takes one byte, and byte arrays come without their length."""
    if is_bytes(column):
        found: list[bytes] = values.to_pylist()
        return found
    raw = _numbers(column, values)
    data, width = raw.tobytes(), raw.dtype.itemsize
    return [data[at : at + width] for at in range(0, len(data), width)]


def _numbers(column: DescribedColumn, codes: AnyNumbers) -> AnyNumbers:
    return _turned(codes) if column.order in TOTAL else codes


def _with_lengths(values: Any) -> bytes:
    """Byte arrays, each behind its length."""
    if not len(values):
        return b""
    array = values.cast(pa.large_binary())
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(array.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    starts = np.arange(len(array)) * LENGTH_SIZE + (offsets[:-1] - offsets[0])
    places = (starts[:, None] + np.arange(LENGTH_SIZE)).ravel()
    joined = np.empty(len(array) * LENGTH_SIZE + len(data), np.uint8)
    is_data = np.ones(len(joined), np.bool_)
    is_data[places] = False
    joined[places] = np.diff(offsets).astype(f"<u{LENGTH_SIZE}").view(np.uint8)
    joined[is_data] = data
    return joined.tobytes()


__all__ = [
    "ColumnValues",
    "Uniques",
    "each_plain",
    "is_bytes",
    "joined",
    "plain_bytes",
    "stored_array",
    "united",
]
