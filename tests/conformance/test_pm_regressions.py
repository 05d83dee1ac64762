"""Files of ``_pm`` that once made a check wrong, slow, or greedy for memory."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import pqassay
from pqassay.file_under_test import FileUnderTest, Options
from pqassay.pm_under_test import PmUnderTest
from pqassay.report import Coverage, FileReport
from pqassay_spec import pm
from pqassay_spec.catalogue import Tier
from pqassay_spec.pm_codes import PhysicalType, StatFlag, stored_offset
from pqassay_spec.sources import FileSource

NULLS_KNOWN = int(StatFlag.NULL_COUNT_PRESENT)


def header(
    names: Sequence[bytes], *, flags: int = 0, sections: bytes = b"", length: int | None = None
) -> bytearray:
    """A header with optional INT64 columns; ``length`` is what each says of its name, which then begins with the area."""
    start = pm.HEADER_SIZE + pm.DESCRIPTOR_SIZE * len(names)
    raw = bytearray(pm.HEADER_RECORD.build(pm.FixedHeader(0, flags, -1, 0, len(names), 0)))
    position = start
    for name in names:
        offset, said = (position, len(name)) if length is None else (start, length)
        raw += pm.DESCRIPTOR_RECORD.build(
            pm.ColumnDescriptor(offset, -1, -1, 0b100, 0, said, PhysicalType.INT64, 0, 1, 0)
        )
        position += len(name)
    return raw + b"".join(names) + sections


def chunk(**given: int) -> bytes:
    """A column chunk without values, 50 bytes long in the Parquet file."""
    plain = pm.ColumnChunk(0, 1, NULLS_KNOWN, 0, 0, 0, 4, 50, 0, 0, 0, 0)
    return pm.CHUNK_RECORD.build(plain._replace(**given))


def add_blocks(raw: bytearray, blocks: Sequence[Sequence[bytes]], *, behind: bytes = b"") -> list[int]:
    """Append a block for each row group, without rows; return where they stand."""
    raw += bytes(-len(raw) % 8)
    offsets: list[int] = []
    for chunks in blocks:
        offsets.append(len(raw))
        raw += struct.pack("<Q", 0) + b"".join(chunks) + behind
    return offsets


def add_footer(
    raw: bytearray, offsets: Sequence[int] = (), *, flags: int = 0, entries: bytes = b"", sections: bytes = b""
) -> None:
    """Append a footer and commit it."""
    start = len(raw)
    before, *_ = struct.unpack_from("<Q", raw)
    raw += pm.FOOTER_RECORD.build(pm.FooterFields(1_000_000, 100, len(offsets), 0, before, flags))
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
        shown = [text for finding in found.findings for text in (finding.column or "", finding.at[0].actual or "")]
        assert max(map(len, shown)) < 200


# ------------------------------------------------------------------------------------------------------ gaps


def test_many_gaps_are_found_in_one_pass() -> None:
    """Each once made a list of all blocks before it."""
    raw = header([])
    blocks = 50_000
    add_footer(raw, add_blocks(raw, [[]] * blocks, behind=b"12345678"))
    found, _ = judged(raw)
    assert {"PM-053": blocks} == rules(found)
    assert ["blocks[0]", "blocks[1]"] == [position.field for position in found.findings[0].at[:2]]


# ---------------------------------------------------------------------------------------------- what is said


def test_a_file_that_readers_refuse_for_its_bloom_columns_fails_at_every_tier() -> None:
    """At tier `footer` all other rules were not checked for it, and the rule itself was too deep."""
    for columns, rule in ((struct.pack("<II", 1, 9), "PM-040"), (struct.pack("<III", 2, 1, 0), "PM-041")):
        raw = header([b"a", b"b"], flags=1, sections=columns)
        add_footer(raw)
        for tier in ("footer", "index"):
            found, _ = judged(raw, tier)
            assert {rule: 1} == rules(found)


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
