"""The stepper of a page search over two columns: from bounds to pages, to rows, and to the pages of all columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pages.markup import Link, case_link
from pages.pictures.drawing import SMALL, Picture, fitted
from pages.pictures.golden_bytes import DATA
from pages.places import GOLDEN_FILES
from pages.stepwise.steps import counted
from pqassay_reader import scan
from pqassay_reader.query.facts.footer_facts import read_facts
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.column_order import Order, shown
from pqassay_spec.parquet.page_search import (
    Condition,
    Rows,
    candidate_pages,
    intersection,
    pages_of_rows,
    reads,
    rows_of_page,
    rows_of_pages,
)
from pqassay_spec.parquet.thrift import ColumnIndex, OffsetIndex

CASE = "pix/article-two-columns"
"""The golden case: a row group whose columns have page boundaries at different rows."""

PATH = GOLDEN_FILES / CASE / DATA

TERMS: Sequence[tuple[str, Condition, bytes, str]] = (
    ("A", ">", (35).to_bytes(4, "little"), "A > 35"),
    ("B", "=", b"F", "B = 'F'"),
)
"""The condition: column, comparison, PLAIN bytes of the literal, and the SQL form."""

CONDITION = " AND ".join(sql for *_, sql in TERMS)


@dataclass(frozen=True)
class Column:
    """The page index of a column."""

    order: Order
    bounds: ColumnIndex
    places: OffsetIndex

    def shown(self, page: int) -> str:
        """The bounds of a page as text."""
        bounds = (self.bounds.min_values[page], self.bounds.max_values[page])
        return " to ".join(shown(self.order, bound) for bound in bounds)


@dataclass(frozen=True)
class Search:
    """The search, step by step.

    Attributes:
        columns: The columns by name.
        row_count: The number of rows of the row group.
        pages: For each term, the pages whose bounds match.
        rows: For each term, the rows of these pages.
        both: The rows that remain after all terms.
        needed: For each column, the pages with any of these rows.
    """

    columns: Mapping[str, Column]
    row_count: int
    pages: Sequence[Sequence[int]]
    rows: Sequence[Rows]
    both: Rows
    needed: Mapping[str, Sequence[int]]


def search() -> Search:
    """The search of the golden file."""
    columns: dict[str, Column] = {}
    with FileSource(PATH) as source:
        facts = read_facts(source)
        [group] = facts.metadata.row_groups
        for leaf, chunk in enumerate(group.columns):
            claims = facts.claims_of(source, 0, leaf)
            bounds, places = claims.column_index, claims.offset_index
            if chunk.meta_data is None or claims.order is None:
                raise ValueError(f"{CASE} has a column without an order")
            name = ".".join(chunk.meta_data.path_in_schema)
            columns[name] = Column(claims.order, bounds, places)
    pages = [
        candidate_pages(columns[name].bounds, columns[name].order, condition, value)
        for name, condition, value, _ in TERMS
    ]
    rows = [
        rows_of_pages(columns[name].places, group.num_rows, found)
        for (name, *_), found in zip(TERMS, pages, strict=True)
    ]
    both = rows[0]
    for more in rows[1:]:
        both = intersection(both, more)
    needed = {name: pages_of_rows(each.places, group.num_rows, both) for name, each in columns.items()}
    return Search(columns, group.num_rows, pages, rows, both, needed)


def context(link: Link) -> dict[str, Any]:
    """The content of the steps: the search, the pages that are read, and the rows of the result."""
    result = search()
    return {
        "source": f"Drawn from the bytes of the golden file {case_link(CASE, link)}.",
        "condition": CONDITION,
        "terms": TERMS,
        "found": result,
        "fetched": list(_fetched(result)),
        "matches": list(_matches(result)),
        "in_words": in_words,
        "drawn": drawn,
    }


def _fetched(result: Search) -> Iterator[tuple[str, ...]]:
    """Yield the pages that are read, and their total size."""
    read = stored = 0
    for name, column in result.columns.items():
        stored += sum(location.compressed_page_size for location in column.places.page_locations)
        tasks = reads(column.places, result.row_count, result.both)
        for page, (location, taken) in zip(result.needed[name], tasks, strict=True):
            read += location.compressed_page_size
            yield name, str(page), str(location.offset), f"{location.compressed_page_size:,}", in_words(taken)
    yield (f"{counted(read, 'byte')} of the {stored:,} that all pages take",)


def _matches(result: Search) -> Iterator[tuple[str, ...]]:
    """Yield the remaining rows with values for which the condition is true."""
    table = scan(PATH, None, list(result.columns)).to_table().to_pylist()
    matching = scan(PATH, CONDITION, list(result.columns)).to_table().to_pylist()
    for number in (number for part in result.both for number in part):
        if table[number] in matching:
            yield str(number), *(str(value) for value in table[number].values())


def in_words(rows: Rows) -> str:
    """Ranges of rows in words.

    >>> in_words([range(0, 3), range(5, 6)])
    '0 to 2 and 5'
    """
    each = [str(part.start) if len(part) == 1 else f"{part.start} to {part.stop - 1}" for part in rows]
    return " and ".join(each) or "none"


GUTTER, WIDTH, ROW, GAP, TOP = 30, 700, 40, 12, 24
"""The widths of column names and of the picture; the heights of a column, of a gap, and of the top."""


def drawn(
    result: Search, left: Mapping[str, Sequence[int]] | None = None, rows: Rows | None = None
) -> Markup:
    """The pages of all columns; for columns in ``left``, the remaining pages, and the remaining rows."""
    state = f"rows {in_words(rows)} are left" if rows is not None else "nothing is left out yet"
    picture = Picture(WIDTH, f"Pages of columns {', '.join(result.columns)}: {state}")
    scale = (WIDTH - GUTTER - 12) / result.row_count
    bottom = TOP + len(result.columns) * (ROW + GAP)
    for part in rows or []:
        x = GUTTER + part.start * scale
        picture.box(
            x, TOP - 6, len(part) * scale, bottom - TOP + 4, "rows", f"rows {in_words([part])} are left"
        )
    _axis(picture, rows or [], result.row_count, scale, bottom)
    for number, (name, column) in enumerate(result.columns.items()):
        y = TOP + number * (ROW + GAP)
        picture.text(8, y + ROW / 2 + 4, name, "strong")
        for page in range(len(column.places.page_locations)):
            page_rows = rows_of_page(column.places, result.row_count, page)
            chosen = None if left is None or name not in left else page in left[name]
            _page(picture, column.shown(page), page, page_rows, chosen, y, scale)
    return Markup(picture.html("pages"))


def _axis(picture: Picture, rows: Rows, row_count: int, scale: float, y: float) -> None:
    edges = {0, row_count, *(edge for part in rows for edge in (part.start, part.stop))}
    for edge in sorted(edges):
        kind = "pale end" if edge == row_count else "pale" if edge == 0 else "pale middle"
        picture.text(GUTTER + edge * scale, y + 12, f"row {edge}" if edge == 0 else str(edge), kind)


def _page(
    picture: Picture, bounds: str, page: int, page_rows: range, chosen: bool | None, y: float, scale: float
) -> None:
    x, width = GUTTER + page_rows.start * scale, len(page_rows) * scale
    kind, state = {
        None: ("open", ""),
        True: ("kept", "kept"),
        False: ("left-out", "left out"),
    }[chosen]
    hint = f"page {page}, rows {in_words([page_rows])}: {bounds}{f'; {state}' if state else ''}"
    picture.box(x + 1, y, width - 2, ROW, kind, hint)
    name = f"page {page}, {state}" if state else f"page {page}"
    words = [fitted(each, width - 6, 1, SMALL)[0] for each in (bounds, name)]
    for number, each in enumerate(words):
        weight = "strong middle" if chosen and number else "pale middle" if number else "middle"
        picture.text(x + width / 2, y + ROW / 2 + 4 + 14 * number - 7 * (len(words) - 1), each, weight)
