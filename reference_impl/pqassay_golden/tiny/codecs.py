"""Bodies of pages in the formats of codecs, without real compression, so the bytes do not depend on compression libraries.

Source: RFC 1951, RFC 1952 and RFC 7932; the LZ4 block format; `pqassay_spec.parquet.encoding.lz4_framing`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

from pqassay_spec.parquet.encoding import lz4_framing
from pqassay_spec.parquet.thrift import CompressionCodec

MOST_IN_TOKEN, MOST_IN_BYTE = 15, 255
"""The greatest length in the token of an LZ4 block, and in each byte after it."""


def _deflated(raw: bytes) -> bytes:
    size = len(raw).to_bytes(2, "little")
    return b"\x01" + size + bytes(byte ^ 0xFF for byte in size) + raw


def zlib_stream(raw: bytes) -> bytes:
    """A stream in zlib format that stores fewer than 65,536 bytes uncompressed.

    >>> zlib.decompress(zlib_stream(b"ab"))
    b'ab'
    """
    return b"\x78\x01" + _deflated(raw) + zlib.adler32(raw).to_bytes(4, "big")


def gzip_member(raw: bytes) -> bytes:
    """A GZIP member that stores fewer than 65,536 bytes uncompressed.

    >>> gzip_member(b"ab").hex(" ")
    '1f 8b 08 00 00 00 00 00 00 ff 01 02 00 fd ff 61 62 6d 48 83 9e 02 00 00 00'
    """
    tail = zlib.crc32(raw).to_bytes(4, "little") + len(raw).to_bytes(4, "little")
    return bytes.fromhex("1f8b08000000000000ff") + _deflated(raw) + tail


def lz4_block(raw: bytes) -> bytes:
    """An LZ4 block that consists only of literals.

    >>> lz4_block(b"ab").hex(" "), lz4_block(bytes(15))[:3].hex(" ")
    ('20 61 62', 'f0 00 00')
    """
    more = len(raw) - MOST_IN_TOKEN
    if more < 0:
        return bytes((len(raw) << 4,)) + raw
    return bytes((MOST_IN_TOKEN << 4, *(MOST_IN_BYTE,) * (more // MOST_IN_BYTE), more % MOST_IN_BYTE)) + raw


def brotli_stream(raw: bytes) -> bytes:
    """A Brotli stream: an uncompressed metablock of at most 65,536 bytes, and the empty last one.

    >>> brotli_stream(b"ab").hex(" ")
    '10 00 10 61 62 03'
    """
    if not raw:
        return b"\x06"
    return ((len(raw) - 1) << 4 | 1 << 20).to_bytes(3, "little") + raw + b"\x03"


def _hadoop(raw: bytes) -> bytes:
    block = lz4_block(raw)
    return b"".join(lz4_framing.LENGTH.build(len(part)) for part in (raw, block)) + block


COMPRESSED: Mapping[CompressionCodec, Callable[[bytes], bytes]] = {
    CompressionCodec.UNCOMPRESSED: bytes,
    CompressionCodec.GZIP: gzip_member,
    CompressionCodec.BROTLI: brotli_stream,
    CompressionCodec.LZ4: _hadoop,
}
"""The functions that make the stored body of a page, by the codec of its chunk."""
