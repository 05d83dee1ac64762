"""A footer that pyarrow refuses for what it says beside the values hinders no rule about them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.values.decoding import chunk_values
from pqassay.values.decoding.physical import open_physical
from pqassay_spec.mutation.mutations import Mutation, mutate


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


def test_pyarrow_is_asked_once_for_a_footer_that_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(source: Any, footer: bytes, *arguments: Any, **options: Any) -> Any:
        asked.append(len(footer))
        return open_physical(source, footer, *arguments, **options)

    monkeypatch.setattr(chunk_values, "open_physical", counted)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({name: [1, 2] for name in "abcdef"}), sink)
    path = "footer.row_groups[0].columns[0].meta_data.size_statistics.definition_level_histogram"
    file = pqassay.check(
        mutate(sink.getvalue().to_pybytes(), Mutation("set", path, [1] * 9)), tier="values"
    ).files[0]

    assert (None, ["STA-090"]) == (file.error, [finding.rule for finding in file.findings])
    # As it is and bare, with dictionaries and without.
    assert 2 <= len(asked) <= 4
