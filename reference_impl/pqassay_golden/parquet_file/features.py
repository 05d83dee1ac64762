"""Golden cases of features that no other case has: each file differs from a sibling only in this feature.

The siblings have the same columns without it, in ``pqf/gzip`` and ``pqf/types`` among others; `pqassay_suite.results.blame` compares them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pqassay_golden.parquet_file.encodings import IN_1975, YEAR
from pqassay_golden.parquet_file.framing import LEAD, METALS
from pqassay_golden.parquet_file.pages import FAR_APART
from pqassay_golden.recipes import ENGINES, Good, good
from pqassay_golden.tiny.parquet import AnyType, Column, Encoding, Layout, TinyParquet, fixed
from pqassay_spec.parquet.thrift import CompressionCodec

CODES = [b"abc", b"\xff\0\1", b"\0\0\1", b"abd", b"abc", b"zzz", b"\x80ab", b"012"]

SPANS = [
    bytes.fromhex(raw)
    for raw in (
        "010000000000000000000000",
        "000000001e00000000000000",
        "0000000000000000005c2605",
        "0c0000001f000000e8030000",
    )
] * 2
"""A month, 30 days, a day in milliseconds, and all three, twice."""  # fmt: skip


def _beside_year(name: str, kind: AnyType, values: Any, **layout: Any) -> TinyParquet:
    """A column of these values, in pages of three rows, beside a column of years."""
    column = Column(name, kind, values, optional=None in values, layout=Layout(**layout))
    return TinyParquet((column, YEAR), page_rows=3, statistics=False)


_good = partial(good, family="pqf", since="0.9.0")

SPLIT = Encoding.BYTE_STREAM_SPLIT

GOOD: tuple[Good, ...] = (
    _good("brotli", "Pages compressed by Brotli", _beside_year("metal", "string", METALS, codec=CompressionCodec.BROTLI), LEAD, "Spark"),
    _good("lengths-first", "Text whose lengths, as differences, come before all bytes", _beside_year("metal", "string", METALS, encoding=Encoding.DELTA_LENGTH_BYTE_ARRAY), LEAD, "fastparquet"),
    _good("streams-of-int32", "Integers of 32 bits whose bytes are split into streams", _beside_year("depth", "int32", FAR_APART, encoding=SPLIT), IN_1975, "fastparquet"),
    _good("streams-of-int64", "Integers of 64 bits whose bytes are split into streams", _beside_year("depth", "int64", FAR_APART, encoding=SPLIT), IN_1975, "fastparquet"),
    _good("streams-of-fixed", "Byte strings of one length whose bytes are split into streams", _beside_year("code", fixed(3), CODES, encoding=SPLIT), IN_1975, "DuckDB", "Polars", "fastparquet"),
    _good("enum", "Names of an enumeration", _beside_year("metal", "enum", METALS), LEAD, "pyarrow", "DataFusion", "fastparquet"),
    _good("interval", "Intervals of months, days and milliseconds", _beside_year("span", "interval", SPANS), IN_1975, "Polars", "DataFusion", "fastparquet", "Spark"),
    _good("levels-from-the-highest-bit", "Definition levels in the deprecated encoding BIT_PACKED, from the highest bit of each byte on", _beside_year("metal", "string", METALS, bit_packed_levels=True), LEAD, *ENGINES, remarks=("PQF-081",)),
)  # fmt: skip
