"""What a page index and a bloom filter say, as the protocol writes it down: one column, row group by row group.

Source: ``conformance/PROTOCOL.md``, section "Page index and bloom filters".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pqassay_reference.errors import Refused
from pqassay_reference.predicate.literals import json_value, python_value
from pqassay_reference.scan.page_selection import plain_bytes, zeros_hashed
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.file import BLOOM_HEADER_LIMIT, read_footer, read_framing
from pqassay_spec.parquet.schema import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnChunk, ColumnIndex, OffsetIndex

Value = dict[str, Any]


class _Chunk(NamedTuple):
    """A chunk, its column, and where the body ends."""

    chunk: ColumnChunk
    leaf: SchemaLeaf
    end: int


def _chunks(source: Source, column: str) -> Iterator[_Chunk]:
    """The chunks of a column in the order of the row groups. Raises `FormatError`, `Refused`."""
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    found = [(at, leaf) for at, leaf in enumerate(leaves(metadata)) if leaf.is_called(column)]
    if len(found) != 1:
        raise Refused(f"there is no one column {column}")
    ordinal, leaf = found[0]
    for group in metadata.row_groups:
        if ordinal >= len(group.columns):
            raise Malformed("a row group lacks the column", rule="PQF-012", field="footer.row_groups")
        yield _Chunk(group.columns[ordinal], leaf, framing.footer_start)


# ------------------------------------------------------------------------------------------------- page index


def page_index(source: Source, column: str) -> Value:
    """The page index of a column.

    Raises:
        FormatError: The footer or an index cannot be read, or lists of different lengths.
        Refused: There is no such column.
    """
    return {"row_groups": [_page_index_of(source, one) for one in _chunks(source, column)]}


def _page_index_of(source: Source, one: _Chunk) -> Value:
    places: OffsetIndex | None = _struct(source, one, OffsetIndex, "offset_index", "PIX-010")
    bounds: ColumnIndex | None = _struct(source, one, ColumnIndex, "column_index", "PIX-020")
    if places is not None and bounds is not None and len(places.page_locations) != len(bounds.null_pages):
        raise Malformed(
            "column index and offset index list different numbers of pages",
            rule="PIX-021",
            field="column_index",
        )
    value: Value = {}
    if places is not None:
        value["offset_index"] = {
            "page_locations": [
                [json_value(place.offset), place.compressed_page_size, json_value(place.first_row_index)]
                for place in places.page_locations
            ]
        }
    if bounds is not None:
        value["column_index"] = _column_index_value(bounds)
    return value


def _struct(source: Source, one: _Chunk, kind: type[Record], name: str, rule: str) -> Any:
    offset, length = getattr(one.chunk, f"{name}_offset"), getattr(one.chunk, f"{name}_length")
    if offset is None and length is None:
        return None
    if not offset or not length or offset < 0 or length < 0 or offset + length > one.end:
        raise Malformed(f"{offset} and {length} are no place of the {name}", rule="PIX-002", field=name)
    record, taken = decode(kind, source.read(offset, length), root=name, base=offset, rule=rule)
    if taken != length:
        raise Malformed(f"the {name} takes {taken} of {length} bytes", rule=rule, field=name)
    return record


def _column_index_value(index: ColumnIndex) -> Value:
    count = len(index.null_pages)
    lists: list[list[Any] | None] = [index.min_values, index.max_values, index.null_counts, index.nan_counts]
    if any(entries is not None and len(entries) != count for entries in lists):
        raise Malformed(
            "the lists of the column index have different lengths", rule="PIX-021", field="column_index"
        )

    def shown(bounds: Sequence[bytes]) -> list[Any]:
        return [None if null else json_value(raw) for raw, null in zip(bounds, index.null_pages, strict=True)]

    value = {
        "null_pages": list(index.null_pages),
        "min_values": shown(index.min_values),
        "max_values": shown(index.max_values),
        "boundary_order": int(index.boundary_order),
    }
    if index.null_counts is not None:
        value["null_counts"] = [json_value(count) for count in index.null_counts]
    return value


# ---------------------------------------------------------------------------------------------- bloom filters


def bloom_filters(source: Source, column: str, probes: Sequence[Any]) -> Value:
    """The bloom filters of a column: the bytes of each bitset, and which of some values each may hold.

    Args:
        source: The file.
        column: Its path joined by dots.
        probes: Values as the protocol writes them.

    Raises:
        FormatError: The footer or a filter cannot be read.
        Refused: There is no such column, or a value is none of its type.
    """
    found = list(_chunks(source, column))
    hashes = [_hashes(one, found[0].leaf) for one in probes] if found else []
    return {"row_groups": [_bloom_filter_of(source, one, hashes) for one in found]}


def _hashes(probe: Any, leaf: SchemaLeaf) -> list[int]:
    """The hashes of a value: two for a zero, whose signs are equal and hash apart."""
    import xxhash  # noqa: PLC0415 - only bloom filters need it

    raw = plain_bytes(leaf, python_value(probe))
    if raw is None:
        raise Refused(f"{probe!r} is no value of column {leaf.name}")
    return [xxhash.xxh64_intdigest(one) for one in zeros_hashed(leaf, raw)]


def _bloom_filter_of(source: Source, one: _Chunk, hashes: Sequence[Sequence[int]]) -> Value:
    facts = one.chunk.meta_data
    if facts is None or not facts.bloom_filter_offset:
        return {}
    bitset = read_bloom_filter(source, facts.bloom_filter_offset, one.end)
    held = [any(bloom.probe(bitset, hash_) for hash_ in sought) for sought in hashes]
    return {"size": len(bitset), "held": held}


def read_bloom_filter(source: Source, offset: int, end: int) -> bytes:
    """The bitset of a filter that ends before ``end``.

    Raises:
        Malformed: Rules BLM-002, BLM-003, BLM-004 and PQF-008.
    """
    header, taken = bloom_header(source, offset, end)
    field = "bloom_filter.header"
    if None in (header.algorithm.BLOCK, header.hash.XXHASH, header.compression.UNCOMPRESSED):
        raise Malformed(
            "algorithm, hash or compression is unknown", rule="BLM-003", field=field, offset=offset
        )
    if header.numBytes <= 0 or header.numBytes % bloom.BLOCK_SIZE:
        raise Malformed(f"{header.numBytes} bytes are no blocks", rule="BLM-004", field=field, offset=offset)
    if offset + taken + header.numBytes > end:
        raise Malformed("the filter reaches beyond the body", rule="PQF-008", field=field, offset=offset)
    return source.read(offset + taken, header.numBytes)


def bloom_header(source: Source, offset: int, end: int) -> tuple[BloomFilterHeader, int]:
    """The header of a filter and the bytes that it takes.

    Raises:
        Malformed: Rules BLM-002 and PQF-008.
    """
    field = "bloom_filter.header"
    if not 0 < offset < end:
        raise Malformed("the filter lies outside the body", rule="PQF-008", field=field, offset=offset)
    raw = source.read(offset, min(BLOOM_HEADER_LIMIT, end - offset))
    return decode(BloomFilterHeader, raw, root=field, base=offset, rule="BLM-002")
