"""Golden cases of the content of pages: runs, differences, pages without values, and the forms of codecs."""

from __future__ import annotations

from functools import partial

from pqassay_golden.parquet_file.framing import LEAD, METALS, UNREADABLE, YEARS
from pqassay_golden.parquet_file.pages import FAR_APART, THREE_PRESENT
from pqassay_golden.recipes import bad, good, set_to
from pqassay_golden.tiny.codecs import gzip_member, lz4_block, zlib_stream
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, TinyParquet
from pqassay_spec.grammar.thrift_wire import varint, zigzag
from pqassay_spec.parquet.encoding import delta as delta_encoding
from pqassay_spec.parquet.encoding.levels import packed_run, repeating_run
from pqassay_spec.parquet.encoding.plain import LENGTH, Int96Timestamp
from pqassay_spec.parquet.thrift import CompressionCodec, FieldRepetitionType

YEAR = Column("year", "int64", YEARS, optional=False)
DEPTHS = [7, 5, 3, None, None, None, 1, 2]
NULL_IN_A_PAGE = ["tin", "lead", "tin", None, None, None, "lead", "tin"]
MOMENTS = [bytes.fromhex(raw) for raw in ("ff5f914e944e00008b3d2500", "00000000000000008c3d2500")]
"""The last nanosecond of 1969, and the first of 1970."""

IN_1975 = ["=", "year", 1975]

_good = partial(good, family="pqf", since="0.9.0")


def _file(*columns: Column, layout: Layout = Layout()) -> TinyParquet:  # noqa: B008 - it is never changed
    return TinyParquet(columns, page_rows=3, statistics=False, layout=layout)


GOOD = (
    _good("flags-in-runs", "Booleans in runs", _file(Column("flag", "boolean", [True] * 8, optional=False, layout=Layout(encoding=Encoding.RLE)), YEAR), IN_1975, "fastparquet"),
    _good("numbers-v2", "Pages of version 2 with definition levels, and without a null", _file(Column("depth", "int32", FAR_APART), YEAR, layout=Layout(version=2)), IN_1975),
    _good("page-of-nulls-and-a-dictionary", "A page of nothing but nulls, which have no indexes", _file(Column("metal", "string", NULL_IN_A_PAGE, layout=Layout(dictionary=Encoding.RLE_DICTIONARY)), YEAR), LEAD),
    _good("page-of-nulls-and-differences", "A page of nothing but nulls, which have no differences", _file(Column("depth", "int32", DEPTHS, layout=Layout(encoding=Encoding.DELTA_BINARY_PACKED)), YEAR), IN_1975),
    _good("gzip", "Pages compressed by GZIP", _file(Column("metal", "string", METALS), YEAR, layout=Layout(codec=CompressionCodec.GZIP)), LEAD),
    _good("lz4", "Pages compressed by LZ4, the deprecated codec, in the framing of Hadoop", _file(Column("metal", "string", METALS), YEAR, layout=Layout(codec=CompressionCodec.LZ4)), LEAD, "fastparquet"),
    _good("moments", "Timestamps of twelve bytes before and after 1970", _file(Column("moment", "int96", MOMENTS, optional=False), Column("year", "int64", YEARS[:2], optional=False)), ["=", "year", 1963], "DuckDB", "Spark"),
)  # fmt: skip

THREE_METALS = b"\x04\0\0\0zinc\x04\0\0\0lead\x06\0\0\0nickel"
THREE_YEARS = b"".join(year.to_bytes(8, "little") for year in YEARS[:3])
DIFFERENCES = delta_encoding.encode(FAR_APART, bits=32)
WIDE_FIRST = DIFFERENCES[:4] + varint(zigzag(FAR_APART[0] + (1 << 41))) + DIFFERENCES[9:]
"""The first value is greater by 2^41, which does not show in its lower 32 bits."""


def _levels(runs: bytes) -> bytes:
    """Levels of a page of version 1: their length, then the runs."""
    return LENGTH.build(len(runs)) + runs


METAL = "row_groups[0].columns[0]"

_bad = partial(bad, family="pqf", tier="values", since="0.9.0")

BAD = (
    _bad("index-of-more-bits", "Indexes of one bit are repeated by runs and are 2 and 3", "DuckDB refuses the column.", "three-pages-and-a-dictionary", set_to(f"{METAL}.pages[2].body", _levels(THREE_PRESENT) + b"\x01" + b"".join(repeating_run(index, 1, width=1) for index in (2, 1, 3))), "PQF-157"),
    _bad("flag-of-2", "A run repeats the boolean 2", "pyarrow reads false, others true, and DuckDB refuses the column.", "flags-in-runs", set_to(f"{METAL}.pages[1].body", LENGTH.build(2) + repeating_run(2, 3, width=1)), "PQF-157"),
    _bad("run-of-no-levels", "A run among definition levels holds no value", "pyarrow refuses the column.", "three-pages", set_to(f"{METAL}.pages[1].body", _levels(repeating_run(0, 0, width=1) + THREE_PRESENT) + THREE_METALS), "PQF-158"),
    _bad("run-of-no-indexes", "A run among indexes holds no value", "pyarrow and DataFusion refuse the column.", "three-pages-and-a-dictionary", set_to(f"{METAL}.pages[2].body", _levels(THREE_PRESENT) + b"\x03" + repeating_run(0, 0, width=3) + packed_run([2, 1, 3], width=3)), "PQF-158"),
    _bad("indexes-cut-short", "The last group of indexes lacks the byte that fills it up", "Spark refuses the column.", "three-pages-and-a-dictionary", set_to(f"{METAL}.pages[2].body", _levels(THREE_PRESENT) + b"\x03" + packed_run([2, 1, 3], width=3)[:-1]), "PQF-141"),
    _bad("levels-of-a-required-column", "A column is said to be required, and its pages of version 2 have definition levels", "none: readers pass over as many bytes as the header says", "numbers-v2", set_to("footer.schema[1].repetition_type", int(FieldRepetitionType.REQUIRED)), "PQF-159", tier="pages"),
    _bad("no-bit-width", "A page without values lacks the bit width of its indexes", "DuckDB, Polars and DataFusion refuse the column.", "page-of-nulls-and-a-dictionary", set_to(f"{METAL}.pages[2].body", _levels(repeating_run(0, 3, width=1))), "PQF-160"),
    _bad("first-number-of-43-bits", "The first of numbers of 32 bits takes 43", "pyarrow and DataFusion refuse the column; others drop the bits.", "differences", set_to(f"{METAL}.pages[0].body", WIDE_FIRST), "PQF-079"),
    _bad("no-differences-in-blocks-of-0", "A page without values has the header of differences in blocks of 0", UNREADABLE, "page-of-nulls-and-differences", set_to(f"{METAL}.pages[1].body", _levels(repeating_run(0, 3, width=1)) + bytes((0, 4, 0, 0))), "PQF-090"),
    _bad("gzip-is-zlib", "A page that is called GZIP has the format of zlib", "All but pyarrow refuse the column.", "gzip", set_to("row_groups[0].columns[1].pages[0].body", zlib_stream(THREE_YEARS)), "PQF-070"),
    _bad("two-members", "A page is compressed by GZIP in two members", "Older readers stop behind the first.", "gzip", set_to("row_groups[0].columns[1].pages[0].body", gzip_member(THREE_YEARS[:8]) + gzip_member(THREE_YEARS[8:])), "PQF-161", is_older=True),
    _bad("lz4-without-framing", "A page that is compressed by LZ4 is a bare block", "Spark refuses the column.", "lz4", set_to("row_groups[0].columns[1].pages[0].body", lz4_block(THREE_YEARS)), "PQF-162"),
    _bad("moment-before-midnight", "The nanoseconds of a timestamp are negative", "DuckDB and Spark drop the day or the sign; others subtract.", "moments", set_to(f"{METAL}.pages[0].body", Int96Timestamp(-1, 2_440_588).build() + MOMENTS[1]), "PQF-163"),
)  # fmt: skip
