"""IDX1 among the indexes of `pqassay index`: added under its own key, listed, refreshed, dropped and extracted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from idx1_files import Idx1File
from pqassay.cli.main import app
from pqassay_reference.rewrite.extract import extract_file
from pqassay_spec.idx1 import blob as idx1

TABLE = pa.table({"nation": ["Peru", "Chad"], "n": [1, 2]})

LISTED = {
    "type": "idx1",
    "columns": [["nation"]],
    "granularity": "file",
    "placement": "key",
    "codec": "none",
    "bytes": 21,
    "values": 2,
    "rows": None,
    "writer": None,
    "fresh": True,
    "why": None,
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def listed(path: Path) -> list[dict[str, Any]]:
    indexes: list[dict[str, Any]] = json.loads(run("index", "list", path, "--json").stdout)["indexes"]
    return indexes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    pq.write_table(TABLE, path)
    return path


@pytest.fixture
def stale(path: Path) -> Path:
    """A file that was written again, with the keys of an index of what it was."""
    run("embed", path, "--column", "nation")
    keys = pq.read_metadata(path).metadata
    pq.write_table(pa.concat_tables([TABLE, TABLE]).replace_schema_metadata(keys), path)
    return path


def test_embed_is_an_alias_of_adding_an_index_of_this_type(path: Path) -> None:
    before = path.read_bytes()
    embedded, file = run("embed", path, "--column", "nation"), path.read_bytes()
    path.write_bytes(before)
    added = run("index", "add", path, "--column", "nation", "--type", "idx1")

    assert (
        0,
        f"{path}: 2 distinct values of column nation in 9 bytes at offset {len(before) - footer(before)}\n",
    ) == (added.exit_code, added.stdout)
    assert (added.stdout, added.stderr) == (embedded.stdout, embedded.stderr)
    assert file == path.read_bytes()


def footer(data: bytes) -> int:
    """The bytes of the footer, with its length and the magic."""
    return int.from_bytes(data[-8:-4], "little") + 8


def test_files_of_a_folder_get_an_index_each(path: Path) -> None:
    pq.write_table(TABLE, path.with_name("other.parquet"))
    done = run("embed", path.parent, "--column", "nation")

    assert (0, 2) == (done.exit_code, len(done.stdout.splitlines()))


def test_no_companion_record_is_written_unless_it_may_be(path: Path) -> None:
    run("index", "add", path, "--column", "nation", "--type", "idx1", "--no-companion")

    assert extract_file(path).companion is None
    assert [{**LISTED, "columns": [], "why": "no companion record names its column"}] == listed(path)


def test_a_placement_gives_it_an_entry_in_the_index_directory(path: Path) -> None:
    run("index", "add", path, "--column", "nation", "--type", "idx1", "--placement", "body")

    assert [("idx1", "body")] == [(index["type"], index["placement"]) for index in listed(path)]
    assert "the file has no IDX1 index" in run("index", "extract", path).stderr


def test_it_is_listed_beside_other_indexes(path: Path) -> None:
    run("index", "add", path, "--column", "nation", "--type", "distinct-set")
    run("index", "add", path, "--column", "nation", "--type", "idx1")

    assert [LISTED] == [index for index in listed(path) if index["type"] == "idx1"]
    assert (
        "idx1          nation   file         key           21       2  fresh"
        in run("index", "list", path).stdout
    )


def test_a_stale_one_is_listed_and_refreshed(stale: Path) -> None:
    assert [(False, "nation")] == [(index["fresh"], index["columns"][0][0]) for index in listed(stale)]

    done = run("index", "refresh", stale)

    assert (0, "") == (done.exit_code, done.stderr)
    assert f"{stale}: 2 distinct values of column nation in 9 bytes" in done.stdout
    assert [LISTED] == listed(stale)
    assert f"{stale}: all indexes are fresh\n" == run("index", "refresh", stale).stdout


def test_an_index_that_nothing_names_a_column_of_is_unusable_and_not_refreshed(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(Idx1File(payload=b"a\nb").build())
    before = path.read_bytes()

    assert "unusable: no companion record names its column" in run("index", "list", path).stdout
    assert 0 == run("index", "refresh", path).exit_code
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    "options", [["--type", "idx1"], ["--columns", "nation"], ["--all"], ["--type", "idx1", "--stale"]]
)
def test_it_is_dropped_by_what_applies_to_it(stale: Path, options: list[str]) -> None:
    done = run("index", "drop", stale, *options)

    assert (0, "") == (done.exit_code, done.stderr)
    assert f"{stale}: removed idx1 of nation by file (key)\n" == done.stdout
    assert [] == listed(stale)
    assert not {idx1.KEY.encode(), idx1.COMPANION_KEY.encode()} & {*(pq.read_metadata(stale).metadata or {})}


@pytest.mark.parametrize(
    "options", [["--type", "hll"], ["--columns", "n"], ["--type", "idx1", "--stale"], ["--stale"]]
)
def test_it_stays_where_something_else_is_dropped(path: Path, options: list[str]) -> None:
    run("embed", path, "--column", "nation")
    done = run("index", "drop", path, *options)

    assert (0, f"{path}: there is nothing to remove\n") == (done.exit_code, done.stdout)
    assert [LISTED] == listed(path)


@pytest.mark.parametrize("options", [["--codec", "zstd"], ["--granularity", "page"]])
def test_what_it_cannot_be_is_refused(path: Path, options: list[str]) -> None:
    done = run("index", "add", path, "--column", "nation", "--type", "idx1", *options)

    assert (2, "error: an IDX1 index describes a whole file, uncompressed; ") == (
        done.exit_code,
        done.stderr.partition("leave")[0],
    )


def test_a_column_in_a_struct_is_refused_at_once_with_what_scans_use(tmp_path: Path) -> None:
    path = tmp_path / "nested.parquet"
    rows = {"st": [{"x": "a"}, {"x": "c"}, None, {"x": None}], "st.y": ["a", "b", "c", "d"]}
    pq.write_table(pa.table(rows), path, row_group_size=2)
    before = path.read_bytes()
    done = run("embed", path, "--column", "st.x")

    assert (1, before) == (done.exit_code, path.read_bytes())
    command = "pqassay index add --type distinct-set --columns st.x"
    reason = "is in a struct, where readers do not use this index; they use that of"
    assert f"error: {path}: column st.x {reason} `{command}`\n" == done.stderr
    assert 0 == run(*command.split()[1:3], path, *command.split()[3:]).exit_code
    assert "0 rows; fetched 0 bytes of data" in run("scan", path, "st.x = 'b'").stderr
    assert 0 == run("embed", path, "--column", "st.y").exit_code
