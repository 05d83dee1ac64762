"""Golden cases of unusual index directories: several of them, damaged entries, foreign extensions, padded booleans, empty parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pqassay_golden.directory.recipes import IndexRecipe, bad, binary, good
from pqassay_golden.directory.whole import (
    FILE,
    HLL,
    INLINE,
    KLL,
    LOT,
    PAGE,
    ROW_GROUP,
    SALES,
    SETS,
    SUMS,
    TIN,
    TWINS,
)
from pqassay_golden.recipes import set_to
from pqassay_golden.tiny.columns import Column
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_spec.directory.codes import Placement
from pqassay_spec.directory.entries import Entry, directory_text
from pqassay_spec.directory.named_types import type_number
from pqassay_spec.directory.sketches import build_sketches
from pqassay_spec.mutation.mutations import Mutation

SEVERAL_GROUPS = TinyParquet(
    (Column("metal", "string", ["tin", "lead", None, "zinc"]), Column("lot", "int64", [7, 8, 9, 10], optional=False)),
    row_group_rows=(3, 0, 1),
    page_rows=2,
    page_index=True,
)  # fmt: skip
"""Three row groups; the second has no rows, so it has no pages."""

FOREIGN = replace(
    SALES, extensions={"footer": bytes.fromhex("5b1c6f0e2d9a4f07a3d8c4e15b7720f6") + bytes(200)}
)
"""The footer's extension field belongs to other software: it begins with another UUID, and is long enough for any blob."""

KLL_OF_GROUPS = (
    bytes.fromhex("05010f00c80008000200000000000000c8000100c6000000" "0000000000000080" "000000000000e03f" "0000000000000080" "000000000000e03f"),
    bytes.fromhex("05010f00c80008000200000000000000c8000100c6000000" "0000000000000040" "0080e03779c34143" "0080e03779c34143" "0000000000000040"),
)  # fmt: skip
"""Sketches of the prices of each row group, with k = 200, without NaN."""

KLL_OF_PAGES = (
    KLL_OF_GROUPS[0],
    bytes.fromhex("02010f01c8000800"),
    bytes.fromhex("02020f04c80008000000000000000040"),
    bytes.fromhex("02020f04c80008000080e03779c34143"),
)
"""Sketches of the prices of each page; the only price of the second is NaN, so its sketch is empty."""

HLL_OF_PAGES = (
    bytes.fromhex("0201070c03080208db1b020f9ac2a10f"),
    bytes.fromhex("0201070c03080108db1b020f"),
    bytes.fromhex("0201070c0308010832936d05"),
    bytes.fromhex("0201070c03080108db1b020f"),
)
"""Sketches of the metals of each page, with 2^12 registers."""


def _each_alone(entries: Sequence[Entry]) -> Sequence[str]:
    """Put each entry into its own directory."""
    return [directory_text([entry]) for entry in entries]


def _around_later_major(entries: Sequence[Entry]) -> Sequence[str | None]:
    """Put a directory of an unknown major version between two of this version."""
    first, second = _each_alone(entries)
    return [first, *binary(lambda raw: raw[:4] + b"\x02" + raw[5:] + b"whatever")(entries), second]


def _sets(columns: str) -> IndexRecipe:
    return IndexRecipe(SETS, columns, ROW_GROUP, INLINE)


ROWS_OF_TIN = b"\x05\x04"
"""A byte for each row group of `SALES`, with a bit for each row with tin: the payload of a user-defined index."""


def _named(entries: Sequence[Entry]) -> Sequence[str]:
    """Give the first entry twice, with two named types."""
    own, *others = entries
    named = [
        replace(
            own,
            head=own.head.changed(type=type_number(name), granularity=int(ROW_GROUP), value_count=0),
            type_name=name,
        )
        for name in ("org.example.bitmap", "org.example.tally-2")
    ]
    return [directory_text([*named, *others])]


METAL_AND_LOT = (_sets("metal"), IndexRecipe(SUMS, "lot", ROW_GROUP, INLINE))

GOOD = (
    good("two-directories", "Two directories, each with one entry, which are taken together", SALES, METAL_AND_LOT, TIN, edit=_each_alone),
    good("two-directories-of-twins", "Two directories that describe two columns of the same values", TWINS, [_sets("metal"), _sets("copy")], TIN, edit=_each_alone),
    good("beside-later-major", "A directory of a later major version is between two others", SALES, METAL_AND_LOT, TIN, edit=_around_later_major, rules=("DIR-060",)),
    good("extension-of-another", "The extension field of the footer begins with another UUID, and no entry refers to it", FOREIGN, METAL_AND_LOT, TIN),
    good("pages-and-empty-row-group", "Entries describe pages, and one row group has none", SEVERAL_GROUPS, [IndexRecipe(SETS, "lot", PAGE, INLINE), IndexRecipe(SUMS, "metal", PAGE)], LOT),
    good("kll-of-row-groups", "A KLL sketch of the prices of each row group", SALES, [IndexRecipe(KLL, "price", ROW_GROUP, INLINE, blob=build_sketches(KLL_OF_GROUPS), value_count=4)], TIN),
    good("kll-of-pages", "A KLL sketch of the prices of each page, one of which has nothing but NaN", SALES, [IndexRecipe(KLL, "price", PAGE, INLINE, blob=build_sketches(KLL_OF_PAGES), value_count=4)], TIN),
    good("hll-of-pages", "A HyperLogLog sketch of the metals of each page", SALES, [IndexRecipe(HLL, "metal", PAGE, INLINE, blob=build_sketches(HLL_OF_PAGES), value_count=5)], TIN),
    good("named-types", "Two indexes of types that their owner named, of one column, before a distinct set", SALES, [IndexRecipe(SETS, "metal", FILE, INLINE, blob=ROWS_OF_TIN), _sets("metal")], TIN, edit=_named, rules=("DIR-060",)),
)  # fmt: skip

USELESS = "Readers ignore the index."
ALL_USELESS = "Readers ignore all indexes of the directory."
ENTRY = "directory.entries[0]"

_aside = partial(bad, decode="accept")


def _value(place: int) -> str:
    return f"footer.key_value_metadata[{place}].value"


BAD = (
    _aside("first-directory-damaged", "There is a space before the value of the first of two keys; the second directory is good", USELESS, "two-directories", Mutation("prepend", _value(0), " "), "DIR-002", tier="footer"),
    _aside("second-directory-damaged", "The second of two directories begins with another magic; the first is good", USELESS, "two-directories", set_to(_value(1), "UFFJWQEA"), "DIR-003", tier="footer"),
    _aside("key-in-both", "Entries of two directories have the same type, granularity and columns: the second takes the place of the first", "The first of them is dead weight.", "two-directories-of-twins", set_to(f"{ENTRY}.columns[0].names[0].text", b"copy"), "DIR-009", tier="footer"),
    _aside("last-of-two-stale", "The last of two entries with the same type, granularity and columns is stale: the first does not come back", USELESS, "twins", set_to("directory.entries[1].columns[0].names[0].text", b"metal"), "DIR-009", "DIR-016", tier="footer"),
    _aside("malformed-beside-good", "The name of a writer is longer than its entry; the next entry is good, and is not used either", ALL_USELESS, "of-same-sizes", set_to(f"{ENTRY}.head.writer_length", 60_000), "DIR-006", tier="footer"),
    _aside("blob-crc-beside-good", "The checksum of an entry is not that of its blob; the next entry is good, and is used", USELESS, "of-same-sizes", Mutation("add", f"{ENTRY}.head.crc32", 1), "DIR-014", tier="index"),
    _aside("extension-taken-by-another", "The blob is said to be in the extension, which begins with another UUID", USELESS, "extension-of-another", set_to(f"{ENTRY}.head.placement", int(Placement.EXTENSION)), "DIR-012", tier="footer"),
    _aside("null-flag", "A byte that says whether a key is null is 2", USELESS, "sums-by-keys", set_to(f"{ENTRY}.blob.keys[0].nulls", bytes.fromhex("0000020000")), "DIR-022", tier="index"),
    _aside("bits-behind-booleans", "The bits behind the last boolean of a set are not all 0", USELESS, "unsigned-and-booleans", set_to("directory.entries[6].blob.values[0]", b"\x05"), "DIR-022", tier="index"),
    # Named types
    _aside("type-name", "The name of a type is one word", USELESS, "named-types", set_to(f"{ENTRY}.type_name[0].text", b"bitmap"), "DIR-049", tier="footer"),
    _aside("type-number", "The number of a type is not that of its name", USELESS, "named-types", Mutation("add", f"{ENTRY}.head.type", 1), "DIR-050", tier="footer"),
    _aside("type-name-beyond", "The name of a type is longer than its entry; the next entries are good, and are not used either", ALL_USELESS, "named-types", set_to(f"{ENTRY}.type_name[0].length", 60_000), "DIR-006", tier="footer"),
    _aside("blob-crc-of-named-type", "The checksum of an entry of a named type is not that of its blob", USELESS, "named-types", Mutation("add", f"{ENTRY}.head.crc32", 1), "DIR-014", tier="index"),
    _aside("shape-of-named-type", "The entry of a named type was made of other data", USELESS, "named-types", Mutation("add", f"{ENTRY}.head.shape", 1), "DIR-016", tier="footer"),
)  # fmt: skip
