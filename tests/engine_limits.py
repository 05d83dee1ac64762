"""What engines get wrong on good golden files, through limits of their own; and the rows of manifests as engines give them."""

from __future__ import annotations

from typing import Any

from engines import Limit, literal

UNSAFE = (("fastparquet", "pqf/extensions"),)
"""Read last: fastparquet 2026.9.0 takes the bytes of an extension for a struct, and may end the process with it."""

NULLS = "nulls in a column of floats"
"""Why the driver of fastparquet gives no rows where a null became a NaN, or a NaN may have been a null."""

DECIMALS = "DECIMAL, which becomes a float"
"""Why it gives none where a decimal became a float."""

NESTING = "nesting of column"
"""Why it gives none where members of a struct became columns, or null."""

GEOMETRIES = (
    *(
        f"sta/{name}"
        for name in ("box-across-the-antimeridian", "audited-box", "geography", "points-in-space")
    ),
    "pqf/geo-document-with-boxes",
)
"""Cases with a column of geometries."""

VARIANTS = ("pqf/variants", "pqf/variants-shredded", "pqf/variants-of-lists")
"""Cases with a column of variants."""

FILES = "pqf/references-to-files"
"""The case with a column of references to files."""

WIDE = ("sta/wide-timestamps", "sta/wide-timestamps-beyond-64-bits")
"""Cases with timestamps of twelve bytes, which are newer than most engines."""

VERSIONS = {
    "pyarrow": "26.0.1",
    "duckdb": "2.0.0",
    "polars": "2.1.0",
    "datafusion": "55.0.0",
    "fastparquet": "2026.9.0",
    "spark": "4.3.0",
    "spark, row by row": "4.3.0",
}
"""The versions that were tried."""

NULLS_ALONE = ("(None, 1958)", "Counter()")

FEATURES = (
    ("brotli", "its codec is for another package", "Py4JJavaError", "spark; spark, row by row"),
    ("lengths-first", "no such encoding", "Encoding 6", "fastparquet"),
    ("streams-of-int32", "no values split into streams", "Encoding 9", "fastparquet"),
    ("streams-of-int64", "no values split into streams", "Encoding 9", "fastparquet"),
    ("streams-of-fixed", "no values split into streams", "Encoding 9", "fastparquet"),
    ("streams-of-fixed", "no byte strings split into streams", "BYTE_STREAM_SPLIT", "duckdb"),
    ("streams-of-fixed", "no byte strings split into streams", "ByteStreamSplit", "polars"),
    ("enum", "its names are bytes", "(b'lead', 1963)", "pyarrow; datafusion"),
    ("enum", "its names are bytes", ("(b'lead', 1963)", "Counter()", "'bytes' and 'str'"), "fastparquet"),
    ("interval", "a panic", "month_day_millisecond_interval", "polars"),
    ("interval", "another type, which has no months", ("KeyError(22)", "day_time_interval"), "datafusion"),
    ("interval", "no such type", "could not broadcast", "fastparquet"),
    ("interval", "no such type", "FIXED_LEN_BYTE_ARRAY (INTERVAL)", "spark; spark, row by row"),
    ("levels-from-the-highest-bit", "levels from the lowest bit on", NULLS_ALONE, "pyarrow; datafusion; fastparquet"),
    ("levels-from-the-highest-bit", "levels are taken for runs", "Out of buffer", "duckdb"),
    ("levels-from-the-highest-bit", "levels are taken for runs", "bytes declared in v1 def levels", "polars"),
    ("levels-from-the-highest-bit", "no such levels in batches", "Py4JJavaError", "spark"),
)  # fmt: skip
"""Cases of one feature each that engines lack: why, what their answer says, and the engines."""

EXCEPTIONS = {
    **{
        (name, case): Limit(version, "no timestamps of twelve bytes", says)
        for case in WIDE
        for name, version, says in (
            ("duckdb", "2.0.0", ("Incorrect stats size for type TIMESTAMP", "kind='timestamp', text=")),
            ("polars", "2.1.0", "Cannot annotate Timestamp"),
            ("datafusion", "55.0.0", "Cannot annotate Timestamp"),
            ("fastparquet", "2026.9.0", "its size must be a divisor"),
            ("spark", "4.3.0", "CANNOT_READ_FILE_FOOTER"),
            ("spark, row by row", "4.3.0", "CANNOT_READ_FILE_FOOTER"),
        )
    },
    ("pyarrow", WIDE[1]): Limit("26.0.1", "timestamps of 64 bits alone", "does not fit in a 64-bit"),
    **{
        (name, f"pqf/{case}"): Limit(VERSIONS[name], reason, says)
        for case, reason, says, names in FEATURES
        for name in names.split("; ")
    },
    **{
        ("duckdb", case): Limit("2.0.0", "variants are encoded again", r"('metadata', b'\x01")
        for case in VARIANTS
    },
    **{
        ("fastparquet", case): Limit("2026.9.0", "members of a struct become columns", NESTING)
        for case in (*VARIANTS, "pqf/geo-document-with-covering")
    },
    **{
        ("fastparquet", case): Limit("2026.9.0", "no such type", "'NoneType' object is not iterable")
        for case in (FILES, "pqf/values-of-places")
    },
    ("pyarrow", FILES): Limit("26.0.1", "no such type", "Logical type Undefined cannot be applied"),
    **{
        (name, case): Limit("4.3.0", reason, says)
        for name in ("spark", "spark, row by row")
        for case, reason, says in (
            *((case, "variants have their members in another order", "(('value', b'") for case in VARIANTS),
            (FILES, "no such type", "CANNOT_READ_FILE_FOOTER"),
            ("pqf/values-of-places", "a null geography fails on its way to pyarrow", "nulls in input"),
        )
    },
    ("fastparquet", "idx1/column-with-dots"): Limit(
        "2026.9.0", "a filter takes the dots of a name for those of a path", "'a'"
    ),
    ("fastparquet", "pqf/all-types"): Limit("2026.9.0", "a null double is a NaN", NULLS),
    **{
        ("fastparquet", f"pqf/{name}"): Limit("2026.9.0", reason, says)
        for name, reason, says in (
            ("decimals", "decimals become doubles", DECIMALS),
            ("decimal-bytes", "decimals become doubles", DECIMALS),
            ("fixed", "byte strings lose the zeros at their end", r"('b', b'\xff')"),
            ("uuid", "byte strings lose the zeros at their end", "('b', b'')"),
            ("half", "floats of two bytes stay bytes", r"b'\x00"),
            ("values", "decimals become floats", DECIMALS),
            ("values-json", "JSON is taken apart", "values of Python's type dict"),
            ("values-bson", "BSON is for another package", "BSON not found"),
            ("nested", "no lists of structs or of lists", NESTING),
            ("field-ids", "members of a struct become columns", NESTING),
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
    **{
        (name, "pqf/moments"): Limit(
            version,
            "moments of INT96 lose their nanoseconds",
            "(Tagged(kind='timestamp', text='-1119724000'), 1958)",
        )
        for name, version in (("duckdb", "2.0.0"), ("spark", "4.3.0"), ("spark, row by row", "4.3.0"))
    },
    ("fastparquet", "pqf/flags-in-runs"): Limit(
        "2026.9.0",
        "runs of booleans are read as if they were bits",
        "Tagged(kind='boolean', text='False')",
    ),
    ("fastparquet", "pqf/lz4"): Limit("2026.9.0", "no framing of Hadoop", "DecompressionError"),
    ("fastparquet", "sta/values-of-two-encodings"): Limit("2026.9.0", "no streams of bytes", "Encoding 9"),
    ("fastparquet", "sta/orders-of-types"): Limit("2026.9.0", "decimals become floats", DECIMALS),
    **{
        (name, case): Limit(
            "4.3.0", "a geometry is an object that names its reference system", "('srid', 4326)"
        )
        for name in ("spark", "spark, row by row")
        for case in GEOMETRIES
    },
    **{
        ("polars", case): Limit(
            "2.1.0",
            "it knows neither geometries nor variants, and refuses types that it does not know",
            "union has no variant set",
        )
        for case in (*GEOMETRIES, *VARIANTS, FILES, "pqf/values-of-places")
    },
    **{
        ("fastparquet", case): Limit("2026.9.0", "a null double is a NaN", NULLS)
        for case in ("sta/audited", "pix/audited", "blm/audited", "blm/types")
    },
    **{
        ("fastparquet", case): Limit("2026.9.0", "a null is a NaN, so that a NaN may be a null", NULLS)
        for case in ("sta/audited-nan", "sta/total-order", "pix/audited-nan", "pix/total-order")
    },
    **{
        ("fastparquet", f"blm/{name}"): Limit("2026.9.0", "a null double is a NaN", NULLS)
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
    ("fastparquet", "sta/decimal-bytes"): Limit("2026.9.0", "decimals become floats", DECIMALS),
    ("fastparquet", "sta/struct"): Limit("2026.9.0", "members of a struct become columns", NESTING),
    ("fastparquet", "dir/halves"): Limit("2026.9.0", "floats of two bytes stay bytes", r"b'\x00"),
    ("fastparquet", "dir/decimals"): Limit("2026.9.0", "decimals become floats", DECIMALS),
    ("fastparquet", "dir/of-a-struct"): Limit("2026.9.0", "members of a struct become columns", NESTING),
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
        DECIMALS,
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
            "2026.9.0", "no delta encoding of text", "an encoding of pages"
        )
        for name in ("pages-v2-delta", "everything", "index-beside-everything")
    },
    **{
        ("fastparquet", f"interop/{name}"): Limit("2026.9.0", "a null double is a NaN", NULLS)
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
            "2026.9.0", "members of a struct become columns", NESTING
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
            "2026.9.0", "a null double is a NaN", NULLS
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


def columns(rows: dict[str, Any]) -> dict[str, list[Any]]:
    """The rows of a manifest column by column."""
    names = [column["name"] for column in rows["columns"]]
    return {name: [literal(row[position]) for row in rows["rows"]] for position, name in enumerate(names)}
