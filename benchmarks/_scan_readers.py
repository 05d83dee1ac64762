"""Readers that the scan is compared with, each asked for the rows of a question: of a local file, or of one behind a server.

Every reader is asked in two ways: with nothing known of the file, and again with whatever it keeps of a file between queries.
All return Arrow tables.  Behind the server, pyarrow, Polars and DataFusion use the clients of S3 that they come with; DuckDB,
whose own client is an extension that has to be downloaded, reads through a file system in Python, as users register one.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from _range_server import ChangedFileError, HttpSource, Server, Version
from _scan_files import Question
from datafusion.object_store import AmazonS3
from fsspec import AbstractFileSystem  # type: ignore[import-untyped]

from pqassay_reader import scan
from pqassay_reader.condition.rows import expression_of
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.fetching.ranges import REMOTE_GAP
from pqassay_reader.query.targets import remote_tail

OURS = "pqassay"
BUCKET = "bucket"
DUCKDB_PROTOCOL = "ranges"

Ask = Callable[[Question], pa.Table]


class Reader(NamedTuple):
    """A reader, asked in two ways.

    Attributes:
        first: Knows nothing of the file.
        again: Keeps what it keeps.
    """

    first: Ask
    again: Ask


# ------------------------------------------------------------------------------------------------------ pqassay


def ours(path: Path, **options: Any) -> Reader:
    """The scan of a local file."""

    def again(question: Question) -> pa.Table:
        return scan(path, question.tree, question.columns, **options).to_table()

    return Reader(_forgetful(again), again)


def ours_remote(server: Server, name: str, *, gap: int = REMOTE_GAP) -> Reader:
    """The scan of a file behind the server; it keeps connections, and what is kept of the file counts while the server says so."""
    known: dict[str, Version] = {}

    def asked(question: Question) -> pa.Table:
        source = HttpSource(server, name, remote_tail(gap), known)
        found = scan(source, question.tree, question.columns, gap=gap).to_table()
        source.confirm()
        return found

    def again(question: Question) -> pa.Table:
        try:
            return asked(question)
        except ChangedFileError:
            return asked(question)

    def forget() -> None:
        known.clear()
        server.disconnect()

    return Reader(_forgetful(again, forget), again)


def _forgetful(ask: Ask, forget: Callable[[], object] = lambda: None) -> Ask:
    def first(question: Question) -> pa.Table:
        KEPT_FACTS.clear()
        forget()
        return ask(question)

    return first


# ------------------------------------------------------------------------------------------------------ pyarrow


def with_pyarrow(path: str, filesystem: Any, schema: pa.Schema) -> Reader:
    """A dataset, and one that is kept, which keeps the footer."""
    open_dataset: Callable[..., Any] = pads.dataset

    def ask(dataset: Any, question: Question) -> pa.Table:
        wanted: pc.Expression = expression_of(question.tree, schema)
        return cast("pa.Table", dataset.to_table(columns=list(question.columns), filter=wanted))

    kept = open_dataset(path, filesystem=filesystem)
    return Reader(
        lambda question: ask(open_dataset(path, filesystem=filesystem), question), partial(ask, kept)
    )


# ------------------------------------------------------------------------------------------------------- DuckDB


class RangeFile(io.RawIOBase):
    """A file behind the server; each read is a request."""

    mode = "rb"

    def __init__(self, source: HttpSource) -> None:
        super().__init__()
        self._source, self._position = source, 0
        self.size = source.size

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a position."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        """The position."""
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        """Read on."""
        left = self.size - self._position
        data = self._source.read(self._position, left if size < 0 else min(size, left))
        self._position += len(data)
        return data


class RangeFiles(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no type stubs
    """The files of the server as DuckDB asks for them."""

    protocol = DUCKDB_PROTOCOL

    def __init__(self, server: Server) -> None:
        super().__init__(skip_instance_cache=True)
        self._server = server

    def glob(self, path: str, **_: Any) -> list[str]:
        """A pattern is taken for a name."""
        return [path]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name and length."""
        return {"name": path, "size": HttpSource(self._server, path).size, "type": "file"}

    def exists(self, path: str, **_: Any) -> bool:
        """The caller knows."""
        return bool(path)

    def modified(self, path: str) -> dt.datetime:
        """Files do not change; needed to keep their metadata."""
        return dt.datetime(2020, 1, 1, tzinfo=dt.UTC) if path else dt.datetime.now(tz=dt.UTC)

    def _open(self, path: str, *_: Any, **__: Any) -> RangeFile:
        return RangeFile(HttpSource(self._server, path))


def with_duckdb(connections: list[duckdb.DuckDBPyConnection], path: str, server: Server | None) -> Reader:
    """A connection, and one that keeps footers; the caller closes them."""

    def connected(*, keeps: bool) -> Ask:
        connection = duckdb.connect()
        connections.append(connection)
        if server is not None:
            connection.register_filesystem(RangeFiles(server))
        if keeps:
            connection.execute("SET parquet_metadata_cache = true")
        table = f"read_parquet('{path}')"
        return lambda question: cast("pa.Table", connection.sql(question.sql(table)).to_arrow_table())

    return Reader(connected(keeps=False), connected(keeps=True))


# ------------------------------------------------------------------------------------------------------- Polars


def with_polars(path: str, options: dict[str, str] | None) -> Reader:
    """A lazy frame, and one that is kept."""

    def opened() -> pl.LazyFrame:
        return pl.scan_parquet(path, storage_options=cast("Any", options))

    def ask(frame: pl.LazyFrame, question: Question) -> pa.Table:
        wanted = frame.filter(pl.sql_expr(question.condition)).select(question.columns)
        return wanted.collect().to_arrow()

    kept = opened()
    return Reader(lambda question: ask(opened(), question), partial(ask, kept))


# --------------------------------------------------------------------------------------------------- DataFusion


def with_datafusion(path: str, server: Server | None, *, pushes_filters: bool) -> Reader:
    """A session with the file as a table, and one that is kept, which keeps the footer."""

    def opened() -> datafusion.SessionContext:
        config = datafusion.SessionConfig()
        if pushes_filters:
            config = config.set("datafusion.execution.parquet.pushdown_filters", "true")
            config = config.set("datafusion.execution.parquet.reorder_filters", "true")
        context = datafusion.SessionContext(config)
        if server is not None:
            store = AmazonS3(
                BUCKET,
                region="us-east-1",
                access_key_id="key",
                secret_access_key="secret",
                endpoint=f"http://{server.host}",
                allow_http=True,
            )
            context.register_object_store("s3://", store, BUCKET)
        context.register_parquet("file", path)
        return context

    def ask(context: datafusion.SessionContext, question: Question) -> pa.Table:
        return context.sql(question.sql("file")).to_arrow_table()

    kept = cache(opened)
    return Reader(lambda question: ask(opened(), question), lambda question: ask(kept(), question))


# ---------------------------------------------------------------------------------------------------- all of them


def readers(
    path: Path, server: Server | None, connections: list[duckdb.DuckDBPyConnection]
) -> dict[str, Reader]:
    """All readers of a file, local or, with a server, behind that."""
    schema = pq.read_schema(path)
    local: Any = pafs.LocalFileSystem()
    if server is None:
        return {
            OURS: ours(path),
            "pyarrow": with_pyarrow(str(path), local, schema),
            "DuckDB": with_duckdb(connections, str(path), None),
            "Polars": with_polars(str(path), None),
            "DataFusion": with_datafusion(str(path), None, pushes_filters=False),
            "DataFusion, filter pushdown": with_datafusion(str(path), None, pushes_filters=True),
        }
    stored = f"{BUCKET}/{path.name}"
    remote: Any = pafs.S3FileSystem(
        access_key="key",
        secret_key="secret",
        endpoint_override=server.host,
        scheme="http",
        region="us-east-1",
    )
    options = {
        "aws_endpoint_url": f"http://{server.host}",
        "aws_allow_http": "true",
        "aws_access_key_id": "key",
        "aws_secret_access_key": "secret",
        "aws_region": "us-east-1",
    }
    return {
        OURS: ours_remote(server, path.name),
        "pyarrow": with_pyarrow(stored, remote, schema),
        "DuckDB through fsspec": with_duckdb(connections, f"{DUCKDB_PROTOCOL}://{path.name}", server),
        "Polars": with_polars(f"s3://{stored}", options),
        "DataFusion": with_datafusion(f"s3://{stored}", server, pushes_filters=False),
        "DataFusion, filter pushdown": with_datafusion(f"s3://{stored}", server, pushes_filters=True),
    }


def in_order(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows of an answer in the order of their keys, in the types of the file: what makes answers comparable."""
    return table.cast(schema).sort_by(table.column_names[0]).combine_chunks()


__all__ = ["OURS", "Reader", "in_order", "ours", "ours_remote", "readers"]
