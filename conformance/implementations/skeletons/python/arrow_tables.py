"""Tables of Arrow as rows of the protocol, and back.

Most libraries for Python hand out Arrow's tables, so drivers share this. It needs pyarrow.
"""

from __future__ import annotations

import decimal
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pqassay_driver import (
    Predicate,
    Unsupported,
    Written,
    columns_of,
    native,
    tag_of,
    tagged,
    written_float,
    written_integer,
)

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""How long the units of Arrow are."""

# ------------------------------------------------------------------------------------------------- Arrow to values


def rows_of(table: Any, columns: Sequence[str]) -> list[list[Written]]:
    """The rows of a table, with these columns.

    Raises:
        Unsupported: A type that the protocol has no values for.
    """
    found = [values_of(table.column(name)) for name in columns]
    return [list(row) for row in zip(*found, strict=True)]


def with_text(table: Any, leaves: Callable[[str], Iterable[bool]]) -> Any:
    """A table of a library that has one type for text and bytes, with text in the columns of text.

    >>> table = pa.table({"a": [b"x"], "tags": [{"n": 1, "list": [b"y"]}]})
    >>> with_text(table, {"a": [False], "tags": [False, True]}.__getitem__).to_pydict()
    {'a': [b'x'], 'tags': [{'n': 1, 'list': ['y']}]}

    Args:
        table: The table.
        leaves: Which leaves of a column of this name hold text, in order. What is left out does.

    Raises:
        pyarrow.ArrowInvalid: A text is not UTF-8.
    """

    def typed(kind: Any, texts: Iterator[bool]) -> Any:
        if pa.types.is_struct(kind):
            return pa.struct([field.with_type(typed(field.type, texts)) for field in kind])
        if pa.types.is_map(kind):
            return pa.map_(typed(kind.key_type, texts), typed(kind.item_type, texts))
        if _is_list(kind):
            return pa.list_(typed(kind.value_type, texts))
        holds_text = next(texts, True)
        return pa.string() if holds_text and pa.types.is_binary(kind) else kind

    fields = [field.with_type(typed(field.type, iter(leaves(field.name)))) for field in table.schema]
    return table.cast(pa.schema(fields))


def values_of(array: Any) -> list[Written]:
    """The values of an array, chunked or not.

    >>> values_of(pa.array([1.5, None])), values_of(pa.array([[1], None, []]))
    ([{'float': '1.5'}, None], [{'list': [1]}, None, {'list': []}])
    """
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in values_of(chunk)]
    for is_kind, values in _KINDS:
        if is_kind(array.type):
            return values(array)
    raise Unsupported(f"values of Arrow's type {array.type}")


def _each(write: Callable[[Any], Written], values: Sequence[Any]) -> list[Written]:
    return [None if value is None else write(value) for value in values]


def _integers(array: Any) -> list[int | None]:
    """What dates and times are counted in."""
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    return list(array.view(width).to_pylist())


def _dates(array: Any) -> list[Written]:
    days = 1 if pa.types.is_date32(array.type) else 24 * 60 * 60 * 1000
    return _each(lambda count: tagged("date", count // days), _integers(array))


def _moments(tag: str) -> Callable[[Any], list[Written]]:
    def values(array: Any) -> list[Written]:
        unit = NANOSECONDS[array.type.unit]
        return _each(lambda count: tagged(tag, count * unit), _integers(array))

    return values


def _lists(array: Any) -> list[Written]:
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_pylist()
    members = iter(values_of(array.flatten()))
    found: list[Written] = [{"list": [next(members) for _ in range(length)]} for length in lengths]
    return [
        value if present else None for value, present in zip(found, array.is_valid().to_pylist(), strict=True)
    ]


def _maps(array: Any) -> list[Written]:
    entry = pa.struct([pa.field("key", array.type.key_type), pa.field("value", array.type.item_type)])
    return _each(
        lambda value: {"map": [[pair["struct"]["key"], pair["struct"]["value"]] for pair in value["list"]]},
        _lists(array.cast(pa.list_(entry))),
    )


def _structs(array: Any) -> list[Written]:
    names = [field.name for field in array.type]
    members = [values_of(child) for child in array.flatten()]
    rows = zip(*members, strict=True) if members else iter([()] * len(array))
    return [
        {"struct": dict(zip(names, row, strict=True))} if present else None
        for row, present in zip(rows, array.is_valid().to_pylist(), strict=True)
    ]


def _interval(value: Any) -> Written:
    """Parquet's INTERVAL: months, days and milliseconds, 4 bytes each."""
    return {"bytes": struct.pack("<III", value.months, value.days, value.nanoseconds // 10**6).hex()}


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_bytes(kind: Any) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _is_list(kind: Any) -> bool:
    tests = (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    )
    return any(test(kind) for test in tests)


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], list[Written]]], ...] = (
    (lambda kind: isinstance(kind, pa.Bool8Type), lambda array: array.to_pylist()),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda array: values_of(array.storage)),
    (pa.types.is_dictionary, lambda array: values_of(array.dictionary_decode())),
    (pa.types.is_null, lambda array: array.to_pylist()),
    (pa.types.is_boolean, lambda array: array.to_pylist()),
    (_is_text, lambda array: array.to_pylist()),
    (pa.types.is_integer, lambda array: _each(written_integer, array.to_pylist())),
    (pa.types.is_floating, lambda array: _each(written_float, array.to_pylist())),
    (_is_bytes, lambda array: _each(lambda value: {"bytes": value.hex()}, array.to_pylist())),
    (
        pa.types.is_decimal,
        lambda array: _each(lambda value: tagged("decimal", f"{value:f}"), array.to_pylist()),
    ),
    (pa.types.is_date, _dates),
    (pa.types.is_time, _moments("time")),
    (pa.types.is_timestamp, _moments("timestamp")),
    (pa.types.is_map, _maps),
    (_is_list, _lists),
    (pa.types.is_struct, _structs),
    (lambda kind: kind == pa.month_day_nano_interval(), lambda array: _each(_interval, array.to_pylist())),
)

# ---------------------------------------------------------------------------------------------- values to literals


def scalar(written: Written, kind: Any) -> Any:
    """A literal as a scalar of the type of the column that it is compared with, or of a wider one if it does not fit."""
    value = native(written)
    if value is None:
        return pa.scalar(None, kind)
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    tag = tag_of(written)
    if tag in ("time", "timestamp"):
        return _moment(value, tag, kind)
    if tag == "date":
        return pa.scalar(value, pa.date32())
    if isinstance(value, float):
        return pa.scalar(value, kind if _fits_float(value, kind) else pa.float64())
    try:
        return pa.scalar(value, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.scalar(decimal.Decimal(value) if isinstance(value, int) and abs(value) >= 2**63 else value)


def _moment(nanoseconds: int, tag: str, kind: Any) -> Any:
    is_alike: bool = pa.types.is_time(kind) if tag == "time" else pa.types.is_timestamp(kind)
    if is_alike:
        count, rest = divmod(nanoseconds, NANOSECONDS[kind.unit])
        if not rest:
            return pa.scalar(count, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
        wider = pa.time64("ns") if tag == "time" else pa.timestamp("ns", kind.tz)
        return pa.scalar(nanoseconds, pa.int64()).cast(wider)
    return pa.scalar(nanoseconds, pa.int64()).cast(pa.time64("ns") if tag == "time" else pa.timestamp("ns"))


def _fits_float(value: float, kind: Any) -> bool:
    """Whether a float is one of a narrower type, too."""
    form = {"halffloat": "<e", "float": "<f", "double": "<d"}.get(str(kind))
    if form is None:
        return False
    try:
        return struct.unpack(form, struct.pack(form, value))[0] == value or value != value  # noqa: PLR0124 - NaN
    except OverflowError:
        return False


def require_flat(predicate: Predicate, schema: Any) -> None:
    """Make sure that a predicate compares no lists, structs or maps.

    Raises:
        Unsupported: It does. (Whether they are null may be asked.)
    """
    name, *parts = predicate
    if name in ("and", "or", "not"):
        for part in parts:
            require_flat(part, schema)
    elif name not in ("is null", "is not null"):
        (column,) = columns_of(predicate)
        if pa.types.is_nested(schema.field(column).type):
            raise Unsupported("a comparison with a nested column")


# ---------------------------------------------------------------------------------------------------- rows to Arrow

PLAIN_TYPES: Mapping[str, Any] = {
    "boolean": pa.bool_(),
    "float16": pa.float16(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "time_millis": pa.time32("ms"),
    "time_micros": pa.time64("us"),
    "time_nanos": pa.time64("ns"),
    "timestamp_millis": pa.timestamp("ms", "UTC"),
    "timestamp_micros": pa.timestamp("us", "UTC"),
    "timestamp_nanos": pa.timestamp("ns", "UTC"),
    "uuid": pa.uuid(),
    "json": pa.json_(),
    "unknown": pa.null(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint16": pa.uint16(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
}
"""Arrow's types by their names in requests."""


def type_of(name: str) -> Any:
    """The type of Arrow that a name in a request means.

    >>> type_of("decimal(9,2)"), type_of("list<int32>")
    (Decimal128Type(decimal128(9, 2)), ListType(list<element: int32>))

    Raises:
        Unsupported: Arrow has no such type.
    """
    if name in PLAIN_TYPES:
        return PLAIN_TYPES[name]
    match re.fullmatch(r"(\w+)[(<](.*)[)>]", name):
        case re.Match() as found:
            kind, inner = found.groups()
        case None:
            raise Unsupported(f"type {name}")
    match kind:
        case "decimal":
            precision, scale = map(int, inner.split(","))
            return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)
        case "fixed":
            return pa.binary(int(inner))
        case "list":
            return pa.list_(pa.field("element", type_of(inner)))
        case "map":
            return pa.map_(*map(type_of, _split(inner)))
        case "struct":
            members = [member.split(": ", 1) for member in _split(inner)]
            return pa.struct([pa.field(member, type_of(of)) for member, of in members])
        case _:
            raise Unsupported(f"type {name}")


def _split(inner: str) -> list[str]:
    """What is between commas outside of brackets."""
    parts, depth = [""], 0
    for character in inner:
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def table_of(rows: Mapping[str, Any]) -> Any:
    """The table that a request to write holds.

    Raises:
        Unsupported: Arrow has no such type.
    """
    fields = [pa.field(c["name"], type_of(c["type"]), c["nullable"]) for c in rows["columns"]]
    columns = [[row[position] for row in rows["rows"]] for position in range(len(fields))]
    arrays = [_array(values, field.type) for values, field in zip(columns, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _array(values: list[Written], kind: Any) -> Any:
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _array(values, kind.storage_type))
    return pa.array([_arrow_value(value, kind) for value in values], kind)


def _arrow_value(written: Written, kind: Any) -> Any:
    """A value as pyarrow takes it for a type."""
    if written is None:
        return None
    if pa.types.is_list(kind):
        return [_arrow_value(value, kind.value_type) for value in written["list"]]
    if pa.types.is_map(kind):
        return [
            (_arrow_value(key, kind.key_type), _arrow_value(value, kind.item_type))
            for key, value in written["map"]
        ]
    if pa.types.is_struct(kind):
        return {field.name: _arrow_value(written["struct"][field.name], field.type) for field in kind}
    value = native(written)
    if pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        return value // NANOSECONDS[kind.unit]
    return value
