"""Answers from index directories: equal to DuckDB's, of rows only where metadata do not suffice, and never of stale entries."""

from __future__ import annotations

import math
import shutil
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from damage import tries
from indexed_directories import add_sets, add_sums
from pqassay_reader.answer.answerer import Answerer
from pqassay_reader.answer.question import parse_question
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.errors import Refused
from pqassay_spec.directory.codes import Granularity, IndexType

ARTICLE = "SELECT AVG(sales_amount) FROM t WHERE nation = 'Singapore' GROUP BY year"
"""The question of the article that the index directory comes from."""

FILES = 4
NATIONS = ["Singapore", "Peru", None, "Chad"]


def sales(number: int) -> pa.Table:
    """The rows of one file: its nations repeat, so that each row group of four rows has all of them."""
    rows = range(number * 12, number * 12 + 12)
    return pa.table(
        {
            "nation": [NATIONS[row % 4] for row in rows],
            "year": pa.array([2020 + row % 3 for row in rows], pa.int32()),
            "sales_amount": pa.array([None if row % 7 == 6 else row * 1.25 for row in rows], pa.float64()),
            "units": pa.array([None if row % 5 == 4 else row * 10**14 for row in rows], pa.int64()),
            "price": pa.array([Decimal(row * 25) / 100 for row in rows], pa.decimal128(12, 2)),
            "channel": ["web"] * 12,
        }
    )


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files, of which two have zone sums by nation and year."""
    folder = tmp_path_factory.mktemp("sales")
    for number in range(FILES):
        path = folder / f"part-{number}.parquet"
        pq.write_table(sales(number), path, row_group_size=4)
        if number < 2:
            granularity = Granularity.ROW_GROUP if number else Granularity.FILE
            for measure in ("sales_amount", "units", "price"):
                add_sums(path, ["nation", "year"], measure, granularity)
        add_sets(path, "channel")
        add_sets(path, "nation")
    return folder


@pytest.fixture
def changing(lake: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(lake, tmp_path / "sales"))


def of_duckdb(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """DuckDB's answer, without an order."""
    view = f"CREATE VIEW t AS FROM read_parquet('{folder}/*.parquet')"
    with duckdb.connect() as connection:
        connection.execute(view)
        return sorted(connection.execute(sql).fetchall(), key=repr)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True), key=repr)


QUESTIONS = [
    ARTICLE,
    "SELECT year, nation, COUNT(*), COUNT(units), SUM(units), MIN(units), MAX(units) FROM t GROUP BY nation, year",
    "SELECT SUM(price), AVG(price), MIN(price), MAX(price) FROM t WHERE nation IN ('Peru', 'Chad') AND year >= 2021",
    "SELECT nation, SUM(sales_amount) FROM t WHERE nation IS NULL OR nation = 'Chad' GROUP BY nation",
    "SELECT COUNT(*), SUM(units), AVG(units), MAX(price) FROM t WHERE nation = 'Mali'",
    "SELECT year, SUM(units) FROM t WHERE nation = 'Mali' GROUP BY year",
    "SELECT nation, MAX(sales_amount) FROM t WHERE channel = 'web' AND year = 2021 GROUP BY nation",
    "SELECT year, SUM(price) FROM t WHERE units > 500000000000000 GROUP BY year",
    "SELECT MIN(channel), MAX(nation), COUNT(nation) FROM t",
    "SELECT COUNT(*) FROM t",
]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_answers_are_those_of_duckdb(lake: Path, sql: str) -> None:
    answer = Answerer.open(lake).ask(sql)
    assert of_duckdb(lake, sql) == rows_of(answer.table)


ORDERED = [
    "SELECT year, nation, SUM(units) AS s FROM t GROUP BY nation, year ORDER BY s DESC, nation, year",
    "SELECT nation, COUNT(*) FROM t GROUP BY nation ORDER BY nation DESC",
    "SELECT nation, COUNT(*) FROM t GROUP BY nation ORDER BY nation NULLS FIRST LIMIT 2",
    "SELECT nation, MAX(price) FROM t GROUP BY nation ORDER BY 2 DESC LIMIT 2 OFFSET 1",
    "SELECT SUM(units) FROM t GROUP BY year ORDER BY year",
    "SELECT year FROM t GROUP BY year, nation ORDER BY COUNT(units), AVG(price) DESC LIMIT 100",
    "SELECT nation AS year, COUNT(*) FROM t GROUP BY nation, year ORDER BY year DESC NULLS LAST, MIN(price)",
    "SELECT COUNT(*) FROM t ORDER BY 1 LIMIT 0",
]


def in_order_of_duckdb(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """DuckDB's answer, in its order."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW t AS FROM read_parquet('{folder}/*.parquet')")
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("sql", ORDERED)
def test_the_order_of_rows_is_that_of_duckdb(lake: Path, sql: str) -> None:
    table = Answerer.open(lake).ask(sql).table
    assert in_order_of_duckdb(lake, sql) == list(
        zip(*(one.to_pylist() for one in table.columns), strict=True)
    )


def test_types_are_those_of_duckdb(lake: Path) -> None:
    sql = "SELECT COUNT(*), SUM(units), AVG(units), SUM(price), AVG(price), SUM(sales_amount), MIN(price) FROM t"
    with duckdb.connect() as connection:
        expected = connection.sql(sql.replace("FROM t", f"FROM '{lake}/*.parquet'")).to_arrow_table()
    table = Answerer.open(lake).ask(sql).table
    assert expected.schema.types == table.schema.types
    assert expected.schema.names == table.schema.names


def test_rows_are_read_only_where_there_are_no_sums(lake: Path) -> None:
    effort = Answerer.open(lake).ask(ARTICLE).effort
    assert (4, 2, 2) == (effort.files, effort.files_from_metadata, effort.files_read)
    assert (6, 6) == (effort.row_groups_from_metadata, effort.row_groups_read)
    chunks = [
        file.row_group(group).column(column).total_compressed_size
        for number in (2, 3)
        for file in [pq.ParquetFile(lake / f"part-{number}.parquet").metadata]
        for group in range(3)
        for column in (0, 1, 2)
    ]
    assert sum(chunks) == effort.data_bytes


def test_no_row_is_read_where_all_files_have_sums(changing: Path) -> None:
    for number in (2, 3):
        (changing / f"part-{number}.parquet").unlink()
    answerer = Answerer.open(changing)
    for path in changing.iterdir():
        path.write_bytes(b"")  # a reader of a row would fail
    effort = answerer.ask(ARTICLE).effort
    assert (2, 0, 0) == (effort.files_from_metadata, effort.files_read, effort.data_bytes)


def test_a_condition_that_is_true_of_all_rows_needs_no_key(lake: Path) -> None:
    effort = Answerer.open(lake).ask("SELECT SUM(units) FROM t WHERE channel = 'web' AND year = 2021").effort
    assert (2, 2) == (effort.files_from_metadata, effort.files_read)


def test_rows_are_counted_by_the_footer(lake: Path) -> None:
    answer = Answerer.open(lake).ask("SELECT COUNT(*) FROM t WHERE channel = 'web'")
    assert [(48,)] == rows_of(answer.table)
    assert (4, 0) == (answer.effort.files_from_metadata, answer.effort.data_bytes)


def test_row_groups_without_a_matching_row_are_skipped(lake: Path) -> None:
    effort = Answerer.open(lake).ask("SELECT COUNT(*) FROM t WHERE nation = 'Mali'").effort
    assert (4, 0, 0) == (effort.files_skipped, effort.files_from_metadata, effort.files_read)


def test_stale_sums_are_left_aside(changing: Path) -> None:
    path = changing / "part-0.parquet"
    file = pq.ParquetFile(path)
    keys, table = file.metadata.metadata, file.read()
    amounts = pa.array([99.0] * len(table))
    changed = table.set_column(2, "sales_amount", amounts).replace_schema_metadata(keys)
    pq.write_table(changed, path, row_group_size=4)
    answerer = Answerer.open(changing)
    answer = answerer.ask(ARTICLE)
    assert of_duckdb(changing, ARTICLE) == rows_of(answer.table)
    assert 1 == answer.effort.files_from_metadata
    assert any(
        "part-0.parquet: ZONE_SUMS of nation, year, sales_amount by FILE: stale" in one
        for one in answerer.aside
    )


def test_sums_of_whole_numbers_and_decimals_are_exact(tmp_path: Path) -> None:
    greatest = (1 << 63) - 1
    path = tmp_path / "big.parquet"
    table = pa.table(
        {"n": [greatest] * 6, "d": pa.array([Decimal("9" * 20 + ".99")] * 6, pa.decimal128(22, 2))}
    )
    pq.write_table(table, path, row_group_size=2)
    for measure in ("n", "d"):
        add_sums(path, [], measure)
    answer = Answerer.open(path).ask("SELECT SUM(n), SUM(d) FROM t")
    assert [(Decimal(6 * greatest), 6 * Decimal("9" * 20 + ".99"))] == rows_of(answer.table)
    assert 0 == answer.effort.files_read


def test_sums_of_doubles_are_rounded_once(tmp_path: Path) -> None:
    path = tmp_path / "doubles.parquet"
    values = [1e16, 1.0, -1e16, 1e-3, math.pi, 1e300, -1e300]
    pq.write_table(pa.table({"x": values}), path, row_group_size=3)
    answer = Answerer.open(path).ask("SELECT SUM(x), AVG(x) FROM t")
    assert [(math.fsum(values), math.fsum(values) / 7)] == rows_of(answer.table)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            [1.0, math.nan, -3.0],
            (3, math.nan, math.nan, -3.0, 1.0),
        ),  # of which neither is less or greater than NaN
        ([math.nan], (1, math.nan, math.nan, None, None)),
        ([math.inf, 1.0], (2, math.inf, math.inf, 1.0, math.inf)),
        ([math.inf, -math.inf], (2, math.nan, math.nan, -math.inf, math.inf)),
        ([None, 2.0, -0.0], (2, 2.0, 1.0, -0.0, 2.0)),
        ([None, None], (0, None, None, None, None)),
    ],
)
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_what_is_no_finite_number_is_added_and_is_no_bound_if_it_is_nan(
    tmp_path: Path, values: list[Any], expected: tuple[Any, ...], kind: Any
) -> None:
    sql = "SELECT COUNT(x), SUM(x), AVG(x), MIN(x), MAX(x) FROM t"
    for name in ("with", "without"):
        folder = tmp_path / name
        folder.mkdir()
        pq.write_table(pa.table({"x": pa.array(values, kind)}), folder / "a.parquet")
    add_sums(tmp_path / "with" / "a.parquet", [], "x")
    answers = [Answerer.open(tmp_path / name).ask(sql) for name in ("with", "without")]
    assert [0, 1] == [answer.effort.files_read for answer in answers]
    assert [repr([expected])] * 2 == [repr(rows_of(answer.table)) for answer in answers]
    (greater,) = rows_of(Answerer.open(tmp_path).ask("SELECT COUNT(*) FROM t WHERE x > 1e300").table)
    assert (2 * values.count(math.inf),) == greater


def test_rows_are_read_where_a_zone_sum_overflowed(tmp_path: Path) -> None:
    path = tmp_path / "huge.parquet"
    pq.write_table(pa.table({"x": [1e308, 1e308, -1e308, 2.0]}), path, row_group_size=2)
    add_sums(path, [], "x")
    answer = Answerer.open(path).ask("SELECT SUM(x) FROM t")
    assert [(1e308,)] == rows_of(answer.table)
    assert (1, 1) == (answer.effort.row_groups_from_metadata, answer.effort.row_groups_read)


def test_folders_that_stand_for_values_are_grouped_by(tmp_path: Path) -> None:
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        pq.write_table(pa.table({"n": [year, 1]}), folder / "a.parquet")
    answerer = Answerer.open(tmp_path)
    answer = answerer.ask("SELECT year, SUM(n) FROM t GROUP BY year")
    assert [(2023, Decimal(2024)), (2024, Decimal(2025))] == rows_of(answer.table)
    answer = answerer.ask("SELECT SUM(n) FROM t WHERE year = 2023 AND n > 1")
    assert ([(Decimal(2023),)], 1, 1) == (
        rows_of(answer.table),
        answer.effort.files_read,
        answer.effort.files_skipped,
    )
    answer = answerer.ask("SELECT COUNT(*) FROM t WHERE year > 2023")
    assert ([(2,)], 0) == (rows_of(answer.table), answer.effort.files_read)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM t", "'*' is not supported"),
        ("SELECT nation, SUM(units) FROM t", "column nation is neither aggregated nor in GROUP BY"),
        ("SELECT SUM(nation) FROM t", "SUM takes numbers; column nation is string"),
        ("SELECT SUM(units) FROM t ORDER BY year", "that is neither a column of the answer nor in GROUP BY"),
        ("SELECT SUM(units) FROM t ORDER BY 2", "the answer has columns 1 to 1"),
        ("SELECT SUM(units) FROM t LIMIT -1", "LIMIT takes a whole number"),
        ("SELECT SUM(units) FROM t LIMIT 10 PERCENT", "LIMIT takes a whole number"),
        ("SELECT year, SUM(units) FROM t GROUP BY year HAVING SUM(units) > 1", "HAVING is not supported"),
        ("SELECT COUNT(DISTINCT units) FROM t", "is not a column"),
        ("SELECT SUM(weight) FROM t", "there is no column weight"),
        ("SELECT SUM(units) FROM t WHERE year = 'soon'", "at character 32: column year is"),
        ("DELETE FROM t", "not a SELECT"),
        ("SELECT SUM(units FROM t", "not valid SQL"),
    ],
)
def test_what_is_not_supported_is_refused(lake: Path, sql: str, said: str) -> None:
    with pytest.raises(Refused, match=said.replace("*", r"\*")):
        Answerer.open(lake).ask(sql)


SORTED = st.lists(
    st.tuples(
        st.sampled_from([None, "", "a", "A", "é", "zz"]),
        st.sampled_from([None, 0.0, -0.0, 1.5, -2.0, math.nan, math.inf, -math.inf]),
        st.sampled_from([None, True, False]),
    ),
    min_size=1,
    max_size=12,
)


@tries(40)
@given(
    rows=SORTED,
    keys=st.permutations(["a", "b", "c"]),
    ways=st.lists(st.sampled_from(["", "DESC", "NULLS FIRST", "DESC NULLS FIRST"]), min_size=3, max_size=3),
    limit=st.sampled_from(["", "LIMIT 3", "LIMIT 2 OFFSET 1"]),
)
def test_any_order_is_that_of_duckdb(rows: Any, keys: list[str], ways: list[str], limit: str) -> None:
    columns = [
        pa.array(column, kind)
        for column, kind in zip(zip(*rows, strict=True), (pa.string(), pa.float64(), pa.bool_()), strict=True)
    ]
    order = ", ".join(f"{key} {way}" for key, way in zip(keys, ways, strict=True))
    sql = f"SELECT a, b, c, COUNT(*) FROM t GROUP BY a, b, c ORDER BY {order} {limit}"
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.table(columns, ["a", "b", "c"]), Path(folder) / "t.parquet")
        table = Answerer.open(folder).ask(sql).table
        expected = in_order_of_duckdb(Path(folder), sql)
    assert repr([plain(row) for row in expected]) == repr(
        [plain(row) for row in zip(*(one.to_pylist() for one in table.columns), strict=True)]
    )


def plain(row: tuple[Any, ...]) -> list[Any]:
    """A row without the sign of its zeros, of which groups keep either."""
    return [value + 0.0 if isinstance(value, float) else value for value in row]


ROW = st.tuples(
    st.sampled_from([None, "Peru", "Chad"]),
    st.sampled_from([None, 1, 2]),
    st.one_of(st.none(), st.integers(-9, 9)),
)
CONDITIONS = [
    "",
    "WHERE k = 'Peru'",
    "WHERE y IN (1, 3)",
    "WHERE k <> 'Peru' AND y = 1",
    "WHERE k IS NULL OR y > 1",
    "WHERE v > 3",
]


@tries(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(st.lists(ROW, min_size=1, max_size=6), min_size=1, max_size=3),
    indexed=st.lists(st.sampled_from([None, *Granularity][:3]), min_size=3, max_size=3),
    condition=st.sampled_from(CONDITIONS),
    group_by=st.sampled_from(["", "k", "k, y"]),
)
def test_any_mixture_of_files_is_answered_as_by_duckdb(
    tmp_path: Path, files: list[Any], indexed: list[Granularity | None], condition: str, group_by: str
) -> None:
    for old in tmp_path.iterdir():
        old.unlink()
    for number, rows in enumerate(files):
        path = tmp_path / f"{number}.parquet"
        columns = {
            "k": pa.array([row[0] for row in rows], pa.string()),
            "y": pa.array([row[1] for row in rows], pa.int32()),
            "v": pa.array([row[2] for row in rows], pa.int64()),
        }
        pq.write_table(pa.table(columns), path, row_group_size=2)
        granularity = indexed[number]
        if granularity is not None:
            add_sums(path, ["k", "y"], "v", granularity)
            add_sets(path, "k", granularity)
    output = ", ".join([*([group_by] if group_by else []), "COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v)"])
    sql = f"SELECT {output} FROM t {condition}{f' GROUP BY {group_by}' if group_by else ''}"
    answer = Answerer.open(tmp_path).ask(parse_question(sql))
    assert of_duckdb(tmp_path, sql) == rows_of(answer.table)


def test_only_indexes_of_columns_that_are_asked_for_are_read_and_only_where_they_pay(tmp_path: Path) -> None:
    path, rows = tmp_path / "keys.parquet", 40_000
    columns = {"u": range(rows), "v": range(rows, 2 * rows), "g": [row % 3 for row in range(rows)]}
    pq.write_table(pa.table(columns), path, row_group_size=rows // 4)
    plain = Answerer.open(path).ask("SELECT COUNT(*) FROM t").effort
    requests = [
        Request(kind, tuple((name,) for name in names), Granularity.ROW_GROUP)
        for column in ("u", "v")
        for kind, names in ((IndexType.DISTINCT_SET, [column]), (IndexType.ZONE_SUMS, ["g", column]))
    ]
    add_indexes(path, [*requests, Request(IndexType.ZONE_SUMS, (("u",), ("v",)), Granularity.ROW_GROUP)])
    [file] = Answerer.open(path).lake.files
    assert file is not None
    assert file.directory is not None
    sets = sum(entry.entry.head.stored_length for entry in file.directory.entries)
    asked = {
        "SELECT g, COUNT(*) FROM t GROUP BY g": (0, 4),  # from sums of either
        "SELECT g, SUM(v) FROM t GROUP BY g": (0, 4),
        "SELECT g, MIN(u) FROM t WHERE u > 50000 GROUP BY g": (80_000, 0),  # statistics leave out all rows
        "SELECT COUNT(*) FROM t WHERE u = 5": (80_000, 0),
    }
    assert (plain.metadata_bytes, plain.metadata_requests) == (8192, 1)
    assert sets > 200_000
    for sql, (least_data, from_metadata) in asked.items():
        effort = Answerer.open(path).ask(sql).effort
        assert (8192 + 2 * 1024, 3) >= (effort.metadata_bytes, effort.metadata_requests), sql
        assert from_metadata == effort.row_groups_from_metadata, sql
        assert least_data == 0 or effort.data_bytes < 2 * least_data


def test_values_of_all_types_are_grouped_and_bounded_in_their_type(tmp_path: Path) -> None:
    values: list[Any] = [
        pa.array([3, None, -1], pa.timestamp("ns", "UTC")),
        pa.array([3, None, -1], pa.timestamp("s")),
        pa.array([3, None, 1], pa.time32("ms")),
        pa.array([3, None, -1], pa.date32()),
        pa.array([3, None, -1], pa.duration("us")),
        pa.array(["b", None, "é"], pa.large_string()),
        pa.array([b"bb", None, b"\xff\x00"], pa.binary(2)),
        pa.array(["b", None, "a"]).dictionary_encode(),
        pa.array([True, None, False]),
        pa.array([(1 << 64) - 1, None, 1], pa.uint64()),
        pa.array([Decimal("0.5"), None, Decimal("-9.5")], pa.decimal128(38, 1)),
        pa.array([Decimal("0.5"), None, Decimal("-9.5")], pa.decimal256(50, 1)),
        pa.array([1.5, None, -2.0], pa.float16()),
    ]
    names = [f"c{place}" for place in range(len(values))]
    pq.write_table(pa.table([*values, pa.array([[1], None, []])], [*names, "list"]), tmp_path / "t.parquet")
    opened = Answerer.open(tmp_path)
    for name in names:
        stored = pq.read_table(tmp_path / "t.parquet", columns=[name]).column(0)
        column = stored.cast(pa.string()) if pa.types.is_dictionary(stored.type) else stored
        column = column.cast(pa.float32()) if pa.types.is_float16(column.type) else column
        sql = f"SELECT {name}, COUNT({name}), MIN({name}), MAX({name}), COUNT(list) FROM t GROUP BY {name}"
        table = opened.ask(f"{sql} ORDER BY 1 DESC").table
        order = pa.compute.sort_indices(column, sort_keys=[("", "descending")])
        expected = column.take(order)
        assert [expected.type] * 3 == [table.schema.types[at] for at in (0, 2, 3)], name
        assert [expected.to_pylist()] * 3 == [table.column(at).to_pylist() for at in (0, 2, 3)], name
    assert [(2,)] == rows_of(opened.ask("SELECT COUNT(list) FROM t").table)
    with pytest.raises(Refused, match="column list is list"):
        opened.ask("SELECT list FROM t GROUP BY list")
    with pytest.raises(Refused, match="MAX takes values that compare"):
        opened.ask("SELECT MAX(list) FROM t")
