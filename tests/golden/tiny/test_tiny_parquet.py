"""The tiny writer: what it writes is read back by foreign software, whatever the rows and the layout."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import tries
from pqassay_golden.rows import literal_rows
from pqassay_golden.tiny.columns import leaves_of
from pqassay_golden.tiny.parquet import (
    BODY,
    AnyType,
    Column,
    Encoding,
    IndexToEmbed,
    Kind,
    Layout,
    ListOf,
    MapOf,
    Member,
    Part,
    Repeated,
    Struct,
    TinyParquet,
    decimal,
    fixed,
)
from pqassay_reader.cli.driver_rows import rows_of
from pqassay_reference.errors import Refused
from pqassay_spec.golden.case import to_json
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.thrift import BoundaryOrder, Type

pytestmark = pytest.mark.slow


def integers(bits: int, *, signed: bool = True) -> st.SearchStrategy[int]:
    """All integers of ``bits`` bits."""
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) if signed else st.integers(0, (1 << bits) - 1)


DAY = 86_400

VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "int8": integers(8),
    "int16": integers(16),
    "int32": integers(32),
    "int64": integers(64),
    "uint8": integers(8, signed=False),
    "uint16": integers(16, signed=False),
    "uint32": integers(32, signed=False),
    "uint64": integers(64, signed=False),
    "int96": integers(62),
    "float": st.floats(width=32),
    "double": st.floats(),
    "float16": st.floats(width=16),
    "string": st.text(max_size=8),
    "json": st.text(max_size=8).map(json.dumps),
    "binary": st.binary(max_size=8),
    "bson": st.binary(max_size=8).map(lambda held: (len(held) + 5).to_bytes(4, "little") + held + b"\0"),
    "uuid": st.binary(min_size=16, max_size=16),
    "interval": st.binary(min_size=12, max_size=12),
    "date": integers(20),
    "time_millis": st.integers(0, DAY * 1000 - 1),
    "time_micros": st.integers(0, DAY * 1_000_000 - 1),
    "time_nanos": st.integers(0, DAY * 1_000_000_000 - 1),
    "timestamp_millis": integers(36),
    "timestamp_micros": integers(50),
    "timestamp_nanos": integers(60),
}
SCALARS: list[tuple[AnyType, st.SearchStrategy[Any]]] = [
    *VALUES.items(),
    (fixed(3), st.binary(min_size=3, max_size=3)),
    *(
        (decimal(9, 2, physical, length), st.integers(-999_999_999, 999_999_999))
        for physical, length in (
            (Type.INT32, None),
            (Type.INT64, None),
            (Type.BYTE_ARRAY, None),
            (Type.FIXED_LEN_BYTE_ARRAY, 5),
        )
    ),
]


@st.composite
def types(draw: st.DrawFn, depth: int = 2) -> tuple[AnyType, st.SearchStrategy[Any]]:
    """A type and its values; nested down to a depth."""
    if depth == 0 or draw(st.integers(0, 3)):
        scalar: tuple[AnyType, st.SearchStrategy[Any]] = draw(st.sampled_from(SCALARS))
        return scalar
    form = draw(st.sampled_from(("list", "map", "struct", "repeated")))
    if form == "map":
        (key, keys), (kind, value) = draw(st.sampled_from(SCALARS)), draw(types(depth - 1))
        pair = st.tuples(keys, value | st.none())
        return MapOf(key, kind), st.lists(pair, max_size=3)
    if form == "struct":
        kinds = draw(st.lists(types(depth - 1), min_size=1, max_size=2))
        optional = [draw(st.booleans()) or isinstance(kind, Repeated) for kind, _ in kinds]
        members = [Member(f"m{number}", kind, optional[number]) for number, (kind, _) in enumerate(kinds)]
        values = {
            member.name: value | st.none()
            if member.optional and not isinstance(member.type, Repeated)
            else value
            for member, (_, value) in zip(members, kinds, strict=True)
        }
        return Struct(members), st.fixed_dictionaries(values)
    kind, value = draw(types(depth - 1).filter(lambda pair: not isinstance(pair[0], Repeated)))
    if form == "repeated":
        if isinstance(kind, ListOf | MapOf):  # such groups must not be repeated
            kind, value = draw(st.sampled_from(SCALARS))
        return Repeated(kind), st.lists(value, max_size=3)
    optional_element = draw(st.booleans())
    return ListOf(kind, optional_element), st.lists(
        value | st.none() if optional_element else value, max_size=3
    )


FLAGS = (
    *(
        "packed_levels",
        "crc",
        "page_statistics",
        "encoding_stats",
        "bounds",
        "exact",
        "null_count",
        "nan_count",
    ),
    *("distinct_count", "size_statistics", "column_index", "offset_index", "null_counts", "histograms"),
    "unencoded_bytes",
)


def with_layout(column: Column, draw: st.DrawFn) -> Column:
    """The same column, written in any way; pyarrow takes a chunk to end where its first page is empty."""
    names = {leaf.scalar.physical for leaf in leaves_of(column)}
    truncate = st.none() | st.integers(1, 3)
    flags: dict[str, Any] = {name: draw(st.booleans()) for name in FLAGS}
    flags["offset_index"] = flags["offset_index"] or flags["column_index"]
    return replace(
        column,
        layout=Layout(
            version=draw(st.sampled_from((1, 2))),
            dictionary=None
            if Type.BOOLEAN in names
            else draw(st.sampled_from((None, Encoding.RLE_DICTIONARY, Encoding.PLAIN_DICTIONARY))),
            dictionary_pages=draw(st.none() | st.integers(0, 2)),
            page_rows=draw(st.none() | st.integers(1, 4)),
            truncate=draw(truncate),
            index_truncate=draw(truncate),
            behind=draw(st.sampled_from(("ColumnMetaData", "ColumnChunk", b"", b"\0\0"))),
            **flags,
        ),
    )


@st.composite
def files(draw: st.DrawFn, *, simple: bool = False) -> TinyParquet:
    """A file of any columns, rows and layout; a simple one is flat, of five types, and without further options."""
    rows = draw(st.integers(0, 12))
    columns: list[Column] = []
    kinds: tuple[Kind, ...] = ("int32", "int64", "double", "string", "binary")
    plain: list[tuple[AnyType, st.SearchStrategy[Any]]] = [(kind, VALUES[kind]) for kind in kinds]
    for number, (kind, value) in enumerate(
        draw(st.lists(st.sampled_from(plain) if simple else types(), min_size=1, max_size=4))
    ):
        optional = draw(st.booleans()) or isinstance(kind, Repeated)
        values = st.none() | value if optional and not isinstance(kind, Repeated) else value
        column = Column(f"c{number}", kind, draw(st.lists(values, min_size=rows, max_size=rows)), optional)
        columns.append(column if simple or draw(st.booleans()) else with_layout(column, draw))
    names = [leaf.name for column in columns for leaf in leaves_of(column)]
    return TinyParquet(
        columns,
        row_group_rows=draw(st.none() | st.integers(1, 5)),
        page_rows=draw(st.none() | st.integers(1, 4)),
        page_index=draw(st.booleans()),
        bloom_filters=draw(st.lists(st.sampled_from(names), unique=True)),
        statistics=draw(st.booleans()),
        body=("row groups", *draw(st.permutations(BODY[1:]))),
    )


FOR_OPTIONS = ("STA-011", "STA-080", "PIX-027", "PIX-044", "PIX-080", "BLM-009", "BLM-011")
"""Rules that no file has to keep, and that some options break.

Counts left out, statistics in page headers, bloom filters of few bytes or of booleans.
"""


@tries(300)
@given(files())
def test_what_is_written_is_read_back_and_breaks_no_rule(file: TinyParquet) -> None:
    data = file.build()
    read = rows_of(pq.read_table(io.BytesIO(data)), [column.name for column in file.columns])

    assert to_json(literal_rows(file))["rows"] == read
    findings = pqassay.check(data, tier="values").files[0].findings
    assert [] == [finding for finding in findings if finding.rule not in FOR_OPTIONS]
    assert data == file.build()


@tries(100)
@given(files(simple=True))
def test_every_value_is_in_the_bloom_filter_of_its_row_group(file: TinyParquet) -> None:
    tree = take_apart(file.build())
    spelled = {"int32": "<i", "int64": "<q", "double": "<d"}
    assert not isinstance(file.row_group_rows, Sequence)
    size = file.row_group_rows or max(len(file.rows()), 1)

    for number, group in enumerate(tree.row_groups):
        for column, chunk in zip(file.columns, group.columns, strict=True):
            assert (chunk.bloom_filter is not None) == (column.name in file.bloom_filters)
            for value in column.values[number * size : (number + 1) * size]:
                if chunk.bloom_filter is None or value is None:
                    continue
                raw = value.encode() if isinstance(value, str) else value
                raw = raw if isinstance(raw, bytes) else struct.pack(spelled[str(column.kind)], raw)
                assert bloom.probe(chunk.bloom_filter.bitset, xxhash.xxh64_intdigest(raw))


@tries(100)
@given(files(simple=True))
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
        file = TinyParquet(
            [column], page_index=True, bloom_filters=("a",), index=IndexToEmbed("a"), body=body
        )
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
        (TinyParquet([Column("a", "int32", [1 << 31])]), "column a holds a value that is not int32"),
        (TinyParquet([Column("a", "string", [1])]), "column a holds a value that is not string"),
        (TinyParquet([TEXT], row_group_rows=-1), "row_group_rows is -1"),
        (TinyParquet([TEXT], page_rows=0), "page_rows is 0"),
        (
            TinyParquet([TEXT], page_index=True, body=("offset indexes", "row groups")),
            "behind all row groups",
        ),
        (TinyParquet([TEXT], index=IndexToEmbed("b")), "no column b to index"),
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
