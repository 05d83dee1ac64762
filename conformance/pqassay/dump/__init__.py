"""The trace of a file: the meaning of every byte, up to the first error.

Contents: for each kind of file (`pqassay.stores.kinds.dumped_as`), a module of that name with a function
``trace``, here or in a plug-in; and the output forms of leaves (`forms`).  Excluded: verdicts.
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
    """Trace every readable part of a file.

    Args:
        source: The file.
        sink: Receives the leaves.
        kind: The kind of file, see `pqassay.stores.kinds.dumped_as`.

    Returns:
        The errors that ended reading, with their places.
    """
    tracer = next(rooms(f"dump.{kind}"))
    return cast("list[FormatError]", tracer.trace(source, sink))
