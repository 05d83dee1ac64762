"""Files and folders of URIs, through ``pyarrow.fs``: S3, Google Cloud Storage, HDFS, Azure.

pyarrow takes settings that a URI cannot express from the environment (``AWS_ACCESS_KEY_ID``,
``AWS_ENDPOINT_URL``, ``JAVA_HOME`` and so on); options of the store may also be in the URI's query
(``?endpoint_override=…&scheme=http``).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote, unquote

import pyarrow as pa
from pyarrow import fs

from pqassay.errors import UsageError
from pqassay.stores.patterns import split
from pqassay.stores.remote_source import RemoteSource, Tails, patiently

if TYPE_CHECKING:
    from pqassay.stores.targets import Target

ALIASES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""Scheme names of other programs, with those of pyarrow."""

_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?"
)

_SAFE = "/~=&,;:@!$'()+"
"""Characters that need no percent sign in the path of a URI; wildcards are not among them."""


TAILS = Tails()
"""What this process learned about the ends of objects."""


class MissingError(Exception):
    """A URI points to nothing; the message says what is missing."""


@dataclass(frozen=True)
class StorePlace:
    """A file or folder in a store.

    Attributes:
        store: The URI for connections; it may contain credentials and is never printed.
        path: The path within the store, in pyarrow's form.
        name: The URI without credentials and options, for messages.
        is_folder: Whether it is a folder, or a common prefix of several object keys.
        size: Length in bytes of a file.
        modified: The time of its last change, in nanoseconds since 1970, if known.
    """

    store: str
    path: str
    name: str
    is_folder: bool
    size: int
    modified: int | None = None

    def below(self, names: list[str], *, size: int, modified: int | None = None) -> StorePlace:
        """A file below this folder."""
        path = "/".join([self.path.rstrip("/"), *names])
        name = f"{self.name.rstrip('/')}/{_quoted('/'.join(names))}"
        return StorePlace(self.store, path, name, False, size, modified)


class ListedFile(NamedTuple):
    """A file in a listing: its names below the folder, its size in bytes, and the time of its last change."""

    names: list[str]
    size: int
    modified: int | None


@dataclass(frozen=True)
class Uri:
    """A parsed URI."""

    scheme: str
    authority: str
    path: str
    query: str

    @property
    def name(self) -> str:
        """The URI without credentials and options."""
        # In Azure URIs, the container is before the @.
        is_azure = self.scheme.startswith("abfs")
        return (
            f"{self.scheme}://{self.authority if is_azure else self.authority.rpartition('@')[2]}{self.path}"
        )

    @property
    def store(self) -> str:
        """The URI of the store."""
        return f"{self.scheme}://{self.authority}/{self.query}"

    def at(self, path: str) -> Uri:
        """The URI of another path in the same store."""
        return Uri(self.scheme, self.authority, path, self.query)

    @property
    def full(self) -> str:
        """The complete URI for pyarrow."""
        return f"{self.scheme}://{self.authority}{self.path}{self.query}"


def parse(text: str) -> Uri:
    """Parse a URI.

    Raises:
        UsageError: The text is not a URI.
    """
    match = _PARTS.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not a readable URI")
    scheme = match["scheme"].lower()
    return Uri(ALIASES.get(scheme, scheme), match["authority"], match["path"], match["query"] or "")


def find(uri: Uri) -> StorePlace | str:
    """Find the file or folder of a URI without wildcards; for ``file://``, return the local path.

    Percent signs are decoded. If nothing exists there, the undecoded path is tried, since Spark writes such names.

    Raises:
        MissingError: Nothing is there.
        UsageError: pyarrow does not know the scheme, or cannot read the URI.
        OSError: The store cannot be reached, or denies access; `pqassay.stores.remote_source.describe` explains it.
    """
    readings = list(dict.fromkeys([_quoted(decoded(uri.path)), _quoted(uri.path)]))
    place = None
    for reading in readings:
        system, path = _connect(uri.at(reading))
        if isinstance(system, fs.LocalFileSystem):
            return path
        info = patiently(partial(_info, system, path))
        if info.type != fs.FileType.NotFound:
            is_folder = info.type == fs.FileType.Directory
            name = uri.at(reading).name
            place = StorePlace(uri.store, path, name, is_folder, int(info.size or 0), modified(info))
            break
        bucket = path.partition("/")[0]
        if bucket and system.get_file_info([bucket])[0].type == fs.FileType.NotFound:
            raise MissingError(f"there is no bucket {bucket}")
    if place is None:
        raise MissingError("no such file")
    return place


def _info(system: fs.FileSystem, path: str) -> fs.FileInfo:
    return system.get_file_info([path])[0]


def listing(folder: StorePlace) -> Iterator[ListedFile]:
    """Yield every file in a folder and in the folders below it, in order.

    Raises:
        OSError: The store refuses the listing.
    """
    system = filesystem(folder.store)
    infos = patiently(lambda: system.get_file_info(fs.FileSelector(folder.path, recursive=True)))
    depth = len(split(folder.path))
    yield from sorted(listed(info, depth) for info in infos if info.type == fs.FileType.File)


def listed(info: fs.FileInfo, depth: int) -> ListedFile:
    """The listing entry of a file below a folder whose path has ``depth`` names."""
    return ListedFile(split(info.path)[depth:], int(info.size or 0), modified(info))


def modified(info: fs.FileInfo) -> int | None:
    """The time of a file's last change, in nanoseconds since 1970; ``None`` if unknown."""
    return int(info.mtime_ns) if info.mtime_ns else None


def open_source(store: str, path: str, name: str) -> RemoteSource:
    """Open an object for ranged reads."""
    opened = filesystem(store)
    file: Any = patiently(
        lambda: opened.open_input_file(path)
    )  # the type stubs lack the argument types of read_at
    return RemoteSource(file, name, TAILS)


def is_there(store: str, path: str) -> bool:
    """Whether an object exists; also true if that is unknown."""
    with contextlib.suppress(OSError):
        return _info(filesystem(store), path).type != fs.FileType.NotFound
    return True


@lru_cache(maxsize=64)
def filesystem(store: str) -> fs.FileSystem:
    """The file system of a store, cached for this process."""
    return _connect(parse(store))[0]


def _connect(uri: Uri) -> tuple[fs.FileSystem, str]:
    try:
        return fs.FileSystem.from_uri(uri.full)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if "Unrecognized filesystem type" in str(error):
            reason = f"there is no access to {uri.scheme}://; s3, gs, hdfs, abfss and file are known"
        else:
            reason = " ".join(str(error).replace(uri.full, uri.name).split())
        raise UsageError(f"{uri.name}: {reason}") from None


def decoded(path: str) -> str:
    """A path with decoded percent signs."""
    return unquote(path, errors="surrogateescape")


def _quoted(path: str) -> str:
    return quote(path, safe=_SAFE, errors="surrogateescape")


def etag(target: Target) -> str | None:
    """The etag of an object; ``None`` if its store has none. Takes one request."""
    if not target.store or target.trouble:
        return None
    with contextlib.suppress(OSError), filesystem(target.store).open_input_file(target.path) as file:
        metadata = cast("Mapping[str, bytes]", file.metadata() or {})
        found = next((value for name, value in metadata.items() if name.lower() == "etag"), b"")
        return found.decode("utf-8", "replace").strip('"') or None
    return None
