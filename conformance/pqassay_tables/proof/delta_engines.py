"""The engines that run queries on Delta tables.

Their programs are like those in `pqassay.proof.engines`, but read the folder of a table. Most of them find files through the ``deltalake``
library; chDB and Spark read the log themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata

from pqassay.proof.engines import (
    Engine,
    arrow_filter,
    datafusion_literal,
    duckdb_literal,
    imports,
    polars_filter,
    string,
    strings,
)
from pqassay.proof.queries import Query
from pqassay_tables.proof.table_sql import chdb_program, daft_program, select, spark_engine

LIBRARY = "deltalake"
"""The pip name of the library that most of these engines use to find the files of a table."""


@dataclass(frozen=True)
class LibraryEngine(Engine):
    """An engine that needs an additional library for tables.

    Attributes:
        library: Its name for pip.
    """

    library: str = LIBRARY

    @property
    def how_to_install(self) -> str | None:
        """The command that installs its missing parts; ``None`` if nothing is missing."""
        lacking = [
            name for name in dict.fromkeys((self.distribution, self.library)) if not _is_installed(name)
        ]
        return f"python -m pip install {' '.join(lacking)}" if lacking else None


def _is_installed(distribution: str) -> bool:
    try:
        _ = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _deltalake(path: str, query: Query) -> str:
    return (
        "import pyarrow as pa; from deltalake import DeltaTable, QueryBuilder; "
        f"t = QueryBuilder().register({string('t')}, DeltaTable({string(path)})); "
        f"result = pa.table(t.execute({string(select(query, datafusion_literal))}).read_all())"
    )


def _datafusion(path: str, query: Query) -> str:
    return (
        "from datafusion import SessionContext; from deltalake import DeltaTable; context = SessionContext(); "
        f"context.register_table({string('t')}, DeltaTable({string(path)})); "
        f"result = context.sql({string(select(query, datafusion_literal))}).to_arrow_table()"
    )


def _duckdb(path: str, query: Query) -> str:
    return (
        f"import duckdb; from deltalake import DeltaTable; t = DeltaTable({string(path)}).to_pyarrow_dataset(); "
        f"result = duckdb.sql({string(select(query, duckdb_literal))}).to_arrow_table()"
    )


def _polars(path: str, query: Query) -> str:
    names = "pl.len()" if query.is_count else strings(column.name for column in query.columns)
    return (
        f"{imports(query)}import polars as pl; "
        f"result = pl.scan_delta({string(path)}){polars_filter(query)}.select({names}).collect()"
    )


def _dataset(path: str, query: Query) -> str:
    condition = arrow_filter(query)
    uses = "import pyarrow.dataset as ds; " if condition else ""
    table = f"from deltalake import DeltaTable; t = DeltaTable({string(path)}).to_pyarrow_dataset(); "
    if query.is_count:
        counted = f"t.count_rows({condition.removeprefix(', ')})"
        return f"{imports(query)}{uses}import pyarrow as pa; {table}result = pa.table([[{counted}]], [{string('n')}])"
    names = strings(column.name for column in query.columns)
    return f"{imports(query)}{uses}{table}result = t.to_table(columns=[{names}]{condition})"


def _daft(path: str, query: Query) -> str:
    return daft_program("", f"daft.read_deltalake({string(path)})", query)


def _chdb(path: str, query: Query) -> str:
    return chdb_program("deltaLakeLocal", path, query)


def delta_engines(spark_packages: str = "") -> tuple[Engine, ...]:
    """The engines, in the order of reports.

    Args:
        spark_packages: The packages for Spark, as in its option ``--packages``.
    """
    return (
        LibraryEngine("deltalake", "deltalake", LIBRARY, _deltalake),
        LibraryEngine("polars", "Polars", "polars", _polars, "result.rows()"),
        LibraryEngine("duckdb", "DuckDB over deltalake's dataset", "duckdb", _duckdb),
        LibraryEngine("pyarrow", "pyarrow dataset of deltalake", "pyarrow", _dataset),
        LibraryEngine("datafusion", "DataFusion over deltalake's table", "datafusion", _datafusion),
        LibraryEngine("daft", "Daft", "daft", _daft, reserves_memory=True),
        Engine("chdb", "chDB", "chdb", _chdb, reserves_memory=True),
        spark_engine("delta", spark_packages),
    )
