"""The trace of a whole ``_pm`` file: every byte once, and the same as the grammar's own trace says."""

from __future__ import annotations

import random
import struct

import pytest

from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.flat_records import FlatStruct
from pqassay_spec.grammar.trace import trace
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import trace as pm_trace
from pqassay_spec.pm.trace import trace_pm, traced

EMPTY = bytes.fromhex(
    "7100000000000000 0000000000000000 ffffffff 00000000 01000000 00000000"
    "4000000000000000 00000000 05000000 00000000 00000000 01000000 00000000"
    "78" + "00" * 40 + "028ff12c 2c000000"
)
"""A file with one column and no row groups, typed by hand."""


def with_a_block() -> bytes:
    """The same with one row group whose chunk has a statistic out of line."""
    chunk = pm.ColumnChunk(0, 1, 0b1000_1001, 0, 0, 3, 4, 50, 1, 0, 0 << 16 | 9, 9 << 16 | 10).build()
    block = struct.pack("<Q", 3) + chunk + b"least val" + b"greatest v"
    head = bytearray(EMPTY[:65]) + bytes(7)
    footer = pm.FooterFields(100, 20, 1, 0, 0, 0).build() + struct.pack("<II", 9, 0)
    data = head + block + footer + struct.pack("<I", len(footer))
    struct.pack_into("<Q", data, 0, len(data))
    return bytes(data)


def test_the_empty_file_is_traced_byte_for_byte() -> None:
    leaves = traced(EMPTY)

    assert list(range(len(EMPTY))) == [
        place for leaf in leaves for place in range(leaf.offset, leaf.offset + leaf.length)
    ]
    values = {leaf.path: leaf.value for leaf in leaves}
    assert (113, 1, 64, "x") == (
        values["header.parquet_meta_file_size"],
        values["header.column_count"],
        values["column_descriptors[0].name_offset"],
        values["names[0]"],
    )
    assert (0x2CF18F02, 44) == (values["snapshots[0].checksum"], values["snapshots[0].footer_length"])
    labels = {leaf.path: leaf.label for leaf in leaves}
    assert ("INT", "REQUIRED") == (
        labels["column_descriptors[0].type"],
        labels["column_descriptors[0].flags"],
    )


def test_a_block_is_traced_with_its_statistics_out_of_line() -> None:
    data = with_a_block()
    problems: list[FormatError] = []
    leaves = [leaf for batch in trace_pm(BytesSource(data), problems) for leaf in batch]

    assert [] == problems
    assert leaves == sorted(leaves, key=lambda leaf: leaf.offset)
    assert set(range(65, 72)) == set(range(len(data))) - {
        place for leaf in leaves for place in range(leaf.offset, leaf.offset + leaf.length)
    }
    values = {leaf.path: leaf.value for leaf in leaves}
    assert (3, b"least val", b"greatest v", 9) == (
        values["blocks[0].num_rows"],
        values["blocks[0].min_stats[0]"],
        values["blocks[0].max_stats[0]"],
        values["snapshots[0].row_group_entries[0].block_offset"],
    )


@pytest.mark.parametrize("record", [pm.ColumnDescriptor, pm.ColumnChunk, pm.BloomEntry])
def test_records_by_the_pattern_are_those_that_the_grammar_traces(record: type[FlatStruct]) -> None:
    pattern = pm_trace.Pattern(record)
    raw = random.Random(7).randbytes(3 * record.size)
    expected = [
        leaf
        for number in range(3)
        for leaf in trace(
            record.grammar,
            raw[number * record.size : (number + 1) * record.size],
            root=f"many[{number + 5}]",
            base=100 + number * record.size,
        )[1]
    ]

    assert expected == pattern.trace(raw, "many", 100, 5)


def test_what_cannot_be_read_is_said_and_the_rest_is_shown() -> None:
    for position in range(len(EMPTY)):
        for cut in (EMPTY[:position], EMPTY[:position] + b"\xff" + EMPTY[position + 1 :]):
            problems: list[FormatError] = []
            leaves = [leaf for batch in trace_pm(BytesSource(cut), problems) for leaf in batch]
            assert problems or leaves
            if len(cut) < len(EMPTY):
                assert next(problem.rule for problem in problems) in ("PM-001", "PM-002")
                assert not leaves or "header.parquet_meta_file_size" == leaves[0].path
