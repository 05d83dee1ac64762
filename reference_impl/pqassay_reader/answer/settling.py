"""Settle a condition from metadata before rows are read: where it may be true of a row, and where it is true of all rows.

The sources are partition values of folders, distinct sets, and the statistics of footers.  Unknown parts stay open.  Bounds prove
that a condition is true of all rows only if the footer counts no nulls, because a comparison is not true of a null.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.answer.lake import Lake
from pqassay_reader.condition.kinds import find_column
from pqassay_reader.condition.normal import ColumnTest, Condition, folded
from pqassay_reader.condition.rows import rows_of
from pqassay_reader.directory.arrays import Mask
from pqassay_reader.lake.known_file import KnownFile
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.pages.excluding import EVERY
from pqassay_reader.pages.row_selection import by_statistics, rows_left
from pqassay_reader.query.conditions import parts_of
from pqassay_reader.query.facts.footer_facts import NOWHERE


class Settled(NamedTuple):
    """The known facts about a part of a condition, for each row group.

    Attributes:
        condition: The part.
        may: Whether it may be true of a row.
        must: Whether it is true of all rows.
    """

    condition: Condition
    may: Mask
    must: Mask


def settled(
    lake: Lake, predicate: Condition | None, fields: Collection[str], *, asks_statistics: bool
) -> list[Settled]:
    """The known facts about each part of a condition that AND joins, without reading rows.

    Args:
        lake: The files.
        predicate: The condition; ``None`` for all rows.
        fields: The top-level fields that would be read otherwise.
        asks_statistics: Whether statistics are used if nothing else decides a part; this is slow, row group
            by row group.

    Raises:
        Refused: The condition does not fit the columns.
        OSError: A file cannot be read.
    """
    settlements: list[Settled] = []
    for part in parts_of(predicate) if predicate is not None else []:
        if part.columns.issubset(lake.partitions):
            may = must = _by_folders(lake, part.condition)
        else:
            sets = lake.sets(part.columns, fields)
            may, must = sets.row_groups(part.condition, EVERY), sets.certain_row_groups(part.condition)
            if asks_statistics:
                _ask_statistics(lake, part.condition, may, must)
        settlements.append(Settled(part.condition, may, must))
    return settlements


def _by_folders(lake: Lake, condition: Condition) -> Mask:
    """A mask of row groups for a condition on partition columns, which is true of all rows of a file, or of none."""
    values = [pads.get_partition_keys(one.partition_expression) for one in lake.fragments]
    names = sorted(condition.columns)
    columns = [pa.array([one.get(name) for one in values], lake.kind(name)) for name in names]
    of_groups: Mask = rows_of(condition, pa.table(columns, names))[lake.file_of]
    return of_groups


def _ask_statistics(lake: Lake, condition: Condition, may: Mask, must: Mask) -> None:
    """Add the facts from statistics to the known facts."""
    for place in np.flatnonzero(may & ~must & (lake.row_counts > 0)).tolist():
        file, group = lake.known[int(lake.file_of[place])], int(lake.group_of[place])
        claims, rows = partial(_claims, lake, file, group), file.facts.row_counts[group]
        may[place] = bool(rows_left(condition, claims, rows, by_statistics))
        must[place] = may[place] and _is_true_of_all(claims, condition)


def _is_true_of_all(claims_of: Callable[[str], ChunkClaims | None], condition: Condition) -> bool:
    """Whether a condition is true of every row of a row group: whether the complement of its sets matches no row."""

    def of_test(test: ColumnTest) -> bool:
        claims = claims_of(test.column)
        others = replace(test, values=test.values.complement(null=not test.values.null))
        return claims is not None and claims.is_flat and not claims.may_match(others, asks_bloom=False)

    return folded(condition, of_test, all, any)


def _claims(lake: Lake, file: KnownFile, group: int, name: str) -> ChunkClaims | None:
    """The claims of a file about a column; ``None`` if there is no such column, or several."""
    path, _ = find_column(lake.schema, name)
    places = [at for at, leaf in enumerate(file.facts.leaves) if leaf.is_at(path)]
    claims = file.facts.claims_of(NOWHERE, group, places[0]) if len(places) == 1 else None
    return claims if claims is not None and claims.is_readable else None


__all__ = ["Settled", "settled"]
