r"""Avro object containers: the grammar of the container, and the grammars made from Avro schemas.

>>> grammar_of({"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}).build({"n": -3})
b'\x05'

Source: the Apache Avro specification, "Binary Encoding" and "Object Container Files".
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

from construct import Bytes, Const, Float32l, Float64l, Renamed, Struct
from construct.core import stream_read, stream_write

from pqassay_spec.base.errors import Malformed, Truncated
from pqassay_spec.grammar.constructs import AnyConstruct

if TYPE_CHECKING:
    from pqassay_spec.grammar.trace import Recorder

MAGIC = b"Obj\x01"
"""The first bytes of an object container."""

SYNC = 16
"""Bytes of the marker after the header and after each block."""

SCHEMA_KEY, CODEC_KEY = "avro.schema", "avro.codec"
"""Keys of the header's metadata: the schema as JSON, and the compression of blocks."""

CODECS = ("null", "deflate", "snappy", "zstandard")
"""The known codecs; ``null`` is the default of a file."""

SNAPPY_CHECKSUM = 4
"""Bytes after a block that Snappy compressed: the CRC-32 of its uncompressed content, big-endian."""

LONG_BYTES = 10
"""Bytes of the longest number."""

MOST_DEPTH = 24
"""Deepest nesting of the types of a schema; manifests need eight levels."""

MOST_VALUES = 1 << 16
"""Most values in an object without its lists and maps: a schema that repeats named types can otherwise describe a huge number."""

_SIGNED = 1 << 63


class Long(AnyConstruct):
    r"""A signed number, zig-zag, seven bits to the byte from the lowest on.

    >>> Long().parse(b"\x01"), Long().build(64)
    (-1, b'\x80\x01')
    """

    def _parse(self, stream: Any, context: Any, path: str) -> int:
        value = 0
        for number in range(LONG_BYTES):
            byte = stream_read(stream, 1, path)[0]
            value |= (byte & 0x7F) << 7 * number
            if byte < 0x80:
                if value >> 64:
                    break
                return (value >> 1) ^ -(value & 1)
        raise Malformed("a number of more than 64 bits")

    def _build(self, obj: int, stream: Any, context: Any, path: str) -> int:
        if not -_SIGNED <= obj < _SIGNED:
            raise ValueError(f"{obj} does not fit in 64 bits")
        left = (obj << 1) ^ (obj >> 63)
        while left > 0x7F:
            stream_write(stream, bytes([left & 0x7F | 0x80]), 1, path)
            left >>= 7
        stream_write(stream, bytes([left]), 1, path)
        return obj


LONG: AnyConstruct = Long()


class Prefixed(AnyConstruct):
    """Bytes or text after their length."""

    def __init__(self, *, is_text: bool) -> None:
        super().__init__()
        self.is_text = is_text
        self.length = LONG
        self.recorder: Recorder | None = None

    def traced(self, recorder: Recorder) -> AnyConstruct:
        """A copy that records the length."""
        twin = copy.copy(self)
        twin.length = recorder.part("length", self.length, "Bytes of the value.")
        twin.recorder = recorder
        return twin

    def _parse(self, stream: Any, context: Any, path: str) -> bytes | str:
        length = self.length._parsereport(stream, context, path)
        if length < 0:
            raise Malformed(f"a length of {length}")
        start = stream.tell()
        raw = cast("bytes", stream.read(length))
        if len(raw) < length:
            raise Truncated(f"{length} bytes are announced, and {len(raw)} are left")
        value = raw.decode() if self.is_text else raw
        if self.recorder is not None:
            self.recorder.note("", start, stream.tell(), value)
        return value

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        raw = obj.encode() if isinstance(obj, str) else obj
        self.length._build(len(raw), stream, context, path)
        stream_write(stream, raw, len(raw), path)
        return obj


class Blocks(AnyConstruct):
    """The elements of an array or a map, in blocks that each begin with a count; a block with count 0 ends it.

    A negative count stands for its absolute value, and is followed by the size of the block in bytes.
    """

    def __init__(self, element: AnyConstruct, *, is_map: bool = False) -> None:
        super().__init__()
        self.key: AnyConstruct | None = Prefixed(is_text=True) if is_map else None
        self.element = element
        self.count = self.bytes = LONG
        self.recorder: Recorder | None = None

    def traced(self, recorder: Recorder) -> AnyConstruct:
        """A copy that records counts, and every element under its index."""
        twin = copy.copy(self)
        twin.count = recorder.part("count", self.count, "Elements of a block; 0 ends them.")
        twin.bytes = recorder.part("bytes", self.bytes, "Bytes of the block.")
        twin.element = recorder.copy(self.element)
        if self.key is not None:
            twin.key = recorder.copy(Renamed(self.key, newname="key"))
        twin.recorder = recorder
        return twin

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        items: list[Any] = []
        while count := self.count._parsereport(stream, context, path):
            if count < 0:
                count = -count
                _ = self.bytes._parsereport(stream, context, path)
            for _ in range(count):
                before = stream.tell()
                if self.recorder is not None:
                    self.recorder.enter(len(items))
                key = None if self.key is None else self.key._parsereport(stream, context, path)
                value = self.element._parsereport(stream, context, path)
                items.append(value if self.key is None else (key, value))
                if self.recorder is not None:
                    self.recorder.leave()
                    self.recorder.hand_on()
                if stream.tell() == before and count > 1 << 16:
                    raise Malformed(f"{count} elements without a byte")
        return items if self.key is None else dict(items)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if obj:
            self.count._build(len(obj), stream, context, path)
            if self.key is None:
                for element in obj:
                    self.element._build(element, stream, context, path)
            else:
                for key, element in obj.items():
                    self.key._build(key, stream, context, path)
                    self.element._build(element, stream, context, path)
        self.count._build(0, stream, context, path)
        return obj


class Union(AnyConstruct):
    """A value of one of several types, after the number of the type; ``None`` is the value of the type null."""

    def __init__(self, branches: list[AnyConstruct | None]) -> None:
        super().__init__()
        self.branches = branches
        self.branch = LONG
        self.recorder: Recorder | None = None

    def traced(self, recorder: Recorder) -> AnyConstruct:
        """A copy that records the number of the type."""
        twin = copy.copy(self)
        twin.branch = recorder.part("type", self.branch, "Which of the types follows.")
        twin.branches = [None if one is None else recorder.copy(one) for one in self.branches]
        twin.recorder = recorder
        return twin

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        start = stream.tell()
        number = self.branch._parsereport(stream, context, path)
        if not 0 <= number < len(self.branches):
            raise Malformed(f"type {number} of a union of {len(self.branches)}")
        one = cast("Any", self.branches[number])
        if one is None:
            if self.recorder is not None:
                self.recorder.note("", start + 1, start + 1, None)
            return None
        return one._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        number = next(place for place, one in enumerate(self.branches) if (one is None) is (obj is None))
        self.branch._build(number, stream, context, path)
        one = self.branches[number]
        if one is not None:
            one._build(obj, stream, context, path)
        return obj


class Boolean(AnyConstruct):
    """One byte, 0 or 1."""

    def _parse(self, stream: Any, context: Any, path: str) -> bool:
        byte = stream_read(stream, 1, path)[0]
        if byte > 1:
            raise Malformed(f"a boolean of {byte}")
        return bool(byte)

    def _build(self, obj: bool, stream: Any, context: Any, path: str) -> bool:
        stream_write(stream, bytes([bool(obj)]), 1, path)
        return obj


# --8<-- [start:grammar]
CONTAINER_HEADER = Struct(
    "magic" / Const(MAGIC) * "`Obj`, and the version of the container.",
    "metadata"
    / Blocks(Prefixed(is_text=False), is_map=True)
    * "The schema, the codec, and what writers add.",
    "sync" / Bytes(SYNC) * "Bytes that the writer chose at random, which end every block.",
)
BLOCK_HEADER = Struct(
    "count" / LONG * "Objects in the block.", "size" / LONG * "Bytes of the block, as they are stored."
)
# --8<-- [end:grammar]

PRIMITIVES: dict[str, AnyConstruct] = {
    "boolean": Boolean(),
    "int": LONG,
    "long": LONG,
    "float": Float32l,
    "double": Float64l,
    "bytes": Prefixed(is_text=False),
    "string": Prefixed(is_text=True),
}


Names = dict[str, Any]
"""The results for the types that a schema has named so far, by name."""


def counted_values(schema: Any) -> int:
    """The number of values in an object of a schema; each list or map counts as one element.

    Raises:
        Malformed: There are more than `MOST_VALUES`, a list has elements without bytes, or the schema is nested too deeply.
    """
    return _Counting({}).of(schema, 0)[0]


class _Counting:
    """Counts the values of types, and detects types without bytes.

    Args:
        named: For each named type, the number of values, and whether they have bytes.
    """

    def __init__(self, named: dict[str, tuple[int, bool]]) -> None:
        self._named = named

    def of(self, schema: Any, depth: int) -> tuple[int, bool]:
        """The number of values in an object of a type, and whether it has bytes."""
        if depth > MOST_DEPTH:
            raise Malformed(f"the schema is nested deeper than {MOST_DEPTH} types")
        if isinstance(schema, list):
            options = schema
            return max((self.of(part, depth + 1)[0] for part in options), default=0) + 1, True
        if not isinstance(schema, dict):
            return self._named.get(str(schema), (1, True))
        declared = cast("dict[str, Any]", schema)
        kind = declared.get("type")
        if kind == "record":
            found = [self.of(part.get("type"), depth + 1) for part in fields_of(declared)]
            made = sum(count for count, _ in found) + 1, any(has for _, has in found)
        elif kind == "fixed":
            made = 1, fixed_size(declared) > 0
        elif kind in ("array", "map"):
            count, has_bytes = self.of(declared.get("items" if kind == "array" else "values"), depth + 1)
            if kind == "array" and not has_bytes:
                raise Malformed("the schema has lists of elements without bytes")
            made = count + 1, True
        else:
            return self.of(kind, depth + 1)
        if made[0] > MOST_VALUES:
            raise Malformed(f"the schema has more than {MOST_VALUES:,} values in an object")
        return named(declared, made, self._named)  # type: ignore[no-any-return]


def grammar_of(schema: Any, depth: int = 0, names: Names | None = None) -> AnyConstruct:
    """The grammar of values of a schema.

    Args:
        schema: The schema as parsed JSON.
        depth: Its nesting level.
        names: The named types that it may refer to.

    Raises:
        Malformed: It is not a schema, or is nested deeper than `MOST_DEPTH`; recursive types are not supported.
    """
    names = {} if names is None else names
    if depth > MOST_DEPTH:
        raise Malformed(f"the schema is nested deeper than {MOST_DEPTH} types")
    if isinstance(schema, list):
        options = schema
        return Union([None if part == "null" else grammar_of(part, depth + 1, names) for part in options])
    if not isinstance(schema, dict):
        found = PRIMITIVES.get(schema) or names.get(schema) if isinstance(schema, str) else None
        if found is None:
            raise Malformed(f"the schema has the type {str(schema)[:60]!r}, which is not known")
        return cast("AnyConstruct", found)
    declared = cast("dict[str, Any]", schema)
    kind = declared.get("type")
    if kind == "record":
        made = Struct(*(_member(part, depth, names) for part in fields_of(declared)))
        return cast("AnyConstruct", named(declared, made, names))
    if kind == "array":
        return Blocks(grammar_of(declared.get("items"), depth + 1, names))
    if kind == "map":
        return Blocks(grammar_of(declared.get("values"), depth + 1, names), is_map=True)
    if kind == "fixed":
        return cast("AnyConstruct", named(declared, Bytes(fixed_size(declared)), names))
    return grammar_of(kind, depth + 1, names)


def named(declared: dict[str, Any], made: Any, names: Names) -> Any:
    """Store the result for a record or a type of fixed width under its name, for later references in the schema; return it."""
    name, space = declared.get("name"), declared.get("namespace")
    if isinstance(name, str):
        names[name] = made
        if isinstance(space, str):
            names[f"{space}.{name}"] = made
    return made


def _member(field: dict[str, Any], depth: int, names: Names) -> AnyConstruct:
    doc = field.get("doc")
    subcon = grammar_of(field.get("type"), depth + 1, names)
    return Renamed(subcon, newname=field["name"], newdocs=doc if isinstance(doc, str) else "")


def fields_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of a record. Raises `Malformed`."""
    fields: Any = record.get("fields")
    if not isinstance(fields, list):
        raise Malformed("a record of the schema has no fields")
    found = fields
    if any(not isinstance(one, dict) or not isinstance(cast("Any", one).get("name"), str) for one in found):
        raise Malformed("a field of the schema has no name")
    return cast("list[dict[str, Any]]", found)


def fixed_size(declared: dict[str, Any]) -> int:
    """Bytes of a type of fixed width. Raises `Malformed`."""
    size: Any = declared.get("size")
    if type(size) is not int or not 0 <= size <= 1 << 20:
        raise Malformed(f"a type of the schema has {str(size)[:20]} bytes")
    return size
