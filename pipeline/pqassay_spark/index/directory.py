"""Add indexes to the index directories of all Parquet files of a folder on Spark, repeatedly.

The work on one file is `pqassay_reference.directory.embedding.add_indexes`.  A file with fresh entries is
not changed; other entries of a file stay.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pqassay.stores.targets import is_uri
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.described_data import paths_called
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.directory.reading.usable_entries import read_entries
from pqassay_reference.directory.size_limit import DEFAULT_LIMIT
from pqassay_reference.errors import Refused
from pqassay_spark.index.file_work import WORKER_DIED, FileOutcome, Outcome, Run, answered, outcomes_of
from pqassay_spark.index.listing import DataFile, list_files
from pqassay_spark.jobs.distributed import run_tasks
from pqassay_spark.jobs.packing import packed
from pqassay_spark.jobs.spark_jobs import cores
from pqassay_spark.jobs.uris import local_path
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.entries import EntryKey
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class WantedIndex:
    """Indexes that every file must have.

    Attributes:
        type: Their type.
        columns: Columns, as paths joined by dots. For zone sums, these are the keys and then the measure; for other types, each
            column gets an index.
        granularity: The granularity of their parts.
        max_bytes: Greatest size of an index in bytes.
    """

    type: IndexType
    columns: tuple[str, ...]
    granularity: Granularity = Granularity.ROW_GROUP
    max_bytes: int = DEFAULT_LIMIT

    def requests(self, metadata: FileMetaData) -> list[Request]:
        """The indexes to make in one file. Raises `Refused` if it does not have a column."""
        paths = paths_called(metadata, self.columns)
        together = [tuple(paths)] if self.type is IndexType.ZONE_SUMS else [(path,) for path in paths]
        return [Request(self.type, one, self.granularity, max_bytes=self.max_bytes) for one in together]


def index_directories(
    spark: SparkSession,
    root: str | os.PathLike[str],
    indexes: WantedIndex,
    *,
    force: bool = False,
    inside_table: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Run[FileOutcome]:
    """Add indexes to every Parquet file of a folder that does not have fresh ones.

    Executors and driver must see the folder under the same path.  Each file is replaced as a whole.

    Args:
        spark: The session.
        root: The folder, or a single file.
        indexes: The indexes.
        force: Replace fresh indexes as well.
        inside_table: Do it even inside a table (Iceberg, Delta, …) whose manifests record the old file size.
        progress: Called with the number of completed files, and of all files.

    Raises:
        UsageError: There is no such folder.
        Refused: It is not a folder of this machine.
        JobError: The executors cannot do it.
    """
    if is_uri(local_path(root)):
        raise Refused(
            f"{os.fspath(root)} is not a local path; index directories can only be written into local files"
        )
    listing = list_files(root)
    troubled = [
        one
        for file in listing.files
        if file.trouble
        for one in outcomes_of(file.names, Outcome.REFUSED, file.trouble)
    ]
    # The executors work in folders of their own.
    files = [
        replace(file, path=os.path.abspath(file.path))  # noqa: PTH100 - links stay
        for file in listing.files
        if not file.trouble
    ]

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, len(files))

    outcomes = run_tasks(
        spark,
        packed(files, [file.size for file in files], cores(spark)),
        partial(_index_all, indexes, force, inside_table),
        lost=lambda file: outcomes_of(file.names, Outcome.REFUSED, WORKER_DIED),
        progress=tell,
    )
    return Run(listing.root, sorted(troubled + outcomes, key=lambda file: os.fsencode(file.name)))


def _index_all(
    indexes: WantedIndex, force: bool, inside_table: bool, number: int, files: Sequence[DataFile]
) -> list[FileOutcome]:
    del number

    def index(file: DataFile) -> list[FileOutcome]:
        left = missing(file.path, indexes, force=force)
        if not left:
            return outcomes_of(file.names, Outcome.FRESH)
        add_indexes(file.path, left, inside_table=inside_table)
        return outcomes_of(file.names, Outcome.INDEXED)

    def refused(file: DataFile) -> Callable[[str], list[FileOutcome]]:
        return lambda reason: outcomes_of(file.names, Outcome.REFUSED, reason)

    return [one for file in files for one in answered(partial(index, file), refused(file), file.path)]


def missing(path: str, indexes: WantedIndex, *, force: bool = False) -> list[Request]:
    """The indexes for which a file has no fresh entry, or all with ``force``; reads only the footer.

    Raises:
        Refused: It does not have the columns.
        FormatError: It is not a Parquet file.
        OSError: It cannot be read.
    """
    with FileSource(path) as source:
        metadata = read_footer(source, read_framing(source))[0]
    fresh: set[EntryKey] = (
        set() if force else {one.entry.key for one in read_entries(metadata, tuple(IndexType)).entries}
    )
    return [request for request in indexes.requests(metadata) if request.key not in fresh]


__all__ = ["WantedIndex", "index_directories", "missing"]
