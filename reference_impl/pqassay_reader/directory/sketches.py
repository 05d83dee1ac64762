"""Sketches in the entries of a file, before the library parses them.

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
"""The errors of the library for a sketch that it cannot read."""


@dataclass(frozen=True)
class EntrySketches:
    """The sketches of one entry.

    Attributes:
        granularity: The granularity of the sketches.
        row_group: The row group of each sketch; -1 for a sketch of the whole file.
        sketches: The sketches, as the library serializes them.
    """

    granularity: Granularity
    row_group: Numbers
    sketches: list[bytes]


def read_sketches(
    usable: UsableEntry, source: Source, framing: Framing, metadata: FileMetaData
) -> EntrySketches:
    """Read the sketches of an entry; their first bytes must fit the type of the entry.

    Raises:
        FormatError: Its blob is not at its place, or is damaged, or has another number of parts than the file.
        OSError: The file cannot be read.
    """
    blob = read_blob(usable, source, framing, metadata)
    made = split_sketches(blob.data)
    if len(made) != len(blob.parts):
        raise Malformed(f"the blob has {len(made)} parts, but the file has {len(blob.parts)}", rule="DIR-021")
    for number, sketch in enumerate(made):
        problem = preamble_problem(usable.type.name, sketch)
        if problem:
            raise Malformed(f"sketch {number} {problem}", rule="DIR-040")
    return EntrySketches(usable.granularity, blob.parts.row_group, made)


__all__ = ["LIBRARY_FAILURES", "EntrySketches", "read_sketches"]
