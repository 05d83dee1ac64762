"""Golden cases of bloom filters against the values that they hold."""

from __future__ import annotations

import struct

from pqassay_reference.golden.recipes import set_to
from pqassay_reference.golden.statistics_values import AUDITED, GRADES, ROWS, audited, untrue
from pqassay_reference.tiny.page_index import bitset_of
from pqassay_spec.parquet.bloom import BLOCK_SIZE

GOOD = (
    audited("blm/audited", "Bloom filters that hold every value, zero and negative zero included", AUDITED, ("BLM-020", "BLM-021"), "fastparquet"),
)  # fmt: skip

BAD = (
    untrue("blm/zeroed", "The bitset of a bloom filter is empty", "A query for any value skips the row group.", "blm/audited", set_to(f"{ROWS}[0].bloom_filter.bitset", bytes(BLOCK_SIZE)), "BLM-007", "BLM-020"),
    untrue("blm/value-missing", "A bloom filter holds every value but one", "A query for the value skips the row group.", "blm/audited", set_to(f"{ROWS}[2].bloom_filter.bitset", bitset_of(struct.pack("<d", grade) for grade in GRADES if grade not in (None, 8.0))), "BLM-020"),
    untrue("blm/without-negative-zero", "A bloom filter holds every value but negative zero, and not zero instead", "A query for zero skips the row group.", "blm/audited", set_to(f"{ROWS}[2].bloom_filter.bitset", bitset_of(struct.pack("<d", grade) for grade in GRADES if grade)), "BLM-021"),
)  # fmt: skip
