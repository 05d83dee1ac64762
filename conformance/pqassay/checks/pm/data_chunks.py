"""Checks of ``_pm`` against the footer of the Parquet file beside it: row groups, column chunks, statistics, bloom filters.

Numbers are compared a row group at a time; only a row group in which something differs is looked at closely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

from pqassay.checks import rule
from pqassay.checks.pm.pair import Pair
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.thrift import ColumnMetaData, Statistics
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import SIDES, Block, Side
from pqassay_spec.pm.bounds import bounds_of, verbatim_bounds
from pqassay_spec.pm.codes import MOST_INLINE, StatFlag, split_reference
from pqassay_spec.pm.from_parquet import bloom_of, encodings_of
from pqassay_spec.pm.value import ExternalBloom

SHOWN_BYTES = 20
"""Bytes of a statistic that a finding repeats."""


@rule("PM-109", of=FILE)
def row_groups_have_their_rows(file: FileUnderTest) -> Iterator[Violation]:
    """Readers allocate by it."""
    pair = file.part(Pair)
    for row_group in range(pair.row_group_count):
        block, there = pair.blocks[row_group], pair.metadata.row_groups[row_group].num_rows
        if block.num_rows != there:
            yield Violation(
                message=f"NUM_ROWS of row group {row_group} is {block.num_rows}, "
                f"data.footer.row_groups[{row_group}].num_rows is {there}",
                field=f"{pair.block_path(row_group)}.num_rows",
                offset=block.offset,
                length=pm.BlockHeader.size,
                expected=str(there),
                actual=str(block.num_rows),
                row_group=row_group,
            )


def _differs(
    pair: Pair, row_group: int, column: int, name: str, theirs: str, *, expected: str, actual: str
) -> Violation:
    """A field of a chunk's record that differs from one in the Parquet footer, whose path is given below the chunk's."""
    offset, length = pair.chunk_place(row_group, column, name)
    leaf = pair.leaves[column]
    where = f"{data_path(row_group, column)}.{theirs}"
    return Violation(
        message=f"{name.upper()} of row group {row_group} of column {leaf.name} is {actual}, {where} is {expected}",
        field=f"{pair.chunk_path(row_group, column)}.{name}",
        offset=offset,
        length=length,
        expected=expected,
        actual=actual,
        column=leaf.name,
        row_group=row_group,
    )


def data_path(row_group: int, column: int) -> str:
    """Field path of a column chunk's facts in the Parquet footer."""
    return f"data.footer.row_groups[{row_group}].columns[{column}].meta_data"


Expected = Iterable[Sequence[int | None]]
"""For each row group and each of its chunks a number, or ``None`` where the Parquet footer does not say."""


def _from_facts(pair: Pair, number_of: Callable[[ColumnMetaData], int | None]) -> Expected:
    for row_group in pair.facts:
        yield [None if facts is None else number_of(facts) for facts in row_group]


def _compare(
    pair: Pair,
    name: str,
    theirs: str,
    expected: Expected,
    *,
    shown: Callable[[int], str] = str,
    flag: StatFlag | None = None,
) -> Iterator[Violation]:
    """Compare a number of all column chunks.

    Args:
        pair: The files.
        name: The number in a chunk's record.
        theirs: The field in the Parquet footer that it comes from.
        expected: The numbers that should stand there.
        shown: A number for people.
        flag: The flag without which the number in the record means nothing.
    """
    take: Callable[[pm.ColumnChunk], int] = attrgetter(name)
    for row_group, numbers in enumerate(expected):
        records = pair.blocks[row_group].chunks
        if numbers == [take(record) for record in records]:
            continue
        for column, (number, record) in enumerate(zip(numbers, records, strict=True)):
            is_said = flag is None or bool(record.stat_flags & flag)
            if number is not None and is_said and take(record) != number:
                yield _differs(
                    pair, row_group, column, name, theirs, expected=shown(number), actual=shown(take(record))
                )


@rule("PM-110", of=FILE)
def codecs_agree(file: FileUnderTest) -> Iterator[Violation]:
    """Pages are decompressed by it."""
    pair = file.part(Pair)
    return _compare(pair, "codec", "codec", _from_facts(pair, lambda facts: facts.codec))


@rule("PM-111", of=FILE)
def encodings_agree(file: FileUnderTest) -> Iterator[Violation]:
    """Each encoding of values has a bit."""
    pair = file.part(Pair)
    masks: dict[tuple[int, ...], int] = {}
    """Those that were computed; of thousands of chunks, most have the same encodings."""

    def mask_of(facts: ColumnMetaData) -> int:
        listed = tuple(facts.encodings)
        if listed not in masks:
            masks[listed] = encodings_of(facts)
        return masks[listed]

    return _compare(pair, "encodings", "encodings", _from_facts(pair, mask_of), shown=hex)


@rule("PM-112", of=FILE)
def values_are_as_many(file: FileUnderTest) -> Iterator[Violation]:
    """A chunk of as many nulls is never fetched."""
    pair = file.part(Pair)
    return _compare(pair, "num_values", "num_values", _from_facts(pair, lambda facts: facts.num_values))


@rule("PM-113", of=FILE)
def byte_ranges_agree(file: FileUnderTest) -> Iterator[Violation]:
    """They are what is fetched."""
    pair = file.part(Pair)
    lengths = _from_facts(pair, lambda facts: facts.total_compressed_size)
    yield from _compare(
        pair, "byte_range_start", "data_page_offset, or where its dictionary begins,", _starts(pair)
    )
    yield from _compare(pair, "total_compressed", "total_compressed_size", lengths)


def _starts(pair: Pair) -> Expected:
    _ = pair.row_group_count
    for row_group in pair.metadata.row_groups:
        found: list[int | None] = []
        for chunk in row_group.columns:
            start = chunk_start(chunk)
            found.append(chunk.meta_data.data_page_offset if start is None and chunk.meta_data else start)
        yield found


def _counts(pair: Pair, name: str) -> Expected:
    """Counts of Parquet's statistics; a negative one says nothing."""
    take: Callable[[Statistics], int | None] = attrgetter(name)
    for row_group in pair.facts:
        found: list[int | None] = []
        for facts in row_group:
            count = None if facts is None or facts.statistics is None else take(facts.statistics)
            found.append(count if count is not None and count >= 0 else None)
        yield found


@rule("PM-114", of=FILE)
def null_counts_agree(file: FileUnderTest) -> Iterator[Violation]:
    """Where both files say one; whether ``_pm`` does is another rule's matter."""
    pair, name = file.part(Pair), "null_count"
    flag = StatFlag.NULL_COUNT_PRESENT
    return _compare(pair, name, f"statistics.{name}", _counts(pair, name), flag=flag)


@rule("PM-115", of=FILE)
def distinct_counts_agree(file: FileUnderTest) -> Iterator[Violation]:
    """Where both files say one."""
    pair, name = file.part(Pair), "distinct_count"
    flag = StatFlag.DISTINCT_COUNT_PRESENT
    return _compare(pair, name, f"statistics.{name}", _counts(pair, name), flag=flag)


# ----------------------------------------------------------------------------------------------------- statistics


def _statistics(pair: Pair) -> Iterator[tuple[int, int, ColumnMetaData, pm.ColumnChunk]]:
    """Every chunk whose facts can be read: row group, column, facts, record."""
    for row_group, row in enumerate(pair.facts):
        records = pair.blocks[row_group].chunks
        for column, (facts, record) in enumerate(zip(row, records, strict=True)):
            if facts is not None:
                yield row_group, column, facts, record


@rule("PM-116", of=FILE)
def bounds_are_verbatim(file: FileUnderTest) -> Iterator[Violation]:
    """Where both files say one. A bound that is not narrower than its column's values loses rows."""
    pair = file.part(Pair)
    blocks = pair.blocks
    problem: FormatError | None = None
    found = False
    for row_group, column, facts, record in _statistics(pair):
        if facts.statistics is None:
            continue
        block = blocks[row_group]
        for side, expected in zip(SIDES, verbatim_bounds(facts.statistics), strict=True):
            if expected is None or not record.stat_flags & side.present:
                continue
            if _holds(pair, block, record, side, expected):
                continue  # most do
            try:
                actual = pm_block.read_statistic(pair.source, block, column, side, pair.snapshot.start)
            except FormatError as error:
                problem = error
                continue
            if actual is not None and actual != expected:
                found = True
                yield _wrong_bound(pair, row_group, column, side, expected=expected, actual=actual)
    if problem is not None and not found:
        raise problem


def _holds(pair: Pair, block: Block, record: pm.ColumnChunk, side: Side, bound: bytes) -> bool:
    """Whether a record certainly has this bound. What makes it doubtful is told with more care, and more slowly."""
    slot, size = side.slot(record), side.size(record)
    if record.stat_flags & side.inlined:
        return len(bound) == size <= MOST_INLINE and slot == int.from_bytes(bound, "little")
    offset, length = split_reference(slot)
    start = block.region_start + offset
    return (
        length == len(bound)
        and start + length <= pair.snapshot.start
        and pair.source.read(start, length) == bound
    )


def _wrong_bound(
    pair: Pair, row_group: int, column: int, side: Side, *, expected: bytes, actual: bytes
) -> Violation:
    place = pm_block.find_statistic(pair.blocks[row_group], column, side)
    leaf = pair.leaves[column]
    where = f"{data_path(row_group, column)}.statistics.{side.parquet_field}"
    return Violation(
        message=f"{side.name} of row group {row_group} of column {leaf.name} is {_bytes(actual)}, {where} is {_bytes(expected)}",
        field=pair.statistic_path(row_group, column, side),
        offset=place.offset if place else None,
        length=place.length if place else 0,
        expected=_bytes(expected),
        actual=_bytes(actual),
        column=leaf.name,
        row_group=row_group,
    )


def _bytes(raw: bytes) -> str:
    return raw[:SHOWN_BYTES].hex(" ") + (f" … ({len(raw)} bytes)" if len(raw) > SHOWN_BYTES else "")


@rule("PM-117", of=FILE)
def bounds_are_present_alike(file: FileUnderTest) -> Iterator[Violation]:
    """Bounds that ``_pm`` must leave out are not missed, nor is it wrong to know those of the designated timestamp."""
    pair = file.part(Pair)
    none = Statistics()
    for row_group, column, facts, record in _statistics(pair):
        statistics = facts.statistics or none
        said = verbatim_bounds(statistics)
        here = [bool(record.stat_flags & side.present) for side in SIDES]
        if here == [bound is not None for bound in said]:
            continue
        leaf = pair.leaves[column]
        kept = bounds_of(statistics, leaf.element, pair.header.descriptors[column].type)[:2]
        for side, is_here, bound, keepable in zip(SIDES, here, said, kept, strict=True):
            where = f"{data_path(row_group, column)}.statistics.{side.parquet_field}"
            is_known = column == pair.header.fixed.designated_timestamp
            if is_here and bound is None and not is_known:
                message = (
                    f"{side.name} of row group {row_group} of column {leaf.name} is there, {where} is not"
                )
            elif not is_here and keepable is not None:
                message = (
                    f"{side.name} of row group {row_group} of column {leaf.name} is not there, {where} is"
                )
            else:
                continue
            offset, length = pair.chunk_place(row_group, column, "stat_flags")
            yield Violation(
                message=message,
                field=f"{pair.chunk_path(row_group, column)}.stat_flags",
                offset=offset,
                length=length,
                expected=f"no {side.name}" if is_here else f"{side.name} {_bytes(keepable or b'')}",
                actual=f"{record.stat_flags:#04x}",
                column=leaf.name,
                row_group=row_group,
            )


@rule("PM-126", of=FILE)
def exactness_agrees(file: FileUnderTest) -> Iterator[Violation]:
    """Where the Parquet footer says that a bound is not exact."""
    pair = file.part(Pair)
    for row_group, column, facts, record in _statistics(pair):
        statistics = facts.statistics
        if statistics is None:
            continue
        given = (statistics.is_min_value_exact, statistics.is_max_value_exact)
        for side, is_exact in zip(SIDES, given, strict=True):
            if is_exact is False and record.stat_flags & side.present and record.stat_flags & side.exact:
                yield _differs(
                    pair,
                    row_group,
                    column,
                    "stat_flags",
                    f"statistics.is_{side.parquet_field}_exact",
                    expected=f"false, without {StatFlag(side.exact).name}",
                    actual=f"{record.stat_flags:#04x}",
                )


# -------------------------------------------------------------------------------------------------- bloom filters


def _bloom_chunks(pair: Pair) -> Iterator[tuple[int, int, ExternalBloom | None, str]]:
    """Every chunk: row group, column, the bloom filter in the Parquet file or why there is none to be had."""
    parquet = pair.parquet
    for row_group in range(pair.row_group_count):
        for column, chunk in enumerate(pair.metadata.row_groups[row_group].columns):
            facts = chunk.meta_data
            if facts is not None and not facts.bloom_filter_offset and column not in pair.bloom_positions:
                continue  # most have none
            yield row_group, column, *bloom_of(chunk, parquet.source, parquet.framing)


@rule("PM-119", of=FILE)
def bloom_filters_are_there_alike(file: FileUnderTest) -> Iterator[Violation]:
    """One of an unknown kind in the Parquet file is like none."""
    pair = file.part(Pair)
    applies = False
    for row_group, column, there, _ in _bloom_chunks(pair):
        number = pair.bloom_number(row_group, column)
        is_here = number is not None and pair.bloom_entries[number] != pm.NO_BLOOM
        applies |= is_here or there is not None
        if is_here == (there is not None):
            continue
        leaf = pair.leaves[column]
        where = f"{data_path(row_group, column)}.bloom_filter_offset"
        said = f"bloom filter of row group {row_group} of column {leaf.name}"
        if number is None:
            path, place = "header.feature_flags", (pm.FixedHeader.offsets["feature_flags"], 8)
            if pair.header.bloom_columns:
                path = "header_sections.bloom_filters.bloom_col_count"
                place = (pair.header.sections_start, pm.RowGroupEntry.size)
        else:
            path = f"{pair.snapshot.path}.bloom_entries[{number}].offset"
            place = pair.bloom_entry_place(number)
        yield Violation(
            message=f"the {said} is {'there' if is_here else 'not there'}, {where} {'is not' if is_here else 'is'}",
            field=path,
            offset=place[0],
            length=place[1],
            expected="no bloom filter" if there is None else f"one of {there.length} bytes",
            actual="one" if is_here else "none",
            column=leaf.name,
            row_group=row_group,
        )
    if not applies:
        raise NotApplicable


@rule("PM-120", of=FILE)
def bitsets_agree(file: FileUnderTest) -> Iterator[Violation]:
    """One that lacks a bit loses rows; an external one is where the Parquet file has its bitset, behind its header."""
    pair = file.part(Pair)
    if not pair.header.bloom_columns:
        raise NotApplicable
    hindered: FormatError | None = None
    found = False
    for row_group, column, there, _ in _bloom_chunks(pair):
        number = pair.bloom_number(row_group, column)
        if number is None or there is None or pair.bloom_entries[number] == pm.NO_BLOOM:
            continue
        entry = pair.bloom_entries[number]
        if pair.is_external:
            texts = [
                f"[{offset}, {offset + length})" for offset, length in ((there.offset, there.length), entry)
            ]
            path, place = (
                f"{pair.snapshot.path}.bloom_entries[{number}].offset",
                pair.bloom_entry_place(number),
            )
        else:
            try:
                bitset = pair.bitset(number)
            except FormatError as error:
                hindered = error
                continue
            expected = pair.parquet.source.read(there.offset, there.length)
            texts = _bitset_texts(expected, bitset)
            path = f"{pair.block_path(row_group)}.bloom_filters[{pair.bloom_positions[column]}].bitset"
            place = (entry.offset + pm.BLOOM_LENGTH_SIZE, len(bitset))
        if texts[0] == texts[1]:
            continue
        found = True
        leaf, where = pair.leaves[column], f"{data_path(row_group, column)}.bloom_filter_offset"
        yield Violation(
            message=f"the bloom filter of row group {row_group} of column {leaf.name} is {texts[1]}, "
            f"the one at {where} is {texts[0]}",
            field=path,
            offset=place[0],
            length=place[1],
            expected=texts[0],
            actual=texts[1],
            column=leaf.name,
            row_group=row_group,
        )
    if hindered is not None and not found:
        raise NotChecked(f"{hindered.rule} is broken")


def _bitset_texts(expected: bytes, actual: bytes) -> list[str]:
    """Two bitsets for people: their lengths, else the first byte that differs; equal if they are."""
    if len(expected) != len(actual):
        return [f"{len(expected)} bytes", f"{len(actual)} bytes"]
    if expected == actual:
        return ["equal", "equal"]
    place = next(place for place in range(len(expected)) if expected[place] != actual[place])
    return [f"{show(bits[place : place + 1].hex())} at byte {place}" for bits in (expected, actual)]
