"""Checks of enums and unions: values and members that the format does not define, and unions with more than one member.

What a later version of the format may define is unknown: it is a finding, and a gap as well.  Two members of one union contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from pqassay.under_test.pages.walk import PageUnderTest
from pqassay.under_test.schemas.known_schemas import Schema
from pqassay.under_test.violation import Violation
from pqassay.values.decoding.faults import FaultKind
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_decoder import decoder
from pqassay_spec.grammar.thrift_shapes import Shape
from pqassay_spec.parquet.thrift import ColumnChunk
from pqassay_spec.parquet.undefined import Undefined, crowded_unions, undefined_members


class Members(NamedTuple):
    """The enums and unions of a structure that are not as the format defines them.

    Attributes:
        field: The structure.
        undefined: The values and members that are not defined.
        crowded: The unions with more than one member: path and members.
        column: The column that it is about, if it is about one.
        row_group: Its row group, if it has one.
    """

    field: Field
    undefined: list[Undefined]
    crowded: list[tuple[str, tuple[str, ...]]]
    column: str | None
    row_group: int | None = None


def _members(
    record: Record, field: Field, column: str | None, row_group: int | None = None
) -> Iterator[Members]:
    undefined, crowded = list(undefined_members(record)), list(crowded_unions(record))
    if undefined or crowded:
        yield Members(field, undefined, crowded, column, row_group)


def _odd_elements(schema: Schema) -> list[int]:
    """The positions of the elements of a schema with undefined values or crowded unions."""
    return [number for number, element in enumerate(schema.elements) if _is_odd(element)]


def _is_odd(record: Record) -> bool:
    return any(True for _ in undefined_members(record)) or any(True for _ in crowded_unions(record))


@lru_cache(maxsize=256)
def _is_odd_shape(shape: Shape) -> bool:
    """Whether chunks of a shape are odd: enums and unions are the same in all of them."""
    return _is_odd(decoder(ColumnChunk)(shape.example, 0, len(shape.example))[0])


def _of_footer(file: FileUnderTest) -> list[Members]:
    """What is odd in the footer and, where they are read, in the headers of bloom filters."""
    metadata, leaves = file.metadata, file.leaves
    found: list[Members] = []
    if metadata.encryption_algorithm is not None:
        found += _members(metadata.encryption_algorithm, in_footer(file, "encryption_algorithm"), None)
    names = {id(leaf.element): leaf.name for leaf in leaves} if file.schema.view(_odd_elements) else {}
    for number in file.schema.view(_odd_elements):
        element = metadata.schema[number]
        found += _members(element, in_footer(file, f"schema[{number}]"), names.get(id(element)))
    orders = metadata.column_orders or []
    for number, order in enumerate(orders):
        column = leaves[number].name if len(leaves) == len(orders) else None
        # One that is not defined is the matter of STA-003: readers ignore the bounds.
        for members in _members(order, in_footer(file, f"column_orders[{number}]"), column):
            found.append(members._replace(undefined=[]))
    for row_group, ordinal in _unproved_chunks(file):
        chunk = metadata.row_groups[row_group].columns[ordinal]
        field = in_footer(file, f"row_groups[{row_group}].columns[{ordinal}]")
        found += _members(chunk, field, ".".join(path_in_schema(chunk) or []) or None, row_group)
    return found


def _unproved_chunks(file: FileUnderTest) -> Iterator[tuple[int, int]]:
    """Row group and position of the chunks that may be odd: where none of the shapes is, those without a shape."""
    alike = file.alike
    if alike is not None and not any(_is_odd_shape(chunks.shape) for chunks in alike.groups):
        yield from alike.others
        return
    for number, group in enumerate(file.metadata.row_groups):
        yield from ((number, ordinal) for ordinal in range(len(group.columns)))


def _placed(violation: Violation, members: Members) -> Violation:
    return replace(violation, column=members.column, row_group=members.row_group)


def _of_footer_and_filters(file: FileUnderTest) -> list[Members]:
    """As `_of_footer`, with the headers of bloom filters where they are read."""
    found = list(file.part(_of_footer))
    if file.options.reaches("index"):
        for chunk in file.part(ColumnChunks).having("bloom_filter"):
            with suppress(FormatError, NotApplicable, NotChecked):
                header, _ = chunk.bloom_filter_header
                found += _members(header, chunk.fields.bloom_header, chunk.column, chunk.row_group)
    return found


FOOTER_MEMBERS = Subject(
    "enums and unions of the footer", lambda file: file.part(_of_footer), _placed, agrees_if_empty=True
)
"""What is odd in a structure of the footer."""

UNIONS = Subject("unions", _of_footer_and_filters, _placed, agrees_if_empty=True)
"""What is odd in a structure of the footer, or in the header of a bloom filter."""


@rule("PQF-167", of=FOOTER_MEMBERS, faults=(FaultKind.UNKNOWN_CODEC,))
def footer_members_are_defined(members: Members) -> Iterator[Violation]:
    """A later version of the format may define them: until then nobody knows what they mean."""
    yield from report_undefined((each, members.field) for each in members.undefined)


@rule("PQF-168", of=UNIONS)
def unions_have_one_member(members: Members) -> Iterator[Violation]:
    """Readers take the first member or the last one, or refuse the file."""
    for path, names in members.crowded:
        said = f"the union has {len(names)} members: {', '.join(names)}"
        yield Violation(said, members.field / path, "one member", ", ".join(names))


@rule("PQF-169", of=PAGES, faults=(FaultKind.UNKNOWN_ENCODING,))
def page_members_are_defined(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A page of an unknown type can be skipped, values of an unknown encoding cannot be decoded."""
    yield from report_undefined(_undefined_in_pages(chunk))


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
