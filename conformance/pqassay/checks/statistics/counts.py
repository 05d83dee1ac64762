"""Checks of the counts in the footer: nulls, distinct values, NaN, level histograms, sizes; and of geospatial boxes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.statistics.bounds import statistics_of
from pqassay.checks.subjects import CHUNK, COUNTING_NAN, SIZE_STATISTICS, STATISTICS
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.column_order import FLOATING, Order, annotation_fits, type_order
from pqassay_spec.parquet.encoding.null_counts import null_counts
from pqassay_spec.parquet.encoding.wkb import is_type_code
from pqassay_spec.parquet.schema.leaf_columns import is_geometry
from pqassay_spec.parquet.thrift import BoundingBox, GeospatialStatistics, SizeStatistics, Type

NOTHING = (math.inf, -math.inf)
"""The initial values of an axis's bounds, before a writer has seen a coordinate."""

TYPE_DEFINED = (Order.FLOAT, Order.HALF)
"""The type-defined orders of floating-point columns."""

# ------------------------------------------------------------------------------------------------ counts


@rule("STA-010", of=STATISTICS)
def null_count_is_possible(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """There are at most as many nulls as values. A column without an optional field in its path has none."""
    count = statistics_of(chunk).null_count
    if count is None:
        raise NotApplicable
    most = chunk.facts.num_values if chunk.leaf.max_definition_level else 0
    if not 0 <= count <= max(most, 0):
        why = "" if chunk.leaf.max_definition_level else ": the column is required"
        said = f"null_count is {count} of {chunk.facts.num_values} values{why}"
        field = chunk.fields.statistics / "null_count"
        yield Violation(said, field, f"0 to {most}" if most > 0 else "0", str(count))


@rule("STA-011", of=STATISTICS)
def null_count_is_given(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A writer of statistics should count nulls."""
    if statistics_of(chunk).null_count is None:
        said = "the statistics do not count nulls"
        yield Violation(said, chunk.fields.statistics, "null_count", "none")


@rule("STA-012", of=STATISTICS)
def distinct_count_is_possible(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """There are at most as many distinct values as values."""
    count, most = statistics_of(chunk).distinct_count, chunk.facts.num_values
    if count is None:
        raise NotApplicable
    if not 0 <= count <= max(most, 0):
        said = f"distinct_count is {count} of {most} values"
        field = chunk.fields.statistics / "distinct_count"
        yield Violation(said, field, f"0 to {most}" if most > 0 else "0", str(count))


@rule("STA-013", of=STATISTICS)
def nan_count_is_possible(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A null is not NaN, so both counts together are at most the values. STA-073 judges types without NaN."""
    statistics, element = statistics_of(chunk), chunk.leaf.element
    count = statistics.nan_count
    if count is None or not annotation_fits(element) or type_order(element) not in FLOATING:
        raise NotApplicable
    most = max(chunk.facts.num_values - max(statistics.null_count or 0, 0), 0)
    if not 0 <= count <= most:
        said = f"nan_count is {count}, but only {most} values are not null"
        field = chunk.fields.statistics / "nan_count"
        yield Violation(said, field, f"0 to {most}" if most else "0", str(count))


@rule("STA-073", of=STATISTICS)
def nan_is_counted_in_floats(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only floating-point values can be NaN."""
    count, element = statistics_of(chunk).nan_count, chunk.leaf.element
    if count is None or not annotation_fits(element):
        raise NotApplicable
    if type_order(element) not in FLOATING:
        said = f"nan_count is given for a column of {chunk.leaf.physical_type}"
        yield Violation(said, chunk.fields.statistics / "nan_count", "no nan_count", str(count))


@rule("STA-080", of=COUNTING_NAN)
def nan_is_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A writer that knows the count stores it under either order; STA-024 judges a missing count under the total order."""
    if chunk.order not in TYPE_DEFINED:
        raise NotApplicable
    if statistics_of(chunk).nan_count is None:
        said = "the statistics do not count NaN, although other fields of the footer are as new as this count"
        yield Violation(said, chunk.fields.statistics, "nan_count", "none")


# ------------------------------------------------------------------------------------------------ sizes and levels


def _sizes(chunk: ColumnChunkUnderTest) -> SizeStatistics:
    sizes = chunk.facts.size_statistics
    if sizes is None:
        raise NotApplicable
    return sizes


def _histograms(chunk: ColumnChunkUnderTest) -> list[tuple[str, list[int], int]]:
    """The nonempty level histograms: name, entries, greatest level. An empty list counts as missing."""
    sizes, leaf = _sizes(chunk), chunk.leaf
    named = (
        ("repetition_level_histogram", sizes.repetition_level_histogram, leaf.max_repetition_level),
        ("definition_level_histogram", sizes.definition_level_histogram, leaf.max_definition_level),
    )
    histograms = [(name, entries, greatest) for name, entries, greatest in named if entries]
    if not histograms:
        raise NotApplicable
    return histograms


@rule("STA-090", of=SIZE_STATISTICS)
def histograms_have_all_levels(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Some readers refuse a file with fewer or more entries."""
    for name, histogram, greatest in _histograms(chunk):
        if len(histogram) != greatest + 1:
            message = f"the {name} has {len(histogram)} entries for the levels 0 to {greatest}"
            expected, actual = f"{greatest + 1} entries", f"{len(histogram)} entries"
            yield Violation(message, chunk.fields.sizes / name, expected, actual)


@rule("STA-019", of=SIZE_STATISTICS)
def histograms_count_all_values(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Each value is counted once. STA-090 judges the number of entries."""
    for name, histogram, greatest in _histograms(chunk):
        if len(histogram) != greatest + 1:
            raise Broken("STA-090")
        if min(histogram) < 0:
            expected, actual = "counts", str(min(histogram))
            message = f"the {name} counts {min(histogram)} values"
        elif sum(histogram) != chunk.facts.num_values:
            expected, actual = str(chunk.facts.num_values), str(sum(histogram))
            message = f"the {name} counts {actual} of {expected} values"
        else:
            continue
        yield Violation(message, chunk.fields.sizes / name, expected, actual)


@rule("STA-020", of=SIZE_STATISTICS)
def histogram_agrees_about_nulls(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Entries below the greatest definition level count nulls. STA-019 judges histograms that are wrong by themselves."""
    histogram, null_count = _histogram_and_nulls(chunk)
    if null_count not in null_counts(chunk.leaf, histogram):
        yield _other_nulls(chunk, histogram, null_count)


@rule(
    "STA-070",
    of=SIZE_STATISTICS,
    only=lambda chunk: chunk.leaf.max_repetition_level > 0,
)
def empty_lists_count_as_nulls_in_the_histogram(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Some writers count only the nulls among the values. STA-020 judges other counts."""
    histogram, null_count = _histogram_and_nulls(chunk)
    whole, *fewer = null_counts(chunk.leaf, histogram)
    if null_count != whole and null_count in fewer:
        yield _other_nulls(chunk, histogram, null_count)


def _histogram_and_nulls(chunk: ColumnChunkUnderTest) -> tuple[list[int], int]:
    """The definition level histogram and the null count, if both are given."""
    histogram, statistics = _sizes(chunk).definition_level_histogram, chunk.statistics
    if not histogram or statistics is None or statistics.null_count is None:
        raise NotApplicable
    if len(histogram) != chunk.leaf.max_definition_level + 1:
        raise Broken("STA-090")
    if sum(histogram) != chunk.facts.num_values:
        raise Broken("STA-019")
    return histogram, statistics.null_count


def _other_nulls(chunk: ColumnChunkUnderTest, histogram: list[int], null_count: int) -> Violation:
    nulls, greatest = sum(histogram[:-1]), chunk.leaf.max_definition_level
    said = f"the histogram has {nulls} values below level {greatest}, but null_count is {null_count}"
    field = chunk.fields.sizes / "definition_level_histogram"
    return Violation(said, field, f"{null_count} values below level {greatest}", str(nulls))


@rule("STA-021", of=SIZE_STATISTICS)
def size_is_that_of_byte_arrays(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only byte arrays have unencoded bytes to count."""
    size = _sizes(chunk).unencoded_byte_array_data_bytes
    if size is None:
        raise NotApplicable
    if chunk.leaf.element.type != Type.BYTE_ARRAY:
        expected = "none"
    elif size < 0:
        expected = "0 or more"
    else:
        return
    said = f"unencoded_byte_array_data_bytes of a column of {chunk.leaf.physical_type} is {size}"
    yield Violation(said, chunk.fields.sizes / "unencoded_byte_array_data_bytes", expected, str(size))


# ------------------------------------------------------------------------------------------------ geospatial


@rule("STA-022", of=CHUNK)
def geospatial_box_is_one(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A box is not empty; from west to east it may cross the antimeridian."""
    box, field = _box(chunk)
    for axis in "yzm":
        low, high = getattr(box, f"{axis}min"), getattr(box, f"{axis}max")
        if low is not None and high is not None and low > high and (low, high) != NOTHING:
            said = f"{axis}min {low!r} is greater than {axis}max {high!r}"
            yield Violation(said, field / f"{axis}min", f"at most {high!r}", repr(low))


@rule("STA-075", of=CHUNK)
def geospatial_statistics_are_of_geometries(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only geometries have a location."""
    _ = _geospatial(chunk)
    if not annotation_fits(chunk.leaf.element):
        raise NotApplicable
    if not is_geometry(chunk.leaf.element):
        said = f"geospatial statistics of a column of {chunk.leaf.physical_type} that holds no geometries"
        yield Violation(said, chunk.fields.facts / "geospatial_statistics", "none", "geospatial_statistics")


@rule("STA-076", of=CHUNK)
def geospatial_box_bounds_something(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """NaN and the infinite initial values of a writer's bounds are not bounds."""
    box, field = _box(chunk)
    for axis in "xyzm":
        low, high = getattr(box, f"{axis}min"), getattr(box, f"{axis}max")
        for name, value in ((f"{axis}min", low), (f"{axis}max", high)):
            if value is not None and value != value:  # noqa: PLR0124 - NaN alone differs from itself
                yield Violation(f"{name} is NaN", field / name, "a number, or no box", "nan")
        if (low, high) == NOTHING:
            said = f"{axis}min is the greatest number and {axis}max the least, as before the first coordinate"
            yield Violation(said, field / f"{axis}min", "a number, or no box", repr(low))


def _box(chunk: ColumnChunkUnderTest) -> tuple[BoundingBox, Field]:
    """The bounding box of a chunk of geometries."""
    box = _geospatial(chunk).bbox
    if box is None or not annotation_fits(chunk.leaf.element) or not is_geometry(chunk.leaf.element):
        raise NotApplicable
    return box, chunk.fields.facts / "geospatial_statistics.bbox"


@rule("STA-060", of=CHUNK)
def axes_have_both_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The struct requires both x and y."""
    geospatial = _geospatial(chunk)
    box, field = geospatial.bbox, chunk.fields.facts / "geospatial_statistics.bbox"
    if box is None:
        raise NotApplicable
    for axis in "zm":
        names = f"{axis}min", f"{axis}max"
        given = [name for name in names if getattr(box, name) is not None]
        if len(given) == 1:
            (missing,) = set(names) - set(given)
            said = f"the box has {given[0]}, and no {missing}"
            yield Violation(said, field / given[0], f"{missing} as well, or neither", given[0])


@rule("STA-064", of=CHUNK)
def geospatial_types_are_types(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Each type has a known code, and is listed once."""
    types = _geospatial(chunk).geospatial_types
    if not types:
        raise NotApplicable
    seen: set[int] = set()
    for number, code in enumerate(types):
        field = (chunk.fields.facts / "geospatial_statistics.geospatial_types")[number]
        if not is_type_code(code):
            yield Violation(
                f"{code} is not a type of geometry", field, "a code of well-known binary", str(code)
            )
        elif code in seen:
            yield Violation(f"type {code} is listed twice", field, "each type once", str(code))
        seen.add(code)


def _geospatial(chunk: ColumnChunkUnderTest) -> GeospatialStatistics:
    """The geospatial statistics of a chunk, which must have some."""
    geospatial = chunk.facts.geospatial_statistics
    if geospatial is None:
        raise NotApplicable
    return geospatial
