"""The trace of a Delta log file of JSON lines: a commit, a checkpoint, or a version checksum file.

Every value is a leaf, including values in JSON within strings, such as ``stats``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial

from pqassay.dump.forms import Sink
from pqassay.dump.json_text import CLOSES, hand_on
from pqassay.dump.regions import Errors, Region, Writer
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.table import delta
from pqassay_spec.table.json_objects import JsonObject

LINES = "DLT-001"

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@cache
def _objects() -> dict[str, JsonObject]:
    """The declarations of objects, by name."""
    found = {one.name: one for one in vars(delta).values() if isinstance(one, JsonObject)}
    return {**found, delta.STATS_PARSED: found["stats"]}


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    errors, start = Errors(), 0
    for number, line in enumerate(_LINE.findall(source.read(0, source.size))):
        path = f"lines[{number}]"
        trace_line = partial(_line, line, path, start)
        Writer(sink, source.size, errors)(Region(start, start + len(line), path, trace_line))
        start += len(line)
    return errors


def _line(line: bytes, path: str, start: int, sink: Sink) -> FormatError | None:
    if not line.strip():
        sink([Leaf(f"{path}:{CLOSES}", start, len(line), line.decode())])
        return None
    reason = hand_on(line, path, documented, sink, start)
    if reason is None:
        return None
    told = f"the line is not JSON: {reason}"
    return Malformed(told, rule=LINES, field=path, offset=start, length=len(line.rstrip(b"\n")))


def documented(path: tuple[str, ...]) -> str:
    """The documentation of the innermost documented member."""
    return next(_docs(path), "")


def _docs(path: tuple[str, ...]) -> Iterator[str]:
    if len(path) == 1 and (member := delta.CHECKSUM.member(path[0])):
        yield member.doc
    for place in range(len(path) - 1, 0, -1):
        declared = _objects().get(path[place - 1])
        member = None if declared is None else declared.member(path[place])
        if member is not None:
            yield member.doc
