"""The values that a directory describes, where the audit of values passes over them."""

from __future__ import annotations

import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.checks.directory.values import DescribedValues
from pqassay.under_test.file import FileUnderTest, NotApplicable, Options
from pqassay_spec.base.sources import BytesSource
from pqassay_suite.judging.answers import FAMILIES


def test_outcomes_say_that_they_do_not_apply_where_no_family_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(_: DescribedValues) -> None:
        raise NotApplicable

    monkeypatch.setattr(DescribedValues, "family", nothing)
    source = BytesSource((GOLDEN_FILES / "dir/sets-inline/data.parquet").read_bytes())
    with pytest.raises(NotApplicable):
        _ = DescribedValues(FileUnderTest(source, Options("values"))).outcomes


@pytest.mark.parametrize("name", ["idx1", "sets-of-file", "sums-of-file", "hll-of-file", "kll-of-file"])
def test_what_proves_that_an_index_was_written_is_tested_for_every_type(name: str) -> None:
    report = pqassay.check(GOLDEN_FILES / "dir" / name / "data.parquet", tier="values")

    assert set(FAMILIES["DIR"].proof) <= set(report.coverages[report.files[0].coverage].checked)
