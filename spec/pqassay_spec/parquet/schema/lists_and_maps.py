"""The groups of lists and maps.

Source: apache/parquet-format, ``LogicalTypes.md``, "Lists" and "Maps", with their backward-compatibility rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pqassay_spec.parquet.schema.leaf_columns import has_defined_repetition
from pqassay_spec.parquet.thrift import ConvertedType, FieldRepetitionType, SchemaElement


class Misfit(NamedTuple):
    """A group that is marked as a list or map but lacks something of it, in words."""

    place: int
    kind: str
    expected: str
    actual: str


def misfits(schema: Sequence[SchemaElement]) -> Iterator[Misfit]:
    """Yield the groups below the root whose members do not fit their mark as a list or map.

    Args:
        schema: All elements of a valid tree, the root first.
    """
    if not any(_kind(element) for element in schema[1:]):
        return
    members, parents = _members(schema)
    for index, element in enumerate(schema[1:], 1):
        kind = _kind(element)
        if kind is None or element.type is not None:
            continue
        if kind == "MAP" and _is_repeated(element) and _kind(schema[parents[index]]) == "MAP":
            continue  # the entries of a map, which old writers annotate as well
        inner = members[index]
        if not all(has_defined_repetition(schema[place]) for place in inner):
            continue
        if len(inner) != 1 or not _is_repeated(schema[inner[0]]):
            yield Misfit(index, kind, "one repeated member", _count(len(inner)))
        elif kind == "MAP":
            entry = members[inner[0]]
            if not 1 <= len(entry) <= 2:
                yield Misfit(index, kind, "entries of a key and a value", f"entries of {len(entry)} members")
            elif schema[entry[0]].repetition_type != FieldRepetitionType.REQUIRED and has_defined_repetition(
                schema[entry[0]]
            ):
                yield Misfit(index, kind, "a required key", "a key that is not required")


def _kind(element: SchemaElement) -> str | None:
    logical = element.logicalType
    if logical is not None:
        return "LIST" if logical.LIST is not None else "MAP" if logical.MAP is not None else None
    if element.converted_type == ConvertedType.LIST:
        return "LIST"
    is_map = element.converted_type in (ConvertedType.MAP, ConvertedType.MAP_KEY_VALUE)
    return "MAP" if is_map else None


def _is_repeated(element: SchemaElement) -> bool:
    return element.repetition_type == FieldRepetitionType.REPEATED


def _count(members: int) -> str:
    return "one that is not repeated" if members == 1 else f"{members} members"


def _members(schema: Sequence[SchemaElement]) -> tuple[list[list[int]], list[int]]:
    """The positions of the members of each element, and the position of the group around each element."""
    members: list[list[int]] = [[] for _ in schema]
    parents = [0] * len(schema)
    groups = [0]
    for index, element in enumerate(schema[1:], 1):
        while len(members[groups[-1]]) == (schema[groups[-1]].num_children or 0):
            groups.pop()
        parents[index] = groups[-1]
        members[groups[-1]].append(index)
        if element.type is None:
            groups.append(index)
    return members, parents
