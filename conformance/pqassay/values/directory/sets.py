"""The audit of distinct values in parts, for distinct sets and IDX1 blobs of an index directory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.directory.audit import Asked, DescribedPart, EntryAudit
from pqassay.values.directory.blob import BlobUnderTest
from pqassay.values.directory.columns import by_bits, listed, one_array, raws_of, without_nan

COUNTED = 10_000
"""The number of missing values that are counted; above it, the count is a lower bound."""


class _Taken(NamedTuple):
    """The contents of a part's rows in one row group: the distinct values without NaN, by their bits."""

    distinct: Any
    has_null: bool
    has_nan: bool


class DescribedSet(DescribedPart):
    """The listed values of a part, compared with the values of its rows.

    Attributes:
        raws: The listed values.
        missing: Values that occur but are not listed, at most `COUNTED`.
        has_null: Whether a row is null.
        has_nan: Whether a value is NaN.
    """

    def __init__(self, blob: BlobUnderTest, number: int) -> None:
        super().__init__(blob, number)
        self.raws = blob.values_of_part(number)
        self.missing: set[bytes] = set()
        self.has_null = self.has_nan = False
        self._listed: Any = None
        self._occurs: NDArray[np.bool_] = np.zeros(len(self.raws), np.bool_)

    @property
    def flags(self) -> int:
        """The correct flags of a distinct set."""
        return self.blob.sets[self.number].head.flags

    @property
    def extra(self) -> list[bytes]:
        """Values that are listed but do not occur."""
        return [self.raws[place] for place in np.flatnonzero(~self._occurs).tolist()]

    def add(self, taken: _Taken, /) -> None:
        """Compare the values of a row group with the listed ones."""
        self.has_null |= taken.has_null
        self.has_nan |= taken.has_nan
        if self._listed is None:
            self._listed = listed(self.raws, taken.distinct.type)
        places = pc.index_in(taken.distinct, value_set=self._listed)
        self._occurs |= np.asarray(pc.is_in(self._listed, value_set=taken.distinct), np.bool_)
        room = COUNTED - len(self.missing)
        if places.null_count and room > 0:
            self.missing.update(raws_of(taken.distinct.filter(pc.is_null(places)).slice(0, room)))


class SetAudit(EntryAudit):
    """The audit of rows that distinct sets, or an IDX1 blob, describe."""

    part_type = DescribedSet

    def __init__(self, blob: BlobUnderTest, asked: Asked) -> None:
        super().__init__(blob, asked)
        for number in range(blob.part_count):
            _ = blob.values_of_part(number)  # raises the errors of reading them

    def take_part(self, values: ChunkValues, part: Any, rows: int, /) -> _Taken:
        """The distinct values."""
        array = one_array(values.distinct() if len(part) == values.count else pc.unique(by_bits(part)))
        numbers = array.view(part.type) if pa.types.is_floating(part.type) else array
        if pa.types.is_fixed_size_binary(part.type) and not pa.types.is_fixed_size_binary(numbers.type):
            numbers = numbers.cast(part.type)
        numbers, nan = without_nan(self.order, numbers)
        return _Taken(by_bits(numbers), len(part) < rows, bool(nan.any()))
