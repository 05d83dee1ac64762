"""The hex view of a file: its bytes in rows of 16, and a table of its fields, linked in both directions.

Each run of bytes of one field is one element, ``<b data-f=7>``, or ``<i>`` for structural bytes without a value. Changed parts are inside
``<mark>``; parts that follow from another change have the class ``w``. ``data-f`` is the number of the field's row in the table, whose id
ends with it. ``hex-view.js`` highlights related parts; without it, both are still readable.

In a file with many fields, only windows are shown: around changes, at the beginning, and at the end with the footer.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from markupsafe import Markup

from pages.cases.field_types import type_of
from pqassay.difference.fields import SHORT, Fields, shown
from pqassay_spec.grammar.hexdump import ROW, show
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.grammar.trace import Leaf, Unparsed

MOST_ROWS = 1_000
"""The number of fields of a file that is shown completely."""

WINDOW = 6
"""The number of fields shown on both sides of a change, in a larger file."""

HEAD, FOOT = 120, 300
"""The number of fields shown at the beginning and at the end of a larger file."""

MOST_MARKED = 200
"""The number of changed fields shown of a larger file."""

LONG = 64 * ROW
"""The number of bytes of a field above which its middle is omitted."""

KEPT_ENDS = 4 * ROW
"""The number of bytes shown at both ends of a long field, and on both sides of a change in it."""

VALUE = 48
"""The number of characters of a value that are shown."""

Range = tuple[int, int]
"""A range of bytes ``[start, end)``."""

Run = tuple[int, int, str, str]
"""Bytes ``[start, end)`` of one field, with the HTML tags around them."""


@dataclass
class FieldRow:
    """A row of the table: a field with its structural bytes, or only structural bytes.

    Attributes:
        path: The path of the field.
        name: Its name within its parent.
        parent: The path of its parent.
        leaves: Its leaves, in the order of their bytes.
    """

    path: str
    name: str
    parent: str
    leaves: list[Leaf]

    @property
    def start(self) -> int:
        """Offset of its first byte."""
        return self.leaves[0].offset

    @property
    def end(self) -> int:
        """The offset after its last byte."""
        return end_of(self.leaves[-1])


def end_of(leaf: Leaf) -> int:
    """The offset after the last byte of a leaf."""
    return leaf.offset + leaf.length


def field_rows(fields: Fields) -> list[FieldRow]:
    """The rows of a file's table; header and length of a field are in its row."""
    rows: list[FieldRow] = []
    for leaf in sorted(fields.leaves.values(), key=lambda leaf: leaf.offset):
        path, part = leaf.path, ""
        if leaf.structural:
            path, _, part = leaf.path.rpartition(":")
        if rows and part != "stop":
            last = rows[-1]
            if last.path == path and last.end == leaf.offset and last.leaves[-1].structural:
                last.leaves.append(leaf)
                continue
        parent, _, name = path.rpartition(".")
        if part == "stop":
            parent, name, path = path, "end of the struct", f"{path}:stop"
        rows.append(FieldRow(path, name, parent, [leaf]))
    return rows


class HexView:
    """The view of one file.

    Args:
        name: The name of the file.
        fields: Its fields.
        changed: The bytes that differ from its parent.
        follows: Offsets of fields that changed only because of another change.
        prefix: The prefix of ids, if a page has several views.
    """

    def __init__(
        self,
        name: str,
        fields: Fields,
        changed: Sequence[Range] = (),
        follows: Iterable[int] = (),
        prefix: str = "",
    ) -> None:
        self.name, self.fields, self.changed, self.follows = name, fields, changed, frozenset(follows)
        self.prefix = prefix
        self.rows = field_rows(fields)
        self.data = fields.source.read(0, fields.source.size)
        self.shown = self._windows()

    @property
    def has_types(self) -> bool:
        """Whether the type of at least one field is declared, so that the table has a column of types."""
        return any(type_of(self.rows[number].path) for number in self.shown)

    @property
    def left_out(self) -> int:
        """The number of fields that are not shown."""
        return len(self.rows) - len(self.shown)

    def _windows(self) -> Sequence[int]:
        """The numbers of the visible rows."""
        if len(self.rows) <= MOST_ROWS:
            return range(len(self.rows))
        marked = [number for number, row in enumerate(self.rows) if self._is_marked(row)][:MOST_MARKED]
        chosen = {*range(HEAD), *range(len(self.rows) - FOOT, len(self.rows))}
        for number in marked:
            chosen.update(range(max(number - WINDOW, 0), min(number + WINDOW + 1, len(self.rows))))
        return sorted(chosen)

    def _is_marked(self, row: FieldRow) -> bool:
        return self._differs(row.start, row.end)

    def _differs(self, start: int, end: int) -> bool:
        """Whether a range has changed bytes."""
        place = self._next_changed(start)
        return place < len(self.changed) and self.changed[place][0] < end

    def _next_changed(self, start: int) -> int:
        """The position of the first changed range that ends after an offset."""
        place = bisect_right(self.changed, (start, start))
        return place - (place > 0 and self.changed[place - 1][1] > start)

    # ------------------------------------------------------------------------------------------------- the table

    def table(self) -> Markup:
        """The rows of the table as HTML, without optional end tags."""
        return Markup("".join(self._table()))

    def _table(self) -> Iterator[str]:
        parent, before = None, -1
        for number in self.shown:
            row = self.rows[number]
            if number != before + 1:
                yield f"<tr class=gap><td colspan=6>{number - before - 1:,} fields left out"
            if row.parent != parent or number != before + 1:
                parent = row.parent
                yield f"<tr><th colspan=6 scope=rowgroup>{_text(parent or 'file')}"
            before = number
            leaf = row.leaves[-1]
            mark = " class=x" if self.changed and self._is_marked(row) else ""
            start = row.start
            yield (
                f"<tr id={self.prefix}f{number}{mark}><td>{start}<td>{row.end - start}<td>{_text(row.name)}"
                f"<td>{_text(type_of(row.path))}<td>{self._value(leaf)}<td>{_doc(leaf.doc)}"
            )

    def _value(self, leaf: Leaf) -> str:
        if isinstance(leaf.value, Unparsed):
            return f"<em>{_text(leaf.value.reason)}</em>"
        if leaf.structural:
            return html.escape(structure(leaf), quote=False)
        if leaf.length > SHORT:
            return html.escape(shown(leaf, self.fields.source), quote=False)
        return html.escape(show(leaf.value, leaf.label, VALUE), quote=False)

    # ------------------------------------------------------------------------------------------------- the bytes

    def bytes(self) -> Markup:
        """The rows of bytes as HTML: offset, hexadecimal digits, text."""
        return Markup("\n".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        digits, texts = self.data.hex(" "), self.data.translate(_READABLE).decode("ascii")
        expected = 0
        for line, runs in self._by_line().items():
            if line != expected:
                yield f"<span>{'*':8}  {line - expected:,} bytes left out</span>"
            expected = min(line + ROW, len(self.data))
            shown, column = "", line
            for start, end, opening, closing in runs:
                if start > column:  # hidden bytes only leave their place
                    shown += "   " * (start - column)
                shown += f"{opening}{digits[3 * start : 3 * end - 1]}{closing} "
                column = end
            padding = "   " * (line + ROW - column)
            yield f"{line:08x}  {shown}{padding} {html.escape(texts[line:expected], quote=False)}"
        if expected < len(self.data):
            yield f"<span>{'*':8}  {len(self.data) - expected:,} bytes left out</span>"

    def _by_line(self) -> dict[int, list[Run]]:
        lines: dict[int, list[Run]] = {}
        for start, end, opening, closing in self._runs():
            while start < end:
                line = start // ROW * ROW
                stop = min(end, line + ROW)
                lines.setdefault(line, []).append((start, stop, opening, closing))
                start = stop  # noqa: PLW2901 - the rest of the run
        return lines

    def _runs(self) -> Iterator[Run]:
        """Yield the visible bytes in runs of one field that are changed completely or not at all."""
        for number, leaf, begin, end in self._owned():
            row = self.rows[number]
            if leaf.structural:
                about = f' title="{structure(leaf)}"' if len(row.leaves) > 1 else ""
                opening, closing = f"<i data-f={number}{about}>", "</i>"
            else:
                opening, closing = f"<b data-f={number}>", "</b>"
            if end - begin <= LONG and not (self.changed and self._differs(begin, end)):  # nearly all
                if begin < end:
                    yield begin, end, opening, closing
                continue
            weak = " class=w" if leaf.offset in self.follows else ""
            for first, last in self._visible(row, begin, end):
                for start, stop, is_changed in self._cut(first, last):
                    if is_changed:
                        yield start, stop, f"{opening}<mark{weak}>", f"</mark>{closing}"
                    else:
                        yield start, stop, opening, closing

    def _owned(self) -> Iterator[tuple[int, Leaf, int, int]]:
        """Yield the visible ranges of bytes, each with the number of its row and its leaf."""
        pieces = [(number, leaf) for number in self.shown for leaf in self.rows[number].leaves]
        # Structures overlap, such as a text and its fields: a byte belongs to the shortest.
        owners: list[int] = [-1] * len(self.data)
        for place in sorted(range(len(pieces)), key=lambda place: -pieces[place][1].length):
            leaf = pieces[place][1]
            owners[leaf.offset : leaf.offset + leaf.length] = [place] * leaf.length
        start = 0
        for owner, group in groupby(owners):
            end = start + sum(1 for _ in group)
            if owner >= 0:
                number, leaf = pieces[owner]
                yield number, leaf, start, end
            start = end

    def _visible(self, row: FieldRow, begin: int, stop: int) -> Iterator[Range]:
        """Yield the visible bytes of a field: all, or for a long field both ends and the first change."""
        start, end = row.start, row.end
        if stop - begin <= LONG:
            yield begin, stop
            return
        chosen = [(start, start + KEPT_ENDS)]
        first = next((max(low, start) for low, high in self.changed if high > start and low < end), None)
        if first is not None:
            chosen.append((max(first - KEPT_ENDS, chosen[0][1]), min(first + KEPT_ENDS, end)))
        chosen.append((max(end - KEPT_ENDS, chosen[-1][1]), end))
        for low, high in ((low // ROW * ROW, -(-high // ROW) * ROW) for low, high in chosen):  # whole rows
            if max(low, begin) < min(high, stop):
                yield max(low, begin), min(high, stop)
                begin = min(high, stop)

    def _cut(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Yield the parts of a run, each with whether it is changed."""
        place = self._next_changed(start)
        while start < end:
            begin, stop = self.changed[place] if place < len(self.changed) else (end, end)
            if begin > start:
                yield start, min(begin, end), False
                start = min(begin, end)
            elif start < end:
                yield start, min(stop, end), True
                start = min(stop, end)
                place += 1


def structure(leaf: Leaf) -> str:
    """The meaning of structural bytes in a few words.

    >>> structure(Leaf("footer.schema:count", 6, 1, (3, 12))), structure(Leaf("footer.version:header", 4, 1, (1, 5)))
    ('3 elements', 'field 1, I32')
    """
    part, value = leaf.path.rpartition(":")[2], leaf.value
    if part == "header":
        return _header(*value)
    if part == "count":
        count = value[0] if isinstance(value, tuple) else value  # of Thrift, with the type of the elements
        return "1 element" if count == 1 else f"{count:,} elements"
    if part == "length":
        return "1 byte" if value == 1 else f"{value:,} bytes"
    return show(value)


@cache
def _header(identifier: int, wire: int) -> str:
    return f"field {identifier}, {WireType(wire).name}"


@cache
def _doc(text: str) -> str:
    """The meaning of a field as HTML, with text between backticks as code."""
    return _CODE.sub(r"<code>\1</code>", html.escape(text, quote=False))


@cache
def _text(text: Any) -> str:
    return html.escape(text, quote=False)


_CODE = re.compile(r"`([^`]+)`")

_READABLE = bytes(byte if 0x20 <= byte < 0x7F else ord(".") for byte in range(256))
"""The character for each byte in the readable part of a row."""
