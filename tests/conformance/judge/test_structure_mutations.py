"""Damage to every structure of a Parquet file: there is a report, nothing else is raised, and nothing hangs or swells.

Four small files hold every structure that this specification reads.  The grammar says what can be wrong with each field,
and a seeded generator damages single bytes of each leaf.
"""

from __future__ import annotations

import contextlib
import functools
import secrets
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import pqassay
from damage import SUGGESTED, Damaged, bounded_memory, require_report
from each import each
from pqassay_golden.tiny.parquet import (
    BODY,
    AnyType,
    Column,
    Encoding,
    Layout,
    ListOf,
    SortingColumn,
    TinyParquet,
    decimal,
)
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.file_operators import traced_file
from pqassay_spec.mutation.file_tree import FileTree
from pqassay_spec.mutation.mutations import Inapplicable, Mutation, mutate
from pqassay_spec.parquet.encoding.levels import repeating_run
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.thrift import BoundingBox, CompressionCodec, GeospatialStatistics, Type
from pqassay_spec.rules.catalogue import Tier

pytestmark = pytest.mark.slow

# -------------------------------------------------------------------------------------------------- good files

WORDS = [None, "a", "b", "bc"]
FULL = Layout(
    page_statistics=True,
    size_statistics=True,
    histograms=True,
    unencoded_bytes=True,
    exact=True,
    distinct_count=True,
    nan_count=True,
    encoding_stats=True,
)
NESTED = Layout(
    version=2, dictionary=Encoding.RLE_DICTIONARY, size_statistics=True, histograms=True, unencoded_bytes=True
)
POINT = bytes.fromhex("0101000000000000000000f03f0000000000000040")
SHAPES = GeospatialStatistics(bbox=BoundingBox(xmin=1.0, xmax=1.0, ymin=2.0, ymax=2.0), geospatial_types=[1])
FILES = {
    "flat": TinyParquet(
        [
            Column("word", "string", WORDS, layout=FULL),
            Column("mass", "double", [1.0, float("nan"), None, -0.0], layout=FULL),
        ],
        page_rows=2,
        page_index=True,
        bloom_filters=("word", "mass"),
        sorting_columns=[SortingColumn(column_idx=0, descending=False, nulls_first=True)],
    ),
    "nested": TinyParquet(
        [Column("tags", ListOf("string"), [["a", None], [], None, ["bc", "a"]], layout=NESTED)],
        page_rows=2,
        page_index=True,
        bloom_filters=("tags.list.element",),
    ),
    "typed": TinyParquet(
        [
            Column("time", "int96", [0, None], layout=Layout(order="timestamp", deprecated=True)),
            Column("half", "float16", [1.0, float("nan")], layout=Layout(order="total")),
            Column("place", "geometry", [POINT, None], layout=Layout(geospatial=SHAPES, crc=False)),
        ],
        page_index=True,
        layout=Layout(behind="ColumnMetaData"),
        extensions={"footer.row_groups[0].columns[0].meta_data": b"an extension of an example"},
        body=("row groups", bytes(8), *BODY[1:]),
    ),
    "fixed": TinyParquet(
        [
            Column("price", decimal(9, 2, Type.FIXED_LEN_BYTE_ARRAY, 5), [-1, 2, 3], optional=False),
            Column("flag", "boolean", [True, None, False]),
        ],
        row_group_rows=2,
        bloom_filters=("price",),
        statistics=False,
    ),
}
DATA = {name: file.build() for name, file in FILES.items()}
LEAVES = {name: [leaf for leaf in traced_file(data) if leaf.length] for name, data in DATA.items()}
TIERS: tuple[Tier, ...] = ("index", "pages")
DECODED = 10 if SUGGESTED == 1 else 360
"""One file of this number is judged by its values, too; one of ten by `make damages`."""

HOSTILE = (
    b"\0",
    b"\x01",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"\xff" * 4,
    b"\xff" * 9 + b"\x01",
    b"\xfe\xff\xff\xff\x0f",
)


def _wrong(old: bytes, chance: Random) -> bytes:
    kind = chance.randrange(6)
    if kind == 0:
        return chance.randbytes(len(old))
    if kind == 1:
        return bytes(byte ^ 1 << chance.randrange(8) if chance.random() < 0.3 else byte for byte in old)
    if kind == 2:
        return old[: chance.randrange(len(old) + 1)]
    if kind == 3:
        return old + old
    if kind == 4:
        return (chance.choice(HOSTILE) + old)[: len(old)]  # nothing behind it moves
    return chance.choice(HOSTILE)


# ------------------------------------------------------------------------------------------------- the reports


class TestDamagedStructures(Damaged):
    files = DATA
    drawn, stacked = 16_200, 500

    def read_good(self, data: bytes) -> None:
        (file,) = pqassay.check(data, tier="values").files

        assert (None, []) == (file.error, [one.rule for one in file.findings if one.verdict != "INFO"])

    def read(self, data: bytes) -> None:
        (file,) = pqassay.check(data, tier=TIERS[zlib.crc32(data) % 2]).files
        require_report(file)

    @classmethod
    def possible(cls, name: str) -> Sequence[Mutation]:
        """All that leave the structures whole: single leaves are damaged by `damaged`."""
        return [mutation for mutation in super().possible(name) if not mutation.raw]

    def damaged(self, chance: Random) -> bytes:
        """A file with one or two leaves overwritten, cut short, doubled or turned around."""
        name = chance.choice(sorted(DATA))
        data = bytearray(DATA[name])
        for _ in range(chance.randint(1, 2)):
            leaf = chance.choice(LEAVES[name])
            start, end = leaf.offset, leaf.offset + leaf.length
            data[start:end] = _wrong(bytes(data[start:end]), chance)
        return bytes(data)

    def test_values_of_damaged_files_are_judged_in_workers_and_no_mistake_comes_to_light(
        self, tmp_path: Path
    ) -> None:
        first = secrets.randbits(40)  # others each time; the seed of a file is its name
        files = {
            f"{seed}": self.damaged(Random(seed)) for seed in range(first, first + self.drawn // DECODED)
        }
        for number, (name, mutation) in enumerate(list(self.tried())[:: DECODED // SUGGESTED]):
            with contextlib.suppress(Inapplicable):
                files[f"{name} {number}"] = self.mutated(name, mutation)
        for stem, data in files.items():
            (tmp_path / f"{stem}.parquet").write_bytes(data)
        report = pqassay.check(tmp_path, tier="values", jobs=2)

        assert len(files) == len(report.files)
        assert len(files) > 1_500 * 10 // DECODED
        for file in report.files:
            try:
                require_report(file)
            except AssertionError as error:
                error.add_note(f"the file: {files[Path(file.path).stem].hex()}")
                raise


# ----------------------------------------------------------------------------------------------- hostile files


def test_a_message_stays_one_line_whatever_a_column_is_called() -> None:
    data = mutate(DATA["flat"], Mutation("set", "footer.schema[1].name", "wo\nrd"))
    (file,) = pqassay.check(data, tier="footer").files

    assert ["PQF-012"] == [finding.rule for finding in file.findings if finding.verdict != "INFO"]
    assert "leaf 0 is wo\\nrd" in file.findings[0].message


MOST = (1 << 31) - 1
"""The greatest count and size that a page header can state."""


def edited(file: TinyParquet, edit: Callable[[FileTree], None]) -> bytes:
    """The file after an edit, with what follows from it."""
    tree = take_apart(file.build())
    edit(tree)
    return put_together(tree)


def flat(**layout: Any) -> TinyParquet:
    """A column of two required integers."""
    return TinyParquet(
        [Column("a", "int32", [5, 5], optional=False)], layout=Layout(**layout), page_index=True
    )


def nothing_but_nulls() -> bytes:
    """A page of two thousand million nulls, whose levels take a few bytes."""

    def edit(tree: FileTree) -> None:
        page: Any = tree.row_groups[0].columns[0].pages[0]
        runs = repeating_run(0, MOST, width=1)
        page.header.data_page_header.num_values = MOST
        page.body = LENGTH.build(len(runs)) + runs

    return edited(TinyParquet([Column("a", "int32", [None, None])], page_index=True), edit)


def one_value_again_and_again() -> bytes:
    """A page of version 2 of two thousand million times the same value of a dictionary."""

    def edit(tree: FileTree) -> None:
        page: Any = tree.row_groups[0].columns[0].pages[1]
        page.header.data_page_header_v2.num_values = page.header.data_page_header_v2.num_rows = MOST
        page.body = b"\1" + repeating_run(0, MOST, width=1)

    return edited(flat(version=2, dictionary=Encoding.RLE_DICTIONARY), edit)


def one_long_list() -> bytes:
    """A row of a list of two thousand million values, of which there is one."""

    def edit(tree: FileTree) -> None:
        page: Any = tree.row_groups[0].columns[0].pages[0]
        page.header.data_page_header.num_values = MOST
        repetitions = repeating_run(0, 1, width=1) + repeating_run(1, MOST - 1, width=1)
        definitions = repeating_run(3, MOST, width=2)
        page.body = b"".join(LENGTH.build(len(runs)) + runs for runs in (repetitions, definitions)) + bytes(4)

    return edited(TinyParquet([Column("a", ListOf("int32"), [[1]])], page_index=True), edit)


def long_dictionary() -> bytes:
    """A dictionary page that claims to hold two thousand million entries."""

    def edit(tree: FileTree) -> None:
        page: Any = tree.row_groups[0].columns[0].pages[0]
        page.header.dictionary_page_header.num_values = MOST

    return edited(flat(dictionary=Encoding.RLE_DICTIONARY), edit)


def unpacks_to(codec: CompressionCodec, claimed: int, body: bytes = b"") -> bytes:
    """A compressed page that claims to unpack to a number of bytes."""

    def edit(tree: FileTree) -> None:
        facts: Any = tree.footer.row_groups[0].columns[0].meta_data
        page = tree.row_groups[0].columns[0].pages[0]
        facts.codec = codec
        page.header.uncompressed_page_size = claimed
        page.body = body or page.body

    return edited(flat(), edit)


def zeros(size: int) -> bytes:
    """So many zeros as gzip packs them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


def deep() -> bytes:
    """A list in a list, two hundred times."""
    kind: AnyType = "int32"
    for _ in range(200):
        kind = ListOf(kind)
    return TinyParquet([Column("a", kind, [None])], page_index=True).build()


HOSTILE_FILES: dict[str, Callable[[], bytes]] = {
    "nothing but nulls": nothing_but_nulls,
    "one value again and again": one_value_again_and_again,
    "one long list": one_long_list,
    "a long dictionary": long_dictionary,
    "lists in lists": deep,
    **{
        f"2 GB of {codec.name}": functools.partial(unpacks_to, codec, MOST)
        for codec in CompressionCodec
        if codec is not CompressionCodec.UNCOMPRESSED
    },
    "more than it says": lambda: unpacks_to(CompressionCodec.GZIP, 8, zeros(128 << 20)),
    "less than nothing": lambda: unpacks_to(CompressionCodec.SNAPPY, -1),
    "a large filter": lambda: mutate(
        DATA["flat"], Mutation("set", "row_groups[0].columns[0].bloom_filter.header.numBytes", MOST)
    ),
    "a page before the file": lambda: mutate(
        DATA["flat"],
        Mutation("set", "row_groups[0].columns[0].offset_index.page_locations[0].offset", -(1 << 63)),
    ),
}


@each("name", HOSTILE_FILES)
def test_what_a_file_only_claims_asks_for_no_memory(name: str) -> None:
    data = HOSTILE_FILES[name]()
    with bounded_memory(len(data)):
        for tier in TIERS:
            (file,) = pqassay.check(data, tier=tier, crc=tier == "pages").files
            require_report(file)


def test_what_a_file_only_claims_costs_the_decoder_one_file(tmp_path: Path) -> None:
    for name, made in HOSTILE_FILES.items():
        (tmp_path / f"{name}.parquet").write_bytes(made())
    (tmp_path / "zzz.parquet").write_bytes(DATA["flat"])
    report = pqassay.check(tmp_path, tier="values", jobs=2, memory=1 << 30, timeout=60)

    for file in report.files:
        require_report(file)
    assert ["conformant"] == [file.outcome for file in report.files if file.path.endswith("zzz.parquet")]
