"""Golden cases of the framing: magics, footer, key-values, and the ranges in the footer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pqassay_golden.recipes import Bad, Good, set_to
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_spec.mutation.mutations import Mutation

METALS = ["tin", "lead", None, "zinc", "lead", "nickel", "", "copper"]
YEARS = [1958, 1963, 1971, 1975, 1988, 1994, 2003, 2019]
WEIGHTS = [118.71, 207.2, None, 65.38, 207.2, -0.0, float("nan"), 63.546]
MARKS = [7, None, 2147483647, -2147483648, 0, 1, 2, 3]
RAW = [b"\xff\xfe", None, b"", b"PAR1", b"\0", b"a", b"b", b"c"]

TWO_COLUMNS = (Column("metal", "string", METALS), Column("year", "int64", YEARS, optional=False))
ALL_KINDS = (
    *TWO_COLUMNS,
    Column("weight", "double", WEIGHTS),
    Column("mark", "int32", MARKS),
    Column("raw", "binary", RAW),
)

PLAIN = TinyParquet(TWO_COLUMNS)
INDEXED = TinyParquet(
    TWO_COLUMNS, row_group_rows=4, page_rows=2, page_index=True, bloom_filters=("metal", "year")
)

LEAD: Sequence[Any] = ("=", "metal", "lead")

GOOD = (
    Good("pqf/plain", "Two columns, one row group, one page each, nothing attached", PLAIN, LEAD),
    Good("pqf/all-types", "All physical types that the writer knows, with nulls, NaN, signed zero and the ends of int32", TinyParquet(ALL_KINDS), LEAD, misread_by=("fastparquet",)),
    Good("pqf/row-groups-and-pages", "Two row groups of two pages a column, with page index and bloom filters", INDEXED, LEAD),
    Good("pqf/page-index-first", "The page index is stored before the bloom filters", TinyParquet(TWO_COLUMNS, row_group_rows=4, page_rows=2, page_index=True, bloom_filters=("metal",), body=("row groups", "column indexes", "offset indexes", "bloom filters")), LEAD),
    Good("pqf/no-rows", "A schema and no row group", TinyParquet((Column("metal", "string", []), Column("year", "int64", [], optional=False))), LEAD),
    Good("pqf/only-nulls", "A column that holds nothing but nulls, with page index", TinyParquet((Column("metal", "string", [None, None]), Column("year", "int64", [1, 2], optional=False)), page_index=True), ("is null", "metal")),
    Good("pqf/no-statistics", "Chunks without statistics", TinyParquet(TWO_COLUMNS, statistics=False), LEAD),
    Good("pqf/key-values", "Key-value metadata: a pair, an empty value, text beyond ASCII", TinyParquet(TWO_COLUMNS, keys=(("maker", "assay office"), ("note", ""), ("città", "Genève"))), LEAD),
)  # fmt: skip

UNREADABLE = "Every reader refuses the file."
OUTSIDE = "Readers that follow the offset fail, or read bytes of something else."


def _range(name: str, title: str, path: str, to: int, rule: str, effect: str, *, add: bool = False) -> Bad:
    """A case about an offset or size of the footer."""
    return Bad(
        f"pqf/{name}",
        title,
        effect,
        "pqf/row-groups-and-pages",
        Mutation("add" if add else "set", f"footer.row_groups[0].columns[0].{path}", to),
        (rule,),
        tier="index",
    )


BAD = (
    Bad("pqf/empty", "A file of no bytes", UNREADABLE, "pqf/plain", Mutation("truncate", "", 0, raw=True), ("PQF-001",), scan="refusal-allowed"),
    Bad("pqf/too-short", "The first eleven bytes of a file", UNREADABLE, "pqf/plain", Mutation("truncate", "", 11, raw=True), ("PQF-001",), scan="refusal-allowed"),
    Bad("pqf/head-magic", "Another magic at the start", "Some readers refuse the file, some never look.", "pqf/plain", set_to("head.magic", b"PAR2"), ("PQF-001",), scan="refusal-allowed"),
    Bad("pqf/tail-magic", "Another magic at the end", UNREADABLE, "pqf/plain", set_to("tail.magic", b"PAR2"), ("PQF-002",), scan="refusal-allowed"),
    Bad("pqf/truncated", "The last 20 bytes are missing, as after an upload that broke off", UNREADABLE, "pqf/plain", Mutation("truncate", "", len(PLAIN.build()) - 20, raw=True), ("PQF-002",), scan="refusal-allowed"),
    Bad("pqf/footer-length-zero", "The footer length is 0", UNREADABLE, "pqf/plain", set_to("tail.footer_length", 0), ("PQF-003",), scan="refusal-allowed"),
    Bad("pqf/footer-length-beyond", "The footer length reaches before the start of the file", UNREADABLE, "pqf/plain", set_to("tail.footer_length", 0xFFFFFFFF), ("PQF-003",), scan="refusal-allowed"),
    Bad("pqf/footer-length-short", "The footer length cuts off the beginning of the footer", UNREADABLE, "pqf/plain", Mutation("add", "tail.footer_length", -5), ("PQF-004",), scan="refusal-allowed"),
    Bad("pqf/schema-no-tree", "The root of the schema counts a child too many", UNREADABLE, "pqf/plain", set_to("footer.schema[0].num_children", 3), ("PQF-004",), scan="refusal-allowed"),
    Bad("pqf/required-field-missing", "The footer lacks its schema", UNREADABLE, "pqf/plain", Mutation("remove", "footer.schema"), ("PQF-004",), scan="refusal-allowed"),
    Bad("pqf/text-too-long", "The length of a name is greater than the footer", UNREADABLE, "pqf/plain", set_to("footer.schema[1].name:length", bytes.fromhex("ff ff 3f")), ("PQF-004",), scan="refusal-allowed"),
    Bad("pqf/list-too-long", "A list claims more elements than the footer has bytes", "A reader that believes it asks for gigabytes.", "pqf/plain", set_to("footer.schema:count", bytes.fromhex("fc ff ff ff ff 07")), ("PQF-004",), scan="refusal-allowed"),
    Bad("pqf/bytes-behind-the-struct", "There are three bytes at the end of the footer that no field owns", "Most readers stop at the end of the struct; one may refuse the footer.", "pqf/plain", set_to("footer_rest", b"\0\0\0"), ("PQF-005",), scan="refusal-allowed"),
    Bad("pqf/key-twice", "A key occurs twice with two values", "Readers that take the first value and readers that take the last one disagree.", "pqf/key-values", set_to("footer.key_value_metadata[1].key", "maker"), ("PQF-006",), scan="same-rows"),
    Bad("pqf/key-without-value", "A key has no value", "Spark's reader of batches fails on the whole file.", "pqf/key-values", Mutation("remove", "footer.key_value_metadata[1].value"), ("PQF-010",), scan="refusal-allowed"),
    Bad("pqf/value-not-utf8", "The value of a key is not UTF-8", "Readers that decode it fail on the whole file.", "pqf/key-values", set_to("footer.key_value_metadata[0].value", b"\xff"), ("PQF-007",), scan="refusal-allowed"),
    Bad("pqf/key-not-utf8", "A key is not UTF-8", "Readers that decode it fail on the whole file.", "pqf/key-values", set_to("footer.key_value_metadata[0].key", b"\xff"), ("PQF-007",), scan="refusal-allowed"),
    _range("chunk-beyond", "The size of a chunk reaches beyond the file", "meta_data.total_compressed_size", 1 << 40, "PQF-008", UNREADABLE),
    _range("data-page-beyond", "The offset of a data page lies beyond the file", "meta_data.data_page_offset", 1 << 40, "PQF-008", UNREADABLE),
    _range("data-page-negative", "The offset of a data page is negative", "meta_data.data_page_offset", -8, "PQF-008", UNREADABLE),
    _range("column-index-beyond", "The offset of a column index lies beyond the file", "column_index_offset", 1 << 40, "PQF-008", OUTSIDE),
    _range("offset-index-in-the-footer", "An offset index reaches into the footer", "offset_index_length", 1000, "PQF-008", OUTSIDE),
    _range("bloom-filter-beyond", "The offset of a bloom filter lies beyond the file", "meta_data.bloom_filter_offset", 1 << 40, "PQF-008", OUTSIDE),
    _range("chunks-overlap", "A chunk is recorded one byte too long", "meta_data.total_compressed_size", 1, "PQF-009", "A reader that walks the pages runs into the next chunk.", add=True),
    _range("column-index-overlaps", "A column index is recorded one byte too long", "column_index_length", 1, "PQF-009", "A reader that decodes it finds a byte too many.", add=True),
    _range("bloom-filter-overlaps", "A bloom filter is recorded one byte too early", "meta_data.bloom_filter_offset", -1, "PQF-009", "The filter cannot be read, or excludes values that are there.", add=True),
)  # fmt: skip
