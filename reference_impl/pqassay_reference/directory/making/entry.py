"""An index made from a file's data: its blob, compressed, and the entry that describes it.

Source: chapter ``directory.md``, sections "The entry", "The blob" and "Identity".
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from pqassay_reference.directory.making.blobs import MadeBlob
from pqassay_reference.directory.making.described_data import (
    DescribedColumn,
    DescribedData,
    OpenFile,
    find_columns,
)
from pqassay_reference.directory.making.distinct_sets import distinct_sets
from pqassay_reference.directory.making.idx1_blobs import idx1_blob
from pqassay_reference.directory.making.sketches import sketches
from pqassay_reference.directory.making.zone_sums import zone_sums
from pqassay_reference.directory.reading.blob import CODEC_NAMES
from pqassay_reference.directory.size_limit import DEFAULT_LIMIT, SizeLimit
from pqassay_reference.errors import Refused
from pqassay_spec.directory.codes import CODECS, TYPE_VERSION, Granularity, IndexType, Placement
from pqassay_spec.directory.entries import Entry, EntryHead, EntryKey, Path
from pqassay_spec.directory.identity import described_places, shape_of
from pqassay_spec.directory.named_types import is_type_name
from pqassay_spec.directory.sketches import has_quantiles
from pqassay_spec.directory.zone_sums import is_key
from pqassay_spec.parquet.thrift import CompressionCodec

WRITER = "pqassay-reference version 1"
"""The writer's name in entries. The version is that of the bytes that are made here; it never follows the package's version."""


@dataclass(frozen=True)
class Request:
    """An index to make.

    Attributes:
        type: Its type.
        columns: Paths of the described columns: a single one, or for zone sums the keys and then the measure.
        granularity: The granularity of its parts.
        placement: Where its blob is stored: inline, in the body or in the extension.
        codec: The compression of the blob.
        most: Most values of a part of a distinct set.
        parameter: The size parameter of sketches.
        max_bytes: Greatest size of the blob before compression.
        type_name: The name of a named type.
        type_version: The version of the type.
        payload: The blob of a named type.
    """

    type: int
    columns: tuple[Path, ...]
    granularity: Granularity = Granularity.ROW_GROUP
    placement: Placement = Placement.BODY
    codec: CompressionCodec = CompressionCodec.UNCOMPRESSED
    most: int | None = None
    parameter: int | None = None
    max_bytes: int = DEFAULT_LIMIT
    type_name: str = ""
    type_version: int = TYPE_VERSION
    payload: bytes | None = None

    @property
    def key(self) -> EntryKey:
        """The key of the resulting entry."""
        return EntryKey(int(self.type), int(self.granularity), self.columns, self.type_name)

    @property
    def names(self) -> str:
        """The described columns as text for people."""
        return ", ".join(".".join(column) for column in self.columns)


class MadeIndex(NamedTuple):
    """A completed index.

    Attributes:
        entry: Its entry, which does not have an offset yet; it includes an inline blob.
        stored: The blob as stored, for every placement.
    """

    entry: Entry
    stored: bytes


def make_index(file: OpenFile, request: Request, *, writer: str = WRITER) -> MadeIndex:
    """Read the described columns and make an index from them.

    Args:
        file: The file.
        request: The index to make.
        writer: The program's name for the entry.

    Raises:
        Refused: The index does not support these columns, or is too large; or its library is missing.
        FormatError: A column chunk cannot be read.
        Undecodable: Its pages cannot be decoded.
    """
    if request.payload is None:
        columns = find_columns(file.metadata, request.columns)
        require_fit(request, columns)
        data = DescribedData(file, columns, request.granularity)
        blob = _blob(data, request)
    else:
        _require_frame(request, len(request.payload))
        data = DescribedData(file, (), request.granularity)
        data.read_stored([position for position, _ in described_places(file.metadata, request.columns)])
        blob = MadeBlob(request.payload, 0)
    return index_of(data, request, blob, compressed(blob.data, request.codec), writer=writer)


def index_of(
    data: DescribedData, request: Request, blob: MadeBlob, stored: bytes, *, writer: str = WRITER
) -> MadeIndex:
    """The index with the entry for a blob that was made from some data, which must be completely read.

    Args:
        data: The data.
        request: The requested index.
        blob: The blob.
        stored: The compressed blob.
        writer: The program's name for the entry.
    """
    file = data.file
    head = EntryHead.of(
        type=int(request.type),
        type_version=request.type_version,
        granularity=int(request.granularity),
        placement=int(request.placement),
        codec=int(request.codec),
        stored_length=len(stored),
        plain_length=len(blob.data),
        value_count=blob.value_count,
        row_count=sum(group.num_rows for group in file.metadata.row_groups),
        shape=shape_of(file.metadata, request.columns),
        content=data.content,
        crc32=zlib.crc32(stored),
    )
    inline = stored if request.placement == Placement.INLINE else b""
    # The lengths follow from the parts: the entry is built once to get the same lengths as a parsed entry.
    names = {"column_count": len(request.columns), "writer_length": len(writer.encode())}
    entry = Entry(head.changed(**names), request.columns, writer, inline, type_name=request.type_name)
    return MadeIndex(entry, stored)


def _blob(data: DescribedData, request: Request) -> MadeBlob:
    limit = SizeLimit(request.max_bytes, request.names)
    if request.type == IndexType.DISTINCT_SET:
        return distinct_sets(data, most=request.most, limit=limit)
    if request.type == IndexType.ZONE_SUMS:
        return zone_sums(data, limit=limit)
    if request.type == IndexType.IDX1:
        return idx1_blob(data, limit=limit)
    return sketches(data, IndexType(request.type), parameter=request.parameter, limit=limit)


def require_fit(request: Request, columns: Sequence[DescribedColumn]) -> None:
    """Raise `Refused` if the type, the columns, the granularity and the placement do not fit together."""
    name = IndexType(request.type).name.lower().replace("_", " ")
    if request.type != IndexType.ZONE_SUMS and len(columns) != 1:
        raise Refused(f"an index of type {name} describes one column, not {len(columns)}")
    if not columns:
        raise Refused("an index describes at least one column")
    if len(set(request.columns)) < len(columns):
        raise Refused(f"a column is named twice: {request.names}")
    if request.granularity == Granularity.PAGE and len(columns) > 1:
        raise Refused(
            "an index of pages describes one column: the pages of two do not begin at the same rows; "
            "choose --granularity row-group"
        )
    if request.type == IndexType.KLL and not has_quantiles(columns[0].leaf):
        raise Refused(f"column {columns[0].leaf.name} is not numeric, which a KLL sketch needs")
    for column in columns[:-1]:
        if not is_key(column.leaf):
            raise Refused(f"column {column.leaf.name} holds floating point numbers, which cannot be keys")
    if request.codec not in CODECS:
        raise Refused(f"a blob cannot be compressed with {request.codec.name}")
    if request.most is not None and request.type != IndexType.DISTINCT_SET:
        raise Refused(f"--most limits the values of a distinct set; an index of type {name} lists none")
    if request.type == IndexType.IDX1 and (
        request.granularity != Granularity.FILE
        or request.placement != Placement.BODY
        or request.codec != CompressionCodec.UNCOMPRESSED
    ):
        raise Refused("an IDX1 index describes a file, is stored in the body and is not compressed")


def _require_frame(request: Request, size: int) -> None:
    """Raise `Refused` for an index of a named type that cannot have an entry."""
    if not is_type_name(request.type_name):
        raise Refused(
            f"{request.type_name!r} is not a name for a type: it takes two or more words of a-z and 0-9 "
            "with dots between them, such as org.example.bitmap"
        )
    if len(set(request.columns)) < max(len(request.columns), 1):
        raise Refused("an index describes at least one column, and each once")
    if request.granularity == Granularity.PAGE and len(request.columns) > 1:
        raise Refused("an index of pages describes one column")
    if request.most is not None:
        raise Refused("--most limits the values of a distinct set")
    SizeLimit(request.max_bytes, request.names).require(size)


def compressed(data: bytes, codec: CompressionCodec) -> bytes:
    """A blob as stored."""
    if codec == CompressionCodec.UNCOMPRESSED:
        return data
    name: Any = CODEC_NAMES[codec]
    opened: Any = pa.Codec(name)
    return bytes(opened.compress(data, asbytes=True))
