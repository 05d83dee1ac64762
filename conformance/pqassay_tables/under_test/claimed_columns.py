"""The columns of a data file with claims of a table, and their metadata in the footer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from pqassay.tables.claims import BOUNDS, ClaimPlace, ColumnMetrics, FileClaims, Metric, Scalar, TableColumn
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.schemas.known_schemas import Schema
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.column_order import Order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import Statistics
from pqassay_spec.table.layout import TableKind
from pqassay_tables.under_test.claimed_bounds import Stored, Stores, form_of, storing
from pqassay_tables.under_test.table import claim_field

NESTED = ("array", "map", "list", "struct", "variant")
"""Table types whose columns have several leaves in a file, or none."""


class Ordinals(NamedTuple):
    """The positions of the leaves of a schema by id, by path, and by path in lower case."""

    by_id: dict[int, int]
    by_path: dict[tuple[str, ...], int]
    folded: dict[tuple[str, ...], int]

    def of(self, field_id: int | None, path: tuple[str, ...]) -> int | None:
        """The position of a column; ``None`` if there is none.

        Args:
            field_id: The id that identifies it. Without an id, or in a file without ids, its path identifies it.
            path: Its path; empty if the path does not identify it.
        """
        if field_id is not None and (self.by_id or not path):
            return self.by_id.get(field_id)
        found = self.by_path.get(path)
        # some engines ignore case
        return self.folded.get(tuple(name.casefold() for name in path)) if found is None else found


def ordinals_of(schema: Schema) -> Ordinals:
    """The positions of the leaves of a schema."""
    ordinals = Ordinals({}, {}, {})
    for number, leaf in enumerate(schema.leaves):
        ordinals.by_path.setdefault(leaf.path, number)
        ordinals.folded.setdefault(tuple(name.casefold() for name in leaf.path), number)
        if leaf.element.field_id is not None:
            ordinals.by_id.setdefault(leaf.element.field_id, number)
    return ordinals


class ClaimedColumn:
    """A column of a table, resolved in the schema of a file.

    Attributes:
        table: The column in the table: names, type, and conversion of bounds.
        name, key: Name and key of the table's column.
        ordinal: Its position among the leaves of the file; ``None`` if the file lacks it.
        leaf: Its leaf.
        store: Converts bounds to the form of the file; ``None`` if that is impossible.
        problem: Why bounds cannot be compared with values of the file, if so.
        order: The order for comparing values with bounds, independent of the footer's column orders.
    """

    __slots__ = ("key", "leaf", "name", "order", "ordinal", "problem", "store", "table")

    def __init__(self, column: TableColumn, schema: Schema) -> None:
        self.table = column
        self.name, self.key = column.name, column.key
        self.ordinal = schema.view(ordinals_of).of(column.field_id, column.path)
        self.leaf: SchemaLeaf | None = None if self.ordinal is None else schema.leaves[self.ordinal]
        self.store: Stores | None = None
        self.problem: NotChecked | None = None
        self.order = Order.BYTES
        if self.leaf is not None and column.reading is not None:
            form = form_of(self.leaf.element)
            self.order = form.order or Order.BYTES
            try:
                self.store = storing(form, column.reading.kind)
            except NotChecked as reason:
                self.problem = reason.with_traceback(None)


Made = TypeVar("Made")

CROSSED: Mapping[TableKind, str] = {"delta": "DLT-012", "iceberg": "ICE-017"}
"""The rules that the lower bound of a column is not greater than the upper bound: if broken, it is unknown which bound is false."""

MOST_PLANS = 8
"""The number of cached pairs of table columns and file schema; a lake has few."""


class Plans(Generic[Made]):
    """Results of comparing the columns of a table with the schemas of files; each is computed once and cached."""

    def __init__(self) -> None:
        self._known: list[tuple[object, Schema, Made]] = []

    def of(self, columns: object, schema: Schema, make: Callable[[], Made]) -> Made:
        """The cached result, computed if necessary."""
        for of_table, of_file, plan in self._known:
            if of_table is columns and of_file is schema:
                return plan
        made = make()
        # Replacing a list atomically needs no lock.
        self._known = [(columns, schema, made), *self._known[: MOST_PLANS - 1]]
        return made


_PLANS = Plans[list[ClaimedColumn]]()


def _value(read: Callable[[Any], Scalar], raw: Any) -> Scalar | None:
    """A bound; ``None`` if it is not a value of the type, which rules of tier ``meta`` judge."""
    try:
        return read(raw)
    except ValueError:
        return None


class ClaimedBound(NamedTuple):
    """A bound that a table claims for the values of a column.

    Attributes:
        column: The column.
        metric: The side of the bound.
        value: The bound.
        stored: The bound in the form of the file.
        problem: Why it cannot be compared with values of the file, if so.
    """

    column: ClaimedColumn
    metric: Metric
    value: Scalar
    stored: Stored
    problem: NotChecked | None

    @property
    def above(self) -> bool:
        """Whether it is an upper bound."""
        return self.metric is Metric.UPPER


class ClaimedFile:
    """A data file with the claims of its table, available as ``file.part(ClaimedFile)``.

    Claims are compared for all columns at once. The place and the written form of a claim are looked up only if it is false.
    """

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @Remembered
    def claims(self) -> FileClaims:
        """The claims of the table. Raises `NotApplicable` for a file without a table."""
        if self.file.claims is None:
            raise NotApplicable
        return self.file.claims

    @Remembered
    def metrics(self) -> ColumnMetrics:
        """The claims of the table about columns. Raises `NotApplicable` if there are none."""
        if self.claims.metrics is None:
            raise NotApplicable
        return self.claims.metrics

    @Remembered
    def columns(self) -> list[ClaimedColumn]:
        """The columns of the table, except lists and maps. Raises the errors of the leaves."""
        metrics, schema = self.claims.metrics, self.file.schema
        if metrics is None:
            return []
        return _PLANS.of(
            metrics.schema,
            schema,
            lambda: [
                ClaimedColumn(column, schema) for column in metrics.columns() if column.type not in NESTED
            ],
        )

    @Remembered
    def statistics(self) -> dict[int, list[tuple[int, Statistics | None]]]:
        """The statistics of each chunk of a column, with its row group, by the position of the column.

        Raises the errors of `ColumnChunks.all`.
        """
        found: dict[int, list[tuple[int, Statistics | None]]] = {}
        for chunk in self.file.part(ColumnChunks).all:
            found.setdefault(chunk.ordinal, []).append((chunk.row_group, chunk.facts.statistics))
        return found

    @Remembered
    def sizes(self) -> dict[int, int]:
        """The bytes of the chunks of each column, by the position of the column. Raises the errors of `ColumnChunks.all`."""
        found = Counter[int]()
        for chunk in self.file.part(ColumnChunks).all:
            found[chunk.ordinal] += chunk.facts.total_compressed_size
        return found

    def counts(self, metric: Metric) -> Iterator[tuple[ClaimedColumn, int]]:
        """Yield the counts of columns that exist in the file."""
        given = self.metrics.given(metric)
        for column in self.columns:
            if column.ordinal is not None and (count := given.get(column.key)) is not None:
                yield column, count

    @Remembered
    def bounds(self) -> list[ClaimedBound]:
        """The bounds of columns that exist in the file."""
        claimed: list[ClaimedBound] = []
        lower, upper = (self.metrics.given(metric) for metric in BOUNDS)
        for column in self.columns:
            if column.leaf is None or column.table.reading is None:
                continue
            read = column.table.reading.read
            values = [
                None if raw is None else _value(read, raw)
                for raw in (lower.get(column.key), upper.get(column.key))
            ]
            least, greatest = values
            is_crossed = least is not None and greatest is not None and least > greatest  # type: ignore[operator] # of one type
            for metric, value in zip(BOUNDS, values, strict=True):
                if value is None:
                    continue
                above, cut, stored, problem = metric is Metric.UPPER, column.table.cut, None, column.problem
                slack = cut - 1 if cut and above and value % cut == 0 else 0  # of moments
                try:
                    stored = column.store(value, slack, above) if column.store is not None else None
                except NotChecked as reason:
                    problem = reason
                if is_crossed:
                    problem = Broken(CROSSED[self.claims.table])
                claimed.append(ClaimedBound(column, metric, value, stored, problem))
        return claimed

    def bounds_of(self, ordinal: int) -> Sequence[ClaimedBound]:
        """The bounds of a column of the file, by its position."""
        return self._by_ordinal.get(ordinal, ())

    @Remembered
    def _by_ordinal(self) -> dict[int, list[ClaimedBound]]:
        found: dict[int, list[ClaimedBound]] = {}
        for bound in self.bounds if self.claims.metrics is not None else ():
            found.setdefault(bound.column.ordinal or 0, []).append(bound)
        return found

    def is_bounded(self, column: ClaimedColumn) -> Metric | None:
        """The side of the first bound of a column, even if the file lacks the column; ``None`` without bounds."""
        reading = column.table.reading
        for metric in BOUNDS:
            raw = self.metrics.given(metric).get(column.key)
            if raw is not None and reading is not None:
                with suppress(ValueError):
                    _ = reading.read(raw)
                    return metric
        return None

    def ordinal_of(self, field_id: int | None, path: tuple[str, ...]) -> int | None:
        """The position of a column among the leaves; see `Ordinals.of`. Raises the errors of the leaves."""
        return self.file.schema.view(ordinals_of).of(field_id, path)

    @property
    def has_ids(self) -> bool:
        """Whether the columns of the file have ids."""
        return bool(self.file.schema.view(ordinals_of).by_id)

    @property
    def name(self) -> str:
        """The name of the file in the table."""
        return self.claims.path

    # ------------------------------------------------------------------------------------------------- what is false

    def of(self, column: ClaimedColumn) -> str:
        """The subject of a claim, for messages."""
        return f"of column {column.name} in the table's entry for {self.name}"

    def written(self, claim: ClaimedBound) -> str:
        """A bound as written in the table."""
        return self.metrics.written(claim.metric, claim.column.table)

    def false(
        self,
        column: ClaimedColumn,
        metric: Metric,
        message: str,
        expected: str,
        actual: str,
        row_group: int | None = None,
    ) -> Violation:
        """The violation of a false claim about a column."""
        place, remedy = self.metrics.place(metric, column.table), self.claims.remedy
        found = self.wrong(place, message, expected, actual, remedy=remedy, column=column.name)
        return replace(found, row_group=row_group)

    def wrong(
        self,
        place: ClaimPlace,
        message: str,
        expected: str,
        actual: str,
        *,
        remedy: str = "",
        column: str | None = None,
    ) -> Violation:
        """The violation of a claim at a place; see `Violation` for the arguments."""
        return Violation(
            message, claim_field(self.file, place), expected, actual, column=column, remedy=remedy
        )
