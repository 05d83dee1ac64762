"""Known defects of writers as explanations of findings: the condition of a defect must hold wherever the rule is broken."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.pm.file import PmUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import FLOATING, Order, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ColumnMetaData, Encoding, RowGroup, Statistics, Type
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import NO_TYPE, ColumnType, type_tag
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.rules.catalogue import DEFAULT_FILE
from pqassay_spec.rules.quirks import explanation, quirks_of

_CHUNK = re.compile(r"row_groups\[(\d+)\]\.columns\[(\d+)\]")
_CHUNK_OF_PM = re.compile(r"blocks\[\d+\]\.column_chunks\[(\d+)\]")
_NUMBER = re.compile(r"(?:between )?(-?\d+)")
_ROW_GROUP = re.compile(r"row_groups\[(\d+)\]")


class _Place:
    """A place where a rule is broken, with the structures there. If the place has no column chunk, each property raises an error."""

    def __init__(self, file: FileUnderTest, violation: Violation) -> None:
        self.file, self.field = file, str(violation.field)
        self.expected, self.actual = violation.expected, violation.actual

    @cached_property
    def group(self) -> RowGroup:
        """The row group."""
        return self.file.metadata.row_groups[self._numbers(_ROW_GROUP)[0]]

    @cached_property
    def leaf(self) -> SchemaLeaf:
        """The column."""
        return self.file.leaves[self.column]

    @property
    def column(self) -> int:
        """The position of the column."""
        return self._numbers(_CHUNK)[1]

    @cached_property
    def facts(self) -> ColumnMetaData:
        """The footer's metadata of the chunk."""
        facts = self.group.columns[self.column].meta_data
        if facts is None:
            raise NotApplicable
        return facts

    @property
    def statistics(self) -> Statistics:
        """The statistics of the chunk; empty if it has none."""
        return self.facts.statistics or Statistics()

    @property
    def order(self) -> Order | None:
        """The order of its type."""
        return type_order(self.leaf.element)

    @property
    def questdb_type(self) -> int:
        """QuestDB's type code of the column, from the key ``questdb``."""
        questdb = questdb_key.read(self.file.metadata, len(self.file.leaves))
        return NO_TYPE if questdb is None else questdb.schema[self.column].column_type

    @property
    def is_repeated(self) -> bool:
        """Whether the column is inside lists."""
        return self.leaf.max_repetition_level > 0

    def _numbers(self, pattern: re.Pattern[str]) -> list[int]:
        match = pattern.search(self.field)
        if match is None:
            raise NotApplicable
        return [int(number) for number in match.groups()]


class _PlaceInPm(_Place):
    """A place in a ``_pm`` file, whose header describes the columns. It has no schema and no Parquet footer."""

    @property
    def column(self) -> int:
        """The position of the column."""
        return self._numbers(_CHUNK_OF_PM)[0]

    @property
    def questdb_type(self) -> int:
        """QuestDB's type code of the column."""
        return self._described.type

    @property
    def is_repeated(self) -> bool:
        """Whether the column is inside lists."""
        return self._described.max_rep_level > 0

    @property
    def _described(self) -> pm.ColumnDescriptor:
        return self.file.part(PmUnderTest).header.descriptors[self.column]


def _is_of_bytes(place: _Place) -> bool:
    return place.leaf.element.type in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY)


def _has_compressed_size(place: _Place) -> bool:
    sizes = [chunk.meta_data.total_compressed_size for chunk in place.group.columns if chunk.meta_data]
    return place.group.total_byte_size == sum(sizes)


def _has_orders_of_top_columns(place: _Place) -> bool:
    metadata = place.file.metadata
    return len(metadata.column_orders or ()) == metadata.schema[0].num_children


def _leaves_out_nulls(place: _Place) -> bool:
    """Whether the count of nulls of a nested column is too small."""
    wanted, given = _first_number(place.expected), _first_number(place.actual)
    if place.field.endswith("definition_level_histogram"):  # the field that the count should agree with
        wanted, given = given, wanted
    return place.leaf.is_nested and given < wanted


def _first_number(text: str) -> int:
    """The first number in a finding's expected or actual value; for a range, the smaller one. Raises `LookupError` without a number."""
    match = _NUMBER.match(text)
    if match is None:
        raise LookupError(text)
    return int(match[1])


def _has_one_level_twice(place: _Place) -> bool:
    """Whether both entries of a missing list have the same definition level."""
    before, _, here = place.actual.partition(" and ")
    return before == here


def _is_of_two_leaves(place: _Place) -> bool:
    paths = [leaf.path for leaf in place.file.leaves]
    return len(set(paths)) < len(paths)


def _is_array_of_questdb(place: _Place) -> bool:
    return type_tag(place.questdb_type) == ColumnType.ARRAY


def _counts_null_arrays(place: _Place) -> bool:
    """Whether the null count of an array column stored as lists is too small because it counts only null arrays."""
    given, wanted = _first_number(place.actual), _first_number(place.expected)
    return _is_array_of_questdb(place) and place.is_repeated and given < wanted


CONDITIONS: Mapping[str, Callable[[_Place], bool]] = {
    "array of QuestDB": _is_array_of_questdb,
    "binary": _is_of_bytes,
    "boolean": lambda place: place.leaf.element.type == Type.BOOLEAN,
    "byte array": lambda place: place.leaf.element.type == Type.BYTE_ARRAY,
    "compressed size": _has_compressed_size,
    "delta byte array": lambda place: Encoding.DELTA_BYTE_ARRAY in place.facts.encodings,
    "dictionary": lambda place: bool(place.facts.dictionary_page_offset),
    "floating point": lambda place: place.order in FLOATING,
    "int32": lambda place: place.leaf.element.type == Type.INT32,
    "list": lambda place: place.is_repeated,
    "negative": lambda place: place.actual.startswith("-"),
    "nested": lambda place: place.leaf.is_nested,
    "no dictionary": lambda place: not place.facts.dictionary_page_offset,
    "no statistics": lambda place: place.statistics == Statistics(),
    "not signed": lambda place: place.order not in {Order.SIGNED, Order.BOOLEAN, *FLOATING},
    "null arrays counted": _counts_null_arrays,
    "nulls counted": lambda place: (place.statistics.null_count or 0) > 0,
    "nulls left out": _leaves_out_nulls,
    "nulls possible": lambda place: place.leaf.max_definition_level > 0,
    "only nulls": lambda place: place.statistics.null_count in (None, place.facts.num_values),
    "order of each top column": _has_orders_of_top_columns,
    "one level twice": _has_one_level_twice,
    "path of two leaves": _is_of_two_leaves,
}
"""The conditions in the table of known defects, by name."""


def explained(rule: str, violations: Sequence[Violation], file: FileUnderTest) -> str | None:
    """The known defect that explains a finding, if its condition holds wherever the rule is broken."""
    if not quirks_of(rule):
        return None
    place_in = _Place if file.kind == DEFAULT_FILE else _PlaceInPm

    def holds(condition: str) -> bool:
        try:
            return all(CONDITIONS[condition](place_in(file, violation)) for violation in violations)
        except (FormatError, NotApplicable, NotChecked, LookupError):
            return False

    return explanation(rule, _writer_of(file), holds)


def _writer_of(file: FileUnderTest) -> str | None:
    """The writer that a Parquet file names. ``_pm`` names none, since its content comes from the Parquet file beside it."""
    try:
        return (file if file.kind == DEFAULT_FILE else file.data).metadata.created_by
    except (FormatError, NotChecked, OSError, MemoryError):
        return None
