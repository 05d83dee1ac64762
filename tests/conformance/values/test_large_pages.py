"""Pages of a few kilobytes that stand for more than is decompressed: only their length is judged, and the rest is a gap."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import pqassay
from damage import turns
from idx1_files import parquet
from pqassay.values.decoding import codecs
from pqassay_spec.mutation.mutations import Mutation, mutate

SMALL_LIMIT = 1 << 16


def written(compression: str) -> bytes:
    table = pa.table({"a": pa.array([bytes(SMALL_LIMIT)], pa.binary())})
    return parquet(table, compression=compression, use_dictionary=False, write_statistics=False)


def judged(data: bytes) -> Any:
    with patch.object(codecs, "MOST_PAGE", SMALL_LIMIT):
        return pqassay.check(data, tier="values").files[0]


@pytest.mark.parametrize("compression", ["zstd", "gzip", "brotli"])
def test_a_page_that_is_not_decompressed_is_a_gap_if_its_length_is_right(compression: str) -> None:
    file = judged(written(compression))
    assert ("conformant where checked", []) == (file.outcome, file.findings)
    assert "is not decompressed: it would take 65,546" in file.gaps[0].reason


@pytest.mark.parametrize(
    ("compression", "more"),
    turns([("zstd",), ("gzip",), ("brotli",), ("snappy",)], [(1,), (-1,), (1 << 16,)]),
)
def test_a_wrong_length_is_found_without_decompressing(compression: str, more: int) -> None:
    header = "row_groups[0].columns[0].pages[0].header.uncompressed_page_size"
    page = Mutation("set", header, SMALL_LIMIT + 10 + more)
    file = judged(mutate(written(compression), page))
    assert ["PQF-070"] == [finding.rule for finding in file.findings if finding.verdict == "FAIL"]
