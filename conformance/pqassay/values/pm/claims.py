"""The claims of ``_pm`` about the values of a column chunk, compared with them: bounds, nulls, a bloom filter, and that they ascend.

What its rules make of it, `pqassay.checks.pm.values` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pqassay.values.claims.bloom import absent
from pqassay.values.claims.bounds import BoundsAudit
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay_spec.parquet.column_order import Order


@dataclass(frozen=True)
class Said:
    """The claims about a column chunk.

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


@dataclass(frozen=True)
class Outside:
    """Values that break what is said: how many there are, where the first one is among values and nulls, and which it is."""

    count: int = 0
    first: int = -1
    value: bytes = b""


@dataclass(frozen=True)
class BoundFound:
    """A bound, compared with the values.

    Attributes:
        beyond: The values beyond it.
        is_met: Whether a value equals it; ``None`` where it bounds nothing.
    """

    beyond: Outside = field(default_factory=Outside)
    is_met: bool | None = None


@dataclass(frozen=True)
class Descents:
    """The places where the values of a column descend, counted.

    Attributes:
        count: How often.
        first: Where the first value is that is less than the one before it, among values and nulls.
        previous: Where that one is; ``None`` if in a row group before.
        before, after: These two values.
        last: The value read last, in whatever chunk; ``None`` before the first.
    """

    count: int = 0
    first: int = -1
    previous: int | None = None
    before: int = 0
    after: int = 0
    last: int | None = None


@dataclass(frozen=True)
class Found:
    """The values as they are.

    Attributes:
        minimum, maximum: The bounds, compared.
        values: Values, nulls included; of a list, its items.
        nulls: Nulls among them.
        lacking: Values that the bloom filter does not hold; NaN, which no reader looks for, is none.
        descents: Where the values descend.
    """

    minimum: BoundFound
    maximum: BoundFound
    values: int
    nulls: int
    lacking: Outside
    descents: Descents


def compare(values: ChunkValues, stated: Said, last: int | None) -> Found:
    """Compare the values of a chunk with what is said about them.

    Args:
        values: The values.
        stated: The statements.
        last: The value read last in row groups before, of a column that ascends.

    Raises:
        NotChecked: They cannot be compared.
    """
    bounds = BoundsAudit(values, np.array([0, values.count]))
    return Found(
        _bound(bounds, stated.order, stated.minimum, above=False),
        _bound(bounds, stated.order, stated.maximum, above=True),
        values.entries,
        values.entries - values.count,
        _lacking(values, stated.bitset),
        _descents(values, last) if stated.ascends else Descents(),
    )


def _bound(bounds: BoundsAudit, order: Order | None, raw: bytes | None, *, above: bool) -> BoundFound:
    """A bound that is no value of the type bounds nothing: another rule says what is wrong with it."""
    if order is None or raw is None or not bounds.is_usable(order, raw):
        return BoundFound()
    beyond = bounds.of_chunk(order, raw, above=above)
    if beyond is None:
        return BoundFound(is_met=bounds.is_met(order, raw, above=above))
    return BoundFound(_outside(bounds.found, beyond.place, beyond.total))


def _outside(values: ChunkValues, place: int, count: int) -> Outside:
    return Outside(count, values.entry_of(place), values.raw_of(place))


def _lacking(values: ChunkValues, bitset: bytes | None) -> Outside:
    mask = None if bitset is None else absent(values, bitset)
    if mask is None:
        return Outside()
    mask &= ~values.is_nan
    return _outside(values, int(mask.argmax()), int(np.count_nonzero(mask))) if mask.any() else Outside()


def _descents(values: ChunkValues, last: int | None) -> Descents:
    """Of integers; nulls are passed over."""
    if not values.count:
        return Descents(last=last)
    numbers = values.values.to_numpy()
    falls = np.concatenate(([last is not None and numbers[0] < last], numbers[1:] < numbers[:-1]))
    if not falls.any():
        return Descents(last=int(numbers[-1]))
    place = int(falls.argmax())
    return Descents(
        int(np.count_nonzero(falls)),
        values.entry_of(place),
        values.entry_of(place - 1) if place else None,
        int(numbers[place - 1]) if place else last or 0,
        int(numbers[place]),
        int(numbers[-1]),
    )
