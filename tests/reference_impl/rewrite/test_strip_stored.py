"""Stripping objects in a store: as a new object, or in place where the store replaces on a condition, and not at all otherwise."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from typer.testing import CliRunner, Result

from pqassay.cli.main import app
from pqassay_reference.rewrite import stored_object
from store_server import StoreServer, store_server

boto3 = pytest.importorskip("boto3")


@pytest.fixture(scope="module")
def server() -> Generator[StoreServer]:
    with pytest.MonkeyPatch.context() as patch, store_server() as running:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture
def store(server: StoreServer) -> fs.FileSystem:
    server.requests.seen.clear()
    found = fs.FileSystem.from_uri("s3://stripped/?allow_bucket_creation=true&allow_bucket_deletion=true")[0]
    if found.get_file_info("stripped").type != fs.FileType.NotFound:
        found.delete_dir("stripped")
    found.create_dir("stripped")
    return found


def put(store: fs.FileSystem, key: str, rows: int = 3) -> bytes:
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table({"n": range(rows)}), buffer, compression="none", use_dictionary=False)
    content = buffer.getvalue().to_pybytes()
    with store.open_output_stream(
        f"stripped/{key}", metadata={"Content-Type": "application/x-parquet"}
    ) as stream:
        stream.write(content)
    return content


def has_statistics(store: fs.FileSystem, key: str) -> bool:
    with store.open_input_file(f"stripped/{key}") as file:
        return pq.read_metadata(file).row_group(0).column(0).is_stats_set


def content(store: fs.FileSystem, key: str) -> bytes:
    with store.open_input_file(f"stripped/{key}") as file:
        return file.read()


def strip(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["strip", "--values-are-right", *arguments])


def test_a_new_object_is_written_and_the_old_one_left(store: fs.FileSystem) -> None:
    before = put(store, "a.parquet")

    result = strip("s3://stripped/a.parquet", "--statistics", "--output", "s3://stripped/b.parquet")

    assert (0, True) == (result.exit_code, result.output.startswith("s3://stripped/b.parquet: removed"))
    assert before == content(store, "a.parquet")
    assert not has_statistics(store, "b.parquet")


def test_an_object_is_replaced_on_a_condition_and_keeps_what_is_said_of_it(store: fs.FileSystem) -> None:
    put(store, "a.parquet")

    result = strip("s3://stripped/a.parquet", "--statistics")

    assert (0, "") == (result.exit_code, result.stderr)
    assert not has_statistics(store, "a.parquet")
    head = boto3.client("s3").head_object(Bucket="stripped", Key="a.parquet")
    assert "application/x-parquet" == head["ContentType"]


def test_a_write_of_somebody_else_is_not_lost(store: fs.FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, "a.parquet")
    theirs: list[bytes] = []
    replace = stored_object.S3Replacement.replace

    def late(self: Any, *arguments: Any) -> None:
        theirs.append(put(store, "a.parquet", rows=5))
        replace(self, *arguments)

    monkeypatch.setattr(stored_object.S3Replacement, "replace", late)

    result = strip("s3://stripped/a.parquet", "--statistics")

    assert 1 == result.exit_code
    assert "it changed during the operation; nothing was written" in result.stderr
    assert theirs == [content(store, "a.parquet")]


def test_the_body_of_a_large_object_is_copied_within_the_store(
    store: fs.FileSystem, server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = put(store, "a.parquet", rows=800_000)
    monkeypatch.setattr(stored_object, "WHOLE", 0)
    make, conditions = boto3.client, list[str | None]()

    def noting(*arguments: Any, **options: Any) -> Any:
        client = make(*arguments, **options)
        client.meta.events.register(
            "before-call.s3.CompleteMultipartUpload",
            lambda params, **_: conditions.append(params["headers"].get("If-Match")),
        )
        return client

    monkeypatch.setattr(boto3, "client", noting)
    tag = make("s3").head_object(Bucket="stripped", Key="a.parquet")["ETag"]
    server.requests.seen.clear()

    result = strip("s3://stripped/a.parquet", "--statistics")

    assert (0, "") == (result.exit_code, result.stderr)
    assert 2 == sum("partNumber" in line for line in server.requests.seen), "one is copied, one is sent"
    assert [tag] == conditions, "the server of this test does not look at it"
    after = content(store, "a.parquet")
    assert before[:6_000_000] == after[:6_000_000]
    assert not has_statistics(store, "a.parquet")


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["s3://stripped/none.parquet"], "no such object", 2),
        (["s3://stripped/a.parquet", "--output", "b.parquet"], "b.parquet is not a URI", 1),
        (["s3://stripped/a.parquet", "--output", "s3://stripped/a.parquet"], "already exists", 1),
        (["s3://stripped/t/a.parquet"], "belongs to the Delta table t", 1),
        (["s3://key:secret@stripped/t/a.parquet"], "s3://stripped/t/a.parquet", 1),
        (["nowhere://stripped/a.parquet"], "nowhere", 1),
    ],
)
def test_what_is_refused(store: fs.FileSystem, arguments: list[str], said: str, code: int) -> None:
    put(store, "a.parquet")
    put(store, "t/a.parquet")
    with store.open_output_stream("stripped/t/_delta_log/00000000000000000000.json") as stream:
        stream.write(b"{}")

    result = strip(*arguments, "--statistics")

    assert (code, True, False) == (result.exit_code, said in result.stderr, "secret" in result.stderr)


def test_a_store_without_conditions_is_written_to_as_a_new_object_only(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "a.parquet")
    uri = (tmp_path / "a.parquet").as_uri()

    refused = strip(uri, "--statistics")
    written = strip(uri, "--statistics", "--output", f"{uri}.stripped")

    assert (1, True) == (refused.exit_code, "does not know how file is asked" in refused.stderr)
    assert (0, "") == (written.exit_code, written.stderr)
