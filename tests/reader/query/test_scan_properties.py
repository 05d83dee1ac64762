"""Scans of random files by random conditions and rungs: the rows of a full reading, whatever is missing or visibly damaged.

A *well-formed* lie, such as a bound that is too small, misleads this scan as it misleads every reader.  So after a random damage
of an index the rows are those of the good file, or the scan refuses, or a scan that asks no claim returns them; the rows of the
latter are always right.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import math
import threading
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from counting_source import CountingSource
from damage import scattered, tries
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import Column, Encoding, ListOf, TinyParquet
from pqassay_reader.condition.rows import condition_of, rows_of
from pqassay_reader.condition.text import parse_predicate
from pqassay_reader.query.explained.counters import Counters
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.fetching.ranges import FetchedRanges
from pqassay_reader.query.file_scan import FileScan
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import BATCH_ROWS, scan
from pqassay_reader.query.scan_query import Query
from pqassay_reader.query.targets import target_of
from pqassay_reference.errors import Refused, Undecodable
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.mutations import Inapplicable, Mutation, mutate
from pqassay_spec.mutation.possible import mutations_of
from pqassay_suite.cases.case import golden_folder

REFUSALS = (FormatError, Undecodable, Refused)

# ------------------------------------------------------------------------------------------------- random tables

DAY = dt.date(2020, 1, 1)
MOMENT = dt.datetime(2020, 1, 1)  # noqa: DTZ001 - a timestamp without a zone

KINDS: dict[str, tuple[Any, Callable[[Random], Any]]] = {
    "i": (pa.int64(), lambda r: r.randrange(r.choice([50, 10**6]))),
    "i8": (pa.int8(), lambda r: r.randrange(-9, 9)),
    "u": (pa.uint32(), lambda r: r.randrange(2**32)),
    "f": (pa.float64(), lambda r: r.choice([0.0, -0.0, math.nan, 1.5, -2.5, math.inf])),
    "h": (pa.float32(), lambda r: r.choice([0.0, 0.25, math.nan])),
    "s": (pa.string(), lambda r: r.choice(["", "a", "ab", "é", "zz" * 9])),
    "b": (pa.binary(), lambda r: bytes([r.randrange(256)])),
    "x": (pa.binary(3), lambda r: r.randbytes(3)),
    "o": (pa.bool_(), lambda r: r.random() < 0.5),
    "d": (pa.date32(), lambda r: DAY + dt.timedelta(r.randrange(400))),
    "t": (pa.timestamp("us"), lambda r: MOMENT + dt.timedelta(seconds=r.randrange(10**7))),
    "ts": (pa.timestamp("s", "UTC"), lambda r: MOMENT + dt.timedelta(seconds=r.randrange(10**7))),
    "dec": (pa.decimal128(15, 2), lambda r: Decimal(r.randrange(10_000)) / 100),
    "wide": (pa.decimal128(30, 2), lambda r: Decimal(r.randrange(-999, 999)) / 100),
    "du": (pa.duration("us"), lambda r: dt.timedelta(seconds=r.randrange(1000))),
    "di": (pa.dictionary(pa.int32(), pa.string()), lambda r: r.choice(["m", "n"])),
    "l": (pa.list_(pa.int32()), lambda r: [r.randrange(5) for _ in range(r.randrange(4))]),
    "st": (pa.struct([("x", pa.int32()), ("y", pa.string())]), lambda r: {"x": r.randrange(30), "y": r.choice(["p", None])}),
    "m": (pa.map_(pa.int32(), pa.int32()), lambda r: [(k, r.randrange(5)) for k in range(r.randrange(3))]),
    "ls": (
        pa.list_(pa.struct([("p", pa.int32()), ("q", pa.list_(pa.large_string()))])),
        lambda r: [{"p": r.randrange(5), "q": ["x"] * r.randrange(3)} for _ in range(r.randrange(3))],
    ),
    "fl": (pa.list_(pa.float32(), 2), lambda _: [1.0, 2.0]),
    "nn": (pa.null(), lambda _: None),
}  # fmt: skip
"""Columns: their types, and what draws a value."""

ENCODINGS = {
    "i": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "i8": ["PLAIN", "DELTA_BINARY_PACKED"],
    "f": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "s": ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
    "x": ["PLAIN", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"],
    "o": ["PLAIN", "RLE"],
}
"""Encodings that are tried where there is no dictionary."""


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A table of up to six columns."""
    names = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=6, unique=True))
    chance, count = Random(draw(st.integers(0, 1 << 32))), draw(st.sampled_from([0, 1, 50, 700]))
    columns: list[Any] = []
    for name in names:
        kind, value = KINDS[name]
        values = [None if chance.random() < 0.15 else value(chance) for _ in range(count)]
        if name == "i" and chance.random() < 0.5:
            values = list(range(count))
        columns.append(pa.array(values, kind))
    return pa.table(columns, names)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file of such a table as pyarrow writes it, with any of its options."""
    table = draw(tables())
    has_dictionary = draw(st.booleans())
    options: dict[str, Any] = {
        "use_dictionary": has_dictionary,
        "write_page_index": draw(st.sampled_from([True, True, False])),
        "data_page_size": draw(st.sampled_from([64, 1024, 10**6])),
        "write_batch_size": draw(st.sampled_from([7, 64, 1024])),
        "row_group_size": draw(st.sampled_from([100, 10**6])),
        "compression": draw(st.sampled_from(["none", "snappy", "zstd", "gzip", "lz4", "brotli"])),
        "data_page_version": draw(st.sampled_from(["1.0", "2.0"])),
        "dictionary_pagesize_limit": draw(st.sampled_from([100, 10**6])),
        "store_schema": draw(st.booleans()),
        "write_statistics": draw(st.sampled_from([True, True, False])),
        "write_page_checksum": draw(st.booleans()),
    }
    if not has_dictionary:
        encodings = {
            name: draw(st.sampled_from(found))
            for name, found in ENCODINGS.items()
            if name in table.column_names
        }
        options["column_encoding"] = encodings or None
    filter_columns = [name for name in ("i", "f", "s") if name in table.column_names]
    has_filters = draw(st.booleans())
    if filter_columns and has_filters:
        options["bloom_filter_options"] = {name: {"ndv": 100, "fpp": 0.1} for name in filter_columns}
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


# ---------------------------------------------------------------------------------------------- random conditions

LITERALS: dict[str, list[Any]] = {
    "i": [0, 5, 10**5],
    "i8": [-3, 0],
    "u": [7, 2**31],
    "f": [{"float": one} for one in ("0.0", "-0.0", "1.5", "nan")],
    "s": ["a", "zz"],
    "o": [True],
    "di": ["m"],
    "dec": [{"float": "12.5"}, 5],
    "st.x": [3, 29],
    "st.y": ["p"],
}
TEMPORAL = {"d": "DATE '2020-06-01'", "t": "TIMESTAMP '2020-02-01 00:00:00'"}


def leaves_of(name: str) -> st.SearchStrategy[list[Any]]:
    """Tests of one column."""
    found = [st.sampled_from([["is null", name], ["is not null", name]])]
    if name in TEMPORAL:
        texts = [f"{name} {operator} {TEMPORAL[name]}" for operator in ("=", "<", ">=", "!=")]
        found.append(st.sampled_from(texts).map(parse_predicate))
    if name in LITERALS:
        literals = st.sampled_from(LITERALS[name])
        comparisons = st.tuples(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.just(name), literals)
        members = st.tuples(
            st.sampled_from(["in", "not in"]), st.just(name), st.lists(literals, min_size=1, max_size=2)
        )
        found += [comparisons.map(list), members.map(list)]
    return st.one_of(found)


def conditions(names: list[str]) -> st.SearchStrategy[list[Any] | None]:
    """Conditions of any shape, or none."""
    usable = [name for name in names if name not in ("nn", "du", "fl")]
    usable += ["st.x", "st.y"] if "st" in names else []
    if not usable:
        return st.none()
    leaf = st.sampled_from(usable).flatmap(leaves_of)
    trees = st.recursive(
        leaf,
        lambda inner: (
            inner.map(lambda one: ["not", one])
            | st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list)
        ),
        max_leaves=4,
    )
    return st.none() | trees | trees


def filtered(table: pa.Table, predicate: list[Any] | None) -> pa.Table:
    """The rows of a table that satisfy a condition."""
    if predicate is None:
        return table
    found: pa.Table = table.filter(pa.array(rows_of(condition_of(predicate, table.schema), table)))
    return found


def same(expected: pa.Table, found: pa.Table) -> bool:
    """Whether two tables hold the same rows, NaN and signs of zeros included; a dictionary is as good as its values."""
    return str(expected.to_pylist()) == str(found.cast(expected.schema).to_pylist())


# ------------------------------------------------------------------------------------------------------- scans


@tries(60, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_rungs_give_the_rows_of_a_full_reading(data: st.DataObject) -> None:
    content = data.draw(files())
    table = pq.read_table(pa.BufferReader(content))
    predicate = data.draw(conditions(table.column_names))
    columns = data.draw(st.lists(st.sampled_from(table.column_names), min_size=1, unique=True))
    without = data.draw(st.lists(st.sampled_from(list(Rung)), max_size=5, unique=True))
    expected = filtered(table, predicate).select(columns)
    limit = data.draw(st.none() | st.integers(0, 60))
    batch_size = data.draw(st.none() | st.integers(1, 30))
    gap = data.draw(st.sampled_from([0, 100, 1 << 16]))
    source = CountingSource(content)
    rows = scan(source, predicate, columns, without=without, gap=gap, limit=limit, batch_size=batch_size)
    batches = list(rows)

    assert same(expected.slice(0, limit), pa.Table.from_batches(batches, rows.schema))
    assert all(len(batch) <= (batch_size or BATCH_ROWS) for batch in batches)
    assert_each_byte_once(source)


def assert_each_byte_once(source: CountingSource) -> None:
    ranges = sorted((start, start + length) for start, length in source.ranges)
    assert all(stop <= start for (_, stop), (start, _) in pairwise(ranges)), ranges


# ------------------------------------------------------------------------------------------------------ damage

NUMBERS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]
METALS = ["tin", "lead", None, "zinc", "nickel", "", "copper", None, "iron", "gold", "tin", "cobalt"]
MARKS: list[Any] = [[1], [], None, [2, 3], [4], [5], [6, 7], [], [8], [None], [9], [10]]

ASKED = ["or", ["=", "metal", "tin"], ["and", [">", "number", 5], ["<", "number", 100]]]

CLAIMS = (Rung.FILES, Rung.ROW_GROUPS, Rung.SETS, Rung.PAGES)

INDEXES = (
    "column_index",
    "offset_index",
    "bloom_filter",
    "statistics",
    "column_orders",
    "encoding_stats",
    "encodings",
)


@cache
def good_file() -> bytes:
    """A small file with everything that a scan uses."""
    columns = (
        Column("number", "int32", NUMBERS, optional=False, layout=Layout(page_rows=2)),
        Column("metal", "string", METALS, layout=Layout(page_rows=4, dictionary=Encoding.RLE_DICTIONARY)),
        Column("marks", ListOf("int32"), MARKS, layout=Layout(page_rows=2)),
    )
    return TinyParquet(columns, row_group_rows=6, page_index=True, bloom_filters=("metal",)).build()


@cache
def index_mutations() -> list[Mutation]:
    """What the grammar suggests to do to its indexes, and to what leads there."""
    return [one for one in mutations_of(good_file()) if any(name in one.path for name in INDEXES)]


def rows_or_refusal(content: bytes, **options: Any) -> list[Any] | None:
    try:
        return scan(BytesSource(content), ASKED, **options).to_table().to_pylist()
    except REFUSALS:
        return None


@tries(60)
@given(st.integers(0, 1 << 32), st.lists(st.sampled_from(list(Rung)), max_size=2))
def test_damaged_indexes_cost_no_row_unless_they_lie_and_a_scan_without_claims_returns_it(
    seed: int, without: list[Rung]
) -> None:
    content = good_file()
    try:
        for mutation in Random(seed).sample(index_mutations(), 1 + seed % 2):
            content = mutate(content, mutation)
    except (Inapplicable, FormatError):
        return
    expected = rows_or_refusal(good_file())
    found = rows_or_refusal(content, without=without)
    if found is not None and found != expected:
        assert expected == rows_or_refusal(content, without=CLAIMS)


@tries(60)
@given(st.integers(0, 1 << 32))
def test_whatever_bytes_are_damaged_is_read_or_refused(seed: int) -> None:
    content = scattered(good_file(), Random(seed), 1 + seed % 3)
    with contextlib.suppress(*REFUSALS):
        scan(BytesSource(content), ASKED).to_table()  # Python would make no list of invalid text


@pytest.mark.parametrize("count", [-1, -(1 << 63), 1 << 31, (1 << 63) - 1])
def test_row_counts_that_lie_are_refused(count: int) -> None:
    content = mutate(good_file(), Mutation("set", "footer.row_groups[0].num_rows", count))

    assert rows_or_refusal(content) is None


def test_names_that_are_no_text_are_refused() -> None:
    content = mutate(good_file(), Mutation("set", "footer.schema[1].name", b"\xff" * 7, raw=True))

    assert rows_or_refusal(content) is None


def test_int96_beyond_nanoseconds_is_refused_and_not_another_year(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    for year, is_read in ((1970, True), (1700, True), (3000, False), (1, False)):
        table = pa.table({"t": pa.array([dt.datetime(year, 1, 1), None], pa.timestamp("us"))})  # noqa: DTZ001 - as above
        pq.write_table(table, path, use_deprecated_int96_timestamps=True)
        if is_read:
            assert same(pq.read_table(path), scan(path).to_table())
        else:
            with pytest.raises(Undecodable, match="1677"):
                scan(path).to_table()


def test_lists_in_another_page_than_the_offset_index_says_are_read_whole() -> None:
    path = golden_folder() / "pix" / "first-row-of-lists" / "data.parquet"
    found = scan(path, ["=", "metal", "nickel"], ["marks"])

    assert [{"marks": [None]}] == found.to_table().to_pylist()


# ------------------------------------------------------------------------------------------- memory, bytes, ends

GROUPS, GROUP_ROWS = 32, 50_000


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Row groups that take little room in the file, and 50 MB decoded."""
    path = tmp_path_factory.mktemp("scan") / "long.parquet"
    names = pa.array([f"{n % 1000:028}" for n in range(GROUP_ROWS)])
    fields: list[pa.Field[Any]] = [pa.field("n", pa.int64()), pa.field("name", pa.string())]
    schema = pa.schema(fields)
    options: dict[str, Any] = {"compression": "zstd", "use_dictionary": ["name"], "write_page_index": True}
    with pq.ParquetWriter(path, schema, column_encoding={"n": "DELTA_BINARY_PACKED"}, **options) as writer:
        for group in range(GROUPS):
            numbers: Any = pa.array(np.arange(group * GROUP_ROWS, (group + 1) * GROUP_ROWS))
            writer.write_table(pa.Table.from_arrays([numbers, names], schema=schema))
    return path


def test_memory_is_bounded_while_a_long_file_is_streamed(long_file: Path) -> None:
    before, peak, rows, held = pa.total_allocated_bytes(), 0, 0, 0
    for batch in scan(long_file, ["<", "n", GROUPS * GROUP_ROWS], without=[Rung.DICTIONARIES]):
        rows, held = rows + len(batch), held + batch.nbytes
        del batch
        peak = max(peak, pa.total_allocated_bytes() - before)

    assert GROUPS * GROUP_ROWS == rows
    assert peak < held / 2


def test_bytes_of_rows_that_were_returned_are_not_held(
    long_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    release = FetchedRanges.release

    def noted(ranges: FetchedRanges, row: float) -> None:
        release(ranges, row)
        held.append(sum(one.stop - one.start for one in ranges._held))

    monkeypatch.setattr(FetchedRanges, "release", noted)
    rows = sum(map(len, scan(long_file, [">=", "n", 0], gap=0, without=[Rung.ROW_GROUPS])))

    assert GROUPS * GROUP_ROWS == rows
    assert GROUPS <= len(held)
    assert max(held) < long_file.stat().st_size / 2


def test_bloom_filters_are_not_held_once_they_were_asked(tmp_path: Path) -> None:
    path = tmp_path / "filters.parquet"
    numbers: Any = pa.array(np.arange(240_000) * 7919)
    options: Any = {"bloom_filter_options": {"n": {"ndv": 60_000, "fpp": 0.01}}, "use_dictionary": False}
    pq.write_table(pa.table({"n": numbers}), path, row_group_size=60_000, write_statistics=False, **options)
    source = CountingSource(path.read_bytes())
    query = Query(["in", "n", [7919, 8]], None, frozenset(Rung), 0)
    with FileScan(target_of(source), query, Counters()) as file:
        assert 1 == len(list(file.windows()))
        fetched = sum(length for _, length in source.ranges)
        assert sum(one.stop - one.start for one in file.ranges._held) < fetched / 3
    assert_each_byte_once(source)


def test_no_more_rows_are_decoded_at_once_than_a_batch_holds(long_file: Path) -> None:
    query = Query(["!=", "n", 7], None, frozenset(Rung), None, batch_size=1000)
    with FileScan(target_of(CountingSource(long_file.read_bytes())), query, Counters()) as file:
        assert 1000 == max(len(window.rows) for window in file.windows())
    with pytest.raises(Refused, match="batches of 0 rows"):
        scan(long_file, batch_size=0)


def test_a_limit_reads_a_small_part_of_a_long_file(long_file: Path) -> None:
    content = long_file.read_bytes()
    source = CountingSource(content)
    found = scan(source, [">=", "n", 0], limit=10, gap=0)

    assert list(range(10)) == found.to_table().column("n").to_pylist()
    assert sum(length for _, length in source.ranges) < len(content) / 2


def test_who_stops_early_leaves_no_thread_and_no_open_file(long_file: Path) -> None:
    descriptors = Path("/proc/self/fd")
    threads, opened = (
        threading.active_count(),
        len(list(descriptors.iterdir())) if descriptors.exists() else 0,
    )
    batches: Any = iter(scan(long_file, ["!=", "n", 7]))
    assert len(next(batches)) > 0
    batches.close()
    for _ in scan(long_file, columns=["n"]):
        break

    assert threads == threading.active_count()
    assert not opened or opened == len(list(descriptors.iterdir()))


def test_two_scans_of_one_file_at_once_do_not_meet(long_file: Path) -> None:
    KEPT_FACTS.clear()
    few, many = iter(scan(long_file, ["<", "n", 70_000], ["n"])), iter(scan(long_file, [">=", "n", 0], ["n"]))
    counts = [0, 0]
    for one, other in zip(few, many, strict=False):
        counts = [counts[0] + len(one), counts[1] + len(other)]
    counts[1] += sum(map(len, many))

    assert [70_000, 0] == [counts[0], counts[1] % GROUP_ROWS]
