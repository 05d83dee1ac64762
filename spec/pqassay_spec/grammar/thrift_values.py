"""The values and headers of compact Thrift as construct subclasses, from which lists and structs are composed.

Source: Thrift compact protocol specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from construct import Int8ub

from pqassay_spec.base.errors import Malformed, Truncated
from pqassay_spec.grammar.constructs import AnyConstruct
from pqassay_spec.grammar.thrift_wire import (
    LONG_LIST,
    WireType,
    read_byte,
    read_field_id,
    read_list_header,
    read_varint,
    unzigzag,
    varint,
    zigzag,
)

if TYPE_CHECKING:
    from pqassay_spec.grammar.trace import Recorder


class Varint(AnyConstruct):
    """An unsigned varint of at most 64 bits, or with ``bits`` a zigzag integer of that width."""

    def __init__(self, bits: int = 0) -> None:
        super().__init__()
        self.bits = bits

    def _parse(self, stream: Any, context: Any, path: str) -> int:
        view = stream.getvalue()
        value, position = read_varint(view, stream.tell())
        stream.seek(position)
        if not self.bits:
            return value
        if value >> self.bits:
            raise Malformed(f"a value that exceeds {self.bits} bits")
        return unzigzag(value)

    def _build(self, obj: int, stream: Any, context: Any, path: str) -> int:
        value = obj
        if self.bits:
            if not -(1 << (self.bits - 1)) <= obj < 1 << (self.bits - 1):
                raise ValueError(f"{obj} does not fit into {self.bits} bits")
            value = zigzag(obj)
        stream.write(varint(value))
        return obj


class Binary(AnyConstruct):
    """Length-prefixed bytes, or text that keeps invalid UTF-8 as lone surrogates."""

    def __init__(self, text: bool) -> None:
        super().__init__()
        self.text = text
        self.length: AnyConstruct = Varint()
        self.payload: AnyConstruct | None = None

    def traced(self, recorder: Recorder) -> AnyConstruct:
        """A copy that records length and payload."""
        copy = Binary(self.text)
        copy.length = recorder.part("length", self.length, "Byte length of the value, a varint.")
        copy.payload = recorder.leaf(_Payload(self.text))
        return copy

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        context._length = self.length._parsereport(stream, context, path)
        return (self.payload or _Payload(self.text))._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        raw = obj.encode("utf-8", "surrogateescape") if self.text else bytes(obj)
        self.length._build(len(raw), stream, context, path)
        stream.write(raw)
        return obj


class _Payload(AnyConstruct):
    """The bytes of a `Binary`, whose length was just read."""

    def __init__(self, text: bool) -> None:
        super().__init__()
        self.text = text

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        left = len(stream.getvalue()) - stream.tell()
        if context._length > left:
            raise Truncated(f"a value of {context._length} bytes with {left} bytes left")
        raw = stream.read(context._length)
        return raw.decode("utf-8", "surrogateescape") if self.text else raw


class ListHeader(AnyConstruct):
    """Element count and element wire type."""

    def _parse(self, stream: Any, context: Any, path: str) -> tuple[int, int]:
        view = stream.getvalue()
        size, kind, position = read_list_header(view, stream.tell())
        if size > len(view) - position:
            raise Truncated(f"{size} elements with {len(view) - position} bytes left")
        stream.seek(position)
        return size, kind

    def _build(self, obj: tuple[int, int], stream: Any, context: Any, path: str) -> Any:
        size, kind = obj
        stream.write(bytes((min(size, LONG_LIST) << 4 | kind,)))
        if size >= LONG_LIST:
            Varint()._build(size, stream, context, path)
        return obj


class ListedBool(AnyConstruct):
    """A bool inside a list: one byte, 1 for true, 2 (or 0 from old writers) for false."""

    def _parse(self, stream: Any, context: Any, path: str) -> bool:
        value = Int8ub._parsereport(stream, context, path)
        if value > WireType.FALSE:
            raise Malformed(f"{value} is not a bool")
        return value == WireType.TRUE

    def _build(self, obj: bool, stream: Any, context: Any, path: str) -> bool:
        stream.write(bytes((WireType.TRUE if obj else WireType.FALSE,)))
        return obj


class FieldHeader(AnyConstruct):
    """Id and wire type of the next field; wire type 0 ends the struct. ``context._last`` is the id of the previous field."""

    def _parse(self, stream: Any, context: Any, path: str) -> tuple[int, int]:
        view = stream.getvalue()
        position = stream.tell()
        header = read_byte(view, position)
        position += 1
        if header == WireType.STOP:
            stream.seek(position)
            return context._last, WireType.STOP
        identifier, position = read_field_id(view, position, header, context._last)
        if header & 15 == WireType.STOP:
            raise Malformed("wire type 0 does not exist")
        stream.seek(position)
        return identifier, header & 15

    def _build(self, obj: tuple[int, int], stream: Any, context: Any, path: str) -> Any:
        identifier, kind = obj
        delta = identifier - context._last
        if 0 < delta <= 15:
            stream.write(bytes((delta << 4 | kind,)))
        else:
            stream.write(bytes((kind,)))
            Varint(16)._build(identifier, stream, context, path)
        return obj
