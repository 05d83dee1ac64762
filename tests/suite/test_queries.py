"""Queries of cases: derived, the same each time, and such that they touch what a reader may get wrong."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_cases import golden_cases
from pqassay.literals.predicate import IEEE, columns_of, keeps
from pqassay_spec.golden.literals import BinaryLiteral, Column, Float, LongInteger, Rows, Written
from pqassay_spec.parquet.bloom import BLOCK_SIZE, block_start
from pqassay_spec.parquet.thrift import Type
from pqassay_suite.cases.case import GoldenCase, select
from pqassay_suite.cases.file_facts import ChunkFacts, FileFacts, facts_of
from pqassay_suite.cases.queries import MOST, CaseQuery, plain_bytes, queries
from pqassay_suite.drivers import protocol
from pqassay_suite.running.runner import tasks
from pqassay_suite.running.scanning import queries_about

pytestmark = pytest.mark.slow


@cache
def scanned() -> list[GoldenCase]:
    """The valid golden files that are scanned."""
    return [golden for golden, _ in tasks(golden_cases(), ["scan"]) if golden.parent is None]


def values(kind: st.SearchStrategy[Written]) -> st.SearchStrategy[list[Written]]:
    return st.lists(st.none() | kind, min_size=12, max_size=12)


FLOATS = st.sampled_from(["nan", "-0.0", "0.0", "inf", "-inf", "1.5", "-2.25"]).map(Float)
COLUMNS = st.one_of(
    st.tuples(st.just("int64"), values(st.integers(-3, 3))),
    st.tuples(st.just("string"), values(st.text("aé𝄞", max_size=2))),
    st.tuples(st.just("double"), values(FLOATS)),
    st.tuples(st.just("boolean"), values(st.booleans())),
    st.tuples(st.just("binary"), values(st.binary(max_size=2).map(lambda value: BinaryLiteral(value.hex())))),
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Rows, FileFacts]:
    """Rows, and a layout of pages for them, of each column another one."""
    columns = draw(st.lists(COLUMNS, min_size=1, max_size=3))
    count = draw(st.integers(0, 12))
    names = [f"c{number}" for number in range(len(columns))]
    rows = [list(row) for row in zip(*(column[:count] for _, column in columns), strict=True)]
    chunks: dict[str, tuple[ChunkFacts, ...]] = {}
    for name in names:
        cuts = sorted(draw(st.sets(st.integers(1, max(count - 1, 1)), max_size=3)) - {count})
        ends = [0, *cuts, count] if count > 1 else [0, count]
        pages = tuple(range(start, end) for start, end in pairwise(ends))
        chunks[name] = (ChunkFacts(pages),)
    described = [Column(name, kind, nullable=True) for name, (kind, _) in zip(names, columns, strict=True)]
    return Rows(described, rows), FileFacts((), (range(count),), chunks, dict.fromkeys(names, 0))


@given(tables())
def test_whatever_the_rows_queries_are_few_different_and_can_be_judged(table: tuple[Rows, FileFacts]) -> None:
    rows, facts = table
    found = queries(rows, facts, "c0", None)

    assert found == queries(rows, facts, "c0", None)
    assert len(found) <= MOST
    trees = [json.dumps(query.predicate) for query in found]
    assert len(trees) == len(set(trees))
    names = rows.names()
    records = [dict(zip(names, row, strict=True)) for row in rows.values()]
    for query in found:
        assert query.columns
        assert query.columns == [name for name in names if name in query.columns]
        assert columns_of(query.predicate) <= set(names)
        for record in records:
            keeps(query.predicate, record, IEEE)


@given(tables())
def test_every_page_of_the_column_is_asked_about_and_every_operator(table: tuple[Rows, FileFacts]) -> None:
    rows, facts = table
    found = queries(rows, facts, "c0", None)
    names = rows.names()
    records = [dict(zip(names, row, strict=True)) for row in rows.values()]
    own = [query for query in found if columns_of(query.predicate) == {"c0"}]
    asked = {query.predicate[0] for query in own}
    nulls = [record["c0"] is None for record in records]

    assert {"is null", "is not null"} <= asked
    if not all(nulls):
        assert "=" in asked
        for page in facts.chunks["c0"][0].pages:
            chosen = [query for query in own if query.predicate[0] not in ("is null", "is not null")]
            if not all(nulls[row] for row in page) and not _is_nan(records, page):
                assert any(keeps(query.predicate, records[row], IEEE) for query in chosen for row in page)


def _is_nan(records: list[dict[str, Any]], page: range) -> bool:
    """Whether there is nothing but NaN and null, which no comparison finds."""
    return all(records[row]["c0"] is None or records[row]["c0"] != records[row]["c0"] for row in page)


def test_the_story_of_a_case_is_its_first_query() -> None:
    for golden in scanned():
        assert golden.case.expect.predicate == queries_about(golden)[0].predicate


def test_every_case_has_enough_queries_and_none_too_many() -> None:
    counts = {golden.case.id: len(queries_about(golden)) for golden in scanned()}

    assert {} == {name: count for name, count in counts.items() if count > MOST}
    assert {} == {
        golden.case.id: counts[golden.case.id]
        for golden in scanned()
        if golden.rows and len(golden.rows.rows) > 8 and counts[golden.case.id] < 4
    }


def test_every_second_query_asks_for_the_columns_beside() -> None:
    (golden,) = [one for one in scanned() if one.case.id == "pix/three-pages"]
    found = queries_about(golden)
    names = (golden.rows or Rows([], [])).names()

    assert all(query.columns == names for query in found[::2])
    assert any(query.columns != names for query in found[1::2])
    for query in found[1::2]:
        assert query.columns == names or not columns_of(query.predicate) & set(query.columns)


def test_every_block_of_a_bloom_filter_is_looked_into() -> None:
    import xxhash

    (golden,) = select(golden_cases(), ["blm/two-blocks"])
    facts, column = golden.facts, golden.case.column or ""
    touched: set[int] = set()
    for query in queries_about(golden):
        if query.predicate[:2] == ["=", column]:
            plain = plain_bytes(query.predicate[2], facts.types[column])
            assert plain is not None
            touched.add(block_start(xxhash.xxh64_intdigest(plain), 2 * BLOCK_SIZE))

    assert {2} == {chunk.blocks for chunk in facts.chunks[column]}
    assert {0, BLOCK_SIZE} == touched


def test_beside_nan_every_comparison_is_asked() -> None:
    rows = Rows(
        [Column("x", "double", True)], [[Float("nan")], [Float("1.0")], [Float("-0.0")], [Float("0.0")]]
    )
    found = queries(rows, FileFacts((), (range(4),)), "x", None)
    asked = {(query.predicate[0], str(query.predicate[2:])) for query in found}

    assert {"<", "<=", ">", ">="} <= {name for name, _ in asked}
    for special in ("nan", "-0.0", "0.0"):
        assert ("=", str([{"float": special}])) in asked


def test_values_without_an_order_are_only_asked_for_by_equality() -> None:
    rows = Rows([Column("b", "boolean", True)], [[True], [False], [None]])
    found = queries(rows, FileFacts((), (range(3),)), "b", None)

    assert {"is null", "is not null", "=", "in"} == {query.predicate[0] for query in found}


def test_of_an_empty_file_there_are_queries_about_nulls() -> None:
    found = queries(Rows([Column("x", "int64", True)], []), FileFacts(), "x", ["=", "x", 1])

    assert CaseQuery(["=", "x", 1], ["x"]) == found[0]
    assert ["is null", "is not null"] == sorted(query.predicate[0] for query in found[1:])[::-1]


def test_the_request_of_every_case_follows_the_schema() -> None:
    for golden in scanned()[::7]:
        asked = [
            protocol.Query(seq, query.predicate, query.columns, "on")
            for seq, query in enumerate(queries_about(golden))
        ]
        request = protocol.ScanRequest(2, "scan", golden.case.family, "/f", asked, golden.case.column)
        protocol.check_request(protocol.to_json(request))


@pytest.mark.parametrize(
    ("value", "kind", "plain"),
    [
        ("é", Type.BYTE_ARRAY, b"\xc3\xa9"),
        (BinaryLiteral("00ff"), Type.BYTE_ARRAY, b"\x00\xff"),
        (-1, Type.INT32, b"\xff" * 4),
        (2**32 - 1, Type.INT32, b"\xff" * 4),
        (LongInteger("-9223372036854775808"), Type.INT64, b"\0" * 7 + b"\x80"),
        (Float("1.0"), Type.FLOAT, b"\x00\x00\x80\x3f"),
        (Float("1.0"), Type.DOUBLE, b"\0" * 6 + b"\xf0\x3f"),
        (True, Type.BOOLEAN, None),
        (None, Type.INT32, None),
    ],
)
def test_what_a_bloom_filter_hashes(value: Written, kind: int, plain: bytes | None) -> None:
    assert plain == plain_bytes(value, kind)


def test_a_file_that_cannot_be_read_has_no_facts() -> None:
    assert FileFacts() == facts_of(b"not a Parquet file")
