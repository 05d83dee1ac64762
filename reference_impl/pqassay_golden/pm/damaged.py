"""Golden cases of ``_pm``: files with one damage, or with features that some readers lack."""

from __future__ import annotations

from pqassay_golden.pm import whole
from pqassay_golden.pm.recipes import add_to, chunk_field, column_field, pm_bad
from pqassay_golden.recipes import set_to
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.pm.codes import ColumnFlag, ColumnType, FooterFeature, HeaderFeature

REFUSED = "Every reader refuses the file, and the partition cannot be read."
UNSEEN = "none today: readers never look at it"
NEWER = "none: readers that do not know it pass over it"
SILENT = "Readers that check no checksum go on, with whatever the damage gives."
OLD_ONES = "Readers that are pinned to an earlier snapshot fail; those of the newest never notice."
UNPRUNED = "Readers find the statistic unusable and read row groups that they could leave out."
LOST = "Row groups are left out that hold rows of the answer: the rows are missing, and nothing says so."
ELSEWHERE = "Readers fetch bytes of something else and fail to decode them."
MISREAD = "Readers decode the column in a wrong way, or refuse to."

FIRST_BLOCK = 184
"""Offset of the first block of ``pm/plain`` and of the cases that are made from it."""

PLAIN_SIZE = len(next(case for case in whole.GOOD if case.id == "pm/plain").file.build())
CHAIN_SIZE = len(next(case for case in whole.GOOD if case.id == "pm/three-snapshots").file.build())

NAN = 0x7FF8_0000_0000_0000
"""A double that is not a number."""


def _cut(size: int) -> Mutation:
    return Mutation("truncate", "", size, raw=True)


# ------------------------------------------------------------------------------------- the header and the footer

SIZE, FLAGS = "header.parquet_meta_file_size", "header.feature_flags"
FOOTER, FOOTER_FLAGS = "snapshots[0].footer", "snapshots[0].footer.footer_feature_flags"
COVERING = {"index_count": 1, "indexes": [{"column_id": 2, "index_txn": 12, "im_file_size": 4096}]}

OPENING = (
    pm_bad("empty-file", "A file of no bytes", REFUSED, "plain", _cut(0), "001"),
    pm_bad("shorter-than-its-header", "The first 31 bytes of a file", REFUSED, "plain", _cut(31), "001"),
    pm_bad("truncated", "The last byte is missing", REFUSED, "plain", _cut(PLAIN_SIZE - 1), "002"),
    pm_bad("never-committed", "The committed size is 0: the first write broke off", REFUSED, "plain", set_to(SIZE, 0), "002"),
    pm_bad("committed-too-much", "The committed size is one byte more than the file", REFUSED, "plain", add_to(SIZE, 1), "002"),
    pm_bad("committed-too-little", "The committed size leaves no room for a footer", REFUSED, "plain", set_to(SIZE, 79), "002"),
    pm_bad("header-reserved", "The header's reserved field is 1", UNSEEN, "plain", set_to("header.reserved", 1), "003", decode="accept"),
    pm_bad("header-required-bit", "An unknown required feature of the header", REFUSED, "plain", add_to(FLAGS, 1 << 32), "004"),
    pm_bad("header-optional-bit", "An unknown optional feature of the header", NEWER, "plain", add_to(FLAGS, 1 << 10), "005", decode="accept"),
    pm_bad("squash-tracker", "The header's extension for merged partitions", NEWER, "plain", set_to("header_sections.squash_tracker", {"squash_tracker": 77}), "006", decode="accept", reads={"squash_tracker": 77}),
    pm_bad("sequencer-transaction", "A footer's extension for the sequencer's transaction", NEWER, "plain", set_to("snapshots[0].seq_txn", {"seq_txn": 12}), "006", decode="accept", reads={"seq_txn": 12}),
    pm_bad("scratchpad", "A footer's extension for notes of the writer", NEWER, "plain", set_to("snapshots[0].scratchpad", {"entry_count": 2, "entries": [{"code": 1, "length": 4, "data": b"note"}, {"code": 9, "length": 0, "data": b""}]}), "006", decode="accept"),
    pm_bad("covering-index", "A footer's extension for index files, which readers must know", "Readers that do not know it refuse the snapshot.", "plain", set_to("snapshots[0].covering_index", COVERING), "006", decode="either"),
    pm_bad("external-without-blooms", "Bloom filters are external, and there are none: bit 1 without bit 0", REFUSED, "plain", add_to(FLAGS, HeaderFeature.BLOOM_FILTERS_EXTERNAL), "007"),
    pm_bad("sorted-by-nothing", "Sorted by the designated timestamp, and there is none", REFUSED, "plain", set_to("header.designated_timestamp", -1), "008"),
    pm_bad("sorting-column-beside-the-flag", "A flag says how the rows are sorted, and a sorting column says it, too", "Readers that sum both up find a column twice in the order.", "plain", Mutation("insert", "sorting_columns[0]", {"index": 0}), "009", decode="either"),
    pm_bad("flag-and-descending", "Sorted by the designated timestamp ascending, which is marked as descending", "Readers that trust the mark search from the wrong end: rows are missing.", "plain", add_to("column_descriptors[0].flags", ColumnFlag.DESCENDING), "010"),
    pm_bad("columns-beyond-the-file", "The header counts a million columns", REFUSED, "plain", set_to("header.column_count", 1 << 20), "011"),
    pm_bad("sorting-columns-beyond-the-file", "The header counts four billion sorting columns", REFUSED, "plain", set_to("header.sorting_column_count", 0xFFFFFFFF), "011"),
    pm_bad("name-beyond-the-file", "A name is a gigabyte long", REFUSED, "plain", set_to("column_descriptors[3].name_length", 1 << 30), "011"),
    pm_bad("footer-length-zero", "The footer's length is 0", REFUSED, "plain", set_to("snapshots[0].footer_length", 0), "012"),
    pm_bad("footer-length-beyond", "The footer is said to begin before the file", REFUSED, "plain", set_to("snapshots[0].footer_length", 0xFFFFFFFF), "012"),
    pm_bad("bytes-before-the-checksum", "There are four bytes before the checksum that no feature announces", "Readers that count the footer's bytes refuse the file; others pass over them.", "plain", set_to("snapshots[0].rest", b"\0\0\0\0"), "013", decode="either"),
    pm_bad("bloom-entry-missing", "A footer has an entry of bloom filters too few", REFUSED, "bloom-filters", Mutation("remove", "snapshots[0].bloom_entries[5]"), "013", decode="reject"),
    pm_bad("row-groups-beyond-the-footer", "A footer counts a thousand row groups", REFUSED, "plain", set_to(f"{FOOTER}.row_group_count", 1000), "014"),
    pm_bad("row-groups-without-bound", "A footer counts four billion row groups", "A reader that believes it asks for gigabytes.", "plain", set_to(f"{FOOTER}.row_group_count", 0xFFFFFFFF), "014"),
    pm_bad("footer-required-bit", "An unknown required feature of a footer", REFUSED, "plain", add_to(FOOTER_FLAGS, 1 << 33), "015"),
    pm_bad("footer-required-bit-alone", "The required feature of covering indexes without their section", REFUSED, "plain", add_to(FOOTER_FLAGS, FooterFeature.COVERING_INDEX_REQUIRED), "015"),
    pm_bad("footer-optional-bit", "An unknown optional feature of a footer", NEWER, "plain", add_to(FOOTER_FLAGS, 1 << 10), "016", decode="accept"),
)  # fmt: skip

CHAINED = (
    pm_bad("checksum", "The checksum is wrong", "Readers that check it refuse the file; others go on.", "plain", add_to("snapshots[0].checksum", 1), "017", decode="either"),
    pm_bad("flipped-bit", "A bit of a minimum is turned, and the checksum says so", SILENT, "plain", Mutation("set", "blocks[0].column_chunks[1].min_stat", bytes.fromhex("00000000000000bf"), raw=True), "017"),
    pm_bad("earlier-checksum", "The checksum of an earlier snapshot is wrong", OLD_ONES, "three-snapshots", add_to("snapshots[1].checksum", 1), "018", decode="accept", older="either"),
    pm_bad("previous-is-itself", "A snapshot names itself as the one before", "Readers that look for an earlier snapshot never end, unless they watch for it.", "three-snapshots", set_to(f"{FOOTER}.prev_parquet_meta_file_size", CHAIN_SIZE), "019", older="reject"),
    pm_bad("previous-of-a-first", "The first snapshot names an earlier one that is not a file", OLD_ONES, "plain", set_to(f"{FOOTER}.prev_parquet_meta_file_size", 36), "019"),
    pm_bad("previous-is-greater", "A snapshot names one before that was committed with more bytes", OLD_ONES, "three-snapshots", set_to(f"{FOOTER}.prev_parquet_meta_file_size", 1 << 40), "019", older="reject"),
    pm_bad("earlier-footer", "The length of an earlier footer is 0", OLD_ONES, "three-snapshots", set_to("snapshots[1].footer_length", 0), "020", older="reject"),
    pm_bad("unused-bytes-beyond", "More bytes of the Parquet file are said to be dead than it has", "The partition is compacted again and again, or never.", "plain", set_to(f"{FOOTER}.unused_bytes", 1 << 40), "080", decode="accept", reads={"unused_bytes": 1 << 40}),
    pm_bad("unused-bytes-fall", "Dead bytes become fewer from one snapshot to the next", "The partition is compacted too late.", "three-snapshots", set_to(f"{FOOTER}.unused_bytes", 0), "080", decode="accept", reads={"unused_bytes": 0}),
    pm_bad("parquet-file-shrinks", "An earlier snapshot describes a longer Parquet file than the newest", OLD_ONES, "three-snapshots", add_to("snapshots[1].footer.parquet_footer_length", 10_000), "081"),
)  # fmt: skip

# -------------------------------------------------------------------------------------------------- the columns


WRONG_COLUMN = "Readers match columns by id: they show one column as another, or nothing but nulls."
UNKNOWN_TYPE = "Readers that do not know the type refuse the column."

COLUMNS = (
    pm_bad("name-in-the-header", "A name is said to be in the header", REFUSED, "plain", set_to(column_field(0, "name_offset"), 0), "021"),
    pm_bad("name-too-short", "A name ends a byte before the next one begins", "The column has another name.", "plain", add_to(column_field(1, "name_length"), -1), "022", decode="accept", reads={"columns[1].name": "pric"}),
    pm_bad("name-not-utf8", "A name is not UTF-8", "Readers refuse the file, or show the name as something else.", "plain", set_to("names[1]", b"\xff\xfe"), "023"),
    pm_bad("descriptor-reserved", "A descriptor's reserved field is 1", UNSEEN, "plain", set_to(column_field(1, "reserved"), 1), "025", decode="accept"),
    pm_bad("descriptor-unknown-flag", "Bit 31 of a descriptor's flags is set", UNSEEN, "plain", add_to(column_field(1, "flags"), 1 << 31), "026", decode="accept"),
    pm_bad("repetition-unknown", "A repetition that does not exist", MISREAD, "plain", set_to(column_field(1, "flags"), 0b1100), "027"),
    pm_bad("physical-type-unknown", "A physical type that does not exist", MISREAD, "plain", set_to(column_field(1, "physical_type"), 8), "028"),
    pm_bad("length-of-a-double", "A double is said to have a fixed length", UNSEEN, "plain", set_to(column_field(1, "fixed_byte_len"), 8), "029", decode="accept", reads={"columns[1].fixed_byte_len": 8}),
    pm_bad("no-fixed-length", "A FIXED_LEN_BYTE_ARRAY of no length", MISREAD, "plain", set_to(column_field(3, "fixed_byte_len"), 0), "029", decode="accept", reads={"columns[3].fixed_byte_len": 0}),
    pm_bad("type-unknown", "An unknown QuestDB type", UNKNOWN_TYPE, "plain", set_to(column_field(1, "type"), 200), "030", decode="accept", reads={"columns[1].type": 200}),
    pm_bad("repetition-against-levels", "A column is called required, and its definition level admits nulls", "none: readers go by the levels", "plain", set_to(column_field(2, "flags"), ColumnFlag.IS_ASCII), "031", decode="accept", reads={"columns[2].repetition": 0}),
    pm_bad("ascii-number", "A number is marked as ASCII text", UNSEEN, "plain", add_to(column_field(1, "flags"), ColumnFlag.IS_ASCII), "032", decode="accept", reads={"columns[1].ascii": True}),
    pm_bad("global-key-of-text", "Text that is not a symbol is marked as one with global keys", UNSEEN, "plain", add_to(column_field(2, "flags"), ColumnFlag.LOCAL_KEY_IS_GLOBAL), "032", decode="accept", reads={"columns[2].global_key": True}),
    pm_bad("designated-timestamp-beyond", "The designated timestamp is a column too far", REFUSED, "sorting-written-out", set_to("header.designated_timestamp", 4), "033"),
    pm_bad("designated-timestamp-no-timestamp", "The designated timestamp is of type LONG", "Readers refuse the table, or show numbers.", "plain", set_to(column_field(0, "type"), ColumnType.LONG), "034", decode="accept", reads={"columns[0].type": 6}),
    pm_bad("designated-timestamp-with-nulls", "The designated timestamp admits nulls", MISREAD, "plain", set_to(column_field(0, "max_def_level"), 1), "031", "035", decode="accept", reads={"columns[0].max_def_level": 1}),
    pm_bad("designated-timestamp-unsorted", "There is a designated timestamp, and nothing says that the rows are sorted by it", "Readers that search for a time by halves miss rows.", "unsorted", set_to("header.designated_timestamp", 0), "036", decode="accept", reads={"designated_timestamp": 0}),
    pm_bad("sorting-column-beyond", "The rows are sorted by a column that does not exist", "Readers refuse the file or ignore the order.", "sorted-descending", set_to("sorting_columns[1].index", 9), "037"),
    pm_bad("sorting-column-twice", "The rows are sorted by one column twice", "none: the second time adds nothing", "sorted-by-three", set_to("sorting_columns[2].index", 1), "038"),
    pm_bad("descending-unsorted", "A column is marked as descending, and nothing is sorted by it", UNSEEN, "sorting-written-out", add_to(column_field(1, "flags"), ColumnFlag.DESCENDING), "039", decode="accept"),
    pm_bad("bloom-column-beyond", "A column that does not exist has bloom filters", REFUSED, "bloom-filters", set_to("header_sections.bloom_filters.bloom_filter_columns[1]", 4), "040"),
    pm_bad("bloom-columns-none", "Bloom filters are announced, for no column", REFUSED, "bloom-filters", set_to("header_sections.bloom_filters.bloom_col_count", 0), "040"),
    pm_bad("bloom-columns-unsorted", "The columns with bloom filters are not in ascending order", REFUSED, "bloom-filters", Mutation("swap", "header_sections.bloom_filters.bloom_filter_columns[0]", "header_sections.bloom_filters.bloom_filter_columns[1]"), "041"),
    pm_bad("id-twice", "Two columns have one id", WRONG_COLUMN, "plain", set_to(column_field(1, "id"), 2), "043", decode="accept", reads={"columns[1].id": 2}),
)  # fmt: skip

# --------------------------------------------------------------------------------------------------- the blocks


BLOCKS = (
    pm_bad("block-beyond", "A row group's block lies beyond the file", REFUSED, "plain", set_to("snapshots[0].row_group_entries[1].block_offset", 1 << 20), "050", decode="reject"),
    pm_bad("block-in-the-header", "A row group's block lies in the header", "Readers show garbage.", "plain", set_to("snapshots[0].row_group_entries[1].block_offset", 4), "050"),
    pm_bad("block-twice", "Two row groups share a block", "Readers show the rows of one row group twice, and those of the other never.", "unsorted", set_to("snapshots[0].row_group_entries[1].block_offset", FIRST_BLOCK >> 3), "052"),
    pm_bad("padding-not-zero", "The padding before a block is not zero", UNSEEN, "plain", set_to("blocks[0].padding", b"\1\2\3\4"), "053", decode="accept"),
    pm_bad("values-more-than-rows", "A column without lists has more values than rows", "Readers that go by values show rows that are not there.", "plain", set_to(chunk_field(1, "num_values"), 5), "054", decode="accept", reads={"row_groups[0].chunks[1].num_values": 5}),
    pm_bad("values-fewer-than-rows", "A column of lists has fewer values than rows", "Readers that go by values lose rows.", "list", set_to(chunk_field(0, "num_values"), 1), "054", decode="accept", reads={"row_groups[0].chunks[0].num_values": 1}),
    pm_bad("null-count-absent", "A chunk does not say how many nulls it holds", "Readers read pages that hold nothing but nulls.", "plain", set_to(chunk_field(0, "stat_flags"), 0x3F), "055", decode="accept", reads={"row_groups[0].chunks[0].null_count": None}),
    pm_bad("nulls-more-than-values", "A chunk has more nulls than values", "A query for values that are there may skip the row group.", "plain", set_to(chunk_field(1, "null_count"), 5), "056", decode="accept", reads={"row_groups[0].chunks[1].null_count": 5}),
    pm_bad("nulls-of-a-required-column", "A column that admits no nulls has one", LOST, "plain", set_to(chunk_field(0, "null_count"), 1), "057", decode="accept", reads={"row_groups[0].chunks[0].null_count": 1}),
    pm_bad("more-distinct-values-than-values", "A chunk has more distinct values than values", "A planner that relies on it chooses a bad plan.", "statistics-on-one-side", set_to(chunk_field(3, "distinct_count"), 3), "058", decode="accept", reads={"row_groups[0].chunks[3].distinct_count": 3}),
    pm_bad("chunk-reserved", "A chunk's reserved field is 1", UNSEEN, "plain", set_to(chunk_field(1, "reserved"), 1), "059", decode="accept"),
    pm_bad("codec-unknown", "A codec that does not exist", "Readers refuse the row group.", "plain", set_to(chunk_field(1, "codec"), 8), "060"),
    pm_bad("encoding-unknown", "An encoding that does not exist", UNSEEN, "plain", add_to(chunk_field(1, "encodings"), 1 << 6), "061", decode="accept", reads={"row_groups[0].chunks[1].encodings": 65}),
    pm_bad("chunk-beyond", "A chunk lies beyond the Parquet file", ELSEWHERE, "plain", set_to(chunk_field(3, "byte_range_start"), 1 << 40), "062", decode="accept", reads={"row_groups[0].chunks[3].offset": 1 << 40}),
    pm_bad("chunk-in-the-footer", "A chunk reaches into the Parquet footer", ELSEWHERE, "plain", add_to("blocks[1].column_chunks[3].total_compressed", 1), "062"),
    pm_bad("chunks-overlap", "Two chunks share a byte of the Parquet file", ELSEWHERE, "plain", add_to(chunk_field(1, "byte_range_start"), -1), "063"),
    pm_bad("count-without-its-bit", "A number of distinct values that no flag announces", UNSEEN, "plain", set_to(chunk_field(0, "distinct_count"), 4), "064", decode="accept"),
    pm_bad("inlined-and-absent", "A minimum that is not there is marked as inlined and exact", UNSEEN, "statistics-on-one-side", add_to(chunk_field(3, "stat_flags"), 0b110), "064", decode="accept"),
    pm_bad("statistic-of-no-bytes", "A minimum in its slot has no bytes", UNPRUNED, "codecs", set_to(chunk_field(0, "stat_sizes"), 0x40), "065"),
    pm_bad("size-of-a-statistic-out-of-line", "A minimum out of line has a size in its slot", UNSEEN, "plain", set_to(chunk_field(3, "stat_sizes"), 0x0F), "065", decode="accept"),
    pm_bad("statistic-of-another-width", "A minimum of eight bytes for numbers of four", UNPRUNED, "codecs", set_to(chunk_field(0, "stat_sizes"), 0x48), "066"),
    pm_bad("slot-not-zero", "The unused bytes of a slot are not zero", "Readers that compare the whole slot compare garbage.", "codecs", set_to(chunk_field(0, "min_stat"), 1 << 40), "067", decode="accept"),
    pm_bad("short-statistic-out-of-line", "A maximum of five bytes is stored out of line", UNPRUNED, "statistics-inline-and-out-of-line", set_to("blocks[0].max_stats[0]", b"bbbbb"), "068", decode="accept", reads={"row_groups[0].chunks[0].max": {"bytes": "6262626262"}}),
    pm_bad("statistic-beyond", "A minimum out of line lies beyond the file", UNPRUNED, "plain", set_to(chunk_field(3, "min_stat"), 1 << 36 | 16), "069"),
    pm_bad("statistic-in-the-next-block", "A maximum out of line lies in the block of the next row group", "Readers compare with garbage: rows are missing, or nothing is left out.", "plain", set_to(chunk_field(3, "max_stat"), 48 << 16 | 16), "069"),
    pm_bad("statistic-by-32-bits", "A reference to a statistic whose offset is shifted by 32 bits instead of 16", UNPRUNED, "plain", set_to(chunk_field(3, "max_stat"), 16 << 32 | 16), "069"),
    pm_bad("uuid-of-15-bytes", "A minimum of 15 bytes for values of 16", UNPRUNED, "plain", set_to("blocks[0].min_stats[3]", bytes(15)), "070", decode="accept", reads={"row_groups[0].chunks[3].min": {"bytes": "00" * 15}}),
    pm_bad("maximum-before-minimum", "Out of line, a maximum is stored before its minimum", UNSEEN, "plain", Mutation("swap", "blocks[0].order[0]", "blocks[0].order[1]"), "071", decode="accept"),
    pm_bad("minimum-above-maximum", "A minimum is greater than the maximum", LOST, "plain", Mutation("swap", chunk_field(1, "min_stat"), chunk_field(1, "max_stat")), "072"),
    pm_bad("unsigned-minimum-above-maximum", "A minimum of 16 bytes is greater than the maximum", LOST, "plain", Mutation("swap", "blocks[0].min_stats[3]", "blocks[0].max_stats[3]"), "072"),
    pm_bad("maximum-not-a-number", "A maximum is not a number", UNPRUNED, "plain", set_to(chunk_field(1, "max_stat"), NAN), "072"),
    pm_bad("designated-timestamp-without-bounds", "The designated timestamp has no statistics", "Readers that search for a time read every row group.", "sorted-without-statistics", set_to("header.designated_timestamp", 0), "074", decode="accept", reads={"designated_timestamp": 0}),
    pm_bad("row-groups-out-of-order", "The second row group is the earlier one", "Readers that search for a time by halves miss rows.", "plain", Mutation("swap", "snapshots[0].row_group_entries[0]", "snapshots[0].row_group_entries[1]"), "075"),
)  # fmt: skip

# ---------------------------------------------------------------------------------- bloom filters and extensions

EXTENDED = (
    pm_bad("bloom-filter-in-the-header", "A bloom filter is said to be in the header", LOST, "bloom-filters", set_to("snapshots[0].bloom_entries[0].offset", 4), "076"),
    pm_bad("bloom-filter-of-another-block", "A bloom filter is said to be in the block of another row group", LOST, "bloom-filters", Mutation("swap", "snapshots[0].bloom_entries[1]", "snapshots[0].bloom_entries[3]"), "076"),
    pm_bad("bloom-filter-of-33-bytes", "A bitset of 33 bytes", UNPRUNED, "bloom-filters", set_to("blocks[0].bloom_filters[0].length", 33), "077"),
    pm_bad("bloom-filter-of-no-bytes", "A bitset of no bytes", UNPRUNED, "bloom-filters", set_to("blocks[2].bloom_filters[0].length", 0), "077"),
    pm_bad("bloom-filter-of-negative-length", "A bitset of -1 bytes", UNPRUNED, "bloom-filters", set_to("blocks[2].bloom_filters[0].length", -1), "077"),
    pm_bad("bloom-filters-overlap", "A bitset reaches into the next one", LOST, "bloom-filters", set_to("blocks[0].bloom_filters[0].length", 64), "078"),
    pm_bad("external-bloom-filter-beyond", "A bloom filter lies beyond the Parquet file", UNPRUNED, "bloom-filters-external", set_to("snapshots[0].bloom_entries[0].offset", 1 << 40), "079", decode="accept", reads={"row_groups[0].chunks[2].bloom.offset": 1 << 40}),
    pm_bad("external-bloom-filter-of-33-bytes", "A bitset in the Parquet file has 33 bytes", UNPRUNED, "bloom-filters-external", set_to("snapshots[0].bloom_entries[0].length", 33), "079"),
    pm_bad("external-bloom-filter-half-absent", "A bloom filter has an offset and no length", UNPRUNED, "bloom-filters-external", set_to("snapshots[0].bloom_entries[0].length", 0), "079"),
    pm_bad("scratchpad-of-nothing", "A scratchpad without entries", "Readers that know it refuse the snapshot.", "plain", set_to("snapshots[0].scratchpad", {"entry_count": 0, "entries": []}), "006", "085"),
    pm_bad("scratchpad-beyond", "An entry of a scratchpad reaches beyond the footer", "Readers that know it refuse the snapshot.", "scratchpad", set_to("snapshots[0].scratchpad.entries[1].length", 1 << 30), "085"),
    pm_bad("covering-index-of-nothing", "An extension for index files without any", REFUSED, "plain", set_to("snapshots[0].covering_index", {"index_count": 0, "indexes": []}), "006", "086"),
    pm_bad("covering-index-of-no-column", "An index file of a column that does not exist", "Readers refuse the snapshot or look for a file in vain.", "covering-index", set_to("snapshots[0].covering_index.indexes[0].column_id", 99), "006", "086"),
    pm_bad("covering-index-not-required", "An extension for index files that does not say that readers must know it", "Older readers trust index files that are out of date.", "covering-index", set_to(FOOTER_FLAGS, FooterFeature.COVERING_INDEX), "006", "086"),
    pm_bad("squash-tracker-of-none", "A tracker of -1, which means none", NEWER, "plain", set_to("header_sections.squash_tracker", {"squash_tracker": -1}), "006", "087", decode="accept", reads={"squash_tracker": -1}),
)  # fmt: skip

BAD = (*OPENING, *CHAINED, *COLUMNS, *BLOCKS, *EXTENDED)
