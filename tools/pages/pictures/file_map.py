"""A drawing of a whole Parquet file, from the bytes of a golden file: ``<!-- layout: parquet.file -->``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from pages.markup import Link, case_link
from pages.pictures.drawing import SMALL, Picture, bytes_told, fitted
from pages.pictures.golden_bytes import leaves
from pqassay_spec.grammar.trace import Leaf

CASE = "idx1/behind-page-index-and-bloom-filters"
"""The golden file: two row groups, chunks with several pages, and every kind of structure in the body."""

PART = re.compile(
    r"row_groups\[(?P<group>\d+)\]\.columns\[(?P<column>\d+)\]\."
    r"(?:pages\[(?P<page>\d+)\]\.(?P<part>header|body)|(?P<structure>column_index|offset_index|bloom_filter\.(?:header|bitset)))"
    r"|(?P<other>head\.\w+|tail\.\w+|\w+)"
)
"""Patterns for the part of the file that a leaf belongs to."""

CHAPTERS = {
    "head.magic": ("parquet_file.md", "head"),
    "header": ("pages.md", "page-headers"),
    "body": ("pages.md", "values"),
    "column_index": ("page_index.md", "column-index"),
    "offset_index": ("page_index.md", "offset-index"),
    "bloom_filter.header": ("bloom.md", "header"),
    "bloom_filter.bitset": ("bloom.md", "blocks"),
    "idx1": ("idx1.md", "layout"),
    "footer": ("parquet_file.md", "the-footers-struct"),
    "tail.footer_length": ("parquet_file.md", "tail"),
    "tail.magic": ("parquet_file.md", "tail"),
}
"""The chapter and section about each part."""

VALUES = ("body", "bloom_filter.bitset")
"""Parts with values; the others are metadata, and are drawn differently."""

LABELS = {
    "head.magic": "head",
    "column_index": "column indexes",
    "offset_index": "offset indexes",
    "bloom_filter.header": "bloom filters",
    "idx1": "index",
    "tail.footer_length": "tail",
}
"""The labels of the lines of parts."""


class Region(NamedTuple):
    """A part of the file.

    Attributes:
        kind: Its kind, a key of `CHAPTERS`.
        line: Its line in the drawing: parts of one line are drawn side by side.
        name: The text of its box.
        start, end: Its byte range.
    """

    kind: str
    line: str
    name: str
    start: int
    end: int


COLUMN = re.compile(r"footer\.row_groups\[0\]\.columns\[\d+\]\.meta_data\.path_in_schema\[0\]$")
"""A pattern for the name of a column in the first row group."""


def regions() -> list[Region]:
    """The parts of the file in the order of their bytes; together, they cover the file."""
    everything = leaves(CASE)
    names = [str(leaf.value) for leaf in everything if COLUMN.match(leaf.path)]
    found: list[Region] = []
    for matched, group in groupby(everything, _part):
        own = list(group)
        found.append(_region(matched, own[0].offset, own[-1].offset + own[-1].length, names))
    return found


def _part(leaf: Leaf) -> tuple[str | None, ...]:
    matched = PART.match(leaf.path)
    if matched is None:
        raise ValueError(f"{leaf.path} is not a part of the picture")
    return matched.groups()


def _region(part: tuple[str | None, ...], start: int, end: int, names: Sequence[str]) -> Region:
    row_group, column, page, of_page, structure, other = part
    if other is not None:
        line = LABELS.get("tail.footer_length" if other.startswith("tail") else other, other)
        name = other.rpartition(".")[2]
        return Region(other, line, name.upper() if name == "idx1" else name, start, end)
    chunk = f"row group {row_group}, {names[int(column or 0)]}"
    if of_page is not None:
        return Region(of_page, chunk, f"page {page}" if of_page == "body" else "header", start, end)
    kind = structure or ""
    line = LABELS["bloom_filter.header"] if kind.startswith("bloom_filter") else LABELS[kind]
    name = kind.rpartition(".")[2] if "." in kind else chunk.replace("row group ", "")
    return Region(kind, line, name, start, end)


GUTTER, LABEL, WIDTH, ROW = 46, 150, 760, 34
"""The widths of the column of offsets, of the labels of lines, and of the picture; and the height of a line."""


def lines(link: Link) -> Iterator[str]:
    """Yield the picture."""
    found = regions()
    picture = Picture(
        WIDTH, f"The parts of a Parquet file of {found[-1].end} bytes, from its first byte to its last"
    )
    y = 4.0
    for line, group in groupby(found, lambda region: region.line):
        _line(picture, line, list(group), y, link)
        y += ROW + 6
    yield from ("", picture.html("layout map"), "")
    case = case_link(CASE, link)
    yield from (f"Drawn from the bytes of {case}. Within a line, widths are those of the bytes.", "")


def _line(picture: Picture, line: str, parts: Sequence[Region], y: float, link: Link) -> None:
    start, end = parts[0].start, parts[-1].end
    picture.text(GUTTER - 6, y + ROW / 2 + 4, str(start), "offset end")
    picture.text(GUTTER + 6, y + ROW / 2 + 4, fitted(line, LABEL - 8, 1, SMALL + 0.4)[0], "label")
    left = GUTTER + LABEL
    scale = (WIDTH - left - 2) / (end - start)
    for part in parts:
        x, width = left + (part.start - start) * scale, (part.end - part.start) * scale
        where = bytes_told(part.start, part.end - part.start)
        chapter, section = CHAPTERS[part.kind]
        href = link(f"spec/{chapter}", section).replace(".md#", ".html#")
        hint = f"{part.line}: {part.name}, {where}" if part.name != part.line else f"{part.name}, {where}"
        element = picture.link(href, hint)
        picture.box(x, y, width, ROW, "values" if part.kind in VALUES else "field", parent=element)
        if width > 26:
            words = fitted(part.name, width - 6, 2, SMALL)
            for number, each in enumerate(words):
                picture.text(
                    x + width / 2,
                    y + ROW / 2 + 4 + 14 * number - 7 * (len(words) - 1),
                    each,
                    "part middle",
                    element,
                )
