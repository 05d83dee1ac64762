"""Chunks, footers and sections of ``_pm`` files that are built by hand, one by one and as screens see them."""

from __future__ import annotations

import struct

import pytest

from assembled_pm import NULLS_KNOWN, add_blocks, add_footer, chunk, header, judged, rules
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import StatFlag


@pytest.mark.parametrize("blocks_before", [0, 3_000], ids=["one by one", "screened"])
@pytest.mark.parametrize("innocent", [0, 50])
def test_chunks_that_overlap_are_found_between_others(blocks_before: int, innocent: int) -> None:
    """A row group around two others once hid that those overlap, and so did many that only lie between each other."""
    start = 4
    blocks: list[list[bytes]] = []
    for _ in range(blocks_before):
        blocks.append([chunk(byte_range_start=start, total_compressed=5), chunk(byte_range_start=start + 5)])
        start += 55
    for _ in range(innocent):  # a, b, a, b
        blocks += [
            [chunk(byte_range_start=start + place), chunk(byte_range_start=start + place + 100)]
            for place in (0, 50)
        ]
        start += 200
    around = [chunk(byte_range_start=start), chunk(byte_range_start=start + 900)]
    first = [chunk(byte_range_start=start + 100), chunk(byte_range_start=start + 150)]
    second = [chunk(byte_range_start=start + 199), chunk(byte_range_start=start + 300)]
    for guilty in (0, 1):
        raw = header([b"a", b"b"])
        inner = second if guilty else [*second[1:], chunk(byte_range_start=start + 400)]
        add_footer(raw, add_blocks(raw, [*blocks, around, first, inner]))
        found, _ = judged(raw)
        assert ({"PM-063": 1} if guilty else {}) == rules(found)


@pytest.mark.parametrize("many", [1, 2_500], ids=["one by one", "screened"])
def test_numbers_out_of_line_are_compared(many: int) -> None:
    """They belong into their slots; a screen once looked for them nowhere else."""
    raw = header([b"a"])
    flags = NULLS_KNOWN | StatFlag.MIN_STAT_PRESENT | StatFlag.MAX_STAT_PRESENT
    bounds = struct.pack("<qq", 8, 7)
    blocks = [
        [chunk(byte_range_start=4 + 50 * number, stat_flags=flags, min_stat=8, max_stat=8 << 16 | 8)]
        for number in range(many)
    ]
    add_footer(raw, add_blocks(raw, blocks, behind=bounds))
    assert {"PM-068": 2 * many, "PM-072": many} == rules(judged(raw)[0])


def test_an_empty_chunk_overlaps_nothing() -> None:
    """Writers leave its offset at 0."""
    for many in (1, 2_000):
        raw = header([b"a", b"b"])
        empty = chunk(byte_range_start=0, total_compressed=0)
        blocks = [[chunk(byte_range_start=4 + 50 * number), empty] for number in range(many)]
        add_footer(raw, add_blocks(raw, blocks))
        assert {} == rules(judged(raw)[0])


def test_an_external_filter_lies_in_the_parquet_file_of_every_snapshot_that_refers_to_it() -> None:
    """Only the newest snapshot was looked at, which has the longest Parquet file."""
    for offset, expected in ((999_900, {}), (1_000_032, {"PM-079": 1})):
        raw = header([b"a"], flags=0b11, sections=struct.pack("<II", 1, 0))
        blocks = add_blocks(raw, [[chunk()]])
        entry = pm.BloomEntry.build(pm.BloomEntry(offset, 32))
        add_footer(raw, blocks, entries=entry)
        add_footer(raw, blocks, entries=entry, parquet_footer=2_000_000)
        assert expected == rules(judged(raw)[0])


def test_a_file_that_readers_refuse_for_its_bloom_columns_fails_at_every_tier() -> None:
    """At tier `footer` all other rules were not checked for it, and the rule itself was too deep."""
    for columns, rule in ((struct.pack("<II", 1, 9), "PM-040"), (struct.pack("<III", 2, 1, 0), "PM-041")):
        raw = header([b"a", b"b"], flags=1, sections=columns)
        add_footer(raw)
        for tier in ("footer", "index"):
            found, _ = judged(raw, tier)
            assert {rule: 1} == rules(found)
