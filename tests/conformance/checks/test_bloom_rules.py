"""Bloom filters under test: each rule on files of mainstream writers, on edited ones, and on bitsets of any filling."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from counting_source import CountingSource
from damage import tries
from idx1_files import edited, parquet
from pqassay.under_test.bloom_rate import CLEARLY_SPARSE, PIECE, PIECES, rate
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, ListOf, TinyParquet
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.bloom import BLOCK_SIZE, false_positive_rate
from pqassay_spec.parquet.file import BLOOM_HEADER_LIMIT
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.rules.catalogue import Tier

METALS = ["tin", None, "lead", "zinc"]
FACTS = "footer.row_groups[0].columns[0].meta_data"
BITSET = "row_groups[0].columns[0].bloom_filter.bitset"
HEADER = "row_groups[0].columns[0].bloom_filter.header"


def tiny(kind: Any = "string", values: Any = METALS, **options: Any) -> bytes:
    """A file of one column with a bloom filter."""
    column = Column("metal", kind, values)
    name = "metal.list.element" if isinstance(kind, ListOf) else "metal"
    return TinyParquet((column,), bloom_filters=(name,), **options).build()


def report(data: bytes, tier: Tier = "index") -> Any:
    return pqassay.check(data, tier=tier, only=["BLM-*"])


def rules_of(data: bytes) -> list[str]:
    return [finding.rule for finding in report(data).files[0].findings]


def outcome(data: bytes, rule: str) -> str:
    """``checked``, ``not applicable``, or why it is not checked."""
    done = report(data)
    coverage = done.coverages[done.files[0].coverage]
    if rule in coverage.checked:
        return "checked"
    return "not applicable" if rule in coverage.not_applicable else coverage.not_checked[rule].reason


def forget(change: Callable[[Any], None]) -> Callable[[FileMetaData], None]:
    return lambda metadata: change(metadata.row_groups[0].columns[0].meta_data)


def test_a_file_of_pyarrow_with_filters_keeps_every_rule() -> None:
    out = io.BytesIO()
    table = pa.table({"metal": METALS * 500, "year": list(range(2000))})
    write: Any = pq.write_table  # its type stub knows no bloom filters
    write(table, out, bloom_filter_options={"metal": {"ndv": 100}, "year": {"ndv": 2000}})

    assert [] == rules_of(out.getvalue())
    assert "checked" == outcome(out.getvalue(), "BLM-007")


def test_a_file_without_filters_is_not_applicable() -> None:
    data = TinyParquet((Column("metal", "string", METALS),)).build()

    assert {"not applicable"} == {outcome(data, f"BLM-{number:03}") for number in range(1, 12)}


@pytest.mark.parametrize("field", ["statistics", "null_count"])
def test_an_empty_filter_is_no_lie_where_nobody_says_that_there_are_values(field: str) -> None:
    empty = mutate(tiny(layout=Layout(bounds=False)), Mutation("set", BITSET, bytes(BLOCK_SIZE)))

    def change(facts: Any) -> None:
        if field == "statistics":
            facts.statistics = None
        else:
            facts.statistics.null_count = None

    assert ["BLM-007"] == rules_of(empty)
    assert "whether the chunk has a value" in outcome(edited(empty, forget(change)), "BLM-007")


def test_an_empty_filter_is_right_over_nothing_but_nulls() -> None:
    assert [] == rules_of(tiny(values=[None, None]))


def test_an_empty_filter_of_lists_is_judged_by_bounds_alone() -> None:
    lists = [["a"], [], None, [None]]
    emptied = Mutation("set", BITSET, bytes(BLOCK_SIZE))

    assert ["BLM-007"] == rules_of(mutate(tiny(ListOf("string"), lists), emptied))
    unbounded = mutate(tiny(ListOf("string"), lists, layout=Layout(bounds=False)), emptied)
    assert [] == rules_of(unbounded)
    assert "whether the chunk has a value" in outcome(unbounded, "BLM-007")


def test_an_empty_filter_of_a_required_column_needs_no_statistics_to_be_wrong() -> None:
    column = Column("metal", "int32", [1, 2], optional=False)
    data = TinyParquet((column,), bloom_filters=("metal",), statistics=False).build()

    assert ["BLM-007"] == rules_of(mutate(data, Mutation("set", BITSET, bytes(BLOCK_SIZE))))


@pytest.mark.parametrize(
    ("path", "to", "rule"),
    [
        (f"{HEADER}.numBytes", 33, "BLM-004"),
        (f"{HEADER}.numBytes", 64, "BLM-005"),
        (f"{FACTS}.bloom_filter_length", 40, "BLM-005"),
        (f"{HEADER}.hash.XXHASH:header", b"\x3c", "BLM-003"),
    ],
)
def test_a_filter_that_cannot_be_read_is_reported_once_and_its_bits_are_not_judged(
    path: str, to: Any, rule: str
) -> None:
    data = mutate(tiny(layout=Layout(bloom_bytes=32)), Mutation("set", path, to))

    assert [rule] == rules_of(data)
    assert rule in outcome(data, "BLM-007")


def test_a_filter_of_unknown_length_is_measured_by_its_header() -> None:
    data = tiny()
    damaged = mutate(data, Mutation("set", f"{HEADER}.numBytes", 1 << 20))
    forgotten = edited(damaged, forget(lambda facts: setattr(facts, "bloom_filter_length", None)))

    assert ["BLM-006"] == rules_of(forgotten)
    findings = [finding.rule for finding in pqassay.check(forgotten, tier="index").files[0].findings]
    assert ["BLM-006", "PQF-008"] == findings


@pytest.mark.parametrize("known", [True, False])
def test_a_header_may_be_long(known: bool) -> None:
    extension = {"row_groups[0].columns[0].bloom_filter.header": bytes(1000)}
    data = tiny(extensions=extension)
    if not known:
        data = edited(data, forget(lambda facts: setattr(facts, "bloom_filter_length", None)))

    assert ([] if known else ["BLM-006"]) == rules_of(data)
    assert "checked" == outcome(data, "BLM-007")


@pytest.mark.parametrize("size", [1 << 10, 1 << 20])
def test_a_filter_is_read_with_its_header(size: int) -> None:
    source = CountingSource(tiny(layout=Layout(bloom_bytes=size)))
    file = FileUnderTest(source, Options(tier="index"))
    (chunk,) = file.part(ColumnChunks).having("bloom_filter")
    _ = file.overlapping
    source.ranges.clear()

    _, taken = chunk.bloom_filter_header
    assert size == len(chunk.bitset)
    assert 1 == len(source.ranges)
    assert taken + size <= sum(length for _, length in source.ranges) <= taken + size + BLOOM_HEADER_LIMIT


def test_a_full_filter_says_how_full() -> None:
    data = mutate(tiny(), Mutation("set", BITSET, b"\x77\xff\xff\xff" * 8))
    found = report(data).files[0].findings

    assert ["BLM-009"] == [finding.rule for finding in found]
    assert f"{(30 / 32) ** 8:.1%}" == found[0].at[0].actual


@given(st.binary(min_size=1, max_size=8).map(lambda some: (some * BLOCK_SIZE)[: 4 * BLOCK_SIZE]))
@tries(60)
def test_the_quick_rate_is_that_of_the_specification_or_a_bound_of_it(some: bytes) -> None:
    bitset = some[: len(some) // BLOCK_SIZE * BLOCK_SIZE]
    quick, slow = rate(bitset), false_positive_rate(bitset)

    assert quick == pytest.approx(slow) or slow <= quick <= CLEARLY_SPARSE
    assert (quick == 0) == (not any(bitset)) or quick > CLEARLY_SPARSE or slow == 0


def test_the_rate_of_a_large_filter_is_that_of_blocks_all_over_it() -> None:
    half = 8 * PIECES * PIECE
    bitset = b"\xff" * half + b"\xff\xff\x0f\xff" * (half // 4)

    assert rate(bitset) == pytest.approx((1 + (28 / 32) ** 8) / 2, abs=0.01)


def test_a_large_filter_is_empty_only_if_no_bit_is_set() -> None:
    size = 8 * PIECES * PIECE

    assert 0 == rate(bytes(size))
    assert 0 < rate(bytes(size - 1) + b"\x80") < 1e-5


def test_a_length_without_an_offset_is_reported_as_the_reverse_is() -> None:
    data = parquet(pa.table({"a": range(9)}), bloom_filter_options={"a": {"ndv": 9, "fpp": 0.1}})

    def change(metadata: FileMetaData) -> None:
        facts = metadata.row_groups[0].columns[0].meta_data
        assert facts is not None
        facts.bloom_filter_offset = None

    (finding,) = pqassay.check(edited(data, change), tier="values").files[0].findings
    assert ("BLM-006", "INFO", "footer.row_groups[0].columns[0].meta_data.bloom_filter_length") == (
        finding.rule,
        finding.verdict,
        finding.at[0].field,
    )
