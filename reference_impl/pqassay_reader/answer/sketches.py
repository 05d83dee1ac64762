"""The sketches of one column in the files of a lake, which are read when a question first asks for them.

Source: chapter ``directory.md``, sections "Reading" and "Sketches".
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from pqassay_reader.answer.known_files import CountingSource, KnownFile, opened
from pqassay_reader.answer.known_lake import KnownLake
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_reference.directory.reading.sketches import EntrySketches, read_sketches
from pqassay_reference.directory.reading.usable_entries import LeftAside
from pqassay_reference.errors import Refused
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves


@dataclass
class FileSketches:
    """The sketches of one column in one file.

    Attributes:
        name: What messages call the file.
        leaf: The column in the file; ``None`` where it has none of that name.
        entries: What may be used.
        aside: What may not, and why.
        length: Bytes that were read.
    """

    name: str
    leaf: SchemaLeaf | None
    entries: list[EntrySketches] = field(default_factory=list[EntrySketches])
    aside: list[LeftAside] = field(default_factory=list[LeftAside])
    length: int = 0

    def of(self, row_groups: Numbers, *, is_whole: bool) -> list[bytes] | None:
        """The fewest sketches that are about some row groups and nothing else; ``None`` if there are none.

        Args:
            row_groups: The row groups.
            is_whole: Whether the others of the file have no rows.
        """
        for one in sorted(self.entries, key=lambda entry: len(entry.sketches)):
            if one.granularity is Granularity.FILE:
                if is_whole:
                    return one.sketches
                continue
            wanted = np.flatnonzero(np.isin(one.row_group, row_groups))
            return [one.sketches[place] for place in wanted.tolist()]
        return None


def sketches_of(lake: KnownLake, kind: IndexType, column: str, files: Sequence[int]) -> list[FileSketches]:
    """The sketches of a column in some files, several of which are read at once.

    Raises:
        OSError: A file cannot be read.
        Refused: A file has several columns of the name.
    """
    with ThreadPoolExecutor(lake.threads) as pool:
        wanted = [lake.files[number] for number in files]
        return list(pool.map(partial(_of_file, kind=kind, column=column), wanted))


def _of_file(file: KnownFile, kind: IndexType, column: str) -> FileSketches:
    found = [leaf for leaf in leaves(file.metadata) if leaf.is_called(column)]
    if len(found) > 1:
        raise Refused(f"{file.name}: there are {len(found)} columns called {column}")
    known = FileSketches(file.name, found[0] if found else None)
    if known.leaf is None:
        return known
    known.aside += [one for one in file.sketches.aside if _is_about(one, kind, column)]
    wanted = [one for one in file.sketches.entries if one.type is kind and one.columns == (column,)]
    if not wanted:
        return known
    with opened(file.path, file.filesystem) as whole:
        source = CountingSource(whole)
        for one in wanted:
            try:
                known.entries.append(read_sketches(one, source, file.framing, file.metadata))
            except FormatError as error:
                known.aside.append(LeftAside(one.name, error.reason or str(error)))
        known.length = source.length
    return known


def _is_about(aside: LeftAside, kind: IndexType, column: str) -> bool:
    """Whether what is left aside would have been of use: a sketch of the column, or a whole directory."""
    return aside.name == "index directory" or aside.name.startswith(f"{kind.name} of {column} by ")


__all__ = ["FileSketches", "sketches_of"]
