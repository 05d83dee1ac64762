"""The files of a table, as its readers need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

MOST_METADATA = 1 << 30
"""Bytes of one file of metadata that are read, at most."""


PLAIN_FLOOR, PLAIN_RATIO = 4 << 20, 64
"""Bytes without compression that are read of a compressed file: a constant, and a number for each of its own bytes."""


def most_plain(size: int) -> int:
    """Bytes without compression that are read of a file of a size, at most: what a small file swells to is not metadata."""
    return min(MOST_METADATA, PLAIN_FLOOR + PLAIN_RATIO * size)


class TableFiles(Protocol):
    """Access to the files below the folder of a table. Paths are relative to it, with slashes."""

    @property
    def name(self) -> str:
        """The table's name in reports."""
        ...

    def listed(self, folder: str) -> Mapping[str, int]:
        """Names and lengths of the files directly in a folder; none if there is no such folder.

        Raises:
            OSError: It cannot be listed.
        """
        ...

    def read(self, path: str) -> bytes:
        """The bytes of a file.

        Raises:
            OSError: It cannot be read.
            Unsupported: It is longer than `MOST_METADATA`.
        """
        ...

    def size_of(self, path: str) -> int | None:
        """Length of a file in bytes; ``None`` if there is none.

        Raises:
            OSError: That cannot be told.
        """
        ...

    def inside(self, path: str) -> str | None:
        """A decoded path, relative or absolute, as one below the table; ``None`` if it leads elsewhere."""
        ...
