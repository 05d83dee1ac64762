"""Maintenance of an index table: its known entries, numbers of runs, concurrent runs, and merging of parts.

Several runs may work on one table at once: each has a unique number, so their parts never have the same name,
and a part is only valid for files of the recorded size and time.  Only merging parts needs exclusive access to the
table; its lock is on the folder, and is released when the process that holds it ends.

If a run is killed, the table may be incomplete but not wrong: parts are written completely, and old ones are
removed only when new parts have all of their valid rows.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import pyarrow as pa

from pqassay_reader.lake import index_table
from pqassay_reference.columns.column_values import native_file
from pqassay_reference.errors import Refused
from pqassay_spark.jobs.distributed import run_tasks
from pqassay_spec.base.sources import TEMPORARY_SUFFIX, remove_leftover, write_whole

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_PARTS = 64
"""Most parts of a table before they are merged."""

GROUP_BYTES = 64 << 20
"""Approximate bytes of old parts that become one new part."""

_RESERVED = re.compile(r"\.run-(?P<run>\d{8})")
"""Names of the empty files that reserve the number of a run."""

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.EBADF, errno.EINVAL, errno.EISDIR)
"""Errors of file systems that cannot lock a folder."""


class Known(NamedTuple):
    """The last entry of a table for a column of a file: its part, the state of the file, its number of rows."""

    run: int
    part: Path
    size: int
    modified: int
    rows: int


@dataclass
class Survey:
    """The content of a table, without values.

    Attributes:
        latest: The latest entry by path and column.
        parts: The parts that were read.
        damaged: Parts that cannot be read; their content counts as unknown.
    """

    latest: dict[tuple[str, str], Known] = field(default_factory=dict[tuple[str, str], Known])
    parts: list[Path] = field(default_factory=list[Path])
    damaged: list[Path] = field(default_factory=list[Path])

    def knows(self, path: str, column: str, size: int, modified: int) -> bool:
        """Whether the table has a column of a file with exactly this size and time."""
        known = self.latest.get((path, column))
        return known is not None and (known.size, known.modified) == (size, modified)

    def rows_of(self, paths: Collection[str]) -> tuple[int, int]:
        """The number of these files that are in the table, and the number of their rows."""
        found = [(path, known.rows) for (path, _), known in self.latest.items() if path in paths]
        return len({path for path, _ in found}), sum(rows for _, rows in found)


def require_table_folder(folder: Path, root: str, *, is_folder: bool = True) -> None:
    """Create the folder of a table if it is missing.

    Args:
        folder: The table.
        root: The indexed folder; for a single file, the folder that contains it.
        is_folder: Whether a folder is indexed, not a single file.

    Raises:
        Refused: It is the indexed folder, readers of the data would read it, or it has other content.
        OSError: It cannot be created or read.
    """
    place, data = Path(os.path.realpath(folder)), Path(os.path.realpath(root))
    if place == data:
        raise Refused(f"{folder} is the indexed folder; the table needs its own folder")
    below = place.relative_to(data).parts if is_folder and place.is_relative_to(data) else ()
    if below and not any(name.startswith((".", "_")) for name in below):
        raise Refused(
            f"{folder} is inside the indexed folder, so readers would read it as data; name a "
            "folder beside it, or a name that begins with _"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 - names are wanted
        if not name.startswith((".", "_")) and index_table.PART_NAME.fullmatch(name) is None:
            raise Refused(f"{folder} is not an index table: it holds {name}; name another folder")
        if not name.startswith((".", "_")) and not (folder / name).is_file():
            raise Refused(f"{folder / name} is not a file; parts of an index table are files: remove it")


def survey(folder: Path) -> Survey:
    """Read the content of a table, without its values.

    Raises:
        Refused: A part is of another version.
    """
    known = Survey()
    for run, path in index_table.parts(folder):
        try:
            counted = _counted(path)
        except FileNotFoundError:
            continue  # another run has put it together with others
        except (pa.ArrowException, OSError, ValueError):
            known.damaged.append(path)
            continue
        known.parts.append(path)
        for name, column, size, modified, rows in zip(
            *(counted.column(name).to_pylist() for name in counted.column_names), strict=True
        ):
            before = known.latest.get((name, column))
            if before is None or before.run <= run:
                known.latest[name, column] = Known(run, path, size, modified, rows)
    return known


def _counted(path: Path) -> pa.Table:
    """One row for each column of each file: path, column, size, modified, rows."""
    with native_file(path) as handle, index_table.part_file(handle) as file:
        metadata = file.schema_arrow.metadata or {}
        if metadata.get(index_table.VERSION_KEY) != str(index_table.VERSION).encode():
            raise Refused(
                f"{path} is not part of an index table of version {index_table.VERSION}; "
                "name another folder for the table"
            )
        if not file.schema_arrow.equals(index_table.SCHEMA):
            raise ValueError("its columns are not those of an index table")
        for _ in file.iter_batches(columns=["value"]):
            pass  # the values are not used here, but a part whose values cannot be read is useless
        keys = ["path", "column", "size", "modified"]
        return file.read(columns=keys).group_by(keys).aggregate([([], "count_all")])


@contextlib.contextmanager
def run_number(folder: Path) -> Generator[int]:
    """Reserve the number of a run, which no earlier run has and no concurrent run gets."""
    reserved = [int(match["run"]) for match in map(_RESERVED.fullmatch, os.listdir(folder)) if match]  # noqa: PTH208 - names are wanted
    run = max(index_table.next_run(folder), max(reserved, default=0) + 1)
    while True:
        marker = folder / f".run-{run:08d}"
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            run += 1
            continue
        # Between listing the folder and this point, a run with this number may have ended and left parts.
        after = index_table.next_run(folder)
        if after <= run:
            break
        marker.unlink(missing_ok=True)
        run = after
    try:
        yield run
    finally:
        marker.unlink(missing_ok=True)


class TableLock:
    """The lock on the folder of a table: shared by runs, exclusive for merging parts; the context releases it at its end.

    If the file system does not support such locks, every request succeeds; concurrent runs may then lose a row that the
    next run adds again.
    """

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        try:
            self.share()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def share(self) -> None:
        """Take a shared lock, after waiting for an exclusive one."""
        self._flock(is_alone=False)

    def take(self) -> bool:
        """Try to take an exclusive lock, which fails if another run is active; then the shared lock is released as well."""
        return self._flock(is_alone=True)

    def _flock(self, *, is_alone: bool) -> bool:
        import fcntl  # noqa: PLC0415 - this module may be read where there are no locks

        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if is_alone else fcntl.LOCK_SH)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        return True


def clear(folder: Path, damaged: Sequence[Path]) -> None:
    """Remove files that killed runs left, and unreadable parts. The caller holds the lock of the table."""
    for name in os.listdir(folder):  # noqa: PTH208 - names are wanted
        if name.startswith(".") and name.endswith(TEMPORARY_SUFFIX):
            remove_leftover(folder / name)
        elif _RESERVED.fullmatch(name):
            (folder / name).unlink(missing_ok=True)
    for path in damaged:
        path.unlink(missing_ok=True)


def is_scattered(known: Survey) -> bool:
    """Whether a table has enough parts to merge, and they can be merged."""
    return len(known.parts) > MOST_PARTS and len(known.parts) >= 2 * len(_groups(known.parts))


def put_together(spark: SparkSession, folder: Path, known: Survey, paths: Collection[str] | None) -> None:
    """Merge the valid rows of all parts into few parts, then remove the old ones. The caller holds the lock of the table.

    Args:
        spark: The session; each new part is a task.
        folder: The table.
        known: Its content.
        paths: The existing files; rows of others are dropped. ``None`` keeps all.
    """
    counts: dict[Path, list[tuple[str, str]]] = {}
    for key, last in known.latest.items():
        if paths is None or key[0] in paths:
            counts.setdefault(last.part, []).append(key)
    # Workers have a working directory of their own.
    place = folder.absolute()
    tasks = [[[(path.absolute(), counts.get(path, [])) for path in group]] for group in _groups(known.parts)]
    with run_number(folder) as run:
        failed = run_tasks(
            spark, tasks, partial(_put_together, place, run), lost=lambda _: ["the worker died"]
        )
    if not any(failed):
        for path in known.parts:
            path.unlink(missing_ok=True)


def _groups(parts: Sequence[Path]) -> list[list[Path]]:
    """Groups of parts that are merged into one, each about `GROUP_BYTES`."""
    groups: list[list[Path]] = []
    room = 0
    for path in parts:
        size = path.stat().st_size
        if not groups or size > room:
            groups.append([])
            room = GROUP_BYTES
        groups[-1].append(path)
        room -= size
    return groups


def _put_together(
    folder: Path, run: int, number: int, groups: Sequence[Sequence[tuple[Path, list[tuple[str, str]]]]]
) -> list[str]:
    """Write one part with the named rows of several parts; on an executor."""
    for group in groups:
        kept: list[pa.Table] = []
        for path, keys in group:
            if not keys:
                continue
            wanted = pa.table({"path": [key[0] for key in keys], "column": [key[1] for key in keys]})
            rows = index_table.read_part(path)
            kept.append(rows.join(wanted, keys=["path", "column"], join_type="left semi"))
        if not kept:
            continue
        table = pa.concat_tables(kept).select(index_table.SCHEMA.names)
        table = table.sort_by([("path", "ascending"), ("column", "ascending"), ("value", "ascending")])
        content = index_table.part_content(pa.Table.from_arrays(table.columns, schema=index_table.SCHEMA))
        write_whole(index_table.part_path(folder, run, number), content)
    return []
