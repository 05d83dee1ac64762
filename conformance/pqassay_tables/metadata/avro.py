"""Avro object containers: their decompressed blocks, and the objects in them."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pqassay.tables.files import most_plain
from pqassay_spec.base.errors import FormatError, Malformed, Truncated, Unsupported, boundary
from pqassay_spec.grammar.trace import Leaf, locate, trace
from pqassay_spec.table.avro import (
    CODEC_KEY,
    CODECS,
    CONTAINER_HEADER,
    MAGIC,
    SCHEMA_KEY,
    SNAPPY_CHECKSUM,
    SYNC,
    counted_values,
    grammar_of,
)
from pqassay_spec.table.avro_decoder import decoder, read_long
from pqassay_tables.metadata.delta.actions import parse

MOST_HEADER = 1 << 26
"""The size in bytes of the longest header that is read."""

TRACED_HEADER = 1 << 16
"""The number of bytes of a broken header that are searched for the place of the error."""

OBJECTS_FLOOR, BYTES_OF_OBJECT = 1 << 12, 8
"""The limit of objects that are read from a file: a constant, and one more for a number of its bytes.

An entry has a path, which does not compress to less.
"""


BROKEN = (FormatError, IndexError, ValueError, struct.error, OverflowError)
"""Errors of the fast decoder on bytes that do not fit their schema."""


@dataclass(frozen=True)
class Block:
    """A block of objects.

    Attributes:
        start: The offset of its bytes in the file.
        size: The number of its bytes.
        count: The number of its objects.
        first: The number of its first object in the file.
    """

    start: int
    size: int
    count: int
    first: int


@dataclass
class Container:
    """An object container with a parsed header.

    Attributes:
        name: The file.
        data: Its bytes.
        rule: The id of the rule that an unreadable file breaks.
        metadata: The metadata in its header.
        schema: The schema of its objects, as JSON.
        codec: The codec of the blocks.
        sync: The marker after each block.
        body: The offset of the first block.
    """

    name: str
    data: bytes
    rule: str
    metadata: dict[str, bytes]
    schema: Any
    codec: str
    sync: bytes
    body: int
    _left: int = field(default=-1, repr=False)

    def __post_init__(self) -> None:
        """Set the limit of objects, since a small file cannot have many."""
        if self._left < 0:
            self._left = most_plain(len(self.data))

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks. Raises `Malformed`."""
        return list(self.each_block())

    def each_block(self) -> Iterator[Block]:
        """Yield the blocks one by one; for a damaged file, the blocks before the damage. Raises `Malformed`."""
        position, first, data = self.body, 0, self.data
        while position < len(data):
            start = position
            try:
                count, position = read_long(data, position)
                size, position = read_long(data, position)
            except IndexError:
                raise self.broken("the file ends in the header of a block", start) from None
            except FormatError as error:
                raise self.broken(error.reason, start) from None
            if count < 0 or not 0 <= size <= len(data) - position - SYNC:
                raise self.broken(f"a block of {count} objects and {size} bytes", start)
            end = position + size
            yield Block(position, size, count, first)
            if data[end : end + SYNC] != self.sync:
                raise self.broken("the bytes behind a block do not match the marker in the header", end, SYNC)
            position = end + SYNC
            first += count

    def plain(self, block: Block) -> bytes:
        """The decompressed bytes of a block. Raises `FormatError`."""
        raw = self.data[block.start : block.start + block.size]
        if self.codec == "null":
            return raw
        try:
            plain = _UNPACKED[self.codec](raw, self._left)
        except (Malformed, zlib.error, ValueError, OSError) as error:
            why = error.reason if isinstance(error, Malformed) else str(error).partition("\n")[0]
            told = f"a block does not decompress by {self.codec}: {why}"
            raise self.broken(told, block.start, block.size) from None
        if len(plain) > self._left:
            most = most_plain(len(self.data))
            raise Unsupported(
                f"{self.name} has more than {most:,} bytes without compression", field=self.name
            )
        self._left -= len(plain)
        return plain

    def objects(self) -> Iterator[Any]:
        """Yield the objects in order, as decoded by the fast decoder. Raises `FormatError`."""
        with boundary(rule=self.rule, field=self.name):
            decode = decoder(self.schema)
        most = OBJECTS_FLOOR + len(self.data) // BYTES_OF_OBJECT
        for block in self.blocks:
            if self.codec == "null" and block.count > block.size:
                raise self.broken(f"{block.count} objects in {block.size} bytes", block.start, block.size)
            if block.first + block.count > most:
                message = f"{self.name} has more than {most:,} objects in {len(self.data):,} bytes"
                raise Unsupported(message, field=self.name)
            plain = self.plain(block)
            if block.count > len(plain):
                raise self.broken(f"{block.count} objects in {len(plain)} bytes", block.start, block.size)
            position = 0
            try:
                for _ in range(block.count):
                    value, position = decode(plain, position)
                    yield value
            except BROKEN as error:
                raise self._located(block, plain, error) from None
            if position != len(plain):
                message = f"{len(plain) - position} bytes behind the objects of a block"
                raise self.broken(message, block.start + (position if self.codec == "null" else 0))

    def traced(self, number: int) -> tuple[list[Leaf], bytes, int]:
        """The places of an object's fields.

        Args:
            number: The number of the object, from 0.

        Returns:
            The leaves, with offsets in the bytes of the block; these bytes; and the offset of the block in the file, -1 for a compressed block.

        Raises:
            FormatError: The object cannot be read.
            IndexError: There is no such object.
        """
        block = next((one for one in self.blocks if one.first <= number < one.first + one.count), None)
        if block is None:
            raise IndexError(number)
        plain, position = self.plain(block), 0
        decode = decoder(self.schema)
        for _ in range(number - block.first):
            _, position = decode(plain, position)
        _, end = decode(plain, position)
        _, leaves = trace(grammar_of(self.schema), plain[position:end], base=position)
        return leaves, plain, block.start if self.codec == "null" else -1

    def broken(self, reason: str, offset: int | None = None, length: int = 0) -> Malformed:
        """The error that the file is not a container of the right kind."""
        return Malformed(
            f"{self.name} cannot be read: {reason}",
            rule=self.rule,
            field=self.name,
            offset=offset,
            length=length,
            expected="an Avro object container",
            actual=reason,
            file=self.name,
        )

    def _located(self, block: Block, plain: bytes, error: Exception) -> Malformed:
        """The error with the field at which it occurred."""
        reason = error.reason if isinstance(error, FormatError) else "the bytes end before the objects do"
        decode, position, number = decoder(self.schema), 0, block.first
        try:
            while True:
                _, position = decode(plain, position)
                number += 1
        except BROKEN:
            pass
        spans = locate(
            grammar_of(self.schema), plain[position:], root=f"[{number}]", base=position, rule=None
        )
        offset = None
        told = f"entry {number}: {reason}"
        if spans is not None:
            told = f"{(spans.field or '').replace('].', '] ')}: {spans.reason}"
            if self.codec == "null" and spans.offset is not None:
                offset = block.start + spans.offset
        return self.broken(told, offset)


def container(name: str, data: bytes, rule: str) -> Container:
    """Read the header of an object container.

    Args:
        name: The file.
        data: Its bytes.
        rule: The rule that an unreadable file breaks.

    Raises:
        FormatError: The file is not a container, or has an unknown codec.
    """
    if data[: len(MAGIC)] != MAGIC:
        reason = f"{name} is not an Avro object container"
        raise Malformed(
            reason, rule=rule, field=name, offset=0, length=len(MAGIC), expected=repr(MAGIC), actual=repr(data[: len(MAGIC)]), file=name,
        )  # fmt: skip
    metadata, body = _header(name, data, rule)
    try:
        schema = parse(metadata.get(SCHEMA_KEY, b"").decode())
        codec = metadata.get(CODEC_KEY, b"null").decode()
    except ValueError as error:
        raise Malformed(
            f"the schema in the header of {name} is not valid JSON: {error}", rule=rule, field=name, file=name
        ) from None
    with boundary(rule=rule, field=name):
        _ = counted_values(schema)
    if codec not in CODECS:
        raise Unsupported(f"{name} is compressed by {codec[:40]!r}, which pqassay does not read", field=name)
    return Container(name, data, rule, metadata, schema, codec, data[body - SYNC : body], body)


_METADATA = decoder({"type": "map", "values": "bytes"})


def _header(name: str, data: bytes, rule: str) -> tuple[dict[str, bytes], int]:
    """The metadata in a header, and the end of the metadata. Raises `FormatError` at the wrong field."""
    with suppress(*BROKEN):
        metadata, end = _METADATA(data[:MOST_HEADER], len(MAGIC))
        if len(data) >= end + SYNC:
            return metadata, end + SYNC
    with boundary(rule=rule, field=name):
        try:
            _ = trace(CONTAINER_HEADER, data[:TRACED_HEADER])
        except FormatError as error:
            error.field, error.file, error.rule = name, name, rule
            error.reason = f"the header of {name} cannot be read: {error.reason}"
            raise
    reason = f"the header of {name} cannot be read"
    raise Malformed(reason, rule=rule, field=name, offset=len(MAGIC), file=name)


_KEYED = re.compile(r"(.+)\[(-?\d+)\]", re.ASCII)


def avro_span(leaves: list[Leaf], path: tuple[str, ...]) -> tuple[int, int]:
    """The start and the end of the field at a path; of the whole object if the field is missing.

    In the path, ``lower_bounds[7]`` is the value of the key 7 if the field is a map, and otherwise its eighth element.
    """
    prefix = ""
    for name in path:
        match = _KEYED.fullmatch(name)
        if match is None:
            prefix = f"{prefix}.{name}" if prefix else name
            continue
        base, wanted = f"{prefix}.{match[1]}" if prefix else match[1], int(match[2])
        keys = (leaf for leaf in leaves if leaf.path.startswith(f"{base}[") and leaf.path.endswith("].key"))
        key = next((leaf.path.removesuffix(".key") for leaf in keys if leaf.value == wanted), None)
        prefix = f"{base}[{wanted}]" if key is None else f"{key}.value"
    below = [
        leaf for leaf in leaves if leaf.path == prefix or leaf.path.startswith((f"{prefix}.", f"{prefix}["))
    ]
    whole = below or [leaf for leaf in leaves if leaf.path.startswith(f"{prefix}:")] or leaves
    return whole[0].offset, whole[-1].offset + whole[-1].length


def _inflated(raw: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    plain = unpacker.decompress(raw, most + 1)
    if len(plain) <= most and not unpacker.eof:
        raise Truncated("the compressed bytes end too early")
    return plain


def _snappy(raw: bytes, most: int) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - few manifests are compressed by it

    packed, check = raw[:-SNAPPY_CHECKSUM], raw[-SNAPPY_CHECKSUM:]
    length = shift = 0
    for byte in packed[:5]:  # Snappy begins with the total length
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if length > most or length > len(packed) * 64 + 64:
        raise Malformed(f"Snappy announces {length:,} bytes")
    plain = pa.Codec("snappy").decompress(packed, length, asbytes=True)
    if zlib.crc32(plain).to_bytes(SNAPPY_CHECKSUM, "big") != check:
        raise Malformed("the checksum behind the block does not match its bytes")
    return plain


def _zstandard(raw: bytes, most: int) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - likewise

    with pa.CompressedInputStream(pa.BufferReader(raw), "zstd") as stream:
        return stream.read(most + 1)


_UNPACKED = {"deflate": _inflated, "snappy": _snappy, "zstandard": _zstandard}
