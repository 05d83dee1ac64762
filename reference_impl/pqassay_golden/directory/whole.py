"""Golden cases of the index directory: every type, granularity, placement and codec, and possible additions of later versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pqassay_golden.directory.recipes import IndexRecipe, binary, good
from pqassay_golden.tiny.columns import Column, Member, Struct, decimal, fixed
from pqassay_golden.tiny.parquet import IndexToEmbed as Idx1
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.entries import Entry, directory_text
from pqassay_spec.directory.sketches import build_sketches
from pqassay_spec.parquet.thrift import CompressionCodec, Type

FILE, ROW_GROUP, PAGE = Granularity
BODY, INLINE, EXTENSION = Placement
SETS, SUMS, HLL, KLL, IDX1 = (
    IndexType.DISTINCT_SET,
    IndexType.ZONE_SUMS,
    IndexType.HLL,
    IndexType.KLL,
    IndexType.IDX1,
)
NAN, NEGATIVE_NAN = bytes.fromhex("000000000000f87f"), bytes.fromhex("000000000000f8ff")

METALS = Column("metal", "string", ["tin", "lead", "tin", "zinc", None, "tin"])
LOTS = Column("lot", "int64", [7, 8, 9, 10, 11, 12], optional=False)
PRICES = Column("price", "double", [0.5, -0.0, NAN, 2.0, NAN, 1e16], optional=False)

SALES = TinyParquet((METALS, LOTS, PRICES), row_group_rows=3, page_rows=2, page_index=True)
"""Two row groups of three rows, each in pages of two rows and one."""

SHIFTS = TinyParquet(
    (
        Column("mine", "string", ["Freiberg", None, "Altenberg", "Freiberg", None, "Altenberg", "Freiberg", None]),
        Column("year", "int32", [1958, 1958, None, 1971, None, 1958, 1958, 1958]),
        Column("tons", "double", [0.1, 0.2, 0.3, 1e16, 2.5, -1e16, 0.1, NAN], optional=False),
    ),
    row_group_rows=4,
)  # fmt: skip

AMOUNTS = TinyParquet(
    (
        Column("small", decimal(5, 2, Type.INT32), [-150, None, 0, 12_345]),
        Column("whole", decimal(18, 0), [(1 << 59), 1 << 59, -1, None]),
        Column("fixed", decimal(38, 4, Type.FIXED_LEN_BYTE_ARRAY, 16), [-1, 10**37, None, 10**37]),
        Column("bytes", decimal(20, 2, Type.BYTE_ARRAY), [b"\xff\x6a", b"\x7f", b"\x00\x7f", None]),
        Column("row", "int32", [1, 2, 3, 4]),
    ),
    row_group_rows=2,
)
COUNTS = TinyParquet(
    (
        Column("lot", "uint32", [7, None, 1 << 31, (1 << 32) - 1]),
        Column("serial", "uint64", [(1 << 64) - 1, (1 << 64) - 1, 0, None]),
        Column("grade", "int8", [-128, 127, None, 0]),
        Column("sold", "boolean", [True, None, False, True]),
    ),
    row_group_rows=2,
)
CODES = TinyParquet(
    (
        Column("code", fixed(3), [b"abc", b"\xff\xfe\xfd", None, b"\0\0\1"]),
        Column("raw", "binary", [b"\xff", b"", None, b"\x00\xff"]),
    )
)
HALVES = TinyParquet((Column("half", "float16", [1.5, -0.0, bytes.fromhex("007e"), 0.0]), Column("lot", "int64", [7, 8, 9, 10])))  # fmt: skip
TIMES = TinyParquet(
    (
        Column("day", "date", [19_000, None, -1, 19_000]),
        Column("at", "timestamp_micros", [1_700_000_000_000_000, 0, None, -5]),
        Column("mass", "float", [0.5, -0.0, 0.0, 1.5]),
    )
)
ZEROS = TinyParquet((Column("depth", "double", [0.0, -0.0, NAN, NEGATIVE_NAN, float("-inf"), 0.5], optional=False),), row_group_rows=2)  # fmt: skip
PLACES = TinyParquet(
    (Column("place", Struct((Member("mine", "string"), Member("depth", "int32"))), [{"mine": "Freiberg", "depth": 40}, {"mine": None, "depth": None}, {"mine": "Altenberg", "depth": -7}]), Column("row", "int32", [1, 2, 3]))
)  # fmt: skip
NOTHING = TinyParquet((Column("metal", "string", [None] * 4), Column("lot", "int64", [None] * 4)), row_group_rows=2)  # fmt: skip
NO_ROWS = TinyParquet((Column("metal", "string", []), Column("lot", "int64", [])))
EMPTY_GROUP = TinyParquet((Column("metal", "string", ["tin", "lead", None]), Column("lot", "int64", [7, 8, 9])), row_group_rows=(2, 0, 1))  # fmt: skip
MANY = TinyParquet(
    (Column("number", "int32", [number * 37 % 100 for number in range(100)], optional=False), Column("word", "string", [f"word {number * 7 % 50:02d}" for number in range(100)])),
    row_group_rows=50,
)  # fmt: skip

# --------------------------------------------------------------------- blobs that differ each time they are made

HLL_OF_GROUPS = (
    bytes.fromhex("0201070c03080208db1b020f9ac2a10f"),
    bytes.fromhex("0201070c0308020832936d05db1b020f"),
)
"""Sketches of the metals of each row group, with 2^12 registers; Apache DataSketches makes the same bytes in Java and C++."""

HLL_OF_FILE = bytes.fromhex("0201070c0308030832936d05db1b020f9ac2a10f")

HLL_EMPTY = bytes.fromhex("0201070c030c0008")

KLL_OF_PRICES = bytes.fromhex(
    "05010f00c80008000400000000000000c8000100c4000000"
    "0000000000000080" "0080e03779c34143" "0080e03779c34143" "0000000000000040" "0000000000000080" "000000000000e03f"
)  # fmt: skip
"""A sketch of four prices, with k = 200: a small sketch keeps all values."""

KLL_OF_NUMBERS = bytes.fromhex(
    "05010f0008000800640000000000000008000400050000000f000000100000001a000000"
    "0000000000000000" "0000000000c05840"
    "0000000000804f40" "0000000000003a40" "0000000000405640" "0000000000004a40" "0000000000002e40" "0000000000805340"
    "0000000000804440" "0000000000001040" "0000000000c05040" "0000000000003e40" "000000000000f03f" "0000000000002240"
    "0000000000003440" "0000000000003b40" "0000000000004340" "0000000000804840" "0000000000804c40" "0000000000005140"
    "0000000000005340" "0000000000c05540" "0000000000405740" "0000000000000000" "0000000000003640" "0000000000804540"
    "0000000000004d40" "0000000000405140" "0000000000005640"
)  # fmt: skip
"""A sketch of the numbers from 0 to 99, with k = 8: it dropped some at random."""


def hll(granularity: Granularity, placement: Placement = BODY) -> IndexRecipe:
    """Sketches of the metals."""
    sketches = {FILE: [HLL_OF_FILE], ROW_GROUP: HLL_OF_GROUPS}[granularity]
    return IndexRecipe(HLL, "metal", granularity, placement, blob=build_sketches(sketches), value_count=5)


def kll(placement: Placement = BODY) -> IndexRecipe:
    """A sketch of the prices."""
    return IndexRecipe(KLL, "price", FILE, placement, blob=build_sketches([KLL_OF_PRICES]), value_count=4)


PLAIN_SETS = bytes.fromhex(
    "02000000" "04000000 02000000 0f00000000000000" "05000000 02000000 0f00000000000000"
    "04000000 6c656164 03000000 74696e" "03000000 74696e 04000000 7a696e63"
)  # fmt: skip
"""The distinct metals of each row group."""

STORED = {
    CompressionCodec.SNAPPY: bytes.fromhex("421c02000000040000000108040f0009010405003610000120646c6561640300000074696e0300000074696e040000007a696e63"),
    CompressionCodec.GZIP: bytes.fromhex("1f8b0800000000000203636260606001622620e667800056343e483e2735318519489764e64129906855665e3200356881f542000000"),
    CompressionCodec.ZSTD: bytes.fromhex("28b52ffd204295010064020200000004000000020000000f0005040000006c6561640300000074696e040000007a696e6303002a599dd985012801"),
    CompressionCodec.LZ4_RAW: bytes.fromhex("8002000000040000000800220f0001001b051000002000b36c6561640300000074696e070080040000007a696e63"),
}  # fmt: skip
"""The same, compressed; given as bytes because other versions of a library make other bytes."""


def stored(codec: CompressionCodec) -> IndexRecipe:
    """The distinct metals of each row group, compressed."""
    return IndexRecipe(
        SETS, "metal", ROW_GROUP, INLINE, codec, blob=PLAIN_SETS, value_count=4, stored=STORED[codec]
    )


TWINS = TinyParquet((METALS, replace(METALS, name="copy")), row_group_rows=3)
"""Two columns with the same values, so their distinct sets have the same bytes."""

SAME_SIZE = TinyParquet((Column("lot", "int64", [7, 9, 8, 10], optional=False),))
"""Numbers whose order does not show in statistics."""

WEIGHTS = TinyParquet((Column("mass", "double", [1.0, 2.0, 3.0, 4.0], optional=False), Column("metal", "string", ["tin", "lead", "tin", "lead"], optional=False)))  # fmt: skip

METAL_SETS = IndexRecipe(SETS, "metal")


def _later(entries: Sequence[Entry]) -> Sequence[str | None]:
    """A later minor version, which added four bytes to the end of each entry."""
    longer = [replace(entry, later=b"more") for entry in entries]
    return binary(lambda raw: raw[:5] + b"\x07" + raw[6:])(longer)


def _major(entries: Sequence[Entry]) -> Sequence[str | None]:
    """An unknown major version, which keeps only the header."""
    return binary(lambda raw: raw[:4] + b"\x02" + raw[5:] + b"whatever")(entries)


def _also_unknown(entries: Sequence[Entry]) -> Sequence[str]:
    """Add an entry of an unknown type before the others."""
    known = entries[0]
    strange = replace(
        known, head=known.head.changed(type=4711), inline=b""
    )  # its digests are those of its column
    strange = replace(strange, head=strange.head.changed(stored_length=0, plain_length=0, crc32=0))
    return [directory_text([strange, *entries])]


def _as_it_is(entries: Sequence[Entry]) -> Sequence[str]:
    return [directory_text(entries)]


def _type_version(entries: Sequence[Entry]) -> Sequence[str]:
    return [directory_text([replace(one, head=one.head.changed(type_version=2)) for one in entries])]


TIN: Sequence[Any] = ("=", "metal", "tin")
LOT: Sequence[Any] = ("=", "lot", 9)

GOOD = (
    # Types, granularities, placements
    good("sets-of-file", "Distinct values of a column of text, for the whole file, behind the entry", SALES, [IndexRecipe(SETS, "metal", FILE, INLINE)], TIN, encode="accept"),
    good("sets-of-row-groups", "Distinct values of a column of text, for each row group, in the body", SALES, [METAL_SETS], TIN, encode="accept"),
    good("sets-inline", "Distinct values of a column of text, for each row group, behind the entry", SALES, [IndexRecipe(SETS, "metal", ROW_GROUP, INLINE)], TIN),
    good("sets-of-pages", "Distinct values of numbers, for each page, in the extension", SALES, [IndexRecipe(SETS, "lot", PAGE, EXTENSION)], LOT, encode="accept"),
    good("sums-of-file", "The sum of a column of doubles, for the whole file, in the extension", SALES, [IndexRecipe(SUMS, "price", FILE, EXTENSION)], TIN, encode="accept"),
    good("sums-of-row-groups", "Sums of a column of whole numbers, for each row group, behind the entry", SALES, [IndexRecipe(SUMS, "lot", ROW_GROUP, INLINE)], LOT, encode="accept"),
    good("sums-of-pages", "Sums of a column of doubles, for each page, in the body", SALES, [IndexRecipe(SUMS, "price", PAGE)], TIN, encode="accept"),
    good("sums-by-keys", "Sums for each metal of each row group, null among them", SALES, [IndexRecipe(SUMS, "metal lot", ROW_GROUP, INLINE)], TIN, encode="accept"),
    good("sums-by-two-keys", "Sums of doubles for each mine and year, with nulls in both, for each row group and for the file: added one by one, they would be others", SHIFTS, [IndexRecipe(SUMS, "mine year tons"), IndexRecipe(SUMS, "mine year tons", FILE, INLINE)], ("=", "mine", "Freiberg"), encode="accept"),
    good("sums-of-text", "Counts and bounds of a column of text, of which there are no sums", SALES, [IndexRecipe(SUMS, "metal")], TIN, encode="accept"),
    good("hll-of-row-groups", "HyperLogLog sketches of the metals of each row group", SALES, [hll(ROW_GROUP, INLINE)], TIN),
    good("hll-of-file", "A HyperLogLog sketch of the metals of the file, in the extension", SALES, [hll(FILE, EXTENSION)], TIN),
    good("kll-of-file", "A KLL sketch of the prices, which keeps all of them", SALES, [kll(INLINE)], TIN),
    good("kll-at-random", "A KLL sketch of a hundred numbers that keeps 29 of them", MANY, [IndexRecipe(KLL, "number", FILE, INLINE, blob=build_sketches([KLL_OF_NUMBERS]), value_count=100)], ("=", "number", 37)),
    good("idx1", "An IDX1 blob that an entry describes; no key of IDX1 leads to it", SALES, [IndexRecipe(IDX1, "metal", FILE)], TIN),
    good("sums-of-doubles", "Sums of a column of doubles, for each row group, each with a NaN", SALES, [IndexRecipe(SUMS, "price", ROW_GROUP, INLINE)], TIN),
    good("sums-by-text", "Sums of doubles for each metal", WEIGHTS, [IndexRecipe(SUMS, "metal mass", ROW_GROUP, INLINE)], TIN),
    good("of-same-sizes", "Distinct values, sums and pages of numbers whose order shows in no statistics", SAME_SIZE, [IndexRecipe(SETS, "lot", FILE, INLINE), IndexRecipe(SUMS, "lot", FILE, INLINE)], LOT),
    good("twins",
        "Two columns of the same values, whose sets are the same bytes, in the body",
        TWINS,
        [METAL_SETS, IndexRecipe(SETS, "copy")],
        TIN),
    # Codecs
    *(good(f"codec-{codec.name.lower().replace('_', '-')}", f"Distinct values, compressed with {codec.name}", SALES, [stored(codec)], TIN) for codec in STORED),
    # Several
    good("many", "Indexes of every type, in every placement, beside an IDX1 index with its companion record", replace(SALES, index=Idx1("metal", companion=True)), [METAL_SETS, IndexRecipe(SETS, "lot", PAGE, EXTENSION), IndexRecipe(SUMS, "metal lot", ROW_GROUP, INLINE), IndexRecipe(SUMS, "price", FILE, EXTENSION), hll(FILE), kll(EXTENSION), IndexRecipe(IDX1, "metal", FILE)], TIN),
    good("empty", "A directory without entries", SALES, [], TIN, edit=_as_it_is),
    # Versions
    good("unknown-type", "An entry of an unknown type is before another one", SALES, [IndexRecipe(SETS, "metal", ROW_GROUP, INLINE)], TIN, edit=_also_unknown, rules=("DIR-060",)),
    good("unknown-type-version", "A distinct set of an unknown version", SALES, [IndexRecipe(SETS, "metal", ROW_GROUP, INLINE)], TIN, edit=_type_version, rules=("DIR-060",)),
    good("later-minor", "A later minor version that added bytes to the end of each entry", SALES, [IndexRecipe(SETS, "metal", ROW_GROUP, INLINE), IndexRecipe(SUMS, "lot")], TIN, edit=_later, rules=("DIR-060",)),
    good("later-major", "A later major version, of which nothing but the header can be read", SALES, [METAL_SETS], TIN, edit=_major, rules=("DIR-060",)),
    # Values
    good("capped", "A distinct set that lists two values of three: it excludes nothing", SALES, [IndexRecipe(SETS, "lot", ROW_GROUP, INLINE, most=2)], LOT, rules=("DIR-062",)),
    good("listing-none", "A distinct set that lists no value, only nulls", SALES, [IndexRecipe(SETS, "metal", ROW_GROUP, INLINE, most=0)], TIN, rules=("DIR-062",)),
    good("zeros-and-nan", "Zeros of both signs, NaN of both signs and an infinity", ZEROS, [IndexRecipe(SETS, "depth", ROW_GROUP, INLINE), IndexRecipe(SUMS, "depth", ROW_GROUP, INLINE)], ("=", "depth", {"float": "0.0"}), rules=("DIR-063",)),
    good("decimals", "Decimals in all four physical types; one value has two forms in bytes", AMOUNTS, [index for name in ("small", "whole", "fixed", "bytes") for index in (IndexRecipe(SETS, name, ROW_GROUP, INLINE), IndexRecipe(SUMS, name, FILE, INLINE))], ("=", "row", 2), misread_by=("fastparquet",)),
    good("unsigned-and-booleans", "Numbers beyond the signed ones, and booleans, which take a bit each", COUNTS, [index for name in ("lot", "serial", "grade", "sold") for index in (IndexRecipe(SETS, name, ROW_GROUP, INLINE), IndexRecipe(SUMS, name, ROW_GROUP, INLINE))], ("=", "grade", -128), misread_by=("Spark",)),
    good("keyed-by-booleans", "Sums for each boolean and each small number", COUNTS, [IndexRecipe(SUMS, "sold grade lot", FILE, INLINE)], ("=", "grade", 127), misread_by=("Spark",)),
    good("bytes", "Bytes of one length, and of any", CODES, [index for name in ("code", "raw") for index in (IndexRecipe(SETS, name, FILE, INLINE), IndexRecipe(SUMS, name, FILE, INLINE))], ("is null", "code")),
    good("halves", "Floating point numbers of two bytes, of which there are no sums", HALVES, [IndexRecipe(SETS, "half", FILE, INLINE), IndexRecipe(SUMS, "half", FILE, INLINE)], LOT, misread_by=("fastparquet", "Spark")),
    good("times", "Days, moments and single floating point numbers: of the first two there are no sums", TIMES, [index for name in ("day", "at", "mass") for index in (IndexRecipe(SETS, name, FILE, INLINE), IndexRecipe(SUMS, name, FILE, INLINE))], ("is null", "day")),
    good("of-a-struct", "A member of a struct, which is null where the struct's member is", PLACES, [IndexRecipe(SETS, "place.mine", FILE, INLINE), IndexRecipe(SUMS, "place.mine place.depth", FILE, INLINE)], ("=", "row", 3), misread_by=("fastparquet",)),
    good("only-nulls", "Nothing but nulls", NOTHING, [IndexRecipe(SETS, "metal", ROW_GROUP, INLINE), IndexRecipe(SUMS, "metal lot", FILE, INLINE), IndexRecipe(SUMS, "lot", FILE, INLINE)], ("is null", "metal"), encode="accept"),
    good("no-rows", "A file without row groups", NO_ROWS, [IndexRecipe(SETS, "metal", ROW_GROUP, INLINE), IndexRecipe(SETS, "metal", FILE, INLINE), IndexRecipe(SUMS, "metal lot", FILE, INLINE), IndexRecipe(SUMS, "lot", FILE, INLINE), IndexRecipe(HLL, "metal", FILE, INLINE, blob=build_sketches([HLL_EMPTY]))], ("is null", "metal")),
    good("empty-row-group", "A row group without rows has a part, too", EMPTY_GROUP, [IndexRecipe(SETS, "metal", ROW_GROUP, INLINE), IndexRecipe(SUMS, "lot", ROW_GROUP, INLINE), IndexRecipe(SUMS, "metal lot", ROW_GROUP, INLINE)], TIN),
)  # fmt: skip
