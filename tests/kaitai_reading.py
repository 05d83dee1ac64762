"""A small interpreter of Kaitai Struct definitions, as far as those of this repository go: it notes every leaf that it reads."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

import yaml  # type: ignore[import-untyped] # pqassay does not depend on its stubs

Node = dict[str, Any]
Leaves = set[tuple[int, int, Any]]

FORMATS = {
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "s1": "b", "s2": "h", "s4": "i", "s8": "q", "f8": "d",
}  # fmt: skip

VARINT = "varint"
"""The type whose bytes are one leaf, with its instance ``signed`` as the value."""


def read(text: str, data: bytes) -> Leaves:
    """Read bytes by a definition, all instances included.

    Returns:
        Offset, length and value of every leaf that is not empty.

    Raises:
        ValueError: The definition uses what is not interpreted here, or the bytes end early.
    """
    definition: Node = yaml.safe_load(text)
    leaves: Leaves = set()
    _Reader(definition, leaves).parse(definition, _Stream(data))
    return {leaf for leaf in leaves if leaf[1]}


def values(text: str, data: bytes) -> Any:
    """What a definition reads in bytes, as JSON has it: objects by their fields and instances, bytes in hex, every number as a float."""
    definition: Node = yaml.safe_load(text)
    return plain(_Reader(definition, set()).parse(definition, _Stream(data)), lambda parsed: parsed._node)


def plain(value: Any, node_of: Callable[[Any], Node]) -> Any:
    """The same of any object that was read, if it is known by which node."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, list):
        return [plain(item, node_of) for item in value]
    node = node_of(value)
    names = [*(member["id"] for member in node.get("seq", ())), *node.get("instances", {})]
    found = {name: getattr(value, name, None) for name in names}
    return {name: plain(item, node_of) for name, item in found.items() if item is not None}


@dataclass
class _Stream:
    """Bytes that are a file or a part of one.

    Attributes:
        data: The bytes.
        base: Where they begin in the file.
        position: Where reading goes on.
    """

    data: bytes
    base: int = 0
    position: int = 0

    def take(self, length: int) -> bytes:
        start, end = self.position, self.position + length
        if not 0 <= start <= end <= len(self.data):
            raise ValueError(f"{length} bytes at {self.base + start}, of {self.base + len(self.data)}")
        self.position = end
        return self.data[start:end]


class Parsed:
    """An object of a type: its fields, parameters and instances by name. Instances are read when they are first asked for."""

    def __init__(self, reader: _Reader, node: Node, stream: _Stream, parent: Parsed | None) -> None:
        self._reader, self._node, self._stream, self._parent = reader, node, stream, parent
        self._root: Parsed = self if parent is None else parent._root
        self._fields: Node = {}

    def __getattr__(self, name: str) -> Any:
        if name not in self._fields:
            if name not in self._node.get("instances", {}):
                raise AttributeError(name)
            self._fields[name] = self._reader.instance(self, name)
        return self._fields[name]


class _Names(Mapping[str, Any]):
    """The names that an expression of an object may use."""

    def __init__(self, owner: Parsed, others: Node) -> None:
        self._owner, self._others = owner, others

    def __getitem__(self, name: str) -> Any:
        if name in self._others:
            return self._others[name]
        try:
            return getattr(self._owner, name)
        except AttributeError:
            raise KeyError(name) from None

    def __iter__(self) -> Any:
        raise TypeError

    def __len__(self) -> int:
        raise TypeError


class _List(list[Any]):
    """An array: it has a size."""

    @property
    def size(self) -> int:
        return len(self)


class _Reader:
    def __init__(self, definition: Node, leaves: Leaves) -> None:
        self.types, self.leaves = definition.get("types", {}), leaves

    def parse(self, node: Node, stream: _Stream, parent: Parsed | None = None, *given: int) -> Parsed:
        start, is_varint = stream.position, node is self.types.get(VARINT)
        names = [param["id"] for param in node.get("params", ())]
        parsed = Parsed(self, node, stream, parent)
        parsed._fields |= zip(names, given, strict=True)
        kept = self.leaves
        self.leaves = set() if is_varint else kept
        for member in node.get("seq", ()):
            if "if" not in member or evaluate(member["if"], parsed):
                parsed._fields[member["id"]] = self.field(parsed, member, stream)
        self.leaves = kept
        for name in node.get("instances", {}):
            getattr(parsed, name)
        if "wire_type" in node.get("instances", {}) and parsed.wire_type:
            self.field_header(stream.base + start, parsed)
        if is_varint:
            self.leaves.add((stream.base + start, stream.position - start, parsed.signed))
        return parsed

    def field_header(self, start: int, parsed: Parsed) -> None:
        """The header of a Thrift field is one leaf: its number and its wire type."""
        parts = {leaf for leaf in self.leaves if start <= leaf[0] <= start + (parsed.head < 1 << 4)}
        self.leaves -= parts
        self.leaves.add((start, sum(length for _, length, _ in parts), (parsed.number, parsed.wire_type)))

    def instance(self, owner: Parsed, name: str) -> Any:
        node = owner._node["instances"][name]
        if "if" in node and not evaluate(node["if"], owner):
            return None
        if "value" in node:
            return evaluate(node["value"], owner)
        before = owner._stream.position
        if "pos" in node:
            owner._stream.position = evaluate(node["pos"], owner)
        try:
            return self.field(owner, {**node, "id": name}, owner._stream)
        finally:
            owner._stream.position = before

    def field(self, owner: Parsed, member: Node, stream: _Stream) -> Any:
        """A field with its repetitions."""
        repeat = member.get("repeat")
        if repeat is None:
            return self.once(owner, member, stream, 0)
        items = _List()
        owner._fields[member["id"]] = items  # elements refer to those before
        count = evaluate(member["repeat-expr"], owner) if repeat == "expr" else None
        while count is None or len(items) < count:
            if repeat == "eos" and stream.position >= len(stream.data):
                break
            items.append(self.once(owner, member, stream, len(items)))
            if repeat == "until" and evaluate(member["repeat-until"], owner, {"_": items[-1]}):
                break
        return items

    def once(self, owner: Parsed, member: Node, stream: _Stream, index: int) -> Any:
        others: Node = {"_index": index}
        start = stream.base + stream.position
        if "contents" in member:
            raw = stream.take(len(member["contents"]))
            if raw != bytes(member["contents"]):
                raise ValueError(f"{raw!r} at {start}")
            return self.leaf(start, raw, raw)
        if "size" in member or member.get("size-eos"):
            rest = len(stream.data) - stream.position
            size = evaluate(str(member["size"]), owner, others) if "size" in member else rest
            raw = stream.take(size)
            if "type" not in member:
                return self.leaf(start, raw, raw)
            stream = _Stream(raw, start)
        kind = member["type"]
        if isinstance(kind, dict):
            chosen = evaluate(kind["switch-on"], owner, others)
            kind = kind["cases"].get(chosen, kind["cases"].get("_"))
        if kind in FORMATS:
            raw = stream.take(struct.calcsize(FORMATS[kind]))
            return self.leaf(start, raw, struct.unpack(f"<{FORMATS[kind]}", raw)[0])
        name, _, arguments = kind.rstrip(")").partition("(")
        given = [evaluate(arguments, owner, others)] if arguments else []
        return self.parse(self.types[name], stream, owner, *given)

    def leaf(self, start: int, raw: bytes, value: Any) -> Any:
        self.leaves.add((start, len(raw), value))
        return value


def evaluate(text: str, owner: Parsed, others: Node | None = None) -> Any:
    """The value of an expression of Kaitai Struct."""
    return eval(_compiled(str(text)), {"__builtins__": {}}, _Names(owner, others or {}))


@cache
def _compiled(text: str) -> CodeType:
    plain = re.sub(r"\.as<\w+>|\.to_i\b", "", text).replace("/", "//")
    return compile(_chosen(plain), text, "eval")


def _chosen(text: str) -> str:
    """An expression whose choices ``a ? b : c`` are written as in Python."""
    depth, question = 0, -1
    inner = re.sub(r"\(([^()]*)\)", lambda found: f"\0{found[1]}\1", text)
    while inner != text:  # innermost parentheses first
        text = re.sub("\0([^\0\1]*)\1", lambda found: f"\2{_chosen(found[1])}\3", inner)
        inner = re.sub(r"\(([^()]*)\)", lambda found: f"\0{found[1]}\1", text)
    for place, character in enumerate(text):
        depth += {"\2": 1, "\3": -1}.get(character, 0)
        if depth == 0 and character == "?":
            question = place
        elif depth == 0 and character == ":" and question >= 0:
            when, then, other = text[:question], text[question + 1 : place], text[place + 1 :]
            text = f"({then} if {when} else {_chosen(other)})"
            break
    return text.replace("\2", "(").replace("\3", ")").strip()
