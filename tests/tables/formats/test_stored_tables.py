"""Tables in a store: what is asked of it, tables named by their metadata, and metadata byte by byte."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest
from pyarrow import fs
from typer.testing import CliRunner, Result

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.stores import remote
from pqassay_spec.rules.catalogue import Tier
from store_server import StoreServer, store_server

TABLES = ("dlt/checkpointed", "dlt/deleted", "dlt/maximum-lowered", "ice/maximum-lowered", "ice/rewritten")


@pytest.fixture(scope="module")
def server() -> Generator[StoreServer]:
    """A server with golden tables in a bucket of their own, found by the environment; each table has a file that is not live."""
    with pytest.MonkeyPatch.context() as patch, store_server() as running:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        remote.filesystem.cache_clear()
        store = fs.FileSystem.from_uri("s3://stored/?allow_bucket_creation=true")[0]
        store.create_dir("stored")
        for table in TABLES:
            folder = GOLDEN_FILES / table / "table"
            for path in (path for path in folder.rglob("*") if path.is_file()):
                _put(store, f"{table}/{path.relative_to(folder).as_posix()}", path)
            _put(store, f"{table}/orphan.parquet", GOLDEN_FILES / "pqf/plain/data.parquet")
        yield running
    remote.filesystem.cache_clear()


def _put(store: fs.FileSystem, key: str, path: Path) -> None:
    with store.open_output_stream(f"stored/{key}") as stream:
        stream.write(path.read_bytes())


def asked(server: StoreServer, table: str, tier: Tier) -> list[str]:
    """What a check of a table asks for, without the folder of the table."""
    server.requests.seen.clear()
    report = pqassay.check(f"s3://stored/{table}", tier=tier)
    assert {"conformant"} == {file.outcome for file in report.files}
    assert [] != [one for one in report.ignored if one.reason == "not in the table"]
    return [line.replace(f"/stored/{table}/", "") for line in server.requests.seen]


def test_a_table_is_listed_once_and_its_files_are_not_asked_for_one_by_one(server: StoreServer) -> None:
    seen = asked(server, "dlt/deleted", "meta")

    assert 1 == sum("list-type=2" in line and "delimiter" not in line for line in seen)
    assert [] == [line for line in seen if ".parquet" in line or ".bin" in line]
    assert ["GET 00000000000000000000.json"] == [
        line.replace("_delta_log/", "") for line in seen if line.startswith("GET") and "list-type" not in line
    ]


def test_of_a_log_what_is_behind_the_newest_checkpoint_is_read(server: StoreServer) -> None:
    read = [line for line in asked(server, "dlt/checkpointed", "meta") if line.startswith("GET _delta_log")]

    assert ["checkpoint", "2.json", "3.json"] == [
        "checkpoint" if "checkpoint" in line else line.rpartition("0")[2] for line in read
    ]


def test_expired_snapshots_and_old_metadata_are_not_read(server: StoreServer) -> None:
    seen = asked(server, "ice/rewritten", "meta")
    folder = GOLDEN_FILES / "ice/rewritten/table/metadata"
    there = sorted(path.name for path in folder.iterdir())
    read = sorted(line.rpartition("/")[2] for line in seen if line.startswith("GET metadata/"))

    assert read == sorted(set(read)), "each once"
    assert set(read) <= set(there)
    assert [] == [line for line in seen if ".parquet" in line]


@pytest.mark.parametrize("table", ["dlt/deleted", "ice/rewritten"])
def test_footers_cost_two_requests_a_file_and_orphans_none(server: StoreServer, table: str) -> None:
    meta, footer = asked(server, table, "meta"), asked(server, table, "footer")

    assert 2 * 2 == len([line for line in footer if ".parquet" in line and "list-type" not in line])
    assert [] == [line for line in footer if "orphan" in line]
    assert len(footer) - len(meta) <= 6


@pytest.mark.parametrize(
    ("table", "metadata", "rule"),
    [
        ("dlt/maximum-lowered", "_delta_log/00000000000000000000.json", "DLT-027"),
        ("ice/maximum-lowered", "metadata/v1.metadata.json", "ICE-040"),
    ],
)
@pytest.mark.usefixtures("server")
def test_a_table_in_a_store_is_named_by_a_file_of_its_metadata(table: str, metadata: str, rule: str) -> None:
    whole = pqassay.check(f"s3://stored/{table}", tier="values")
    named = pqassay.check(f"s3://stored/{table}/{metadata}", tier="values")

    assert [(file.path, file.outcome) for file in whole.files] == [
        (file.path, file.outcome) for file in named.files
    ]
    assert [rule] == [finding.rule for file in named.files for finding in file.findings]


def dumped(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["dump", *arguments])


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "file", ["ice/rewritten/metadata/manifest-0.avro", "dlt/deleted/_delta_log/00000000000000000000.json"]
)
def test_metadata_in_a_store_are_shown_as_local_ones_are(file: str) -> None:
    local = GOLDEN_FILES / Path(*file.split("/")[:2]) / "table" / Path(*file.split("/")[2:])
    stored, own = dumped("--json", f"s3://stored/{file}"), dumped("--json", str(local))

    assert (0, own.output) == (stored.exit_code, stored.output)
    assert json.loads(own.output.splitlines()[0])


@pytest.mark.usefixtures("server")
def test_what_cannot_be_shown_is_said() -> None:
    missing, folder, local = (
        dumped(f"s3://stored/{path}") for path in ("dlt/nothing.json", "dlt/deleted", "../gone/x.parquet")
    )

    assert (2, "error: s3://stored/dlt/nothing.json: no such file\n") == (missing.exit_code, missing.output)
    assert (2, "error: s3://stored/dlt/deleted is a directory; name one of the files in it\n") == (
        folder.exit_code,
        folder.output,
    )
    assert 2 == local.exit_code
