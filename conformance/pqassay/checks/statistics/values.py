"""Checks of statistics against the values of their chunks, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pqassay.checks.subjects import CHUNK, STATISTICS
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.nan_bounds import bounds_in_use
from pqassay.under_test.violation import Violation
from pqassay.values.claims.bound_claims import (
    ChunkBound,
    ChunkZero,
    DeprecatedBounds,
    ExactBound,
    order_of_readers,
    require_order,
    zero_bound,
)
from pqassay.values.claims.count_claims import ChunkCount, DistinctCounts, nulls_of_chunk
from pqassay.values.claims.value_rules import Claim, ComparedBy, TrueOfAnyValues
from pqassay.values.claims.wording import named, plural
from pqassay_spec.parquet.column_order import FLOATING, excludes_numbers, type_order
from pqassay_spec.parquet.thrift import Statistics, Type

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues

BOUNDS = ("min_value", "max_value")


def _given(chunk: ColumnChunkUnderTest, *names: str) -> Iterator[tuple[str, bytes]]:
    """The bounds of a chunk among the named fields, with their names."""
    statistics = chunk.statistics or Statistics()
    for name in names:
        raw: bytes | None = getattr(statistics, name)
        if raw is not None:
            yield name, raw


@value_rule("STA-040", of=STATISTICS)
def no_value_is_less_than_min_value(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for the value skips the row group."""
    for name, raw in _given(chunk, "min_value"):
        yield ChunkBound(chunk, name, raw, require_order(chunk))


@value_rule("STA-041", of=STATISTICS)
def no_value_is_greater_than_max_value(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for the value skips the row group."""
    for name, raw in _given(chunk, "max_value"):
        yield ChunkBound(chunk, name, raw, require_order(chunk))


@value_rule("STA-042", of=STATISTICS)
def exact_bounds_occur(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader may answer min() and max() from an exact bound."""
    for name, raw in _given(chunk, *BOUNDS):
        if getattr(chunk.statistics, f"is_{name}_exact"):
            yield ExactBound(chunk, name, raw, require_order(chunk))


@value_rule("STA-089", of=STATISTICS)
def no_nan_leaves_out_numbers(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that treats NaN as the greatest value skips the numbers. If both bounds are equal, it takes them for all values."""
    in_use = bounds_in_use(chunk)
    nan = [each for each in in_use if excludes_numbers(each.order, each.raw, above=each.above)]

    def compare(values: ChunkValues) -> Iterator[Violation]:
        numbers = values.count - int(values.is_nan.sum())
        for bound in nan if numbers else ():
            yield Violation(
                f"{named(chunk)} holds {plural(numbers, 'number')}, {bound.name} is NaN",
                chunk.fields.statistics / bound.name,
                expected="a number, or no bound",
                actual="NaN",
            )

    if in_use:
        yield ComparedBy(compare)


@value_rule("STA-043", of=STATISTICS)
def nulls_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for nulls skips a chunk with a null count of 0."""
    return nulls_of_chunk(chunk, of_lists=False)


@value_rule("STA-044", of=STATISTICS)
def nan_values_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for NaN, or for numbers other than NaN, skips a chunk by this count."""
    nans = None if chunk.statistics is None else chunk.statistics.nan_count
    if nans is not None:
        yield ChunkCount(chunk, "nan_count", nans, "NaN value", lambda values: int(values.is_nan.sum()))


@value_rule("STA-045", of=STATISTICS)
def distinct_values_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader may answer count(distinct) from this count."""
    distinct = None if chunk.statistics is None else chunk.statistics.distinct_count
    if distinct is not None:
        field = chunk.fields.statistics / "distinct_count"
        yield DistinctCounts([distinct], _distinct, lambda _: named(chunk), lambda _: field)


def _distinct(values: ChunkValues) -> Sequence[tuple[int, int]]:
    """The least and the greatest correct distinct count of a chunk."""
    least = most = len(values.distinct())
    if type_order(values.chunk.leaf.element) in FLOATING and most:
        least = values.distinct_numbers()
    return [(least, most + (values.count < values.chunk.facts.num_values))]


@value_rule("STA-047", of=CHUNK)
def bytes_of_byte_arrays_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers size buffers by this number."""
    sizes, name = chunk.facts.size_statistics, "unencoded_byte_array_data_bytes"
    stored = None if sizes is None else sizes.unencoded_byte_array_data_bytes

    def compare(values: ChunkValues) -> Iterator[Violation]:
        length = int(values.lengths.sum())
        if stored != length:
            message = f"the values of {named(chunk)} take {length} bytes, {name} is {stored}"
            yield Violation(message, chunk.fields.sizes / name, str(length), str(stored))

    if stored is not None and chunk.leaf.element.type == Type.BYTE_ARRAY:
        yield ComparedBy(compare)


@value_rule("STA-048", of=STATISTICS)
def no_value_is_outside_the_deprecated_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers fall back to the deprecated bounds if there are no others."""
    natural = chunk.order or type_order(chunk.leaf.element)
    if bounds := [ChunkBound(chunk, name, raw, natural) for name, raw in _given(chunk, "min", "max")]:
        yield DeprecatedBounds(bounds)


@value_rule("STA-051", of=STATISTICS)
def no_value_is_outside_bounds_without_an_order(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Some readers use the order of the type, and skip the row group when they look for the value."""
    natural = order_of_readers(chunk)
    if natural is not None and chunk.order is None:
        for name, raw in _given(chunk, *BOUNDS):
            yield ChunkBound(chunk, name, raw, natural)


@value_rule("STA-009", of=STATISTICS)
def zeros_lie_within_the_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that distinguishes the two zeros skips the row group when it looks for the other zero."""
    for name, raw in _given(chunk, *BOUNDS):
        bound = ChunkBound(chunk, name, raw, chunk.order)
        applies, narrow = zero_bound(chunk, [raw], above=bound.above)
        if narrow is not None:
            yield ChunkZero(bound, narrow)
        elif applies:
            yield TrueOfAnyValues()
