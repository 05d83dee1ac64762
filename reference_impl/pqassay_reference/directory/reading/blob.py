"""Read, check and decompress the blob of an entry, and determine its expected parts.

Source: chapter ``directory.md``, sections "The blob" and "Granularity".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay_reference.columns.chunk_structures import read_offset_index
from pqassay_reference.directory.reading.usable_entries import UsableEntry
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.entries import Entry
from pqassay_spec.directory.placement import extension_area, stored_blob
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import CompressionCodec, FileMetaData

Numbers = NDArray[np.int64]

MOST_BYTES = 256 << 20
"""Most bytes of a blob before compression; a larger one is ignored to save memory."""

CODEC_NAMES = {
    CompressionCodec.SNAPPY: "snappy",
    CompressionCodec.GZIP: "gzip",
    CompressionCodec.ZSTD: "zstd",
    CompressionCodec.LZ4_RAW: "lz4_raw",
}
"""pyarrow's names of the codecs in `CODECS`."""


@dataclass(frozen=True)
class Parts:
    """The places of the parts of a blob in the file.

    Attributes:
        row_group: The row group of each part; -1 for a part of the whole file.
        first_row: The first row of each part, relative to its row group (or to the file if it has none).
        row_count: The number of rows of each part.
    """

    row_group: Numbers
    first_row: Numbers
    row_count: Numbers

    def __len__(self) -> int:
        return len(self.row_group)


class Blob(NamedTuple):
    """The decompressed blob of an entry, and its parts."""

    data: bytes
    parts: Parts


def read_blob(usable: UsableEntry, source: Source, framing: Framing, metadata: FileMetaData) -> Blob:
    """Read, check and decompress the blob of an entry.

    Raises:
        FormatError: Place, checksum or lengths are wrong, or the places of pages are unknown.
        OSError: The file cannot be read.
    """
    data = plain_blob(usable.entry, source, framing, extension_area(metadata))
    return Blob(data, _parts(usable, source, framing, metadata))


def plain_blob(entry: Entry, source: Source, framing: Framing, area: bytes | None) -> bytes:
    """The decompressed blob of an entry; ``area`` is the content of the footer's extension field.

    Raises:
        FormatError: It is not at its place, has another checksum, is too long, or cannot be decompressed.
        OSError: The file cannot be read.
    """
    codec, length = entry.head.codec, entry.head.plain_length
    if length > MOST_BYTES:
        raise Unsupported(f"a blob of {length} bytes; the most are {MOST_BYTES}")
    body = {"body_start": framing.body_start, "body_end": framing.footer_start}
    stored = stored_blob(entry, source, **body, area=area)
    if codec != CompressionCodec.UNCOMPRESSED:
        try:
            name: Any = CODEC_NAMES[CompressionCodec(codec)]
            opened: Any = pa.Codec(name)
            stored = opened.decompress(stored, length, asbytes=True)
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            said = " ".join(str(error).split())
            raise Malformed(f"the blob cannot be decompressed: {said}", rule="DIR-015") from None
    if len(stored) != length:
        raise Malformed(f"the blob has {len(stored)} bytes, where the entry says {length}", rule="DIR-015")
    return stored


def _parts(usable: UsableEntry, source: Source, framing: Framing, metadata: FileMetaData) -> Parts:
    """The expected parts of a blob. Raises `FormatError` if the places of pages are unknown."""
    counts = [group.num_rows for group in metadata.row_groups]
    if usable.granularity is Granularity.FILE:
        return Parts(np.array([-1]), np.array([0]), np.array([sum(counts)]))
    if usable.granularity is Granularity.ROW_GROUP:
        return Parts(np.arange(len(counts)), np.zeros(len(counts), np.int64), np.array(counts, np.int64))
    place = next(number for number, leaf in enumerate(leaves(metadata)) if leaf == usable.leaves[0])
    groups: list[int] = []
    starts: list[int] = []
    rows: list[int] = []
    body = range(framing.body_start, framing.footer_start)
    for number, group in enumerate(metadata.row_groups):
        index = read_offset_index(source, body, group.columns[place])
        if index is None and not group.num_rows:
            continue  # a chunk without pages
        if index is None:
            raise Malformed("the column has no offset index, which says where its pages are", rule="DIR-018")
        begins = [page.first_row_index for page in index.page_locations]
        ends = [*begins[1:], group.num_rows]
        if begins and (begins[0] != 0 or any(end < begin for begin, end in zip(begins, ends, strict=True))):
            raise Malformed("the offset index does not divide the rows", rule="PIX-013")
        groups += [number] * len(begins)
        starts += begins
        rows += [end - begin for begin, end in zip(begins, ends, strict=True)]
    return Parts(np.array(groups, np.int64), np.array(starts, np.int64), np.array(rows, np.int64))


__all__ = ["MOST_BYTES", "Blob", "Numbers", "Parts", "plain_blob", "read_blob"]
