"""An object store for tests: an S3 server in this process, and what it is asked."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import timedelta

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_api._internal.models import moto_api_backend
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer


class Requests(logging.Handler):
    """Collects what the server logs: one line for each request, such as ``GET /lake/a.parquet``."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = re.sub(r"\x1b\[[0-9;]*m", "", record.getMessage())  # the server colours its log
        self.seen.append(line.split('"')[1].removesuffix(" HTTP/1.1"))


@dataclass(frozen=True)
class StoreServer:
    """A server that runs; ``requests`` has collected what it was asked so far."""

    host: str
    port: int
    requests: Requests = field(default_factory=Requests)

    @property
    def options(self) -> str:
        """The query of a URI with which a process that knows nothing of the server finds it."""
        return f"endpoint_override={self.host}:{self.port}&scheme=http&region=us-east-1"

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which URIs without a query lead to the server."""
        return {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": f"http://{self.host}:{self.port}",
        }

    def make_older(self, bucket: str, key: str, by: timedelta) -> None:
        """Let an object have been written so much earlier."""
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets[bucket].keys[key].last_modified -= by


@contextlib.contextmanager
def store_server() -> Generator[StoreServer]:
    """Run a server on a free port; its log goes to `StoreServer.requests` alone."""
    log = logging.getLogger("werkzeug")
    before = log.level, log.propagate
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    server = StoreServer(*running.get_host_and_port())
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(server.requests)
    try:
        yield server
    finally:
        running.stop()
        moto_api_backend.reset()  # what was stored would outlive the server, for the next one in this process
        log.removeHandler(server.requests)
        log.setLevel(before[0])
        log.propagate = before[1]
