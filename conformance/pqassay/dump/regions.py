"""Regions: the parts of a file that are traced one by one, and leaves for bytes that are not decoded.

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
"""A function that passes the leaves of a structure to a sink, and returns the error that ended it, if any."""

BEHIND = "bytes behind the structure, within its length"

MOST_ERRORS = 100
"""The largest number of reported errors of one file."""


class Errors(list[FormatError]):
    """The errors that prevented reading leaves; at most `MOST_ERRORS` of one file."""

    def note(self, error: FormatError) -> None:
        """Add an error, unless the limit is reached."""
        if len(self) == MOST_ERRORS:
            self.append(Malformed("there are more errors like these, which are left out"))
        if len(self) < MOST_ERRORS:
            self.append(error)


class Region(NamedTuple):
    """A part of the file that belongs to one structure.

    Attributes:
        start, end: The range of its bytes.
        path: Its path.
        trace: The function that traces it.
    """

    start: int
    end: int
    path: str
    trace: Tracer


def unparsed(path: str, start: int, end: int, reason: str) -> Leaf:
    """A leaf for bytes that are not decoded."""
    return Leaf(path, start, end - start, Unparsed(reason), "Bytes that are not decoded.")


def structure(grammar: AnyConstruct, read: Callable[[], bytes], root: str, start: int) -> Tracer:
    """The tracer of a structure that a grammar declares; it reads the bytes when called."""

    def trace(sink: Sink) -> FormatError | None:
        return trace_into(sink, grammar, read(), root=root, base=start)

    return trace


def listed(leaves: Iterable[Leaf]) -> Tracer:
    """The tracer of leaves that already exist."""

    def trace(sink: Sink) -> None:
        sink(list(leaves))

    return trace


def stretch(path: str, start: int, end: int, reason: str) -> Region:
    """A region of one leaf, whose bytes are not decoded."""
    return Region(start, end, path, listed([unparsed(path, start, end, reason)]))


class Writer:
    """Traces regions so that every byte of each region has a leaf.

    Args:
        sink: Receives the leaves.
        size: The size of the file in bytes.
        errors: Receives the errors that prevented reading leaves.
    """

    def __init__(self, sink: Sink, size: int, errors: Errors) -> None:
        self._sink = sink
        self._errors = errors
        self._left = (
            size  # bytes that may be shown again: without this limit, overlapping regions would never end
        )
        self._widest: Region | None = None

    def __call__(self, region: Region) -> None:
        """Trace one region; regions must arrive in the order of their bytes."""
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
        """Whether a region is traced. Overlapping regions are traced up to a limit; after that, an error is noted."""
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
            own = unparsed(
                f"{region.path}.rest",
                widest.end,
                region.end,
                "left out because it overlaps other structures",
            )
            self._sink([own])
        return is_shown


def in_order(regions: Iterable[Region]) -> list[Region]:
    """Regions in the order of their first bytes; of two with the same first byte, the longer one first."""
    return sorted(regions, key=lambda region: (region.start, -region.end, region.path))
