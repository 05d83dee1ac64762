"""Comparison of two sources about one file: texts and structs of a checkpoint, or a checkpoint and the earlier log.

If one of them has no value, there is nothing to compare. Numbers are compared by value, and timestamps may be truncated to milliseconds in
one of the two.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from pqassay.tables.claims import UnknownType, ValueKind
from pqassay_tables.metadata.delta.actions import Json, parse
from pqassay_tables.metadata.delta.schema import DeltaColumn, DeltaSchema
from pqassay_tables.metadata.delta.statistics import MAX, MIN, NULLS, ROWS, TIGHT, member_of, written
from pqassay_tables.metadata.delta.values import partition_value, reading_of
from pqassay_tables.metadata.moments import MILLISECOND


class Difference(NamedTuple):
    """A member with different values in two sources.

    Attributes:
        path: Its path in the statistics or partition values.
        column: The column, for messages; ``None`` for a member about the file.
        one, other: The two values.
    """

    path: tuple[str, ...]
    column: str | None
    one: str
    other: str


def statistics_differ(
    schema: DeltaSchema, one: Json, other: Json, *, is_whole: bool = False
) -> Iterator[Difference]:
    """Yield the differences between two statistics of one file.

    Args:
        schema: The columns.
        one, other: The statistics.
        is_whole: Whether the first must have all members of the second.
    """
    for name in (ROWS, TIGHT):
        first, again = one.get(name), other.get(name)
        if again is not None and first != again and (is_whole or first is not None):
            yield Difference((name,), None, written(first), written(again))
    for name in (MIN, MAX, NULLS):
        for column in schema.columns:
            first, again = (member_of(stats.get(name), column.path) for stats in (one, other))
            if again is None or (first is None and not is_whole):
                continue
            if first is not None and _is_same(column, name, first, again, is_open=not is_whole):
                continue
            yield Difference((name, *column.path), column.name, written(first), written(again))


def _is_same(column: DeltaColumn, member: str, said: Any, again: Any, *, is_open: bool) -> bool:
    """Whether two values are equal; with ``is_open``, an invalid value counts as equal, since another rule judges it."""
    if said == again or member == NULLS:
        return bool(said == again) or isinstance(
            said, dict
        )  # for lists and maps, some writers also count the items
    try:
        kind, read = reading_of(column)
        left, right = read(said), read(again)
    except (ValueError, UnknownType):
        return is_open
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right):
        return True
    if kind is ValueKind.TIMESTAMP:
        return _cut(left) == _cut(right) and (_cut(left) in (left, right))
    if kind is ValueKind.FLOATING and column.type == "float":
        return _narrow(left) == _narrow(right)
    return left == right


def _narrow(value: Any) -> bytes | float:
    """A number rounded to a column of 4 bytes."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return float(value)


def _cut(moment: Any) -> int:
    return int(moment) // MILLISECOND * MILLISECOND


def partitions_differ(schema: DeltaSchema, texts: Json, parsed: Json) -> Iterator[Difference]:
    """Yield the differences between the texts and the struct of partition values."""
    for column in schema.partition:
        name = column.path[0]
        if name not in texts or name not in parsed:
            continue
        text, value = texts[name], parsed[name]
        is_null = text is None or text == ""
        if is_null or value is None:
            if is_null is not (value is None or value == ""):
                yield Difference((name,), column.name, written(text), written(value))
            continue
        try:
            left = partition_value(column, cast("str", text)).value
            right = reading_of(column).read(value)
        except (ValueError, UnknownType, TypeError, AttributeError):
            continue
        if left != right and written(left) != written(right):  # any two NaN are equal
            yield Difference((name,), column.name, written(text), written(value))


DESCRIBED = {
    "protocol": ("minReaderVersion", "minWriterVersion", "readerFeatures", "writerFeatures"),
    "metaData": ("id", "format", "schemaString", "partitionColumns", "configuration"),
}
"""The members that define a table; names and dates are not compared."""


def described_differ(kind: str, one: Json, other: Json) -> Iterator[str]:
    """Yield the members with different values in two actions ``protocol`` or ``metaData``."""
    for name in DESCRIBED[kind]:
        if _meant(name, one.get(name)) != _meant(name, other.get(name)):
            yield name


def _meant(name: str, given: Any) -> Any:
    """The meaning of a member, independent of its form: features are unordered, and absent features equal an empty list."""
    if name.endswith("Features"):
        return sorted(map(str, given)) if isinstance(given, list) else []
    if name == "format" and isinstance(given, dict):
        return cast("Json", given).get("provider")  # its options are empty or absent
    if name == "schemaString" and isinstance(given, str):
        try:
            return parse(given)
        except ValueError:
            return given
    return given or None
