"""The index directory among the parts of a file: its entries, their blobs, and the values that follow from their places.

Members have the names of the grammar: ``directory.entries[0].head.crc32``, ``directory.entries[0].blob.heads[1].flags``.  A blob
is parsed if it is not compressed and its structure can be read; otherwise it is bytes.  The members that tie an entry to its
data, ``row_count``, ``shape`` and ``content``, are never computed again: an entry becomes stale when its data change, as in practice.

Only the first key with a directory is parsed; others keep their text.

Source: chapter ``directory.md``.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from construct import Int32ul

from pqassay_spec.base.errors import FormatError, boundary
from pqassay_spec.directory import distinct_set, entries, placement, sketches, zone_sums
from pqassay_spec.directory.codes import IndexType, Placement
from pqassay_spec.grammar.constructs import AnyConstruct, built
from pqassay_spec.grammar.thrift import unknown_field
from pqassay_spec.grammar.thrift_wire import WireType, varint
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.parquet.extension_fields import FIELD
from pqassay_spec.parquet.thrift import CompressionCodec, FileMetaData, KeyValue

if TYPE_CHECKING:
    from pqassay_spec.mutation.file_tree import FileTree

Members = dict[str, Any]
"""A structure as a mapping from member names to values."""

BLOB = "blob"
"""Member of an entry: its parsed blob, or the bytes as stored; ``None`` if the blob is elsewhere."""

PLACED = "placed"
"""Member of an entry that is not stored in the file: the path of the piece of the body that is its blob."""

_GRAMMARS: Mapping[int, AnyConstruct] = {
    IndexType.DISTINCT_SET: distinct_set.SETS,
    IndexType.ZONE_SUMS: zone_sums.SUMS,
    IndexType.HLL: sketches.SKETCHES,
    IndexType.KLL: sketches.SKETCHES,
}

SHARED = "idx1"
"""The path of the piece that an entry of type IDX1 may share with the key of IDX1."""

Body = Callable[[int, int], bytes]
"""Reads bytes of the file from a start to an end offset."""


def members_of(pair: KeyValue) -> Members | None:
    """The members of a directory that can be read as a whole; otherwise ``None``."""
    try:
        data = entries.decode_text(pair.value or "")
        entries.read_directory(data)
        with boundary():
            parsed: Members = _members(entries.DIRECTORY.parse(data))
            for framed in parsed["entries"]:
                entry = framed.pop("entry")
                framed.update(_members(entries.ENTRY.parse(entry)))
                framed[BLOB] = framed[PLACED] = None
    except FormatError:
        return None
    return parsed


def find_blobs(
    directory: Members, footer: FileMetaData, read: Body, body: range
) -> Iterator[tuple[int, int, Members]]:
    """Fill the blobs of the entries; yield start, end and entry of each that is in the body."""
    area = placement.extension_area(footer) or b""
    for entry in directory["entries"]:
        head = entry["head"]
        start, end = head["offset"], head["offset"] + head["stored_length"]
        if head["placement"] == Placement.INLINE:
            entry[BLOB] = taken_apart(entry, entry["inline"])
        elif head["placement"] == Placement.EXTENSION and end <= len(area):
            entry[BLOB] = taken_apart(entry, area[start:end])
        elif head["placement"] == Placement.BODY and body.start <= start < end <= body.stop:
            entry[BLOB] = taken_apart(entry, read(start, end))
            yield start, end, entry


def taken_apart(entry: Members, stored: bytes) -> Members | bytes:
    """The members of a blob; its bytes, if it cannot be parsed and built again."""
    grammar = _GRAMMARS.get(entry["head"]["type"])
    if grammar is None or entry["head"]["codec"] != CompressionCodec.UNCOMPRESSED or len(stored) > MOST:
        return stored
    try:
        with boundary():
            parsed = _members(grammar.parse(stored))
    except FormatError:
        return stored
    return parsed if built(grammar, parsed) == stored else stored


MOST = 1 << 20
"""Most bytes of a blob that is parsed."""


def blob_bytes(entry: Members) -> bytes:
    """The bytes of a blob as stored."""
    blob = entry[BLOB]
    if isinstance(blob, dict):
        members = cast("Members", blob)
        return built(grammar_of(members), members)
    return bytes(blob or b"")


def grammar_of(blob: Members) -> AnyConstruct:
    """The grammar of a parsed blob, from its members: a mutation may have changed the type in its entry."""
    names = set(blob)
    return next(
        grammar
        for grammar in (distinct_set.SETS, zone_sums.SUMS, sketches.SKETCHES)
        if {member.name for member in cast("Any", grammar).subcons} == names
    )


def directory_bytes(directory: Members) -> bytes:
    """The decoded bytes of the key's value, built from the members even if they are inconsistent."""
    out = b""
    for member in cast("list[Any]", entries.DIRECTORY.subcons):
        if member.name == "entries":
            for entry in directory["entries"]:
                out += Int32ul.build(entry["length"]) + entry_bytes(entry)
        else:
            out += built(member, directory[member.name])
    return out


def entry_bytes(entry: Members) -> bytes:
    """The bytes of an entry, without the length before it."""
    return built(entries.ENTRY, entry)


def text_of(directory: Members) -> str:
    """The value of the key."""
    return base64.b64encode(directory_bytes(directory)).decode()


def write_extension(tree: FileTree) -> None:
    """Write the blobs that are placed in the footer's extension, in their order; an extension of another program stays."""
    if tree.directory is None or placement.has_other_extension(tree.footer):
        return
    placed = [entry for entry in tree.directory["entries"] if _is_in_extension(entry)]
    if not placed:
        return
    area = bytearray(placement.extension_area(tree.footer) or b"")
    for entry in placed:
        start, blob = entry["head"]["offset"], blob_bytes(entry)
        if start <= len(area):
            area[start : start + len(blob)] = blob
    content = placement.EXTENSION_UUID + bytes(area)
    field = unknown_field(FIELD, WireType.BINARY, varint(len(content)) + content)
    tree.footer.unknown = tuple(field if other.id == FIELD else other for other in tree.footer.unknown)


def _is_in_extension(entry: Members) -> bool:
    return entry["head"]["placement"] == Placement.EXTENSION and entry[BLOB] is not None


def derived_of_directory(tree: FileTree, starts: Mapping[str, tuple[int, int]]) -> Iterator[tuple[str, Any]]:
    """Yield path and value of everything that follows from the layout; a value comes before those that depend on it."""
    directory = tree.directory
    if directory is None:
        return
    for number, entry in enumerate(directory["entries"]):
        path = f"directory.entries[{number}]"
        if entry[PLACED] in starts:
            yield f"{path}.head.offset", starts[entry[PLACED]][0]
        if entry[BLOB] is not None or entry[PLACED] == SHARED:
            yield from _derived_of_blob(tree, path, entry)
        for place, column in enumerate(entry["columns"]):
            yield f"{path}.columns[{place}].name_count", len(column["names"])
            for rank, name in enumerate(column["names"]):
                yield f"{path}.columns[{place}].names[{rank}].length", len(name["text"])
        for rank, name in enumerate(entry["type_name"]):
            yield f"{path}.type_name[{rank}].length", len(name["text"])
        yield f"{path}.head.column_count", len(entry["columns"])
        yield f"{path}.head.writer_length", len(entry["writer"])
        yield f"{path}.length", len(entry_bytes(entry))
    yield "directory.entry_count", len(directory["entries"])
    yield "directory.crc32", zlib.crc32(directory_bytes(directory)[: -entries.CRC_SIZE])
    yield f"footer.key_value_metadata[{_position(tree)}].value", text_of(directory)


def _derived_of_blob(tree: FileTree, path: str, entry: Members) -> Iterator[tuple[str, Any]]:
    if entry[PLACED] == SHARED:
        stored = tree.idx1.build() if tree.idx1 is not None else b""
    else:
        stored = blob_bytes(entry)
    if entry["head"]["placement"] == Placement.INLINE:
        yield f"{path}.inline", stored
    yield f"{path}.head.stored_length", len(stored)
    if entry["head"]["codec"] == CompressionCodec.UNCOMPRESSED:
        yield f"{path}.head.plain_length", len(stored)
    yield f"{path}.head.crc32", zlib.crc32(stored)
    blob = entry[BLOB]
    if isinstance(blob, dict):
        yield from _derived_in_blob(f"{path}.blob", cast("Members", blob))


def _derived_in_blob(path: str, blob: Members) -> Iterator[tuple[str, Any]]:
    """Counts and lengths within a blob."""
    if "heads" in blob:
        yield f"{path}.part_count", len(blob["heads"])
        for number, (_, values) in enumerate(zip(blob["heads"], blob["values"], strict=False)):
            yield f"{path}.heads[{number}].values_length", len(values)
    elif "lengths" in blob:
        yield f"{path}.part_count", len(blob["sketches"])
        for number, sketch in enumerate(blob["sketches"][: len(blob["lengths"])]):
            yield f"{path}.lengths[{number}]", len(sketch)
    else:
        yield f"{path}.head.part_count", len(blob["part_sizes"])
        yield f"{path}.head.group_count", len(blob["groups"])
        for number, key in enumerate(blob["keys"]):
            yield f"{path}.keys[{number}].values_length", len(key["values"])
        for name in ("minima", "maxima"):
            yield f"{path}.{name}.values_length", len(blob[name]["values"])


def _position(tree: FileTree) -> int:
    """The position of the key among the pairs."""
    return next(
        index for index, pair in enumerate(tree.footer.key_value_metadata or []) if pair.key == entries.KEY
    )


def has_key(tree: FileTree) -> bool:
    """Whether the key still exists."""
    return any(pair.key == entries.KEY for pair in tree.footer.key_value_metadata or [])


def leaves_of(text: str) -> list[Leaf]:
    """The leaves of a directory, by offsets in the decoded bytes; an empty list if it cannot be read."""
    try:
        return entries.trace_directory(entries.decode_text(text))
    except FormatError:
        return []


def with_raw(text: str, path: str, raw: bytes) -> str:
    """The value of the key after replacing the bytes of a leaf; no checksum is corrected.

    Raises:
        KeyError: There is no such leaf.
    """
    leaf = next((leaf for leaf in leaves_of(text) if leaf.path == path), None)
    if leaf is None:
        raise KeyError(path)
    data = entries.decode_text(text)
    return base64.b64encode(data[: leaf.offset] + raw + data[leaf.offset + leaf.length :]).decode()


# ----------------------------------------------------------------------------------------- any structure as members


def _members(parsed: Any) -> Any:
    """The result of a construct parser as plain dictionaries and lists."""
    if isinstance(parsed, dict):
        items = cast("dict[str, Any]", parsed).items()
        return {name: _members(value) for name, value in items if not name.startswith("_")}
    if isinstance(parsed, list):
        return [_members(value) for value in parsed]
    return parsed
