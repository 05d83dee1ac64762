"""Datasets and scans of an object store: one request for the end of each file, and none for files that are skipped."""

from __future__ import annotations

from collections.abc import Generator

import pyarrow.compute as pc
import pyarrow.fs as pafs
import pytest

from indexed_lakes import lake_table, with_record
from pqassay_reader.lake.indexed_dataset import open_indexed
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.scan import scan
from store_server import Requests, store_server

PERU = pc.field("nation") == "Peru"


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Generator[Requests]:
    """A server with two indexed files in its bucket; no request seen yet, and nothing known of files of these names and this second."""
    KEPT_FACTS.clear()
    with store_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        fill()
        server.requests.seen.clear()
        yield server.requests


def fill() -> None:
    """Make the bucket."""
    store, _ = pafs.FileSystem.from_uri("s3://ends-of-files/?allow_bucket_creation=true")
    store.create_dir("ends-of-files")
    for number, nation in enumerate(("Peru", "Chad")):
        with store.open_output_stream(f"ends-of-files/sales/{nation}.parquet") as stream:
            stream.write(with_record(lake_table([nation], number), [nation]))


def test_files_in_a_store_are_indexed_by_their_ends_and_skipped(requests: Requests) -> None:
    dataset = open_indexed("s3://ends-of-files/sales")

    # Chad is the first file, whose schema becomes that of the dataset: one request more.
    assert 2 == requests.seen.count("GET /ends-of-files/sales/Chad.parquet")
    assert 1 == requests.seen.count("GET /ends-of-files/sales/Peru.parquet")

    requests.seen.clear()
    assert [0] == dataset.to_table(filter=PERU).column("id").to_pylist()
    assert 0 == requests.seen.count("GET /ends-of-files/sales/Chad.parquet")
    assert ("ends-of-files/sales/Peru.parquet",) == dataset.prune(PERU).kept


def test_a_scan_of_a_store_reads_the_end_of_a_file_and_the_file_that_is_left(requests: Requests) -> None:
    rows = scan("s3://ends-of-files/sales", "nation = 'Peru'", ["id"])
    table = rows.to_table()

    assert [0] == table.column("id").to_pylist()
    assert {"IDX1"} <= rows.counters.used
    assert [1, 1] == [
        requests.seen.count(f"GET /ends-of-files/sales/{file}.parquet") for file in ("Chad", "Peru")
    ]
    assert 0 == rows.counters.data.requests, "what the end of a file holds is not asked for again"
