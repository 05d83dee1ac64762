"""Checks of IDX1 against the column's values, tier ``values``.

The format does not say which column an index describes. The column that the user names comes first, then the column in a companion record,
then a column that fits. A string column fits if its values equal the index, or if it has values and all are in the index. If no column
fits, messages describe the difference from the nearest one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.checks.commands import embed_command, strip_command
from pqassay.checks.idx1.blob import COMPANION_KEY, KEY, EmbeddedIndex
from pqassay.checks.subjects import Subject
from pqassay.under_test.chunks import why_left_out
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.violation import Spot, Violation, first_places
from pqassay.values.claims.audit import Family, ValueAudit, claiming
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string

if TYPE_CHECKING:
    from pqassay.values.claims.index_column import IndexComparison, IndexFamily, IndexValues


OF_VALUES = ("IDX1-013", "IDX1-015", "IDX1-016", "IDX1-017", "IDX1-018", "IDX1-019", "IDX1-022", "IDX1-023")
"""The rules that need the values of columns."""

NO_FIT = 3
"""The distance of a column that an index cannot describe."""

LISTED = 3
"""The number of values or columns that a message lists before an ellipsis."""


class IndexedColumn:
    """The column that an index describes, with the comparison of both.

    If an empty index could mean either of two columns, ``undecided`` names both: one without values and one with values. `comparison` sets
    it.
    """

    undecided: tuple[str, str] | None = None

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self.index = file.part(EmbeddedIndex)
        self._compared: dict[int, IndexComparison | NotChecked] = {}

    @Remembered
    def values(self) -> IndexValues:
        """The values of the index. Raises the error of reading them."""
        from pqassay.values.claims.index_column import IndexValues  # noqa: PLC0415 - pyarrow, at this tier only

        return IndexValues(self.index.values if self.index.blob.payload else ())

    def family(self) -> IndexFamily:
        """The columns to compare with, for an audit of values.

        They are created for each call, since an audit that was interrupted has already seen some values.

        Raises:
            FormatError, NotApplicable: There is no index to compare.
            NotChecked: There is no such column (IDX1-018 is broken).
        """
        from pqassay.values.claims.index_column import IndexFamily  # noqa: PLC0415 - pyarrow, at this tier only

        self._require_columns()
        family = IndexFamily(self.candidates, self.values)
        for ordinal, leaf in self.candidates:
            try:
                self._require_here(ordinal, leaf)
            except NotChecked as reason:
                family.comparisons[ordinal] = reason
        self._compared = family.comparisons
        return family

    def _require_columns(self) -> None:
        """Raise the errors of `family` unless an index and columns exist."""
        _ = self.values
        if not self.candidates:
            raise Broken("IDX1-018")

    @Remembered
    def comparison(self) -> IndexComparison:
        """The comparison with the declared column, or with the one that fits best.

        Raises:
            NotChecked: There is no such column (IDX1-018 is broken), or it cannot be decoded.
        """
        self._require_columns()
        with suppress(NotApplicable):  # a summary has no chunks
            _ = self.file.part(ValueAudit).outcomes
        compared = self._compared or self.family().comparisons
        problem = next((found for found in compared.values() if isinstance(found, NotChecked)), None)
        columns = [found for found in compared.values() if not isinstance(found, NotChecked)]
        best = min(columns, key=self.distance, default=None)
        if best is None or (problem is not None and self.distance(best)[0] == NO_FIT):
            raise problem or NotChecked("no column can be decoded", "file")
        filled = next((found.column for found in columns if found.value_rows), None)
        if (
            not self.index.blob.payload
            and self.declared is None
            and not best.value_rows
            and filled is not None
        ):
            self.undecided = best.column, filled
            raise NotChecked(
                f"an empty index only fits column {best.column}, which has no values, not "
                f"{filled}, which has; name the column that is meant",
                "request",
            )
        return best

    def _require_here(self, ordinal: int, leaf: SchemaLeaf) -> None:
        """Raise `NotChecked` if pages of a column are encrypted or in another file, since decoders read them from this one."""
        for number, row_group in enumerate(self.file.metadata.row_groups):
            chunk = row_group.columns[ordinal] if ordinal < len(row_group.columns) else None
            reason = chunk and why_left_out(self.file.metadata, chunk, number, leaf)
            if chunk and reason:
                raise NotChecked(f"{reason}, {show(chunk.file_path)}", "file") if chunk.file_path else reason

    def distance(self, comparison: IndexComparison) -> tuple[int, int]:
        """A sort key, best first: equal, equal to the pieces, superset of a column with values, then by the difference.

        The pieces are the lines of values with line feeds. An index that equals another column is not an index of pieces.
        """
        if comparison.difference == 0:
            return (1 if comparison.with_line_feed else 0), 0
        if comparison.missing_count == 0 and comparison.value_rows:
            return 2, comparison.difference
        return NO_FIT, comparison.difference

    @property
    def user_column(self) -> str | None:
        """The column that the user names."""
        return self.file.options.idx1_column

    @Remembered
    def companion_column(self) -> tuple[str, ...] | None:
        """The column that a well-formed companion record names."""
        try:
            return self.index.companion.column
        except (FormatError, NotApplicable):
            return None

    @property
    def declared(self) -> str | None:
        """The column that the user or the companion record names, for messages."""
        if self.user_column is not None:
            return self.user_column
        return ".".join(self.companion_column) if self.companion_column else None

    @Remembered
    def candidates(self) -> list[tuple[int, SchemaLeaf]]:
        """The columns to compare with, with their positions: the declared columns, else all string columns.

        A companion record gives the path of a column with one value per row; a user gives a name.
        """
        strings = [(ordinal, leaf) for ordinal, leaf in enumerate(self.file.leaves) if is_string(leaf)]
        if self.user_column is not None:
            return [pair for pair in strings if pair[1].is_called(self.user_column)]
        if self.companion_column is not None:
            found = [(n, leaf) for n, leaf in strings if leaf.is_at(self.companion_column)]
            return [] if self.is_ambiguous else [pair for pair in found if not pair[1].max_repetition_level]
        return strings

    @Remembered
    def is_ambiguous(self) -> bool:
        """Whether several columns have the path in the companion record, which is then ignored."""
        path = self.companion_column
        if self.user_column is not None or path is None:
            return False
        return sum(leaf.is_at(path) for leaf in self.file.leaves) > 1


@claiming
def index_claims(file: FileUnderTest) -> Family:
    """The claims of an index about the values of columns; absent if no rule about them is tested."""
    if all(rule_id in file.left_out for rule_id in OF_VALUES):
        raise NotApplicable
    return file.part(IndexedColumn).family()


def _indexed_columns(file: FileUnderTest) -> list[IndexedColumn]:
    has_key = KEY.find(file) or COMPANION_KEY.find(file)
    return [file.part(IndexedColumn)] if has_key else []


COLUMN = Subject("indexed column", _indexed_columns)
"""The column that an index describes; reading it or the index raises the errors that prevent a test."""


@rule("IDX1-013", of=COLUMN)
def empty_payload_is_the_empty_set(column: IndexedColumn) -> Iterator[Violation]:
    """An empty payload cannot list the empty string."""
    found = column.comparison
    if not column.index.blob.payload and found.value_rows and found.only_empty:
        yield _violation(
            column,
            f"column {found.column} holds the empty string; the payload is empty, which readers read as no value",
            expected="an index that is not empty, or none",
            actual="a payload of 0 bytes",
        )


@rule("IDX1-015", of=COLUMN)
def no_value_holds_a_line_feed(column: IndexedColumn) -> Iterator[Violation]:
    """A value with a line feed looks like several values."""
    found = column.comparison
    for value in found.with_line_feed:
        yield _violation(
            column,
            f"column {found.column} holds {show(value)}; an index would split it",
            expected="no index on a column with such a value",
            actual=show(value),
        )


@rule("IDX1-016", of=COLUMN)
def every_value_is_indexed(column: IndexedColumn) -> Iterator[Violation]:
    """A reader that looks for a missing value skips the file."""
    comparison = column.comparison
    if not comparison.missing_count or _told_by_empty_payload(column, comparison):
        return
    what = f"{_values(comparison.missing_count)} of column {comparison.column} not in the index: {_list(comparison.missing)}"
    if comparison.extra:
        what += f"; {_values(len(comparison.extra))} of the index in no row: {_list(comparison.extra)}"
    if column.declared is None and len(column.candidates) > 1:
        what += f"; no string column fits, {comparison.column} is nearest"
    yield _violation(
        column,
        what,
        expected=f"{_list(comparison.missing)} in the index",
        actual=_list(comparison.extra) if comparison.extra else "not there",
        marked=comparison.extra[0] if comparison.extra else None,
        remedy=embed_command(column.file, comparison.column),
    )


@rule("IDX1-017", of=COLUMN)
def every_indexed_value_occurs(column: IndexedColumn) -> Iterator[Violation]:
    """A superfluous value costs a read, never a row."""
    comparison = column.comparison
    if comparison.missing_count and not _told_by_empty_payload(column, comparison):
        raise NotChecked("IDX1-016 is broken and reports the differences", "another rule")
    if column.declared is None and not comparison.value_rows and comparison.extra:
        raise Broken("IDX1-018")
    yield from first_places(
        comparison.extra,
        lambda value: _spot(column.index.blob, value).violation(
            f"{show(value)} occurs in no row of column {comparison.column}",
            "values of the column only",
            show(value),
            column=comparison.column,
            remedy=embed_command(column.file, comparison.column),
        ),
    )


@rule("IDX1-018", of=COLUMN)
def a_string_column_is_indexed(column: IndexedColumn) -> Iterator[Violation]:
    """The declared column exists; without a declaration, there is at least one string column."""
    _ = column.index.blob
    if not column.candidates:
        strings = [leaf.name for leaf in islice(filter(is_string, column.file.leaves), LISTED + 1)]
        missing = "the file has no string column"
        if column.declared is not None:
            missing = f"the file has no string column {column.declared}; it has {_list(strings) or 'none'}"
        if column.is_ambiguous:
            missing = f"several columns are called {column.declared}; a companion record means one"
        yield Violation(
            message=missing,
            field=in_footer(column.file, "schema"),
            expected="a string column" if column.declared is None else f"a string column {column.declared}",
            actual=_list(strings) or "none",
        )
        return
    found = column.comparison
    if column.declared is None and column.distance(found)[0] == NO_FIT and not found.missing_count:
        yield _violation(
            column,
            f"no string column fits the index; {found.column} is nearest and has only nulls",
            expected=f"a column with {_list(found.extra)}",
            actual="no values",
        )


@rule("IDX1-019", of=COLUMN)
def an_empty_index_names_its_column(column: IndexedColumn) -> Iterator[Violation]:
    """An empty payload may mean a column of nulls or an index whose values were lost."""
    if column.index.blob.payload or not column.candidates:
        raise NotApplicable
    try:
        _ = column.comparison
    except NotChecked:
        if column.undecided is None:
            raise
    if column.undecided is not None:
        empty, filled = column.undecided
        said = (
            f"the index is empty: it may be of column {empty}, which has no values, or of "
            f"column {filled}, which has some"
        )
        yield column.index.length.violation(said, "a companion record, or values", "a payload of 0 bytes")


@rule("IDX1-022", of=COLUMN)
def companion_counts_the_rows(column: IndexedColumn) -> Iterator[Violation]:
    """If the record counts other rows than the footer or the column has, it was made for other rows."""
    record = column.index.companion
    field, counted, where = in_footer(column.file, "num_rows"), column.file.metadata.num_rows, "the file"
    remedy = ""
    if record.row_count == counted and (found := _rows_read(column)) is not None:
        counted, where = found.rows, f"column {found.column}"
        # A new record would repeat the number of the footer.
        remedy = strip_command(column.file, "--key", idx1.COMPANION_KEY)
    else:
        field = column.index.field(idx1.COMPANION_KEY)
    if record.row_count != counted:
        said = f"the index was made for {record.row_count} rows, but {where} has {counted}"
        yield Violation(said, field, f"row_count {counted}", f"row_count {record.row_count}", remedy=remedy)


def _rows_read(column: IndexedColumn) -> IndexComparison | None:
    """The comparison, if the tier reads values and the column has one value per row."""
    if not column.file.options.reaches("values"):
        return None
    try:
        found = column.comparison
    except (FormatError, NotApplicable, NotChecked):
        return None  # other rules report why; the footer's number was compared
    return None if found.leaf.max_repetition_level else found


@rule("IDX1-023", of=COLUMN)
def companion_counts_the_nulls(column: IndexedColumn) -> Iterator[Violation]:
    """The presence of nulls determines what IS NULL can skip."""
    record = column.index.companion
    name, comparison = ".".join(record.column), column.comparison
    if not comparison.leaf.is_at(record.column):
        raise NotChecked(
            f"the index was compared with {comparison.column}, but the companion record names {name}",
            "request",
        )
    if record.null_count != comparison.null_count:
        said = (
            f"column {name} holds {comparison.null_count} nulls, but the companion record "
            f"says {record.null_count}"
        )
        field = column.index.field(idx1.COMPANION_KEY)
        yield Violation(
            said, field, f"null_count {comparison.null_count}", f"null_count {record.null_count}", column=name
        )


def _told_by_empty_payload(column: IndexedColumn, found: IndexComparison) -> bool:
    """Whether the missing value is the empty string, which IDX1-013 reports."""
    return not column.index.blob.payload and found.only_empty


def _violation(
    column: IndexedColumn,
    message: str,
    *,
    expected: str,
    actual: str,
    marked: str | None = None,
    remedy: str = "",
) -> Violation:
    """A violation at the payload, at one value of it (``marked``), or at the length field that says 0."""
    spot = column.index.payload
    if marked is not None:
        spot = _spot(column.index.blob, marked)
    elif not spot.length:
        spot = column.index.length
    return spot.violation(message, expected, actual, column=column.comparison.column, remedy=remedy)


def _spot(blob: idx1.Blob, value: str) -> Spot:
    """The spot of a value in the payload."""
    position = blob.payload_start
    for other in idx1.exact_values(blob.payload):
        if other == value:
            break
        position += len(other.encode()) + len(idx1.SEPARATOR)
    return Spot("idx1.payload", position, len(value.encode()))


def _values(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"


def _list(values: Sequence[str]) -> str:
    shown = ", ".join(show(value, width=40) for value in values[:LISTED])
    return f"{shown}, …" if len(values) > LISTED else shown
