"""Files that writers make of unusual types and options leave no rule untested that can be tested."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from pqassay.report.model import FileReport
from pqassay_spec.mutation.mutations import Mutation, mutate

STATISTICS = "footer.row_groups[0].columns[0].meta_data.statistics"
NULL_PAGE = "row_groups[0].columns[0].column_index.null_pages[0]"


def judged(data: bytes) -> FileReport:
    (file,) = pqassay.check(data, tier="values").files
    return file


def written(column: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"c": column}), out, **options)
    return out.getvalue()


def test_deprecated_bounds_of_half_floats_are_compared_as_numbers() -> None:
    data = written(pa.array(np.array([-2.0, 0.5, 1.5], np.float16)))
    one = np.float16(1.0).tobytes()

    good, bad = judged(data), judged(mutate(data, Mutation("set", f"{STATISTICS}.min", one)))

    assert ("conformant", []) == (good.outcome, good.gaps)
    assert ["STA-048"] == [finding.rule for finding in bad.findings if finding.verdict == "FAIL"]


def nothing() -> bytes:
    """A column of nulls, of a type without an order, with a column index."""
    out = io.BytesIO()
    pl.DataFrame({"c": pl.Series([None] * 3, dtype=pl.Null)}).write_parquet(out, statistics="full")
    return out.getvalue()


def test_where_no_page_has_bounds_no_order_is_missing() -> None:
    file = judged(nothing())

    assert ("conformant", []) == (file.outcome, file.gaps)


def test_where_a_page_has_bounds_the_order_is_missing() -> None:
    file = judged(mutate(nothing(), Mutation("set", NULL_PAGE, False)))

    assert [["PIX-050", "PIX-051"]] == [gap.rules for gap in file.gaps]


@pytest.mark.parametrize(("values", "rules"), [([None, None], []), ([1, None], ["BLM-007"])])
def test_the_pages_say_whether_an_empty_filter_is_right(values: list[int | None], rules: list[str]) -> None:
    column = pa.array(values, pa.int64())
    data = written(column, write_statistics=False, bloom_filter_options={"c": {"ndv": 1}})
    bitset = "row_groups[0].columns[0].bloom_filter.bitset"

    file = judged(mutate(data, Mutation("set", bitset, bytes(32))))

    assert rules == [finding.rule for finding in file.findings]
    assert [] == file.gaps
