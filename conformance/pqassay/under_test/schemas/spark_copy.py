"""The comparison of Spark's copy of the schema with the schema of the file, field by field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pqassay.under_test.schemas.schema_copies import Fault, as_list, as_object, read_json
from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.schema.tree import SchemaNode
from pqassay_spec.parquet.schema_copies.spark_types import is_stored_as

READABLE, NAMES, TYPES = "PQF-115", "PQF-116", "PQF-117"

DEEPEST = 100
"""The deepest nesting of types that is followed."""

Member = tuple[str, Any]
"""The name of a field, and its type."""


def spark_faults(value: str, root: SchemaNode) -> Iterator[Fault]:
    """Yield the faults where the copy does not describe this schema. Raises `Malformed` if Spark cannot read it."""
    schema = as_object(read_json(value, READABLE))
    if schema is None or schema.get("type") != "struct":
        raise Malformed("its JSON is not a struct", rule=READABLE)
    _require_readable(schema, 0)
    yield from _members(_fields(schema), root.children, "the schema", None)


def _require_readable(type_: Any, depth: int) -> None:
    """Raise `Malformed` unless a type has the members that Spark needs."""
    if isinstance(type_, str) or depth > DEEPEST:
        return
    members = as_object(type_) or {}
    match members.get("type"):
        case "struct":
            inner = [type_ for _, type_ in _fields(members)]
        case "array":
            inner = [members.get("elementType")]
        case "map":
            inner = [members.get("keyType"), members.get("valueType")]
        case str():
            return
        case _:
            raise Malformed("a type in its JSON has no name", rule=READABLE)
    for one in inner:
        _require_readable(one, depth + 1)


def _fields(struct: dict[str, Any]) -> list[Member]:
    fields = as_list(struct.get("fields"))
    if fields is None:
        raise Malformed("a struct in its JSON has no list of fields", rule=READABLE)
    members: list[Member] = []
    for field in map(as_object, fields):
        name = field.get("name") if field else None
        if field is None or not isinstance(name, str):
            raise Malformed("a field in its JSON has no name", rule=READABLE)
        members.append((name, field.get("type")))
    return members


def _members(
    members: Sequence[Member], nodes: Sequence[SchemaNode], where: str, path: str | None
) -> Iterator[Fault]:
    """Compare the members of a group. Spark finds them by name, in any order, and if necessary ignoring case."""
    by_name = {node.name.lower(): node for node in nodes} | {node.name: node for node in nodes}
    names_seen: set[str] = set()
    met: set[int] = set()
    for name, type_ in members:
        full = name if path is None else f"{path}.{name}"
        node = by_name.get(name) or by_name.get(name.lower())
        if name in names_seen:
            said = f"it lists {show(name)} in {where} twice"
            yield Fault(NAMES, said, "each field once", f"{show(name)} again", full)
        elif node is None:
            said = f"it lists {show(name)}, which is not in {where}"
            yield Fault(NAMES, said, "fields of the schema", show(name), full)
        else:
            met.add(node.place)
            yield from _field(type_, node, full)
        names_seen.add(name)
    for node in nodes:
        if node.place not in met:
            full = node.name if path is None else f"{path}.{node.name}"
            yield Fault(
                NAMES, f"it leaves out {show(node.name)} of {where}", show(node.name), "nothing", full
            )


def _field(type_: Any, node: SchemaNode, path: str, *, is_item: bool = False) -> Iterator[Fault]:
    """Compare one field; with ``is_item``, the repeated element of a list, which counts as one value."""
    if isinstance(type_, str):
        yield from _single(type_, node, path, is_item=is_item)
        return
    members = as_object(type_) or {}
    match members.get("type"):
        case "array":
            yield from _array(members.get("elementType"), node, path)
        case "map" if not node.is_map:
            yield _of_type("map", node, path)
        case "map" if len(node.pair()) == len(_PAIR):
            for part, name in zip(node.pair(), _PAIR, strict=True):
                yield from _field(members.get(name), part, f"{path}.{part.name}")
        case "struct":
            if node.is_leaf or node.is_list or node.is_map or (node.is_repeated and not is_item):
                yield _of_type("struct", node, path)
            else:
                yield from _members(_fields(members), node.children, f"group {show(path)}", path)
        case _:
            return


_PAIR = ("keyType", "valueType")

_NOT_LEAVES = re.compile(r"variant|void|geometry.*|geography.*")
"""Types that may be stored as groups or as columns."""

_LEAVES = re.compile(
    r"boolean|byte|short|integer|long|float|double|string|binary|date|timestamp|decimal\(.*|interval .*"
)
"""Types that are always stored as columns."""


def _single(name: str, node: SchemaNode, path: str, *, is_item: bool) -> Iterator[Fault]:
    """Compare a field of a type that is not nested."""
    if _NOT_LEAVES.fullmatch(name):
        return
    if node.is_leaf and (is_item or not node.is_repeated):
        if not is_stored_as(name, node.element):
            yield _of_type(name, node, path)
    elif _LEAVES.fullmatch(name):
        yield _of_type(name, node, path)


def _array(element: Any, node: SchemaNode, path: str) -> Iterator[Fault]:
    if node.is_list and node.elements():
        inner = next((one for one in node.elements() if _may_be(element, one)), node.elements()[0])
        yield from _field(element, inner, f"{path}.{inner.name}", is_item=inner.is_repeated)
    elif node.is_repeated:
        yield from _field(element, node, path, is_item=True)
    else:
        yield _of_type("array", node, path)


def _may_be(element: Any, node: SchemaNode) -> bool:
    """Whether a type can be the element of a list, judged only by the names of members."""
    found = as_object(element) or {}
    is_struct = found.get("type") == "struct"
    if node.is_leaf or node.is_list or node.is_map:
        return not is_struct
    names = {child.name.lower() for child in node.children}
    return is_struct and {name.lower() for name, _ in _fields(found)} == names


def _of_type(name: str, node: SchemaNode, path: str) -> Fault:
    what = "a list" if node.is_list else "a map" if node.is_map else "a group"
    if node.is_leaf:
        what = "such a column" if not node.is_repeated else "a repeated column"
    said = f"it gives {show(path)} the type {name}, which does not hold the values of {what}"
    return Fault(TYPES, said, "a type that holds the values of the column", name, path)
