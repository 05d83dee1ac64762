"""Sketches of an index directory, compared with the values of their parts.

They are read by Apache DataSketches, which the extra ``sketches`` installs; without it they are not checked.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import Broken, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.hashes import hashes_of
from pqassay.values.directory.audit import EntryAudit, Outcomes
from pqassay.values.directory.blob import BlobUnderTest
from pqassay.values.directory.columns import are_nan, by_bits, doubles, one_array, value_starts
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.sketches import is_text, preamble_problem
from pqassay_spec.parquet.column_order import FLOATING

ESTIMATE, EXACT, RANKS = "DIR-042", "DIR-043", "DIR-044"

STANDARD_ERRORS = 3
"""How far from the truth an estimate may be."""

HALF = 0.5
"""Estimates are rounded to whole numbers of values."""

POINTS = 100
"""Ranks that are compared."""


def _library() -> Any:
    try:
        import datasketches  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra, without types
    except ImportError:
        raise NotChecked(
            "sketches are compared with the values by the package datasketches: pip install 'pqassay[sketches]'",
            "tool",
        ) from None
    return datasketches


class _SketchAudit(EntryAudit):
    """The sketches of one entry."""

    def __init__(self, blob: BlobUnderTest, outcomes: Outcomes) -> None:
        super().__init__(blob, outcomes)
        self._library = _library()
        self._family = IndexType(self.entry.head.type).name
        if any(preamble_problem(self._family, sketch) for sketch in blob.sketches):
            raise Broken("DIR-040")
        self._order = self.entry.order
        self._found: dict[int, list[Any]] = {}

    def take(self, values: ChunkValues, _column: int, /) -> list[Any]:
        """What was given to the sketch of each part."""
        rows = self.row_starts(values.chunk.row_group)
        starts = value_starts(values, rows).tolist()
        taken: list[Any] = []
        for first, last in pairwise(starts):
            array = one_array(values.values.slice(first, last - first))
            nan = are_nan(self._order, array)
            taken.append(self._items(array.filter(pa.array(~nan)) if nan.any() else array))
        return taken

    @abstractmethod
    def _items(self, array: Any) -> Any:
        """Numbers that a sketch is given for values."""

    def empty(self) -> list[Any]:
        """No values."""
        return []

    def add(self, _row_group: int, parts: Sequence[int], taken: list[Any], /) -> None:
        """Keep what a row group holds until its part is whole."""
        for number, found in zip(parts, taken[0], strict=False):
            self._found.setdefault(number, []).append(found)

    def _read(self, kind: Any, number: int) -> Any:
        """The sketch of a part. Raises `NotChecked` where the library refuses it."""
        try:
            return kind.deserialize(self.blob.sketches[number])
        except (ValueError, RuntimeError, MemoryError, IndexError) as error:
            said = " ".join(str(error).split())
            raise NotChecked(
                f"datasketches refuses the sketch of {self.name_of(number)}: {said}", "file"
            ) from None

    def _violation(self, number: int, said: str, expected: str, actual: str) -> Violation:
        return self.entry.blob_spot(f"sketches[{number}]").violation(said, expected, actual)


class HllAudit(_SketchAudit):
    """The HLL sketches of one entry."""

    rules = (ESTIMATE,)

    def _items(self, array: Any) -> NDArray[np.uint64]:
        """The hashes of the distinct items."""
        if self._order in FLOATING:
            array = pa.array(doubles(self._order, array) + 0.0)  # both zeros are one item
        bits = pc.unique(by_bits(array))
        if is_text(self.entry.leaves[-1]):
            bits = bits.filter(
                pc.not_equal(bits, pa.scalar(b"", bits.type))
            )  # libraries pass over an empty text
        if pa.types.is_boolean(bits.type):
            bits = bits.cast(pa.uint8())
        return np.unique(hashes_of(bits))

    def add(self, _row_group: int, parts: Sequence[int], taken: list[Any], /) -> None:
        """Unite the items of a row group with those of its part."""
        for number, found in zip(parts, taken[0], strict=False):
            before = self._found.get(number)
            self._found[number] = [found if before is None else np.union1d(before[0], found)]

    def judge_part(self, number: int) -> None:
        """Compare the estimate with the number of distinct items."""
        distinct = sum(len(found) for found in self._found.pop(number, []))
        sketch = self._read(self._library.hll_sketch, number)
        lower = sketch.get_lower_bound(STANDARD_ERRORS)
        upper = sketch.get_upper_bound(STANDARD_ERRORS)
        if not lower - HALF <= distinct <= upper + HALF:
            estimate = sketch.get_estimate()
            self.note(
                ESTIMATE,
                number,
                self._violation(
                    number,
                    f"{self.name_of(number)} has {distinct:,} distinct values, and its sketch estimates {estimate:,.0f}",
                    f"an estimate near {distinct:,}",
                    f"{lower:,.0f} to {upper:,.0f}",
                ),
            )


class KllAudit(_SketchAudit):
    """The KLL sketches of one entry."""

    rules = (EXACT, RANKS)

    def _items(self, array: Any) -> NDArray[np.float64]:
        return doubles(self._order, array)

    def judge_part(self, number: int) -> None:
        """Compare counts, bounds and ranks with the values."""
        found = self._found.pop(number, [])
        numbers = np.sort(np.concatenate(found)) if found else np.zeros(0)
        sketch = self._read(self._library.kll_doubles_sketch, number)
        if not self._is_exact(number, numbers, sketch) or not len(numbers):
            return
        places = np.unique(np.linspace(0, len(numbers) - 1, POINTS).astype(np.int64))
        points = np.unique(numbers[places])
        right = np.searchsorted(numbers, points, "right") / len(numbers)
        given = np.array([sketch.get_rank(float(point), inclusive=True) for point in points])
        error, allowed = np.abs(given - right), sketch.normalized_rank_error(True)
        worst = int(error.argmax())
        if error[worst] > allowed:
            self.note(
                RANKS,
                number,
                self._violation(
                    number,
                    f"the rank of {points[worst]!r} in {self.name_of(number)} is {right[worst]:.4f}, and its sketch says {given[worst]:.4f}",
                    f"no more than {allowed:.4f} away",
                    f"{error[worst]:.4f} away",
                ),
            )

    def _is_exact(self, number: int, numbers: NDArray[np.float64], sketch: Any) -> bool:
        """Whether count and bounds are right, which is noted if not."""
        pairs: list[tuple[str, Any, Any]] = [("values", len(numbers), sketch.n)]
        if len(numbers) and sketch.n:
            pairs += [
                ("as its smallest", float(numbers[0]), sketch.get_min_value()),
                ("as its largest", float(numbers[-1]), sketch.get_max_value()),
            ]
        for what, right, given in pairs:
            if right != given:
                said = f"{self.name_of(number)} has {right} {what}, and its sketch {given}"
                self.note(EXACT, number, self._violation(number, said, str(right), str(given)))
                return False
        return True
