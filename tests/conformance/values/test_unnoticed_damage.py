"""Damage to values that engines read over: each is found by its rule."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from audited_values import RULES, judged
from each import each
from pqassay.report.model import BROKEN
from pqassay.values.claims import audit as value_audit
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.mutations import Mutation, mutate

IDS = list(range(100, 124))
LAKE = TinyParquet(
    (
        Column("id", "int64", IDS, optional=False),
        Column("category", "string", [f"c{(i * 7) % 12:02}" for i in range(24)]),
        Column("val", "double", [None if 4 <= i < 8 or i == 13 else i / 2 for i in range(24)]),
    ),
    row_group_rows=12,
    page_rows=4,
    page_index=True,
    bloom_filters=("id", "category"),
)
"""What engines read without an error when it is damaged, and lose rows: ascending ids, shuffled categories, nulls in some pages."""

FIRST = "footer.row_groups[0].columns"
BODY = "row_groups[0].columns"


def _next_page(column: int, field: str) -> Callable[[bytes], Mutation]:
    """The place of a page becomes that of the next one."""

    def make(data: bytes) -> Mutation:
        index: Any = take_apart(data).row_groups[0].columns[column].offset_index
        return Mutation(
            "set",
            f"{BODY}[{column}].offset_index.page_locations[0].{field}",
            getattr(index.page_locations[1], field),
        )

    return make


def _always(*arguments: Any) -> Callable[[bytes], Mutation]:
    return lambda _: Mutation(*arguments)


MUSEUM: dict[str, tuple[Callable[[bytes], Mutation], str]] = {
    "stats_max_too_small": (_always("set", f"{FIRST}[0].meta_data.statistics.max_value", struct.pack("<q", 105)), "STA-041"),
    "stats_minmax_swapped": (_always("swap", f"{FIRST}[0].meta_data.statistics.min_value", f"{FIRST}[0].meta_data.statistics.max_value"), "STA-006"),
    "stats_null_count_0": (_always("set", f"{FIRST}[2].meta_data.statistics.null_count", 0), "STA-043"),
    "bloom_zeroed": (_always("set", f"{BODY}[0].bloom_filter.bitset", bytes(64)), "BLM-020"),
    "bloom_swapped_cols": (_always("swap", f"{BODY}[0].bloom_filter.bitset", f"{BODY}[1].bloom_filter.bitset"), "BLM-020"),
    "ci_null_count_0": (_always("set", f"{BODY}[2].column_index.null_counts", [0, 0, 0]), "PIX-053"),
    "ci_null_pages_true": (_always("set", f"{BODY}[0].column_index.null_pages[1]", True), "PIX-052"),
    "ci_minmax_swapped": (_always("swap", f"{BODY}[0].column_index.min_values[1]", f"{BODY}[0].column_index.max_values[1]"), "PIX-024"),
    "ci_max_too_small": (_always("set", f"{BODY}[0].column_index.max_values[1]", struct.pack("<q", 105)), "PIX-051"),
    "ci_swapped_rgs": (_always("swap", f"{BODY}[0].column_index", "row_groups[1].columns[0].column_index"), "PIX-050"),
    "boundary_cat_asc": (_always("set", f"{BODY}[1].column_index.boundary_order", 1), "PIX-025"),
    "boundary_id_desc": (_always("set", f"{BODY}[0].column_index.boundary_order", 2), "PIX-025"),
    "oi_next_page_id": (_next_page(0, "offset"), "PIX-040"),
    "oi_next_page_cat": (_next_page(1, "offset"), "PIX-040"),
    "oi_next_page_val": (_next_page(2, "offset"), "PIX-040"),
    "oi_first_row_plus": (_always("set", f"{BODY}[0].offset_index.page_locations[1].first_row_index", 5), "PIX-054"),
    "oi_swapped_rgs": (_always("swap", f"{BODY}[0].offset_index", "row_groups[1].columns[0].offset_index"), "PIX-040"),
    "pi_displaced": (_always("add", f"{FIRST}[0].column_index_offset", 7), "PQF-009"),
    "tcs_plus1": (_always("add", f"{FIRST}[0].meta_data.total_compressed_size", 1), "PQF-009"),
    "tcs_minus1": (_always("add", f"{FIRST}[0].meta_data.total_compressed_size", -1), "PQF-051"),
    "data_page_offset_next": (_always("add", f"{FIRST}[0].meta_data.data_page_offset", 57), "PQF-009"),
    "num_values_minus1": (_always("add", f"{FIRST}[0].meta_data.num_values", -1), "PQF-057"),
    "page_num_values_minus1": (_always("add", f"{BODY}[0].pages[0].header.data_page_header.num_values", -1), "PQF-074"),
    "num_rows_minus1": (_always("add", "footer.row_groups[0].num_rows", -1), "PQF-074"),
    "file_num_rows_minus5": (_always("add", "footer.num_rows", -5), "PQF-016"),
}  # fmt: skip
"""Damages that engines and tools do not notice, and a rule that does."""


@each("damage", MUSEUM)
def test_damage_that_engines_read_over_is_found(damage: str) -> None:
    data = LAKE.build()
    make, rule = MUSEUM[damage]
    report = judged(mutate(data, make(data)))
    assert rule in {one for finding in report.findings for one in (finding.rule, *finding.also)}
    assert report.outcome in BROKEN


def test_the_undamaged_file_is_clean() -> None:
    report = judged(LAKE.build())
    assert ("conformant", []) == (report.outcome, [finding.rule for finding in report.findings])


def test_threads_find_what_one_thread_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    data = LAKE.build()
    for rule, path, to in (
        ("max_value", f"{FIRST}[0]", struct.pack("<q", 105)),
        ("null_count", f"{FIRST}[2]", 0),
        ("max_value", "footer.row_groups[1].columns[1]", b"c03"),
    ):
        data = mutate(data, Mutation("set", f"{path}.meta_data.statistics.{rule}", to))
    alone = [(finding.rule, finding.message) for finding in judged(data, only=RULES).findings]
    monkeypatch.setattr(value_audit, "WORTH_A_THREAD", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    together = [(finding.rule, finding.message) for finding in judged(data, only=RULES).findings]
    assert 3 == len(alone)
    assert alone == together
