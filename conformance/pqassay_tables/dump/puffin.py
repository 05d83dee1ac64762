"""The trace of a Puffin file: its blobs, of which deletion vectors are decoded, and its footer.

The footer gives the ranges of blobs; unlisted bytes are reported as such.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from pqassay.dump.forms import Sink
from pqassay.dump.json_text import hand_on
from pqassay.dump.regions import Errors, Region, Writer, in_order, stretch, structure
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.table import puffin
from pqassay_tables.dump.deletion_vector import stored_vector
from pqassay_tables.metadata.delta.actions import object_of

MOST_FOOTER = 1 << 26
"""The size in bytes of the longest footer that is decoded."""

UNLISTED = "bytes that the footer does not list"

HEAD_SIZE, TAIL_SIZE = puffin.HEAD.sizeof(), puffin.TAIL.sizeof()


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    errors = Errors()
    regions = list(_regions(source, errors))
    writer, position, gaps = Writer(sink, source.size, errors), 0, 0
    for region in in_order(regions):
        if region.start > position:
            writer(stretch(f"gaps[{gaps}]", position, region.start, UNLISTED))
            gaps += 1
        writer(region)
        position = max(position, region.end)
    if position < source.size:
        writer(stretch("rest", position, source.size, UNLISTED))
    return errors


def _regions(source: Source, errors: Errors) -> Iterator[Region]:
    head = min(HEAD_SIZE, source.size)
    yield Region(0, head, "head", structure(puffin.HEAD, lambda: source.read(0, head), "head", 0))
    tail = source.size - TAIL_SIZE
    if tail < 2 * HEAD_SIZE:
        errors.note(Malformed("the file is too short for a footer", field="tail", offset=head))
        return
    yield Region(
        tail, source.size, "tail", structure(puffin.TAIL, lambda: source.read(tail, TAIL_SIZE), "tail", tail)
    )
    size, flags = (int.from_bytes(source.read(tail + at, 4), "little", signed=not at) for at in (0, 4))
    start = tail - size
    if size < 0 or size > MOST_FOOTER or start < 2 * HEAD_SIZE:
        errors.note(Malformed(f"a footer of {size} bytes", field="tail.size", offset=tail, length=4))
        return
    at = start - HEAD_SIZE
    yield Region(
        at, start, "footer", structure(puffin.HEAD, lambda: source.read(at, HEAD_SIZE), "footer", at)
    )
    if flags & 1:
        yield stretch("footer.json", start, tail, f"{size} bytes, compressed")
        return
    data = source.read(start, size)
    yield Region(start, tail, "footer.json", partial(_footer, data, start))
    for number, blob in enumerate(_blobs(data)):
        yield from _blob(source, errors, f"blobs[{number}]", blob, at)


def _footer(data: bytes, start: int, sink: Sink) -> FormatError | None:
    reason = hand_on(data, "footer.json", documented, sink, start)
    return (
        None
        if reason is None
        else Malformed(f"the footer is not JSON: {reason}", field="footer.json", offset=start)
    )


def _blobs(data: bytes) -> list[Any]:
    """The blobs that the footer lists; empty if it is not JSON, which is reported at its place."""
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return []
    listed: Any = object_of(found).get("blobs")
    return listed if isinstance(listed, list) else []


def _blob(source: Source, errors: Errors, path: str, blob: Any, end: int) -> Iterator[Region]:
    members = object_of(blob)
    offset, length = members.get("offset"), members.get("length")
    if type(offset) is not int or type(length) is not int or not 0 <= offset <= offset + length <= end:
        told = f"a blob of {length!r:.40} bytes at {offset!r:.40}, in a file whose footer begins at {end}"
        errors.note(Malformed(told, field=path))
        return
    kind = str(members.get("type"))
    if kind != puffin.VECTOR or "compression-codec" in members:
        codec = f", compressed by {members['compression-codec']}" if "compression-codec" in members else ""
        yield stretch(path, offset, offset + length, f"a blob of type {kind:.60}{codec:.60}")
        return

    def vector(sink: Sink) -> None:
        _ = stored_vector(source, sink, errors, path, offset, offset + length)

    yield Region(offset, offset + length, path, vector)


def documented(path: tuple[str, ...]) -> str:
    """The meaning of a value in the footer.

    >>> documented(("blobs", "[0]", "offset"))
    'Where the blob begins in the file.'
    """
    names = [name for name in path if not name.startswith("[")]
    declared = puffin.FOOTER if len(names) == 1 else puffin.BLOB if names[0] == "blobs" else None
    member = None if declared is None else declared.member(names[1] if len(names) > 1 else names[0])
    return "" if member is None else member.doc
