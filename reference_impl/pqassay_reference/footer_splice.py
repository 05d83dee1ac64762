"""Changing the key-value metadata of a finished footer and nothing else.

Only field 5 of FileMetaData is encoded anew.  The bytes of every other field's value, known or unknown,
canonical or not, are copied; inserting field 5 changes at most the header of the field after it, whose id is
stored as a difference.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pqassay_spec.compact_thrift import build_field_header, build_list_header, grammar
from pqassay_spec.compact_thrift_decoder import decode
from pqassay_spec.compact_thrift_wire import FieldRange, WireType, element_ranges, field_ranges
from pqassay_spec.errors import Malformed, Unsupported
from pqassay_spec.parquet_file import TAIL
from pqassay_spec.parquet_thrift import FileMetaData, KeyValue

KEY_VALUE_FIELD = next(field.id for field in FileMetaData.fields if field.name == "key_value_metadata")


def with_key_values(footer: bytes, *, remove: Collection[str], add: Sequence[KeyValue]) -> bytes:
    """Return a footer without the pairs whose key is in ``remove`` and with ``add`` at the end.

    Pairs that stay keep their bytes and their order.

    Raises:
        Unsupported: The footer is signed, or holds bytes behind its struct, or repeats field 5.
        Malformed: It is no FileMetaData.
    """
    before, taken = decode(FileMetaData, footer, root="footer", rule="PQF-004")
    if before.encryption_algorithm is not None:
        raise Unsupported("the footer is signed; changing it would break the signature", field="footer")
    if taken != len(footer):
        raise Unsupported(f"{len(footer) - taken} bytes stand behind the footer's struct", field="footer")
    fields = list(field_ranges(footer))
    present = [field for field in fields if field.id == KEY_VALUE_FIELD]
    if len(present) > 1:
        raise Unsupported("the footer holds key_value_metadata twice", field="footer.key_value_metadata")
    kept = _kept_pairs(footer, present[0], remove) if present else []
    pairs = [*kept, *(bytes(grammar(KeyValue).build(pair)) for pair in add)]
    value = build_list_header(len(pairs), WireType.STRUCT) + b"".join(pairs)
    after = _rebuilt(footer, fields, value)
    _require_only_key_values_changed(footer, after)
    return after


def _kept_pairs(footer: bytes, field: FieldRange, remove: Collection[str]) -> list[bytes]:
    kept: list[bytes] = []
    for start, end in element_ranges(footer, field.value):
        raw = footer[start:end]
        if decode(KeyValue, raw)[0].key not in remove:
            kept.append(raw)
    return kept


def _rebuilt(footer: bytes, fields: Sequence[FieldRange], value: bytes) -> bytes:
    """All fields in their order, field 5 with a new value in its place, or before the first greater id."""
    parts: list[bytes] = []
    last = 0
    placed = False
    for field in fields:
        if field.id == KEY_VALUE_FIELD:
            parts += [footer[field.start : field.value], value]
            placed = True
        else:
            header = footer[field.start : field.value]
            if not placed and field.id > KEY_VALUE_FIELD:
                parts += [build_field_header(last, KEY_VALUE_FIELD, WireType.LIST), value]
                header = build_field_header(KEY_VALUE_FIELD, field.id, field.wire)
                placed = True
            parts += [header, footer[field.value : field.end]]
        last = field.id
    if not placed:
        parts += [build_field_header(last, KEY_VALUE_FIELD, WireType.LIST), value]
    return b"".join([*parts, bytes((WireType.STOP,))])


def _require_only_key_values_changed(before: bytes, after: bytes) -> None:
    """Read the new footer back. A mistake here would cost somebody's data, so it is looked for every time."""
    _, taken = decode(FileMetaData, after, root="new footer")
    if taken != len(after) or _other_fields(before) != _other_fields(after):
        raise Malformed("the footer cannot be rebuilt faithfully", field="footer")


def _other_fields(footer: bytes) -> list[tuple[int, int, bytes]]:
    return [
        (field.id, field.wire, footer[field.value : field.end])
        for field in field_ranges(footer)
        if field.id != KEY_VALUE_FIELD
    ]


def footer_and_tail(footer: bytes) -> bytes:
    """A footer with the tail that ends the file."""
    return footer + bytes(TAIL.build({"footer_length": len(footer)}))
