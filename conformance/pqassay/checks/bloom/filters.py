"""Checks of bloom filters that need no values: where they are, their headers, and how full their bitsets are.

The tier ``values`` judges whether a filter holds the values of its chunk.
"""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import BLOOM_FILTER, CHUNK, FILE
from pqassay.checks.surveys import counts_of
from pqassay.checks.undefined import unknown
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.layout import FILTERS
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.thrift import Type

DISPUTED_TYPES = (Type.BOOLEAN, Type.INT96)
"""Types whose PLAIN bytes are disputed, or that readers never look up in a filter."""

MOST_PASSING = 0.5
"""The share of absent values that pass, above which a filter is useless."""


# ---------------------------------------------------------------------------------------------- in the footer


@rule("BLM-001", of=CHUNK, only=lambda chunk: chunk.facts.bloom_filter_offset is not None)
def no_filter_has_no_offset(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Offset 0 holds the magic, never a filter."""
    if chunk.facts.bloom_filter_offset == 0:
        said = f"{chunk} gives 0 as the offset of its bloom filter"
        yield Violation(said, chunk.fields.facts / "bloom_filter_offset", "no bloom_filter_offset", "0")


def _has_part_of_a_filter(chunk: ColumnChunkUnderTest) -> bool:
    """BLM-001 judges an offset of 0."""
    offset, length = chunk.facts.bloom_filter_offset, chunk.facts.bloom_filter_length
    return bool(offset) or (offset is None and length is not None)


@rule("BLM-006", of=CHUNK, only=_has_part_of_a_filter)
def length_is_given(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """With the length, one request fetches the filter; without the offset, nothing finds it."""
    if chunk.facts.bloom_filter_offset is None:
        said = f"{chunk} gives the length of a bloom filter but no offset"
        field = chunk.fields.facts / "bloom_filter_length"
        yield Violation(said, field, "a bloom_filter_offset beside it", str(chunk.facts.bloom_filter_length))
    elif chunk.facts.bloom_filter_length is None:
        said = f"the bloom filter of {chunk} has an offset but no length"
        field = chunk.fields.facts / "bloom_filter_offset"
        yield Violation(said, field, "a bloom_filter_length beside it", "none")


@rule("BLM-011", of=BLOOM_FILTER)
def type_is_undisputed(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The hashed bytes of a value must be unambiguous."""
    if chunk.leaf.element.type in DISPUTED_TYPES:
        kind = Type(chunk.leaf.element.type).name
        said = f"column {chunk.column}, of type {kind}, has a bloom filter in row group {chunk.row_group}"
        field = chunk.fields.facts / "bloom_filter_offset"
        yield Violation(
            said, field, f"no bloom filter of a column of {kind}", f"one at {chunk.facts.bloom_filter_offset}"
        )


@rule(
    "BLM-010",
    of=FILE,
    only=lambda file: file.part(ColumnChunks).count(FILTERS) > 1,
)
def filters_stand_in_order(file: FileUnderTest) -> Iterator[Violation]:
    """Filters are in the order of their chunks, so that a reader of several filters never seeks back."""
    file.require_sound_ranges()
    highest = -1
    for chunk in file.part(ColumnChunks).having("bloom_filter"):
        offset = chunk.facts.bloom_filter_offset or 0
        if not file.framing.body_start <= offset < file.framing.footer_start:
            continue  # its place is not known
        if offset < highest:
            yield Violation(
                message=(
                    f"the bloom filter of {chunk} is at {offset}, before the filter of an "
                    f"earlier column or row group, at {highest}"
                ),
                field=chunk.fields.facts / "bloom_filter_offset",
                expected=f"an offset behind {highest}",
                actual=str(offset),
                column=chunk.column,
                row_group=chunk.row_group,
            )
        highest = max(highest, offset)


# ---------------------------------------------------------------------------------------------- in the header


@rule("BLM-002", of=BLOOM_FILTER)
def header_is_whole(chunk: ColumnChunkUnderTest) -> None:
    """Reading the header raises the violation."""
    _ = chunk.bloom_filter_header


@rule("BLM-003", of=BLOOM_FILTER)
def header_names_what_is_known(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Each union has one member. A reader that does not know the member cannot use the filter."""
    header, _ = chunk.bloom_filter_header
    problem = None
    for name, known, what in (
        ("algorithm", header.algorithm.BLOCK, "BLOCK, the split block algorithm"),
        ("hash", header.hash.XXHASH, "XXHASH"),
        ("compression", header.compression.UNCOMPRESSED, "UNCOMPRESSED"),
    ):
        if known is None:
            ids = ", ".join(str(field.id) for field in getattr(header, name).unknown)
            problem = unknown(f"the {name} of the bloom filter of {chunk}")
            said = f"the {name} of the bloom filter of {chunk} is not defined by the format"
            yield Violation(said, chunk.fields.bloom_header / name, what, f"member {ids}")
    if problem is not None:
        raise problem


def _is_whole_blocks(size: int) -> bool:
    return size > 0 and size % BLOCK_SIZE == 0


@rule("BLM-004", of=BLOOM_FILTER)
def size_is_that_of_blocks(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A field of 32 bits cannot hold the size of 2^31 blocks, so this part of the rule is always kept."""
    header, _ = chunk.bloom_filter_header
    if not _is_whole_blocks(header.numBytes):
        said = f"the bloom filter of {chunk} has {header.numBytes} bytes, not a whole number of blocks"
        field = chunk.fields.bloom_header / "numBytes"
        yield Violation(said, field, f"a positive multiple of {BLOCK_SIZE}", str(header.numBytes))


@rule("BLM-005", of=BLOOM_FILTER)
def length_is_that_of_header_and_bitset(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Some readers rely on the length in the footer, others on the header."""
    length = chunk.facts.bloom_filter_length
    if length is None:
        raise NotApplicable
    header, taken = chunk.bloom_filter_header
    if not _is_whole_blocks(header.numBytes):
        raise Broken("BLM-004")
    if length != taken + header.numBytes:
        said = (
            f"the bloom filter of {chunk} has a header of {taken} bytes and a bitset of "
            f"{header.numBytes}, but its length in the footer is {length}"
        )
        field = chunk.fields.facts / "bloom_filter_length"
        yield Violation(said, field, f"{taken} + {header.numBytes} = {taken + header.numBytes}", str(length))


@rule("BLM-008", of=BLOOM_FILTER)
def size_is_a_power_of_two(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The documents do not require it, but most writers do it."""
    header, _ = chunk.bloom_filter_header
    size = header.numBytes
    if not _is_whole_blocks(size):
        raise Broken("BLM-004")
    if size & (size - 1):
        said = f"the bloom filter of {chunk} has {size} bytes"
        field = chunk.fields.bloom_header / "numBytes"
        yield Violation(said, field, f"{1 << size.bit_length() - 1} or {1 << size.bit_length()}", str(size))


# ---------------------------------------------------------------------------------------------- in the bitset


@rule("BLM-007", of=BLOOM_FILTER)
def bits_are_set_where_values_are(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Every value sets eight bits."""
    if chunk.bloom_filter_rate or chunk.bitset.strip(b"\0"):
        return
    holds = _holds_values(chunk)
    if holds is None and chunk.file.options.reaches("values"):
        holds = bool(counts_of(chunk).non_null.any())
    if holds is None:
        raise NotChecked("the footer does not say whether the chunk has a value", "file")
    if holds:
        said = f"the bloom filter of {chunk} has no bit set, but the column holds values"
        yield Violation(said, chunk.fields.bitset, "eight bits or more", "no bit set")


def _holds_values(chunk: ColumnChunkUnderTest) -> bool | None:
    """Whether a chunk has a value that is not null, according to the footer."""
    statistics = chunk.statistics
    if not chunk.facts.num_values:
        return False
    if not chunk.leaf.max_definition_level:
        return True
    if statistics is None:
        return None
    if statistics.min_value is not None or statistics.max_value is not None:
        return True
    if statistics.null_count is None:
        return None
    if statistics.null_count >= chunk.facts.num_values:
        return False
    # Writers disagree on which entries of lists are null.
    return None if chunk.leaf.max_repetition_level else True


@rule("BLM-009", of=BLOOM_FILTER)
def filter_is_not_full(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A filter that lets most values pass skips nothing."""
    passing = chunk.bloom_filter_rate
    if passing > MOST_PASSING:
        said = (
            f"the bloom filter of {chunk} does not exclude about {passing:.0%} of the "
            "values that the column does not have"
        )
        yield Violation(said, chunk.fields.bitset, f"at most {MOST_PASSING:.0%}", f"{passing:.1%}")
