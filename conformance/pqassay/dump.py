"""What stands where in a file: the trace as a tree, as JSON lines, or as an annotated hexdump.

A damaged file is shown as far as it can be read, and then the error.
"""

from __future__ import annotations

import fnmatch
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pqassay.checks.idx1 import EmbeddedIndex
from pqassay.file_under_test import FileUnderTest, NotApplicable, Options
from pqassay_spec import idx1, parquet_file
from pqassay_spec.compact_thrift import grammar
from pqassay_spec.errors import FormatError
from pqassay_spec.hexdump import annotated_ranges, show
from pqassay_spec.parquet_thrift import FileMetaData
from pqassay_spec.sources import Source
from pqassay_spec.trace import Leaf, trace, trace_as_far_as_possible


@dataclass
class Dump:
    """The leaves of a file in the order of their bytes, and what kept further ones from being read."""

    leaves: list[Leaf] = field(default_factory=list[Leaf])
    errors: list[FormatError] = field(default_factory=list[FormatError])


def dump(source: Source) -> Dump:
    """Trace everything in a file that can be traced: head, embedded index, footer, tail."""
    result = Dump()
    file = FileUnderTest(source, Options("index"))
    try:
        file.head()
        result.leaves += trace(parquet_file.HEAD, source.read(0, parquet_file.HEAD_SIZE), root="head")[1]
    except FormatError as error:
        result.errors.append(error)
    try:
        framing = file.framing
    except FormatError as error:
        result.errors.append(error)
        return result
    try:
        blob = file.part(EmbeddedIndex).blob
        result.leaves += idx1.trace_blob(source, blob)
    except NotApplicable:
        pass
    except FormatError as error:
        if error.rule != "PQF-004":  # said below, with its place
            result.errors.append(error)
    found, problem = trace_as_far_as_possible(
        grammar(FileMetaData), file.footer, root="footer", base=framing.footer_start
    )
    result.leaves += found
    if problem is not None:
        result.errors.append(problem.within(rule="PQF-004"))
    tail = source.read(framing.tail_start, parquet_file.TAIL_SIZE)
    result.leaves += trace(parquet_file.TAIL, tail, root="tail", base=framing.tail_start)[1]
    return result


def selected(leaves: list[Leaf], pattern: str | None) -> list[Leaf]:
    """The leaves whose path matches a glob, or lies below a path that is named in full."""
    if pattern is None:
        return leaves
    escaped = pattern.replace("[", "[[]")  # indexes are no character classes
    patterns = (escaped, f"{escaped}.*", f"{escaped}[[]*", f"{escaped}:*")
    return [leaf for leaf in leaves if any(fnmatch.fnmatchcase(leaf.path, p) for p in patterns)]


def tree(leaves: list[Leaf]) -> Iterator[str]:
    """Lines of a tree: offset, length, and the fields indented below their structures."""
    open_parts: list[str] = []
    for leaf in leaves:
        if leaf.structural:
            continue
        *parents, name = leaf.path.split(".")
        shared = 0
        while shared < min(len(parents), len(open_parts)) and parents[shared] == open_parts[shared]:
            shared += 1
        for depth in range(shared, len(parents)):
            yield f"{'':20}{'  ' * depth}{parents[depth]}"
        open_parts = parents
        value = show(leaf.value, leaf.label, 72)
        yield f"{leaf.offset:>10}{leaf.length:>8}  {'  ' * len(parents)}{name} = {value}"


def hexdump(source: Source, leaves: list[Leaf], *, whole: bool) -> Iterator[str]:
    """Rows of an annotated hexdump; with ``whole``, the bytes between the leaves as well."""
    position = leaves[0].offset if leaves and not whole else 0
    for leaf in leaves:
        if not whole:
            position = leaf.offset
        yield from annotated_ranges(lambda start, end: source.read(start, end - start), [leaf], position)
        position = max(position, leaf.offset + leaf.length)


def json_lines(leaves: list[Leaf]) -> Iterator[str]:
    """One JSON object per leaf: path, offset, length, value, doc, and the name of an enum value."""
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
        yield json.dumps(record)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
