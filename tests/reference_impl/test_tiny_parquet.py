"""The tiny writer: what it writes is read back by foreign software, whatever the rows and the layout."""

from __future__ import annotations

import io
import math
import struct
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

import pqassay
from pqassay_reference.errors import Refused
from pqassay_reference.tiny_parquet import BODY, Column, Index, Kind, Part, TinyParquet
from pqassay_spec import bloom
from pqassay_spec.file_dissection import take_apart
from pqassay_spec.parquet_thrift import BoundaryOrder

VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    "int32": st.integers(-(1 << 31), (1 << 31) - 1),
    "int64": st.integers(-(1 << 63), (1 << 63) - 1),
    "double": st.floats(),
    "string": st.text(max_size=8),
    "binary": st.binary(max_size=8),
}


@st.composite
def files(draw: st.DrawFn) -> TinyParquet:
    """A file of any columns, rows and layout."""
    rows = draw(st.integers(0, 12))
    columns: list[Column] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))):
        optional = draw(st.booleans())
        value = st.none() | VALUES[kind] if optional else VALUES[kind]
        values = draw(st.lists(value, min_size=rows, max_size=rows))
        columns.append(Column(f"c{number}", kind, values, optional))
    return TinyParquet(
        columns,
        row_group_rows=draw(st.none() | st.integers(1, 5)),
        page_rows=draw(st.none() | st.integers(1, 4)),
        page_index=draw(st.booleans()),
        bloom_filters=draw(st.lists(st.sampled_from([column.name for column in columns]), unique=True)),
        statistics=draw(st.booleans()),
        body=("row groups", *draw(st.permutations(BODY[1:]))),
    )


def same(left: Any, right: Any) -> bool:
    """Equal, bit by bit for doubles."""
    if isinstance(left, float) and isinstance(right, float):
        both_nan = math.isnan(left) and math.isnan(right)
        return both_nan or struct.pack("<d", left) == struct.pack("<d", right)
    return type(left) is type(right) and bool(left == right)


@settings(max_examples=300, deadline=None)
@given(files())
def test_what_is_written_is_read_back_and_breaks_no_rule(file: TinyParquet) -> None:
    data = file.build()
    read = [list(row.values()) for row in pq.read_table(io.BytesIO(data)).to_pylist()]

    assert len(file.rows()) == len(read)
    assert all(same(a, b) for row, other in zip(file.rows(), read, strict=True) for a, b in zip(row, other, strict=True))  # fmt: skip
    assert [] == pqassay.check(data, tier="values").files[0].findings
    assert data == file.build()


@settings(max_examples=100, deadline=None)
@given(files())
def test_every_value_is_in_the_bloom_filter_of_its_row_group(file: TinyParquet) -> None:
    tree = take_apart(file.build())
    spelled = {"int32": "<i", "int64": "<q", "double": "<d"}
    size = file.row_group_rows or max(len(file.rows()), 1)

    for number, group in enumerate(tree.row_groups):
        for column, chunk in zip(file.columns, group.columns, strict=True):
            assert (chunk.bloom_filter is not None) == (column.name in file.bloom_filters)
            for value in column.values[number * size : (number + 1) * size]:
                if chunk.bloom_filter is None or value is None:
                    continue
                raw = value.encode() if isinstance(value, str) else value
                raw = raw if isinstance(raw, bytes) else struct.pack(spelled[column.kind], raw)
                assert bloom.probe(chunk.bloom_filter.bitset, xxhash.xxh64_intdigest(raw))


@settings(max_examples=100, deadline=None)
@given(files())
def test_page_bounds_hold_and_rows_are_counted(file: TinyParquet) -> None:
    tree = take_apart(file.build())

    for group in tree.row_groups:
        for column, chunk in zip(file.columns, group.columns, strict=True):
            if chunk.offset_index is None:
                continue
            locations = chunk.offset_index.page_locations
            assert len(chunk.pages) == len(locations)
            assert 0 == locations[0].first_row_index
            if chunk.column_index is None:
                assert column.kind == "double"  # a page of nothing but NaN has no bounds
                continue
            lows = [b for b, null in zip(chunk.column_index.min_values, chunk.column_index.null_pages, strict=True) if not null]  # fmt: skip
            highs = [b for b, null in zip(chunk.column_index.max_values, chunk.column_index.null_pages, strict=True) if not null]  # fmt: skip
            if column.kind in ("string", "binary"):
                assert all(low <= high for low, high in zip(lows, highs, strict=True))
                if chunk.column_index.boundary_order == BoundaryOrder.ASCENDING:
                    assert (sorted(lows), sorted(highs)) == (lows, highs)


def test_duckdb_finds_through_statistics_and_bloom_filters_what_is_there(tmp_path: Any) -> None:
    names = [f"n{number:02d}" for number in range(40)]
    file = TinyParquet(
        [Column("name", "string", names), Column("number", "int64", range(40), optional=False)],
        row_group_rows=10,
        page_rows=3,
        page_index=True,
        bloom_filters=("name", "number"),
    )
    path = tmp_path / "data.parquet"
    path.write_bytes(file.build())

    with duckdb.connect() as connection:
        for number, name in enumerate(names):
            query = f"select number from '{path}' where name = '{name}' and number = {number}"
            assert [(number,)] == connection.execute(query).fetchall()
        probe = f"select bloom_filter_excludes from parquet_bloom_probe('{path}', 'name', ?)"
        excluded = {name: connection.execute(probe, [name]).fetchall() for name in (*names, "n05x")}

    assert [] == [name for number, name in enumerate(names) if excluded[name][number // 10] != (False,)]
    assert (True,) in excluded["n05x"]


@pytest.mark.parametrize("part", ["column indexes", "offset indexes", "bloom filters"])
def test_the_index_stands_where_it_is_asked_for(part: Part) -> None:
    rest = tuple(other for other in BODY if other not in ("idx1", part))
    column = Column("a", "string", ["x", "y", "z"])
    for body in ((*rest, "idx1", part), (*rest, part, "idx1")):
        file = TinyParquet([column], page_index=True, bloom_filters=("a",), index=Index("a"), body=body)
        paths = [piece.path for piece in take_apart(file.build()).body]
        there = "row_groups[0].columns[0]." + part.replace(" ", "_").replace("indexes", "index").rstrip("s")

        assert (paths.index("idx1") < paths.index(there)) == (body.index("idx1") < body.index(part))


TEXT = Column("a", "string", ["x"])


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (TinyParquet([]), "at least one column"),
        (TinyParquet([TEXT, Column("b", "string", [])]), "different lengths"),
        (
            TinyParquet([Column("a", "string", [None], optional=False)]),
            "column a is required and holds a null",
        ),
        (TinyParquet([Column("a", "int32", [1 << 31])]), "column a holds what is no int32"),
        (TinyParquet([Column("a", "string", [1])]), "column a holds what is no string"),
        (TinyParquet([TEXT], row_group_rows=-1), "row_group_rows is -1"),
        (TinyParquet([TEXT], page_rows=0), "page_rows is 0"),
        (
            TinyParquet([TEXT], page_index=True, body=("offset indexes", "row groups")),
            "behind all row groups",
        ),
        (TinyParquet([TEXT], index=Index("b")), "no column b to index"),
    ],
)
def test_what_cannot_be_written_is_refused(file: TinyParquet, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        file.build()


def test_a_bloom_filter_is_that_of_its_row_group() -> None:
    values = [f"v{number}" for number in range(40)]
    file = TinyParquet([Column("a", "string", values)], row_group_rows=20, bloom_filters=("a",))
    bitsets = [group.columns[0].bloom_filter.bitset for group in take_apart(file.build()).row_groups if group.columns[0].bloom_filter]  # fmt: skip
    strange = [v for v in values[20:] if bloom.probe(bitsets[0], xxhash.xxh64_intdigest(v.encode()))]

    assert [128, 128] == [len(bitset) for bitset in bitsets]
    assert len(strange) < 10
