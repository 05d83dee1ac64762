"""Golden cases of IDX1: the index, its key, its values, the companion record and the drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pqassay_golden.recipes import Bad, Good, bad, set_to
from pqassay_golden.tiny.parquet import Column, IndexToEmbed, TinyParquet
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.mutation.mutations import Mutation

NATIONS = ["Singapore", "Peru", None, "Côte d'Ivoire", "Peru", "日本"]
YEARS = [2019, 2020, 2021, 2022, 2023, 2024]


def column(*values: str | None, optional: bool = True) -> tuple[Column, ...]:
    """The column ``nation`` with these values, and a column of numbers."""
    return (
        Column("nation", "string", values, optional=optional),
        Column("year", "int64", range(2000, 2000 + len(values)), optional=False),
    )


def indexed(*values: str | None, payload: bytes | None = None, **options: Any) -> TinyParquet:
    """A file with these values, and an index."""
    return TinyParquet(column(*values), index=IndexToEmbed("nation", payload), **options)


def _article(*values: str) -> TinyParquet:
    """One of the three files that were published with the format."""
    return TinyParquet(
        (Column("category", "string", values),), index=IndexToEmbed("category", companion=True)
    )


def look_for(value: str) -> Sequence[Any]:
    """The predicate ``nation = value``."""
    return ("=", "nation", value)


PLAIN = TinyParquet(
    (Column("nation", "string", NATIONS), Column("year", "int64", YEARS, optional=False)),
    index=IndexToEmbed("nation"),
)
COMPANION = replace(PLAIN, index=IndexToEmbed("nation", companion=True))
PAGED = replace(COMPANION, row_group_rows=3, page_rows=2, page_index=True, bloom_filters=("nation", "year"))
BLOB_FIRST = replace(
    PAGED,
    index=IndexToEmbed("nation"),
    body=("row groups", "idx1", "bloom filters", "column indexes", "offset indexes"),
)
BLOB_BEFORE_PAGE_INDEX = replace(
    PLAIN, page_index=True, body=("row groups", "idx1", "column indexes", "offset indexes")
)
LENGTH = len("Côte d'Ivoire\nPeru\nSingapore\n日本".encode())
OFFSET = PLAIN.build().index(idx1.MAGIC)
FOOTER = OFFSET + idx1.HEADER_SIZE + LENGTH
END = len(PLAIN.build()) - FOOTER

SINGAPORE, PERU = look_for("Singapore"), look_for("Peru")

GOOD = (
    Good("idx1/plain", "An index of one column, behind the data", PLAIN, SINGAPORE),
    Good("idx1/companion", "An index with its companion record", COMPANION, SINGAPORE),
    Good("idx1/behind-page-index-and-bloom-filters", "Row groups, bloom filters, page index, index: where a finished file gets it", PAGED, PERU),
    Good("idx1/before-page-index-and-bloom-filters", "Row groups, index, bloom filters, page index: where the published writer puts it", BLOB_FIRST, PERU),
    Good("idx1/before-page-index", "Row groups, index, page index: where pyarrow puts it", BLOB_BEFORE_PAGE_INDEX, PERU),
    Good("idx1/between-bloom-filters-and-page-index", "Bloom filters before the index, page index behind it", replace(PAGED, body=("row groups", "bloom filters", "idx1", "column indexes", "offset indexes")), PERU),
    Good("idx1/between-column-and-offset-indexes", "Column indexes before the index, offset indexes behind it", replace(PAGED, body=("row groups", "column indexes", "idx1", "offset indexes", "bloom filters")), PERU),
    Good("idx1/between-row-groups", "The index is stored between two row groups", replace(PAGED, body=("row group 0", "idx1", "other row groups", "bloom filters", "column indexes", "offset indexes")), PERU),
    Good("idx1/required-column", "The indexed column is required", TinyParquet(column("a", "b", "a", optional=False), index=IndexToEmbed("nation")), look_for("a")),
    Good("idx1/one-value", "One value in every row", indexed("a", "a", "a"), look_for("a")),
    Good("idx1/absent-value", "A scan for a value that lies between the bounds and occurs nowhere", indexed("a", "c"), look_for("b")),
    Good("idx1/article-first-file", "The first file of the article: foo, bar, foo. Its bounds hold bas, its set does not", _article("foo", "bar", "foo"), ("=", "category", "bas")),
    Good("idx1/article-second-file", "The second file of the article: baz, qux. Its bounds hold foo, its set does not", _article("baz", "qux"), ("=", "category", "foo")),
    Good("idx1/article-third-file", "The third file of the article: foo, quux, quux", _article("foo", "quux", "quux"), ("=", "category", "foo")),
    Good("idx1/many-values", "A thousand values", TinyParquet((Column("nation", "string", [f"value {number:03d}" for number in range(1000)]),), row_group_rows=300, page_rows=100, index=IndexToEmbed("nation")), look_for("value 777")),
    Good("idx1/no-rows", "No rows, an empty payload", indexed(), look_for("a"), values=()),
    Good("idx1/only-nulls", "Nothing but nulls, an empty payload", indexed(None, None), ("is null", "nation"), values=()),
    Good("idx1/only-nulls-companion", "Nothing but nulls, and a companion record that says so", replace(indexed(None, None), index=IndexToEmbed("nation", companion=True)), ("is null", "nation"), values=()),
    Good("idx1/only-nulls-beside-values", "Nothing but nulls in the indexed column, and values in another one; the companion record says which is meant", TinyParquet((Column("nation", "string", [None, None]), Column("city", "string", ["p", "q"])), index=IndexToEmbed("nation", companion=True)), ("is null", "nation"), values=(), rules=("IDX1-019",)),
    Good("idx1/empty-value-first", "The empty string, in front of the others", indexed("a", "", None), look_for(""), rules=("IDX1-012",)),
    Good("idx1/empty-value-between", "The empty string between two others", indexed("a", "", "b", payload=b"a\n\nb"), look_for(""), rules=("IDX1-012",)),
    Good("idx1/carriage-return-last", "A value that ends in a carriage return, as the last one", indexed("a\r", "b"), look_for("a\r"), rules=("IDX1-014",)),
    Good("idx1/carriage-return-inside", "A carriage return inside a value", indexed("a\rb", "c"), look_for("a\rb"), rules=("IDX1-014",)),
    Good("idx1/carriage-return-and-empty-value", "A lone carriage return behind the empty string", indexed("\r", ""), look_for("\r"), rules=("IDX1-012", "IDX1-014")),
    Good("idx1/another-order", "The values in an order that is not sorted", indexed("b", "a", "c", payload=b"b\nc\na"), look_for("a")),
    Good("idx1/other-line-ends", "Characters at which other splitters split: U+2028, U+0085, VT, FF, FS", indexed("x\u2028y", "x\x85y", "p\x0bq", "p\x0cq", "p\x1cq"), look_for("x\u2028y")),
    Good("idx1/unicode", "NUL, a byte order mark, combining characters, characters beyond the BMP", indexed("nul\0z", "\ufeffbom", "é", "e\u0301", "😀", "ß", "日本"), look_for("e\u0301")),
    Good("idx1/values-like-magics", "Values that look like magics and headers", indexed("IDX1", "PAR1", "IDX1\x03\0\0\0\0\0\0\0abc"), look_for("IDX1")),
    Good("idx1/column-with-dots", "A column whose name holds dots and quotation marks", TinyParquet((Column('a.b "c"', "string", ["x", "y"]),), index=IndexToEmbed('a.b "c"', companion=True)), ("=", 'a.b "c"', "x"), encode=None, misread_by=("fastparquet",)),
    Good("idx1/key-text-elsewhere", "The text of the key also occurs in the name of a column, in the value of another key and at the beginning of a longer key", TinyParquet((Column("distinct_index_offset", "string", ["p", "q"]), Column("nation", "string", ["x", "y"])), index=IndexToEmbed("nation", companion=True), keys=(("note", "distinct_index_offset"), ("distinct_index_offset.old", "4"))), look_for("x")),
    Good("idx1/second-column", "Two string columns; the index describes the second", TinyParquet((Column("city", "string", ["p", "q"]), Column("nation", "string", ["x", "y"])), index=IndexToEmbed("nation", companion=True)), look_for("x")),
    Good("idx1/without-annotation", "Text in a column that is not annotated as text", TinyParquet((Column("nation", "binary", [b"a", b"b", None]),), index=IndexToEmbed("nation")), ("=", "nation", {"bytes": "61"}), encode=None),
    Good("idx1/line-feed-without-index", "A value that holds a line feed, and therefore no index", TinyParquet(column("x\ny", "z")), look_for("x\ny"), rules=("IDX1-015",), decode=None, encode=None),
    Good("idx1/only-empty-value-without-index", "Only the empty string, and therefore no index", TinyParquet(column("", None)), look_for(""), rules=("IDX1-013",), decode=None, encode=None),
    Good("idx1/no-string-column-without-index", "No string column, and therefore no index", TinyParquet((Column("year", "int64", [1, 2], optional=False),)), ("=", "year", 1), rules=("IDX1-018",), decode=None, encode=None),
)  # fmt: skip
REFUSED = "Readers refuse the file, or the whole table that it belongs to."
LOST = "A query for the value skips the file: its rows are missing, and nothing says so."
IGNORED = "The companion record counts for nothing; the index is used as one without it."


def _offset(name: str, title: str, text: str, rule: str, **more: Any) -> Bad:
    """A case about the text of the key."""
    mutation = set_to("footer.key_value_metadata[0].value", text)
    return bad(name, title, REFUSED, "plain", mutation, rule, family="idx1", scan="refusal-allowed", **more)


def _length(name: str, title: str, length: int, effect: str) -> Bad:
    """A case about a length that exceeds the body."""
    mutation = set_to("idx1.length", length)
    return bad(name, title, effect, "plain", mutation, "IDX1-008", family="idx1", scan="refusal-allowed")


_companion = partial(bad, family="idx1", decode="accept", scan="same-rows")
"""Makes a case about a companion record that must not be trusted; the index itself is valid."""


def _payload(text: str) -> Mutation:
    return set_to("idx1.payload", text.encode())


BAD = (
    Bad("idx1/key-twice", "The key occurs twice with the same value", "none today; a program that changes one of them decides by chance", "idx1/plain", Mutation("duplicate", "footer.key_value_metadata[0]"), ("IDX1-001", "PQF-006"), decode="either", scan="refusal-allowed"),
    Bad("idx1/key-twice-first-stale", "The key occurs twice; the first one is that of an older file", "Readers that take the first value fail; readers that take the last one work.", "idx1/plain", Mutation("insert", "footer.key_value_metadata[0]", {"key": idx1.KEY, "value": "4"}), ("IDX1-001", "IDX1-007", "PQF-006"), decode="either", scan="refusal-allowed"),
    Bad("idx1/key-without-value", "The key has no value", REFUSED, "idx1/plain", Mutation("remove", "footer.key_value_metadata[0].value"), ("IDX1-002", "PQF-010"), scan="refusal-allowed", also=("PQF-010",)),
    _offset("offset-empty", "The offset is an empty text", "", "IDX1-003"),
    _offset("offset-word", "The offset is a word", "abc", "IDX1-003"),
    _offset("offset-negative", "The offset is negative", "-5", "IDX1-003"),
    _offset("offset-hexadecimal", "The offset is hexadecimal", hex(OFFSET), "IDX1-003"),
    _offset("offset-fraction", "The offset has a decimal point", f"{OFFSET}.0", "IDX1-003"),
    _offset("offset-full-width", "The offset is written in full-width digits", "".join(chr(0xFEE0 + ord(digit)) for digit in str(OFFSET)), "IDX1-003"),
    _offset("offset-underscore", "The offset holds an underscore, which some languages allow", f"{str(OFFSET)[0]}_{str(OFFSET)[1:]}", "IDX1-003"),
    _offset("offset-65-bits", "The offset is 2^64", str(1 << 64), "IDX1-003"),
    Bad("idx1/offset-space", "There is a space before the offset", REFUSED, "idx1/plain", Mutation("prepend", "footer.key_value_metadata[0].value", " "), ("IDX1-003",), scan="refusal-allowed"),
    Bad("idx1/offset-plus-sign", "There is a plus sign before the offset", "The published reader takes it, others refuse it.", "idx1/plain", Mutation("prepend", "footer.key_value_metadata[0].value", "+"), ("IDX1-004",), decode="either", scan="refusal-allowed"),
    Bad("idx1/offset-leading-zeros", "There are zeros before the offset", "The published reader takes them, others refuse them or read an octal number.", "idx1/plain", Mutation("prepend", "footer.key_value_metadata[0].value", "00"), ("IDX1-004",), decode="either", scan="refusal-allowed"),
    _offset("offset-zero", "The offset is that of the file's own magic", "0", "IDX1-005"),
    _offset("offset-in-the-magic", "The offset is that of the last byte of the file's own magic", "3", "IDX1-005", since="0.7.0"),
    _offset("offset-footer", "The offset is that of the footer", str(FOOTER), "IDX1-005"),
    _offset("offset-no-room", "Between offset and footer there is no room for magic and length", str(FOOTER - idx1.HEADER_SIZE + 1), "IDX1-005"),
    _offset("offset-beyond", "The offset lies beyond the file", "1000000", "IDX1-005"),
    _offset("offset-63-bits", "The offset is 2^63-1", str((1 << 63) - 1), "IDX1-005"),
    _offset("offset-64-bits", "The offset is 2^64-1", str((1 << 64) - 1), "IDX1-005"),
    Bad("idx1/magic", "Another magic", REFUSED, "idx1/plain", set_to("idx1.magic", b"IDX2"), ("IDX1-006",), scan="refusal-allowed"),
    Bad("idx1/magic-reversed", "The magic in reverse, as a big-endian writer has it", REFUSED, "idx1/plain", set_to("idx1.magic", b"1XDI"), ("IDX1-006",), scan="refusal-allowed"),
    Bad("idx1/stale-into-page-index", "A program rewrote the file without the index and kept the key, which now points into the page index", REFUSED, "idx1/before-page-index", Mutation("remove", "idx1"), ("IDX1-007",), scan="refusal-allowed"),
    _offset("stale-into-data", "A program rewrote the file and kept the key, which now points into a data page", "4", "IDX1-007"),
    _length("length-one-more", "The length is one too great, so that the payload reaches into the footer", LENGTH + 1, "A reader takes a byte of the footer for a part of the last value."),
    _length("length-to-the-end", "The length reaches to the end of the file exactly", LENGTH + END, "A reader takes the footer for values."),
    _length("length-1-tib", "The length is 2^40", 1 << 40, "A reader that believes it asks for 1 TiB of memory and dies."),
    _length("length-63-bits", "The length is 2^63-1", (1 << 63) - 1, "A reader that believes it dies for want of memory."),
    _length("length-64-bits", "The length is 2^64-1", (1 << 64) - 1, "A reader that believes it dies for want of memory."),
    _length("length-big-endian", "The length in the byte order of big-endian machines", int.from_bytes(LENGTH.to_bytes(8, "little"), "big"), "A reader that believes it dies for want of memory."),
    Bad("idx1/length-into-page-index", "The length is one too great, so that the payload reaches into the column index", "A reader takes a byte of the column index for a part of the last value.", "idx1/before-page-index", Mutation("add", "idx1.length", 1), ("IDX1-009",), scan=None, tier="index"),
    Bad("idx1/page-index-displaced", "The page index is recorded too early by the length of the blob: the writer did not count it", "Readers that use the page index fail or skip pages that hold rows; the others notice nothing.", "idx1/before-page-index", Mutation("displace", "idx1"), ("IDX1-009", "PIX-010", "PIX-020"), decode="either", scan="refusal-allowed", also=("PIX-010",)),
    Bad("idx1/payload-not-utf8", "A byte of the payload is not UTF-8", REFUSED, "idx1/one-value", set_to("idx1.payload", b"\xff"), ("IDX1-010",), scan="refusal-allowed"),
    Bad("idx1/payload-surrogate", "The payload holds a surrogate", REFUSED, "idx1/one-value", set_to("idx1.payload", b"\xed\xa0\x80"), ("IDX1-010",), scan="refusal-allowed"),
    Bad("idx1/value-twice", "A value is in the index twice", "none: readers make a set of it", "idx1/another-order", _payload("a\nb\nc\na"), ("IDX1-011",), decode="either", scan="refusal-allowed"),
    Bad("idx1/empty-value-last", "The empty string is the last value", LOST, "idx1/empty-value-first", _payload("a\n"), ("IDX1-012",), decode="either", scan="refusal-allowed"),
    Bad("idx1/line-feed-at-the-end", "A line feed behind the last value", "An exact reader finds an empty value that no row has.", "idx1/another-order", _payload("b\nc\na\n"), ("IDX1-012", "IDX1-017"), decode="either", values=("", "a", "b", "c"), scan="refusal-allowed", also=("IDX1-017",)),
    Bad("idx1/only-empty-value", "The column holds the empty string and no other value", LOST, "idx1/only-empty-value-without-index", Mutation("insert", "idx1", {"payload": b""}), ("IDX1-013",), encode="reject", scan="refusal-allowed"),
    Bad("idx1/carriage-return-before-line-feed", "A value that ends in a carriage return is not the last one", LOST, "idx1/carriage-return-last", _payload("a\r\nb"), ("IDX1-014",), decode="either", scan="refusal-allowed"),
    Bad("idx1/lone-carriage-return-first", "A lone carriage return, and behind it the empty string", LOST, "idx1/carriage-return-and-empty-value", _payload("\r\n"), ("IDX1-012", "IDX1-014"), decode="either", scan="refusal-allowed", also=("IDX1-012",)),
    Bad("idx1/value-with-line-feed", "A value that holds a line feed falls into two", LOST, "idx1/line-feed-without-index", Mutation("insert", "idx1", {"payload": b"x\ny\nz"}), ("IDX1-015",), encode="reject", scan="refusal-allowed"),
    Bad("idx1/value-missing", "A value of the column is not in the index", LOST, "idx1/plain", _payload("Côte d'Ivoire\nPeru\n日本"), ("IDX1-016",), decode="accept", values=("Côte d'Ivoire", "Peru", "日本")),
    Bad("idx1/value-altered", "A value of the column is in the index in an altered form", LOST, "idx1/plain", _payload("Côte d'Ivoire\nPeru\nSingapura\n日本"), ("IDX1-016",), decode="accept", values=("Côte d'Ivoire", "Peru", "Singapura", "日本")),
    Bad("idx1/value-normalised", "A value is in the index in another Unicode normal form", LOST, "idx1/plain", _payload("Co\u0302te d'Ivoire\nPeru\nSingapore\n日本"), ("IDX1-016",), decode="accept", values=("Co\u0302te d'Ivoire", "Peru", "Singapore", "日本")),
    Bad("idx1/all-values-missing", "The payload is empty, the column is not", LOST, "idx1/plain", _payload(""), ("IDX1-016",)),
    Bad("idx1/length-one-less", "The length is one too small", LOST, "idx1/one-value", set_to("idx1.length", 0), ("IDX1-016",)),
    Bad("idx1/length-cuts-values", "The length ends behind the second value", LOST, "idx1/another-order", set_to("idx1.length", 3), ("IDX1-016",), decode="accept", values=("b", "c")),
    Bad("idx1/value-too-many", "A value of the index occurs in no row", "A reader opens the file for nothing.", "idx1/one-value", _payload("a\nb"), ("IDX1-017",), decode="accept", values=("a", "b"), scan="same-rows"),
    Bad("idx1/index-without-rows", "The index of a file without rows holds a value", "none while there are no rows to lose; the index was made for other ones", "idx1/no-rows", _payload("a"), ("IDX1-018",), decode="accept", values=("a",), scan="same-rows"),
    Bad("idx1/empty-index-beside-values", "An empty index without the name of its column, in a file with a column of nulls and one with values", "If the index is that of the column with values, all queries on it skip the file: their rows are missing.", "idx1/only-nulls-beside-values", Mutation("remove", "footer.key_value_metadata[1]"), ("IDX1-019",), decode="accept", scan="same-rows"),
    Bad("idx1/no-string-column", "The file has an index and no string column", "A reader that takes another column for the indexed one skips files that hold rows.", "idx1/no-string-column-without-index", Mutation("insert", "idx1", {"payload": b"a"}), ("IDX1-018",)),
    _companion("companion-no-json", "The companion record is not JSON", IGNORED, "companion", set_to("footer.key_value_metadata[1].value", "{"), "IDX1-020"),
    _companion("companion-empty", "The companion record is an empty text", IGNORED, "companion", set_to("footer.key_value_metadata[1].value", ""), "IDX1-020"),
    _companion("companion-no-members", "The companion record has no members", IGNORED, "companion", set_to("footer.key_value_metadata[1].value", "{}"), "IDX1-020"),
    _companion("companion-no-object", "The companion record is a JSON list", IGNORED, "companion", set_to("footer.key_value_metadata[1].value", "[]"), "IDX1-020", since="0.7.0"),
    Bad("idx1/companion-without-value", "The companion key has no value", IGNORED, "idx1/companion", Mutation("remove", "footer.key_value_metadata[1].value"), ("IDX1-020", "PQF-010"), decode="accept", scan="refusal-allowed", also=("PQF-010",)),
    _companion("companion-no-column", "The companion record names no column", IGNORED, "companion", set_to("companion.column", []), "IDX1-020"),
    _companion("companion-wrong-type", "A count of the companion record is not a number", IGNORED, "companion", set_to("companion.row_count", True), "IDX1-020"),
    _companion("companion-flag-a-number", "The companion record says with a number whether it is lossless", IGNORED, "companion", set_to("companion.lossless", 1), "IDX1-020", since="0.7.0"),
    _companion("companion-offset-negative", "The offset in the companion record is negative", IGNORED, "companion", set_to("companion.offset", -1), "IDX1-020", since="0.7.0"),
    _companion("companion-offset", "The companion record has another offset", IGNORED, "companion", Mutation("add", "companion.offset", 1), "IDX1-021"),
    _companion("companion-length", "The companion record has another length", IGNORED, "companion", Mutation("add", "companion.length", -1), "IDX1-021"),
    _companion("companion-crc", "The companion record has another checksum", IGNORED, "companion", Mutation("add", "companion.crc32", 1), "IDX1-021"),
    _companion("companion-value-count", "The companion record counts a value too many", IGNORED, "companion", Mutation("add", "companion.value_count", 1), "IDX1-021"),
    _companion("companion-row-count", "The companion record counts a row too many: the index was made for other rows", IGNORED, "companion", Mutation("add", "companion.row_count", 1), "IDX1-022"),
    Bad("idx1/companion-null-count", "The companion record denies a null that the column holds", "A query for nulls skips the file: its rows are missing, and nothing says so.", "idx1/companion", set_to("companion.null_count", 0), ("IDX1-023",), decode="accept"),
    Bad("idx1/companion-column-absent", "The companion record names a column that the file does not have", IGNORED, "idx1/companion", set_to("companion.column", ["country"]), ("IDX1-018",), decode="accept", scan="same-rows"),
    Bad("idx1/companion-alone", "A program removed the key of the index and left that of the companion record", "none: without the key there is no index", "idx1/companion", Mutation("remove", "footer.key_value_metadata[0]"), ("IDX1-024",), scan="same-rows"),
    Bad("idx1/draft-g0", "Draft G0: the payload without magic and length", REFUSED, "idx1/plain", set_to("idx1.layout", idx1.Layout.DRAFT_G0.value), ("IDX1-030",), decode="either", scan="refusal-allowed"),
    Bad("idx1/draft-g1", "Draft G1: the published layout with a second key for the length", "none: readers take it as they take the published layout", "idx1/plain", set_to("idx1.layout", idx1.Layout.DRAFT_G1.value), ("IDX1-032",), decode="accept", scan="same-rows"),
    Bad("idx1/draft-g1-length", "Draft G1 whose two lengths differ", "Readers of the draft refuse the file.", "idx1/draft-g1", set_to("footer.key_value_metadata[1].value", str(LENGTH - 1)), ("IDX1-031", "IDX1-032"), decode="either", scan="refusal-allowed"),
)  # fmt: skip
