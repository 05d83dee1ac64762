"""The distinct sets in the index directories of many files: which row groups a filter leaves over, by all columns together.

As with the indexes of whole files (`pqassay_reader.lake.pruning`), Arrow itself decides which values a filter leaves over.  What is new here are the
row groups, columns of any type, and conditions that OR joins: those leave a row group out if each of their parts does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.condition.kinds import compared_type
from pqassay_reader.lake.expression_tree import columns_of, operands_of, tree_of
from pqassay_reader.lake.pruning import ColumnFacts, Mask, Possible
from pqassay_reader.lake.tails import TailSource
from pqassay_reference.directory.reading.arrays import Located, OpenIndex, Sets, decoded_indexes, open_index
from pqassay_reference.directory.reading.usable_entries import (
    FileDirectory,
    LeftAside,
    has_directory,
    read_entries,
)
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.parquet.file import decode_footer, read_framing

Numbers = npt.NDArray[np.int64]


class DirectoryOfFile(NamedTuple):
    """What the index directory of one file holds of distinct sets.

    Attributes:
        row_groups: Row groups of the file.
        indexes: The sets, but for their values.
        aside: What is left aside, and why.
    """

    row_groups: int
    indexes: list[OpenIndex]
    aside: list[LeftAside]


def directory_of(source: TailSource, columns: Collection[str] | None = None) -> DirectoryOfFile | None:
    """Read the distinct sets of a file; ``None`` if it has no index directory, or is damaged, which reading its rows will tell.

    Args:
        source: The file.
        columns: The columns whose sets are read; those of all by default.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        framing = read_framing(source)
        footer = source.read(framing.footer_start, framing.footer_length)
        if not has_directory(footer):
            return None
        metadata = decode_footer(footer, framing)[0]
        directory: FileDirectory = read_entries(metadata, (IndexType.DISTINCT_SET,))
        opened = [
            open_index(Located(one, source, framing, metadata, directory.aside))
            for one in directory.entries
            if len(one.entry.columns[0]) == 1 and (columns is None or one.columns[0] in columns)
        ]
        found = [one for one in opened if one is not None]
        return DirectoryOfFile(len(metadata.row_groups), found, directory.aside)
    except FormatError:
        return None


@dataclass(eq=False)
class SetColumn(ColumnFacts):
    """The facts about one column in many row groups; ``files`` are numbers of row groups here.

    Attributes:
        may_be_nan: For each of them, whether it has a NaN, of which engines say different things: it is kept.
    """

    may_be_nan: Mask

    def possible(self, condition: pc.Expression) -> Possible | None:
        """See `ColumnFacts.possible`."""
        found = super().possible(condition)
        if found is None or not self.may_be_nan.any():
            return found
        return Possible(found.facts, found.alive, found.by_value | self.may_be_nan, found.by_null, None)

    def _survivors(self, condition: pc.Expression) -> Mask:
        survivors = super()._survivors(condition)
        if len(self._zeros):  # of which each engine says that they are equal
            survivors[self._zeros] = survivors[self._zeros].any()
        return survivors

    @cached_property
    def _zeros(self) -> Numbers:
        if not pa.types.is_floating(self.values.type):
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.asarray(self.values) == 0.0)


@dataclass(frozen=True, eq=False)
class SetFacts:
    """The distinct sets of all files, by row group.

    Attributes:
        file_of: For each row group that is known its file.
        group_of: Its position in the file.
        columns: What is known of each column; of one column, there may be several.
    """

    file_of: Numbers
    group_of: Numbers
    columns: tuple[SetColumn, ...]

    def left(self, condition: pc.Expression) -> Mask:
        """For each row group, whether a row of it may satisfy a condition."""
        named = self._named(condition)
        left = np.ones(len(self.file_of), np.bool_)
        known = {facts.column for facts in self.columns}
        if named is not None and not named & known:
            return left
        for facts in self.columns:
            if named is None or facts.column in named:
                possible = facts.possible(condition)
                if possible is not None:
                    left[facts.files] &= possible.kept
        if named is None or len(named & known) < 2:
            return left  # one column has said all that it can
        joined = operands_of(condition)
        if joined is not None:
            name, parts = joined
            of_parts = [self.left(part) for part in parts]
            left &= (np.logical_and if name.startswith("and") else np.logical_or).reduce(of_parts)
        return left

    @staticmethod
    def _named(condition: pc.Expression) -> set[str] | None:
        """The columns at the top level that a condition names; ``None`` where that is not known."""
        tree = tree_of(condition)
        return None if tree is None else {path[0] for path in columns_of(tree) if len(path) == 1}

    def _places(self, file: int) -> tuple[int, int]:
        """Where the row groups of a file begin and end; they are in the order of the files."""
        start, stop = np.searchsorted(self.file_of, [file, file + 1])
        return int(start), int(stop)

    def row_groups_of(self, file: int, left: Mask) -> tuple[list[int], int]:
        """The row groups that are left of a file, and how many of its row groups are known, which is none or all."""
        start, stop = self._places(file)
        numbers: list[int] = self.group_of[start:stop][left[start:stop]].tolist()
        return numbers, stop - start

    def why(self, file: int, left: Mask) -> str:
        """What the sets leave of a file, for people; empty where nothing is known of it."""
        start, stop = self._places(file)
        count = stop - start
        names = sorted({facts.column for facts in self.columns if _has_any(facts.files, start, stop)})
        if not count or not names:
            return ""
        kept = int(left[start:stop].sum())
        if not kept:
            return f"the distinct sets of {', '.join(names)} leave no row group"
        return f"the distinct sets of {', '.join(names)} leave {kept} of {count} row groups"


def _has_any(ascending: Numbers, start: int, stop: int) -> bool:
    """Whether any of some ascending numbers is in a range."""
    first, after = np.searchsorted(ascending, [start, stop])
    return bool(first < after)


NO_SETS = SetFacts(np.zeros(0, np.int64), np.zeros(0, np.int64), ())


def gathered(
    schema: pa.Schema,
    directories: dict[int, DirectoryOfFile],
    why_not: Callable[[str], str],
) -> SetFacts:
    """Put the sets of many files side by side.

    Args:
        schema: Of the dataset.
        directories: What was read, by the number of the file.
        why_not: Says why sets of a column do not count; empty if they do.
    """
    files = sorted(directories)
    counts = [directories[file].row_groups for file in files]
    starts = dict(zip(files, np.concatenate([[0], np.cumsum(counts)])[:-1].tolist(), strict=True))
    opened = [(file, one) for file in files for one in directories[file].indexes]
    by_column: defaultdict[tuple[str, Granularity], list[tuple[Numbers, Sets]]] = defaultdict(list)
    for (file, _), sets in zip(opened, decoded_indexes([one for _, one in opened]), strict=True):
        if not isinstance(sets, Sets):
            continue
        reason = why_not(sets.column)
        fitting = None if reason else _fitting(schema, sets)
        if fitting is None:
            name = f"distinct set of {sets.column}"
            directories[file].aside.append(
                LeftAside(name, reason or "the dataset reads the column as another type")
            )
            continue
        by_row_group = _by_row_group(fitting, directories[file].row_groups)
        by_column[sets.column, sets.granularity].append(
            (by_row_group.parts.row_group + starts[file], by_row_group)
        )
    columns = tuple(_column(schema, name, several) for (name, _), several in by_column.items())
    file_of = np.repeat(np.array(files, np.int64), counts)
    group_of = np.concatenate([np.arange(count) for count in counts]) if counts else np.zeros(0, np.int64)
    return SetFacts(file_of, group_of, columns)


def _fitting(schema: pa.Schema, sets: Sets) -> Sets | None:
    """Sets with values of the dataset's type; ``None`` where they are not the same there."""
    kind: Any = compared_type(schema.field(sets.column).type)
    if sets.values.type == kind:
        return sets
    if not _is_wider(sets.values.type, kind):
        return None
    try:
        return replace(sets, values=sets.values.cast(kind))
    except (pa.ArrowException, ValueError):
        return None


def _is_wider(kind: Any, wanted: Any) -> bool:
    """Whether values of a type are those of another, held in another way or in a wider one, as far as they fit into it."""
    if pa.types.is_integer(kind):
        return pa.types.is_integer(wanted) or (pa.types.is_decimal(wanted) and wanted.scale == 0)
    if pa.types.is_timestamp(kind):
        # What a clock shows is another moment in each zone.
        return pa.types.is_timestamp(wanted) and (kind.tz is None) == (wanted.tz is None)
    if pa.types.is_decimal(kind):
        return pa.types.is_decimal(wanted) and wanted.scale == kind.scale
    for test in (_is_bytes, pa.types.is_date, pa.types.is_time):
        if test(kind):
            return bool(test(wanted))
    return pa.types.is_floating(kind) and pa.types.is_floating(wanted) and wanted.bit_width > kind.bit_width


def _is_bytes(kind: Any) -> bool:
    """Whether values of a type are bytes, which compare like text."""
    types = pa.types
    is_text = types.is_string(kind) or types.is_large_string(kind)
    return is_text or types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)


def _by_row_group(sets: Sets, row_groups: int) -> Sets:
    """Sets with one part for each row group: that of the file for each of its row groups; of pages those that are complete.

    Several parts of one row group stay several; none is there for a row group of which a part is not complete.
    """
    numbers = np.arange(len(sets.parts))
    groups = sets.parts.row_group
    if sets.granularity is Granularity.FILE:
        numbers, groups = np.zeros(row_groups, np.int64), np.arange(row_groups)
    good = np.ones(row_groups, np.bool_)
    good[groups[~sets.complete[numbers]]] = False
    # In the order of row groups, so that pages of one can be joined.
    chosen = good[groups]
    numbers, groups = numbers[chosen], groups[chosen]
    counts = np.diff(sets.starts)[numbers]
    begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    places = np.arange(int(begins[-1])) + np.repeat(sets.starts[numbers] - begins[:-1], counts)
    firsts = np.flatnonzero(np.diff(groups, prepend=-1) != 0)
    return replace(
        sets,
        parts=replace(sets.parts, row_group=groups[firsts]),
        values=sets.values.take(pa.array(places)),
        starts=np.concatenate([begins[firsts], begins[-1:]]),
        nulls=_any(sets.nulls[numbers], firsts),
        nans=_any(sets.nans[numbers], firsts),
        complete=np.ones(len(firsts), np.bool_),
    )


def _any(flags: Mask, firsts: Numbers) -> Mask:
    """Whether any flag of those from each first one to the next is set."""
    return np.logical_or.reduceat(flags, firsts) if len(firsts) else np.zeros(0, np.bool_)


def _column(schema: pa.Schema, name: str, several: Sequence[tuple[Numbers, Sets]]) -> SetColumn:
    encoded = pa.concat_arrays([sets.values for _, sets in several]).dictionary_encode()
    values = encoded.dictionary
    if pa.types.is_floating(values.type) and (np.asarray(values) == 0.0).any():
        # The other zero as well: what is true of one is true of both.
        values = pa.concat_arrays([values, pa.array([0.0, -0.0], values.type)])
    counts = np.concatenate([np.diff(sets.starts) for _, sets in several])
    places = np.concatenate([groups for groups, _ in several])
    return SetColumn(
        schema,
        name,
        files=places,
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        codes=encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64),
        values=values,
        may_be_null=np.concatenate([sets.nulls for _, sets in several]),
        pieces=np.zeros(len(places), np.bool_),
        may_be_nan=np.concatenate([sets.nans for _, sets in several]),
    )


__all__ = ["NO_SETS", "DirectoryOfFile", "SetFacts", "directory_of", "gathered"]
