"""The driver of chDB, ClickHouse as a library: what the table function `file` reads, asked in SQL.

pqassay suite run --driver chdb
"""

from __future__ import annotations

import datetime as dt
import decimal
import functools
import sys
import tempfile
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parents[1] / "skeletons" / "python"))

from pqassay_driver import (
    USUAL_READER,
    USUAL_TYPES,
    Driver,
    Query,
    Unsupported,
    Written,
    main,
    native,
    only,
    options_for,
    replacing,
    tag_of,
    without_negations,
)

SETTINGS = {
    "max_threads": 1,
    "schema_inference_use_cache_for_file": 0,  # a file of the same name may hold something else the next time
    "use_parquet_metadata_cache": 0,
    "input_format_parquet_enable_json_parsing": 0,  # JSON as it is stored
    "input_format_parquet_allow_geoparquet_parser": 0,  # GEOMETRY as it is stored
    "output_format_arrow_string_as_string": 0,  # text and bytes are of one type
}

WITHOUT_INDEX = dict.fromkeys(
    (
        *("input_format_parquet_filter_push_down", "input_format_parquet_page_filter_push_down"),
        *("input_format_parquet_bloom_filter_push_down", "input_format_parquet_spatial_filter_push_down"),
        *("input_format_parquet_dictionary_filter_push_down", "input_format_parquet_use_offset_index"),
    ),
    0,
)

TYPES = {
    "boolean": "Bool",
    "float": "Float32",
    "double": "Float64",
    "string": "String",
    "binary": "String",
    **{f"{sign}int{width}": f"{sign.upper()}Int{width}" for sign in ("", "u") for width in (8, 16, 32, 64)},
    "date": "Date32",
    "uuid": "UUID",
    "timestamp_millis": "DateTime64(3, 'UTC')",
    "timestamp_micros": "DateTime64(6, 'UTC')",
    "timestamp_nanos": "DateTime64(9, 'UTC')",
}
"""ClickHouse's types by their names in requests."""


class ChDB(Driver):
    """chDB."""

    name = "chDB"
    distribution = "chdb"
    language = "C++, driven from Python"
    index_off = True
    raises = ("DB.*",)
    capabilities: ClassVar = (
        *(capability for capability in (*USUAL_READER, *USUAL_TYPES) if capability != "type.time"),
        *("pqf.encode", "sta.encode", "pix.encode", "blm.encode"),
        *("type.json", "type.bson", "type.interval", "type.geometry", "type.variant", "codec.lz4"),
    )

    @functools.cached_property
    def session(self) -> Any:
        """The session that everything is asked in."""
        from chdb.session import Session  # type: ignore[import-not-found] # it lives in an environment of its own

        session = Session()
        session.query(f"SET {', '.join(f'{name} = {value}' for name, value in SETTINGS.items())}")
        return session

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows."""
        return self._rows(path, columns, "")

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The rows that satisfy a predicate."""
        from arrow_tables import require_flat
        from sql_text import condition

        schema = self._schema(path, Path(path).stat().st_mtime_ns)
        require_flat(query.predicate, schema)
        # A list with a null is never unknown here, as it is in SQL.
        wanted = condition(
            without_negations(query.predicate),
            _name,
            lambda name, value: _literal(value, schema.field(name).type),
        )
        settings = ", ".join(f"{name} = {value}" for name, value in WITHOUT_INDEX.items())
        rest = f"WHERE {wanted}" + ("" if query.index else f" SETTINGS {settings}")
        return self._rows(path, query.columns, rest)

    @functools.lru_cache(maxsize=1)  # noqa: B019 - there is one driver
    def _schema(self, path: str, _: int) -> Any:
        return self._arrow("*", _file(path), "LIMIT 0").schema

    def _rows(self, path: str, columns: list[str], rest: str) -> list[list[Written]]:
        from arrow_tables import rows_of, with_text

        table = self._arrow(", ".join(map(_name, columns)), _file(path), rest)
        return rows_of(with_text(table, self._leaves(path, Path(path).stat().st_mtime_ns)), columns)

    def _arrow(self, columns: str, source: str, rest: str = "") -> Any:
        import pyarrow as pa

        sql = f"SELECT {columns} FROM {source} {rest}"  # noqa: S608 - names and values are quoted
        return pa.ipc.open_file(self.session.query(sql, "Arrow").bytes()).read_all()

    @functools.lru_cache(maxsize=1)  # noqa: B019 - as above
    def _leaves(self, path: str, _: int) -> Callable[[str], list[bool]]:
        """Which leaves hold text, by ClickHouse's format of metadata; all, where that cannot read a file that the other can."""
        import chdb

        try:
            leaves = "arrayJoin(columns).path AS path, arrayJoin(columns).logical_type AS type"
            found = self._arrow(leaves, _file(path, "ParquetMetadata")).to_pydict()
        except chdb.ChdbError:
            return lambda _: []
        kinds = [(leaf.decode(), kind) for leaf, kind in zip(found["path"], found["type"], strict=True)]
        return lambda name: [
            kind in (b"String", b"Enum", b"JSON")
            for leaf, kind in kinds
            if leaf == name or leaf.startswith(f"{name}.")
        ]

    def class_name(self, error: Exception) -> str:
        """The name of ClickHouse's error, which is at the end of the message."""
        name = str(error).rpartition("(")[2].rstrip(")")
        return f"DB.{name}" if name.isupper() else super().class_name(error)

    def encode(self, request: Mapping[str, Any]) -> None:
        """Write rows with `INSERT INTO FUNCTION file`."""
        import pyarrow as pa
        from arrow_tables import table_of

        options: Mapping[str, Callable[[Any], dict[str, Any]]] = {
            "page_rows": lambda count: {"data_page_size": 1, "batch_size": count},
            "row_group_rows": lambda count: {"row_group_size": count},
            "dictionary": lambda used: {} if used else {"max_dictionary_size": 0},
            "bloom_filter": lambda names: {"write_bloom_filter": int(bool(names))},
            "page_index": lambda used: {"write_page_index": int(used)},
            "statistics": only("statistics", True),
            "data_page_version": only("data_page_version", 1),
            "codec": lambda codec: {"compression_method": _quoted(_CODECS.get(codec, codec))},
        }
        chosen = options_for(request, options)
        columns = request["rows"]["columns"]
        kinds = {column["type"] for column in columns}
        if {"string", "binary"} <= kinds:
            raise Unsupported("text beside bytes")
        chosen["string_as_string"] = int("binary" not in kinds)
        settings = ", ".join(f"output_format_parquet_{name} = {value}" for name, value in chosen.items())
        structure = ", ".join(f"{_name(c['name'])} {_type(c['type'], c['nullable'])}" for c in columns)
        table = table_of(request["rows"])
        with tempfile.TemporaryDirectory() as folder, replacing(request["output"]) as temporary:
            source = str(Path(folder, "rows.arrow"))
            with pa.ipc.new_file(source, table.schema) as writer:
                writer.write_table(table)
            target = _file(temporary, "Parquet", structure)
            rows = f"SELECT * FROM {_file(source, 'Arrow', structure)} SETTINGS {settings}"  # noqa: S608 - as above
            self.session.query(f"INSERT INTO FUNCTION {target} {rows}")


_CODECS = {"uncompressed": "none", "lz4_raw": "lz4"}
"""Codecs of requests that ClickHouse calls differently."""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0")
    return f"'{escaped}'"


def _name(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _file(path: str, kind: str = "Parquet", structure: str = "") -> str:
    return f"file({', '.join(map(_quoted, filter(None, (path, kind, structure))))})"


def _type(name: str, nullable: bool) -> str:
    if name.startswith(("decimal(", "fixed(")):
        made = name.replace("decimal", "Decimal").replace("fixed", "FixedString")
    elif name in TYPES:
        made = TYPES[name]
    else:
        raise Unsupported(f"type {name}")
    return f"Nullable({made})" if nullable else made


def _literal(written: Written, kind: Any) -> str:
    """A value as text of SQL, of the type of the column that it is compared with where that keeps it."""
    value = native(written)
    tag = tag_of(written)
    if tag is not None and tag in _LITERALS:
        return _LITERALS[tag](value, str(kind))
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return f"toInt256('{value}')"
    return "NULL" if value is None else str(value).lower()


def _bytes(value: bytes, kind: str) -> str:
    if kind == "extension<arrow.uuid>":
        return f"toUUID('{uuid.UUID(bytes=value)}')"
    text = f"unhex('{value.hex()}')"
    return f"toFixedString({text}, {len(value)})" if kind.startswith("fixed_size_binary") else text


def _decimal(value: decimal.Decimal, _: str) -> str:
    _, digits, exponent = value.as_tuple()
    return f"toDecimal{128 if len(digits) <= 38 else 256}('{value:f}', {max(0, -int(exponent))})"


def _date(days: int, _: str) -> str:
    if not FIRST_DATE <= days <= LAST_DATE:
        raise Unsupported("a date outside of Date32")
    return f"toDate32('{dt.date(1970, 1, 1) + dt.timedelta(days)}')"


def _timestamp(nanoseconds: int, kind: str) -> str:
    name, length = UNITS.get(kind.removeprefix("timestamp[")[:2], ("Nano", 1))
    count, rest = divmod(nanoseconds, length)
    return (
        f"fromUnixTimestamp64Nano({nanoseconds}, 'UTC')"
        if rest
        else f"fromUnixTimestamp64{name}({count}, 'UTC')"
    )


UNITS = {"ms": ("Milli", 10**6), "us": ("Micro", 10**3)}
"""Units of timestamps that are longer than a nanosecond: in nanoseconds, many moments would not fit."""

FIRST_DATE, LAST_DATE = -25567, 120529
"""The dates of ClickHouse: of 1900 to 2299, in days."""

_LITERALS: Mapping[str, Callable[[Any, str], str]] = {
    "bytes": _bytes,
    "decimal": _decimal,
    "date": _date,
    "timestamp": _timestamp,
}


if __name__ == "__main__":
    main(ChDB())
