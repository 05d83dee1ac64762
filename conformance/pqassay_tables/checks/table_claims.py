"""The claims of a table about a data file, compared with its footer: shared code of the families about tables.

Each family declares the rules. Messages are shared, and positions of findings use the terms of the format.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from pqassay.checks.subjects import Subject
from pqassay.tables.claims import Metric
from pqassay.under_test.file import Broken, FileUnderTest, Hindrances, NotApplicable, NotEverywhere
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.column_order import bound_width, key
from pqassay_spec.table.layout import TableKind
from pqassay_tables.under_test.claimed_bounds import Unreached, shown_value
from pqassay_tables.under_test.claimed_columns import ClaimedBound, ClaimedColumn, ClaimedFile


def claimed_by(table: TableKind) -> Subject[ClaimedFile]:
    """The subject of data files with claims of a table of one format."""

    def find(file: FileUnderTest) -> list[ClaimedFile]:
        if file.claims is None or file.claims.table != table:
            return []
        _ = file.metadata
        return [file.part(ClaimedFile)]

    return Subject(f"file of a {table} table", find)


def row_count(file: ClaimedFile) -> Iterator[Violation]:
    """Yield a violation if the row count differs from the footer's."""
    claimed = file.claims.rows
    if claimed is None:
        raise NotApplicable
    actual = file.file.metadata.num_rows
    if actual < 0:
        raise Broken("PQF-015")
    if claimed.value != actual:
        said = f"the table says that {file.name} has {claimed.value} rows, but its footer says {actual}"
        yield file.wrong(claimed.place, said, str(actual), str(claimed.value), remedy=file.claims.remedy)


def null_counts(file: ClaimedFile, compared: Container[int] | None = None) -> Iterator[Violation]:
    """Yield a violation for each null count that differs from the sum over all chunks, if all chunks have one.

    Args:
        file: The file.
        compared: The counts to compare; all by default.
    """
    applies = is_broken = False
    for column, claimed in file.counts(Metric.NULLS):
        if compared is not None and claimed not in compared:
            continue
        total = 0
        for _, chunk in file.statistics.get(column.ordinal or 0, ()):
            counted = None if chunk is None else chunk.null_count
            if counted is None or counted < 0:
                is_broken |= counted is not None
                break
            total += counted
        else:
            applies = True
            if total != claimed:
                message = f"the null count {file.of(column)} is {claimed}, but the footer counts {total}"
                yield file.false(column, Metric.NULLS, message, str(total), str(claimed))
    if is_broken:
        raise Broken("STA-010")
    if not applies:
        raise NotApplicable


def bounds_of_footer(file: ClaimedFile) -> Iterator[Violation]:
    """Yield a violation for each bound that excludes a bound of the footer which certainly is a value of the file."""
    if not file.bounds:
        raise NotApplicable
    statistics, problems, first = file.statistics, Hindrances(), None
    for claim in file.bounds:
        if claim.problem is not None:
            first = first or claim.problem
            problems.note(claim.problem)
        elif (limit := claim.stored) is not None:
            for row_group, chunk in statistics.get(claim.column.ordinal or 0, ()):
                if chunk is None:
                    continue
                if claim.above:
                    raw, exact = chunk.max_value, chunk.is_max_value_exact
                else:
                    raw, exact = chunk.min_value, chunk.is_min_value_exact
                if raw is not None and raw != limit and exact is not False:  # most are equal
                    yield from _beyond(file, claim, row_group, raw, is_exact=bool(exact))
    if first is not None:
        raise NotEverywhere(first, problems)


def _beyond(
    file: ClaimedFile, claim: ClaimedBound, row_group: int, raw: bytes, *, is_exact: bool
) -> Iterator[Violation]:
    """Yield the violation if a footer bound lies beyond a claimed bound, and certainly is a value."""
    column, order, limit = claim.column, claim.column.order, claim.stored
    if column.leaf is None or not (is_exact or bound_width(column.leaf.element) is not None):
        return
    value, least = key(order, raw), key(order, limit) if isinstance(limit, bytes) else None
    if value is None or (least is None and limit is not Unreached.BY_ANY):
        return
    if least is None or (least < value if claim.above else value < least):
        actual, written = shown_value(column.leaf.element, order, raw), file.written(claim)
        message = (
            f"the {claim.metric.value} {file.of(column)} is {written}, but row group "
            f"{row_group} holds {actual}"
        )
        expected = f"{actual} or {'more' if claim.above else 'less'}"
        yield file.false(column, claim.metric, message, expected, written, row_group)


def absent_nulls(file: ClaimedFile) -> Iterator[Violation]:
    """Yield a violation if the null count of a column that the file lacks differs from its number of rows."""
    rows, counts = file.file.metadata.num_rows, file.metrics.given(Metric.NULLS)
    for column in file.columns:
        counted = counts.get(column.key) if column.leaf is None else None
        expected = None if counted is None or rows < 0 else _nulls_where_absent(file, column, rows)
        if expected is None or counted == expected:
            continue
        if file.is_bounded(column) is not None:
            continue  # another rule reports bounds of a missing column
        message = (
            f"the null count {file.of(column)} is {counted}, but the file, of {rows} rows, has no such column"
        )
        yield file.false(column, Metric.NULLS, message, str(expected), str(counted))


def _nulls_where_absent(file: ClaimedFile, column: ClaimedColumn, rows: int) -> int | None:
    """The nulls of a column that the file does not have: all rows, unless readers take the value of a partition or a default."""
    if file.metrics.is_null_where_absent(column.table):
        return rows
    if file.claims.table == "delta":
        return None  # readers take no counts of partition columns
    identity = (one for one in file.claims.partition if one.transform == "identity")
    value = next((one.value for one in identity if one.field_id == column.table.field_id), 0)
    return rows if value is None else 0


def has_bounds(file: ClaimedFile) -> bool:
    """Whether the table has bounds for a column."""
    return bool(file.bounds) or any(
        file.is_bounded(column) is not None for column in file.columns if column.leaf is None
    )


def has_null_counts(file: ClaimedFile) -> bool:
    """Whether the table has counts of nulls."""
    given = file.metrics.given(Metric.NULLS)
    return any(column.key in given for column in file.columns)
