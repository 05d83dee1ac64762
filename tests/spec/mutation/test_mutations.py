"""Mutations: one thing changes, what follows from the layout follows, nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from damage import EXAMPLES
from each import each
from idx1_files import parquet, table
from pqassay_golden.idx1 import COMPANION, PAGED, PLAIN
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.field_paths import get
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import derived, put_together
from pqassay_spec.mutation.file_operators import traced_file
from pqassay_spec.mutation.mutations import Inapplicable, Mutation, mutate
from pqassay_spec.mutation.possible import mutations_of
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData

GOOD = PAGED.build()


def footer(data: bytes) -> FileMetaData:
    source = BytesSource(data)
    return read_footer(source, read_framing(source))[0]


def value_of(data: bytes, key: str) -> str | None:
    return next(pair.value for pair in footer(data).key_value_metadata or [] if pair.key == key)


@each(
    "data",
    [
        *(file.build() for file in (PLAIN, COMPANION, PAGED)),
        *(parquet(table(), **options) for options in ({}, {"write_page_index": False}, {"use_dictionary": False}, {"compression": "zstd"}, {"data_page_version": "2.0"}, {"row_group_size": 2})),
    ],
)  # fmt: skip
def test_a_file_taken_apart_and_put_together_is_the_same(data: bytes) -> None:
    tree = take_apart(data)

    assert data == put_together(tree)
    assert 2 == len(tree.row_groups[0].columns)
    assert tree.row_groups[0].columns[0].pages


def test_everything_that_is_derived_is_right_in_a_file_of_the_tiny_writer() -> None:
    tree = take_apart(GOOD)
    every = {path for path, _ in derived(tree)}

    assert tree.live == every
    assert len(every) > 50


def test_what_was_not_right_before_is_left_alone() -> None:
    data = mutate(PLAIN.build(), Mutation("set", "footer.row_groups[0].file_offset", 0))
    longer = mutate(data, Mutation("set", "idx1.payload", b"Peru"))

    assert [0, 0] == [footer(file).row_groups[0].file_offset for file in (data, longer)]


def test_a_longer_payload_takes_its_length_and_checksum_along() -> None:
    data = mutate(COMPANION.build(), Mutation("set", "idx1.payload", b"a much longer payload than before\nx"))
    offset = idx1.parse_offset(value_of(data, idx1.KEY) or "")
    source = BytesSource(data)
    blob = idx1.read_blob(source, offset, read_framing(source).footer_start)
    record = idx1_companion.parse_companion(value_of(data, idx1.COMPANION_KEY) or "")

    assert b"a much longer payload than before\nx" == blob.payload
    raw = source.read(blob.start, blob.end - blob.start)
    assert [] == list(idx1_companion.companion_disagreements(record, blob, raw))


def test_a_longer_page_moves_everything_behind_it() -> None:
    before = take_apart(GOOD)
    body = before.row_groups[0].columns[0].pages[0].body
    data = mutate(GOOD, Mutation("set", "row_groups[0].columns[0].pages[0].body", body + b"12345"))
    old, new = footer(GOOD).row_groups, footer(data).row_groups

    assert len(data) == len(GOOD) + 5
    for name in ("column_index_offset", "offset_index_offset"):
        assert [getattr(group.columns[1], name) + 5 for group in old] == [
            getattr(group.columns[1], name) for group in new
        ]
    tree = take_apart(data)
    assert tree.live == {path for path, _ in derived(tree)}


def test_the_named_path_keeps_its_value() -> None:
    data = mutate(PLAIN.build(), Mutation("set", "idx1.length", 7))

    tree = BytesSource(data)
    offset = idx1.parse_offset(value_of(data, idx1.KEY) or "")
    assert 7 == idx1.length_field(tree, offset)
    assert len(PLAIN.build()) == len(data)


def test_a_displaced_page_index_is_recorded_too_early_by_the_blob() -> None:
    from pqassay_golden.idx1 import BLOB_BEFORE_PAGE_INDEX

    good = BLOB_BEFORE_PAGE_INDEX.build()
    data = mutate(good, Mutation("displace", "idx1"))
    start = idx1.parse_offset(value_of(good, idx1.KEY) or "")
    blob = idx1.HEADER_SIZE + (idx1.length_field(BytesSource(good), start) or 0)

    before = [chunk.column_index_offset for chunk in footer(good).row_groups[0].columns]
    after = [chunk.column_index_offset for chunk in footer(data).row_groups[0].columns]
    assert [offset - blob for offset in before if offset] == after
    assert good[:start] == data[:start]
    assert value_of(good, idx1.KEY) == value_of(data, idx1.KEY)


def test_raw_changes_bytes_in_place() -> None:
    data = PLAIN.build()
    changed = mutate(data, Mutation("set", "idx1.length", b"\xff" * 8, raw=True))
    offset = idx1.parse_offset(value_of(data, idx1.KEY) or "")

    assert data[: offset + 4] + b"\xff" * 8 + data[offset + 12 :] == changed
    assert data[:17] == mutate(data, Mutation("truncate", "", 17, raw=True))


def test_a_required_field_can_be_left_out() -> None:
    data = mutate(PLAIN.build(), Mutation("remove", "footer.schema"))

    with pytest.raises(FormatError, match="lacks its required field 2, schema"):
        footer(data)


@each(
    "mutation",
    [
        Mutation("set", "footer.nothing", 1),
        Mutation("set", "footer.row_groups[9].num_rows", 1),
        Mutation("set", "footer.num_rows", 1 << 70),
        Mutation("set", "footer.num_rows", "text"),
        Mutation("set", "tail.footer_length", 1 << 40),
        Mutation("set", "idx1.nothing", 1),
        Mutation("duplicate", "footer.num_rows"),
        Mutation("insert", "idx1", {"payload": b""}),
        Mutation("displace", "idx2"),
        Mutation("explode", "footer"),
        Mutation("set", "no leaf", b"", raw=True),
        Mutation("set", "idx1.length", 5, raw=True),
        Mutation("add", "footer.num_rows", 1, raw=True),
        Mutation("truncate", "", 1 << 20, raw=True),
        Mutation("remove", "head.magic"),
        Mutation("set", "footer[", 1),
    ],
)
def test_a_mutation_that_makes_no_sense_is_refused(mutation: Mutation) -> None:
    with pytest.raises(Inapplicable):
        mutate(PLAIN.build(), mutation)


def test_what_is_not_canonical_stays_so_until_it_is_changed() -> None:
    data = PLAIN.build()
    # The same field header in its long form: the id is in a byte of its own.
    place = read_framing(BytesSource(data)).footer_start
    long_form = data[:place] + b"\x05\x02" + data[place + 1 : -8]
    length = len(long_form) - place
    foreign = long_form + length.to_bytes(4, "little") + b"PAR1"

    assert footer(foreign) == footer(data)
    assert foreign[:-8] == mutate(foreign, Mutation("set", "tail.magic", b"PAR2"))[:-8]
    assert foreign[:place] + b"\x15\x04" == mutate(foreign, Mutation("set", "footer.version", 2))[: place + 2]


def test_a_mutation_survives_json() -> None:
    import json

    for mutation in mutations_of(GOOD):
        assert mutation == Mutation.from_json(json.loads(json.dumps(mutation.to_json())))


def test_mutations_reach_every_field_that_the_file_has() -> None:
    reached = {mutation.path for mutation in mutations_of(GOOD)}
    tree = take_apart(GOOD)

    for path in (
        "head.magic",
        "tail.footer_length",
        "idx1.magic",
        "idx1.length",
        "idx1.payload",
        "companion.crc32",
        "footer.schema[1].logicalType.STRING",
        "footer.row_groups[1].columns[1].meta_data.statistics.max_value",
        "row_groups[0].columns[0].pages[1].header.data_page_header.num_values",
        "row_groups[1].columns[1].column_index.boundary_order",
        "row_groups[1].columns[0].offset_index.page_locations[0].first_row_index",
        "row_groups[0].columns[1].bloom_filter.bitset",
    ):
        assert path in reached
        get(tree, path)


def test_every_operator_occurs_among_the_possible_mutations() -> None:
    used = {(mutation.op, mutation.raw) for mutation in mutations_of(GOOD)}

    assert {
        ("set", False),
        ("remove", False),
        ("duplicate", False),
        ("swap", False),
        ("displace", False),
        ("set", True),
        ("truncate", True),
    } == used


def test_only_a_swap_of_equals_changes_nothing() -> None:
    small = TinyParquet([Column("a", "string", ["x", None])]).build()
    possible = list(mutations_of(small))[::EXAMPLES]
    same = [mutation for mutation in possible if _applied(small, mutation) == small]

    assert [] == [mutation for mutation in same if mutation.op != "swap"]


def _applied(data: bytes, mutation: Mutation) -> bytes | None:
    try:
        return mutate(data, mutation)
    except Inapplicable:
        return None


def test_what_is_swapped_changes_places_and_nothing_of_it_is_lost() -> None:
    good = [chunk.meta_data.data_page_offset for group in footer(GOOD).row_groups for chunk in group.columns if chunk.meta_data]  # fmt: skip
    groups = footer(mutate(GOOD, Mutation("swap", "footer.row_groups[0]", "footer.row_groups[1]")))
    columns = footer(mutate(GOOD, Mutation("swap", "footer.row_groups[0].columns[0]", "footer.row_groups[0].columns[1]")))  # fmt: skip

    def offsets(metadata: FileMetaData) -> list[int]:
        return [chunk.meta_data.data_page_offset for group in metadata.row_groups for chunk in group.columns if chunk.meta_data]  # fmt: skip

    assert [*good[2:], *good[:2]] == offsets(groups)
    assert [good[1], good[0], *good[2:]] == offsets(columns)


def test_a_lie_about_one_size_does_not_spread() -> None:
    path = "footer.row_groups[0].columns[0].meta_data.total_compressed_size"
    group = footer(mutate(GOOD, Mutation("set", path, 1 << 40))).row_groups[0]

    assert footer(GOOD).row_groups[0].total_compressed_size == group.total_compressed_size


def test_a_length_inside_the_footer_is_set_and_the_footer_length_follows() -> None:
    data = mutate(PLAIN.build(), Mutation("set", "footer.schema:count", bytes.fromhex("fc ff ff ff ff 07")))
    source = BytesSource(data)

    assert len(PLAIN.build()) + 5 == len(data)
    assert read_framing(BytesSource(PLAIN.build())).footer_start == read_framing(source).footer_start
    with pytest.raises(FormatError, match="2147483647 elements"):
        footer(data)


STRUCTURES = TinyParquet(
    [
        Column("name", "string", ["a", None, "b"], layout=Layout(page_statistics=True, size_statistics=True)),
        Column(
            "tags",
            ListOf("string"),
            [["x"], [], ["y", None]],
            layout=Layout(
                version=2, dictionary=Encoding.RLE_DICTIONARY, histograms=True, unencoded_bytes=True
            ),
        ),
    ],
    page_rows=2,
    page_index=True,
    bloom_filters=("name", "tags.list.element"),
).build()


def test_every_byte_of_a_file_belongs_to_one_leaf_of_its_trace() -> None:
    leaves = traced_file(STRUCTURES)
    ends = [0, *(leaf.offset + leaf.length for leaf in leaves)]

    assert ends == [*(leaf.offset for leaf in leaves), len(STRUCTURES)]
    assert len(leaves) == len({leaf.path for leaf in leaves})


@each(
    "path",
    [
        "row_groups[0].columns[0].pages[1].header.data_page_header.statistics.max_value",
        "row_groups[0].columns[1].pages[0].header.dictionary_page_header.num_values",
        "row_groups[0].columns[1].pages[1].header.data_page_header_v2.num_rows",
        "row_groups[0].columns[1].pages[2].body",
        "row_groups[0].columns[0].column_index.null_counts:count",
        "row_groups[0].columns[1].column_index.definition_level_histograms[3]",
        "row_groups[0].columns[1].offset_index.unencoded_byte_array_data_bytes[1]",
        "row_groups[0].columns[1].offset_index.page_locations[1].first_row_index",
        "row_groups[0].columns[0].bloom_filter.header.numBytes",
        "row_groups[0].columns[1].bloom_filter.bitset",
        "footer.row_groups[0].columns[0].meta_data.size_statistics.definition_level_histogram[1]",
    ],
)
def test_the_bytes_of_every_structure_are_replaced_where_they_stand(path: str) -> None:
    (leaf,) = (leaf for leaf in traced_file(STRUCTURES) if leaf.path == path)
    start, end = leaf.offset, leaf.offset + leaf.length

    assert STRUCTURES[:start] + b"\xff" * leaf.length + STRUCTURES[end:] == mutate(
        STRUCTURES, Mutation("set", path, b"\xff" * leaf.length, raw=True)
    )


@pytest.mark.parametrize(
    ("mutation", "followed"),
    [
        (
            Mutation("add", "row_groups[0].columns[1].pages[1].body", b"xyz"),
            {"pages[1].header.compressed_page_size", "pages[1].header.crc", "page_locations[1].offset"},
        ),
        (
            Mutation("set", "row_groups[0].columns[0].pages[0].header.data_page_header.statistics", None),
            {"page_locations[0].compressed_page_size", "page_locations[1].offset", "bloom_filter_offset"},
        ),
        (
            Mutation("remove", "row_groups[0].columns[0].column_index.null_counts"),
            {"column_index_length", "columns[1].column_index_offset", "columns[0].offset_index_offset"},
        ),
        (
            Mutation("set", "row_groups[0].columns[1].pages[2].header.data_page_header_v2.num_values", 5),
            {"columns[1].meta_data.num_values"},
        ),
        (
            Mutation("add", "row_groups[0].columns[0].bloom_filter.bitset", bytes(32)),
            {
                "bloom_filter.header.numBytes",
                "bloom_filter_length",
                "columns[1].meta_data.bloom_filter_offset",
            },
        ),
        (
            Mutation("remove", "row_groups[0].columns[1].pages[0]"),
            {"columns[1].meta_data.data_page_offset", "columns[1].meta_data.total_compressed_size"},
        ),
    ],
    ids=["page body", "page header", "column index", "values", "bitset", "dictionary"],
)
def test_what_follows_from_a_change_is_recomputed(mutation: Mutation, followed: set[str]) -> None:
    tree = take_apart(mutate(STRUCTURES, mutation))
    before, wrong = take_apart(STRUCTURES), {path for path, value in derived(tree) if get(tree, path) != value}  # fmt: skip
    changed = {path for path, value in derived(tree) if _value(before, path) != value}

    assert wrong <= {mutation.path, "footer.row_groups[0].columns[1].meta_data.dictionary_page_offset"}
    assert set() == {end for end in followed if not any(path.endswith(end) for path in changed)}


def _value(tree: Any, path: str) -> Any:
    try:
        return get(tree, path)
    except KeyError:
        return None
