"""Page indexes and bloom filters in the form of the protocol: one column, row group by row group.

Source: ``conformance/PROTOCOL.md``, section "Page index and bloom filters".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pqassay_reference.columns.chunk_structures import (
    may_hold,
    read_bloom_filter,
    read_column_index,
    read_offset_index,
)
from pqassay_reference.columns.literals import json_value, python_value
from pqassay_reference.errors import Refused
from pqassay_reference.pages.literal_bytes import plain_bytes
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnIndex

Value = dict[str, Any]


class _Chunk(NamedTuple):
    chunk: ColumnChunk
    leaf: SchemaLeaf
    body: range


def _chunks(source: Source, column: str) -> Iterator[_Chunk]:
    """The chunks of a column in the order of the row groups. Raises `FormatError`, `Refused`."""
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    found = [(at, leaf) for at, leaf in enumerate(leaves(metadata)) if leaf.is_called(column)]
    if len(found) != 1:
        raise Refused(f"there is no one column {column}")
    ordinal, leaf = found[0]
    body = range(framing.body_start, framing.footer_start)
    for group in metadata.row_groups:
        if ordinal >= len(group.columns):
            raise Malformed("a row group lacks the column", rule="PQF-012", field="footer.row_groups")
        yield _Chunk(group.columns[ordinal], leaf, body)


# ------------------------------------------------------------------------------------------------- page index


def page_index(source: Source, column: str) -> Value:
    """The page index of a column as it is stored, without checking whether its two structures agree.

    Raises:
        FormatError: The footer or an index cannot be read, or a column index has lists of different lengths.
        Refused: There is no such column.
    """
    return {"row_groups": [_page_index_of(source, located) for located in _chunks(source, column)]}


def _page_index_of(source: Source, located: _Chunk) -> Value:
    places = read_offset_index(source, located.body, located.chunk)
    bounds = read_column_index(source, located.body, located.chunk)
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
    if index.nan_counts is not None:
        value["nan_counts"] = [json_value(count) for count in index.nan_counts]
    return value


# ---------------------------------------------------------------------------------------------- bloom filters


def bloom_filters(source: Source, column: str, probes: Sequence[Any]) -> Value:
    """The bloom filters of a column: the bytes of each bitset, and which of some values each may have.

    Args:
        source: The file.
        column: The column, as a path joined by dots.
        probes: Values in the form of the protocol.

    Raises:
        FormatError: The footer or a filter cannot be read.
        Refused: There is no such column, or a value does not have its type.
    """
    chunks = list(_chunks(source, column))
    sought = [_plain_bytes(probe, chunks[0].leaf) for probe in probes] if chunks else []
    return {"row_groups": [_bloom_filter_of(source, located, sought) for located in chunks]}


def _plain_bytes(probe: Any, leaf: SchemaLeaf) -> bytes:
    raw = plain_bytes(leaf, python_value(probe))
    if raw is None:
        raise Refused(f"{probe!r} is not a value of column {leaf.name}")
    return raw


def _bloom_filter_of(source: Source, located: _Chunk, sought: Sequence[bytes]) -> Value:
    facts = located.chunk.meta_data
    found = None if facts is None else read_bloom_filter(source, located.body, facts)
    if found is None:
        return {}
    held = [may_hold(found.bitset, located.leaf, raw) for raw in sought]
    return {"size": len(found.bitset), "held": held}
