"""The zone sums of one measure by the same keys in many files, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from pqassay_reader.condition.normal import Condition
from pqassay_reader.condition.rows import rows_of
from pqassay_reference.directory.reading.arrays import Mask
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_spec.directory.zone_sums import SumKind

FEW = 1 << 14
"""Groups of which a condition is asked one by one, and not by their distinct keys."""


@dataclass
class ZoneTable:
    """The zone sums of one measure by the same keys and granularity in many files, a row for each group.

    Attributes:
        measure: The measure.
        keys: The keys.
        by_file: Whether each part is a file; else it is a row group or a page of one.
        kind: How sums are written.
        place: For each group the number of its row group, or of its file, ascending.
        covers: For each row group, or file, whether there are sums of it.
        groups: Records of counts and sums.
        key_values: For each key its values.
        minima, maxima: The bounds.
    """

    measure: str
    keys: tuple[str, ...]
    by_file: bool
    kind: SumKind
    place: Numbers
    covers: Mask
    groups: Any
    key_values: tuple[Any, ...]
    minima: Any
    maxima: Any
    _encoded: dict[str, tuple[Any, Numbers]] = field(default_factory=dict[str, tuple[Any, Numbers]])

    @cached_property
    def has_rows(self) -> Mask:
        """Whether each group has a row."""
        there: Mask = self.groups["row_count"] > 0
        return there

    @cached_property
    def overflowed(self) -> Numbers:
        """Places with a sum beyond the largest double although no measure is infinite: there the rows are added."""
        if self.kind is not SumKind.DOUBLE:
            return np.zeros(0, np.int64)
        sums = np.ascontiguousarray(self.groups["sum_low"]).view("<f8")
        endless = np.flatnonzero(~np.isfinite(sums))
        chosen: Any = pa.array(endless, pa.int64())
        bounds = [
            np.asarray(one.take(chosen).cast(pa.float64()).fill_null(0.0))
            for one in (self.minima, self.maxima)
        ]
        is_finite: Mask = np.isfinite(bounds[0]) & np.isfinite(bounds[1])
        places: Numbers = self.place[endless[is_finite]]
        return places

    @cached_property
    def _starts(self) -> Numbers:
        """The first group of each place, which are in order, and behind them the number of groups."""
        return np.searchsorted(self.place, np.arange(len(self.covers) + 1))

    def groups_at(self, places: Numbers) -> Numbers:
        """The numbers of the groups of some places, which are ascending."""
        begins = self._starts[places]
        sizes = self._starts[places + 1] - begins
        shifts = begins - (np.cumsum(sizes) - sizes)
        found: Numbers = np.repeat(shifts, sizes) + np.arange(int(sizes.sum()))
        return found

    def true_of_keys(self, predicate: Condition, groups: Numbers) -> Mask:
        """Whether a condition on keys alone is true of each of some groups.

        Raises:
            Refused: It does not fit the keys.
        """
        names = sorted(predicate.columns)
        if len(names) == 1 and len(groups) >= FEW:
            distinct, codes = self._distinct_keys(names[0])
            if len(distinct) < len(groups):
                return _true_of(predicate, names, [distinct])[codes[groups]]
        chosen: Any = pa.array(groups)
        return _true_of(
            predicate, names, [self.key_values[self.keys.index(name)].take(chosen) for name in names]
        )

    def _distinct_keys(self, name: str) -> tuple[Any, Numbers]:
        """The distinct values of a key, null among them, and for each group the place of its own."""
        if name not in self._encoded:
            encoded = self.key_values[self.keys.index(name)].dictionary_encode(null_encoding="encode")
            self._encoded[name] = encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)
        return self._encoded[name]


def _true_of(predicate: Condition, names: Sequence[str], columns: Sequence[Any]) -> Mask:
    return rows_of(predicate, pa.table(list(columns), list(names)))


__all__ = ["ZoneTable"]
