"""The commands ``pqassay spark index`` and ``pqassay spark pm``: what they print, and how they end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pqassay.cli.main import spark as app
from pqassay_spark.index.file_work import FileOutcome, Outcome
from pqassay_spark.index.run import IndexRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

run = CliRunner().invoke


def write(path: Path, *nations: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"nation": nations or ["Perú"]}), path)
    return path


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_index_counts_what_it_did_and_names_what_it_refused(tmp_path: Path) -> None:
    root = tmp_path / "sales"
    for number in range(3):
        write(root / f"{number}.parquet", "Perú", "日本")
    done = run(app, ["index", str(root), "--column", "nation"])
    table = tmp_path / "sales.index"
    summary = f"table {table}: 3 files, 6 rows\n"
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"3 files: 3 indexed, 0 fresh, 0 refused; {summary}"
    (root / "torn\n.parquet").write_bytes(b"PAR1")
    done = run(app, ["index", str(root), "-c", "nation"])
    assert done.exit_code == 1
    assert done.stdout == f"4 files: 0 indexed, 3 fresh, 1 refused; {summary}"
    assert done.stderr.startswith("refused  torn\\n.parquet: ")
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.spark
def test_a_session_that_ran_before_goes_on_after_the_command(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "sales" / "a.parquet")
    done = run(app, ["index", str(tmp_path / "sales"), "-c", "nation", "--no-table"])
    assert (done.exit_code, done.stdout) == (0, "1 file: 1 indexed, 0 fresh, 0 refused\n")
    assert [path.name for path in tmp_path.iterdir()] == ["sales"]
    assert spark.range(1).count() == 1


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "-c", "nation"], "nowhere: no such file"),
        (["empty", "-c", "nation"], "empty: there is no Parquet file"),
        (["empty", "-c", ","], "name at least one column"),
        (["empty", "-c", "a,b", "-c", "a"], "column a is named twice"),
        (["empty", "-c", "a", "--table", "t", "--no-table"], "--table and --no-table exclude each other"),
        (
            ["sales", "-c", "a", "--table", "sales"],
            "sales is the indexed folder; the table needs its own folder",
        ),
        (
            ["sales", "-c", "a", "--table", "sales/table"],
            (
                "sales/table is inside the indexed folder, so readers would read it as data; name a folder beside it, "
                "or a name that begins with _"
            ),
        ),
        (["sales", "-c", "a", "--table", "file"], "file: File exists"),
        (
            ["sales", "-c", "a,b", "--no-table"],
            (
                "a file holds only the index of a; for other columns, "
                "name the folder of an index table (--table), or name one column"
            ),
        ),
        (
            ["sales", "-c", "a", "--table", "other"],
            "other cannot be read; if it is an index table, remove it, else name another folder",
        ),
        (
            ["abc://lake/sales", "-c", "a"],
            "abc://lake/sales: there is no access to abc://; s3, gs, hdfs, abfss and file are known",
        ),
    ],
)
def test_what_makes_no_sense_is_one_line_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    write(tmp_path / "sales" / "a.parquet")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "part-00000001-00000.parquet").write_text("torn, and maybe dear to somebody")
    before = sorted(tmp_path.rglob("*"))
    done = run(app, ["index", *arguments])
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"error: {said}\n")
    assert sorted(tmp_path.rglob("*")) == before


def test_of_very_many_refused_files_the_first_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    from pqassay_spark.cli.index import tell

    files = [FileOutcome(f"{number:04}", Outcome.REFUSED, "torn") for number in range(1500)]
    with pytest.raises(Exception) as ended:  # noqa: PT011 - typer's, whose name depends on its version
        tell(IndexRun("sales", files))
    told = capsys.readouterr()
    assert getattr(ended.value, "exit_code", None) == 1
    assert told.out == "1,500 files: 0 indexed, 0 fresh, 1,500 refused\n"
    assert told.err.splitlines()[19:21] == ["refused  0019: torn", "refused  1,480 more"]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_pm_counts_what_it_did_and_says_where_it_cannot(tmp_path: Path) -> None:
    write(tmp_path / "db" / "day" / "data.parquet")
    done = run(app, ["pm", str(tmp_path / "db")])
    assert (done.exit_code, done.stdout, done.stderr) == (
        0,
        "1 file: 1 generated, 0 updated, 0 fresh, 0 refused\n",
        "",
    )
    write(tmp_path / "db" / "day" / "more.parquet")
    done = run(app, ["pm", str(tmp_path / "db")])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {tmp_path}/db/day holds 2 Parquet files; a folder has one _pm")
    done = run(app, ["pm", str(tmp_path / "db"), "--into", str(tmp_path / "pm"), "--blooms", "none"])
    assert (done.exit_code, done.stdout) == (0, "2 files: 2 generated, 0 updated, 0 fresh, 0 refused\n")


@pytest.mark.parametrize("command", ["index", "pm"])
def test_the_help_shows_an_example(command: str) -> None:
    done = run(app, [command, "--help"])
    assert f"Examples: pqassay spark {command} sales" in " ".join(done.stdout.split())
