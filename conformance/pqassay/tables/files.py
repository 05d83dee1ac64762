"""The interface for reading the files of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

MOST_METADATA = 1 << 30
"""The largest metadata file in bytes that is read."""


PLAIN_FLOOR, PLAIN_RATIO = 4 << 20, 64
"""The limit of decompressed bytes of a compressed file: a constant, plus a number for each compressed byte."""


def most_plain(size: int) -> int:
    """The largest number of decompressed bytes of a file of a size; a file that expands further is not metadata."""
    return min(MOST_METADATA, PLAIN_FLOOR + PLAIN_RATIO * size)


class TableFiles(Protocol):
    """Access to the files below the folder of a table. Paths are relative to it, with slashes."""

    @property
    def name(self) -> str:
        """The table's name in reports."""
        ...

    def listed(self, folder: str) -> Mapping[str, int]:
        """The names and sizes of the files directly in a folder; empty if there is no such folder.

        Raises:
            OSError: The folder cannot be listed.
        """
        ...

    def read(self, path: str) -> bytes:
        """The bytes of a file.

        Raises:
            OSError: The file cannot be read.
            Unsupported: The file is longer than `MOST_METADATA`.
        """
        ...

    def size_of(self, path: str) -> int | None:
        """The size of a file in bytes; ``None`` if it does not exist.

        Raises:
            OSError: The size cannot be determined.
        """
        ...

    def inside(self, path: str) -> str | None:
        """A decoded path, relative or absolute, made relative to the table; ``None`` if it is outside the table."""
        ...
