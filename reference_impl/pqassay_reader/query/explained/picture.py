"""The waterfall of a scan and the pages that it read, as an SVG picture: legible on light and dark screens, its text can be selected.

Source: chapter ``scan.md``.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from itertools import groupby

from pqassay_reader.query.explained.counters import EVERYTHING
from pqassay_reader.query.explained.text import ColumnTrace, FileTrace, GroupTrace, PageTrace, Trace
from pqassay_reader.query.explained.waterfall import Step, waterfall
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import Scan
from pqassay_spec.base.terminal import printable

WIDTH, MARGIN, LEFT = 760, 16, 134
"""Width of the picture, its margin, and where bars begin."""

BARS_END, PAGES_END = 496, 590
"""Where the bars of the waterfall end, and those of pages."""

ROWS_X, PAGES_X, BYTES_X, REQUESTS_X = 580, 630, 690, WIDTH - MARGIN
"""Where the columns of numbers end."""

STEP, COLUMN = 36, 27
"""Heights of a step of the waterfall and of a column of pages."""

CHARACTER = 6.0
"""Width of a character of small text, about."""

BOUND_CHARACTER = 6.6
"""The same in wide fonts: bounds have to stay within their page."""

MOST_GROUPS, MOST_COLUMNS = 6, 16
"""Row groups that are drawn, and columns of each."""

THIN = 2.5
"""Width at least of what was read, however few rows it has."""

NARROW = 3.0
"""Width of a page below which it is drawn together with its neighbours."""

UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")

SHORTENED = 10_000_000
"""The first number of rows or pages that is shortened."""

STYLE = """
svg { --ground: #ffffff; --ink: #263238; --pale: #5f727c; --line: #90a4ae; --grid: #dfe5e8;
  --left: #26a69a; --read-ink: #06302c; --saved: #e0f2f1; --more: #d84315; --skipped: #f3f5f6; --rows: #ffe0b2; }
@media (prefers-color-scheme: dark) {
  svg { --ground: #1e2529; --ink: #e4eaed; --pale: #9db0ba; --line: #607d8b; --grid: #37444b;
    --left: #26a69a; --read-ink: #02211e; --saved: #22413f; --more: #ff8a65; --skipped: #273036; --rows: #5d4523; }
}
text { fill: var(--ink); font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums; }
.heading { font-size: 14px; font-weight: 600; } .name { font-weight: 600; }
.small { font-size: 11px; } .pale { fill: var(--pale); font-size: 11px; }
.off { fill: var(--pale); text-decoration: line-through; font-weight: 600; } .end { text-anchor: end; } .middle { text-anchor: middle; }
.ground { fill: var(--ground); } .grid { stroke: var(--grid); } .rule { stroke: var(--line); stroke-width: 0.6; }
.left { fill: var(--left); } .saved { fill: var(--saved); stroke: var(--left); stroke-width: 0.6; stroke-dasharray: 3 2; }
.more { fill: none; stroke: var(--more); stroke-width: 1.2; }
.rows { fill: var(--rows); } .read { fill: var(--left); stroke: var(--ground); }
.skipped { fill: var(--skipped); stroke: var(--line); stroke-width: 0.6; }
.thin { stroke: none; }
.on-read { fill: var(--read-ink); font-size: 11px; text-anchor: middle; } .on-skipped { fill: var(--pale); font-size: 11px; text-anchor: middle; }
"""


def drawn(scan: Scan, title: str) -> str:
    """The picture of all iterations of a scan so far, which was made with ``explain=True``.

    Args:
        scan: The scan.
        title: What was asked of which files.
    """
    drawing = _Drawing()
    y = _heading(drawing, scan, title)
    y = _waterfall(drawing, waterfall(scan), y)
    y = _pages(drawing, scan.trace or Trace(), y)
    return drawing.svg(y, title, _described(scan))


class _Drawing:
    """Elements of a picture, from the top down."""

    def __init__(self) -> None:
        self._body = ET.Element("g")

    def rectangle(self, x: float, y: float, width: float, height: float, kind: str, hint: str = "") -> None:
        """Add a rectangle; ``hint`` is shown when the mouse is over it."""
        place = {"x": x, "y": y, "width": max(width, 0), "height": height}
        found = ET.SubElement(
            self._body, "rect", {**{name: f"{at:.5g}" for name, at in place.items()}, "class": kind}
        )
        if hint:
            ET.SubElement(found, "title").text = printable(hint)

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        """Add a line of text, whose baseline is at ``y``."""
        attributes = {"x": f"{x:.5g}", "y": f"{y:.5g}"} | ({"class": kind} if kind else {})
        ET.SubElement(self._body, "text", attributes).text = printable(words)

    def line(self, x: float, y: float, to_x: float, to_y: float, kind: str) -> None:
        """Add a line."""
        place = {"x1": x, "y1": y, "x2": to_x, "y2": to_y}
        ET.SubElement(
            self._body, "line", {**{name: f"{at:.5g}" for name, at in place.items()}, "class": kind}
        )

    def svg(self, height: float, title: str, description: str) -> str:
        """The whole picture."""
        root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {WIDTH} {height:.5g}",
                "role": "img",
                "aria-labelledby": "scan-title scan-description",
            },
        )
        ET.SubElement(root, "title", {"id": "scan-title"}).text = printable(title)
        ET.SubElement(root, "desc", {"id": "scan-description"}).text = printable(description)
        ET.SubElement(root, "style").text = STYLE
        ET.SubElement(
            root, "rect", {"width": str(WIDTH), "height": f"{height:.5g}", "rx": "6", "class": "ground"}
        )
        root.extend(self._body)
        ET.indent(root)
        return ET.tostring(root, encoding="unicode") + "\n"


# ------------------------------------------------------------------------------------------------------------- words


def size_text(length: int) -> str:
    """A number of bytes in three digits.

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


def count_text(count: int) -> str:
    """A number of rows or pages, shortened where it is long.

    >>> count_text(1_934), count_text(200_000_000)
    ('1,934', '200 M')
    """
    return f"{count:,}" if count < SHORTENED else size_text(count).removesuffix("B")


def _described(scan: Scan) -> str:
    """The picture in words."""
    steps = [f"{step.name}: {step.left.rows} rows, {step.left.length} bytes" for step in waterfall(scan)]
    return f"What was left to be read after each technique. {'; '.join(steps)}. {_fetched(scan)}"


def _fetched(scan: Scan) -> str:
    counters = scan.counters
    data, metadata = counters.data, counters.metadata
    files = len(scan.files)
    return (
        f"{counters.left[Rung.STREAM].rows:,} of {counters.left[EVERYTHING].rows:,} rows; fetched "
        f"{size_text(data.length)} of data in {_counted(data.requests, 'request')} and {size_text(metadata.length)} of metadata in "
        f"{_counted(metadata.requests, 'request')}, of {size_text(sum(scan.files.values()))} in {_counted(files, 'file')}"
        f"{'; the limit was reached' if scan.trace is not None and scan.trace.is_stopped else ''}"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _cut(words: str, most: float) -> str:
    """Words of so many characters at most."""
    return words if len(words) <= most else f"{words[: int(most) - 1]}…"


# --------------------------------------------------------------------------------------------------------- waterfall


def _heading(drawing: _Drawing, scan: Scan, title: str) -> float:
    drawing.text(MARGIN, 28, _cut(printable(title), 100), "heading")
    drawing.text(MARGIN, 47, _fetched(scan), "small")
    return 64


class _Scale:
    """Where bytes are drawn: each line of the grid is ten times the one before."""

    def __init__(self, sizes: Sequence[int]) -> None:
        known = [math.log10(size) for size in sizes if size > 0] or [0.0]
        self.first = math.floor(min(known) - 0.25)
        self.last = max(*known, self.first + 1.0)

    def x(self, size: int) -> float:
        """The horizontal place of a number of bytes."""
        if size <= 0:
            return LEFT
        share = (math.log10(size) - self.first) / (self.last - self.first)
        return LEFT + max(share, 0.0) * (BARS_END - LEFT)

    def grid(self) -> Iterator[tuple[float, str]]:
        """The lines, with what they stand for."""
        for power in range(max(self.first, 0), math.floor(self.last) + 1):
            yield self.x(10**power), f"{10 ** (power % 3)} {UNITS[power // 3]}"


def _waterfall(drawing: _Drawing, steps: Sequence[Step], top: float) -> float:
    scale = _Scale([step.left.length for step in steps])
    drawing.text(MARGIN, top + 14, "left after", "pale")
    for x, words in ((ROWS_X, "rows"), (PAGES_X, "pages"), (BYTES_X, "bytes"), (REQUESTS_X, "requests")):
        drawing.text(x, top + 14, words, "pale end")
    bottom = top + 22 + STEP * len(steps)
    room = -math.inf
    for place, words in scale.grid():
        drawing.line(place, top + 18, place, bottom, "grid")
        if place - room > CHARACTER * 8 and place < BARS_END - CHARACTER * 4:
            drawing.text(place, top + 14, words, "pale middle")
            room = place
    for number, step in enumerate(steps):
        _step(drawing, step, scale, top + 22 + STEP * number)
    return bottom + 8


def _step(drawing: _Drawing, step: Step, scale: _Scale, y: float) -> None:
    left = step.left
    drawing.text(MARGIN, y + 14, step.name, "name" if step.is_on else "off")
    drawing.text(ROWS_X, y + 14, count_text(left.rows), "end")
    drawing.text(LEFT, y + 29, step.title if step.is_on else f"off: {step.title}", "pale")
    pages = "?" if left.pages is None else count_text(left.pages)
    for x, words in ((PAGES_X, pages), (BYTES_X, size_text(left.length)), (REQUESTS_X, f"{left.requests:,}")):
        drawing.text(x, y + 14, words, "end")
    before, after = scale.x(step.before), scale.x(left.length)
    hint = f"{step.name}: {left.length:,} bytes left of {step.before:,}"
    drawing.rectangle(LEFT, y + 3, min(before, after) - LEFT, 14, "left", hint)
    if after < before:
        drawing.rectangle(after, y + 3, before - after, 14, "saved", hint)
    elif after > before:
        drawing.rectangle(before, y + 3, after - before, 14, "more", hint)
    if step.saved and step.share is not None:
        word = f"saved {size_text(step.saved)}, " if step.saved > 0 else f"{size_text(-step.saved)} more, "
        drawing.text(REQUESTS_X, y + 29, f"{word}{_percent(step)}", "pale end")


def _percent(step: Step) -> str:
    share = abs(step.share or 0.0)
    # 100 % is said of nothing being left only.
    return (
        f"{min(share, 0.999) if step.saved and step.saved > 0 and step.left.length else share:.1%}".replace(
            "%", " %"
        )
    )


# ------------------------------------------------------------------------------------------------------------- pages


def _pages(drawing: _Drawing, trace: Trace, top: float) -> float:
    groups = [(file, group) for file in trace.files for group in file.groups]
    y = top
    if groups:
        y = _key(drawing, y)
    for file, group in groups[:MOST_GROUPS]:
        y = _group(drawing, file, group, y)
    more = sum(file.visited for file in trace.files) - len(groups[:MOST_GROUPS])
    if more > 0:
        drawing.text(MARGIN, y + 16, f"… and {_counted(more, 'more row group')}", "pale")
        y += 24
    return y + 10


def _key(drawing: _Drawing, y: float) -> float:
    drawing.line(MARGIN, y, WIDTH - MARGIN, y, "rule")
    x: float = MARGIN
    for kind, words in (
        ("read", "page that was read"),
        ("skipped", "page that was not"),
        ("rows", "rows that the page index left"),
    ):
        drawing.rectangle(x, y + 12, 22, 12, kind)
        drawing.text(x + 28, y + 22, words, "small")
        x += 48 + CHARACTER * len(words)
    drawing.text(x, y + 22, "? column of the condition", "small")
    return y + 30


def _group(drawing: _Drawing, file: FileTrace, group: GroupTrace, top: float) -> float:
    name = printable(file.name.rsplit("/", 1)[-1])
    words = f"{_cut(name, 40)}, row group {group.row_group}"
    drawing.text(MARGIN, top + 18, words, "name")
    counts = f"{group.rows_left:,} of {group.row_count:,} rows left, {group.matched:,} matched"
    drawing.text(WIDTH - MARGIN, top + 18, counts, "end")
    columns = group.columns[:MOST_COLUMNS]
    y = top + 28
    bottom = y + COLUMN * len(columns)

    def place(row: int) -> float:
        return LEFT + row * (PAGES_END - LEFT) / max(group.row_count, 1)

    for part in group.left:
        drawing.rectangle(
            place(part.start), y - 2, max(place(part.stop) - place(part.start), THIN), bottom - y, "rows"
        )
    for column in columns:
        _column(drawing, column, y, group.row_count)
        y += COLUMN
    _axis(drawing, group, bottom)
    hidden = len(group.columns) - len(columns)
    if hidden:
        drawing.text(MARGIN, bottom + 12, f"… {_counted(hidden, 'more column')}", "pale")
    return bottom + 22


def _axis(drawing: _Drawing, group: GroupTrace, y: float) -> None:
    """Numbers of rows below the pages: the first, the last, and where ranges begin and end, as far as there is room."""
    scale = (PAGES_END - LEFT) / max(group.row_count, 1)
    edges = {row for part in group.left for row in (part.start, part.stop)} - {0, group.row_count}
    taken = [0, group.row_count]
    for row in sorted(edges):
        if all(abs(row - other) * scale > CHARACTER * 8 for other in taken):
            taken.append(row)
    for row in taken:
        drawing.text(LEFT + row * scale, y + 9, f"{row:,}", "pale middle")


def _column(drawing: _Drawing, column: ColumnTrace, y: float, row_count: int) -> None:
    label = _cut(printable(column.name), 15 if column.is_asked else 17)
    drawing.text(MARGIN, y + 15, f"{label} ?" if column.is_asked else label, "small")
    scale = (PAGES_END - LEFT) / max(row_count, 1)
    # Those that were read come last: they may be wider than their rows, so that they are seen.
    for run in sorted(_runs(column.pages, scale), key=lambda run: run[0].is_read):
        _page(drawing, run, y, scale)
    kind = "page" if column.has_pages else "chunk"
    words = f"{column.pages_read:,} of {_counted(len(column.pages), kind)}, {size_text(column.length_read)}"
    drawing.text(WIDTH - MARGIN, y + 15, words, "pale end")


def _runs(pages: Sequence[PageTrace], scale: float) -> Iterator[list[PageTrace]]:
    """Pages that are drawn together: alone where they are wide enough, else with neighbours of the same lot."""
    for (is_narrow, _), run in groupby(pages, lambda page: (page.row_count * scale < NARROW, page.is_read)):
        if is_narrow:
            yield list(run)
        else:
            yield from ([page] for page in run)


def _page(drawing: _Drawing, run: Sequence[PageTrace], y: float, scale: float) -> None:
    first, last = run[0], run[-1]
    rows = range(first.row, last.row + last.row_count)
    x, width = LEFT + rows.start * scale, len(rows) * scale
    lot = "read" if first.is_read else "skipped"
    bounds = _bounds(first) if len(run) == 1 else ""
    hint = f"rows {rows.start:,} to {rows.stop - 1:,}, {sum(page.length for page in run):,} bytes: {lot}"
    if len(run) > 1:
        hint = f"{len(run):,} pages, {hint}"
    elif bounds:
        hint = f"{hint}; {bounds}"
    drawing.rectangle(x, y + 2, max(width - 0.8, THIN), 19, f"{lot} thin" if width < 2 * THIN else lot, hint)
    for words in (bounds, bounds.split(" … ", maxsplit=1)[0] + " …" if " … " in bounds else ""):
        if words and BOUND_CHARACTER * len(words) + 4 < width:
            drawing.text(x + width / 2, y + 15, words, f"on-{lot}")
            return


def _bounds(page: PageTrace) -> str:
    if page.bounds is None:
        return ""
    return " … ".join(page.bounds) or "nulls"


__all__ = ["drawn", "size_text"]
