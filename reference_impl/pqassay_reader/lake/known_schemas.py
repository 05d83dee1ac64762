"""Schemas that were parsed before, by the bytes with which footers begin: the files of a table have few."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from pqassay_reader.lake.index_pairs import path_of
from pqassay_spec.grammar.thrift_wire import (
    WireType,
    field_ranges,
    read_byte,
    read_field_id,
    read_varint,
    unzigzag,
)
from pqassay_spec.idx1.companion import is_described
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import FileMetaData

MOST = 16
"""Schemas that are remembered, and columns of each."""

_FIELDS = {declared.name: declared for declared in FileMetaData.fields}


@dataclass
class KnownSchema:
    """One schema, and the beginning of a footer that has it.

    Attributes:
        beginning: The bytes of a footer up to the number of rows: version, schema, and the header of the next field.
        columns: The leaves of the schema.
    """

    beginning: bytes
    columns: Sequence[SchemaLeaf]
    _described: dict[bytes, tuple[str, ...] | None] = field(
        default_factory=dict[bytes, "tuple[str, ...] | None"]
    )

    def rows(self, footer: bytes) -> int:
        """The number of rows in a footer that begins like this.

        Raises:
            FormatError: It is no number of 64 bits.
        """
        return unzigzag(read_varint(footer, len(self.beginning))[0])

    def described(self, column: bytes) -> tuple[str, ...] | None:
        """The path of a column, spelled as in `WrittenPairs`, if an index can describe it; else ``None``."""
        if column not in self._described:
            if len(self._described) >= MOST:
                self._described = {}  # names that strangers make up may not fill the memory
            path = path_of(column)
            self._described[column] = path if path and is_described(path, self.columns) else None
        return self._described.get(column)


@dataclass
class KnownSchemas:
    """The beginnings of footers that were parsed.

    Decoding goes from left to right, so a footer that begins with the same bytes has the same schema.
    """

    _known: list[KnownSchema] = field(default_factory=list[KnownSchema])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, footer: bytes) -> KnownSchema | None:
        """The schema of a footer if it begins as one that was parsed."""
        for known in self._known:
            if footer.startswith(known.beginning):
                return known
        return None

    def learn(self, footer: bytes, metadata: FileMetaData) -> KnownSchema | None:
        """Remember how a footer begins that was parsed whole; ``None`` where its rows are not found that way.

        Raises:
            FormatError: Its schema is not one tree.
        """
        first = list(islice(field_ranges(footer), 2))
        if [part.id for part in first] != [_FIELDS["version"].id, _FIELDS["schema"].id]:
            return None
        end = _start_of_rows(footer, first[-1].end)
        if end is None:
            return None
        learned = KnownSchema(footer[:end], leaves(metadata))
        with self._lock:  # threads may learn the same at once
            if self.has_room and self.of(footer) is None:
                self._known.append(learned)
        return learned

    @property
    def has_room(self) -> bool:
        """Whether one more can be remembered."""
        return len(self._known) < MOST


def _start_of_rows(footer: bytes, position: int) -> int | None:
    """Where the number of rows begins if its field follows the schema, as with every writer known."""
    header = read_byte(footer, position)
    number, position = read_field_id(footer, position + 1, header, _FIELDS["schema"].id)
    return position if number == _FIELDS["num_rows"].id and header & 15 == WireType.I64 else None
