"""Ranges: the values of a page or a chunk, with the bounds claimed for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.report.model import FIRST_POSITIONS
from pqassay.values.claims.bound_claims import (
    BoundsOfPages,
    ChunkBound,
    DeprecatedBounds,
    DeprecatedBoundsOfPages,
    ExactBound,
    ExactBoundsOfPages,
    bounds_of,
)
from pqassay.values.claims.rearranged import is_of_one_width
from pqassay.values.claims.value_rules import Compared
from pqassay.values.decoding.chunk_values import ChunkValues, plain
from pqassay.values.decoding.extremes import beyond
from pqassay.values.decoding.hashes import physical_rows
from pqassay.values.decoding.keys import bound_keys, decimal_width, equal, keys_of
from pqassay_spec.parquet.column_order import FLOATING, TOTAL, Order

MOST_LOOKED_AT = 1 << 16
"""The number of values of a page that are searched for traces of damage."""

SHORTEST_PREFIX = 4
"""The size in bytes of the shortest bound that may be a truncated value."""

FAR = 1000.0
"""A value is far beyond the bounds from this distance on, as a multiple of the distance between the bounds."""

NEAR = 0.02
"""Values are close beyond the bounds up to this distance, as a multiple of the distance between the bounds."""

TINY = 2.0**-64
"""The largest ratio of a value to a bound at which the value counts as next to nothing."""


class Range:
    """Values of one page or chunk, with the bounds that they contradict.

    Args:
        values: An array without dictionary.
        order: The order of the values.
        low, high: The bounds.
        page: The number of the page; ``None`` for the chunk.
    """

    def __init__(
        self, values: Any, order: Order, low: bytes | None, high: bytes | None, page: int | None = None
    ) -> None:
        self.values = values
        self.page = page
        self.order = order
        self.low, self.high = low, high

    def _width(self, values: Any, raw: bytes) -> int:
        """The size in bytes to which decimals are extended."""
        return max(decimal_width(values), len(raw), 1) if self.order is Order.DECIMAL else 0

    def _sides(self, values: Any, raw: bytes | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Bool masks of the values below and above a bound; ``None`` if it bounds nothing."""
        if raw is None:
            return None
        width = self._width(values, raw)
        keys, usable = bound_keys(self.order, [raw], values.type, width)
        if not usable[0]:
            return None
        below, above = (beyond(self.order, values, keys[0], width, above=above) for above in (False, True))
        return below, above

    def outside(self, values: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Bool masks of the values below the lower bound and above the upper bound."""
        nothing = np.zeros(len(values), np.bool_)
        low, high = self._sides(values, self.low), self._sides(values, self.high)
        return nothing if low is None else low[0], nothing if high is None else high[1]

    @cached_property
    def crossed(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The `outside` masks of its own values."""
        return self.outside(self.values)

    def fits(self, values: Any, beside: Any) -> bool:
        """Whether values lie within the bounds and, with the other values, reach both; if a value is lost, one is enough."""
        below, above = self.outside(values)
        if below.any() or above.any() or len(pc.unique(values)) < 2 or self._are_next_to_nothing(values):
            return False
        others = Range(pa.concat_arrays([values, beside]), self.order, self.low, self.high)
        return others.met == self.raws or bool(others.met and len(others.values) < len(self.values))

    def _are_next_to_nothing(self, values: Any) -> bool:
        """Whether a nonzero floating-point number is much smaller than both bounds."""
        if self.order not in FLOATING or self.order in TOTAL:
            return False
        greatest = np.abs(np.asarray(bound_keys(self.order, self.raws, values.type, 0)[0], np.float64)).max(
            initial=0
        )
        numbers = np.abs(_numbers(keys_of(self.order, values)))
        return bool(((numbers > 0) & (numbers < TINY * greatest)).any())

    def is_met(self, raw: bytes) -> bool:
        """Whether a bound equals a value, or the beginning of a value."""
        width = self._width(self.values, raw)
        keys, usable = bound_keys(self.order, [raw], self.values.type, width)
        if not usable[0]:
            return False
        if equal(keys_of(self.order, self.values, width), keys[0]).any():
            return True
        if self.order is not Order.BYTES or len(raw) < SHORTEST_PREFIX:
            return False
        texts: Any = self.values.cast(pa.large_binary())
        beginnings: tuple[Any, ...] = raw, raw[:-1]
        return any(pc.any(pc.starts_with(texts, pattern=part)).as_py() for part in beginnings)

    @property
    def raws(self) -> list[bytes]:
        """The existing bounds."""
        return [raw for raw in (self.low, self.high) if raw is not None]

    @property
    def met(self) -> list[bytes]:
        """The existing bounds that values meet."""
        return [raw for raw in self.raws if self.is_met(raw)]

    @property
    def share(self) -> float:
        """The share of the values beyond the bounds."""
        below, above = self.crossed
        return float((below | above).mean()) if len(below) else 0.0

    @cached_property
    def distances(self) -> NDArray[np.float64] | None:
        """The distance of each number beyond the bounds, as a multiple of the distance between the bounds; ``None`` if meaningless."""
        outside = self.crossed[0] | self.crossed[1]
        if (
            len(self.raws) < 2
            or not outside.any()
            or self.order in (Order.BYTES, Order.DECIMAL, Order.SIGNED_12, Order.TIMESTAMP, *TOTAL)
        ):
            return None
        keys, usable = bound_keys(self.order, self.raws, self.values.type, 0)
        numbers = _numbers(keys_of(self.order, self.values))[outside]
        low, high = np.asarray(keys, np.float64)
        if not usable.all() or not low < high:
            return None
        distances: NDArray[np.float64] = np.maximum(low - numbers, numbers - high) / (high - low)
        nearest = min(abs(low), abs(high)) if (low > 0) == (high > 0) else 0.0
        distances[(numbers != 0) & (np.abs(numbers) < TINY * nearest)] = np.inf
        return distances

    @property
    def are_far(self) -> bool:
        """Whether all numbers beyond the bounds are far from them."""
        return self.distances is not None and bool((self.distances > FAR).all())

    @property
    def are_near(self) -> bool:
        """Whether all numbers beyond the bounds are close to them."""
        return self.distances is not None and bool((self.distances < NEAR).all())

    @property
    def is_off_by_a_bit(self) -> bool:
        """Whether the only number far beyond the bounds gets inside when one of its bits is flipped."""
        if self.distances is None or not (self.distances > 1).all() or not is_of_one_width(self.values):
            return False
        outliers = pc.unique(self.values.filter(pa.array(self.crossed[0] | self.crossed[1])))
        if len(outliers) != 1:
            return False
        row = physical_rows(outliers)
        flips = np.packbits(np.eye(8 * row.shape[1], dtype=np.uint8), axis=1)
        flipped: Any = np.ascontiguousarray(row ^ flips)
        buffers: Any = [None, pa.py_buffer(flipped)]
        below, above = self.outside(pa.Array.from_buffers(self.values.type, len(flipped), buffers))
        return not bool((below | above).all())


def _numbers(keys: Any) -> NDArray[np.float64]:
    """Numeric keys as float64; keys of a total order are not numeric."""
    with np.errstate(invalid="ignore"):
        return np.asarray(keys, np.float64)


@dataclass
class Bounds:
    """The bounds of one structure, for a chunk or for each page.

    Attributes:
        path: The path of the structure.
        of_chunk: Whether they are bounds of a chunk.
        sides: The claims; the key is true for upper bounds.
        is_broken: Whether a value contradicts them.
    """

    path: str
    of_chunk: bool
    sides: dict[bool, Any] = field(default_factory=dict[bool, Any])
    is_broken: bool = False

    @property
    def order(self) -> Order | None:
        """The order for comparing values with them, if known."""
        return next((claim.order for claim in self.sides.values()), None)

    def ranges(self, values: ChunkValues, pages: Sequence[int] = ()) -> Iterator[Range]:
        """Yield the ranges of the whole chunk, or of contradicting and requested pages. Raises the errors of `page_starts`."""
        order, low, high = self.order, self.sides.get(False), self.sides.get(True)
        if order is None:
            return
        if self.of_chunk:
            whole = plain(values.values)
            whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
            yield Range(whole, order, low and low.raw, high and high.raw)
            return
        crossed = {each.page for claim in self.sides.values() for each in claim.beyond(values)}
        if (
            self.is_broken and not crossed
        ):  # on some pages, values reach neither of the bounds that are marked exact
            within = [set(self._within(values, claim)) for claim in self.sides.values()]
            crossed = set.intersection(*within)
        for page in sorted(crossed.union(pages)):
            least, greatest = (None if claim is None else claim.raws[page] for claim in (low, high))
            yield Range(page_of(values, page), order, least, greatest, page)

    def mentions(self, chunk: Range) -> bool:
        """Whether the bounds of a chunk also occur among these bounds of its pages."""
        given = [
            raw for claim in self.sides.values() for raw in ([claim.raw] if self.of_chunk else claim.raws)
        ]
        return all(raw in given for raw in chunk.raws)

    def _within(self, values: ChunkValues, claim: BoundsOfPages) -> list[int]:
        """The pages without a value at their bound."""
        pages = bounds_of(values).pages_within(claim.own.order, claim.raws, above=claim.above)
        first: list[int] = pages[:FIRST_POSITIONS].tolist()
        return first


def page_of(values: ChunkValues, page: int) -> Any:
    """The values of a page, at most `MOST_LOOKED_AT`."""
    start, end = values.page_starts[page : page + 2].tolist()
    part = plain(values.values.slice(start, min(end - start, MOST_LOOKED_AT)))
    return part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part


def bounds_among(compared: Sequence[Compared]) -> list[Bounds]:
    """The bounds among claims: contradicted bounds first, and among these the bounds of pages."""
    pairs: dict[tuple[bool, bool, str], Bounds] = {}
    exact: set[tuple[bool, str]] = set()
    for each in compared:
        claim, path = each.claim, each.field
        if isinstance(claim, (ExactBound, ExactBoundsOfPages)):
            if each.is_broken:
                exact.add((isinstance(claim, ExactBound), _structure_of(path)))
            continue
        members: Sequence[Any] = (
            claim.bounds
            if isinstance(claim, DeprecatedBounds)
            else [claim]
            if isinstance(claim, (ChunkBound, BoundsOfPages))
            else ()
        )
        for bound in members:
            is_deprecated = isinstance(claim, (DeprecatedBounds, DeprecatedBoundsOfPages))
            key = isinstance(bound, ChunkBound), is_deprecated, _structure_of(path)
            pair = pairs.setdefault(key, Bounds(path, key[0]))
            pair.sides[bound.above] = bound
            pair.is_broken |= each.is_broken
    for (of_chunk, is_deprecated, path), pair in pairs.items():
        pair.is_broken |= not is_deprecated and (of_chunk, path) in exact
    return sorted(pairs.values(), key=lambda pair: (not pair.is_broken, pair.of_chunk))


def _structure_of(path: str) -> str:
    """The path of the structure that has a bound as a field."""
    head, _, last = path.rpartition(".")
    return head if last in ("min", "max", "min_value", "max_value", "min_values", "max_values") else path
