"""Operators of mutations that do more for Parquet files than for other trees.

Source: chapters ``parquet_file.md`` and ``idx1.md``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.field_paths import get, put
from pqassay_spec.grammar.thrift import ListOf, Record, grammar
from pqassay_spec.grammar.trace import Leaf, trace
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.mutation import operators
from pqassay_spec.mutation.directory_tree import PLACED
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.file_tree import (
    BloomFilter,
    ChunkParts,
    EncodedStruct,
    FileTree,
    Index,
    Piece,
    can_patch,
    pair_with,
    serialised,
)
from pqassay_spec.mutation.operators import Operator
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.file import TAIL, read_footer, read_framing, trace_file
from pqassay_spec.parquet.thrift import BloomFilterHeader, KeyValue

BLOBS = "directory.blobs["
"""Prefix of the path of a piece of the body that is a blob of the index directory."""

UNKNOWN = ".unknown_"
"""Part of the path of an undeclared field, whose bytes come from the trace."""


def _set(tree: FileTree, path: str, to: Any) -> None:
    if ":" in path or UNKNOWN in path:
        if not can_patch(tree, path):
            raise KeyError(path)
        tree.patch = (path, to)
        return
    old = get(tree, path)
    value = to
    if isinstance(value, bytes) and (isinstance(old, str) or (old is None and path.endswith(".value"))):
        value = value.decode("utf-8", "surrogateescape")
    if isinstance(value, (dict, list)):
        value = _built(_declared(tree, path), value)
    if path == "idx1.layout":
        _set_layout(tree, str(value))
    _forget_companion(tree, path)
    put(tree, path, value)


def _declared(tree: FileTree, path: str) -> Any:
    """The type of a field of a struct; ``None`` if there is no such field."""
    owner, last = operators.owner_of(tree, path)
    return next((field.type for field in getattr(owner, "fields", ()) if field.name == last), None)


def _built(kind: Any, value: Any) -> Any:
    """A value of a declared type, built from the names of members for structs."""
    if isinstance(value, list):
        element = kind.element if isinstance(kind, ListOf) else None
        return [_built(element, item) for item in value]
    if not isinstance(value, dict):
        return value
    if not isinstance(kind, type) or not issubclass(kind, Record):
        raise TypeError("members are given, where no struct can be")
    types = {field.name: field.type for field in kind.fields}
    members = cast("dict[str, Any]", value).items()
    return kind(**{name: _built(types.get(name), member) for name, member in members})


def _set_layout(tree: FileTree, layout: str) -> None:
    """Change the layout of the index; a draft stores the length in its own key, after the key of the offset."""
    pairs = tree.footer.key_value_metadata or []
    if layout != idx1.Layout.PUBLISHED.value and pair_with(tree, idx1.LENGTH_KEY) is None and tree.idx1:
        place = next(index for index, pair in enumerate(pairs) if pair.key == idx1.KEY)
        pairs.insert(place + 1, KeyValue(key=idx1.LENGTH_KEY, value=str(len(tree.idx1.payload))))


def _forget_companion(tree: FileTree, path: str) -> None:
    """Forget the members of a companion record whose text is set: it is no longer built from them."""
    pairs = tree.footer.key_value_metadata or []
    if any(
        pair.key == idx1.COMPANION_KEY and path.startswith(f"footer.key_value_metadata[{index}]")
        for index, pair in enumerate(pairs)
    ):
        tree.companion = None


def _remove(tree: FileTree, path: str, to: Any) -> None:
    """Also remove a required field, or a piece of the body; if a page index is removed, its fields in the footer are, too."""
    pieces = [piece for piece in tree.body if piece.path == path]
    get(tree, path)
    _forget_companion(tree, path)
    operators.remove(tree, path, to)
    for piece in pieces:
        tree.body.remove(piece)
    if tree.directory is not None:
        kept = {entry[PLACED] for entry in tree.directory["entries"]}
        tree.body = [piece for piece in tree.body if not piece.path.startswith(BLOBS) or piece.path in kept]
    owner, _, name = path.rpartition(".")
    if name in ("column_index", "offset_index"):
        for fact in (f"footer.{owner}.{name}_offset", f"footer.{owner}.{name}_length"):
            put(tree, fact, None)
            tree.live.discard(fact)


def _insert(tree: FileTree, path: str, to: Any) -> None:
    """Insert a key-value pair before an index, or an index (``idx1``) or a bloom filter at the end of the body."""
    if path == "idx1":
        _insert_index(tree, to["payload"])
    elif path.endswith(".bloom_filter"):
        _insert_bloom_filter(tree, path, to)
    else:
        operators.insert(tree, path, KeyValue(**to))


def _insert_index(tree: FileTree, payload: bytes) -> None:
    if tree.idx1 is not None or pair_with(tree, idx1.KEY) is not None:
        raise ValueError("there is one already")
    tree.idx1 = index = Index(idx1.MAGIC, len(payload), payload)
    pairs = tree.footer.key_value_metadata or []
    tree.live.add(f"footer.key_value_metadata[{len(pairs)}].value")
    start = len(put_together(tree)) - tree.tail["footer_length"] - TAIL.sizeof()
    tree.body.append(Piece("idx1", index.build))
    tree.footer.key_value_metadata = [*pairs, KeyValue(key=idx1.KEY, value=str(start))]


def _insert_bloom_filter(tree: FileTree, path: str, bitset: bytes) -> None:
    chunk, facts = get(tree, path.rpartition(".")[0]), f"footer.{path.rpartition('.')[0]}.meta_data"
    if chunk.bloom_filter is not None:
        raise ValueError("there is one already")
    header = bloom.header_of(len(bitset))
    raw = bytes(grammar(BloomFilterHeader).build(header))
    chunk.bloom_filter = BloomFilter(header, bitset, EncodedStruct(header, raw))
    tree.body.append(Piece(path, chunk.bloom_filter.build))
    for name in ("bloom_filter_offset", "bloom_filter_length"):
        put(tree, f"{facts}.{name}", 0)
        tree.live.add(f"{facts}.{name}")


def _displace(tree: FileTree, path: str, _: Any) -> None:
    """Record everything after a piece of the body as if the piece did not exist, like a writer that forgot to count it."""
    if not any(piece.path == path for piece in tree.body):
        raise KeyError(path)
    tree.uncounted = path


FILE_OPERATORS: Mapping[str, Operator] = {
    **operators.OPERATORS,
    "set": _set,
    "remove": _remove,
    "insert": _insert,
    "displace": _displace,
}
"""The operators of Parquet files."""


def traced_file(data: bytes) -> list[Leaf]:
    """The leaves of everything in a whole Parquet file, in the order of their bytes.

    The bodies of pages and the bitsets of bloom filters are one leaf each. A file that cannot be parsed is only traced
    outside its row groups.
    """
    source = BytesSource(data)
    leaves = trace_file(source)
    framing = read_framing(source)
    pairs = read_footer(source, framing)[0].key_value_metadata or []
    offset = next((pair.value for pair in pairs if pair.key == idx1.KEY), None)
    with contextlib.suppress(FormatError):
        blob = idx1.read_blob(source, idx1.parse_offset(offset or ""), framing.footer_start)
        leaves += idx1.trace_blob(source, blob)
    with contextlib.suppress(FormatError):
        tree = take_apart(data)
        _, starts = serialised(tree)
        for number, parts in enumerate(tree.row_groups):
            for ordinal, chunk in enumerate(parts.columns):
                leaves += _traced_chunk(data, chunk, f"row_groups[{number}].columns[{ordinal}]", starts)
    return sorted(leaves, key=lambda leaf: leaf.offset)


def _traced_chunk(
    data: bytes, chunk: ChunkParts, path: str, starts: Mapping[str, tuple[int, int]]
) -> Iterator[Leaf]:
    offset = starts[f"{path}.pages"][0] if chunk.pages else 0
    for number, page in enumerate(chunk.pages):
        header = page.encoded.raw
        yield from _traced(page.header, header, f"{path}.pages[{number}].header", offset)
        offset += len(header)
        yield Leaf(f"{path}.pages[{number}].body", offset, len(page.body), page.body, "The page as stored.")
        offset += len(page.body)
    for name, record in (("column_index", chunk.column_index), ("offset_index", chunk.offset_index)):
        if record is not None:
            start, length = starts[f"{path}.{name}"]
            yield from _traced(record, data[start : start + length], f"{path}.{name}", start)
    if (found := chunk.bloom_filter) is not None:
        start, length = starts[f"{path}.bloom_filter"]
        yield from _traced(found.header, found.encoded.raw, f"{path}.bloom_filter.header", start)
        size = len(found.bitset)
        yield Leaf(f"{path}.bloom_filter.bitset", start + length - size, size, found.bitset, "The bits.")


def _traced(record: Record, raw: bytes, path: str, offset: int) -> list[Leaf]:
    return trace(grammar(type(record)), raw, root=path, base=offset)[1]
