"""Golden cases of bloom filters: hashed bytes, sizes, places in the file, headers, bitsets, and the values in them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pqassay_golden.recipes import Good, bad, good, set_to
from pqassay_golden.statistics.values import AUDITED, GRADES, ROWS, audited, untrue
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.page_index import bitset_of
from pqassay_golden.tiny.parquet import Column, Encoding, ListOf, TinyParquet, decimal, fixed
from pqassay_spec.grammar.thrift_values import Varint
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.bloom import BLOCK_SIZE

SINCE = "0.5.0"

METALS = ["tin", "lead", None, "zinc", "lead", "nickel", "", "copper"]
MASSES = [118.71, 207.2, None, 65.38, 207.2, 58.693, 0.0, 63.546]

TYPES = TinyParquet(
    (
        Column("int32", "int32", [0, -1, 2147483647, -2147483648, None, 7, 7, 8]),
        Column("int64", "int64", [0, -1, 9223372036854775807, -9223372036854775808, None, 7, 7, 8]),
        Column("uint8", "uint8", [0, 1, 254, 255, None, 7, 7, 8]),
        Column("float", "float", [0.0, 1.5, -1.5, 65504.0, None, 0.25, 0.25, 1e10]),
        Column("double", "double", MASSES),
        Column("string", "string", METALS),
        Column("binary", "binary", [b"", b"\0", b"\xff", b"PAR1", None, b"a", b"a", b"\0\0\0\x01a"]),
        Column("fixed", fixed(3), [b"abc", b"abd", b"\0\0\0", b"\xff\xff\xff", None, b"aaa", b"aaa", b"xyz"]),
        Column("date", "date", [0, -1, 19000, 20000, None, 1, 1, 2]),
        Column("moment", "timestamp_micros", [0, -1, 1700000000000000, 1, None, 2, 2, 3]),
        Column("price", decimal(9, 2), [0, -1, 100, 999999999, None, 5, 5, 6]),
    ),
    bloom_filters=("int32", "int64", "uint8", "float", "double", "string", "binary", "fixed", "date", "moment", "price"),
)  # fmt: skip

TWINS = TinyParquet(
    (Column("metal", "string", METALS), Column("twin", "string", METALS), Column("mass", "double", MASSES)),
    row_group_rows=4,
    page_rows=2,
    page_index=True,
    bloom_filters=("metal", "twin", "mass"),
)

HUNDRED = TinyParquet(
    (Column("number", "int64", [(7919 * number) % 100003 for number in range(100)], optional=False),),
    bloom_filters=("number",),
)
EXACT = TinyParquet(HUNDRED.columns, bloom_filters=("number",), layout=Layout(bloom_bytes=1024))
TWO_BLOCKS = TinyParquet(
    (Column("metal", "string", METALS),), bloom_filters=("metal",), layout=Layout(bloom_bytes=2 * BLOCK_SIZE)
)

NULLS = TinyParquet(
    (Column("metal", "string", [None, None, "tin"]), Column("mass", "double", [1.0, 2.0, 3.0], optional=False)),
    row_group_rows=2,
    bloom_filters=("metal",),
)  # fmt: skip

LISTS = TinyParquet(
    (Column("row", "int32", [1, 2, 3, 4]), Column("tags", ListOf("string"), [["a", None], [], None, ["b", "a"]])),
    bloom_filters=("tags.list.element",),
)  # fmt: skip

DICTIONARY = TinyParquet(
    (Column("metal", "string", ["tin", "lead", "tin", "zinc", "tin", "iron", "gold"]),),
    page_rows=2,
    bloom_filters=("metal",),
    layout=Layout(dictionary=Encoding.RLE_DICTIONARY, dictionary_pages=2),
)

MOMENTS = [bytes.fromhex("00000000000000008c3d2500"), bytes.fromhex("01000000000000008c3d2500")]
FLAGS = TinyParquet(
    (Column("flag", "boolean", [True, False, None]), Column("moment", "int96", [*MOMENTS, None]))
)

LEAD: Sequence[Any] = ("=", "metal", "lead")
IN_THE_SECOND_BLOCK: Sequence[Any] = ("=", "metal", "zinc")
"""A value that is only in the second of two blocks, so a reader with another number of blocks does not find it."""


PROBES: Mapping[str, tuple[Any, ...]] = {
    "metal": ("lead", "tin", "iron", "gold", "", "leadtin"),
    "tags.list.element": ("a", "b", "c", "ab"),
    "number": (0, 7919, 5, 6, -1, 99999),
    "int64": (-1, 7, 8, 9, 10, {"int": "9223372036854775807"}),
    "flag": (),
}
"""For each column, present and absent values to look up in its filters."""


def _good(
    name: str, title: str, file: TinyParquet, predicate: Sequence[Any], *misread_by: str, **more: Any
) -> Good:
    probes = PROBES[more.get("column") or predicate[1]]
    return good(name, title, file, predicate, *misread_by, family="blm", since=SINCE, probes=probes, **more)


GOOD = (
    _good("types", "Filters of one or two blocks over eleven types: numbers by their bytes, texts without their length", TYPES, ("=", "int64", {"int": "-9223372036854775808"}), "fastparquet"),
    _good("one-block", "Filters of 32 bytes in two row groups, before the page index", TWINS, LEAD, "fastparquet"),
    _good("two-blocks", "A filter of 64 bytes: the upper half of a hash chooses one of two blocks", TWO_BLOCKS, LEAD),
    _good("many-blocks", "A filter of 1,024 bytes over a hundred numbers", EXACT, ("=", "number", 7919)),
    _good("at-the-end", "The filters are stored behind the page index, directly before the footer", replace(TWINS, body=("row groups", "column indexes", "offset indexes", "bloom filters")), LEAD, "fastparquet"),
    _good("between-row-groups", "The filters are stored between two row groups", replace(TWINS, body=("row group 0", "bloom filters", "other row groups", "column indexes", "offset indexes")), LEAD, "fastparquet"),
    _good("only-nulls", "The filter of a row group of nothing but nulls holds nothing", NULLS, ("=", "metal", "tin")),
    _good("lists", "A filter over the elements of lists", LISTS, ("=", "row", 4), column="tags.list.element"),
    _good("dictionary", "The values of the dictionary, and those behind it that the writer wrote without, are in the filter", DICTIONARY, ("=", "metal", "gold")),
    _good("no-filters", "The same rows without filters, and columns whose type should have none", FLAGS, ("is null", "flag"), "DuckDB", "Spark"),
    # Against the values
    audited("blm/audited", "Bloom filters that hold every value, zero and negative zero included", AUDITED, ("BLM-020", "BLM-021"), "fastparquet"),
)  # fmt: skip

LOST = "Readers that use the filter skip row groups that hold what is looked for."
UNUSED = "Readers leave the filter aside, and read the chunk."
FAILS = "Readers that use bloom filters refuse the file, or read what is not a filter."
USELESS = "none but bytes: the filter skips nothing"

_bad = partial(bad, family="blm", scan="refusal-allowed", tier="index", since=SINCE)

HEADER = "row_groups[0].columns[0].bloom_filter.header"
BITSET = "row_groups[0].columns[0].bloom_filter.bitset"
FACTS = "footer.row_groups[0].columns[0].meta_data"


def _length(size: int) -> Mutation:
    """Only another length in the footer: if the file were parsed with that length, the filter would change as well."""
    return Mutation("set", f"{FACTS}.bloom_filter_length", bytes(Varint(32).build(size)), raw=True)


ANOTHER_MEMBER = b"\x2c"
"""The header of the second field of a struct, in the place of the first field's header."""

BAD = (
    # In the footer
    _bad("offset-zero", "The offset of a filter that is not there is 0", "Readers that look for a filter at 0 find the magic.", "no-filters", set_to(f"{FACTS}.bloom_filter_offset", 0), "BLM-001", scan="same-rows"),
    _bad("length-short", "The length of a filter is one less than header and bitset have", FAILS, "two-blocks", _length(2 * BLOCK_SIZE + 15), "BLM-005"),
    _bad("length-of-the-bitset", "The length of a filter is that of its bitset alone", FAILS, "two-blocks", _length(2 * BLOCK_SIZE), "BLM-005"),
    _bad("length-of-the-header", "The length of a filter is that of its header alone", FAILS, "one-block", _length(15), "BLM-005", since="0.7.0"),
    _bad("length-negative", "The length of a filter is negative", FAILS, "two-blocks", set_to(f"{FACTS}.bloom_filter_length", -1), "BLM-005", "PQF-008", also=("PQF-008",)),
    _bad("length-missing", "The length of a filter is not given", "Readers need one request more.", "two-blocks", Mutation("remove", f"{FACTS}.bloom_filter_length"), "BLM-006", scan="same-rows"),
    _bad("filters-out-of-order", "The filters of two columns of the same values changed places", "none", "one-block", Mutation("swap", f"{FACTS}.bloom_filter_offset", "footer.row_groups[0].columns[1].meta_data.bloom_filter_offset"), "BLM-010", scan="same-rows"),
    _bad("filter-of-flags", "A column of BOOLEAN has a filter, which holds true and false as one byte each", "Readers that hash a bit skip row groups that hold what is looked for.", "no-filters", Mutation("insert", "row_groups[0].columns[0].bloom_filter", bitset_of([b"\0", b"\1"])), "BLM-011", scan=None),
    _bad("filter-of-int96", "A column of INT96 has a filter", "Readers that hash another form of it skip row groups that hold what is looked for.", "no-filters", Mutation("insert", "row_groups[0].columns[1].bloom_filter", bitset_of(MOMENTS)), "BLM-011", scan=None),
    # The header
    _bad("compression-missing", "A header does not say that the bitset is not compressed", FAILS, "two-blocks", Mutation("remove", f"{HEADER}.compression"), "BLM-002"),
    _bad("size-missing", "A header lacks the size of the bitset", FAILS, "two-blocks", Mutation("remove", f"{HEADER}.numBytes"), "BLM-002"),
    _bad("hash-of-no-name", "The union of hashes has no member", FAILS, "two-blocks", Mutation("remove", f"{HEADER}.hash.XXHASH"), "BLM-002"),
    _bad("header-elsewhere", "The offset of a filter is that of its bitset", FAILS, "two-blocks", Mutation("add", f"{FACTS}.bloom_filter_offset", 16), "BLM-002", "PQF-008", also=("BLM-002",)),
    _bad("unknown-algorithm", "The algorithm is one that the format does not know", UNUSED, "two-blocks", set_to(f"{HEADER}.algorithm.BLOCK:header", ANOTHER_MEMBER), "BLM-003"),
    _bad("unknown-hash", "The hash is one that the format does not know", UNUSED, "two-blocks", set_to(f"{HEADER}.hash.XXHASH:header", ANOTHER_MEMBER), "BLM-003"),
    _bad("unknown-compression", "The compression is one that the format does not know", UNUSED, "two-blocks", set_to(f"{HEADER}.compression.UNCOMPRESSED:header", ANOTHER_MEMBER), "BLM-003"),
    _bad("size-of-no-block", "The size of the bitset is 0", "A reader that divides by the number of blocks fails.", "two-blocks", set_to(f"{HEADER}.numBytes", 0), "BLM-004"),
    _bad("no-blocks", "The header counts no bytes, and no bitset follows it", "A reader that divides by the number of blocks fails, and one that takes an empty filter for an empty column skips it.", "two-blocks", set_to(BITSET, b""), "BLM-004", predicate=IN_THE_SECOND_BLOCK, since="0.7.0"),
    _bad("size-of-half-a-block", "The size of the bitset is one block and a half", FAILS, "two-blocks", set_to(f"{HEADER}.numBytes", 48), "BLM-004"),
    _bad("size-negative", "The size of the bitset is negative", "A reader that allots memory by it fails.", "two-blocks", set_to(f"{HEADER}.numBytes", -2 * BLOCK_SIZE), "BLM-004"),
    _bad("size-too-great", "The size of the bitset counts blocks that are something else", LOST, "one-block", set_to(f"{HEADER}.numBytes", 2 * BLOCK_SIZE), "BLM-005"),
    _bad("size-too-small", "The size of the bitset is half of what is there", LOST, "two-blocks", set_to(f"{HEADER}.numBytes", BLOCK_SIZE), "BLM-005"),
    _bad("three-blocks", "The size of the bitset is not a power of two", "none", "two-blocks", set_to(BITSET, bitset_of([metal.encode() for metal in METALS if metal is not None], 3 * BLOCK_SIZE)), "BLM-008", scan="same-rows"),
    # The bitset
    _bad("no-bit-set", "The filter of a column with values has no bit set, as of a writer that forgot to insert", LOST, "two-blocks", set_to(BITSET, bytes(2 * BLOCK_SIZE)), "BLM-007", scan="exposure"),
    _bad("every-bit-set", "Every bit of a filter is set", USELESS, "two-blocks", set_to(BITSET, b"\xff" * 2 * BLOCK_SIZE), "BLM-009", scan="same-rows"),
    # Against the values

    untrue("blm/zeroed", "The bitset of a bloom filter is empty", "A query for any value skips the row group.", "blm/audited", set_to(f"{ROWS}[0].bloom_filter.bitset", bytes(BLOCK_SIZE)), "BLM-007", "BLM-020", also=("BLM-020",)),
    untrue("blm/value-missing", "A bloom filter holds every value but one", "A query for the value skips the row group.", "blm/audited", set_to(f"{ROWS}[2].bloom_filter.bitset", bitset_of(struct.pack("<d", grade) for grade in GRADES if grade not in (None, 8.0))), "BLM-020", predicate=["=", "grade", {"float": "8.0"}]),
    untrue("blm/zero-for-negative-zero", "A bloom filter holds zero, where negative zero is stored", "A query for negative zero skips the row group in readers that look for its bytes alone.", "blm/audited", set_to(f"{ROWS}[2].bloom_filter.bitset", bitset_of(struct.pack("<d", abs(grade)) for grade in GRADES if grade is not None)), "BLM-021", since="0.9.0"),
    untrue("blm/without-negative-zero", "A bloom filter holds every value but negative zero, and not zero instead", "A query for zero skips the row group.", "blm/audited", set_to(f"{ROWS}[2].bloom_filter.bitset", bitset_of(struct.pack("<d", grade) for grade in GRADES if grade)), "BLM-021"),
)  # fmt: skip
