"""The trace of a file: what every byte of it is, as far as it can be read, and then the error.

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
    """Trace everything in a file that can be traced.

    Args:
        source: The file.
        sink: Takes the leaves.
        kind: What kind of file it is, see `pqassay.stores.kinds.dumped_as`.

    Returns:
        The errors that ended reading, with their places.
    """
    tracer = next(rooms(f"dump.{kind}"))
    return cast("list[FormatError]", tracer.trace(source, sink))
