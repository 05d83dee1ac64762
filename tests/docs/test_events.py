"""The recipe for events of a store, as the guide shows it: a queue names files, which are judged and then taken off it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]  # it has no types
import pytest
from pyarrow import fs

import processes
from places import GOLDEN_FILES, GUIDES
from pqassay_lake.history.stores import history_at
from pqassay_lake.history.views import findings_view
from store_server import StoreServer, store_server

BLOCK = re.compile(r'```python title="events\.py"\n(.*?)```', re.DOTALL)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Generator[StoreServer]:
    with store_server() as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        yield running


def event(bucket: str, key: str) -> str:
    """What S3 sends when an object was created, as far as the recipe reads it."""
    return json.dumps({"Records": [{"s3": {"bucket": {"name": bucket}, "object": {"key": key}}}]})


def test_files_that_a_queue_names_are_judged_and_taken_off_it(server: StoreServer, tmp_path: Path) -> None:
    found = BLOCK.search((GUIDES / "sample.md").read_text())
    assert found is not None
    (tmp_path / "events.py").write_text(found[1])
    store = fs.FileSystem.from_uri(f"s3://events/?allow_bucket_creation=true&{server.options}")[0]
    store.create_dir("events")
    bad = GOLDEN_FILES / "sta/bound-cut-in-a-character/data.parquet"
    with store.open_output_stream("events/a b.parquet") as stream:
        stream.write(bad.read_bytes())
    sqs: Any = boto3.client("sqs")
    queue = sqs.create_queue(QueueName=tmp_path.name, Attributes={"VisibilityTimeout": "600"})["QueueUrl"]

    def left() -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        told = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
        return sum(map(int, told.values()))

    def consume(*messages: str) -> int:
        for message in messages:
            sqs.send_message(QueueUrl=queue, MessageBody=message)
        scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = [sys.executable, "events.py", queue]
        return processes.run(
            command, cwd=tmp_path, capture_output=True, env={**os.environ, "PATH": scripts}
        ).returncode

    gone = event("events", "gone.parquet")
    assert 2 == consume(event("events", "a+b.parquet"), gone, event("events", "notes.txt"), "{}")
    assert 1 == left()
    (finding,) = findings_view(history_at(str(tmp_path / "findings"))).findings
    assert ("STA-018", "a%20b.parquet") == (finding.rule, finding.path.rpartition("/")[2])
