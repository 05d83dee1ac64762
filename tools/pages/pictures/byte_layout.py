"""The layout of a structure's fields: rows of eight bytes, or of four if fields fit better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pages.pictures.drawing import bytes_told
from pqassay_spec.grammar.field_tables import construct_rows

WIDTHS = (8, 4)
"""The number of bytes of a row, the usual one first."""

LONGEST_ROWS = 2
"""The number of rows of one field; a longer field is drawn as one broken row."""

MOST_ANCHORS = 16
"""The largest field, in bytes, whose bytes each have an anchor; longer fields are texts or records."""


@dataclass(frozen=True)
class Field:
    """A field of a structure.

    Attributes:
        name, type, doc: Name, type and description from its declaration.
        start: Its offset in the structure; ``None`` after a field of variable size.
        size: Its size in bytes; ``None`` if variable.
        anchor: The anchor of its row in the table of fields.
    """

    name: str
    type: str
    doc: str
    start: int | None
    size: int | None
    anchor: str

    @property
    def place(self) -> str:
        """Its byte range in words."""
        if self.start is None:
            return (
                f"{self.size} bytes"
                if self.size and self.size > 1
                else "1 byte"
                if self.size
                else "any number of bytes"
            )
        return f"from byte {self.start}" if self.size is None else bytes_told(self.start, self.size)

    @property
    def hint(self) -> str:
        """Everything known about it, for a tooltip."""
        return f"{self.name}, {self.place}: {self.type}. {self.doc}"


def slug(name: str) -> str:
    """The prefix of the anchors of a structure.

    >>> slug("pm.grammar.ColumnDescriptor"), slug("directory.distinct_set.SETS")
    ('columndescriptor', 'sets')
    """
    return name.rpartition(".")[2].lower()


def field_anchor(prefix: str, name: str) -> str:
    """The anchor of a field's row."""
    return f"{prefix}-{name}"


def fields_of(structure: Any, prefix: str) -> list[Field]:
    """The fields of a construct or a flat structure, from `construct_rows`."""
    return [
        Field(
            name=row.name,
            type=row.type,
            doc=row.doc,
            start=int(row.offset) if row.offset else None,
            size=int(row.size) if row.size else None,
            anchor=field_anchor(prefix, row.name or ""),
        )
        for row in construct_rows(structure)
    ]


def byte_anchors(field: Field, prefix: str) -> Iterator[str]:
    """Yield an anchor for each byte of a field, such as ``columndescriptor-byte-29``."""
    if field.start is not None and field.size is not None and field.size <= MOST_ANCHORS:
        yield from (f"{prefix}-byte-{byte}" for byte in range(field.start, field.start + field.size))


class Segment(NamedTuple):
    """A part of a field in one row: the row, its first column, and its number of columns."""

    row: int
    column: int
    columns: int


@dataclass(frozen=True)
class Placed:
    """A field with its place in the drawing.

    Attributes:
        field: The field.
        segments: Its parts, in order.
        is_broken: Whether it is drawn with fewer bytes than it has, or may have.
    """

    field: Field
    segments: Sequence[Segment]
    is_broken: bool

    @property
    def labelled(self) -> Segment:
        """The part with its name: the widest, and of these the first."""
        return max(self.segments, key=lambda segment: segment.columns)


@dataclass(frozen=True)
class Layout:
    """Fields in rows.

    Attributes:
        width: The number of bytes of a row.
        placed: The fields in the order of their bytes.
        offsets: The offset of each row; ``None`` if variable.
    """

    width: int
    placed: Sequence[Placed]
    offsets: Sequence[int | None]


def layout(fields: Sequence[Field]) -> Layout:
    """Arrange fields in rows of eight bytes; of four if fewer fields then cross the ends of rows."""
    layouts = [_layout(fields, width) for width in WIDTHS]
    return min(layouts, key=lambda found: (_crossings(found), -found.width))


def _crossings(layout: Layout) -> int:
    """The number of fields that cross the end of a row without filling the row."""
    return sum(
        len(placed.segments) > 1 and {segment.columns for segment in placed.segments} != {layout.width}
        for placed in layout.placed
    )


def _layout(fields: Sequence[Field], width: int) -> Layout:
    placed: list[Placed] = []
    offsets: dict[int, int | None] = {}
    row = column = 0
    for field in fields:
        is_broken = field.size is None or field.size > LONGEST_ROWS * width
        if is_broken:
            row, column = row + (column > 0), 0
            segments = [Segment(row, 0, width)]
            offsets[row] = field.start
            row += 1
        else:
            segments = list[Segment]()
            left = field.size or 0
            while left:
                if column == 0:
                    done = (field.size or 0) - left
                    offsets[row] = None if field.start is None else field.start + done
                taken = min(width - column, left)
                segments.append(Segment(row, column, taken))
                left -= taken
                column += taken
                row, column = (row + 1, 0) if column == width else (row, column)
        if segments:
            placed.append(Placed(field, segments, is_broken))
    return Layout(width, placed, [offsets[each] for each in sorted(offsets)])
