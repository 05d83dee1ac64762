"""Index all files of a folder on Spark, repeatedly: an index in every file, and an index table beside the folder.

The driver lists the files and reads the table. The executors inspect each file, embed missing indexes
(`pqassay_spark.index.task`), and write the results as parts of the table
(`pqassay_spark.index.table_upkeep`).  Only names and outcomes pass through the driver.

A run may be killed at any moment: every file is then old or new, and the next run does the remaining work.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pqassay_reader.lake.index_table import default_folder
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import DEFAULT_LIMIT
from pqassay_reference.rewrite.finished_file import enclosing_table
from pqassay_spark.index import table_upkeep
from pqassay_spark.index.entries import Settings, Work
from pqassay_spark.index.file_work import WORKER_DIED, FileOutcome, Outcome, Run, outcomes_of
from pqassay_spark.index.listing import DataFile, Listing, list_files
from pqassay_spark.index.table_upkeep import Survey
from pqassay_spark.index.task import index_task
from pqassay_spark.jobs.distributed import run_tasks
from pqassay_spark.jobs.packing import PER_FILE, packed
from pqassay_spark.jobs.spark_jobs import cores
from pqassay_spark.jobs.uris import local_path
from pqassay_spec.base.sources import TEMPORARY_SUFFIX, remove_leftover

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[int, int], object]
"""Called with the number of completed files, and of all files."""


@dataclass(frozen=True)
class IndexRun(Run[FileOutcome]):
    """The outcome of a run.

    Attributes:
        table: The folder of the index table; ``None`` for no table.
        table_files: Number of files in the table.
        table_rows: Number of rows in the table.
        warnings: Further remarks.
    """

    table: Path | None = None
    table_files: int = 0
    table_rows: int = 0
    warnings: list[str] = field(default_factory=list[str])

    @property
    def indexed(self) -> int:
        """Number of files that were indexed in this run."""
        return self.count(Outcome.INDEXED)

    @property
    def fresh(self) -> int:
        """Number of files that were already indexed and have not changed."""
        return self.count(Outcome.FRESH)


def index_files(
    spark: SparkSession,
    root: str | os.PathLike[str],
    columns: Sequence[str],
    *,
    table: str | os.PathLike[str] | Literal[False] | None = None,
    force: bool = False,
    inside_table: bool = False,
    max_bytes: int = DEFAULT_LIMIT,
    progress: Progress | None = None,
) -> IndexRun:
    """Embed an index into every Parquet file of a folder without one, and maintain an index table beside it.

    Executors and driver must see the folder under the same path.

    Args:
        spark: The session.
        root: The folder, or a single file; local, or the URI of an object store.
        columns: String columns, as paths joined by dots.  The first is embedded; all go into the table.
        table: The local folder of the index table; ``False`` for none.  By default it is beside the folder
            and is named after it; for a single file and for a URI there is none.
        force: Index fresh files again.
        inside_table: Continue inside a table (Iceberg, Delta, …) whose manifests record file sizes.
        max_bytes: Greatest size in bytes of the distinct values of one column of a file.
        progress: Called with the number of completed files, and of all files.

    Raises:
        UsageError: There is no such folder.
        Refused: The request is invalid: no column, several without a table, a folder inside a table, or an unusable
            folder for the table.
        JobError: The executors cannot do it.
        OSError: The table cannot be written.
    """
    names_of_columns = _columns(columns)
    listing = list_files(root)
    if listing.store:
        from pqassay_spark.index.stored_file import require_objects  # noqa: PLC0415 - most files are local

        require_objects(listing)
    _require_sense(listing, names_of_columns, inside_table=inside_table)
    folder = _table_folder(table, local_path(root), listing)
    settings = Settings(names_of_columns, None, 0, force, inside_table, max_bytes)
    if folder is None and len(names_of_columns) > 1:
        raise Refused(
            f"a file holds only the index of {names_of_columns[0]}; for other columns, name "
            "the folder of an index table (--table), or name one column"
        )
    if folder is None:
        outcomes = _run(spark, settings, listing, Survey(), progress)
        _remove_leftovers(listing)
        return IndexRun(listing.root, outcomes)
    if not listing.files:
        return IndexRun(listing.root, [])
    table_upkeep.require_table_folder(folder, listing.root, is_folder=listing.is_folder)
    with table_upkeep.TableLock(folder) as lock:
        known = table_upkeep.survey(folder)
        if table is not None and known.damaged and not known.parts:
            # Unreadable parts are removed at the end, so first make sure that the folder is really an index table.
            raise Refused(
                f"{folder} cannot be read; if it is an index table, remove it, else name another folder"
            )
        with table_upkeep.run_number(folder) as run:
            settings = Settings(names_of_columns, str(folder.resolve()), run, force, inside_table, max_bytes)
            outcomes = _run(spark, settings, listing, known, progress)
        _remove_leftovers(listing)
        names = {name for file in listing.files for name in file.names}
        is_alone = lock.take()
        if not is_alone:
            lock.share()
        after = table_upkeep.survey(folder)
        if is_alone:
            table_upkeep.clear(folder, after.damaged)
            if table_upkeep.is_scattered(after):
                is_whole = not any(file.trouble for file in listing.files) and listing.is_folder
                table_upkeep.put_together(spark, folder, after, names if is_whole else None)
    warnings = [f"{path} could not be read; its files were indexed again" for path in known.damaged]
    refused = {file.name for file in outcomes if file.outcome is Outcome.REFUSED}
    states = {name: (file.size, file.modified) for file in listing.files for name in file.names}
    # If a file was refused and has changed, its entries in the table are no longer valid.
    valid = {
        path for (path, _), last in after.latest.items() if states.get(path) == (last.size, last.modified)
    }
    reported = names - (refused - valid)
    return IndexRun(listing.root, outcomes, folder, *after.rows_of(reported), warnings)


def _columns(columns: Sequence[str]) -> tuple[str, ...]:
    names = tuple(columns)
    if not names or not all(names):
        raise Refused("name at least one column")
    twice = next((column for column in names if names.count(column) > 1), None)
    if twice is not None:
        raise Refused(f"column {twice} is named twice")
    return names


def _require_sense(listing: Listing, columns: Sequence[str], *, inside_table: bool) -> None:
    """Raise `Refused` for errors that would otherwise refuse every file."""
    if listing.store:
        from pqassay_spark.index.stored_file import stored_table  # noqa: PLC0415 - most files are local

        table = stored_table(listing)
    else:
        table = enclosing_table(Path(listing.root, "file"))
    if table and not inside_table:
        raise Refused(
            f"{listing.root} belongs to {table}, whose manifests record file sizes: readers "
            "would fail. Index files before they are added to the table, or use "
            "--inside-table"
        )
    for column in columns:
        folder = f"{column}="
        if listing.files and all(
            any(part.startswith(folder) for part in name.split("/")[:-1])
            for file in listing.files
            for name in file.names
        ):
            raise Refused(
                f"column {column} is in the folder names ({folder}…), which engines already "
                "use to select files; it does not need an index"
            )


def _table_folder(
    table: str | os.PathLike[str] | Literal[False] | None, root: str | os.PathLike[str], listing: Listing
) -> Path | None:
    if table is False:
        return None
    if table is not None:
        return Path(table)
    return default_folder(root) if listing.is_folder and not listing.store else None


def _run(
    spark: SparkSession,
    settings: Settings,
    listing: Listing,
    known: Survey,
    progress: Progress | None,
) -> list[FileOutcome]:
    """Index the files; return their outcomes, by name."""
    readable = [file for file in listing.files if not file.trouble]
    total = len(listing.files)
    files = [_work(file, settings.columns, known) for file in readable]
    sizes = [file.size for file in readable]
    work = sum(sizes) + PER_FILE * len(sizes)

    def tell(done: int) -> None:
        if progress is not None:
            progress(done + total - len(files), total)

    outcomes = run_tasks(
        spark,
        packed(files, sizes, cores(spark), work),
        partial(index_task, settings),
        lost=lambda file: outcomes_of(file.names, Outcome.REFUSED, WORKER_DIED),
        progress=tell,
    )
    for file in listing.files:
        if file.trouble:
            outcomes += outcomes_of(file.names, Outcome.REFUSED, file.trouble)
    return sorted(outcomes, key=lambda file: os.fsencode(file.name))


def _work(file: DataFile, columns: Iterable[str], known: Survey) -> Work:
    columns_there = frozenset(
        column
        for column in columns
        if all(known.knows(name, column, file.size, file.modified) for name in file.names)
    )
    path = file.path if file.store else os.path.abspath(file.path)  # noqa: PTH100 - links stay
    return Work(path, file.names, file.size, file.modified, store=file.store, known=columns_there)


def _remove_leftovers(listing: Listing) -> None:
    """Remove temporary files that killed processes left, for example of files that no longer exist."""
    if listing.store:
        return
    for folder in sorted({os.path.dirname(file.path) or "." for file in listing.files}):  # noqa: PTH120 - paths stay text
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            left = [
                entry.path
                for entry in entries
                if entry.name.startswith(".") and entry.name.endswith(TEMPORARY_SUFFIX)
            ]
            for path in left:
                with contextlib.suppress(OSError):
                    remove_leftover(path)
