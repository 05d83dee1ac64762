"""Spark and distinct sets of columns of every type: no row is lost, and files without one are left out."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from contextlib import ExitStack
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexed_directories import add_sets
from pqassay_reader.lake.indexed_dataset import IndexWarning
from pqassay_reference.columns.literals import TypedText, python_tree
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_spark.query.lake_indexes import Believed, loaded, loading
from pqassay_spark.query.predicates import find_column, spark_condition
from pqassay_spark.query.pruned_scan import plan_read, spark_location
from pqassay_spark.query.questions import AskedColumn, Reading, question, reading
from pqassay_spec.directory.codes import Granularity, IndexType
from spark_lakes import files_opened, rows_of, setting

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

GROUP = 3
"""Rows of a row group."""

FILES, GROUPS = 3, 4

D = Decimal


def moment(*numbers: int) -> dt.datetime:
    return dt.datetime(*numbers, tzinfo=dt.UTC)  # type: ignore[misc, arg-type] # numbers, and no zone among them


def clock(*numbers: int) -> dt.datetime:
    return moment(*numbers).replace(tzinfo=None)


COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "flag": (pa.bool_(), [True, False]),
    "tiny": (pa.int8(), [-128, -1, 0, 1, 127]),
    "number": (pa.int32(), [-(1 << 31), 0, 1, 2, (1 << 31) - 1]),
    "long": (pa.int64(), [-(1 << 63), -(1 << 53) - 1, 0, 1, 1 << 53, (1 << 53) + 1, (1 << 63) - 1]),
    "ulong": (pa.uint64(), [0, 1, 1 << 63, (1 << 64) - 1]),
    "single": (pa.float32(), [0.0, -0.0, 1.5, 0.10000000149011612, math.nan, math.inf, 16777216.0, 1e-45]),
    "double": (pa.float64(), [0.0, -0.0, 1.5, 0.1, math.nan, math.inf, -math.inf, 2.0**53, 1e300]),
    "money": (pa.decimal128(9, 2), [D("0.00"), D("1.50"), D("-1.50"), D("9999999.99"), D("1.25")]),
    "wide": (pa.decimal128(38, 10), [D(0), D("1.5"), D("9999999999999999999999999999.9999999999")]),
    "day": (pa.date32(), [dt.date(1, 1, 1), dt.date(1582, 10, 4), dt.date(1970, 1, 1), dt.date(2024, 2, 29)]),
    "at": (
        pa.timestamp("us", "UTC"),
        [
            *(moment(1, 1, 2), moment(1899, 12, 31), moment(2024, 1, 1), moment(2024, 1, 1, 5)),
            *(moment(2024, 3, 10, 7), moment(2024, 11, 3, 5, 30), moment(2024, 11, 3, 6, 30)),
        ],
    ),
    "milli": (pa.timestamp("ms", "UTC"), [moment(2024, 1, 1), moment(1900, 1, 1)]),
    "clock": (pa.timestamp("us"), [clock(1, 1, 2), clock(2024, 3, 10, 2, 30), clock(2024, 1, 1)]),
    "text": (pa.string(), ["", "a", "A", "ab", "é", "5", "05", "2024-01-01"]),
    "bytes": (pa.binary(), [b"", b"a", b"\x00", b"\xff", b"\x80"]),
    "fixed": (pa.binary(2), [b"aa", b"\x00\xff", b"\xff\x00"]),
}
"""Columns, their types, and values of which some are awkward to somebody."""

WHOLE = [-(1 << 31), -129, -128, 0, 1, 127, 300, (1 << 24) + 1, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, 10**20]
FLOATING = [0.0, -0.0, 0.1, 1.5, 1.25, math.nan, math.inf, -math.inf, 2.0**53, 9.3e18, 1e300, -1e300, 1e-60]
EXACT = [D("1.5"), D("0E-27"), D("1.255"), D("99999999.995"), D("12345678901234567890.5"), D("1E+5")]
DAYS = ["2024-02-29", "2024-2-29", "1582-10-10", "0001-01-01", "2024", TypedText("1970-01-01")]
MOMENTS = [
    "2024-01-01",
    "2024-1-1 0:0:0",
    "2024-03-10 02:30:00",
    "2024-11-03 01:30:00",
    "1899-12-31T00:00:00Z",
]
CONSTANTS: dict[str, list[list[Any]]] = {
    "flag": [],
    **{name: [WHOLE, FLOATING, EXACT] for name in ("tiny", "number", "long", "ulong")},
    **{name: [WHOLE, FLOATING, EXACT] for name in ("single", "double", "money", "wide")},
    "day": [DAYS, [{"date": "19782"}, {"date": "-719162"}]],
    **{name: [MOMENTS, [{"timestamp": "1704067200000000000"}]] for name in ("at", "milli", "clock")},
    **{name: [] for name in ("text", "bytes", "fixed")},
}
"""For each column constants of other types, by type, and of its own beside its values."""


def leaves(name: str) -> st.SearchStrategy[list[Any]]:
    """Tests of a column: by constants of one kind, or of several where Spark has a type for all of them."""
    kinds = [COLUMNS[name][1], *CONSTANTS[name]]
    # To Python, NaN is a float, and the rest of a list may be anything.
    mixed = [*itertools.chain(*kinds)] if isinstance(kinds[0][0], int | float | Decimal) else kinds[0]
    lists = [st.lists(st.sampled_from(kind), min_size=1, max_size=4) for kind in (*kinds, mixed)]
    lists.append(st.lists(st.sampled_from(mixed), min_size=11, max_size=12))  # to Spark another test
    return st.one_of(
        st.tuples(
            st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
            st.just(name),
            st.one_of([st.sampled_from(kind) for kind in kinds]),
        ),
        st.tuples(st.sampled_from(["in", "not in"]), st.just(name), st.one_of(lists)),
        st.tuples(st.sampled_from(["is null", "is not null"]), st.just(name)),
    ).map(list)


TREES = st.recursive(
    st.one_of([leaves(name) for name in COLUMNS]),
    lambda inner: st.one_of(
        inner.map(lambda part: ["not", part]),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
    ),
    max_leaves=3,
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of some row groups; each column has few values in each, a null here and there, and sets of some granularity or none."""
    root = tmp_path_factory.mktemp("typed")
    for file in range(FILES):
        columns: dict[str, Any] = {"id": range(file * GROUP * GROUPS, (file + 1) * GROUP * GROUPS)}
        for place, (name, (kind, values)) in enumerate(COLUMNS.items()):
            # Two values of each row group, other ones in each.
            numbers = [group * 2 + file + row % 2 for group in range(GROUPS) for row in range(GROUP)]
            some = [values[number % len(values)] for number in numbers]
            some[(file * 5 + place) % len(some)] = None
            columns[name] = pa.array(some, kind)
        path = root / f"{file}.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=GROUP, write_page_index=True, data_page_size=1)
        requests = [
            Request(IndexType.DISTINCT_SET, ((name,),), granularity)
            for place, name in enumerate(COLUMNS)
            if (granularity := [*Granularity, None, Granularity.ROW_GROUP][(place + 2 * file) % 5])
            is not None
        ]
        add_indexes(path, requests)
    return root


def places(ids: set[int]) -> set[tuple[str, int]]:
    """The files and row groups in which some rows are."""
    rows = GROUP * GROUPS
    return {(f"{number // rows}.parquet", number % rows // GROUP) for number in ids}


def is_known(tree: list[Any], columns: dict[str, AskedColumn], read: Reading) -> bool:
    """Whether nothing that a tree says about columns is left open."""
    if tree[0] in ("and", "or", "not"):
        return all(is_known(part, columns, read) for part in tree[1:])
    return question(tree, columns, read=read) is not None


def values_of(lake: Path, columns: dict[str, AskedColumn]) -> pa.Table:
    """The rows of a lake without NaN, which is a number to Spark, in the types of Spark."""
    table = pa.concat_tables(pq.read_table(path) for path in sorted(lake.iterdir()))
    kinds = [("id", pa.int64()), *((name, columns[name].arrow_type) for name in COLUMNS)]
    no_nan: Any = ~pc.is_nan(pc.field("single")) & ~pc.is_nan(pc.field("double"))
    return table.cast(pa.schema(kinds)).filter(no_nan.is_null() | no_nan)


@pytest.mark.parametrize(("zone", "ansi"), [("UTC", "true"), ("America/New_York", "false")])
@given(trees=st.lists(TREES, min_size=30, max_size=30))
@settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
def test_a_condition_means_the_same_to_spark_and_leaves_out_no_row_that_it_finds(
    spark: SparkSession, lake: Path, zone: str, ansi: str, trees: list[Any]
) -> None:
    with ExitStack() as stack:
        stack.enter_context(setting(spark, "spark.sql.session.timeZone", zone))
        stack.enter_context(setting(spark, "spark.sql.ansi.enabled", ansi))
        trees = [python_tree(tree) for tree in trees]
        plain = spark.read.parquet(spark_location(lake))
        answers = [spark_condition(tree, plain.schema).alias(f"c{place}") for place, tree in enumerate(trees)]
        rows = plain.select("id", *answers).collect()  # of all trees in one job
        described = [find_column(plain.schema, name, case_sensitive=False) for name in COLUMNS]
        asked_columns = map(AskedColumn.of, described)
        columns = {column.name: column for column in asked_columns if column is not None}
        assert set(COLUMNS) == set(columns)
        kinds = {name: column.arrow_type for name, column in columns.items()}
        with loading(lake, kinds, Believed()) as early:
            pass
        indexes = loaded(early, lake, kinds, Believed())
        assert indexes.before is not None  # the types were guessed as Spark has them
        assert () == indexes.aside
        values = values_of(lake, columns)
        for place, tree in enumerate(trees):
            found = {row["id"] for row in rows if row[f"c{place}"]}
            read = reading(spark, tree, columns)
            if is_known(tree, columns, read):
                condition: Any = question(tree, columns, read=read)
                meant = values.filter(condition)["id"].to_pylist()
                assert [row for row in values["id"].to_pylist() if row in found] == meant, tree
            asked = question(tree, columns, read=read, may_be_old=True)
            if asked is None:
                continue
            gone = {(name, group) for name in indexes.left_out(asked) for group in range(GROUPS)} | {
                (path.rpartition("/")[2], group)  # of which other engines read nothing, by the same indexes
                for path, groups in indexes.dataset.prune(asked).row_groups.items()
                for group in set(range(GROUPS)) - set(groups.kept)
            }
            assert set() == gone & places(found), tree


@pytest.fixture
def cargo(tmp_path: Path) -> Path:
    """Two files of two row groups, with sets of a whole number and a decimal, between the same bounds everywhere."""
    root = tmp_path / "cargo"
    root.mkdir()
    years = [[2000, 2024, 2000, 2022], [2000, 2023, 2000, 2024]]
    prices = [["0.00", "9.99", "1.25", "9.99"], ["0.00", "9.99", "0.00", "9.99"]]
    for file, (of_years, of_prices) in enumerate(zip(years, prices, strict=True)):
        columns = {
            "id": pa.array(range(file * 4, file * 4 + 4), pa.int64()),
            "year": pa.array(of_years, pa.int32()),
            "price": pa.array([D(price) for price in of_prices], pa.decimal128(9, 2)),
        }
        pq.write_table(pa.table(columns), root / f"{file}.parquet", row_group_size=2)
        for column in ("year", "price"):
            add_sets(root / f"{file}.parquet", column)
    return root


BOTH = "year = 2000 AND price = 1.25"
"""True of one row; each file has both values or one, and one row group has both."""


def test_spark_opens_the_files_that_two_columns_leave_over(spark: SparkSession, cargo: Path) -> None:
    plan = plan_read(spark, cargo, BOTH)
    assert {"1.parquet": "the distinct sets of price, year leave no row group"} == plan.why
    assert [(2, 2000, D("1.25"))] == rows_of(plan.frame)
    assert 1 == files_opened(plan.frame)
    either = plan_read(spark, cargo, "year = 2023 OR price = 1.25")
    assert () == either.skipped
    assert [(2, 2000, D("1.25")), (5, 2023, D("9.99"))] == rows_of(either.frame)
    assert ("0.parquet", "1.parquet") == plan_read(spark, cargo, "year = 2023.5 OR price > 1e6").skipped


def test_a_stale_and_a_damaged_entry_are_left_aside_and_named(spark: SparkSession, cargo: Path) -> None:
    path = cargo / "1.parquet"
    file = pq.ParquetFile(path)
    pq.write_table(file.read().slice(1).replace_schema_metadata(file.metadata.metadata), path)
    add_sets(cargo / "0.parquet", "year", change=lambda head: head._replace(crc32=head.crc32 ^ 1))
    with pytest.warns(IndexWarning, match="have no index that can be used"):
        plan = plan_read(spark, cargo, "year = 1999")
    assert () == plan.skipped
    stale = "stale: it describes 4 rows, but the file has 3"
    assert [
        "0.parquet: DISTINCT_SET of year by ROW_GROUP: the checksum does not fit the blob's bytes",
        f"1.parquet: DISTINCT_SET of year by ROW_GROUP: {stale}",
        f"1.parquet: DISTINCT_SET of price by ROW_GROUP: {stale}",
    ] == [line.rpartition("/")[2] for line in plan.aside]
    assert [] == rows_of(plan.frame)
    with pytest.warns(IndexWarning):
        assert ("0.parquet",) == plan_read(spark, cargo, "year = 1999 AND price = 3").skipped


def test_dates_of_the_calendar_of_spark_2_are_not_judged_by_their_numbers(
    spark: SparkSession, tmp_path: Path
) -> None:
    key = {"org.apache.spark.version": "2.4.0", "org.apache.spark.legacyDateTime": ""}
    for number, day in enumerate([dt.date(1500, 1, 10), dt.date(2024, 1, 1)]):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table({"day": [day]}).replace_schema_metadata(key), path)
        add_sets(path, "day")
    plan = plan_read(spark, tmp_path, "day = DATE '1500-01-01'")
    assert [(dt.date(1500, 1, 1),)] == rows_of(plan.frame)  # stored as the tenth
    assert ("1.parquet",) == plan.skipped
