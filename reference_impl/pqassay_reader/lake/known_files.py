"""Knowledge of the values in the files of a dataset: from their own indexes, and from an index table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.lake.index_table import ColumnEntries, default_folder, parts, read_entries
from pqassay_reader.lake.index_tail import Found, Progress, TrustedIndex, load_indexes
from pqassay_reader.lake.pruning import ColumnFacts, Facts, indexable
from pqassay_reader.lake.set_facts import NO_SETS, DirectoryOfFile, SetFacts, directory_of, gathered
from pqassay_reader.lake.tails import TailSource
from pqassay_reference.files.listing import Listed
from pqassay_spec.idx1 import blob as idx1

AUTO = "auto"
"""Stands for the index table beside the folder, if there is one."""


@dataclass(frozen=True)
class KnownFiles:
    """The files of a dataset, and the facts that are known of them.

    Attributes:
        paths: Of the files.
        sizes: Of the files in bytes.
        columns: What is known of columns; of one column, in several parts for different files.
        unknown: For the number of each file of which nothing is known, why.
        damaged: What is wrong with the index table.
        sets: The distinct sets in their index directories.
        aside: What is left aside of those, stale or damaged, one sentence for each.
    """

    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    columns: tuple[ColumnFacts, ...]
    unknown: dict[int, str]
    damaged: tuple[str, ...] = ()
    sets: SetFacts = NO_SETS
    aside: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons that keep files from being skipped, one sentence each."""
        files = [f"{self.paths[number]}: {reason}" for number, reason in sorted(self.unknown.items())]
        return (*self.damaged, *files, *(line for line in self.aside if line not in files))

    @property
    def summary(self) -> str:
        """All of it in one sentence."""
        if not self.unknown and self.damaged:
            return f"the index table is damaged: {self.damaged[0]}"
        if not self.unknown and self.aside:
            more = f", and {len(self.aside) - 1} more" if len(self.aside) > 1 else ""
            return f"an index is left aside: {next(iter(self.aside))}{more}"
        number, reason = min(self.unknown.items())
        return (
            f"{len(self.unknown)} of {len(self.paths)} files have no index that can be used, and every query reads them; "
            f"for example {self.paths[number]}: {reason}"
        )


def know_files(
    listed: Listed,
    schema: pa.Schema,
    fragments: Iterable[pads.Fragment],
    *,
    columns: Collection[str] | None,
    vouched: str | None,
    table: str | None,
    progress: Progress | None,
) -> KnownFiles:
    """Find out what indexes say of the files of a dataset. See `pqassay_reader.lake.indexed_dataset.open_indexed`."""
    # Where a folder is called `nation=Peru`, that is what the dataset says of its rows, whatever the file holds.
    partitions = set[str]()
    if listed.partitioning != "hive" or "=" in "".join(listed.paths):
        partitions = {
            name for fragment in fragments for name in pads.get_partition_keys(fragment.partition_expression)
        }
    why_not = cache(partial(_why_not, schema, partitions, columns))
    known: list[ColumnFacts] = []
    unknown: dict[int, str] = {}
    damaged: tuple[str, ...] = ()
    covered = np.zeros(len(listed.paths), np.bool_)
    folder = _table_folder(listed, table)
    if folder is not None:
        contents = read_entries(folder, columns)
        damaged = contents.damaged
        for entries in contents.columns.values():
            if why_not(entries.column):
                continue
            facts, stale = _fresh(listed, schema, entries)
            unknown |= dict.fromkeys(stale, "it was changed after the index table was made")
            if len(facts.files):
                known.append(facts)
                covered[facts.files] = True
    filesystem = None if listed.is_local else listed.filesystem
    rest: Sequence[int] = range(len(listed.paths))
    paths, sizes = listed.paths, listed.sizes
    if covered.any():
        rest = np.flatnonzero(~covered).tolist()
        paths, sizes = tuple(paths[number] for number in rest), tuple(sizes[number] for number in rest)
    numbers = list(rest)
    directories: dict[int, DirectoryOfFile] = {}

    def noted(place: int, source: TailSource) -> None:
        directory = directory_of(source, columns)
        if directory is not None:
            directories[numbers[place]] = directory

    found = load_indexes(paths, sizes, filesystem, progress=progress, noted=noted)
    sets = gathered(schema, directories, partial(_why_no_set, schema, partitions))
    by_column: defaultdict[str, list[Facts]] = defaultdict(list)
    for number, index in zip(rest, found, strict=True):
        described = _described(number, index, why_not, vouched)
        if isinstance(described, str):
            unknown[number] = f"{unknown[number]}, and {described}" if number in unknown else described
        else:
            column, facts_of_file = described
            by_column[column].append(facts_of_file)
            unknown.pop(number, None)
    known += [ColumnFacts.of(schema, column, facts) for column, facts in by_column.items()]
    for number in np.flatnonzero(covered).tolist():
        unknown.pop(number, None)
    aside = _aside(listed, directories, sets, unknown)
    return KnownFiles(listed.paths, listed.sizes, tuple(known), unknown, damaged, sets, aside)


def _aside(
    listed: Listed, directories: dict[int, DirectoryOfFile], sets: SetFacts, unknown: dict[int, str]
) -> tuple[str, ...]:
    """What is left aside in the directories of files; of one of which nothing else is known, it becomes the reason."""
    for number in {int(sets.file_of[row_group]) for facts in sets.columns for row_group in facts.files}:
        unknown.pop(number, None)
    lines: list[str] = []
    for number, directory in sorted(directories.items()):
        lines += [f"{listed.paths[number]}: {one}" for one in directory.aside]
        if number in unknown and directory.aside:
            unknown[number] = str(directory.aside[0])
    return tuple(lines)


def _why_no_set(schema: pa.Schema, partitions: Collection[str], column: str) -> str:
    """The reason that sets of a column may not decide; empty if they may."""
    if schema.get_field_index(column) < 0:
        return "the dataset does not have the column once"
    return "its values are those of the folders' names" if column in partitions else ""


def _why_not(
    schema: pa.Schema, partitions: Collection[str], columns: Collection[str] | None, column: str
) -> str:
    """The reason that an index may not decide about a column at the top level of the schema; empty if it may."""
    index = schema.get_field_index(column)
    if columns is not None and column not in columns:
        return f"its index describes column {column}, which was not asked for"
    if index < 0:
        return f"its index describes column {column}, which the dataset does not have once"
    if column in partitions:
        return f"its index describes column {column}, whose values are those of the folders' names"
    kind = schema.field(index).type
    return (
        "" if indexable(kind) else f"its index describes column {column}, which the dataset reads as {kind}"
    )


def _described(
    number: int, index: Found, why_not: Callable[[str], str], vouched: str | None
) -> tuple[str, Facts] | str:
    """The column that the index of a file describes and what it says; or why it says nothing."""
    if isinstance(index, str):
        return index
    if isinstance(index, TrustedIndex):
        if len(index.column) != 1:
            return f"its index describes the nested column {'.'.join(index.column)}"
        (column,) = index.column
        # Values and nulls together make up the rows; a record of neither speaks of another column.
        may_be_null = bool(index.null_count) or index.text is None
        return why_not(column) or (column, Facts(number, index.text, may_be_null))
    if index.layout is not idx1.Layout.PUBLISHED:
        return f"its index has the layout of {index.layout.value}"
    if index.mistrust:
        return f"its companion record does not count: {index.mistrust}"
    if vouched is None:
        return "its index has no companion record, and nobody vouches for it"
    if index.lost:
        return f"its index is lossy: the published reader does not get {index.lost[0][:60]!r}"
    text = idx1.SEPARATOR.join(index.values) if index.values else None
    return why_not(vouched) or (vouched, Facts(number, text, may_be_null=True, pieces=True))


def _table_folder(listed: Listed, table: str | None) -> str | None:
    if table is None:
        return None
    if not listed.folder:
        raise ValueError("an index table speaks of the files of a folder; name the folder, not files")
    if table != AUTO:
        if not parts(table):
            raise FileNotFoundError(f"{table}: there is no index table")
        return table
    folder = str(default_folder(listed.folder))
    return folder if listed.is_local and parts(folder) else None


def _fresh(listed: Listed, schema: pa.Schema, entries: ColumnEntries) -> tuple[ColumnFacts, list[int]]:
    """The facts of a table about the files as they are now, and the numbers of those of which it knows an older state."""
    numbers = {listed.relative(path): number for number, path in enumerate(listed.paths)}
    files = np.array([numbers.get(path, -1) for path in entries.paths], np.int64)
    there = np.flatnonzero(files >= 0)
    now = files[there]
    same = (np.array(listed.sizes, np.int64)[now] == entries.sizes[there]) & (
        np.array(listed.modified, np.int64)[now] == entries.modified[there]
    )
    # Where nobody knows the time, nobody knows whether the file is the same.
    same &= entries.modified[there] != 0
    fresh = there[same]
    starts, codes = _gathered(entries.starts, entries.codes, fresh)
    used, codes = np.unique(codes, return_inverse=True)
    counts = np.diff(starts)
    facts = ColumnFacts(
        schema,
        entries.column,
        files=files[fresh],
        starts=starts,
        codes=codes.astype(np.int64),
        values=entries.values.take(used),
        # A dot may join names: in another file the column may be nested, and this one all null.
        may_be_null=(entries.null_counts[fresh] != 0) | (counts == 0) | ("." in entries.column),
        pieces=np.zeros(len(fresh), np.bool_),
    )
    return facts, [int(number) for number in now[~same]]


Numbers = npt.NDArray[np.int64]


def _gathered(starts: Numbers, codes: Numbers, chosen: Numbers) -> tuple[Numbers, Numbers]:
    """The same ranges of codes, of some files only."""
    counts = np.diff(starts)[chosen]
    new = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    places = np.arange(int(new[-1])) + np.repeat(starts[chosen] - new[:-1], counts)
    return new, codes[places]
