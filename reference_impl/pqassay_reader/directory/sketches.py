"""Sketches as a file's entries hold them, before any library looks at them.

Source: chapter ``directory.md``, sections "Reading" and "Sketches".
"""

from __future__ import annotations

from dataclasses import dataclass

from pqassay_reference.directory.reading.blob import Numbers, read_blob
from pqassay_reference.directory.reading.usable_entries import UsableEntry
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.sketches import preamble_problem, split_sketches
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.thrift import FileMetaData

LIBRARY_FAILURES = (ValueError, RuntimeError, MemoryError, IndexError)
"""What the library raises for a sketch that it cannot read."""


@dataclass(frozen=True)
class EntrySketches:
    """The sketches of one entry.

    Attributes:
        granularity: What each is about.
        row_group: For each its row group; -1 for one of the whole file.
        sketches: Them, as the library serializes them.
    """

    granularity: Granularity
    row_group: Numbers
    sketches: list[bytes]


def read_sketches(
    usable: UsableEntry, source: Source, framing: Framing, metadata: FileMetaData
) -> EntrySketches:
    """Read the sketches of an entry, whose first bytes are those of its type.

    Raises:
        FormatError: Its blob is not where it says, or is damaged, or has other parts than the file.
        OSError: The file cannot be read.
    """
    blob = read_blob(usable, source, framing, metadata)
    made = split_sketches(blob.data)
    if len(made) != len(blob.parts):
        raise Malformed(
            f"the blob has {len(made)} parts, where the file has {len(blob.parts)}", rule="DIR-021"
        )
    for number, sketch in enumerate(made):
        problem = preamble_problem(usable.type.name, sketch)
        if problem:
            raise Malformed(f"sketch {number} {problem}", rule="DIR-040")
    return EntrySketches(usable.granularity, blob.parts.row_group, made)


__all__ = ["LIBRARY_FAILURES", "EntrySketches", "read_sketches"]
