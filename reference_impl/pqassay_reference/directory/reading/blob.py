"""The blob of an entry, read, checked and decompressed, and the parts that it has to have.

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
"""Bytes that a blob may take before compression; a greater one is ignored rather than kept in memory."""

CODEC_NAMES = {
    CompressionCodec.SNAPPY: "snappy",
    CompressionCodec.GZIP: "gzip",
    CompressionCodec.ZSTD: "zstd",
    CompressionCodec.LZ4_RAW: "lz4_raw",
}
"""What pyarrow calls the codecs of `CODECS`."""


@dataclass(frozen=True)
class Parts:
    """Where the parts of a blob are in the file.

    Attributes:
        row_group: For each part its row group; -1 for one of the whole file.
        first_row: For each part the first of its rows, in the row group, or in the file for one of the file.
        row_count: For each part its rows.
    """

    row_group: Numbers
    first_row: Numbers
    row_count: Numbers

    def __len__(self) -> int:
        return len(self.row_group)


class Blob(NamedTuple):
    """The blob of an entry, decompressed, and its parts."""

    data: bytes
    parts: Parts


def read_blob(usable: UsableEntry, source: Source, framing: Framing, metadata: FileMetaData) -> Blob:
    """Read, check and decompress the blob of an entry.

    Raises:
        FormatError: Place, checksum or lengths are wrong, or pages are not to be found.
        OSError: The file cannot be read.
    """
    data = plain_blob(usable.entry, source, framing, extension_area(metadata))
    return Blob(data, _parts(usable, source, framing, metadata))


def plain_blob(entry: Entry, source: Source, framing: Framing, area: bytes | None) -> bytes:
    """The blob of an entry, decompressed; ``area`` is what the footer's extension field holds.

    Raises:
        FormatError: It is not where the entry says, has another checksum, is too long, or cannot be decompressed.
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
    """The parts that a blob has to have. Raises `FormatError` if pages are not to be found."""
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
