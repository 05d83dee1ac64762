"""The distinct sets in a file's index directory, for the columns of a condition.

Sets that were read are cached with the facts about the file.

Source: chapter ``directory.md``, section "Reading".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from pqassay_reader.condition.kinds import compared_type, find_column
from pqassay_reader.directory.arrays import Located, Sets, read_indexes
from pqassay_reader.pages.excluding import FAILURES, ColumnSets, FileSets
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reference.directory.reading.usable_entries import FileDirectory, LeftAside, read_entries
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Granularity, IndexType, Placement


def file_sets(
    source: Source, facts: FileFacts, names: Collection[str], may_spare: int
) -> tuple[FileSets | None, Sequence[LeftAside]]:
    """The sets of some columns, and the ignored entries of the directory.

    Args:
        source: The file.
        facts: Its metadata.
        names: The column names in the condition.
        may_spare: Bytes of pages that the sets may save; at most as many bytes of sets are read.

    Returns:
        The sets (``None`` if there are none), and ignored entries that would be used if they were valid.

    Raises:
        OSError: The file cannot be read.
    """
    if facts.directory is None:
        facts.directory = read_entries(facts.metadata, (IndexType.DISTINCT_SET, IndexType.KLL))
    directory: FileDirectory = facts.directory
    columns: dict[str, list[ColumnSets]] = {}
    aside = list(directory.aside)
    for name in sorted(names):
        place = facts.leaf_of(name)
        if place is None:
            continue
        entries = [
            entry
            for entry in directory.entries
            if entry.type is IndexType.DISTINCT_SET and entry.leaves[0] == facts.leaves[place]
        ]
        for entry in entries:
            if entry.entry.key not in facts.sets:
                head = entry.entry.head
                if head.placement == Placement.BODY and head.stored_length > ALWAYS:
                    if head.stored_length > may_spare:
                        continue
                    may_spare -= head.stored_length
                why: list[LeftAside] = []
                (read,) = read_indexes([Located(entry, source, facts.framing, facts.metadata, why)])
                facts.sets[entry.entry.key] = read if isinstance(read, Sets) else why[0]
            sets_of_it = facts.sets[entry.entry.key]
            if isinstance(sets_of_it, LeftAside):
                aside.append(sets_of_it)
                continue
            try:
                kind = compared_type(find_column(facts.schema, name)[1])
                columns.setdefault(name, []).append(ColumnSets(sets_of_it, name, kind))
            except FAILURES as error:
                reason = " ".join(str(error).split())
                aside.append(LeftAside(entry.name, f"its values are not of the column's type: {reason}"))
    of_one = np.zeros(len(facts.row_counts), np.int64)
    return (FileSets(columns, of_one) if columns else None), aside


ALWAYS = 8 << 10
"""Bytes of a set that is always read, independent of its savings."""

WHOLE_GROUPS = (Granularity.FILE, Granularity.ROW_GROUP)
"""Granularities that exclude whole row groups."""


__all__ = ["WHOLE_GROUPS", "file_sets"]
