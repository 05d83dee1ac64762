"""Checks of ``_pm`` against the footer of the Parquet file beside it: row groups, column chunks, statistics, bloom filters.

Numbers are compared one row group at a time; only row groups with a difference are examined further.
"""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.pm.pair_parts import BloomFilterOfPair, ChunkOfPair, RowGroupOfPair
from pqassay.checks.pm.subjects import BITSET_OF_PAIR, BLOOM_FILTER_OF_PAIR, CHUNK_OF_PAIR, ROW_GROUP_OF_PAIR
from pqassay.under_test.index_reads import IndexReads
from pqassay.under_test.pm.file import header_field
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.thrift import ColumnChunk, Statistics
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import SIDES
from pqassay_spec.pm.codes import StatFlag
from pqassay_spec.pm.from_parquet.bounds import bounds_of, verbatim_bounds
from pqassay_spec.pm.from_parquet.snapshot import encodings_of

SHOWN_BYTES = 20
"""The number of bytes of a statistic that a finding shows."""


# --------------------------------------------------------------------------------------- row groups and numbers


@rule("PM-109", of=ROW_GROUP_OF_PAIR)
def row_groups_have_their_rows(row_group: RowGroupOfPair) -> Iterator[Violation]:
    """Readers allocate memory by this number."""
    number, block = row_group.number, row_group.block
    there = row_group.pair.metadata.row_groups[number].num_rows
    if block.num_rows != there:
        spot = Spot.member(row_group.pair.place(number).path, pm.BlockHeader, "num_rows", block.offset)
        said = (
            f"NUM_ROWS of row group {number} is {block.num_rows}, "
            f"data.footer.row_groups[{number}].num_rows is {there}"
        )
        yield spot.violation(said, str(there), str(block.num_rows), row_group=number)


@rule("PM-110", of=ROW_GROUP_OF_PAIR)
def codecs_agree(row_group: RowGroupOfPair) -> Iterator[Violation]:
    """Readers decompress pages with this codec."""
    return row_group.differences("codec", "codec", row_group.numbers(lambda facts: facts.codec))


@rule("PM-111", of=ROW_GROUP_OF_PAIR)
def encodings_agree(row_group: RowGroupOfPair) -> Iterator[Violation]:
    """Each encoding of values has a bit."""
    masks: dict[tuple[int, ...], int] = {}
    for facts in row_group.facts:  # most chunks have the same encodings
        if facts is not None and (listed := tuple(facts.encodings)) not in masks:
            masks[listed] = encodings_of(facts)
    expected = row_group.numbers(lambda facts: masks[tuple(facts.encodings)])
    return row_group.differences("encodings", "encodings", expected, shown=hex)


@rule("PM-112", of=ROW_GROUP_OF_PAIR)
def values_are_as_many(row_group: RowGroupOfPair) -> Iterator[Violation]:
    """If this number equals the null count, readers never fetch the chunk."""
    return row_group.differences(
        "num_values", "num_values", row_group.numbers(lambda facts: facts.num_values)
    )


@rule("PM-113", of=ROW_GROUP_OF_PAIR)
def byte_ranges_agree(row_group: RowGroupOfPair) -> Iterator[Violation]:
    """Readers fetch these ranges."""
    starts = [_start(chunk) for chunk in row_group.columns]
    lengths = row_group.numbers(lambda facts: facts.total_compressed_size)
    yield from row_group.differences(
        "byte_range_start", "data_page_offset, or where its dictionary begins,", starts
    )
    yield from row_group.differences("total_compressed", "total_compressed_size", lengths)


def _start(chunk: ColumnChunk) -> int | None:
    start = chunk_start(chunk)
    return chunk.meta_data.data_page_offset if start is None and chunk.meta_data else start


@rule("PM-114", of=ROW_GROUP_OF_PAIR)
def null_counts_agree(row_group: RowGroupOfPair) -> Iterator[Violation]:
    """Compared if both files have one; another rule judges whether ``_pm`` has one."""
    return row_group.differing_counts("null_count", StatFlag.NULL_COUNT_PRESENT)


@rule("PM-115", of=ROW_GROUP_OF_PAIR)
def distinct_counts_agree(row_group: RowGroupOfPair) -> Iterator[Violation]:
    """Compared if both files have one."""
    return row_group.differing_counts("distinct_count", StatFlag.DISTINCT_COUNT_PRESENT)


# ----------------------------------------------------------------------------------------------------- statistics


@rule("PM-116", of=CHUNK_OF_PAIR)
def bounds_are_verbatim(chunk: ChunkOfPair) -> Iterator[Violation]:
    """Compared if both files have one. A bound that is too narrow for the column's values loses rows."""
    statistics = chunk.facts.statistics
    if statistics is None:
        return
    pair, block, record = chunk.pair, chunk.row_group.block, chunk.record
    for side, expected in zip(SIDES, verbatim_bounds(statistics), strict=True):
        if expected is None or not record.stat_flags & side.present:
            continue
        actual = pm_block.read_statistic(pair.source, block, chunk.column, side, pair.snapshot.start)
        number = chunk.row_group.number
        spot = pair.statistic(number, chunk.column, side)
        if actual is None or spot is None or actual == expected:
            continue
        where, texts = (
            f"{chunk.data_path}.statistics.{side.parquet_field}",
            (_bytes(expected), _bytes(actual)),
        )
        said = f"{side.name} of {chunk.label} is {texts[1]}, {where} is {texts[0]}"
        yield spot.violation(said, *texts, column=chunk.leaf.name, row_group=number)


def _bytes(raw: bytes) -> str:
    return raw[:SHOWN_BYTES].hex(" ") + (f" … ({len(raw)} bytes)" if len(raw) > SHOWN_BYTES else "")


@rule("PM-117", of=CHUNK_OF_PAIR)
def bounds_are_present_alike(chunk: ChunkOfPair) -> Iterator[Violation]:
    """Bounds that ``_pm`` must omit are not missing, and extra bounds of the designated timestamp are allowed."""
    header, flags = chunk.pair.header, chunk.record.stat_flags
    statistics = chunk.facts.statistics or Statistics()
    said = verbatim_bounds(statistics)
    here = [bool(flags & side.present) for side in SIDES]
    if here == [bound is not None for bound in said]:
        return
    kept = bounds_of(statistics, chunk.leaf.element, header.descriptors[chunk.column].type)[:2]
    for side, is_here, bound, keepable in zip(SIDES, here, said, kept, strict=True):
        where = f"{chunk.data_path}.statistics.{side.parquet_field}"
        if is_here and bound is None and chunk.column != header.fixed.designated_timestamp:
            message = f"{side.name} of {chunk.label} exists, but not {where}"
        elif not is_here and keepable is not None:
            message = f"{side.name} of {chunk.label} is missing, but {where} exists"
        else:
            continue
        expected = f"no {side.name}" if is_here else f"{side.name} {_bytes(keepable or b'')}"
        yield chunk.violation("stat_flags", message, expected, f"{flags:#04x}")


@rule("PM-126", of=CHUNK_OF_PAIR)
def exactness_agrees(chunk: ChunkOfPair) -> Iterator[Violation]:
    """Applies to bounds that the Parquet footer marks as not exact."""
    statistics, flags = chunk.facts.statistics, chunk.record.stat_flags
    if statistics is None:
        return
    given = (statistics.is_min_value_exact, statistics.is_max_value_exact)
    for side, is_exact in zip(SIDES, given, strict=True):
        if is_exact is False and flags & side.present and flags & side.exact:
            yield chunk.differs(
                "stat_flags",
                f"statistics.is_{side.parquet_field}_exact",
                f"false, without {StatFlag(side.exact).name}",
                f"{flags:#04x}",
            )


# -------------------------------------------------------------------------------------------------- bloom filters


@rule("PM-119", of=BLOOM_FILTER_OF_PAIR, only=lambda bloom: (bloom.here or bloom.there) is not None)
def bloom_filters_are_there_alike(bloom: BloomFilterOfPair) -> Iterator[Violation]:
    """A bloom filter of an unknown kind in the Parquet file counts as absent."""
    here, there = bloom.here is not None, bloom.there is not None
    if here == there:
        return
    header = bloom.pair.header
    spot = header_field("feature_flags")
    if bloom.number is not None:
        spot = bloom.pair.bloom_entry(bloom.number)
    elif header.bloom_columns:
        count = "header_sections.bloom_filters.bloom_col_count"
        spot = Spot(count, header.sections_start, pm.RowGroupEntry.size)
    yield bloom.violation(
        spot,
        f"the {bloom.label} is {'there' if here else 'not there'}, {bloom.data_field} {'is not' if here else 'is'}",
        "no bloom filter" if bloom.there is None else f"one of {bloom.there.length} bytes",
        "one" if here else "none",
    )


@rule("PM-120", of=BITSET_OF_PAIR)
def bitsets_agree(bloom: BloomFilterOfPair) -> Iterator[Violation]:
    """A missing bit loses rows. The bitset of an external filter is after the filter's header in the Parquet file."""
    pair, here, there = bloom.pair, bloom.here, bloom.there
    if bloom.number is None or here is None or there is None:
        return
    if pair.is_external:
        ranges = ((there.offset, there.length), here)
        texts = [f"[{offset}, {offset + length})" for offset, length in ranges]
        spot = pair.bloom_entry(bloom.number)
    else:
        bitset = pair.bitset(bloom.number)
        texts = _bitset_texts(pair.parquet.part(IndexReads).read(there.offset, there.length), bitset)
        spot = pair.inlined_bitset(bloom.row_group, bloom.column, len(bitset))
    if texts[0] != texts[1]:
        message = f"the {bloom.label} is {texts[1]}, the one at {bloom.data_field} is {texts[0]}"
        yield bloom.violation(spot, message, *texts)


def _bitset_texts(expected: bytes, actual: bytes) -> list[str]:
    """Two bitsets for messages: their lengths, or the first byte that differs; equal texts if the bitsets are equal."""
    if len(expected) != len(actual):
        return [f"{len(expected)} bytes", f"{len(actual)} bytes"]
    if expected == actual:
        return ["equal", "equal"]
    place = next(place for place in range(len(expected)) if expected[place] != actual[place])
    return [f"{show(bits[place : place + 1].hex())} at byte {place}" for bits in (expected, actual)]
