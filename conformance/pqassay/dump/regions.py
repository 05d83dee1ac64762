"""Regions: the parts of a file that are traced one by one, and the leaves for bytes that are not taken apart.

The regions of a file are found first, from its footer, and traced in the order of their bytes. So at most one
region is in memory.  Bytes of a region without a leaf, and bytes between two regions, get a leaf that
describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from pqassay.dump.forms import Sink
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.grammar.constructs import AnyConstruct
from pqassay_spec.grammar.trace import Leaf, Unparsed, trace_into

Tracer = Callable[[Sink], FormatError | None]
"""Hands the leaves of a structure to a sink, and returns what kept further ones from being read."""

BEHIND = "bytes behind the structure, within its length"

MOST_ERRORS = 100
"""Errors of one file that are told."""


class Errors(list[FormatError]):
    """The errors that kept leaves from being read; at most `MOST_ERRORS` for any file."""

    def note(self, error: FormatError) -> None:
        """Add an error, unless there are enough."""
        if len(self) == MOST_ERRORS:
            self.append(Malformed("there are more errors like these, which are left out"))
        if len(self) < MOST_ERRORS:
            self.append(error)


class Region(NamedTuple):
    """A part of the file that belongs to one structure.

    Attributes:
        start, end: Its bytes.
        path: Its path.
        trace: What traces it.
    """

    start: int
    end: int
    path: str
    trace: Tracer


def unparsed(path: str, start: int, end: int, reason: str) -> Leaf:
    """A leaf whose bytes are not taken apart."""
    return Leaf(path, start, end - start, Unparsed(reason), "Bytes that are not decoded.")


def structure(grammar: AnyConstruct, read: Callable[[], bytes], root: str, start: int) -> Tracer:
    """The tracer of a structure that a grammar declares; its bytes are read when it is called."""

    def trace(sink: Sink) -> FormatError | None:
        return trace_into(sink, grammar, read(), root=root, base=start)

    return trace


def listed(leaves: Iterable[Leaf]) -> Tracer:
    """The tracer of leaves that are there already."""

    def trace(sink: Sink) -> None:
        sink(list(leaves))

    return trace


def stretch(path: str, start: int, end: int, reason: str) -> Region:
    """A region of one leaf, whose bytes are not taken apart."""
    return Region(start, end, path, listed([unparsed(path, start, end, reason)]))


class Writer:
    """Traces regions, and accounts for every byte of each.

    Args:
        sink: Takes the leaves.
        size: Bytes in the file.
        errors: Gets what kept further leaves from being read.
    """

    def __init__(self, sink: Sink, size: int, errors: Errors) -> None:
        self._sink = sink
        self._errors = errors
        self._left = size  # bytes that may be shown again: regions over each other would otherwise never end
        self._widest: Region | None = None

    def __call__(self, region: Region) -> None:
        """Trace one region; they come in the order of their bytes."""
        if region.start == region.end or not self._may_be_shown(region):
            return
        position = region.start

        def covering(leaves: list[Leaf]) -> None:
            nonlocal position
            complete: list[Leaf] = []
            for leaf in leaves:
                if leaf.offset > position:
                    complete.append(unparsed(f"{region.path}.rest", position, leaf.offset, BEHIND))
                complete.append(leaf)
                position = max(position, leaf.offset + leaf.length)
            self._sink(complete)

        error = region.trace(covering)
        if error is not None:
            self._errors.note(error)
        if position < region.end:
            reason = BEHIND if error is None else error.reason
            self._sink([unparsed(f"{region.path}.rest", position, region.end, reason)])

    def _may_be_shown(self, region: Region) -> bool:
        """Whether a region is traced: one over others is, as long as they are not many, and an error says so."""
        widest = self._widest
        if widest is None or region.end > widest.end:
            self._widest = region
        if widest is None or region.start >= widest.end:
            return True
        shared = min(widest.end, region.end) - region.start
        is_shown = shared <= self._left
        self._left -= shared
        told = f"the bytes [{region.start}, {region.start + shared}) also belong to {widest.path}"
        more = "" if is_shown else "; left out because too much overlaps"
        self._errors.note(Malformed(f"{told}{more}", field=region.path, offset=region.start, length=shared))
        if not is_shown and region.end > widest.end:  # its own part still needs a leaf
            own = unparsed(f"{region.path}.rest", widest.end, region.end, "left out, as it lies over others")
            self._sink([own])
        return is_shown


def in_order(regions: Iterable[Region]) -> list[Region]:
    """Regions in the order of their bytes, the longer of two first."""
    return sorted(regions, key=lambda region: (region.start, -region.end, region.path))
