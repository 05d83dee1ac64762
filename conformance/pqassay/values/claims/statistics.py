"""Claims of a column chunk's statistics: bounds, counts, sizes, the geospatial box."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from pqassay.under_test.file import NotChecked
from pqassay.under_test.nan_bounds import bounds_in_use
from pqassay.under_test.violation import Violation
from pqassay.values.claims.bounds import Beyond
from pqassay.values.claims.claim import ChunkClaims, Found, ZeroBound, others
from pqassay.values.claims.geospatial_box import OffBox, Strictness, off_box
from pqassay.values.claims.geospatial_types import types_of
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.survey import counts_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import (
    FLOATING,
    Order,
    excludes_numbers,
    is_nan,
    shown,
    type_order,
)
from pqassay_spec.parquet.encoding.null_counts import null_counts
from pqassay_spec.parquet.encoding.wkb import AXES_BEYOND_THE_PLANE, axes_of, is_type_code
from pqassay_spec.parquet.thrift import BoundingBox, GeospatialStatistics, Type

BELOW, ABOVE, EXACT, NULLS, NANS, DISTINCT = "STA-040", "STA-041", "STA-042", "STA-043", "STA-044", "STA-045"
ZEROS, BY_TYPE, NULLS_OF_LISTS = "STA-009", "STA-051", "STA-071"
BYTES, DEPRECATED, BOX, EXACT_BOX = "STA-047", "STA-048", "STA-049", "STA-072"
AXES, TYPES_LISTED, TYPES_OCCUR, NAN_BOUNDS = "STA-061", "STA-063", "STA-065", "STA-089"
RULES = (
    BELOW,
    ABOVE,
    EXACT,
    NULLS,
    NANS,
    DISTINCT,
    BYTES,
    DEPRECATED,
    BOX,
    EXACT_BOX,
    ZEROS,
    BY_TYPE,
    AXES,
    TYPES_LISTED,
    TYPES_OCCUR,
    NULLS_OF_LISTS,
    NAN_BOUNDS,
)


class StatisticsClaims(ChunkClaims):
    """The claims of statistics about a chunk."""

    def claim_statistics(self) -> None:
        """Gather what the statistics of the chunk say."""
        statistics = self.chunk.statistics
        if statistics is None:
            return
        self._bytes_of([statistics.min_value, statistics.max_value, statistics.min, statistics.max])
        sides = (
            (BELOW, statistics.min_value, "min_value", statistics.is_min_value_exact, False),
            (ABOVE, statistics.max_value, "max_value", statistics.is_max_value_exact, True),
        )
        for rule, raw, name, exact, above in sides:
            if raw is None:
                continue
            rules = (rule, EXACT) if exact else (rule,)
            if self.order is None:
                self._hinder(rules, self._no_order())
                self._claim_by_type(raw, name, above=above)
            else:
                self._claim(
                    partial(self._judge_bound, rule, raw, name, above, bool(exact), self.order),
                    *rules,
                )
            self._claim_zeros(ZEROS, [raw], partial(self._judge_zero, name), above=above)
        if statistics.null_count is not None:
            rules = (NULLS, NULLS_OF_LISTS) if self.chunk.leaf.max_repetition_level else (NULLS,)
            self._claim(partial(self._judge_nulls, statistics.null_count), *rules)
        if statistics.nan_count is not None:
            self._claim(partial(self._judge_nans, statistics.nan_count), NANS)
        if statistics.distinct_count is not None:
            self._claim(partial(self._judge_distinct, statistics.distinct_count), DISTINCT)
        old = [
            (raw, name, above)
            for raw, name, above in ((statistics.min, "min", False), (statistics.max, "max", True))
            if raw is not None
        ]
        if old:
            self._claim(partial(self._judge_deprecated, old), DEPRECATED)
        if in_use := bounds_in_use(self.chunk):
            excluding = [one for one in in_use if excludes_numbers(one.order, one.raw, above=one.above)]
            self._claim(partial(self._judge_nan_bounds, [one.name for one in excluding]), NAN_BOUNDS)

    def _claim_by_type(self, raw: bytes, name: str, *, above: bool) -> None:
        """Have a bound of a file without column orders judged by the order that readers take all the same."""
        natural = self.order_of_readers
        if natural is not None:
            self._claim(partial(self._judge_bound, BY_TYPE, raw, name, above, False, natural), BY_TYPE)

    def _judge_bound(
        self, rule: str, raw: bytes, name: str, above: bool, exact: bool, order: Order, decoded: ChunkValues
    ) -> Found:
        beyond = self._judged.of_chunk(order, raw, above=above)
        if beyond is not None:
            yield rule, self._beyond_bound(decoded, beyond, raw, name, order, above=above)
        elif exact and not self._occurs(order, raw, decoded, above=above):
            text = shown(order, raw)
            yield (
                EXACT,
                Violation(
                    f"{name} of {self._of} is called exact, and no value is {text}",
                    self.chunk.fields.statistics / f"is_{name}_exact",
                    expected=f"not exact, or a value {text}",
                    actual="exact",
                ),
            )

    def _judge_nan_bounds(self, names: Sequence[str], decoded: ChunkValues) -> Found:
        numbers = decoded.count - int(decoded.is_nan.sum())
        if not numbers:
            return
        for name in names:
            yield (
                NAN_BOUNDS,
                Violation(
                    f"{self._of} holds {numbers} number{'' if numbers == 1 else 's'}, {name} is NaN",
                    self.chunk.fields.statistics / name,
                    expected="a number, or no bound",
                    actual="NaN",
                ),
            )

    def _occurs(self, order: Order, raw: bytes, decoded: ChunkValues, *, above: bool) -> bool:
        """Whether a bound may be a value, NaN among others."""
        if is_nan(order, raw):
            return bool(decoded.is_nan.any())
        return self._judged.is_met(order, raw, above=above) is not False

    def _beyond_bound(
        self, decoded: ChunkValues, beyond: Beyond, raw: bytes, name: str, order: Order | None, *, above: bool
    ) -> Violation:
        value = shown(order, decoded.raw_of(beyond.place))
        return Violation(
            f"{self._where(decoded, beyond.place)} holds {value}, {name} is {shown(order, raw)}{others(beyond.total)}",
            self.chunk.fields.statistics / name,
            expected=f"{'at least' if above else 'at most'} {value}",
            actual=shown(order, raw),
        )

    def _judge_zero(self, name: str, bound: ZeroBound, decoded: ChunkValues) -> Found:
        left_out = bound.left_out(decoded)
        if left_out.any():
            where = self._where(decoded, int(left_out.argmax()))
            yield (
                ZEROS,
                Violation(
                    f"{where} holds {bound.other}, {name} is {bound}",
                    self.chunk.fields.statistics / name,
                    expected=bound.other,
                    actual=str(bound),
                ),
            )

    def _judge_deprecated(self, bounds: Sequence[tuple[bytes, str, bool]], decoded: ChunkValues) -> Found:
        """Compare the deprecated bounds, each with its name and whether it is the upper one, in each order that may be meant."""
        wrong: list[tuple[bytes, str, bool, Beyond]] = []
        for number, (order, signed_bytes) in enumerate(self._deprecated_orders()):
            found = [
                (raw, name, above, beyond)
                for raw, name, above in bounds
                if (beyond := self._judged.of_chunk(order, raw, above=above, signed_bytes=signed_bytes))
                is not None
            ]
            if not found:
                return  # in this order, they are right
            if not number or len(found) < len(wrong):
                wrong = found
        natural = self.order or type_order(self.chunk.leaf.element)
        for raw, name, above, beyond in wrong:
            yield DEPRECATED, self._beyond_bound(decoded, beyond, raw, name, natural, above=above)

    def _judge_nulls(self, null_count: int, decoded: ChunkValues) -> Found:
        leaf = self.chunk.leaf
        try:
            counts = counts_of(self.chunk)
            nulls, *fewer = null_counts(leaf, counts.definition_histogram.sum(axis=0).tolist())
        except (FormatError, NotChecked):
            if leaf.max_repetition_level:
                raise
            nulls, fewer = decoded.entries - decoded.count, []
        if null_count != nulls:
            rule = NULLS_OF_LISTS if null_count in fewer else NULLS
            yield rule, self._count("null_count", null_count, nulls, "null")

    def _judge_nans(self, given: int, decoded: ChunkValues) -> Found:
        nans = int(decoded.is_nan.sum())
        if given != nans:
            yield NANS, self._count("nan_count", given, nans, "NaN value")

    def _judge_distinct(self, distinct_count: int, decoded: ChunkValues) -> Found:
        """Zeros of both signs, and NaN of all kinds, may count as one value or as several."""
        distinct = decoded.distinct()
        most = len(distinct)
        least = most
        if type_order(self.chunk.leaf.element) in FLOATING and most:
            numbers = decoded.values.to_numpy(zero_copy_only=False) if not decoded.is_half else decoded.halves
            least = len(np.unique(numbers[~decoded.is_nan]))
        most += decoded.count < self.chunk.facts.num_values
        if not least <= distinct_count <= most:
            text = str(least) if least == most else f"between {least} and {most}"
            yield (
                DISTINCT,
                Violation(
                    f"{self._of} holds {least} distinct values, distinct_count is {distinct_count}",
                    self.chunk.fields.statistics / "distinct_count",
                    expected=text,
                    actual=str(distinct_count),
                ),
            )

    def _count(self, name: str, given: int, counted: int, what: str) -> Violation:
        return Violation(
            f"{self._of} holds {counted} {what}{'' if counted == 1 else 's'}, {name} is {given}",
            self.chunk.fields.statistics / name,
            expected=str(counted),
            actual=str(given),
        )

    # ------------------------------------------------------------------------------------------------------ sizes

    def claim_sizes(self) -> None:
        """Gather what is said of bytes and places."""
        facts = self.chunk.facts
        if self.chunk.leaf.element.type == Type.BYTE_ARRAY:
            sizes = facts.size_statistics
            if sizes is not None and sizes.unencoded_byte_array_data_bytes is not None:
                self._claim(partial(self._judge_bytes, sizes.unencoded_byte_array_data_bytes), BYTES)
            if facts.geospatial_statistics is not None:
                self._claim_geospatial(facts.geospatial_statistics)

    def _judge_bytes(self, size: int, decoded: ChunkValues) -> Found:
        length = int(decoded.lengths.sum())
        if size != length:
            yield (
                BYTES,
                Violation(
                    f"the values of {self._of} take {length} bytes, unencoded_byte_array_data_bytes is {size}",
                    self.chunk.fields.sizes / "unencoded_byte_array_data_bytes",
                    expected=str(length),
                    actual=str(size),
                ),
            )

    # ------------------------------------------------------------------------------------------------- geospatial

    def _claim_geospatial(self, geospatial: GeospatialStatistics) -> None:
        box, types = geospatial.bbox, geospatial.geospatial_types
        if box is not None:
            self._claim(partial(self._judge_box, box), BOX, EXACT_BOX)
            if any(getattr(box, f"{axis}min") is not None for axis in AXES_BEYOND_THE_PLANE):
                self._claim(partial(self._judge_axes, box), AXES)
        if types:
            self._claim(partial(self._judge_types, types), TYPES_LISTED)
            self._claim(partial(self._judge_types_listed, types), TYPES_OCCUR)

    def _judge_axes(self, box: BoundingBox, decoded: ChunkValues) -> Found:
        axes = {axis for code in types_of(decoded) for axis in axes_of(code)}
        for axis in AXES_BEYOND_THE_PLANE:
            low, high = getattr(box, f"{axis}min"), getattr(box, f"{axis}max")
            if low is not None and axis not in axes:
                yield (
                    AXES,
                    Violation(
                        f"the box of {self._of} has bounds of {axis}, and no geometry has a coordinate {axis}",
                        self.chunk.fields.facts / "geospatial_statistics.bbox" / f"{axis}min",
                        expected=f"no {axis}min and no {axis}max",
                        actual=f"[{low!r}, {high!r}]",
                    ),
                )

    def _judge_types(self, listed: Sequence[int], decoded: ChunkValues) -> Found:
        for code, place in types_of(decoded).items():
            if code not in listed:
                yield (
                    TYPES_LISTED,
                    Violation(
                        f"{self._where(decoded, place)} holds a geometry of type {code}, which is not listed",
                        self.chunk.fields.facts / "geospatial_statistics.geospatial_types",
                        expected=f"a list with {code}",
                        actual=", ".join(map(str, listed)),
                    ),
                )

    def _judge_types_listed(self, listed: Sequence[int], decoded: ChunkValues) -> Found:
        there = types_of(decoded)
        for number, code in enumerate(listed):
            if code not in there and is_type_code(code):
                types = self.chunk.fields.facts / "geospatial_statistics.geospatial_types"
                yield (
                    TYPES_OCCUR,
                    Violation(
                        f"type {code} is listed, and no geometry of {self._of} is of it",
                        types[number],
                        expected=", ".join(map(str, sorted(there))) or "an empty list",
                        actual=str(code),
                    ),
                )

    def _judge_box(self, box: BoundingBox, decoded: ChunkValues) -> Found:
        logical = self.chunk.leaf.element.logicalType
        is_geography = logical is not None and logical.GEOGRAPHY is not None
        off = off_box(decoded, box, Strictness(is_exact=True, is_geography=is_geography))
        if off is None:
            return
        further = off_box(decoded, box, Strictness(is_exact=False, is_geography=is_geography))
        if further is not None:
            yield BOX, self._off_box(box, further, decoded)
        else:
            yield EXACT_BOX, self._off_box(box, off, decoded)

    def _off_box(self, box: BoundingBox, off: OffBox, decoded: ChunkValues) -> Violation:
        name = f"{off.axis}{'min' if off.number < getattr(box, f'{off.axis}min') else 'max'}"
        if off.axis == "x" and box.xmin > box.xmax:
            name = "xmin"
        low, high = getattr(box, f"{off.axis}min"), getattr(box, f"{off.axis}max")
        return Violation(
            f"{self._where(decoded, off.place)} holds {off.axis} = {off.number!r}, the box goes from {low!r} to {high!r}"
            + others(off.total, "geometry", "geometries"),
            self.chunk.fields.facts / "geospatial_statistics.bbox" / name,
            expected=f"a box that holds {off.axis} = {off.number!r}",
            actual=f"[{low!r}, {high!r}]",
        )
