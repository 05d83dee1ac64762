"""Lint of a bloom filter: it is as long as the footer says, and holds every value of its chunk.

Source: chapter ``bloom.md``.
"""

from __future__ import annotations

from pqassay_reference.columns.chunk_structures import HASHED_DIFFERENTLY, BloomFilter, may_hold
from pqassay_reference.lint.decoded_chunk import DecodedChunk
from pqassay_reference.lint.parquet_file_footer import wrong


def lint_bloom_filter(chunk: DecodedChunk, bloom_filter: BloomFilter) -> None:
    """Raise what is wrong with the bloom filter of a chunk.

    Raises:
        FormatError: With the rule that is broken.
    """
    length = chunk.facts.bloom_filter_length
    if length not in (None, bloom_filter.length):
        raise wrong("BLM-005", f"the bloom filter does not take {length} bytes", "bloom_filter_length")
    if chunk.leaf.element.type in HASHED_DIFFERENTLY:
        return
    for raw in {raw for page in chunk.pages or () for raw in page.values or ()}:
        if not may_hold(bloom_filter.bitset, chunk.leaf, raw):
            raise wrong("BLM-020", f"the bloom filter lacks {raw[:20]!r}", "bloom_filter.bitset")
