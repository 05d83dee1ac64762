"""A finished Parquet file that gets a new footer: open it, check that it may be changed, and replace it as a whole.

Shared by `embed` and `strip`.  Every byte before the footer stays in place, so all offsets in the footer
stay right. The new file is written beside the old one and renamed over it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pqassay_reference.errors import Refused, about
from pqassay_reference.rewrite.footer_splice import footer_and_tail
from pqassay_spec.base.sources import FileSource, replaced_file
from pqassay_spec.parquet.file import Framing, read_footer, read_framing, read_head
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA, is_iceberg_metadata

COPY_SIZE = 8 << 20


class ChangedError(OSError):
    """The file changed during the work, so nothing was written; it is safe to retry."""


@dataclass(frozen=True)
class WrittenState:
    """The state of a written file before other programs can change it.

    Attributes:
        size: Its bytes.
        modified: Its modification time in nanoseconds since 1970.
    """

    size: int
    modified: int


@dataclass(frozen=True)
class FinishedFile:
    """An opened file.

    Attributes:
        path: The path as the user gave it.
        target: The file itself, after following symbolic links.
        source: Its bytes.
        framing: The place of its footer.
        metadata: The decoded footer.
        state: Its inode, size and time of change, which show later changes.
    """

    path: str
    target: Path
    source: FileSource
    framing: Framing
    metadata: FileMetaData
    state: tuple[int, int, int]

    def require_unchanged(self) -> None:
        """Raise `ChangedError` if another file has the name now, or this one was written to."""
        if file_state(self.target) != self.state:
            raise ChangedError("it changed during the operation; nothing was written")

    @property
    def footer(self) -> bytes:
        """The bytes of the footer."""
        return self.source.read(self.framing.footer_start, self.framing.footer_length)

    def rewrite(
        self,
        footer: bytes,
        *,
        body_end: int,
        added: bytes = b"",
        output: str | os.PathLike[str] | None = None,
    ) -> WrittenState:
        """Write the unchanged body, then ``added``, then another footer; in place, or as another file.

        A Hadoop checksum sidecar (``.NAME.crc``) of the replaced file is removed, because it describes the old bytes
        and Spark would refuse the new ones.

        Args:
            footer: The new footer, without length and magic.
            body_end: Number of bytes of the file to keep.
            added: Bytes between them and the footer.
            output: The path to write; the file itself by default.  A new file gets the permissions of this one.

        Returns:
            Size and time of the new file, recorded before it got its name, so they do not include changes by other
            programs.

        Raises:
            ChangedError: The file changed meanwhile.
            BusyError: It is being written.
            OSError: The directory cannot be written.
        """
        target = self.target if output is None else Path(os.path.realpath(output))

        written: list[os.stat_result] = []

        def last_look() -> None:
            self.require_unchanged()
            target.with_name(f".{target.name}.crc").unlink(missing_ok=True)
            written.append(os.fstat(file.fileno()))

        try:
            mode = self.target.stat().st_mode
            with replaced_file(target, new_mode=mode, before_rename=last_look) as file:
                copy_body(self.source, file, body_end)
                file.write(added)
                file.write(footer_and_tail(footer))
        except OSError as error:
            if output is None or error.filename in (None, self.source.name):
                raise
            said = error.strerror or str(error)
            raise OSError(error.errno, f"{os.fspath(output)} cannot be written: {said}") from error
        return WrittenState(written[0].st_size, written[0].st_mtime_ns)


@contextlib.contextmanager
def finished_file(
    path: str | os.PathLike[str],
    *,
    inside_table: bool = False,
    output: str | os.PathLike[str] | None = None,
) -> Generator[FinishedFile]:
    """Open a local Parquet file whose footer will be written again.

    Every `FormatError` from inside the ``with`` block names the file.

    Args:
        path: The file.
        inside_table: Do it even inside a table (Iceberg, Delta, …) whose manifests record the old file size.
        output: The file that will be written, if it is another file.

    Raises:
        Refused: The file to be written belongs to a table.
        FormatError: Not a Parquet file, or an encrypted one.
        OSError: It cannot be read.
    """
    target = Path(os.path.realpath(path))
    if not inside_table and (table := enclosing_table(path if output is None else output)):
        raise Refused(
            f"{'the file' if output is None else output} belongs to {table}, whose manifests record its size: "
            "readers would fail. Do it before the file is added to the table, or let the table write the file again: "
            "`pqassay repair` writes the statement. --inside-table overrides this"
        )
    state = file_state(target)
    with about(os.fspath(path)), FileSource(target) as source:
        read_head(source)
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        yield FinishedFile(os.fspath(path), target, source, framing, metadata, state)


def copy_body(source: FileSource, file: BinaryIO, length: int) -> None:
    """Copy the first bytes of a source."""
    # os.copy_file_range was measured on ext4: from the page cache it is not faster than this
    file.writelines(
        source.read(position, min(COPY_SIZE, length - position)) for position in range(0, length, COPY_SIZE)
    )


def file_state(path: Path) -> tuple[int, int, int]:
    """Inode, size and time of the last change."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


TABLE_MARKS = {DELTA_LOG: "Delta", ".hoodie": "Hudi", "_spark_metadata": "Spark streaming"}
"""Entries of a folder that mark a table whose metadata record the size of each file."""


def kind_of_table(marks: Iterable[str], metadata: Iterable[str]) -> str | None:
    """Kind of the table in a folder; ``None`` if there is no table.

    Args:
        marks: The entries of `TABLE_MARKS` in the folder.
        metadata: Names of the files in its `ICEBERG_METADATA`.
    """
    kinds = [TABLE_MARKS[mark] for mark in marks]
    kinds += ["Iceberg" for name in metadata if is_iceberg_metadata(name)]
    return kinds[0] if kinds else None


def enclosing_table(path: str | os.PathLike[str]) -> str | None:
    """The name of the table whose folder contains a file; ``None`` if there is none.

    A link is in a table if the link itself or its target is.
    """
    lexical = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow the link
    real = Path(os.path.realpath(path))
    for folder in dict.fromkeys((*lexical.parents, *real.parents)):
        marks = [mark for mark in TABLE_MARKS if any(folder.glob(mark))]
        if kind := kind_of_table(marks, (file.name for file in folder.glob(f"{ICEBERG_METADATA}/*.json*"))):
            return f"the {kind} table {folder.name}"
    return None
