"""The values of one column chunk, decoded once and compared with everything that is said about them.

Memory stays at one batch.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay.physical_values import batches
from pqassay.value_hashes import missing
from pqassay.value_order import BoundsCheck, Order, Outside, stored_bytes


@dataclass
class Descents:
    """Where the values of a column descend, from row group to row group.

    Attributes:
        count: How often.
        first: Where the first value stands that is less than the one before it, in its column chunk.
        before, after: These two values.
    """

    count: int = 0
    first: int = -1
    before: int = 0
    after: int = 0


@dataclass
class Ascent:
    """The designated timestamp while it is read from the first row on; ``last`` is the value read last."""

    last: int | None = None

    def add(self, array: pa.Array[Any], position: int, descents: Descents) -> None:
        """Take further values, the first of which stands at ``position`` in its chunk; nulls are passed over."""
        values = array.drop_null()
        if not len(values):
            return
        if self.last is not None and values[0].as_py() < self.last:
            _note(descents, 1, position, self.last, values[0].as_py())
        falls: Any = pc.less(values[1:], values[:-1])
        if count := pc.sum(falls).as_py():
            place = pc.index(falls, True).as_py()
            _note(descents, count, position + place + 1, values[place].as_py(), values[place + 1].as_py())
        self.last = values[-1].as_py()


def _note(descents: Descents, count: int, first: int, before: int, after: int) -> None:
    if not descents.count:
        descents.first, descents.before, descents.after = first, before, after
    descents.count += count


@dataclass(frozen=True)
class Said:
    """What is said about a column chunk.

    Attributes:
        order: The order of its values; ``None`` where there is none.
        minimum, maximum: Its bounds, ``None`` without.
        bitset: Its bloom filter, ``None`` without.
        ascent: The order that goes on in this chunk, of the designated timestamp alone.
    """

    order: Order | None = None
    minimum: bytes | None = None
    maximum: bytes | None = None
    bitset: bytes | None = None
    ascent: Ascent | None = None


@dataclass
class Found:
    """What the values are.

    Attributes:
        bounds: The comparison with the bounds; ``None`` without order.
        values: Values, nulls included; of a list, its items.
        nulls: Nulls among them.
        lacking: Values that the bloom filter does not hold.
        descents: Where the values descend.
    """

    bounds: BoundsCheck | None
    values: int = 0
    nulls: int = 0
    lacking: Outside = field(default_factory=Outside)
    descents: Descents = field(default_factory=Descents)


def scan(file: pq.ParquetFile, row_group: int, ordinal: int, name: str, said: Said) -> Found:
    """Decode a column chunk and compare it with what is said about it.

    Args:
        file: A file from `pqassay.physical_values.open_physical`.
        row_group: Position of the row group.
        ordinal: Position of the column among all leaves.
        name: What messages call the column.
        said: What is said.

    Raises:
        NotChecked: The pages cannot be decoded, or the values not be compared.
    """
    found = Found(None if said.order is None else BoundsCheck(said.order, said.minimum, said.maximum))
    for array in batches(file, row_group, ordinal, name):
        if found.bounds is not None:
            found.bounds.add(array)
        if said.bitset is not None:
            _probe(said.bitset, array, found)
        if said.ascent is not None:
            said.ascent.add(array, found.values, found.descents)
        found.values += len(array)
        found.nulls += array.null_count
    return found


def _probe(bitset: bytes, array: pa.Array[Any], found: Found) -> None:
    lacking = missing(bitset, array)
    if len(lacking):
        mask: Any = pc.is_in(array, value_set=lacking)
        if not found.lacking.count:
            place = pc.index(mask, True).as_py()
            found.lacking.first = found.values + place
            found.lacking.value = stored_bytes(array[place : place + 1])
        found.lacking.count += pc.sum(mask).as_py()
