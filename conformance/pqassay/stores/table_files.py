"""A table among the targets: its place, its judged state, and its files, locally or in a store."""

# ruff: noqa: PTH109, PTH116, PTH118, PTH208 - paths stay the text that the user wrote, and there may be very many
from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Generator, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pqassay.stores.formats import NEWEST, Moment, formats, shown_by
from pqassay.tables.files import MOST_METADATA
from pqassay_spec.base.errors import Unsupported
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.table.layout import TableKind


@dataclass
class MetadataReads:
    """The number of metadata files of tables that were read, and their bytes."""

    files: int = 0
    bytes: int = 0


_COUNTED: ContextVar[MetadataReads | None] = ContextVar("_COUNTED", default=None)


@contextlib.contextmanager
def counted_metadata() -> Generator[MetadataReads]:
    """A context that counts the metadata of tables that are read."""
    counted = MetadataReads()
    token = _COUNTED.set(counted)
    try:
        yield counted
    finally:
        _COUNTED.reset(token)


@dataclass(frozen=True)
class TableAt:
    """A table; see `pqassay.tables.files.TableFiles` for its methods of reading.

    Attributes:
        kind: Its format.
        name: Its name in reports.
        path: Its folder, local or within its store.
        store: URI of its store; empty for a local folder.
        moment: The judged state.
        sizes: The sizes of all its files from a listing of its store; ``None`` without a listing.
    """

    kind: TableKind
    name: str
    path: str
    store: str = ""
    moment: Moment = NEWEST
    sizes: Mapping[str, int] | None = None

    def __hash__(self) -> int:
        return hash((self.kind, self.path, self.store, self.moment))

    def light(self) -> TableAt:
        """The table without the listing, for each of its files."""
        return replace(self, sizes=None)

    def path_of(self, relative: str) -> str:
        """The path of a file of the table, local or within its store."""
        return f"{self.path.rstrip('/') or '/'}/{relative}" if self.path not in ("", ".") else relative

    def name_of(self, relative: str) -> str:
        """The name of a file of the table in reports."""
        return f"{self.name.rstrip('/') or '/'}/{relative}" if self.name not in ("", ".") else relative

    @contextlib.contextmanager
    def opened(self, relative: str) -> Generator[Source]:
        """Open a file of the table. Raises `OSError`."""
        if not _is_a_path(relative):
            raise FileNotFoundError(errno.ENOENT, "not a possible name of a file", relative)
        if self.sizes is not None and relative not in self.sizes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.name_of(relative))
        if not self.store:
            with FileSource(self.path_of(relative), self.name_of(relative)) as source:
                yield source
            return
        from pqassay.stores.remote import open_source  # noqa: PLC0415 - pyarrow is loaded where it is needed

        with contextlib.closing(
            open_source(self.store, self.path_of(relative), self.name_of(relative))
        ) as source:
            yield source

    def read(self, path: str) -> bytes:
        """See `pqassay.tables.files.TableFiles`."""
        with self.opened(path) as source:
            if source.size > MOST_METADATA:
                reason = (
                    f"{path} has {source.size:,} bytes; pqassay reads at most {MOST_METADATA:,} of one file"
                )
                raise Unsupported(reason, field=path)
            if (counted := _COUNTED.get()) is not None:
                counted.files += 1
                counted.bytes += source.size
            return source.read(0, source.size)

    def listed(self, folder: str) -> Mapping[str, int]:
        """See `pqassay.tables.files.TableFiles`."""
        if self.store:
            depth = folder.count("/") + 1
            below = f"{folder}/"
            found = self._listing()
            return {
                path.rpartition("/")[2]: size
                for path, size in found.items()
                if path.startswith(below) and path.count("/") == depth
            }
        try:
            with os.scandir(self.path_of(folder)) as entries:
                return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
        except FileNotFoundError:
            return {}

    def size_of(self, path: str) -> int | None:
        """See `pqassay.tables.files.TableFiles`."""
        if not _is_a_path(path):
            return None
        if self.sizes is not None:
            return self.sizes.get(path)
        if not self.store:
            try:
                found = os.stat(self.path_of(path))
            except (FileNotFoundError, NotADirectoryError):
                return None
            return found.st_size if stat.S_ISREG(found.st_mode) else None
        return self._listing().get(path)

    def _listing(self) -> Mapping[str, int]:
        """The sizes of all files below the table in its store."""
        if self.sizes is not None:
            return self.sizes
        from pqassay.stores import remote  # noqa: PLC0415 - as above

        place = remote.StorePlace(self.store, self.path, self.name, is_folder=True, size=0)
        return {"/".join(entry.names): entry.size for entry in remote.listing(place)}

    def files(self) -> Iterator[str]:
        """Every file below the table, in order, except hidden ones."""
        if self.store:
            yield from sorted(self._listing())
            return
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(self.path_of(folder) if folder else self.path or ".") as listing:
                    entries = sorted(listing, key=lambda entry: os.fsencode(entry.name), reverse=True)
            except OSError:
                continue
            below: list[str] = []
            for entry in reversed(entries):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    below.append(path)
                elif entry.is_file():
                    yield path
            waiting.extend(reversed(below))

    def inside(self, path: str) -> str | None:
        """See `pqassay.tables.files.TableFiles`."""
        if "/" not in path:
            return None if path in ("", ".", "..") else path
        if "://" in path or path.startswith(("/", "file:")):
            relative = self._relative(path)
            if relative is None:
                return None
            path = relative
        names = path.split("/")
        return None if not path or {"", ".", ".."} & set(names) else path

    def _relative(self, path: str) -> str | None:
        """An absolute path made relative to the folder of the table; ``None`` if it is not below that."""
        if self.store:
            roots = [f"{self.name.rstrip('/')}/"]
            scheme, _, rest = path.partition("://")
            path = f"{scheme.removesuffix('a').removesuffix('n') if scheme in ('s3a', 's3n') else scheme}://{rest}"
        else:
            if path.startswith("file:"):
                path = unquote(urlsplit(path).path)
            own = os.path.join(os.getcwd(), self.path).removesuffix("/.")
            roots = [f"{own.rstrip('/')}/", f"{os.path.realpath(own).rstrip('/')}/"]
        return next((path[len(root) :] for root in roots if path.startswith(root)), None)


def _is_a_path(text: str) -> bool:
    """Whether a text can be a path on some system."""
    return "\0" not in text and (text.isascii() or _is_unicode(text))


def _is_unicode(text: str) -> bool:
    try:
        _ = text.encode()
    except UnicodeEncodeError:
        return False
    return True


def kind_of_folder(folder: str, names: frozenset[str]) -> TableKind | None:
    """The format of the table in a local folder; ``None`` if there is no table.

    Args:
        folder: Its path.
        names: The names in it.
    """
    for found in formats().values():
        if found.folder in names:
            with contextlib.suppress(OSError):
                if any(map(found.is_mark, os.listdir(os.path.join(folder, found.folder)))):
                    return found.kind
    return None


def named_by(path: str) -> tuple[str, TableKind, Moment] | None:
    """The folder, the format and the state of a table that the user named by one of its metadata files."""
    parts = path.split("/")
    found = shown_by(parts)
    moment = None if found is None else found.moment_of(parts[-1])
    if found is None or moment is None:
        return None
    return "/".join(parts[:-2]) or ("/" if path.startswith("/") else "."), found.kind, moment


def table_around(path: str) -> TableAt | None:
    """The table that contains a local file; ``None`` if there is none."""
    for folder in map(str, Path(path).parents):
        if (kind := kind_of_folder(folder, frozenset(one.folder for one in formats().values()))) is not None:
            return TableAt(kind, folder, folder)
    return None
