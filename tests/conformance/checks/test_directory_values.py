"""The values that a directory describes are compared with indexes of every type."""

from __future__ import annotations

import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay_suite.judging.answers import FAMILIES


@pytest.mark.parametrize("name", ["idx1", "sets-of-file", "sums-of-file", "hll-of-file", "kll-of-file"])
def test_what_proves_that_an_index_was_written_is_tested_for_every_type(name: str) -> None:
    report = pqassay.check(GOLDEN_FILES / "dir" / name / "data.parquet", tier="values")

    assert set(FAMILIES["DIR"].proof) <= set(report.coverages[report.files[0].coverage].checked)
