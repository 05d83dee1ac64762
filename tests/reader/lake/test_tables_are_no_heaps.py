"""Folders of tables are refused by everything that would read their files as a heap, with the words by which an engine reads them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from typer.testing import CliRunner

from pqassay.cli.main import app
from pqassay_reader import scan
from pqassay_reader.answer.answerer import Answerer
from pqassay_reader.lake.indexed_dataset import open_indexed
from pqassay_reference.errors import Refused
from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA, commit_name
from pqassay_suite.cases.case import golden_folder
from store_server import store_server

READERS: list[Callable[[Any], object]] = [
    scan,
    lambda path: scan(path, "id < 0.5"),
    open_indexed,
    Answerer.open,
]


@pytest.fixture
def delta(tmp_path: Path) -> Path:
    """A Delta table of 2 rows, whose files hold 5."""
    table = tmp_path / "lake" / "sales"
    write_deltalake(table, pa.table({"id": [0, 1, 2]}))
    DeltaTable(table).delete("id = 1")
    DeltaTable(table).delete("id = 2")
    write_deltalake(table, pa.table({"id": [7]}), mode="append")
    return table


@pytest.fixture
def iceberg(tmp_path: Path) -> Path:
    """An Iceberg table."""
    return Path(shutil.copytree(golden_folder() / "ice" / "plain" / "table", tmp_path / "lake" / "ice"))


def refusals(path: Any) -> list[str]:
    """What each reader says."""
    found: list[str] = []
    for reader in READERS:
        with pytest.raises(Refused) as refused:
            reader(path)
        found.append(str(refused.value))
    return found


def test_a_delta_table_is_refused_and_a_file_of_it_is_read(delta: Path) -> None:
    said = refusals(delta)

    assert 1 == len(set(said))
    assert f"{delta}: it is a Delta table, whose files may have rows that the table has deleted. " in said[0]
    assert f'spark.read.format("delta").load("{delta}")' in said[0]
    function = said[0].partition("in DuckDB ")[2].partition(", in Spark")[0]
    assert f"delta_scan('{delta}')" == function
    rows = DeltaTable(delta).to_pyarrow_table().sort_by("id")
    assert [0, 7] == rows.column("id").to_pylist()
    # Its files, named one by one, are read as they are.
    files = sorted(delta.glob("*.parquet"))
    count = sum(scan(file).to_table().num_rows for file in files)
    assert 2 < count
    assert count == open_indexed(files, warn=False).count_rows()


def test_an_iceberg_table_is_refused(iceberg: Path) -> None:
    said = refusals(iceberg)

    assert 1 == len(set(said))
    assert f"{iceberg}: it is an Iceberg table" in said[0]
    assert f'iceberg_scan(\'{iceberg}\'), in Spark spark.read.format("iceberg").load("{iceberg}")' in said[0]


@pytest.mark.parametrize("ending", [".metadata.json", ".metadata.json.gz", ".gz.metadata.json"])
def test_every_name_of_iceberg_metadata_makes_a_table(ending: str, tmp_path: Path) -> None:
    (tmp_path / ICEBERG_METADATA).mkdir()
    (tmp_path / ICEBERG_METADATA / f"00001-a{ending}").write_bytes(b"")
    pq.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")

    assert ["it is an Iceberg table"] * len(READERS) == [
        "it is an Iceberg table" if "it is an Iceberg table" in one else one for one in refusals(tmp_path)
    ]


def test_a_folder_inside_a_table_or_around_one_is_refused_too(delta: Path, iceberg: Path) -> None:
    link = delta.parent / "link"
    link.symlink_to(iceberg / "data", target_is_directory=True)

    assert f"{iceberg / 'data'}: {iceberg} is an Iceberg table" in refusals(iceberg / "data")[0]
    assert f"{link}: {iceberg} is an Iceberg table" in refusals(link)[0]
    shutil.rmtree(iceberg)
    link.unlink()
    assert f"{delta.parent}: {delta} is a Delta table" in refusals(delta.parent)[0]


def test_a_relative_path_stays_what_the_user_calls_it(delta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(delta.parent)

    assert "sales: it is a Delta table" in refusals("sales/")[0]
    assert ".: ./sales is a Delta table" in refusals(".")[0]


def test_folders_that_only_look_like_tables_are_read(tmp_path: Path) -> None:
    (tmp_path / ICEBERG_METADATA).mkdir()
    for name in (f"{DELTA_LOG}/notes.json", f"_old/{DELTA_LOG}/{commit_name(0)}"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    pq.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")

    assert 1 == scan(tmp_path).to_table().num_rows
    assert 1 == open_indexed(tmp_path, warn=False).count_rows()


@pytest.mark.parametrize(
    "arguments",
    [
        ["scan", "TABLE"],
        ["scan", "--files", "TABLE", "id = 1"],
        ["answer", "TABLE", "SELECT COUNT(*) FROM t"],
        ["index", "add", "TABLE", "--type", "hll", "--columns", "id"],
        ["index", "drop", "TABLE", "--all"],
        ["index", "refresh", "TABLE"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_commands_refuse_in_one_line(arguments: list[str], delta: Path) -> None:
    before = {path: path.read_bytes() for path in delta.glob("*.parquet")}
    done = CliRunner().invoke(app, [str(delta) if one == "TABLE" else one for one in arguments])

    assert (1, "", 1) == (done.exit_code, done.stdout, len(done.stderr.splitlines()))
    assert f"error: {delta}: it is a Delta table" in done.stderr
    assert before == {path: path.read_bytes() for path in delta.glob("*.parquet")}


def test_what_is_asked_for_in_so_many_words_is_done(delta: Path) -> None:
    run = CliRunner()
    added = run.invoke(
        app, ["index", "add", str(delta), "--type", "hll", "--columns", "id", "--inside-table"]
    )
    listed = run.invoke(app, ["index", "list", str(delta)])
    (first, *_) = sorted(delta.glob("*.parquet"))
    scanned = run.invoke(app, ["scan", str(first)])

    assert (0, 0, 0) == (added.exit_code, listed.exit_code, scanned.exit_code)
    assert len(list(delta.glob("*.parquet"))) == listed.stdout.count("hll")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A bucket with a table in it."""
    with store_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        store, _ = pafs.FileSystem.from_uri("s3://heaps/?allow_bucket_creation=true")
        store.create_dir("heaps")
        for name in (f"{ICEBERG_METADATA}/v1.metadata.json", "data/a.parquet"):
            with store.open_output_stream(f"heaps/lake/sales/{name}") as stream:
                pq.write_table(pa.table({"id": [1]}), stream)
        yield


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("name", ["lake/sales", "lake/sales/data", "lake"])
def test_tables_in_a_store_are_refused_from_wherever_they_are_asked(name: str) -> None:
    for said in refusals(f"s3://heaps/{name}"):
        assert "iceberg_scan('s3://heaps/lake/sales')" in said
        assert said.startswith(f"s3://heaps/{name}: ")
    assert [1] == scan("s3://heaps/lake/sales/data/a.parquet").to_table().column("id").to_pylist()
