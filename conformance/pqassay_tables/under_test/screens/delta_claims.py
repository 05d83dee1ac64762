"""The screen of what a Delta log says of a data file; see `pqassay_tables.under_test.screens.claims`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Any, cast

from pqassay.tables.claims import Bound, FileClaims
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.schemas.known_schemas import Schema
from pqassay_spec.parquet.column_order import Order, bound_width
from pqassay_spec.parquet.schema.logical_values import UNITS
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.table.delta import INTEGER_BITS
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.delta.schema import NESTED, DeltaColumn, DeltaSchema
from pqassay_tables.metadata.delta.statistics import MAX, MIN, NULLS, StatisticsSaid, slack_of
from pqassay_tables.metadata.delta.values import UnknownType, bound_value
from pqassay_tables.metadata.moments import MILLISECOND, SECOND, days, nanoseconds
from pqassay_tables.under_test.claimed_bounds import Form
from pqassay_tables.under_test.claimed_columns import forms_of, ordinals_of
from pqassay_tables.under_test.screens.claims import (
    NOWHERE,
    ClaimedLeaf,
    Encloses,
    Groups,
    Plans,
    are_rows,
    by_law,
    groups_of,
    is_enclosed,
    nulls_in,
    screen_of,
)

Columns = dict[str, Any]
"""The columns that can be compared by their names, and those of structs by the names of these: `ClaimedLeaf` or `Columns`."""

_UNPACK = {Type.INT32: struct.Struct("<i"), Type.INT64: struct.Struct("<q")}
_DOUBLE, _FLOAT = struct.Struct("<d"), struct.Struct("<f")

Reads = Callable[[Any], int]
"""Makes of a bound the number that is compared. Raises `ValueError`."""


def _shape(file: FileUnderTest, claims: FileClaims, said: StatisticsSaid) -> Hashable | None:
    if claims.deleted is not None or not claims.is_tight or not are_rows(claims, file.metadata):
        return None
    groups = groups_of(file)
    if groups is None:
        return None
    plan = _PLANS.of(said.schema, file.schema, _planned)
    stats = said.stats
    low, high = stats.get(MIN, _NOTHING), stats.get(MAX, _NOTHING)
    nulls = stats.get(NULLS, _NOTHING)
    if type(low) is not dict or type(high) is not dict or type(nulls) is not dict:
        return None
    if not _are_counted(plan, cast("Json", nulls), groups):
        return None
    if not _enclose(plan, cast("Json", low), groups, above=False):
        return None
    if not _enclose(plan, cast("Json", high), groups, above=True):
        return None
    return claims.rows is None, bool(cast("Json", low) or cast("Json", high)), bool(cast("Json", nulls))


delta_claims_shape = screen_of(_shape, StatisticsSaid)
"""The shape of a file of which a log certainly says nothing else than its footer."""

_PLANS = Plans()
_NOTHING: Json = {}


def _are_counted(plan: Columns, nulls: Json, groups: Groups) -> bool:
    for name, count in nulls.items():
        leaf = plan.get(name)
        if isinstance(leaf, ClaimedLeaf):
            if type(count) is not int or nulls_in(groups, leaf.ordinal) != count:
                return False
        elif leaf is None or type(count) is not dict or not count or not _are_counted(leaf, cast("Json", count), groups):  # fmt: skip
            return False
    return True


def _enclose(plan: Columns, bounds: Json, groups: Groups, *, above: bool) -> bool:
    for name, raw in bounds.items():
        leaf = plan.get(name)
        if isinstance(leaf, ClaimedLeaf):
            if raw is None or not is_enclosed(groups, leaf, raw, above=above):
                return False
        elif leaf is None or type(raw) is not dict or not raw or not _enclose(leaf, cast("Json", raw), groups, above=above):  # fmt: skip
            return False
    return True


def _planned(columns: DeltaSchema, schema: Schema) -> Columns:
    """The columns of a table that files of a schema have."""
    plan: Columns = {}
    forms, ordinals = schema.view(forms_of), schema.view(ordinals_of)
    for column in columns.columns:
        ordinal = ordinals.of(column.field_id if columns.mode == "id" else None, column.path)
        if ordinal is None or column.type in NESTED:
            continue
        below, above = _comparisons(column, forms[ordinal])
        inner = plan
        for name in column.path[:-1]:
            inner = inner.setdefault(name, {})
        is_exact = bound_width(forms[ordinal].element) is not None
        inner[column.path[-1]] = ClaimedLeaf(ordinal, is_exact, below, above)
    return plan


def _comparisons(column: DeltaColumn, form: Form) -> tuple[Encloses, Encloses]:
    """How lower and upper bounds of a column compare with what a file stores."""
    kind, (element, order, name) = column.type, form
    unpack = _UNPACK.get(cast("Type", element.type)) if order is Order.SIGNED else None
    if unpack is not None:
        if kind in INTEGER_BITS and (not name or name.startswith("INTEGER")):
            return _integers(INTEGER_BITS[kind], unpack)
        if kind == "date" and name == "DATE":
            return _numbers(_day, unpack, 1)
        unit = UNITS.get(name.removeprefix("TIMESTAMP(").removesuffix(")"))
        if kind in _MOMENTS and unit is not None and name.startswith("TIMESTAMP("):
            return _numbers(_MOMENTS[kind], unpack, SECOND // unit, slack=MILLISECOND)
    if order is Order.FLOAT and kind in ("float", "double"):
        return (
            (_doubles() if element.type == Type.DOUBLE else _floats())
            if not name
            else _as_rules(column, form)
        )
    if order is Order.BYTES and kind == "string":
        return _below_text, _above_text
    return _as_rules(column, form)


def _as_rules(column: DeltaColumn, form: Form) -> tuple[Encloses, Encloses]:
    def bound(raw: Any, member: str) -> Bound:
        try:
            kind, value = bound_value(column, raw)
        except UnknownType:
            raise ValueError(column.type) from None
        return Bound(kind, value, "", NOWHERE, slack_of(kind, value, member))

    return (
        by_law(form, lambda raw: bound(raw, MIN), above=False),
        by_law(form, lambda raw: bound(raw, MAX), above=True),
    )


def _integers(bits: int, stored_as: struct.Struct) -> tuple[Encloses, Encloses]:
    least, end = -(1 << bits - 1), 1 << bits - 1
    unpack, width = stored_as.unpack, stored_as.size

    def below(raw: Any, stored: bytes | None) -> bool:
        if type(raw) is not int or not least <= raw < end:
            return False
        return stored is None or (len(stored) == width and raw <= unpack(stored)[0])

    def above(raw: Any, stored: bytes | None) -> bool:
        if type(raw) is not int or not least <= raw < end:
            return False
        return stored is None or (len(stored) == width and unpack(stored)[0] <= raw)

    return below, above


def _day(raw: Any) -> int:
    if type(raw) is not str:
        raise ValueError(raw)
    return days(raw)


def _moment(raw: Any) -> int:
    if type(raw) is not str:
        raise ValueError(raw)
    return nanoseconds(raw, zone=True)


def _local_moment(raw: Any) -> int:
    if type(raw) is not str:
        raise ValueError(raw)
    return nanoseconds(raw, zone=None)


_MOMENTS: dict[str, Reads] = {"timestamp": _moment, "timestamp_ntz": _local_moment}


def _numbers(read: Reads, stored_as: struct.Struct, unit: int, slack: int = 1) -> tuple[Encloses, Encloses]:
    """Compare numbers.

    Args:
        read: Makes them of what the table holds.
        stored_as: How a file stores them.
        unit: How many of the table's units one of the file's is.
        slack: An upper bound that is a multiple of it may stand for a value up to the next one.
    """
    unpack, width = stored_as.unpack, stored_as.size

    def below(raw: Any, stored: bytes | None) -> bool:
        value = read(raw)
        return stored is None or (len(stored) == width and value <= unpack(stored)[0] * unit)

    def above(raw: Any, stored: bytes | None) -> bool:
        value = read(raw)
        if value % slack == 0:
            value += slack - 1
        return stored is None or (len(stored) == width and unpack(stored)[0] * unit <= value)

    return below, above


def _doubles() -> tuple[Encloses, Encloses]:
    unpack = _DOUBLE.unpack

    def below(raw: Any, stored: bytes | None) -> bool:
        value = _double(raw)
        return stored is None or (len(stored) == _DOUBLE.size and value <= unpack(stored)[0])

    def above(raw: Any, stored: bytes | None) -> bool:
        value = _double(raw)
        return stored is None or (len(stored) == _DOUBLE.size and unpack(stored)[0] <= value)

    return below, above


def _floats() -> tuple[Encloses, Encloses]:
    pack, unpack = _FLOAT.pack, _FLOAT.unpack

    def below(raw: Any, stored: bytes | None) -> bool:
        value = unpack(pack(_double(raw)))[0]
        return stored is None or (len(stored) == _FLOAT.size and value <= unpack(stored)[0])

    def above(raw: Any, stored: bytes | None) -> bool:
        value = unpack(pack(_double(raw)))[0]
        return stored is None or (len(stored) == _FLOAT.size and unpack(stored)[0] <= value)

    return below, above


def _double(raw: Any) -> float:
    if type(raw) is not int and type(raw) is not Decimal:
        raise ValueError(raw)
    return float(raw)


def _text(raw: Any) -> bytes:
    if type(raw) is not str:
        raise ValueError(raw)
    return raw.encode()


def _below_text(raw: Any, stored: bytes | None) -> bool:
    value = _text(raw)
    return stored is None or value <= stored


def _above_text(raw: Any, stored: bytes | None) -> bool:
    value = _text(raw)
    return stored is None or stored <= value
