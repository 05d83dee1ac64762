"""The pandas description of a frame: the names and types of its columns, and its index, compared with the schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pqassay.under_test.schemas.schema_copies import Fault, as_list, as_object, read_json
from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.schema.tree import SchemaNode
from pqassay_spec.parquet.schema_copies.arrow_types import carrier
from pqassay_spec.parquet.schema_copies.pandas_types import is_made_of
from pqassay_spec.parquet.thrift import SchemaElement

PANDAS_KEY = "pandas"

READABLE, INDEXES, TYPES = "PQF-118", "PQF-119", "PQF-144"

_RANGE = ("start", "stop", "step")


def pandas_faults(value: str, root: SchemaNode) -> Iterator[Fault]:
    """Yield the faults that prevent pandas from building the frame. Raises `Malformed` if the description cannot be read."""
    frame = as_object(read_json(value, READABLE))
    if frame is None:
        raise Malformed("its JSON is not an object", rule=READABLE)
    described = {name for column in _list(frame, "columns") for name in _names(column)}
    indexes: list[str] = []
    for index in _list(frame, "index_columns"):
        if isinstance(index, str):
            indexes.append(index)
        else:
            _require_range(as_object(index))
    if unknown := [index for index in indexes if index not in described]:
        raise Malformed(f"its index {show(unknown[0])} is not among its columns", rule=READABLE)
    if len(set(indexes)) < len(indexes):
        raise Malformed("it lists an index twice", rule=READABLE)
    columns = {node.name for node in root.children}
    for index in indexes:
        if index not in columns:
            said = f"its index {show(index)} is not a column of the file"
            yield Fault(INDEXES, said, "a column of the file", show(index), index)
    leaves = {node.name: node.element for node in root.children if node.is_leaf and not node.is_repeated}
    for column in _list(frame, "columns"):
        yield from _type(column, leaves)


def _type(described: dict[str, Any], leaves: dict[str, SchemaElement]) -> Iterator[Fault]:
    """Yield the fault of a pandas type that does not fit the column."""
    name, numpy_type = described.get("field_name", described["name"]), described["numpy_type"]
    element = leaves.get(name) if isinstance(name, str) else None
    if element is not None and not is_made_of(numpy_type, element):
        said = f"it gives column {show(name)} the type {show(numpy_type)}, which is not made of {carrier(element)}"
        yield Fault(TYPES, said, f"a type that is made of {carrier(element)}", show(numpy_type), name)


def _names(described: Any) -> list[str]:
    """The names of a column in its description."""
    column = as_object(described)
    if column is None:
        raise Malformed("one of its columns is not an object", rule=READABLE)
    for name in ("name", "pandas_type", "numpy_type"):
        if name not in column:
            raise Malformed(f"one of its columns has no {name}", rule=READABLE)
    if not isinstance(column["numpy_type"], str):
        raise Malformed("the numpy_type of one of its columns is not a text", rule=READABLE)
    return [name for name in (column.get("field_name"), column["name"]) if isinstance(name, str)]


def _list(frame: dict[str, Any], name: str) -> list[Any]:
    found = as_list(frame.get(name))
    if found is None:
        raise Malformed(f"it has no list of {name}", rule=READABLE)
    return found


def _require_range(index: dict[str, Any] | None) -> None:
    """Raise `Malformed` unless an index is a valid Python range."""
    if index is None:
        raise Malformed("one of its index_columns is neither a name nor a range", rule=READABLE)
    if index.get("kind") != "range" or "name" not in index:
        raise Malformed("one of its index_columns is of a kind that does not exist", rule=READABLE)
    numbers = [index.get(name) for name in _RANGE]
    if any(not isinstance(number, int) or abs(number) >= 1 << 63 for number in numbers) or not numbers[-1]:
        raise Malformed("its range has no start, stop and step, or a step of 0", rule=READABLE)
