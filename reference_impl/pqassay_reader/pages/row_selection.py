"""Selection of rows: the rows of a row group that a condition keeps, according to all metadata about its values.

The result is ranges of rows; the offset indexes give the pages of each column with these rows.  A conjunction
keeps the rows that all of its parts keep, a disjunction the rows that any part keeps.

Source: chapter ``page_index.md``; the sets are those of `pqassay_spec.parquet.page_search`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from pqassay_reader.condition.normal import ColumnTest, Condition, folded
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_spec.parquet.page_search import Rows, intersection, union

Chunk = TypeVar("Chunk")
"""The facts about a column chunk."""


def by_statistics(chunk: ChunkClaims, test: ColumnTest) -> Rows:
    """All rows of the row group, or none; nothing is read."""
    return [range(chunk.row_count)] if chunk.may_match(test, asks_bloom=False) else []


def by_statistics_and_bloom(chunk: ChunkClaims, test: ColumnTest) -> Rows:
    """All rows of the row group, or none."""
    return [range(chunk.row_count)] if chunk.may_match(test) else []


# --8<-- [start:rows]
def rows_left(
    condition: Condition,
    chunks: Callable[[str], Chunk | None],
    row_count: int,
    answer: Callable[[Chunk, ColumnTest], Rows],
) -> Rows:
    """The rows of a row group for which a condition may be true.

    Args:
        condition: The condition.
        chunks: Returns the chunk of a column by its name in conditions; ``None`` if it is unknown.
        row_count: Number of rows of the row group.
        answer: Returns the rows of a chunk for which a test may be true.
    """
    everything = [range(row_count)] if row_count else []

    def of_test(test: ColumnTest) -> Rows:
        chunk = chunks(test.column)
        return everything if chunk is None else answer(chunk, test)

    return folded(condition, of_test, lambda parts: _met(parts, everything), union)


# --8<-- [end:rows]


def _met(parts: Iterable[Rows], everything: Rows) -> Rows:
    """The rows that all parts keep; once no row is left, later parts are not evaluated, which saves reads."""
    left = everything
    for part in parts:
        left = intersection(left, part)
        if not left:
            break
    return left


__all__ = ["by_statistics", "by_statistics_and_bloom", "rows_left"]
