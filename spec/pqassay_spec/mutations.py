"""Mutations: how a good file becomes one that is wrong in one chosen way.

A mutation names an operator, a path and, for some operators, a value.  The file is taken apart
(`pqassay_spec.file_dissection`), the one thing is changed, and everything that follows from the layout is computed
anew, except at the named path: a payload that grows takes its length field, its checksum and the offsets behind it along; a
length field that is set to something false stays false.  With ``raw`` nothing is computed anew: bytes are
replaced in place.

Which operators fit where follows from the grammar: `pqassay_spec.possible_mutations` lists them for every field.

    >>> Mutation("set", "idx1.magic", b"IDX2")
    Mutation(op='set', path='idx1.magic', to=b'IDX2', raw=False)
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from construct import ConstructError

from pqassay_spec import idx1
from pqassay_spec.errors import FormatError
from pqassay_spec.field_paths import get, put, steps
from pqassay_spec.file_dissection import take_apart
from pqassay_spec.file_layout import put_together
from pqassay_spec.file_tree import FileTree, Index, Piece, pair_with
from pqassay_spec.parquet_file import TAIL, trace_file
from pqassay_spec.parquet_thrift import KeyValue
from pqassay_spec.sources import BytesSource
from pqassay_spec.trace import Leaf


@dataclass(frozen=True)
class Mutation:
    """One change.

    Attributes:
        op: Name of an operator: a key of `OPERATORS`.
        path: What is changed: a path into `FileTree`, or that of a length or count in the trace of the footer
            (``footer.schema:count``); with ``raw`` the path of any leaf of the trace.
        to: The operator's value, if it takes one.
        raw: Whether nothing is computed anew.
    """

    op: str
    path: str
    to: Any = None
    raw: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The paths that keep what they were given."""
        return (self.path, str(self.to)) if self.op == "swap" else (self.path,)

    def to_json(self) -> dict[str, Any]:
        """The mutation as golden cases hold it; bytes become ``{"bytes": "<hex>"}``."""
        record: dict[str, Any] = {"op": self.op, "path": self.path}
        if self.to is not None:
            record["to"] = _to_json(self.to)
        return {**record, "raw": True} if self.raw else record

    @staticmethod
    def from_json(record: dict[str, Any]) -> Mutation:
        """Read what `to_json` gives."""
        return Mutation(
            record["op"], record["path"], _from_json(record.get("to")), bool(record.get("raw", False))
        )


class Inapplicable(ValueError):  # noqa: N818 - says what is wrong with the request, which is no error of the file
    """The mutation makes no sense for this file: no such path, a value of another type, or one that does not fit."""


def mutate(data: bytes, mutation: Mutation) -> bytes:
    """Apply a mutation to a good file.

    Raises:
        FormatError: The file cannot be taken apart.
        Inapplicable: See there.
    """
    try:
        if mutation.raw:
            return _raw(data, mutation)
        tree = take_apart(data)
        OPERATORS[mutation.op](tree, mutation)
        return put_together(tree, frozen=mutation.named)
    except KeyError as error:
        raise Inapplicable(f"{mutation.op} {mutation.path}: there is no {error.args[0]}") from None
    except FormatError:
        raise
    except (ConstructError, ValueError, TypeError, AttributeError, IndexError) as error:
        said = str(error).strip().splitlines()
        raise Inapplicable(f"{mutation.op} {mutation.path}: {said[-1] if said else error!r}") from error


# ------------------------------------------------------------------------------------------------- operators


def _set(tree: FileTree, mutation: Mutation) -> None:
    if ":" in mutation.path:
        tree.patch = (mutation.path, mutation.to)
        return
    old = get(tree, mutation.path)
    value = mutation.to
    if isinstance(value, bytes) and (
        isinstance(old, str) or (old is None and mutation.path.endswith(".value"))
    ):
        value = value.decode("utf-8", "surrogateescape")
    if mutation.path == "idx1.layout":
        _set_layout(tree, str(value))
    _forget_companion(tree, mutation.path)
    put(tree, mutation.path, value)


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


def _add(tree: FileTree, mutation: Mutation) -> None:
    put(tree, mutation.path, get(tree, mutation.path) + mutation.to)


def _prepend(tree: FileTree, mutation: Mutation) -> None:
    put(tree, mutation.path, mutation.to + get(tree, mutation.path))


def _remove(tree: FileTree, mutation: Mutation) -> None:
    """Remove an element, an optional or required field, or a piece of the body."""
    pieces = [piece for piece in tree.body if piece.path == mutation.path]
    owner, last = _owner(tree, mutation.path)
    get(tree, mutation.path)
    _forget_companion(tree, mutation.path)
    if isinstance(owner, list):
        del cast("list[Any]", owner)[cast("int", last)]
    elif isinstance(owner, dict):
        raise TypeError("it cannot be absent")
    else:
        put(tree, mutation.path, None)
    for piece in pieces:
        tree.body.remove(piece)


def _duplicate(tree: FileTree, mutation: Mutation) -> None:
    """Put a copy of an element behind it."""
    owner, last = _owner(tree, mutation.path)
    if not isinstance(owner, list) or not isinstance(last, int):
        raise TypeError("only elements of lists are duplicated")
    elements = cast("list[Any]", owner)
    elements.insert(last + 1, copy.deepcopy(get(tree, mutation.path)))


def _insert(tree: FileTree, mutation: Mutation) -> None:
    """Insert a key-value pair before the one at an index, or an index (``idx1``) behind the body."""
    if mutation.path == "idx1":
        _insert_index(tree, mutation.to["payload"])
        return
    owner, last = _owner(tree, mutation.path)
    if not isinstance(owner, list) or not isinstance(last, int):
        raise TypeError("only into lists something is inserted")
    cast("list[Any]", owner).insert(last, KeyValue(**mutation.to))


def _insert_index(tree: FileTree, payload: bytes) -> None:
    if tree.idx1 is not None or pair_with(tree, idx1.KEY) is not None:
        raise ValueError("there is one already")
    tree.idx1 = index = Index(idx1.MAGIC, len(payload), payload)
    pairs = tree.footer.key_value_metadata or []
    tree.live.add(f"footer.key_value_metadata[{len(pairs)}].value")
    start = len(put_together(tree)) - tree.tail["footer_length"] - TAIL.sizeof()
    tree.body.append(Piece("idx1", index.build))
    tree.footer.key_value_metadata = [*pairs, KeyValue(key=idx1.KEY, value=str(start))]


def _swap(tree: FileTree, mutation: Mutation) -> None:
    """Exchange what stands at two paths."""
    one, other = get(tree, mutation.path), get(tree, mutation.to)
    put(tree, mutation.path, other)
    put(tree, mutation.to, one)


def _displace(tree: FileTree, mutation: Mutation) -> None:
    """Record everything behind a piece of the body as if the piece were not there, as a writer does that did not count it."""
    if not any(piece.path == mutation.path for piece in tree.body):
        raise KeyError(mutation.path)
    tree.uncounted = mutation.path


OPERATORS: dict[str, Callable[[FileTree, Mutation], None]] = {
    "set": _set,
    "add": _add,
    "prepend": _prepend,
    "remove": _remove,
    "duplicate": _duplicate,
    "insert": _insert,
    "swap": _swap,
    "displace": _displace,
}
"""The operators that change the parsed file. With ``raw`` there are ``set`` and ``truncate``, on bytes."""


def _owner(tree: FileTree, path: str) -> tuple[Any, str | int]:
    last = steps(path)[-1]
    end = len(path) - (len(f"[{last}]") if isinstance(last, int) else len(last))
    return get(tree, path[:end].rstrip(".")) if end > 0 else tree, last


def _raw(data: bytes, mutation: Mutation) -> bytes:
    if mutation.op == "truncate":
        if not 0 <= int(mutation.to) < len(data):
            raise Inapplicable(f"a file of {len(data)} bytes cannot be cut to {mutation.to}")
        return data[: int(mutation.to)]
    if mutation.op != "set" or not isinstance(mutation.to, bytes):
        raise Inapplicable("with raw, only bytes are set, or the file is truncated")
    leaf = next((leaf for leaf in traced(data) if leaf.path == mutation.path), None)
    if leaf is None:
        raise KeyError(mutation.path)
    return data[: leaf.offset] + mutation.to + data[leaf.offset + leaf.length :]


def traced(data: bytes) -> list[Leaf]:
    """The leaves of everything that a whole file holds outside its pages, in the order of their bytes."""
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


# ------------------------------------------------------------------------------------------------------- JSON


def _to_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        return {key: _to_json(member) for key, member in cast("dict[str, Any]", value).items()}
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if set(members) == {"bytes"}:
            return bytes.fromhex(members["bytes"])
        return {key: _from_json(member) for key, member in members.items()}
    return value
