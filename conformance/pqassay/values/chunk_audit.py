"""The audit of one column chunk: what is said of its values, and whether it is true.

A chunk of which nothing is said is not decoded.
"""

from __future__ import annotations

from functools import partial

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values import pages, statistics
from pqassay.values.bloom import Lacking, lacking
from pqassay.values.chunk_values import ChunkValues, Decoders
from pqassay.values.claims import ChunkClaims, Found, Outcomes, others
from pqassay.values.pages import PageClaims
from pqassay.values.statistics import StatisticsClaims
from pqassay_spec.parquet.column_order import FLOATING, shown, type_order
from pqassay_spec.parquet.thrift import Type

HELD, SPECIAL_HELD = "BLM-020", "BLM-021"

RULES = (*statistics.RULES, *pages.RULES, HELD, SPECIAL_HELD)
"""The rules that an audit decides."""


def audit(chunk: ColumnChunkUnderTest, decoders: Decoders) -> Outcomes:
    """What comes of each rule that is about a chunk."""
    found = _ChunkAudit(chunk)
    found.claim_statistics()
    found.claim_sizes()
    found.claim_page_headers()
    found.claim_column_index()
    found.claim_offset_index()
    found.claim_bloom_filter()
    found.run(decoders)
    return found.outcomes


class _BloomClaims(ChunkClaims):
    """What a bloom filter says of a chunk."""

    def claim_bloom_filter(self) -> None:
        """Gather what the bloom filter says."""
        is_floating = type_order(self.chunk.leaf.element) in FLOATING
        rules = (HELD, SPECIAL_HELD) if is_floating else (HELD,)
        with self._reading(*rules):
            bitset = self.chunk.bitset
            if self.chunk.leaf.element.type == Type.BOOLEAN:
                raise NotChecked(
                    f"nobody says how a bloom filter holds booleans, as in column {self.chunk.column}"
                )
            self._claim(partial(self._judge_bloom_filter, bitset), *rules)

    def _judge_bloom_filter(self, bitset: bytes, found: ChunkValues) -> Found:
        missing: Lacking = lacking(found, bitset)
        for rule, outside in ((HELD, missing.others), (SPECIAL_HELD, missing.special)):
            if outside.count:
                value = shown(type_order(self.chunk.leaf.element), outside.value)
                yield (
                    rule,
                    Violation(
                        f"{self._where(found, outside.first)} holds {value}, which its bloom filter does not hold"
                        + others(outside.count),
                        f"{self.chunk.path}.bloom_filter.bitset",
                        expected=f"a filter that holds {value}",
                        actual="one that does not",
                    ),
                )


class _ChunkAudit(StatisticsClaims, PageClaims, _BloomClaims):
    """All that is said of a chunk."""
