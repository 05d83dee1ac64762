"""Golden cases of the footer's claims: counts, sizes, offsets, types, extensions, summaries, the order of rows, and gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from pqassay_golden.parquet_file.framing import LEAD, METALS, TWO_COLUMNS, YEARS
from pqassay_golden.reads import NOTHING_TO_READ
from pqassay_golden.recipes import Bad, Good, Made, Valid, bad, input_of, set_to
from pqassay_golden.rows import literal_rows
from pqassay_golden.statistics.values import audited, untrue
from pqassay_golden.tiny.parquet import (
    Column,
    Encoding,
    Layout,
    SortingColumn,
    TinyParquet,
    decimal,
    fixed,
)
from pqassay_reference.rewrite.footer_splice import footer_and_tail
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.case import CheckExpectation, Expect
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.file import HEAD, SUMMARY_NAME, read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData

SINCE = "0.5.0"

UUID = bytes.fromhex("5d0e6c9a 4f1b 4d0e 9c3a 7b8e21f0a4c6")
"""The first bytes of the extensions in these files, which distinguish them from all others."""

TYPES = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("year", "int16", YEARS, optional=False),
        Column("price", decimal(9, 2), [1250, 220, None, 265, 219, 1690, 0, 880]),
        Column("mark", fixed(4), [bytes((number,)) * 4 for number in range(8)]),
    ),
    statistics=False,
)

SORTED = TinyParquet(
    (Column("year", "int64", sorted(YEARS), optional=False), Column("metal", "string", METALS)),
    sorting_columns=[SortingColumn(column_idx=0, descending=False, nulls_first=False)],
)

EXTENDED = TinyParquet(
    TWO_COLUMNS,
    extensions={
        "footer": UUID + b"of the file",
        "footer.row_groups[0].columns[1].meta_data": UUID + b"of a chunk",
    },
)

MADE_BY = b"struck by the assay office"

_MARKED = TinyParquet(TWO_COLUMNS, body=("row groups", bytes(6), MADE_BY), keys=(("assay.mark", str(10**3)),))
MARKED = replace(_MARKED, keys=(("assay.mark", f"{_MARKED.build().index(MADE_BY):04d}"),))
"""A blob after six bytes of padding, and a key with its offset."""


SORTED_ROWS = TinyParquet(
    (
        Column("metal", "string", ["lead", "lead", "lead", "tin", None]),
        Column("depth", "int32", [None, 40, 12, 90, 7]),
    ),
    sorting_columns=[
        SortingColumn(column_idx=0, descending=False, nulls_first=False),
        SortingColumn(column_idx=1, descending=True, nulls_first=True),
    ],
)


SORTED_FLOATS = TinyParquet(
    (
        Column("purity", "double", [-1.5, -0.0, 0.0, 0.25, float("nan"), 0.5, float("nan")], optional=False),
        Column("depth", "int32", [7, 90, 12, 40, 12, 7, 1], optional=False),
    ),
    sorting_columns=[
        SortingColumn(column_idx=0, descending=False, nulls_first=False),
        SortingColumn(column_idx=1, descending=False, nulls_first=False),
    ],
)
"""The zeros are ordered by their signs, which only some writers compare; by the second column they are not."""


@dataclass(frozen=True)
class Summary(Valid):
    """The summary of one file, in the form of parquet-java: a footer whose chunks all are in that file.

    Attributes:
        file: The described file.
        is_beside: Whether that file is beside the summary.
    """

    file: TinyParquet
    is_beside: bool = False

    def make(self, _: Mapping[str, Made]) -> Made:
        """Make the case, see `pqassay_golden.recipes.Recipe`."""
        source = BytesSource(self.file.build())
        footer, _taken = read_footer(source, read_framing(source))
        for group in footer.row_groups:
            for chunk in group.columns:
                chunk.file_path = PART
        content = HEAD.build({}) + footer_and_tail(bytes(grammar(FileMetaData).build(footer)))
        expect = Expect(
            check=CheckExpectation(rules=[], tier="values"),
            lint="accept",
            read=NOTHING_TO_READ,
            rows=literal_rows(self.file),
        )
        beside = {PART: self.file.build()} if self.is_beside else {}
        return Made(self.manifest(input_of(SUMMARY_NAME, content, beside), expect), content, beside)


GOOD = (
    Good("pqf/types", "A string, an integer of 16 bits, a decimal and fixed bytes, all with their annotations", TYPES, LEAD, rules=("PQF-027", "PQF-028", "PQF-029", "PQF-155"), misread_by=("fastparquet",), since=SINCE),
    Good("pqf/dictionary", "A dictionary page comes before the data page of each chunk", TinyParquet(TWO_COLUMNS, layout=Layout(dictionary=Encoding.RLE_DICTIONARY)), LEAD, rules=("PQF-026",), since=SINCE),
    Good("pqf/sorted", "The row group says by which column it is sorted", SORTED, LEAD, rules=("PQF-030",), since=SINCE),
    Good("pqf/old-bounds", "A text column with the deprecated bounds alone", TinyParquet((Column("metal", "string", ["lead"] * 4), Column("year", "int64", YEARS[:4], optional=False)), layouts={"metal": Layout(deprecated=True, bounds=False)}), LEAD, rules=("PQF-024",), since=SINCE),
    Good("pqf/extensions", "The footer and a chunk's metadata carry an extension each", EXTENDED, LEAD, rules=("PQF-032", "PQF-033", "PQF-034"), misread_by=("fastparquet",), since=SINCE),
    Good("pqf/copies", "Each chunk is followed by a copy of its metadata, to which file_offset points", TinyParquet(TWO_COLUMNS, layout=Layout(behind="ColumnMetaData")), LEAD, rules=("PQF-022", "PQF-037"), since=SINCE),
    Good("pqf/two-row-groups", "Two row groups and nothing else", TinyParquet(TWO_COLUMNS, row_group_rows=4), LEAD, rules=("PQF-016", "PQF-031"), since=SINCE),
    Good("pqf/blob", "Padding and a blob that a key names are stored behind the row groups", MARKED, LEAD, rules=("PQF-037",), since=SINCE),
    Summary("pqf/summary", "A summary file: its chunks are stored in another file", TinyParquet(TWO_COLUMNS), rules=("PQF-035",), since=SINCE),
    Summary("pqf/summary-beside-its-file", "A summary file beside the file that it describes", TinyParquet(TWO_COLUMNS), is_beside=True, rules=("PQF-156",), since="0.7.0"),
    # Against the values
    Good("pqf/sorted-floats", "Rows sorted by numbers, NaN and zeros of both signs among them, and by a second column", SORTED_FLOATS, ("=", "depth", 12), rules=("PQF-075", "PQF-132"), since="0.7.0"),
    audited("pqf/sorted-rows", "Rows sorted by two columns, one ascending and one descending, nulls last and nulls first", SORTED_ROWS, ("PQF-075",)),
)  # fmt: skip

PART = "part-0.parquet"
"""The name of the file that a summary describes."""

NOTHING = "none: nothing depends on it"
GROUP = "footer.row_groups[0]"
CHUNK = f"{GROUP}.columns[0].meta_data"
EXTENSION = "footer.unknown_32767"

_bad = partial(bad, family="pqf", tier="footer", since=SINCE)

BAD = (
    _bad("version-3", "A version that does not exist", NOTHING, "plain", set_to("footer.version", 3), "PQF-011"),
    _bad("chunks-swapped", "The chunks of a row group are listed in another order than the leaves", "Readers that go by position take one column for the other.", "plain", Mutation("swap", f"{GROUP}.columns[0]", f"{GROUP}.columns[1]"), "PQF-012"),
    _bad("chunk-missing", "A row group lists a chunk less than there are leaves", "Readers fail, or find no values.", "plain", Mutation("remove", f"{GROUP}.columns[1]"), "PQF-012"),
    _bad("chunk-too-many", "A row group lists its first chunk again behind the others", "Readers that go by position find a column without a leaf.", "plain", Mutation("duplicate", f"{GROUP}.columns[0]"), "PQF-009", "PQF-012", since="0.7.0", also=("PQF-009",)),
    _bad("path-of-another-leaf", "A chunk names a path of two names, and its leaf has one", "Readers that go by path find no such column.", "plain", set_to(f"{CHUNK}.path_in_schema", ["metal", "metal"]), "PQF-012", since="0.7.0"),
    _bad("path-missing", "A chunk names no path", "Readers that go by path find no such column.", "plain", set_to(f"{CHUNK}.path_in_schema", []), "PQF-012", since="0.7.0"),
    _bad("chunk-of-another-type", "A chunk names another physical type than its leaf", "Readers fail, or decode the pages by the wrong one.", "plain", set_to(f"{GROUP}.columns[1].meta_data.type", 1), "PQF-013"),
    _bad("chunk-of-no-type", "A chunk names a physical type that does not exist", "Readers fail.", "plain", set_to(f"{CHUNK}.type", 77), "PQF-013", since="0.7.0"),
    _bad("chunk-without-metadata", "A chunk has neither metadata nor a key that hides it", "Readers fail.", "plain", Mutation("remove", CHUNK), "PQF-014"),
    _bad("uncompressed-size-negative", "The uncompressed size of a chunk is negative, as after an overflow", "Readers that allocate by it fail.", "plain", set_to(f"{CHUNK}.total_uncompressed_size", -1509661479), "PQF-015"),
    _bad("compressed-size-negative", "The compressed size of a chunk is negative, as after an overflow", "Readers find no pages.", "plain", set_to(f"{CHUNK}.total_compressed_size", -1509661479), "PQF-015"),
    _bad("rows-negative", "The number of rows is negative", "Readers fail, or count wrong.", "plain", set_to("footer.num_rows", -8), "PQF-015"),
    _bad("values-negative", "A chunk has less than no values", "Readers fail, or find none.", "plain", set_to(f"{CHUNK}.num_values", -3), "PQF-015", "STA-010", since="0.7.0", also=("STA-010",)),
    _bad("byte-size-negative", "The bytes of a row group are fewer than none", "Readers that plan by it fail.", "plain", set_to(f"{GROUP}.total_byte_size", -1), "PQF-015", since="0.7.0"),
    _bad("rows-of-group-negative", "A row group has less than no rows", "Readers fail, or count wrong.", "plain", set_to(f"{GROUP}.num_rows", -1), "PQF-015", since="0.7.0"),
    _bad("rows-do-not-add-up", "The file counts a row more than its row groups", "Engines that answer count(*) from the footer disagree with those that read.", "plain", Mutation("add", "footer.num_rows", 1), "PQF-016"),
    _bad("rows-of-group", "A row group counts a row more than its chunks have values", "Readers fail, or show a row that is not there.", "plain", Mutation("add", f"{GROUP}.num_rows", 1), "PQF-016", "PQF-017", since="0.7.0", also=("PQF-017",)),
    _bad("values-unlike-rows", "A flat chunk counts a value less than its row group has rows", "Readers fail, or lose the last row.", "plain", Mutation("add", f"{CHUNK}.num_values", -1), "PQF-017"),
    _bad("name-twice", "Two leaves have the same name", "A reader that asks by name gets either column, or fails.", "no-rows", set_to("footer.schema[2].name", "metal"), "PQF-018"),
    _bad("byte-size", "total_byte_size is 0, as some writers leave it", NOTHING, "plain", set_to(f"{GROUP}.total_byte_size", 0), "PQF-019"),
    _bad("compressed-size", "total_compressed_size counts a byte less than the chunks take", NOTHING, "plain", Mutation("add", f"{GROUP}.total_compressed_size", -1), "PQF-020"),
    _bad("compressed-size-beyond-the-file", "total_compressed_size counts a gigabyte", "Spark reads a row group in the split that its middle lies in. This one lies in none, and no row is read.", "plain", set_to(f"{GROUP}.total_compressed_size", 1 << 30), "PQF-133", since="0.7.0"),
    _bad("file-offset-late", "file_offset of a row group is recorded too late", "A reader that plans splits by it, as Trino did before 476, never reads the row group: rows are lost.", "plain", Mutation("add", f"{GROUP}.file_offset", 20), "PQF-021"),
    _bad("file-offset-zero", "file_offset of a row group is 0, as some writers leave it", "A reader that plans splits by it, as Trino did before 476, never reads the row group: rows are lost.", "plain", set_to(f"{GROUP}.file_offset", 0), "PQF-021", since="0.7.0"),
    _bad("chunk-offset-nowhere", "file_offset of a chunk points where nothing begins", NOTHING, "plain", set_to(f"{GROUP}.columns[1].file_offset", 7), "PQF-022"),
    _bad("chunk-elsewhere", "One of two chunks is said to be in another file", "A reader looks for a file that does not exist, or reads this one anyway.", "plain", set_to(f"{GROUP}.columns[1].file_path", "elsewhere.parquet"), "PQF-023"),
    _bad("writer-without-version", "created_by names no version", "parquet-java ignores the old bounds of text.", "old-bounds", set_to("footer.created_by", "by hand"), "PQF-024"),
    _bad("dictionary-page-at-zero", "dictionary_page_offset is 0 where there is no dictionary page", "A reader that believes it takes the head of the file for a page.", "plain", set_to(f"{CHUNK}.dictionary_page_offset", 0), "PQF-025"),
    _bad("dictionary-page-not-first", "data_page_offset is that of the dictionary page", "none: readers look at the type of the page that they find", "dictionary", set_to(f"{CHUNK}.data_page_offset", 4), "PQF-055", tier="pages"),
    _bad("dictionary-page-behind", "dictionary_page_offset lies behind the data page", "A reader that believes it takes data for the dictionary.", "plain", set_to(f"{CHUNK}.dictionary_page_offset", 50), "PQF-026", since="0.7.0"),
    _bad("integer-of-7-bits", "An integer is said to have 7 bits", "Readers refuse the file, or ignore the type.", "types", set_to("footer.schema[2].logicalType.INTEGER.bitWidth", 7), "PQF-027"),
    _bad("integer-too-wide", "An integer of 64 bits is said to be stored in an INT32", "Readers refuse the file, or ignore the type.", "types", set_to("footer.schema[2].logicalType.INTEGER.bitWidth", 64), "PQF-028", "PQF-155"),
    _bad("uuid-on-a-number", "A number is said to be a UUID", "Readers refuse the file, or ignore the type.", "plain", set_to("footer.schema[2].logicalType", {"UUID": {}}), "PQF-155", since="0.7.0"),
    _bad("no-converted-type", "A string has no converted type", "Old readers take the text for bytes.", "types", Mutation("remove", "footer.schema[1].converted_type"), "PQF-028"),
    _bad("converted-scale", "A decimal has another scale as a converted type", "Old readers are wrong by a factor of ten.", "types", set_to("footer.schema[3].scale", 3), "PQF-028"),
    _bad("no-type-length", "Fixed bytes have no length", "Readers cannot tell where a value ends.", "types", Mutation("remove", "footer.schema[4].type_length"), "PQF-029"),
    _bad("sorted-by-no-column", "A row group is sorted by a column that does not exist", "Readers that look the column up fail.", "sorted", set_to(f"{GROUP}.sorting_columns[0].column_idx", 2), "PQF-030"),
    _bad("sorted-by-a-negative-column", "A row group is sorted by column -1", "Readers that look the column up fail, or take the last one.", "sorted", set_to(f"{GROUP}.sorting_columns[0].column_idx", -1), "PQF-030", since="0.7.0"),
    _bad("sorted-twice", "A row group is sorted by one column twice", "none: the second time says nothing", "sorted", Mutation("duplicate", f"{GROUP}.sorting_columns[0]"), "PQF-132", since="0.7.0"),
    _bad("ordinal", "The ordinal of the first row group is 1", "Readers of encrypted files would fail; others do not care.", "plain", set_to(f"{GROUP}.ordinal", 1), "PQF-031"),
    _bad("extension-not-binary", "Field 32767 is a number; the bytes of the extension follow as another field", "Readers that look for an extension find none.", "extensions", set_to(f"{EXTENSION}:header", bytes.fromhex("05 fe ff 03 02 08 c8 01")), "PQF-032"),
    _bad("extension-short", "An extension of four bytes does not name its owner", "Two extensions may be taken for each other.", "extensions", set_to(EXTENSION, b"\x04mine"), "PQF-033"),
    _bad("extension-mistaken-id", "The id 32767 is written as a plain varint, as in the example of the document", "Readers that look for field 32767 find none.", "extensions", set_to(f"{EXTENSION}:header", bytes.fromhex("08 ff ff 01")), "PQF-034"),
    _bad("repetition-as-i64", "The repetition type of a column is written as an i64", "Readers that skip the field find no repetition type; pyarrow and DuckDB then take the levels of a page for values.", "plain", set_to("footer.schema[1].repetition_type:header", bytes.fromhex("26")), "PQF-039", since="0.6.0"),
    _bad("filter-length-as-list", "The length of a bloom filter is written as a list of three numbers", "Readers that skip the field read the filter with one request more; Polars and DataFusion refuse the file.", "blm/two-blocks", set_to(f"{CHUNK}.bloom_filter_length:header", bytes.fromhex("19 35 02 04")), "BLM-006", "PQF-130", since="0.7.0"),
    _bad("repetition-missing", "A column does not say whether it is required, optional or repeated", "pyarrow and DuckDB take it for required, and the levels of its pages for values.", "plain", Mutation("remove", "footer.schema[1].repetition_type"), "PQF-040", since="0.6.0"),
    _bad("repetition-unknown", "The repetition type of a column is the fourth of three", "Readers refuse the file, or take the column for what they like.", "plain", set_to("footer.schema[1].repetition_type", 3), "PQF-167", since="0.6.0"),
    _bad("type-unknown", "The physical type of a column is the ninth of eight", "Readers refuse the file.", "plain", set_to("footer.schema[2].type", 8), "PQF-167", since="0.7.0"),
    _bad("converted-type-unknown", "The converted type of a number is one that the format does not define", "Readers refuse the file, or ignore the type.", "plain", set_to("footer.schema[2].converted_type", 77), "PQF-167", since="0.7.0"),
    _bad("logical-type-unknown", "The logical type of a text is one that the format does not define", "Readers refuse the file, or ignore the type.", "plain", Mutation("set", "footer.schema[1].logicalType.STRING:header", bytes.fromhex("0c 28")), "PQF-167", since="0.7.0"),
    Bad("pqf/time-unit-unknown", "The unit of a timestamp is one that the format does not define", "Readers refuse the file.", "pqf/times", Mutation("set", "footer.schema[4].logicalType.TIMESTAMP.unit.MICROS:header", bytes.fromhex("9c")), ("PQF-167",), tier="footer", since="0.7.0"),
    _bad("logical-type-twice", "A text is both STRING and JSON", "Readers refuse the file, or take one of both.", "types", set_to("footer.schema[1].logicalType", {"STRING": {}, "JSON": {}}), "PQF-168", since="0.7.0"),
    _bad("summary-without-path", "A chunk of a summary file names no file", "A reader looks for the pages in the summary itself.", "summary", Mutation("remove", f"{GROUP}.columns[0].file_path"), "PQF-035"),
    _bad("summary-stale", "A summary file has two offsets that are exchanged in its file", "Readers that use it look for pages in the wrong place.", "summary-beside-its-file", Mutation("swap", f"{CHUNK}.data_page_offset", f"{GROUP}.columns[1].meta_data.data_page_offset"), "PQF-156", since="0.7.0"),
    _bad("blob-without-key", "No key names the blob behind the row groups any more", "Programs that rewrite the file drop the bytes.", "blob", Mutation("remove", "footer.key_value_metadata[0]"), "PQF-037", tier="index"),
    _bad("blob-key-elsewhere", "The key of the blob names another place", "Programs that rewrite the file drop the bytes.", "blob", set_to("footer.key_value_metadata[0].value", "0004"), "PQF-037", tier="index", since="0.7.0"),
    _bad("row-group-unlisted", "The footer lists one of two row groups; the pages of the other are still there", "Rows are lost.", "two-row-groups", Mutation("remove", "footer.row_groups[1]"), "PQF-016", "PQF-037", tier="index"),
    # Against the values

    untrue("pqf/unsorted-rows", "The rows are sorted by the second column the other way round", "A reader that searches or merges sorted rows misses some.", "pqf/sorted-rows", set_to("footer.row_groups[0].sorting_columns[1].descending", False), "PQF-075"),
)  # fmt: skip
