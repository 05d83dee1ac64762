"""What the operators of mutations do to Parquet files beyond what they do to every tree.

Source: chapters ``parquet_file.md`` and ``idx1.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pqassay_spec import idx1, operators
from pqassay_spec.errors import FormatError
from pqassay_spec.field_paths import get, put
from pqassay_spec.file_layout import put_together
from pqassay_spec.file_tree import FileTree, Index, Piece, pair_with
from pqassay_spec.operators import Operator
from pqassay_spec.parquet_file import TAIL, trace_file
from pqassay_spec.parquet_thrift import KeyValue
from pqassay_spec.sources import BytesSource
from pqassay_spec.trace import Leaf


def _set(tree: FileTree, path: str, to: Any) -> None:
    if ":" in path:
        tree.patch = (path, to)
        return
    old = get(tree, path)
    value = to
    if isinstance(value, bytes) and (isinstance(old, str) or (old is None and path.endswith(".value"))):
        value = value.decode("utf-8", "surrogateescape")
    if path == "idx1.layout":
        _set_layout(tree, str(value))
    _forget_companion(tree, path)
    put(tree, path, value)


def _set_layout(tree: FileTree, layout: str) -> None:
    """A draft carries the length in a key of its own, behind that of the offset."""
    pairs = tree.footer.key_value_metadata or []
    if layout != idx1.Layout.PUBLISHED.value and pair_with(tree, idx1.LENGTH_KEY) is None and tree.idx1:
        place = next(index for index, pair in enumerate(pairs) if pair.key == idx1.KEY)
        pairs.insert(place + 1, KeyValue(key=idx1.LENGTH_KEY, value=str(len(tree.idx1.payload))))


def _forget_companion(tree: FileTree, path: str) -> None:
    """A companion record whose text is given is not made from its members any more."""
    pairs = tree.footer.key_value_metadata or []
    if any(
        pair.key == idx1.COMPANION_KEY and path.startswith(f"footer.key_value_metadata[{index}]")
        for index, pair in enumerate(pairs)
    ):
        tree.companion = None


def _remove(tree: FileTree, path: str, to: Any) -> None:
    """Also remove a required field, or a piece of the body."""
    pieces = [piece for piece in tree.body if piece.path == path]
    get(tree, path)
    _forget_companion(tree, path)
    operators.remove(tree, path, to)
    for piece in pieces:
        tree.body.remove(piece)


def _insert(tree: FileTree, path: str, to: Any) -> None:
    """Insert a key-value pair before the one at an index, or an index (``idx1``) behind the body."""
    if path == "idx1":
        _insert_index(tree, to["payload"])
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


def _displace(tree: FileTree, path: str, _: Any) -> None:
    """Record everything behind a piece of the body as if the piece were not there, as a writer does that did not count it."""
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
    """The leaves of everything that a whole Parquet file holds outside its pages, in the order of their bytes."""
    source = BytesSource(data)
    leaves = trace_file(source)
    for leaf in leaves:
        if leaf.path.endswith(".key") and leaf.value == idx1.KEY:
            value = next((other.value for other in leaves if other.path == f"{leaf.path[:-4]}.value"), None)
            with_blob = _traced_blob(source, value, leaves)
            return sorted([*leaves, *with_blob], key=lambda leaf: leaf.offset)
    return leaves


def _traced_blob(source: BytesSource, value: Any, leaves: list[Leaf]) -> list[Leaf]:
    footer_start = next(leaf.offset for leaf in leaves if leaf.path.startswith("footer"))
    try:
        blob = idx1.read_blob(source, idx1.parse_offset(str(value)), footer_start)
    except FormatError:
        return []
    return idx1.trace_blob(source, blob)
