"""The leaves of a group agree on its lists and nulls: PQF-126."""

from __future__ import annotations

import io
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from pqassay.values.decoding.levels import read_runs
from pqassay.values.decoding.shapes import Shapes
from pqassay_spec.parquet.encoding.levels import packed_run
from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup, SchemaLeaf
from pqassay_spec.parquet.thrift import SchemaElement

ROOT = SchemaGroup(None, "", 0, 0, 0, 0)
GROUP = SchemaGroup(ROOT, "l", 1, 2, 1, 1)
LEAF = SchemaLeaf(GROUP, SchemaElement(name="a"), 2, 1)
OTHER = SchemaLeaf(GROUP, SchemaElement(name="b"), 1, 1)


def _digest(leaf: SchemaLeaf, *pages: tuple[list[int], list[int]]) -> bytes:
    shapes = Shapes(leaf, [OTHER if leaf is LEAF else LEAF])
    for repetition, definition in pages:
        runs = [
            read_runs(packed_run(levels, width=width), width=width, count=len(levels))
            for levels, width in ((repetition, 1), (definition, leaf.max_definition_level))
        ]
        shapes.add(*runs)
    return shapes.of(GROUP)


def test_pages_may_begin_elsewhere() -> None:
    whole = _digest(LEAF, ([0, 1, 0, 0], [2, 1, 0, 2]))
    parts = _digest(OTHER, ([0, 1], [1, 1]), ([0, 0], [0, 1]))
    assert whole == parts


def test_lists_of_other_lengths_differ() -> None:
    assert _digest(LEAF, ([0, 1, 0], [2, 2, 2])) != _digest(OTHER, ([0, 0, 1], [1, 1, 1]))


def test_nulls_elsewhere_differ() -> None:
    assert _digest(LEAF, ([0, 0], [2, 0])) != _digest(OTHER, ([0, 0], [0, 1]))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_nested_groups_of_a_writer_agree(version: Literal["1.0", "2.0"]) -> None:
    inner = pa.struct([("x", pa.int32()), ("m", pa.map_(pa.string(), pa.list_(pa.int8())))])
    rows: list[Any] = [
        [{"x": 1, "m": [("a", [1, 2]), ("b", None)]}, None],
        None,
        [],
        [{"x": None, "m": []}, {"x": 3, "m": None}, {"x": 4, "m": [("c", [])]}],
    ]
    out = io.BytesIO()
    table = pa.table({"l": pa.array(rows * 5, pa.list_(inner))})
    pq.write_table(table, out, data_page_version=version, row_group_size=7)
    report = pqassay.check(out.getvalue(), tier="values")
    assert [] == report.files[0].findings
    assert "PQF-126" in next(iter(report.coverages.values())).checked
