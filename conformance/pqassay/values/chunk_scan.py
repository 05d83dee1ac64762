"""The values of column chunks, decoded once and compared with everything that is said about them.

Memory stays at one batch of a few columns.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay.under_test.file import NotChecked
from pqassay.values.hashes import missing
from pqassay.values.order import BoundsCheck, Outside, stored_bytes
from pqassay.values.physical import batches, require_physical
from pqassay_spec.parquet.column_order import Order
from pqassay_spec.parquet.schema import SchemaLeaf

TOGETHER = 32
"""Columns that are decoded together, since each call takes its time."""

TOGETHER_BYTES = 64 << 20
"""Bytes of a row group's chunks, without compression, that are decoded together."""


@dataclass
class Descents:
    """Where the values of a column descend.

    Attributes:
        count: How often.
        first: Where the first value stands that is less than the one before it, in its column chunk.
        before, after: These two values.
        last: The value read last, in whatever chunk; ``None`` before the first.
    """

    count: int = 0
    first: int = -1
    before: int = 0
    after: int = 0
    last: int | None = None

    def add(self, array: pa.Array[Any], position: int) -> None:
        """Take further values, the first of which stands at ``position`` in its chunk; nulls are passed over."""
        values = array.drop_null()
        if not len(values):
            return
        if self.last is not None and values[0].as_py() < self.last:
            self._note(1, position, self.last, values[0].as_py())
        falls: Any = pc.less(values[1:], values[:-1])
        if count := pc.sum(falls).as_py():
            place = pc.index(falls, True).as_py()
            self._note(count, position + place + 1, values[place].as_py(), values[place + 1].as_py())
        self.last = values[-1].as_py()

    def _note(self, count: int, first: int, before: int, after: int) -> None:
        if not self.count:
            self.first, self.before, self.after = first, before, after
        self.count += count


@dataclass(frozen=True)
class Said:
    """What is said about a column chunk.

    Attributes:
        order: The order of its values; ``None`` where there is none.
        minimum, maximum: Its bounds, ``None`` without.
        bitset: Its bloom filter, ``None`` without.
        ascends: Whether its values ascend, and go on where those of the row group before ended.
    """

    order: Order | None = None
    minimum: bytes | None = None
    maximum: bytes | None = None
    bitset: bytes | None = None
    ascends: bool = False


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


@dataclass
class Chunk:
    """A column chunk that is to be compared.

    Attributes:
        ordinal: Position of the column among all leaves.
        leaf: The column.
        said: What is said about it.
        size: Bytes of its values without compression, as far as known.
        last: The value read last in row groups before, of a column that ascends.
    """

    ordinal: int
    leaf: SchemaLeaf
    said: Said
    size: int
    last: int | None = None

    @property
    def is_flat(self) -> bool:
        """Whether the column stands alone below the root, and holds no lists."""
        return self.leaf.parent.parent is None and not self.leaf.max_repetition_level

    def nothing(self) -> Found:
        """What is known before the first value."""
        said = self.said
        bounds = None if said.order is None else BoundsCheck(said.order, said.minimum, said.maximum)
        return Found(bounds, descents=Descents(last=self.last))


Outcome = Found | NotChecked
"""What was found out about a chunk, or why nothing was."""


def scan(file: pq.ParquetFile, row_group: int, chunks: Sequence[Chunk]) -> list[Outcome]:
    """Decode column chunks of one row group and compare them with what is said about them.

    Args:
        file: A file from `pqassay.values.physical.open_physical`.
        row_group: Position of the row group.
        chunks: The chunks, by ordinal.

    Returns:
        For each chunk what was found.
    """
    found: list[Outcome] = []
    for part in _parts(chunks):
        try:
            found += _scan(file, row_group, part)
        except NotChecked as reason:
            # One that cannot be decoded spoils it for those that were decoded together with it.
            found += [reason] if len(part) == 1 else [_scan_alone(file, row_group, chunk) for chunk in part]
    return found


def _parts(chunks: Sequence[Chunk]) -> Iterator[Sequence[Chunk]]:
    """The chunks in the same order, in groups that may be decoded together."""
    part: list[Chunk] = []
    size = 0
    for chunk in chunks:
        fits = chunk.is_flat and len(part) < TOGETHER and size + chunk.size <= TOGETHER_BYTES
        if part and not (fits and part[-1].is_flat):
            yield part
            part, size = [], 0
        part.append(chunk)
        size += chunk.size
    if part:
        yield part


def _scan_alone(file: pq.ParquetFile, row_group: int, chunk: Chunk) -> Outcome:
    try:
        return _scan(file, row_group, [chunk])[0]
    except NotChecked as reason:
        return reason


def _scan(file: pq.ParquetFile, row_group: int, chunks: Sequence[Chunk]) -> list[Found]:
    found = [chunk.nothing() for chunk in chunks]
    name = chunks[0].leaf.name if len(chunks) == 1 else f"{chunks[0].leaf.name} and others"
    for arrays in batches(file, row_group, [chunk.ordinal for chunk in chunks], name):
        for chunk, array, state in zip(chunks, arrays, found, strict=True):
            require_physical(array, chunk.leaf)
            _add(chunk.said, array, state)
    return found


def _add(said: Said, array: pa.Array[Any], found: Found) -> None:
    if found.bounds is not None:
        found.bounds.add(array)
    if said.bitset is not None:
        _probe(said.bitset, array, found)
    if said.ascends:
        found.descents.add(array, found.values)
    found.values += len(array)
    found.nulls += array.null_count


def _probe(bitset: bytes, array: pa.Array[Any], found: Found) -> None:
    lacking = missing(bitset, array)
    if len(lacking):
        mask: Any = pc.is_in(array, value_set=lacking)
        if not found.lacking.count:
            place = pc.index(mask, True).as_py()
            found.lacking.first = found.values + place
            found.lacking.value = stored_bytes(array[place : place + 1])
        found.lacking.count += pc.sum(mask).as_py()
