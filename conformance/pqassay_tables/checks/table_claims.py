"""What a table says of a data file, compared with its footer: what the families about tables have in common.

Each family declares the rules; which of its own words a message uses, it does not say: the position of a finding does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from pqassay.checks.subjects import Subject
from pqassay.tables.claims import Count
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.column_order import bound_width, key
from pqassay_spec.table.layout import TableKind
from pqassay_tables.under_test.claimed_bounds import shown_value
from pqassay_tables.under_test.claimed_columns import ClaimedColumn, ClaimedFile, Side
from pqassay_tables.under_test.table import claim_field

FileScreen = Callable[[FileUnderTest], Hashable | None]
"""The shape of a file of which its table certainly says nothing else than its footer; ``None`` of others."""


def claimed_by(table: TableKind, screen: FileScreen) -> Subject[ClaimedFile]:
    """A data file of a table of one format."""

    def find(file: FileUnderTest) -> list[ClaimedFile]:
        if file.claims is None or file.claims.table != table:
            return []
        _ = file.metadata
        return [file.part(ClaimedFile)]

    return Subject(f"file of a {table} table", find, shape=screen)


def columns_claimed_by(table: TableKind, screen: FileScreen) -> Subject[ClaimedColumn]:
    """A column of a data file of which a table of one format says something."""

    def find(file: FileUnderTest) -> list[ClaimedColumn]:
        if file.claims is None or file.claims.table != table:
            return []
        return file.part(ClaimedFile).present

    def placed(violation: Violation, column: ClaimedColumn) -> Violation:
        _ = column
        return violation

    return Subject(f"column of a {table} table", find, placed, shape=screen)


def _said(column: ClaimedColumn) -> str:
    return f"of column {column.claims.name} in the table's entry for {column.owner.name}"


def row_count(file: ClaimedFile) -> Iterator[Violation]:
    """The count of rows is that of the footer."""
    claimed = file.claims.rows
    if claimed is None:
        raise NotApplicable
    actual = file.file.metadata.num_rows
    if actual < 0:
        raise Broken("PQF-015")
    if claimed.value != actual:
        yield Violation(
            f"the table says that {file.name} has {claimed.value} rows, and its footer says {actual}",
            claim_field(file.file, claimed.place),
            expected=str(actual),
            actual=str(claimed.value),
            remedy=file.claims.remedy,
        )


def null_count(column: ClaimedColumn, claimed: Count | None) -> Iterator[Violation]:
    """The count of nulls is that of all chunks in the footer, if each has one."""
    if claimed is None:
        raise NotApplicable
    total = 0
    for chunk in column.chunks:
        counted = None if chunk.statistics is None else chunk.statistics.null_count
        if counted is None:
            raise NotApplicable
        if counted < 0:
            raise Broken("STA-010")
        total += counted
    if total != claimed.value:
        yield Violation(
            f"the null count {_said(column)} is {claimed.value}, and the footer counts {total}",
            column.field(claimed.place),
            expected=str(total),
            actual=str(claimed.value),
            column=column.claims.name,
            remedy=column.owner.claims.remedy,
        )


def bounds_of_footer(column: ClaimedColumn) -> Iterator[Violation]:
    """The bounds enclose those of the footer, wherever these certainly are values of the file."""
    sides = column.sides()
    if not sides:
        raise NotApplicable
    problem: NotChecked | None = None
    for side in sides:
        try:
            yield from _of_side(column, side)
        except NotChecked as reason:
            problem = problem or reason
    if problem is not None:
        raise problem


def _of_side(column: ClaimedColumn, side: Side) -> Iterator[Violation]:
    bound = column.stored(side.bound, above=side.above)
    if bound is None:
        return
    for chunk in column.chunks:
        statistics = chunk.statistics
        if statistics is None:
            continue
        raw = statistics.max_value if side.above else statistics.min_value
        exact = statistics.is_max_value_exact if side.above else statistics.is_min_value_exact
        if raw is None or not (exact or (exact is None and bound_width(chunk.leaf.element) is not None)):
            continue
        if raw == bound.raw:
            continue  # as most are
        value = key(bound.order, raw)
        limit = None if bound.raw is None else key(bound.order, bound.raw)
        if value is None or (limit is None and not bound.is_beyond):
            continue
        if bound.is_beyond or (limit < value if side.above else value < limit):
            actual = shown_value(chunk.leaf.element, bound.order, raw)
            yield Violation(
                f"the {side.name} {_said(column)} is {side.bound.written}, and row group {chunk.row_group} holds {actual}",
                column.field(side.bound.place),
                expected=f"{actual} or {'more' if side.above else 'less'}",
                actual=side.bound.written,
                column=column.claims.name,
                row_group=chunk.row_group,
                remedy=column.owner.claims.remedy,
            )


def absent_nulls(file: ClaimedFile) -> Iterator[Violation]:
    """The count of nulls of a column that the file does not have is that of its rows."""
    rows = file.file.metadata.num_rows
    for column in file.columns:
        claims, counted = column.claims, column.claims.nulls
        if column.leaf is not None or counted is None or not claims.is_null_where_absent:
            continue
        if claims.lower or claims.upper:
            continue  # that there are bounds of what is not there, another rule says
        if rows >= 0 and counted.value != rows:
            yield Violation(
                f"the null count {_said(column)} is {counted.value}, and the file, of {rows} rows, has no such column",
                column.field(counted.place),
                expected=str(rows),
                actual=str(counted.value),
                column=claims.name,
                remedy=file.claims.remedy,
            )
