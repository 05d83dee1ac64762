"""Statistics of the tiny writer: bounds in the order of their column, counts, histograms.

    >>> from pqassay_golden.tiny.columns import Column, leaves_of
    >>> [leaf] = leaves_of(Column("metal", "string", ["tin", None, "lead"]))
    >>> bounds = bounds_of(leaf, Layout(), entries_of(leaf.rows), truncate=2)
    >>> bounds.least, bounds.greatest, bounds.least_is_exact
    (b'le', b'tj', False)

Source: apache/parquet-format, ``parquet.thrift``, ``Statistics``, ``SizeStatistics`` and ``ColumnOrder``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pqassay_golden.tiny.columns import Entry, Leaf
from pqassay_golden.tiny.layout import ORDERS, Layout
from pqassay_spec.parquet import column_order
from pqassay_spec.parquet.column_order import FLOATING, TOTAL, Order
from pqassay_spec.parquet.thrift import SizeStatistics, Statistics, Type


@dataclass(frozen=True)
class Bounds:
    """Least and greatest value, or their replacements, and their keys in the order."""

    least: bytes
    greatest: bytes
    least_key: Any
    greatest_key: Any
    least_is_exact: bool = True
    greatest_is_exact: bool = True


def entries_of(rows: Iterable[Sequence[Entry]]) -> list[Entry]:
    """The entries of some rows, one after the other."""
    return [entry for row in rows for entry in row]


def order_of(leaf: Leaf, layout: Layout) -> Order | None:
    """The order of a leaf's values."""
    return column_order.order_of(leaf.element, ORDERS[layout.order])


def bounds_of(
    leaf: Leaf, layout: Layout, entries: Sequence[Entry], truncate: int | None = None
) -> Bounds | None:
    """The bounds of some entries; ``None`` without an order, or without a value that is in the order."""
    order = order_of(leaf, layout)
    if order is None:
        return None
    known = [(column_order.key(order, entry.raw), entry.raw) for entry in entries if entry.raw is not None]
    known = [(key, raw) for key, raw in known if key is not None]
    if order in TOTAL:  # NaN bounds nothing but other NaN
        known = [pair for pair in known if not column_order.is_nan(order, pair[1])] or known
    if not known:
        return None
    (least_key, least), (greatest_key, greatest) = min(known), max(known)
    if order in FLOATING and order not in TOTAL:
        # A zero as a bound is written with the sign that covers both zeros.
        sign = bytes(len(least) - 1)
        least = sign + b"\x80" if least_key == 0 else least
        greatest = bytes(len(greatest)) if greatest_key == 0 else greatest
    if truncate is None or leaf.element.type != Type.BYTE_ARRAY or order is not Order.BYTES:
        return Bounds(least, greatest, least_key, greatest_key)
    low, high = _cut(leaf, least, truncate), _raised(leaf, greatest, truncate)
    return Bounds(low, high, low, high, low == least, high == greatest)


def _cut(leaf: Leaf, value: bytes, size: int) -> bytes:
    """The first bytes of a value; of text, only whole characters."""
    if leaf.scalar.is_text and len(value) > size:
        return value[:size].decode("utf-8", "ignore").encode()
    return value[:size]


def _raised(leaf: Leaf, value: bytes, size: int) -> bytes:
    """The least short value that is greater than all values with the prefix of this one; the value itself if there is none."""
    if len(value) <= size:
        return value
    if leaf.scalar.is_text:
        characters = _cut(leaf, value, size).decode()
        while characters:
            code = ord(characters[-1]) + 1
            code = 0xE000 if code == 0xD800 else code  # surrogates are not characters
            characters = characters[:-1]
            if code <= 0x10FFFF:
                return (characters + chr(code)).encode()
        return value
    prefix = value[:size].rstrip(b"\xff")
    return prefix[:-1] + bytes((prefix[-1] + 1,)) if prefix else value


def nulls(entries: Sequence[Entry]) -> int:
    """The number of entries without a value."""
    return sum(entry.raw is None for entry in entries)


def nans(order: Order, entries: Sequence[Entry]) -> int:
    """The number of entries that are NaN."""
    return sum(entry.raw is not None and column_order.is_nan(order, entry.raw) for entry in entries)


def counts_nan(leaf: Leaf, layout: Layout) -> bool:
    """Whether the NaN of a leaf are counted."""
    order = order_of(leaf, layout)
    return order in FLOATING and (order in TOTAL if layout.nan_count is None else layout.nan_count)


def statistics(leaf: Leaf, layout: Layout, entries: Sequence[Entry], *, ordered: bool = True) -> Statistics:
    """Statistics of a chunk or page; without bounds if the footer has no orders."""
    stored = Statistics(null_count=nulls(entries) if layout.null_count else None)
    order = order_of(leaf, layout)
    if order is not None and counts_nan(leaf, layout):
        stored.nan_count = nans(order, entries)
    if layout.distinct_count:
        stored.distinct_count = len({entry.raw for entry in entries if entry.raw is not None})
    if layout.bounds and ordered and (bounds := bounds_of(leaf, layout, entries, layout.truncate)):
        stored.min_value, stored.max_value = bounds.least, bounds.greatest
        if layout.exact:
            stored.is_min_value_exact, stored.is_max_value_exact = (
                bounds.least_is_exact,
                bounds.greatest_is_exact,
            )
    if layout.deprecated and (bounds := bounds_of(leaf, layout, entries)):
        stored.min, stored.max = bounds.least, bounds.greatest
    return stored


def unencoded_bytes(leaf: Leaf, entries: Sequence[Entry]) -> int | None:
    """Bytes of all byte arrays; ``None`` for other types."""
    if leaf.element.type != Type.BYTE_ARRAY:
        return None
    return sum(len(entry.raw) for entry in entries if entry.raw is not None)


def histograms(leaf: Leaf, entries: Sequence[Entry]) -> tuple[list[int] | None, list[int] | None]:
    """Counts of each repetition level and each definition level; ``None`` if there is only level 0."""
    repetitions = [0] * (leaf.max_repetition + 1)
    definitions = [0] * (leaf.max_definition + 1)
    for entry in entries:
        repetitions[entry.repetition] += 1
        definitions[entry.definition] += 1
    return (repetitions if leaf.max_repetition else None), (definitions if leaf.max_definition else None)


def size_statistics(leaf: Leaf, entries: Sequence[Entry]) -> SizeStatistics:
    """Size statistics of a chunk."""
    repetitions, definitions = histograms(leaf, entries)
    return SizeStatistics(
        unencoded_byte_array_data_bytes=unencoded_bytes(leaf, entries),
        repetition_level_histogram=repetitions,
        definition_level_histogram=definitions,
    )
