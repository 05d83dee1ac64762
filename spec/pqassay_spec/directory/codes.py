"""The numbers of the index directory: types of index, granularities, placements, and the codecs that a blob may have.

Source: chapter ``directory.md``, section "The entry".
"""

from __future__ import annotations

from enum import IntEnum

from pqassay_spec.parquet.thrift import CompressionCodec


class IndexType(IntEnum):
    """The type of index that an entry's blob has. A reader skips entries of other types."""

    IDX1 = 0
    DISTINCT_SET = 1
    ZONE_SUMS = 2
    HLL = 3
    KLL = 4


TYPE_VERSION = 1
"""The version of every type's blob."""


class Granularity(IntEnum):
    """What each part of a blob describes: the whole file, one row group, or one data page."""

    FILE = 0
    ROW_GROUP = 1
    PAGE = 2


class Placement(IntEnum):
    """Where the blob is: in the body of the file, after its entry, or in the footer's extension field."""

    BODY = 0
    INLINE = 1
    EXTENSION = 2


CODECS = (
    CompressionCodec.UNCOMPRESSED,
    CompressionCodec.SNAPPY,
    CompressionCodec.GZIP,
    CompressionCodec.ZSTD,
    CompressionCodec.LZ4_RAW,
)
"""The codecs of Parquet that can compress a blob: those with the same framing in every implementation."""
