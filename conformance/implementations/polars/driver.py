"""The driver of Polars: lazy scans, which skip row groups by their statistics.

pqassay suite run -- python3 driver.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
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
    main,
    native,
    only,
    options_for,
    replacing,
    tag_of,
)

NANOSECONDS = {"ms": 10**6, "us": 10**3, "ns": 1}
"""How long the units of Polars are."""


class Polars(Driver):
    """Polars."""

    name = "Polars"
    distribution = "polars"
    language = "Rust, driven from Python"
    nan = "greatest"
    capabilities: ClassVar = (
        *(*USUAL_READER, *USUAL_TYPES),
        *("pqf.encode", "sta.encode", "pix.encode", "type.bson", "type.unknown"),
    )

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows."""
        from arrow_tables import rows_of

        lazy = self._scan(path)
        if len(columns) < len(lazy.collect_schema()):
            lazy = lazy.select(columns)
        return rows_of(lazy.collect().to_arrow(), columns)

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The rows that a lazy scan finds, or that a filter leaves of all rows."""
        from arrow_tables import rows_of

        return rows_of(self.found(path, query).to_arrow(), query.columns)

    def found(self, path: str, query: Query) -> Any:
        """A data frame with the rows that satisfy a predicate."""
        lazy = self._scan(path)
        wanted = self.condition(query.predicate, lazy.collect_schema())
        if query.index:
            return lazy.filter(wanted).select(query.columns).collect()
        return lazy.collect().filter(wanted)

    def _scan(self, path: str) -> Any:
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        import polars as pl

        return pl.scan_parquet(path, glob=False, hive_partitioning=False)

    def condition(self, predicate: Predicate, schema: Mapping[str, Any]) -> Any:
        """A predicate as an expression of Polars.

        Raises:
            Unsupported: Polars has no such comparison for the type of a column.
        """
        import polars as pl

        def literal(name: str, written: Written) -> Any:
            return _literal(written, schema[name])

        def among(name: str, values: list[Written]) -> Any:
            frames = [pl.select(value=literal(name, value)) for value in values if value is not None]
            present = (
                pl.concat(frames, how="vertical_relaxed")["value"]
                if frames
                else pl.Series(dtype=schema[name])
            )
            # As a list of Python, moments would lose their nanoseconds.
            among_them = present.implode() if schema[name] in (pl.Datetime, pl.Time) else present.to_list()
            found = pl.col(name).is_in(among_them)
            # A null in the list does not make the answer unknown, as it does in SQL.
            return found if len(present) == len(values) else found | pl.lit(None, pl.Boolean)

        made = Expressions(
            column=pl.col,
            literal=literal,
            is_null=lambda column: column.is_null(),
            is_not_null=lambda column: column.is_not_null(),
            among=among,
            nothing=lambda: pl.lit(False),
        )
        wanted = expression(predicate, made)
        try:
            pl.DataFrame(schema=schema).filter(wanted)
        except pl.exceptions.PolarsError as error:
            raise Unsupported(str(error)) from None
        return wanted

    def encode(self, request: Mapping[str, Any]) -> None:
        """Write rows, with the options that the wishes name."""
        import polars as pl
        from arrow_tables import table_of

        options: Mapping[str, Callable[[Any], dict[str, Any]]] = {
            "row_group_rows": lambda count: {"row_group_size": count},
            "page_index": only("page_index", True),  # it comes with the statistics
            "bloom_filter": only("bloom_filter", []),
            "statistics": lambda used: {"statistics": used},
            "data_page_version": only("data_page_version", 1),
            "codec": lambda codec: {"compression": codec},
        }
        chosen = options_for(request, options)
        if chosen.get("compression") == "lz4_raw":
            chosen["compression"] = "lz4"
        with replacing(request["output"]) as temporary:
            pl.DataFrame(table_of(request["rows"])).write_parquet(temporary, **chosen)


def _literal(written: Written, kind: Any) -> Any:
    """A value as Polars' literal, of the type of the column that it is compared with where that keeps it."""
    import polars as pl

    if kind.is_nested():
        raise Unsupported(f"a comparison with a column of type {kind}")
    value = native(written)
    if value is None:
        return pl.lit(None, kind)
    tag = tag_of(written)
    if tag == "timestamp":
        unit: Any = getattr(kind, "time_unit", "ns")
        zone: str | None = getattr(kind, "time_zone", None)
        count, rest = divmod(value, NANOSECONDS[unit])
        return pl.lit(value, pl.Datetime("ns", zone)) if rest else pl.lit(count, pl.Datetime(unit, zone))
    if tag in ("time", "date"):
        return pl.lit(value, pl.Time if tag == "time" else pl.Date)
    if tag == "decimal" or (tag == "float" and kind.is_float() and _fits(value, kind)):
        return pl.lit(value, kind)
    return pl.lit(value)


def _fits(value: float, kind: Any) -> bool:
    """Whether a float is one of a narrower type, too."""
    import polars as pl

    narrow = pl.select(pl.lit(value, kind)).item()
    return bool(narrow == value or value != value)  # noqa: PLR0124 - NaN


if __name__ == "__main__":
    main(Polars())
