"""The driver of fastparquet, which skips row groups by their statistics; rows are filtered here.

pqassay suite run -- python3 driver.py
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar

sys.path.insert(0, str(Path(__file__).parents[1] / "skeletons" / "python"))

from pqassay_driver import (
    USUAL_READER,
    Driver,
    Predicate,
    Query,
    Unsupported,
    Written,
    columns_of,
    main,
    matching,
    native,
    only,
    options_for,
    replacing,
    tag_of,
    tagged,
    without_negations,
    written_float,
    written_integer,
)

MAP, MAP_KEY_VALUE, LIST, DECIMAL, DATE = 1, 2, 3, 5, 6
"""Converted types, as the format numbers them."""

OPTIONAL = 1
"""The repetition of a column that may hold nulls, as the format numbers it."""

NANOSECONDS = {"D": 24 * 60 * 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""How long the units of numpy are."""

Filter = tuple[str, str, Any]
"""Column, operator and value, as fastparquet takes them."""


class FastParquet(Driver):
    """fastparquet."""

    name = "fastparquet"
    distribution = "fastparquet"
    language = "Python and Cython"
    ignores = frozenset({"PIX", "BLM", "IDX1", "DIR"})
    capabilities: ClassVar = (
        *USUAL_READER,
        *("pqf.encode", "sta.encode", "nested", "nested.map"),
        *("type.unsigned", "type.date", "type.time", "type.timestamp", "type.timestamp-nanos"),
        *("type.int96", "type.fixed", "type.enum"),
    )

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows."""
        with _opened(path) as file:
            return _rows(file, columns, [])

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The rows that satisfy a predicate, of the row groups that the library keeps."""
        needed = list(dict.fromkeys([*query.columns, *columns_of(query.predicate)]))
        with _opened(path) as file:
            filters = row_group_filters(query.predicate) if query.index else []
            rows = _rows(file, needed, filters)
        return [
            [record[name] for name in query.columns] for record in matching(query.predicate, needed, rows)
        ]

    def encode(self, request: Mapping[str, Any]) -> None:
        """Write rows, with the options that the wishes name."""
        import fastparquet  # type: ignore[import-untyped] # it has no types
        from arrow_tables import table_of

        options: Mapping[str, Callable[[Any], dict[str, Any]]] = {
            "row_group_rows": lambda count: {"row_group_offsets": count},
            "page_index": only("page_index", False),
            "bloom_filter": only("bloom_filter", []),
            "statistics": lambda used: {"stats": used},
            "data_page_version": only("data_page_version", 1),
            "codec": lambda codec: {"compression": codec.upper()},
        }
        chosen = options_for(request, options)
        columns = request["rows"]["columns"]
        for column in columns:
            if column["type"] not in _DTYPES:
                raise Unsupported(f"type {column['type']}")
        table = table_of(request["rows"])
        _require_told_apart(columns, table)
        frame = table.to_pandas(timestamp_as_object=False, integer_object_nulls=True)
        frame = frame.astype({c["name"]: _DTYPES[c["type"]] for c in columns if _DTYPES[c["type"]]})
        with replacing(request["output"]) as temporary:
            fastparquet.write(
                temporary,
                frame,
                has_nulls=[column["name"] for column in columns if column["nullable"]],
                object_encoding={
                    c["name"]: _ENCODINGS[c["type"]] for c in columns if c["type"] in _ENCODINGS
                },
                write_index=False,
                **chosen,
            )


def _require_told_apart(columns: Sequence[Mapping[str, Any]], table: Any) -> None:
    """Make sure that no column of floats has nulls, or NaN that would be taken for nulls.

    Raises:
        Unsupported: One has.
    """
    import pyarrow.compute as pc

    for column in columns:
        if column["type"] in ("float", "double") and column["nullable"]:
            values = table.column(column["name"])
            if values.null_count or pc.any(pc.is_nan(values)).as_py():
                raise Unsupported("nulls in a column of floats, which are NaN")


_DTYPES: Mapping[str, str | None] = {
    "boolean": "boolean",
    **{f"int{bits}": f"Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"UInt{bits}" for bits in (8, 16, 32, 64)},
    "float": "float32",
    "double": "float64",
    "string": None,
    "binary": None,
    "timestamp_micros": None,
    "timestamp_millis": None,
    "timestamp_nanos": None,
}
"""Types of columns in requests as types of pandas that have nulls; ``None`` for what they are anyway."""

_ENCODINGS = {"string": "utf8", "binary": "bytes"}
"""How fastparquet is told what objects are."""


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """A file of fastparquet, which leaves the files open that it opens."""
    import fastparquet

    with ExitStack() as stack:

        def opened(name: str, mode: str = "rb") -> IO[Any]:
            return stack.enter_context(Path(name).open(mode))

        yield fastparquet.ParquetFile(path, open_with=opened)


def _rows(file: Any, columns: Sequence[str], filters: Sequence[Sequence[Filter]]) -> list[list[Written]]:
    elements = file.schema.root["children"]
    for name in columns:
        _require_flat_or_simple(elements[name], name)
    try:
        frame = file.to_pandas(columns=list(columns), filters=filters, index=False)
    except NotImplementedError as error:  # so it says that it lacks an encoding
        raise Unsupported(str(error) or "an encoding of pages") from None
    found = [_values(frame[name], elements[name]) for name in columns]
    return [list(row) for row in zip(*found, strict=True)]


def _require_flat_or_simple(element: Any, name: str) -> None:
    """Make sure that a column has values, or lists or maps of them.

    Raises:
        Unsupported: It is another group: fastparquet takes its members for columns, or has nulls in their place.
    """
    inner = element["children"]
    if not inner:
        return
    if element.converted_type in (MAP, MAP_KEY_VALUE, LIST) and len(inner) == 1:
        ((_, entry),) = inner.items()
        leaves = (entry["children"] or {}).values()
        if not any(leaf["children"] for leaf in leaves):
            return
    raise Unsupported(f"nesting of column {name}")


def _values(column: Any, element: Any) -> list[Written]:
    """The values of a column of pandas."""
    import pandas as pd  # type: ignore[import-untyped] # it has no types

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _values(column.astype(object), element)
    if dtype.kind == "f":
        return _floats(column, element)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _values(column.dt.tz_convert(None), element)
    nulls = column.isna().tolist()
    written: Sequence[Written]
    if dtype.kind in "Mm":
        written = _moments(column, element)
    else:
        written = [
            None if null else _written(value, element)
            for value, null in zip(column.tolist(), nulls, strict=True)
        ]
    return [None if null else value for value, null in zip(written, nulls, strict=True)]


def _floats(column: Any, element: Any) -> list[Written]:
    """Floats of a column without nulls.

    Raises:
        Unsupported: They were decimals, or some may have been nulls.
    """
    if element.converted_type == DECIMAL:
        raise Unsupported("DECIMAL, which becomes a float")
    if element.repetition_type == OPTIONAL and column.isna().any():
        raise Unsupported("nulls in a column of floats, which become NaN")
    return [written_float(value) for value in column.tolist()]


def _moments(column: Any, element: Any) -> list[Written]:
    """Dates, times of day and timestamps. Where they are null, the number means nothing."""
    import numpy as np

    values = column.to_numpy()
    unit, _ = np.datetime_data(values.dtype)
    length = NANOSECONDS[unit]
    counts = values.view("int64").tolist()
    if element.converted_type == DATE:
        return [tagged("date", count * length // NANOSECONDS["D"]) for count in counts]
    tag = "time" if values.dtype.kind == "m" else "timestamp"
    return [tagged(tag, count * length) for count in counts]


def _written(value: Any, element: Any) -> Written:
    if type(value) is str:  # as most are
        return value
    if type(value) is int:
        return written_integer(value)
    import numpy as np

    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case None | bool() | str():
            return value
        case int():
            return written_integer(value)
        case float():
            return written_float(value)
        case bytes():
            return {"bytes": value.hex()}
        case list():
            return {"list": [_written(item, element) for item in value]}
        case dict() if element.converted_type in (MAP, MAP_KEY_VALUE):
            return {"map": [[_written(key, element), _written(item, element)] for key, item in value.items()]}
        case _:
            raise Unsupported(f"values of Python's type {type(value).__name__}")


# ---------------------------------------------------------------------------------------------------------- filters


def row_group_filters(predicate: Predicate) -> list[list[Filter]]:
    """What fastparquet can tell row groups apart by: alternatives, each a list of filters that all hold. None: nothing."""
    found = _alternatives(without_negations(predicate))
    return found if all(found) else []


def _alternatives(predicate: Predicate) -> list[list[Filter]]:
    name, *parts = predicate
    match name:
        case "or":
            return [each for part in parts for each in _alternatives(part)]
        case "and":
            choices = itertools.product(*map(_alternatives, parts))
            return [list(itertools.chain.from_iterable(chosen)) for chosen in choices]
        case "in" if parts[1]:
            return [[(parts[0], "in", {_literal(value) for value in parts[1]})]]
        case "=" | "!=" | "<" | "<=" | ">" | ">=" if parts[1] is not None:
            return [[(parts[0], "==" if name == "=" else name, _literal(parts[1]))]]
        case _:
            return [[]]  # it has no such filter


def _literal(written: Written) -> Any:
    """A value as fastparquet compares it with bounds."""
    import numpy as np

    value = native(written)
    tag = tag_of(written)
    if tag == "date":
        return np.datetime64(value, "D")
    if tag == "timestamp":
        return np.datetime64(value, "ns")
    return np.timedelta64(value, "ns") if tag == "time" else value


if __name__ == "__main__":
    main(FastParquet())
