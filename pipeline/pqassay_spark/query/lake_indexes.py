"""Indexes of a folder's files, loaded while Spark lists the same files, and the files that they rule out.

Spark lists a thousand files in about the time that their indexes take to load, and waits for the disk and for Java as
long; so both are done at once.  An index that is read before Spark lists its file may be that of an older one, which
holds other rows.  That is why indexes that were loaded early count only for files that are, after Spark's listing, still
exactly those from before the loading.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import contextlib
import errno
import os
import warnings
from collections.abc import Collection, Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reference.lake.indexed_dataset import IndexedDataset, IndexWarning, open_indexed
from pqassay_reference.lake.listing import IGNORED, located
from pqassay_reference.rewrite.extract import Trust
from pqassay_spark.jobs.uris import arrow_uri, is_remote, local_path

Identity: TypeAlias = tuple[int, int, int, int, int]
"""Device, number, length and both times of change of a file: another file differs in one of them."""


@dataclass(frozen=True)
class Believed:
    """The indexes that are used; the members are arguments of `pqassay_reference.lake.indexed_dataset.open_indexed`."""

    table: str | None = None
    trust: Trust = "companion"
    column: str | None = None


@dataclass(frozen=True)
class LakeIndexes:
    """The indexes of some columns of text, for the files below a folder.

    Attributes:
        columns: The columns, sorted.
        dataset: What is known.
        base: The folder, as the dataset calls it.
        before: By paths relative to the folder, the files before their indexes were loaded; ``None`` where Spark had
            listed the files by then, so that whatever was read is at least as new as what Spark knows.
    """

    columns: tuple[str, ...]
    dataset: IndexedDataset
    base: str
    before: Mapping[str, Identity] | None = None

    @classmethod
    def load(
        cls,
        root: str | os.PathLike[str],
        columns: Iterable[str],
        believed: Believed,
        *,
        before: Mapping[str, Identity] | None = None,
    ) -> LakeIndexes:
        """Load them. Raises as `open_indexed` does, and warns of nothing: that is left to `ruled_out`."""
        place = arrow_uri(local_path(root))
        names = sorted(set(columns))
        dataset = open_indexed(
            place,
            columns=names,
            trust=believed.trust,
            column=believed.column,
            table=believed.table,
            # What the names of folders say is Spark's business.
            schema=pa.schema([pa.field(name, pa.string()) for name in names]),
            partitioning=None,
            warn=False,
        )
        return cls(tuple(names), dataset, located(place)[1], before)

    def ruled_out(self, condition: pc.Expression, *, stacklevel: int = 1) -> dict[str, str]:
        """The files of which their indexes say that no row satisfies a condition, and why.

        Args:
            condition: What is asked.
            stacklevel: Whose line a warning names; 1 is that of the caller.

        Returns:
            For the path of each such file relative to the folder the reason.

        Warns:
            IndexWarning: Some files have an index that can be used, and others have none.
        """
        pruning = self.dataset.prune(condition)
        # A column that is indexed nowhere is an ordinary column; one that is indexed here and there needs a word.
        if 0 < len(self.dataset.warnings) < len(pruning.why):
            warnings.warn(self.dataset.summary, IndexWarning, stacklevel=stacklevel + 1)
        why = {path[len(self.base) :].lstrip("/"): pruning.why[path] for path in pruning.skipped}
        return {name: reason for name, reason in why.items() if self._is_unchanged(name)}

    def _is_unchanged(self, name: str) -> bool:
        """True if a file is still the one whose index was loaded, or that does not matter."""
        if self.before is None:
            return True
        try:
            now = identity(os.stat(os.path.join(self.base, name)))  # noqa: PTH116, PTH118 - text, whatever it holds
        except (OSError, ValueError):
            return False
        return self.before.get(name) == now


def identity(found: os.stat_result) -> Identity:
    """Identity of a file, by which it is told from one that takes its place."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def identities(folder: str) -> dict[str, Identity]:
    """The files below a folder of this machine that may be data, by their paths relative to it.

    Raises:
        OSError: A folder cannot be listed, or is a link, behind which there may be no end.
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
"""Indexes that are being loaded, if any are."""


@contextlib.contextmanager
def loading(root: str | os.PathLike[str], columns: Collection[str], believed: Believed) -> Generator[Early]:
    """Load the indexes of some columns beside what is done meanwhile; they are there, or the error, at the end of it.

    Only for folders of this machine: behind a URI, there is nothing by which to tell an unchanged file for sure.
    """
    if not columns or is_remote(root):
        yield None
        return

    def load() -> LakeIndexes:
        before = identities(os.path.abspath(local_path(root)))  # noqa: PTH100 - a link stays what the user calls it
        return LakeIndexes.load(root, columns, believed, before=before)

    with ThreadPoolExecutor(1, thread_name_prefix="pqassay-indexes") as pool:
        yield pool.submit(load)


def loaded(
    early: Early, root: str | os.PathLike[str], columns: Iterable[str], believed: Believed
) -> LakeIndexes:
    """The indexes of just these columns: those that were loaded early, if they are, or else loaded now.

    Raises:
        ArrowException: The folder cannot be listed.
        OSError: The folder cannot be listed.
        ValueError: The arguments do not fit each other.
    """
    names = tuple(sorted(set(columns)))
    # An error counts only if it is there in the second attempt, too: the folder may have changed.
    if early is not None and early.exception() is None and early.result().columns == names:
        return early.result()
    return LakeIndexes.load(root, names, believed)
