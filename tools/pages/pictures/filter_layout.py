"""A drawing of a bloom filter, header and bitset, from the bytes of a golden file: ``<!-- layout: parquet.bloom -->``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pages.markup import Link
from pages.pictures.byte_drawing import drawn
from pages.pictures.byte_layout import Field, field_anchor, layout, slug
from pages.pictures.golden_bytes import leaves, raw
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.parquet.bloom import BLOCK_SIZE, SALTS
from pqassay_spec.parquet.thrift import BloomFilterHeader

CASE = "blm/hand-typed"
"""The golden file with a filter of one block."""


def lines(_: Link) -> Iterator[str]:
    """Yield the two parts of the filter."""
    header, bitset = header_fields(), word_fields()
    size = sum(field.size or 0 for field in header)
    first = drawn(layout(header), "The bytes of a bloom filter's header")
    told = f"The header, {size} bytes in compact Thrift, as <code>{CASE}</code> has it."
    yield from ("", first.html("layout", told))
    second = drawn(layout(bitset), "The bytes of a block of the bitset")
    told = f"The bitset behind it: of each block {len(bitset)} words, {BLOCK_SIZE} bytes."
    yield from (second.html("layout", told), "")


def parts() -> tuple[Sequence[Leaf], Leaf]:
    """The leaves of the header, and the bitset."""
    found = [leaf for leaf in leaves(CASE) if ".bloom_filter." in leaf.path]
    *header, bitset = found
    return header, bitset


def header_fields() -> list[Field]:
    """The fields of the header, each with its structural bytes."""
    header, _ = parts()
    content, start = raw(CASE), header[0].offset
    fields: list[Field] = []
    for name, group in groupby(header, _member):
        found = list(group)
        first, end = found[0].offset, found[-1].offset + found[-1].length
        doc = next((field.doc for field in BloomFilterHeader.fields if field.name == name), found[0].doc)
        anchor = field_anchor(slug(BloomFilterHeader.__name__), name) if name != "stop" else "header"
        fields.append(Field(name, content[first:end].hex(" "), doc, first - start, end - first, anchor))
    return fields


def _member(leaf: Leaf) -> str:
    """The field of the header that a leaf belongs to, or ``stop``."""
    below = leaf.path.partition(".bloom_filter.header")[2]
    return below.lstrip(".:").partition(".")[0].partition(":")[0]


def word_fields() -> list[Field]:
    """The words of the first block."""
    _, bitset = parts()
    content, size = raw(CASE), BLOCK_SIZE // len(SALTS)
    fields: list[Field] = []
    for number in range(len(SALTS)):
        start = bitset.offset + number * size
        told = content[start : start + size].hex(" ")
        doc = "A number, little-endian, in which each value that was inserted has set one bit."
        fields.append(Field(f"word {number}", told, doc, number * size, size, "blocks"))
    return fields
