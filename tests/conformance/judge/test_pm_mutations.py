"""Damaged ``_pm`` files raise nothing but `FormatError`, and do not make anything hang or swell."""

from __future__ import annotations

import contextlib
import copy
import pickle
import zlib
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import pqassay
from damage import Damaged, bounded_memory, require_report, scattered
from each import each
from pqassay.dump import JsonLines, Tree, dump
from pqassay_golden.pm.recipes import PmFile
from pqassay_golden.pm.values import (
    AFTERNOON,
    BY_TS,
    MORNING,
    ORDER,
    PLAIN,
    TS,
    appended,
    bitset,
    row_group,
    snapshot,
)
from pqassay_reader.lint.pm import lint
from pqassay_reference.errors import Refused
from pqassay_reference.pm.parts import Extensions
from pqassay_reference.pm.query import migrate, plan, prune
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.mutations import FORMS, Mutation, mutate
from pqassay_spec.mutation.pm_dissection import take_apart
from pqassay_spec.mutation.pm_layout import put_together
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import PhysicalType
from pqassay_spec.pm.reading import read_value
from pqassay_spec.pm.value import (
    ExternalBloom,
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)

pytestmark = pytest.mark.slow

# -------------------------------------------------------------------------------------------------- good files

TWO = (TS, ORDER)
FIRST = row_group(TWO, [(row[0], row[3]) for row in MORNING])
LAST = row_group(TWO, [(row[0], row[3]) for row in AFTERNOON])


def filtered(group: SnapshotRowGroup, bloom: bytes | ExternalBloom) -> SnapshotRowGroup:
    """The row group with a bloom filter of its second column."""
    first, second = group.chunks
    return SnapshotRowGroup(group.num_rows, (first, replace(second, bloom=bloom)))


def updated(bloom: bytes | ExternalBloom, **more: Any) -> PmFile:
    """Two snapshots with a bloom filter each, and dead bytes between and behind them."""
    before = snapshot(TWO, [filtered(FIRST, bloom)], designated_timestamp=0, bloom_columns=(1,), **more)
    values = (before, appended(before, filtered(LAST, bloom)))
    return PmFile(values, dead=b"\x07" * 13, tail=b"\x07\x07\x07")


EXTENSIONS = Extensions(scratchpad=((1, b"note"), (2, b"")), covering_index=((3, 12, 4096),))
FILES = {
    "inlined": updated(bitset(ORDER, []), sorting=BY_TS).build(),
    "external": updated(
        ExternalBloom(4, 32), bloom_external=True, sorting=(*BY_TS, SnapshotSorting(1, True))
    ).build(),
    "extended": PmFile((snapshot(TWO, [FIRST], squash_tracker=5, seq_txn=7),), extensions=EXTENSIONS).build(),
    "four columns": PmFile((PLAIN,), written_out=True).build(),
    "empty": PmFile((SnapshotValue((), (), 0, 0),)).build(),
}
TREES = {name: pickle.dumps(take_apart(data)) for name, data in FILES.items()}
# ------------------------------------------------------------------------------------------------ every reader


def walked(data: bytes) -> None:
    """The specification's own reading, of every snapshot."""
    source = BytesSource(data)
    size = pm_header.read_committed_size(source)
    header = pm_header.read_header(source, size)
    found: list[pm_file.Snapshot] = []
    try:
        found += pm_file.walk(source, header, size)
    finally:
        assert len(found) <= len(data) // (pm.LEAST_FOOTER + pm.TRAILER_SIZE)
    pm_file.checksums(source, found)
    for one in found[:3]:
        read_value(source, header, one)


def asked(data: bytes) -> None:
    """The reference's reader, and what it can be asked."""
    reader = PmReader.from_bytes(data)
    names = [column.name for column in reader.columns]
    if names:
        prune(reader, ["or", ["is null", names[-1]], ["<=", names[0], 0]])
    plan(reader, names[:2])
    reader.value()
    reader.verify(whole_chain=True)


def linted(data: bytes) -> None:
    lint(BytesSource(data))


READERS: list[Callable[[bytes], object]] = [walked, asked]
SLOW_READERS: list[Callable[[bytes], object]] = [take_apart, linted, migrate]


class TestDamagedPm(Damaged):
    form = "pm"
    files = FILES
    drawn, stacked = 12_700, 500

    def read_good(self, data: bytes) -> None:
        report = pqassay.check(data, kind="pm", tier="index")

        assert [] == [finding.rule for finding in report.files[0].findings if finding.verdict != "INFO"]
        for read in (*READERS, *SLOW_READERS):
            if read is not migrate or data != FILES["extended"]:
                read(data)

    def read(self, data: bytes) -> None:
        """The reference refuses what it has no answer for.

        The judge reads every file, specification and reference take turns; what reads the whole file field by field is slow, and
        gets every eighth.
        """
        report = pqassay.check(data, kind="pm", tier="index")
        require_report(report.files[0])
        assert report.files[0].outcome != "errored"
        number = zlib.crc32(data)
        chosen = number % 8 == 0
        for read in (*READERS, *SLOW_READERS) if chosen else READERS[number % len(READERS) :][:1]:
            with contextlib.suppress(FormatError, Refused):
                read(data)
        if chosen:
            report.to_json(indent=None)
            for writer in (Tree, JsonLines):
                dump(BytesSource(data), writer(lambda line: line.encode()), "pm")

    @classmethod
    def mutated(cls, name: str, mutation: Mutation) -> bytes:
        """What `mutate` makes of a file, without taking it apart again for each mutation."""
        if mutation.raw:
            return mutate(FILES[name], mutation, "pm")
        tree = pickle.loads(TREES[name])
        FORMS["pm"].operators[mutation.op](tree, mutation.path, mutation.to)
        return FORMS["pm"].put_together(tree, mutation.named)

    def damaged(self, chance: Random) -> bytes:
        data = scattered(FILES[chance.choice(sorted(FILES))], chance, chance.randint(1, 3))
        # Without this, most would end at the committed size.
        size = len(data).to_bytes(pm.CRC_START, "little")
        return size + data[pm.CRC_START :] if chance.random() < 0.5 else data

    def test_a_tree_that_is_used_again_gives_what_a_mutation_gives(self) -> None:
        for name, data in FILES.items():
            some = [mutation for mutation in self.possible(name) if not mutation.raw][::40]

            assert [mutate(data, mutation, "pm") for mutation in some] == [
                self.mutated(name, mutation) for mutation in some
            ]


# ----------------------------------------------------------------------------------------------- hostile files


def counting(path: str, number: int) -> bytes:
    return mutate(FILES["inlined"], Mutation("set", path, number), "pm")


def crowded(columns: int, row_groups: int) -> bytes:
    """A block of many columns to which very many row groups refer."""
    names = tuple(SnapshotColumn(f"c{number}", PhysicalType.INT64) for number in range(columns))
    one = SnapshotRowGroup(1, (SnapshotChunk(0, 1, 1, 4, 8),) * columns)
    tree = take_apart(PmFile((SnapshotValue(names, (one,), 1 << 20, 8),)).build())
    tree.snapshots[0].row_group_entries *= row_groups
    return put_together(tree)


def chained(snapshots: int) -> bytes:
    """A chain of very many snapshots without row groups."""
    tree = take_apart(FILES["empty"])
    tree.snapshots = [copy.deepcopy(tree.snapshots[0]) for _ in range(snapshots)]
    derived = ("footer.prev_parquet_meta_file_size", "checksum", "footer_length")
    tree.live |= {f"snapshots[{number}].{name}" for number in range(snapshots) for name in derived}
    return put_together(tree)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "columns": lambda: counting("header.column_count", 0xFFFFFFFF),
    "sorting columns": lambda: counting("header.sorting_column_count", 0xFFFFFFFF),
    "a name": lambda: counting("column_descriptors[1].name_length", 0xFFFFFFFF),
    "bloom columns": lambda: counting("header_sections.bloom_filters.bloom_col_count", 0xFFFFFFFF),
    "row groups": lambda: counting("snapshots[0].footer.row_group_count", 0xFFFFFFFF),
    "a footer": lambda: counting("snapshots[0].footer_length", 0xFFFFFFFF),
    "a bitset": lambda: counting("blocks[0].bloom_filters[0].length", 0x7FFFFFFF),
    "rows": lambda: counting("blocks[0].num_rows", 0xFFFFFFFFFFFFFFFF),
    "one block for all": lambda: crowded(300, 1_000),
    "a long chain": lambda: chained(150),
}


@each("name", HOSTILE)
def test_what_a_file_only_claims_asks_for_no_memory(name: str) -> None:
    data = HOSTILE[name]()
    with bounded_memory(len(data)):
        pqassay.check(data, kind="pm", tier="index")
        for read in (walked, asked, linted):
            with contextlib.suppress(FormatError, Refused):
                read(data)
        dump(BytesSource(data), Tree(lambda line: line.encode()), "pm")
