"""The driver of DataFusion, with filters pushed into the scan: statistics, page index and bloom filters, then single rows.

pqassay suite run -- python3 driver.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
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
    options_for,
    replacing,
    short,
)

SKIPPING = (
    "datafusion.execution.collect_statistics",
    "datafusion.execution.parquet.pruning",
    "datafusion.execution.parquet.enable_page_index",
    "datafusion.execution.parquet.bloom_filter_on_read",
    "datafusion.execution.parquet.pushdown_filters",
    "datafusion.execution.parquet.reorder_filters",
)
"""Settings that make it rely on what a file says about its values. Pushing filters down is off by default, and what users turn on."""

CODECS = {"gzip": "gzip(6)", "zstd": "zstd(3)", "brotli": "brotli(3)"}
"""Codecs of requests that are called with their level."""


class DataFusion(Driver):
    """DataFusion."""

    name = "DataFusion"
    distribution = "datafusion"
    language = "Rust, driven from Python"
    nan = "greatest"
    index_off = True
    capabilities: ClassVar = (
        *(*USUAL_READER, *USUAL_TYPES),
        *("pqf.encode", "sta.encode", "pix.encode", "blm.encode"),
        *("type.json", "type.bson", "type.interval", "type.geometry", "type.unknown", "codec.lz4"),
    )

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows."""
        from arrow_tables import rows_of

        frame = self._opened(path, skipping=True)
        if len(columns) < len(frame.schema().names):
            frame = frame.select(*map(self._column, columns))
        return rows_of(frame.to_arrow_table(), columns)

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The rows that satisfy a predicate."""
        from arrow_tables import rows_of

        return rows_of(self.found(path, query).to_arrow_table(), query.columns)

    def found(self, path: str, query: Query) -> Any:
        """A data frame with the rows that satisfy a predicate."""
        frame = self._opened(path, skipping=query.index)
        wanted = self.condition(query.predicate, frame.schema())
        return frame.filter(wanted).select(*map(self._column, query.columns))

    def _opened(self, path: str, *, skipping: bool) -> Any:
        """A file in a session of its own, which knows nothing of what was in files before."""
        import datafusion

        config = datafusion.SessionConfig().with_target_partitions(1)
        for setting in SKIPPING:
            config = config.set(setting, str(skipping).lower())
        context = datafusion.SessionContext(config)
        return context.read_parquet(path, parquet_pruning=skipping, file_extension=PurePath(path).suffix)

    def _column(self, name: str) -> Any:
        import datafusion

        return datafusion.col('"' + name.replace('"', '""') + '"')  # unquoted names are taken in lower case

    def condition(self, predicate: Predicate, schema: Any) -> Any:
        """A predicate as an expression of DataFusion.

        Raises:
            Unsupported: DataFusion has no such comparison for the type of a column.
        """
        import datafusion
        from arrow_tables import require_flat, scalar

        def literal(name: str, written: Written) -> Any:
            return datafusion.lit(scalar(written, schema.field(name).type))

        def among(name: str, values: list[Written]) -> Any:
            found = [literal(name, value) for value in values]
            return datafusion.functions.in_list(self._column(name), found)

        require_flat(predicate, schema)
        made = Expressions(
            column=self._column,
            literal=literal,
            is_null=lambda column: column.is_null(),
            is_not_null=lambda column: column.is_not_null(),
            among=among,
            nothing=lambda: datafusion.lit(False),
        )
        wanted = expression(predicate, made)
        try:
            datafusion.SessionContext().from_arrow(schema.empty_table()).filter(wanted).collect()
        except Exception as error:  # noqa: BLE001 - it has one class for all its errors
            raise Unsupported(short(str(error))) from None
        return wanted

    def is_crash(self, error: Exception) -> bool:
        """A panic of one of its tasks reaches the caller as an error like any other."""
        return "panicked" in str(error) or super().is_crash(error)

    def encode(self, request: Mapping[str, Any]) -> None:
        """Write rows, with the options that the wishes name."""
        import datafusion
        from arrow_tables import table_of

        options: Mapping[str, Callable[[Any], dict[str, Any]]] = {
            "page_rows": lambda count: {"data_page_row_count_limit": count, "write_batch_size": count},
            "row_group_rows": lambda count: {"max_row_group_size": count},
            "dictionary": lambda used: {"dictionary_enabled": used},
            "bloom_filter": lambda names: {"column_specific_options": _with_filters(names)},
            "page_index": lambda used: {"statistics_enabled": "page" if used else "chunk"},
            "statistics": lambda used: {"statistics_enabled": "chunk" if used else "none"},
            "data_page_version": lambda version: {"writer_version": f"{version}.0"},
            "codec": lambda codec: {"compression": CODECS.get(codec, codec)},
        }
        chosen = options_for(request, options)
        frame = datafusion.SessionContext().from_arrow(table_of(request["rows"]))
        # By another name, it would make a folder.
        with replacing(request["output"], ".tmp.parquet") as temporary:
            frame.write_parquet_with_options(temporary, datafusion.ParquetWriterOptions(**chosen))


def _with_filters(names: list[str]) -> dict[str, Any]:
    import datafusion

    return {name: datafusion.ParquetColumnOptions(bloom_filter_enabled=True) for name in names}


if __name__ == "__main__":
    main(DataFusion())
