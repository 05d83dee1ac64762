"""The trace of small, uncompressed page bodies: levels, and values that are plain or dictionary indexes.

Larger bodies, compressed ones and other encodings are one leaf, see `pqassay.dump.pages`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.dump.regions import unparsed
from pqassay.under_test.pages.walk import PageUnderTest
from pqassay_spec.base.errors import FormatError, Malformed, boundary
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.parquet.encoding.levels import bit_width, decode
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH, LENGTH, Int96Timestamp
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    DICTIONARY_ENCODINGS,
    DataPageHeader,
    DictionaryPageHeader,
    Encoding,
    Type,
)

SMALL = 1024
"""The size in bytes of the longest body that is decoded."""

MOST_VALUES = 1 << 12
"""The number of values of a body that is decoded; a run of a few bytes may contain any number."""

READABLE = (Encoding.PLAIN, *DICTIONARY_ENCODINGS)
"""Encodings of values that are decoded."""


def is_taken_apart(page: PageUnderTest) -> bool:
    """Whether an uncompressed body has few bytes, few values, and an encoding that is decoded here."""
    own = page.own_header
    return (
        own is not None
        and own.encoding in READABLE
        and 0 <= own.num_values <= MOST_VALUES
        and 0 < page.header.compressed_page_size <= SMALL
    )


class BodyTrace:
    """The leaves of one body.

    Args:
        page: The page.
        leaf: Its column.
        data: Its bytes, not compressed.
        path: The path of the body.
    """

    def __init__(self, page: PageUnderTest, leaf: SchemaLeaf, data: bytes, path: str) -> None:
        self._page, self._leaf, self._data, self._path = page, leaf, data, path
        self._position = self._last_length = 0

    def leaves(self) -> Iterator[Leaf]:
        """All leaves; an unreadable part is one leaf with the error."""
        reason = "bytes behind the values"
        try:
            with boundary():
                yield from self._parts()
        except FormatError as error:
            reason = error.reason
        if self._position < len(self._data):
            start = self._page.body_start
            path = f"{self._path}.rest" if self._position else self._path
            yield unparsed(path, start + self._position, start + len(self._data), reason)

    def _parts(self) -> Iterator[Leaf]:
        own = self._page.own_header
        if own is None:
            raise Malformed("the header of the page's type is missing")
        count = own.num_values
        if not isinstance(own, DictionaryPageHeader):
            greatest = (self._leaf.max_repetition_level, self._leaf.max_definition_level)
            if isinstance(own, DataPageHeader):
                encodings = (own.repetition_level_encoding, own.definition_level_encoding)
                lengths = [None if high else 0 for high in greatest]
            else:
                encodings = (Encoding.RLE, Encoding.RLE)
                lengths = [own.repetition_levels_byte_length, own.definition_levels_byte_length]
            for name, high, encoding, stated in zip(
                ("repetition_levels", "definition_levels"), greatest, encodings, lengths, strict=True
            ):
                if stated == 0:
                    continue
                if encoding != Encoding.RLE:
                    raise Malformed(f"{name.replace('_', ' ')} in an encoding that is not decoded")
                length = stated
                if length is None:  # version 1 has it before the levels
                    yield self._length(name, f"Bytes of the {name.replace('_', ' ')}.")
                    length = self._last_length
                levels, _ = decode(self._ahead(length), width=bit_width(high), count=own.num_values)
                text = " ".join(map(str, levels))
                yield self._take(name, length, text, f"The {name.replace('_', ' ')}, one for each value.")
                if name == "definition_levels":
                    count = levels.count(high)
        yield from self._values(own.encoding, count)

    def _values(self, encoding: int, count: int) -> Iterator[Leaf]:
        if encoding in DICTIONARY_ENCODINGS and not self._page.is_dictionary:
            if count or self._position < len(self._data):
                width = self._ahead(1)[0]
                yield self._take("indexes:width", 1, width, "Bits of an index into the dictionary.")
                rest = len(self._data) - self._position
                indexes, used = decode(self._ahead(rest), width=width, count=count)
                text = " ".join(map(str, indexes))
                yield self._take("indexes", used, text, "Indexes into the dictionary.")
            return
        kind, doc = self._leaf.element.type, "A value as stored."
        fixed = FIXED_WIDTH.get(Type(kind)) if kind in list(Type) else None
        for number in range(count):
            name = f"values[{number}]"
            if fixed is not None:
                size = fixed.sizeof()
                yield self._take(name, size, fixed.parse(self._ahead(size)), doc)
            elif kind == Type.BYTE_ARRAY:
                yield self._length(name, "Bytes of the value.")
                yield self._take(name, self._last_length, self._ahead(self._last_length), doc)
            elif kind == Type.FIXED_LEN_BYTE_ARRAY:
                size = self._leaf.element.type_length or 0
                yield self._take(name, size, self._ahead(size), doc)
            elif kind == Type.INT96:
                yield self._take(name, Int96Timestamp.size, self._ahead(Int96Timestamp.size), doc)
            else:
                size = -(-count // 8)
                bits = int.from_bytes(self._ahead(size), "little")
                text = " ".join(str(bits >> place & 1) for place in range(count))
                yield self._take("values", size, text, "Booleans, eight to the byte.")
                return

    def _length(self, name: str, doc: str) -> Leaf:
        """The leaf of the length before levels or a value; it also becomes the current length."""
        raw = self._ahead(LENGTH.sizeof())
        self._last_length = int(LENGTH.parse(raw))
        taken = self._take(f"{name}:length", len(raw), self._last_length, doc)
        self._ahead(self._last_length)
        return taken

    def _ahead(self, length: int) -> bytes:
        """The next bytes. Raises `Malformed` if there are too few, or the length is negative."""
        left = len(self._data) - self._position
        if not 0 <= length <= left:
            raise Malformed(f"{length} bytes, but only {left} are left in the body")
        return self._data[self._position : self._position + length]

    def _take(self, name: str, length: int, value: object, doc: str) -> Leaf:
        start = self._page.body_start + self._position
        self._position += length
        return Leaf(f"{self._path}.{name}", start, length, value, doc)
