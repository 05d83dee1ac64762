"""Which files of a lake each single piece of metadata keeps: bounds, a bloom filter, the set of distinct values.

Bounds and bloom filters are those of the row groups, read and asked by the reference; of the set, `IndexedDataset` is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.compute as pc
from _pruned_lakes import Lake

from pqassay_reader.lake.indexed_dataset import open_indexed
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.query.facts.footer_facts import read_facts
from pqassay_reference.columns.chunk_structures import may_hold, read_bloom_filter
from pqassay_reference.rewrite.extract import extract_file
from pqassay_spec.base.sources import FileSource
from pqassay_spec.idx1.blob import HEADER_SIZE, published_payload
from pqassay_spec.parquet.page_search import may_satisfy

Piece = Callable[[ChunkClaims, bytes], bool]
"""Whether a row group may hold a value, given by its bytes."""


def by_bounds(chunk: ChunkClaims, value: bytes) -> bool:
    """Whether a value lies between the minimum and the maximum."""
    return may_satisfy(chunk.summary, 0, chunk.order, "=", value)


def by_bloom(chunk: ChunkClaims, value: bytes) -> bool:
    """Whether a bloom filter may hold a value."""
    return may_hold(chunk.bitset, chunk.leaf, value)


def by_both(chunk: ChunkClaims, value: bytes) -> bool:
    """Whether the bounds, and then the bloom filter, leave it over."""
    return by_bounds(chunk, value) and by_bloom(chunk, value)


PIECES: dict[str, Piece] = {"bounds": by_bounds, "bloom": by_bloom, "both": by_both}


def left_by(lake: Lake, piece: Piece) -> list[str]:
    """The files of which a piece of metadata leaves some row group over."""
    value = lake.value.encode()
    return [
        str(path) for path in lake.files if any(piece(chunk, value) for chunk in _chunks(path, lake.column))
    ]


def left_by_set(lake: Lake, table: str | None = None) -> list[str]:
    """The files whose index holds the value."""
    return list(open_indexed(lake.indexed, table=table).prune(pc.field(lake.column) == lake.value).kept)


def attached_bytes(path: Path, column: str) -> tuple[int, int]:
    """Bytes of the bloom filters of a column in a file, with their headers, and of the index."""
    blooms = 0
    for chunk in _chunks(path, column):
        found = read_bloom_filter(chunk.source, chunk.body, chunk.facts)
        blooms += found.length if found else 0
    return blooms, HEADER_SIZE + len(published_payload(extract_file(path).values))


def _chunks(path: Path, column: str) -> Iterator[ChunkClaims]:
    with FileSource(path) as source:
        facts = read_facts(source)
        (place,) = [at for at, leaf in enumerate(facts.leaves) if leaf.is_called(column)]
        for number in range(len(facts.row_counts)):
            yield facts.claims_of(source, number, place)
