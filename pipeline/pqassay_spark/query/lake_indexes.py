"""Indexes of a folder's files: loaded while Spark lists the same files, and used to exclude files.

Spark lists a thousand files in about the time in which their indexes are loaded, and mostly waits for the disk
and for Java. Both therefore run at the same time.  An index that is read before Spark lists its file may belong to an older
file with other rows.  Indexes that were loaded early therefore only count for files that, after
Spark's listing, are still exactly those from before the loading.
"""

from __future__ import annotations

import contextlib
import errno
import os
import warnings
from collections.abc import Collection, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from pqassay_reader.lake.indexed_dataset import IndexedDataset, IndexWarning, open_indexed
from pqassay_reference.columns.column_values import is_text
from pqassay_reference.files.listing import IGNORED, located
from pqassay_reference.rewrite.extract import Trust
from pqassay_spark.jobs.uris import arrow_uri, is_remote, local_path
from pqassay_spark.query.comparisons import ARROW_TYPES, MOST_DIGITS

Identity: TypeAlias = tuple[int, int, int, int, int]
"""Device, number, length and both times of change of a file; these are different for another file."""


@dataclass(frozen=True)
class Believed:
    """The accepted indexes; the members are arguments of `pqassay_reader.lake.indexed_dataset.open_indexed`."""

    table: str | None = None
    trust: Trust = "companion"
    column: str | None = None


Kinds: TypeAlias = Mapping[str, pa.DataType]
"""For the names of columns, the Arrow types of the values that Spark reads there."""


@dataclass(frozen=True)
class LakeIndexes:
    """The indexes of some columns, for the files below a folder.

    Attributes:
        kinds: The columns.
        dataset: The dataset with the indexes.
        base: The folder, as the dataset names it.
        before: The files before their indexes were loaded, by relative paths; ``None`` if Spark
            had already listed the files, because the indexes are then at least as new as Spark's listing.
    """

    kinds: Kinds
    dataset: IndexedDataset
    base: str
    before: Mapping[str, Identity] | None = None

    @classmethod
    def load(
        cls,
        root: str | os.PathLike[str],
        kinds: Kinds,
        believed: Believed,
        *,
        before: Mapping[str, Identity] | None = None,
    ) -> LakeIndexes:
        """Load the indexes. Raises the errors of `open_indexed`, but gives no warnings: `left_out` gives them."""
        place = arrow_uri(local_path(root))
        names = sorted(kinds)
        dataset = open_indexed(
            place,
            columns=names,
            trust=believed.trust,
            column=believed.column,
            table=believed.table,
            # Partition values in the names of folders are handled by Spark.
            schema=pa.schema([pa.field(name, kinds[name]) for name in names]),
            partitioning=None,
            warn=False,
        )
        return cls(dict(kinds), dataset, located(place)[1], before)

    @property
    def aside(self) -> tuple[str, ...]:
        """The stale or damaged indexes of index directories, which are not used, one sentence for each."""
        return self.dataset.aside

    def left_out(self, condition: pc.Expression, *, stacklevel: int = 1) -> dict[str, str]:
        """The files that need not be read, because their indexes prove that no row satisfies a condition.

        Args:
            condition: The condition.
            stacklevel: The line that a warning names; 1 is the line of the caller.

        Returns:
            The reason for each file, by its path relative to the folder.

        Warns:
            IndexWarning: Some files have a usable index, but other files have none, or a stale or damaged one.
        """
        pruning = self.dataset.prune(condition)
        # A column without any index is an ordinary column; one that is indexed in some files deserves a warning.
        is_ordinary = self.dataset.unindexed == len(pruning.kept) + len(pruning.skipped) and not self.aside
        if self.dataset.warnings and not is_ordinary:
            warnings.warn(self.dataset.summary, IndexWarning, stacklevel=stacklevel + 1)
        files = {self._name(path): pruning.reason(path) for path in pruning.skipped}
        return {name: reason for name, reason in files.items() if self._is_unchanged(name)}

    def _name(self, path: str) -> str:
        return path[len(self.base) :].lstrip("/")

    def _is_unchanged(self, name: str) -> bool:
        """Whether a file is still the one whose index was loaded, or that does not matter."""
        if self.before is None:
            return True
        try:
            now = identity(os.stat(os.path.join(self.base, name)))  # noqa: PTH116, PTH118 - text, whatever it holds
        except (OSError, ValueError):
            return False
        return self.before.get(name) == now


def identity(status: os.stat_result) -> Identity:
    """The identity of a file, which distinguishes it from a file that replaces it."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def identities(folder: str) -> dict[str, Identity]:
    """The files below a local folder that may be data, by their paths relative to it.

    Raises:
        OSError: A folder cannot be listed, or is a link, which might lead into a cycle.
    """
    files: dict[str, Identity] = {}
    pending = [""]
    while pending:
        above = pending.pop()
        with os.scandir(os.path.join(folder, above)) as entries:  # noqa: PTH118 - see `LakeIndexes`
            for entry in entries:
                name = f"{above}{entry.name}"
                if entry.name.startswith(IGNORED):
                    continue
                if entry.is_dir():
                    if entry.is_symlink():
                        raise OSError(errno.ELOOP, "it is a link to a folder", entry.path)
                    pending.append(f"{name}/")
                    continue
                with contextlib.suppress(OSError):  # a link that leads nowhere, a file that has vanished
                    files[name] = identity(entry.stat())
    return files


Early: TypeAlias = "Future[LakeIndexes] | None"
"""Indexes that are being loaded, or ``None``."""


@contextlib.contextmanager
def loading(root: str | os.PathLike[str], columns: Collection[str], believed: Believed) -> Generator[Early]:
    """Load the indexes of some columns in parallel with other work; the result or the error is there at the end.

    Spark determines the types of the columns later; until then, the types of the first file are used.
    Only for local folders: behind a URI, an unchanged file cannot be recognized with certainty.
    """
    if not columns or is_remote(root):
        yield None
        return

    def load() -> LakeIndexes:
        folder = os.path.abspath(local_path(root))  # noqa: PTH100 - a link stays what the user calls it
        before = identities(folder)
        kinds = _guessed(folder, before, columns)
        if not kinds:
            raise LookupError("the columns that could have an index are unknown")
        return LakeIndexes.load(root, kinds, believed, before=before)

    with ThreadPoolExecutor(1, thread_name_prefix="pqassay-indexes") as pool:
        yield pool.submit(load)


def _guessed(folder: str, files: Collection[str], columns: Collection[str]) -> dict[str, pa.DataType]:
    """The types of some columns from the schema of the first file, without columns that are missing or have no type in Spark."""
    schema: Any = pq.read_schema(os.path.join(folder, min(files))) if files else pa.schema([])  # noqa: PTH118 - see `LakeIndexes`
    kinds: dict[str, pa.DataType] = {}
    for name in columns:
        with contextlib.suppress(KeyError):  # not there, or there twice
            kind = _guess(schema.field(name).type)
            if kind is not None:
                kinds[name] = kind
    return kinds


def _guess(kind: Any) -> Any:
    """The Arrow type for the values that Spark reads from a column; ``None`` if indexes are not used for that type."""
    if pt.is_dictionary(kind):
        kind = kind.value_type
    if pt.is_timestamp(kind):
        # Without a zone and in nanoseconds: INT96, which Spark treats as instants.
        return pa.timestamp("us", "UTC" if kind.tz is not None or kind.unit == "ns" else None)
    if pt.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale) if kind.precision <= MOST_DIGITS else None
    if pt.is_unsigned_integer(kind):
        return WIDER[kind]
    if is_text(kind):
        return pa.string()
    if pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_fixed_size_binary(kind):
        return pa.binary()
    return kind if kind in ARROW_TYPES.values() else None


WIDER: dict[Any, Any] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""The types that Spark uses for unsigned whole numbers."""


def loaded(early: Early, root: str | os.PathLike[str], kinds: Kinds, believed: Believed) -> LakeIndexes:
    """The indexes of exactly these columns: those that were loaded early, if there are any, otherwise loaded now.

    Raises:
        ArrowException: The folder cannot be listed.
        OSError: The folder cannot be listed.
        ValueError: The arguments do not fit each other.
    """
    # An error counts only if the second attempt fails as well: the folder may have changed.
    if early is not None and early.exception() is None and early.result().kinds == kinds:
        return early.result()
    return LakeIndexes.load(root, kinds, believed)
