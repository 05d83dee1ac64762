"""The mutations that the grammar makes possible: for every field of a file, what can be wrong with it.

Tests feed all of them to every reader of bytes: nothing but a `FormatError` may come out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pqassay_spec import idx1
from pqassay_spec.compact_thrift import (
    BINARY,
    BOOL,
    DOUBLE,
    STRING,
    EnumOf,
    FieldType,
    ListOf,
    Record,
    Scalar,
)
from pqassay_spec.file_dissection import take_apart
from pqassay_spec.file_tree import Chunk, FileTree
from pqassay_spec.mutations import Mutation, traced
from pqassay_spec.parquet_file import HEAD, TAIL


def mutations_of(data: bytes) -> Iterator[Mutation]:
    """Yield the mutations that the grammar suggests for every field of a file.

    Integers become 0, one more, one less, and the ends of their range; text and bytes become empty, longer
    and no UTF-8; magics change a letter; optional and required fields go; elements go, come twice and change
    places; bits turn; the file is cut at the edge of every leaf.

    Raises:
        FormatError: The file cannot be taken apart.
    """
    tree = take_apart(data)
    yield from _of_framing(tree)
    yield from _of_index(tree)
    yield from (Mutation("displace", piece.path) for piece in tree.body[:-1] if piece.path)
    yield from _of_record("footer", tree.footer)
    for number, parts in enumerate(tree.row_groups):
        for ordinal, chunk in enumerate(parts.columns):
            yield from _of_chunk(f"row_groups[{number}].columns[{ordinal}]", chunk)
    for leaf in traced(data):
        yield Mutation("truncate", "", leaf.offset, raw=True)
        yield Mutation("truncate", "", leaf.offset + leaf.length - 1, raw=True)
        if leaf.length:
            yield Mutation("set", leaf.path, b"", raw=True)
            yield Mutation("set", leaf.path, b"\xff" * leaf.length, raw=True)


def _of_framing(tree: FileTree) -> Iterator[Mutation]:
    for name, structure in (("head", HEAD), ("tail", TAIL)):
        for member in cast("list[Any]", structure.subcons):
            yield from _of_member(f"{name}.{member.name}", getattr(tree, name)[member.name], member)


def _of_index(tree: FileTree) -> Iterator[Mutation]:
    if tree.idx1 is not None:
        yield from (Mutation("set", "idx1.layout", layout.value) for layout in idx1.Layout)
        for member in cast("list[Any]", idx1.BLOB.subcons):
            yield from _of_member(f"idx1.{member.name}", getattr(tree.idx1, member.name), member)
        yield Mutation("remove", "idx1")
    for name, value in (tree.companion or {}).items():
        yield from _of_value(f"companion.{name}", value)


def _of_chunk(path: str, chunk: Chunk) -> Iterator[Mutation]:
    for index, page in enumerate(chunk.pages):
        yield from _of_record(f"{path}.pages[{index}].header", page.header)
        yield from _of_value(f"{path}.pages[{index}].body", page.body)
    for name in ("column_index", "offset_index"):
        if (record := getattr(chunk, name)) is not None:
            yield from _of_record(f"{path}.{name}", record)
    if chunk.bloom_filter is not None:
        yield from _of_record(f"{path}.bloom_filter.header", chunk.bloom_filter.header)
        yield from _of_value(f"{path}.bloom_filter.bitset", chunk.bloom_filter.bitset)


def _of_record(path: str, record: Record) -> Iterator[Mutation]:
    for declared in record.fields:
        value = getattr(record, declared.name)
        if value is not None:
            yield Mutation("remove", f"{path}.{declared.name}")
            yield from _of_field(f"{path}.{declared.name}", declared.type, value)


def _of_field(path: str, kind: FieldType, value: Any) -> Iterator[Mutation]:
    if isinstance(kind, type):
        yield from _of_record(path, value)
    elif isinstance(kind, ListOf):
        elements = cast("list[Any]", value)
        for index, element in enumerate(elements):
            yield Mutation("remove", f"{path}[{index}]")
            yield Mutation("duplicate", f"{path}[{index}]")
            if index:
                yield Mutation("swap", f"{path}[{index - 1}]", f"{path}[{index}]")
            yield from _of_field(f"{path}[{index}]", kind.element, element)
    elif isinstance(kind, EnumOf):
        yield from (Mutation("set", path, int(member)) for member in kind.names if member != value)
        yield Mutation("set", path, max(kind.names) + 1)
        yield Mutation("set", path, -1)
    elif kind in (BOOL, STRING, BINARY, DOUBLE):
        yield from _of_value(path, value)
    else:
        yield from _of_integer(path, value, kind)


def _of_integer(path: str, value: int, kind: Scalar) -> Iterator[Mutation]:
    most = (1 << (kind.bits - 1)) - 1
    for other in (0, value + 1, value - 1, most, -most - 1):
        if other != value and -most - 1 <= other <= most:
            yield Mutation("set", path, other)


def _of_member(path: str, value: Any, member: Any) -> Iterator[Mutation]:
    """Mutations of a member of a flat structure; its construct says how wide an integer is."""
    if isinstance(value, int):
        yield from (Mutation("set", path, other) for other in _unsigned(value, 8 * member.sizeof()))
    else:
        yield from _of_value(path, value)


def _unsigned(value: int, bits: int) -> tuple[int, ...]:
    most = (1 << bits) - 1
    others = (0, value + 1, value - 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, most >> 1, most)
    return tuple(dict.fromkeys(other for other in others if other != value and 0 <= other <= most))


def _of_value(path: str, value: Any) -> Iterator[Mutation]:
    """Mutations by the Python type of a value, where the field itself says no more."""
    others: tuple[Any, ...]
    if isinstance(value, bool):
        others = (not value,)
    elif isinstance(value, int):
        others = _unsigned(value, 64)
    elif isinstance(value, str):
        others = ("", f"{value}x", b"\xff")
    elif isinstance(value, bytes):
        turned = bytes((value[0] ^ 1,)) + value[1:] if value else b"\0"
        others = (b"", turned, value[:-1], value + b"\xff")
    else:
        others = ()
    yield from (Mutation("set", path, other) for other in others if other != value)
