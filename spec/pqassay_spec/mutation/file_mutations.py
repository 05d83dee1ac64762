"""The mutations that the grammar of Parquet files suggests; see `pqassay_spec.mutation.possible`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pqassay_spec.directory import entries
from pqassay_spec.grammar.constructs import bare
from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    DOUBLE,
    STRING,
    EnumOf,
    FieldType,
    ListOf,
    Record,
)
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.mutation.directory_tree import BLOB, grammar_of, leaves_of
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_operators import traced_file
from pqassay_spec.mutation.file_tree import ChunkParts, FileTree, pair_with
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.mutation.value_mutations import of_element, of_integer, of_leaves, of_member, of_value
from pqassay_spec.parquet.file import HEAD, TAIL


def mutations_of_file(data: bytes) -> Iterator[Mutation]:
    """Yield the mutations that the grammar suggests for every field of a Parquet file.

    Integers become 0, one more, one less, and the ends of their range. Text and bytes become empty, longer
    and invalid UTF-8. A letter of each magic changes. Optional and required fields are removed; elements are
    removed, duplicated and moved. Bits are inverted, and the file is cut at the edge of every leaf.

    Raises:
        FormatError: The file cannot be taken apart.
    """
    tree = take_apart(data)
    yield from _of_framing(tree)
    yield from _of_index(tree)
    yield from _of_directory(tree)
    yield from (Mutation("displace", piece.path) for piece in tree.body[:-1] if piece.path)
    yield from _of_record("footer", tree.footer)
    for number, parts in enumerate(tree.row_groups):
        for ordinal, chunk in enumerate(parts.columns):
            yield from _of_chunk(f"row_groups[{number}].columns[{ordinal}]", chunk)
    yield from of_leaves(traced_file(data))


def _of_framing(tree: FileTree) -> Iterator[Mutation]:
    for name, structure in (("head", HEAD), ("tail", TAIL)):
        for member in cast("list[Any]", structure.subcons):
            yield from of_member(f"{name}.{member.name}", getattr(tree, name)[member.name], member)


def _of_index(tree: FileTree) -> Iterator[Mutation]:
    if tree.idx1 is not None:
        yield from (Mutation("set", "idx1.layout", layout.value) for layout in idx1.Layout)
        for member in cast("list[Any]", idx1.BLOB.subcons):
            yield from of_member(f"idx1.{member.name}", getattr(tree.idx1, member.name), member)
        yield Mutation("remove", "idx1")
    for name, value in (tree.companion or {}).items():
        yield from of_value(f"companion.{name}", value)


def _of_directory(tree: FileTree) -> Iterator[Mutation]:
    """Mutations of every field of the directory, with and without a corrected checksum, and of every field of parsed blobs."""
    if tree.directory is None:
        return
    for member in cast("list[Any]", entries.DIRECTORY.subcons):
        if member.name != "entries":
            yield from of_member(f"directory.{member.name}", tree.directory[member.name], member)
    for number, entry in enumerate(tree.directory["entries"]):
        path = f"directory.entries[{number}]"
        yield from of_element("directory.entries", number)
        yield from of_integer(f"{path}.length", entry["length"], 8 * entries.LENGTH_SIZE)
        yield from _of_structure(path, entries.ENTRY, entry)
        if entry[BLOB] is not None:
            grammar = grammar_of(entry[BLOB]) if isinstance(entry[BLOB], dict) else None
            yield from _of_structure(f"{path}.blob", grammar, entry[BLOB])
    pair = pair_with(tree, entries.KEY)
    for leaf in leaves_of((pair.value if pair else None) or ""):
        if leaf.length:
            yield Mutation("set", leaf.path, b"", raw=True)
            yield Mutation("set", leaf.path, b"\xff" * leaf.length, raw=True)


def _of_structure(path: str, structure: Any, value: Any) -> Iterator[Mutation]:
    """Mutations of every member of a structure that construct declares."""
    structure = bare(structure)
    if isinstance(value, dict):
        for member in structure.subcons:
            yield from _of_structure(
                f"{path}.{member.name}", member, cast("dict[str, Any]", value)[member.name]
            )
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from of_element(path, index)
            yield from _of_structure(f"{path}[{index}]", structure.subcon, element)
    elif isinstance(value, int):
        yield from of_integer(path, value, 8 * structure.sizeof())
    else:
        yield from of_value(path, value)


def _of_chunk(path: str, chunk: ChunkParts) -> Iterator[Mutation]:
    for index, page in enumerate(chunk.pages):
        yield from _of_record(f"{path}.pages[{index}].header", page.header)
        yield from of_value(f"{path}.pages[{index}].body", page.body)
    for name in ("column_index", "offset_index"):
        if (record := getattr(chunk, name)) is not None:
            yield from _of_record(f"{path}.{name}", record)
    if chunk.bloom_filter is not None:
        yield from _of_record(f"{path}.bloom_filter.header", chunk.bloom_filter.header)
        yield from of_value(f"{path}.bloom_filter.bitset", chunk.bloom_filter.bitset)


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
            yield from of_element(path, index)
            yield from _of_field(f"{path}[{index}]", kind.element, element)
    elif isinstance(kind, EnumOf):
        yield from (Mutation("set", path, int(member)) for member in kind.names if member != value)
        yield Mutation("set", path, max(kind.names) + 1)
        yield Mutation("set", path, -1)
    elif kind in (BOOL, STRING, BINARY, DOUBLE):
        yield from of_value(path, value)
    else:
        yield from of_integer(path, value, kind.bits, signed=True)
