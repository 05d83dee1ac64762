"""Kaitai Struct definitions (``.ksy``), derived from the declarations of structures, construct and Thrift alike.

The translation is generic: fields, docs, types, counts and enums come from the declarations.  Where construct calls a function,
`pqassay_spec.grammar.constructs.expressed` declares the expression beside the function. A grammar of construct cannot give the offset of a
structure, so a `Place` gives it.

    >>> from construct import Array, Bytes, Int8ul, Int16ul, Struct, this
    >>> points = Struct("count" / Int8ul * "Points.", "points" / Array(this.count, Struct("x" / Int16ul * "To the right.")))
    >>> print(Definition("points", "Points on a line.").with_root(points).text(), end="")
    meta:
      id: points
      title: "Points on a line."
      license: "Apache-2.0"
      endian: le
    seq:
      - id: count
        doc: "Points."
        type: u1
      - id: points
        type: points_item
        repeat: expr
        repeat-expr: count
    types:
      points_item:
        seq:
          - id: x
            doc: "To the right."
            type: u2

Source: the user guide of Kaitai Struct 0.11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from types import FunctionType
from typing import Any, Self, cast

from construct import Array, Bytes, Const, FormatField, GreedyBytes, GreedyRange, IfThenElse

from pqassay_spec.grammar.constructs import bare
from pqassay_spec.grammar.flat_records import FlatStruct
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.grammar.thrift import CompactStruct, Record
from pqassay_spec.grammar.thrift import grammar as thrift
from pqassay_spec.grammar.thrift_wire import FIXED, VARINT_BITS, VARINT_GOES_ON, VARINT_MASK, WireType

Node = dict[str, Any]
"""A mapping of a definition."""

_SCALARS = {
    "B": "u1", "H": "u2", "L": "u4", "Q": "u8", "b": "s1", "h": "s2", "l": "s4", "q": "s8", "d": "f8",
}  # fmt: skip

LICENSE = "Apache-2.0"
"""The license of a definition, which is the license of this repository."""

VARINT = "varint"
"""The type of a number in LEB128; its instance ``signed`` is the number after zigzag decoding."""


@dataclass(frozen=True)
class Place:
    """A field of a type that is not read in sequence: a structure at an offset, or a computed value.

    Attributes:
        name: Its name.
        doc: What it is, in words.
        of: Its structure, the name of a type (with arguments), or ``None`` for a computed value or plain bytes.
        at: Expression of its offset in the file; empty if it follows from the type.
        count: Expression of the number of elements; empty for a single one.
        when: Expression that is true if it exists; empty if it always exists.
        size: Expression of its size in bytes, for plain bytes and for structures that end with them.
        value: Expression of a computed value.
    """

    name: str
    doc: str
    of: Any = None
    at: str = ""
    count: str = ""
    when: str = ""
    size: str = ""
    value: str = ""


def expression(decided: Any) -> str:
    """A count or a size as an expression of Kaitai Struct.

    >>> from construct import this
    >>> expression(this._.head.group_count), expression(8)
    ('_parent.head.group_count', '8')

    Raises:
        KeyError: It is a function without `expressed`.
    """
    if isinstance(decided, FunctionType):
        return str(vars(decided)["kaitai"])
    path = re.sub(r"this((?:\['\w+'\])+)", lambda found: found[1][2:-2].replace("']['", "."), repr(decided))
    return re.sub(r"(?<![\w])_(?=\.)", "_parent", path)


@dataclass
class Definition:
    """One ``.ksy`` file.

    Attributes:
        id: Its id, and the name of the file.
        title: What it describes, in words.
        names: Names of structures that have a type of their own.
        inside: Structures within fields of bytes, by type and field: ``framed_entry.entry``.
        doc: What it cannot express.
    """

    id: str
    title: str
    names: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inside: Mapping[str, Any] = field(default_factory=dict[str, Any])
    doc: str = ""
    root: Node = field(default_factory=dict[str, Any])
    types: Node = field(default_factory=dict[str, Any])
    enums: Node = field(default_factory=dict[str, Any])

    def with_root(self, structure: Any = None, places: Sequence[Place] = ()) -> Self:
        """Set the structure of the whole file, with places at offsets."""
        self.root = self._structure(self.id, structure, places)
        return self

    def with_type(
        self, name: str, structure: Any = None, places: Sequence[Place] = (), params: Mapping[str, str] = {}
    ) -> Self:
        """Add a type: a structure, with places at offsets and the parameters that they need."""
        self.types[name] = {}
        node = {"params": [{"id": one, "type": kind} for one, kind in params.items()]} if params else {}
        self.types[name] |= node | self._structure(name, structure, places)
        return self

    def text(self) -> str:
        """The text of the file."""
        meta = {"id": self.id, "title": self.title, "license": LICENSE, "endian": "le"}
        whole: Node = {"meta": meta, **({"doc": self.doc} if self.doc else {}), **self.root}
        whole |= {name: part for name, part in (("types", self.types), ("enums", self.enums)) if part}
        return "".join(_lines(whole, ""))

    # ------------------------------------------------------------------------------------------- structures

    def _structure(self, name: str, structure: Any, places: Sequence[Place]) -> Node:
        members = [] if structure is None else grammar_of(structure).subcons
        seq = [self._member(name, member) for member in members]
        instances = {place.name: self._place(place) for place in places}
        return {**({"seq": seq} if seq else {}), **({"instances": instances} if instances else {})}

    def _member(self, owner: str, member: Any) -> Node:
        typed = self._typed(member.name, bare(member))
        if held := self.inside.get(f"{owner}.{member.name}"):
            typed["type"] = self._type(member.name, held)
        return {"id": member.name, **({"doc": member.docs} if member.docs else {}), **typed}

    def _typed(self, name: str, inner: Any) -> Node:
        """The type of a field, how often it is repeated, and when it exists."""
        match inner:
            case str():
                return {"type": inner}
            case Array():
                count = cast("Any", inner).count
                return {**self._item(name, inner), "repeat": "expr", "repeat-expr": expression(count)}
            case GreedyRange():
                return {**self._item(name, inner), "repeat": "eos"}
            case IfThenElse():
                choice = cast("Any", inner)
                return {**self._typed(name, bare(choice.thensubcon)), "if": expression(choice.condfunc)}
            case Labelled():
                return {**self._typed(name, bare(inner.subcon)), **self._labels(inner)}
            case _:
                return self._plain(inner) or {"type": self._type(name, inner)}

    def _item(self, name: str, repeated: Any) -> Node:
        return self._typed(f"{name}_item", bare(repeated.subcon))

    def _plain(self, inner: Any) -> Node | None:
        """A field without parts."""
        match inner:
            case Const():
                return {"contents": list(inner.value)}
            case FormatField():
                return {"type": _SCALARS[inner.fmtstr[-1]]}
            case Bytes():
                return {"size": expression(cast("Any", inner).length)}
            case _:
                return {"size-eos": True} if inner is GreedyBytes else None

    def _labels(self, labelled: Labelled) -> Node:
        names, members = _snake(labelled.names.__name__), {int(one): one.name for one in labelled.names}
        if issubclass(labelled.names, IntFlag):
            return {"-bits": {str(bit): name for bit, name in members.items()}}
        self.enums[names] = {str(value): str(name).lower() for value, name in members.items()}
        return {"enum": names}

    def _type(self, name: str, structure: Any) -> str:
        """The name of a structure's type, which is added if it is new."""
        known = (one for one, other in self.names.items() if grammar_of(other) is grammar_of(structure))
        name = next(known, name)
        if name not in self.types:
            if isinstance(structure, CompactStruct):
                self._record(name, structure.record)
            else:
                self.with_type(name, structure)
        return name

    def _place(self, place: Place) -> Node:
        if place.value:
            return {"doc": place.doc, "value": place.value}
        node: Node = {"doc": place.doc, **({"pos": place.at} if place.at else {})}
        if place.of is not None:
            node |= self._typed(place.name, bare(place.of))
        if place.size:
            node["size"] = place.size
        if place.count:
            node |= {"repeat": "expr", "repeat-expr": place.count}
        return {**node, **({"if": place.when} if place.when else {})}

    # ------------------------------------------------------------------------------------- Thrift's compact protocol

    def _record(self, name: str, record: type[Record]) -> None:
        """Add a Thrift struct: its fields up to the stop byte; fields that are structs have their own types."""
        self.types[name] = {
            "seq": [
                {
                    "id": "fields",
                    "type": f"{name}_field(_index)",
                    "repeat": "until",
                    "repeat-until": "_.wire_type == 0",
                }
            ]
        }
        self._compact()
        cases: Node = {}
        for declared in record.fields:
            if isinstance(declared.type, type) and issubclass(declared.type, Record):
                number = str(WireType.STRUCT << 16 | declared.id)
                cases[number] = self._type(_snake(declared.type.__name__), thrift(declared.type))
        names = {str(one.id): _snake(one.name) for one in record.fields}
        self.enums[f"{name}_number"] = {"0": "stop", **names}
        self.types[f"{name}_field"] = _compact_field(name, cases)

    def _compact(self) -> None:
        """Add the types that every Thrift struct needs, once: numbers, and values of undeclared fields."""
        if VARINT in self.types:
            return
        part = f"((bytes[{{0}}] & {VARINT_MASK}) << {{1}})"
        parts = [f"(bytes.size > {n} ? {part.format(n, n * VARINT_BITS)} : 0)" for n in range(5)]
        self.types[VARINT] = {
            "seq": [
                {
                    "id": "bytes",
                    "type": "u1",
                    "repeat": "until",
                    "repeat-until": f"(_ & {VARINT_GOES_ON}) == 0",
                }
            ],
            "instances": {
                "unsigned": {"doc": "At most 5 bytes: a number of 32 bits.", "value": " | ".join(parts)},
                "signed": {"doc": "Zigzag.", "value": "(unsigned >> 1) ^ -(unsigned & 1)"},
            },
        }
        varints = dict.fromkeys((WireType.I16, WireType.I32, WireType.I64), VARINT)
        fixed = {WireType.BYTE: "s1", WireType.DOUBLE: "f8", WireType.UUID: "uuid"}
        if set(fixed) != set(FIXED):
            raise TypeError("a wire type of fixed width has no type here")
        kinds = {**varints, **fixed, WireType.BINARY: "compact_binary", WireType.STRUCT: "compact_struct"}
        cases = {str(int(wire)): kind for wire, kind in kinds.items()}
        self.types["uuid"] = {"seq": [{"id": "bytes", "size": "16"}]}
        self.types["compact_binary"] = {
            "seq": [{"id": "length", "type": VARINT}, {"id": "bytes", "size": "length.unsigned"}]
        }
        self.types["compact_value"] = {
            "doc": "A value by its wire type. Lists, sets and maps are not expressed: no field here has one.",
            "params": [{"id": "wire_type", "type": "s4"}],
            "seq": [{"id": "value", "type": {"switch-on": "wire_type", "cases": cases}}],
        }
        self.types["compact_struct"] = {
            "seq": [
                {
                    "id": "fields",
                    "type": "compact_struct_field(_index)",
                    "repeat": "until",
                    "repeat-until": "_.wire_type == 0",
                }
            ]
        }
        self.types["compact_struct_field"] = _compact_field("compact_struct", {})


def grammar_of(structure: Any) -> Any:
    """The construct ``Struct`` of a declaration."""
    is_flat = isinstance(structure, type) and issubclass(structure, FlatStruct)
    return cast("Any", structure).grammar if is_flat else bare(structure)


def _compact_field(name: str, cases: Node) -> Node:
    before = "(index == 0 ? 0 : _parent.fields[index - 1].number.as<s4>)"
    value: Node = {"id": "value", "if": f"wire_type > {int(WireType.FALSE)}"}
    other = "compact_value(wire_type)"
    declared = {"switch-on": "(wire_type << 16) | number", "cases": {**cases, "_": other}}
    value["type"] = declared if cases else other
    return {
        "params": [{"id": "index", "type": "s4"}],
        "seq": [
            {"id": "head", "type": "u1"},
            {"id": "long_number", "type": VARINT, "if": "(head >> 4) == 0 and wire_type != 0"},
            value,
        ],
        "instances": {
            "wire_type": {"value": "head & 15"},
            "number": {
                "doc": f"The field's number, as in the enum {name}_number."
                if cases
                else "The field's number.",
                "value": f"wire_type == 0 ? 0 : ((head >> 4) == 0 ? long_number.signed : (head >> 4) + {before})",
            },
        },
    }


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|[yn])$)[a-z_]\w*(?:\(\w+\))?", re.IGNORECASE)
"""Texts that YAML accepts without quotes."""


def _lines(node: Node, indent: str) -> list[str]:
    """A mapping as lines of YAML; texts that are not names are quoted as in JSON."""
    lines: list[str] = []
    for key, value in node.items():
        name = json.dumps(key) if key == "_" else key
        if isinstance(value, dict):
            lines += [f"{indent}{name}:\n", *_lines(cast("Node", value), f"{indent}  ")]
        elif isinstance(value, list) and isinstance(value[0], dict):
            lines.append(f"{indent}{name}:\n")
            for item in cast("list[Node]", value):
                first, *rest = _lines(item, f"{indent}    ")
                lines += [f"{indent}  - {first.lstrip()}", *rest]
        else:
            is_plain = isinstance(value, str) and _PLAIN.fullmatch(value)
            lines.append(f"{indent}{name}: {value if is_plain else json.dumps(value, ensure_ascii=False)}\n")
    return lines
