"""The files of a folder that Spark reads, found without Spark.

Python's data source runs apart from Spark and has to list the files itself.  Spark's rules for that, some of which surprise, are kept: hidden files and folders are passed over; in a folder without partitions only the
files directly in it are read; in one with partitions, those beside the folders of the partitions are not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from pqassay_reference.columns.column_values import native_file
from pqassay_reference.errors import Refused
from pqassay_spark.jobs.uris import arrow_uri, is_remote, local_path
from pqassay_spark.query.partition_names import is_hidden, partition_of


@dataclass(frozen=True)
class LakeFile:
    """A file that Spark reads.

    Attributes:
        name: Path relative to the root, joined by slashes.
        size: In bytes.
        partition: Columns and values in the names of its folders; ``None`` is null.
    """

    name: str
    size: int
    partition: dict[str, str | None]


@dataclass(frozen=True)
class Lake:
    """A folder of Parquet files, on this machine or behind a URI that `pyarrow.fs` understands.

    Attributes:
        root: The folder as it was given.
    """

    root: str

    def open(self, name: str) -> pa.NativeFile:
        """Open a file by its relative path. Raises ``OSError``."""
        filesystem, base = self._place()
        if filesystem is None:
            return native_file(os.path.join(base, name))  # noqa: PTH118 - text, whatever it holds
        return filesystem.open_input_file(f"{base}/{name}")

    def files(self) -> list[LakeFile]:
        """The files that Spark reads, by name.

        Raises:
            Refused: Folders of partitions and others are mixed in a way that Spark refuses, too.
            OSError: The folder cannot be listed.
        """
        filesystem, base = self._place()
        found = _walk(base) if filesystem is None else _select(filesystem, base)
        files = [LakeFile(name, size, partition_of(name)) for name, size in sorted(found)]
        return _as_spark_reads(self.root, files)

    def _place(self) -> tuple[pafs.FileSystem | None, str]:
        path = local_path(self.root)
        if not is_remote(path):
            return None, os.path.abspath(path)  # noqa: PTH100 - `resolve` would follow links, which Spark does not
        return pafs.FileSystem.from_uri(arrow_uri(path))


def _walk(base: str) -> list[tuple[str, int]]:
    files: list[tuple[str, int]] = []
    pending = [""]
    while pending:
        above = pending.pop()
        with os.scandir(os.path.join(base, above)) as entries:  # noqa: PTH118 - see `Lake.open`
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                if entry.is_dir():
                    pending.append(f"{above}{entry.name}/")
                elif entry.is_file():
                    files.append((f"{above}{entry.name}", entry.stat().st_size))
    return files


def _select(filesystem: pafs.FileSystem, base: str) -> list[tuple[str, int]]:
    selector: Any = pafs.FileSelector(base, recursive=True)
    infos = filesystem.get_file_info(selector)
    named = [(info.path[len(base) :].lstrip("/"), info) for info in infos if info.type == pafs.FileType.File]
    return [(name, int(info.size)) for name, info in named if not any(map(is_hidden, name.split("/")))]


def _as_spark_reads(root: str, files: Sequence[LakeFile]) -> list[LakeFile]:
    layouts = {tuple(file.partition) for file in files if file.partition}
    if not layouts:
        return [file for file in files if "/" not in file.name]
    if len(layouts) > 1:
        shown = " and ".join("/".join(layout) for layout in sorted(layouts)[:2])
        raise Refused(f"{root} is partitioned by {shown}; Spark reads no folder that has both")
    strays = [file.name for file in files if not file.partition and "/" in file.name]
    if strays:
        raise Refused(f"{root} has folders of partitions, and {strays[0]}, which is in none of them")
    return [file for file in files if file.partition]
