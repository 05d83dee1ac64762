"""The entries of live files in a Delta log, and the screen that recognises sound ones.

A table may have a million entries.  The screen looks once at each for all rules about entries: numbers and texts are compared as JSON
holds them, wherever that is certain to be the order of the column's type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, cast

from pqassay.tables.claims import Place
from pqassay.under_test.fields import Field
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay_spec.table.delta import FLOATING, INTEGER_BITS
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.delta.schema import DeltaColumn, DeltaSchema
from pqassay_tables.metadata.delta.state import AddEntry
from pqassay_tables.metadata.delta.statistics import MAX, MIN, NULLS, ROWS, TIGHT, member_of
from pqassay_tables.under_test.table import DeltaTable, claim_field


class EntryUnderTest:
    """The entry of a live file.

    Attributes:
        table: The table.
        entry: What the log says.
    """

    __slots__ = ("entry", "table")

    def __init__(self, table: DeltaTable, entry: AddEntry) -> None:
        self.table = table
        self.entry = entry

    @property
    def schema(self) -> DeltaSchema:
        """The columns of the table."""
        return self.table.state.schema

    @property
    def stats(self) -> Json:
        """Its statistics; empty without any."""
        return self.entry.stats or {}

    @property
    def data_file(self) -> str:
        """The data file, for messages."""
        return self.entry.path or "(no path)"

    @property
    def actual_size(self) -> int | None:
        """The length of the data file; ``None`` if it is not there. Raises `NotChecked` where that cannot be told."""
        try:
            return self.table.at.size_of(self.entry.inside or "")
        except OSError as error:
            reason = f"{self.data_file} cannot be looked at: {error.strerror or error}"
            raise NotChecked(reason, "file", judgeable=False) from None

    def field(self, place: Place) -> Field:
        """A field of the log."""
        return claim_field(self.table.file, place)

    def bounds(self) -> Iterator[tuple[DeltaColumn, str, Any]]:
        """Every bound of a column: the column, ``minValues`` or ``maxValues``, and what JSON holds."""
        for name in (MIN, MAX):
            values = self.stats.get(name)
            if isinstance(values, dict):
                for column in self.schema.columns:
                    raw = member_of(values, column.path)
                    if raw is not None:
                        yield column, name, raw


def entries_of(table: DeltaTable) -> list[EntryUnderTest]:
    """The entries of the live files."""
    return [EntryUnderTest(table, entry) for entry in table.state.entries]


# -------------------------------------------------------------------------------------------------------- screen

_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])", re.ASCII)
_MOMENT = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3}(?:\d{3})?)?Z",
    re.ASCII,
)
"""Texts whose order is that of what they mean, where both are of one length; days that not every month has are looked at closely."""

Order = Callable[[Any, Any], bool]
"""Whether a lower and an upper bound certainly are values of the type, in order."""


def _integers(bits: int) -> Order:
    least, end = -(1 << bits - 1), 1 << bits - 1
    return lambda low, high: type(low) is int and type(high) is int and least <= low <= high < end


def _numbers(low: Any, high: Any) -> bool:
    return (
        (type(low) is int or type(low) is Decimal)
        and (type(high) is int or type(high) is Decimal)
        and low <= high
    )


def _texts(low: Any, high: Any) -> bool:
    return type(low) is str and type(high) is str and low <= high and low.isascii() and high.isascii()


def _matching(pattern: re.Pattern[str]) -> Order:
    match = pattern.fullmatch

    def are_ordered(low: Any, high: Any) -> bool:
        return (
            type(low) is str
            and type(high) is str
            and len(low) == len(high)
            and low <= high
            and match(low) is not None
            and match(high) is not None
        )

    return are_ordered


_ORDERS: dict[str, Order] = {
    **{name: _integers(bits) for name, bits in INTEGER_BITS.items()},
    **dict.fromkeys(FLOATING, _numbers),
    "string": _texts,
    "date": _matching(_DAY),
    "timestamp": _matching(_MOMENT),
    "timestamp_ntz": _matching(re.compile(_MOMENT.pattern.removesuffix("Z"), re.ASCII)),
}


class Screen:
    """The screen of the entries of one table: a part of the file, ``file.part(Screen)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self.table = file.part(DeltaTable)

    @cached_property
    def orders(self) -> Mapping[str, Order]:
        """How bounds of the columns of the root compare, by their names in statistics; of other columns, the rules are asked."""
        return {
            column.path[0]: _ORDERS[column.type]
            for column in self.table.state.schema.columns
            if len(column.path) == 1 and column.type in _ORDERS
        }

    @cached_property
    def partition(self) -> frozenset[str]:
        """The names of the partition columns."""
        return frozenset(column.path[0] for column in self.table.state.schema.partition)

    @cached_property
    def are_texts(self) -> bool:
        """Whether all partition columns are of type string."""
        return all(column.type == "string" for column in self.table.state.schema.partition)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The names of the columns of the root that are no structs."""
        return frozenset(
            column.path[0] for column in self.table.state.schema.columns if len(column.path) == 1
        )

    @cached_property
    def required(self) -> frozenset[str]:
        """The names of those of them that cannot be null."""
        columns = self.table.state.schema.columns
        return frozenset(column.path[0] for column in columns if len(column.path) == 1 and column.is_required)

    def shape(self, entry: AddEntry) -> Hashable | None:
        """The shape of an entry that breaks no rule about entries; ``None`` where that is not certain."""
        action = entry.action
        size, stats = action.get("size"), entry.stats
        if entry.inside is None or type(size) is not int or action.get("deletionVector") is not None:
            return None
        try:
            if self.table.at.size_of(entry.inside) != size:
                return None
        except OSError:
            return None
        values = action.get("partitionValues")
        if (
            type(values) is not dict
            or cast("Json", values).keys() != self.partition
            or (values and not self.are_texts)
        ):
            return None
        if stats is None:
            return None if entry.stats_problem else (False,)
        rows = stats.get(ROWS)
        if type(rows) is not int or rows < 0 or type(stats.get(TIGHT, True)) is not bool:
            return None
        low, high, nulls = stats.get(MIN, _NOTHING), stats.get(MAX, _NOTHING), stats.get(NULLS, _NOTHING)
        if type(low) is not dict or type(high) is not dict or type(nulls) is not dict:
            return None
        return self._columns(rows, cast("Json", low), cast("Json", high), cast("Json", nulls))

    def _columns(self, rows: int, low: Json, high: Json, nulls: Json) -> Hashable | None:
        if low.keys() != high.keys():
            return None
        orders = self.orders
        for name, least in low.items():
            order = orders.get(name)
            if order is None or not order(least, high[name]):
                return None
        for count in nulls.values():
            if type(count) is not int or not 0 <= count <= rows:
                return None
        if not nulls.keys() <= self.counted or any(map(nulls.get, self.required)):
            return None
        return True, bool(low), bool(nulls), self.table.state.schema.mode == "none"


_NOTHING: Json = {}


def shape_of(one: EntryUnderTest) -> Hashable | None:
    """The screen of entries; see `pqassay.checks`."""
    return one.table.file.part(Screen).shape(one.entry)
