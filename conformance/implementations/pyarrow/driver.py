"""The driver of pyarrow: datasets, whose filters skip row groups by their statistics.

pqassay suite run -- python3 driver.py
"""

from __future__ import annotations

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
    options_for,
    replacing,
    without_negations,
)

CODECS = {"uncompressed": "none", "lz4_raw": "lz4"}
"""Codecs of requests that pyarrow calls differently."""

FEW = {"ndv": 1000}
"""Distinct values of a bloom filter, at most; pyarrow folds the filter of many to the same bytes, and takes longer."""


class PyArrow(Driver):
    """pyarrow."""

    name = "pyarrow"
    distribution = "pyarrow"
    language = "C++, driven from Python"
    ignores = frozenset({"PIX", "BLM", "IDX1", "DIR"})
    capabilities: ClassVar = (
        *(*USUAL_READER, *USUAL_TYPES),
        *("pqf.encode", "sta.encode", "pix.encode", "blm.encode"),
        *("type.timestamp-wide", "type.json", "type.bson", "type.geometry", "type.unknown", "codec.lz4"),
    )

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows, by the reader of single files."""
        import pyarrow.parquet as pq
        from arrow_tables import rows_of

        with pq.ParquetFile(path) as file:
            is_part = len(columns) < len(file.schema_arrow.names)
            return rows_of(file.read(columns if is_part else None), columns)

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The rows that a dataset finds, or that a filter leaves of all its rows."""
        from arrow_tables import rows_of

        return rows_of(self.found(path, query), query.columns)

    def found(self, path: str, query: Query) -> Any:
        """A table with the rows that satisfy a predicate."""
        import pyarrow.dataset as pads

        dataset = pads.dataset(path, format="parquet")
        wanted = self.condition(query.predicate, dataset.schema)
        if query.index:
            return dataset.to_table(columns=query.columns, filter=wanted)
        return dataset.to_table().filter(wanted)

    def condition(self, predicate: Predicate, schema: Any) -> Any:
        """A predicate as an expression of pyarrow.

        Raises:
            Unsupported: pyarrow has no such comparison for the type of a column.
        """
        import pyarrow as pa
        import pyarrow.compute as pc
        from arrow_tables import require_flat, scalar

        def among(name: str, values: list[Written]) -> Any:
            kind = schema.field(name).type
            return pc.field(name).isin(pa.array([scalar(value, kind) for value in values]))

        require_flat(predicate, schema)
        # `isin` is false for a null, where SQL says unknown: a negation of it would keep the row.
        made = Expressions(
            column=pc.field,
            literal=lambda name, value: scalar(value, schema.field(name).type),
            is_null=lambda column: column.is_null(),
            is_not_null=lambda column: column.is_valid(),
            among=among,
            nothing=lambda: pc.scalar(False),
        )
        wanted = expression(without_negations(predicate), made)
        try:
            schema.empty_table().filter(wanted)
        except pa.ArrowNotImplementedError as error:
            raise Unsupported(str(error)) from None
        return wanted

    def encode(self, request: Mapping[str, Any]) -> None:
        """Write rows, with the options that the wishes name."""
        import pyarrow.parquet as pq
        from arrow_tables import table_of

        options: Mapping[str, Callable[[Any], dict[str, Any]]] = {
            "page_rows": lambda count: {"max_rows_per_page": count, "write_batch_size": count},
            "row_group_rows": lambda count: {"row_group_size": count},
            "dictionary": lambda used: {"use_dictionary": used},
            "bloom_filter": lambda names: {"bloom_filter_options": dict.fromkeys(names, FEW)},
            "page_index": lambda used: {"write_page_index": used},
            "statistics": lambda used: {"write_statistics": used},
            "sorting": lambda keys: {"sorting_columns": self._sorting(request, keys)},
            "data_page_version": lambda version: {"data_page_version": f"{version}.0"},
            "codec": lambda codec: {"compression": CODECS.get(codec, codec)},
        }
        chosen = options_for(request, options)
        with replacing(request["output"]) as temporary:
            pq.write_table(table_of(request["rows"]), temporary, **chosen)

    def _sorting(self, request: Mapping[str, Any], keys: list[Mapping[str, Any]]) -> list[Any]:
        import pyarrow.parquet as pq

        names = [column["name"] for column in request["rows"]["columns"]]
        return [pq.SortingColumn(names.index(key["column"]), key["descending"]) for key in keys]


if __name__ == "__main__":
    main(PyArrow())
