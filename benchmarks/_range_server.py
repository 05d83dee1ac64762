"""A small object store for the benchmarks: ranges of files over HTTP, each after a while, counted; and clients of it.

    python benchmarks/_range_server.py FOLDER

The server runs in a process of its own, so that it takes nothing from who is measured but the processor.  It answers HEAD and
GET, with ranges and with ``If-Match``, under any path that ends in the name of a file of the folder, so that clients of S3 find it as well; it knows
no signatures, no listing and no limits.  It keeps connections open.  Each answer begins after a delay, and takes as long as its
bytes take at a rate; by default it takes no longer than the machine takes.
"""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import http.server
import json
import math
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pqassay_spec.base.sources import require_range

CONTROL = "/-/"
"""Where the server is told to wait and asked what it counted; such requests are neither counted nor delayed."""

RANGE = re.compile(r"bytes=(\d*)-(\d*)")


# ------------------------------------------------------------------------------------------------------ the server


class Pace(NamedTuple):
    """How fast the server is.

    Attributes:
        delay: Seconds before each answer.
        rate: Bytes of an answer in a second.
    """

    delay: float = 0.0
    rate: float = math.inf


AT_ONCE = Pace()


class _Server(http.server.ThreadingHTTPServer):
    """Takes many connections at once: what finds no place is tried again after a second."""

    request_queue_size = 256


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers one connection, request by request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    folder: ClassVar[Path]
    pace: ClassVar[Pace]
    requests: ClassVar[int] = 0
    length: ClassVar[int] = 0
    lock: ClassVar[threading.Lock] = threading.Lock()

    def do_HEAD(self) -> None:
        """The length of a file."""
        self._answer(has_body=False)

    def do_GET(self) -> None:
        """A file, or a range of it."""
        if self.path.startswith(CONTROL):
            self._control()
        else:
            self._answer(has_body=True)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _control(self) -> None:
        """Return what was counted, start again at 0, and wait as long as the path says from now on."""
        counted = {"requests": _Handler.requests, "length": _Handler.length}
        _Handler.requests = _Handler.length = 0
        _Handler.pace = Pace(*map(float, self.path.removeprefix(CONTROL).split(",")))
        body = json.dumps(counted).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, *, has_body: bool) -> None:
        path = self.folder / self.path.partition("?")[0].rsplit("/", 1)[-1]
        time.sleep(self.pace.delay)
        if not path.is_file():
            with self.lock:
                _Handler.requests += 1
            self.send_response(HTTPStatus.NOT_FOUND)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        status = path.stat()
        tag = f'"{status.st_mtime_ns:x}"'
        if self.headers.get("If-Match", tag) != tag:
            with self.lock:
                _Handler.requests += 1
            self.send_response(HTTPStatus.PRECONDITION_FAILED)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start, stop = _wanted(self.headers.get("Range"), status.st_size)
        with self.lock:
            _Handler.requests += 1
            _Handler.length += (stop - start) * has_body
        is_part = stop - start < status.st_size
        self.send_response(HTTPStatus.PARTIAL_CONTENT if is_part else HTTPStatus.OK)
        self.send_header("Content-Length", str(stop - start))
        if is_part:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{status.st_size}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Last-Modified", email.utils.formatdate(status.st_mtime, usegmt=True))
        self.send_header("ETag", tag)
        self.end_headers()
        if has_body:
            self.wfile.flush()
            time.sleep((stop - start) / self.pace.rate)
            with path.open("rb") as file, contextlib.suppress(ConnectionError):
                self.connection.sendfile(file, start, stop - start)


def _wanted(header: str | None, size: int) -> tuple[int, int]:
    """First byte of a range and the byte behind its last; the whole file without one."""
    found = RANGE.fullmatch(header or "")
    if found is None:
        return 0, size
    first, last = found.groups()
    if not first:
        return max(0, size - int(last)), size
    return int(first), min(int(last) + 1, size) if last else size


def serve(folder: Path) -> None:
    """Serve until the process is ended; the first line of standard output is the port."""
    _Handler.folder = folder
    _Handler.pace = AT_ONCE
    server = _Server(("127.0.0.1", 0), _Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


# ----------------------------------------------------------------------------------------------------- its clients


@dataclass(frozen=True)
class Counted:
    """What the server counted.

    Attributes:
        requests: Requests, of lengths as well as of ranges.
        length: Bytes that it sent.
    """

    requests: int
    length: int


class Server:
    """A server that runs."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.idle: list[http.client.HTTPConnection] = []
        """Connections that are open and not in use."""

    def disconnect(self) -> None:
        """Close the connections that are not in use."""
        while self.idle:
            self.idle.pop().close()

    def counted(self, pace: Pace = AT_ONCE) -> Counted:
        """What was counted since the last call; from now on, the server is as fast as that."""
        connection = http.client.HTTPConnection(self.host)
        connection.request("GET", f"{CONTROL}{pace.delay},{pace.rate}")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return Counted(answer["requests"], answer["length"])


@contextlib.contextmanager
def running(folder: Path) -> Generator[Server]:
    """A server of the files of a folder, in a process of its own."""
    command = [sys.executable, os.fspath(Path(__file__).resolve()), os.fspath(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(int(process.stdout.readline()))
        finally:
            process.terminate()


TAIL = 64 << 10
"""Bytes from the end of a file that the request for its length brings along."""


class Version(NamedTuple):
    """What a file was when it was first asked for.

    Attributes:
        size: Length in bytes.
        modified: When it was changed, in nanoseconds.
        tag: What the server calls this version of it (``ETag``).
    """

    size: int
    modified: int
    tag: str


class ChangedFileError(OSError):
    """A file is not what it was."""


class HttpSource:
    """Ranged reads over HTTP. See `pqassay_spec.base.sources.Source`; safe for several threads.

    An unknown file is asked for its end, whose answer also tells its length.  For a known one, nothing is asked
    beforehand: every request has the condition that the file is still that version (``If-Match``, RFC 9110, section 13.1.1).
    A reader that may have read nothing has to `confirm` that it is.

    Args:
        server: Where the file is.
        name: What it is called there.
        tail: Bytes from its end that are asked for, if it is not known.
        known: Versions of files by name, to which that of this file is added; by default no file is known.

    Raises:
        ChangedFileError: From `read` and `confirm`: the file has changed; it is not known any more.
    """

    def __init__(
        self, server: Server, name: str, tail: int = TAIL, known: dict[str, Version] | None = None
    ) -> None:
        self.name = f"http://{server.host}/{name}"
        self._server, self._path = server, f"/{name}"
        self._known = {} if known is None else known
        self._tail, self._is_confirmed = b"", False
        if self._path not in self._known:
            self._tail, answered = self._get(f"bytes=-{tail}", {})
            self._known[self._path] = _version(answered, len(self._tail))
        self._version = self._known[self._path]
        self.size, self.modified = self._version.size, self._version.modified
        """Its length, and when it was changed; what a scan knows of it is kept until that changes."""

    def read(self, offset: int, length: int) -> bytes:
        """Return a range. See `pqassay_spec.base.sources.Source.read`."""
        require_range(self, offset, length)
        start = self.size - len(self._tail)
        if offset >= start:
            return self._tail[offset - start : offset - start + length]
        return self._get(f"bytes={offset}-{offset + length - 1}", {"If-Match": self._version.tag})[0]

    def confirm(self) -> None:
        """Ask whether the file is still what is known of it, unless an answer has said so."""
        if not self._is_confirmed:
            self._get("bytes=-1", {"If-Match": self._version.tag})

    def _get(self, ranges: str, headers: dict[str, str]) -> tuple[bytes, Message]:
        """A range, and the headers of the answer."""
        try:
            connection = self._server.idle.pop()
        except IndexError:
            connection = http.client.HTTPConnection(self._server.host)
        connection.request("GET", self._path, headers={"Range": ranges} | headers)
        answer = connection.getresponse()
        data = answer.read()
        self._server.idle.append(connection)
        if answer.status == HTTPStatus.PRECONDITION_FAILED:
            self._known.pop(self._path, None)
            raise ChangedFileError(f"{self.name} has changed")
        self._is_confirmed = True
        return data, answer.headers


def _version(headers: Message, length: int) -> Version:
    """The version of an answer of a number of bytes."""
    changed = email.utils.parsedate_to_datetime(headers["Last-Modified"])
    whole = headers["Content-Range"]
    size = length if whole is None else int(whole.rpartition("/")[2])
    return Version(size, int(changed.timestamp()) * 1_000_000_000, headers["ETag"])


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
