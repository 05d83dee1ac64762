"""The places of histories: a folder of Parquet files, one for each run; a Delta table; an Iceberg table.

A run is appended atomically: as one file that is complete when it gets its name, or as one commit. Existing data are never changed, and
several checks may append at the same time. Rows are read in batches, so a history may be larger than memory.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import sys
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from pqassay.errors import UsageError
from pqassay.stores import remote
from pqassay.stores.remote_source import describe
from pqassay.stores.targets import is_uri
from pqassay_lake.history.columns import SCHEMA
from pqassay_spec.base.installing import install
from pqassay_spec.base.sources import write_whole
from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA

DELTA, ICEBERG = "delta:", "iceberg:"
"""The prefixes of names of histories that are tables: ``delta:FOLDER``, ``iceberg:CATALOG:NAMESPACE.TABLE``."""

PREFIX, SUFFIX = "run-", ".parquet"
"""The prefix and the suffix of the file names in a folder."""

FULL = os.strerror(errno.ENOSPC)
"""The text in a message about a full disk, from any library."""

STDERR = 2
"""The file descriptor of stderr."""

ROWS_AT_ONCE = 1 << 16
"""The number of rows that are read at once."""

NEEDED = f"needs {{library}}, which is not installed: {install('engines')}"


class NoRunError(UsageError):
    """A history has no runs, or does not exist."""


@dataclass(frozen=True)
class Selection:
    """The selection of rows and columns to read from a history.

    Attributes:
        columns: Names of columns.
        kinds: The kinds of rows: `run`, `writer`, `table`, `finding`, `file`.
        runs: Ids of the runs; ``None`` for all.
    """

    columns: Sequence[str]
    kinds: Collection[str]
    runs: Collection[str] | None = None

    @property
    def read(self) -> list[str]:
        """The columns to read, including the columns of the condition."""
        return [*dict.fromkeys([*self.columns, "kind", *(() if self.runs is None else ("run",))])]

    @property
    def condition(self) -> pc.Expression:
        """The condition on the selected rows."""
        kinds = pc.field("kind").isin(list(self.kinds))
        return kinds if self.runs is None else kinds & pc.field("run").isin(list(self.runs))


class History(Protocol):
    """The interface of a history at a kind of place."""

    def append(self, run: str, rows: pa.Table) -> None:
        """Append the rows of a run.

        Args:
            run: Its id.
            rows: Its rows, with the columns of `pqassay_lake.history.columns`.

        Raises:
            UsageError: The rows cannot be written, and none of them is; the message says why.
        """
        ...

    def batches(self, selection: Selection) -> Iterator[pa.RecordBatch]:
        """Yield the selected rows in batches, with runs in no particular order.

        Raises:
            NoRunError: There is no history.
            UsageError: The history cannot be read.
        """
        ...


def history_at(name: str) -> History:
    """The history with a name; it need not exist.

    Args:
        name: A folder or URI, which may already be a Delta table; ``delta:`` and the folder or URI of a Delta table;
            ``iceberg:CATALOG:NAMESPACE.TABLE`` with a catalog that pyiceberg is configured for.

    Raises:
        UsageError: The name is invalid, or needs a library that is not installed.
    """
    if name.startswith(ICEBERG):
        catalog, _, table = name.removeprefix(ICEBERG).partition(":")
        if not catalog or not table:
            raise UsageError(f"{name}: an Iceberg table is named as {ICEBERG}CATALOG:NAMESPACE.TABLE")
        return _IcebergHistory(name, catalog, table)
    if name.startswith(DELTA):
        return _DeltaHistory(name, name.removeprefix(DELTA))
    if is_uri(name):
        return _StoredHistory(name)
    if os.path.isdir(os.path.join(name, DELTA_LOG)):  # noqa: PTH112, PTH118 - answers where Path raises
        return _DeltaHistory(name, name)
    if os.path.isdir(os.path.join(name, ICEBERG_METADATA)):  # noqa: PTH112, PTH118 - as above
        raise UsageError(
            f"{name} is an Iceberg table, which is written through its catalog: name it as {ICEBERG}CATALOG:NAMESPACE.TABLE"
        )
    return _FolderHistory(name)


def _file_name(run: str) -> str:
    return f"{PREFIX}{run}{SUFFIX}"


def _is_run(name: str) -> bool:
    return name.startswith(PREFIX) and name.endswith(SUFFIX)


def _packed(rows: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(rows, buffer, compression="zstd")
    return buffer.getvalue()


def _chosen(batches: Iterable[pa.RecordBatch], selection: Selection) -> Iterator[pa.RecordBatch]:
    """Yield the selected rows, with the declared columns; columns that an older version did not write are null."""
    for batch in batches:
        rows = batch.filter(selection.condition)
        if rows.num_rows:
            arrays = [
                rows.column(name).cast(SCHEMA.field(name).type)
                if name in rows.schema.names
                else pa.nulls(rows.num_rows, SCHEMA.field(name).type)
                for name in selection.columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(selection.columns))


def _nothing(name: str) -> NoReturn:
    raise NoRunError(f"{name}: there is no run in it; `pqassay check --history {name} PATH` appends one")


def _of_file(file: Any, selection: Selection) -> Iterator[pa.RecordBatch]:
    opened = pq.ParquetFile(file)
    names = opened.schema_arrow.names
    if not {"run", "kind"} <= set(names):
        raise ValueError("it is not a run of a history")
    columns = [name for name in selection.read if name in names]
    return _chosen(opened.iter_batches(ROWS_AT_ONCE, columns=columns, use_threads=False), selection)


def _files_of(names: Iterable[str], selection: Selection) -> Iterator[str]:
    """Yield the file names of the selected runs, in the order of runs."""
    files = None if selection.runs is None else {_file_name(run) for run in selection.runs}
    return (name for name in sorted(names) if files is None or name in files)


class _FolderHistory:
    def __init__(self, name: str) -> None:
        self._name = name

    def append(self, run: str, rows: pa.Table) -> None:
        with _with_short_errors(self._name):
            folder = Path(self._name)
            if folder.exists() and not folder.is_dir():
                raise UsageError(f"{self._name} is not a folder; a history of Parquet files is one")
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / _file_name(run), _packed(rows))

    def batches(self, selection: Selection) -> Iterator[pa.RecordBatch]:
        folder = Path(self._name)
        with _with_short_errors(self._name):
            if not folder.is_dir():
                raise NoRunError(f"{self._name}: no such folder")
            names = [path.name for path in folder.iterdir() if _is_run(path.name)]
        if not names:
            _nothing(self._name)
        for name in _files_of(names, selection):
            with _with_short_errors(str(folder / name)), (folder / name).open("rb") as file:
                yield from _of_file(file, selection)


class _StoredHistory:
    """A folder of a store. Objects appear only when they are complete."""

    def __init__(self, name: str) -> None:
        uri = remote.parse(name)
        self._name = uri.name
        self._store = remote.filesystem(uri.store)
        self._path = f"{uri.authority.rpartition('@')[2]}{remote.decoded(uri.path)}".rstrip("/")
        if isinstance(self._store, fs.LocalFileSystem):
            self._path = remote.decoded(uri.path).rstrip("/")

    def append(self, run: str, rows: pa.Table) -> None:
        with (
            _with_short_errors(self._name),
            self._store.open_output_stream(f"{self._path}/{_file_name(run)}") as stream,
        ):
            stream.write(_packed(rows))

    def batches(self, selection: Selection) -> Iterator[pa.RecordBatch]:
        with _with_short_errors(self._name):
            selector = fs.FileSelector(self._path, allow_not_found=True)
            names = [one.base_name for one in self._store.get_file_info(selector) if _is_run(one.base_name)]
        if not names:
            _nothing(self._name)
        for name in _files_of(names, selection):
            with (
                _with_short_errors(f"{self._name}/{name}"),
                self._store.open_input_file(f"{self._path}/{name}") as file,
            ):
                yield from _of_file(file, selection)


class _DeltaHistory:
    def __init__(self, name: str, place: str) -> None:
        self._name, self._place = name, place

    def append(self, run: str, rows: pa.Table) -> None:
        delta = _library(self._name, "deltalake")
        with _with_short_errors(self._name), _silenced():
            delta.write_deltalake(
                self._place,
                rows,
                mode="append",
                schema_mode="merge",
                commit_properties=delta.CommitProperties(custom_metadata={"pqassay.run": run}),
            )

    def batches(self, selection: Selection) -> Iterator[pa.RecordBatch]:
        delta = _library(self._name, "deltalake")
        with _with_short_errors(self._name):
            if not delta.DeltaTable.is_deltatable(self._place):
                raise NoRunError(f"{self._name}: there is no Delta table")
            data = delta.DeltaTable(self._place).to_pyarrow_dataset()
            scanner = data.scanner(
                columns=[name for name in selection.read if name in data.schema.names],
                filter=selection.condition,
                batch_size=ROWS_AT_ONCE,
                batch_readahead=2,
                fragment_readahead=1,
            )
            yield from _chosen(scanner.to_batches(), selection)


class _IcebergHistory:
    def __init__(self, name: str, catalog: str, table: str) -> None:
        self._name, self._catalog, self._table = name, catalog, table

    def append(self, run: str, rows: pa.Table) -> None:
        load = _library(self._name, "pyiceberg.catalog").load_catalog
        with _with_short_errors(self._name):
            catalog = load(self._catalog)
            catalog.create_namespace_if_not_exists(self._table.rpartition(".")[0] or "default")
            table = catalog.create_table_if_not_exists(self._table, SCHEMA)
            with table.transaction() as transaction:
                with transaction.update_schema() as update:
                    update.union_by_name(SCHEMA)
                transaction.append(rows, snapshot_properties={"pqassay.run": run})

    def batches(self, selection: Selection) -> Iterator[pa.RecordBatch]:
        load = _library(self._name, "pyiceberg.catalog").load_catalog
        with _with_short_errors(self._name):
            from pyiceberg import expressions  # noqa: PLC0415 - few need it

            is_in: Any = expressions.In  # its declaration hides its constructor
            catalog = load(self._catalog)
            if not catalog.table_exists(self._table):
                raise NoRunError(f"{self._name}: there is no such table")
            table = catalog.load_table(self._table)
            names = [field.name for field in table.schema().fields]
            kinds = is_in("kind", set(selection.kinds))
            scan = table.scan(
                row_filter=kinds
                if selection.runs is None
                else expressions.And(kinds, is_in("run", set(selection.runs))),
                selected_fields=tuple(name for name in selection.read if name in names),
            )
            yield from _chosen(scan.to_arrow_batch_reader(), selection)


def _library(name: str, module: str) -> Any:
    """A module that few histories need. Raises `UsageError` if its library is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UsageError(f"{name} {NEEDED.format(library=module.partition('.')[0])}") from None


@contextlib.contextmanager
def _with_short_errors(name: str) -> Generator[None]:
    """A context that turns errors of reading or writing a history into one line."""
    try:
        yield
    except UsageError:
        raise
    except OSError as error:
        _refuse(name, describe(error) if is_uri(name) else error.strerror or str(error))
    except Exception as error:  # noqa: BLE001 - libraries of tables have errors of their own, without a class in common
        _refuse(name, str(error) or type(error).__name__)


@contextlib.contextmanager
def _silenced() -> Generator[None]:
    """A context that discards output of library threads on stderr, such as panics on a full disk; the error reports it."""
    sys.stderr.flush()
    kept = os.dup(STDERR)
    try:
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - not a path
            os.dup2(nothing.fileno(), STDERR)
        yield
    finally:
        os.dup2(kept, STDERR)
        os.close(kept)


def _refuse(name: str, reason: str) -> NoReturn:
    words = FULL if FULL in reason else " ".join(reason.split())[:300]
    raise UsageError(f"history {name}: {words}") from None
