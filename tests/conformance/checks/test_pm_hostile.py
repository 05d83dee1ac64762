"""``_pm`` files made to hurt: whatever they say, there is a report, within bounded memory and work."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

import pqassay
from assembled_pm import add_blocks, add_footer, chunk, header, judged, rules
from damage import EXAMPLES
from pqassay.report.model import Report
from pqassay.under_test.file import FileUnderTest, Options
from pqassay.under_test.pm import file as pm_under_test
from pqassay.under_test.pm.file import PmUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, FileSource
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import FooterFeature
from pqassay_spec.pm.trace import trace_pm

HEADER = pm.FixedHeader(0, 0, -1, 0, 1, 0)
COLUMN = pm.ColumnDescriptor(64, 0, 5, 4, 0, 1, 1, 0, 1, 0)


def check(data: bytes) -> Report:
    report = pqassay.check(data, kind="pm", tier="index")
    assert "errored" != report.files[0].outcome
    assert all(
        finding.hexdump or finding.at[0].offset < 0 or finding.verdict == "INFO"
        for finding in report.files[0].findings
    )
    return report


def broken(report: Report) -> list[str]:
    findings = [finding for finding in report.files[0].findings if finding.verdict == "FAIL"]
    return [rule for finding in findings for rule in (finding.rule, *finding.also)]


def not_checked(report: Report) -> set[str]:
    (coverage,) = report.coverages.values()
    return {reason for rule, reason in coverage.reasons.items() if not rule.startswith("PM-1")}


class Builder:
    """A file that grows: blocks, then a footer, then more."""

    def __init__(
        self, header: pm.FixedHeader = HEADER, columns: Sequence[pm.ColumnDescriptor] = (COLUMN,)
    ) -> None:
        descriptors = b"".join(map(pm.ColumnDescriptor.build, columns))
        self.data = bytearray(header.build() + descriptors + b"x")
        self.size = 0

    def block(self, chunk: pm.ColumnChunk, more: bytes = b"") -> int:
        """Append a block of one chunk; return its entry."""
        self.data += bytes(-len(self.data) % 8)
        entry = len(self.data) >> 3
        self.data += struct.pack("<Q", 10) + pm.ColumnChunk.build(chunk) + more
        return entry

    def footer(self, entries: bytes = b"", *, flags: int = 0, sections: bytes = b"", **fields: int) -> None:
        """Append a footer."""
        made = pm.FooterFields(1000, 20, len(entries) // 4, 0, self.size, flags).changed(**fields)
        self.data += made.build() + entries + sections
        length = pm.LEAST_FOOTER + len(entries) + len(sections)
        self.data += struct.pack("<II", zlib.crc32(memoryview(self.data)[8:]), length)
        self.size = len(self.data)

    def built(self) -> bytes:
        """The file, committed."""
        struct.pack_into("<Q", self.data, 0, len(self.data))
        return bytes(self.data)


GOOD = pm.ColumnChunk(0, 1, 0x80, 0, 0, 10, 4, 50, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("column_count", 0xFFFFFFFF, "PM-011"),
        ("sorting_column_count", 0xFFFFFFFF, "PM-011"),
        ("designated_timestamp", 0x7FFFFFFF, "PM-033"),
        ("designated_timestamp", -2, "PM-033"),
        ("feature_flags", 1, "PM-040"),
        ("feature_flags", 1 << 63, "PM-004"),
    ],
)
def test_a_header_that_says_too_much_is_one_finding(field: str, value: int, rule: str) -> None:
    builder = Builder(HEADER.changed(**{field: value}))
    builder.footer(sections=b"\xff" * 64)

    assert [rule] == [found for found in broken(check(builder.built())) if found != "PM-013"]


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("row_group_count", 0xFFFFFFFF, "PM-014"),
        ("prev_parquet_meta_file_size", (1 << 64) - 1, "PM-019"),
        ("prev_parquet_meta_file_size", 1, "PM-019"),
        ("unused_bytes", (1 << 64) - 1, "PM-080"),
        ("footer_feature_flags", 1 << 40, "PM-015"),
        ("footer_feature_flags", 1 << 32, "PM-015"),
    ],
)
def test_a_footer_that_says_too_much_is_one_finding(field: str, value: int, rule: str) -> None:
    builder = Builder()
    builder.footer(b"", flags=0, sections=b"", **{field: value})

    assert [rule] == broken(check(builder.built()))


def test_a_parquet_file_of_impossible_size_is_no_trouble() -> None:
    builder = Builder()
    entry = builder.block(GOOD.changed(byte_range_start=(1 << 64) - 1, total_compressed=(1 << 64) - 1))
    builder.footer(
        struct.pack("<I", entry), parquet_footer_offset=(1 << 64) - 1, parquet_footer_length=(1 << 32) - 1
    )

    assert ["PM-062"] == broken(check(builder.built()))


def test_a_snapshot_that_follows_itself_ends_the_chain() -> None:
    builder = Builder()
    size = len(builder.data) + pm.LEAST_FOOTER + pm.TRAILER_SIZE
    builder.footer(prev_parquet_meta_file_size=size)
    report = check(builder.built())

    assert ["PM-019"] == broken(report)
    assert "PM-019 is broken" in not_checked(report)


def test_an_earlier_size_that_ends_anywhere_is_a_finding_or_a_snapshot() -> None:
    for back in range(1, 60, EXAMPLES):
        builder = Builder()
        builder.footer()
        builder.footer(prev_parquet_meta_file_size=builder.size - back)

        assert {"PM-019", "PM-020"} & set(broken(check(builder.built())))


def test_a_chain_longer_than_the_bound_is_judged_up_to_it_but_for_its_checksums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pm_under_test, "MOST_SNAPSHOTS", 50)
    builder = Builder()
    for _ in range(60):
        builder.footer()
    data = bytearray(builder.built())
    report = check(bytes(data))

    assert [] == report.files[0].findings
    assert {"the chain has more than 50 snapshots"} == {
        reason for reason in not_checked(report) if "chain" in reason
    }
    footer = pm.LEAST_FOOTER + pm.TRAILER_SIZE
    data[-2 * footer + 16] ^= 1  # in a footer's dead bytes, of the second snapshot

    assert {"PM-017", "PM-018"} <= set(broken(check(bytes(data))))


def test_a_thousand_snapshots_are_judged_whole() -> None:
    builder = Builder()
    entries = struct.pack("<I", builder.block(GOOD))
    crc, end = 0, 8
    for _ in range(1000):  # with the checksum resumed, or this alone would be quadratic
        start = len(builder.data)
        builder.data += pm.FooterFields(1000, 20, 1, 0, builder.size, 0).build() + entries
        crc = zlib.crc32(memoryview(builder.data)[end:], crc)
        end = len(builder.data)
        builder.data += struct.pack("<II", crc, end - start + pm.CHECKSUM_SIZE)
        builder.size = len(builder.data)
    report = check(builder.built())

    assert [] == report.files[0].findings
    assert not {reason for reason in not_checked(report) if "chain" in reason}


def test_row_groups_beyond_the_bound_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pm_under_test, "MOST_ROW_GROUPS", 100)
    builder = Builder()
    builder.footer(struct.pack("<I", builder.block(GOOD)) * 101)
    report = check(builder.built())

    assert [] == report.files[0].findings
    assert "there are more than 100 row groups" in not_checked(report)


def test_row_groups_that_share_one_block_are_one_finding_with_a_count() -> None:
    builder = Builder()
    builder.footer(struct.pack("<I", builder.block(GOOD)) * 10_000)
    (finding,) = check(builder.built()).files[0].findings

    assert ("PM-052", 1) == (finding.rule, finding.count)


def test_a_scratchpad_of_nothing_but_empty_entries_is_read() -> None:
    builder = Builder()
    count = (pm.MOST_SCRATCHPAD - 4) // 8
    builder.footer(flags=FooterFeature.SCRATCHPAD, sections=struct.pack("<I", count) + bytes(8 * count))

    assert [] == broken(check(builder.built()))


@pytest.mark.parametrize("count", [0, 1, 0xFFFFFFFF])
def test_a_count_of_entries_that_are_not_there_is_one_finding(count: int) -> None:
    for flag, rule in ((FooterFeature.SCRATCHPAD, "PM-085"), (FooterFeature.COVERING_INDEX, "PM-086")):
        builder = Builder()
        flags = flag | (FooterFeature.COVERING_INDEX_REQUIRED if flag is FooterFeature.COVERING_INDEX else 0)
        builder.footer(flags=flags, sections=struct.pack("<I", count))

        assert [rule] == broken(check(builder.built()))


def test_a_file_in_which_everything_is_wrong_has_few_findings() -> None:
    ones = pm.ColumnChunk(
        *[(1 << 64) - 1 if width == 8 else (1 << 8 * width) - 1 for width in pm.ColumnChunk.widths.values()]
    )
    builder = Builder()
    entries = [builder.block(ones) for _ in range(500)]
    builder.footer(b"".join(struct.pack("<I", entry) for entry in entries))
    findings = check(builder.built()).files[0].findings
    rules = [rule for finding in findings for rule in (finding.rule, *finding.also)]

    assert {"PM-054", "PM-059", "PM-060", "PM-061", "PM-062", "PM-065"} <= set(rules)
    assert 500 == max(finding.count for finding in findings)
    assert all(len(finding.at) <= 3 for finding in findings)


def test_statistics_that_all_refer_to_the_same_bytes_are_compared_in_place() -> None:
    shared = GOOD.changed(stat_flags=0x80 | 0b001001, min_stat=60_000, max_stat=60_000)
    builder = Builder(columns=(COLUMN.changed(physical_type=6, type=26),))
    entries = [builder.block(shared) for _ in range(200)]
    entries.append(builder.block(shared, bytes(70_000)))
    builder.footer(b"".join(struct.pack("<I", entry) for entry in entries))
    report = check(builder.built())

    assert {"PM-069": 400} == {f.rule: f.count for f in report.files[0].findings if f.rule == "PM-069"}


def test_names_that_lie_over_each_other_are_not_all_read() -> None:
    """Two megabytes once became four gigabytes of names."""
    columns, length = 2_000, 200_000
    raw = header([b"x" * length, *[b""] * (columns - 1)], length=length)
    add_footer(raw)
    found, coverage = judged(raw)
    assert {"PM-022": columns - 1} == rules(found)
    assert {"PM-021", "PM-023"} <= coverage.not_checked.keys()


def test_a_long_name_is_cut_in_findings() -> None:
    """A report once repeated it in each finding, and one that is not UTF-8 in hexadecimal."""
    for name in (b"n" * 100_000, b"\xff" * 100_000):
        raw = header([name, b"b"])
        add_footer(raw, add_blocks(raw, [[chunk(reserved=1)] * 2]))
        found, _ = judged(raw)
        assert ("PM-059" in rules(found), "PM-023" in rules(found)) == (True, name[0] == 0xFF)
        shown = [
            text for finding in found.findings for text in (finding.column or "", finding.at[0].actual or "")
        ]
        assert max(map(len, shown)) < 200


def test_many_gaps_are_found_in_one_pass() -> None:
    """Each once made a list of all blocks before it."""
    raw = header([])
    blocks = 2_000
    nothing: list[bytes] = []
    add_footer(raw, add_blocks(raw, [nothing] * blocks, behind=b"12345678"))
    found, _ = judged(raw)
    assert {"PM-053": blocks} == rules(found)
    assert ["blocks[0]", "blocks[1]"] == [position.field for position in found.findings[0].at[:2]]


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
        assert [f"{kind} overlap; the others are left out"] == [error.reason for error in problems]
        assert shown < 5 * len(raw)


def test_entries_of_sections_are_not_kept() -> None:
    """Each of 20 bytes once took half a kilobyte, and one of the scratchpad, of eight bytes, more."""
    count = 20_000
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


def test_blocks_over_each_other_do_not_make_a_small_file_large() -> None:
    """Every eight bytes began another block of a thousand chunks."""
    columns, row_groups = 1_000, 1_000
    raw = header([b"ab"] * columns)
    (offset,) = add_blocks(raw, [[chunk()] * columns], behind=bytes(8 * row_groups))
    add_footer(raw, [offset + 8 * number for number in range(row_groups)])
    found, coverage = judged(raw)
    assert row_groups - 1 == rules(found)["PM-052"]
    assert "PM-054" in coverage.not_checked


def test_a_file_that_shrinks_while_it_is_judged_does_not_end_the_process(tmp_path: Path) -> None:
    """Large files were mapped: a process that touches a page that is gone is killed."""
    raw = header([b"ab"] * 1_000)
    add_footer(raw, add_blocks(raw, [[chunk()] * 1_000] * 1_100))
    path = tmp_path / pm.FILE_NAME
    path.write_bytes(raw)
    with FileSource(path) as source:
        content = FileUnderTest(source, Options("index"), "pm").part(PmUnderTest).content
        path.write_bytes(b"")
        assert raw == content
