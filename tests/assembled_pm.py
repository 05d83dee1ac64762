"""``_pm`` files that are put together from their records: what no writer writes, and as many of it as a test wants."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import pqassay
from pqassay.report.model import Coverage, FileReport
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import PhysicalType, StatFlag, stored_offset
from pqassay_spec.rules.catalogue import Tier

NULLS_KNOWN = int(StatFlag.NULL_COUNT_PRESENT)


def header(
    names: Sequence[bytes], *, flags: int = 0, sections: bytes = b"", length: int | None = None
) -> bytearray:
    """A header with optional INT64 columns; ``length`` is the length that each gives its name, which then begins with the area."""
    start = pm.FixedHeader.size + pm.ColumnDescriptor.size * len(names)
    raw = bytearray(pm.FixedHeader.build(pm.FixedHeader(0, flags, -1, 0, len(names), 0)))
    position = start
    for name in names:
        offset, said = (position, len(name)) if length is None else (start, length)
        raw += pm.ColumnDescriptor.build(
            pm.ColumnDescriptor(offset, -1, -1, 0b100, 0, said, PhysicalType.INT64, 0, 1, 0)
        )
        position += len(name)
    return raw + b"".join(names) + sections


def chunk(**given: int) -> bytes:
    """A column chunk without values, 50 bytes long in the Parquet file."""
    plain = pm.ColumnChunk(0, 1, NULLS_KNOWN, 0, 0, 0, 4, 50, 0, 0, 0, 0)
    return pm.ColumnChunk.build(plain.changed(**given))


def add_blocks(raw: bytearray, blocks: Sequence[Sequence[bytes]], *, behind: bytes = b"") -> list[int]:
    """Append a block for each row group, without rows; return where they are."""
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
    raw += pm.FooterFields.build(pm.FooterFields(parquet_footer, 100, len(offsets), 0, before, flags))
    raw += b"".join(struct.pack("<I", stored_offset(offset)) for offset in offsets) + entries + sections
    raw += struct.pack("<I", zlib.crc32(raw[pm.CRC_START :]))
    raw += struct.pack("<I", len(raw) - start)
    struct.pack_into("<Q", raw, 0, len(raw))


def judged(raw: bytes | bytearray, tier: Tier = "index") -> tuple[FileReport, Coverage]:
    """What a check says about a ``_pm`` that stands alone."""
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
