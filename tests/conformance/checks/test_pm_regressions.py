"""Files of ``_pm`` that once made a check wrong, slow, or greedy for memory."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import pqassay
from pm_pairs import PmPair, generated, written
from pqassay.report.model import Coverage, FileReport
from pqassay.under_test.file import FileUnderTest, Options
from pqassay.under_test.pm import PmUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, FileSource
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import PhysicalType, StatFlag, stored_offset
from pqassay_spec.pm.trace import trace_pm
from pqassay_spec.rules.catalogue import Tier

NULLS_KNOWN = int(StatFlag.NULL_COUNT_PRESENT)


def header(
    names: Sequence[bytes], *, flags: int = 0, sections: bytes = b"", length: int | None = None
) -> bytearray:
    """A header with optional INT64 columns; ``length`` is what each says of its name, which then begins with the area."""
    start = pm.FixedHeader.size + pm.ColumnDescriptor.size * len(names)
    raw = bytearray(pm.FixedHeader(0, flags, -1, 0, len(names), 0).build())
    position = start
    for name in names:
        offset, said = (position, len(name)) if length is None else (start, length)
        raw += pm.ColumnDescriptor(offset, -1, -1, 0b100, 0, said, PhysicalType.INT64, 0, 1, 0).build()
        position += len(name)
    return raw + b"".join(names) + sections


def chunk(**given: int) -> bytes:
    """A column chunk without values, 50 bytes long in the Parquet file."""
    plain = pm.ColumnChunk(0, 1, NULLS_KNOWN, 0, 0, 0, 4, 50, 0, 0, 0, 0)
    return pm.ColumnChunk.build(plain.changed(**given))


def add_blocks(raw: bytearray, blocks: Sequence[Sequence[bytes]], *, behind: bytes = b"") -> list[int]:
    """Append a block for each row group, without rows; return where they stand."""
    raw += bytes(-len(raw) % 8)
    offsets: list[int] = []
    for chunks in blocks:
        offsets.append(len(raw))
        raw += struct.pack("<Q", 0) + b"".join(chunks) + behind
    return offsets


def add_footer(
    raw: bytearray,
    offsets: Sequence[int] = (),
    *,
    flags: int = 0,
    entries: bytes = b"",
    sections: bytes = b"",
    parquet_footer: int = 1_000_000,
) -> None:
    """Append a footer and commit it."""
    start = len(raw)
    before, *_ = struct.unpack_from("<Q", raw)
    raw += pm.FooterFields(parquet_footer, 100, len(offsets), 0, before, flags).build()
    raw += b"".join(struct.pack("<I", stored_offset(offset)) for offset in offsets) + entries + sections
    raw += struct.pack("<I", zlib.crc32(raw[pm.CRC_START :]))
    raw += struct.pack("<I", len(raw) - start)
    struct.pack_into("<Q", raw, 0, len(raw))


def judged(raw: bytes | bytearray, tier: Tier = "index") -> tuple[FileReport, Coverage]:
    """What a check says of a ``_pm`` that stands alone."""
    report = pqassay.check(bytes(raw), kind="pm", tier=tier)
    (found,) = report.files
    return found, report.coverages[found.coverage]


def rules(found: FileReport) -> dict[str, int]:
    """The rules of the findings, with how many there are of each; those that only inform are left out."""
    counts: dict[str, int] = {}
    for finding in found.findings:
        if finding.verdict != "INFO":
            counts[finding.rule] = counts.get(finding.rule, 0) + finding.count
    return counts


# ----------------------------------------------------------------------------------------------------- names


def test_names_that_lie_over_each_other_are_not_all_read() -> None:
    """Two megabytes once became four gigabytes of names."""
    columns, length = 2_000, 200_000
    raw = header([b"x" * length, *[b""] * (columns - 1)], length=length)
    add_footer(raw)
    found, coverage = judged(raw)
    assert {"PM-022": columns - 1} == rules(found)
    assert {"PM-021", "PM-023"} <= coverage.not_checked.keys()


def test_a_long_name_is_cut_in_findings() -> None:
    """A report once repeated it in each finding, and one that is no UTF-8 in hexadecimal."""
    for name in (b"n" * 100_000, b"\xff" * 100_000):
        raw = header([name, b"b"])
        add_footer(raw, add_blocks(raw, [[chunk(reserved=1)] * 2]))
        found, _ = judged(raw)
        assert ("PM-059" in rules(found), "PM-023" in rules(found)) == (True, name[0] == 0xFF)
        shown = [
            text for finding in found.findings for text in (finding.column or "", finding.at[0].actual or "")
        ]
        assert max(map(len, shown)) < 200


# ------------------------------------------------------------------------------------------------------ gaps


def test_many_gaps_are_found_in_one_pass() -> None:
    """Each once made a list of all blocks before it."""
    raw = header([])
    blocks = 50_000
    nothing: list[bytes] = []
    add_footer(raw, add_blocks(raw, [nothing] * blocks, behind=b"12345678"))
    found, _ = judged(raw)
    assert {"PM-053": blocks} == rules(found)
    assert ["blocks[0]", "blocks[1]"] == [position.field for position in found.findings[0].at[:2]]


# ------------------------------------------------------------------------------------------------- dumps


def test_a_dump_of_structures_over_each_other_ends() -> None:
    """A third of a megabyte once gave hundreds of megabytes of names, and hundreds of millions of lines of blocks."""
    columns, row_groups = 500, 2_000
    names = header([b"n" * 100_000, *[b""] * columns], length=100_000)
    add_footer(names)
    blocks = header([b"ab"] * columns)
    (offset,) = add_blocks(blocks, [[chunk()] * columns], behind=bytes(8 * row_groups))
    add_footer(blocks, [offset + 8 * number for number in range(row_groups)])
    for raw, kind in ((names, "names"), (blocks, "blocks")):
        problems: list[FormatError] = []
        shown = sum(leaf.length for batch in trace_pm(BytesSource(raw), problems) for leaf in batch)
        assert [f"{kind} lie over each other; the others are left out"] == [
            error.reason for error in problems
        ]
        assert shown < 5 * len(raw)


# ------------------------------------------------------------------------------------------------- sections


def test_entries_of_sections_are_not_kept() -> None:
    """Each of 20 bytes once took half a kilobyte, and one of the scratchpad, of eight bytes, more."""
    count = 100_000
    for flags, section in (
        (0b100 | 1 << 32, struct.pack("<I", count) + bytes(20 * count)),
        (0b10, struct.pack("<I", count) + bytes(8 * count)),
    ):
        raw = header([b"a"])
        add_footer(raw, flags=flags, sections=section)
        source = BytesSource(bytes(raw))
        tracemalloc.start()
        try:
            found = pm_file.read_snapshot(source, pm_header.read_header(source, len(raw)), len(raw))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 10 * len(section)
        (value, _) = next(iter(found.sections.values()))
        entries = value["indexes" if flags & 0b100 else "entries"]
        assert (count, count, 0) == (len(entries), len(list(entries)), entries[0][0])


# --------------------------------------------------------------------------------------------- row groups


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


def test_blocks_over_each_other_do_not_make_a_small_file_large() -> None:
    """Every eight bytes began another block of a thousand chunks."""
    columns, row_groups = 1_000, 5_000
    raw = header([b"ab"] * columns)
    (offset,) = add_blocks(raw, [[chunk()] * columns], behind=bytes(8 * row_groups))
    add_footer(raw, [offset + 8 * number for number in range(row_groups)])
    found, coverage = judged(raw)
    assert row_groups - 1 == rules(found)["PM-052"]
    assert "PM-054" in coverage.not_checked


def test_an_external_filter_lies_in_the_parquet_file_of_every_snapshot_that_refers_to_it() -> None:
    """Only the newest snapshot was looked at, which has the longest Parquet file."""
    for offset, expected in ((999_900, {}), (1_000_032, {"PM-079": 1})):
        raw = header([b"a"], flags=0b11, sections=struct.pack("<II", 1, 0))
        blocks = add_blocks(raw, [[chunk()]])
        entry = pm.BloomEntry(offset, 32).build()
        add_footer(raw, blocks, entries=entry)
        add_footer(raw, blocks, entries=entry, parquet_footer=2_000_000)
        assert expected == rules(judged(raw)[0])


# ---------------------------------------------------------------------------------------------- columns


def test_a_required_field_may_have_parts_that_are_not() -> None:
    """The repetition is that of the field at the top, as DuckDB's structs show."""
    rows = [{"s": {"a": 1, "b": 2}, "t": {"c": {"d": 3}}}] * 9
    number = pa.int32()
    schema = pa.schema(
        [
            pa.field("s", pa.struct([("a", number), ("b", number)]), nullable=False),
            pa.field("t", pa.struct([("c", pa.struct([("d", number)]))]), nullable=False),
        ]
    )
    data = written(pa.Table.from_pylist(rows, schema=schema))
    found, _ = generated(data).report(only=())
    assert {} == rules(found)


# ---------------------------------------------------------------------------------------------- what is said


def test_a_file_that_readers_refuse_for_its_bloom_columns_fails_at_every_tier() -> None:
    """At tier `footer` all other rules were not checked for it, and the rule itself was too deep."""
    for columns, rule in ((struct.pack("<II", 1, 9), "PM-040"), (struct.pack("<III", 2, 1, 0), "PM-041")):
        raw = header([b"a", b"b"], flags=1, sections=columns)
        add_footer(raw)
        for tier in ("footer", "index"):
            found, _ = judged(raw, tier)
            assert {rule: 1} == rules(found)


def test_a_stale_file_is_said_to_be_stale_and_nothing_else() -> None:
    """A longer Parquet file was also said to hold an append that is not published yet."""
    short, long = (written(pa.table({"a": list(range(rows))})) for rows in (10, 1_000))
    stale = PmPair(generated(short).raw, long)
    assert ["PM-100"] == [finding.rule for finding in stale.report()[0].findings]


def test_a_file_that_shrinks_while_it_is_judged_does_not_end_the_process(tmp_path: Path) -> None:
    """Large files were mapped: whoever touches a page that is gone is killed."""
    raw = header([b"ab"] * 1_000)
    add_footer(raw, add_blocks(raw, [[chunk()] * 1_000] * 1_100))
    path = tmp_path / pm.FILE_NAME
    path.write_bytes(raw)
    with FileSource(path) as source:
        content = FileUnderTest(source, Options("index"), "pm").part(PmUnderTest).content
        path.write_bytes(b"")
        assert raw == content
