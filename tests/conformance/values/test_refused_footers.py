"""A footer that pyarrow refuses for what it says beside the values hinders no rule about them."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

import pqassay
from places import GOLDEN_FILES


@pytest.mark.parametrize(
    ("case", "rules"),
    [
        ("sta/byte-array-size-of-numbers", ["STA-021"]),
        ("sta/histogram-too-long", ["STA-090"]),
        ("sta/bound-too-short", ["STA-005"]),
    ],
)
def test_values_are_judged_all_the_same(case: str, rules: list[str]) -> None:
    report = pqassay.check(GOLDEN_FILES / case / "data.parquet", tier="values")
    (file,), (coverage,) = report.files, report.coverages.values()

    assert file.error is None
    assert rules == [finding.rule for finding in file.findings]
    assert {"STA-043", "PQF-078"} <= set(coverage.checked)


def test_a_size_of_byte_arrays_that_are_numbers_is_reported_as_what_pyarrow_refuses() -> None:
    path = GOLDEN_FILES / "sta/byte-array-size-of-numbers" / "data.parquet"

    with pytest.raises(OSError, match="Unencoded byte array data bytes"):
        pq.read_table(path)
    assert ["read fails"] == [finding.could for finding in pqassay.check(path).files[0].findings]
