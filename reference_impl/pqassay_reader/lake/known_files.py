"""The known values in the files of a dataset: from their own indexes, and from an index table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.condition.kinds import compared_type
from pqassay_reader.condition.normal import Condition
from pqassay_reader.directory.arrays import Mask
from pqassay_reader.lake.index_table import default_folder, parts, read_entries
from pqassay_reader.lake.known_file import KnownFile
from pqassay_reader.lake.lake_sets import REMOTE_THREADS, DistinctSets, Progress, is_column_of
from pqassay_reader.pages.excluding import ColumnSets, FileSets
from pqassay_reader.pages.whole_files import FileValues, WholeFiles, indexable
from pqassay_reference.directory.reading.usable_entries import LeftAside, UsableEntry
from pqassay_reference.files.listing import ListedFiles
from pqassay_reference.rewrite.extract import Extracted, NoIndexError, index_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.grammar.thrift_decoder import collector_paused
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1.companion import parse_companion
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf

AUTO = "auto"
"""The name for the index table beside the folder, if there is one."""

NOT_INDEXED = "it has no IDX1 index, and no matching distinct set"


class EngineSets(FileSets):
    """Sets for engines; sets with NaN exclude nothing, because engines disagree about comparisons with NaN."""

    def by_group(self, column_sets: ColumnSets, mask: Mask, *, otherwise: bool) -> Mask:
        """See `FileSets.by_group`."""
        return super().by_group(column_sets, mask | column_sets.sets.nans, otherwise=otherwise)


@dataclass
class KnownFiles:
    """The files of a dataset, with the known facts about them.

    Attributes:
        paths: The paths of the files.
        sizes: The sizes of the files in bytes.
        sets: The distinct sets in their index directories, which are read when a condition first names their column.
        whole: The values of whole files, by column.
        later: The IDX1 indexes that were not read with their footers, by column and number of the file.
        described: Returns the column and the values of a file's index, or the reason why it is not usable.
        unknown: The reason for each file without known values, by its number.
        damaged: The problems of the index table.
    """

    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    sets: DistinctSets
    whole: defaultdict[str, list[WholeFiles]]
    later: dict[str, list[tuple[int, KnownFile]]]
    described: Described
    unknown: dict[int, str]
    damaged: tuple[str, ...] = ()

    def of(self, condition: Condition) -> FileSets:
        """The facts about the columns of a condition; missing facts are read if this may pay off.

        Raises:
            OSError: A file cannot be read.
        """
        for name in condition.columns & self.later.keys():
            several = {number: self.described(number, file) for number, file in self.later.pop(name)}
            self.unknown.update((number, one) for number, one in several.items() if isinstance(one, str))
            self.know([one for one in several.values() if isinstance(one, FileValues)])
        columns = self.sets.of(condition.columns, lambda file: file.fields)
        by_name = {name: [*self.whole[name], *columns.get(name, ())] for name in condition.columns}
        return EngineSets(by_name, self.sets.file_of, len(self.paths))

    def know(self, several: Iterable[FileValues]) -> None:
        """Add the values of files."""
        by_column: defaultdict[tuple[str, bool], list[FileValues]] = defaultdict(list)
        for one in several:
            by_column[one.column, one.in_pieces].append(one)
        for (name, _), values in by_column.items():
            self.whole[name].append(WholeFiles.of(self.described.schema, values))

    def why(self, number: int, condition: Condition | None, sets: FileSets | None, left: Mask) -> str:
        """The reason why a file is kept or skipped, as text for people."""
        otherwise = self.unknown.get(number, "no index decides the condition")
        if condition is None or sets is None:
            return otherwise
        reasons = [
            one.why(number, condition)
            for several in sets.columns.values()
            for one in several
            if isinstance(one, WholeFiles)
        ]
        alone = next((message for is_left_out, message in reasons if is_left_out), None)
        if alone is not None:
            return alone
        start, stop = self.sets.first[number : number + 2].tolist()
        names = [name for name, several in sets.columns.items() if _has_sets(several, number, start, stop)]
        messages = [message for _, message in reasons if message]
        if names:
            kept, count = int(left[start:stop].sum()), stop - start
            leave = f"leave {kept} of {count} row groups" if kept else "leave no row group"
            messages.append(f"the distinct sets of {', '.join(sorted(names))} {leave}")
        return "; ".join(messages) or otherwise

    @property
    def aside(self) -> tuple[str, ...]:
        """The ignored entries of index directories, stale or damaged, one sentence each."""
        known = zip(self.paths, self.sets.files, strict=True)
        lines = [f"{path}: {one}" for path, file in known if file for one in file.directory.aside]
        return (*lines, *(f"{path}: {reason}" for path, reason in self.sets.unfit.items()))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons why files can never be skipped, one sentence each."""
        files = [f"{self.paths[number]}: {reason}" for number, reason in sorted(self.unknown.items())]
        return (*self.damaged, *files, *(line for line in self.aside if line not in files))

    @property
    def summary(self) -> str:
        """All warnings in one sentence."""
        if not self.unknown and self.damaged:
            return f"the index table is damaged: {self.damaged[0]}"
        if not self.unknown and self.aside:
            more = f", and {len(self.aside) - 1} more" if len(self.aside) > 1 else ""
            return f"an index is ignored: {self.aside[0]}{more}"
        number, reason = min(self.unknown.items())
        return (
            f"{len(self.unknown)} of {len(self.paths)} files have no index that can be used, and every query reads them; "
            f"for example {self.paths[number]}: {reason}"
        )


def _has_sets(several: Iterable[Any], number: int, start: int, stop: int) -> bool:
    """Whether there is a distinct set of a file or of its row groups."""
    for one in several:
        places = one.sets.parts.row_group
        first, after = (number, number + 1) if one.sets.granularity == Granularity.FILE else (start, stop)
        if not isinstance(one, WholeFiles) and ((places >= first) & (places < after)).any():
            return True
    return False


@dataclass(frozen=True)
class Described:
    """Reads the IDX1 indexes of files for a dataset.

    Attributes:
        schema: The schema of the dataset.
        partitions: The partition columns of folders.
        columns: The requested columns; ``None`` for all.
        vouched: The column that indexes without companion record describe.
    """

    schema: pa.Schema
    partitions: frozenset[str]
    columns: frozenset[str] | None
    vouched: str | None

    def __call__(self, number: int, file: KnownFile) -> FileValues | str:
        """The values of the column that the index of a file describes; or the reason why they are not known."""
        try:
            index = index_of(file, file.facts.framing, file.facts.metadata)
        except NoIndexError:
            return NOT_INDEXED
        except FormatError as error:
            return error.reason or str(error)
        except OSError as error:
            return _unreadable(error)
        record = index.companion if index.layout is idx1.Layout.PUBLISHED else None
        column = self.vouched if record is None else ".".join(record.column)
        reason = self._why_not_trusted(index) if record is None else ""
        if record is not None and len(record.column) != 1:
            reason = f"its index describes the nested column {column}"
        if reason or column is None:
            return reason
        if reason := self.why_not(column):
            return reason
        # Values and nulls together must add up to the rows; otherwise the record is about another column.
        may_be_null = record is None or bool(record.null_count) or not index.values
        return FileValues(column, number, index.values, may_be_null, record is None)

    def _why_not_trusted(self, index: Extracted) -> str:
        """Why an index without a trusted companion record is ignored; empty if it is not."""
        if index.layout is not idx1.Layout.PUBLISHED:
            return f"its index has the layout of {index.layout.value}"
        if index.mistrust:
            return f"its companion record is not trusted: {index.mistrust}"
        if self.vouched is None:
            return "its index has no companion record, and is not trusted without one"
        lost = index.lost
        return f"its index is lossy: the published reader loses {lost[0][:60]!r}" if lost else ""

    def why_not(self, column: str) -> str:
        """Why an index may not be used for a top-level column; empty if it may."""
        about = f"its index describes column {column}, "
        place = self.schema.get_field_index(column)
        if self.columns is not None and column not in self.columns:
            return f"{about}which was not asked for"
        if place < 0:
            return f"{about}which the dataset has several times or not at all"
        if column in self.partitions:
            return f"{about}whose values come from folder names"
        kind = self.schema.field(place).type
        return "" if indexable(kind) else f"{about}which the dataset reads as {kind}"

    def why_no_set(self, leaf: SchemaLeaf) -> str:
        """Why sets of a column may not be used; empty if they may."""
        if not is_column_of(self.schema, leaf):
            return "the dataset has the column several times or not at all"
        return "its values come from folder names" if leaf.path[0] in self.partitions else ""

    def column_of(self, file: KnownFile) -> str | None:
        """The column of an index that must be fetched from a file; ``None`` if it was read with the footer, or is not usable."""
        pairs = {
            pair.key: pair.value or "" for pair in reversed(file.facts.metadata.key_value_metadata or [])
        }
        try:
            is_here = idx1.parse_offset(pairs.get(idx1.KEY, "")) >= file.start
            if is_here or idx1.LENGTH_KEY in pairs:
                return None
            record = pairs.get(idx1.COMPANION_KEY)
            column = self.vouched if record is None else ".".join(parse_companion(record).column)
        except FormatError:
            return None
        return None if column is None or self.why_not(column) else column


def know_files(
    listed: ListedFiles,
    schema: pa.Schema,
    fragments: Iterable[pads.Fragment],
    *,
    columns: Collection[str] | None,
    vouched: str | None,
    table: str | None,
    progress: Progress | None,
) -> KnownFiles:
    """Find the known values in the files of a dataset. See `pqassay_reader.lake.indexed_dataset.open_indexed`."""
    # A folder `nation=Peru` decides the value of that column in the dataset, even if the file stores another one.
    partitions = frozenset[str]()
    if listed.partitioning != "hive" or "=" in "".join(listed.paths):
        partitions = frozenset(
            name for fragment in fragments for name in pads.get_partition_keys(fragment.partition_expression)
        )
    asked = None if columns is None else frozenset(columns)
    described = Described(schema, partitions, asked, vouched)
    whole: defaultdict[str, list[WholeFiles]] = defaultdict(list)
    unknown: dict[int, str] = {}
    covered = np.zeros(len(listed.paths), np.bool_)
    folder = _table_folder(listed, table)
    contents = None if folder is None else read_entries(folder, columns)
    for column, rows in contents.columns.items() if contents is not None else ():
        if not described.why_not(column):
            facts, stale = _fresh(listed, schema, column, rows)
            unknown |= dict.fromkeys(stale, "it changed after the index table was written")
            whole[column].append(facts)
            covered[facts.sets.parts.row_group] = True
    files: list[KnownFile | None] = [None] * len(listed.paths)
    later: defaultdict[str, list[tuple[int, KnownFile]]] = defaultdict(list)
    values: list[FileValues] = []
    rest: list[int] = np.flatnonzero(~covered).tolist()
    for done, (number, (file, outcome)) in enumerate(
        zip(rest, _opened(listed, rest, described), strict=True), 1
    ):
        files[number] = file
        if isinstance(outcome, FileValues):
            values.append(outcome)
        elif file is not None and not outcome:
            later[described.column_of(file) or ""].append((number, file))
        elif file is None or not file.directory.entries:
            reason = str(file.directory.aside[0]) if file is not None and file.directory.aside else outcome
            unknown[number] = f"{unknown[number]}, and {reason}" if number in unknown else reason
            continue
        unknown.pop(number, None)
        if progress is not None:
            progress(done, len(rest))
    for number in np.flatnonzero(covered).tolist():
        unknown.pop(number, None)
    threads = 1 if listed.is_local else REMOTE_THREADS
    sets = DistinctSets(files, schema, partitions, threads)
    damaged = () if contents is None else contents.damaged
    known = KnownFiles(listed.paths, listed.sizes, sets, whole, later, described, unknown, damaged)
    known.know(values)
    return known


Opened = tuple["KnownFile | None", "FileValues | str"]
"""A file, if its footer can be read; and the values of its IDX1 index, or why they are unknown (empty if they are read later)."""


def _opened(listed: ListedFiles, numbers: Sequence[int], described: Described) -> Iterator[Opened]:
    """Read the ends of some files."""
    filesystem = None if listed.is_local else listed.filesystem

    def opened(number: int) -> Opened:
        try:
            file = KnownFile(listed.paths[number], filesystem, (IndexType.DISTINCT_SET,), keeps_tail=True)
        except FormatError as error:
            return None, error.reason or str(error)
        except OSError as error:
            return None, _unreadable(error)
        usable: list[UsableEntry] = []
        for entry in file.directory.entries:
            column = entry.columns[0]
            if described.columns is not None and column not in described.columns:
                continue
            if reason := described.why_no_set(entry.leaves[0]):
                file.directory.aside.append(LeftAside(entry.name, reason))
            else:
                usable.append(entry)
        file.directory.entries = usable
        found = "" if described.column_of(file) is not None else described(number, file)
        file.drop_tail()
        return file, found

    with collector_paused():
        if filesystem is None:
            yield from map(opened, numbers)
            return
        with ThreadPoolExecutor(REMOTE_THREADS) as pool:
            yield from pool.map(opened, numbers)


def _unreadable(error: OSError) -> str:
    return f"it cannot be read: {error.strerror or ' '.join(str(error).split())}"


def _table_folder(listed: ListedFiles, table: str | None) -> str | None:
    if table is None:
        return None
    if not listed.folder:
        raise ValueError("an index table describes the files of a folder; name the folder, not files")
    if table != AUTO:
        if not parts(table):
            raise FileNotFoundError(f"{table}: there is no index table")
        return table
    folder = str(default_folder(listed.folder))
    return folder if listed.is_local and parts(folder) else None


def _fresh(
    listed: ListedFiles, schema: pa.Schema, column: str, rows: pa.Table
) -> tuple[WholeFiles, list[int]]:
    """The values of a column in a table for files in their current state, and the numbers of files in an older state.

    The rows of the latest run of a file count, if all of them describe its current state.
    """
    numbers = {listed.relative(path): number for number, path in enumerate(listed.paths)}
    paths: Any = rows.column("path").combine_chunks().dictionary_encode()
    number_of = np.array([numbers.get(path, -1) for path in paths.dictionary.to_pylist()], np.int64)
    file = number_of[paths.indices.to_numpy()]
    runs, sizes, modified, nulls = (
        rows.column(name).to_numpy().astype(np.int64) for name in ("run", "size", "modified", "null_count")
    )
    latest = np.full(len(listed.paths) + 1, -1, np.int64)  # the last item is for missing files
    np.maximum.at(latest, file, runs)
    counts = (file >= 0) & (runs == latest[file])
    # Without a modification time, it is unknown whether the file has changed.
    same = (sizes == np.array([*listed.sizes, -1])[file]) & (modified != 0)
    same &= modified == np.array([*listed.modified, -1])[file]
    is_known = latest >= 0
    is_fresh = is_known.copy()
    is_fresh[file[counts & ~same]] = is_known[-1] = is_fresh[-1] = False
    chosen = np.flatnonzero(counts & is_fresh[file])
    chosen = chosen[np.argsort(file[chosen], kind="stable")]
    # Selecting rows, and sorting them, copies every value.
    if len(chosen) < len(rows) or (np.diff(chosen) < 0).any():
        rows = rows.take(chosen)
    values: Any = rows.column("value").combine_chunks().dictionary_encode()
    there = values.indices.is_valid().to_numpy(zero_copy_only=False)
    files, place = np.unique(file[chosen], return_inverse=True)
    counted = np.bincount(place[there], minlength=len(files))
    may_be_null = np.zeros(len(files), np.bool_)
    may_be_null[place[nulls[chosen] != 0]] = True
    facts = WholeFiles(
        column,
        compared_type(schema.field(column).type),
        files,
        np.concatenate([[0], np.cumsum(counted)]).astype(np.int64),
        values.indices.drop_null().to_numpy().astype(np.int64),
        values.dictionary,
        # A dot may join names: the column may be nested in another file, and be all null there.
        may_be_null | (counted == 0) | ("." in column),
    )
    return facts, np.flatnonzero(is_known & ~is_fresh).tolist()
