"""Golden cases of pages: their headers, their order, their checksums, their levels and where their values end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pqassay_golden.parquet_file.framing import LEAD, METALS, TWO_COLUMNS, UNREADABLE, YEARS
from pqassay_golden.recipes import Bad, Good, bad, good, set_to
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, MapOf, TinyParquet
from pqassay_spec.grammar.thrift_wire import varint
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.encoding import delta as delta_encoding
from pqassay_spec.parquet.encoding.levels import packed_run, repeating_run
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.thrift import PageType

SINCE = "0.5.0"

LISTS = [[7, None], [], None, [8], [9, 10, 11], [None], [12], [13, 14]]

FAR_APART = [2147483647, -2147483648, 0, 7, -7, 1, 2, 3]

WITH_DIFFERENCES = (
    Column("depth", "int32", FAR_APART, optional=False),
    Column("year", "int64", YEARS),
)

WITH_STREAMS = (
    Column("depth", "double", [0.5, 7.5, None, -7.5, 2.0, 1.0, 100.0, 3.0]),
    Column("year", "int64", YEARS, layout=Layout()),
)

WITH_ASCENDING = (
    Column("metal", "string", ["copper", "lead", None, "lead", "tin", "copper", "tin", "zinc"]),
    Column("year", "int64", YEARS),
)

WITH_MAPS = (
    Column("mine", "int32", [1, 2]),
    Column("yields", MapOf("string", "int32"), [[("tin", 1), ("zinc", 2)], [("lead", 3)]]),
)

LIST_OR_NULL = (
    Column("year", "int64", [1958, 1963, 1971], optional=False),
    Column("marks", ListOf("int32"), [[7, 8], [9], None]),
)

WITH_LISTS = (Column("metal", "string", METALS), Column("marks", ListOf("int32"), LISTS))


def _file(columns: Sequence[Column], **layout: Any) -> TinyParquet:
    return TinyParquet(columns, page_rows=3, layout=Layout(encoding_stats=True, **layout))


_good = partial(good, family="pqf", since=SINCE)

GOOD = (
    _good("three-pages", "Three data pages of version 1 in each chunk, counted in encoding_stats", _file(TWO_COLUMNS), LEAD),
    _good("three-pages-v2", "Three data pages of version 2 in each chunk", _file(TWO_COLUMNS, version=2), LEAD),
    _good("three-pages-and-a-dictionary", "A dictionary page, and three data pages of indexes into it", _file(TWO_COLUMNS, dictionary=Encoding.RLE_DICTIONARY), LEAD),
    _good("three-pages-of-lists", "Three data pages of lists, which hold more values than rows", _file(WITH_LISTS), LEAD),
    _good("three-pages-of-lists-v2", "The same in version 2, which counts rows", _file(WITH_LISTS, version=2), LEAD, "fastparquet"),
    Good("pqf/streams", "Numbers whose bytes are split into streams, a page of three in each", TinyParquet(WITH_STREAMS, page_rows=3, layout=Layout(encoding=Encoding.BYTE_STREAM_SPLIT)), ["=", "year", 1975], rules=("PQF-089",), misread_by=("fastparquet",), since="0.7.0"),
    Good("pqf/sorted-dictionary", "A dictionary whose entries ascend, as its page says", TinyParquet(WITH_ASCENDING, layout=Layout(dictionary=Encoding.RLE_DICTIONARY, sorted_dictionary=True)), ["=", "year", 1975], rules=("PQF-088",), since="0.7.0"),
    Good("pqf/lists", "Two lists and a null, of which nothing else is said", TinyParquet(LIST_OR_NULL, statistics=False), ["=", "year", 1963], rules=("PQF-140",), since="0.7.0"),
    Good("pqf/maps", "Two maps, whose keys and values are two columns", TinyParquet(WITH_MAPS), ["=", "mine", 2], rules=("PQF-126", "PQF-127"), since="0.7.0"),
    Good("pqf/differences", "Numbers as the differences between neighbours, which wrap around", TinyParquet(WITH_DIFFERENCES, layout=Layout(encoding=Encoding.DELTA_BINARY_PACKED)), ["=", "depth", 7], misread_by=("fastparquet",), since="0.6.0"),
)  # fmt: skip

METAL = "row_groups[0].columns[0]"
YEAR = "row_groups[0].columns[1]"
MARKS = "row_groups[0].columns[1]"
FACTS = f"footer.{METAL}.meta_data"

BUFFERS = "Readers that size buffers by it allocate too little or too much."
WALKERS = "Readers that walk the pages fail, or read bytes of something else."
ROWS = "Readers put the values of one row into another, or fail."


def _levels(*runs: bytes) -> bytes:
    """Levels of a page of version 1: their length, then the runs."""
    return LENGTH.build(sum(map(len, runs))) + b"".join(runs)


def _numbers(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "little") for value in values)


def _list_levels(*definition: int) -> bytes:
    """The levels of four entries, of which the second continues the list of the first."""
    return _levels(packed_run([0, 1, 0, 0], width=1)) + _levels(packed_run(definition, width=2))


def _lacking_a_group(values: Sequence[int], width: int) -> bytes:
    """A packed run of up to eight values whose header counts two groups."""
    return packed_run([0] * 16, width=width)[:1] + packed_run(values, width=width)[1:]


THREE_PRESENT = repeating_run(1, 3, width=1)

BAD_INDEX = _levels(THREE_PRESENT) + b"\x03" + packed_run([3, 6, 2], width=3)
"""Indexes of three bits into a dictionary of six entries."""

ONE_SHORT = delta_encoding.encode(FAR_APART[:-1], bits=32)
SHAPELESS = varint(64) + delta_encoding.encode(FAR_APART, bits=32)[2:]
"""Differences without the last one, and with a block size of 64 values."""

NOT_FILLED_UP = delta_encoding.encode(FAR_APART, bits=32)[:-4]

WITHIN_A_ROW = _levels(packed_run([1, 0, 1], width=1)) + _levels(repeating_run(3, 3, width=2))
"""The levels of ``[12]`` and ``[13, 14]``, of which the first claims to continue the previous list, ``[null]``."""

ONE_AND_TWO = _levels(packed_run([0, 0, 1], width=1)) + _levels(repeating_run(3, 3, width=2))
"""The levels of ``[1]`` and ``[2, 3]``, while the keys are two and one."""

_bad = partial(bad, family="pqf", tier="pages", since=SINCE)

BAD = (
    _bad("page-header-without-type", "A page header lacks its type", UNREADABLE, "three-pages", Mutation("remove", f"{YEAR}.pages[1].header.type"), "PQF-050"),
    _bad("page-longer-than-chunk", "The last page of a chunk is said to be a byte longer than it is", WALKERS, "three-pages", Mutation("add", f"{METAL}.pages[2].header.compressed_page_size", 1), "PQF-051"),
    _bad("uncompressed-size-of-chunk", "The size of a chunk without compression leaves out the headers of its pages", BUFFERS, "three-pages", Mutation("add", f"{FACTS}.total_uncompressed_size", -60), "PQF-019", "PQF-052", also=("PQF-019",)),
    _bad("page-header-of-another-type", "A data page of version 1 calls itself one of version 2", UNREADABLE, "three-pages", set_to(f"{YEAR}.pages[0].header.type", int(PageType.DATA_PAGE_V2)), "PQF-053"),
    _bad("two-dictionary-pages", "A dictionary page is stored twice, so that data_page_offset leads to the second one", "Readers decode values with the wrong dictionary, or fail.", "three-pages-and-a-dictionary", Mutation("duplicate", f"{METAL}.pages[0]"), "PQF-054", "PQF-055", "PQF-061", also=("PQF-055", "PQF-061")),
    _bad("data-page-offset-too-late", "The offset of the first data page is that of the second", "none: readers begin with the dictionary page", "three-pages-and-a-dictionary", Mutation("add", f"{FACTS}.data_page_offset", 27), "PQF-055"),
    _bad("dictionary-offset-without-dictionary", "A chunk without dictionary page has an offset of one", "none: readers look at the type of the page that they find", "three-pages", set_to(f"{FACTS}.dictionary_page_offset", 4), "PQF-056"),
    _bad("values-of-chunk", "The number of values of a chunk of lists is that of its rows", ROWS, "three-pages-of-lists", set_to(f"footer.{MARKS}.meta_data.num_values", 8), "PQF-057"),
    _bad("levels-longer-than-page", "The definition levels of a page of version 2 are longer than the page", UNREADABLE, "three-pages-v2", set_to(f"{METAL}.pages[0].header.data_page_header_v2.definition_levels_byte_length", 1000), "PQF-058"),
    _bad("rows-of-pages", "The last page of a chunk counts a row too many", ROWS, "three-pages-of-lists-v2", Mutation("add", f"{MARKS}.pages[2].header.data_page_header_v2.num_rows", 1), "PQF-059"),
    _bad("encoding-not-listed", "A chunk does not list the encoding of its pages", "none: readers look at the pages", "three-pages", Mutation("remove", f"{FACTS}.encodings[0]"), "PQF-060"),
    _bad("encoding-stats-without-pages", "The encoding_stats count one data page that uses the dictionary, of three", "none: every page that is not counted has a dictionary, too", "three-pages-and-a-dictionary", set_to(f"{FACTS}.encoding_stats[1].count", 1), "PQF-061"),
    _bad("page-of-no-values", "A data page of lists is said to hold nothing", "Some readers fail on an empty page.", "three-pages-of-lists", set_to(f"{MARKS}.pages[2].header.data_page_header.num_values", 0), "PQF-062"),
    _bad("crc-of-another-page", "Two pages have exchanged their CRCs", "Readers that check them refuse the file.", "three-pages", Mutation("swap", f"{METAL}.pages[0].header.crc", f"{METAL}.pages[1].header.crc"), "PQF-063", tier="values"),
    _bad("nulls-below-zero", "A page of version 2 has -1 nulls, as a writer that keeps no statistics may leave it", "Readers that trust it skip rows.", "three-pages-v2", set_to(f"{METAL}.pages[0].header.data_page_header_v2.num_nulls", -1), "PQF-064"),
    _bad("levels-of-no-encoding", "The definition levels of a page are called PLAIN", UNREADABLE, "three-pages", set_to(f"{METAL}.pages[1].header.data_page_header.definition_level_encoding", int(Encoding.PLAIN)), "PQF-080", since="0.7.0"),
    _bad("levels-bit-packed", "The definition levels of a page are called BIT_PACKED", ROWS, "three-pages", set_to(f"{METAL}.pages[1].header.data_page_header.definition_level_encoding", int(Encoding.BIT_PACKED)), "PQF-081", since="0.7.0"),
    _bad("uncompressed-size-of-page", "A page is said to be a byte longer without compression than it is", BUFFERS, "three-pages", Mutation("add", f"{YEAR}.pages[0].header.uncompressed_page_size", 1), "PQF-070", tier="values"),
    _bad("levels-missing", "A page of three values has the levels of two", UNREADABLE, "three-pages-of-lists", set_to(f"{METAL}.pages[1].body", _levels(repeating_run(1, 2, width=1)) + b"\x04\0\0\0zinc\x04\0\0\0lead"), "PQF-071", tier="values"),
    _bad("level-too-great", "A definition level is greater than that of its column can be", ROWS, "three-pages", set_to(f"{METAL}.pages[1].body", _levels(repeating_run(2, 3, width=1)) + b"\x04\0\0\0zinc\x04\0\0\0lead\x06\0\0\0nickel"), "PQF-071", tier="values"),
    _bad("run-behind-the-levels", "A run of eight levels follows the three of a page", "fastparquet takes the rest of the levels for values.", "three-pages", set_to(f"{METAL}.pages[1].body", _levels(repeating_run(1, 3, width=1) + packed_run([0] * 8, width=1)) + b"\x04\0\0\0zinc\x04\0\0\0lead\x06\0\0\0nickel"), "PQF-154", tier="values", since="0.7.0"),
    _bad("nulls-of-other-pages", "Two pages of version 2 have exchanged their number of nulls", "Readers that trust it skip rows.", "three-pages-v2", Mutation("swap", f"{METAL}.pages[0].header.data_page_header_v2.num_nulls", f"{METAL}.pages[1].header.data_page_header_v2.num_nulls"), "PQF-072", tier="values"),
    _bad("rows-of-other-pages", "Two pages of lists have exchanged their number of rows", ROWS, "three-pages-of-lists-v2", Mutation("swap", f"{MARKS}.pages[1].header.data_page_header_v2.num_rows", f"{MARKS}.pages[2].header.data_page_header_v2.num_rows"), "PQF-073", tier="values"),
    _bad("rows-of-lists", "A page begins within a row, and so the chunk holds a row less than its row group", ROWS, "three-pages-of-lists", set_to(f"{MARKS}.pages[2].body", WITHIN_A_ROW + _numbers(12, 13, 14)), "PQF-074", tier="values"),
    _bad("bytes-behind-values", "There is a byte behind the values of a page", "Most readers stop after the last value; some refuse such pages.", "three-pages", Mutation("add", f"{YEAR}.pages[0].body", b"\0"), "PQF-076", tier="values"),
    _bad("index-beyond-dictionary", "A page refers to the seventh of six entries of its dictionary", "Readers fail, or read memory that is not theirs.", "three-pages-and-a-dictionary", set_to(f"{METAL}.pages[2].body", BAD_INDEX), "PQF-077", tier="values"),
    _bad("values-missing", "A page of three numbers has the bytes of two", UNREADABLE, "three-pages", set_to(f"{YEAR}.pages[0].body", (1958).to_bytes(8, "little") + (1963).to_bytes(8, "little")), "PQF-078", tier="values"),
    Bad("pqf/values-of-other-maps", "The first of two maps has two keys and one value, the second one key and two values", ROWS, "pqf/maps", set_to("row_groups[0].columns[2].pages[0].body", ONE_AND_TWO + _numbers(1, 2, 3)), ("PQF-126",), tier="values", since="0.7.0"),
    Bad("pqf/null-list-of-two", "A list of two entries is null, as DuckDB writes an array that is null", "pyarrow refuses the column, and Spark reads null for the value of the next row; others read null for the list.", "pqf/lists", set_to(f"{MARKS}.pages[0].body", _list_levels(0, 0, 3, 0) + _numbers(9)), ("PQF-140",), tier="values", since="0.7.0"),
    Bad("pqf/list-goes-on-as-null", "A list goes on after its first entry, and is null there", "DuckDB and Spark find a null in the list, Polars and DataFusion nothing, and fastparquet takes the list for null; pyarrow refuses the column.", "pqf/lists", set_to(f"{MARKS}.pages[0].body", _list_levels(3, 0, 3, 0) + _numbers(7, 9)), ("PQF-140",), tier="values", since="0.7.0"),
    Bad("pqf/empty-list-goes-on", "A list is empty, and goes on with a value", "DuckDB reads a list with a null, Spark gives the value to the next row, others read one with the value.", "pqf/lists", set_to(f"{MARKS}.pages[0].body", _list_levels(1, 3, 3, 0) + _numbers(8, 9)), ("PQF-140",), tier="values", since="0.7.0"),
    _bad("run-of-a-group-less", "A run of definition levels counts two groups of eight, and one is stored", "pyarrow, Spark and fastparquet refuse the column.", "three-pages", set_to(f"{METAL}.pages[1].body", _levels(_lacking_a_group([1, 1, 1], 1)) + b"\x04\0\0\0zinc\x04\0\0\0lead\x06\0\0\0nickel"), "PQF-141", tier="values", since="0.7.0"),
    _bad("run-of-indexes-of-a-group-less", "A run of indexes counts two groups of eight, and one is stored", "pyarrow and Spark refuse the column.", "three-pages-and-a-dictionary", set_to(f"{METAL}.pages[2].body", _levels(THREE_PRESENT) + b"\x03" + _lacking_a_group([2, 1, 3], 3)), "PQF-141", tier="values", since="0.7.0"),
    Bad("pqf/map-of-lists", "A list is called a map", "pyarrow, DuckDB and Polars refuse the file.", "pqf/three-pages-of-lists", set_to("footer.schema[2].logicalType", {"MAP": {}}), ("PQF-028", "PQF-127"), tier="footer", since="0.7.0"),
    Bad("pqf/differences-of-33-bits", "Differences between numbers of 32 bits are taken in 64, and need 33", "Readers refuse the column.", "pqf/differences", set_to(f"{METAL}.pages[0].body", delta_encoding.encode(FAR_APART, bits=64)), ("PQF-079",), tier="values", since="0.6.0"),
    _bad("no-such-codec", "A chunk is said to be compressed by codec 99", UNREADABLE, "three-pages", set_to(f"{FACTS}.codec", 99), "PQF-171", tier="footer", since="0.7.0"),
    _bad("no-such-encoding-listed", "A chunk lists encoding 77 beside those of its pages", "Readers that know the encodings by name refuse the whole file.", "three-pages", Mutation("add", f"{FACTS}.encodings", [77]), "PQF-171", tier="footer", since="0.7.0"),
    _bad("no-such-encoding", "The encoding of a page is 77", UNREADABLE, "three-pages", set_to(f"{METAL}.pages[1].header.data_page_header.encoding", 77), "PQF-060", "PQF-061", "PQF-169", since="0.7.0", also=("PQF-060", "PQF-061")),
    _bad("no-such-encoding-of-levels", "The encoding of the definition levels of a page is 77", UNREADABLE, "three-pages", set_to(f"{METAL}.pages[1].header.data_page_header.definition_level_encoding", 77), "PQF-169", since="0.7.0"),
    _bad("crypto-metadata-of-plain-chunk", "A chunk claims to be encrypted in a file that is not", "Readers refuse the file, skip the column, or read it as if nothing were said.", "three-pages", set_to(f"footer.{METAL}.crypto_metadata", {"ENCRYPTION_WITH_FOOTER_KEY": {}}), "PQF-170", tier="footer", since="0.7.0"),
    _bad("no-such-page-type", "The type of a page is 9", UNREADABLE, "three-pages", set_to(f"{METAL}.pages[1].header.type", 9), "PQF-053", "PQF-057", "PQF-061", since="0.7.0", also=("PQF-061",)),
    _bad("encoding-of-another-type", "A page of texts is said to hold differences between numbers", UNREADABLE, "three-pages", set_to(f"{METAL}.pages[1].header.data_page_header.encoding", int(Encoding.DELTA_BINARY_PACKED)), "PQF-060", "PQF-061", "PQF-084", since="0.7.0", also=("PQF-060", "PQF-061")),
    _bad("dictionary-of-indexes", "The entries of a dictionary are said to be indexes into one", UNREADABLE, "three-pages-and-a-dictionary", set_to(f"{METAL}.pages[0].header.dictionary_page_header.encoding", int(Encoding.RLE_DICTIONARY)), "PQF-061", "PQF-085", "STA-062", since="0.7.0", also=("PQF-061",)),
    _bad("entries-missing", "A dictionary of six entries is said to have seven", UNREADABLE, "three-pages-and-a-dictionary", Mutation("add", f"{METAL}.pages[0].header.dictionary_page_header.num_values", 1), "PQF-086", tier="values", since="0.7.0"),
    _bad("bytes-behind-entries", "There is a byte behind the entries of a dictionary of numbers", "One reader refuses the column; the others stop after the last entry.", "three-pages-and-a-dictionary", Mutation("add", f"{YEAR}.pages[0].body", b"\0"), "PQF-087", tier="values", since="0.7.0"),
    _bad("dictionary-not-sorted", "Entries in the order of the rows are said to ascend", "none among readers of today", "three-pages-and-a-dictionary", set_to(f"{METAL}.pages[0].header.dictionary_page_header.is_sorted", True), "PQF-088", tier="values", since="0.7.0"),
    Bad("pqf/streams-too-long", "There are eight bytes behind the streams of a page, which readers take for a value", "Readers put together bytes of different values.", "pqf/streams", Mutation("add", f"{METAL}.pages[1].body", bytes(8)), ("PQF-089",), tier="values", since="0.7.0"),
    Bad("pqf/differences-in-blocks-of-64", "Differences are said to be in blocks of 64 values", "Readers refuse the column.", "pqf/differences", set_to(f"{METAL}.pages[0].body", SHAPELESS), ("PQF-090",), tier="values", since="0.7.0"),
    Bad("pqf/differences-of-seven", "A page of eight values has the differences of seven", "Readers refuse the column.", "pqf/differences", set_to(f"{METAL}.pages[0].body", ONE_SHORT), ("PQF-091",), tier="values", since="0.7.0"),
    Bad("pqf/miniblock-cut-off", "The padding of the last miniblock is cut off", "Readers that unpack miniblocks whole refuse the column.", "pqf/differences", set_to(f"{METAL}.pages[0].body", NOT_FILLED_UP), ("PQF-092",), tier="values", since="0.7.0"),
)  # fmt: skip
