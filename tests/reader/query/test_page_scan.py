"""Scans that read some pages and no others: the right rows, by whatever the file says, and whatever of it is false."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from damage import EXAMPLES, tries
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, Encoding, ListOf, Member, Struct, TinyParquet
from pqassay_reader.condition.rows import condition_of, rows_of
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import Scan, scan
from pqassay_spec.mutation.mutations import Mutation, mutate

NUMBERS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]
DEPTHS = [9.5, 8.0, None, 2.0, 0.5, 0.0, -0.0, math.nan, -2.0, -2.0, -3.25, math.nan]
METALS = ["tin", "lead", None, "zinc", "nickel", "", "copper", None, "iron", "gold", "tin", "cobalt"]
LISTS: list[Any] = [[1], [], None, [2, 3], [4], [5], [6, 7], [], [8], [None], [9], [10]]


def trees(**options: Any) -> TinyParquet:
    """Two row groups; pages of two, three and four rows."""
    chosen: dict[str, Any] = {"page_index": True, "bloom_filters": ("metal", "number", "depth"), **options}
    return TinyParquet(
        (
            Column("number", "int32", NUMBERS, optional=False, layout=Layout(page_rows=2)),
            Column("depth", "double", DEPTHS, layout=Layout(page_rows=3)),
            Column("metal", "string", METALS, layout=Layout(page_rows=4, dictionary=Encoding.RLE_DICTIONARY)),
            Column("marks", ListOf("int32"), LISTS, layout=Layout(page_rows=2)),
            Column("place", Struct((Member("x", "int32"), Member("y", "int32"))), [{"x": n, "y": -n} for n in NUMBERS]),
        ),
        row_group_rows=6,
        **chosen,
    )  # fmt: skip


ALL = ["number", "depth", "metal", "marks", "place"]


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "trees.parquet"
    path.write_bytes(data)
    return path


def scan_pages(path: Path, predicate: list[Any], columns: list[str]) -> Scan:
    return scan(path, predicate, columns, without=[Rung.METADATA])


def read_whole(path: Path, predicate: list[Any]) -> pa.Table:
    table = pq.read_table(path)
    kept: pa.Table = table.filter(pa.array(rows_of(condition_of(predicate, table.schema), table)))
    return kept


def test_only_the_pages_of_the_rows_are_read(tmp_path: Path) -> None:
    rows = scan_pages(written(tmp_path, trees().build()), ["=", "number", 13], ["metal", "number"])

    assert [{"metal": "", "number": 13}] == rows.to_table().to_pylist()
    assert 2 == rows.counters.left[Rung.LATE].pages, "one of each column"
    assert {
        "statistics",
        "column index",
        "boundary order",
        "offset index",
        "bloom filter",
    } == rows.counters.used


def test_rows_of_pages_that_do_not_match_are_put_side_by_side(tmp_path: Path) -> None:
    rows = scan_pages(written(tmp_path, trees().build()), ["in", "number", [3, 144]], ALL)
    table = rows.to_table()

    assert [3, 144] == table.column("number").to_pylist()
    assert [None, [9]] == table.column("marks").to_pylist()
    assert [{"x": 3, "y": -3}, {"x": 144, "y": -144}] == table.column("place").to_pylist()


def test_a_bloom_filter_alone_leaves_a_row_group_out(tmp_path: Path) -> None:
    data = trees(page_index=False, statistics=False).build()
    rows = scan_pages(written(tmp_path, data), ["=", "metal", "osmium"], ["number"])

    assert (0, {"bloom filter"}) == (rows.to_table().num_rows, rows.counters.used)


@pytest.mark.parametrize("sign", [0.0, -0.0])
def test_both_zeros_are_found_by_either(tmp_path: Path, sign: float) -> None:
    data = TinyParquet((Column("depth", "double", [1.0, -sign]),), bloom_filters=("depth",)).build()
    done = scan_pages(written(tmp_path, data), ["=", "depth", {"float": repr(sign)}], ["depth"])

    assert 1 == done.to_table().num_rows


VISIBLE = [
    Mutation("remove", "row_groups[0].columns[0].offset_index.page_locations[1]"),
    Mutation("add", "row_groups[0].columns[0].offset_index.page_locations[1].offset", 1),
    Mutation("set", "row_groups[0].columns[0].offset_index.page_locations[1].first_row_index", 0),
    Mutation("add", "row_groups[0].columns[1].offset_index.page_locations[1].first_row_index", 1),
    Mutation("swap", "row_groups[0].columns[0].offset_index", "row_groups[1].columns[1].offset_index"),
    Mutation("set", "row_groups[0].columns[0].column_index.min_values[1]", b""),
    Mutation("set", "row_groups[0].columns[0].column_index.null_pages[2]", True),
    Mutation("swap", "row_groups[0].columns[0].column_index.min_values[2]", "row_groups[0].columns[0].column_index.max_values[2]"),
    Mutation("set", "row_groups[0].columns[0].column_index.boundary_order", 7),
    Mutation("set", "row_groups[0].columns[0].column_index.boundary_order", 2),
    Mutation("set", "row_groups[0].columns[0].bloom_filter.bitset", bytes(32)),
    Mutation("set", "row_groups[0].columns[0].bloom_filter.header.numBytes", 64),
    Mutation("set", "row_groups[0].columns[0].bloom_filter.header.hash.XXHASH:header", b"\x2c"),
    Mutation("set", "footer.row_groups[0].columns[0].meta_data.statistics.max_value", b"\0\0"),
    Mutation("set", "footer.row_groups[0].columns[0].meta_data.statistics.null_count", 99),
    Mutation("remove", "footer.column_orders"),
]  # fmt: skip


@pytest.mark.parametrize("mutation", VISIBLE, ids=lambda mutation: mutation.path)
def test_what_is_visibly_false_misleads_nobody(tmp_path: Path, mutation: Mutation) -> None:
    good, bad = trees().build(), mutate(trees().build(), mutation)
    assert good != bad
    path = written(tmp_path, bad)
    for value in NUMBERS[:: 1 if EXAMPLES == 1 else 3]:
        done = scan_pages(path, ["=", "number", value], ALL[:3])
        assert [value] == done.to_table().column("number").to_pylist()


COMPARISONS = st.tuples(
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.sampled_from(
        [("number", n) for n in (0, 1, 4, 13, 233)]
        + [("metal", m) for m in ("", "tin", "iron", "zz")]
        + [("depth", {"float": d}) for d in ("0.0", "-0.0", "2.0", "nan", "-9.0", "inf")]
    ),
).map(lambda drawn: [drawn[0], *drawn[1]])
LEAVES = (
    COMPARISONS
    | st.sampled_from(
        [[op, name] for op in ("is null", "is not null") for name in ("number", "metal", "depth")]
    )
    | st.sampled_from([[op, "metal", ["tin", "osmium"]] for op in ("in", "not in")])
)
PREDICATES = st.recursive(
    LEAVES,
    lambda inner: (
        inner.map(lambda one: ["not", one])
        | st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list)
    ),
    max_leaves=5,
)


@given(PREDICATES, st.booleans())
@tries(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_predicate_finds_the_rows_that_a_whole_reading_finds(
    tmp_path: Path, predicate: list[Any], indexed: bool
) -> None:
    path = written(tmp_path, trees(page_index=indexed).build())
    found = scan_pages(path, predicate, ["number"]).to_table().column("number").to_pylist()

    assert read_whole(path, predicate).column("number").to_pylist() == found


def test_pages_of_pyarrow_with_a_codec_are_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "zstd.parquet"
    table = pa.table({"n": range(20000), "t": [f"v{n % 977}" for n in range(20000)]})
    write: Any = pq.write_table  # its type stub knows no list of columns with a dictionary
    write(table, path, compression="zstd", write_page_index=True, data_page_size=4096, use_dictionary=["t"])
    rows = scan_pages(path, ["=", "n", 12345], ["n"])

    assert [{"n": 12345}] == rows.to_table().to_pylist()
    assert 1 == rows.counters.left[Rung.LATE].pages
