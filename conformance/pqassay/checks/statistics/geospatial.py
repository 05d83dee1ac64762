"""Checks of geospatial statistics against the geometries of their chunks, tier ``values``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pqassay.checks.subjects import CHUNK
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.violation import Violation
from pqassay.values.claims.value_rules import Claim, ComparedBy
from pqassay.values.claims.wording import named, others, where
from pqassay_spec.parquet.encoding.wkb import AXES_BEYOND_THE_PLANE, axes_of, is_type_code
from pqassay_spec.parquet.thrift import GeospatialStatistics, Type

if TYPE_CHECKING:
    from pqassay.values.claims.geospatial_box import OffBox
    from pqassay.values.decoding.chunk_values import ChunkValues


def _statistics(chunk: ColumnChunkUnderTest) -> GeospatialStatistics:
    """The geospatial statistics of a chunk of geometries; other rules judge statistics of other chunks."""
    given = chunk.facts.geospatial_statistics
    return (
        given if given is not None and chunk.leaf.element.type == Type.BYTE_ARRAY else GeospatialStatistics()
    )


def _field(chunk: ColumnChunkUnderTest, name: str) -> Field:
    return chunk.fields.facts / f"geospatial_statistics.{name}"


def _types(values: ChunkValues) -> dict[int, int]:
    """The place of the first geometry of each type, by code. Raises `NotChecked`."""
    from pqassay.values.claims.geometries import types_of  # noqa: PLC0415 - numpy, at this tier only

    return values.remembered(types_of)


def _off_exactly(values: ChunkValues) -> OffBox | None:
    return _off(values, is_exact=True)


def _off_further(values: ChunkValues) -> OffBox | None:
    return _off(values, is_exact=False) if values.remembered(_off_exactly) is not None else None


def _off(values: ChunkValues, *, is_exact: bool) -> OffBox | None:
    from pqassay.values.claims.geospatial_box import Strictness, off_box  # noqa: PLC0415 - numpy, at this tier only

    box, logical = _statistics(values.chunk).bbox, values.chunk.leaf.element.logicalType
    if box is None:
        return None
    return off_box(values, box, Strictness(is_exact, logical is not None and logical.GEOGRAPHY is not None))


def _box(chunk: ColumnChunkUnderTest, find: Callable[[ChunkValues], OffBox | None]) -> Iterator[Claim]:
    """The claim that the box of a chunk contains all geometries; ``find`` looks for one outside."""
    box = _statistics(chunk).bbox

    def compare(values: ChunkValues) -> Iterator[Violation]:
        off = find(values)
        if off is None:
            return
        low, high = getattr(box, f"{off.axis}min"), getattr(box, f"{off.axis}max")
        is_less = off.number < low or (off.axis == "x" and low > high)
        yield Violation(
            (
                f"{where(values, off.place)} holds {off.axis} = {off.number!r}, but the box goes "
                f"from {low!r} to {high!r}"
            )
            + others(off.total, "geometry", "geometries"),
            _field(chunk, f"bbox.{off.axis}{'min' if is_less else 'max'}"),
            expected=f"a box that holds {off.axis} = {off.number!r}",
            actual=f"[{low!r}, {high!r}]",
        )

    if box is not None:
        yield ComparedBy(compare)


@value_rule("STA-049", of=CHUNK)
def the_box_holds_every_coordinate(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for a geometry outside the box skips the row group."""
    return _box(chunk, lambda values: values.remembered(_off_further))


@value_rule("STA-072", of=CHUNK)
def the_box_holds_every_coordinate_exactly(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader compares exact numbers; another rule judges differences beyond the last digits."""
    return _box(
        chunk,
        lambda values: None if values.remembered(_off_further) else values.remembered(_off_exactly),
    )


@value_rule("STA-061", of=CHUNK)
def boxes_bound_axes_that_are_there(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A box of two-dimensional geometries cannot bound their height."""
    box = _statistics(chunk).bbox
    bounded = [axis for axis in AXES_BEYOND_THE_PLANE if getattr(box, f"{axis}min", None) is not None]

    def compare(values: ChunkValues) -> Iterator[Violation]:
        there = {axis for code in _types(values) for axis in axes_of(code)}
        for axis in bounded:
            if axis not in there:
                low, high = getattr(box, f"{axis}min"), getattr(box, f"{axis}max")
                yield Violation(
                    (
                        f"the box of {named(chunk)} has bounds for {axis}, but no geometry has a "
                        f"coordinate {axis}"
                    ),
                    _field(chunk, f"bbox.{axis}min"),
                    expected=f"no {axis}min and no {axis}max",
                    actual=f"[{low!r}, {high!r}]",
                )

    if bounded:
        yield ComparedBy(compare)


@value_rule("STA-063", of=CHUNK)
def the_type_of_every_geometry_is_listed(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for geometries of a missing type skips the row group."""
    listed = _statistics(chunk).geospatial_types or []

    def compare(values: ChunkValues) -> Iterator[Violation]:
        for code, place in _types(values).items():
            if code not in listed:
                yield Violation(
                    f"{where(values, place)} holds a geometry of type {code}, which is not listed",
                    _field(chunk, "geospatial_types"),
                    expected=f"a list with {code}",
                    actual=", ".join(map(str, listed)),
                )

    if listed:
        yield ComparedBy(compare)


@value_rule("STA-065", of=CHUNK)
def every_listed_type_occurs(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for geometries of the type reads the row group in vain; another rule judges unknown codes."""
    listed = _statistics(chunk).geospatial_types or []

    def compare(values: ChunkValues) -> Iterator[Violation]:
        there = _types(values)
        for number, code in enumerate(listed):
            if code not in there and is_type_code(code):
                yield Violation(
                    f"type {code} is listed, but no geometry of {named(chunk)} has it",
                    _field(chunk, "geospatial_types")[number],
                    expected=", ".join(map(str, sorted(there))) or "an empty list",
                    actual=str(code),
                )

    if listed:
        yield ComparedBy(compare)
