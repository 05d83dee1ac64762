"""Checks of ``_pm`` against the footer of the Parquet file beside it: the whole, the columns, the sorting.

Whether the two belong together at all is PM-100; where they do not, nothing else is compared.  What ``_pm`` has to
say of a Parquet file stands in `pqassay_spec.pm.from_parquet`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pqassay.checks import rule
from pqassay.checks.pm.pair import Pair
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import Repetition, repetition, repetition_name
from pqassay_spec.pm.order import sorting_of
from pqassay_spec.pm.value import SortingColumn

# ------------------------------------------------------------------------------------------ which file it describes


@rule("PM-100", of=FILE)
def a_snapshot_describes_the_parquet_file(file: FileUnderTest) -> Iterator[Violation]:
    """Looking for the snapshot raises what is wrong."""
    _ = file.part(Pair).match
    yield from ()


@rule("PM-101", of=FILE)
def the_parquet_file_ends_with_the_newest_snapshot(file: FileUnderTest) -> Iterator[Violation]:
    """Bytes behind it are not published yet; a shorter file is one to which ``_pm`` is ahead."""
    pair = file.part(Pair)
    newest, there = pair.newest, pair.data.size
    size = newest.fields.parquet_file_size
    if size == there:
        return
    _ = pair.match  # of a stale file that is all there is to say
    what = f"{there - size} bytes stand behind what the newest snapshot describes"
    if there < size:
        what = f"the newest snapshot describes {size} bytes; {pair.snapshot.path} describes the {there} that there are"
    offset, length = newest.place("parquet_footer_offset")
    yield Violation(
        message=what,
        field=f"{newest.path}.footer.parquet_footer_offset",
        offset=offset,
        length=length,
        expected=f"a Parquet file of {size} bytes",
        actual=f"one of {there} bytes",
    )


def _footer_violation(pair: Pair, name: str, message: str, expected: int) -> Violation:
    offset, length = pair.snapshot.place(name)
    return Violation(
        message=message,
        field=f"{pair.snapshot.path}.footer.{name}",
        offset=offset,
        length=length,
        expected=str(expected),
        actual=str(getattr(pair.snapshot.fields, name)),
    )


@rule("PM-102", of=FILE)
def the_footer_is_where_it_is_said_to_be(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that fetches the footer by these two gets it whole."""
    pair = file.part(Pair)
    framing, fields = pair.parquet.framing, pair.snapshot.fields
    for name, actual in (
        ("parquet_footer_offset", framing.footer_start),
        ("parquet_footer_length", framing.footer_length),
    ):
        if getattr(fields, name) != actual:
            message = f"{name.upper()} is {getattr(fields, name)}, the footer of {pm.DATA_NAME} has {actual}"
            yield _footer_violation(pair, name, message, actual)


@rule("PM-103", of=FILE)
def row_groups_are_as_many(file: FileUnderTest) -> Iterator[Violation]:
    """A row group too few loses its rows."""
    pair = file.part(Pair)
    there, said = len(pair.metadata.row_groups), len(pair.snapshot.blocks)
    if there != said:
        message = f"ROW_GROUP_COUNT is {said}, data.footer.row_groups has {there}"
        yield _footer_violation(pair, "row_group_count", message, there)


@rule("PM-104", of=FILE)
def columns_are_as_many(file: FileUnderTest) -> Iterator[Violation]:
    """A descriptor stands for each leaf of the schema."""
    pair = file.part(Pair)
    there, said = len(pair.leaves), pair.header.column_count
    if there != said:
        yield Violation(
            message=f"COLUMN_COUNT is {said}, data.footer.schema has {there} leaf columns",
            field="header.column_count",
            offset=pm.FixedHeader.offsets["column_count"],
            length=pm.FixedHeader.widths["column_count"],
            expected=str(there),
            actual=str(said),
        )


# -------------------------------------------------------------------------------------------------------- columns


@rule("PM-105", of=FILE)
def columns_have_their_names(file: FileUnderTest) -> Iterator[Violation]:
    """A nested column has the name of the field below the schema's root."""
    pair = file.part(Pair)
    pair.parsed.require_all_names()
    for column in range(pair.column_count):
        name, expected = pm_header.read_name(pair.source, pair.header, column), pair.fields[column].name
        if name != expected:
            described = pair.header.descriptors[column]
            yield Violation(
                message=f"column {column} is called {show(name)}, in data.footer.schema {show(expected)}",
                field=f"names[{column}]",
                offset=described.name_offset,
                length=described.name_length,
                expected=show(expected),
                actual=show(name),
                column=pair.leaves[column].name,
            )


def _column_violation(
    pair: Pair, column: int, name: str, words: str, expected: str, actual: str
) -> Violation:
    leaf = pair.leaves[column]
    return Violation(
        message=f"{words} of column {leaf.name} is {actual}, in data.footer.schema it is {expected}",
        field=f"column_descriptors[{column}].{name}",
        offset=pm_header.descriptor_place(column, name),
        length=pm.ColumnDescriptor.widths[name],
        expected=expected,
        actual=actual,
        column=leaf.name,
    )


@rule("PM-106", of=FILE)
def physical_types_agree(file: FileUnderTest) -> Iterator[Violation]:
    """Type and width decide how pages and statistics are read."""
    pair = file.part(Pair)
    for column in range(pair.column_count):
        described, element = pair.header.descriptors[column], pair.leaves[column].element
        if described.physical_type != element.type:
            names = {kind.value: kind.name for kind in Type}
            texts = [
                f"{number} ({names.get(number or 0, 'unknown')})"
                for number in (element.type, described.physical_type)
            ]
            yield _column_violation(pair, column, "physical_type", "PHYSICAL_TYPE", *texts)
        width = (element.type_length or 0) if element.type == Type.FIXED_LEN_BYTE_ARRAY else 0
        if described.fixed_byte_len != width:
            yield _column_violation(
                pair, column, "fixed_byte_len", "FIXED_BYTE_LEN", str(width), str(described.fixed_byte_len)
            )


@rule("PM-107", of=FILE)
def levels_agree(file: FileUnderTest) -> Iterator[Violation]:
    """The levels decide how many bits of a page are levels."""
    pair = file.part(Pair)
    for column in range(pair.column_count):
        described, leaf = pair.header.descriptors[column], pair.leaves[column]
        for name, expected in (
            ("max_rep_level", leaf.max_repetition_level),
            ("max_def_level", leaf.max_definition_level),
        ):
            actual = getattr(described, name)
            if actual != expected:
                yield _column_violation(pair, column, name, name.upper(), str(expected), str(actual))


@rule("PM-108", of=FILE)
def repetitions_agree(file: FileUnderTest) -> Iterator[Violation]:
    """Of a nested column it is that of the field below the schema's root."""
    pair = file.part(Pair)
    for column in range(pair.column_count):
        actual = repetition(pair.header.descriptors[column].flags)
        given = pair.fields[column].top.repetition_type
        if given is not None and given in set(Repetition) and actual != given:
            yield _column_violation(
                pair,
                column,
                "flags",
                "FIELD_REPETITION",
                repetition_name(given),
                repetition_name(actual),
            )


# --------------------------------------------------------------------------------------------------------- sorting


@rule("PM-118", of=FILE)
def sorting_agrees(file: FileUnderTest) -> Iterator[Violation]:
    """QuestDB's own files are sorted by the designated timestamp, whatever their row groups declare."""
    pair = file.part(Pair)
    fields, questdb, header = pair.fields, pair.questdb, pair.header
    if len(header.sorted_by) < len(header.sorting_columns):
        raise NotChecked("PM-037 is broken")
    _ = pair.row_group_count
    declared = [sorting_of(pair.metadata, fields, questdb)]
    if questdb is not None:
        declared.append(sorting_of(pair.metadata, fields, questdb, path="encode"))
    actual = [SortingColumn(column, descending) for column, descending in header.sorted_by]
    if actual in declared:
        return
    expected, said = (_sorting_text(pair, sorting) for sorting in (declared[0], actual))
    name = "sorting_column_count"
    place = (pm.FixedHeader.offsets[name], pm.FixedHeader.widths[name])
    path = f"header.{name}"
    if header.sorting_columns:
        place = (
            header.names_start - pm.SortingColumn.size * len(header.sorting_columns),
            pm.SortingColumn.size,
        )
        path = "sorting_columns[0].index"
    yield Violation(
        message=f"the rows are said to be sorted by {said}, data.footer.row_groups[0].sorting_columns says {expected}",
        field=path,
        offset=place[0],
        length=place[1],
        expected=expected,
        actual=said,
    )


def _sorting_text(pair: Pair, sorting: Sequence[SortingColumn]) -> str:
    names = [
        (pair.fields[item.column].name if 0 <= item.column < len(pair.fields) else f"column {item.column}")
        + (" descending" if item.descending else "")
        for item in sorting
    ]
    return ", ".join(names) or "nothing"
