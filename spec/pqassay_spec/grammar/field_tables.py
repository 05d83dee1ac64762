"""Field tables: the declaration of a structure as rows for people.

One function serves construct declarations and Thrift tables alike; the site, ``explain`` and tests take the
rows from here, so that no table is typed twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from construct import Array, Bytes, Const, FormatField, Struct

from pqassay_spec.grammar.constructs import AnyConstruct, bare
from pqassay_spec.grammar.flat_records import FlatStruct
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.grammar.thrift import Record, type_name


class FieldRow(NamedTuple):
    """One field. ``offset`` and ``size`` are in bytes, empty if they depend on the data; ``id`` is a Thrift field id."""

    name: str
    type: str
    offset: str
    size: str
    id: str
    presence: str
    doc: str


_INTEGERS = {"B": "u8", "H": "u16", "L": "u32", "Q": "u64", "b": "i8", "h": "i16", "l": "i32", "q": "i64"}


def construct_rows(structure: Any) -> Iterator[FieldRow]:
    """Rows of a construct ``Struct`` or a declared flat structure, in the order of its bytes."""
    if isinstance(structure, type) and issubclass(structure, FlatStruct):
        structure = structure.grammar
    if not isinstance(structure, Struct):
        raise TypeError("only a Struct has fields")
    offset: int | None = 0
    for member in structure.subcons:
        try:
            size: int | None = member.sizeof()
        except Exception:  # noqa: BLE001 - construct raises many kinds where the data decide the size
            size = None
        yield FieldRow(
            name=member.name or "",
            type=_construct_type(bare(member)),
            offset="" if offset is None else str(offset),
            size="" if size is None else str(size),
            id="",
            presence="required",
            doc=member.docs,
        )
        offset = offset + size if offset is not None and size is not None else None


def thrift_rows(record: type[Record]) -> Iterator[FieldRow]:
    """Rows of a declared Thrift struct, in the order of the table."""
    for field in record.fields:
        yield FieldRow(
            name=field.name,
            type=type_name(field.type),
            offset="",
            size="",
            id=str(field.id),
            presence="required" if field.required else "optional",
            doc=field.doc,
        )


def _construct_type(inner: AnyConstruct) -> str:
    if isinstance(inner, Const):
        return f"bytes {inner.value!r}"[:40].replace("bytes b", "magic ")
    if isinstance(inner, FormatField):
        order = (
            {"<": ", little-endian", ">": ", big-endian"}.get(inner.fmtstr[0], "") if inner.length > 1 else ""
        )
        return _INTEGERS.get(inner.fmtstr[-1], inner.fmtstr) + order
    if isinstance(inner, Bytes):
        return "bytes"
    if isinstance(inner, Labelled):
        return f"{_construct_type(bare(inner.subcon))}, `{inner.names.__name__}`"
    if isinstance(inner, Array):
        array: Any = cast("Any", inner)
        return f"list of {_construct_type(bare(array.subcon))}"
    if isinstance(inner, Struct):
        return "record of " + ", ".join(member.name or "" for member in inner.subcons)
    return type(inner).__name__
