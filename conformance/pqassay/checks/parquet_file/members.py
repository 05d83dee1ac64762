"""Checks of enums and unions: values and members that the format does not define, and unions with more than one member.

An undefined value may get a meaning in a later version: it is both a finding and a gap. Two members of one union contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from pqassay.checks import rule
from pqassay.checks.subjects import PAGES, Subject
from pqassay.checks.undefined import report_undefined
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.footer_parts import path_in_schema
from pqassay.under_test.layout import FILTERS
from pqassay.under_test.pages.walk import PageUnderTest
from pqassay.under_test.schemas.known_schemas import Schema
from pqassay.under_test.violation import Violation
from pqassay.values.decoding.faults import FaultKind
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_decoder import decoder
from pqassay_spec.grammar.thrift_shapes import Shape
from pqassay_spec.parquet.thrift import ColumnChunk, PageType
from pqassay_spec.parquet.undefined import (
    Crowded,
    Undefined,
    crowded_unions,
    is_as_defined,
    undefined_members,
)


class Members(NamedTuple):
    """The undefined or contradictory enums and unions of a structure.

    Attributes:
        field: The structure.
        undefined: The values and members that are not defined.
        crowded: The unions with more than one member.
        column: The column of the structure, if any.
        row_group: The row group of the structure, if any.
    """

    field: Field
    undefined: list[Undefined]
    crowded: list[Crowded]
    column: str | None
    row_group: int | None = None


def _members(
    record: Record, field: Field, column: str | None, row_group: int | None = None
) -> Iterator[Members]:
    if not is_as_defined(record):
        undefined, crowded = [*undefined_members(record)], [*crowded_unions(record)]
        yield Members(field, undefined, crowded, column, row_group)


def _odd_elements(schema: Schema) -> list[int]:
    """The positions of the elements of a schema with undefined values or crowded unions."""
    return [number for number, element in enumerate(schema.elements) if not is_as_defined(element)]


@lru_cache(maxsize=256)
def _is_odd_shape(shape: Shape) -> bool:
    """Whether chunks of a shape have undefined values or crowded unions; enums and unions are the same in all of them."""
    return not is_as_defined(decoder(ColumnChunk)(shape.example, 0, len(shape.example))[0])


def _of_schema(file: FileUnderTest) -> list[Members]:
    """The undefined or crowded members in the elements of the schema."""
    places = file.schema.view(_odd_elements)
    names = {id(leaf.element): leaf.name for leaf in file.leaves} if places else {}
    return [
        members
        for place in places
        for element in (file.metadata.schema[place],)
        for members in _members(element, in_footer(file, f"schema[{place}]"), names.get(id(element)))
    ]


def _of_chunks(file: FileUnderTest) -> list[Members]:
    """The undefined or crowded members in the footer's records of column chunks and of their encryption."""
    algorithm, groups = file.metadata.encryption_algorithm, file.metadata.row_groups
    members: list[Members] = []
    if algorithm is not None:
        members += _members(algorithm, in_footer(file, "encryption_algorithm"), None)
    for row_group, ordinal in _unproved_chunks(file):
        chunk = groups[row_group].columns[ordinal]
        field = in_footer(file, f"row_groups[{row_group}].columns[{ordinal}]")
        members += _members(chunk, field, ".".join(path_in_schema(chunk) or []) or None, row_group)
    return members


def _unproved_chunks(file: FileUnderTest) -> Iterator[tuple[int, int]]:
    """Row group and position of the chunks that may be odd. If no shape is odd, these are the chunks without a shape."""
    alike = file.alike
    if alike is not None and not any(_is_odd_shape(chunks.shapes[0]) for chunks in alike.groups):
        count = len(file.leaves)
        yield from (divmod(place, count) for place in alike.others)
        return
    for number, group in enumerate(file.metadata.row_groups):
        yield from ((number, ordinal) for ordinal in range(len(group.columns)))


def _placed(violation: Violation, members: Members) -> Violation:
    return replace(violation, column=members.column, row_group=members.row_group)


def _of_all(file: FileUnderTest) -> list[Members]:
    """The undefined or crowded members in the footer and in the headers of bloom filters, if these are read."""
    members = [*file.part(_of_schema), *file.part(_of_chunks)]
    leaves, orders = file.leaves, file.metadata.column_orders or []
    for number, order in enumerate(orders):
        if not is_as_defined(order):
            column = leaves[number].name if len(leaves) == len(orders) else None
            members += _members(order, in_footer(file, f"column_orders[{number}]"), column)
    for chunk in _with_filters(file):
        with suppress(FormatError, NotApplicable, NotChecked):
            header, _ = chunk.bloom_filter_header
            members += _members(header, chunk.fields.bloom_header, chunk.column, chunk.row_group)
    return members


def _with_filters(file: FileUnderTest) -> Sequence[ColumnChunkUnderTest]:
    """The chunks with bloom filters, if these are read."""
    with suppress(FormatError, NotApplicable, NotChecked):
        chunks = file.part(ColumnChunks)
        return (
            chunks.having("bloom_filter") if file.options.reaches("index") and chunks.count(FILTERS) else ()
        )
    return ()


def _subject(name: str, find: Callable[[FileUnderTest], list[Members]]) -> Subject[Members]:
    return Subject(name, lambda file: file.part(find), _placed, agrees_if_empty=True)


@rule("PQF-167", of=_subject("enums and unions of the schema", _of_schema))
def schema_is_defined(members: Members) -> Iterator[Violation]:
    """A later version of the format may define the rest; until then its meaning is unknown."""
    yield from report_undefined((each, members.field) for each in members.undefined)


@rule("PQF-171", of=_subject("enums and unions of chunks", _of_chunks), faults=(FaultKind.UNKNOWN_CODEC,))
def chunks_are_defined(members: Members) -> Iterator[Violation]:
    """Readers that decode the numbers into names fail, even if no page uses such a member."""
    yield from report_undefined((each, members.field) for each in members.undefined)


@rule("PQF-168", of=_subject("unions", _of_all))
def unions_have_one_member(members: Members) -> Iterator[Violation]:
    """Readers use the first member or the last one, or refuse the file."""
    for path, names in members.crowded:
        said = f"the union has {len(names)} members: {', '.join(names)}"
        yield Violation(said, members.field / path, "one member", ", ".join(names))


@rule("PQF-169", of=PAGES, faults=(FaultKind.UNKNOWN_ENCODING,))
def page_members_are_defined(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A page of an unknown type can be skipped; values of an unknown encoding cannot be decoded."""
    yield from report_undefined(_undefined_in_pages(chunk))
    if any(page.header.type == PageType.INDEX_PAGE for page in chunk.pages):
        raise NotChecked("the format does not define the content of index pages", "file")


def _undefined_in_pages(chunk: ColumnChunkUnderTest) -> Iterator[tuple[Undefined, Field]]:
    sound: set[tuple[int, ...]] = set()
    for page in chunk.pages:
        key = _enums_of(page)
        if key in sound:
            continue
        undefined = list(undefined_members(page.header))
        if not undefined:
            sound.add(key)
        yield from ((each, chunk.fields.page(page)) for each in undefined)


def _enums_of(page: PageUnderTest) -> tuple[int, ...]:
    """The enums in the header of a page."""
    header, v1 = page.header, page.header.data_page_header
    own = page.own_header
    levels = (v1.definition_level_encoding, v1.repetition_level_encoding) if v1 is not None else ()
    return (header.type, -1 if own is None else own.encoding, *levels)
