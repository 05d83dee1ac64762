"""The CRC of page bodies.

Source: apache/parquet-format, ``parquet.thrift``, ``PageHeader.crc``; ``README.md``, section "Checksumming".
"""

from __future__ import annotations

import zlib

from pqassay.under_test.pages.walk import PageUnderTest
from pqassay.values.decoding.faults import FaultKind, PageFault


def crc_fault(page: PageUnderTest, body: memoryview) -> PageFault | None:
    """The CRC fault of a page with a stored body; ``None`` if the CRC is right or absent. 0 is a normal CRC."""
    if page.header.crc is None:
        return None
    stored = page.header.crc & 0xFFFFFFFF  # an i32 that encodes an unsigned number
    computed = zlib.crc32(body)
    return None if computed == stored else PageFault(FaultKind.WRONG_CRC, computed, stored)
