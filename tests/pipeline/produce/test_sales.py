from __future__ import annotations

import datetime as dt
import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import pqassay
import processes
from pqassay.cli.main import spark as app
from pqassay_spark.jobs.session import session_settings
from pqassay_spark.produce.sales import NATIONS, RARE_NATION, sales, write_sales
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import read_footer, read_framing, referenced_ranges
from verdicts import serious

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,000 rows in four files, in a folder whose name Hadoop could misread."""
    out = tmp_path_factory.mktemp("sales") / "a b:c%20é"
    write_sales(spark, f"file://{out}", rows=2_000, files=4, options={"parquet.page.row.count.limit": "200"})
    return out


@pytest.mark.spark
def test_the_rows_are_the_same_on_every_machine(spark: SparkSession) -> None:
    first = [tuple(row) for row in sales(spark, 1_000).limit(3).collect()]
    assert first == [
        (0, "Singapore", 2024, "books", "customer-c9d19044edbcead5", 8170.58),
        (1, "Österreich", 2023, "tools", "customer-78783bbb639584ae", 7745.67),
        (2, None, 2022, "food", "customer-8ea14f4e9460b569", 2759.47),
    ]


@pytest.mark.spark
def test_the_rows_do_not_depend_on_the_number_of_files_but_on_the_seed(
    spark: SparkSession, written: Path
) -> None:
    expected = pyarrow.dataset.dataset(written).to_table().sort_by("id")
    assert sales(spark, 2_000, files=1).toArrow().equals(expected.cast(expected.schema.remove_metadata()))
    assert not sales(spark, 2_000, seed=1).toArrow().column("nation").equals(expected.column("nation"))


@pytest.mark.spark
def test_the_rows_hold_nulls_and_every_nation_though_no_file_holds_them_all(written: Path) -> None:
    files = sorted(written.glob("*.parquet"))
    nations = [set(pyarrow.parquet.read_table(file).column("nation").to_pylist()) for file in files]
    assert len(files) == 4
    assert set.union(*nations) == {None, *NATIONS}
    assert all(None in found and len(found) < 14 for found in nations)


@pytest.mark.spark
def test_every_file_has_a_page_index_and_a_bloom_filter(written: Path) -> None:
    columns = ["id", "nation", "year", "category", "customer", "sales_amount"]
    for path in written.glob("*.parquet"):
        with FileSource(path) as source:
            metadata, _ = read_footer(source, read_framing(source))
            found = [(r.kind, r.column) for r in referenced_ranges(metadata)]
        assert [column for kind, column in found if kind == "column index"] == columns
        assert [column for kind, column in found if kind == "offset index"] == columns
        assert [column for kind, column in found if kind == "bloom filter"] == ["customer"]


@pytest.fixture(scope="session")
def wide(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 rows of all columns in three files, written by a session in another time zone."""
    out = tmp_path_factory.mktemp("sales") / "wide"
    with session_settings(spark, {"spark.sql.session.timeZone": "Asia/Kathmandu"}):
        write_sales(spark, f"file://{out}", rows=3_000, files=3, wide=True)
    return out


@pytest.mark.spark
def test_a_wide_row_is_the_same_on_every_machine(wide: Path) -> None:
    row = (
        pyarrow.dataset.dataset(wide)
        .to_table()
        .sort_by("id")
        .slice(1, 1)
        .drop_columns(["nation"])
        .to_pylist()
    )
    utc = dt.UTC
    assert row == [
        {
            "id": 1,
            "year": 2023,
            "category": "tools",
            "customer": "customer-78783bbb639584ae",
            "sales_amount": 7745.67,
            "sold_at": dt.datetime(2023, 11, 24, 10, 36, 8, 147873, utc),
            "sold_on": dt.date(2023, 11, 24),
            "delivered_at": dt.datetime(2023, 11, 26, 1, 57, 14, 755340),  # noqa: DTZ001 - a time without zone
            "quantity": 5,
            "price": Decimal("3618.77"),
            "total": Decimal("18093.85"),
            "channel": 0,
            "store": None,
            "is_return": False,
            "rating": 3.5,
            "weight": 327.375,
            "product": "product-1",
            "note": None,
            "payload": b"\x89-\xed)",
            "tags": ["new"],
            "attributes": [],
            "address": {"city": "Athens", "position": {"lat": -10.81, "lon": 10.941}},
        }
    ]


@pytest.mark.spark
def test_wide_rows_do_not_depend_on_how_they_are_split(spark: SparkSession, wide: Path) -> None:
    stored = pyarrow.dataset.dataset(wide).to_table().sort_by("id")
    split = sales(spark, 3_000, files=40, wide=True, skew=True, tasks=3).toArrow()
    # as text, in which NaN equals itself; the zone of a timestamp is that of the session
    rows = split.set_column(6, "sold_at", split.column("sold_at").cast(stored.schema.field("sold_at").type))
    assert repr(rows.to_pylist()) == repr(stored.to_pylist())


@pytest.mark.spark
def test_wide_rows_are_skewed_and_hold_every_kind_of_missing_value(wide: Path) -> None:
    table = pyarrow.dataset.dataset(wide).to_table()
    values = {name: table.column(name).to_pylist() for name in table.column_names}
    assert 0.45 < values["product"].count("product-1") / 3_000 < 0.55
    assert max(map(len, (note for note in values["note"] if note))) > 20 * sum(
        len(note or "") for note in values["note"]
    ) / len(values["note"])
    assert {str(rating) for rating in values["rating"]} >= {"None", "nan", "-0.0", "0.0"}
    assert {str(weight) for weight in values["weight"]} >= {"None", "nan", "inf"}
    assert [] in values["tags"]
    assert None in values["tags"]
    assert any(None in tags for tags in values["tags"] if tags)
    assert any(address and address["position"] is None for address in values["address"])
    assert b"" in values["payload"]
    assert [name for name, found in values.items() if None in found] == [
        "nation", "sales_amount", "delivered_at", "store", "is_return", "rating", "weight", "note", "payload",
        "tags", "attributes", "address",
    ]  # fmt: skip


@pytest.mark.spark
def test_wide_files_are_conformant_with_all_their_values_compared(wide: Path) -> None:
    report = pqassay.check(sorted(wide.glob("*.parquet")), tier="values")
    assert [(file.outcome, serious(file)) for file in report.files] == [("conformant", [])] * 3


@pytest.mark.spark
def test_the_rare_nation_is_in_one_file_of_a_hundred(spark: SparkSession, tmp_path: Path) -> None:
    write_sales(spark, f"file://{tmp_path}/rare", rows=4_000, files=200, rare=True)
    files = sorted((tmp_path / "rare").glob("*.parquet"))
    tables = [pyarrow.parquet.read_table(path, columns=["id", "nation"]) for path in files]
    holders = [number for number, table in enumerate(tables) if RARE_NATION in table["nation"].to_pylist()]
    assert [table.num_rows for table in tables] == [20] * 200
    assert holders == [84, 85]
    assert [table["id"][0].as_py() for table in tables] == list(range(0, 4_000, 20))


@pytest.mark.spark
def test_skewed_files_are_of_very_different_sizes(spark: SparkSession) -> None:
    partitions = sales(spark, 1_000, files=10, skew=True).select("id").rdd.glom().collect()
    assert [len(rows) for rows in partitions] == [1, 8, 20, 38, 61, 91, 127, 168, 216, 270]
    assert [row.id for rows in partitions for row in rows] == list(range(1_000))


@pytest.mark.spark
def test_rows_beyond_one_block_are_numbered_without_gaps(spark: SparkSession) -> None:
    numbers = sales(spark, 200_000, files=3).select("id").toArrow().column("id")
    assert numbers.equals(pyarrow.chunked_array([range(200_000)], "int64"))


@pytest.mark.spark
def test_more_files_than_rows_are_refused(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="3 rows in 5 files: each file needs at least one row"):
        sales(spark, 3, files=5)


@pytest.mark.spark
def test_the_command_writes_what_it_says(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "a b:c%20[é]*{x}"
    command = ["produce", str(out), "--rows", "9000", "--files", "3", "--wide", "--rare", "--skew"]
    result = CliRunner().invoke(app, command)
    table = pyarrow.dataset.dataset(sorted(out.glob("*.parquet"))).to_table()
    assert (result.exit_code, result.stdout) == (0, f"{out}: 9,000 rows in 3 files\n")
    assert table.sort_by("id").column("id").to_pylist() == list(range(9000))
    assert table.num_columns == 23
    assert spark.range(1).count() == 1  # the session goes on


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["{out}", "--matrix", "--overwrite"], "{out} exists. Choose another directory for --matrix."),
        (
            ["{out}/new", "--rows", "3", "--files", "5"],
            "--rows 3 are too few for --files 5: each file needs a row.",
        ),
        (["{out}"], "{out} exists. Choose another directory, or replace it with --overwrite."),
        (["{out}", "--overwrite"], "{out} has no file _SUCCESS, so it is not a finished output of Spark"),
    ],
)
def test_what_cannot_be_written_is_one_line_before_spark_starts(
    options: list[str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "precious").write_text("data")
    result = CliRunner().invoke(app, ["produce", *(one.format(out=tmp_path) for one in options)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {said.format(out=tmp_path)}")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["data"]


def refused_overwrite(out: Path) -> str:
    """What the command says instead of replacing a directory; it does not come so far as to start Spark."""
    before = sorted(out.rglob("*"))
    result = CliRunner().invoke(app, ["produce", str(out), "--overwrite"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert sorted(out.rglob("*")) == before
    return result.stderr


def test_an_output_of_spark_to_which_somebody_added_something_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "year=2024" / "part-00000-9d1c.c000.snappy.parquet").touch()
    for name in ("notes.txt", "year=2024/mine.parquet", ".git/config", "year=2024/deep/part-00000.parquet"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        named = name if path.parent.name in ("year=2024", tmp_path.name) else str(Path(name).parent)
        assert refused_overwrite(tmp_path) == (
            f"error: {tmp_path} holds {named}, which Spark did not write; it is not replaced. Move that away first.\n"
        )
        path.unlink()
        if path.parent.name in (".git", "deep"):
            path.parent.rmdir()
    (tmp_path / "year=2025").symlink_to(tmp_path / "year=2024")
    assert "holds year=2025, which Spark did not write" in refused_overwrite(tmp_path)


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("s3://lake/sales", "s3:/lake/sales is a URI; OUT is a directory of this machine."),
        ("file:///sales", "file:/sales is a URI; OUT is a directory of this machine."),
        ("b\udcff", r"b\udcff is not UTF-8, and Spark has no other names. Choose another directory."),
    ],
)
def test_a_place_that_spark_would_not_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["produce", out])
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {said}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_what_spark_cannot_write_is_one_line_and_what_was_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(app, ["produce", str(tmp_path / "file" / "out"), "--rows", "3"])
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith(f"error: {tmp_path}/file/out could not be written: ")
    assert len(result.stderr.splitlines()) == 1
    (tmp_path / "out" / "_temporary" / "0").mkdir(parents=True)  # as a run that was killed leaves it
    result = CliRunner().invoke(app, ["produce", str(tmp_path / "out"), "--rows", "3", "--overwrite"])
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path}/out: 3 rows in 1 file\n")


def test_without_java_the_command_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pqassay", "spark", "produce", str(tmp_path / "out")]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    run = processes.run(command, capture_output=True, text=True, env=environment)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"error: JAVA_HOME is {tmp_path}, which has no bin/java. Install a Java")
    assert not (tmp_path / "out").exists()


def test_the_help_shows_an_example() -> None:
    result = CliRunner().invoke(app, ["produce", "--help"])
    assert "Examples: pqassay spark produce sales --rows 100000" in " ".join(result.stdout.split())
