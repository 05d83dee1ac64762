"""Writing Parquet files from Spark with an index in each of them from the start.

Each task writes its file below ``_temporary``, which Spark and other readers pass over; when all tasks are done, the
driver renames the files to where they are seen, and writes ``_SUCCESS`` last.  A job that fails leaves nothing that is
seen, and each file that is seen is whole, whenever the job is killed.

Spark's own writer followed by the indexing pass is faster.  This writer is for those who cannot have files without
an index for a while, or who write once and want to be done.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import types as st
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import IndexingWriter
from pqassay_reference.rewrite.finished_file import enclosing_table
from pqassay_spark.jobs.uris import is_remote, local_path
from pqassay_spark.jobs.worker_memory import keep_what_is_loaded
from pqassay_spark.query.parquet_rows import SCHEMA_KEY, arrow_schema, require_supported
from pqassay_spark.query.partition_names import is_hidden
from pqassay_spec.base.sources import write_whole

TEMPORARY = "_temporary"
"""The folder of files that are not finished, as with Spark's own writer."""

REPLACED = "replaced"
"""The folder, in that of a job, to which the files go that it replaces, until the new ones are seen."""

SUCCESS = "_SUCCESS"
"""The empty file that says that a job is complete."""

SUMMARIES = ("_metadata", "_common_metadata")
"""Files that repeat the footers of others."""

CODECS = ("snappy", "zstd", "gzip", "lz4", "brotli", "none")
"""Compressions that pyarrow writes and Spark reads."""

GROUP_BYTES = 128 << 20
"""Bytes in memory after which a row group is written, as with Spark's own writer."""

GROUP_ROWS = 1 << 20
"""Rows after which it is, whatever their size."""

ATTEMPTS = 50
"""Attempts at removing the folder of a job, a tenth of a second apart."""

ADVICE = "; write with Spark's own writer, and index afterwards: pqassay spark index"


@dataclass
class WrittenFile(WriterCommitMessage):
    """The file that a task wrote, by name; empty where it had no rows."""

    name: str


class IndexWriter(DataSourceArrowWriter):
    """Writes each partition of a DataFrame as one file with an index.

    Args:
        root: The folder, on this machine or mounted on all that take part; made where it is missing.
        schema: Of the rows.
        column: The column of text to index, at the top level.
        overwrite: Replace what is there, once the new files are complete; else add to it.
        compression: One of `CODECS`.

    Raises:
        Refused: A root, column, type or compression that this writer does not have; a folder that holds what is no
            output of Spark, which is not replaced.
    """

    def __init__(
        self, root: str, schema: st.StructType, *, column: str | None, overwrite: bool, compression: str
    ) -> None:
        if is_remote(root):
            raise Refused(f"{root} is no folder of this machine{ADVICE}")
        if compression not in CODECS:
            raise Refused(f"the option compression is {compression!r}; it takes one of {', '.join(CODECS)}")
        require_supported(schema, advice=ADVICE)
        named = [field for field in schema.fields if field.name == column]
        if len(named) != 1 or not isinstance(named[0].dataType, st.StringType):
            texts = [field.name for field in schema.fields if isinstance(field.dataType, st.StringType)]
            raise Refused(
                f"the option column has to name the column to index, one of text at the top level: "
                f"{' or '.join(texts) or 'there is none'}"
            )
        repeated = [name for name in schema.names if schema.names.count(name) > 1]
        if repeated:
            raise Refused(f"there are two columns {repeated[0]}")
        self._root = os.path.abspath(local_path(root))  # noqa: PTH100 - a link stays what the user calls it
        self._schema_text = schema.json()
        self._schema = arrow_schema(schema).with_metadata({SCHEMA_KEY: self._schema_text.encode()})
        self._column = str(column)
        self._compression = compression
        self._overwrite = overwrite
        self._job = uuid.uuid4().hex
        self._is_new = not os.path.lexists(self._root)
        table = enclosing_table(Path(self._root, "part.parquet"))
        if table:
            raise Refused(f"{self._root} is part of {table}, which would not know of the new files")
        if overwrite:
            old_entries(self._root)  # refuses before anything is written
        # Made here and never by a task: one that still runs when its job is given up must not make it again.
        self._staging.mkdir(parents=True)

    @property
    def _staging(self) -> Path:
        return Path(self._root, TEMPORARY, self._job)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenFile:  # type: ignore[override] # Spark declares the type of its parent's, and passes this one
        """Write the rows of one partition into a file below ``_temporary``; runs in a task."""
        batches = _row_groups(iterator)
        first = next(batches, None)
        if first is None:
            return WrittenFile("")
        task = TaskContext.get()
        number = task.partitionId() if task is not None else 0
        # Of a task that is tried twice, only one file is named in the end: so their names differ.
        name = self._write(
            f"part-{number:05d}-{self._job}-{uuid.uuid4().hex[:8]}.parquet", chain([first], batches)
        )
        if task is not None:
            keep_what_is_loaded()
        return WrittenFile(name)

    def _write(self, name: str, tables: Iterable[pa.Table]) -> str:
        with IndexingWriter(
            self._staging / name,
            self._schema,
            self._column,
            compression=self._compression,
            write_page_index=True,
        ) as writer:
            for table in tables:
                writer.write(table.cast(self._schema))
        return name

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Rename the files to where they are seen; runs on the driver, after the last task."""
        names = sorted(
            message.name for message in messages if isinstance(message, WrittenFile) and message.name
        )
        if not names:  # no rows at all: one file that tells their columns, as Spark's own writer leaves
            names = [self._write(f"part-00000-{self._job}.parquet", ())]
        root = Path(self._root)
        old = old_entries(self._root) if self._overwrite else []
        replaced = self._staging / REPLACED
        moved: list[Path] = []
        shown: list[Path] = []
        was_complete = (root / SUCCESS).exists()
        try:
            # Whoever is killed from here on leaves no mark of completeness.
            (root / SUCCESS).unlink(missing_ok=True)
            replaced.mkdir(exist_ok=True)
            for path in old:
                path.rename(replaced / path.name)
                moved.append(path)
            for name in names:
                (self._staging / name).rename(root / name)
                shown.append(root / name)
        except BaseException:
            for path in shown:
                path.unlink(missing_ok=True)
            for path in moved:
                (replaced / path.name).rename(path)
            if was_complete:
                write_whole(root / SUCCESS, b"")
            raise
        write_whole(root / SUCCESS, b"")
        self._clear()

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Remove what the tasks wrote; runs on the driver."""
        del messages  # of tasks that failed there are none, and their files go, too
        replaced = self._staging / REPLACED
        if replaced.is_dir() and any(replaced.iterdir()):
            raise OSError(f"the old files could not be put back; they are in {replaced}")
        self._clear()
        if self._is_new:
            with contextlib.suppress(OSError):  # another job wrote into it
                Path(self._root).rmdir()

    def _clear(self) -> None:
        for _ in range(ATTEMPTS):
            shutil.rmtree(self._staging, ignore_errors=True)
            if not self._staging.exists():
                break
            time.sleep(0.1)  # a task of a job that was given up still wrote into it
        with contextlib.suppress(OSError):  # another job's files are in it
            Path(self._root, TEMPORARY).rmdir()


def old_entries(root: str) -> list[Path]:
    """The entries that an overwriting job replaces: the files and partitions that are seen, and what describes them.

    Raises:
        Refused: There is something else in the folder.
    """
    found: list[Path] = []
    with contextlib.suppress(FileNotFoundError):
        found = sorted(Path(root).iterdir())
    old = [
        path
        for path in found
        if not is_hidden(path.name) or path.name in SUMMARIES or path.name.endswith(".crc")
    ]
    for path in old:
        is_partition = path.is_dir() and "=" in path.name
        if is_partition and (other := _foreign_below(path)):
            raise Refused(f"{root} holds {other}, which is no output of Spark; the folder is not replaced")
        is_ours = path.is_file() and _is_written(path.name)
        if not is_partition and not is_ours:
            raise Refused(
                f"{root} holds {path.name}, which is no output of Spark; the folder is not replaced"
            )
    return old


def _is_written(name: str) -> bool:
    return name.endswith((".parquet", ".parq", ".pq", ".crc")) or name in SUMMARIES


def _foreign_below(partition: Path) -> str | None:
    """An entry that is no output of Spark in the folder of a partition, which is replaced with all that it holds."""
    for folder, folders, files in os.walk(partition):
        others = [name for name in folders if "=" not in name]
        others += [name for name in files if not _is_written(name) and name not in (SUCCESS, "_pm")]
        if others:
            return os.path.relpath(Path(folder, min(others)), partition.parent)
    return None


def _row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches gathered into tables of the size of a row group."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if not len(batch):
            continue
        waiting.append(batch)
        rows, size = rows + len(batch), size + batch.nbytes
        if size >= GROUP_BYTES or rows >= GROUP_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)
