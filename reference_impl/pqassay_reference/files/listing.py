"""The Parquet files of a folder, the same as in ``pqassay check``, with their sizes and modification times."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeAlias, cast

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.fs as pafs

from pqassay_reference.files.tables import require_no_table
from pqassay_spec.parquet.file import SUFFIXES

Roots: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
"""A folder, a file, or several files."""

Partitioning: TypeAlias = "str | list[str] | pads.Partitioning | pads.PartitioningFactory | None"
"""As in `pyarrow.dataset.dataset`."""

IGNORED = (".", "_")
"""Prefixes of the names of files and folders that are not data, as in Arrow and Spark."""


_BETWEEN_PATHS = "\0"
"""A character that never occurs in names."""

_HIDDEN = re.compile(rf"(?:[/{_BETWEEN_PATHS}]|\A)[{re.escape(''.join(IGNORED))}]")
"""A name with such a prefix in a path relative to the folder, or in several joined paths."""


@dataclass(frozen=True)
class ListedFiles:
    """The files of a dataset.

    Attributes:
        filesystem: The filesystem of the files.
        folder: The listed folder, in the spelling of the filesystem; empty if files were named.
        paths: The paths of the files, in the spelling of the filesystem: sorted, or in the order in which they were named.
        sizes: Their sizes in bytes.
        modified: Modification times in nanoseconds since 1970; 0 if the store does not give them.
        partitioning: How folder names give partition values.
    """

    filesystem: Any
    folder: str
    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    modified: tuple[int, ...]
    partitioning: Partitioning

    @property
    def is_local(self) -> bool:
        """Whether the operating system can read the files by their paths."""
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    def relative(self, path: str) -> str:
        """The path of a file relative to the folder."""
        return path[len(self.folder) :].lstrip("/")

    def dataset(self, schema: pa.Schema | None = None) -> pads.FileSystemDataset:
        """Arrow's dataset of the files.

        Raises:
            OSError: The first file cannot be read for its schema.
        """
        arrow: Any = pads  # the type stubs know only part of what these functions take
        options = arrow.FileSystemFactoryOptions(partition_base_dir=self.folder or None)
        way = self.partitioning
        if isinstance(way, str):
            way = arrow.partitioning(flavor=way)
        elif isinstance(way, list):
            way = arrow.partitioning(field_names=way)
        if isinstance(way, pads.PartitioningFactory):
            options.partitioning_factory = way
        elif way is not None:
            options.partitioning = way
        factory = arrow.FileSystemDatasetFactory(
            self.filesystem, list(self.paths), pads.ParquetFileFormat(), options
        )
        return cast("pads.FileSystemDataset", factory.finish(schema))


def list_files(
    root: Roots,
    filesystem: Any,
    partitioning: Partitioning,
    *,
    name: str | None = None,
    inside_table: bool = False,
) -> ListedFiles:
    """List the files of a folder, or check the named files.

    In a folder, files are left out if their name or a folder's name begins with a dot or an underscore. If
    some files have names of Parquet files, all others are left out too.

    Args:
        root: The folder, the file or the files.
        filesystem: Their filesystem; ``None`` to derive it from their names.
        partitioning: How folder names give partition values.
        name: The user's name of the folder, if it differs.
        inside_table: Whether the files of a table are listed as well, including files that the table has deleted.

    Raises:
        Refused: The folder is a table, or is inside a table, or contains one.
        FileNotFoundError: There is no such folder or file.
        ValueError: A URI that no filesystem understands, or a name that is not UTF-8.
        OSError: The folder cannot be listed.
    """
    if isinstance(root, str | os.PathLike):
        filesystem, path = located(root, filesystem)
        (info,) = filesystem.get_file_info([path])
        if info.type is not pafs.FileType.Directory:
            return _listed(filesystem, path.rpartition("/")[0], [_regular(info)], partitioning)
        listed = filesystem.get_file_info(pafs.FileSelector(path, recursive=True))
        start = len(path)
        try:
            if not inside_table:
                called = os.fspath(root) if name is None else name
                require_no_table(
                    filesystem,
                    path,
                    [info.path for info in listed],
                    called,
                    lambda folder: _HIDDEN.search(folder[start:]) is not None,
                )
            files = sorted((info for info in listed if info.is_file), key=attrgetter("path"))
            # Mostly there is no hidden name, which one search over all of them detects.
            if _HIDDEN.search(_BETWEEN_PATHS.join(info.path[start:] for info in files)):
                files = [info for info in files if not _HIDDEN.search(info.path[start:])]
            # Notes, checksums and markers may be among the data; if no name has a known ending, all files count.
            files = [info for info in files if info.path.lower().endswith(SUFFIXES)] or files
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{error.object!r} is not UTF-8, and pyarrow cannot name it; rename it"
            ) from None
        return _listed(filesystem, path, files, partitioning)
    places = [located(path, filesystem) for path in root]
    filesystem = places[0][0] if places else filesystem or pafs.LocalFileSystem()
    if any(not other.equals(filesystem) for other, _ in places):
        raise ValueError("the files lie in different filesystems; open a dataset for each")
    infos = filesystem.get_file_info([path for _, path in places])
    return _listed(filesystem, "", [_regular(info) for info in infos], partitioning)


def located(path: str | os.PathLike[str], filesystem: Any = None) -> tuple[Any, str]:
    """The filesystem of a path or URI, and the path in it."""
    name = os.fspath(path)
    if filesystem is not None:
        return filesystem, filesystem.normalize_path(name).rstrip("/") or name
    if "://" in name:
        filesystem, inside = pafs.FileSystem.from_uri(name)
        return filesystem, inside.rstrip("/") or inside
    # Absolute, so the dataset refers to the same files if the process changes its directory.
    return pafs.LocalFileSystem(), os.path.abspath(name)  # noqa: PTH100 - a link stays what the user calls it


def _regular(info: Any) -> Any:
    if info.type is not pafs.FileType.File:
        what = errno.EISDIR if info.type is pafs.FileType.Directory else errno.ENOENT
        raise OSError(what, os.strerror(what), info.path)  # which makes a FileNotFoundError of the latter
    return info


def _listed(filesystem: Any, folder: str, infos: list[Any], partitioning: Partitioning) -> ListedFiles:
    return ListedFiles(
        filesystem,
        folder,
        tuple(info.path for info in infos),
        tuple(info.size or 0 for info in infos),
        tuple(info.mtime_ns or 0 for info in infos),
        partitioning,
    )
