"""Decompression of page bodies, with a check of their length against the header.

pyarrow's codecs do the work.  Codecs that cannot work piecewise need the length of the result and do not
return the actual length, so it is measured differently.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Literal

import pyarrow as pa

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotChecked
from pqassay.under_test.pages.walk import bodies
from pqassay.values.decoding.faults import FaultKind, Faulty, PageFault
from pqassay.values.decoding.physical import first_line
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.grammar.thrift_wire import read_varint
from pqassay_spec.parquet.encoding import lz4_framing
from pqassay_spec.parquet.thrift import CompressionCodec

GZIP_BITS = 16 + zlib.MAX_WBITS
"""The zlib mode that accepts only GZIP, with checks of each member."""

STEP = 1 << 16
"""The number of compressed bytes that are processed together, so that many members cost no more than one."""

PIECE = 1 << 22
"""The number of bytes that are decompressed at once, so that a wrong length reserves no memory."""

BEGINNING = 1 << 16
"""The number of bytes of a page that `beginning` decompresses: usually more than the levels take."""

MOST_PAGE, MOST_FOR_A_BYTE = 3 << 27, 16
"""The limits of decompressed bytes of a page: a total, or a number for each stored byte if that gives more."""

FEW_PAGES = 16
"""The number of pages of a chunk that are tried with other codecs."""

NOT_READ = "its pages are compressed by LZO, which pqassay does not read"

MOST_BY_SNAPPY = 32
"""An upper bound of the bytes that one byte of Snappy expands to; a copy of 64 bytes takes 3."""

MOST_BY_LZ4 = 256
"""An upper bound of the bytes that one byte of LZ4 expands to."""

SLACK = 64

SNAPPY_TAG_BITS, MOST_IN_SNAPPY_TAG = 2, 60
"""Constants of the first Snappy tag: above these bits is the length minus one; from 61 on, the size of the length field instead."""


Note = Callable[[PageFault], None]
"""A function that is called with faults that do not prevent reading."""

Reader = Callable[[memoryview, int, Note], memoryview]
"""A function that decompresses bytes of a codec, up to one byte more than expected."""


def decompressed(raw: memoryview, codec: int, length: int, note: Note = lambda _: None) -> memoryview:
    """The decompressed page body, or its compressed part.

    Args:
        raw: The body as stored.
        codec: A member of `CompressionCodec`.
        length: The expected size in bytes.
        note: Called with each fault of the compressed form.

    Raises:
        Malformed: The body does not decompress, or has another length.
        Faulty: The length is impossible, or the codec does not exist.
        NotChecked: The codec is LZO.
    """
    if length < 0:
        raise Faulty(PageFault(FaultKind.IMPOSSIBLE_SIZE))
    if codec == CompressionCodec.UNCOMPRESSED:
        return _of_length(raw, length)
    if not length and not len(raw):
        return raw  # some writers compress an empty body to nothing
    if codec == CompressionCodec.LZO:
        _require_lzo(raw, length)
        raise NotChecked(NOT_READ, "tool")
    reader = _READERS.get(codec)
    if reader is None:
        raise Faulty(PageFault(FaultKind.UNKNOWN_CODEC))
    try:
        most = MOST_BY_SNAPPY if codec == CompressionCodec.SNAPPY else MOST_BY_LZ4
        if (codec in _PIECEWISE or most * len(raw) + SLACK >= length) and length > max(
            MOST_PAGE, MOST_FOR_A_BYTE * len(raw)
        ):
            _require_length(raw, codec, length)
            reason = f"a page of {len(raw):,} bytes is not decompressed: it would take {length:,}"
            raise NotChecked(reason, "tool")
        return _of_length(reader(raw, length, note), length)
    except MemoryError:  # an ArrowException as well
        raise
    except (pa.ArrowException, OSError, ValueError, zlib.error) as error:
        name, actual = CompressionCodec(codec).name, f"{len(raw)} bytes that are not"
        message = f"the page does not decompress by {name}: {first_line(error)}"
        raise Malformed(message, expected=f"{length} bytes compressed by {name}", actual=actual) from None


def codec_of_pages(chunk: ColumnChunkUnderTest) -> CompressionCodec | None:
    """The codec other than the footer's with which all pages of a chunk have the right length; ``None`` if there is none."""
    parts: list[tuple[memoryview, int]] = []
    for page, body in islice(bodies(chunk.file.source, chunk.pages), FEW_PAGES):
        second, start = page.v2, 0
        if second is not None:
            start = second.repetition_levels_byte_length + second.definition_levels_byte_length
        length = page.header.uncompressed_page_size - start
        if length > 0 and (second is None or second.is_compressed is not False):
            parts.append((memoryview(bytes(body[start:])), length))
    return next(
        (codec for codec in _TRIED if codec != chunk.facts.codec and parts and _fits(parts, codec)), None
    )


def _fits(parts: Sequence[tuple[memoryview, int]], codec: CompressionCodec) -> bool:
    try:
        return all(len(decompressed(raw, codec, length)) == length for raw, length in parts)
    except (FormatError, NotChecked):
        return False


def _require_length(raw: memoryview, codec: int, length: int) -> None:
    """Raise an error as `decompressed` unless a body has a length, without keeping its bytes if its codec works piecewise."""
    if codec == CompressionCodec.SNAPPY:
        _behind_snappy_length(raw, length)
    elif name := _PIECEWISE.get(codec):
        stream, left = _stream(raw, name), length + 1
        while left and (piece := stream.read(min(left, PIECE))):
            left -= len(piece)
        if left != 1:
            raise _wrong_length(f"{length + 1 - left} bytes{' or more' * (not left)}", length)


def _require_lzo(raw: memoryview, length: int) -> None:
    """Raise `Malformed` if a body is certainly not LZO: it has no end of a stream, bare or in Hadoop's framing."""
    if raw[-len(lz4_framing.LZO_END) :] == lz4_framing.LZO_END:
        return
    with suppress(Malformed):
        if sum(block.content for block in lz4_framing.blocks(raw)) == length:
            return
    message = "the page does not end like LZO data, and has no Hadoop framing"
    raise Malformed(message, expected="bytes compressed by LZO", actual=f"{len(raw)} bytes that are not")


def beginning(raw: memoryview, codec: int, length: int) -> memoryview | None:
    """The first bytes of a page body that is known to decompress, at low cost; ``None`` if the codec does not allow that.

    The arguments are those of `decompressed`. Snappy states the total length, and begins with literal bytes. Brotli, the slowest codec, is
    read up to `BEGINNING` if that is a small part.

    Raises:
        Malformed: The body has another length.
    """
    if codec == CompressionCodec.BROTLI and length > PIECE:
        return memoryview(_stream(raw, "brotli").read(BEGINNING))
    if codec != CompressionCodec.SNAPPY or length <= 0:
        return None
    position = _behind_snappy_length(raw, length)
    size, position = (raw[position] >> SNAPPY_TAG_BITS) + 1, position + 1
    if size > MOST_IN_SNAPPY_TAG:
        end = position + size - MOST_IN_SNAPPY_TAG
        size, position = int.from_bytes(raw[position:end], "little") + 1, end
    return raw[position : position + size]


def _of_length(content: memoryview, length: int) -> memoryview:
    if len(content) == length:
        return content
    more = " or more" if len(content) > length + 1 else ""
    raise _wrong_length(f"{len(content)} bytes{more}", length)


def _wrong_length(actual: str, length: int) -> Malformed:
    message = f"the page has {actual} without compression, but its header says {length}"
    return Malformed(message, expected=f"{length} bytes", actual=actual)


def _gzip(raw: memoryview, length: int, note: Note) -> memoryview:
    """Decompress GZIP, but not the other formats of zlib, which pyarrow also accepts."""
    member, members = zlib.decompressobj(GZIP_BITS), 1
    content = bytearray()
    for start in range(0, len(raw), STEP):
        rest: memoryview | bytes = raw[start : start + STEP]
        while len(rest) and (left := length + 1 - len(content)):
            if member.eof:
                member, members = zlib.decompressobj(GZIP_BITS), members + 1
            content += member.decompress(rest, left)
            rest = member.unused_data
    if len(content) <= length and not member.eof:
        raise ValueError("its last member is cut off")
    if members > 1:
        note(PageFault(FaultKind.SEVERAL_MEMBERS, 1, members))
    return memoryview(content).toreadonly()


def _stream(raw: memoryview, name: Literal["brotli", "gzip", "lz4", "zstd"]) -> Any:
    return pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(raw)), name)


def _streamed(name: Literal["brotli", "lz4", "zstd"]) -> Reader:
    """A reader for a codec that works piecewise; it stops one byte after the expected end."""

    def read(raw: memoryview, length: int, _: Note) -> memoryview:
        stream = _stream(raw, name)
        if length < PIECE:
            return memoryview(stream.read(length + 1))
        content = bytearray()  # grows in place, since joining pieces would need twice the memory
        while (left := length + 1 - len(content)) and (piece := stream.read(min(left, PIECE))):
            content += piece
        return memoryview(content).toreadonly()

    return read


_PIECEWISE: dict[int, Literal["brotli", "gzip", "zstd"]] = {
    CompressionCodec.GZIP: "gzip",
    CompressionCodec.BROTLI: "brotli",
    CompressionCodec.ZSTD: "zstd",
}
"""The names of codecs in pyarrow for decompressing a stream."""

_SNAPPY = pa.Codec("snappy")
_LZ4 = pa.Codec("lz4_raw")


def _bytes_of(buffer: Any) -> memoryview:
    """A pyarrow buffer as unsigned bytes; pyarrow has them signed."""
    return memoryview(buffer).cast("B")


def _behind_snappy_length(raw: memoryview, length: int) -> int:
    """The end of the length field at the start of Snappy bytes. Raises `Malformed` if the length is another."""
    try:
        whole, end = read_varint(raw, 0)
    except FormatError:
        raise ValueError("its length cannot be read") from None
    if whole != length:
        raise _wrong_length(f"{whole} bytes", length)
    return end


def _snappy(raw: memoryview, length: int, _: Note) -> memoryview:
    """Decompress Snappy, which begins with the uncompressed length."""
    _behind_snappy_length(raw, length)
    if length > MOST_BY_SNAPPY * len(raw) + SLACK:
        raise ValueError(f"{len(raw)} bytes cannot hold {length}")
    return _bytes_of(_SNAPPY.decompress(pa.py_buffer(raw), decompressed_size=length))


def _lz4(raw: memoryview, length: int, _: Note) -> memoryview:
    """Decompress LZ4, which does not state its output size: if the output fits into one byte less, it is too short."""
    if length > MOST_BY_LZ4 * len(raw) + SLACK:
        raise ValueError(f"{len(raw)} bytes cannot hold {length}")
    stored: Any = pa.py_buffer(raw)
    content = _bytes_of(_LZ4.decompress(stored, decompressed_size=length))
    if length:
        try:
            _LZ4.decompress(stored, decompressed_size=length - 1)
        except (pa.ArrowException, OSError):
            return content
        raise _wrong_length(f"less than {length} bytes", length)
    return content


def _lz4_framed(raw: memoryview, length: int, note: Note) -> memoryview:
    """Decompress LZ4 in one of the framings of writers: Hadoop's, the LZ4 frame format, or none."""
    try:
        blocks = lz4_framing.blocks(raw)
    except Malformed:
        is_frame = bytes(raw[: len(lz4_framing.FRAME_MAGIC)]) == lz4_framing.FRAME_MAGIC
        what, read = ("an LZ4 frame", _streamed("lz4")) if is_frame else ("a bare block", _lz4)
        content = read(raw, length, note)
        note(PageFault(FaultKind.OTHER_FRAMING, words=(what,)))
        return content
    if (size := sum(block.content for block in blocks)) != length:
        raise _wrong_length(f"{size} bytes", length)
    pieces = [_lz4(raw[block.start : block.start + block.length], block.content, note) for block in blocks]
    return memoryview(b"".join(pieces))


_READERS: dict[int, Reader] = {
    CompressionCodec.SNAPPY: _snappy,
    CompressionCodec.GZIP: _gzip,
    CompressionCodec.BROTLI: _streamed("brotli"),
    CompressionCodec.ZSTD: _streamed("zstd"),
    CompressionCodec.LZ4: _lz4_framed,
    CompressionCodec.LZ4_RAW: _lz4,
}

_TRIED = (
    CompressionCodec.UNCOMPRESSED,
    CompressionCodec.SNAPPY,
    CompressionCodec.GZIP,
    CompressionCodec.ZSTD,
    CompressionCodec.LZ4_RAW,
    CompressionCodec.BROTLI,
)
