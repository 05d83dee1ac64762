"""The parts of a ``_pm`` file, each parsed, in the order of the bytes.

`pqassay_spec.mutation.pm_dissection` makes a `PmTree`; `Serialised` has its bytes.  Values that follow from the places of
the parts are in `pqassay_spec.mutation.pm_layout`.

Flat records are dictionaries with the names of the grammar's fields.  Some have one more member, which is not stored in the
file: the part of the file that they refer to, so the reference stays right when that part moves.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pqassay_spec.grammar.constructs import built
from pqassay_spec.grammar.flat_records import FlatStruct
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import ALIGNMENT, HeaderFeature

Flat = dict[str, Any]
"""A flat record by the names of its fields."""

NAME = "name"
"""Member of a descriptor: the position of its name in `PmTree.names`."""

ORDINAL = "ordinal"
"""Member of a column chunk: the position of its statistics in `Block.min_stats` and `Block.max_stats`."""

TARGET = "target"
"""Member of an entry of a footer: the `Block.key` that it refers to; for a bloom filter's entry, that key and the position of
the filter in `Block.bloom_filters`. ``None`` if the referenced part is not in the tree."""


class Part(NamedTuple):
    """A part of the file among its siblings: the list that holds it, and its position or, for blocks and snapshots, its key."""

    kind: str
    key: int


@dataclass
class FilterParts:
    """A bloom filter that is stored in the file, and the padding that aligns it."""

    length: int
    bitset: bytes
    padding: bytes = b""


@dataclass
class BlockParts:
    """A row group's block with everything that belongs to it.

    Attributes:
        key: Identifies the block, even after changes to the list of blocks.
        num_rows: Rows.
        column_chunks: The chunks.
        min_stats, max_stats: The bytes of each statistic that is stored out of line, or ``None``.
        bloom_filters: For each column with bloom filters, in order, its filter or ``None``.
        gaps: Runs of bytes between the parts that do not belong to a structure.
        order: The parts after the chunks, in the order of the bytes.
        padding: The bytes before the block that align it.
    """

    key: int
    num_rows: int
    column_chunks: list[Flat]
    min_stats: list[bytes | None]
    max_stats: list[bytes | None]
    bloom_filters: list[FilterParts | None]
    gaps: list[bytes] = field(default_factory=list[bytes])
    order: list[Part] = field(default_factory=list[Part])
    padding: bytes = b""


@dataclass
class HeaderSections:
    """The sections at the end of the header; ``None`` for a missing section."""

    bloom_filters: Flat | None = None
    squash_tracker: Flat | None = None


@dataclass
class SnapshotParts:
    """A footer with its trailer.

    Attributes:
        key: Identifies the snapshot, even after changes to the list of snapshots.
        footer: Its fixed fields.
        row_group_entries, bloom_entries: Its entries.
        seq_txn, scratchpad, covering_index: Extensions of later revisions.
        rest: Bytes after all known sections.
        checksum, footer_length: Its end.
    """

    key: int
    footer: Flat
    row_group_entries: list[Flat]
    bloom_entries: list[Flat]
    seq_txn: Flat | None
    scratchpad: Flat | None
    covering_index: Flat | None
    rest: bytes
    checksum: int
    footer_length: int


@dataclass
class PmTree:
    """A parsed file. Paths into it look like ``blocks[0].column_chunks[1].num_values``, as in its trace.

    Attributes:
        header: The fixed header.
        column_descriptors, sorting_columns: The tables after it.
        names: The columns' names; ``None`` for a name that lies outside the names, or shares bytes with another name.
        header_sections: The end of the header.
        blocks: Every block that a snapshot refers to, in the order of the bytes.
        snapshots: The snapshots, the newest first.
        gaps: Runs of bytes that do not belong to a structure: blocks without references, footers of interrupted updates.
        orphan_tail: Bytes after the committed size.
        names_order: The names and gaps after the sorting columns, in the order of the bytes.
        body: The blocks, snapshots and gaps after the header, in the order of the bytes.
        live: Paths whose value followed from the layout in the original file; only these are recomputed.
    """

    header: Flat
    column_descriptors: list[Flat]
    sorting_columns: list[Flat]
    names: list[bytes | None]
    header_sections: HeaderSections
    blocks: list[BlockParts]
    snapshots: list[SnapshotParts]
    gaps: list[bytes] = field(default_factory=list[bytes])
    orphan_tail: bytes = b""
    names_order: list[Part] = field(default_factory=list[Part])
    body: list[Part] = field(default_factory=list[Part])
    live: set[str] = field(default_factory=set[str])


def is_external(tree: PmTree) -> bool:
    """Whether the entries of bloom filters refer to filters in the Parquet file; the flag decides, and also the size of an entry."""
    return bool(tree.header["feature_flags"] & HeaderFeature.BLOOM_FILTERS_EXTERNAL)


# ------------------------------------------------------------------------------------------------------ bytes


class Serialised:
    """The bytes of a tree, and the places of its parts.

    Attributes:
        content: The bytes.
        places: Start and length of every name, block, statistic out of line, bloom filter, snapshot and padding, by path.
    """

    def __init__(self, tree: PmTree, realigned: Collection[str] = ()) -> None:
        """Lay the parts out; each padding at the ``realigned`` paths gets its required length, in the tree as well."""
        self.content = bytearray()
        self.places: dict[str, tuple[int, int]] = {}
        self._realigned = realigned
        self._header(tree)
        for part in tree.body:
            if part.kind == "gaps":
                self.content += tree.gaps[part.key]
            for number, block in enumerate(tree.blocks):
                if part == ("blocks", block.key):
                    self._block(block, f"blocks[{number}]")
            for number, snapshot in reversed(list(enumerate(tree.snapshots))):
                if part == ("snapshots", snapshot.key):
                    self._put(f"snapshots[{number}]", footer_bytes(tree, snapshot))
        self.content += tree.orphan_tail

    def _put(self, path: str, raw: bytes) -> None:
        self.places[path] = (len(self.content), len(raw))
        self.content += raw

    def _pad(self, owner: BlockParts | FilterParts, path: str) -> None:
        if f"{path}.padding" in self._realigned:
            owner.padding = aligning(len(self.content))
        self._put(f"{path}.padding", owner.padding)

    def _header(self, tree: PmTree) -> None:
        self.content += _packed(pm.FixedHeader, tree.header)
        for descriptor in tree.column_descriptors:
            self.content += _packed(pm.ColumnDescriptor, descriptor)
        for sorting in tree.sorting_columns:
            self.content += pm.SortingColumn.grammar.build(sorting)
        for part in tree.names_order:
            held = tree.names if part.kind == "names" else tree.gaps
            self._put(f"{part.kind}[{part.key}]", held[part.key] or b"")
        self.content += _sections(tree.header_sections, pm.HEADER_SECTIONS)

    def _block(self, block: BlockParts, path: str) -> None:
        self._pad(block, path)
        start = len(self.content)
        self.content += pm.BlockHeader.grammar.build({"num_rows": block.num_rows})
        for chunk in block.column_chunks:
            self.content += _packed(pm.ColumnChunk, chunk)
        self.places[path] = (start, len(self.content) - start)
        for part in block.order:
            raw = getattr(block, part.kind)[part.key]
            place = f"{path}.{part.kind}[{part.key}]"
            if isinstance(raw, FilterParts):
                self._pad(raw, place)
                self._put(place, pm.BLOOM_LENGTH.build({"length": raw.length}) + raw.bitset)
            else:
                self._put(place, raw or b"")


def footer_bytes(tree: PmTree, snapshot: SnapshotParts) -> bytes:
    """The bytes of a snapshot, its trailer included."""
    entry = pm.BloomEntry.grammar if is_external(tree) else pm.InlinedBloom.grammar
    return b"".join(
        (
            _packed(pm.FooterFields, snapshot.footer),
            *(pm.RowGroupEntry.grammar.build(one) for one in snapshot.row_group_entries),
            *(entry.build({"length": 0, **one}) for one in snapshot.bloom_entries),
            _sections(snapshot, pm.FOOTER_SECTIONS),
            snapshot.rest,
            pm.CHECKSUM.build({"checksum": snapshot.checksum}),
            pm.TRAILER.build({"footer_length": snapshot.footer_length}),
        )
    )


def _packed(record: type[FlatStruct], members: Flat) -> bytes:
    """The bytes of a flat record; faster than construct."""
    return record.layout.pack(*(members[name] for name in record.offsets))


def aligning(position: int) -> bytes:
    """The padding that aligns a position."""
    return bytes(-position % ALIGNMENT)


def _sections(owner: HeaderSections | SnapshotParts, declared: Any) -> bytes:
    """The sections of a header or footer, even with false counts: a list is written in its full length."""
    written = b""
    for section in declared:
        members: Flat | None = getattr(owner, section.name)
        if members is not None:
            written += built(section.structure, members)
    return written
