"""The screen of what a manifest says of a file; see `pqassay_tables.under_test.screens.claims`."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from pqassay.tables.claims import Bound, FileClaims
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.schemas.known_schemas import Schema
from pqassay_spec.parquet.column_order import Order, bound_width
from pqassay_spec.parquet.thrift import RowGroup, Type
from pqassay_tables.metadata.iceberg.entry_claims import LOWER, NULLS, SIZES, UPPER, MetricsSaid
from pqassay_tables.metadata.iceberg.schema import IcebergColumn, IcebergSchema
from pqassay_tables.metadata.iceberg.values import UnknownTypeError, value_of
from pqassay_tables.under_test.claimed_bounds import Form
from pqassay_tables.under_test.claimed_columns import NESTED, forms_of, ordinals_of
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

Columns = dict[int, ClaimedLeaf | None]
"""The columns of which a table says something, by their ids; ``None`` of those that the rules look at."""

_NUMBERS = {
    ("int", ""): (Type.INT32, "<i"),
    ("long", ""): (Type.INT64, "<q"),
    ("date", "DATE"): (Type.INT32, "<i"),
    ("time", "TIME(MICROS)"): (Type.INT64, "<q"),
    ("timestamp", "TIMESTAMP(MICROS)"): (Type.INT64, "<q"),
    ("timestamptz", "TIMESTAMP(MICROS)"): (Type.INT64, "<q"),
    ("timestamp_ns", "TIMESTAMP(NANOS)"): (Type.INT64, "<q"),
    ("timestamptz_ns", "TIMESTAMP(NANOS)"): (Type.INT64, "<q"),
    ("float", ""): (Type.FLOAT, "<f"),
    ("double", ""): (Type.DOUBLE, "<d"),
}
"""Types of tables and logical types of files that both have one form of bytes: the physical type, and that form."""


def _shape(file: FileUnderTest, claims: FileClaims, said: MetricsSaid) -> Hashable | None:
    if not are_rows(claims, file.metadata) or not _are_split(file, claims):
        return None
    groups = groups_of(file)
    if groups is None:
        return None
    plan = _PLANS.of(said.schema, file.schema, _planned)
    metrics = said.metrics
    sizes, nulls = metrics.get(SIZES, _NOTHING), metrics.get(NULLS, _NOTHING)
    low, high = metrics.get(LOWER, _NOTHING), metrics.get(UPPER, _NOTHING)
    if not _are_sizes(plan, sizes, file.metadata.row_groups) or not _are_counted(plan, nulls, groups):
        return None
    if not _enclose(plan, low, groups, above=False) or not _enclose(plan, high, groups, above=True):
        return None
    return (
        claims.rows is None,
        *(bool(plan.keys() & one.keys()) for one in (sizes, nulls, {**low, **high})),
        claims.first_split is not None and bool(groups),
        bool(claims.splits),
        bool(file.schema.view(ordinals_of).by_id),
    )


iceberg_claims_shape = screen_of(_shape, MetricsSaid)
"""The shape of a file of which a manifest certainly says nothing else than its footer."""

_PLANS = Plans()
_NOTHING: Mapping[int, Any] = {}


def _are_split(file: FileUnderTest, claims: FileClaims) -> bool:
    """Whether all splits begin with row groups, the first one with the first."""
    if claims.first_split is None:
        return True
    if file.layout is None:
        return False
    starts = [group.first_page for group in file.layout.groups]
    return (not starts or claims.first_split.value == starts[0]) and all(
        split in starts for split in claims.splits
    )


def _are_sizes(plan: Columns, sizes: Mapping[int, int], groups: Sequence[RowGroup]) -> bool:
    for identifier, size in sizes.items():
        if identifier in plan:
            leaf = plan[identifier]
            if leaf is None:
                return False
            total = 0
            for group in groups:
                facts = group.columns[leaf.ordinal].meta_data
                total += 0 if facts is None else facts.total_compressed_size
            if total != size:
                return False
    return True


def _are_counted(plan: Columns, nulls: Mapping[int, int], groups: Groups) -> bool:
    for identifier, count in nulls.items():
        if identifier in plan:
            leaf = plan[identifier]
            if leaf is None or nulls_in(groups, leaf.ordinal) != count:
                return False
    return True


def _enclose(plan: Columns, bounds: Mapping[int, bytes], groups: Groups, *, above: bool) -> bool:
    for identifier, raw in bounds.items():
        if identifier in plan:
            leaf = plan[identifier]
            if leaf is None or not is_enclosed(groups, leaf, raw, above=above):
                return False
    return True


def _planned(columns: IcebergSchema, schema: Schema) -> Columns:
    """The columns of a table, those in lists and maps aside, beside a schema of files."""
    plan: Columns = {}
    forms, ordinals = schema.view(forms_of), schema.view(ordinals_of)
    for identifier, column in columns.columns.items():
        if column.is_repeated:
            continue  # nothing is compared
        ordinal = ordinals.of(identifier, columns.names.get(identifier, ()))
        if ordinal is None or column.type in NESTED:
            plan[identifier] = None
            continue
        below, above = _comparisons(column, forms[ordinal])
        is_exact = bound_width(forms[ordinal].element) is not None
        plan[identifier] = ClaimedLeaf(ordinal, is_exact, below, above)
    return plan


def _comparisons(column: IcebergColumn, form: Form) -> tuple[Encloses, Encloses]:
    """How lower and upper bounds of a column compare with what a file stores."""
    physical, code = _NUMBERS.get((column.type, form.name), (None, ""))
    if form.element.type == physical and form.order in (Order.SIGNED, Order.FLOAT):
        return _numbers(struct.Struct(code))
    if form.order is Order.BYTES and column.type == "string":
        return _below_text, _above_text
    if form.order is Order.BYTES and column.type == "binary":
        return _below, _above

    def bound(raw: bytes) -> Bound:
        try:
            kind, value = value_of(column.type, raw)
        except UnknownTypeError:
            raise ValueError(column.type) from None
        return Bound(kind, value, "", NOWHERE)

    return by_law(form, bound, above=False), by_law(form, bound, above=True)


def _numbers(stored_as: struct.Struct) -> tuple[Encloses, Encloses]:
    """Compare numbers that both store alike."""
    unpack, width = stored_as.unpack, stored_as.size

    def below(raw: bytes, stored: bytes | None) -> bool:
        if len(raw) != width:
            return False
        return stored is None or raw == stored or (len(stored) == width and unpack(raw) <= unpack(stored))

    def above(raw: bytes, stored: bytes | None) -> bool:
        if len(raw) != width:
            return False
        return stored is None or raw == stored or (len(stored) == width and unpack(stored) <= unpack(raw))

    return below, above


def _is_text(raw: bytes) -> bool:
    if not raw.isascii():
        _ = raw.decode()
    return True


def _below_text(raw: bytes, stored: bytes | None) -> bool:
    return _is_text(raw) and (stored is None or raw <= stored)


def _above_text(raw: bytes, stored: bytes | None) -> bool:
    return _is_text(raw) and (stored is None or stored <= raw)


def _below(raw: bytes, stored: bytes | None) -> bool:
    return stored is None or raw <= stored


def _above(raw: bytes, stored: bytes | None) -> bool:
    return stored is None or stored <= raw
