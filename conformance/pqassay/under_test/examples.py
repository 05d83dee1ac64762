"""An example chunk, which represents all similar column chunks: the numbers that differ among them are unknown.

Rules are tested on it as on any chunk. Their comparisons of the numbers are recorded (`pqassay.under_test.unknown`). Access to anything
else, such as a name or another part of the file, is refused, since it may differ between chunks.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from pqassay.under_test.alike import ROWS, AlikeChunks, without_names
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.unknown import Conditions, Refused
from pqassay_spec.grammar.thrift_decoder import decoder
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnIndex, OffsetIndex, RowGroup


class _Nowhere:
    """A placeholder for the fields of findings, since an example has no findings."""

    def own_header(self, _: Any) -> _Nowhere:
        """The placeholder for the fields of a page's header, and for all other fields."""
        return self

    __getattr__ = __truediv__ = __getitem__ = own_header


class _Partly:
    """A proxy for an object of which only some attributes may be used."""

    def __init__(self, refused: Refused, **known: Any) -> None:
        vars(self).update(known, _refused=refused)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._refused, name)


def situation(file: FileUnderTest) -> Hashable:
    """A key of everything in a file, beside the chunk, that answers about an example may depend on."""
    return file.options, file.kind, file.metadata.column_orders is None


class ExampleChunk(ColumnChunkUnderTest):
    """A column chunk with unknown numbers, in a file whose ranges are in the body.

    Args:
        file: The file.
        alike: A group of similar chunks of the file.
        number: The chunk that supplies plausible numbers.
        conditions: Records the comparisons.
    """

    def __init__(self, file: FileUnderTest, alike: AlikeChunks, number: int, conditions: Conditions) -> None:
        refused: Any = Refused(conditions)
        ordinal = alike.places[number] % len(file.leaves)
        leaf, orders = file.leaves[ordinal], file.metadata.column_orders
        footer = _Partly(refused, column_orders=None if orders is None else refused)
        known: Any = _Partly(
            refused,
            options=file.options,
            kind=file.kind,
            is_summary=False,
            stray_offsets=frozenset(),
            overlapping=frozenset(),
            layout=refused,
            metadata=footer,
            require_sound_ranges=lambda: None,
        )
        group: Any = RowGroup()
        for field in RowGroup.fields:
            setattr(group, field.name, refused)
        group.num_rows = conditions.unknown(ROWS, alike[ROWS][number])
        records: dict[Any, Any] = {}
        column = ROWS
        for shape in alike.shapes:
            records[shape.record] = decoder(shape.record)(shape.example, 0, len(shape.example))[0]
            for slot in shape.slots:
                column += 1
                part: Any = records[shape.record]
                for step in slot.path[:-1]:
                    part = part[step] if isinstance(step, int) else getattr(part, step)
                unknown, last = conditions.unknown(column, alike[column][number]), slot.path[-1]
                if isinstance(last, int):
                    part[last] = unknown
                else:
                    setattr(part, last, unknown)
        chunk: ColumnChunk = records[ColumnChunk]
        facts: Any = chunk.meta_data
        element = without_names(leaf.element, name=refused, field_id=refused)
        leaf = SchemaLeaf(refused, element, leaf.max_definition_level, leaf.max_repetition_level)
        super().__init__(known, 0, 0, group, chunk, facts, leaf)
        self.row_group = self.ordinal = self.path = refused
        vars(self).update(fields=_Nowhere(), column_order=None if orders is None else orders[ordinal])
        for name, kind in (("column_index", ColumnIndex), ("offset_index", OffsetIndex)):
            if kind in records:
                vars(self)[name] = records[kind]
