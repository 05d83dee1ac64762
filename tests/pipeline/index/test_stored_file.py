"""Indexing objects of a store, through a server of S3 in this process."""

from __future__ import annotations

import io
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import pqassay
from index_tables import table_rows
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import EmbeddedColumns, embed_columns
from pqassay_reference.rewrite.extract import extract
from pqassay_reference.rewrite.finished_file import ChangedError
from pqassay_spark.index import stored_file
from pqassay_spark.index.entries import Settings, Work
from pqassay_spark.index.file_work import Outcome
from pqassay_spark.index.run import index_files
from pqassay_spec.base.sources import BytesSource
from store_server import StoreServer, store_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Lake:
    """A bucket, and the URIs that lead into it."""

    def __init__(self, server: StoreServer) -> None:
        self._query = f"?{server.options}"
        self._user = "key:secret@"
        self.system = fs.FileSystem.from_uri(self.uri("") + "&allow_bucket_creation=true")[0]
        self.system.create_dir("lake")

    def uri(self, path: str) -> str:
        """A URI with everything that a process needs to connect."""
        return f"s3://{self._user}lake/{path}{self._query}"

    @property
    def store(self) -> str:
        return f"s3://{self._user}lake/{self._query}"

    def put(self, key: str, *nations: str | None) -> None:
        sink = io.BytesIO()
        pq.write_table(
            pa.table({"nation": pa.array(nations, pa.string()), "city": ["x"] * len(nations)}), sink
        )
        self.put_bytes(key, sink.getvalue())

    def put_bytes(self, key: str, content: bytes) -> None:
        with self.system.open_output_stream(f"lake/{key}") as stream:
            stream.write(content)

    def get(self, key: str) -> bytes:
        with self.system.open_input_stream(f"lake/{key}") as stream:
            return bytes(stream.read())

    def keys(self, folder: str) -> list[str]:
        infos = self.system.get_file_info(fs.FileSelector(f"lake/{folder}", recursive=True))
        return sorted(
            info.path.removeprefix(f"lake/{folder}/") for info in infos if info.type == fs.FileType.File
        )


@pytest.fixture(scope="module")
def lake() -> Generator[Lake]:
    with store_server() as server:
        yield Lake(server)


def work(lake: Lake, key: str) -> Work:
    return Work(f"lake/{key}", (key,), 0, 0, store=lake.store)


SETTINGS = Settings(("nation",), None, 0, force=False, inside_table=False, limit=1 << 20)


@pytest.mark.spark
def test_objects_are_indexed_once_and_the_table_says_what_they_hold(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    lake.put("sales/year=2024/a b%20[1].parquet", "Perú", None)
    lake.put("sales/ü.parquet", "日本")
    lake.put_bytes("sales/torn.parquet", b"PAR1")
    table = tmp_path / "table"
    done = index_files(spark, lake.uri("sales"), ["nation", "city"], table=table)
    assert [(file.name, file.outcome.value) for file in done.files] == [
        ("torn.parquet", "refused"),
        ("year=2024/a b%20[1].parquet", "indexed"),
        ("ü.parquet", "indexed"),
    ]
    assert lake.keys("sales") == ["torn.parquet", "year=2024/a b%20[1].parquet", "ü.parquet"]
    assert {*extract(BytesSource(lake.get("sales/ü.parquet"))).values} == {"日本"}
    assert {key: said[2:] for key, said in table_rows(table).items()} == {
        ("year=2024/a b%20[1].parquet", "nation"): (2, 1, {"Perú"}),
        ("year=2024/a b%20[1].parquet", "city"): (2, 0, {"x"}),
        ("ü.parquet", "nation"): (1, 0, {"日本"}),
        ("ü.parquet", "city"): (1, 0, {"x"}),
    }
    report = pqassay.check([lake.uri("sales/ü.parquet"), lake.uri("sales/year=2024")], tier="values")
    assert [file.outcome for file in report.files] == ["conformant", "conformant"]
    before, parts = lake.get("sales/ü.parquet"), sorted(table.iterdir())
    again = index_files(spark, lake.uri("sales"), ["nation", "city"], table=table)
    assert (again.indexed, again.fresh, len(again.refused)) == (0, 2, 1)
    assert lake.get("sales/ü.parquet") == before
    assert sorted(table.iterdir()) == parts


def test_an_object_that_is_replaced_meanwhile_stays_as_it_is(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.put("changed/a.parquet", "Perú")

    def replace_and_embed(path: Path, columns: tuple[str, ...], **options: Any) -> EmbeddedColumns:
        lake.put_bytes("changed/a.parquet", b"another object")
        return embed_columns(path, columns, **options)

    monkeypatch.setattr("pqassay_spark.index.stored_file.embed_columns", replace_and_embed)
    with pytest.raises(ChangedError):
        stored_file.index_stored(SETTINGS, work(lake, "changed/a.parquet"))
    assert lake.get("changed/a.parquet") == b"another object"
    assert lake.keys("changed") == ["a.parquet"]


@pytest.mark.parametrize("failure", ["the network is gone", ""])
def test_an_upload_that_breaks_off_leaves_the_old_object(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    lake.put("broken/a.parquet", "Perú")
    before = lake.get("broken/a.parquet")
    copy = shutil.copyfileobj

    def half(source: io.BytesIO, sink: io.BytesIO, length: int) -> None:
        if isinstance(sink, pa.NativeFile):
            sink.write(source.read(100))
            if failure:
                raise OSError(failure)
        else:
            copy(source, sink, length)

    monkeypatch.setattr(shutil, "copyfileobj", half)
    with pytest.raises(OSError, match=failure or "the store does not have all bytes of the new object"):
        stored_file.index_stored(SETTINGS, work(lake, "broken/a.parquet"))
    assert lake.get("broken/a.parquet") == before
    monkeypatch.undo()
    assert stored_file.index_stored(SETTINGS, work(lake, "broken/a.parquet"))[0] is Outcome.INDEXED
    assert lake.keys("broken") == ["a.parquet"]


@pytest.mark.spark
@pytest.mark.parametrize("mark", ["_delta_log/0.json", "metadata/v1.metadata.json"])
def test_objects_of_a_table_are_refused(spark: SparkSession, lake: Lake, mark: str) -> None:
    kind = mark.partition("/")[0]
    lake.put(f"{kind}/data/a.parquet", "Perú")
    lake.put_bytes(f"{kind}/{mark}", b"{}")
    with pytest.raises(Refused, match=f"belongs to the (Delta|Iceberg) table {kind}"):
        index_files(spark, lake.uri(f"{kind}/data"), ["nation"])
