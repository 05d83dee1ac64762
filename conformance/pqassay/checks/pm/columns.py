"""Checks of ``_pm``: column descriptors, names, sorting, the designated timestamp, columns with bloom filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from pqassay.checks import rule
from pqassay.checks.pm.file import bits
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.pm import PmUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import (
    KNOWN_COLUMN_FLAGS,
    NO_COLUMN,
    NO_TYPE,
    ColumnFlag,
    ColumnType,
    HeaderFeature,
    PhysicalType,
    Repetition,
    repetition,
    type_name,
    type_tag,
)

KNOWN_TYPES = frozenset(ColumnType)
KNOWN_PHYSICAL_TYPES = frozenset(PhysicalType)
KNOWN_REPETITIONS = frozenset(Repetition)
FIXED = int(PhysicalType.FIXED_LEN_BYTE_ARRAY)
DESCENDING = int(ColumnFlag.DESCENDING)
"""As plain numbers, which are quicker to compare with."""


def physical_name(number: int) -> str:
    """The name of a physical type, for messages."""
    return PhysicalType(number).name if number in KNOWN_PHYSICAL_TYPES else str(number)


def _columns(file: FileUnderTest) -> tuple[PmUnderTest, Iterable[tuple[int, pm.ColumnDescriptor]]]:
    """Every column; `NotApplicable` where there is none."""
    parsed = file.part(PmUnderTest)
    _ = parsed.newest  # a header whose end is uncertain says nothing about columns
    if not parsed.header.descriptors:
        raise NotApplicable
    return parsed, enumerate(parsed.header.descriptors)


# ----------------------------------------------------------------------------------------------------- names


@rule("PM-021", of=FILE)
def names_lie_in_their_area(file: FileUnderTest) -> Iterator[Violation]:
    """Reading a name raises it."""
    yield from _wrong_names(file, "PM-021")


@rule("PM-023", of=FILE)
def names_are_text(file: FileUnderTest) -> Iterator[Violation]:
    """Reading a name raises it."""
    yield from _wrong_names(file, "PM-023")


def _wrong_names(file: FileUnderTest, rule: str) -> Iterator[Violation]:
    _ = _columns(file)
    parsed = file.part(PmUnderTest)
    found = [(column, error) for column, error in parsed.wrong_names if error.rule == rule]
    if not found:
        parsed.require_all_names()
    for column, error in found:
        yield Violation(
            error.reason,
            error.field or "",
            error.offset,
            error.length,
            error.expected,
            error.actual,
            column=parsed.names[column],
        )


@rule("PM-022", of=FILE)
def names_follow_each_other(file: FileUnderTest) -> Iterator[Violation]:
    """Each begins where the one before ends. Those outside their area are the matter of PM-021."""
    parsed, columns = _columns(file)
    first = expected = stored = parsed.header.names_start
    for column, described in columns:
        start, end = described.name_offset, described.name_offset + described.name_length
        if first <= start and start not in (expected, stored):
            yield parsed.in_descriptor(
                column,
                "name_offset",
                f"the name stands at {start}, the one before ends at {stored}",
                expected=str(stored),
                actual=str(start),
            )
        # Of a name that was moved, the ones behind it are not to blame.
        expected, stored = expected + described.name_length, end


# ----------------------------------------------------------------------------------------------- descriptors


@rule("PM-025", of=FILE)
def descriptor_reserved_is_zero(file: FileUnderTest) -> Iterator[Violation]:
    """RESERVED of every descriptor."""
    parsed, columns = _columns(file)
    for column, described in columns:
        if described.reserved:
            found = f"{described.reserved:#x}"
            yield parsed.in_descriptor(column, "reserved", f"RESERVED is {found}", expected="0", actual=found)


@rule("PM-026", of=FILE)
def unused_flags_are_zero(file: FileUnderTest) -> Iterator[Violation]:
    """Bits 5 to 31."""
    parsed, columns = _columns(file)
    for column, described in columns:
        if unknown := described.flags & ~KNOWN_COLUMN_FLAGS:
            yield parsed.in_descriptor(
                column,
                "flags",
                f"{bits(unknown)} of FLAGS is set, which means nothing",
                expected="bits 5 to 31 clear",
                actual=f"{described.flags:#x}",
            )


@rule("PM-027", of=FILE)
def repetition_is_known(file: FileUnderTest) -> Iterator[Violation]:
    """Two bits, of which three values have a name."""
    parsed, columns = _columns(file)
    for column, described in columns:
        found = repetition(described.flags)
        if found not in KNOWN_REPETITIONS:
            yield parsed.in_descriptor(
                column,
                "flags",
                f"FIELD_REPETITION (bits 2, 3) is {found}",
                expected="0, 1 or 2",
                actual=str(found),
            )


@rule("PM-028", of=FILE)
def physical_type_is_known(file: FileUnderTest) -> Iterator[Violation]:
    """Parquet's numbers."""
    parsed, columns = _columns(file)
    for column, described in columns:
        found = described.physical_type
        if found not in KNOWN_PHYSICAL_TYPES:
            yield parsed.in_descriptor(
                column,
                "physical_type",
                f"PHYSICAL_TYPE is {found}",
                expected=f"0 to {max(KNOWN_PHYSICAL_TYPES)}",
                actual=str(found),
            )


@rule("PM-029", of=FILE)
def fixed_length_fits_the_type(file: FileUnderTest) -> Iterator[Violation]:
    """Only one type has it. A type that is not known is the matter of PM-028."""
    parsed, columns = _columns(file)
    for column, described in columns:
        length = described.fixed_byte_len
        is_fixed = described.physical_type == FIXED
        if (length <= 0) if is_fixed else (length and described.physical_type in KNOWN_PHYSICAL_TYPES):
            yield parsed.in_descriptor(
                column,
                "fixed_byte_len",
                f"FIXED_BYTE_LEN of a {physical_name(described.physical_type)} is {length}",
                expected="a positive number" if is_fixed else "0",
                actual=str(length),
            )


@rule("PM-030", of=FILE)
def type_is_known(file: FileUnderTest) -> Iterator[Violation]:
    """The low byte of TYPE."""
    parsed, columns = _columns(file)
    for column, described in columns:
        if described.type != NO_TYPE and type_tag(described.type) not in KNOWN_TYPES:
            yield parsed.in_descriptor(
                column,
                "type",
                f"TYPE is {described.type}, whose low byte {type_tag(described.type)} names no type",
                expected="-1, or a type that is known",
                actual=str(described.type),
            )


@rule("PM-031", of=FILE)
def repetition_agrees_with_the_levels(file: FileUnderTest) -> Iterator[Violation]:
    """The levels are those of the leaf, the repetition that of the field at the top.

    The leaves of a nested field have its name: all of them, or more than one definition level, say that a field is nested.
    """
    parsed, columns = _columns(file)
    names = parsed.names
    uses = Counter(names)
    for column, described in columns:
        found = repetition(described.flags)
        levels = described.max_rep_level, described.max_def_level
        is_nested = described.max_def_level > 1 or uses[names[column]] > 1
        if found in KNOWN_REPETITIONS and (expected := _why_not(found, *levels, is_nested=is_nested)):
            yield parsed.in_descriptor(
                column,
                "flags",
                f"FIELD_REPETITION (bits 2, 3) is {Repetition(found).name}, MAX_REP_LEVEL is {levels[0]} and "
                f"MAX_DEF_LEVEL {levels[1]}",
                expected=expected,
                actual=Repetition(found).name,
            )


@cache
def _why_not(found: int, max_rep_level: int, max_def_level: int, *, is_nested: bool) -> str:
    """What a repetition would have to be; empty if it is possible."""
    if max_rep_level:
        return "" if max_def_level or found == Repetition.REQUIRED else Repetition.REQUIRED.name
    if is_nested and max_def_level and found == Repetition.REQUIRED:
        return ""  # a field that is always there, with parts that may be missing
    expected = Repetition.OPTIONAL if max_def_level else Repetition.REQUIRED
    return "" if found == expected else expected.name


@rule("PM-032", of=FILE)
def flags_fit_the_type(file: FileUnderTest) -> Iterator[Violation]:
    """Flags that say something about one type each. A column without a type may be anything."""
    wanted = {ColumnFlag.IS_ASCII: ColumnType.VARCHAR, ColumnFlag.LOCAL_KEY_IS_GLOBAL: ColumnType.SYMBOL}
    either = sum(wanted)
    parsed, columns = _columns(file)
    for column, described in columns:
        for flag, kind in wanted.items() if described.flags & either else ():
            if described.flags & flag and described.type != NO_TYPE and type_tag(described.type) != kind:
                yield parsed.in_descriptor(
                    column,
                    "flags",
                    f"{flag.name} ({bits(flag)}) is set on a column of type {type_name(described.type)}",
                    expected=f"{bits(flag)} only on {kind.name}",
                    actual=f"{described.flags:#x}",
                )


@rule("PM-043", of=FILE)
def ids_are_unique(file: FileUnderTest) -> Iterator[Violation]:
    """QuestDB finds columns by ID."""
    parsed, columns = _columns(file)
    first: dict[int, int] = {}
    for column, described in columns:
        earlier = first.setdefault(described.id, column)
        if described.id != NO_COLUMN and earlier != column:
            yield parsed.in_descriptor(
                column,
                "id",
                f"ID {described.id} is that of column {parsed.names[earlier]} as well",
                expected="an ID of its own, or -1",
                actual=str(described.id),
            )


# ------------------------------------------------------------------------ designated timestamp and sorting


@rule("PM-033", of=FILE)
def designated_timestamp_is_a_column(file: FileUnderTest) -> Iterator[Violation]:
    """-1, or a position."""
    parsed = file.part(PmUnderTest)
    _ = parsed.newest
    column, count = parsed.header.fixed.designated_timestamp, parsed.header.column_count
    if not NO_COLUMN <= column < count:
        yield parsed.in_header(
            "designated_timestamp",
            f"the designated timestamp is column {column}, of {count}",
            expected=f"-1, or 0 to {count - 1}",
            actual=str(column),
        )


def _designated(file: FileUnderTest) -> tuple[PmUnderTest, int, pm.ColumnDescriptor]:
    parsed = file.part(PmUnderTest)
    _ = parsed.newest
    return parsed, parsed.designated, parsed.header.descriptors[parsed.designated]


@rule("PM-034", of=FILE)
def designated_timestamp_is_a_timestamp(file: FileUnderTest) -> Iterator[Violation]:
    """By TYPE; where that is not known, by what a timestamp can be stored as."""
    parsed, column, described = _designated(file)
    storable = (PhysicalType.INT64, PhysicalType.INT96)
    is_timestamp = type_tag(described.type) == ColumnType.TIMESTAMP
    if described.type == NO_TYPE:
        is_timestamp = described.physical_type in storable
    if not is_timestamp:
        yield parsed.in_descriptor(
            column,
            "type",
            f"the designated timestamp is of type {type_name(described.type)}, stored as "
            f"{physical_name(described.physical_type)}",
            expected=f"{ColumnType.TIMESTAMP.name}, or no type and INT64 or INT96",
            actual=type_name(described.type),
        )


@rule("PM-035", of=FILE)
def designated_timestamp_is_required(file: FileUnderTest) -> Iterator[Violation]:
    """By the levels, which decide how the pages are read. The flag is the matter of PM-031."""
    parsed, column, described = _designated(file)
    for name, level in (
        ("max_rep_level", described.max_rep_level),
        ("max_def_level", described.max_def_level),
    ):
        if level:
            yield parsed.in_descriptor(
                column,
                name,
                f"{name.upper()} of the designated timestamp is {level}",
                expected="0",
                actual=str(level),
            )


@rule("PM-036", of=FILE)
def rows_are_sorted_by_it(file: FileUnderTest) -> Iterator[Violation]:
    """Bit 2, or the first sorting column."""
    parsed, column, _ = _designated(file)
    if parsed.has(HeaderFeature.SORTING_IS_DTS_ASC):
        return
    header = parsed.header
    if not header.sorting_columns:
        yield parsed.in_header(
            "sorting_column_count",
            "there is a designated timestamp, and nothing says that the rows are sorted by it",
            expected="SORTING_IS_DTS_ASC (bit 2), or the designated timestamp as first sorting column",
            actual="no sorting columns",
        )
        return
    first = header.sorting_columns[0]
    if first != column:
        if first < header.column_count:  # another one is the matter of PM-037
            yield _at_sorting(
                parsed,
                0,
                f"the rows are sorted by column {parsed.names[first]} first, and {parsed.names[column]} is the "
                "designated timestamp",
                str(column),
            )
    elif header.descriptors[column].flags & ColumnFlag.DESCENDING:
        flags = header.descriptors[column].flags
        yield parsed.in_descriptor(
            column,
            "flags",
            "DESCENDING (bit 4) is set on the designated timestamp",
            expected="bit 4 clear",
            actual=f"{flags:#x}",
        )


def _at_sorting(parsed: PmUnderTest, position: int, message: str, expected: str) -> Violation:
    header = parsed.header
    start = header.names_start - pm.SortingColumn.size * (len(header.sorting_columns) - position)
    return Violation(
        message,
        f"sorting_columns[{position}].index",
        start,
        pm.SortingColumn.size,
        expected=expected,
        actual=str(header.sorting_columns[position]),
    )


def _sorting(file: FileUnderTest) -> PmUnderTest:
    parsed = file.part(PmUnderTest)
    _ = parsed.newest
    if not parsed.header.sorting_columns:
        raise NotApplicable
    return parsed


@rule("PM-037", of=FILE)
def sorting_columns_exist(file: FileUnderTest) -> Iterator[Violation]:
    """Positions of descriptors."""
    parsed = _sorting(file)
    count = parsed.header.column_count
    for position, column in enumerate(parsed.header.sorting_columns):
        if column >= count:
            said = f"the rows are sorted by column {column}, of {count}"
            yield _at_sorting(parsed, position, said, f"0 to {count - 1}" if count else "no sorting column")


@rule("PM-038", of=FILE)
def sorting_columns_are_unique(file: FileUnderTest) -> Iterator[Violation]:
    """Sorting by a column again changes nothing."""
    parsed = _sorting(file)
    seen: set[int] = set()
    for position, column in enumerate(parsed.header.sorting_columns):
        if column in seen:
            said = f"column {column} is a sorting column already"
            yield _at_sorting(parsed, position, said, "each column once")
        seen.add(column)


@rule("PM-039", of=FILE)
def descending_is_said_of_sorting_columns(file: FileUnderTest) -> Iterator[Violation]:
    """The flag says nothing about other columns. Of the designated timestamp it is the matter of PM-010."""
    parsed, columns = _columns(file)
    sorting = set(parsed.header.sorting_columns)
    if parsed.has(HeaderFeature.SORTING_IS_DTS_ASC):
        sorting.add(parsed.header.fixed.designated_timestamp)
    for column, described in columns:
        if described.flags & DESCENDING and column not in sorting:
            yield parsed.in_descriptor(
                column,
                "flags",
                "DESCENDING (bit 4) is set, and the rows are not sorted by the column",
                expected="bit 4 clear",
                actual=f"{described.flags:#x}",
            )


# ------------------------------------------------------------------------------- columns with bloom filters


@rule("PM-040", of=FILE)
def bloom_columns_exist(file: FileUnderTest) -> None:
    """Reading the header raises it."""
    if not file.part(PmUnderTest).has(HeaderFeature.BLOOM_FILTERS):
        raise NotApplicable


@rule("PM-041", of=FILE)
def bloom_columns_ascend(file: FileUnderTest) -> None:
    """Reading the header raises it."""
    bloom_columns_exist(file)
