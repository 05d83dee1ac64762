"""Claims of statistics, page index, bloom filters and the schema about one column chunk, compared with its values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import Broken, FileUnderTest, Mistake, NotChecked, NotEverywhere
from pqassay.under_test.violation import Violation
from pqassay.values.claims import logical_types, pages, statistics
from pqassay.values.claims.bloom import absent
from pqassay.values.claims.claim import ChunkClaims, Found, others
from pqassay.values.claims.logical_types import LogicalTypeClaims
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.pages import PageClaims
from pqassay.values.claims.statistics import StatisticsClaims
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import FLOATING, shown, type_order
from pqassay_spec.parquet.thrift import Type

HELD, SPECIAL_HELD = "BLM-020", "BLM-021"

RULES = (*statistics.RULES, *pages.RULES, *logical_types.RULES, HELD, SPECIAL_HELD)
"""The rules that an audit decides."""


class _BloomClaims(ChunkClaims):
    """The claim of a bloom filter about a chunk."""

    def claim_bloom_filter(self) -> None:
        """Gather what the bloom filter says."""
        is_floating = type_order(self.chunk.leaf.element) in FLOATING
        rules = (HELD, SPECIAL_HELD) if is_floating else (HELD,)
        with self._reading(*rules):
            bitset = self.chunk.bitset
            if self.chunk.leaf.element.type == Type.BOOLEAN:
                raise Broken("BLM-011")  # nobody says how one holds booleans
            self._claim(partial(self._judge_bloom_filter, bitset, rules), *rules)

    def _judge_bloom_filter(self, bitset: bytes, rules: Sequence[str], decoded: ChunkValues) -> Found:
        missing = absent(decoded, bitset)
        if missing is None:
            return
        special = np.zeros_like(missing)
        if SPECIAL_HELD in rules:  # numbers whose type the schema does not tell are as any others
            special = decoded.is_nan | decoded.is_zero(negative=True) | decoded.is_zero(negative=False)
        for rule, mask in ((HELD, missing & ~special), (SPECIAL_HELD, missing & special)):
            if mask.any():
                place = int(mask.argmax())
                value = shown(type_order(self.chunk.leaf.element), decoded.raw_of(place))
                yield (
                    rule,
                    Violation(
                        f"{self._where(decoded, place)} holds {value}, which its bloom filter does not hold"
                        + others(int(np.count_nonzero(mask))),
                        self.chunk.fields.bitset,
                        expected=f"a filter that holds {value}",
                        actual="one that does not",
                    ),
                )


class _ChunkAudit(StatisticsClaims, PageClaims, LogicalTypeClaims, _BloomClaims):
    """All that is said of a chunk."""

    def __init__(self, chunk: ColumnChunkUnderTest, outcomes: dict[str, Outcome]) -> None:
        super().__init__(chunk)
        self._of_file = outcomes
        self.claim_statistics()
        self.claim_sizes()
        self.claim_page_headers()
        self.claim_column_index()
        self.claim_offset_index()
        self.claim_logical_type()
        self.claim_bloom_filter()

    def settle(self) -> None:
        """Add what came of the claims to what came of those about other chunks."""
        for rule, outcome in self.outcomes.items():
            self._of_file[rule].merge(outcome)


class ChunkFamily:
    """The claims of statistics, page index, bloom filters and logical types about the chunks of a file.

    Attributes:
        outcomes: What came of each rule.
    """

    def __init__(self, file: FileUnderTest) -> None:
        self._file = file
        self.outcomes = {rule: Outcome() for rule in RULES}
        self._is_asked = not all(rule in file.left_out for rule in RULES)

    def claim(self, chunk: ColumnChunkUnderTest) -> _ChunkAudit | None:
        """Gather what is said of a chunk."""
        if not self._is_asked:
            return None
        try:
            return _ChunkAudit(chunk, self.outcomes)
        except (
            FormatError,
            NotChecked,
        ) as error:  # STA-002: which order belongs to which column, nobody can say
            reason: Exception = error
        except (OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - what is said of other chunks is judged all the same
            reason = Mistake.by(error)
        for outcome in self.outcomes.values():
            outcome.hindered(reason, chunk.column)
        return None

    def note_left_out(self) -> None:
        """Chunks that are encrypted or stored elsewhere leave what is tested on the others unproved."""
        left_out = self._file.part(ColumnChunks).left_out
        first = next((NotChecked(found.reason, obstacle) for obstacle, found in left_out.items()), None)
        if first is None:
            return
        for outcome in self.outcomes.values():
            outcome.hindered(NotEverywhere(first, left_out))
