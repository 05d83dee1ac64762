"""Small Parquet files with an index directory, good or broken in one chosen way.

The data are two row groups of three rows; what an index of them holds is written down here, and not worked out.
"""

from __future__ import annotations

import base64
import io
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from pqassay_reference.rewrite.footer_splice import footer_and_tail
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory import distinct_set, entries, identity, placement, zone_sums
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.distinct_set import DistinctSet, SetFlags
from pqassay_spec.directory.entries import Entry, EntryHead
from pqassay_spec.directory.packed_values import join_values
from pqassay_spec.directory.zone_sums import Group, SumKind, SumsHead
from pqassay_spec.grammar.thrift import grammar, unknown_field
from pqassay_spec.grammar.thrift_wire import WireType, varint
from pqassay_spec.parquet.extension_fields import FIELD
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import CompressionCodec, FileMetaData, KeyValue, Type

COMPLETE, NULLS, NAN = SetFlags.COMPLETE, SetFlags.NULLS, SetFlags.NAN

METALS = ["tin", None, "lead", "tin", "zinc", "tin"]
LOTS = [7, 8, 9, 10, 11, 12]
PRICES = [0.5, -0.0, None, 2.0, float("nan"), 1e16]
ROW_GROUP_ROWS = 3


def table(**columns: Any) -> pa.Table:
    """The table; columns can be replaced by other values."""
    values = {"metal": METALS, "lot": LOTS, "price": PRICES, **columns}
    kinds = {"metal": pa.string(), "lot": pa.int64(), "price": pa.float64()}
    return pa.table({name: pa.array(values[name], kind) for name, kind in kinds.items()})


def parquet(data: pa.Table | None = None, **options: Any) -> bytes:
    """The bytes of a Parquet file of two row groups with a page index."""
    buffer = io.BytesIO()
    chosen = {"row_group_size": ROW_GROUP_ROWS, "write_page_index": True, "compression": "none", **options}
    pq.write_table(table() if data is None else data, buffer, **chosen)
    return buffer.getvalue()


def footer_of(data: bytes) -> FileMetaData:
    """The decoded footer of a file."""
    source = BytesSource(data)
    return read_footer(source, read_framing(source))[0]


def packed(kind: Type, *values: Any) -> tuple[bytes, ...]:
    """Values as PLAIN has them, without the length of texts."""
    codes = {Type.INT64: "<q", Type.INT32: "<i", Type.DOUBLE: "<d"}
    if kind not in codes:
        return tuple(value if isinstance(value, bytes) else value.encode() for value in values)
    return tuple(struct.pack(codes[kind], value) for value in values)


def metal_sets(*parts: tuple[int, tuple[str, ...]]) -> bytes:
    """The blob of distinct sets of texts."""
    return distinct_set.build_sets(
        Type.BYTE_ARRAY, [DistinctSet(flags, packed(Type.BYTE_ARRAY, *values)) for flags, values in parts]
    )


METALS_OF_GROUPS = ((COMPLETE | NULLS, ("lead", "tin")), (COMPLETE, ("tin", "zinc")))
"""The distinct sets of the row groups."""


@dataclass(frozen=True)
class Sums:
    """A blob of zone sums: groups part by part, keys column by column, bounds."""

    parts: Sequence[Sequence[tuple[int, int, int, int | float]]]
    keys: Sequence[tuple[Type, Sequence[Any]]] = ()
    kind: SumKind = SumKind.INTEGER
    minima: tuple[bytes, ...] = ()
    maxima: tuple[bytes, ...] = ()
    head: dict[str, int] = field(default_factory=dict[str, int])

    def build(self) -> bytes:
        """The bytes."""
        groups = [group for part in self.parts for group in part]
        head = SumsHead(len(self.parts), len(groups), len(self.keys), self.kind, 0).changed(**self.head)
        blob = head.build() + b"".join(struct.pack("<I", len(part)) for part in self.parts)
        for rows, nulls, nans, total in groups:
            blob += Group(rows, nulls, nans, *self._halves(total)).build()
        for kind, values in self.keys:
            data = _joined(kind, [value for value in values if value is not None])
            blob += bytes(value is None for value in values) + struct.pack("<Q", len(data)) + data
        for bounds in (self.minima, self.maxima):
            data = b"".join(bounds)
            blob += struct.pack("<Q", len(data)) + data
        return blob

    def _halves(self, total: float) -> tuple[int, int]:
        if self.kind is SumKind.INTEGER:
            return zone_sums.integer_parts(int(total))
        return zone_sums.double_parts(total) if self.kind is SumKind.DOUBLE else (0, 0)


def _joined(kind: Type, values: Sequence[Any]) -> bytes:
    return join_values(kind, packed(kind, *values))


LOT_SUMS = Sums(
    parts=([(3, 0, 0, 24)], [(3, 0, 0, 33)]),
    minima=packed(Type.INT64, 7, 10),
    maxima=packed(Type.INT64, 9, 12),
)
"""Zone sums of the lots of each row group."""

METAL_LOT_SUMS = Sums(
    parts=([(1, 0, 0, 8), (1, 0, 0, 9), (1, 0, 0, 7)], [(2, 0, 0, 22), (1, 0, 0, 11)]),
    keys=((Type.BYTE_ARRAY, (None, "lead", "tin", "tin", "zinc")),),
    minima=packed(Type.INT64, 8, 9, 7, 10, 11),
    maxima=packed(Type.INT64, 8, 9, 7, 12, 11),
)
"""The same for each metal."""

PRICE_SUMS = Sums(
    parts=([(3, 1, 0, 0.5)], [(3, 0, 1, 1e16 + 2)]),
    kind=SumKind.DOUBLE,
    minima=packed(Type.DOUBLE, -0.0, 2.0),
    maxima=packed(Type.DOUBLE, 0.5, 1e16),
)
"""Zone sums of the prices of each row group."""


@dataclass(frozen=True)
class Index:
    """An index to embed.

    Attributes:
        type, granularity, columns, placement, codec: What its entry says.
        blob: The blob before compression.
        value_count: What its entry counts.
        head: Fields of the entry's head that are to be otherwise.
        damage: Changes the stored blob after the checksum was taken.
    """

    type: IndexType = IndexType.DISTINCT_SET
    blob: bytes = field(default_factory=lambda: metal_sets(*METALS_OF_GROUPS))
    columns: tuple[tuple[str, ...], ...] = (("metal",),)
    granularity: Granularity = Granularity.ROW_GROUP
    placement: Placement = Placement.BODY
    codec: CompressionCodec = CompressionCodec.UNCOMPRESSED
    value_count: int = 4
    head: dict[str, int] = field(default_factory=dict[str, int])
    damage: Callable[[bytes], bytes] = bytes

    def stored(self) -> bytes:
        """The blob as stored."""
        if self.codec == CompressionCodec.UNCOMPRESSED:
            return self.blob
        name: Any = self.codec.name.lower()
        compressed: Any = pa.Codec(name).compress(self.blob)
        return bytes(compressed)


def sums(blob: Sums, *columns: str, value_count: int, **more: Any) -> Index:
    """An index of zone sums."""
    paths = tuple((column,) for column in columns)
    return Index(IndexType.ZONE_SUMS, blob.build(), paths, value_count=value_count, **more)


def content_of(data: bytes, columns: Sequence[tuple[str, ...]]) -> int:
    """The digest of the described chunks."""
    digest = xxhash.xxh64()
    for offset, length in identity.described_ranges(footer_of(data), columns):
        digest.update(data[offset : offset + length])
    return digest.intdigest()


def with_directory(
    *indexes: Index,
    data: bytes | None = None,
    text: Callable[[str], str | None] = str,
    decoded: Callable[[bytes], bytes] = bytes,
    keys: int = 1,
) -> bytes:
    """A file with a directory of some indexes.

    Args:
        indexes: The indexes.
        data: The file without them.
        text: Changes the value of the key.
        decoded: Changes the directory's bytes before they become Base64.
        keys: How many keys the entries are spread over.
    """
    data = parquet() if data is None else data
    source = BytesSource(data)
    framing = read_framing(source)
    footer, _ = read_footer(source, framing)
    body, area = data[: framing.footer_start], b""
    made: list[Entry] = []
    rows = sum(group.num_rows for group in footer.row_groups)
    for index in indexes:
        stored = index.stored()
        known = {leaf.path for leaf in leaves(footer)} & set(index.columns)
        good = bool(known) and known == set(index.columns)
        head = EntryHead.of(
            type=index.type,
            granularity=index.granularity,
            placement=index.placement,
            codec=index.codec,
            offset={Placement.BODY: len(body), Placement.EXTENSION: len(area)}.get(index.placement, 0),
            stored_length=len(stored),
            plain_length=len(index.blob),
            value_count=index.value_count,
            row_count=rows,
            shape=identity.shape_of(footer, index.columns) if good else 0,
            content=content_of(data, index.columns) if good else 0,
            crc32=zlib.crc32(stored),
        ).changed(**index.head)
        placed = index.damage(stored)
        body += placed if index.placement == Placement.BODY else b""
        area += placed if index.placement == Placement.EXTENSION else b""
        inline = placed if index.placement == Placement.INLINE else b""
        made.append(Entry(head, index.columns, "tests", inline))
    for number in range(keys):
        directory = decoded(entries.build_directory(made[number::keys]))
        value = text(base64.b64encode(directory).decode())
        footer.key_value_metadata = [
            *(footer.key_value_metadata or []),
            KeyValue(key=entries.KEY, value=value),
        ]
    if area:
        content = placement.EXTENSION_UUID + area
        footer.unknown = (unknown_field(FIELD, WireType.BINARY, varint(len(content)) + content),)
    return body + footer_and_tail(bytes(grammar(FileMetaData).build(footer)))
