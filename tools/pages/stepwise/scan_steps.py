"""The stepper of a scan: the pages that remain to be read after each rung.

The file comes from the first block of the guide page, and the query from its command with ``--explain``, so the figures equal those of its
table.
"""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from markupsafe import Markup

from pages.markup import Link
from pages.pictures.drawing import Picture
from pages.places import ROOT
from pages.stepwise.steps import counted
from pqassay_reader import scan
from pqassay_reader.condition.text import parse_predicate
from pqassay_reader.query.explained.waterfall import Step as Fallen
from pqassay_reader.query.explained.waterfall import waterfall
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS, FileFacts, read_facts
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.targets import LocalFile
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.page_search import rows_of_page

GUIDE = ROOT / "docs" / "guide" / "scan.md"

FIRST_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A pattern for the block that makes the file."""

ASKED = re.compile(
    r'^\$ pqassay scan (?P<file>\S+) "(?P<condition>[^"]+)" --columns (?P<columns>\S+) --explain$',
    re.MULTILINE,
)
"""A pattern for the command that explains the scan."""

UNITS = ("B", "kB", "MB", "GB")


@dataclass(frozen=True)
class Page:
    """A page of a column from the offset index: its rows in the row group, and its bytes in the file."""

    rows: range
    place: range


@dataclass(frozen=True)
class Rungs:
    """The scan with an increasing number of rungs.

    Attributes:
        condition: The condition of the query.
        columns: The columns of the file.
        groups: The rows of each row group.
        pages: For each row group, the pages of each column.
        steps: The waterfall: everything, then a step for each rung.
        fetched: For each step, the ranges of the file that the scan with the rungs so far fetched, each page by itself.
        rows: The number of result rows, the same at each step.
    """

    condition: str
    columns: Sequence[str]
    groups: Sequence[int]
    pages: Sequence[Sequence[Sequence[Page]]]
    steps: Sequence[Fallen]
    fetched: Sequence[Sequence[range]]
    rows: int


@cache
def rungs() -> Rungs:
    """Make the file and scan it without rungs, with the first, with the first two, and so on."""
    guide = GUIDE.read_text(encoding="utf-8")
    block, asked = FIRST_BLOCK.search(guide), ASKED.search(guide)
    if block is None or asked is None:
        raise ValueError(f"{GUIDE.name} no longer makes a file and explains a scan of it")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(
            compile(block[1], GUIDE.name, "exec"), {}
        )  # a page of this repository, whose blocks the tests run
        return _scanned(Path(asked["file"]), asked["condition"], asked["columns"].split(","))


def _scanned(path: Path, condition: str, returned: Sequence[str]) -> Rungs:
    predicate = parse_predicate(condition)
    ladder = list(Rung)
    fetched: list[list[range]] = []
    size = path.stat().st_size
    steps: list[Fallen] = []
    counts: set[int] = set()
    for used in range(len(ladder) + 1):
        KEPT_FACTS.clear()  # each scan should be like the first of its process
        with patch.object(LocalFile, "read", autospec=True, side_effect=LocalFile.read) as read:
            asked = scan(path, predicate, returned, without=ladder[used:])
            counts.add(sum(batch.num_rows for batch in asked))
        steps = waterfall(asked)
        calls = [
            range(offset, offset + length) for _, offset, length in (call.args for call in read.mock_calls)
        ]
        # Requests that join neighbors fetch gaps as well, but the same pages; the last bytes of the file are metadata.
        fetched.append(
            fetched[-1] if Rung.FETCH in ladder[:used] else [one for one in calls if one.stop < size]
        )
    if len(counts) != 1:
        raise ValueError(f"rungs change the result: {sorted(counts)} rows")
    with FileSource(path) as source:
        facts = read_facts(source)
        groups = [group.num_rows for group in facts.metadata.row_groups]
        pages = [_pages(facts, source, number, rows) for number, rows in enumerate(groups)]
        chunks = facts.metadata.row_groups[0].columns
    names = [".".join(chunk.meta_data.path_in_schema) for chunk in chunks if chunk.meta_data]
    return Rungs(condition, names, groups, pages, steps, fetched, counts.pop())


def _pages(facts: FileFacts, source: FileSource, group: int, rows: int) -> list[list[Page]]:
    pages: list[list[Page]] = []
    for leaf in range(len(facts.metadata.row_groups[group].columns)):
        index = facts.claims_of(source, group, leaf).offset_index
        locations = index.page_locations if index else []
        pages.append(
            [
                Page(rows_of_page(index, rows, at), range(one.offset, one.offset + one.compressed_page_size))
                for at, one in enumerate(locations)
            ]
            if index
            else []
        )
    return pages


def context(link: Link) -> dict[str, Any]:
    """The content of the steps: all pages, then each rung; the picture is omitted if nothing changed since the previous step."""
    guide = link("guide/scan.md", "see-why-it-was-fast")
    return {
        "source": f"The file is the one that [the guide]({guide}) makes. Each step is a scan with one technique more; all return the same rows.",
        "made": rungs(),
        "sections": SECTIONS,
        "size_text": size_text,
        "drawn": drawn,
    }


def size_text(length: int) -> str:
    """A number of bytes with three digits.

    >>> size_text(999), size_text(14_781), size_text(2_002_396)
    ('999 B', '14.8 kB', '2.00 MB')
    """
    if length < 1000:
        return f"{length} B"
    power = int(math.log10(length)) // 3
    number = length / 1000**power
    if number >= 999.5:
        number, power = number / 1000, power + 1
    return f"{f'{number:#.3g}'.rstrip('.')} {UNITS[power]}"


SECTIONS: dict[str, str] = {
    Rung.METADATA: "metadata",
    Rung.PROJECTION: "projection",
    Rung.FILES: "files",
    Rung.ROW_GROUPS: "row-groups",
    Rung.SETS: "distinct-sets",
    Rung.PAGES: "pages",
    Rung.LATE: "late-materialization",
    Rung.DICTIONARIES: "dictionaries",
    Rung.FETCH: "fetch-plan",
    Rung.STREAM: "streaming",
}
"""The chapter section about each rung."""


# ------------------------------------------------------------------------------------------------------- the picture

LEFT, WIDTH, ROW, TOP = 96, 760, 26, 26
"""The left edge of pages, the width of the picture, and the heights of a column and of the names of row groups."""


def drawn(made: Rungs, number: int) -> Markup:
    """All pages of the file, with the remaining pages highlighted, and a bar for their bytes."""
    step = made.steps[number]
    picture = Picture(
        WIDTH,
        f"Pages left after {step.name}: {step.left.pages} of {made.steps[0].left.pages}, {step.left.length:,} bytes",
    )
    scale = (WIDTH - LEFT - 4) / sum(made.groups)
    for at, name in enumerate(made.columns):
        picture.text(LEFT - 8, TOP + at * ROW + ROW / 2 + 4, name, "end label")
    first = 0
    for group, rows in enumerate(made.groups):
        picture.text(LEFT + (first + rows / 2) * scale, 16, f"row group {group}", "pale middle")
        for at in range(len(made.columns)):
            y = TOP + at * ROW + 3
            for is_left in (False, True):
                every = made.pages[group][at]
                pages = [page for page in every if left(made, number, page) is is_left]
                if not pages:
                    continue
                places = [
                    (LEFT + (first + page.rows.start) * scale, len(page.rows) * scale) for page in pages
                ]
                picture.boxes(
                    places,
                    y,
                    ROW - 6,
                    "kept" if is_left else "left-out",
                    _hint(made, group, at, pages, is_left=is_left),
                )
        first += rows
    _bar(picture, made, number, TOP + len(made.columns) * ROW + 8)
    return Markup(picture.html("scan"))


def _hint(made: Rungs, group: int, column: int, pages: Sequence[Page], *, is_left: bool) -> str:
    size = size_text(sum(len(page.place) for page in pages))
    said = "left to be read" if is_left else "not read"
    return f"{made.columns[column]}, row group {group}: {counted(len(pages), 'page')}, {size}, {said}"


def _bar(picture: Picture, made: Rungs, number: int, y: float) -> None:
    whole, remaining = made.steps[0].left.length, made.steps[number].left.length
    width = WIDTH - LEFT - 4
    picture.text(LEFT - 8, y + 13, "bytes", "end label strong")
    picture.box(LEFT, y, width, 18, "left-out", f"all pages: {whole:,} bytes")
    picture.box(LEFT, y, width * remaining / whole, 18, "kept", f"left: {remaining:,} bytes")
    label = f"{size_text(remaining)} of {size_text(whole)}"
    x = LEFT + width * remaining / whole
    if x < LEFT + width * 0.7:
        picture.text(x + 6, y + 13, label, "strong")
    else:
        picture.text(x - 6, y + 13, label, "strong end")


def left(made: Rungs, number: int, page: Page) -> bool:
    """Whether a page remains after a step: whether the scan with the rungs so far fetches it."""
    return any(part.start < page.place.stop and page.place.start < part.stop for part in made.fetched[number])
