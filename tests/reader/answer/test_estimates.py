"""Estimates from sketches: within their bounds, of the rows that a condition keeps, and refused where sketches do not tell."""

from __future__ import annotations

import datetime as dt
import re
import shutil
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indexed_directories import add_sets
from pqassay_reader.answer.answerer import Answerer
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.directory.reading.inventory import list_indexes
from pqassay_reference.errors import Refused
from pqassay_spec.directory.codes import Granularity, IndexType

pytest.importorskip("datasketches", reason="sketches take the extra `sketches`")

COLUMNS, ROWS = 20, 3000
"""Columns of other random numbers each, and rows of each of two files."""

DISTINCT = "APPROX_COUNT_DISTINCT"


def add_sketches(
    path: Path, kind: IndexType, *columns: str, granularity: Granularity = Granularity.ROW_GROUP
) -> None:
    """Add the sketches of some columns to a file."""
    add_indexes(path, [Request(kind, ((column,),), granularity) for column in columns])


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> tuple[Answerer, dict[str, Any]]:
    """Two files of many columns with both kinds of sketches, and the values of each column."""
    folder = tmp_path_factory.mktemp("wide")
    names = [f"c{number}" for number in range(COLUMNS)]
    values = {
        name: np.random.default_rng(seed).integers(0, 3 * ROWS, 2 * ROWS).astype(np.float64)
        for seed, name in enumerate(names)
    }
    for number, granularity in enumerate((Granularity.FILE, Granularity.ROW_GROUP)):
        path = folder / f"part-{number}.parquet"
        rows = slice(number * ROWS, (number + 1) * ROWS)
        pq.write_table(pa.table({name: values[name][rows] for name in names}), path, row_group_size=ROWS // 3)
        for kind in (IndexType.HLL, IndexType.KLL):
            add_sketches(path, kind, *names, granularity=granularity)
    return Answerer.open(folder), values


def test_numbers_of_distinct_values_lie_within_their_bounds(wide: tuple[Answerer, dict[str, Any]]) -> None:
    answerer, values = wide
    answer = answerer.ask(f"SELECT {', '.join(f'{DISTINCT}({name})' for name in values)} FROM t")
    assert (0, 2) == (answer.effort.files_read, answer.effort.files_from_metadata)
    within = 0
    for name, one in zip(values, answer.estimates, strict=True):
        truth = len(np.unique(values[name]))
        assert abs(one.estimate.as_py() - truth) < 0.08 * truth
        assert (4, 12) == (one.sketch_count, one.parameter)
        within += one.lower.as_py() <= truth <= one.upper.as_py()
    assert within >= 0.9 * COLUMNS  # where 95 of 100 are promised


@pytest.mark.parametrize("rank", [0.0, 0.5, 0.95])
def test_quantiles_lie_within_their_bounds(wide: tuple[Answerer, dict[str, Any]], rank: float) -> None:
    answerer, values = wide
    answer = answerer.ask(f"SELECT {', '.join(f'APPROX_QUANTILE({name}, {rank})' for name in values)} FROM t")
    within = 0
    for name, one in zip(values, answer.estimates, strict=True):
        truth = np.quantile(values[name], rank, method="inverted_cdf")
        within += one.lower.as_py() <= truth <= one.upper.as_py()
        ranks = np.searchsorted(np.sort(values[name]), [one.lower.as_py(), one.upper.as_py()]) / (2 * ROWS)
        assert ranks[1] - ranks[0] < 4 * one.error
        assert 0.01 < one.error < 0.02
    assert within >= 0.9 * COLUMNS  # where 99 of 100 are promised


LAKE = ["web", "shop", "web"]
"""The channel of all rows of each file, in folders by year; each has three row groups of ten customers."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake") / "sales"
    for number, channel in enumerate(LAKE):
        path = folder / f"year={2022 + number}" / "part.parquet"
        path.parent.mkdir(parents=True)
        rows = range(number * 30, number * 30 + 30)
        columns: dict[str, Any] = {
            "channel": [channel] * 30,
            "customer": pa.array(rows, pa.int64()),
            "amount": [None if row % 10 == 3 else row / 4 for row in rows],
            "rating": pa.array([None if row % 10 == 3 else row % 5 for row in rows], pa.int32()),
        }
        pq.write_table(pa.table(columns), path, row_group_size=10)
        add_sets(path, "channel")
        add_sketches(path, IndexType.HLL, "customer")
        add_sketches(path, IndexType.KLL, "amount", granularity=Granularity.FILE)
    return folder


@pytest.fixture
def changing(lake: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(lake, tmp_path / "sales"))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("", 90),
        ("WHERE channel = 'web'", 60),  # by distinct sets
        ("WHERE channel = 'post'", 0),
        ("WHERE year = 2023", 30),  # by folders
        ("WHERE year > 2022 AND channel = 'web'", 30),
        ("WHERE customer >= 20 AND customer < 50", 30),  # by statistics
        ("WHERE customer IS NOT NULL", 90),
        ("WHERE NOT customer = NULL", 0),
        ("WHERE rating > 5", 0),
    ],
)
def test_a_condition_that_metadata_settle_chooses_the_sketches(
    lake: Path, condition: str, expected: int
) -> None:
    answer = Answerer.open(lake).ask(f"SELECT {DISTINCT}(customer) AS n, COUNT(*) AS rows FROM t {condition}")
    assert [{"n": expected, "rows": expected}] == answer.table.to_pylist()
    (one,) = answer.estimates
    assert (True, expected // 10) == (one.lower.as_py() <= expected <= one.upper.as_py(), one.sketch_count)


def test_a_quantile_takes_sketches_of_whole_files(lake: Path) -> None:
    answer = Answerer.open(lake).ask("SELECT APPROX_QUANTILE(amount, 0.5) FROM t WHERE channel = 'shop'")
    assert [{"approx_quantile(amount, 0.5)": 11.25}] == answer.table.to_pylist()
    assert (1, 0.0) == (answer.estimates[0].sketch_count, answer.estimates[0].error)


def test_of_no_rows_there_is_no_quantile(lake: Path) -> None:
    answer = Answerer.open(lake).ask(
        f"SELECT APPROX_QUANTILE(amount, 0.5), {DISTINCT}(customer) FROM t WHERE year = 1999"
    )
    assert [(None, 0)] == [tuple(row.values()) for row in answer.table.to_pylist()]


def refusal(path: Path, sql: str) -> str:
    """What is said instead of an answer."""
    with pytest.raises(Refused) as caught:
        Answerer.open(path).ask(sql)
    return str(caught.value)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            f"SELECT {DISTINCT}(customer) FROM t WHERE customer = 5",
            "that all or no rows match in row group 0 of .*year=2022",
        ),
        (
            f"SELECT {DISTINCT}(customer) FROM t WHERE amount > 12",
            "that all or no rows match in row group 1 of .*year=2023",
        ),
        (
            f"SELECT {DISTINCT}(customer) FROM t WHERE amount > -1",
            "row group 0 of .*, and 8 others",
        ),  # nulls are not
        (
            f"SELECT {DISTINCT}(customer) FROM t WHERE rating >= 0",
            "row group 0 of .*, and 8 others",
        ),  # nor is null
        (
            f"SELECT {DISTINCT}(channel) FROM t",
            "has no such sketch of that column .nor have 2 other files.; pqassay index add .*--type hll",
        ),
        (f"SELECT {DISTINCT}(year) FROM t", "column year is a partition column, which has no sketches"),
        (f"SELECT channel, {DISTINCT}(customer) FROM t GROUP BY channel", "leave out GROUP BY"),
        (f"SELECT {DISTINCT}(weight) FROM t", "there is no column weight"),
        ("SELECT APPROX_QUANTILE(channel, 0.5) FROM t", "takes numbers"),
        ("SELECT APPROX_QUANTILE(amount, 2) FROM t", "a number from 0 to 1"),
        (
            "SELECT APPROX_QUANTILE(amount, 0.5) FROM t WHERE customer < 10",
            "2022/part.parquet only has one of the whole file.*row-group",
        ),
    ],
)
def test_what_sketches_do_not_answer_is_refused(lake: Path, sql: str, said: str) -> None:
    message = refusal(lake, sql)
    assert re.search(said, message), message


def test_a_stale_sketch_is_refused(changing: Path) -> None:
    path = changing / "year=2023" / "part.parquet"
    keys, table = pq.read_metadata(path).metadata, pq.read_table(path, partitioning=None)
    changed = table.set_column(1, "customer", pa.array(range(30), pa.int64())).replace_schema_metadata(keys)
    pq.write_table(changed, path, row_group_size=10)
    message = refusal(changing, f"SELECT {DISTINCT}(customer) FROM t")
    said = f"{path} has no usable sketch: HLL of customer by ROW_GROUP: stale: customer was rewritten"
    assert said in message
    assert message.endswith(f"pqassay index refresh {path}")
    assert (
        30
        == Answerer.open(changing)
        .ask(f"SELECT {DISTINCT}(customer) AS n FROM t WHERE year = 2022")
        .table["n"][0]
        .as_py()
    )


def test_a_damaged_sketch_is_refused(changing: Path) -> None:
    path = changing / "year=2024" / "part.parquet"
    data = path.read_bytes()
    place = next(
        one.entry for one in list_indexes(path).entries if one.entry.head.type == IndexType.HLL
    ).head.offset
    path.write_bytes(data[: place + 20] + bytes([data[place + 20] ^ 1]) + data[place + 21 :])
    message = refusal(changing, f"SELECT {DISTINCT}(customer) FROM t")
    assert "HLL of customer by ROW_GROUP: " in message
    assert "year=2024" in message


def test_without_the_library_it_is_said_what_to_install(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasketches", None)
    assert "pip install '.[sketches]'" in refusal(lake, f"SELECT {DISTINCT}(customer) FROM t")
    assert [(90,)] == [
        tuple(row.values()) for row in Answerer.open(lake).ask("SELECT COUNT(*) FROM t").table.to_pylist()
    ]


VALUES: dict[str, Any] = {
    "whole": pa.array([5, -3, None, 9], pa.int32()),
    "long": pa.array([1 << 62, -(1 << 62), 0, None], pa.int64()),
    "natural": pa.array([1 << 63, 0, 1, 2], pa.uint64()),
    "small": pa.array([1, 2, 3, 4], pa.int8()),
    "single": pa.array([1.5, -0.25, None, float("nan")], pa.float32()),
    "price": pa.array([Decimal("1.25"), Decimal("-3.50"), Decimal("2.00"), None], pa.decimal128(12, 2)),
    "wide_price": pa.array([Decimal("1.25"), Decimal("-3.50"), Decimal("2.00"), None], pa.decimal128(30, 2)),
    "day": pa.array([dt.date(2024, 1, 2), dt.date(1969, 5, 1), None, dt.date(2020, 1, 1)]),
    "moment": pa.array([1_704_164_645, -21_168_000, None, None], pa.timestamp("s")),
}
"""Columns of types that KLL describes."""


@pytest.mark.parametrize("name", VALUES)
def test_quantiles_have_the_type_of_their_column(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: VALUES[name]}), path)
    add_sketches(path, IndexType.KLL, name)
    table = (
        Answerer.open(path)
        .ask(f"SELECT APPROX_QUANTILE({name}, 0.0), APPROX_QUANTILE({name}, 1.0) FROM t")
        .table
    )
    numbers = [value for value in VALUES[name].to_pylist() if value is not None and repr(value) != "nan"]
    assert pq.read_schema(path).types * 2 == table.schema.types
    assert [min(numbers), max(numbers)] == [column[0].as_py() for column in table.columns]


def test_types_and_names_are_those_of_duckdb(lake: Path) -> None:
    sql = f"SELECT {DISTINCT}(customer), APPROX_QUANTILE(amount, 0.5) FROM t"
    with duckdb.connect() as connection:
        expected = connection.sql(sql.replace("FROM t", f"FROM '{lake}/*/*.parquet'")).to_arrow_table()
    assert expected.schema == Answerer.open(lake).ask(sql).table.schema
