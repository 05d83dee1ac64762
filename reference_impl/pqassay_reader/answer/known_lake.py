"""What is known of the files of a lake, before any question: row groups, distinct sets and zone sums, from footers and blobs.

Everything is kept by row group, numbered through all files, so that a question is put to arrays and not to files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.answer.known_files import KnownFile, known_file
from pqassay_reader.answer.zone_tables import ZoneTable
from pqassay_reader.condition.kinds import compared_type, find_column
from pqassay_reader.pages.excluding import ColumnSets, FileSets
from pqassay_reference.directory.reading.arrays import (
    Mask,
    Sets,
    Sums,
    decoded_indexes,
)
from pqassay_reference.directory.reading.blob import Numbers, Parts
from pqassay_reference.errors import Refused
from pqassay_reference.files.listing import Listed
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.zone_sums import Group, SumKind
from pqassay_spec.grammar.thrift_decoder import collector_paused

LOCAL_THREADS, REMOTE_THREADS = 4, 16
"""Files that are opened at the same time."""

Progress = Callable[[int, int], object]


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


__all__ = ["KnownLake", "LakeSets", "Progress", "know_lake"]
