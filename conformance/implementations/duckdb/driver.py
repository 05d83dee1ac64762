"""The driver of DuckDB, which skips row groups by their statistics and bloom filters.

pqassay suite run -- python3 driver.py
"""

from __future__ import annotations

import functools
import math
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parents[1] / "skeletons" / "python"))

from pqassay_driver import (
    USUAL_READER,
    USUAL_TYPES,
    Driver,
    Expressions,
    Predicate,
    Query,
    Unsupported,
    Written,
    expression,
    lacks,
    main,
    native,
    only,
    options_for,
    replacing,
    tag_of,
)

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_file_cache": False,  # a file of the same name may hold something else the next time
    "autoinstall_known_extensions": False,  # nothing is fetched
    "autoload_known_extensions": False,
    "arrow_lossless_conversion": True,  # UUIDs are bytes
}

NESTED = ("[", "STRUCT", "MAP", "UNION", "VARIANT")
"""What the names of types have in them that no literal is compared with."""


class DuckDB(Driver):
    """DuckDB."""

    name = "DuckDB"
    distribution = "duckdb"
    language = "C++, driven from Python"
    nan = "greatest"
    ignores = frozenset({"PIX", "IDX1", "DIR"})
    capabilities: ClassVar = (
        *(*USUAL_READER, *USUAL_TYPES),
        *("pqf.encode", "sta.encode", "blm.encode"),
        *("type.json", "type.interval", "type.geometry", "type.variant", "type.unknown"),
    )

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows."""
        from arrow_tables import rows_of

        return rows_of(self._table(path, None, columns), columns)

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The rows that satisfy a predicate."""
        from arrow_tables import rows_of

        return rows_of(self._table(path, query), query.columns)

    def _table(self, path: str, query: Query | None, columns: Sequence[str] = ()) -> Any:
        import duckdb

        try:
            return self.found(path, query, columns).to_arrow_table()
        except (duckdb.InternalException, duckdb.FatalException):
            self.__dict__.pop("connection", None)  # it answers nothing more
            raise

    def found(self, path: str, query: Query | None, columns: Sequence[str] = ()) -> Any:
        """A relation with the rows that satisfy a predicate, or all with some columns. Without index nothing is optimized, so that no filter reaches the file."""
        connection = self.connection
        connection.execute(f"PRAGMA {'enable' if query is None or query.index else 'disable'}_optimizer")
        relation = connection.read_parquet(path, hive_partitioning=False)
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        if query is None:
            names = columns if 0 < len(columns) < len(relation.columns) else relation.columns
            return relation.select(*(_shown(name, types[name]) for name in names))
        wanted = relation.filter(self.condition(query.predicate, types))
        return wanted.select(*(_shown(name, types[name]) for name in query.columns))

    @functools.cached_property
    def connection(self) -> Any:
        """A connection that everything is asked of."""
        import duckdb

        return duckdb.connect(config=SETTINGS)

    def condition(self, predicate: Predicate, types: Mapping[str, str]) -> Any:
        """A predicate as an expression of DuckDB, on columns of these types.

        Raises:
            Unsupported: A comparison with a nested column.
        """
        import duckdb

        def literal(name: str, written: Written) -> Any:
            return _literal(written, types[name])

        def among(name: str, values: list[Written]) -> Any:
            return duckdb.ColumnExpression(name).isin(*(literal(name, value) for value in values))

        made = Expressions(
            column=duckdb.ColumnExpression,
            literal=literal,
            is_null=lambda column: column.isnull(),
            is_not_null=lambda column: column.isnotnull(),
            among=among,
            nothing=lambda: duckdb.ConstantExpression(False),
        )
        return expression(predicate, made)

    def encode(self, request: Mapping[str, Any]) -> None:
        """Write rows with ``COPY``."""
        from arrow_tables import table_of

        options: Mapping[str, Callable[[Any], dict[str, Any]]] = {
            "row_group_rows": lambda count: {"ROW_GROUP_SIZE": count},
            "dictionary": lambda used: {} if used else {"DICTIONARY_SIZE_LIMIT": 0},
            "bloom_filter": lambda names: {"WRITE_BLOOM_FILTER": str(bool(names)).lower()},
            "page_index": only("page_index", False),
            "statistics": only("statistics", True),
            "data_page_version": only("data_page_version", 1),
            "codec": lambda codec: {"COMPRESSION": codec},
        }
        chosen = {"FORMAT": "parquet"} | options_for(request, options)
        told = ", ".join(f"{key} {value}" for key, value in chosen.items())
        with replacing(request["output"]) as temporary:
            relation = self.connection.from_arrow(table_of(request["rows"]))
            quoted = temporary.replace("'", "''")
            relation.query("written", f"COPY written TO '{quoted}' ({told})")
        self._require_fulfilled(request.get("wishes") or {}, request["output"])

    def _require_fulfilled(self, wishes: Mapping[str, Any], path: str) -> None:
        """Look at what was written, which stays: row groups have thousands of rows, and filters go with dictionaries.

        Raises:
            Unsupported: DuckDB took an option, and did something else.
        """
        asked = "SELECT path_in_schema, row_group_num_rows, bloom_filter_offset FROM parquet_metadata(?)"
        chunks = self.connection.execute(asked, [path]).fetchall()
        most = wishes.get("row_group_rows")
        if most is not None and any(rows > most for _, rows, _ in chunks):
            lacks("row_group_rows")
        if any(name in wishes.get("bloom_filter", ()) and offset is None for name, _, offset in chunks):
            lacks("bloom_filter")


def _shown(name: str, kind: str) -> Any:
    """A column as Arrow can have it, which knows no times of day with a zone. Parquet has them in UTC alone."""
    import duckdb

    column = duckdb.ColumnExpression(name)
    return column.cast("TIME").alias(name) if kind == "TIME WITH TIME ZONE" else column


def _literal(written: Written, kind: str) -> Any:
    """A value as DuckDB's constant, of the type of the column that it is compared with where that keeps it."""
    import duckdb

    if any(part in kind for part in NESTED):
        raise Unsupported(f"a comparison with a column of type {kind}")
    value = native(written)
    tag = tag_of(written)
    if tag is not None and tag in _MADE:
        return duckdb.SQLExpression(_MADE[tag](value, kind))
    if tag == "bytes" and kind == "UUID":
        return duckdb.ConstantExpression(str(uuid.UUID(bytes=value))).cast("UUID")
    if tag == "bytes" and kind != "BLOB":
        raise Unsupported(f"a comparison of bytes with a column of type {kind}")
    if isinstance(value, float) and math.isnan(value):  # which releases before 2.0 take for NULL
        return duckdb.SQLExpression(f"'nan'::{'FLOAT' if kind == 'FLOAT' else 'DOUBLE'}")
    constant = duckdb.ConstantExpression(value)
    return constant.cast("FLOAT") if tag == "float" and kind == "FLOAT" else constant


def _moment(nanoseconds: int, kind: str) -> str:
    moment = (
        f"make_timestamp_ns({nanoseconds})"
        if kind in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS")
        else f"make_timestamp({nanoseconds // 1000})"
    )
    return f"timezone('UTC', {moment})" if kind in ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS") else moment


def _time(nanoseconds: int, kind: str) -> str:
    seconds, rest = divmod(nanoseconds, 10**9)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:09}"
    return f"'{text}'::TIME_NS" if kind == "TIME_NS" else f"'{text[:-3]}'::{kind}"


_MADE: Mapping[str, Callable[[Any, str], str]] = {
    "date": lambda days, _: f"DATE '1970-01-01' + {days}",
    "time": _time,
    "timestamp": _moment,
    "decimal": lambda value, _: f"{value:f}",
}


if __name__ == "__main__":
    main(DuckDB())
