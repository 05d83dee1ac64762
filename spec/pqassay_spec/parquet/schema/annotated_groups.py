"""The groups of variants and of references to files.

A *shredded* variant has some or all of its values in columns of their own type. Its ``typed_value`` is a leaf, a list, or a
group with a group for each field of an object. Each element and field is again a ``value`` beside a ``typed_value``.

Source: apache/parquet-format, ``LogicalTypes.md``, "VARIANT" and "FILE"; ``VariantEncoding.md``; ``VariantShredding.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pqassay_spec.parquet.schema.logical_values import logical_name
from pqassay_spec.parquet.schema.tree import SchemaNode
from pqassay_spec.parquet.thrift import FieldRepetitionType, Type

METADATA, VALUE, TYPED_VALUE = "metadata", "value", "typed_value"
"""The members of a variant; elements and fields have only the last two."""


class GroupFault(NamedTuple):
    """An element that violates the annotation of its group, in words."""

    node: SchemaNode
    expected: str
    actual: str


# --8<-- [start:tables]
_TEXT = frozenset(((Type.BYTE_ARRAY, "STRING"),))
_INTEGER = frozenset(((Type.INT64, None), (Type.INT64, "INTEGER(64, signed)")))

FILE_MEMBERS = {
    "uri": _TEXT,
    "offset": _INTEGER,
    "size": _INTEGER,
    "content_type": _TEXT,
    "checksum": _TEXT,
    "inline": frozenset(((Type.BYTE_ARRAY, None),)),
}
"""The members that a group annotated as FILE may have, with type and annotation; all are optional."""

SHREDDED = frozenset({
    (Type.BOOLEAN, None),
    (Type.INT32, "INTEGER(8, signed)"),
    (Type.INT32, "INTEGER(16, signed)"),
    *((Type.INT32, name) for name in (None, "INTEGER(32, signed)", "DATE", "DECIMAL")),
    *((Type.INT64, name) for name in (None, "INTEGER(64, signed)", "TIME(MICROS)", "DECIMAL")),
    *((Type.INT64, name) for name in ("TIMESTAMP(MICROS)", "TIMESTAMP(NANOS)")),
    (Type.FLOAT, None),
    (Type.DOUBLE, None),
    *((Type.BYTE_ARRAY, name) for name in (None, "STRING", "DECIMAL")),
    *((Type.FIXED_LEN_BYTE_ARRAY, name) for name in ("UUID", "DECIMAL")),
})  # fmt: skip
"""The types that the values of a shredded variant may have."""
# --8<-- [end:tables]


def member(node: SchemaNode, name: str) -> SchemaNode | None:
    """The member of a group with this name; ``None`` if there is none."""
    return next((child for child in node.children if child.name == name), None)


def groups_called(root: SchemaNode, kind: str) -> Iterator[SchemaNode]:
    """The groups with an annotation, by its name in the union, in the whole schema."""
    left = [root]
    while left:
        node = left.pop()
        left.extend(reversed(node.children))
        logical = node.element.logicalType
        if not node.is_leaf and logical is not None and getattr(logical, kind) is not None:
            yield node


def file_faults(node: SchemaNode) -> Iterator[GroupFault]:
    """The faulty members of a group annotated as FILE: of another type, not optional, or not allowed."""
    for child in node.children:
        if child.name not in FILE_MEMBERS:
            yield GroupFault(child, f"one of {', '.join(FILE_MEMBERS)}", "a member of another name")
            continue
        wanted = FILE_MEMBERS[child.name]
        if (child.element.type, _annotation(child)) not in wanted:
            name = " or ".join(sorted(_called(*each) for each in wanted))
            yield GroupFault(child, name, _kind(child))
        elif child.element.repetition_type != FieldRepetitionType.OPTIONAL:
            yield GroupFault(child, "OPTIONAL", _repetition(child))


def variant_faults(node: SchemaNode) -> Iterator[GroupFault]:
    """The faulty members of a variant: missing, of another type, or not allowed."""
    metadata = member(node, METADATA)
    if metadata is None:
        yield GroupFault(node, f"a member {METADATA}", _names(node))
    elif metadata.element.type != Type.BYTE_ARRAY:
        yield GroupFault(metadata, "BYTE_ARRAY", _kind(metadata))
    elif metadata.element.repetition_type != FieldRepetitionType.REQUIRED:
        yield GroupFault(metadata, "REQUIRED", _repetition(metadata))
    yield from _value_faults(node, (METADATA,))


def _value_faults(node: SchemaNode, beside: tuple[str, ...] = ()) -> Iterator[GroupFault]:
    """The faults of ``value``, and of the members beside it."""
    value = member(node, VALUE)
    if value is None and member(node, TYPED_VALUE) is None:
        yield GroupFault(node, f"a member {VALUE}", _names(node))
    if value is not None and value.element.type != Type.BYTE_ARRAY:
        yield GroupFault(value, "BYTE_ARRAY", _kind(value))
    elif value is not None and value.is_repeated:
        yield GroupFault(value, "REQUIRED or OPTIONAL", "REPEATED")
    known = (*beside, VALUE, TYPED_VALUE)
    names = [child.name for child in node.children]
    for child in node.children:
        if child.name not in known or names.count(child.name) > 1:
            yield GroupFault(
                child, f"{', '.join(known[:-1])} and {known[-1]}, each once", f"a member {child.name!r}"
            )


def shredding_faults(node: SchemaNode) -> Iterator[GroupFault]:
    """The faults of the ``typed_value`` of a variant, an element or a field, and of everything below it."""
    left = [typed] if (typed := member(node, TYPED_VALUE)) else []
    while left:
        typed = left.pop()
        if typed.is_repeated:
            yield GroupFault(typed, "REQUIRED or OPTIONAL", "REPEATED")
        elif typed.is_leaf:
            if not _is_shredded(typed):
                yield GroupFault(typed, "a type that values are shredded as", _kind(typed))
        elif not typed.is_list and typed.element.logicalType is not None:
            yield GroupFault(typed, "a group without annotation, or a list", _kind(typed))
        elif typed.is_list and not is_three_level(typed):
            yield GroupFault(typed, "a list of three levels", "another group")
        else:
            for inner in parts(typed):
                if inner.is_leaf or inner.element.repetition_type != FieldRepetitionType.REQUIRED:
                    yield GroupFault(inner, "a REQUIRED group", f"{_repetition(inner)} {_kind(inner)}")
                if not inner.is_leaf:
                    yield from _value_faults(inner)
                    left += [below] if (below := member(inner, TYPED_VALUE)) else []


def is_three_level(node: SchemaNode) -> bool:
    """Whether a list has a single repeated group with a single member."""
    return len(node.children) == 1 and node.children[0].is_repeated and len(node.children[0].children) == 1


def parts(typed: SchemaNode) -> list[SchemaNode]:
    """The groups of a shredded list or object: its element, or its fields."""
    return typed.children[0].children if typed.is_list else typed.children


def _is_shredded(node: SchemaNode) -> bool:
    logical = node.element.logicalType
    name = _annotation(node)
    if logical is not None and name is None:
        return True  # an annotation of a later version
    time = logical.TIME if logical is not None else None
    return (node.element.type, name) in SHREDDED and not (time is not None and time.isAdjustedToUTC)


def _annotation(node: SchemaNode) -> str | None:
    return logical_name(node.element)


def _kind(node: SchemaNode) -> str:
    return _called(node.element.type, _annotation(node))


def _called(physical: int | None, annotation: str | None) -> str:
    """A type and its annotation, for messages."""
    name = "a group" if physical is None else f"type {physical}"
    name = next((kind.name for kind in Type if kind == physical), name)
    return f"{name} annotated as {annotation}" if annotation else name


def _repetition(node: SchemaNode) -> str:
    kind = node.element.repetition_type
    return next((each.name for each in FieldRepetitionType if each == kind), "of no repetition")


def _names(node: SchemaNode) -> str:
    return ", ".join(child.name for child in node.children) or "no members"
