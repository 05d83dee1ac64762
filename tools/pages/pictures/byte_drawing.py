"""Drawings of rows of bytes: each field is a linked box as wide as its bytes."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from pages.pictures.byte_layout import Layout, Placed, Segment
from pages.pictures.drawing import SMALL, Picture, fitted

GUTTER, ROW, HEAD = 52, 46, 22
"""The width of the column of offsets, and the heights of a row and of the numbers above the first row."""

BYTE = {8: 90, 4: 76}
"""The width of a byte, by the length of rows."""

UNUSED = ("reserved", "unused")
"""Names of unused fields."""


def drawn(layout: Layout, label: str) -> Picture:
    """Draw a layout of bytes."""
    byte = BYTE[layout.width]
    picture = Picture(GUTTER + layout.width * byte + 2, f"{label}, {layout.width} in a row")
    used = max(segment.column + segment.columns for placed in layout.placed for segment in placed.segments)
    for column in range(used):
        picture.text(GUTTER + (column + 0.5) * byte, 14, f"+{column}" if column else "0", "pale middle")
    for row, offset in enumerate(layout.offsets):
        told = "…" if offset is None else str(offset)
        picture.text(GUTTER - 8, HEAD + row * ROW + ROW / 2 + 4, told, "offset end")
    for placed in layout.placed:
        _draw(picture, placed, byte)
    return picture


def _draw(picture: Picture, placed: Placed, byte: int) -> None:
    field = placed.field
    link = picture.link(f"#{field.anchor}", field.hint)
    kind = "variable" if placed.is_broken else "unused" if field.name in UNUSED else "field"
    for segment in placed.segments:
        x, y, width = GUTTER + segment.column * byte, HEAD + segment.row * ROW, segment.columns * byte
        picture.box(x, y, width, ROW, kind, parent=link)
        if placed.is_broken:
            for right in (7, 15):  # two slanted strokes mark omitted bytes
                end = x + width * 0.82 + right
                picture.path([(end, y + 1), (end - 14, y + ROW - 1)], "break", link)
    _inner_borders(picture, placed, byte, link)
    _label(picture, placed, byte, link)


def _inner_borders(picture: Picture, placed: Placed, byte: int, link: ET.Element) -> None:
    """Remove the border between two rows of one field, where both have it."""
    for above, below in zip(placed.segments, placed.segments[1:], strict=False):
        start = max(above.column, below.column)
        end = min(above.column + above.columns, below.column + below.columns)
        if start < end:
            y = HEAD + below.row * ROW
            picture.path([(GUTTER + start * byte + 1, y), (GUTTER + end * byte - 1, y)], "inner", link)


def _label(picture: Picture, placed: Placed, byte: int, link: ET.Element) -> None:
    field, segment = placed.field, placed.labelled
    left, top, width = _place(segment, byte)
    height = ROW * _joined(placed)
    middle = left + width / 2
    name = fitted(field.name, width - 8, 2)
    told = field.type.replace(", little-endian", "").replace("`", "")
    if placed.is_broken:
        told = f"{told}, {'variable' if field.size is None else f'{field.size} bytes'}"
    under = _type(told, (width - 12) * (0.76 if placed.is_broken else 1)) if len(name) == 1 else []
    y = top + height / 2 - 7.5 * (len(name) + len(under) - 1) + 4
    for words in name:
        picture.text(middle, y, words, "name middle", link)
        y += 15
    for words in under:
        picture.text(middle, y, words, "pale middle", link)
    for other in placed.segments:
        if other is not segment and height == ROW:
            x, y, width = _place(other, byte)
            more = fitted(f"… {field.name}", width - 8, 1, SMALL)[0]
            picture.text(x + width / 2, y + ROW / 2 + 4, more, "pale middle", link)


def _type(text: str, width: float) -> list[str]:
    """A type on one line, without the part after a comma if there is no room for it."""
    whole, short = (fitted(words, width, 1, SMALL) for words in (text, text.partition(",")[0]))
    return short if whole[0].endswith("…") and not short[0].endswith("…") else whole


def _joined(placed: Placed) -> int:
    """The number of complete rows that a field fills."""
    whole = {segment.columns for segment in placed.segments} == {placed.labelled.columns}
    return len(placed.segments) if whole and len({one.column for one in placed.segments}) == 1 else 1


def _place(segment: Segment, byte: int) -> tuple[float, float, float]:
    return GUTTER + segment.column * byte, HEAD + segment.row * ROW, segment.columns * byte
