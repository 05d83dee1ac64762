"""The common parts of ``_pm`` and the Parquet file beside it: columns, row groups, column chunks, bloom filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from pqassay.checks.pm.pair import FilePair
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.pm.file import descriptor_field
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnMetaData, SchemaElement
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.from_parquet.questdb_key import QuestDBColumn
from pqassay_spec.pm.from_parquet.snapshot import bloom_of
from pqassay_spec.pm.value import ExternalBloom


class ColumnOfPair(NamedTuple):
    """A column that is in both files."""

    pair: FilePair
    position: int

    @property
    def described(self) -> pm.ColumnDescriptor:
        """Its descriptor."""
        return self.pair.header.descriptors[self.position]

    @property
    def leaf(self) -> SchemaLeaf:
        """Its leaf in the Parquet file's schema."""
        return self.pair.leaves[self.position]

    @property
    def element(self) -> SchemaElement:
        """The schema element of the leaf."""
        return self.leaf.element

    @property
    def said_by_questdb(self) -> QuestDBColumn:
        """Its entry in QuestDB's own key. Raises `NotApplicable` if it has none."""
        return self.pair.said_by_questdb.schema[self.position]

    def violation(self, name: str, message: str, expected: str, actual: str) -> Violation:
        """The violation at a field of its descriptor."""
        return descriptor_field(self.position, name).violation(
            message, expected, actual, column=self.leaf.name
        )

    def differs(self, name: str, words: str, expected: str, actual: str) -> Violation:
        """The violation of a descriptor field that differs from the schema."""
        message = f"{words} of column {self.leaf.name} is {actual}, in data.footer.schema it is {expected}"
        return self.violation(name, message, expected, actual)


class RowGroupOfPair:
    """A row group that is in both files.

    Attributes:
        pair: The files.
        number: Its number.
        block: Its block.
        columns: Its column chunks in the Parquet file.
    """

    def __init__(self, pair: FilePair, number: int) -> None:
        self.pair, self.number = pair, number
        self.block = pair.blocks[number]
        self.columns: Sequence[ColumnChunk] = pair.metadata.row_groups[number].columns

    @property
    def facts(self) -> Sequence[ColumnMetaData | None]:
        """The Parquet footer's metadata of each chunk; ``None`` if it is encrypted."""
        return self.pair.facts[self.number]

    @cached_property
    def chunks(self) -> list[ChunkOfPair]:
        """Its column chunks whose metadata can be read."""
        both = zip(self.facts, self.block.chunks, strict=True)
        return [
            ChunkOfPair(self, column, facts, record)
            for column, (facts, record) in enumerate(both)
            if facts is not None
        ]

    def numbers(self, number_of: Callable[[ColumnMetaData], int | None]) -> list[int | None]:
        """One number of each chunk according to the Parquet footer."""
        return [None if facts is None else number_of(facts) for facts in self.facts]

    def differences(
        self,
        name: str,
        theirs: str,
        numbers: Sequence[int | None],
        *,
        shown: Callable[[int], str] = str,
        flag: int = 0,
    ) -> Iterator[Violation]:
        """Yield the violations in one number of all column chunks.

        Args:
            name: The number in a chunk's record.
            theirs: The corresponding field in the Parquet footer.
            numbers: For each chunk, the number that should be stored; ``None`` if the Parquet footer lacks it.
            shown: Formats a number for messages.
            flag: The flag that marks the number in the record as present.
        """
        take: Callable[[pm.ColumnChunk], int] = attrgetter(name)
        records = self.block.chunks
        if numbers == [take(record) for record in records]:
            return
        for chunk in self.chunks:
            number, said = numbers[chunk.column], take(chunk.record)
            if number is not None and chunk.record.stat_flags & flag == flag and said != number:
                yield chunk.differs(name, theirs, shown(number), shown(said))

    def differing_counts(self, name: str, flag: int) -> Iterator[Violation]:
        """Yield the violations in one count of Parquet's statistics; negative counts are ignored."""
        statistics = [None if facts is None else facts.statistics for facts in self.facts]
        counts = [None if one is None else getattr(one, name) for one in statistics]
        said = [None if count is None or count < 0 else count for count in counts]
        return self.differences(name, f"statistics.{name}", said, flag=flag)


class ChunkOfPair(NamedTuple):
    """A column chunk of both files.

    Attributes:
        row_group: Its row group.
        column: The position of its column.
        facts: Its metadata in the Parquet footer.
        record: Its record in ``_pm``.
    """

    row_group: RowGroupOfPair
    column: int
    facts: ColumnMetaData
    record: pm.ColumnChunk

    @property
    def pair(self) -> FilePair:
        """The files."""
        return self.row_group.pair

    @property
    def leaf(self) -> SchemaLeaf:
        """Its column in the Parquet file's schema."""
        return self.pair.leaves[self.column]

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"row group {self.row_group.number} of column {self.leaf.name}"

    @property
    def data_path(self) -> str:
        """Field path of its metadata in the Parquet footer."""
        return data_path(self.row_group.number, self.column)

    def violation(self, name: str, message: str, expected: str, actual: str) -> Violation:
        """The violation at a field of its record."""
        spot, number = self.pair.chunk_field(self.row_group.number, self.column, name), self.row_group.number
        return spot.violation(message, expected, actual, column=self.leaf.name, row_group=number)

    def differs(self, name: str, theirs: str, expected: str, actual: str) -> Violation:
        """The violation of a record field that differs from a Parquet footer field; ``theirs`` is relative to the chunk's path."""
        message = f"{name.upper()} of {self.label} is {actual}, {self.data_path}.{theirs} is {expected}"
        return self.violation(name, message, expected, actual)


def data_path(row_group: int, column: int) -> str:
    """Field path of a column chunk's metadata in the Parquet footer."""
    return f"data.footer.row_groups[{row_group}].columns[{column}].meta_data"


class BloomFilterOfPair:
    """The bloom filter of a column chunk; either file may lack it.

    Attributes:
        pair: The files.
        row_group: The number of its row group.
        column: The position of its column.
        number: The number of its entry in ``_pm``; ``None`` if its column has no bloom filters.
    """

    def __init__(self, pair: FilePair, row_group: int, column: int) -> None:
        self.pair, self.row_group, self.column = pair, row_group, column
        self.number = pair.bloom_number(row_group, column)

    @cached_property
    def there(self) -> ExternalBloom | None:
        """The place where the Parquet file stores it; ``None`` if it is absent or cannot be read."""
        chunk = self.pair.metadata.row_groups[self.row_group].columns[self.column]
        return bloom_of(chunk, self.pair.parquet.source, self.pair.parquet.framing)[0]

    @property
    def here(self) -> pm.BloomEntry | None:
        """Its entry in ``_pm``; ``None`` if it is absent."""
        entry = None if self.number is None else self.pair.bloom_entries[self.number]
        return None if entry == pm.NO_BLOOM else entry

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"bloom filter of row group {self.row_group} of column {self.pair.leaves[self.column].name}"

    @property
    def data_field(self) -> str:
        """Field path of its offset in the Parquet footer."""
        return f"{data_path(self.row_group, self.column)}.bloom_filter_offset"

    def violation(self, spot: Spot, message: str, expected: str, actual: str) -> Violation:
        """The violation of the bloom filter at a spot."""
        name = self.pair.leaves[self.column].name
        return spot.violation(message, expected, actual, column=name, row_group=self.row_group)


def columns_of(file: FileUnderTest) -> list[ColumnOfPair]:
    """The columns of both files. Raises PM-104 if their numbers differ."""
    pair = file.part(FilePair)
    return [ColumnOfPair(pair, column) for column in range(pair.column_count)]


def row_groups_of(file: FileUnderTest) -> list[RowGroupOfPair]:
    """The row groups of both files. Raises PM-103 if their numbers differ."""
    pair = file.part(FilePair)
    return [RowGroupOfPair(pair, number) for number in range(pair.row_group_count)]


def chunks_of(file: FileUnderTest) -> list[ChunkOfPair]:
    """The column chunks of both files whose metadata can be read."""
    return [chunk for row_group in file.part(row_groups_of) for chunk in row_group.chunks]


def bloom_filters_of(file: FileUnderTest) -> list[BloomFilterOfPair]:
    """The bloom filters of all column chunks that may have one."""
    pair = file.part(FilePair)
    return [
        BloomFilterOfPair(pair, row_group, column)
        for row_group in range(pair.row_group_count)
        for column, facts in enumerate(pair.facts[row_group])
        if column in pair.bloom_positions or (facts is not None and facts.bloom_filter_offset)
    ]
