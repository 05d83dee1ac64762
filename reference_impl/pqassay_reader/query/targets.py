"""The files of a scan: a file, the files of a folder, or objects behind a URI, with the partition columns of folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as pafs

from pqassay_reader.query.facts.footer_facts import Identity
from pqassay_reader.query.fetching.ranges import REMOTE_TAIL
from pqassay_reader.query.fetching.request_pool import request_pool
from pqassay_reference.errors import Refused
from pqassay_reference.files.listing import list_files, located
from pqassay_reference.rewrite.stored_object import ObjectSource
from pqassay_spec.base.sources import FileSource, Source

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The folder name for null as the partition value."""

TAIL_GAPS = 2
"""Size of the end to read of a file behind a URI, in gaps: it mostly includes the page indexes, which saves a step."""


def remote_tail(gap: int) -> int:
    """Bytes to read from the end of a file behind a URI. A source that returns them with its first answer saves a step."""
    return max(REMOTE_TAIL, TAIL_GAPS * gap)


@dataclass(frozen=True)
class Target:
    """One file.

    Attributes:
        name: Its path or URI.
        identity: Its identity, which changes when the file changes.
        opened: Opens it.
        is_local: Whether requests cost almost nothing.
        constants: Partition columns of its folders, with their values.
    """

    name: str
    identity: Identity
    opened: Callable[[], AbstractContextManager[Source]]
    is_local: bool = True
    constants: dict[str, Any] = field(default_factory=dict[str, Any])


def target_of(source: Source) -> Target:
    """A source as the only file of a scan; requests to it count as expensive.

    If it has an attribute ``modified``, a time in nanoseconds, the facts about the file are cached until that
    changes.
    """
    modified: int = getattr(source, "modified", 0)
    return Target(
        source.name, (source.name, source.size, modified, 0), lambda: nullcontext(source), is_local=False
    )


def targets_of(path: str | os.PathLike[str]) -> list[Target]:
    """The files of a path or URI, in the order of their names.

    Raises:
        FileNotFoundError: There is no such file or folder.
        OSError: It cannot be listed.
        ValueError: A URI that no filesystem understands.
        Refused: There are no Parquet files, the folder is a table, or the partition columns of folders differ.
    """
    name = os.fspath(path)
    if "://" not in name and Path(name).is_file():
        return [Target(name, (name, Path(name).stat().st_size, 0, 0), partial(LocalFile, name))]
    filesystem, inside = located(name)
    ahead = None if isinstance(filesystem, pafs.LocalFileSystem) else _OpenedAhead(filesystem, inside)
    try:
        listed = list_files(inside, filesystem, None, name=name)
    except BaseException:
        if ahead is not None:
            ahead.drop()
        raise
    if ahead is not None and list(listed.paths) != [ahead.path]:
        ahead.drop()
    if not listed.paths:
        raise Refused(f"{name}: there are no Parquet files in it")
    constants = _constants([listed.relative(file_path) for file_path in listed.paths])
    targets: list[Target] = []
    for at, file_path in enumerate(listed.paths):
        identity = file_path, listed.sizes[at], listed.modified[at], 0
        opened: Any = partial(ObjectSource, listed.filesystem, file_path)
        if listed.is_local:
            opened = partial(LocalFile, file_path)
        elif ahead is not None and ahead.path == file_path:
            opened = ahead
        targets.append(Target(file_path, identity, opened, listed.is_local, constants[at]))
    return targets


class LocalFile(FileSource):
    """A local file, identified by the open file in the operating system instead of its name."""

    @property
    def identity(self) -> Identity:
        """Its identity, which changes when the file is replaced, because the new file has another inode."""
        status = os.fstat(self.fileno())
        return os.path.abspath(self.name), status.st_size, status.st_mtime_ns, status.st_ino  # noqa: PTH100 - a link stays what the user calls it


class _OpenedAhead:
    """A file behind a URI, opened while another request asks the store whether it is a file.

    Calling it opens the file; the first call returns the file that is already open.
    """

    def __init__(self, filesystem: Any, path: str) -> None:
        self.path = path
        self._filesystem = filesystem
        self._task: Future[ObjectSource] | None = request_pool().submit(ObjectSource, filesystem, path)

    def __call__(self) -> ObjectSource:
        task, self._task = self._task, None
        return ObjectSource(self._filesystem, self.path) if task is None else task.result()

    def drop(self) -> None:
        """Close the file, because it is a folder, or does not exist."""
        if self._task is not None:
            self._task.add_done_callback(_close)


def _close(task: Future[ObjectSource]) -> None:
    if task.exception() is None:
        with task.result():
            pass


def _constants(paths: Sequence[str]) -> list[dict[str, Any]]:
    """The partition values in the folders of each file: numbers if all values of a column are numbers, otherwise text."""
    pairs_by_path = [{key: unquote(value) for key, value in _pairs(path)} for path in paths]
    names = list(pairs_by_path[0])
    for path, pairs in zip(paths, pairs_by_path, strict=True):
        if list(pairs) != names:
            raise Refused(f"{path}: its folders name columns {list(pairs)}, those of {paths[0]} {names}")
    kinds = {name: _kind([pairs[name] for pairs in pairs_by_path]) for name in names}
    return [
        {
            name: pa.scalar(None if value == NO_VALUE else value, pa.string()).cast(kinds[name])
            for name, value in pairs.items()
        }
        for pairs in pairs_by_path
    ]


def _pairs(path: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in path.split("/")[:-1]]
    return [(unquote(key), value) for key, equals, value in parts if equals]


def _kind(values: Sequence[str]) -> pa.DataType:
    texts = pa.array([value for value in values if value != NO_VALUE], pa.string())
    for kind in (pa.int32(), pa.int64()):
        try:
            texts.cast(kind)
        except pa.ArrowException:
            continue
        return kind
    return pa.string()


__all__ = ["Target", "remote_tail", "target_of", "targets_of"]
