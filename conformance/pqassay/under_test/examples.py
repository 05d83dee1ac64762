"""One column chunk that stands for all that are alike: what differs among them is unknown in it.

Rules are asked about it as about any chunk.  What they ask of the numbers is noted (`pqassay.under_test.unknown`); whatever else
they may look at, a name or another part of the file, is refused, since it need not be the same for all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NoReturn, cast

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.unknown import Conditions, NotKnown
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_shapes import Shape
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnIndex, OffsetIndex, RowGroup

ROWS = 0
"""The column of the rows of the row group; those of slots follow."""


class _Refused:
    """What nobody may ask about."""

    def __init__(self, conditions: Conditions) -> None:
        object.__setattr__(self, "_conditions", conditions)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        conditions: Conditions = object.__getattribute__(self, "_conditions")
        conditions.is_lost = True
        raise NotKnown

    __getattr__ = __getitem__ = __iter__ = __len__ = __bool__ = __call__ = __contains__ = _refuse
    __str__ = __repr__ = __format__ = __hash__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __index__ = _refuse


class _Nowhere:
    """The fields of findings, which there are none of."""

    def __getattr__(self, _: str) -> _Nowhere:
        return self

    def __truediv__(self, _: str) -> _Nowhere:
        return self

    def __getitem__(self, _: int) -> _Nowhere:
        return self

    def own_header(self, _: Any) -> _Nowhere:
        """The fields of a page's header."""
        return self


class _ExampleFile:
    """A file whose ranges lie in the body, and of which nothing else is known."""

    is_summary = False
    stray_offsets: frozenset[str] = frozenset()
    overlapping: frozenset[str] = frozenset()

    def __init__(self, file: FileUnderTest, refused: _Refused) -> None:
        self.options = file.options
        self.kind = file.kind
        self.layout = refused
        self.metadata = _ExampleFooter(file, refused)
        self._refused = refused

    def require_sound_ranges(self) -> None:
        """They are."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._refused, name)


class _ExampleFooter:
    """A footer, of which is known whether it has column orders."""

    def __init__(self, file: FileUnderTest, refused: _Refused) -> None:
        self.column_orders = None if file.metadata.column_orders is None else refused
        self._refused = refused

    def __getattr__(self, name: str) -> Any:
        return getattr(self._refused, name)


def situation(file: FileUnderTest) -> Hashable:
    """All that answers about an example may depend on of a file, beside the chunk."""
    return file.options, file.kind, file.metadata.column_orders is None


class ExampleChunk(ColumnChunkUnderTest):
    """A column chunk whose numbers are unknown.

    Args:
        file: A file, whose layout is sound.
        conditions: Notes what is asked.
        ordinal: The position of its leaf.
        rows: The rows of its row group.
        chunk: What the footer says of it.
        column_index, offset_index: Its indexes, where they were read.
    """

    def __init__(
        self,
        file: FileUnderTest,
        conditions: Conditions,
        ordinal: int,
        rows: int,
        chunk: ColumnChunk,
        column_index: ColumnIndex | None = None,
        offset_index: OffsetIndex | None = None,
    ) -> None:
        refused: Any = _Refused(conditions)
        leaf = file.leaves[ordinal]
        self.file = cast("FileUnderTest", _ExampleFile(file, refused))
        self.row_group = self.ordinal = refused
        self.path = refused
        self.group = RowGroup(
            columns=refused, total_byte_size=refused, num_rows=conditions.unknown(ROWS, rows)
        )
        for name in ("sorting_columns", "file_offset", "total_compressed_size", "ordinal"):
            setattr(self.group, name, refused)
        self.chunk = chunk
        self.facts = cast("Any", chunk.meta_data)
        self.leaf = SchemaLeaf(
            refused,
            _without_names(leaf.element, refused),
            leaf.max_definition_level,
            leaf.max_repetition_level,
        )
        self.is_decoded = False
        self.dictionary_size = self.byte_arrays_size = None
        self._parts = {}
        known = vars(self)
        orders = file.metadata.column_orders
        known["fields"] = _Nowhere()
        known["column_order"] = None if orders is None else orders[ordinal]
        for name, index in (("column_index", column_index), ("offset_index", offset_index)):
            if index is not None:
                known[name] = index


def _without_names(element: Any, refused: Any) -> Any:
    fields = {field.name: getattr(element, field.name) for field in element.fields}
    return type(element)(**{**fields, "name": refused, "field_id": refused, "unknown": element.unknown})


def make_unknown(
    record: Record, shape: Shape, values: Sequence[Any], conditions: Conditions, first: int
) -> None:
    """Put unknown values into the slots of a record, which nobody else may hold; ``first`` is the column of the first one."""
    for number, (slot, value) in enumerate(zip(shape.slots, values, strict=True)):
        part: Any = record
        for step in slot.path[:-1]:
            part = part[step] if isinstance(step, int) else getattr(part, step)
        unknown = conditions.unknown(first + number, value)
        last = slot.path[-1]
        if isinstance(last, int):
            part[last] = unknown
        else:
            setattr(part, last, unknown)
