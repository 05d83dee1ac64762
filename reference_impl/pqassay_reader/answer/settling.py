"""What metadata say of a condition before a row is read: in which row groups it may be true of a row, and in which it is true of all.

Three things are asked: what folders stand for, distinct sets, and the statistics of footers.  None decides more than it knows.  Bounds settle that a condition is true
of all rows only where the footer counts no nulls: of a null, a comparison is not true.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from pqassay_reader.answer.lake import KnownFile, Lake
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.pages.excluding import EVERY
from pqassay_reader.pages.row_selection import by_statistics, rows_left
from pqassay_reader.predicate.expressions import NULL_TESTS, TableColumns, columns_named, evaluated
from pqassay_reader.query.conditions import parts_of
from pqassay_reader.query.facts.footer_facts import NOWHERE
from pqassay_reference.columns.literals import Tree
from pqassay_reference.directory.reading.arrays import Mask


class Settled(NamedTuple):
    """What is known of a part of a condition, for each row group.

    Attributes:
        tree: The part.
        columns: The columns that it names.
        may: Whether it may be true of a row.
        some: Whether distinct sets say that it is true of one.
        must: Whether it is true of all rows.
    """

    tree: Tree
    columns: frozenset[str]
    may: Mask
    some: Mask
    must: Mask


def settled(
    lake: Lake, predicate: Tree | None, fields: Collection[str], *, asks_statistics: bool
) -> list[Settled]:
    """What is known without reading a row of each part of a condition that AND joins.

    Args:
        lake: The files.
        predicate: The condition; ``None`` for all rows.
        fields: The fields at the top level that would be read without what is known.
        asks_statistics: Whether statistics are asked where nothing else settles a part; it takes a while, row group by row group.

    Raises:
        Refused: The condition does not fit the columns.
        OSError: A file cannot be read.
    """
    found: list[Settled] = []
    for part in parts_of(predicate) if predicate is not None else []:
        if part.columns <= lake.partitions:
            may = some = must = _by_folders(lake, part.tree)
        else:
            sets = lake.sets(part.columns, fields)
            may, must = sets.row_groups(part.tree, EVERY), sets.certain_row_groups(part.tree)
            some = sets.row_groups_with_some(part.tree)
            if asks_statistics:
                _ask_statistics(lake, part.tree, may, must)
        found.append(Settled(part.tree, part.columns, may, some, must))
    return found


def true_of_rows(tree: Tree, table: pa.Table) -> Mask:
    """The rows of a table that satisfy a condition. Raises `Refused` where it does not fit the columns."""
    mask: Any = pc.fill_null(evaluated(tree, TableColumns(table)), False)
    found: Mask = np.asarray(mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else mask)
    return found


def _by_folders(lake: Lake, tree: Tree) -> Mask:
    """A condition on columns that folders stand for is true of all rows of a file, or of none."""
    values = [pads.get_partition_keys(one.partition_expression) for one in lake.fragments]
    names = sorted(columns_named(tree))
    columns = [pa.array([one.get(name) for one in values], lake.kind(name)) for name in names]
    of_groups: Mask = true_of_rows(tree, pa.table(columns, names))[lake.file_of]
    return of_groups


def _ask_statistics(lake: Lake, tree: Tree, may: Mask, must: Mask) -> None:
    """Add what statistics know to what is known."""
    has_null = _names_null(tree)
    for place in np.flatnonzero(may & ~must & (lake.row_counts > 0)).tolist():
        file, group = lake.files[int(lake.file_of[place])], int(lake.group_of[place])
        may[place] = bool(_left(file, group, tree))
        is_certain = not has_null and not _left(file, group, tree, negated=True)
        must[place] = (
            may[place] and is_certain and all(_counts_no_nulls(file, group, name) for name in _compared(tree))
        )


def _left(file: KnownFile, group: int, tree: Tree, *, negated: bool = False) -> Any:
    rows = file.facts.row_counts[group]
    return rows_left(tree, lambda name: _claims(file, group, name), rows, by_statistics, negated=negated)


def _claims(file: KnownFile, group: int, name: str) -> ChunkClaims | None:
    """What a file says of a column; ``None`` where there is no such one, or several."""
    places = [at for at, leaf in enumerate(file.facts.leaves) if leaf.is_called(name)]
    claims = file.facts.claims_of(NOWHERE, group, places[0]) if len(places) == 1 else None
    return claims if claims is not None and claims.is_readable else None


def _counts_no_nulls(file: KnownFile, group: int, name: str) -> bool:
    claims = _claims(file, group, name)
    stored = claims.facts.statistics if claims is not None and claims.is_flat else None
    return stored is not None and stored.null_count == 0


def _names_null(tree: Sequence[Any]) -> bool:
    """Whether a constant in a condition is null, of which bounds say nothing."""
    match tree:
        case [("and" | "or" | "not"), *parts]:
            return any(_names_null(part) for part in parts)
        case [_, _, list(literals)]:
            return any(one is None for one in literals)
        case [_, _, literal]:
            return literal is None
        case _:
            return False


def _compared(tree: Sequence[Any]) -> set[str]:
    """The columns that a condition compares with constants."""
    match tree:
        case [("and" | "or" | "not"), *parts]:
            return {name for part in parts for name in _compared(part)}
        case [str(operator), str(name), *_] if operator not in NULL_TESTS:
            return {name}
        case _:
            return set()


__all__ = ["Settled", "settled", "true_of_rows"]
