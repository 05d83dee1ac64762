"""Datasets that prune by the distinct sets of several columns, by row group, with any reader."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from damage import tries
from indexed_directories import add_sets
from pqassay_reader.condition.rows import expression_of
from pqassay_reader.condition.text import parse_predicate
from pqassay_reader.lake.indexed_dataset import IndexedDataset, IndexWarning, open_indexed
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_spec.directory.codes import Granularity, IndexType, Placement

GROUP = 2


def written(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=GROUP)
    return path


@pytest.fixture
def cargo(tmp_path: Path) -> Path:
    """Two files of two row groups; in each row group there are nations, carriers and weights between the same bounds."""
    columns: list[dict[str, list[Any]]] = [
        {
            "nation": ["A", "Z", "A", "P"],
            "carrier": ["a", "z", "m", "z"],
            "weight": [0.0, 9.0, -0.0, 9.5],
            "id": [0, 1, 2, 3],
        },
        {
            "nation": ["P", "Z", "A", None],
            "carrier": ["a", "z", "z", "m"],
            "weight": [math.nan, 1.0, 7.0, 8.0],
            "id": [4, 5, 6, 7],
        },
    ]
    for number, one in enumerate(columns):
        path = written(tmp_path / f"{number}.parquet", one)
        for column in ("nation", "carrier", "weight"):
            add_sets(path, column)
    return tmp_path


def opened(folder: Path, **options: Any) -> IndexedDataset:
    """The dataset, without a word about files that have no index."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndexWarning)
        return open_indexed(folder, **options)


def left(dataset: IndexedDataset, condition: str) -> list[tuple[str, list[int]]]:
    """The files that are left, and their row groups."""
    expression = expression_of(parse_predicate(condition), dataset.schema)
    fragments: list[Any] = list(dataset.get_fragments(expression))
    return [
        (Path(one.path).name, [group.id for group in one.row_groups])
        for one in fragments
        if one.path != "<Buffer>"
    ]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("nation = 'P'", [("0.parquet", [1]), ("1.parquet", [0])]),
        ("nation = 'P' AND carrier = 'm'", [("0.parquet", [1])]),
        ("nation = 'P' AND carrier = 'q'", []),
        ("nation IS NULL", [("1.parquet", [1])]),
        ("nation = 'Q' OR carrier = 'm'", [("0.parquet", [1]), ("1.parquet", [1])]),
        ("(nation = 'Z' AND carrier = 'm') OR (nation IS NULL AND weight = 8)", [("1.parquet", [1])]),
        ("weight > 9", [("0.parquet", [1]), ("1.parquet", [0])]),  # of NaN, engines say different things
        ("weight = 0", [("0.parquet", [0, 1]), ("1.parquet", [0])]),
    ],
)
def test_row_groups_are_left_out_by_all_columns_together(
    cargo: Path, condition: str, expected: list[tuple[str, list[int]]]
) -> None:
    assert expected == left(opened(cargo), condition)


CONDITION = "nation = 'P' AND carrier = 'z'"
"""True of one row; of each file a row group has both values."""


def by_duckdb(dataset: IndexedDataset) -> list[int]:
    found: Any = duckdb.connect().register("dataset", dataset)
    return [row[0] for row in found.execute(f"SELECT id FROM dataset WHERE {CONDITION}").fetchall()]


def by_datafusion(dataset: IndexedDataset) -> list[int]:
    context = datafusion.SessionContext()
    context.register_dataset("t", dataset)
    return context.sql(f"SELECT id FROM t WHERE {CONDITION}").to_pydict()["id"]


def by_polars(dataset: IndexedDataset) -> list[int]:
    condition = (pl.col("nation") == "P") & (pl.col("carrier") == "z")
    return pl.scan_pyarrow_dataset(dataset).filter(condition).collect()["id"].to_list()


def by_pyarrow(dataset: IndexedDataset) -> list[int]:
    expression = expression_of(parse_predicate(CONDITION), dataset.schema)
    rows: list[Any] = dataset.to_table(filter=expression)["id"].to_pylist()
    return rows


@pytest.mark.parametrize("ask", [by_duckdb, by_datafusion, by_polars, by_pyarrow])
def test_engines_read_the_row_groups_that_are_left(
    cargo: Path, ask: Callable[[IndexedDataset], list[int]]
) -> None:
    dataset = opened(cargo)
    assert [3] == ask(dataset)
    assert dataset.counters.row_groups_skipped >= 2
    assert 0 == dataset.counters.row_groups_skipped % 2


def test_engines_leave_out_row_groups_by_columns_of_several_types(tmp_path: Path) -> None:
    """Each engine hands its condition on, on a date, a decimal, a whole number and a moment; Polars none on decimals."""
    days = [dt.date(2024, 1, day) for day in (1, 9, 1, 5, 1, 9, 1, 9)]
    columns = {
        "id": list(range(8)),
        "day": days,
        "price": pa.array([Decimal(number) for number in (0, 9, 0, 5, 0, 9, 5, 9)], pa.decimal128(9, 2)),
        "year": pa.array([0, 9, 0, 9, 0, 9, 5, 9], pa.int32()),
        "moment": pa.array(
            [dt.datetime(2024, 1, day.day, tzinfo=dt.UTC) for day in days], pa.timestamp("us", "UTC")
        ),
    }
    path = written(tmp_path / "a.parquet", columns)
    for column in ("day", "price", "year", "moment"):
        add_sets(path, column)
    dataset = opened(tmp_path)
    date, moment = dt.date(2024, 1, 5), dt.datetime(2024, 1, 5, tzinfo=dt.UTC)
    sql = "SELECT id FROM dataset WHERE day {} DATE '2024-01-05' AND price = 5"
    connection = duckdb.connect().register("dataset", dataset)
    assert [(3,)] == connection.execute(sql.format("=")).fetchall()
    assert 3 == dataset.counters.row_groups_skipped
    of_sessions = datafusion.SessionContext()
    of_sessions.register_dataset("dataset", dataset)
    assert [6] == of_sessions.sql(sql.format("<")).to_pydict()["id"]
    assert 3 + 2 * 2 == dataset.counters.row_groups_skipped  # it asks twice
    frame = pl.scan_pyarrow_dataset(dataset).filter((pl.col("year") == 9) & (pl.col("moment") == moment))
    assert [3] == frame.collect()["id"].to_list()
    assert 7 + 3 == dataset.counters.row_groups_skipped
    condition: Any = (
        (pc.field("day") == date) & (pc.field("year") == 9) & (pc.field("price") < Decimal("6.00"))
    )
    assert [3] == dataset.to_table(filter=condition)["id"].to_pylist()
    assert 10 + 3 == dataset.counters.row_groups_skipped


def test_the_row_groups_that_are_left_are_named(cargo: Path) -> None:
    dataset = opened(cargo)
    condition = parse_predicate("nation = 'P' AND carrier = 'm'")
    pruning = dataset.prune(expression_of(condition, dataset.schema))
    assert {str(cargo / "0.parquet"): ([1], 2)} == pruning.row_groups
    assert (str(cargo / "1.parquet"),) == pruning.skipped


def test_sets_of_columns_that_are_not_asked_for_are_not_read(cargo: Path) -> None:
    add_sets(cargo / "0.parquet", "carrier", change=lambda head: head._replace(crc32=head.crc32 ^ 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = open_indexed(cargo, columns=["nation"])
    assert ((), 0) == (dataset.aside, dataset.unindexed)
    assert [("1.parquet", [1])] == left(dataset, "nation IS NULL AND carrier = 'q'")
    why = "the checksum does not fit the blob's bytes"
    every = opened(cargo)
    assert not every.aside
    with pytest.warns(IndexWarning, match=why):
        left(every, "carrier = 'q'")
    assert (f"{cargo / '0.parquet'}: DISTINCT_SET of carrier by ROW_GROUP: {why}",) == every.aside


def test_sets_are_read_when_a_condition_names_their_column_and_if_they_may_pay(tmp_path: Path) -> None:
    """Bytes and requests: footers at opening, the set of a column when it is asked for, and never one that costs more than it spares."""
    count = 20_000
    few = [f"carrier {number % 5} of this group of rows" for number in range(count)]
    columns = {
        "u": [f"a key that no other row of the table has {number:09}" for number in range(count)],
        "carrier": few,
        "id": list(range(count)),
    }
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table(columns), path, row_group_size=count // 2, compression="none", use_dictionary=False
    )
    add_sets(path, "carrier", placement=Placement.BODY)
    add_sets(path, "u", placement=Placement.BODY)
    dataset = open_indexed(tmp_path, warn=True)
    at_opening = dataset.metadata_read
    assert (8 << 10, 1) == at_opening
    assert [("a.parquet", [0, 1])] == left(dataset, "id = 5")
    assert at_opening == dataset.metadata_read
    assert [("a.parquet", [0, 1])] == left(dataset, "u = 'x'")
    assert at_opening == dataset.metadata_read, "a set of unique keys is as long as what it may spare"
    assert [] == left(dataset, "carrier = 'nothing'")
    length, requests = dataset.metadata_read
    assert 2 == requests
    assert 500 > length - at_opening[0] > 0
    assert [] == left(dataset, "carrier = 'another'")
    assert (length, requests) == dataset.metadata_read


def test_sets_of_files_and_row_groups_decide_together(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", {"x": [1, 2, 3, 4], "y": ["a", "b", "c", "d"]})
    add_sets(path, "x", Granularity.FILE)
    add_sets(path, "y")
    dataset = opened(tmp_path)
    assert [] == left(dataset, "x = 5 AND y = 'a'")
    assert [("a.parquet", [0])] == left(dataset, "x = 1 AND y = 'a'")
    assert [("a.parquet", [1])] == left(dataset, "x = 7 OR y = 'd'")


def test_reasons_are_given(cargo: Path) -> None:
    dataset = opened(cargo)
    condition = parse_predicate("nation = 'P' AND carrier = 'm'")
    why = dataset.prune(expression_of(condition, dataset.schema)).why
    assert {
        "0.parquet": "the distinct sets of carrier, nation leave 1 of 2 row groups",
        "1.parquet": "the distinct sets of carrier, nation leave no row group",
    } == {Path(path).name: reason for path, reason in why.items()}


def test_a_stale_set_leaves_nothing_out(cargo: Path) -> None:
    path = cargo / "0.parquet"
    file = pq.ParquetFile(path)
    pq.write_table(file.read().slice(1).replace_schema_metadata(file.metadata.metadata), path)
    with pytest.warns(IndexWarning, match="stale: it describes 4 rows, but the file has 3"):
        dataset = open_indexed(cargo)
    assert ["0.parquet"] == [name for name, _ in left(dataset, "nation = 'Q'")]


TYPES: list[tuple[Any, Any, Any]] = [
    (pa.int8(), -3, 4),
    (pa.uint64(), 1, (1 << 64) - 1),
    (pa.float32(), -1.5, 2.5),
    (pa.bool_(), True, False),
    (pa.date32(), dt.date(2020, 1, 1), dt.date(2021, 1, 1)),
    (
        pa.timestamp("us", "UTC"),
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        dt.datetime(2021, 1, 1, tzinfo=dt.UTC),
    ),
    (pa.decimal128(10, 2), Decimal("1.25"), Decimal("-3.50")),
    (pa.binary(2), b"ab", b"\xff\x00"),
    (pa.large_string(), "a", "b"),
    (pa.dictionary(pa.int32(), pa.string()), "a", "b"),
    (pa.binary(), b"a", b"\xff"),
]


@pytest.mark.parametrize(("kind", "one", "other"), TYPES, ids=[str(kind) for kind, _, _ in TYPES])
def test_columns_of_all_types_decide(tmp_path: Path, kind: Any, one: Any, other: Any) -> None:
    values = (
        pa.array([one, one, other, other], pa.string()).cast(kind)
        if pa.types.is_dictionary(kind)
        else pa.array([one, one, other, other], kind)
    )
    path = written(tmp_path / "a.parquet", {"x": values})
    add_sets(path, "x")
    dataset = opened(tmp_path)
    constant: Any = pc.scalar
    condition = pc.field("x") != constant(
        pa.scalar(one, kind.value_type if pa.types.is_dictionary(kind) else kind)
    )
    fragments: list[Any] = list(dataset.get_fragments(condition))
    assert [[1]] == [[group.id for group in fragment.row_groups] for fragment in fragments]


@pytest.mark.parametrize(
    ("stored", "read", "decides"),
    [
        (pa.uint64(), pa.decimal128(20, 0), True),
        (pa.int32(), pa.int64(), True),
        (pa.int64(), pa.int8(), True),  # as long as the values fit
        (pa.int32(), pa.float64(), False),
        (pa.float32(), pa.float64(), True),
        (pa.decimal128(9, 2), pa.decimal128(20, 2), True),
        (pa.decimal128(9, 2), pa.decimal128(20, 3), False),
        (pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC"), True),
        (pa.timestamp("us", "UTC"), pa.timestamp("us"), False),
        (pa.timestamp("us"), pa.timestamp("us", "UTC"), False),
        (pa.date32(), pa.timestamp("us"), False),
        (pa.binary(2), pa.binary(), True),
    ],
    ids=str,
)
def test_a_set_decides_where_the_dataset_reads_its_values_as_the_same(
    tmp_path: Path, stored: Any, read: Any, decides: bool
) -> None:
    values = [b"ab", b"cd"] if pa.types.is_fixed_size_binary(stored) else [1, 2]
    path = written(tmp_path / "a.parquet", {"x": pa.array(values, stored)})
    add_indexes(path, [Request(IndexType.DISTINCT_SET, (("x",),))])
    dataset = opened(tmp_path, schema=pa.schema([pa.field("x", read)]))
    assert decides == bool(dataset.prune(pc.field("x").is_null()).skipped)
    assert decides == (dataset.aside == ())


VALUE = st.sampled_from([None, "a", "b"])
NUMBER = st.sampled_from([None, 0.0, -0.0, 1.0, math.nan])
CONDITIONS = [
    "x = 'a' AND y = 0",
    "x <> 'a' OR y > 0",
    "NOT (x = 'b' AND y IN (0, 1))",
    "x IS NULL AND y <> 1",
    "(x = 'a' AND y = 1) OR (x = 'b' AND y IS NULL)",
]


@tries(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(VALUE, NUMBER), min_size=1, max_size=8),
    condition=st.sampled_from(CONDITIONS),
    granularities=st.tuples(*[st.sampled_from([None, Granularity.FILE, Granularity.ROW_GROUP])] * 2),
)
def test_the_rows_are_those_of_a_dataset_without_indexes(
    tmp_path: Path, rows: list[Any], condition: str, granularities: Any
) -> None:
    texts, numbers = (
        pa.array([row[0] for row in rows], pa.string()),
        pa.array([row[1] for row in rows], pa.float64()),
    )
    path = written(tmp_path / "a.parquet", {"x": texts, "y": numbers, "id": list(range(len(rows)))})
    for column, granularity in zip("xy", granularities, strict=True):
        if granularity is not None:
            add_sets(path, column, granularity)
    dataset = opened(tmp_path)
    expression = expression_of(parse_predicate(condition), dataset.schema)
    without = pads.dataset(path)  # DuckDB's own reader answers some conditions about NaN wrongly
    sql = f"SELECT id FROM dataset WHERE {condition} ORDER BY id"
    plain = without.to_table(filter=expression)["id"].to_pylist()
    assert plain == dataset.to_table(filter=expression)["id"].to_pylist()
    connection = duckdb.connect().register("dataset", dataset).register("without", without)
    expected = connection.execute(sql.replace("dataset", "without")).fetchall()
    assert expected == connection.execute(sql).fetchall()
