"""Conditions with constants that their columns' types do not hold: everybody who asks them agrees with exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pqassay.cli.main import app
from pqassay_reader import scan
from pqassay_reader.answer.answerer import Answerer
from pqassay_reader.condition.text import parse_predicate
from pqassay_reader.query.rungs import Rung
from pqassay_reference.errors import Refused


def written(path: Path, columns: dict[str, Any], *, is_indexed: bool) -> Path:
    """A file of small row groups, with everything that leaves out rows, or with nothing of it."""
    hashed = set(columns) - {"flag"} if is_indexed else set()  # booleans are not hashed
    blooms: Any = {name: {"ndv": 50, "fpp": 0.01} for name in hashed} or None
    pq.write_table(
        pa.table(columns),
        path,
        row_group_size=6,
        max_rows_per_page=2,
        write_batch_size=1,
        write_page_index=is_indexed,
        write_statistics=is_indexed,
        bloom_filter_options=blooms,
        store_decimal_as_integer=True,
    )
    return path


# ------------------------------------------------------------------------------------------------- examples


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a column of each kind."""
    columns = {
        "id": pa.array([0, 1, 2, None, -1], pa.int64()),
        "u8": pa.array([0, 1, 255, None, 7], pa.uint8()),
        "f": pa.array([0.1, 0.5, math.nan, None, math.inf], pa.float32()),
        "price": pa.array(
            [Decimal("1.00"), Decimal("1.01"), Decimal("0.10"), None, Decimal("-1.00")], pa.decimal128(9, 2)
        ),
        "day": pa.array([0, 1, 2, None, -1], pa.date32()),
        "ms": pa.array([0, 1, 2, None, -1], pa.timestamp("ms")),
        "utc": pa.array([0, 1, 2, None, -1], pa.timestamp("us", "UTC")),
        "clock": pa.array([0, 1, 2, None, 86_399_999_999], pa.time64("us")),
        "name": pa.array(["a", "b", "1", None, ""]),
        "flag": pa.array([True, False, True, None, True]),
        "raw": pa.array([b"a", b"b", b"1", None, b""]),
        "fixed": pa.array([b"aa", b"bb", b"11", None, b"cc"], pa.binary(2)),
    }
    return written(tmp_path_factory.mktemp("numbers") / "numbers.parquet", columns, is_indexed=True)


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("id < 0.5", 2),
        ("id = 0.5", 0),
        ("id != 0.5", 4),
        ("id IN (0.5, 1)", 1),
        ("id NOT IN (0.5, 1)", 3),
        ("id NOT IN (0.5, NULL)", 0),
        ("id BETWEEN 0.5 AND 2.5", 2),
        ("NOT (id < 0.5)", 2),
        ("NOT (id = 0.5)", 4),
        ("NOT (id = 0.5) OR id IS NULL", 5),
        ("id < 9223372036854775808", 4),
        ("id > -9223372036854775809", 4),
        ("id >= 1e300", 0),
        ("id < 1e999999999", 4),
        ("id <= 1e-999999999", 2),
        ("u8 > -1", 4),
        ("u8 = 256", 0),
        ("u8 < 255.5", 4),
        ("f = 0.1", 0),
        ("f < 0.1000000014901161193847656251", 1),
        ("f > 1e39", 1),
        ("price = 1.005", 0),
        ("price > 1.005", 1),
        ("price = 0.1", 1),
        ("price < 1e12", 4),
        ("day < '1970-01-01 12:00:00'", 2),
        ("day = '1970-01-01 00:00:00.000000001'", 0),
        ("ms <= '1970-01-01 00:00:00.0015'", 3),
        ("ms > '1600-01-01'", 4),
        ("utc < '1970-01-01 02:00:00.0000005+02:00'", 2),
        ("clock >= '00:00:00.0000005'", 3),
        ("clock < '23:59'", 3),
        ("raw > 'a'", 1),
        ("fixed = x'61'", 0),
        ("fixed > x'61'", 3),
        ("fixed <= x'616161'", 2),
    ],
)
def test_a_constant_between_the_values_of_a_type(condition: str, count: int, numbers: Path) -> None:
    rows = [scan(numbers, condition, ["id"], without=off).to_table().num_rows for off in ((), list(Rung))]
    answer = Answerer.open(numbers).ask(f"SELECT COUNT(*) AS n FROM t WHERE {condition}").table.to_pylist()

    assert ([count, count], [{"n": count}]) == (rows, answer)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            "u8 > 1 AND id = 'a'",
            "at character 12: column id is int64 and cannot be compared with the text 'a'; write a number",
        ),
        (
            "name = 5",
            "at character 1: column name is string and cannot be compared with the number 5; write text in single quotes",
        ),
        ("'a' = id", "at character 1: column id is int64"),
        ("flag = 1", "column flag is bool and cannot be compared with the number 1; write true or false"),
        ("id IN (1, TRUE)", "cannot be compared with true; write a number"),
        ("id = x'00'", "cannot be compared with the bytes x'00'; write a number"),
        (
            "day = 5",
            "column day is date32[day] and cannot be compared with the number 5; write a day as '2024-01-31'",
        ),
        ("ms = 'soon'", "cannot be compared with the text 'soon'; write a time as '2024-01-31 12:30:00'"),
        ("utc = '2024-01-01'", "write a time with its zone, as '2024-01-31 12:30:00Z'"),
        ("clock = 'noon'", "write a time as '12:30:00'"),
        ("fixed = 'aa'", "cannot be compared with the text 'aa'; write bytes as x'00ff'"),
        ("nothing = 1", "at character 1: there is no column nothing; columns are: id, u8"),
        ("name = DATE '2024-01-01'", "write the text alone, without a type"),
    ],
)
def test_what_is_not_comparable_is_refused_where_it_is(condition: str, message: str, numbers: Path) -> None:
    for ask in (
        lambda: scan(numbers, condition),
        lambda: Answerer.open(numbers).ask(f"SELECT COUNT(*) FROM t WHERE {condition}"),
    ):
        with pytest.raises(Refused) as refused:
            ask()
        assert message.partition(": column")[2] in str(refused.value)
    with pytest.raises(Refused) as refused:
        scan(numbers, condition)
    assert message in str(refused.value)


@pytest.mark.parametrize("command", ["scan", "scan --files"])
def test_commands_compare_and_refuse_in_one_line(command: str, numbers: Path) -> None:
    kept = CliRunner().invoke(app, [*command.split(), str(numbers), "id < 0.5", "--format", "json"])
    refused = CliRunner().invoke(app, [*command.split(), str(numbers), "id < 'half'"])

    assert (0, 1) == (kept.exit_code, refused.exit_code)
    assert ('"id":0' if command == "scan" else '"kept"') in kept.stdout.replace(" ", "")
    assert (
        "error: at character 1: column id is int64 and cannot be compared with the text 'half'; write a number\n"
        == refused.stderr
    )


def test_folders_stand_for_numbers_that_are_compared_by_size(tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table({"id": [year]}), tmp_path / f"year={year}" / "a.parquet")

    assert [2024] == scan(tmp_path, "year > 2023.5", ["id"]).to_table().column("id").to_pylist()
    assert [{"n": 2}] == Answerer.open(tmp_path).ask(
        "SELECT COUNT(*) AS n FROM t WHERE year < 99999999999"
    ).table.to_pylist()


def test_a_comparison_read_from_text_knows_its_place() -> None:
    tree = parse_predicate('a = 1 AND ("b c" IN (2) OR 3 < d) AND e BETWEEN 4 AND 5')

    placed = [part.position for part in comparisons_of(tree)]
    assert [1, 12, 28, 39, 39] == placed


def comparisons_of(tree: Any) -> Iterator[Any]:
    """The comparisons of a condition."""
    if tree[0] in ("and", "or", "not"):
        for part in tree[1:]:
            yield from comparisons_of(part)
    else:
        yield tree


@pytest.mark.parametrize("is_uniform", [True, False])
def test_a_question_finds_nan_beside_bounds(tmp_path: Path, is_uniform: bool) -> None:
    pq.write_table(pa.table({"x": [0.0, math.nan]}), tmp_path / "a.parquet")
    kind = pa.float64() if is_uniform else pa.float32()  # other types are read by Arrow's dataset
    pq.write_table(pa.table({"x": pa.array([0.0, math.nan], kind)}), tmp_path / "b.parquet")
    lake = Answerer.open(tmp_path)

    for condition, count in (
        ("x != 0", 2),
        ("NOT (x = 0)", 2),
        ("x = 0", 2),
        ("x > 5", 0),
        ("NOT (x > 5)", 4),
    ):
        assert [{"n": count}] == lake.ask(f"SELECT COUNT(*) AS n FROM t WHERE {condition}").table.to_pylist()


def test_bounds_of_decimals_and_uuids_in_bytes_are_asked(tmp_path: Path) -> None:
    uuids: Any = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"a" * 16, b"z" * 16], pa.binary(16)))
    prices = pa.array([Decimal("1.00"), Decimal("-9.01")], pa.decimal128(30, 2))
    pq.write_table(pa.table({"price": prices, "u": uuids}), tmp_path / "a.parquet", row_group_size=1)

    for condition, rows in (
        ("price > 0.995", 1),
        ("price = -9.01", 1),
        ("price = 1.005", 0),
        ("u = UUID '61616161-6161-6161-6161-616161616161'", 1),
        ("u > x'70'", 1),
    ):
        found = scan(tmp_path / "a.parquet", condition)
        assert rows == found.to_table().num_rows
        assert rows == found.counters.left[Rung.ROW_GROUPS].row_groups, condition
