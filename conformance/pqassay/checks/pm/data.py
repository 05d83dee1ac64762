"""Checks of ``_pm`` against the footer of the Parquet file beside it: the whole, the columns, the sorting.

PM-100 judges whether the two files belong together; if not, nothing else is compared. The expected content of ``_pm`` for a Parquet file is
in `pqassay_spec.pm.from_parquet.snapshot`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pqassay.checks import rule
from pqassay.checks.pm.pair import FilePair
from pqassay.checks.pm.pair_parts import ColumnOfPair
from pqassay.checks.pm.subjects import COLUMN_OF_PAIR, PAIR
from pqassay.under_test.file import Broken
from pqassay.under_test.pm.file import footer_field, header_field
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import Repetition, repetition, repetition_name
from pqassay_spec.pm.from_parquet.order import sorting_of
from pqassay_spec.pm.value import SnapshotSorting

# ------------------------------------------------------------------------------------------ which file it describes


@rule("PM-100", of=PAIR)
def a_snapshot_describes_the_parquet_file(pair: FilePair) -> None:
    """Looking for the snapshot raises the violation."""
    _ = pair.match


@rule("PM-101", of=PAIR)
def the_parquet_file_ends_with_the_newest_snapshot(pair: FilePair) -> Iterator[Violation]:
    """Bytes after the snapshot are not published yet. If the file is shorter, ``_pm`` is ahead of it."""
    newest, there = pair.newest, pair.data.size
    size = newest.fields.parquet_file_size
    if size == there:
        return
    _ = pair.match  # for a stale file, nothing else is compared
    what = f"{there - size} bytes follow what the newest snapshot describes"
    if there < size:
        what = (
            f"the newest snapshot describes {size} bytes, but the file has {there}, which "
            f"{pair.snapshot.path} describes"
        )
    yield footer_field(newest, "parquet_footer_offset").violation(
        what, f"a Parquet file of {size} bytes", f"one of {there} bytes"
    )


@rule("PM-102", of=PAIR)
def the_footer_is_where_it_is_said_to_be(pair: FilePair) -> Iterator[Violation]:
    """A reader fetches the whole footer by its offset and length."""
    framing = pair.parquet.framing
    for name, there in (
        ("parquet_footer_offset", framing.footer_start),
        ("parquet_footer_length", framing.footer_length),
    ):
        said = getattr(pair.snapshot.fields, name)
        if said != there:
            message = f"{name.upper()} is {said}, the footer of {pm.DATA_NAME} has {there}"
            yield footer_field(pair.snapshot, name).violation(message, str(there), str(said))


@rule("PM-103", of=PAIR)
def row_groups_are_as_many(pair: FilePair) -> Iterator[Violation]:
    """A missing row group loses its rows."""
    there, said = len(pair.metadata.row_groups), len(pair.snapshot.blocks)
    if there != said:
        message = f"ROW_GROUP_COUNT is {said}, data.footer.row_groups has {there}"
        yield footer_field(pair.snapshot, "row_group_count").violation(message, str(there), str(said))


@rule("PM-104", of=PAIR)
def columns_are_as_many(pair: FilePair) -> Iterator[Violation]:
    """Each leaf of the schema has a descriptor."""
    there, said = len(pair.leaves), pair.header.column_count
    if there != said:
        message = f"COLUMN_COUNT is {said}, data.footer.schema has {there} leaf columns"
        yield header_field("column_count").violation(message, str(there), str(said))


# -------------------------------------------------------------------------------------------------------- columns


@rule("PM-105", of=PAIR)
def columns_have_their_names(pair: FilePair) -> Iterator[Violation]:
    """A nested column has the name of its top-level field."""
    pair.parsed.require_all_names()
    for column in range(pair.column_count):
        name, expected = pm_header.read_name(pair.source, pair.header, column), pair.fields[column].name
        if name != expected:
            described = pair.header.descriptors[column]
            spot = Spot(f"names[{column}]", described.name_offset, described.name_length)
            said = f"column {column} is called {show(name)}, in data.footer.schema {show(expected)}"
            yield spot.violation(said, show(expected), show(name), column=pair.leaves[column].name)


@rule("PM-106", of=COLUMN_OF_PAIR)
def physical_types_agree(column: ColumnOfPair) -> Iterator[Violation]:
    """Type and width determine how pages and statistics are read."""
    described, element = column.described, column.element
    if described.physical_type != element.type:
        names = {kind.value: kind.name for kind in Type}
        expected, actual = (
            f"{number} ({names.get(number or 0, 'unknown')})"
            for number in (element.type, described.physical_type)
        )
        yield column.differs("physical_type", "PHYSICAL_TYPE", expected, actual)
    width = (element.type_length or 0) if element.type == Type.FIXED_LEN_BYTE_ARRAY else 0
    if described.fixed_byte_len != width:
        yield column.differs("fixed_byte_len", "FIXED_BYTE_LEN", str(width), str(described.fixed_byte_len))


@rule("PM-107", of=COLUMN_OF_PAIR)
def levels_agree(column: ColumnOfPair) -> Iterator[Violation]:
    """The levels determine how many bits of a page are levels."""
    for name, expected in (
        ("max_rep_level", column.leaf.max_repetition_level),
        ("max_def_level", column.leaf.max_definition_level),
    ):
        actual = getattr(column.described, name)
        if actual != expected:
            yield column.differs(name, name.upper(), str(expected), str(actual))


@rule("PM-108", of=COLUMN_OF_PAIR)
def repetitions_agree(column: ColumnOfPair) -> Iterator[Violation]:
    """A nested column has the repetition of its top-level field."""
    actual = repetition(column.described.flags)
    given = column.pair.fields[column.position].top.repetition_type
    if given is not None and given in set(Repetition) and actual != given:
        yield column.differs("flags", "FIELD_REPETITION", repetition_name(given), repetition_name(actual))


# --------------------------------------------------------------------------------------------------------- sorting


@rule("PM-118", of=PAIR)
def sorting_agrees(pair: FilePair) -> Iterator[Violation]:
    """QuestDB's own files are sorted by the designated timestamp, even if their row groups declare another order."""
    fields, header, parsed = pair.fields, pair.header, pair.parsed
    if len(header.sorted_by) < len(header.sorting_columns):
        raise Broken("PM-037")
    _ = pair.row_group_count
    try:
        questdb = pair.questdb
    except Malformed:  # PM-121: like a file without the key
        questdb = None
    declared = [sorting_of(pair.metadata, fields, questdb)]
    if questdb is not None:
        declared.append(sorting_of(pair.metadata, fields, questdb, path="encode"))
    actual = [SnapshotSorting(column, descending) for column, descending in header.sorted_by]
    if actual in declared:
        return
    expected, said = (_sorting_text(pair, sorting) for sorting in (declared[0], actual))
    message = (
        f"_pm declares the rows sorted by {said}, but "
        f"data.footer.row_groups[0].sorting_columns says {expected}"
    )
    if parsed.sorting_columns:
        yield replace(parsed.sorting_columns[0].violation(message, expected), actual=said)
    else:
        yield header_field("sorting_column_count").violation(message, expected, said)


def _sorting_text(pair: FilePair, sorting: Sequence[SnapshotSorting]) -> str:
    names = [
        (pair.fields[item.column].name if 0 <= item.column < len(pair.fields) else f"column {item.column}")
        + (" descending" if item.descending else "")
        for item in sorting
    ]
    return ", ".join(names) or "nothing"
