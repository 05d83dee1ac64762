"""The type of a field by its path in a trace, as its structure declares it."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

from pqassay.report.declarations import ROOTS
from pqassay_spec.grammar.field_tables import construct_rows
from pqassay_spec.grammar.thrift import FieldType, ListOf, Record, type_name

_INDEXES = re.compile(r"\[\d+\]")

_LIST = re.compile(r"list<(.*)>")
"""A pattern for the type of a list, with its element type."""


@cache
def type_of(path: str) -> str:
    """The type of the field at a path; empty if it is not declared.

    >>> type_of("footer.row_groups[0].columns[1].meta_data.codec"), type_of("tail.footer_length"), type_of("gaps[0]")
    ('CompressionCodec', 'u32, little-endian', '')
    >>> type_of("footer.schema"), type_of("footer.column_orders[0].TYPE_ORDER")
    ('list<SchemaElement>', 'TypeDefinedOrder')
    """
    declared = _declared_type(_INDEXES.sub("", path))
    return _LIST.sub(r"\1", declared) if path.endswith("]") else declared


@cache
def _declared_type(path: str) -> str:
    root = max((r for r in ROOTS if path.startswith(f"{r}.")), key=len, default=None)
    if root is None:
        return ""
    module, _, name = ROOTS[root].rpartition(".")
    structure: Any = getattr(importlib.import_module(f"pqassay_spec.{module}"), name)
    *way, last = path.removeprefix(f"{root}.").split(".")
    for step in way:
        structure = _inner(structure, step)
    if _is_record(structure):
        kind = _kind(structure, last)
        return "" if kind is None else type_name(kind)
    try:
        return next((row.type.replace("`", "") for row in construct_rows(structure) if row.name == last), "")
    except TypeError:  # no structure with fields
        return ""


def _is_record(structure: Any) -> bool:
    return isinstance(structure, type) and issubclass(structure, Record)


def _kind(structure: type[Record], name: str) -> FieldType | None:
    return next((field.type for field in structure.fields if field.name == name), None)


def _inner(structure: Any, name: str) -> Any:
    """The structure in a field of a Thrift struct, or in its elements; ``None`` for other fields."""
    kind: Any = _kind(structure, name) if _is_record(structure) else None
    while isinstance(kind, ListOf):
        kind = kind.element
    return kind
