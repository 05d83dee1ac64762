"""Mutations of ``_pm``: one thing changes, what follows from the layout follows, nothing else."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest

from damage import EXAMPLES
from each import each
from pqassay_golden.pm.recipes import PmFile
from pqassay_golden.pm.values import CHAIN, PLAIN
from pqassay_golden.pm.whole import EXTERNAL, FILTERED, GOOD, LENGTHWISE
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.field_paths import get
from pqassay_spec.mutation.mutations import Inapplicable, Mutation, mutate, mutate_files
from pqassay_spec.mutation.pm_dissection import take_apart
from pqassay_spec.mutation.pm_layout import derived, put_together
from pqassay_spec.mutation.possible import mutations_of
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.trace import traced

FILES = {case.id: case.file.build() for case in GOOD if case.id != "pm/longest-statistic"}
TRADES = PmFile((PLAIN,)).build()
FILTERS = PmFile((FILTERED,)).build()
THREE = PmFile(CHAIN).build()


def opened(data: bytes) -> tuple[pm_header.Header, list[pm_file.Snapshot]]:
    source = BytesSource(data)
    size = pm_header.read_committed_size(source)
    header = pm_header.read_header(source, size)
    return header, list(pm_file.walk(source, header, size))


def wrong_checksums(data: bytes) -> list[int]:
    _, snapshots = opened(data)
    computed = pm_file.checksums(BytesSource(data), snapshots)
    return [one.number for one, crc in zip(snapshots, computed, strict=True) if one.checksum != crc]


@each("name", FILES)
def test_a_file_is_taken_apart_into_the_fields_of_its_trace_and_put_together_again(name: str) -> None:
    """What is derived is right in a file of the reference."""
    data = FILES[name]
    tree = take_apart(data)
    leaves = traced(data)
    raw = {leaf.path: data[leaf.offset : leaf.offset + leaf.length] for leaf in leaves}

    assert [] == [leaf for leaf in leaves if get(tree, leaf.path) not in (leaf.value, raw[leaf.path])]
    assert tree.live == {path for path, _ in derived(tree)}
    assert data == put_together(tree)


def test_what_belongs_to_nobody_stays_where_it_is() -> None:
    data = FILES["pm/dead-bytes"] + b"tail"
    tree = take_apart(data)

    assert ([b"\x07" * 101], b"tail") == (tree.gaps, tree.orphan_tail)
    longer = mutate(data, Mutation("set", "gaps[0]", b"\x07" * 102), "pm")
    assert len(data) == len(longer)  # the padding behind it becomes shorter
    assert [] == wrong_checksums(longer)


def test_a_longer_name_moves_everything_behind_it() -> None:
    data = mutate(THREE, Mutation("set", "names[1]", b"a price with a long name"), "pm")
    before, after = opened(THREE), opened(data)
    grown = len(b"a price with a long name") - len(b"price")

    assert [one.name_offset + grown * (number > 1) for number, one in enumerate(before[0].descriptors)] == [
        one.name_offset for one in after[0].descriptors
    ]
    assert [len(one.blocks) for one in before[1]] == [len(one.blocks) for one in after[1]]
    assert all(offset % 8 == 0 for one in after[1] for offset in one.blocks)
    assert [] == wrong_checksums(data)
    tree = take_apart(data)
    assert tree.live == {path for path, _ in derived(tree)}


def test_a_longer_statistic_takes_its_reference_and_those_behind_it_along() -> None:
    data = mutate(PmFile((LENGTHWISE,)).build(), Mutation("set", "blocks[0].min_stats[2]", b"a" * 20), "pm")
    source = BytesSource(data)
    header, (snapshot,) = opened(data)
    block = pm_block.read_block(source, header, snapshot.blocks[0], snapshot.start)
    read = [
        pm_block.read_statistic(source, block, column, side, snapshot.start)
        for column in (2, 3)
        for side in (pm_block.MIN, pm_block.MAX)
    ]

    assert [b"a" * 20, b"b" * 9, b"a" * 16, b"b" * 16] == read


def test_a_longer_bitset_takes_its_length_and_the_entries_along() -> None:
    data = mutate(FILTERS, Mutation("set", "blocks[0].bloom_filters[0].bitset", bytes(96)), "pm")
    header, (snapshot,) = opened(data)
    entries = pm_file.read_bloom_entries(BytesSource(data), header, snapshot)
    sizes = [
        len(pm_block.read_inlined_bloom(BytesSource(data), entry.offset, snapshot.start))
        if entry.offset
        else 0
        for entry in entries
    ]

    assert [96, 64, 0, 32, 32, 0] == sizes
    assert [] == wrong_checksums(data)


def test_the_named_path_keeps_its_value_and_the_checksum_goes_along() -> None:
    data = mutate(TRADES, Mutation("set", "snapshots[0].footer.row_group_count", 1), "pm")
    _, (snapshot,) = opened(data)

    assert 1 == snapshot.fields.row_group_count
    assert [] == wrong_checksums(data)


def test_a_wrong_checksum_in_the_chain_is_covered_by_the_right_ones_behind_it() -> None:
    data = mutate(THREE, Mutation("add", "snapshots[1].checksum", 1), "pm")

    assert [1] == wrong_checksums(data)


def test_a_removed_snapshot_is_left_out_of_the_chain() -> None:
    data = mutate(THREE, Mutation("remove", "snapshots[1]"), "pm")
    sizes = [one.fields.parquet_file_size for one in opened(data)[1]]

    assert [sizes[0], sizes[-1]] == sizes
    assert [] == wrong_checksums(data)


def test_entries_go_on_referring_to_their_blocks_when_they_change_places() -> None:
    first, second = (f"snapshots[0].row_group_entries[{number}]" for number in (0, 1))
    data = mutate(TRADES, Mutation("swap", first, second), "pm")

    assert list(reversed(opened(TRADES)[1][0].blocks)) == list(opened(data)[1][0].blocks)


@pytest.mark.parametrize(
    ("path", "to", "flags"),
    [
        ("header_sections.squash_tracker", {"squash_tracker": 5}, (0b1100, 0)),
        ("snapshots[0].seq_txn", {"seq_txn": 5}, (0b100, 1)),
        ("snapshots[0].scratchpad", {"entry_count": 1, "entries": [{"code": 1, "length": 3, "data": b"abc"}]}, (0b100, 2)),
        ("snapshots[0].covering_index", {"index_count": 1, "indexes": [{"column_id": 0, "index_txn": 1, "im_file_size": 1}]}, (0b100, 4 | 1 << 32)),
    ],
)  # fmt: skip
def test_a_section_comes_with_its_flag_and_goes_with_it(
    path: str, to: dict[str, Any], flags: tuple[int, int]
) -> None:
    data = mutate(TRADES, Mutation("set", path, to), "pm")
    header, (snapshot,) = opened(data)

    assert flags == (header.fixed.feature_flags, snapshot.fields.footer_feature_flags)
    assert TRADES == mutate(data, Mutation("remove", path), "pm")


def test_an_external_entry_is_set_whole() -> None:
    entry = {"offset": 0, "length": 0}
    data = mutate(PmFile((EXTERNAL,)).build(), Mutation("set", "snapshots[0].bloom_entries[0]", entry), "pm")
    header, (snapshot,) = opened(data)

    assert pm.NO_BLOOM == pm_file.read_bloom_entries(BytesSource(data), header, snapshot)[0]


def test_what_was_wrong_before_is_left_alone() -> None:
    data = mutate(TRADES, Mutation("add", "snapshots[0].checksum", 1), "pm")
    longer = mutate(data, Mutation("set", "names[0]", b"timestamp"), "pm")

    assert [[0], [0]] == [wrong_checksums(file) for file in (data, longer)]


def test_raw_changes_bytes_in_place() -> None:
    changed = mutate(TRADES, Mutation("set", "header.reserved", b"\1\2\3\4", raw=True), "pm")

    assert TRADES[:28] + b"\1\2\3\4" + TRADES[32:] == changed
    assert TRADES[:17] == mutate(TRADES, Mutation("truncate", "", 17, raw=True), "pm")
    assert zlib.crc32(TRADES[8:-8]) != zlib.crc32(changed[8:-8])


@each(
    "mutation",
    [
        Mutation("set", "header.nothing", 1),
        Mutation("set", "header.reserved", 1 << 32),
        Mutation("set", "header.reserved", "text"),
        Mutation("set", "blocks[7].num_rows", 1),
        Mutation("set", "names[0]", 5),
        Mutation("displace", "blocks[0]"),
        Mutation("remove", "header.reserved"),
        Mutation("duplicate", "header.reserved"),
        Mutation("insert", "header.reserved", 1),
        Mutation("insert", "sorting_columns[0]", {"column": 1}),
        Mutation("set", "no leaf", b"", raw=True),
        Mutation("truncate", "", 1 << 20, raw=True),
    ],
)
def test_a_mutation_that_makes_no_sense_is_refused(mutation: Mutation) -> None:
    with pytest.raises(Inapplicable):
        mutate(TRADES, mutation, "pm")


def test_a_file_that_cannot_be_opened_is_no_file_to_take_apart() -> None:
    with pytest.raises(FormatError, match="bytes are said to be committed"):
        mutate(TRADES[:-1], Mutation("set", "header.reserved", 1), "pm")


def test_a_mutation_of_a_pair_changes_the_file_that_its_path_names() -> None:
    files = {pm.FILE_NAME: TRADES, pm.DATA_NAME: b"rows"}
    reserved = mutate_files(files, pm.FILE_NAME, Mutation("set", "header.reserved", 1))
    shorter = mutate_files(files, pm.FILE_NAME, Mutation("truncate", "data.", 1, raw=True))

    assert {**files, pm.FILE_NAME: mutate(TRADES, Mutation("set", "header.reserved", 1), "pm")} == reserved
    assert {**files, pm.DATA_NAME: b"r"} == shorter
    with pytest.raises(Inapplicable, match=r"no data\.parquet"):
        mutate_files({pm.FILE_NAME: TRADES}, pm.FILE_NAME, Mutation("truncate", "data.", 1, raw=True))


@pytest.mark.parametrize("name", ["pm/bloom-filters", "pm/three-snapshots", "pm/sorted-by-three"])
def test_possible_mutations_reach_every_field_and_every_bit_of_flags(name: str) -> None:
    data = FILES[name]
    found = list(mutations_of(data, "pm"))
    reached = {mutation.path for mutation in found}
    flags = [one.to for one in found if one.path == "blocks[0].column_chunks[0].stat_flags"]
    stat_flags = take_apart(data).blocks[0].column_chunks[0]["stat_flags"]

    assert [] == [leaf.path for leaf in traced(data) if leaf.path not in reached]
    assert {stat_flags ^ 1 << bit for bit in range(8)} <= set(flags)
    assert {"set", "remove", "duplicate", "swap", "truncate"} == {mutation.op for mutation in found}


@pytest.mark.parametrize("name", ["pm/list", "pm/statistics-inline-and-out-of-line"])
def test_every_possible_mutation_can_be_applied_survives_json_and_changes_something(name: str) -> None:
    data = FILES[name]
    unchanged: list[Mutation] = []
    for mutation in list(mutations_of(data, "pm"))[::EXAMPLES]:
        assert mutation == Mutation.from_json(json.loads(json.dumps(mutation.to_json())))
        if mutate(data, mutation, "pm") == data:
            unchanged.append(mutation)

    # With raw, bytes are set that may be what they were; what is swapped may be alike.
    assert [] == [mutation for mutation in unchanged if not mutation.raw and mutation.op != "swap"]
