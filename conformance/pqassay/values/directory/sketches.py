"""The audit of sketches of an index directory: their input values, part by part.

Apache DataSketches reads the sketches; the extra ``sketches`` installs it. Without it, sketches are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import Broken, NotChecked, Remembered
from pqassay.under_test.violation import Spot, Violation
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.hashes import hashes_of
from pqassay.values.directory.audit import Asked, DescribedPart, EntryAudit
from pqassay.values.directory.blob import BlobUnderTest
from pqassay.values.directory.columns import by_bits, doubles, one_array, without_nan
from pqassay_spec.base.installing import install
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.sketches import is_text, preamble_problem
from pqassay_spec.parquet.column_order import FLOATING

POINTS = 100
"""The number of ranks that are compared."""


def _library() -> Any:
    try:
        import datasketches  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra, without types
    except ImportError:
        raise NotChecked(
            f"comparing sketches with the values needs the package datasketches: {install('sketches')}",
            "tool",
        ) from None
    return datasketches


class DescribedSketch(DescribedPart):
    """The sketch of a part, and the inputs from its rows."""

    reader: ClassVar[str]

    @Remembered
    def _parsed(self) -> tuple[Any, str]:
        try:
            return getattr(_library(), self.reader).deserialize(self.blob.sketches[self.number]), ""
        except (ValueError, RuntimeError, MemoryError, IndexError) as error:
            return None, " ".join(str(error).split())

    @property
    def sketch(self) -> Any:
        """The sketch, parsed by the library; ``None`` if the library refuses it."""
        return self._parsed[0]

    def refusal(self) -> Iterator[Violation]:
        """The violation that the library refuses the sketch, if it does."""
        if reason := self._parsed[1]:
            said = f"datasketches refuses the sketch of {self}: {reason}"
            yield self.spot.violation(said, "a sketch that the libraries of its family read", "another")

    @property
    def spot(self) -> Spot:
        """The spot of the sketch."""
        return self.entry.blob_spot(f"sketches[{self.number}]")


class DescribedHll(DescribedSketch):
    """The HLL sketch of a part, and the distinct items in its rows."""

    reader = "hll_sketch"

    def __init__(self, blob: BlobUnderTest, number: int) -> None:
        super().__init__(blob, number)
        self._hashes: NDArray[np.uint64] = np.zeros(0, np.uint64)

    @property
    def distinct(self) -> int:
        """The number of distinct items."""
        return len(self._hashes)

    def add(self, taken: NDArray[np.uint64], /) -> None:
        """Add the hashes of the distinct items of a row group."""
        self._hashes = np.union1d(self._hashes, taken) if len(self._hashes) else taken


class DescribedKll(DescribedSketch):
    """The KLL sketch of a part, and the numbers in its rows."""

    reader = "kll_doubles_sketch"

    def __init__(self, blob: BlobUnderTest, number: int) -> None:
        super().__init__(blob, number)
        self._taken: list[NDArray[np.float64]] = []

    def add(self, taken: NDArray[np.float64], /) -> None:
        """Add the numbers of a row group."""
        self._taken.append(taken)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The numbers, in ascending order."""
        return np.sort(np.concatenate(self._taken)) if self._taken else np.zeros(0)

    @property
    def worst_rank(self) -> tuple[float, float, float]:
        """The number whose rank differs most from the sketch's estimate; its rank; and the estimate."""
        numbers = self.numbers
        points = np.unique(numbers[np.linspace(0, len(numbers) - 1, POINTS).astype(np.int64)])
        true = np.searchsorted(numbers, points, "right") / len(numbers)
        estimated = np.array([self.sketch.get_rank(float(point), inclusive=True) for point in points])
        worst = int(np.abs(estimated - true).argmax())
        return float(points[worst]), true[worst], estimated[worst]


class _SketchAudit(EntryAudit):
    """The audit of rows that the sketches of one entry describe."""

    def __init__(self, blob: BlobUnderTest, asked: Asked) -> None:
        super().__init__(blob, asked)
        _ = _library()
        family = IndexType(self.entry.head.type).name
        if any(preamble_problem(family, sketch) for sketch in blob.sketches):
            raise Broken("DIR-040")

    def numbers_of(self, part: Any) -> Any:
        """The values without NaN."""
        return without_nan(self.order, one_array(part))[0]


class HllAudit(_SketchAudit):
    """The audit of rows that the HLL sketches of one entry describe."""

    part_type = DescribedHll

    def take_part(self, _: ChunkValues, part: Any, _rows: int, /) -> NDArray[np.uint64]:
        """The hashes of the distinct items."""
        array = self.numbers_of(part)
        if self.order in FLOATING:
            array = pa.array(doubles(self.order, array) + 0.0)  # both zeros are one item
        bits = pc.unique(by_bits(array))
        if is_text(self.entry.leaves[-1]):  # libraries skip an empty text
            bits = bits.filter(pc.not_equal(bits, pa.scalar(b"", bits.type)))
        if pa.types.is_boolean(bits.type):
            bits = bits.cast(pa.uint8())
        return np.unique(hashes_of(bits))


class KllAudit(_SketchAudit):
    """The audit of rows that the KLL sketches of one entry describe."""

    part_type = DescribedKll

    def take_part(self, _: ChunkValues, part: Any, _rows: int, /) -> NDArray[np.float64]:
        """The numbers."""
        return doubles(self.order, self.numbers_of(part))
