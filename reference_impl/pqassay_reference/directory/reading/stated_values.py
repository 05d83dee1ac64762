"""The content of a file's index directory in the form of the protocol: the usable entries, and their parts.

Source: ``conformance/PROTOCOL.md``, section "Index directory".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pqassay_reference.columns.literals import decimal_text, json_value
from pqassay_reference.directory.reading.blob import Blob, read_blob
from pqassay_reference.directory.reading.usable_entries import UsableEntry, read_entries
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.distinct_set import SetFlags, read_sets
from pqassay_spec.directory.packed_values import split_values
from pqassay_spec.directory.sketches import split_sketches
from pqassay_spec.directory.zone_sums import (
    Group,
    SumKind,
    SumsPlaces,
    double_of,
    integer_sum,
    sums_places,
)
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.column_order import Order, number_of, type_order
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string
from pqassay_spec.parquet.thrift import ConvertedType, LogicalType, SchemaElement, TimeUnit

Value = dict[str, Any]


def index_directory(source: Source) -> Value:
    """The usable entries of a file, and their parts.

    Raises:
        FormatError: The file is not a Parquet file. Errors in a directory are never raised.
    """
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    entries: list[Value] = []
    for usable in read_entries(metadata, tuple(IndexType)).entries:
        try:
            parts = _PARTS[usable.type](usable, read_blob(usable, source, framing, metadata), source)
        except FormatError:
            continue
        entries.append(
            {
                "type": usable.type.name,
                "granularity": usable.granularity.name,
                "columns": [list(path) for path in usable.entry.columns],
                "parts": parts,
            }
        )
    return {"entries": entries}


def _require_parts(count: int, blob: Blob) -> None:
    if count != len(blob.parts):
        raise Malformed(f"the blob has {count} parts, where the file has {len(blob.parts)}", rule="DIR-021")


def _sets(usable: UsableEntry, blob: Blob, _: Source) -> list[Value]:
    leaf = usable.leaves[0]
    parts = read_sets(_kind(leaf), leaf.element.type_length, blob.data)
    _require_parts(len(parts), blob)
    return [
        {
            "complete": bool(part.flags & SetFlags.COMPLETE),
            "nulls": bool(part.flags & SetFlags.NULLS),
            "nan": bool(part.flags & SetFlags.NAN),
            "values": [written(leaf, raw) for raw in part.values],
        }
        for part in parts
    ]


def _sums(usable: UsableEntry, blob: Blob, _: Source) -> list[Value]:
    places = sums_places(blob.data)
    _require_parts(places.head.part_count, blob)
    measure = usable.leaves[-1]
    if places.head.key_count != len(usable.leaves) - 1:
        raise Malformed("the keys of the blob do not match the columns of the entry", rule="DIR-031")
    groups = places.read_groups(blob.data)
    bounded = sum(_has_bounds(group) for group in groups)
    lower, upper = (
        iter(_values(measure, blob.data[span.start : span.end], bounded))
        for span in (places.minima, places.maxima)
    )
    keys = (
        zip(*_keys(usable.leaves[:-1], places, blob.data), strict=True)
        if places.keys
        else iter(lambda: (), None)
    )
    said = iter(
        [_group(group, list(key), lower, upper, places) for group, key in zip(groups, keys, strict=False)]
    )
    return [{"groups": [next(said) for _ in range(size)]} for size in places.part_sizes]


def _group(
    group: Group, keys: list[Any], lower: Iterator[Any], upper: Iterator[Any], places: SumsPlaces
) -> Value:
    group_value: Value = {
        "keys": keys,
        "row_count": group.row_count,
        "null_count": group.null_count,
        "nan_count": group.nan_count,
    }
    if places.head.sum_kind == SumKind.INTEGER:
        group_value["sum"] = json_value(integer_sum(group))
    elif places.head.sum_kind == SumKind.DOUBLE:
        group_value["sum"] = json_value(double_of(group))
    if _has_bounds(group):
        group_value |= {"min": next(lower), "max": next(upper)}
    return group_value


def _has_bounds(group: Group) -> bool:
    return group.row_count > group.null_count + group.nan_count


def _keys(leaves: Sequence[SchemaLeaf], places: SumsPlaces, data: bytes) -> list[list[Any]]:
    columns: list[list[Any]] = []
    for leaf, place in zip(leaves, places.keys, strict=True):
        nulls = data[place.nulls.start : place.nulls.end]
        if max(nulls, default=0) > 1:
            raise Malformed("the null byte of a key is neither 0 nor 1", rule="DIR-022")
        values = iter(_values(leaf, data[place.values.start : place.values.end], nulls.count(0)))
        columns.append([None if null else next(values) for null in nulls])
    return columns


def _values(leaf: SchemaLeaf, data: bytes, count: int) -> list[Any]:
    return [written(leaf, raw) for raw in split_values(_kind(leaf), leaf.element.type_length, data, count)]


def _sketches(_: UsableEntry, blob: Blob, __: Source) -> list[Value]:
    made = split_sketches(blob.data)
    _require_parts(len(made), blob)
    return [{"sketch": json_value(sketch)} for sketch in made]


def _idx1(usable: UsableEntry, _: Blob, source: Source) -> list[Value]:
    head = usable.entry.head
    if head.granularity != Granularity.FILE:
        raise Malformed("an IDX1 blob describes the file, and nothing else", rule="DIR-048")
    found = idx1.read_blob(source, head.offset, head.offset + head.stored_length)
    return [{"values": sorted(idx1.exact_values(found.payload))}]


_PARTS: dict[IndexType, Callable[[UsableEntry, Blob, Source], list[Value]]] = {
    IndexType.DISTINCT_SET: _sets,
    IndexType.ZONE_SUMS: _sums,
    IndexType.HLL: _sketches,
    IndexType.KLL: _sketches,
    IndexType.IDX1: _idx1,
}


def _kind(leaf: SchemaLeaf) -> int:
    return int(leaf.element.type or 0)


# ---------------------------------------------------------------------------------------------------- single values


def written(leaf: SchemaLeaf, raw: bytes) -> Any:
    """The value of a column in the form of the protocol, from its PLAIN bytes (without the length for a byte array).

    Raises:
        Malformed: A text is not UTF-8, or bytes are not a value of the type.
    """
    element, order = leaf.element, type_order(leaf.element)
    logical = element.logicalType or LogicalType()
    number = None if order is None else number_of(order, raw)
    if logical.DECIMAL is not None or element.converted_type == ConvertedType.DECIMAL:
        scale = logical.DECIMAL.scale if logical.DECIMAL is not None else element.scale or 0
        return {"decimal": decimal_text(int(number or 0), scale)}
    if order is Order.BOOLEAN:
        return raw != b"\0"
    if number is None:
        return _text_or_bytes(leaf, raw)
    return json_value(number) if isinstance(number, float) else _whole_number(element, logical, number)


def _text_or_bytes(leaf: SchemaLeaf, raw: bytes) -> Any:
    if not is_string(leaf) or (leaf.element.logicalType is None and leaf.element.converted_type is None):
        return json_value(raw)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Malformed("a text is not UTF-8", rule="DIR-022") from None


def _whole_number(element: SchemaElement, logical: LogicalType, number: int) -> Any:
    if logical.DATE is not None or element.converted_type == ConvertedType.DATE:
        return {"date": str(number)}
    if logical.TIME is not None:
        return {"time": str(number * _nanoseconds(logical.TIME.unit))}
    if logical.TIMESTAMP is not None:
        return {"timestamp": str(number * _nanoseconds(logical.TIMESTAMP.unit))}
    return json_value(number)


def _nanoseconds(unit: TimeUnit) -> int:
    if unit.MILLIS is not None:
        return 1_000_000
    return 1_000 if unit.MICROS is not None else 1


__all__ = ["index_directory", "written"]
