"""Checkpoints in Parquet, read by pyarrow in a separate process.

pyarrow may abort or hang on a damaged file, which must not end the check of a whole lake.  One process reads
checkpoint after checkpoint and sends the columns of actions back as Arrow's stream.  It limits itself: the
system ends it when its time is over, and it ends when its standard input does, with the process that asked.

    request   seconds, 8 bytes · length, 8 bytes · the file
    reply     kind, 1 byte · length, 8 bytes · a part of the stream, nothing, or a message
"""

from __future__ import annotations

import atexit
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from pqassay_spec.base.errors import Unsupported

KINDS = ("txn", "add", "remove", "metaData", "protocol", "domainMetadata", "checkpointMetadata", "sidecar")
"""The columns that are actions."""

BATCH = 4096
"""The number of rows of a part."""

ROWS_FLOOR, BYTES_OF_ROW = 1 << 13, 4
"""The limit of rows that are read: a constant, and one more for a number of bytes. An entry has a path, which does not compress to less."""

PLAIN_FLOOR, PLAIN_RATIO = 1 << 26, 256
"""The limit of bytes of values that are read: a constant, and a number for each byte of the file."""

SECONDS, BYTES_PER_SECOND = 60, 1 << 20
"""The time for a file in seconds: a constant, and one more for a number of bytes."""

MEMORY = 1 << 30
"""The memory limit in bytes, in addition to the values."""

HEAD = struct.Struct("<cQ")
REQUEST = struct.Struct("<QQ")
PART, DONE, BROKEN, TOO_LARGE = b"P", b"D", b"B", b"L"


class BrokenCheckpointError(Exception):
    """pyarrow cannot read the file; the message is its own."""


def batches(file: str, data: bytes) -> Iterator[Any]:
    """Yield the columns of actions in a checkpoint.

    Args:
        file: The name of the file, for messages.
        data: Its bytes.

    Yields:
        Record batches (`pyarrow.RecordBatch`) of at most `BATCH` rows.

    Raises:
        BrokenCheckpointError: The file cannot be read.
        Unsupported: The file expands too much for its size, pyarrow crashed, or pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - only tables with checkpoints need it, and a browser has none
    except ImportError:
        message = f"{file}: reading a checkpoint needs pyarrow, which is not installed; use pqassay check on the command line"
        raise Unsupported(message) from None

    for part in _reader.parts(file, data):
        with pa.ipc.open_stream(part) as stream:
            yield from stream


# ------------------------------------------------------------------------------------------------ the requesting process


class _Reader:
    """The reading process, started on first use, and again after a file ended it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0

    def parts(self, file: str, data: bytes) -> list[bytes]:
        """The parts of the stream for a file; see `batches` for errors."""
        with self.lock:
            try:
                return self._ask(file, data)
            except (OSError, EOFError):
                raise Unsupported(f"{file}: {self._end()}", field=file) from None
            except BaseException as error:
                if not isinstance(error, (BrokenCheckpointError, Unsupported)):
                    self._end()  # the rest of a reply is unread
                raise

    def _ask(self, file: str, data: bytes) -> list[bytes]:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(REQUEST.pack(SECONDS + len(data) // BYTES_PER_SECOND, len(data)))
        process.stdin.write(data)
        process.stdin.flush()
        parts: list[bytes] = []
        while True:
            kind, length = HEAD.unpack(_exactly(process.stdout, HEAD.size))
            content = _exactly(process.stdout, length)
            if kind == DONE:
                return parts
            if kind == BROKEN:
                raise BrokenCheckpointError(content.decode("utf-8", "replace"))
            if kind == TOO_LARGE:
                raise Unsupported(f"{file} {content.decode()}", field=file)
            parts.append(content)

    def _running(self) -> subprocess.Popen[bytes]:
        if self.owner != os.getpid():
            self.process = None  # of the parent of this fork, where it is still in use
        elif self.process is not None and self.process.poll() is not None:
            self._end()
        if self.process is None:
            path = os.pathsep.join(filter(None, sys.path))
            self.process = subprocess.Popen(  # noqa: S603 - this interpreter and this module
                [sys.executable, "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )
            self.owner = os.getpid()
        return self.process

    def _end(self) -> str:
        """End the process; return how it ended."""
        process, self.process = self.process, None
        if process is None:
            return "the process that reads it could not be started"
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]  # both are pipes
        try:
            code = process.wait(1)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        if code == -signal.SIGALRM:
            return "reading it took too long"
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"the process that read it {how}"

    def close(self) -> None:
        """End the process, if this process started it."""
        if self.owner == os.getpid():
            self._end()


_reader = _Reader()
atexit.register(_reader.close)


def reading_process() -> int | None:
    """The id of the reading process, if it is running."""
    return None if _reader.process is None else _reader.process.pid


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


# ---------------------------------------------------------------------------------------------- the reading process


def main() -> None:
    """Read files from standard input until it ends."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # a terminal sends it to all processes; the requesting process ends this one
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries is not a reply
    requests = sys.stdin.buffer
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        seconds, length = REQUEST.unpack(head)
        signal.alarm(seconds)
        _limit_memory(MEMORY + PLAIN_FLOOR + PLAIN_RATIO * length)
        for kind, content in _replies(requests.read(length)):
            replies.write(HEAD.pack(kind, len(content)))
            replies.write(content)
        replies.flush()
        signal.alarm(0)


def _replies(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    import pyarrow as pa  # noqa: PLC0415 - the process that asks imports this module and may not need it

    try:
        for batch in _read(data):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield PART, sink.getvalue().to_pybytes()
        yield DONE, b""
    except Unsupported as error:
        yield TOO_LARGE, str(error).encode()
    except BrokenCheckpointError as error:
        yield BROKEN, str(error).encode()


def _read(data: bytes) -> Iterator[Any]:
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    try:
        opened = pq.ParquetFile(pa.BufferReader(data), coerce_int96_timestamp_unit="us")
        columns = [name for name in opened.schema_arrow.names if name in KINDS]
        rows = opened.metadata.num_rows
        if rows > ROWS_FLOOR + len(data) // BYTES_OF_ROW:
            raise Unsupported(f"has {rows:,} rows in {len(data):,} bytes, more than pqassay reads")
        swollen = 0
        for batch in opened.iter_batches(batch_size=BATCH, columns=columns):
            swollen += batch.nbytes
            if swollen > PLAIN_FLOOR + PLAIN_RATIO * len(data):
                raise Unsupported(f"expands to more than {swollen:,} bytes")
            batch.validate(full=True)
            yield batch
    except MemoryError:  # the file may be to blame, or the limit
        raise Unsupported("takes more than the memory limit for reading it") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError) as error:
        raise BrokenCheckpointError(" ".join(str(error).split())[:200]) from None


def _limit_memory(most: int) -> None:
    import resource  # noqa: PLC0415 - there is none in a browser

    if sys.platform.startswith("linux"):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(
            resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
        )


if __name__ == "__main__":
    main()
