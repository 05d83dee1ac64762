"""The order of the rows of a file, compared with what its table says of it: of all rows, across row groups.

What the Iceberg specification leaves open, is let pass: a zero beside one of the other sign, and NaN whose sign is set.  Other NaN is
greater than every number.  Texts compare by the bytes of their UTF-8.

Source: the Iceberg specification, "Sorting".
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.tables.claims import RowOrder, SortedBy
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, Mistake, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.claim import why_not_all
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.row_order import with_nulls
from pqassay.values.claims.wording import others
from pqassay.values.decoding.chunk_values import ChunkValues, excused
from pqassay.values.decoding.extremes import comparable_keys
from pqassay.values.decoding.keys import decimal_width, equal, less
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import FLOATING, Order, key, shown, type_order
from pqassay_spec.parquet.thrift import Type
from pqassay_tables.metadata import repairs
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.table import claim_field
from pqassay_tables.values.transforms import transformed

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class _Cell:
    """The value in one row: what it is sorted by, ``None`` of null, and how messages show it."""

    value: Any
    shown: str


@dataclass
class _Column:
    """What is known of one column of a row group.

    Attributes:
        falls, same: Of each row behind the first, whether it belongs before the one before it, and whether both are equal.
        rows: How many rows there are.
        first, last: The first and the last of them.
        values: The values, for messages.
    """

    falls: Bools
    same: Bools
    rows: int
    first: _Cell | None
    last: _Cell | None
    values: ChunkValues


@dataclass
class _Rows:
    """What is known of the columns of a row group so far; nothing once its rows were compared, or cannot be."""

    columns: dict[int, _Column] = field(default_factory=dict[int, _Column])
    is_over: bool = False


class OrderFamily:
    """The order that a table claims for the rows of a file.

    Attributes:
        outcomes: What came of the rule.
    """

    def __init__(self, file: FileUnderTest, rule: str) -> None:
        """Find the columns. Raises `NotApplicable` and `NotChecked` where there is nothing to compare."""
        self._file = file
        self._owner = file.part(ClaimedFile)
        claims = self._owner.claims.order
        if claims is None or rule in file.left_out:
            raise NotApplicable
        if claims.unknown:
            raise NotChecked(claims.unknown, "tool")
        self._claims: RowOrder = claims
        self._outcome = Outcome(applies=True)
        self.outcomes = {rule: self._outcome}
        found: list[tuple[int, SortedBy]] = []
        for column in claims.columns:
            if column.transform == "void":
                continue
            ordinal = self._owner.ordinal_of(column.field_id, column.path)
            if ordinal is not None:  # a column that the file does not have has one value in all rows
                found.append((ordinal, column))
        self._columns = found
        self._groups: dict[int, _Rows] = {}
        self._last: list[_Cell] | None = None

    def claim(self, chunk: ColumnChunkUnderTest) -> _Claim | None:
        """The claim about a chunk: that the rows are sorted by it."""
        places = [place for place, (ordinal, _) in enumerate(self._columns) if ordinal == chunk.ordinal]
        return _Claim(self, chunk, places) if places else None

    def column(self, place: int) -> SortedBy:
        """A column of the order."""
        return self._columns[place][1]

    def lose(self, chunk: ColumnChunkUnderTest, reason: NotChecked) -> None:
        """Note that a chunk cannot be decoded or compared."""
        self._groups[chunk.row_group] = _Rows(is_over=True)
        self._last = None
        self._outcome.hindered(reason, chunk.column)

    def take(self, chunk: ColumnChunkUnderTest, compared: dict[int, _Column]) -> None:
        """Take what was compared in a chunk; once all columns of the row group are, say what came of it."""
        rows = self._groups.setdefault(chunk.row_group, _Rows())
        if rows.is_over:
            return
        rows.columns |= compared
        if len(rows.columns) < len(self._columns):
            return
        columns = [rows.columns[place] for place in range(len(self._columns))]
        self._groups[chunk.row_group] = _Rows(is_over=True)
        try:
            self._judge(chunk.row_group, columns)
        except NotChecked as reason:
            self.lose(chunk, reason)

    def finish(self) -> None:
        """Say which row groups could not be compared."""
        if self._columns:
            over = [number for number, rows in self._groups.items() if rows.is_over]
            reason = why_not_all(self._file, over)
            if reason is not None:
                self._outcome.hindered(reason)

    def _judge(self, group: int, columns: list[_Column]) -> None:
        if len({column.rows for column in columns}) > 1:
            raise NotChecked(f"the columns of row group {group} have different numbers of rows", "file")
        if not columns[0].rows:
            return
        undecided = np.ones(columns[0].rows - 1, np.bool_)
        wrong = np.zeros(len(undecided), np.int8)
        """For each row behind the first, 1 + the column that puts it out of order, 0 where none does."""
        for place, column in enumerate(columns):
            wrong[undecided & column.falls] = place + 1
            undecided &= column.same
        count = int(np.count_nonzero(wrong))
        firsts = [column.first for column in columns if column.first is not None]
        if self._last is not None:
            across = self._falls(self._last, firsts)
            if across is not None:
                self._say(group, 0, across, self._last[across], firsts[across], count + 1)
                count = 0
        if count:
            row = int((wrong != 0).argmax()) + 1
            place = int(wrong[row - 1]) - 1
            cells = [_cell(columns[place].values, at, self.column(place), None) for at in (row - 1, row)]
            self._say(group, row, place, cells[0], cells[1], count)
        self._last = [column.last for column in columns if column.last is not None]

    def _falls(self, before: list[_Cell], after: list[_Cell]) -> int | None:
        """The column that puts a row out of order; ``None`` if none does."""
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            column = self.column(place)
            if one.value is None or other.value is None:
                if one.value is None and other.value is None:
                    continue
                is_right = (one.value is None) is column.nulls_first
                return None if is_right else place
            low, high = (other.value, one.value) if column.descending else (one.value, other.value)
            if _is_less(high, low):
                return place
            if not _is_same(low, high):
                return None
        return None

    def _say(self, group: int, row: int, place: int, before: _Cell, after: _Cell, count: int) -> None:
        column = self.column(place)
        self._outcome.add(
            Violation(
                f"row {row} of row group {group} of {self._owner.name} holds {after.shown} in column {column.name}, the row before it "
                f"{before.shown}, and by sort order {self._claims.number} the rows are sorted by {column}"
                + others(count),
                claim_field(self._file, self._claims.place),
                expected=f"rows sorted by {column}",
                actual=f"{before.shown} before {after.shown}",
                column=column.name,
                row_group=group,
                remedy=repairs.ICEBERG_SORTED.text,
            )
        )


class _Claim:
    """A chunk of a column by which rows are sorted."""

    needs_values = True

    def __init__(self, family: OrderFamily, chunk: ColumnChunkUnderTest, places: list[int]) -> None:
        self._family = family
        self._chunk = chunk
        self._places = places
        self._compared: dict[int, _Column] = {}
        self._problem: NotChecked | None = None

    def judge(self, values: ChunkValues) -> None:
        """Compare each row with the one before."""
        try:
            for place in self._places:
                self._compared[place] = _compared(values, self._family.column(place))
        except (FormatError, NotChecked) as error:
            self._problem = error if isinstance(error, NotChecked) else NotChecked.because(error)
        except (OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - other claims are judged all the same
            self._problem = Mistake.by(error)

    def leave(self, reason: NotChecked) -> None:
        """Take note that the values cannot be decoded."""
        self._problem = excused(self._chunk, reason)

    def settle(self) -> None:
        """Hand over what came of it."""
        if self._problem is not None:
            self._family.lose(self._chunk, self._problem)
        else:
            compared, self._compared = self._compared, {}
            self._family.take(self._chunk, compared)


def _compared(values: ChunkValues, column: SortedBy) -> _Column:
    """Compare each row of a chunk with the one before."""
    if values.chunk.leaf.max_repetition_level:
        raise NotChecked(f"how lists are sorted, as in column {column.name}, nobody says", "file")
    order = type_order(values.chunk.leaf.element)
    is_identity = column.transform == "identity"
    if is_identity:
        if order is None:
            raise NotChecked(f"how values of column {column.name} are sorted, nobody says", "file")
        keys = _keys(values, order)
        results: Any = None
    else:
        keys = results = transformed(values, column.transform, column.type)
        if isinstance(keys, (pa.Array, pa.ChunkedArray)) and pa.types.is_fixed_size_binary(keys.type):
            keys = keys.cast(pa.binary())
    left, right = keys[:-1], keys[1:]
    descends = less(left, right) if column.descending else less(right, left)
    equals = equal(left, right)
    if isinstance(keys, np.ndarray) and keys.dtype.kind == "f":
        nan, negative = np.isnan(keys), np.signbit(keys)
        great = nan & ~negative
        falls = great[:-1] & ~nan[1:] if not column.descending else ~nan[:-1] & great[1:]
        descends = (descends & ~(nan[:-1] | nan[1:])) | falls
        equals = (equals & (negative[:-1] == negative[1:])) | (great[:-1] & great[1:])
    falls, same = with_nulls(values, np.asarray(descends), np.asarray(equals), nulls_first=column.nulls_first)
    first = last = None
    if values.entries:
        first, last = (_cell(values, row, column, results) for row in (0, values.entries - 1))
    return _Column(falls, same, values.entries, first, last, values)


def _keys(values: ChunkValues, order: Order) -> Any:
    width = max(decimal_width(values.values), 1) if order is Order.DECIMAL else 0
    stored: Any = values.values
    if order in FLOATING and pa.types.is_dictionary(stored.type):
        stored = stored.cast(stored.type.value_type)  # ranks would give NaN another place
    return comparable_keys(order, stored, width)


def _cell(values: ChunkValues, row: int, column: SortedBy, results: Any) -> _Cell:
    """The value in a row, by which rows of other row groups are compared with it."""
    if not values.valid[row]:
        return _Cell(None, "null")
    place = int(np.count_nonzero(values.valid[:row]))
    order, raw = type_order(values.chunk.leaf.element), values.raw_of(place)
    text = shown(order, raw)
    if column.transform != "identity":
        if results is None:
            return _Cell(None, text)  # for a message
        one = results[place]
        return _Cell(one.as_py() if isinstance(one, pa.Scalar) else one.item(), text)
    if order in FLOATING and values.chunk.leaf.element.type in (Type.FLOAT, Type.DOUBLE):
        return _Cell(struct.unpack("<f" if len(raw) == 4 else "<d", raw)[0], text)
    return _Cell(None if order is None else key(order, raw), text)


def _is_less(one: Any, other: Any) -> bool:
    if isinstance(one, str):
        return one.encode() < str(other).encode()
    if isinstance(one, float) and isinstance(other, float) and (math.isnan(one) or math.isnan(other)):
        great = math.isnan(other) and math.copysign(1, other) > 0
        return great and not math.isnan(one)
    return bool(one < other)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return (
                math.isnan(one)
                and math.isnan(other)
                and math.copysign(1, one) == math.copysign(1, other) == 1
            )
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return bool(one == other)
