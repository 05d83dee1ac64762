"""The data files below a folder, each with its size and modification time, by which changes are noticed.

Names and hidden folders are those of ``pqassay check``.  Summaries (``_metadata``), ``_pm`` files and the parts of an index
table are not data.
"""

# ruff: noqa: PTH112, PTH116, PTH120 - paths stay the text that the user wrote, and there may be very many
from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field

from pqassay.stores import kinds, targets
from pqassay_spark.jobs.uris import local_path
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.file import SUMMARY_NAMES, read_footer, read_framing
from pqassay_spec.rules.catalogue import DEFAULT_FILE


@dataclass(frozen=True, slots=True)
class DataFile:
    """One data file, with all names that lead to it through links.

    Attributes:
        path: The path to open it.
        names: Its paths relative to the root, with names joined by ``/``; several if symbolic links below the
            root lead to it.
        size: Its size in bytes.
        modified: Its modification time in nanoseconds since 1970.
        trouble: Why its size and time cannot be read; empty if they can.
        store: URI of its store, in which ``path`` leads to it; empty for a local file.
    """

    path: str
    names: tuple[str, ...]
    size: int
    modified: int
    trouble: str = ""
    store: str = ""


@dataclass(frozen=True)
class Listing:
    """The data files of a folder.

    Attributes:
        root: The folder; for a single file, the folder that contains it.
        files: The data files, by name.
        is_folder: Whether a folder was listed, not a single file.
        store: URI of the store; empty for a local folder.
    """

    root: str
    files: list[DataFile] = field(default_factory=list[DataFile])
    is_folder: bool = True
    store: str = ""


def list_files(root: str | os.PathLike[str]) -> Listing:
    """List the data files of a folder and of those below it, or a single one.

    Symbolic links are followed, each folder once; links to the same file make one entry with several names.  Hard
    links are separate files, because replacing one leaves the others.

    Raises:
        UsageError: There is no file or folder at this path.
    """
    path = local_path(root)
    if targets.is_uri(path):
        return _list_store(path)
    is_folder = os.path.isdir(path)
    found = targets.find((), literal=[path]).targets
    base = path if is_folder else os.path.dirname(path) or "."
    files = [
        _look_at(target, os.path.relpath(target.name, base))
        for target in found
        if target.kind == "folder" or _is_data(target)
    ]
    return Listing(base, sorted(_joined(files), key=lambda file: os.fsencode(file.names[0])), is_folder)


def _list_store(uri: str) -> Listing:
    from pqassay.stores import remote  # noqa: PLC0415 - pyarrow is loaded where it is needed

    listed = targets.find((), literal=[uri]).targets
    try:
        place = remote.find(remote.parse(uri))
    except (remote.MissingError, OSError):
        # It was removed, or never answered; then the other results give the reason.
        return Listing(
            remote.parse(uri).name,
            [DataFile(target.path, (target.name,), 0, 0, target.trouble) for target in listed],
        )
    if isinstance(place, str):  # of a spelling that only the store's own library knows
        return list_files(place)
    base = place.path if place.is_folder else place.path.rpartition("/")[0]
    files = [
        DataFile(
            target.path,
            (target.path[len(base) :].lstrip("/"),),
            target.size or 0,
            target.modified or 0,
            target.trouble,
            target.store,
        )
        for target in listed
        if _is_data(target)
    ]
    ordered = sorted(files, key=lambda file: os.fsencode(file.names[0]))
    return Listing(place.name, ordered, place.is_folder, place.store)


def _is_data(target: targets.Target) -> bool:
    name = target.path.rpartition("/")[2]
    if target.kind != DEFAULT_FILE or name in SUMMARY_NAMES:
        return False
    return not _is_part_of_index_table(target, name)


def _is_part_of_index_table(target: targets.Target, name: str) -> bool:
    """Whether a file belongs to an index table that is among the data. Only files with such names are opened."""
    from pqassay_reader.lake import index_table  # noqa: PLC0415 - pyarrow is loaded where it is needed

    if index_table.PART_NAME.fullmatch(name) is None:
        return False
    try:
        with target.opened() as source:
            metadata, _ = read_footer(source, read_framing(source))
    except (FormatError, OSError):
        return False  # a data file may have such a name; its errors are reported later
    key = index_table.VERSION_KEY.decode()
    return any(pair.key == key for pair in metadata.key_value_metadata or [])


def _look_at(target: targets.Target, name: str) -> tuple[DataFile, tuple[int, int] | None]:
    if not target.trouble:
        try:
            found = os.stat(target.path)
        except OSError as error:
            return DataFile(target.path, (name,), 0, 0, error.strerror or str(error)), None
        if stat.S_ISREG(found.st_mode):
            data = DataFile(target.path, (name,), found.st_size, found.st_mtime_ns)
            return data, (found.st_dev, found.st_ino)
    return DataFile(target.path, (name,), 0, 0, target.trouble or kinds.SPECIAL), None


def _joined(listed: Iterable[tuple[DataFile, tuple[int, int] | None]]) -> Iterable[DataFile]:
    """Merge symbolic links to one file into one entry, because two tasks must not rewrite it at once."""
    by_inode: dict[tuple[int, int], list[DataFile]] = {}
    for file, inode in listed:
        if inode is None:
            yield file
        else:
            by_inode.setdefault(inode, []).append(file)
    for same in by_inode.values():
        if len(same) == 1:
            yield same[0]
            continue
        by_target: dict[str, list[DataFile]] = {}
        for file in same:
            by_target.setdefault(os.path.realpath(file.path), []).append(file)
        for files in by_target.values():
            first = files[0]
            names = tuple(name for file in files for name in file.names)
            yield DataFile(first.path, names, first.size, first.modified)
