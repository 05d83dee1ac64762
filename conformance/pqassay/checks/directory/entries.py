"""Checks of the index directory in the footer: the key, the directory, and its entries; tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pqassay.checks import rule
from pqassay.checks.directory.commands import remedy_for
from pqassay.checks.subjects import Subject
from pqassay.under_test.directory_key import DirectoryUnderTest
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.index_directory import EntryUnderTest, IndexDirectory
from pqassay.under_test.violation import Violation
from pqassay.values.directory.blob import blob_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory import entries as grammar
from pqassay_spec.directory.codes import CODECS, Granularity, IndexType, Placement
from pqassay_spec.directory.named_types import is_type_name, type_number
from pqassay_spec.directory.zone_sums import SumsHead
from pqassay_spec.grammar.hexdump import show


def _entries(file: FileUnderTest) -> Sequence[EntryUnderTest]:
    part = file.part(IndexDirectory)
    if not part.entries:
        part.require_readable()
    return part.entries


def _of_entry(violation: Violation, entry: EntryUnderTest) -> Violation:
    column = entry.column if violation.column is None else violation.column
    if not violation.message:  # only its column is used
        return replace(violation, column=column)
    return replace(violation, column=column, remedy=violation.remedy or remedy_for(entry))


DIRECTORY: Subject[DirectoryUnderTest] = Subject(
    "index directory", lambda file: file.part(IndexDirectory).directories
)
"""The value of a key of the directory."""

ENTRY: Subject[EntryUnderTest] = Subject("entry of an index directory", _entries, _of_entry)
"""A readable entry of a directory."""


def entries_of(*kinds: IndexType, named: bool = False) -> Subject[EntryUnderTest]:
    """The subject of entries of some types, and also of named types if ``named``."""
    return Subject(
        f"index of type {' or '.join([*(kind.name for kind in kinds), *['a name'] * named])}",
        lambda file: [
            entry for entry in _entries(file) if entry.head.type in kinds or (named and entry.is_named)
        ],
        _of_entry,
    )


def row_group_of(entry: EntryUnderTest, number: int) -> int | None:
    """The row group of a part of an index, if any."""
    groups = entry.part_groups
    return groups[number] if number < len(groups) else None


@rule("DIR-001", of=DIRECTORY)
@rule("DIR-002", of=DIRECTORY)
def value_is_base64(directory: DirectoryUnderTest) -> None:
    """Decoding the value raises the violation."""
    _ = directory.data


@rule("DIR-003", of=DIRECTORY)
@rule("DIR-004", of=DIRECTORY)
@rule("DIR-005", of=DIRECTORY)
@rule("DIR-006", of=DIRECTORY)
def directory_can_be_read(directory: DirectoryUnderTest) -> None:
    """Reading raises the violation: in the header, the checksum, or the space of the entries."""
    _ = directory.directory


_ALLOWED = {
    "granularity": ", ".join(f"{member.value} ({member.name})" for member in Granularity),
    "placement": ", ".join(f"{member.value} ({member.name})" for member in Placement),
    "codec": ", ".join(f"{codec.value} ({codec.name})" for codec in CODECS),
}


@rule("DIR-007", of=ENTRY)
def numbers_are_listed(entry: EntryUnderTest) -> Iterator[Violation]:
    """Readers skip an entry with unknown numbers."""
    _ = entry.is_fresh
    for name in entry.strange_codes():
        number = getattr(entry.head, name)
        yield entry.violation(name, f"no {name} has the number {number}", _ALLOWED[name], str(number))


@rule("DIR-008", of=DIRECTORY)
def reserved_fields_are_zero(directory: DirectoryUnderTest) -> Iterator[Violation]:
    """A later version may give reserved fields a meaning that this writer did not intend."""
    header = grammar.HEADER.parse(directory.directory.data)
    if header.reserved:
        leaves = grammar.trace_directory(directory.data)
        leaf = next(leaf for leaf in leaves if leaf.path == "directory.reserved")
        spot = directory.spot(leaf.path, leaf.offset, leaf.length)
        yield spot.violation(f"the reserved field is {header.reserved}", "0", str(header.reserved))
    for entry in directory.file.part(IndexDirectory).entries:
        if entry.directory is directory and _is_asked(entry):
            yield from _reserved_of(entry)


UNREADABLE = (FormatError, NotApplicable, NotChecked)
"""Errors that mean that an entry or its blob cannot be read; any other error is a mistake here."""


def _is_asked(entry: EntryUnderTest) -> bool:
    try:
        return entry.is_fresh
    except UNREADABLE:  # the rules about the entry report why
        return False


def _reserved_of(entry: EntryUnderTest) -> Iterator[Violation]:
    if entry.head.flags:
        said = f"its flags are {entry.head.flags:#06x}, all unknown"
        yield replace(entry.violation("flags", said, "0", str(entry.head.flags)), remedy=remedy_for(entry))
    if entry.head.type == IndexType.ZONE_SUMS and entry.file.options.reaches("index"):
        try:
            reserved = blob_of(entry).sums.head.reserved
        except UNREADABLE:  # the rules about the blob report why
            return
        if reserved:
            spot = entry.blob_spot("head.reserved", *SumsHead.place("reserved"))
            yield spot.violation(
                f"{entry}: the reserved field is {reserved}",
                "0",
                str(reserved),
                column=entry.column,
                remedy=remedy_for(entry),
            )


@rule("DIR-009", of=ENTRY)
def entry_is_not_replaced(entry: EntryUnderTest) -> Iterator[Violation]:
    """Readers use the last entry with the same key."""
    entry.require_known()
    if not entry.is_last:
        said = "a later entry has the same type, granularity and columns, and readers use that one"
        yield entry.violation("type", said, "one entry", "two")


@rule("DIR-010", of=ENTRY)
def columns_are_there(entry: EntryUnderTest) -> None:
    """Resolving the columns raises the violation."""
    entry.require_current()
    _ = entry.leaves


@rule("DIR-011", of=ENTRY)
def columns_can_be_described(entry: EntryUnderTest) -> Iterator[Violation]:
    """A reader skips an entry whose values it cannot assign to rows or cannot order."""
    _ = entry.is_fresh
    for said in entry.wrong_columns():
        yield entry.violation(
            "column_count", said, f"columns that {entry.kind} can describe", entry.entry.names
        )


@rule("DIR-012", of=ENTRY)
def blob_lies_where_it_may(entry: EntryUnderTest) -> None:
    """Computing the blob's place raises the violation."""
    _ = entry.is_placed


@rule("DIR-016", of=ENTRY)
def entry_is_not_stale(entry: EntryUnderTest) -> Iterator[Violation]:
    """Readers notice stale entries and ignore the index."""
    entry.require_current()
    if entry.stale:
        rows = sum(group.num_rows for group in entry.file.metadata.row_groups)
        if entry.head.row_count != rows:
            expected, actual = f"{rows} rows", f"{entry.head.row_count} rows"
            yield entry.violation("row_count", f"it is stale: {entry.stale}", expected, actual)
            return
        expected, actual = f"{entry.shape:016x}", f"{entry.head.shape:016x}"
        yield entry.violation("shape", f"it is stale: {entry.stale}", expected, actual)


NAMED = entries_of(named=True)
"""Entries with a named type."""


@rule("DIR-049", of=NAMED)
def type_has_a_good_name(entry: EntryUnderTest) -> Iterator[Violation]:
    """If a name is a single word, two owners may choose the same one."""
    if not is_type_name(entry.entry.type_name):
        path, name = f"directory.entries[{entry.number}].type_name[0].text", show(entry.entry.type_name)
        leaves = grammar.trace_directory(entry.directory.data)
        leaf = next(leaf for leaf in leaves if leaf.path == path)
        spot = entry.directory.spot(path, leaf.offset, leaf.length)
        said = f"{entry}: {name} is not a name for a type of index"
        yield spot.violation(said, "a name such as org.example.bitmap", name, column=entry.column)


@rule("DIR-050", of=NAMED)
def number_is_that_of_the_name(entry: EntryUnderTest) -> Iterator[Violation]:
    """A reader that knows only numbers confuses two named types and keeps one of them."""
    if not is_type_name(entry.entry.type_name):
        raise Broken("DIR-049")
    number = type_number(entry.entry.type_name)
    if number != entry.head.type:
        yield entry.violation(
            "type", "its type number does not match its name", str(number), str(entry.head.type)
        )


@rule("DIR-018", of=ENTRY)
def pages_can_be_told_apart(entry: EntryUnderTest) -> Iterator[Violation]:
    """Without an offset index the rows of a part are not known."""
    _ = entry.is_fresh
    if "granularity" in set(entry.strange_codes()):
        raise Broken("DIR-007")
    if entry.head.granularity == Granularity.PAGE and next(entry.wrong_columns(), ""):
        raise Broken("DIR-011")
    if problem := entry.pages_problem():
        yield entry.violation("granularity", problem, "one column with an offset index", problem)
