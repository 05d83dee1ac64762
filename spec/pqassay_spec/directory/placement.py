"""Where the blob of an entry is: in the body of the file, after its entry, or in the footer's extension field.

Source: chapter ``directory.md``, section "Placement".
"""

from __future__ import annotations

import zlib

from construct import Const, GreedyBytes, Struct

from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Placement
from pqassay_spec.directory.entries import Entry
from pqassay_spec.grammar.thrift_wire import WireType, field_ranges, read_varint
from pqassay_spec.parquet.extension_fields import FIELD
from pqassay_spec.parquet.thrift import FileMetaData

EXTENSION_UUID = bytes.fromhex("b0c7a1de6d0b4e0f9f3e0f6f1d5a7c21")
"""The first bytes of an extension field that holds blobs; they distinguish it from extensions of others."""

# --8<-- [start:grammar]
EXTENSION = Struct(
    "uuid" / Const(EXTENSION_UUID) * "Tells the field from other extensions.",
    "area" / GreedyBytes * "Blobs, where the entries say.",
)
"""The content of field 32767 of the footer's struct."""
# --8<-- [end:grammar]


def extension_area(footer: FileMetaData) -> bytes | None:
    """The bytes after the UUID in the extension field of the footer's struct; ``None`` if there is no such field."""
    for field in footer.unknown:
        if field.id == FIELD and field.wire == WireType.BINARY:
            content = field.raw[read_varint(field.raw, 0)[1] :]
            if content.startswith(EXTENSION_UUID):
                return content[len(EXTENSION_UUID) :]
    return None


def has_other_extension(footer: FileMetaData) -> bool:
    """Whether the footer's extension field has another owner; a struct has only one such field."""
    return any(field.id == FIELD for field in footer.unknown) and extension_area(footer) is None


def extension_start(encoded: bytes) -> int | None:
    """Where the area begins in an encoded footer; ``None`` if there is no such field, or the struct cannot be walked."""
    try:
        for field in field_ranges(encoded):
            if field.id == FIELD and field.wire == WireType.BINARY:
                start = read_varint(encoded, field.value)[1]
                if encoded.startswith(EXTENSION_UUID, start):
                    return start + len(EXTENSION_UUID)
    except FormatError:
        pass
    return None


def stored_blob(entry: Entry, source: Source, *, body_start: int, body_end: int, area: bytes | None) -> bytes:
    """The bytes of a blob as they are stored.

    Args:
        entry: The entry.
        source: The file.
        body_start: Where the body begins, in bytes from the start of the file.
        body_end: Where it ends.
        area: The result of `extension_area`.

    Raises:
        Malformed: Rules DIR-012 (no such place), DIR-014 (the checksum does not fit).
        Unsupported: The placement is not known.
    """
    head = entry.head
    start, end = head.offset, head.offset + head.stored_length
    if head.placement == Placement.INLINE:
        stored = entry.inline
    elif head.placement == Placement.BODY:
        if not body_start <= start <= end <= body_end:
            raise Malformed(
                f"a blob at {start} of {head.stored_length} bytes is not in the body, which is [{body_start}, {body_end})",
                rule="DIR-012",
            )
        stored = source.read(start, head.stored_length)
    elif head.placement == Placement.EXTENSION:
        if area is None or end > len(area):
            there = (
                "the footer has no such extension"
                if area is None
                else f"the extension holds {len(area)} bytes"
            )
            raise Malformed(f"a blob at {start} of {head.stored_length} bytes, and {there}", rule="DIR-012")
        stored = area[start:end]
    else:
        raise Unsupported(f"placement {head.placement} is not known")
    if (computed := zlib.crc32(stored)) != head.crc32:
        raise Malformed(
            "the checksum does not fit the blob's bytes",
            rule="DIR-014",
            expected=f"{head.crc32:08x}",
            actual=f"{computed:08x}",
        )
    return stored
