"""Checks of ``_pm``: column descriptors, names, sorting, the designated timestamp, columns with bloom filters."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from pqassay.checks import rule
from pqassay.checks.asking import violation_from
from pqassay.checks.pm.file import bits
from pqassay.checks.pm.subjects import COLUMN, COLUMNS, OPENED_PM, SORTING_COLUMN, TIMESTAMP
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.pm.file import ColumnUnderTest, PmUnderTest, SortingColumnUnderTest, header_field
from pqassay.under_test.violation import Violation
from pqassay_spec.pm.codes import (
    KNOWN_COLUMN_FLAGS,
    NO_COLUMN,
    NO_TYPE,
    ColumnFlag,
    ColumnType,
    HeaderFeature,
    PhysicalType,
    Repetition,
    type_name,
    type_tag,
)
from pqassay_spec.pm.types import STORED_AS

KNOWN_TYPES = frozenset(ColumnType)
KNOWN_PHYSICAL_TYPES = frozenset(PhysicalType)
KNOWN_REPETITIONS = frozenset(Repetition)


def physical_name(number: int) -> str:
    """The name of a physical type, for messages."""
    return PhysicalType(number).name if number in KNOWN_PHYSICAL_TYPES else str(number)


# ----------------------------------------------------------------------------------------------------- names


@rule("PM-021", of=COLUMNS)
def names_lie_in_their_area(parsed: PmUnderTest) -> Iterator[Violation]:
    """Reading the name raised the violation."""
    return _wrong_names(parsed, "PM-021")


@rule("PM-023", of=COLUMNS)
def names_are_text(parsed: PmUnderTest) -> Iterator[Violation]:
    """Reading the name raised the violation."""
    return _wrong_names(parsed, "PM-023")


def _wrong_names(parsed: PmUnderTest, rule_id: str) -> Iterator[Violation]:
    for column, error in parsed.wrong_names:
        if error.rule == rule_id:
            yield replace(violation_from(error, rule_id), column=parsed.names[column])
    parsed.require_all_names()


@rule("PM-022", of=COLUMNS)
def names_follow_each_other(parsed: PmUnderTest) -> Iterator[Violation]:
    """Each name begins where the previous name ends. PM-021 judges names outside their area."""
    first = expected = stored = parsed.header.names_start
    for column, described in enumerate(parsed.header.descriptors):
        start, end = described.name_offset, described.name_offset + described.name_length
        if first <= start and start not in (expected, stored):
            said = f"the name is at {start}, the one before ends at {stored}"
            yield parsed.in_descriptor(column, "name_offset", said, str(stored), str(start))
        # If a name was moved, the later names are not wrong.
        expected, stored = expected + described.name_length, end


@rule("PM-043", of=COLUMNS)
def ids_are_unique(parsed: PmUnderTest) -> Iterator[Violation]:
    """QuestDB finds columns by ID."""
    first: dict[int, int] = {}
    for column, described in enumerate(parsed.header.descriptors):
        earlier = first.setdefault(described.id, column)
        if described.id != NO_COLUMN and earlier != column:
            said = f"ID {described.id} is also that of column {parsed.names[earlier]}"
            yield parsed.in_descriptor(column, "id", said, "a unique ID, or -1", str(described.id))


@rule("PM-146", of=COLUMNS)
def types_are_stored_as_they_can_be(parsed: PmUnderTest) -> Iterator[Violation]:
    """PM-030 and PM-028 judge unknown types and physical types. Without row groups, nothing is stored."""
    for column, described in enumerate(parsed.header.descriptors):
        code, kind = described.type, described.physical_type
        stores = STORED_AS.get(type_tag(code))
        if stores is not None and kind in KNOWN_PHYSICAL_TYPES and kind not in stores:
            if not parsed.newest.blocks:
                raise NotApplicable
            said = f"TYPE of a {physical_name(kind)} is {code} ({type_name(code)})"
            expected = f"a type that is stored as {physical_name(kind)}, or -1"
            yield parsed.in_descriptor(column, "type", said, expected, f"{code} ({type_name(code)})")


# ----------------------------------------------------------------------------------------------- descriptors


@rule("PM-025", of=COLUMN)
def descriptor_reserved_is_zero(column: ColumnUnderTest) -> Iterator[Violation]:
    """This is the field RESERVED of the descriptor."""
    if column.described.reserved:
        found = f"{column.described.reserved:#x}"
        yield column.violation("reserved", f"RESERVED is {found}", "0", found)


@rule("PM-026", of=COLUMN)
def unused_flags_are_zero(column: ColumnUnderTest) -> Iterator[Violation]:
    """These are bits 5 to 31."""
    flags = column.described.flags
    if unknown := flags & ~KNOWN_COLUMN_FLAGS:
        said = f"{bits(unknown)} of FLAGS is set, but has no meaning"
        yield column.violation("flags", said, "bits 5 to 31 clear", f"{flags:#x}")


@rule("PM-027", of=COLUMN)
def repetition_is_known(column: ColumnUnderTest) -> Iterator[Violation]:
    """Two bits have four values, of which three are defined."""
    found = column.repetition
    if found not in KNOWN_REPETITIONS:
        yield column.violation("flags", f"FIELD_REPETITION (bits 2, 3) is {found}", "0, 1 or 2", str(found))


@rule("PM-028", of=COLUMN)
def physical_type_is_known(column: ColumnUnderTest) -> Iterator[Violation]:
    """The numbers are Parquet's."""
    found = column.described.physical_type
    if found not in KNOWN_PHYSICAL_TYPES:
        expected = f"0 to {max(KNOWN_PHYSICAL_TYPES)}"
        yield column.violation("physical_type", f"PHYSICAL_TYPE is {found}", expected, str(found))


@rule("PM-029", of=COLUMN)
def fixed_length_fits_the_type(column: ColumnUnderTest) -> Iterator[Violation]:
    """Only FIXED_LEN_BYTE_ARRAY has a length. PM-028 judges unknown types."""
    kind, length = column.described.physical_type, column.described.fixed_byte_len
    is_fixed = kind == PhysicalType.FIXED_LEN_BYTE_ARRAY
    if (length <= 0) if is_fixed else (length and kind in KNOWN_PHYSICAL_TYPES):
        said = f"FIXED_BYTE_LEN of a {physical_name(kind)} is {length}"
        yield column.violation("fixed_byte_len", said, "a positive number" if is_fixed else "0", str(length))


@rule("PM-030", of=COLUMN)
def type_is_known(column: ColumnUnderTest) -> Iterator[Violation]:
    """The type is the low byte of TYPE."""
    code = column.described.type
    if code != NO_TYPE and type_tag(code) not in KNOWN_TYPES:
        said = f"TYPE is {code}, but its low byte {type_tag(code)} is not a type"
        yield column.violation("type", said, "-1, or a type that is known", str(code))


@rule("PM-031", of=COLUMN)
def repetition_agrees_with_the_levels(column: ColumnUnderTest) -> Iterator[Violation]:
    """The levels belong to the leaf, the repetition to the top-level field."""
    repetition, described = column.repetition, column.described
    if repetition not in KNOWN_REPETITIONS or repetition in _possible_repetitions(column):
        return
    expected = Repetition.OPTIONAL if described.max_def_level else Repetition.REQUIRED
    said = (
        f"FIELD_REPETITION (bits 2, 3) is {Repetition(repetition).name}, MAX_REP_LEVEL is {described.max_rep_level} and "
        f"MAX_DEF_LEVEL {described.max_def_level}"
    )
    yield column.violation("flags", said, expected.name, Repetition(repetition).name)


def _possible_repetitions(column: ColumnUnderTest) -> Collection[int]:
    described = column.described
    if not described.max_def_level:
        return [Repetition.REQUIRED]
    if described.max_rep_level:
        return KNOWN_REPETITIONS
    # A required field may have optional parts.
    return [Repetition.OPTIONAL, *([Repetition.REQUIRED] if column.is_nested else [])]


FLAGS_OF_TYPES = {ColumnFlag.IS_ASCII: ColumnType.VARCHAR, ColumnFlag.LOCAL_KEY_IS_GLOBAL: ColumnType.SYMBOL}
"""The flags that apply only to columns of one type."""


@rule("PM-032", of=COLUMN)
def flags_fit_the_type(column: ColumnUnderTest) -> Iterator[Violation]:
    """Some flags apply only to columns of one type. A column without a type may have any type."""
    flags, code = column.described.flags, column.described.type
    for flag, kind in FLAGS_OF_TYPES.items():
        if flags & flag and code != NO_TYPE and type_tag(code) != kind:
            said = f"{flag.name} ({bits(flag)}) is set on a column of type {type_name(code)}"
            yield column.violation("flags", said, f"{bits(flag)} only on {kind.name}", f"{flags:#x}")


@rule("PM-039", of=COLUMN)
def descending_is_said_of_sorting_columns(column: ColumnUnderTest) -> Iterator[Violation]:
    """The flag has no meaning for other columns. PM-010 judges the designated timestamp."""
    flags = column.described.flags
    if flags & ColumnFlag.DESCENDING and not column.is_sorted:
        said = "DESCENDING (bit 4) is set, but the rows are not sorted by the column"
        yield column.violation("flags", said, "bit 4 clear", f"{flags:#x}")


# ------------------------------------------------------------------------ designated timestamp and sorting


@rule("PM-033", of=OPENED_PM)
def designated_timestamp_is_a_column(parsed: PmUnderTest) -> Iterator[Violation]:
    """The value is -1 or the position of a column."""
    column, count = parsed.header.fixed.designated_timestamp, parsed.header.column_count
    if not NO_COLUMN <= column < count:
        said = f"the designated timestamp is column {column}, of {count}"
        yield header_field("designated_timestamp").violation(said, f"-1, or 0 to {count - 1}", str(column))


@rule("PM-034", of=TIMESTAMP)
def designated_timestamp_is_a_timestamp(column: ColumnUnderTest) -> Iterator[Violation]:
    """Judged by TYPE; if that is unknown, by the physical types that can store a timestamp."""
    code, kind = column.described.type, column.described.physical_type
    is_timestamp = type_tag(code) == ColumnType.TIMESTAMP
    if code == NO_TYPE:
        is_timestamp = kind in (PhysicalType.INT64, PhysicalType.INT96)
    if not is_timestamp:
        said = f"the designated timestamp is of type {type_name(code)}, stored as {physical_name(kind)}"
        yield column.violation(
            "type", said, f"{ColumnType.TIMESTAMP.name}, or no type and INT64 or INT96", type_name(code)
        )


@rule("PM-035", of=TIMESTAMP)
def designated_timestamp_is_required(column: ColumnUnderTest) -> Iterator[Violation]:
    """Judged by the levels, which determine how the pages are read. PM-031 judges the flag."""
    for name in ("max_rep_level", "max_def_level"):
        level = getattr(column.described, name)
        if level:
            said = f"{name.upper()} of the designated timestamp is {level}"
            yield column.violation(name, said, "0", str(level))


@rule("PM-036", of=TIMESTAMP)
def rows_are_sorted_by_it(column: ColumnUnderTest) -> Iterator[Violation]:
    """Either bit 2 is set, or it is the first sorting column."""
    parsed, flags = column.parsed, column.described.flags
    if parsed.has(HeaderFeature.SORTING_IS_DTS_ASC):
        return
    if not parsed.sorting_columns:
        yield header_field("sorting_column_count").violation(
            "there is a designated timestamp, but the rows are not marked as sorted by it",
            "SORTING_IS_DTS_ASC (bit 2), or the designated timestamp as first sorting column",
            "no sorting columns",
        )
        return
    first = parsed.sorting_columns[0]
    if first.column == column.position:
        if flags & ColumnFlag.DESCENDING:
            said = "DESCENDING (bit 4) is set on the designated timestamp"
            yield column.violation("flags", said, "bit 4 clear", f"{flags:#x}")
    elif first.column < parsed.header.column_count:  # PM-037 judges others
        names = parsed.names
        said = (
            f"the rows are sorted by column {names[first.column]} first, but "
            f"{names[column.position]} is the designated timestamp"
        )
        yield first.violation(said, str(column.position))


@rule("PM-037", of=SORTING_COLUMN)
def sorting_columns_exist(sorting: SortingColumnUnderTest) -> Iterator[Violation]:
    """Sorting columns are positions of descriptors."""
    count = sorting.header.column_count
    if sorting.column >= count:
        said = f"the rows are sorted by column {sorting.column}, of {count}"
        yield sorting.violation(said, f"0 to {count - 1}" if count else "no sorting column")


@rule("PM-038", of=SORTING_COLUMN)
def sorting_columns_are_unique(sorting: SortingColumnUnderTest) -> Iterator[Violation]:
    """Sorting twice by one column changes nothing."""
    if sorting.is_repeated:
        yield sorting.violation(f"column {sorting.column} is a sorting column already", "each column once")
