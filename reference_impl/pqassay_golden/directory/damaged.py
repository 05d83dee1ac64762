"""Golden cases of the index directory that break its rules: the key, the entries, their ties to the data, and every type of blob."""

from __future__ import annotations

from functools import partial

from pqassay_golden.directory.recipes import bad
from pqassay_golden.directory.whole import (
    HLL_OF_FILE,
    HLL_OF_GROUPS,
    KLL_OF_PRICES,
    PLAIN_SETS,
)
from pqassay_golden.recipes import set_to
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.thrift import CompressionCodec

VALUE = "footer.key_value_metadata[0].value"
ENTRY = "directory.entries[0]"
HEAD, BLOB = f"{ENTRY}.head", f"{ENTRY}.blob"

USELESS = "Readers ignore the indexes."
LOST = "A query for the value skips rows that have it, and nothing says so."
WRONG = "A query that is answered from the sums gets a wrong number, and nothing says so."
VAIN = "Readers read rows in vain."
NOTHING = "none today"


def _add(path: str, number: int) -> Mutation:
    return Mutation("add", path, number)


def _length(text: str) -> bytes:
    """A text in PLAIN encoding."""
    raw = text.encode()
    return len(raw).to_bytes(4, "little") + raw


_aside = partial(bad, decode="accept")
"""A case in which a reader must ignore the entry, or the directory."""

_footer = partial(_aside, tier="footer")
_index = partial(bad, tier="index")

SETS, SUMS, KEYED, DOUBLES = "sets-inline", "sums-of-row-groups", "sums-by-keys", "sums-of-doubles"

BAD = (
    # The key and the directory
    _footer("key-without-value", "The key has no value", USELESS, SETS, Mutation("remove", VALUE), "DIR-001", "PQF-010", also=("PQF-010",)),
    _footer("space", "There is a space before the value", USELESS, SETS, Mutation("prepend", VALUE, " "), "DIR-002"),
    _footer("no-base64", "The value is JSON", USELESS, SETS, set_to(VALUE, '{"indexes": []}'), "DIR-002"),
    _footer("magic", "The directory begins with another magic", USELESS, SETS, set_to("directory.magic", b"PQIY"), "DIR-003"),
    _footer("header-alone", "The value ends behind the version", USELESS, SETS, set_to(VALUE, "UFFJWAEA"), "DIR-003"),
    _footer("checksum", "The checksum of the directory is not that of its bytes", USELESS, SETS, _add("directory.crc32", 1), "DIR-004"),
    _footer("entry-too-many", "The directory counts an entry more than it has", USELESS, SETS, _add("directory.entry_count", 1), "DIR-005"),
    _footer("entry-uncounted", "The directory counts no entry, and has one", USELESS, SETS, set_to("directory.entry_count", 0), "DIR-005"),
    _footer("entry-beyond", "An entry is said to be longer than the directory", USELESS, SETS, set_to(f"{ENTRY}.length", 1 << 31), "DIR-005"),
    _footer("writer-beyond", "The name of the writer is longer than its entry", USELESS, SETS, set_to(f"{HEAD}.writer_length", 60_000), "DIR-006"),
    _footer("name-not-utf8", "The name of a column is not UTF-8", USELESS, SETS, set_to(f"{ENTRY}.columns[0].names[0].text", b"\xff"), "DIR-006"),
    # The entry
    _footer("granularity-unknown", "The granularity has an unknown number", USELESS, SETS, set_to(f"{HEAD}.granularity", 3), "DIR-007"),
    _footer("placement-unknown", "The placement has an unknown number", USELESS, SETS, set_to(f"{HEAD}.placement", 3), "DIR-007"),
    _footer("codec-unknown", "The blob is said to be compressed with Brotli", USELESS, SETS, set_to(f"{HEAD}.codec", int(CompressionCodec.BROTLI)), "DIR-007"),
    _index("flags", "An unknown flag", NOTHING, SETS, set_to(f"{HEAD}.flags", 1), "DIR-008", tier="footer"),
    _index("reserved", "The reserved field of the directory is not 0", NOTHING, SETS, set_to("directory.reserved", 1), "DIR-008", tier="footer"),
    _index("reserved-of-sums", "The reserved field of zone sums is not 0", NOTHING, SUMS, set_to(f"{BLOB}.head.reserved", 1), "DIR-008"),
    _aside("entry-twice", "Two entries have the same type, granularity and columns", "The first of them is dead weight.", SETS, Mutation("duplicate", ENTRY), "DIR-009", tier="footer"),
    _footer("column-absent", "The entry describes a column that the file does not have", USELESS, SETS, set_to(f"{ENTRY}.columns[0].names[0].text", b"ore"), "DIR-010"),
    _footer("quantiles-of-text", "A KLL sketch is said to describe a column of text", USELESS, SETS, set_to(f"{HEAD}.type", int(IndexType.KLL)), "DIR-011"),
    # What ties it to the data
    _footer("body-beyond", "The blob is said to be behind the footer", USELESS, "sets-of-row-groups", _add(f"{HEAD}.offset", 1 << 20), "DIR-012"),
    _footer("extension-beyond", "The blob is said to be behind the end of the extension", USELESS, "sums-of-file", _add(f"{HEAD}.offset", 1 << 20), "DIR-012"),
    _index("blobs-overlap", "Two entries have the same bytes of the body for their blobs", "Rewriting one of them damages the other.", "twins", _add(f"{HEAD}.offset", len(PLAIN_SETS)), "DIR-013"),
    _aside("blob-crc", "The checksum of the entry is not that of its blob", USELESS, SETS, _add(f"{HEAD}.crc32", 1), "DIR-014", tier="index"),
    _aside("blob-crc-in-the-body", "The checksum of the entry is not that of its blob, which is in the body", USELESS, "sets-of-row-groups", _add(f"{HEAD}.crc32", 1), "DIR-014", tier="index"),
    _aside("plain-length", "The blob is said to be a byte longer than it is", USELESS, SETS, _add(f"{HEAD}.plain_length", 1), "DIR-015", tier="index"),
    _aside("plain-length-of-zstd", "The blob is said to have a byte more before compression than it has", USELESS, "codec-zstd", _add(f"{HEAD}.plain_length", 1), "DIR-015", tier="index"),
    _aside("codec-of-another", "The blob is said to be compressed with Snappy, and is with Zstandard", USELESS, "codec-zstd", set_to(f"{HEAD}.codec", int(CompressionCodec.SNAPPY)), "DIR-015", tier="index"),
    _footer("row-count", "The entry was made of a row more", USELESS, SETS, _add(f"{HEAD}.row_count", 1), "DIR-016"),
    _footer("shape", "The entry was made of other data", USELESS, SETS, _add(f"{HEAD}.shape", 1), "DIR-016"),
    _footer("statistics-removed", "A program removed the statistics of a column and left the entry as it was", USELESS, SETS, Mutation("remove", "footer.row_groups[0].columns[0].meta_data.statistics"), "DIR-016"),
    bad("content", "The entry was made of other data of the same sizes and statistics", LOST, SETS, _add(f"{HEAD}.content", 1), "DIR-017", tier="pages", decode="accept"),
    bad("rows-reordered", "A program wrote numbers without compression in another order and kept the key", "An index of pages leads to the wrong rows.", "of-same-sizes", set_to("row_groups[0].columns[0].pages[0].body", b"".join(lot.to_bytes(8, "little") for lot in (7, 8, 9, 10))), "DIR-017", tier="pages", decode="accept", predicate=("=", "lot", 9)),
    _footer("pages-without-index", "An entry is said to describe pages of a column that has no offset index", USELESS, "zeros-and-nan", set_to(f"{HEAD}.granularity", int(Granularity.PAGE)), "DIR-018"),
    _footer("pages-of-two-columns", "An entry is said to describe the pages of two columns", USELESS, KEYED, set_to(f"{HEAD}.granularity", int(Granularity.PAGE)), "DIR-018"),
    # Any blob
    _aside("length-too-short", "The length of the last set is a byte too short, so that nothing covers the last byte of the blob", USELESS, SETS, set_to(f"{BLOB}.heads[1].values_length", 14), "DIR-020", tier="index"),
    _aside("parts-beyond", "A blob counts more parts than it has room for", "A reader that believes it asks for more memory than there is.", SETS, set_to(f"{BLOB}.part_count", (1 << 32) - 1), "DIR-020", tier="index"),
    _aside("parts-of-another-granularity", "A blob of two sets, one for each row group, is said to describe the file", "A reader that does not count the parts takes one for another.", SETS, set_to(f"{HEAD}.granularity", int(Granularity.FILE)), "DIR-021", tier="index"),
    _aside("values-not-there", "A set counts three values, and has two", USELESS, SETS, _add(f"{BLOB}.heads[0].value_count", 1), "DIR-022", "DIR-023", tier="index"),
    _index("value-count", "The entry counts a value more than its blob has", NOTHING, SETS, _add(f"{HEAD}.value_count", 1), "DIR-023"),
    # Distinct sets
    _index("flag-of-a-set", "A set has an unknown flag", NOTHING, SETS, _add(f"{BLOB}.heads[0].flags", 8), "DIR-024"),
    _index("values-descending", "The values of a set are in descending order", LOST, SETS, set_to(f"{BLOB}.values[0]", _length("tin") + _length("lead")), "DIR-025"),
    _index("value-of-nan", "A set lists NaN", VAIN, "zeros-and-nan", set_to(f"{BLOB}.values[0]", bytes(8) + bytes.fromhex("000000000000f87f")), "DIR-025"),
    bad("value-missing", "A complete set lacks a value that rows have", LOST, SETS, set_to(f"{BLOB}.values[1]", _length("tin") + _length("zins")), "DIR-026", decode="accept", predicate=["=", "metal", "zinc"]),
    bad("called-complete", "A set that lists two values of three is called complete", LOST, "capped", _add(f"{BLOB}.heads[0].flags", 4), "DIR-026", decode="accept"),
    bad("nulls-denied", "A set denies the null that a row has", "A query for nulls skips the row, and nothing says so.", SETS, _add(f"{BLOB}.heads[1].flags", -1), "DIR-027", decode="accept", predicate=["is null", "metal"]),
    bad("nan-denied", "A set denies the NaN that a row has", "A query for NaN skips the row, and nothing says so.", "zeros-and-nan", _add(f"{BLOB}.heads[1].flags", -2), "DIR-027", decode="accept"),
    bad("nulls-claimed", "A set claims a null that no row has", VAIN, SETS, _add(f"{BLOB}.heads[0].flags", 1), "DIR-028", decode="accept"),
    # Zone sums
    _aside("groups-not-counted", "The parts have more groups than the head says", USELESS, SUMS, set_to(f"{BLOB}.part_sizes[0]", 2), "DIR-030", tier="index"),
    _index("sum-of-another-kind", "Sums of whole numbers are said to be doubles", WRONG, SUMS, set_to(f"{BLOB}.head.sum_kind", 2), "DIR-031"),
    _index("groups-descending", "The groups of a part are in descending order", WRONG, KEYED, set_to(f"{BLOB}.keys[0].values", _length("tin") + _length("lead") + _length("tin") + _length("zinc")), "DIR-032"),
    _index("rows-too-many", "A group counts a row more than its row group has", WRONG, SUMS, _add(f"{BLOB}.groups[0].row_count", 1), "DIR-033"),
    _index("nulls-beyond-rows", "A group counts more nulls than rows", WRONG, SUMS, set_to(f"{BLOB}.groups[0].null_count", 4), "DIR-033"),
    _index("bounds-swapped", "The smallest measure of a group is greater than the largest", WRONG, SUMS, set_to(f"{BLOB}.minima.values", b"".join(lot.to_bytes(8, "little") for lot in (9, 13))), "DIR-034"),
    _index("bound-missing", "A group with measures has no bounds", WRONG, SUMS, set_to(f"{BLOB}.maxima.values", (9).to_bytes(8, "little")), "DIR-034"),
    bad("key-of-another-name", "The groups have a key that no row has, and lack one", WRONG, KEYED, set_to(f"{BLOB}.keys[0].values", _length("lead") + _length("tin") + _length("tin") + _length("zinn")), "DIR-035", decode="accept"),
    bad("nan-called-null", "A NaN of the measure is counted as null", "The average of the measure is a number, and should be NaN.", DOUBLES, Mutation("swap", f"{BLOB}.groups[0].null_count", f"{BLOB}.groups[0].nan_count"), "DIR-036", decode="accept"),
    bad("sum-off-by-one", "The sum of a group is one too great", WRONG, SUMS, _add(f"{BLOB}.groups[1].sum_low", 1), "DIR-037", decode="accept"),
    bad("sum-off-by-a-bit", "The last bit of a sum of doubles is wrong, as where one number was added to the next", WRONG, DOUBLES, _add(f"{BLOB}.groups[1].sum_low", 1), "DIR-037", decode="accept"),
    bad("largest-too-large", "The largest measure of a group is greater than those of its rows", WRONG, SUMS, set_to(f"{BLOB}.maxima.values", b"".join(lot.to_bytes(8, "little") for lot in (9, 13))), "DIR-038", decode="accept"),
    # Sketches
    _index("family", "A sketch is said to be of another family", USELESS, "hll-of-row-groups", set_to(f"{BLOB}.sketches[0]", HLL_OF_GROUPS[0][:2] + b"\x0f" + HLL_OF_GROUPS[0][3:]), "DIR-040"),
    _index("sketches-of-two-sizes", "Two sketches of a blob have other sizes", "They cannot be united without loss.", "hll-of-row-groups", set_to(f"{BLOB}.sketches[0]", HLL_OF_GROUPS[0][:3] + b"\x0b" + HLL_OF_GROUPS[0][4:]), "DIR-041"),
    _index("registers-too-many", "A KLL sketch of a size that its family does not allow", USELESS, "kll-of-file", set_to(f"{BLOB}.sketches[0]", KLL_OF_PRICES[:4] + b"\x04\x00" + KLL_OF_PRICES[6:]), "DIR-041"),
    bad("estimate-too-great", "A sketch was made of other values, and estimates half as many again", "Queries are planned badly.", "hll-of-row-groups", set_to(f"{BLOB}.sketches[0]", HLL_OF_FILE), "DIR-042", decode="accept"),
    bad("greatest-of-a-sketch", "The greatest value of a sketch is not that of the column", "The highest quantile is wrong.", "kll-of-file", set_to(f"{BLOB}.sketches[0]", KLL_OF_PRICES[:32] + bytes.fromhex("0080e03779c35143") + KLL_OF_PRICES[40:]), "DIR-043", decode="accept"),
    bad("ranks", "A sketch holds other values between the smallest and the largest", "Queries are planned badly.", "kll-of-file", set_to(f"{BLOB}.sketches[0]", KLL_OF_PRICES[:40] + bytes.fromhex("0080e03779c34143") * 2 + KLL_OF_PRICES[56:64] + bytes.fromhex("0080e03779c34143")), "DIR-044", decode="accept"),
    # IDX1
    _aside("idx1-of-row-groups", "An entry claims that an IDX1 blob describes row groups", USELESS, "idx1", set_to(f"{HEAD}.granularity", int(Granularity.ROW_GROUP)), "DIR-048", tier="index"),
    bad("idx1-value-missing", "An IDX1 blob that an entry describes lacks a value that rows have", LOST, "idx1", set_to(BLOB, idx1.build_blob({"lead", "tin", "zins"})), "DIR-045", decode="accept"),
)  # fmt: skip
