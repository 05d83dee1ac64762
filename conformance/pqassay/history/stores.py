"""The places where a history is kept: a folder of Parquet files, one for each run; a Delta table; an Iceberg table.

A run is appended as a whole: as one file that is complete from the moment it has its name, or as one commit.  Nothing that is there
is ever changed, and several checks may append at the same time.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from pqassay.errors import UsageError
from pqassay.history.columns import SCHEMA
from pqassay.lake import remote
from pqassay.lake.remote_source import describe
from pqassay.lake.targets import is_uri
from pqassay_spec.base.sources import write_whole
from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA

DELTA, ICEBERG = "delta:", "iceberg:"
"""Begin the names of histories that are tables: ``delta:FOLDER``, ``iceberg:CATALOG:NAMESPACE.TABLE``."""

PREFIX, SUFFIX = "run-", ".parquet"
"""Begin and end the names of the files of a folder."""

NEEDED = "needs {library}, which is not installed: pip install 'pqassay[engines]'"


class NoRunError(UsageError):
    """There is no run in a history, or no history at all."""


class History(Protocol):
    """A history in a place of its own."""

    def append(self, run: str, rows: pa.Table) -> None:
        """Append what a run found.

        Args:
            run: Its id.
            rows: Its rows, with the columns of `pqassay.history.columns`.

        Raises:
            UsageError: They cannot be written there, and why; nothing of them is.
        """
        ...

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all rows.

        Raises:
            NoRunError: There is no history.
            UsageError: It cannot be read.
        """
        ...


def history_at(name: str) -> History:
    """The history that somebody names; it need not exist.

    Args:
        name: A folder or URI, which may be a Delta table already; ``delta:`` and the folder or URI of a Delta table;
            ``iceberg:CATALOG:NAMESPACE.TABLE`` with a catalog that pyiceberg is configured for.

    Raises:
        UsageError: It names none, or needs a library that is not installed.
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


def _aligned(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The columns as they are declared; those that an older version did not write are null."""
    found = [
        table[name].cast(SCHEMA.field(name).type)
        if name in table.column_names
        else pa.nulls(len(table), SCHEMA.field(name).type)
        for name in columns
    ]
    return pa.Table.from_arrays(found, names=list(columns))


def _joined(name: str, tables: Sequence[pa.Table], columns: Sequence[str]) -> pa.Table:
    if not tables:
        raise NoRunError(f"{name}: there is no run in it; `pqassay check --history {name} PATH` appends one")
    return pa.concat_tables([_aligned(one, columns) for one in tables])


def _read_file(file: Any, columns: Sequence[str]) -> pa.Table:
    opened = pq.ParquetFile(file)
    if not {"run", "kind"} <= set(opened.schema_arrow.names):
        raise ValueError("it is not a run of a history")
    return opened.read(columns=[name for name in columns if name in opened.schema_arrow.names])


class _FolderHistory:
    def __init__(self, name: str) -> None:
        self._name = name

    def append(self, run: str, rows: pa.Table) -> None:
        with _told(self._name):
            folder = Path(self._name)
            if folder.exists() and not folder.is_dir():
                raise UsageError(f"{self._name} is not a folder; a history of Parquet files is one")
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / _file_name(run), _packed(rows))

    def read(self, columns: Sequence[str]) -> pa.Table:
        folder = Path(self._name)
        tables: list[pa.Table] = []
        with _told(self._name):
            if not folder.is_dir():
                raise NoRunError(f"{self._name}: no such folder")
            for path in sorted(path for path in folder.iterdir() if _is_run(path.name)):
                with _told(str(path)), path.open("rb") as file:
                    tables.append(_read_file(file, columns))
        return _joined(self._name, tables, columns)


class _StoredHistory:
    """A folder of a store. An object is complete when it is there."""

    def __init__(self, name: str) -> None:
        uri = remote.parse(name)
        self._name = uri.name
        self._store = remote.filesystem(uri.store)
        self._path = f"{uri.authority.rpartition('@')[2]}{remote.decoded(uri.path)}".rstrip("/")
        if isinstance(self._store, fs.LocalFileSystem):
            self._path = remote.decoded(uri.path).rstrip("/")

    def append(self, run: str, rows: pa.Table) -> None:
        with (
            _told(self._name),
            self._store.open_output_stream(f"{self._path}/{_file_name(run)}") as stream,
        ):
            stream.write(_packed(rows))

    def read(self, columns: Sequence[str]) -> pa.Table:
        tables: list[pa.Table] = []
        with _told(self._name):
            selector = fs.FileSelector(self._path, allow_not_found=True)
            names = sorted(one.base_name for one in self._store.get_file_info(selector))
            for name in filter(_is_run, names):
                with (
                    _told(f"{self._name}/{name}"),
                    self._store.open_input_file(f"{self._path}/{name}") as file,
                ):
                    tables.append(_read_file(file, columns))
        return _joined(self._name, tables, columns)


class _DeltaHistory:
    def __init__(self, name: str, place: str) -> None:
        self._name, self._place = name, place

    def append(self, run: str, rows: pa.Table) -> None:
        delta = self._library()
        with _told(self._name):
            delta.write_deltalake(
                self._place,
                rows,
                mode="append",
                schema_mode="merge",
                commit_properties=delta.CommitProperties(custom_metadata={"pqassay.run": run}),
            )

    def read(self, columns: Sequence[str]) -> pa.Table:
        delta = self._library()
        with _told(self._name):
            if not delta.DeltaTable.is_deltatable(self._place):
                raise NoRunError(f"{self._name}: there is no Delta table")
            data = delta.DeltaTable(self._place).to_pyarrow_dataset()
            found = data.to_table(columns=[name for name in columns if name in data.schema.names])
            return _joined(self._name, [found], columns)

    def _library(self) -> Any:
        try:
            import deltalake  # noqa: PLC0415 - few need it
        except ImportError:
            raise UsageError(f"{self._name} {NEEDED.format(library='deltalake')}") from None
        return deltalake


class _IcebergHistory:
    def __init__(self, name: str, catalog: str, table: str) -> None:
        self._name, self._catalog, self._table = name, catalog, table

    def append(self, run: str, rows: pa.Table) -> None:
        load = self._library()
        with _told(self._name):
            catalog = load(self._catalog)
            catalog.create_namespace_if_not_exists(self._table.rpartition(".")[0] or "default")
            table = catalog.create_table_if_not_exists(self._table, SCHEMA)
            with table.transaction() as transaction:
                with transaction.update_schema() as update:
                    update.union_by_name(SCHEMA)
                transaction.append(rows, snapshot_properties={"pqassay.run": run})

    def read(self, columns: Sequence[str]) -> pa.Table:
        load = self._library()
        with _told(self._name):
            catalog = load(self._catalog)
            if not catalog.table_exists(self._table):
                raise NoRunError(f"{self._name}: there is no such table")
            table = catalog.load_table(self._table)
            names = [field.name for field in table.schema().fields]
            found = table.scan(selected_fields=tuple(name for name in columns if name in names)).to_arrow()
            return _joined(self._name, [found], columns)

    def _library(self) -> Callable[[str], Any]:
        try:
            from pyiceberg.catalog import load_catalog  # noqa: PLC0415 - few need it
        except ImportError:
            raise UsageError(f"{self._name} {NEEDED.format(library='pyiceberg')}") from None
        return load_catalog


@contextlib.contextmanager
def _told(name: str) -> Generator[None]:
    """Say in one line what keeps a history from being read or written."""
    try:
        yield
    except UsageError:
        raise
    except OSError as error:
        _refuse(name, describe(error) if is_uri(name) else error.strerror or str(error))
    except Exception as error:  # noqa: BLE001 - libraries of tables have errors of their own, without a class in common
        _refuse(name, str(error) or type(error).__name__)


def _refuse(name: str, reason: str) -> NoReturn:
    raise UsageError(f"history {name}: {' '.join(reason.split())[:300]}") from None


def newest_first(runs: pa.Table) -> list[dict[str, Any]]:
    """The rows of runs, the newest first."""
    order = pc.sort_indices(runs, sort_keys=[("at", "descending"), ("run", "descending")])
    return runs.take(order).to_pylist()
