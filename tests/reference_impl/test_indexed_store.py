"""A dataset in an object store: one request for the end of each file, and none for files that are skipped."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator

import pyarrow.compute as pc
import pyarrow.fs as pafs
import pytest
from moto.server import ThreadedMotoServer

from indexed_lakes import lake_table, with_record
from pqassay_reference.indexed_dataset import open_indexed

PERU = pc.field("nation") == "Peru"


class Requests(logging.Handler):
    """Collects what the server was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = re.sub(r"\x1b\[[0-9;]*m", "", record.getMessage())  # the server colours its log
        self.seen.append(line.split('"')[1].removesuffix(" HTTP/1.1"))


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Generator[Requests]:
    """A server with two indexed files in its bucket; no request seen yet."""
    log = logging.getLogger("werkzeug")
    seen = Requests()
    before = log.level, log.propagate
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(seen)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
    ):
        monkeypatch.setenv(name, value)
    store, _ = pafs.FileSystem.from_uri("s3://ends-of-files/?allow_bucket_creation=true")
    store.create_dir("ends-of-files")
    for number, nation in enumerate(("Peru", "Chad")):
        with store.open_output_stream(f"ends-of-files/sales/{nation}.parquet") as stream:
            stream.write(with_record(lake_table([nation], number), [nation]))
    seen.seen.clear()
    yield seen
    server.stop()
    log.removeHandler(seen)
    log.setLevel(before[0])
    log.propagate = before[1]


def test_files_in_a_store_are_indexed_by_their_ends_and_skipped(requests: Requests) -> None:
    dataset = open_indexed("s3://ends-of-files/sales")

    # Chad is the first file, whose schema becomes that of the dataset: one request more.
    assert 2 == requests.seen.count("GET /ends-of-files/sales/Chad.parquet")
    assert 1 == requests.seen.count("GET /ends-of-files/sales/Peru.parquet")

    requests.seen.clear()
    assert [0] == dataset.to_table(filter=PERU).column("id").to_pylist()
    assert 0 == requests.seen.count("GET /ends-of-files/sales/Chad.parquet")
    assert ("ends-of-files/sales/Peru.parquet",) == dataset.prune(PERU).kept
