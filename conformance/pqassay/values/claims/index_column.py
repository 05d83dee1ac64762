"""Comparison of the values of string columns with those of an index, chunk by chunk.

Memory is limited to the index, a bit for each of its values and each column, and a bounded number of hashes
and examples per column, for any number of distinct values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotChecked
from pqassay.values.claims.value_rules import Compared
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.hashes import hashes_of
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf

COUNTED_VALUES = 10_000
"""The number of distinct missing values that are counted exactly; above it, the count is a lower bound."""

EXAMPLES = 3
"""The number of missing values that messages name."""


class IndexValues:
    """The distinct values of an index, prepared for comparison with many columns.

    Attributes:
        texts: The values in the order of the index, without duplicates.
        raw: The values as an Arrow array of bytes.
    """

    def __init__(self, values: Iterable[str]) -> None:
        self.texts = list(dict.fromkeys(values))
        self.raw = pa.array([value.encode() for value in self.texts], pa.large_binary())

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The position of each value in `texts`."""
        return {value: number for number, value in enumerate(self.texts)}


class IndexComparison:
    """The comparison of a column with an index.

    Attributes:
        leaf: The column.
        index: The values of the index.
        rows: The number of values so far, including nulls.
        null_count: The number of nulls so far.
        missing: Sorted examples of values of the column that the index lacks.
        with_line_feed: Examples of values with a line feed.
        only_empty: Whether all non-null values are the empty string.
    """

    def __init__(self, leaf: SchemaLeaf, index: IndexValues) -> None:
        self.leaf = leaf
        self.index = index
        self.rows = self.null_count = 0
        self.missing: list[str] = []
        self.with_line_feed: list[str] = []
        self.only_empty = True
        self._seen = np.packbits(np.zeros(len(index.texts), np.bool_))
        self._missing = np.zeros(0, np.uint64)
        """Hashes of missing values, since for many columns the values themselves might take too much memory."""
        self._examples: list[bytes] = []

    @property
    def column(self) -> str:
        """The column's path joined by dots."""
        return self.leaf.name

    @property
    def value_rows(self) -> int:
        """The number of non-null values so far."""
        return self.rows - self.null_count

    @property
    def missing_count(self) -> int:
        """The number of distinct values that the index lacks; a lower bound from `COUNTED_VALUES` on."""
        return len(self._missing)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """A bool mask of the values of the index that occur in the column."""
        return np.unpackbits(self._seen, count=len(self.index.texts)).astype(np.bool_)

    @property
    def difference(self) -> int:
        """The distance between column and index: the number of missing and superfluous values."""
        return self.missing_count + len(self.index.texts) - int(np.count_nonzero(self.seen))

    @cached_property
    def extra(self) -> list[str]:
        """Values of the index that occur in no row, in the order of the index."""
        return [self.index.texts[number] for number in np.flatnonzero(~self.seen).tolist()]

    def add(self, values: ChunkValues) -> bool:
        """Compare the values of another chunk; return whether the index has all of them."""
        self.rows += values.entries
        self.null_count += values.entries - values.count
        distinct = values.distinct().cast(pa.large_binary())
        self.only_empty = self.only_empty and not pc.max(pc.binary_length(distinct)).as_py()
        places = pc.index_in(distinct, value_set=self.index.raw)
        seen = np.zeros(len(self.index.texts), np.bool_)
        seen[places.drop_null().to_numpy()] = True
        strange: Any = distinct.filter(pc.is_null(places))
        broken: Any = pc.match_substring(strange, "\n")
        lacking: list[bytes] = []
        for raw in strange.filter(broken).to_pylist():
            if len(self.with_line_feed) < FIRST_POSITIONS:
                self.with_line_feed.append(raw.decode("utf-8", "backslashreplace"))
            # No index can list this value; its pieces may be in this index, and then belong to it.
            pieces = raw.decode("utf-8", "surrogateescape").split("\n")
            numbers = [self.index.numbers[piece] for piece in pieces if piece in self.index.numbers]
            if len(numbers) < len(pieces):
                lacking.append(raw)
            else:
                seen[numbers] = True
        self._seen |= np.packbits(seen)
        self._note_missing(pa.array(lacking, pa.large_binary()))
        self._note_missing(strange.filter(pc.invert(broken)))
        return not len(strange)

    def _note_missing(self, values: Any) -> None:
        room = COUNTED_VALUES - len(self._missing)
        if not room or not len(values):
            return
        hashes = hashes_of(values)
        fresh = np.flatnonzero(~np.isin(hashes, self._missing))[:room]
        self._missing = np.concatenate((self._missing, hashes[fresh]))
        self._examples = sorted(self._examples + values.take(pa.array(fresh)).to_pylist())[:EXAMPLES]
        self.missing = [raw.decode("utf-8", "backslashreplace") for raw in self._examples]


class IndexFamily:
    """The claims of an index about the string columns that it may describe.

    Args:
        columns: The columns, by their positions among all leaves.
        index: The values of the index.

    Attributes:
        comparisons: The comparison with each column, or why it was not compared.
    """

    def __init__(self, columns: Sequence[tuple[int, SchemaLeaf]], index: IndexValues) -> None:
        self.comparisons: dict[int, IndexComparison | NotChecked] = {
            ordinal: IndexComparison(leaf, index) for ordinal, leaf in columns
        }

    def claim(self, chunk: ColumnChunkUnderTest) -> _IndexClaim | None:
        """The claim that the index describes the column of a chunk."""
        comparison = self.comparisons.get(chunk.ordinal)
        return _IndexClaim(self, chunk, comparison) if isinstance(comparison, IndexComparison) else None


class _IndexClaim:
    """A column chunk that an index may describe. Chunks of one column come in the order of row groups."""

    needs_values = True

    def __init__(self, family: IndexFamily, chunk: ColumnChunkUnderTest, comparison: IndexComparison) -> None:
        self._family = family
        self._chunk = chunk
        self._comparison = comparison
        self.compared: list[Compared] = []

    def judge(self, values: ChunkValues) -> None:
        """Compare the values.

        If several columns are possible, it does not report missing values for any of them.
        """
        holds_all = self._comparison.add(values)
        if len(self._family.comparisons) == 1:
            self.compared.append(Compared("idx1.payload", compares_values=True, is_broken=not holds_all))

    def leave(self, reason: NotChecked) -> None:
        """Note that the column cannot be compared."""
        self._family.comparisons[self._chunk.ordinal] = reason

    def settle(self) -> None:
        """Do nothing: all results are already stored."""
