"""Facts about one file: its columns, its row groups and the chunks in them, from the footer of the Parquet file.

Facts of unchanged files are cached by name, size and modification time, with the claims about their chunks:
the next scan of such a file reads no metadata.

Source: chapter ``scan.md``, section "Metadata".
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pqassay_reader.condition.kinds import find_column
from pqassay_reader.directory.arrays import Sets
from pqassay_reader.directory.sketches import EntrySketches
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.query.fetching.ranges import Piece
from pqassay_reference.directory.reading.usable_entries import FileDirectory, LeftAside
from pqassay_reference.errors import Undecodable
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource, Source
from pqassay_spec.directory.entries import EntryKey
from pqassay_spec.grammar.thrift_encoder import encode
from pqassay_spec.parquet.file import HEAD, TAIL, Framing, decode_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.schema.types import annotation_of, converted_of
from pqassay_spec.parquet.thrift import (
    ColumnMetaData,
    ColumnOrder,
    ConvertedType,
    FieldRepetitionType,
    FileMetaData,
    KeyValue,
    LogicalType,
    PageType,
    RowGroup,
    SchemaElement,
    StringType,
)

ARROW_SCHEMA = "ARROW:schema"
"""The key under which Arrow stores its own schema."""

REPETITIONS = frozenset(FieldRepetitionType)
"""The defined repetition types of a field."""

KEPT = 64
"""Number of files whose facts are cached."""

NOWHERE = BytesSource(b"")
"""The source of cached claims, from which nothing more is read."""

Identity = tuple[str, int, int, int]
"""Name, size, modification time and inode of a file; the latter two are 0 if they are unknown."""


class SchemaField(NamedTuple):
    """A top-level field of the schema.

    Attributes:
        arrow: Its name and type, as Arrow reads it.
        elements: Its schema elements, depth first.
        leaves: The positions of its leaf columns among all.
    """

    arrow: pa.Field[Any]
    elements: Sequence[SchemaElement]
    leaves: range


class ChunkSizes(NamedTuple):
    """Pages and bytes of the chunks of a file, as arrays of row groups by leaves.

    Attributes:
        lengths: Their bytes; 0 if the footer lacks the metadata of a chunk.
        pages: Their numbers of pages of values; -1 if the footer does not give it.
        present: Whether the footer has their metadata.
    """

    lengths: NDArray[np.int64]
    pages: NDArray[np.int64]
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, groups: Sequence[RowGroup], leaf_count: int) -> ChunkSizes:
        """Collect them from the row groups of a footer."""
        shape = len(groups), leaf_count
        chunks = [chunk.meta_data for group in groups for chunk in group.columns]
        return cls(
            np.array([0 if one is None else one.total_compressed_size for one in chunks], np.int64).reshape(
                shape
            ),
            np.array([0 if one is None else _page_count(one) for one in chunks], np.int64).reshape(shape),
            np.array([one is not None for one in chunks], np.bool_).reshape(shape),
        )


def _page_count(chunk: ColumnMetaData) -> int:
    if chunk.encoding_stats is None:
        return -1
    return sum(one.count for one in chunk.encoding_stats if one.page_type != PageType.DICTIONARY_PAGE)


@dataclass
class FileFacts:
    """The facts in the metadata of a file.

    Attributes:
        metadata: The footer.
        framing: The places of its parts.
        schema: The schema as Arrow reads it.
        claims: The structures of chunks that were read, by row group and position of the leaf.
        directory: The distinct sets and KLL sketches in its index directory; ``None`` until they are needed.
        sets: The sets that were read, or the reason for ignoring one.
        sketches: The sketches that were read.
    """

    metadata: FileMetaData
    framing: Framing
    schema: pa.Schema
    claims: dict[tuple[int, int], ChunkClaims] = field(default_factory=dict[tuple[int, int], ChunkClaims])
    directory: FileDirectory | None = None
    sets: dict[EntryKey, Sets | LeftAside] = field(default_factory=dict[EntryKey, "Sets | LeftAside"])
    sketches: dict[EntryKey, EntrySketches] = field(default_factory=dict[EntryKey, EntrySketches])
    _columns: dict[str, tuple[int, int | None]] = field(default_factory=dict[str, tuple[int, int | None]])
    _key_values: dict[tuple[str, range], list[KeyValue]] = field(
        default_factory=dict[tuple[str, range], list[KeyValue]]
    )

    @property
    def body(self) -> range:
        """Start and end offset of the body of the file."""
        return range(self.framing.body_start, self.framing.footer_start)

    @property
    def row_counts(self) -> list[int]:
        """Number of rows of each row group."""
        return [group.num_rows for group in self.metadata.row_groups]

    @cached_property
    def leaves(self) -> Sequence[SchemaLeaf]:
        """The leaf columns."""
        leaves_there = leaves(self.metadata)
        for number, group in enumerate(self.metadata.row_groups):
            elsewhere = next((chunk.file_path for chunk in group.columns if chunk.file_path), None)
            if elsewhere is not None:
                raise Undecodable(f"the chunks of row group {number} are in another file, {elsewhere}")
            if group.num_rows < 0:
                raise Malformed(
                    f"row group {number} has {group.num_rows} rows",
                    rule="PQF-015",
                    field=f"footer.row_groups[{number}].num_rows",
                )
            if len(group.columns) != len(leaves_there):
                raise Malformed(
                    f"row group {number} lists {len(group.columns)} chunks for {len(leaves_there)} columns",
                    rule="PQF-012",
                    field=f"footer.row_groups[{number}].columns",
                )
        return leaves_there

    def has_only_nulls(self, row_group: int, leaf: int) -> bool:
        """Whether every row of a chunk is null, so it is not fetched; only ``_pm`` is trusted for this."""
        del row_group, leaf
        return False

    def pieces(self, row_groups: Iterable[int], leaves: Sequence[int]) -> list[Piece]:
        """The ranges of all chunks of some leaves to fetch; empty if the ranges depend on pages."""
        del row_groups, leaves
        return []

    @cached_property
    def fields(self) -> Sequence[SchemaField]:
        """The top-level fields. Raises `Malformed` if Arrow's schema has others."""
        parts = list(_top_level(self.metadata.schema))
        if len(parts) != len(self.schema):
            raise Malformed("the schema has other fields than Arrow reads", rule="PQF-004", field="footer")
        return [
            SchemaField(self.schema.field(at), elements, places)
            for at, (elements, places) in enumerate(parts)
        ]

    def require_repetitions(self, places: Collection[int]) -> None:
        """Raise `Malformed` for fields with a repetition type that the format does not define; the others can be read."""
        elements = [(place, element) for place, one in enumerate(self.fields) for element in one.elements]
        for number, (place, element) in enumerate(elements, 1):
            if place in places and element.repetition_type not in REPETITIONS:
                raise Malformed(
                    f"{element.name} is neither required nor optional nor repeated",
                    rule="PQF-040",
                    field=f"footer.schema[{number}].repetition_type",
                )

    @cached_property
    def sizes(self) -> ChunkSizes:
        """Pages and bytes of all chunks."""
        return ChunkSizes.of(self.metadata.row_groups, len(self.leaves))

    def key_values(self, schema_field: SchemaField) -> list[KeyValue]:
        """The key-values for a file with only this field: Arrow's schema of the field, if the file has one."""
        name = schema_field.arrow.name, schema_field.leaves
        if name not in self._key_values:
            stored = self.metadata.key_value_metadata or []
            pairs: list[KeyValue] = []
            if any(pair.key == ARROW_SCHEMA for pair in stored):
                encoded = base64.b64encode(pa.schema([schema_field.arrow]).serialize()).decode()
                pairs.append(KeyValue(key=ARROW_SCHEMA, value=encoded))
            self._key_values[name] = pairs
        return self._key_values[name]

    def place_of(self, name: str) -> int:
        """Position of the field that contains a column. Raises `Refused` like `find_column`."""
        return self._place_and_leaf(name)[0]

    def leaf_of(self, name: str) -> int | None:
        """Position of the leaf of a column; ``None`` if it is not a single leaf. Raises the errors of `place_of`."""
        return self._place_and_leaf(name)[1]

    def _place_and_leaf(self, name: str) -> tuple[int, int | None]:
        if name not in self._columns:
            path, _ = find_column(self.schema, name)
            place = self.schema.get_field_index(path[0])
            places = [at for at in self.fields[place].leaves if self.leaves[at].is_at(path)]
            self._columns[name] = place, places[0] if len(places) == 1 else None
        return self._columns[name]

    def remember(self, row_group: int, leaf: int, claims: ChunkClaims) -> None:
        """Cache the structures of a chunk, except its bloom filter, which may be large."""
        known = self.claims.get((row_group, leaf))
        if known is not None and claims.__dict__.keys() - known.__dict__.keys() <= {"bitset"}:
            return
        kept = copy.copy(claims)
        kept.source, kept.used = NOWHERE, set()
        kept.__dict__.pop("bitset", None)
        self.claims[row_group, leaf] = kept

    def claims_of(self, source: Source, row_group: int, leaf: int) -> ChunkClaims:
        """The claims of a chunk, which are read from a source; cached ones are included."""
        known = self.claims.get((row_group, leaf))
        if known is not None:
            known = copy.copy(known)
            known.source, known.used = source, set()
            return known
        group = self.metadata.row_groups[row_group]
        orders = self.metadata.column_orders
        order: ColumnOrder | None = orders[leaf] if orders and leaf < len(orders) else None
        return ChunkClaims(source, self.body, group.num_rows, group.columns[leaf], self.leaves[leaf], order)


def _top_level(schema: Sequence[SchemaElement]) -> Iterator[tuple[Sequence[SchemaElement], range]]:
    """Elements and positions of the leaves of each top-level field."""
    start, leaf = 1, 0
    while start < len(schema):
        stop, open_children, first = start, 1, leaf
        while open_children and stop < len(schema):
            element = schema[stop]
            open_children += (element.num_children or 0) - 1
            leaf += element.type is not None
            stop += 1
        yield schema[start:stop], range(first, leaf)
        start = stop


# ----------------------------------------------------------------------------------------------------- reading them


def read_facts(source: Source) -> FileFacts:
    """Read the metadata of a Parquet file from its footer.

    Raises:
        FormatError: The footer cannot be read.
        Undecodable: Arrow cannot read its schema.
    """
    framing = read_framing(source)
    footer = source.read(framing.footer_start, framing.footer_length)
    metadata, _ = decode_footer(footer, framing)
    enums = [one for one in metadata.schema if "ENUM" in (annotation_of(one), converted_of(one))]
    if enums:  # text, which Arrow takes for bytes
        for element in enums:
            element.logicalType, element.converted_type = LogicalType(STRING=StringType()), ConvertedType.UTF8
        footer = encode(metadata)
    alone = bytes(HEAD.build({})) + footer + bytes(TAIL.build({"footer_length": len(footer)}))
    try:
        schema: pa.Schema = pq.ParquetFile(pa.BufferReader(alone)).schema_arrow
        schema.to_string()  # reads all names, which need not be UTF-8
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise Undecodable(f"the file cannot be read: {' '.join(str(error).split())}") from error
    facts = FileFacts(metadata, framing, schema)
    _ = facts.leaves, facts.fields  # the footer has to describe a tree
    return facts


class KeptFacts:
    """A cache of the facts of the most recently read files."""

    def __init__(self) -> None:
        self._facts: dict[Identity, FileFacts] = {}
        self._lock = Lock()

    def get(self, identity: Identity) -> FileFacts | None:
        """The facts of a file, if it has not changed since."""
        with self._lock:
            facts = self._facts.pop(identity, None)
            if facts is not None:
                self._facts[identity] = facts
            return facts

    def keep(self, identity: Identity, facts: FileFacts) -> None:
        """Cache the facts of a file, if its modification time is known."""
        if identity[2]:
            with self._lock:
                self._facts[identity] = facts
                while len(self._facts) > KEPT:
                    del self._facts[next(iter(self._facts))]

    def clear(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._facts.clear()


KEPT_FACTS = KeptFacts()
"""The cache of this process."""


__all__ = ["KEPT_FACTS", "FileFacts", "KeptFacts", "SchemaField", "read_facts"]
