"""What engines get wrong on good golden files, through limits of their own; and the rows of manifests as engines give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engines import Limit, Tagged

UNSAFE = (("fastparquet", "pqf/extensions"),)
"""Read last: fastparquet 2026.9.0 takes the bytes of an extension for a struct, and may end the process with it."""

GEOMETRIES = (
    *(
        f"sta/{name}"
        for name in ("box-across-the-antimeridian", "audited-box", "geography", "points-in-space")
    ),
    "pqf/geo-document-with-boxes",
)
"""Cases with a column of geometries."""

EXCEPTIONS = {
    ("fastparquet", "idx1/column-with-dots"): Limit(
        "2026.9.0", "a filter takes the dots of a name for those of a path", "'a'"
    ),
    ("fastparquet", "pqf/all-types"): Limit(
        "2026.9.0", "a null double is a NaN", "(None, 1971, Tagged(kind='float', text='nan')"
    ),
    **{
        ("fastparquet", f"pqf/{name}"): Limit("2026.9.0", reason, says)
        for name, reason, says in (
            ("decimals", "decimals become doubles", "Tagged(kind='float'"),
            ("decimal-bytes", "decimals become doubles", "Tagged(kind='float'"),
            ("fixed", "byte strings lose the zeros at their end", r"('b', b'\xff')"),
            ("uuid", "byte strings lose the zeros at their end", "('b', b'')"),
            ("half", "floats of two bytes stay bytes", r"b'\x00"),
            ("times", "dates become timestamps", "Tagged(kind='timestamp', text='-86400000000000')"),
            ("times-of-day", "times of day become durations", "Timedelta"),
            ("values", "decimals become floats", "Tagged(kind='float'"),
            ("values-times", "times of day become durations", "Timedelta"),
            (
                "values-json",
                "JSON is taken apart",
                ("(('é', (1, ", "('kündé', None)"),
            ),
            ("values-bson", "BSON is for another package", "BSON not found"),
            ("nested", "no lists of structs or of lists", ", None, None"),
            ("field-ids", "members of a struct become columns", ", 1, 2)"),
            ("repeated", "no repeated fields without a list", "boolean index did not match"),
            ("pages-v2", "no lists in pages of version 2", "boolean index did not match"),
            ("three-pages-of-lists-v2", "no lists in pages of version 2", "boolean index did not match"),
            ("pages-apart", "no lists in pages of version 2", "could not broadcast"),
            (
                "differences",
                "differences of 32 bits lose some",
                ("-2147483641", "Counter()", "Counter({(0, 1971): 1})"),
            ),
        )
    },
    ("duckdb", "pqf/values-bson"): Limit("2.0.0", "no such type", "Unsupported converted type (20)"),
    ("polars", "pqf/values-json"): Limit("2.1.0", "JSON is bytes", ("b'{", "b' null '")),
    ("duckdb", "pqf/uuid"): Limit("2.0.0", "its Arrow gives UUIDs as text", "'00000000-0000-0000-0000-"),
    ("spark", "pqf/decimal-bytes"): Limit(
        "4.3.0", "the reader of batches fails on them", "java.lang.NullPointerException"
    ),
    **{
        (name, f"pqf/{case}"): Limit("4.3.0", reason, says)
        for name in ("spark", "spark, row by row")
        for case, reason, says in (
            ("half", "no such type", "Illegal Parquet type: FIXED_LEN_BYTE_ARRAY (FLOAT16)"),
            ("nanoseconds", "no such type", "Illegal Parquet type: INT64 (TIMESTAMP(NANOS,true))"),
            ("times-of-day", "no such type", "Illegal Parquet type: INT32 (TIME(MILLIS,true))"),
            ("values-times", "no such type", "Illegal Parquet type: INT32 (TIME(MILLIS,true))"),
            ("uuid", "no such type", "Illegal Parquet type: FIXED_LEN_BYTE_ARRAY (UUID)"),
            ("unsigned-64", "they become decimals", "Tagged(kind='decimal', text='0')"),
        )
    },
    ("fastparquet", "sta/orders-of-types"): Limit(
        "2026.9.0", "decimals become floats, and days moments", "Tagged(kind='float'"
    ),
    **{
        (name, case): Limit(
            "4.3.0", "a geometry is an object that names its reference system", "('srid', 4326)"
        )
        for name in ("spark", "spark, row by row")
        for case in GEOMETRIES
    },
    **{
        ("polars", case): Limit(
            "2.1.0", "it knows no geometries, and no types that it does not know", "union has no variant set"
        )
        for case in GEOMETRIES
    },
    **{
        ("fastparquet", case): Limit("2026.9.0", "decimals become floats", "Tagged(kind='float'")
        for case in ("sta/audited", "pix/audited", "blm/audited", "blm/types")
    },
    **{
        ("fastparquet", f"blm/{name}"): Limit(
            "2026.9.0", "a null double is a NaN", "(None, None, Tagged(kind='float', text='nan')"
        )
        for name in ("one-block", "at-the-end", "between-row-groups")
    },
    ("fastparquet", "sta/geography"): Limit(
        "2026.9.0", "no row groups in a footer with a geography", "'NoneType' object is not iterable"
    ),
    ("fastparquet", "sta/audited-page-headers"): Limit(
        "2026.9.0", "no pages of version 2 with nulls", "could not be broadcast together"
    ),
    **{
        (name, "blm/no-filters"): Limit(
            version,
            "moments of INT96 lose their nanoseconds",
            "(Tagged(kind='boolean', text='False'), Tagged(kind='timestamp', text='0'))",
        )
        for name, version in (("duckdb", "2.0.0"), ("spark", "4.3.0"), ("spark, row by row", "4.3.0"))
    },
    **{
        (name, "pix/nan-among-equal-numbers"): Limit(
            version, "what is within bounds of 3 and 3 is not taken for NaN", "Counter()"
        )
        for name, version in (
            ("pyarrow", "26.0.1"),
            ("duckdb", "2.0.0"),
            ("fastparquet", "2026.9.0"),
            ("spark", "4.3.0"),
            ("spark, row by row", "4.3.0"),
        )
    },
    ("datafusion", "pix/nan-among-equal-numbers"): Limit(
        "55.0.0", "a column within bounds of 3 and 3 is not even read", ("text='3.0'), 2)", "Counter()")
    ),
    **{
        (name, "blm/zeros-and-nan"): Limit(
            "4.3.0",
            "it looks up one of the two zeros in a bloom filter",
            "Counter({(Tagged(kind='float', text='0.0'), 3): 1})",
        )
        for name in ("spark", "spark, row by row")
    },
    ("datafusion", "blm/zeros-and-nan"): Limit(
        "55.0.0",
        "zero and negative zero are not equal",
        "Counter({(Tagged(kind='float', text='0.0'), 3): 1})",
    ),
    ("fastparquet", "pix/halves"): Limit("2026.9.0", "floats of two bytes stay bytes", r"b'\x00"),
    ("fastparquet", "dir/halves"): Limit("2026.9.0", "floats of two bytes stay bytes", r"b'\x00"),
    ("fastparquet", "dir/decimals"): Limit("2026.9.0", "decimals become floats", "Tagged(kind='float'"),
    ("fastparquet", "dir/of-a-struct"): Limit(
        "2026.9.0",
        "members of a struct become columns",
        ("(1, 'Freiberg', 40)", "(3, 'Altenberg', -7)", "NAType"),
    ),
    ("fastparquet", "sta/decimal-bytes"): Limit("2026.9.0", "decimals become floats", "Tagged(kind='float'"),
    ("fastparquet", "sta/struct"): Limit(
        "2026.9.0", "members of a struct become columns", ("('tin', 1, 2)", "(None, 5, 4)")
    ),
    ("fastparquet", "dir/times"): Limit(
        "2026.9.0", "days become timestamps", "Tagged(kind='timestamp', text='1641600000000000000')"
    ),
    **{
        (name, f"dir/{case}"): Limit(
            "4.3.0", "unsigned numbers of 64 bits become decimals", "Tagged(kind='decimal'"
        )
        for name in ("spark", "spark, row by row")
        for case in ("unsigned-and-booleans", "keyed-by-booleans")
    },
    **{
        (name, case): Limit("4.3.0", "no such type", "Illegal Parquet type: FIXED_LEN_BYTE_ARRAY (FLOAT16)")
        for name in ("spark", "spark, row by row")
        for case in ("pix/halves", "dir/halves")
    },
    ("fastparquet", "pqf/types"): Limit(
        "2026.9.0",
        "a decimal is a float, and bytes end before their zeros",
        "Tagged(kind='float'",
    ),
    ("fastparquet", "pqf/streams"): Limit("2026.9.0", "no values split into streams", "Encoding 9"),
    ("fastparquet", "interop/spark-4.3.0/codec-lz4"): Limit(
        "2026.9.0", "it takes the frame of Hadoop for a block", "Decompression failed"
    ),
    ("fastparquet", "interop/spark-4.3.0/pages-v2"): Limit(
        "2026.9.0", "no delta encoding where there are nulls", "null delta-int not implemented"
    ),
    **{
        ("fastparquet", f"interop/spark-4.3.0/{name}"): Limit(
            "2026.9.0", "no delta encoding of text", "NotImplementedError()"
        )
        for name in ("pages-v2-delta", "everything", "index-beside-everything")
    },
    **{
        ("fastparquet", f"interop/{name}"): Limit("2026.9.0", "decimals become floats", "Tagged(kind='float'")
        for name in (
            "arrow-rs-59.0.0/flat",
            "datafusion-55.0.0/flat",
            "datafusion-55.0.0/pages",
            "duckdb-2.0.0/flat",
            "duckdb-2.0.0/zstd",
            "polars-2.1.0/flat",
            "polars-2.1.0/pages",
            "pyarrow-26.0.1/flat",
            "pyarrow-26.0.1/pages",
        )
    },
    **{
        ("fastparquet", f"interop/{name}/nested"): Limit(
            "2026.9.0", "members of a struct become columns", "'東京', -3)"
        )
        for name in (
            "arrow-rs-59.0.0",
            "datafusion-55.0.0",
            "duckdb-2.0.0",
            "polars-2.1.0",
            "pyarrow-26.0.1",
        )
    },
    **{
        ("fastparquet", f"interop/fastparquet-2026.9.0/{name}"): Limit(
            "2026.9.0", "a null double is a NaN", "'東京', Tagged(kind='float', text='nan')"
        )
        for name in ("flat", "int96")
    },
    ("fastparquet", "interop/arrow-rs-59.0.0/pages"): Limit(
        "2026.9.0", "no pages of version 2 with delta encodings", "could not be broadcast together"
    ),
    ("fastparquet", "interop/datafusion-55.0.0/bounds-cut"): Limit(
        "2026.9.0", "no pages of version 2 with delta encodings", "could not be broadcast together"
    ),
    ("fastparquet", "interop/pyarrow-26.0.1/pages-v2"): Limit(
        "2026.9.0", "no pages of version 2 with nulls", "an integer is required"
    ),
    ("polars", "interop/fastparquet-2026.9.0/int96"): Limit(
        "2.1.0", "it refuses bytes behind the values of a page", "does not align with expected element size"
    ),
}
"""Engine and case to what goes wrong, at least for some queries."""


def literal(value: Any) -> Any:
    """A value of a manifest, whose type is tagged where JSON has no such type."""
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    readers: dict[str, Callable[[Any], Any]] = {
        "int": int,
        "float": float,
        "bytes": bytes.fromhex,
        "list": lambda items: [literal(item) for item in items],
        "map": lambda pairs: [tuple(map(literal, pair)) for pair in pairs],
        "struct": lambda members: {name: literal(member) for name, member in members.items()},
    }
    return readers[tag](content) if tag in readers else Tagged(tag, content)


def columns(rows: dict[str, Any]) -> dict[str, list[Any]]:
    """The rows of a manifest column by column."""
    names = [column["name"] for column in rows["columns"]]
    return {name: [literal(row[position]) for row in rows["rows"]] for position, name in enumerate(names)}
