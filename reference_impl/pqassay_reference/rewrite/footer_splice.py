"""Change chosen fields of a finished footer and nothing else.

A footer is never encoded again.  Everything else is copied byte by byte: unknown fields, their order, unusual
encodings.  Compact Thrift makes that possible, because structs and lists do not contain their length in bytes.
Removing a field also changes the header of the next field in its struct, whose id is stored as the difference
from the previous id.  Removing an element of a list changes the list's header, which counts the elements.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.grammar.thrift import (
    Field,
    FieldType,
    ListOf,
    Record,
    build_field_header,
    build_list_header,
    grammar,
    unknown_field,
    wire_type,
)
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.thrift_wire import (
    FieldRange,
    WireType,
    element_ranges,
    field_ranges,
    read_byte,
    read_field_id,
    read_list_header,
    skip,
    varint,
)
from pqassay_spec.parquet.file import TAIL
from pqassay_spec.parquet.thrift import EXTENSION_FIELD, FileMetaData, KeyValue

KEY_VALUE_FIELD = next(field.id for field in FileMetaData.fields if field.name == "key_value_metadata")

Removal: TypeAlias = "Mapping[str | int, Removal | None]"
"""The parts to remove from a struct (by names of fields) or from a list (by indexes of elements): ``None`` removes the
whole part, a nested removal removes parts of it.  ``{"row_groups": {0: {"columns": {2: {"meta_data": {"statistics": None}}}}}}``."""


# ------------------------------------------------------------------------------------------- taking fields out


def without(footer: bytes, removal: Removal) -> bytes:
    """Return a footer without some fields; all other fields keep their bytes and their order.

    Raises:
        Unsupported: The footer is signed, has bytes after its struct, or repeats a field on the path.
        Malformed: It is not a FileMetaData.
    """
    expected = _changeable(footer)
    splicer = _Splicer(footer)
    splicer.struct(FileMetaData, 0, removal, "footer")
    after = splicer.result()
    _take_out(expected, removal)
    _require_reads_as(after, expected)
    return after


class _Splicer:
    """Collects the changes to a footer, in order: ``(start, end, replacement)``."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.splices: list[tuple[int, int, bytes]] = []

    def struct(self, record: type[Record], position: int, removal: Removal, path: str) -> int:
        """Record the changes to the struct at ``position``; return the position after it."""
        data, table = self.data, _touched(record, removal)
        entered: set[int] = set()
        last = kept = 0  # ids of the field before, with and without the fields that go
        while header := read_byte(data, position):
            start = position
            last_before = last
            last, value = read_field_id(data, position + 1, header, last)
            wire = header & 15
            field, deeper = table.get((last, wire), (None, None))
            if field is not None and deeper is None:
                position = skip(data, value, wire)
                self.splices.append((start, position, b""))
                continue
            if kept != last_before and header >> 4:
                self.splices.append((start, value, build_field_header(kept, last, wire)))
            kept = last
            if field is None or deeper is None:
                position = skip(data, value, wire)
                continue
            if last in entered:  # readers take the last one; it is not known which is meant
                raise Unsupported(f"the footer holds {field.name} twice", field=f"{path}.{field.name}")
            entered.add(last)
            position = self._value(field.type, value, deeper, f"{path}.{field.name}")
        return position + 1

    def _value(self, kind: FieldType, position: int, removal: Removal, path: str) -> int:
        if isinstance(kind, type):
            return self.struct(kind, position, removal, path)
        if isinstance(kind, ListOf) and isinstance(kind.element, type):
            return self._list(kind.element, position, removal, path)
        raise TypeError(f"{path} is neither a struct nor a list of structs")

    def _list(self, element: type[Record], position: int, removal: Removal, path: str) -> int:
        start = position
        size, wire, position = read_list_header(self.data, position)
        gone = sum(removal.get(index, removal) is None for index in range(size))
        if gone:
            self.splices.append((start, position, build_list_header(size - gone, wire)))
        for index in range(size):
            start = position
            deeper = removal.get(index)
            if deeper is not None:
                position = self.struct(element, position, deeper, f"{path}[{index}]")
                continue
            position = skip(self.data, position, wire)
            if index in removal:
                self.splices.append((start, position, b""))
        return position

    def result(self) -> bytes:
        """The footer after the changes."""
        parts: list[bytes] = []
        done = 0
        for start, end, replacement in self.splices:
            parts += [self.data[done:start], replacement]
            done = end
        return b"".join([*parts, self.data[done:]])


def _touched(record: type[Record], removal: Removal) -> dict[tuple[int, int], tuple[Field, Removal | None]]:
    """The fields that a removal affects, by id and wire type: with another type, it is not the declared field."""
    touched = [(field, removal[field.name]) for field in record.fields if field.name in removal]
    table: dict[tuple[int, int], tuple[Field, Removal | None]] = {
        (field.id, wire_type(field.type)): (field, deeper) for field, deeper in touched
    }
    # a bool is stored in its wire type
    return table | {(n, WireType.FALSE): at for (n, wire), at in table.items() if wire == WireType.TRUE}


def _take_out(tree: Any, removal: Removal) -> None:
    """Apply a removal to the decoded struct or list."""
    for key, deeper in removal.items():
        child = getattr(tree, key) if isinstance(key, str) else tree[key]
        if deeper is not None:
            _take_out(child, deeper)
        elif isinstance(key, str):
            setattr(tree, key, None)
    if isinstance(tree, list):
        elements = tree
        elements[:] = [
            element for index, element in enumerate(elements) if removal.get(index, removal) is not None
        ]


def _require_reads_as(footer: bytes, expected: FileMetaData) -> None:
    """Check the new footer by decoding it. An error here would cost someone's data, so this check always runs."""
    found, taken = decode(FileMetaData, footer, root="new footer")
    same = found == expected
    if not same:  # a double that is NaN equals nothing, its bytes do
        same = grammar(FileMetaData).build(found) == grammar(FileMetaData).build(expected)
    if taken != len(footer) or not same:
        raise Malformed("the footer cannot be rebuilt faithfully", field="footer")


# ------------------------------------------------------------------------------------------------ the keys


def with_key_values(footer: bytes, *, remove: Collection[str], add: Sequence[KeyValue]) -> bytes:
    """Return a footer without the pairs whose key is in ``remove`` and with ``add`` at the end.

    Pairs that stay keep their bytes and their order.

    Raises:
        Unsupported: The footer is signed, has bytes after its struct, or repeats field 5.
        Malformed: It is not a FileMetaData.
    """
    pairs = _changeable(footer).key_value_metadata or []
    going = {place for place, pair in enumerate(pairs) if pair.key in remove}
    return with_pairs(footer, without=going, add=add)


def with_pairs(footer: bytes, *, without: Collection[int], add: Sequence[KeyValue]) -> bytes:
    """Return a footer without the pairs at some positions and with ``add`` at the end; without any pairs, the list is removed.

    Raises: See `with_key_values`.
    """
    expected = _changeable(footer)
    fields = list(field_ranges(footer))
    present = [field for field in fields if field.id == KEY_VALUE_FIELD]
    if len(present) > 1:
        raise Unsupported("the footer holds key_value_metadata twice", field="footer.key_value_metadata")
    places = element_ranges(footer, present[0].value) if present else []
    kept = [footer[start:end] for place, (start, end) in enumerate(places) if place not in without]
    pairs = [*kept, *(bytes(grammar(KeyValue).build(pair)) for pair in add)]
    value = build_list_header(len(pairs), WireType.STRUCT) + b"".join(pairs)
    after = _rebuilt(footer, fields, KEY_VALUE_FIELD, WireType.LIST, value if pairs else None)
    left = [pair for place, pair in enumerate(expected.key_value_metadata or []) if place not in without]
    expected.key_value_metadata = [*left, *add] or None
    _require_reads_as(after, expected)
    return after


def with_extension(footer: bytes, content: bytes | None) -> bytes:
    """Return a footer whose top-level struct has an extension field with this content; ``None`` removes the field.

    Raises:
        Unsupported: The footer is signed, has bytes after its struct, or repeats the field.
        Malformed: It is not a FileMetaData.
    """
    expected = _changeable(footer)
    fields = list(field_ranges(footer))
    if sum(field.id == EXTENSION_FIELD for field in fields) > 1:
        raise Unsupported("the footer holds its extension field twice", field="footer.unknown_32767")
    value = None if content is None else varint(len(content)) + content
    after = _rebuilt(footer, fields, EXTENSION_FIELD, WireType.BINARY, value)
    others = [field for field in expected.unknown if field.id != EXTENSION_FIELD]
    made = [] if value is None else [unknown_field(EXTENSION_FIELD, WireType.BINARY, value)]
    unknown = decode(FileMetaData, after, root="new footer")[0].unknown
    if sorted(unknown) != sorted([*others, *made]):
        raise Malformed("the footer cannot be rebuilt faithfully", field="footer")
    expected.unknown = unknown  # in the order of their bytes
    _require_reads_as(after, expected)
    return after


def _rebuilt(
    footer: bytes, fields: Sequence[FieldRange], identifier: int, wire: int, value: bytes | None
) -> bytes:
    """All fields in order, after replacing, inserting or removing one; a new field goes before the first greater id."""
    parts: list[bytes] = []
    last = 0
    placed = value is None
    for before, field in zip([0, *(field.id for field in fields)], fields, strict=False):
        if field.id == identifier:
            if value is not None:
                parts += [build_field_header(last, identifier, wire), value]
                last, placed = identifier, True
            continue
        if not placed and value is not None and field.id > identifier:
            parts += [build_field_header(last, identifier, wire), value]
            last, placed = identifier, True
        header = footer[field.start : field.value]
        if last != before:
            header = build_field_header(last, field.id, field.wire)
        parts += [header, footer[field.value : field.end]]
        last = field.id
    if not placed and value is not None:
        parts += [build_field_header(last, identifier, wire), value]
    return b"".join([*parts, bytes((WireType.STOP,))])


# ---------------------------------------------------------------------------------------------- whole footers


def _changeable(footer: bytes) -> FileMetaData:
    metadata, taken = decode(FileMetaData, footer, root="footer", rule="PQF-004")
    if metadata.encryption_algorithm is not None:
        raise Unsupported("the footer is signed; changing it would break the signature", field="footer")
    if taken != len(footer):
        raise Unsupported(f"{len(footer) - taken} bytes follow the footer's struct", field="footer")
    return metadata


def footer_and_tail(footer: bytes) -> bytes:
    """A footer with the tail at the end of the file."""
    return footer + bytes(TAIL.build({"footer_length": len(footer)}))
