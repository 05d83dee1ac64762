"""Golden cases of real defects that no other golden case shows in their original form.

The effects on users, and the affected software, are in ``museum.toml`` (`pqassay_golden.museum.defects`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from pqassay_golden.page_index.lists import DICTIONARY
from pqassay_golden.parquet_file.framing import METALS, TWO_COLUMNS
from pqassay_golden.recipes import bad, good, set_to
from pqassay_golden.tiny.page_index import bitset_of
from pqassay_golden.tiny.parquet import (
    Column,
    Encoding,
    Layout,
    ListOf,
    Member,
    Scalar,
    Struct,
    TinyParquet,
    decimal,
    fixed,
)
from pqassay_spec.grammar.field_paths import get
from pqassay_spec.grammar.thrift import Record, unknown_field
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.file import HEAD
from pqassay_spec.parquet.thrift import BoundaryOrder, ConvertedType, Type

SINCE = "0.5.0"

NAN, OTHER_NAN = bytes.fromhex("000000000000f87f"), bytes.fromhex("010000000000f8ff")

FUTURE_FIELD = 99
"""The id of a field that is not in any version of the format."""

STRUCT_IN_STRUCT = bytes.fromhex("15 02 1c 19 25 04 06 18 04 74 72 61 70 00 00")
"""A struct with an integer and another struct, which has a list of integers and text."""

TOO_DEEP = b"\x1c" * 1000 + b"\0" * 1001
"""A thousand nested structs, each the first field of the struct around it.

They are well-formed, and a reader may choose how deep it follows them: it may return the rows.  A linter has to complain: libraries
made by Thrift stop much earlier, and every tested engine refuses the file.
"""


@dataclass
class OfAnotherVersion(TinyParquet):
    """A file whose footer has an unknown field: a struct that contains another."""

    def _encoded(self, record: Record, path: str) -> bytes:
        if path == "footer":
            record.unknown = (unknown_field(FUTURE_FIELD, WireType.STRUCT, STRUCT_IN_STRUCT),)
        return super()._encoded(record, path)


UINT32 = Scalar(Type.INT32, None, ConvertedType.UINT_32)
"""The annotation before logical types existed."""

OLD_UNSIGNED = TinyParquet((Column("lot", UINT32, [7, None, 1 << 31, (1 << 32) - 1]), Column("row", "int32", [1, 2, 3, 4])))  # fmt: skip
OLD_TEXT = TinyParquet(
    (Column("city", "string", ["lima"] * 2 + ["zürich"]), Column("year", "int64", [1, 2, 3])),
    layout=Layout(statistics=False),
)
FEES = TinyParquet(
    (Column("metal", "string", ["tin", "lead", None, "zinc"]), Column("fee", decimal(20, 2, Type.BYTE_ARRAY), [-150, None, 127, 12_800]))
)  # fmt: skip
FLAGS = TinyParquet(
    (Column("metal", "string", ["tin", "lead", None]), Column("sold", "boolean", [True, None, True])),
    layout=Layout(exact=True),
)
HALVES = TinyParquet(
    (Column("metal", "string", ["tin", "lead", None]), Column("half", "float16", [1.5, -0.0, 2.0])),
    page_index=True,
)
PLACES = TinyParquet(
    (
        Column("metal", "string", ["tin", "lead", None]),
        Column("place", Struct((Member("x", "int32"), Member("y", "int32"))), [{"x": 1, "y": 2}, {"x": 3, "y": None}, {"x": 5, "y": 4}]),
    )
)  # fmt: skip
WITH_NAN = TinyParquet((Column("mass", "double", [3.0, float("nan"), 3.0], optional=False), Column("row", "int32", [1, 2, 3])), page_index=True)  # fmt: skip

NULLS_FIRST = TinyParquet(
    (Column("row", "int32", [1, 2, 3, 4]), Column("marks", ListOf("int32"), [[1, 2], [3], None, [4]])),
    page_index=True,
    page_rows=2,
)
SAME_LOWS = TinyParquet(
    (Column("number", "int32", [1, 2, 1, 3, 1, 4], optional=False), Column("metal", "string", ["tin"] * 6)), page_index=True, page_rows=2
)  # fmt: skip
INDEXED = TinyParquet(TWO_COLUMNS, row_group_rows=4, page_rows=2, page_index=True)

SMALL = TinyParquet((Column("small", "int8", [-128, -7, None, 0, 127, 7]), Column("row", "int32", [1, 2, 3, 4, 5, 6])), row_group_rows=3, bloom_filters=("small",))  # fmt: skip
CODES = TinyParquet((Column("code", fixed(3), [b"abc", b"\\x0", None, b"x'y", b"\xff\xfe\xfd", b'"z"']), Column("row", "int32", [1, 2, 3, 4, 5, 6])), row_group_rows=3, bloom_filters=("code",))  # fmt: skip
ZEROS = TinyParquet(
    (Column("mass", "double", [-0.0, 1.5, 0.0, 2.5, NAN, OTHER_NAN], optional=False), Column("row", "int32", [1, 2, 3, 4, 5, 6])),
    row_group_rows=2,
    bloom_filters=("mass",),
)  # fmt: skip

CRC_OF_ZERO = 0x6DD90A9D
"""The number whose four bytes have a CRC-32 of 0."""
CHECKED = TinyParquet((Column("number", "int32", [CRC_OF_ZERO], optional=False),))

AVRO = '{"type":"record","name":"row","fields":[{"name":"metal","type":{"type":"string","java-class":"com.example.NotForReaders"}}]}'
WITH_AVRO = TinyParquet(TWO_COLUMNS, keys=(("parquet.avro.schema", AVRO),))


_good = partial(good, since=SINCE)

GOOD = (
    # Files that only readers get wrong
    _good("pix/nan-among-equal-numbers", "A number, NaN, and the number again: the bounds say that all are equal", WITH_NAN, ("!=", "mass", 3), "pyarrow", "DuckDB", "DataFusion", "fastparquet", "Spark"),
    _good("blm/narrow-integers", "A filter over integers of eight bits, which are hashed as the four bytes that are stored", SMALL, ("=", "small", -7), probes=(-128, -7, 7, 5)),
    _good("blm/fixed-bytes", "A filter over fixed bytes, some of which look like escapes or quotes", CODES, ("=", "code", {"bytes": b"\\x0".hex()}), probes=({"bytes": b"\\x0".hex()}, {"bytes": "fffefd"}, {"bytes": "000000"})),
    _good("blm/zeros-and-nan", "Filters over zeros of both signs and two kinds of NaN, each by its own bytes", ZEROS, ("=", "mass", {"float": "0.0"}), "DataFusion", "Spark", probes=({"float": "0.0"}, {"float": "-0.0"}, {"float": "1.5"})),
    _good("pqf/unknown-struct", "The footer has a field of a later version, a struct within a struct", OfAnotherVersion(TWO_COLUMNS), ("=", "metal", "lead")),
    _good("pqf/crc-of-zero", "The CRC of a page is 0, and it is the right one", CHECKED, ("=", "number", CRC_OF_ZERO)),
    _good("pqf/schema-of-avro-with-class", "A schema for Avro among the key-values names a Java class", WITH_AVRO, ("=", "metal", "lead")),
    # Parents of what follows
    _good("sta/unsigned-by-converted-type", "Unsigned numbers that only the older annotation calls unsigned", OLD_UNSIGNED, ("=", "lot", 1 << 31)),
    _good("sta/text-without-statistics", "Text beyond ASCII without statistics", OLD_TEXT, ("=", "city", "zürich")),
    _good("sta/decimal-bytes", "Decimals in as many bytes as each needs, with bounds", FEES, ("=", "metal", "tin"), "fastparquet"),
    _good("sta/flags", "Truth values and a null, with bounds that are called exact", FLAGS, ("=", "metal", "tin")),
    _good("sta/struct", "A struct of two members beside another column: three leaves below two roots", PLACES, ("=", "metal", "tin"), "fastparquet"),
    _good("pix/halves", "Floats of two bytes with a page index", HALVES, ("=", "metal", "tin"), "fastparquet", "Spark", column="half"),
    _good("pix/page-begins-with-null", "A page of lists that begins with a list that is null", NULLS_FIRST, ("=", "row", 3), column="marks.list.element"),
    _good("pix/equal-lower-bounds", "The lower bounds of all pages are equal, the upper ones ascend", SAME_LOWS, ("=", "number", 4)),
    _good("pix/two-row-groups", "Two row groups of two pages, with page index", INDEXED, ("=", "metal", "lead")),
)  # fmt: skip

LOST = "A query for a value beyond the bound skips the row group: its rows are missing, and nothing says so."
SHIFTED = "Readers that use the index put the rows of one column beside those of another."
MISCOUNTED = "A query for null, or for what is not null, skips rows, or an aggregate is answered wrongly."
WALKERS = "Readers that walk the pages fail, or read bytes of something else."


_bad = partial(bad, since=SINCE)

FOOTER = "footer.row_groups[{}].columns[{}]"
FIRST, SECOND = (f"{FOOTER.format(0, ordinal)}.meta_data" for ordinal in range(2))
CHUNK = "row_groups[0].columns[{}]"
FILTER = f"{CHUNK.format(0)}.bloom_filter"

HUNDRED = [((7919 * number) % 100003).to_bytes(8, "little") for number in range(100)]
"""The values of ``blm/many-blocks``."""

BEFORE_THRIFT = (2 * BLOCK_SIZE).to_bytes(4, "little") + bytes(8)
"""The bloom filter header of an early draft: the size, the hash Murmur3 and the algorithm as numbers of four bytes."""


def _members(record: Record) -> dict[str, Any]:
    """The present fields of a struct, by name; enums as numbers, structs in the same form."""
    members: dict[str, Any] = {}
    for field in record.fields:
        value = getattr(record, field.name)
        if isinstance(value, Record):
            members[field.name] = _members(value)
        elif isinstance(value, list):
            members[field.name] = [int(one) if isinstance(one, int) else one for one in value]
        elif value is not None:
            members[field.name] = int(value) if isinstance(value, int) else value
    return members


def _facts_without_dictionary() -> dict[str, Any]:
    """The metadata of a chunk whose writer treated its dictionary page as the first data page."""
    file = TinyParquet(TWO_COLUMNS, layout=Layout(dictionary=Encoding.RLE_DICTIONARY))
    facts = _members(get(take_apart(file.build()), FIRST))
    start = facts.pop("dictionary_page_offset")
    return {**facts, "data_page_offset": start}


def _locations_with_dictionary() -> list[dict[str, Any]]:
    """The pages of an offset index whose writer also listed the dictionary page."""
    index = get(take_apart(DICTIONARY.build()), f"{CHUNK.format(0)}.offset_index")
    pages = [_members(location) for location in index.page_locations]
    start = HEAD.sizeof()
    size = pages[0]["offset"] - start
    return [{"offset": start, "compressed_page_size": size, "first_row_index": -1}, *pages]


def _integer(number: int, size: int = 4) -> bytes:
    return number.to_bytes(size, "little")


BAD = (
    # Statistics
    _bad("sta/bounds-of-a-reused-buffer", "Both deprecated bounds of text are the last value that the writer's buffer held", LOST, "pqf/old-bounds", set_to(f"{FIRST}.statistics", {"min": b"zinc", "max": b"zinc", "null_count": 0}), "STA-048"),
    _bad("sta/text-bounds-by-signed-bytes", "The deprecated bounds of text were compared as signed bytes, so that ü comes before a", LOST, "sta/text-without-statistics", set_to(f"{FIRST}.statistics", {"min": "zürich".encode(), "max": b"lima", "null_count": 0}), "STA-014", "STA-048"),
    _bad("sta/decimal-compared-as-bytes", "The upper bound of decimals of unequal length is the greatest by bytes, 1.27, and not by value", LOST, "sta/decimal-bytes", set_to(f"{SECOND}.statistics.max_value", b"\x7f"), "STA-041"),
    _bad("sta/unsigned-bounds-compared-signed", "The bounds of unsigned numbers are those of a signed comparison, the lower above the upper", LOST, "sta/unsigned-by-converted-type", set_to(f"{FIRST}.statistics", {"min_value": _integer(1 << 31), "max_value": _integer(7), "null_count": 1}), "STA-006"),
    _bad("sta/null-count-times-pages", "The null count is three times what it is, once for each page", MISCOUNTED, "pqf/three-pages", set_to(f"{FIRST}.statistics.null_count", 3), "STA-043"),
    _bad("sta/empty-lists-not-counted", "The null count of a list counts missing elements, but neither empty nor missing lists", "none: readers answer no query about lists by it", "pqf/three-pages-of-lists", set_to(f"{SECOND}.statistics.null_count", 2), "STA-071"),
    _bad("sta/statistics-of-nothing", "The statistics of a chunk are an empty struct, as after bounds that were too long", "A query for nulls reads every row group.", "sta/uncounted", set_to(f"{FIRST}.statistics", {}), "STA-011", tier="footer"),
    _bad("sta/bounds-of-first-values", "The bounds of a chunk with a dictionary are those of its first values alone", LOST, "pqf/dictionary", set_to(f"{FIRST}.statistics.max_value", b"tin"), "STA-041"),
    _bad("sta/null-taken-for-false", "The lower bound of truth values is false, where there are true and null alone", "A query for false reads what holds none; min() is answered with a value that is not there.", "sta/flags", set_to(f"{SECOND}.statistics.min_value", b"\0"), "STA-042"),
    _bad("sta/upper-bound-cut-not-raised", "The upper bound of a text is cut, and was not raised", LOST, "sta/bounds-cut", set_to(f"{FIRST}.statistics.max_value", "東".encode()), "STA-041"),
    _bad("sta/orders-of-root-columns", "There is a column order for each root of the schema, not for each leaf", "Some readers refuse the file, some give a column the order of its neighbour.", "sta/struct", Mutation("remove", "footer.column_orders[2]"), "STA-002", tier="footer"),
    # Page index
    _bad("pix/half-bound-not-a-number", "The upper bound of a page of floats of two bytes is NaN", "Readers that use the index skip pages that hold rows.", "pix/halves", set_to(f"{CHUNK.format(1)}.column_index.max_values[0]", bytes.fromhex("007e")), "PIX-030", tier="index", is_older=True),
    _bad("pix/upper-bound-left-empty", "The lower bound of a page is a text, the upper one is empty, though the page holds longer text", "Readers that use the index skip pages that hold rows.", "pix/three-pages", set_to(f"{CHUNK.format(0)}.column_index.max_values[0]", b""), "PIX-024", tier="index"),
    _bad("pix/no-pages-of-nulls", "The offset index of a column of nothing but nulls lists no page", "Readers that use it fail, or return no row of the column.", "pix/null-pages", set_to(f"{CHUNK.format(1)}.offset_index.page_locations", []), "PIX-011", scan="refusal-allowed", tier="index"),
    _bad("pix/null-page-without-nulls", "A page of nothing but nulls is said to hold none", "A reader that looks for nulls skips the page, and one that looks for values as well: its rows are gone.", "pix/null-pages", set_to(f"{CHUNK.format(0)}.column_index.null_counts[0]", 0), "PIX-026", "PIX-028", tier="index", also=("PIX-026",)),
    _bad("pix/column-index-of-more-pages", "The column index has bounds of three pages, the offset index lists two", "Readers fail, or take the bounds of one page for those of another.", "pix/three-pages", Mutation("remove", f"{CHUNK.format(0)}.offset_index.page_locations[2]"), "PIX-014", "PIX-021", tier="index", decode="either"),
    _bad("pix/page-behind-null-list", "The page behind one that begins with a null list is said to begin a row too early", SHIFTED, "pix/page-begins-with-null", Mutation("add", f"{CHUNK.format(1)}.offset_index.page_locations[1].first_row_index", -1), "PIX-054"),
    _bad("pix/dictionary-page-listed", "The offset index lists the dictionary page, with row -1", "Readers that use the index decode the dictionary as data, or fail.", "pix/dictionary", set_to(f"{CHUNK.format(0)}.offset_index.page_locations", _locations_with_dictionary()), "PIX-015", "PIX-017", "PIX-021", tier="index", decode="either", also=("PIX-015", "PIX-017")),
    _bad("pix/index-of-one-row-group", "The second row group has no page index any more", "Some readers refuse the file, as they expect all or none.", "pix/offset-index-alone", Mutation("remove", "row_groups[1].columns[0].offset_index"), "PIX-003", scan="same-rows", tier="index"),
    _bad("pix/equal-lower-bounds-called-descending", "Lower bounds that are all equal made the writer say that the upper ones descend", "Readers that use the index skip pages that hold rows.", "pix/equal-lower-bounds", set_to(f"{CHUNK.format(0)}.column_index.boundary_order", int(BoundaryOrder.DESCENDING)), "PIX-025", tier="index"),
    # Offsets, sizes and counts
    _bad("pqf/data-page-within-dictionary", "The offset of the first data page falls short of it, into the dictionary page", WALKERS, "pqf/three-pages-and-a-dictionary", Mutation("add", f"{FIRST}.data_page_offset", -15), "PQF-055", tier="pages"),
    _bad("pqf/dictionary-offset-missing", "A chunk has a dictionary page, which the footer takes for the first data page", "Readers that believe it take the dictionary for data, and fail.", "pqf/dictionary", set_to(FIRST, _facts_without_dictionary()), "PQF-055", "PQF-056", tier="pages", also=("PQF-056",)),
    _bad("pqf/values-counted-twice", "A flat chunk counts twice as many values as its row group has rows", "Readers fail, or return rows that are not there.", "pqf/plain", set_to(f"{FIRST}.num_values", 2 * len(METALS)), "PQF-057", tier="pages"),
    _bad("pqf/page-values-overflown", "The number of values of a page is negative, as after an overflow", "Readers fail, or return no rows.", "pqf/three-pages", set_to(f"{CHUNK.format(1)}.pages[1].header.data_page_header.num_values", -1509661479), "PQF-015", "PQF-058", tier="pages", also=("PQF-015",)),
    _bad("pqf/nulls-never-set", "The number of nulls of a page of version 2 is what the memory held before", "Readers that trust it skip rows, or allot memory by it.", "pqf/three-pages-v2", set_to(f"{CHUNK.format(0)}.pages[0].header.data_page_header_v2.num_nulls", 0x7FFE1C40), "PQF-064", tier="pages"),
    _bad("pqf/nested-without-end", "An unknown field nests a thousand structs", "A reader that skips it by recursion ends with a stack overflow.", "pqf/unknown-struct", set_to(f"footer.unknown_{FUTURE_FIELD}", TOO_DEEP), "PQF-004", tier="footer", scan="refusal-allowed"),
    # Bloom filters
    _bad("blm/values-behind-dictionary-missing", "A filter holds the values of the dictionary, and not those that the writer wrote without it", "A query for such a value skips the row group: its rows are missing.", "blm/dictionary", set_to(f"{FILTER}.bitset", bitset_of([b"tin", b"lead", b"zinc"])), "BLM-020"),
    _bad("blm/too-small-for-its-values", "A filter of one block holds a hundred values", "none but bytes: the filter skips next to nothing", "blm/many-blocks", set_to(f"{FILTER}.bitset", bitset_of(HUNDRED)), "BLM-009", scan="same-rows", tier="index"),
    _bad("blm/header-before-thrift", "The header of a filter is one from before the format was settled", "Readers that use bloom filters refuse the file, or read what is not a filter.", "blm/two-blocks", set_to(f"{FILTER}.encoded.raw", BEFORE_THRIFT), "BLM-002", scan="refusal-allowed", tier="index"),
)  # fmt: skip
