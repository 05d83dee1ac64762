"""The claims of a table about one data file: the model that every format of tables feeds.

A claim has its value, in a form that does not depend on the format, and its `Place` in the table's own files.  Claims are small, and
go with their file to its judge, another process included.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple, Protocol

from pqassay_spec.table.layout import TableKind


class ClaimPlace(NamedTuple):
    """Where a table says something.

    Attributes:
        file: A file of the table, relative to its folder.
        entry: Which of its entries: the line of a commit, the row of a checkpoint, the entry of a manifest, each from 0 on.
        path: The names that lead to the field in the entry.
    """

    file: str
    entry: int
    path: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((f"{self.file}[{self.entry}]", *self.path))

    def below(self, *names: str) -> ClaimPlace:
        """A field in this one."""
        return ClaimPlace(self.file, self.entry, (*self.path, *names))


class ValueKind(Enum):
    """The value of a bound or a partition, independent of the data file."""

    NUMBER = "number"
    """`int` or `Decimal`, exact."""

    FLOATING = "floating point number"
    """`float`, maybe infinite or NaN; of a column of 4 bytes rounded to them when it is compared."""

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
"""A value; which, `ValueKind` says."""


class UnknownType(Exception):  # noqa: N818 - no error: of such columns nothing is judged
    """Values of a type are not compared."""


class Typed(NamedTuple):
    """A value, and what it is."""

    kind: ValueKind
    value: Scalar


class Reading(NamedTuple):
    """How the values of a type are read.

    Attributes:
        kind: What they are.
        read: Makes one of what a table holds. Raises `ValueError` for other things.
    """

    kind: ValueKind
    read: Callable[[Any], Scalar]


class Count(NamedTuple):
    """A number of rows, values or bytes, and where it is written."""

    value: int
    place: ClaimPlace


class Metric(Enum):
    """The claims of a table about a column of a file, as messages call it."""

    SIZE = "size"
    """Bytes of its chunks."""

    VALUES = "value count"
    """Values, nulls included."""

    NULLS = "null count"
    """Nulls."""

    NANS = "NaN count"
    """NaN values."""

    LOWER = "lower bound"
    """What no value that is neither null nor NaN is less than."""

    UPPER = "upper bound"
    """What no value that is neither null nor NaN is greater than."""


BOUNDS = (Metric.LOWER, Metric.UPPER)


class TableColumn(NamedTuple):
    """A column of a table.

    Attributes:
        key: The key of claims about it, see `ColumnMetrics.given`.
        name: The users' name of the column.
        path: The names by which it is found in the file, below the root; empty if it is found by id.
        field_id: The id by which it is found, where it is.
        type: The type that the table gives it, in the format's words.
        reading: How its bounds are read; ``None`` where values of the type are not compared.
        cut: The unit to which maxima may be cut, so that values lie beyond them; 0 if they are whole.
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
    """The value of a partition field, which all rows of a file share.

    Attributes:
        name: The name of the field.
        path, field_id: How its source column is found in the file, see `TableColumn`.
        transform: How it follows from the source column: ``identity`` where it is the same.
        type: The type of the source column, in the format's words; empty if it does not matter.
        kind: What the value is; ``None`` of a null.
        value: The value; ``None`` of a null.
        written: The value as the table writes it.
        place: Where.
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
        place: Where the table speaks of it.
        file: The file that holds it, relative to the table; empty where `inline` does.
        offset: Where it begins in that file.
        length: Its bytes, as the table says.
        cardinality: Rows that it removes, as the table says.
        inline: The vector itself, where the table's metadata hold it.
        broken: The rule that the table breaks here, so that the claim cannot be read; empty for none.
        of: The data file, as the table names it; empty if that is not said again beside the vector.
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
        name, path, field_id, type: The column from which it follows, see `TableColumn`.
        transform: How it follows, as that of `PartitionValue`.
        descending, nulls_first: How it is sorted.
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
        place: Where the table says it.
        number: The number of the order in the table.
        columns: The sort keys, in order.
        unknown: Why the order cannot be followed; empty if it can.
    """

    place: ClaimPlace
    number: int
    columns: tuple[SortedBy, ...]
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class DeletesClaims:
    """The claims of a table about a delete file.

    Attributes:
        place: Where the table says it, in the entry of the file.
        snapshot: The snapshot of the table.
        by_position: Whether it names files and positions, and not values.
        compared: The columns whose values it names: their ids, and what users call them.
        named: The one data file that it is about, as the table names it; ``None`` where the table does not say it.
    """

    place: ClaimPlace
    snapshot: int
    by_position: bool
    compared: tuple[tuple[int, str], ...] = ()
    named: str | None = None


@dataclass(frozen=True, slots=True)
class RowIdClaims:
    """A table's claims about the row ids of a data file, some of which the file may store.

    Attributes:
        place: Where the table says it.
        path, field_id: How the column of stored ids is found in the file, see `TableColumn`.
        first: The id of the first row, from which rows without a stored id count on; ``None`` where they have none.
        end: The first id that no row has.
    """

    place: ClaimPlace
    path: tuple[str, ...]
    field_id: int | None
    first: int | None
    end: int


class ColumnMetrics(Protocol):
    """Counts and bounds of the columns of one file, as the format of its table holds them."""

    @property
    def schema(self) -> object:
        """The columns of the table: one object for all files of which the same columns are claimed."""
        ...

    def columns(self) -> Sequence[TableColumn]:
        """The columns of the schema that can have some, in its order."""
        ...

    def given(self, metric: Metric) -> Mapping[Any, Any]:
        """The values of a metric by the keys of columns: whole numbers, and bounds as the table holds them."""
        ...

    def is_null_where_absent(self, column: TableColumn) -> bool:
        """Whether a file without the column has null in all its rows."""
        ...

    def place(self, metric: Metric, column: TableColumn) -> ClaimPlace:
        """The place of one."""
        ...

    def written(self, metric: Metric, column: TableColumn) -> str:
        """A bound as the table writes it, for messages."""
        ...

    def facts(self) -> tuple[Any, ...]:
        """All of it, to be compared with that of another day; its ``repr`` is the same in every process."""
        ...


@dataclass(frozen=True)
class FileClaims:
    """All that a table says about one data file, or of one delete file.

    Attributes:
        table: The format of the table.
        place: The entry of the file.
        path: The file, relative to the table.
        rows: Its rows, with those that a deletion vector removes.
        is_tight: Whether bounds and counts describe exactly the rows that remain; wide bounds only enclose them.
        metrics: Counts and bounds of its columns, as the format holds them; ``None`` without any.
        partition: The values of its partition fields.
        deleted: Its deletion vector.
        order: How its rows are sorted.
        deletes: What a delete file deletes.
        has_names: Whether columns of a file without ids are found by names.
        first_split: The start of the first part of the file that is read separately.
        splits: Where the others begin.
        remedy: The command of the table's own software that makes the claims again, for findings.
        row_ids: The ids of its rows; ``None`` where they have none.
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
