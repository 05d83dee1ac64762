"""The fields of a file as a tree: structures, lists, and the leaves of the trace."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from pqassay.dump import dump
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.trace import Leaf, Unparsed

MOST_FIELDS = 1_000_000
"""Fields of one file that are held in memory."""

SHORT = 32
"""Bytes that are compared as they are; of longer ones, their hash is."""

WINDOW = 1 << 20
"""Bytes that are read at once."""

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@lru_cache(1 << 14)
def steps(path: str) -> tuple[str | int, ...]:
    """The way along a path.

    >>> steps("footer.schema[1].name")
    ('footer', 'schema', 1, 'name')
    """
    return tuple(int(number) if number else name for number, name in _STEP.findall(path))


class TooManyFields(Exception):  # noqa: N818 - a limit of ours, not the file's fault
    """A file has more than `MOST_FIELDS` fields."""


class Item(NamedTuple):
    """A leaf, with what is compared of it.

    Attributes:
        leaf: The leaf.
        raw: Its bytes, or their hash if they are many.
        value: What says whether its value is that of another one.
    """

    leaf: Leaf
    raw: bytes
    value: object

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.leaf.offset + self.leaf.length

    @property
    def is_unparsed(self) -> bool:
        """Whether its bytes are not taken apart."""
        return isinstance(self.leaf.value, Unparsed)


class Node:
    """A structure, a list or a field.

    Attributes:
        path: Its path.
        children: Members by name, elements by position.
        item: Its leaf, if it is a field.
        parts: The leaves that carry its structure, each by name.
    """

    __slots__ = ("_signature", "children", "item", "parts", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.children: dict[str | int, Node] = {}
        self.item: Item | None = None
        self.parts: dict[str, Item] = {}
        self._signature: int | None = None

    def child(self, step: str | int) -> Node:
        """The member or element, made if it is not there."""
        found = self.children.get(step)
        if found is None:
            name = f"[{step}]" if isinstance(step, int) else f".{step}" if self.path else step
            found = self.children[step] = Node(f"{self.path}{name}")
        return found

    def at(self, *steps: str | int) -> Node | None:
        """The node below a way, ``None`` if there is none."""
        node: Node | None = self
        for step in steps:
            node = node.children.get(step) if node is not None else None
        return node

    @property
    def is_list(self) -> bool:
        """Whether its children are elements."""
        return isinstance(next(iter(self.children), None), int)

    def leaves(self) -> Iterator[Item]:
        """All fields below it."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            if node.item is not None:
                yield node.item
            waiting.extend(reversed(node.children.values()))

    def items(self) -> Iterator[Item]:
        """All leaves below it, those that carry structure as well."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            if node.item is not None:
                yield node.item
            yield from node.parts.values()
            waiting.extend(reversed(node.children.values()))

    @property
    def signature(self) -> int:
        """A hash of what is below it, without offsets, which change when something else is inserted."""
        if self._signature is None:
            own = None if self.item is None else self.item.value
            below = ((name, node.signature) for name, node in self.children.items() if not is_offset(name))
            self._signature = hash((own, tuple(below)))
        return self._signature

    def span(self) -> tuple[int, int]:
        """The bytes from its first to its last; (0, 0) if it has none."""
        found = [item for item in self.items() if item.leaf.length]
        if not found:
            return 0, 0
        return min(item.leaf.offset for item in found), max(item.end for item in found)

    def in_one_piece(self) -> list[Node]:
        """The greatest structures below it of which each has its bytes in one stretch; itself, if it has."""
        start, end = self.span()
        if not self.children or end - start <= sum(item.leaf.length for item in self.items()):
            return [self]
        found = [piece for child in self.children.values() for piece in child.in_one_piece()]
        return found if self.item is None and not self.parts else [self]


def is_offset(name: str | int) -> bool:
    """Whether a field of this name holds a place in the file, see `pqassay_spec.parquet.thrift`."""
    return isinstance(name, str) and name.endswith("offset")


class Fields:
    """All fields of one file.

    Args:
        source: The file; it stays open as long as differences are told.
        kind: Its kind.

    Attributes:
        root: The tree.
        items: All leaves in the order of their bytes.
        errors: What kept further ones from being read.

    Raises:
        TooManyFields: There are too many.
    """

    def __init__(self, source: Source, kind: str) -> None:
        self.source = source
        self.root = Node("")
        self.items: list[Item] = []
        self._start, self._window = 0, b""
        self._last: tuple[str, Node] = ("", self.root)
        self.errors: list[FormatError] = dump(source, self._take, kind)
        self.items.sort(key=lambda item: item.leaf.offset)

    def _take(self, leaves: list[Leaf]) -> None:
        if len(self.items) + len(leaves) > MOST_FIELDS:
            raise TooManyFields(
                f"{self.source.name}: more than {MOST_FIELDS:,} fields, which are too many to compare"
            )
        for leaf in leaves:
            path, _, part = leaf.path.rpartition(":") if leaf.structural else (leaf.path, "", "")
            node = self._node(path)
            raw = self._raw(leaf.offset, leaf.length)
            value = raw if isinstance(leaf.value, (bytes, str, Unparsed)) else repr(leaf.value)
            # Of a long value nothing is kept: what is shown of it is read anew.
            if isinstance(leaf.value, (bytes, str)) and leaf.length > SHORT:
                leaf = leaf._replace(value=leaf.value[:SHORT])  # noqa: PLW2901 - the same leaf, shorter
            item = Item(leaf, raw, value)
            self.items.append(item)
            if part:
                while part in node.parts:
                    part += "'"
                node.parts[part] = item
            elif node.item is None:
                node.item = item

    def _node(self, path: str) -> Node:
        """The node of a path; neighbours have the same way to it."""
        way, _, last = path.rpartition(".")
        if way != self._last[0]:
            node = self.root
            for step in steps(way):
                node = node.child(step)
            self._last = way, node
        node = self._last[1]
        for step in steps(last):
            node = node.child(step)
        return node

    def _raw(self, offset: int, length: int) -> bytes:
        if length <= SHORT:
            return self._read(offset, length)
        digest = hashlib.blake2b(digest_size=SHORT)
        for start in range(offset, offset + length, WINDOW):
            digest.update(self._read(start, min(WINDOW, offset + length - start)))
        return digest.digest() + length.to_bytes(8, "little")

    def _read(self, offset: int, length: int) -> bytes:
        """Bytes of the file; neighbours come from one read."""
        local = offset - self._start
        if local < 0 or local + length > len(self._window):
            self._start, local = offset, 0
            self._window = self.source.read(offset, min(max(length, WINDOW), self.source.size - offset))
        return self._window[local : local + length]


def shown(item: Item, source: Source) -> str:
    """The value of a field for people."""
    leaf = item.leaf
    if isinstance(leaf.value, (bytes, str)) and leaf.length > SHORT:
        cut = source.read(leaf.offset, min(leaf.length, 4 * SHORT))
        value = cut if isinstance(leaf.value, bytes) else cut.decode("utf-8", "replace")
        text = show(value, width=56)
        return text if leaf.length <= len(cut) else f"{text.rstrip('…')}… ({leaf.length} bytes)"
    return show(leaf.value, leaf.label, 72)
