"""The comparison of Arrow's copy of the schema with the schema of the file, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pqassay.under_test.schemas.schema_copies import Fault
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.schema.tree import SchemaNode
from pqassay_spec.parquet.schema_copies.arrow import LISTS, ArrowField, ArrowType, Kind, read_arrow_schema
from pqassay_spec.parquet.schema_copies.arrow_types import Fit, carrier, fit, has_unit_of, is_storage, meaning
from pqassay_spec.parquet.thrift import SchemaElement, Type

NAMES, FOLLOWED, IGNORED, UNITS = "PQF-112", "PQF-113", "PQF-114", "PQF-142"

PAIR = 2
"""The number of parts of a map: key and value."""

_MORE_THAN_NODES = 4
"""The largest number of fields of a copy for each schema element; a run-end encoded column has three."""


class Limit(NamedTuple):
    """The claim of a type about the values of a column.

    It is the maximum number of distinct values or, with ``is_length``, the length of all lists of a group.
    """

    node: SchemaNode
    number: int
    is_length: bool


def arrow_faults(value: str, root: SchemaNode) -> Iterator[Fault]:
    """Yield the faults where the copy does not describe this schema. Raises `Malformed` with the rule if it cannot be read."""
    return (each for each in _compared(value, root) if isinstance(each, Fault))


def arrow_limits(value: str, root: SchemaNode) -> list[Limit]:
    """The claims of a copy's types about the values; empty if it does not describe this schema. Raises as `arrow_faults` does."""
    return [each for each in _compared(value, root) if isinstance(each, Limit)]


def arrow_meaning(value: str, root: SchemaNode) -> list[tuple[str, ArrowType]]:
    """The meaning of a copy, without memory details. Raises as `arrow_faults` does."""
    schema = read_arrow_schema(value, most=_MORE_THAN_NODES * _count(root))
    return [(field.name, meaning(field.type)) for field in schema.fields]


def _compared(value: str, root: SchemaNode) -> Iterator[Fault | Limit]:
    elements = _count(root)
    schema = read_arrow_schema(value, most=_MORE_THAN_NODES * elements)
    yield from _members(schema.fields, root.children, "the schema", None)


def _count(root: SchemaNode) -> int:
    """The number of elements of a schema: the position of the last one plus one."""
    node = root
    while node.children:
        node = node.children[-1]
    return node.place + 1


def _members(
    fields: Sequence[ArrowField], nodes: Sequence[SchemaNode], where: str, path: str | None
) -> Iterator[Fault | Limit]:
    """Compare the members of a group: number, names and order."""
    if len(fields) != len(nodes):
        message = f"it describes {len(fields)} fields of {where}, but there are {len(nodes)}"
        yield Fault(NAMES, message, f"{len(nodes)} fields", str(len(fields)), path)
        return
    for field, node in zip(fields, nodes, strict=True):
        if field.name != node.name:
            message = f"it calls a field {show(field.name)}, but {where} has {show(node.name)}"
            yield Fault(NAMES, message, show(node.name), show(field.name), path or node.name)
            return
    for field, node in zip(fields, nodes, strict=True):
        yield from _field(field.type, node, node.name if path is None else f"{path}.{node.name}")


def _field(
    type_: ArrowType, node: SchemaNode, path: str, *, is_item: bool = False
) -> Iterator[Fault | Limit]:
    """Compare one field; with ``is_item``, the repeated element of a list, which counts as one value."""
    if not is_storage(type_):
        said = (
            f"it gives {show(path)} the type {type_.extension} over {type_}, but the "
            "column is stored in another way"
        )
        yield Fault(FOLLOWED, said, f"the storage of {type_.extension}", str(type_), path)
    if type_.kind == Kind.RUN_END_ENCODED and not node.is_leaf:
        type_ = type_.children[1].type
    if node.is_repeated and not is_item:
        if type_.kind in LISTS:
            yield from _field(type_.children[0].type, node, path, is_item=True)
        else:
            yield _other_kind(type_, "a repeated field", "a list", path)
    elif node.is_leaf:
        yield from _leaf(type_, node.element, path)
        if type_.entries and node.element.type == Type.BYTE_ARRAY:
            yield Limit(node, type_.entries, is_length=False)
    elif node.is_list and node.elements():
        yield from _list(type_, node, path)
    elif node.is_map and len(node.pair()) == PAIR:
        yield from _map(type_, node, path)
    elif not node.is_list and not node.is_map:
        if type_.kind == Kind.STRUCT:
            yield from _members(type_.children, node.children, f"group {show(path)}", path)
        else:
            yield _other_kind(type_, "a group", "a struct", path)


def _list(type_: ArrowType, node: SchemaNode, path: str) -> Iterator[Fault | Limit]:
    if type_.kind not in LISTS:
        yield _other_kind(type_, "a list", "a list", path)
        return
    if type_.kind == Kind.FIXED_SIZE_LIST:
        yield Limit(node, type_.width, is_length=True)
    item = type_.children[0].type
    # The names in an old list decide which of two groups is its element; the first possible group is used.
    candidates = node.elements()
    element = next((one for one in candidates if _may_be(item, one)), candidates[0])
    yield from _field(item, element, f"{path}.{element.name}", is_item=element.is_repeated)


def _may_be(item: ArrowType, element: SchemaNode) -> bool:
    """Whether a type can be the element of a list, judged only by the names of members."""
    if element.is_leaf or element.is_list or element.is_map:
        return item.kind != Kind.STRUCT
    return item.kind == Kind.STRUCT and [field.name for field in item.children] == [
        child.name for child in element.children
    ]


def _map(type_: ArrowType, node: SchemaNode, path: str) -> Iterator[Fault | Limit]:
    if type_.kind != Kind.MAP:
        yield _other_kind(type_, "a map", "a map", path)
        return
    for field, part in zip(type_.children[0].type.children, node.pair(), strict=True):
        yield from _field(field.type, part, f"{path}.{part.name}")


def _other_kind(type_: ArrowType, what: str, wanted: str, path: str) -> Fault:
    said = f"it gives {show(path)} the type {type_}, but the column is {what}"
    return Fault(NAMES, said, wanted, str(type_), path)


def _leaf(type_: ArrowType, element: SchemaElement, path: str) -> Iterator[Fault]:
    found = fit(type_, element)
    if found is not Fit.FITS:
        rule = FOLLOWED if found is Fit.FOLLOWED else IGNORED
        stored_as = carrier(element)
        said = f"it gives column {show(path)} the type {type_}, which is not stored as {stored_as}"
        yield Fault(rule, said, f"a type that is stored as {stored_as}", str(type_), path)
    elif not has_unit_of(type_, element):
        said = f"it gives column {show(path)} the type {type_}, but the column is {carrier(element)}"
        yield Fault(UNITS, said, "the same unit in both", str(type_), path)
