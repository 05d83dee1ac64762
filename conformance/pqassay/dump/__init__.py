"""The trace of a file: what every byte of it is, as far as it can be read, and then the error.

What lives here: for each kind of file (`pqassay.stores.kinds.dumped_as`) a module of its name with a function ``trace``, by which it is found,
here or in a plug-in; and the forms in which the leaves are written (`forms`).  What never comes in: a verdict.
"""

from __future__ import annotations

from typing import cast

from pqassay.dump.forms import Hexdump, JsonLines, Selected, Sink, Tree
from pqassay.plugins import rooms
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.rules.catalogue import DEFAULT_FILE

__all__ = ["Hexdump", "JsonLines", "Selected", "Sink", "Tree", "dump"]


def dump(source: Source, sink: Sink, kind: str = DEFAULT_FILE) -> list[FormatError]:
    """Trace everything in a file that can be traced.

    Args:
        source: The file.
        sink: Takes the leaves.
        kind: What kind of file it is, see `pqassay.stores.kinds.dumped_as`.

    Returns:
        What kept further leaves from being read, with its place.
    """
    tracer = next(rooms(f"dump.{kind}"))
    return cast("list[FormatError]", tracer.trace(source, sink))
