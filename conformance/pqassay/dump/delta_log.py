"""The trace of a file of a Delta log that holds lines of JSON: a commit, a checkpoint, a version checksum file.

Every value is a leaf, those in texts that hold JSON themselves included, such as ``stats``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pqassay.dump.forms import Sink
from pqassay.dump.regions import Errors
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.table import delta
from pqassay_spec.table.json_objects import JsonObject
from pqassay_spec.table.json_places import Member, members

LINES = "DLT-001"


@cache
def _objects() -> dict[str, JsonObject]:
    """What is declared of objects, by their names."""
    found = {one.name: one for one in vars(delta).values() if isinstance(one, JsonObject)}
    return {**found, delta.STATS_PARSED: found["stats"]}


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    errors, start = Errors(), 0
    for number, line in enumerate(source.read(0, source.size).split(b"\n")):
        if line.strip():
            leaves: list[Leaf] = []
            try:
                leaves.extend(_leaf(one, number, start) for one in members(line))
            except ValueError as error:
                reason = str(error)
                if isinstance(error, UnicodeDecodeError):
                    reason = f"byte {error.start} is not UTF-8"
                errors.note(Malformed(f"the line is not JSON: {reason}", rule=LINES, field=f"lines[{number}]", offset=start, length=len(line)))  # fmt: skip
            sink(leaves)
        start += len(line) + 1
    return errors


def _leaf(one: Member, number: int, base: int) -> Leaf:
    begin, end = one.span
    names = "".join(name if name.startswith("[") else f".{name}" for name in one.path)
    return Leaf(f"lines[{number}]{names}", base + begin, end - begin, one.value, documented(one.path))


def documented(path: tuple[str, ...]) -> str:
    """What is declared of the innermost member that anything is declared of."""
    return next(_docs(path), "")


def _docs(path: tuple[str, ...]) -> Iterator[str]:
    if len(path) == 1 and (member := delta.CHECKSUM.member(path[0])):
        yield member.doc
    for place in range(len(path) - 1, 0, -1):
        declared = _objects().get(path[place - 1])
        member = None if declared is None else declared.member(path[place])
        if member is not None:
            yield member.doc
