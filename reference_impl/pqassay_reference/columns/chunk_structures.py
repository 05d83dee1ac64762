"""The stored structures of a column chunk: its offset index, its column index and its bloom filter.

Each is read from the place in the footer, and must fill that place.  The caller decides whether its content is true and
can be trusted.

Source: chapters ``page_index.md`` and ``bloom.md``.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.column_order import FLOATING, type_order, zeros
from pqassay_spec.parquet.file import BLOOM_HEADER_LIMIT
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    BloomFilterHeader,
    ColumnChunk,
    ColumnIndex,
    ColumnMetaData,
    OffsetIndex,
    Type,
)

Index = TypeVar("Index", OffsetIndex, ColumnIndex)

HASHED_DIFFERENTLY = (Type.BOOLEAN, Type.INT96)
"""Types whose bloom filters cannot be trusted: writers disagree about the hashed bytes."""


def read_offset_index(source: Source, body: range, chunk: ColumnChunk) -> OffsetIndex | None:
    """The offset index of a chunk; ``None`` if it has none.

    Args:
        source: The file.
        body: Range of the offsets of the file's body.
        chunk: The facts of the footer about the chunk.

    Raises:
        Malformed: Rules PIX-002 and PIX-010.
    """
    place = chunk.offset_index_offset, chunk.offset_index_length
    return _read_index(source, body, place, OffsetIndex, "offset_index", "PIX-010")


def read_column_index(source: Source, body: range, chunk: ColumnChunk) -> ColumnIndex | None:
    """The column index of a chunk; ``None`` if it has none. See `read_offset_index`.

    Raises:
        Malformed: Rules PIX-002 and PIX-020.
    """
    place = chunk.column_index_offset, chunk.column_index_length
    return _read_index(source, body, place, ColumnIndex, "column_index", "PIX-020")


def _read_index(
    source: Source,
    body: range,
    place: tuple[int | None, int | None],
    kind: type[Index],
    name: str,
    rule: str,
) -> Index | None:
    if place == (None, None):
        return None
    offset, length = place
    if not offset or not length or length < 0 or offset < body.start or offset + length > body.stop:
        raise Malformed(
            f"offset {offset} and length {length} are not a place in the body", rule="PIX-002", field=name
        )
    index, taken = decode(kind, source.read(offset, length), root=name, base=offset, rule=rule)
    if taken != length:
        raise Malformed(f"the {name} takes {taken} of {length} bytes", rule=rule, field=name)
    return index


class BloomFilter(NamedTuple):
    """A bloom filter: the bytes that it takes with its header, and its bitset."""

    length: int
    bitset: bytes


def read_bloom_filter(source: Source, body: range, facts: ColumnMetaData) -> BloomFilter | None:
    """The bloom filter of a chunk; ``None`` if it has none.

    ``bloom_filter_length`` is not used, because a filter contains its own length.

    Args:
        source: The file.
        body: Range of the offsets of the file's body.
        facts: The metadata of the chunk.

    Raises:
        Malformed: Rules BLM-002, BLM-003, BLM-004 and PQF-008.
    """
    offset, field = facts.bloom_filter_offset, "bloom_filter.header"
    if not offset:
        return None
    if offset not in body:
        raise Malformed("the filter lies outside the body", rule="PQF-008", field=field, offset=offset)
    raw = source.read(offset, min(BLOOM_HEADER_LIMIT, body.stop - offset))
    header, taken = decode(BloomFilterHeader, raw, root=field, base=offset, rule="BLM-002")
    if None in (header.algorithm.BLOCK, header.hash.XXHASH, header.compression.UNCOMPRESSED):
        raise Malformed(
            "algorithm, hash or compression is unknown", rule="BLM-003", field=field, offset=offset
        )
    if header.numBytes <= 0 or header.numBytes % bloom.BLOCK_SIZE:
        raise Malformed(
            f"{header.numBytes} bytes are not whole blocks", rule="BLM-004", field=field, offset=offset
        )
    length = taken + header.numBytes
    if offset + length > body.stop:
        raise Malformed("the filter reaches beyond the body", rule="PQF-008", field=field, offset=offset)
    return BloomFilter(length, source.read(offset + taken, header.numBytes))


def may_hold(bitset: bytes, leaf: SchemaLeaf, raw: bytes) -> bool:
    """Whether a bloom filter may have a value, given by its PLAIN bytes (without the length for a byte array).

    A zero is searched with both signs, because the two are equal but have different hashes.
    """
    import xxhash  # noqa: PLC0415 - only files with bloom filters need it

    is_zero = type_order(leaf.element) in FLOATING and raw in zeros(len(raw))
    sought = zeros(len(raw)) if is_zero else [raw]
    return any(bloom.probe(bitset, xxhash.xxh64_intdigest(value)) for value in sought)
