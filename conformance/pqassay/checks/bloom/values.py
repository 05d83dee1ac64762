"""Checks of bloom filters against the values of their chunks, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pqassay.checks.subjects import BLOOM_FILTER
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.value_rules import Claim, ComparedBy
from pqassay.values.claims.wording import others, value_at, where
from pqassay_spec.parquet.column_order import FLOATING, type_order
from pqassay_spec.parquet.thrift import Type

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


def _missing(values: ChunkValues) -> Any:
    """A bool mask of the values that the filter lacks; ``None`` without a filter. Raises the errors of `ColumnChunkUnderTest.bitset`."""
    from pqassay.values.claims.bloom import absent  # noqa: PLC0415 - numpy and xxhash, at this tier only

    return absent(values, values.chunk.bitset)


def _is_floating(chunk: ColumnChunkUnderTest) -> bool:
    return type_order(chunk.leaf.element) in FLOATING


def _held(chunk: ColumnChunkUnderTest, *, of_special: bool) -> Iterator[Claim]:
    """The claim that a filter holds all values: either zeros and NaN of IEEE 754 numbers, or all other values."""
    if chunk.leaf.element.type == Type.BOOLEAN:
        raise NotChecked("the format does not define bloom filters of booleans", "another rule")

    def compare(values: ChunkValues) -> Iterator[Violation]:
        missing = values.remembered(_missing)
        if missing is None:
            return
        if _is_floating(chunk):
            special = values.is_nan | values.is_zero(negative=True) | values.is_zero(negative=False)
            missing = missing & (special if of_special else ~special)
        if missing.any():
            place = int(missing.argmax())
            value = value_at(values, place, type_order(chunk.leaf.element))
            yield Violation(
                f"{where(values, place)} holds {value}, but its bloom filter does not"
                + others(int(missing.sum())),
                chunk.fields.bitset,
                expected=f"a filter that holds {value}",
                actual="one that does not",
            )

    yield ComparedBy(compare)


@value_rule("BLM-020", of=BLOOM_FILTER)
def every_value_is_held(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for a missing value skips the row group."""
    return _held(chunk, of_special=False)


@value_rule("BLM-021", of=BLOOM_FILTER)
def zeros_and_nan_are_held_by_their_bytes(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader hashes the wanted value in its stored form."""
    return _held(chunk, of_special=True) if _is_floating(chunk) else iter(())
