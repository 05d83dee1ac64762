"""The reference's opinion of column chunks: good files pass, and each golden file is judged as its manifest demands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from places import GOLDEN_FILES
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, Encoding, ListOf, TinyParquet
from pqassay_reference.lint.parquet_file import lint_file
from pqassay_reference.pages.structures import bloom_filters, page_index
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.mutations import Mutation, mutate

FAMILIES = ("PQF", "STA", "PIX", "BLM")


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "data.parquet"
    path.write_bytes(data)
    return path


def test_every_golden_file_is_accepted_or_rejected_as_its_manifest_says() -> None:
    wrong: list[str] = []
    count = 0
    for path in sorted(GOLDEN_FILES.rglob("case.json")):
        case: dict[str, Any] = json.loads(path.read_text())
        if case["family"] not in FAMILIES or "lint" not in case["expect"]:
            continue
        count += 1
        try:
            lint_file(path.parent / case["input"]["file"])
            found = "accept"
        except FormatError:
            found = "reject"
        if found != case["expect"]["lint"]:
            wrong.append(f"{case['id']}: {found}")

    assert [] == wrong
    assert count > 100


@pytest.mark.parametrize("codec", ["none", "snappy"])
def test_a_file_of_pyarrow_is_accepted_whether_or_not_its_pages_can_be_decoded(
    tmp_path: Path, codec: Any
) -> None:
    table = pa.table({"n": range(300), "t": ["a", None, "b"] * 100, "l": [[1], [], None] * 100})
    pq.write_table(table, tmp_path / "a.parquet", compression=codec, write_page_index=True)

    lint_file(tmp_path / "a.parquet")


LAYOUT = Layout(page_rows=2, size_statistics=True, histograms=True, page_statistics=True)
FILE = TinyParquet(
    (
        Column("n", "int64", [5, None, 7, 8, 9], layout=LAYOUT),
        Column("l", ListOf("string"), [["a"], [], None, ["b", None], ["c"]], layout=LAYOUT),
        Column("d", "string", list("ababa"), layout=Layout(version=2, dictionary=Encoding.RLE_DICTIONARY)),
    ),
    page_index=True,
    bloom_filters=("n", "l.list.element", "d"),
)


@pytest.mark.parametrize(
    ("mutation", "rule"),
    [
        (Mutation("set", "row_groups[0].columns[0].column_index.min_values[1]", (8).to_bytes(8, "little")), "PIX-050"),
        (Mutation("set", "footer.row_groups[0].columns[0].meta_data.statistics.min_value", (6).to_bytes(8, "little")), "STA-040"),
        (Mutation("set", "row_groups[0].columns[1].offset_index.page_locations[1].first_row_index", 1), "PIX-054"),
        (Mutation("set", "row_groups[0].columns[2].bloom_filter.bitset", b"\x01" + bytes(31)), "BLM-020"),
        (Mutation("add", "row_groups[0].columns[0].pages[0].header.crc", 1), "PQF-063"),
    ],
)  # fmt: skip
def test_what_is_false_is_rejected_by_its_rule(tmp_path: Path, mutation: Mutation, rule: str) -> None:
    lint_file(written(tmp_path, FILE.build()))
    with pytest.raises(FormatError) as caught:
        lint_file(written(tmp_path, mutate(FILE.build(), mutation)))

    assert rule == caught.value.rule


def test_a_page_index_is_decoded_row_group_by_row_group() -> None:
    numbers = Column("n", "int32", [1, None, None, 4], layout=Layout(page_rows=1))
    data = TinyParquet((numbers,), row_group_rows=2, page_index=True).build()
    first, second = page_index(BytesSource(data), "n")["row_groups"]

    assert {
        "null_pages": [False, True],
        "min_values": [{"bytes": "01000000"}, None],
        "max_values": [{"bytes": "01000000"}, None],
        "boundary_order": 1,
        "null_counts": [0, 1],
    } == first["column_index"]
    assert [0, 1] == [row for _, _, row in second["offset_index"]["page_locations"]]


def test_values_are_looked_up_in_bloom_filters_by_their_type() -> None:
    data = TinyParquet((Column("f", "float", [1.5, -0.0]),), bloom_filters=("f",)).build()
    probes = [{"float": "1.5"}, {"float": "0.0"}, {"float": "2.5"}]

    assert {"row_groups": [{"size": 32, "held": [True, True, False]}]} == bloom_filters(
        BytesSource(data), "f", probes
    )


def test_without_a_filter_or_an_index_there_is_nothing_to_say() -> None:
    source = BytesSource(TinyParquet((Column("f", "float", [1.5]),)).build())

    assert {"row_groups": [{}]} == bloom_filters(source, "f", []) == page_index(source, "f")
