"""One file or table to judge, as it is handed to a judge."""

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
    """One file to judge, as it is handed to a worker process.

    Attributes:
        name: Its name in reports.
        path: Its path, local or within its store.
        store: URI of its store; empty for a local file.
        size: Length in bytes, as far as it is known without another look.
        modified: When it was last changed, in nanoseconds since 1970, as far as that is known without another look.
        kind: The kind of file as which it is judged, and the member ``kind`` of its report.
        trouble: Why it cannot even be opened, if that is known.
        data: The bytes themselves or a source of them, where they are all there is. A source stays open.
        kept_beside: The bytes of what is beside them, by name.
        table: The table that this is, or that the file belongs to.
        claims: The claims of that table about the file; ``None`` for a table itself, and for a file that was found by its name.
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
        """Whether it is a table, and no file."""
        return self.table is not None and self.claims is None

    @contextlib.contextmanager
    def opened(self) -> Generator[Source]:
        """Open it for reading.

        Raises:
            OSError: It cannot be opened.
        """
        if isinstance(self.data, (bytes, bytearray, memoryview)):
            yield BytesSource(self.data, self.name)
        elif self.data is not None:
            yield self.data
        elif self.is_table:
            yield BytesSource(b"", self.name)  # its files are opened one by one
        elif self.store:
            from pqassay.stores.remote import open_source  # noqa: PLC0415 - pyarrow is loaded where it is needed

            with contextlib.closing(open_source(self.store, self.path, self.name)) as source:
                yield source
        else:
            with FileSource(self.path, self.name) as source:
                yield source

    @contextlib.contextmanager
    def siblings(self) -> Generator[Callable[[str], Source | None]]:
        """A function that opens files of the same folder by their names, each once; all are closed in the end.

        It returns ``None`` where there is no such file, and raises `OSError` if there is one that cannot be opened.
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
        """A file of the same folder.

        Raises:
            FileNotFoundError: It is known that there is none.
        """
        if self.data is not None:
            if name not in self.kept_beside:
                raise FileNotFoundError(name)
            return Target(name, name, data=self.kept_beside[name])
        return Target(_sibling(self.name, name), _sibling(self.path, name), self.store)

    def size_beside(self) -> int:
        """Bytes of the files of the same folder that are looked at as well; 0 if that cannot be told."""
        total = 0
        with self.siblings() as siblings:
            for name in file_kinds.beside(self.kind):
                with contextlib.suppress(OSError):
                    source = siblings(name)
                    total += 0 if source is None else source.size
        return total

    def is_gone(self) -> bool:
        """Whether there is no such file any more, though it was found. Takes a request where it is in a store."""
        if self.data is not None or self.trouble or self.is_table:
            return False
        if not self.store:
            return not os.path.lexists(self.path)
        from pqassay.stores.remote import is_there  # noqa: PLC0415 - as above

        return not is_there(self.store, self.path)

    def known_size(self) -> int:
        """Length in bytes; 0 if it cannot be told."""
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
    """A path from the folder of a file; what is above the root of a store is not there, and asked for for nothing."""
    folder, slash, _ = path.rpartition("/")
    while name.startswith("../") and "/" in folder:
        folder, name = folder.rpartition("/")[0], name.removeprefix("../")
    return f"{folder}/{name}" if slash else name
