"""Bloom filters of columns whose schema contradicts their numbers are judged like any others."""

from __future__ import annotations

import pqassay
from places import GOLDEN_FILES
from pqassay_spec.mutation.mutations import Mutation, mutate

ZEROS = (GOLDEN_FILES / "blm" / "zeros-and-nan" / "data.parquet").read_bytes()
DECIMAL = Mutation("set", "footer.schema[1].logicalType", {"DECIMAL": {"scale": 2, "precision": 9}})
EMPTY = Mutation("set", "row_groups[0].columns[0].bloom_filter.bitset", bytes(32))


def test_zeros_of_a_decimal_of_floats_are_values_like_any_other() -> None:
    (file,) = pqassay.check(mutate(mutate(ZEROS, DECIMAL), EMPTY), tier="values").files

    assert file.error is None
    assert {"PQF-155", "BLM-007"} <= {finding.rule for finding in file.findings}
