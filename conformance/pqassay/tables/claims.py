"""The claims of a table about one data file: a model that all table formats use.

A claim has its value, in a form that does not depend on the format, and its `Place` in the table's own files. Claims are small, and are
sent with their file to the worker process.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple, Protocol

from pqassay_spec.table.layout import TableKind


class ClaimPlace(NamedTuple):
    """The place of a claim in a table's files.

    Attributes:
        file: A file of the table, relative to its folder.
        entry: The entry, counted from 0: the line of a commit, the row of a checkpoint, or the entry of a manifest.
        path: The path of the field in the entry.
    """

    file: str
    entry: int
    path: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((f"{self.file}[{self.entry}]", *self.path))

    def below(self, *names: str) -> ClaimPlace:
        """The place of a field below this one."""
        return ClaimPlace(self.file, self.entry, (*self.path, *names))


class ValueKind(Enum):
    """The kind of value of a bound or a partition, independent of the data file."""

    NUMBER = "number"
    """`int` or `Decimal`, exact."""

    FLOATING = "floating point number"
    """`float`, may be infinite or NaN; for a 4-byte column, it is rounded to 4 bytes for comparison."""

    TEXT = "text"
    """`bytes`, UTF-8."""

    BYTES = "bytes"
    """`bytes`."""

    BOOLEAN = "boolean"
    """`bool`."""

    DATE = "date"
    """`int`, days since 1970."""

    TIMESTAMP = "timestamp"
    """`int`, nanoseconds since 1970."""

    TIME = "time of day"
    """`int`, nanoseconds since midnight."""


Scalar = int | float | Decimal | bytes
"""A value; its `ValueKind` determines its type."""


class UnknownType(Exception):  # noqa: N818 - no error: of such columns nothing is judged
    """Values of this type are not compared."""


class Typed(NamedTuple):
    """A value with its kind."""

    kind: ValueKind
    value: Scalar


class Reading(NamedTuple):
    """The conversion of a type's values from table metadata.

    Attributes:
        kind: The kind of the values.
        read: Converts a value from the metadata. Raises `ValueError` if it is not of the type.
    """

    kind: ValueKind
    read: Callable[[Any], Scalar]


class Count(NamedTuple):
    """A number of rows, values or bytes, with its place."""

    value: int
    place: ClaimPlace


class Metric(Enum):
    """The kinds of claims about a column of a file, with their names in messages."""

    SIZE = "size"
    """The bytes of its chunks."""

    VALUES = "value count"
    """The number of values, nulls included."""

    NULLS = "null count"
    """The number of nulls."""

    NANS = "NaN count"
    """The number of NaN values."""

    LOWER = "lower bound"
    """A lower bound of all values that are neither null nor NaN."""

    UPPER = "upper bound"
    """An upper bound of all values that are neither null nor NaN."""


BOUNDS = (Metric.LOWER, Metric.UPPER)


class TableColumn(NamedTuple):
    """A column of a table.

    Attributes:
        key: The key of claims about it, see `ColumnMetrics.given`.
        name: The column name that users see.
        path: The path that identifies it in the file, below the root; empty if an id identifies it.
        field_id: The id that identifies it in the file, if any.
        type: The type that the table gives it, in the format's words.
        reading: The conversion of its bounds; ``None`` if values of the type are not compared.
        cut: The unit to which maxima may be truncated, so that values may exceed them; 0 if they are exact.
    """

    key: Hashable
    name: str
    path: tuple[str, ...]
    field_id: int | None
    type: str
    reading: Reading | None
    cut: int = 0


@dataclass(frozen=True, slots=True)
class PartitionValue:
    """The value of a partition field, which is the same for all rows of a file.

    Attributes:
        name: The name of the field.
        path, field_id: The identification of its source column in the file, see `TableColumn`.
        transform: The transform of the source column; ``identity`` if the value is the column's.
        type: The type of the source column, in the format's words; empty if irrelevant.
        kind: The kind of the value; ``None`` for a null.
        value: The value; ``None`` for a null.
        written: The value as written in the table.
        place: Its place.
    """

    name: str
    path: tuple[str, ...]
    field_id: int | None
    transform: str
    kind: ValueKind | None
    value: Scalar | None
    written: str
    place: ClaimPlace
    type: str = ""


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """A deletion vector: the rows of the data file that are not part of the table.

    Attributes:
        place: The place of the claim in the table.
        file: The file with the vector, relative to the table; empty if `inline` has it.
        offset: Its offset in that file.
        length: Its size in bytes, as claimed by the table.
        cardinality: The number of removed rows, as claimed by the table.
        inline: The vector itself, if it is in the table's metadata.
        broken: The rule that prevents reading the claim, if the table breaks one; otherwise empty.
        of: The data file, as the vector's own metadata name it; empty if they do not.
    """

    place: ClaimPlace
    file: str
    offset: int
    length: int
    cardinality: int
    inline: bytes | None = None
    broken: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class SortedBy:
    """A value by which the rows of a file are sorted.

    Attributes:
        name, path, field_id, type: The source column, see `TableColumn`.
        transform: The transform of the source column, as in `PartitionValue`.
        descending, nulls_first: The direction of the sorting.
    """

    name: str
    path: tuple[str, ...]
    field_id: int | None
    type: str
    transform: str
    descending: bool
    nulls_first: bool

    def __str__(self) -> str:
        by = self.name if self.transform == "identity" else f"{self.transform} of {self.name}"
        order = "descending" if self.descending else "ascending"
        return f"{by} {order}, nulls {'first' if self.nulls_first else 'last'}"


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The order of the rows of a file.

    Attributes:
        place: The place of the claim in the table.
        number: The number of the order in the table.
        columns: The sort keys, in order.
        unknown: Why the order cannot be checked; empty if it can.
    """

    place: ClaimPlace
    number: int
    columns: tuple[SortedBy, ...]
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class DeletesClaims:
    """The claims of a table about a delete file.

    Attributes:
        place: The place of the claim, in the entry of the file.
        snapshot: The snapshot of the table.
        by_position: Whether it deletes by file and position instead of by values.
        compared: The columns whose values it compares: ids and names.
        named: The only data file that it applies to, as the table names it; ``None`` if the table does not say.
    """

    place: ClaimPlace
    snapshot: int
    by_position: bool
    compared: tuple[tuple[int, str], ...] = ()
    named: str | None = None


@dataclass(frozen=True, slots=True)
class RowIdClaims:
    """A table's claims about the row ids of a data file; the file may store some ids itself.

    Attributes:
        place: The place of the claim in the table.
        path, field_id: The identification of the column of stored ids in the file, see `TableColumn`.
        first: The id of the first row; the ids of rows without a stored id continue from it. ``None`` if there are no such ids.
        end: The exclusive end of all ids.
    """

    place: ClaimPlace
    path: tuple[str, ...]
    field_id: int | None
    first: int | None
    end: int


class ColumnMetrics(Protocol):
    """Counts and bounds of the columns of one file, in the form of the table's format."""

    @property
    def schema(self) -> object:
        """The columns of the table; the same object for all files with claims about the same columns."""
        ...

    def columns(self) -> Sequence[TableColumn]:
        """The columns of the schema that can have metrics, in schema order."""
        ...

    def given(self, metric: Metric) -> Mapping[Any, Any]:
        """The values of a metric by column key: integers, or bounds in the form of the table."""
        ...

    def is_null_where_absent(self, column: TableColumn) -> bool:
        """Whether all rows are null if the file lacks the column."""
        ...

    def place(self, metric: Metric, column: TableColumn) -> ClaimPlace:
        """The place of a metric of a column."""
        ...

    def written(self, metric: Metric, column: TableColumn) -> str:
        """A bound as written in the table, for messages."""
        ...

    def facts(self) -> tuple[Any, ...]:
        """All metrics, for comparison with another day; the ``repr`` is the same in every process."""
        ...


@dataclass(frozen=True)
class FileClaims:
    """All claims of a table about one data file or one delete file.

    Attributes:
        table: The format of the table.
        place: The entry of the file.
        path: The file, relative to the table.
        rows: Its number of rows, including rows that a deletion vector removes.
        is_tight: Whether bounds and counts describe exactly the remaining rows; wide bounds only contain them.
        metrics: Counts and bounds of its columns in the form of the format; ``None`` if there are none.
        partition: The values of its partition fields.
        deleted: Its deletion vector.
        order: The order of its rows.
        deletes: The claims about the deletes of a delete file.
        has_names: Whether names identify the columns of a file without ids.
        first_split: The start of the first part of the file that is read separately.
        splits: The starts of the other parts.
        remedy: The command of the table's own software that recomputes the claims, for findings.
        row_ids: The claims about the ids of its rows; ``None`` if it has none.
        schema: The columns that readers look for in the file, in a form of the format; its ``repr`` is the same in every process.
    """

    table: TableKind
    place: ClaimPlace
    path: str
    rows: Count | None = None
    is_tight: bool = True
    metrics: ColumnMetrics | None = field(default=None, repr=False)
    partition: tuple[PartitionValue, ...] = ()
    deleted: DeletedRows | None = None
    order: RowOrder | None = None
    deletes: DeletesClaims | None = None
    has_names: bool = False
    first_split: Count | None = None
    splits: tuple[int, ...] = ()
    remedy: str = field(default="", compare=False)
    row_ids: RowIdClaims | None = None
    schema: object = None
