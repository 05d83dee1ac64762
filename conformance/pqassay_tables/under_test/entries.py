"""The entries of live files, and the bounds of a column in all entries, for any table format.

A table may have a million entries, so rules about bounds process one column in all entries at a time. Each format fills the same lists, so
the code that reads and compares them is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from itertools import compress, count
from operator import gt
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, overload

from pqassay.tables.claims import BOUNDS, ClaimPlace, Metric, Reading, Scalar, UnknownType
from pqassay.under_test.file import NotChecked
from pqassay.under_test.violation import Violation
from pqassay_tables.under_test.table import TableUnderTest

Entry = TypeVar("Entry")


class Listed(Protocol):
    """The interface of metadata about a live file."""

    @property
    def inside(self) -> str | None:
        """The file relative to the table; ``None`` if it is outside."""
        ...


Table = TypeVar("Table", bound=TableUnderTest)
Said = TypeVar("Said", bound=Listed)


class LiveEntry(Generic[Table, Said]):
    """The entry of a live file.

    Attributes:
        table: The table.
        entry: Its metadata.
    """

    __slots__ = ("_size", "entry", "table")

    def __init__(self, table: Table, entry: Said) -> None:
        self.table = table
        self.entry = entry
        self._size: int | None = UNKNOWN

    @property
    def data_file(self) -> str:
        """The file, for messages."""
        return self.entry.inside or ""

    @property
    def actual_size(self) -> int | None:
        """The size of the file in bytes; ``None`` if it does not exist. Raises `NotChecked` if that is unknown."""
        if self._size == UNKNOWN:
            try:
                self._size = self.table.at.size_of(self.entry.inside or "")
            except OSError as error:
                reason = f"{self.data_file} cannot be read: {error.strerror or error}"
                raise NotChecked(reason, "file", judgeable=False) from None
        return self._size

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
        """The violation of a false claim at a place; see `Violation` for the arguments."""
        inside = self.entry.inside
        return self.table.wrong(
            place, message, expected, actual, remedy=remedy, column=column, data_file=inside
        )


UNKNOWN = -1
"""A placeholder for the size of a file that was not looked up yet."""


class EntryBounds(Generic[Entry]):
    """The bounds of one column in all entries.

    Attributes:
        name, type, key: Name, type and key of the column.
        entries: The entries.
        raws: The lower and upper bounds of each entry, as stored; ``None`` if absent.
        values: The bounds as values; ``None`` for invalid ones.
        problems: Invalid values: the entry, the side and the reason.
    """

    def __init__(
        self, column: BoundedColumn, entries: Sequence[Entry], raws: Mapping[Metric, Sequence[Any]]
    ) -> None:
        self.name, self.type, self.key = column.name, column.type, column.key
        self.entries, self.raws = entries, raws
        self.problems: list[tuple[int, Metric, ValueError]] = []
        try:
            read = column.reading().read
        except UnknownType:
            self.values: dict[Metric, Sequence[Scalar | None]] = {
                metric: [None] * len(entries) for metric in BOUNDS
            }
        else:
            self.values = {metric: self._read(read, metric) for metric in BOUNDS}
            self.problems.sort(key=lambda problem: problem[0])

    def _read(self, read: Callable[[Any], Scalar], metric: Metric) -> list[Scalar | None]:
        raws = self.raws[metric]
        try:
            return [None if raw is None else read(raw) for raw in raws]
        except ValueError:
            values: list[Scalar | None] = [None] * len(raws)
        for number, raw in enumerate(raws):
            try:
                values[number] = None if raw is None else read(raw)
            except ValueError as error:
                self.problems.append((number, metric, error))
        return values

    def crossed(self) -> Iterator[int]:
        """The entries whose lower bound is greater than the upper one. NaN is not ordered."""
        lows: Sequence[Any] = self.values[Metric.LOWER]
        highs: Sequence[Any] = self.values[Metric.UPPER]
        if None not in lows and None not in highs:
            return compress(count(), map(gt, lows, highs))
        both = enumerate(zip(lows, highs, strict=True))
        return (number for number, (low, high) in both if low is not None and high is not None and low > high)

    def each(self) -> Iterator[tuple[Entry, Metric, Any]]:
        """Yield every existing bound: its entry, its side, and its stored form."""
        for entry, *pair in zip(self.entries, *(self.raws[metric] for metric in BOUNDS), strict=True):
            for metric, raw in zip(BOUNDS, pair, strict=True):
                if raw is not None:
                    yield entry, metric, raw


class BoundedColumn(NamedTuple):
    """A column that may have bounds.

    Attributes:
        name, type: Its name and its type.
        key: The key of its bounds.
        reading: Returns the conversion of its bounds. Raises `UnknownType`.
    """

    name: str
    type: str
    key: Hashable
    reading: Callable[[], Reading]


class BoundsOfColumns(Sequence[EntryBounds[Entry]], Generic[Entry]):
    """The bounds of each column with bounds in an entry, created on use, so that only one column is in memory at a time.

    Args:
        columns: The columns of the table.
        entries: The entries that may have bounds.
        given: Returns the bounds of an entry by column key, for each side.
    """

    def __init__(
        self,
        columns: Collection[BoundedColumn],
        entries: Sequence[Entry],
        given: Mapping[Metric, Sequence[Mapping[Any, Any]]],
    ) -> None:
        self._entries, self._given = entries, given
        known = set[Any]().union(*given[Metric.LOWER], *given[Metric.UPPER])
        # A rule is also kept, not inapplicable, if there are statistics without bounds.
        self._columns = [column for column in columns if column.key in known] or [*columns][: len(entries)][
            :1
        ]

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, place: int) -> EntryBounds[Entry]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[EntryBounds[Entry]]: ...
    def __getitem__(self, place: int | slice) -> EntryBounds[Entry] | Sequence[EntryBounds[Entry]]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        column = self._columns[place]
        raws = {metric: [each.get(column.key) for each in given] for metric, given in self._given.items()}
        return EntryBounds(column, self._entries, raws)
