"""The files that are asked: their footers, which are read once, and the blobs of their index directories, each read when a question first needs it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.condition.kinds import compared_type, find_column
from pqassay_reader.lake.tails import REQUEST_SIZE, NativeSource, TailSource
from pqassay_reader.pages.excluding import ColumnSets, FileSets
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reference.directory.reading.arrays import (
    Located,
    Mask,
    OpenIndex,
    Sets,
    decoded_indexes,
    open_index,
)
from pqassay_reference.directory.reading.blob import Numbers, Parts
from pqassay_reference.directory.reading.usable_entries import FileDirectory, UsableEntry, read_entries
from pqassay_reference.errors import Refused, about
from pqassay_reference.files.listing import Listed
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.entries import EntryKey
from pqassay_spec.grammar.thrift_decoder import collector_paused
from pqassay_spec.parquet.file import read_footer, read_framing

LOCAL_THREADS, REMOTE_THREADS = 4, 16
"""Files that are read at the same time."""

LOCAL_TAIL = 8 << 10
"""Bytes that are read from the end of a local file, where a second read costs less than bytes that nobody needs."""

WORTH = {IndexType.DISTINCT_SET: 4, IndexType.ZONE_SUMS: 1}
"""An index is read where the rows that it may spare take so many times its bytes; one that came along with the footer always is."""

Progress = Callable[[int, int], object]


@dataclass
class KnownFile:
    """One file, and the source from which its blobs are read: what came along with its footer is kept.

    Attributes:
        name: What messages call it: of a local file below the working directory, the path from there.
        path: Its path.
        filesystem: Where it is; ``None`` for that of the computer.
        size: Its bytes.
        facts: Its footer, without Arrow's schema.
        directory: Its entries, and what is left aside of them.
        length: Bytes of metadata that were read so far.
        requests: In how many requests.
    """

    name: str
    path: str
    filesystem: Any
    size: int
    facts: FileFacts
    directory: FileDirectory
    length: int
    requests: int
    start: int
    tail: bytes
    blobs: dict[EntryKey, Any] = field(default_factory=dict[EntryKey, Any])

    @classmethod
    def open(cls, path: str, filesystem: Any) -> KnownFile:
        """Read a footer. Raises `FormatError` for what is not a Parquet file, `OSError` if it cannot be read."""
        below = f"{os.getcwd()}{os.sep}"  # noqa: PTH109 - text, as the path is
        whole: Any = FileSource(path) if filesystem is None else NativeSource(filesystem, path)
        with whole, about(path):
            source = TailSource(whole, LOCAL_TAIL if filesystem is None else REQUEST_SIZE)
            framing = read_framing(source)
            facts = FileFacts(read_footer(source, framing)[0], framing, pa.schema([]))
            _ = facts.leaves  # the footer has to describe a tree
            facts.require_counts()
        more = max(source.start - framing.footer_start, 0)
        directory = read_entries(facts.metadata, tuple(IndexType))
        name = path.removeprefix(below) if filesystem is None else path
        size, tail = source.size, source.tail if directory.entries else b""
        start = size - len(tail)
        return cls(
            name,
            path,
            filesystem,
            size,
            facts,
            directory,
            len(source.tail) + more,
            1 + bool(more),
            start,
            tail,
        )

    def read(self, offset: int, length: int) -> bytes:
        """Return a range. See `pqassay_spec.base.sources.Source.read`."""
        if offset >= self.start:
            return self.tail[offset - self.start :][:length]
        whole: Any = (
            FileSource(self.path) if self.filesystem is None else NativeSource(self.filesystem, self.path)
        )
        with whole:
            self.length, self.requests = self.length + length, self.requests + 1
            return cast("bytes", whole.read(offset, length))

    @cached_property
    def entries(self) -> dict[tuple[IndexType, str], list[UsableEntry]]:
        """Its usable entries by what they are and the column that they tell of: the last of theirs."""
        found: defaultdict[tuple[IndexType, str], list[UsableEntry]] = defaultdict(list)
        for one in self.directory.entries:
            found[one.type, one.columns[-1]].append(one)
        return found

    @cached_property
    def _leaves_of(self) -> dict[str, list[int]]:
        by_field: defaultdict[str, list[int]] = defaultdict(list)
        for place, leaf in enumerate(self.facts.leaves):
            by_field[leaf.path[0]].append(place)
        return by_field

    def data_length(self, fields: Collection[str], row_groups: Any = slice(None)) -> int:
        """Bytes of the chunks of some fields at the top level in some row groups."""
        places = [place for name in fields for place in self._leaves_of.get(name, ())]
        return int(self.facts.sizes.lengths[row_groups][:, places].sum())

    def is_worth(self, entry: UsableEntry, fields: Collection[str]) -> bool:
        """Whether to read an entry in order to spare rows of some fields."""
        head = entry.entry.head
        is_here = head.offset >= self.start or head.stored_length <= LOCAL_TAIL
        return is_here or WORTH[entry.type] * head.stored_length <= self.data_length(fields)

    def opened(self, entry: UsableEntry) -> OpenIndex | None:
        """An index, but for its values; ``None`` if it is left aside. Raises `OSError`."""
        return open_index(Located(entry, self, self.facts.framing, self.facts.metadata, self.directory.aside))


class LakeSets(FileSets):
    """The distinct sets of all files, asked for row groups.

    Args:
        columns: The sets by their columns; those of files have the number of the file in place of a row group's.
        file_of: The file of each row group.
    """

    def __init__(self, columns: dict[str, list[ColumnSets]], file_of: Numbers) -> None:
        super().__init__(columns, range(len(file_of)))
        self._file_of = file_of

    def by_group(self, one: ColumnSets, mask: Mask, *, otherwise: bool) -> Mask:
        """See `FileSets.by_group`; whoever has no set is as ``otherwise`` says."""
        by_file = one.sets.granularity is Granularity.FILE
        places = one.sets.parts.row_group
        found = np.full(int(self._file_of.max(initial=-1)) + 1 if by_file else len(self._file_of), otherwise)
        found[places] = False
        found[places[mask]] = True
        return found[self._file_of] if by_file else found


class Lake:
    """All files. What is about row groups is numbered through all of them.

    Args:
        listed: The files.
        dataset: The same as Arrow's dataset.
        progress: Called with the files that were read, and how many there are.

    Attributes:
        schema: Of the dataset.
        files: The files.
        fragments: Arrow's fragments of them, one for each.
        partitions: The columns that folders stand for: what a file says of such a column does not count.
        first: For each file the number of its first row group, and behind them that of all.
        file_of, group_of, row_counts: For each row group its file, its position there, and its rows.
        unfit: For each file with an index of another type than its column has in the dataset, a message.

    Raises:
        FormatError: A file is not a Parquet file.
        OSError: A file cannot be read.
    """

    def __init__(
        self, listed: Listed, dataset: pads.FileSystemDataset, progress: Progress | None = None
    ) -> None:
        filesystem = None if listed.is_local else listed.filesystem
        self.threads = LOCAL_THREADS if listed.is_local else REMOTE_THREADS
        self.dataset, self.schema = dataset, dataset.schema
        self.fragments = cast("list[pads.ParquetFileFragment]", list(dataset.get_fragments()))
        self.partitions = {
            name for one in self.fragments for name in pads.get_partition_keys(one.partition_expression)
        }
        self.files: list[KnownFile] = []
        # A thousand footers are a million objects and no cycle: looking for some again and again takes as long as to read them.
        with collector_paused(), ThreadPoolExecutor(self.threads) as pool:
            for file in pool.map(lambda one: KnownFile.open(one.path, filesystem), self.fragments):
                self.files.append(file)
                if progress is not None:
                    progress(len(self.files), len(self.fragments))
        counts = [len(file.facts.row_counts) for file in self.files]
        self.first: Numbers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.file_of: Numbers = np.repeat(np.arange(len(counts)), counts)
        self.group_of: Numbers = np.arange(len(self.file_of)) - self.first[self.file_of]
        self.row_counts: Numbers = np.array(
            [n for file in self.files for n in file.facts.row_counts], np.int64
        )
        self.unfit: dict[str, str] = {}
        self._sets: dict[str, list[ColumnSets]] = {}

    def kind(self, name: str) -> Any:
        """The type in which a column is compared. Raises `Refused` where there is no such column, or several."""
        return compared_type(find_column(self.schema, name)[1])

    def fields(self, names: Iterable[str]) -> list[str]:
        """The columns at the top level that some columns are or belong to. Raises as `kind` does."""
        return list(dict.fromkeys(find_column(self.schema, name)[0][0] for name in sorted(names)))

    def fitting(self, number: int, name: str, values: Any) -> Any:
        """Values of an index in the type that their column has in the dataset; ``None`` where they are not the same values there."""
        try:
            kind = None if find_column(self.schema, name)[0][0] in self.partitions else self.kind(name)
        except Refused:  # the dataset has no such column, or two
            kind = None
        found = None if kind is None else _cast(values, kind)
        if found is None:
            self.unfit[self.files[number].name] = (
                "an index of a column that the dataset reads as another type"
            )
        return found

    def sets(self, names: Collection[str], fields: Collection[str]) -> LakeSets:
        """The distinct sets of some columns that are worth their bytes, or were read before.

        Args:
            names: The columns.
            fields: The fields at the top level that would be read without them.

        Raises:
            OSError: A file cannot be read.
        """
        for name in names:
            if name in self.partitions:
                continue
            new = [
                (number, entry)
                for number, file in enumerate(self.files)
                for entry in file.entries.get((IndexType.DISTINCT_SET, name), ())
                if entry.entry.key not in file.blobs and file.is_worth(entry, fields)
            ]
            if new:
                self._read_sets(name, new)
        return LakeSets({name: self._sets[name] for name in names if name in self._sets}, self.file_of)

    def _read_sets(self, name: str, new: Sequence[tuple[int, UsableEntry]]) -> None:
        with ThreadPoolExecutor(self.threads) as pool:
            opened = list(pool.map(lambda one: self.files[one[0]].opened(one[1]), new))
        for (number, entry), sets in zip(new, decoded_indexes(opened), strict=True):
            values = self.fitting(number, name, sets.values) if isinstance(sets, Sets) else None
            self.files[number].blobs[entry.entry.key] = None if values is None else (sets, values)
        several: defaultdict[Granularity, list[tuple[int, Sets, Any]]] = defaultdict(list)
        for number, file in enumerate(self.files):
            for entry in file.entries.get((IndexType.DISTINCT_SET, name), ()):
                known = file.blobs.get(entry.entry.key)
                if known is not None:
                    several[entry.granularity].append((number, *known))
        self._sets[name] = [self._joined(name, *one) for one in several.items()]

    def _joined(
        self, name: str, granularity: Granularity, several: Sequence[tuple[int, Sets, Any]]
    ) -> ColumnSets:
        places: list[Numbers] = [
            np.full(len(one.parts), number)
            if granularity is Granularity.FILE
            else one.parts.row_group + self.first[number]
            for number, one, _ in several
        ]
        sizes = np.concatenate([np.diff(one.starts) for _, one, _ in several])
        values = pa.concat_arrays([each for _, _, each in several])
        masks = (
            np.concatenate([getattr(one, mask) for _, one, _ in several])
            for mask in ("nulls", "nans", "complete")
        )
        nothing = np.zeros(len(sizes), np.int64)
        parts = Parts(np.concatenate(places), nothing, nothing)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return ColumnSets(Sets(name, granularity, parts, values, starts, *masks), name, values.type)


def _cast(values: Any, kind: Any) -> Any:
    if values.type == kind:
        return values
    if pa.types.is_decimal(kind) != pa.types.is_decimal(values.type):
        return None
    if pa.types.is_decimal(kind) and kind.scale != values.type.scale:
        return None
    if pa.types.is_floating(kind) and not pa.types.is_float16(values.type):
        return None
    try:
        return values.cast(kind)
    except (pa.ArrowException, ValueError):
        return None


__all__ = ["KnownFile", "Lake", "LakeSets", "Progress"]
