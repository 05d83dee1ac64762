"""What is known of the files of a lake, before any question: row groups, distinct sets and zone sums, from footers and blobs.

Everything is kept by row group, numbered through all files, so that a question is put to arrays and not to files.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from pqassay_reference.directory.excluding import ColumnSets, FileSets
from pqassay_reference.directory.reading import (
    FileDirectory,
    Located,
    Mask,
    Numbers,
    OpenIndex,
    Parts,
    Sets,
    Sums,
    decoded_indexes,
    open_index,
    read_entries,
)
from pqassay_reference.errors import Refused, about
from pqassay_reference.lake.listing import Listed
from pqassay_reference.lake.tails import REQUEST_SIZE, NativeSource, TailSource
from pqassay_reference.predicate.expressions import (
    TableColumns,
    columns_named,
    compared_type,
    evaluated,
    find_column,
)
from pqassay_reference.predicate.literals import Tree
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.zone_sums import Group, SumKind
from pqassay_spec.grammar.thrift_decoder import collector_paused
from pqassay_spec.parquet.file import Framing, read_footer, read_framing
from pqassay_spec.parquet.schema import leaves
from pqassay_spec.parquet.thrift import FileMetaData

LOCAL_THREADS, REMOTE_THREADS = 4, 16
"""Files that are opened at the same time."""

LOCAL_TAIL = 8 << 10
"""Bytes that are read from the end of a local file, where a second read costs less than bytes that nobody needs."""

FEW = 1 << 14
"""Groups of which a condition is asked one by one, and not by their distinct keys."""

Progress = Callable[[int, int], object]


class CountingSource:
    """A source that counts what is read of it."""

    def __init__(self, whole: Source) -> None:
        self.name, self.size = whole.name, whole.size
        self._whole = whole
        self.length = 0

    def read(self, offset: int, length: int) -> bytes:
        """Return a range. See `pqassay_spec.base.sources.Source.read`."""
        self.length += length
        return self._whole.read(offset, length)


@dataclass
class KnownFile:
    """One file.

    Attributes:
        path: Its path.
        filesystem: Where it is; ``None`` for that of the computer.
        framing: Where its parts are.
        metadata: Its footer.
        directory: Its entries, and what is left aside of them.
        indexes: What they hold, but for the values.
        length: Bytes that were read to know this.
    """

    path: str
    filesystem: Any
    framing: Framing
    metadata: FileMetaData
    directory: FileDirectory
    indexes: list[OpenIndex | None]
    length: int

    @cached_property
    def name(self) -> str:
        """What messages call it: of a local file below the working directory, the path from there."""
        below = f"{os.getcwd()}{os.sep}"  # noqa: PTH109 - text, as the path is
        return self.path.removeprefix(below) if self.filesystem is None else self.path

    @cached_property
    def sketches(self) -> FileDirectory:
        """Its entries of sketches, whose blobs nobody has read."""
        return read_entries(self.metadata, (IndexType.HLL, IndexType.KLL))

    @cached_property
    def chunk_lengths(self) -> tuple[dict[str, list[int]], Numbers]:
        """The leaves of each column at the top level, and the bytes of all chunks, row groups by leaves."""
        by_column: defaultdict[str, list[int]] = defaultdict(list)
        for place, leaf in enumerate(leaves(self.metadata)):
            by_column[leaf.path[0]].append(place)
        lengths = [
            [
                chunk.meta_data.total_compressed_size if chunk.meta_data is not None else 0
                for chunk in group.columns
            ]
            for group in self.metadata.row_groups
        ]
        return by_column, np.array(lengths, np.int64).reshape(len(lengths), -1)

    def data_length(self, columns: Sequence[str], row_groups: Sequence[int]) -> int:
        """Bytes of the chunks of some columns in some row groups."""
        by_column, lengths = self.chunk_lengths
        places = [place for column in columns for place in by_column.get(column, ())]
        return int(lengths[row_groups][:, places].sum())


def opened(path: str, filesystem: Any) -> AbstractContextManager[Source]:
    """A file, to be read. Raises `OSError`."""
    found: Any = FileSource(path) if filesystem is None else NativeSource(filesystem, path)
    return cast("AbstractContextManager[Source]", found)


def known_file(path: str, filesystem: Any) -> KnownFile:
    """Read what is known of a file: its footer, and the blobs of its entries.

    Raises:
        FormatError: It is no Parquet file.
        OSError: It cannot be read.
    """
    with opened(path, filesystem) as whole, about(path):
        counting = CountingSource(whole)
        source = TailSource(counting, LOCAL_TAIL if filesystem is None else REQUEST_SIZE)
        framing = read_framing(source)
        metadata = read_footer(source, framing)[0]
        directory = read_entries(metadata)
        indexes = [
            open_index(Located(one, source, framing, metadata, directory.aside)) for one in directory.entries
        ]
        return KnownFile(path, filesystem, framing, metadata, directory, indexes, counting.length)


@dataclass
class ZoneTable:
    """The zone sums of one measure by the same keys and granularity in many files, a row for each group.

    Attributes:
        measure: The measure.
        keys: The keys.
        by_file: Whether each part is a file; else it is a row group or a page of one.
        kind: How sums are written.
        place: For each group the number of its row group, or of its file, ascending.
        covers: For each row group, or file, whether there are sums of it.
        groups: Records of counts and sums.
        key_values: For each key its values.
        minima, maxima: The bounds.
    """

    measure: str
    keys: tuple[str, ...]
    by_file: bool
    kind: SumKind
    place: Numbers
    covers: Mask
    groups: Any
    key_values: tuple[Any, ...]
    minima: Any
    maxima: Any
    _encoded: dict[str, tuple[Any, Numbers]] = field(default_factory=dict[str, tuple[Any, Numbers]])

    @cached_property
    def has_rows(self) -> Mask:
        """Whether each group has a row."""
        there: Mask = self.groups["row_count"] > 0
        return there

    @cached_property
    def overflowed(self) -> Numbers:
        """Places with a sum beyond the largest double although no measure is infinite: there the rows are added."""
        if self.kind is not SumKind.DOUBLE:
            return np.zeros(0, np.int64)
        sums = np.ascontiguousarray(self.groups["sum_low"]).view("<f8")
        endless = np.flatnonzero(~np.isfinite(sums))
        chosen: Any = pa.array(endless, pa.int64())
        bounds = [
            np.asarray(one.take(chosen).cast(pa.float64()).fill_null(0.0))
            for one in (self.minima, self.maxima)
        ]
        is_finite: Mask = np.isfinite(bounds[0]) & np.isfinite(bounds[1])
        places: Numbers = self.place[endless[is_finite]]
        return places

    @cached_property
    def _starts(self) -> Numbers:
        """The first group of each place, which are in order, and behind them the number of groups."""
        return np.searchsorted(self.place, np.arange(len(self.covers) + 1))

    def groups_at(self, places: Numbers) -> Numbers:
        """The numbers of the groups of some places, which are ascending."""
        begins = self._starts[places]
        sizes = self._starts[places + 1] - begins
        shifts = begins - (np.cumsum(sizes) - sizes)
        found: Numbers = np.repeat(shifts, sizes) + np.arange(int(sizes.sum()))
        return found

    def true_of_keys(self, predicate: Tree, groups: Numbers) -> Mask:
        """Whether a condition on keys alone is true of each of some groups.

        Raises:
            Refused: It does not fit the keys.
        """
        names = sorted(columns_named(predicate))
        if len(names) == 1 and len(groups) >= FEW:
            distinct, codes = self._distinct_keys(names[0])
            if len(distinct) < len(groups):
                return _true_of(predicate, names, [distinct])[codes[groups]]
        chosen: Any = pa.array(groups)
        return _true_of(
            predicate, names, [self.key_values[self.keys.index(name)].take(chosen) for name in names]
        )

    def _distinct_keys(self, name: str) -> tuple[Any, Numbers]:
        """The distinct values of a key, null among them, and for each group the place of its own."""
        if name not in self._encoded:
            encoded = self.key_values[self.keys.index(name)].dictionary_encode(null_encoding="encode")
            self._encoded[name] = encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)
        return self._encoded[name]


def _true_of(predicate: Tree, names: Sequence[str], columns: Sequence[Any]) -> Mask:
    found: Any = pc.fill_null(evaluated(predicate, TableColumns(pa.table(list(columns), list(names)))), False)
    whole = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    true: Mask = np.asarray(whole)
    return true


class LakeSets(FileSets):
    """The distinct sets of all files, asked for row groups.

    Args:
        columns: The sets by the columns that they describe; those of files have the number of the file in place of a row group's.
        row_counts: Rows of each row group.
        file_of: The file of each row group.
    """

    def __init__(
        self, columns: dict[str, list[ColumnSets]], row_counts: Sequence[int], file_of: Numbers
    ) -> None:
        super().__init__(columns, row_counts)
        self._file_of = file_of

    def by_group(self, one: ColumnSets, mask: Mask, *, otherwise: bool) -> Mask:
        """See `FileSets.by_group`; whoever has no set is as ``otherwise`` says."""
        by_file = one.sets.granularity is Granularity.FILE
        places = one.sets.parts.row_group
        count = int(self._file_of.max(initial=-1)) + 1 if by_file else len(self._file_of)
        found = np.full(max(count, int(places.max(initial=-1)) + 1), otherwise)
        found[places] = False
        found[places[mask]] = True
        return found[self._file_of] if by_file else found


@dataclass
class KnownLake:
    """All files.

    Attributes:
        files: The files.
        fragments: Arrow's fragments of them, one for each.
        schema: Of the dataset.
        partitions: The columns that folders stand for.
        first: For each file the number of its first row group.
        file_of: For each row group its file.
        group_of: For each row group its position in the file.
        row_counts: For each row group its rows.
        sets: The distinct sets.
        zones: The zone sums.
        unfit: For each entry that is of another type than its column in the dataset, why it is not used.
    """

    files: list[KnownFile]
    fragments: list[pads.ParquetFileFragment]
    schema: pa.Schema
    partitions: set[str]
    first: Numbers
    file_of: Numbers
    group_of: Numbers
    row_counts: Numbers
    sets: LakeSets
    zones: list[ZoneTable]
    unfit: dict[str, str] = field(default_factory=dict[str, str])
    _schemas: dict[int, pa.Schema] = field(default_factory=dict[int, pa.Schema])

    @property
    def threads(self) -> int:
        """Files that are opened at the same time."""
        is_local = all(file.filesystem is None for file in self.files[:1])
        return LOCAL_THREADS if is_local else REMOTE_THREADS

    def complete(self, files: Sequence[int]) -> None:
        """Let Arrow read the footers of some files, several at once: it needs those of files whose rows are read, and keeps them.

        Raises:
            OSError: One cannot be read.
        """
        missing = [file for file in files if file not in self._schemas]
        if missing:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(_complete, [self.fragments[file] for file in missing]))
            self._schemas.update((file, self.fragments[file].physical_schema) for file in missing)

    def stores_as_read(self, file: int, columns: Sequence[str]) -> bool:
        """Whether a file that is complete stores some columns at the top level in the types in which the dataset has them.

        Not if it lacks one, has one twice, or if folders stand for it.
        """
        stored, read = self._schemas[file], self.schema
        return all(
            name not in self.partitions
            and (place := stored.get_field_index(name)) >= 0
            and stored.field(place).type == read.field(name).type
            for name in columns
        )

    @cached_property
    def metadata_length(self) -> int:
        """Bytes that were read of all files when they were opened."""
        return sum(file.length for file in self.files)

    @cached_property
    def row_table(self) -> ZoneTable:
        """The rows of all row groups, as footers count them, as sums of no measure."""
        count = len(self.row_counts)
        groups = np.zeros(count, np.dtype(Group.dtype))
        groups["row_count"] = self.row_counts
        nothing = pa.nulls(count)
        whole = np.ones(count, np.bool_)
        return ZoneTable("", (), False, SumKind.NONE, np.arange(count), whole, groups, (), nothing, nothing)


def _complete(fragment: pads.ParquetFileFragment) -> None:
    fragment.ensure_complete_metadata()


def know_lake(listed: Listed, dataset: pads.FileSystemDataset, progress: Progress | None = None) -> KnownLake:
    """Read what is known of all files, several at once.

    Raises:
        FormatError: A file is no Parquet file.
        OSError: A file cannot be read.
    """
    filesystem = None if listed.is_local else listed.filesystem
    threads = LOCAL_THREADS if listed.is_local else REMOTE_THREADS
    fragments = cast("list[pads.ParquetFileFragment]", list(dataset.get_fragments()))
    files: list[KnownFile] = []

    def known(fragment: pads.ParquetFileFragment) -> KnownFile:
        return known_file(fragment.path, filesystem)

    # A thousand footers are a million objects and no cycle: looking for some again and again takes as long as to read them.
    with collector_paused(), ThreadPoolExecutor(threads) as pool:
        for file in pool.map(known, fragments):
            files.append(file)
            if progress is not None:
                progress(len(files), len(fragments))
    counts = [len(file.metadata.row_groups) for file in files]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    file_of = np.repeat(np.arange(len(files)), counts)
    row_counts = np.array([group.num_rows for file in files for group in file.metadata.row_groups], np.int64)
    lake = KnownLake(
        files,
        fragments,
        dataset.schema,
        _partitions(fragments),
        first[:-1],
        file_of,
        np.arange(len(file_of)) - first[file_of],
        row_counts,
        LakeSets({}, row_counts.tolist(), file_of),
        [],
    )
    _gather(lake, first)
    return lake


def _partitions(fragments: Sequence[pads.Fragment]) -> set[str]:
    """The columns that folders stand for: what a file says of such a column does not count."""
    return {name for one in fragments for name in pads.get_partition_keys(one.partition_expression)}


def _gather(lake: KnownLake, first: Numbers) -> None:
    """Put what the entries of all files hold side by side."""
    found = [(number, one) for number, file in enumerate(lake.files) for one in file.indexes]
    sets: defaultdict[tuple[str, Granularity], list[tuple[int, Sets]]] = defaultdict(list)
    sums: defaultdict[tuple[Any, ...], list[tuple[int, Sums]]] = defaultdict(list)
    for (number, _), index in zip(found, decoded_indexes([one for _, one in found]), strict=True):
        if index is None:
            continue
        fitting = _fitting(lake.schema, index, lake.partitions)
        if isinstance(fitting, Sets):
            sets[fitting.column, fitting.granularity].append((number, fitting))
        elif isinstance(fitting, Sums):
            sums[fitting.measure, fitting.keys, fitting.granularity, fitting.kind].append((number, fitting))
        else:
            lake.unfit[lake.files[number].name] = (
                "an index of a column that the dataset reads as another type"
            )
    columns: dict[str, list[ColumnSets]] = {}
    for (name, granularity), several in sets.items():
        joined = _joined_sets(several, first, granularity)
        columns.setdefault(name, []).append(ColumnSets(joined, name, joined.values.type))
    lake.sets = LakeSets(columns, lake.row_counts.tolist(), lake.file_of)
    lake.zones = [_joined_sums(lake, several, first) for several in sums.values()]


def _kind(schema: pa.Schema, name: str, partitions: set[str]) -> Any:
    """The type in which a column of the dataset is compared; ``None`` if there is none that an index may describe."""
    try:
        path, kind = find_column(schema, name)
    except Refused:  # the dataset has no such column, or two
        return None
    return None if path[0] in partitions else compared_type(kind)


def _cast(values: Any, kind: Any) -> Any:
    """Values in the type of the dataset; ``None`` where they are not the same values there."""
    if kind is None:
        return None
    if values.type == kind:
        return values
    if pa.types.is_decimal(kind) != pa.types.is_decimal(values.type):
        return None
    if pa.types.is_decimal(kind) and kind.scale != values.type.scale:
        return None
    if pa.types.is_floating(kind) and kind != values.type and not pa.types.is_float16(values.type):
        return None
    try:
        return values.cast(kind)
    except (pa.ArrowException, ValueError):
        return None


def _fitting(schema: pa.Schema, index: Sets | Sums, partitions: set[str]) -> Sets | Sums | None:
    """An index with its values in the types of the dataset; ``None`` where they are not the same values there."""
    of_type = _fitting_sets if isinstance(index, Sets) else _fitting_sums
    return of_type(schema, cast("Any", index), partitions)


def _fitting_sets(schema: pa.Schema, index: Sets, partitions: set[str]) -> Sets | None:
    values = _cast(index.values, _kind(schema, index.column, partitions))
    return None if values is None else replace(index, values=values)


def _fitting_sums(schema: pa.Schema, index: Sums, partitions: set[str]) -> Sums | None:
    keys = [
        _cast(values, _kind(schema, name, partitions))
        for name, values in zip(index.keys, index.key_values, strict=True)
    ]
    kind = _kind(schema, index.measure, partitions)
    minima, maxima = _cast(index.minima, kind), _cast(index.maxima, kind)
    if minima is None or any(one is None for one in keys):
        return None
    return replace(index, key_values=tuple(keys), minima=minima, maxima=maxima)


def _places(parts: Parts, number: int, first: Numbers, granularity: Granularity) -> Numbers:
    """The number of each part's row group among all, or that of the file."""
    if granularity is Granularity.FILE:
        return np.full(len(parts), number)
    places: Numbers = parts.row_group + first[number]
    return places


def _joined_sets(several: Sequence[tuple[int, Sets]], first: Numbers, granularity: Granularity) -> Sets:
    sizes = np.concatenate([np.diff(one.starts) for _, one in several])
    parts = [_places(one.parts, number, first, granularity) for number, one in several]
    nothing = np.zeros(sum(map(len, parts)), np.int64)
    return Sets(
        several[0][1].column,
        granularity,
        Parts(np.concatenate(parts), nothing, nothing),
        pa.concat_arrays([one.values for _, one in several]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([one.nulls for _, one in several]),
        np.concatenate([one.nans for _, one in several]),
        np.concatenate([one.complete for _, one in several]),
    )


def _joined_sums(lake: KnownLake, several: Sequence[tuple[int, Sums]], first: Numbers) -> ZoneTable:
    index = several[0][1]
    by_file = index.granularity is Granularity.FILE
    places = [_places(one.parts, number, first, one.granularity) for number, one in several]
    covers = np.zeros(len(lake.files) if by_file else len(lake.file_of), np.bool_)
    covers[np.concatenate(places)] = True
    return ZoneTable(
        index.measure,
        index.keys,
        by_file,
        index.kind,
        np.concatenate([place[one.part] for place, (_, one) in zip(places, several, strict=True)]),
        covers,
        np.concatenate([one.groups for _, one in several]),
        tuple(
            pa.concat_arrays([one.key_values[key] for _, one in several]) for key in range(len(index.keys))
        ),
        pa.concat_arrays([one.minima for _, one in several]),
        pa.concat_arrays([one.maxima for _, one in several]),
    )


__all__ = [
    "CountingSource",
    "KnownFile",
    "KnownLake",
    "LakeSets",
    "Progress",
    "ZoneTable",
    "know_lake",
    "known_file",
    "opened",
]
