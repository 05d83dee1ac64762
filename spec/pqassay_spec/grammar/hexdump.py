r"""Hexdumps with the field of each row of bytes, made from a trace.

>>> from pqassay_spec.grammar.trace import Leaf
>>> leaves = [Leaf("idx1.magic", 0, 4, b"IDX1"), Leaf("idx1.length", 4, 8, 3)]
>>> for row in annotated(b"IDX1\x03" + bytes(7), leaves):
...     print(row)
00000000  49 44 58 31                                      IDX1              idx1.magic = b'IDX1'
00000004  03 00 00 00 00 00 00 00                          ........          idx1.length = 3
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from pqassay_spec.grammar.trace import Leaf

ROW = 16
"""Bytes in a row."""

LONGEST = 4
"""Most rows of one field that are all shown; the middle of a longer field is left out."""

_HEX = 10
"""Column in which the hexadecimal digits of a row begin."""

_TEXT = _HEX + ROW * 3 + 1
"""Column in which the readable part begins."""

_MARKS = re.compile(r" {10,}\^\^(?: \^\^)*")
"""The carets under one run of bytes; their note follows."""


def annotated(data: bytes, leaves: Sequence[Leaf], *, base: int = 0, longest: int = LONGEST) -> Iterator[str]:
    """Yield the rows of a hexdump with one or more rows for each leaf.

    Args:
        data: The bytes of the leaves; ``data[0]`` is at file offset ``base``.
        leaves: Leaves in the order of their bytes. Bytes between two leaves are shown as unclaimed.
        base: File offset of ``data``.
        longest: Most rows of one field that are all shown; a line with a count replaces the middle of a longer field.
    """
    yield from annotated_ranges(lambda start, end: data[start - base : end - base], leaves, base, longest)


def annotated_ranges(
    read: Callable[[int, int], bytes], leaves: Sequence[Leaf], start: int, longest: int = LONGEST
) -> Iterator[str]:
    """`annotated` with a function that reads ``[start, end)`` of the file, so gaps need not be in memory."""
    position = start
    for leaf in leaves:
        if leaf.length == 0:
            continue
        if leaf.offset > position:
            yield from _run(read, position, leaf.offset, "(no structure)", longest)
        yield from _run(read, leaf.offset, leaf.offset + leaf.length, describe(leaf), longest)
        position = max(position, leaf.offset + leaf.length)


def _run(read: Callable[[int, int], bytes], start: int, end: int, note: str, longest: int) -> Iterator[str]:
    rows = range(start, end, ROW)
    if len(rows) <= longest:
        shown, left_out = list(rows), 0
    else:
        head, tail = max(longest - 2, 1), 1
        shown, left_out = [*rows[:head], *rows[-tail:]], len(rows) - head - tail
    for index, row in enumerate(shown):
        if left_out and index == len(shown) - 1:
            yield f"{'*':8}  ... {left_out * ROW} bytes left out ..."
        yield format_row(row, read(row, min(row + ROW, end)), note if index == 0 else "")


def format_row(offset: int, data: bytes, note: str = "") -> str:
    """One row: offset, hex, ASCII, note."""
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)
    return f"{offset:08x}  {data.hex(' '):<{ROW * 3 - 1}}  {text:<{ROW}}  {note}".rstrip()


def marked(data: bytes, base: int, start: int, end: int) -> list[tuple[str, str]]:
    """Rows of 16 bytes with a second line of carets under the bytes ``[start, end)``.

    Args:
        data: The bytes to show; ``data[0]`` is at file offset ``base``.
        base: File offset of ``data``.
        start: File offset of the first marked byte.
        end: File offset after the last marked byte.

    Returns:
        Pairs of a row and its line of marks (empty if nothing in the row is marked).
    """
    rows: list[tuple[str, str]] = []
    for offset in range(0, len(data), ROW):
        part = data[offset : offset + ROW]
        marks = ["^^" if start <= base + offset + i < end else "  " for i in range(len(part))]
        line = " " * _HEX + " ".join(marks)
        rows.append((format_row(base + offset, part), line.rstrip()))
    return rows


def describe(leaf: Leaf, width: int = 60) -> str:
    """``path = value``, the value cut to ``width`` characters and safe to print anywhere."""
    return f"{leaf.path} = {show(leaf.value, leaf.label, width)}"


def show(value: object, label: str = "", width: int = 60) -> str:
    """A value on one line: cut to ``width`` characters, unprintable and non-encodable characters escaped."""
    if isinstance(value, (bytes, str)):
        cut = value[: width + 1]
        text = repr(cut)
        if len(value) > len(cut) or len(text) > width:
            text = (
                f"{text[: width - 3]}… ({len(value)} {'bytes' if isinstance(value, bytes) else 'characters'})"
            )
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    else:
        text = repr(value)
    return f"{text} ({label})" if label else text


def segments(row: str, marks: str = "") -> list[tuple[str, bool]]:
    """Split a row of `marked` into pieces, each with whether it is marked, in the hexadecimal and the readable part.

    Args:
        row: The row.
        marks: Its line of carets; empty if nothing in it is marked.

    >>> segments("00000010  41 42 43" + " " * 41 + "ABC", " " * 13 + "^^  idx1.magic")
    [('00000010  41 ', False), ('42', True), (' 43                                         A', False), ('B', True), ('C', False)]
    """
    found = _MARKS.match(marks)
    chosen = {column for column, char in enumerate(found[0]) if char == "^"} if found else set[int]()
    numbers = {(column - _HEX) // 3 for column in chosen}
    chosen |= {_TEXT + number for number in numbers}
    chosen |= {_HEX + 3 * number + 2 for number in numbers if number + 1 in numbers}  # the space between two
    pieces: list[tuple[str, bool]] = []
    for is_marked, group in itertools.groupby(range(len(row)), chosen.__contains__):
        columns = list(group)
        pieces.append((row[columns[0] : columns[-1] + 1], is_marked))
    return pieces


def is_line_of_marks(line: str) -> bool:
    """Whether a line of `marked` holds the carets for the row before it."""
    return _MARKS.match(line) is not None


def note_of(marks: str) -> str:
    """The note after the carets of a line.

    >>> note_of(" " * 13 + "^^ ^^  idx1.magic")
    'idx1.magic'
    """
    found = _MARKS.match(marks)
    return marks[found.end() :].strip() if found else ""
