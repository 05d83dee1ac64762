"""A target: one file or table to judge."""

# ruff: noqa: PTH116 - paths stay the text that the user wrote, and there may be very many
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field

from pqassay.stores import kinds as file_kinds
from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import FileClaims
from pqassay_spec.base.sources import BytesSource, FileSource, Source


@dataclass(frozen=True, slots=True)
class Target:
    """One file or table to judge, in the form that worker processes receive.

    Attributes:
        name: Its name in reports.
        path: Its path, local or within its store.
        store: URI of its store; empty for a local file.
        size: The size in bytes, if known without another request.
        modified: The time of its last change in nanoseconds since 1970, if known without another request.
        kind: The kind of file, which is also the member ``kind`` of its report.
        trouble: Why it cannot be opened, if known.
        data: The bytes or a source of them, for a target without a path. A source stays open.
        kept_beside: The bytes of the files beside ``data``, by name.
        table: The table that is the target, or that has the file.
        claims: The claims of that table about the file; ``None`` for a table, and for a file without a table.
    """

    name: str
    path: str
    store: str = ""
    size: int | None = None
    kind: str = "parquet"
    trouble: str = ""
    data: bytes | bytearray | memoryview | Source | None = None

    kept_beside: Mapping[str, bytes | bytearray | memoryview | Source] = field(
        default_factory=dict[str, bytes]
    )
    modified: int | None = None
    table: TableAt | None = None
    claims: FileClaims | None = None

    @property
    def is_table(self) -> bool:
        """Whether it is a table, not a file."""
        return self.table is not None and self.claims is None

    @contextlib.contextmanager
    def opened(self) -> Generator[Source]:
        """Open it for reading.

        Raises:
            OSError: The file cannot be opened.
        """
        if isinstance(self.data, (bytes, bytearray, memoryview)):
            yield BytesSource(self.data, self.name)
        elif self.data is not None:
            yield self.data
        elif self.is_table:
            yield BytesSource(b"", self.name)  # the files of a table are opened one by one
        elif self.store:
            from pqassay.stores.remote import open_source  # noqa: PLC0415 - pyarrow is loaded where it is needed

            with contextlib.closing(open_source(self.store, self.path, self.name)) as source:
                yield source
        else:
            with FileSource(self.path, self.name) as source:
                yield source

    @contextlib.contextmanager
    def siblings(self) -> Generator[Callable[[str], Source | None]]:
        """A context with a function that opens files of the same folder by name, each once; at its end, all are closed.

        The function returns ``None`` if there is no such file, and raises `OSError` if the file cannot be opened.
        """
        sources: dict[str, Source | None] = {}
        with contextlib.ExitStack() as stack:

            def open_beside(name: str) -> Source | None:
                if name not in sources:
                    sources[name] = None
                    with contextlib.suppress(FileNotFoundError):
                        sources[name] = stack.enter_context(self.beside(name).opened())
                return sources[name]

            yield open_beside

    def beside(self, name: str) -> Target:
        """The target of a file in the same folder.

        Raises:
            FileNotFoundError: The file is known not to exist.
        """
        if self.data is not None:
            if name not in self.kept_beside:
                raise FileNotFoundError(name)
            return Target(name, name, data=self.kept_beside[name])
        return Target(_sibling(self.name, name), _sibling(self.path, name), self.store)

    def size_beside(self) -> int:
        """The size in bytes of the files in the same folder that are also read; 0 if unknown."""
        total = 0
        with self.siblings() as siblings:
            for name in file_kinds.beside(self.kind):
                with contextlib.suppress(OSError):
                    source = siblings(name)
                    total += 0 if source is None else source.size
        return total

    def is_gone(self) -> bool:
        """Whether the file no longer exists, though it was found. For a file in a store, this takes a request."""
        if self.data is not None or self.trouble or self.is_table:
            return False
        if not self.store:
            return not os.path.lexists(self.path)
        from pqassay.stores.remote import is_there  # noqa: PLC0415 - as above

        return not is_there(self.store, self.path)

    def known_size(self) -> int:
        """The size in bytes; 0 if unknown."""
        if self.is_table:
            return 0
        if self.size is None:
            if self.data is not None:
                if isinstance(self.data, (bytes, bytearray, memoryview)):
                    return memoryview(self.data).nbytes
                return self.data.size
            with contextlib.suppress(OSError):
                return os.stat(self.path).st_size
        return self.size or 0


def _sibling(path: str, name: str) -> str:
    """A path relative to the folder of a file; for a path above the root of a store, one that does not exist."""
    folder, slash, _ = path.rpartition("/")
    while name.startswith("../") and "/" in folder:
        folder, name = folder.rpartition("/")[0], name.removeprefix("../")
    return f"{folder}/{name}" if slash else name
