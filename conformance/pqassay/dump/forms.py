"""Forms of a trace: a tree, JSON lines, or an annotated hexdump."""

from __future__ import annotations

import fnmatch
import json
import math
import re
from collections.abc import Callable
from typing import Any

from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.hexdump import annotated_ranges, show
from pqassay_spec.grammar.trace import Leaf, Unparsed

Sink = Callable[[list[Leaf]], None]
"""A function that receives leaves in the order of their bytes, in batches."""


class Selected:
    """Passes on the leaves whose path matches a glob, or is below a complete path."""

    def __init__(self, pattern: str, sink: Sink) -> None:
        escaped = pattern.replace("[", "[[]")  # brackets mean indexes, not character classes
        globs = (escaped, f"{escaped}.*", f"{escaped}[[]*", f"{escaped}:*")
        self._matches = re.compile("|".join(fnmatch.translate(glob) for glob in globs)).match
        self._sink = sink
        self.found = False

    def __call__(self, leaves: list[Leaf]) -> None:
        """Pass on the matching leaves of a batch."""
        chosen = [leaf for leaf in leaves if self._matches(leaf.path)]
        self.found = self.found or bool(chosen)
        self._sink(chosen)


class Tree:
    """Writes a tree: offset, length, and the fields indented below their structures."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._open: list[str] = []

    def __call__(self, leaves: list[Leaf]) -> None:
        """Write a batch."""
        for leaf in leaves:
            if not leaf.structural:
                self._leaf(leaf)

    def _leaf(self, leaf: Leaf) -> None:
        *parents, name = leaf.path.split(".")
        shared = 0
        while shared < min(len(parents), len(self._open)) and parents[shared] == self._open[shared]:
            shared += 1
        for depth in range(shared, len(parents)):
            self._write(f"{'':20}{'  ' * depth}{parents[depth]}")
        self._open = parents
        value = show(leaf.value, leaf.label, 72)
        self._write(f"{leaf.offset:>10}{leaf.length:>8}  {'  ' * len(parents)}{name} = {value}")


class Hexdump:
    """Writes the rows of an annotated hexdump; with ``whole``, also the bytes between the leaves."""

    def __init__(self, write: Callable[[str], object], source: Source, *, whole: bool) -> None:
        self._write, self._source, self._whole = write, source, whole
        self._position = 0

    def __call__(self, leaves: list[Leaf]) -> None:
        """Write a batch."""
        for leaf in leaves:
            start = min(self._position, leaf.offset) if self._whole else leaf.offset
            for row in annotated_ranges(self._read, [leaf], start):
                self._write(row)
            self._position = max(self._position, leaf.offset + leaf.length)

    def _read(self, start: int, end: int) -> bytes:
        return self._source.read(start, end - start)


class JsonLines:
    """Writes one JSON object per leaf: path, offset, length, value, doc, and the name of an enum value.

    For bytes that are not decoded, the value is an object whose member ``reason`` describes them.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def __call__(self, leaves: list[Leaf]) -> None:
        """Write a batch."""
        for leaf in leaves:
            record: dict[str, Any] = {
                "path": leaf.path,
                "offset": leaf.offset,
                "length": leaf.length,
                "value": _plain(leaf.value),
                "doc": leaf.doc,
            }
            if leaf.label:
                record["name"] = leaf.label
            self._write(json.dumps(record))


def _plain(value: Any) -> Any:
    if isinstance(value, Unparsed):
        return {"reason": value.reason}
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
