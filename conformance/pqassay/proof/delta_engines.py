"""The engines that queries of a Delta table are tried on: those that find its files through the ``deltalake`` library.

Programs as in `pqassay.proof.engines`, which read the folder of a table instead of a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata

from pqassay.proof.engines import (
    Engine,
    SqlLiteral,
    arrow_filter,
    condition,
    datafusion_literal,
    duckdb_literal,
    imports,
    names_of,
    polars_filter,
    string,
    strings,
)
from pqassay.proof.queries import Query

LIBRARY = "deltalake"
"""The library, as pip calls it: none of these engines reads the log of a table itself."""


@dataclass(frozen=True)
class DeltaEngine(Engine):
    """An engine that needs `LIBRARY` as well."""

    @property
    def how_to_install(self) -> str | None:
        """Command that installs what it lacks here; ``None`` if it lacks nothing."""
        lacking = [name for name in dict.fromkeys((self.distribution, LIBRARY)) if not _is_installed(name)]
        return f"python -m pip install {' '.join(lacking)}" if lacking else None


def _is_installed(distribution: str) -> bool:
    try:
        _ = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _where(query: Query, literal: SqlLiteral) -> str:
    return f" WHERE {condition(query, literal)}" if query.where else ""


def _deltalake(path: str, query: Query) -> str:
    sql = f"SELECT {', '.join(names_of(query))} FROM t{_where(query, datafusion_literal)}"  # noqa: S608 - names and values are quoted
    return (
        "import pyarrow as pa; from deltalake import DeltaTable, QueryBuilder; "
        f"t = QueryBuilder().register({string('t')}, DeltaTable({string(path)})); "
        f"result = pa.table(t.execute({string(sql)}).read_all())"
    )


def _datafusion(path: str, query: Query) -> str:
    sql = f"SELECT {', '.join(names_of(query))} FROM t{_where(query, datafusion_literal)}"  # noqa: S608 - as above
    return (
        "from datafusion import SessionContext; from deltalake import DeltaTable; context = SessionContext(); "
        f"context.register_table({string('t')}, DeltaTable({string(path)})); "
        f"result = context.sql({string(sql)}).to_arrow_table()"
    )


def _duckdb(path: str, query: Query) -> str:
    sql = f"SELECT {', '.join(names_of(query))} FROM t{_where(query, duckdb_literal)}"  # noqa: S608 - as above
    return (
        f"import duckdb; from deltalake import DeltaTable; t = DeltaTable({string(path)}).to_pyarrow_dataset(); "
        f"result = duckdb.sql({string(sql)}).to_arrow_table()"
    )


def _polars(path: str, query: Query) -> str:
    names = strings(column.name for column in query.columns)
    return (
        f"{imports(query)}import polars as pl; "
        f"result = pl.scan_delta({string(path)}){polars_filter(query)}.select({names}).collect()"
    )


def _dataset(path: str, query: Query) -> str:
    names = strings(column.name for column in query.columns)
    given = arrow_filter(query)
    uses = "import pyarrow.dataset as ds; " if given else ""
    return (
        f"{imports(query)}{uses}from deltalake import DeltaTable; "
        f"result = DeltaTable({string(path)}).to_pyarrow_dataset().to_table(columns=[{names}]{given})"
    )


DELTA_ENGINES: tuple[Engine, ...] = (
    DeltaEngine("deltalake", "deltalake", LIBRARY, _deltalake),
    DeltaEngine("polars", "Polars", "polars", _polars, "result.rows()"),
    DeltaEngine("duckdb", "DuckDB over deltalake's dataset", "duckdb", _duckdb),
    DeltaEngine("pyarrow", "pyarrow dataset of deltalake", "pyarrow", _dataset),
    DeltaEngine("datafusion", "DataFusion over deltalake's table", "datafusion", _datafusion),
)
"""The engines, in the order of reports."""
