"""Selection of rows: those of a row group that a condition leaves over, by everything that the file says about its values.

What is left are ranges of rows; which pages of which column hold them, the offset indexes say.  A conjunction leaves what all
of its parts leave, a disjunction what any of them leaves; under NOT, the parts are asked for the opposite.

Source: chapter ``page_index.md``; the sets are those of `pqassay_spec.parquet.page_search`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, cast

from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.predicate.expressions import OPPOSITES
from pqassay_reference.columns.literals import python_value
from pqassay_reference.errors import Refused
from pqassay_spec.parquet.page_search import Condition, Rows, intersection, union

Chunks = Callable[[str], ChunkClaims | None]
"""The chunk of a column by the name that a predicate calls it; ``None`` where nothing can be said of it."""

Answer = Callable[[ChunkClaims, Condition, Any, bool], Rows]
"""The rows of a chunk for which a condition may be true, given its literal and whether NaN satisfies it."""


def by_statistics(chunk: ChunkClaims, condition: Condition, literal: Any, nan: bool) -> Rows:
    """All rows of the row group, or none, and nothing is read for it."""
    may = chunk.may_match(condition, literal, nan=nan, asks_bloom=False)
    return [range(chunk.row_count)] if may else []


def by_statistics_and_bloom(chunk: ChunkClaims, condition: Condition, literal: Any, nan: bool) -> Rows:
    """All rows of the row group, or none."""
    return [range(chunk.row_count)] if chunk.may_match(condition, literal, nan=nan) else []


def by_pages(chunk: ChunkClaims, condition: Condition, literal: Any, nan: bool) -> Rows:
    """The rows of the pages that the column index leaves over."""
    return chunk.rows(condition, literal, nan=nan)


# --8<-- [start:rows]
def rows_left(
    predicate: Sequence[Any], chunks: Chunks, row_count: int, answer: Answer, *, negated: bool = False
) -> Rows:
    """The rows of a row group for which a predicate may be true, or, ``negated``, may be false.

    Args:
        predicate: A tree as in the protocol.
        chunks: The chunks of the row group.
        row_count: Its rows.
        answer: What is asked of each chunk.
        negated: Whether the opposite is sought.

    Raises:
        Refused: It is not a predicate.
    """
    everything = [range(row_count)] if row_count else []
    match predicate:
        case ["not", part]:
            return rows_left(part, chunks, row_count, answer, negated=not negated)
        case [("and" | "or") as name, *parts] if parts:
            left = (rows_left(part, chunks, row_count, answer, negated=negated) for part in parts)
            if (name == "and") == negated:
                return union(left)
            return _met(left, everything)
        case [str(operator), str(column), *rest] if operator in OPPOSITES:
            chunk = chunks(column)
            if chunk is None:
                return everything
            asked = OPPOSITES[operator] if negated else operator
            return _rows_of(chunk, asked, rest, answer, negated=negated)
        case _:
            raise Refused(f"{str(predicate)[:80]} is no predicate")


# --8<-- [end:rows]


def _met(parts: Any, everything: Rows) -> Rows:
    """What all parts leave; once nothing is left, no other part is asked, so that nothing more is read for it."""
    left = everything
    for part in parts:
        left = intersection(left, part)
        if not left:
            break
    return left


def _rows_of(
    chunk: ChunkClaims, operator: str, rest: Sequence[Any], answer: Answer, *, negated: bool
) -> Rows:
    everything = [range(chunk.row_count)] if chunk.row_count else []
    if operator in ("in", "not in"):
        literals = rest[0] if rest and isinstance(rest[0], list) else []
        is_member = operator == "in"
        left = [
            answer(chunk, "=" if is_member else "!=", python_value(one), not is_member) for one in literals
        ]
        return union(left) if is_member else reduce(intersection, left, everything)
    literal = python_value(rest[0]) if rest else None
    nan = operator == "!=" or (negated and operator != "=")  # no comparison with NaN is true but that one
    return answer(chunk, cast("Condition", operator), literal, nan)


__all__ = ["Answer", "Chunks", "by_pages", "by_statistics", "by_statistics_and_bloom", "rows_left"]
