"""The parts of a Parquet file, each parsed, in the order of the bytes.

`pqassay_spec.mutation.file_dissection` makes a `FileTree`; `serialised` returns its bytes.  Values that follow from
the places of the parts are in `pqassay_spec.mutation.file_layout`.

Source: chapters ``parquet_file.md`` and ``idx1.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pqassay_spec.grammar.constructs import built
from pqassay_spec.grammar.thrift import Record, grammar
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.trace import trace
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.mutation.directory_tree import write_extension
from pqassay_spec.parquet.file import HEAD, TAIL
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    BloomFilterHeader,
    ColumnIndex,
    FileMetaData,
    KeyValue,
    OffsetIndex,
    PageHeader,
)


class EncodedStruct:
    """A Thrift struct of the file, which keeps its original bytes until it changes.

    Writers encode the same struct in different ways; an unchanged struct must not change its bytes.
    """

    def __init__(self, record: Record, raw: bytes) -> None:
        self.raw = raw
        self.original = decode(type(record), raw)[0]

    def build(self, record: Record) -> bytes:
        """The bytes of the struct with its current values."""
        if record == self.original:  # to compare takes far less time than to build
            return self.raw
        built = _built(record)
        return self.raw if built == self._rebuilt else built

    @cached_property
    def _rebuilt(self) -> bytes:
        """The bytes of the original struct as this package encodes it; the same for every layout that is tried."""
        return _built(self.original)


@dataclass
class Page:
    """A page: its header, and the bytes after it until the next one."""

    header: PageHeader
    body: bytes
    encoded: EncodedStruct

    def build(self) -> bytes:
        """The bytes of the page."""
        return self.encoded.build(self.header) + self.body


@dataclass
class BloomFilter:
    """A bloom filter: header and bitset."""

    header: BloomFilterHeader
    bitset: bytes
    encoded: EncodedStruct

    def build(self) -> bytes:
        """The bytes of the filter."""
        return self.encoded.build(self.header) + self.bitset


@dataclass
class ChunkParts:
    """The parts of the body for one column of one row group; each may be absent."""

    pages: list[Page] = field(default_factory=list[Page])
    column_index: ColumnIndex | None = None
    offset_index: OffsetIndex | None = None
    bloom_filter: BloomFilter | None = None


@dataclass
class RowGroupParts:
    """The chunks of a row group, in schema order."""

    columns: list[ChunkParts]


@dataclass
class Index:
    """An IDX1 blob in the layout of ``layout``."""

    magic: bytes
    length: int
    payload: bytes
    layout: str = idx1.Layout.PUBLISHED.value

    def build(self) -> bytes:
        """The bytes of the blob; in draft G0, these are only the payload."""
        draft = self.layout == idx1.Layout.DRAFT_G0.value
        return built(idx1.DRAFT_G0_BLOB if draft else idx1.BLOB, vars(self))


@dataclass
class Piece:
    """A run of bytes in the body.

    Attributes:
        path: Its place in the tree; empty for bytes that do not belong to a structure.
        build: Returns its bytes.
    """

    path: str
    build: Callable[[], bytes]


@dataclass
class FileTree:
    """A parsed file. Paths into it look like ``row_groups[0].columns[1].pages[0].header.crc``.

    Attributes:
        head: The member ``magic``.
        row_groups: The parts of the body for each row group.
        idx1: The embedded index, if there is one that can be read.
        companion: The members of its companion record, if that is a JSON object.
        footer: The footer.
        encoded_footer: The bytes of the footer.
        footer_rest: Bytes after the footer's struct that the footer length counts.
        tail: The members ``footer_length`` and ``magic``.
        body: The pieces of the body, in order.
        leaves: The leaf columns of the original file.
        live: Paths whose value followed from the layout in the original file; only these are recomputed.
        patch: Path of a leaf (a length, a count, the header of a field) and the bytes to put there. The leaf is in the trace of the
            footer, of an index or of the header of a bloom filter.
        directory: The members of the first index directory, if it can be read; see `directory_tree`.
        uncounted: Path of a piece that a careless writer did not count: the recorded offsets after it are
            too small by its length.
    """

    head: dict[str, Any]
    row_groups: list[RowGroupParts]
    idx1: Index | None
    companion: dict[str, Any] | None
    footer: FileMetaData
    encoded_footer: EncodedStruct
    footer_rest: bytes
    tail: dict[str, Any]
    body: list[Piece]
    leaves: list[SchemaLeaf] = field(default_factory=list[SchemaLeaf])
    live: set[str] = field(default_factory=set[str])
    patch: tuple[str, bytes] | None = None
    directory: dict[str, Any] | None = None
    uncounted: str = ""


def pair_with(tree: FileTree, key: str) -> KeyValue | None:
    """The first key-value pair with a key."""
    return next((pair for pair in tree.footer.key_value_metadata or [] if pair.key == key), None)


# ------------------------------------------------------------------------------------------------------ bytes


def serialised(tree: FileTree) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """The bytes of the tree, with the recorded start and the length of every piece of the body."""
    out = bytearray(built(HEAD, tree.head))
    starts: dict[str, tuple[int, int]] = {}
    missing = 0
    for piece in tree.body:
        raw = piece.build()
        if (kind := PATCHED.get(piece.path.rpartition(".")[2])) is not None:
            raw = _patched(tree, raw, kind[0], f"{piece.path}{kind[1]}")
        starts[piece.path] = (len(out) - missing, len(raw))
        out += raw
        if piece.path and piece.path == tree.uncounted:
            missing += len(raw)
    _write_companion(tree)
    write_extension(tree)
    out += footer_bytes(tree)
    return bytes(out) + built(TAIL, tree.tail), starts


def footer_bytes(tree: FileTree) -> bytes:
    """The bytes that the footer length counts."""
    built = tree.encoded_footer.build(tree.footer)
    return _patched(tree, built, FileMetaData, "footer") + tree.footer_rest


def can_patch(tree: FileTree, path: str) -> bool:
    """Whether a path is inside a struct whose bytes can be patched."""
    pieces = [(piece.path, PATCHED.get(piece.path.rpartition(".")[2])) for piece in tree.body]
    roots = ["footer", *(f"{place}{kind[1]}" for place, kind in pieces if kind is not None)]
    return any(_is_within(path, root) for root in roots)


def _is_within(path: str, root: str) -> bool:
    return path.startswith((f"{root}.", f"{root}:", f"{root}["))


PATCHED: dict[str, tuple[type[Record], str]] = {
    "column_index": (ColumnIndex, ""),
    "offset_index": (OffsetIndex, ""),
    "bloom_filter": (BloomFilterHeader, ".header"),
}
"""Pieces of the body that begin with a struct: its type, and its path relative to the piece."""


def _patched(tree: FileTree, built: bytes, kind: type[Record], root: str) -> bytes:
    """Bytes that begin with a struct, with the patch if its path is in this struct."""
    if tree.patch is None or not _is_within(tree.patch[0], root):
        return built
    path, raw = tree.patch
    leaf = next((found for found in trace(grammar(kind), built, root=root)[1] if found.path == path), None)
    if leaf is None:
        raise KeyError(path)
    return built[: leaf.offset] + raw + built[leaf.offset + leaf.length :]


def _write_companion(tree: FileTree) -> None:
    """Update the text of the companion key, if it is built from the members."""
    pair = pair_with(tree, idx1.COMPANION_KEY)
    if tree.companion is not None and pair is not None:
        members: dict[str, Any] = {**tree.companion, "column": tuple(tree.companion["column"])}
        pair.value = idx1_companion.Companion(**members).to_json()


def _built(record: Record) -> bytes:
    return bytes(grammar(type(record)).build(record, incomplete=True))
