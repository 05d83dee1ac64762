"""The trace of a file of deletion vectors: its version, and the vectors that follow.

Only the log has the offsets of vectors. Since writers store them contiguously, the trace finds them in sequence.
"""

from __future__ import annotations

from construct import Struct

from pqassay.dump.forms import Sink
from pqassay.dump.regions import Errors, unparsed
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.trace import Leaf, trace_into
from pqassay_spec.table import deletion_vector as grammar

_SIZE, _CHECKSUM = Struct(grammar.STORED.subcons[0]), Struct(grammar.STORED.subcons[2])

REST = "bytes behind the bitmap, within the length of the vector"


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    errors = Errors()
    problem = trace_into(sink, grammar.FILE_HEAD, source.read(0, min(grammar.HEAD_SIZE, source.size)))
    if problem is not None:
        return [problem]
    at, number = grammar.HEAD_SIZE, 0
    while at < source.size:
        at = stored_vector(source, sink, errors, f"vectors[{number}]", at, source.size)
        number += 1
    return errors


def stored_vector(source: Source, sink: Sink, errors: Errors, path: str, at: int, end: int) -> int:
    """Trace a vector with its length and its checksum, up to ``end`` at most; return the offset after it.

    Args:
        source: The file.
        sink: Receives the leaves.
        errors: Receives the errors that ended reading.
        path: The path of the vector.
        at: The offset of its length.
        end: The end of the bytes that may belong to it.
    """
    room = end - at - grammar.SIZE_SIZE - grammar.CHECKSUM_SIZE
    size = int.from_bytes(source.read(at, grammar.SIZE_SIZE), "big") if room >= 0 else 0
    if room < size or not size:
        told = f"a vector of {size} bytes, but only {max(room, 0)} are left"
        errors.note(Malformed(told, rule="DLT-030", field=f"{path}.size", offset=at))
        sink([unparsed(f"{path}.rest", at, end, "bytes outside a vector")])
        return end
    _ = trace_into(sink, _SIZE, source.read(at, grammar.SIZE_SIZE), root=path, base=at)
    at += grammar.SIZE_SIZE
    _vector(source, sink, errors, f"{path}.vector", at, size)
    at += size
    _ = trace_into(sink, _CHECKSUM, source.read(at, grammar.CHECKSUM_SIZE), root=path, base=at)
    return at + grammar.CHECKSUM_SIZE


def _vector(source: Source, sink: Sink, errors: Errors, path: str, start: int, size: int) -> None:
    end = start

    def hand_on(leaves: list[Leaf]) -> None:
        nonlocal end
        end = max((end, *(leaf.offset + leaf.length for leaf in leaves)))
        sink([leaf for leaf in leaves if leaf.length])

    problem = trace_into(hand_on, grammar.VECTOR, source.read(start, size), root=path, base=start)
    if problem is not None:
        errors.note(problem.within(rule="DLT-032"))
    if end < start + size:
        reason = REST if problem is None else problem.reason
        sink([unparsed(f"{path}.rest", end, start + size, reason)])
