"""The CRC of page bodies.

Source: apache/parquet-format, ``parquet.thrift``, ``PageHeader.crc``; ``README.md``, section "Checksumming".
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.under_test.pages.walk import PageUnderTest, bodies
from pqassay.under_test.violation import Violation

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest


def crc_violation(chunk: ColumnChunkUnderTest, page: PageUnderTest, body: memoryview) -> Violation | None:
    """The violation by the CRC of a page; ``None`` where it is right or absent. 0 is one like any other.

    Args:
        chunk: Its chunk.
        page: The page.
        body: Its body as stored.
    """
    stored = page.header.crc
    if stored is None:
        return None
    stored &= 0xFFFFFFFF  # an i32 that means an unsigned number
    computed = zlib.crc32(body)
    if computed == stored:
        return None
    return Violation(
        f"page {page.number} is damaged, or its CRC is wrong",
        chunk.fields.page(page) / "crc",
        expected=f"0x{computed:08x}",
        actual=f"0x{stored:08x}",
    )


def crc_violations(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Read all pages of a chunk that have a CRC, and yield what is wrong with theirs."""
    with_crc = [page for page in chunk.pages if page.header.crc is not None]
    for page, body in bodies(chunk.file.source, with_crc):
        if (violation := crc_violation(chunk, page, body)) is not None:
            yield violation
