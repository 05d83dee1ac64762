"""Listing folders of stores on executors, because a store returns only a thousand names per request.

Spark's own listing (``binaryFile``) omits names that begin with ``_`` or ``.``, so ``_pm`` and ``_metadata``
files would never be judged. It also spells unusual names differently.  Here pyarrow lists, as in `pqassay
check`. The driver descends until there are enough folders for all executors, which then list them with
everything below.  Local folders are listed by the driver: that takes microseconds for each file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pyarrow import fs

from pqassay.stores.patterns import split
from pqassay.stores.remote import ListedFile, StorePlace, filesystem, listed
from pqassay.stores.remote_source import describe
from pqassay_spark.jobs.packing import pack
from pqassay_spark.jobs.spark_jobs import Count, cores, packed, run, unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDERS_PER_CORE = 4
"""Folders per core before the executors start, because some folders have more files than others."""

LEVELS = 4
"""Levels below the folder that the driver lists to get enough folders."""


class SparkListing:
    """Lists as `pqassay.stores.remote.listing` does, on executors if there is much to list."""

    def __init__(self, session: Callable[[], SparkSession]) -> None:
        """Take the function that returns the session; it is called only if a store has at least two folders."""
        self._session = session

    def __call__(self, folder: StorePlace) -> Iterator[ListedFile]:
        """Yield every file in a folder and in the folders below it, in order.

        Raises:
            OSError: The store cannot be listed.
            JobError: The executors cannot list it; the message gives the reason.
        """
        depth = len(split(folder.path))
        files: list[ListedFile] = []
        folders = [folder.path]
        for level in range(LEVELS):
            below: list[str] = []
            for path in folders:
                infos = filesystem(folder.store).get_file_info(fs.FileSelector(path))
                files += [listed(info, depth) for info in infos if info.type == fs.FileType.File]
                below += [info.path for info in infos if info.type == fs.FileType.Directory]
            folders = below
            if not folders or len(folders) >= self._enough(level):
                break
        yield from sorted([*files, *self._below(folder.store, folders, depth)])

    def _enough(self, level: int) -> int:
        """The number of folders of one level that is enough for the executors; a single one is never enough."""
        return 2 if level == LEVELS - 1 else FOLDERS_PER_CORE * cores(self._session())

    def _below(self, store: str, folders: list[str], depth: int) -> list[ListedFile]:
        tasks = pack([0] * len(folders), FOLDERS_PER_CORE * cores(self._session())) if folders[1:] else []
        if not tasks:
            return [file for path in folders for file in _all_below(store, path, depth)]
        work = [packed((store, [folders[position] for position in task], depth)) for task in tasks]
        files: list[ListedFile] = []
        for result in run(
            self._session(), work, list_task, description=f"pqassay: list {len(folders)} folders"
        ):
            part: list[ListedFile] | str = unpacked(result)
            if isinstance(part, str):
                raise OSError(part)
            files += part
        return files


def list_task(task: bytes, count: Count) -> bytes:
    """List some folders with everything below them, on an executor.

    Args:
        task: Packed: the store, the paths of the folders, and the number of names in the common prefix of all paths.
        count: Called with the number of files.

        Returns:
            Packed: the files, or a text with the reason why they cannot be listed.
    """
    store, folders, depth = unpacked(task)
    try:
        found = [file for path in folders for file in _all_below(store, path, depth)]
    except OSError as error:
        return packed(describe(error))
    count((len(found), 0))
    return packed(found)


def _all_below(store: str, path: str, depth: int) -> list[ListedFile]:
    infos = filesystem(store).get_file_info(fs.FileSelector(path, recursive=True))
    return [listed(info, depth) for info in infos if info.type == fs.FileType.File]
