"""What is known of one file of a lake: its footer, and what the blobs of its index directory hold."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from pqassay_reader.lake.tails import REQUEST_SIZE, NativeSource, TailSource
from pqassay_reference.directory.reading.arrays import Located, OpenIndex, open_index
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_reference.directory.reading.usable_entries import FileDirectory, read_entries
from pqassay_reference.errors import about
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.parquet.file import Framing, read_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import FileMetaData

LOCAL_TAIL = 8 << 10
"""Bytes that are read from the end of a local file, where a second read costs less than bytes that nobody needs."""


class CountingSource:
    """A source that counts what is read of it."""

    def __init__(self, whole: Source) -> None:
        self.name, self.size = whole.name, whole.size
        self._whole = whole
        self.length = 0

    def read(self, offset: int, length: int) -> bytes:
        """Return a range. See `pqassay_spec.base.sources.Source.read`."""
        self.length += length
        return self._whole.read(offset, length)


@dataclass
class KnownFile:
    """One file.

    Attributes:
        path: Its path.
        filesystem: Where it is; ``None`` for that of the computer.
        framing: Where its parts are.
        metadata: Its footer.
        directory: Its entries, and what is left aside of them.
        indexes: What they hold, but for the values.
        length: Bytes that were read to know this.
    """

    path: str
    filesystem: Any
    framing: Framing
    metadata: FileMetaData
    directory: FileDirectory
    indexes: list[OpenIndex | None]
    length: int

    @cached_property
    def name(self) -> str:
        """What messages call it: of a local file below the working directory, the path from there."""
        below = f"{os.getcwd()}{os.sep}"  # noqa: PTH109 - text, as the path is
        return self.path.removeprefix(below) if self.filesystem is None else self.path

    @cached_property
    def sketches(self) -> FileDirectory:
        """Its entries of sketches, whose blobs nobody has read."""
        return read_entries(self.metadata, (IndexType.HLL, IndexType.KLL))

    @cached_property
    def chunk_lengths(self) -> tuple[dict[str, list[int]], Numbers]:
        """The leaves of each column at the top level, and the bytes of all chunks, row groups by leaves."""
        by_column: defaultdict[str, list[int]] = defaultdict(list)
        for place, leaf in enumerate(leaves(self.metadata)):
            by_column[leaf.path[0]].append(place)
        lengths = [
            [
                chunk.meta_data.total_compressed_size if chunk.meta_data is not None else 0
                for chunk in group.columns
            ]
            for group in self.metadata.row_groups
        ]
        return by_column, np.array(lengths, np.int64).reshape(len(lengths), -1)

    def data_length(self, columns: Sequence[str], row_groups: Sequence[int]) -> int:
        """Bytes of the chunks of some columns in some row groups."""
        by_column, lengths = self.chunk_lengths
        places = [place for column in columns for place in by_column.get(column, ())]
        return int(lengths[row_groups][:, places].sum())


def opened(path: str, filesystem: Any) -> AbstractContextManager[Source]:
    """A file, to be read. Raises `OSError`."""
    found: Any = FileSource(path) if filesystem is None else NativeSource(filesystem, path)
    return cast("AbstractContextManager[Source]", found)


def known_file(path: str, filesystem: Any) -> KnownFile:
    """Read what is known of a file: its footer, and the blobs of its entries.

    Raises:
        FormatError: It is no Parquet file.
        OSError: It cannot be read.
    """
    with opened(path, filesystem) as whole, about(path):
        counting = CountingSource(whole)
        source = TailSource(counting, LOCAL_TAIL if filesystem is None else REQUEST_SIZE)
        framing = read_framing(source)
        metadata = read_footer(source, framing)[0]
        directory = read_entries(metadata)
        indexes = [
            open_index(Located(one, source, framing, metadata, directory.aside)) for one in directory.entries
        ]
        return KnownFile(path, filesystem, framing, metadata, directory, indexes, counting.length)


__all__ = ["CountingSource", "KnownFile", "known_file", "opened"]
