"""Facts about files: what a driver needs to be asked about them, and how their rows are laid out."""

from __future__ import annotations

import decimal
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from golden_cases import golden_cases
from pqassay_suite.cases.case import select
from pqassay_suite.cases.file_facts import ORDERS, TYPES, facts_of

pytestmark = pytest.mark.slow


def written(column: pa.Array[Any], codec: str = "none", **options: Any) -> bytes:
    """A Parquet file of one column by pyarrow."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"x": column}), sink, **{"compression": codec, **options})
    return sink.getvalue()


def needs(*cases: str) -> set[str]:
    """What files of golden cases need."""
    return {need for golden in select(golden_cases(), cases) for need in golden.facts.needs}


@pytest.mark.parametrize(
    ("column", "needed"),
    [
        (pa.array([1], pa.int32()), []),
        (pa.array([1], pa.int8()), []),
        (pa.array([1.5]), []),
        (pa.array([True]), []),
        (pa.array(["a"]), []),
        (pa.array([b"a"]), []),
        (pa.array([1], pa.uint16()), ["type.unsigned"]),
        (pa.array([1], pa.uint64()), ["type.unsigned"]),
        (pa.array([decimal.Decimal("1.50")]), ["type.decimal"]),
        (pa.array([0], pa.date32()), ["type.date"]),
        (pa.array([0], pa.time32("ms")), ["type.time"]),
        (pa.array([0], pa.time64("us")), ["type.time"]),
        (pa.array([0], pa.timestamp("us", "UTC")), ["type.timestamp"]),
        (pa.array([0], pa.timestamp("ns")), ["type.timestamp", "type.timestamp-nanos"]),
        (pa.array([b"ab"], pa.binary(2)), ["type.fixed"]),
        (pa.array([[1]]), ["nested"]),
        (pa.array([{"a": 1}]), ["nested"]),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())), ["nested", "nested.map"]),
        (pa.array([[0]], pa.list_(pa.date32())), ["nested", "type.date"]),
    ],
)
def test_what_a_file_needs_is_derived_from_its_types(column: pa.Array[Any], needed: list[str]) -> None:
    assert needed == sorted(facts_of(written(column)).needs)


def test_a_timestamp_of_96_bits_needs_its_own() -> None:
    data = written(pa.array([0], pa.timestamp("us")), use_deprecated_int96_timestamps=True)

    assert ("type.int96",) == facts_of(data).needs


def test_a_timestamp_of_twelve_bytes_needs_its_own() -> None:
    assert {"type.timestamp", "type.timestamp-nanos", "type.timestamp-wide"} == needs("sta/wide-timestamps")


@pytest.mark.parametrize(
    ("codec", "needed"),
    [
        ("none", []),
        ("snappy", ["codec.snappy"]),
        ("gzip", ["codec.gzip"]),
        ("zstd", ["codec.zstd"]),
        ("lz4", ["codec.lz4-raw"]),
        ("brotli", ["codec.brotli"]),
    ],
)
def test_what_a_file_needs_is_derived_from_its_codecs(codec: str, needed: list[str]) -> None:
    assert needed == list(facts_of(written(pa.array([1]), codec)).needs)


def test_the_golden_files_need_all_types() -> None:
    everything = needs("*/*", "interop/*/*")

    assert set(TYPES.values()) <= everything
    assert set(ORDERS.values()) <= everything
    assert {"type.unsigned", "type.int96", "type.fixed", "type.timestamp-nanos", "nested"} <= everything


def test_pages_are_told_by_the_page_index_or_by_their_headers() -> None:
    column = pa.array(range(10))
    options: dict[str, Any] = {
        "row_group_size": 6,
        "data_page_size": 1,
        "write_batch_size": 2,
        "use_dictionary": False,
    }
    for index in (True, False):
        facts = facts_of(written(column, write_page_index=index, **options))

        assert (range(6), range(6, 10)) == facts.groups
        assert [
            [range(2), range(2, 4), range(4, 6)],
            [range(6, 8), range(8, 10)],
        ] == [list(chunk.pages) for chunk in facts.chunks["x"]]
        assert [0, 0] == [chunk.blocks for chunk in facts.chunks["x"]]


def test_columns_that_are_groups_have_no_layout() -> None:
    assert {} == facts_of(written(pa.array([{"a": 1}]))).chunks


def test_facts_about_a_damaged_file_are_those_about_its_parent() -> None:
    chosen = [golden for golden in select(golden_cases(), ["pix/p*"]) if golden.parent is not None]

    assert chosen
    for golden in chosen:
        assert golden.parent is not None
        assert golden.facts is golden.parent.facts


def test_facts_about_a_pm_are_those_about_the_parquet_file_beside_it() -> None:
    (golden,) = select(golden_cases(), ["pm/with-data"])

    assert golden.facts == facts_of(next(iter(golden.beside().values())))
    assert golden.facts.groups
