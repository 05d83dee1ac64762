"""The distinct sets of many files, read when a condition first names their column, in parallel for all files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from pqassay_reader.condition.kinds import Kind, compared_type, find_column
from pqassay_reader.directory.arrays import Sets, decoded_indexes
from pqassay_reader.lake.known_file import KnownFile
from pqassay_reader.pages.excluding import ColumnSets
from pqassay_reference.directory.reading.blob import Numbers, Parts
from pqassay_reference.directory.reading.usable_entries import UsableEntry
from pqassay_reference.errors import Refused
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.entries import EntryKey
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf

LOCAL_THREADS, REMOTE_THREADS = 4, 16
"""Files that are read at the same time."""

Progress = Callable[[int, int], object]
"""Called with the number of completed files, and of all files."""

Fields = Callable[[KnownFile], Collection[str]]
"""A function that returns the top-level fields of a file that would be read without its sets."""


class DistinctSets:
    """The distinct sets in the index directories of files. Row groups are numbered through all files.

    Args:
        files: The files; ``None`` for a file without a readable footer, which counts as one row group.
        schema: The schema of the dataset.
        partitions: The partition columns of folders: values in a file do not count for them.
        threads: Number of files that are read at the same time.

    Attributes:
        first: For each file the number of its first row group, followed by the number of all row groups.
        file_of: For each row group, the number of its file.
        group_of: For each row group, its position in the file.
        unfit: For each file with an index whose type differs from its column in the dataset, a message.
    """

    def __init__(
        self, files: Sequence[KnownFile | None], schema: pa.Schema, partitions: Collection[str], threads: int
    ) -> None:
        self.files, self.schema, self.partitions, self.threads = files, schema, partitions, threads
        counts = [1 if file is None else len(file.facts.row_counts) for file in files]
        self.first: Numbers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.file_of: Numbers = np.repeat(np.arange(len(counts)), counts)
        self.group_of: Numbers = np.arange(len(self.file_of)) - self.first[self.file_of]
        self.unfit: dict[str, str] = {}
        self._sets: dict[str, list[ColumnSets]] = {}
        self._asked: set[tuple[int, EntryKey]] = set()

    def fitting(self, file: KnownFile, name: str, values: Any) -> Any:
        """Values of an index in the type of their column in the dataset; ``None`` if the conversion would change them."""
        try:
            path, kind = find_column(self.schema, name)
            fitted = None if path[0] in self.partitions else cast_exactly(values, compared_type(kind))
        except Refused:  # the dataset has no such column, or two
            fitted = None
        if fitted is None:
            self.unfit[file.name] = "an index of a column that the dataset reads as another type"
        return fitted

    def of(self, names: Collection[str], fields: Fields) -> dict[str, list[ColumnSets]]:
        """The distinct sets of some columns that are worth reading, or were read before.

        Args:
            names: The columns.
            fields: The fields of a file that would be read without them.

        Raises:
            OSError: A file cannot be read.
        """
        for name in sorted(set(names) - set(self.partitions)):
            entries = [
                (file, number, entry)
                for number, file in enumerate(self.files)
                if file is not None
                for entry in file.entries.get((IndexType.DISTINCT_SET, name), ())
                if (number, entry.entry.key) not in self._asked and file.is_worth(entry, fields(file))
            ]
            if entries:
                self._asked.update((number, entry.entry.key) for _, number, entry in entries)
                self._read(name, entries)
        return {name: self._sets[name] for name in names if name in self._sets}

    def _read(self, name: str, entries: Sequence[tuple[KnownFile, int, UsableEntry]]) -> None:
        if self.threads > 1 and len(entries) > 1:
            with ThreadPoolExecutor(self.threads) as pool:
                opened = list(pool.map(lambda item: item[0].opened(item[2]), entries))
        else:
            opened = [file.opened(entry) for file, _, entry in entries]
        several: defaultdict[Granularity, list[tuple[int, Sets, Any]]] = defaultdict(list)
        for (file, number, entry), sets in zip(entries, decoded_indexes(opened), strict=True):
            if isinstance(sets, Sets):
                values = self.fitting(file, name, sets.values)
                if values is not None:
                    several[entry.granularity].append((number, sets, values))
        self._sets.setdefault(name, []).extend(self._joined(name, *item) for item in several.items())

    def _joined(
        self, name: str, granularity: Granularity, several: Sequence[tuple[int, Sets, Any]]
    ) -> ColumnSets:
        places: list[Numbers] = [
            np.full(len(sets.parts), number)
            if granularity is Granularity.FILE
            else sets.parts.row_group + self.first[number]
            for number, sets, _ in several
        ]
        sizes = np.concatenate([np.diff(sets.starts) for _, sets, _ in several])
        values = pa.concat_arrays([each for _, _, each in several])
        masks = (
            np.concatenate([getattr(sets, mask) for _, sets, _ in several])
            for mask in ("nulls", "nans", "complete")
        )
        nothing = np.zeros(len(sizes), np.int64)
        parts = Parts(np.concatenate(places), nothing, nothing)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return ColumnSets(Sets(name, granularity, parts, values, starts, *masks), name, values.type)


def is_column_of(schema: pa.Schema, leaf: SchemaLeaf) -> bool:
    """Whether a leaf of a file is the column of its name in a dataset; columns at other places may share the name with its dots."""
    try:
        return leaf.is_at(find_column(schema, leaf.name)[0])
    except Refused:
        return False


def cast_exactly(values: Any, kind: Any) -> Any:
    """Values in another type; ``None`` if the conversion would change them."""
    if values.type == kind:
        return values
    if not _is_wider(values.type, kind):
        return None
    try:
        return values.cast(kind)
    except (pa.ArrowException, ValueError):
        return None


def _is_wider(kind: Any, other: Any) -> bool:
    """Whether values of one type keep their meaning in another: stored differently, or in a wider type, if they fit."""
    if pa.types.is_integer(kind):
        return pa.types.is_integer(other) or (pa.types.is_decimal(other) and other.scale == 0)
    if pa.types.is_timestamp(kind):
        # A local time is a different timestamp in each zone.
        return pa.types.is_timestamp(other) and (kind.tz is None) == (other.tz is None)
    if pa.types.is_decimal(kind):
        return pa.types.is_decimal(other) and other.scale == kind.scale
    one, another = Kind(kind), Kind(other)
    if one.has_bytes or one.moment is not None:
        return another.has_bytes if one.has_bytes else one.moment == another.moment
    return pa.types.is_floating(kind) and pa.types.is_floating(other) and other.bit_width > kind.bit_width


__all__ = ["LOCAL_THREADS", "REMOTE_THREADS", "DistinctSets", "Progress", "cast_exactly", "is_column_of"]
