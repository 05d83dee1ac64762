"""What stands where in a file: the trace as a tree, as JSON lines, or as an annotated hexdump.

A damaged file is shown as far as it can be read, and then the error.
"""

from __future__ import annotations

import fnmatch
import json
import math
import re
from collections.abc import Callable
from typing import Any

from pqassay.checks.idx1.blob import EmbeddedIndex
from pqassay.under_test.file import FileUnderTest, NotApplicable, Options
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.hexdump import annotated_ranges, show
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.trace import Leaf, trace, trace_into
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet import file as parquet_file
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.pm.trace import trace_pm
from pqassay_spec.rules.catalogue import DEFAULT_FILE

Sink = Callable[[list[Leaf]], None]
"""Takes leaves in the order of their bytes, batch by batch."""


def dump(source: Source, sink: Sink, kind: str = DEFAULT_FILE) -> list[FormatError]:
    """Trace everything in a file that can be traced.

    Args:
        source: The file.
        sink: Takes the leaves.
        kind: What kind of file it is, see `pqassay.lake.kinds`.

    Returns:
        What kept further leaves from being read, with its place.
    """
    return TRACES[kind](source, sink)


def dump_pm(source: Source, sink: Sink) -> list[FormatError]:
    """Trace a ``_pm`` file: header, blocks, footers."""
    problems: list[FormatError] = []
    for batch in trace_pm(source, problems):
        sink(batch)
    return problems


def dump_parquet(source: Source, sink: Sink) -> list[FormatError]:
    """Trace a Parquet file: head, embedded index, footer, tail."""
    errors: list[FormatError] = []
    file = FileUnderTest(source, Options("index"))
    try:
        file.head()
        sink(trace(parquet_file.HEAD, source.read(0, parquet_file.HEAD_SIZE), root="head")[1])
    except FormatError as error:
        errors.append(error)
    try:
        framing = file.framing
    except FormatError as error:
        return [*errors, error]
    try:
        sink(idx1.trace_blob(source, file.part(EmbeddedIndex).blob))
    except NotApplicable:
        pass
    except FormatError as error:
        if error.rule != "PQF-004":  # said below, with its place
            errors.append(error)
    problem = trace_into(sink, grammar(FileMetaData), file.footer, root="footer", base=framing.footer_start)
    if problem is not None:
        errors.append(problem.within(rule="PQF-004"))
    tail = source.read(framing.tail_start, parquet_file.TAIL_SIZE)
    sink(trace(parquet_file.TAIL, tail, root="tail", base=framing.tail_start)[1])
    return errors


TRACES = {DEFAULT_FILE: dump_parquet, "pm": dump_pm}
"""For each kind of file what traces it."""


class Selected:
    """Hands on the leaves whose path matches a glob, or lies below a path that is named in full."""

    def __init__(self, pattern: str, sink: Sink) -> None:
        escaped = pattern.replace("[", "[[]")  # indexes are no character classes
        globs = (escaped, f"{escaped}.*", f"{escaped}[[]*", f"{escaped}:*")
        self._matches = re.compile("|".join(fnmatch.translate(glob) for glob in globs)).match
        self._sink = sink
        self.found = False

    def __call__(self, leaves: list[Leaf]) -> None:
        """Hand on those of a batch that match."""
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
    """Writes the rows of an annotated hexdump; with ``whole``, the bytes between the leaves as well."""

    def __init__(self, write: Callable[[str], object], source: Source, *, whole: bool) -> None:
        self._write, self._source, self._whole = write, source, whole
        self._position = 0

    def __call__(self, leaves: list[Leaf]) -> None:
        """Write a batch."""
        for leaf in leaves:
            start = self._position if self._whole else leaf.offset
            for row in annotated_ranges(self._read, [leaf], start):
                self._write(row)
            self._position = max(self._position, leaf.offset + leaf.length)

    def _read(self, start: int, end: int) -> bytes:
        return self._source.read(start, end - start)


class JsonLines:
    """Writes one JSON object per leaf: path, offset, length, value, doc, and the name of an enum value."""

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
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
