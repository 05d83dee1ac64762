"""The manifests of an Iceberg table and the entries of its live files, and the screen that recognises sound ones.

A table may have a million files.  The screen looks once at each entry for all rules about entries; what it does not call sound, the rules
judge one by one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable
from functools import cached_property
from itertools import pairwise
from typing import Any

from pqassay.tables.claims import Place
from pqassay.under_test.fields import Field
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import EXISTING, FILE_FORMATS
from pqassay_tables.metadata.iceberg.entry_claims import LOWER, NANS, NULLS, UPPER, VALUES
from pqassay_tables.metadata.iceberg.manifests import Entry, Manifest
from pqassay_tables.metadata.iceberg.schema import IcebergColumn, PartitionField
from pqassay_tables.metadata.iceberg.transforms import outside
from pqassay_tables.metadata.iceberg.values import Typed, UnknownTypeError, value_of
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import claim_field


class ManifestUnderTest:
    """A manifest of the snapshot.

    Attributes:
        table: The table.
        manifest: What it says, and what is said of it.
    """

    def __init__(self, table: IcebergTable, manifest: Manifest) -> None:
        self.table = table
        self.manifest = manifest

    @property
    def name(self) -> str:
        """The manifest, relative to the table."""
        return self.manifest.name

    @property
    def spec(self) -> tuple[PartitionField, ...]:
        """The partition fields of its files."""
        return self.table.state.schema.specs.get(self.manifest.listed.spec, ())

    def result_type(self, one: PartitionField) -> str | None:
        """The type of the values of a partition field; ``None`` where nobody knows it."""
        if one.transform in ("year", "month", "hour", "bucket"):
            return "int"
        if one.transform == "day":
            return "date"
        column = self.table.state.schema.column(one.source)
        return None if column is None or one.transform not in ("identity", "truncate") else column.type

    def field(self, place: Place) -> Field:
        """A field of the table's metadata."""
        return claim_field(self.table.file, place)


class EntryUnderTest:
    """The entry of a live file.

    Attributes:
        table: The table.
        entry: What the manifest says.
    """

    __slots__ = ("entry", "table")

    def __init__(self, table: IcebergTable, entry: Entry) -> None:
        self.table = table
        self.entry = entry

    @property
    def data_file(self) -> str:
        """The file, for messages."""
        return self.entry.inside or self.entry.path

    @property
    def actual_size(self) -> int | None:
        """The length of the file; ``None`` if it is not there. Raises `NotChecked` where that cannot be told."""
        try:
            return self.table.at.size_of(self.entry.inside or "")
        except OSError as error:
            reason = f"{self.data_file} cannot be looked at: {error.strerror or error}"
            raise NotChecked(reason, "file", judgeable=False) from None

    def field(self, place: Place) -> Field:
        """A field of the manifest."""
        return claim_field(self.table.file, place)

    def column(self, identifier: int) -> IcebergColumn | None:
        """The column of an id."""
        return self.table.state.schema.column(identifier)

    @property
    def spec(self) -> tuple[PartitionField, ...]:
        """The partition fields of the file."""
        return self.table.state.schema.specs.get(self.entry.manifest.listed.spec, ())

    def bounds(self, identifier: int) -> list[tuple[IcebergColumn, bytes]]:
        """The lower or upper bounds, of columns that are known, with their bytes."""
        given: dict[int, bytes] = self.entry.value(identifier) or {}
        columns = ((self.column(key), raw) for key, raw in given.items())
        return [(column, raw) for column, raw in columns if column is not None]

    def typed(self, column: IcebergColumn, identifier: int) -> Typed | None:
        """A bound as a value; ``None`` where there is none, or none of its type."""
        given: dict[int, bytes] = self.entry.value(identifier) or {}
        raw = given.get(column.id)
        try:
            return None if raw is None else value_of(column.type, raw)
        except (ValueError, UnknownTypeError):
            return None


def entries_of(table: IcebergTable) -> list[EntryUnderTest]:
    """The entries of the live files."""
    return [EntryUnderTest(table, entry) for entry in table.state.entries]


def manifests_of(table: IcebergTable) -> list[ManifestUnderTest]:
    """The manifests of the snapshot."""
    return [ManifestUnderTest(table, manifest) for manifest in table.state.manifests]


# -------------------------------------------------------------------------------------------------------- screen

Order = Callable[[bytes, bytes], bool]
"""Whether a lower and an upper bound certainly are values of the type, in order."""


def _integers(width: int) -> Order:
    unpack = struct.Struct("<i" if width == 4 else "<q").unpack

    def are_ordered(low: bytes, high: bytes) -> bool:
        return len(low) == width and len(high) == width and unpack(low) <= unpack(high)

    return are_ordered


def _floats(width: int) -> Order:
    unpack = struct.Struct("<f" if width == 4 else "<d").unpack

    def are_ordered(low: bytes, high: bytes) -> bool:
        return len(low) == width and len(high) == width and unpack(low) <= unpack(high)

    return are_ordered


def _texts(low: bytes, high: bytes) -> bool:
    return low <= high and low.isascii() and high.isascii()


_ORDERS: dict[str, Order] = {
    **dict.fromkeys(("int", "date"), _integers(4)),
    **dict.fromkeys(
        ("long", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"), _integers(8)
    ),
    "float": _floats(4),
    "double": _floats(8),
    "string": _texts,
    "binary": lambda low, high: low <= high,
}

_NOTHING: dict[int, Any] = {}


class Screen:
    """The screen of the entries of one table: a part of the file, ``file.part(Screen)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self._table = file.part(IcebergTable)

    @cached_property
    def orders(self) -> dict[int, Order]:
        """How bounds compare, by the ids of columns that are in no list or map."""
        columns = self._table.state.schema.columns.values()
        return {
            column.id: _ORDERS[column.type]
            for column in columns
            if column.type in _ORDERS and not column.is_repeated
        }

    @cached_property
    def single(self) -> frozenset[int]:
        """The ids of columns that are in no list or map."""
        columns = self._table.state.schema.columns.values()
        return frozenset(column.id for column in columns if not column.is_repeated)

    @cached_property
    def required(self) -> frozenset[int]:
        """The ids of those of them that cannot be null."""
        columns = self._table.state.schema.columns.values()
        return frozenset(column.id for column in columns if column.is_required and not column.is_repeated)

    @cached_property
    def has_last_id(self) -> bool:
        """Whether the metadata say which ids were assigned."""
        return type(self._table.state.metadata.get("last-column-id")) is int

    @cached_property
    def inherits(self) -> bool:
        """Whether files inherit sequence numbers."""
        return self._table.state.version > 1

    def shape(self, entry: Entry) -> Hashable | None:
        """The shape of an entry that breaks no rule about entries; ``None`` where that is not certain."""
        value = entry.value
        if entry.inside is None or value(field_ids.CONTENT) or entry.format not in FILE_FORMATS:
            return None
        if not self._is_as_long(entry):
            return None
        is_existing = (
            self.inherits
            and entry.status == EXISTING
            and bool(entry.manifest.listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER))
        )
        if is_existing and entry.own_sequence is None:
            return None
        low, high = value(LOWER) or _NOTHING, value(UPPER) or _NOTHING
        counts, nulls, nans = value(VALUES) or _NOTHING, value(NULLS) or _NOTHING, value(NANS) or _NOTHING
        if not self._are_ordered(low, high) or not self._are_counted(
            value(field_ids.RECORD_COUNT), counts, nulls, nans, low
        ):
            return None
        schema = self._table.state.schema
        is_divided = bool(low and schema.specs.get(entry.manifest.listed.spec))
        if low and (not self.has_last_id or (is_divided and any(outside(entry, schema)))):
            return None
        return (
            bool(low),
            bool(value(field_ids.SPLIT_OFFSETS)),
            bool(counts),
            bool(nulls),
            bool(nans),
            is_existing,
            is_divided,
        )

    def _is_as_long(self, entry: Entry) -> bool:
        """Whether the file has the length that is said, and is split within it."""
        size, splits = entry.value(field_ids.FILE_SIZE_IN_BYTES), entry.value(field_ids.SPLIT_OFFSETS)
        try:
            if self._table.at.size_of(entry.inside or "") != size:
                return False
        except OSError:
            return False
        return not splits or (splits[0] >= 0 and splits[-1] < size and _ascend(splits))

    def _are_ordered(self, low: dict[int, bytes], high: dict[int, bytes]) -> bool:
        if low.keys() != high.keys():
            return False
        orders = self.orders
        for key, least in low.items():
            order = orders.get(key)
            if order is None or not order(least, high[key]):
                return False
        return True

    def _are_counted(
        self,
        rows: int,
        counts: dict[int, int],
        nulls: dict[int, int],
        nans: dict[int, int],
        bounds: dict[int, bytes],
    ) -> bool:
        single, required = self.single, self.required
        for key, count in counts.items():
            if key not in single or count != rows:
                return False
        for key, count in nulls.items():
            left = counts.get(key, -1) - nans.get(key, 0) - count
            if count < 0 or left < 0 or (left == 0 and key in bounds) or (count and key in required):
                return False
        return not nans or (min(nans.values()) >= 0 and nans.keys() <= nulls.keys())


def _ascend(splits: list[int]) -> bool:
    return len(splits) == 1 or all(before <= after for before, after in pairwise(splits))


def shape_of(one: EntryUnderTest) -> Hashable | None:
    """The screen of entries; see `pqassay.checks`."""
    return one.table.file.part(Screen).shape(one.entry)
