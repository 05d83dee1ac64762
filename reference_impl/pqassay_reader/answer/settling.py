"""What metadata say of a condition before a row is read: in which row groups it may be true of a row, and in which it is true of all.

Three things are asked: what folders stand for, distinct sets, and the statistics of footers.  None decides more than it knows.  Bounds settle that a condition is true of all
rows only where the footer counts no nulls: of a null, a comparison is not true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.answer.known_files import KnownFile
from pqassay_reader.answer.known_lake import KnownLake
from pqassay_reader.condition.kinds import compared_type
from pqassay_reader.condition.normal import ColumnTest, Condition, folded
from pqassay_reader.condition.rows import rows_of
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.pages.excluding import EVERY
from pqassay_reader.pages.row_selection import by_statistics, rows_left
from pqassay_reader.query.conditions import Part, parts_of
from pqassay_reader.query.facts.footer_facts import NOWHERE
from pqassay_reference.directory.reading.arrays import Mask
from pqassay_spec.parquet.schema.leaf_columns import leaves


class Settled(NamedTuple):
    """What is known of a part of a condition, for each row group.

    Attributes:
        part: The part.
        may: Whether it may be true of a row.
        some: Whether distinct sets say that it is true of one.
        must: Whether it is true of all rows.
    """

    part: Part
    may: Mask
    some: Mask
    must: Mask


class Masks(NamedTuple):
    """For each row group, whether a condition may be true of a row, and whether it is true of all."""

    may: Mask
    must: Mask


def settled(lake: KnownLake, predicate: Condition | None, *, asks_statistics: bool) -> list[Settled]:
    """What is known without reading a row of each part of a condition that AND joins.

    Args:
        lake: The files.
        predicate: The condition; ``None`` for all rows.
        asks_statistics: Whether statistics are asked where nothing else settles a part; it takes a while, row group by row group.

    Raises:
        Refused: The condition does not fit the columns.
    """
    found: list[Settled] = []
    for part in parts_of(predicate) if predicate is not None else []:
        some = np.zeros(len(lake.file_of), np.bool_)
        if part.columns <= lake.partitions:
            masks = _by_folders(lake, part.condition)
        else:
            some = lake.sets.row_groups_with_some(part.condition)
            masks = Masks(
                lake.sets.row_groups(part.condition, EVERY), lake.sets.certain_row_groups(part.condition)
            )
            if asks_statistics:
                masks = _by_statistics(lake, part.condition, masks)
        found.append(Settled(part, masks.may, some, masks.must))
    return found


def all_of(parts: Sequence[Settled], count: int) -> Masks:
    """What is known of a condition, given its parts, in so many row groups."""
    found = Masks(np.ones(count, np.bool_), np.ones(count, np.bool_))
    for one in parts:
        found = Masks(found.may & one.may, found.must & one.must)
    return found


def some_row_of(parts: Sequence[Settled], count: int) -> Mask:
    """In which of so many row groups a row certainly satisfies a condition, given its parts: one is true of it, the others of all rows."""
    found = np.full(count, not parts)
    for place, one in enumerate(parts):
        others = [other.must for at, other in enumerate(parts) if at != place]
        found |= np.logical_and.reduce([one.some, *others])
    return found


def _by_folders(lake: KnownLake, tree: Condition) -> Masks:
    """A condition on columns that folders stand for is true of all rows of a file, or of none."""
    values = [pads.get_partition_keys(one.partition_expression) for one in lake.fragments]
    names = sorted(tree.columns)
    columns = [
        pa.array([one.get(name) for one in values], compared_type(lake.schema.field(name).type))
        for name in names
    ]
    of_groups: Mask = rows_of(tree, pa.table(columns, names))[lake.file_of]
    return Masks(of_groups, of_groups)


def _by_statistics(lake: KnownLake, tree: Condition, known: Masks) -> Masks:
    """What statistics add to what is known."""
    may, must = known.may.copy(), known.must.copy()
    claims: dict[int, _FileClaims] = {}
    for place in np.flatnonzero(may & ~must & (lake.row_counts > 0)).tolist():
        file = int(lake.file_of[place])
        group = claims.setdefault(file, _FileClaims(lake.files[file])).of_group(int(lake.group_of[place]))
        may[place] = group.may_be_true(tree)
        must[place] = may[place] and group.is_true_of_all(tree)
    return Masks(may, must)


class _FileClaims:
    """The statistics in the footer of a file."""

    def __init__(self, file: KnownFile) -> None:
        self.metadata = file.metadata
        self.body = range(file.framing.body_start, file.framing.footer_start)

    @cached_property
    def leaves(self) -> Any:
        """The leaf columns."""
        return leaves(self.metadata)

    def of_group(self, number: int) -> _GroupClaims:
        """Those of a row group."""
        return _GroupClaims(self, number)


class _GroupClaims:
    """The statistics of one row group."""

    def __init__(self, file: _FileClaims, number: int) -> None:
        self._file, self._group = file, file.metadata.row_groups[number]

    def claims_of(self, name: str) -> ChunkClaims | None:
        """Those of a column; ``None`` where there is no such one, or several."""
        places = [at for at, leaf in enumerate(self._file.leaves) if leaf.is_called(name)]
        if len(places) != 1 or places[0] >= len(self._group.columns):
            return None
        orders, place = self._file.metadata.column_orders, places[0]
        order = orders[place] if orders and place < len(orders) else None
        chunk, leaf = self._group.columns[place], self._file.leaves[place]
        claims = ChunkClaims(NOWHERE, self._file.body, self._group.num_rows, chunk, leaf, order)
        return claims if claims.is_readable else None

    def may_be_true(self, tree: Condition) -> bool:
        """Whether a condition may be true of a row."""
        return bool(rows_left(tree, self.claims_of, self._group.num_rows, by_statistics))

    def is_true_of_all(self, tree: Condition) -> bool:
        """Whether a condition is true of every row: no row may be in what a set leaves out."""

        def of_test(test: ColumnTest) -> bool:
            claims = self.claims_of(test.column)
            others = replace(test, values=test.values.complement(null=not test.values.null))
            return claims is not None and claims.is_flat and not claims.may_match(others, asks_bloom=False)

        return folded(tree, of_test, all, any)


__all__ = ["Masks", "Settled", "all_of", "settled", "some_row_of"]
