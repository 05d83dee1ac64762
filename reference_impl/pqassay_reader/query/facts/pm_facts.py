"""Facts about one file from the ``_pm`` beside it: without parsing Thrift or reading the footer of the Parquet file.

``_pm`` has a chunk's range, codec, encodings, counts, bounds and bloom filter, each parsed on demand: a file
of many columns opens as fast as one of few.  ``_pm`` has no pages and no keys, so the rungs *pages* and
*files* do nothing.

Source: chapters ``scan.md``, section "Metadata", and ``pm.md``, section "Reading".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, cast

import numpy as np

from pqassay_reader.condition.rows import condition_of
from pqassay_reader.pages.chunk_claims import ChunkClaims, Mistrusted
from pqassay_reader.pages.row_selection import by_statistics, rows_left
from pqassay_reader.query.facts.footer_facts import NOWHERE, ChunkSizes, FileFacts, SchemaField
from pqassay_reader.query.facts.pm_schema import Made, described, facts_of, pieces_of
from pqassay_reader.query.fetching.ranges import Piece
from pqassay_reference.columns.literals import Tree
from pqassay_reference.errors import Refused
from pqassay_reference.pm.column_values import with_stored_values
from pqassay_reference.pm.query import has_only_nulls, planned, prune
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.parquet.column_order import TYPE_DEFINED
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnOrder,
    FileMetaData,
    KeyValue,
    Statistics,
    Type,
)
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm.codes import StatFlag
from pqassay_spec.pm.skip import read_bound
from pqassay_spec.pm.value import ExternalBloom

BOUNDED = (Type.BOOLEAN, Type.INT32, Type.INT64, Type.FLOAT, Type.DOUBLE, Type.BYTE_ARRAY)
"""Physical types whose bounds compare in ``_pm`` as in Parquet, for every logical type."""

_NULL_COUNT_PRESENT = int(StatFlag.NULL_COUNT_PRESENT)


@dataclass
class _RowGroup:
    """A row group in the form of a footer; its chunks are made on demand."""

    reader: PmReader
    row_group: int
    fields: Sequence[SchemaField]

    @cached_property
    def block(self) -> pm_block.Block:
        """Its block."""
        return self.reader.block(self.row_group)

    @property
    def num_rows(self) -> int:
        """Its number of rows."""
        return self.block.num_rows

    @cached_property
    def columns(self) -> Made[ColumnChunk]:
        """Its chunks."""
        return Made(len(self.reader.columns), self._chunk)

    def _chunk(self, place: int) -> ColumnChunk:
        column, stored = self.reader.columns[place], self.block.chunks[place]
        facts = facts_of(self.fields[place].elements, stored.codec, stored.encodings, stored.num_values)
        facts.total_compressed_size = facts.total_uncompressed_size = stored.total_compressed
        facts.data_page_offset = stored.byte_range_start
        counts = stored.stat_flags & _NULL_COUNT_PRESENT
        facts.statistics = Statistics(null_count=stored.null_count if counts else None)
        if column.physical_type in BOUNDED:
            facts.statistics.min_value, facts.statistics.max_value = (
                read_bound(self.reader.source, self.block, place, column, side, self.reader.footer.start)
                for side in pm_block.SIDES
            )
        return ColumnChunk(file_offset=0, meta_data=facts)


@dataclass
class _Metadata:
    """The parts of a footer that ``_pm`` has."""

    row_groups: list[_RowGroup]
    column_orders: list[ColumnOrder]
    key_value_metadata: list[KeyValue] | None = None
    created_by: str | None = None


@dataclass
class PmClaims(ChunkClaims):
    """The claims of a chunk in ``_pm``; its bloom filter is there or, without a header, in the Parquet file."""

    reader: PmReader = field(kw_only=True)
    row_group: int = field(kw_only=True)
    place: int = field(kw_only=True)

    @cached_property
    def bitset(self) -> bytes:
        """The bitset of the bloom filter. Raises `Mistrusted`."""
        try:
            raw = self.reader.bloom(self.row_group, self.place)
            if isinstance(raw, ExternalBloom):
                raw = self.source.read(raw.offset, raw.length)
        except FormatError as error:
            raise Mistrusted(str(error)) from None
        if not raw or not raw.strip(b"\0"):
            raise Mistrusted("there is no bloom filter, or an empty one")
        return raw


@dataclass
class PmFacts(FileFacts):
    """The facts in the ``_pm`` of a file."""

    reader: PmReader = field(kw_only=True)

    @cached_property
    def sizes(self) -> ChunkSizes:
        """Bytes of all chunks; pages are not in ``_pm``."""
        shape = len(self.metadata.row_groups), len(self.leaves)
        lengths = np.zeros(shape, np.int64)
        for number in range(shape[0]):
            lengths[number] = self.reader.chunk_array(number)["total_compressed"]
        return ChunkSizes(lengths, np.full(shape, -1, np.int64), np.ones(shape, np.bool_))

    def claims_of(self, source: Source, row_group: int, leaf: int) -> ChunkClaims:
        """The claims of a chunk; see `FileFacts.claims_of`."""
        group = self.metadata.row_groups[row_group]
        where: dict[str, Any] = {"reader": self.reader, "row_group": row_group, "place": leaf}
        return PmClaims(
            source, self.body, group.num_rows, group.columns[leaf], self.leaves[leaf], TYPE_DEFINED, **where
        )

    def has_only_nulls(self, row_group: int, leaf: int) -> bool:
        """See `FileFacts.has_only_nulls`."""
        block = self.reader.block(row_group)
        return has_only_nulls(self.reader.columns[leaf], block.chunks[leaf], block.num_rows)

    def pieces(self, row_groups: Iterable[int], leaves: Sequence[int]) -> list[Piece]:
        """See `FileFacts.pieces`: the same ranges as in `pqassay pm plan`."""
        names = [self.reader.columns[leaf].name for leaf in leaves]
        chunks = planned(self.reader, names, row_groups, leave_out_nulls=True).ranges
        return pieces_of(chunks, list(accumulate(self.row_counts)))

    def remember(self, row_group: int, leaf: int, claims: ChunkClaims) -> None:
        """Do nothing: reading ``_pm`` again is as fast as a cache."""


def pm_facts(reader: PmReader, size: int) -> PmFacts:
    """The facts about a Parquet file in a snapshot.

    Args:
        reader: The snapshot.
        size: Bytes of the Parquet file.

    Raises:
        Refused: The snapshot describes a file of another size, or columns that are parts of a struct.
        Malformed: It cannot be read.
    """
    if reader.parquet_file_size != size:
        raise Refused(
            f"{reader.source.name} describes a Parquet file of {reader.parquet_file_size} "
            f"bytes, but the file has {size}; read it by its footer"
        )
    counts = Counter(column.name for column in reader.columns)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise Refused(f"column {twice[0]} has several parts, and _pm does not describe their nesting")
    return snapshot_facts(reader)


def snapshot_facts(reader: PmReader, *, logical: bool = True) -> PmFacts:
    """The facts of a snapshot, with parts of nested columns as separate columns.

    Args:
        reader: The snapshot.
        logical: Whether values get the types of QuestDB's type codes.

    Raises:
        Refused: No schema can have the levels of a column.
        Malformed: It cannot be read.
    """
    reader.require_distinct_blocks()
    footer, size = reader.footer.fields, reader.parquet_file_size
    schema, fields, leaves = described(reader.columns, logical=logical)
    groups = [_RowGroup(reader, number, fields) for number in range(reader.row_group_count)]
    metadata = cast("FileMetaData", _Metadata(groups, [TYPE_DEFINED] * len(fields)))
    framing = Framing(size, footer.parquet_footer_offset, footer.parquet_footer_length)
    facts = PmFacts(metadata, framing, schema, reader=reader)
    facts.fields, facts.leaves = fields, leaves
    return facts


def row_groups_left(reader: PmReader, tree: Tree) -> list[int]:
    """The row groups that may match, using only ``_pm``: first with constants of QuestDB's types, then with the condition's normal form.

    Args:
        reader: The snapshot.
        tree: The condition.

    Raises:
        Refused: There is no such column, or a constant is not a value of it.
        Malformed: A block cannot be read.
    """
    kept = prune(reader, with_stored_values(tree, {column.name: column for column in reader.columns}))
    try:
        facts = pm_facts(reader, reader.parquet_file_size)
        condition = condition_of(tree, facts.schema)
    except Refused:  # constants of QuestDB's own types, such as addresses, or parts of a struct
        return kept

    def may_match(number: int) -> bool:
        def claims(name: str) -> ChunkClaims | None:
            place = facts.leaf_of(name)
            return None if place is None else facts.claims_of(NOWHERE, number, place)

        return bool(rows_left(condition, claims, facts.row_counts[number], by_statistics))

    return [number for number in kept if may_match(number)]


__all__ = ["PmFacts", "pm_facts", "row_groups_left", "snapshot_facts"]
