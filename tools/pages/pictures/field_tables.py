"""Tables of fields: of constructs, Thrift structs, JSON objects and enums, and of every struct in a footer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum, IntFlag
from functools import cache
from typing import Any

from pages.markup import Link, anchored, table
from pages.pictures.byte_layout import Field, byte_anchors, field_anchor, fields_of, slug
from pqassay_spec.grammar.field_tables import thrift_rows
from pqassay_spec.grammar.thrift import EnumOf, FieldType, ListOf, Record, type_name
from pqassay_spec.idx1.companion import COMPANION_FIELDS
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.pm.from_parquet.questdb_key import JsonField
from pqassay_spec.table.json_objects import JsonObject

STRUCTS_PAGE = "spec/compact_thrift.md"
"""The page with a section for every struct; types link to it."""

JSON_TYPES = {list: "array of strings", int: "integer", bool: "boolean"}


def companion_table() -> Iterator[str]:
    """Yield the members of IDX1's companion record."""
    rows = ((f"`{field.name}`", JSON_TYPES[field.type], field.doc) for field in COMPANION_FIELDS)
    yield from table(("Member", "JSON type", "Meaning"), rows)


def member_table(fields: Iterable[JsonField] | JsonObject) -> Iterator[str]:
    """Yield the members of a JSON object."""
    if isinstance(fields, JsonObject):
        is_numbered = fields.members[0].id is not None
        heads = ("Id", "Field", "Type") if is_numbered else ("Member", "JSON type")
        cells = ((f"`{one.name}`", one.type, one.presence, one.doc) for one in fields.members)
        numbers = ((str(one.id),) if is_numbered else () for one in fields.members)
        rows_of = ((*number, *row) for number, row in zip(numbers, cells, strict=True))
        yield from table((*heads, "Presence", "Meaning"), rows_of)
        return
    words = {**JSON_TYPES, list: "array of objects"}
    rows = (
        (f"`{field.name}`", words[field.type], "required" if field.required else "optional", field.doc)
        for field in fields
    )
    yield from table(("Member", "JSON type", "Presence", "Meaning"), rows)


def field_table(structure: Any, link: Link, prefix: str) -> Iterator[str]:
    """Yield the fields of a declared structure, Thrift or construct, each with an anchor.

    Anchors are the prefix and the name of the field, such as ``columndescriptor-max_rep_level``; in a construct, each byte with a fixed
    place also has one, such as ``columndescriptor-byte-29``.
    """
    if isinstance(structure, type) and issubclass(structure, Record):
        types = {field.name: _linked_type(field.type, link) for field in structure.fields}
        rows = (
            (row.id, anchored_field(row.name, prefix), types[row.name], row.presence, row.doc)
            for row in thrift_rows(structure)
        )
        yield from table(("Id", "Field", "Type", "Presence", "Meaning"), rows)
    else:
        bytes_rows = (
            (
                _bytes(field, prefix),
                "" if field.size is None else str(field.size),
                anchored_field(field.name, prefix),
                field.type,
                field.doc,
            )
            for field in fields_of(structure, prefix)
        )
        yield from table(("Bytes", "Size", "Field", "Type", "Meaning"), bytes_rows)


def anchored_field(name: str, prefix: str) -> str:
    """The name of a field as an anchor."""
    anchor = field_anchor(prefix, name)
    return anchored(f"`{name}`", anchor, f"#{anchor}")


def _bytes(field: Field, prefix: str) -> str:
    """The place of a field in words, with an anchor for each byte."""
    anchors = "".join(f'<span id="{anchor}"></span>' for anchor in byte_anchors(field, prefix))
    return anchors + ("" if field.start is None else field.place.replace(" ", "&nbsp;"))


def _linked_type(kind: FieldType, link: Link) -> str:
    """The name of a type, linked to the section of its struct or enum."""
    if isinstance(kind, ListOf):
        return f"list of {_linked_type(kind.element, link)}"
    records, enums = reached()
    listed = kind.names in enums if isinstance(kind, EnumOf) else kind in records
    if listed:
        return f"[{type_name(kind)}]({link(STRUCTS_PAGE, type_name(kind).lower())})"
    return type_name(kind)


def enum_table(names: type[IntEnum | IntFlag]) -> Iterator[str]:
    """Yield the values of an enum, or the bits of flags."""
    is_flags = issubclass(names, IntFlag)
    rows = ((str(one.bit_length() - 1 if is_flags else one.value), f"`{one.name}`") for one in names)
    yield from table(("Bit" if is_flags else "Value", "Name"), rows)


@cache
def reached() -> tuple[list[type[Record]], list[type[IntEnum]]]:
    """Every struct that a footer can contain, `FileMetaData` first, in the order of their first use, and every enum of their fields."""
    records: list[type[Record]] = []
    enums: list[type[IntEnum]] = []

    def visit(kind: FieldType) -> None:
        if isinstance(kind, ListOf):
            visit(kind.element)
        elif isinstance(kind, EnumOf):
            if kind.names not in enums:
                enums.append(kind.names)
        elif isinstance(kind, type) and kind not in records:
            records.append(kind)
            for field in kind.fields:
                visit(field.type)

    visit(FileMetaData)
    return records, enums


def footer_structs(link: Link) -> Iterator[str]:
    """Yield a section for each struct with fields, then a table of structs without fields, then the enums."""
    records, enums = reached()
    for record in records:
        if record.fields:
            yield from (
                f"### {record.__name__}",
                "",
                record.__doc__ or "",
                *field_table(record, link, slug(record.__name__)),
            )
    yield from ("### Structs without fields", "", "Members of unions whose presence says everything.", "")
    empty = ((record.__name__, record.__doc__ or "") for record in records if not record.fields)
    rows = ((anchored(name, name.lower(), f"#{name.lower()}"), doc) for name, doc in empty)
    yield from table(("Struct", "Meaning"), rows)
    yield from ("### Enums", "", "A value without a name is kept: a newer writer may know more names.", "")
    values = (
        (
            anchored(names.__name__, names.__name__.lower(), f"#{names.__name__.lower()}"),
            (names.__doc__ or "").partition("\n")[0].replace("`", ""),
            ", ".join(f"{member.value}&nbsp;`{member.name}`" for member in names),
        )
        for names in enums
    )
    yield from table(("Enum", "Meaning", "Values"), values)
