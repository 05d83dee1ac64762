"""What is left by metadata of different kinds, and what they cost: the figures of ``benchmarks/which_index.py --write``, as tables and a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from page_tables import Figures, columns, duration, not_alone, size

KINDS = {"bounds": "bounds", "bloom": "bloom filter", "idx1": "IDX1", "sets": "distinct sets"}
"""The kinds of metadata, as the tables call them."""

ADDED = {kind: words for kind, words in KINDS.items() if kind != "bounds"}
"""Those that a file has only if it is wished."""


def curves_of(figures: Figures, *, is_sorted: bool) -> list[Figures]:
    """The figures of one order, by the number of distinct values."""
    return [one for one in figures["curves"] if one["sorted"] is is_sorted]


Cells = Mapping[str, Callable[[Any], str]]


def _cells(kinds: Mapping[str, str], cell: Callable[[str, Figures], str], more: str = "") -> Cells:
    """A column for each kind, from its name in the figures."""
    return {f"{words}{more}": partial(cell, kind) for kind, words in kinds.items()}


KEPT = _cells(KINDS, lambda kind, one: " / ".join(map(str, one[kind]["kept"])))
"""Row groups that are left for a value that occurs, and for one that does not."""

SIZE = {
    "files": lambda one: size(one["bytes"]),
    **_cells(
        ADDED, lambda kind, one: f"{size(one[kind]['bytes'])} ({one[kind]['bytes'] / one['bytes']:.1%})"
    ),
}
"""Bytes of each kind, as a share of the files."""

TIME = {
    "files alone": lambda one: duration(one["write"]),
    **_cells(ADDED, lambda kind, one: duration(max(one[kind]["cost"], 0.0)), ", more"),
    **_cells(KINDS, lambda kind, one: duration(one[kind]["decide"]), " decide"),
}
"""Time to write each kind, and to decide by it."""


def curves(figures: Figures, cells: Cells, *, is_sorted: bool) -> Iterator[str]:
    """A row for each number of distinct values."""
    counts = {"Distinct values": lambda one: f"{one['cardinality']:,}"}
    yield from columns(curves_of(figures, is_sorted=is_sorted), {**counts, **cells})


def measured_on(figures: Figures) -> Iterator[str]:
    """What ran, and on what."""
    yield (
        f"Measured on {figures['machine']}: {figures['rows']:,} rows of one column of text in {figures['files']} files and "
        f"{figures['row_groups']} row groups; the fastest of {figures['rounds']} rounds."
    )
    yield from not_alone(figures)


TABLES = {
    "which index measured on": measured_on,
    "kept sorted": partial(curves, cells=KEPT, is_sorted=True),
    "kept shuffled": partial(curves, cells=KEPT, is_sorted=False),
    "size sorted": partial(curves, cells=SIZE, is_sorted=True),
    "size shuffled": partial(curves, cells=SIZE, is_sorted=False),
    "time shuffled": partial(curves, cells=TIME, is_sorted=False),
}


# ------------------------------------------------------------------------------------------------------- the picture

DESCRIPTION = (
    "Row groups that are left and bytes of the index, over the number of distinct values, of shuffled rows"
)
"""What the picture shows, for those who do not see it."""

WIDTH, HEIGHT, MARGIN = 360, 220, 44
COLORS = {"bounds": "#888888", "bloom": "#d08a1e", "idx1": "#2a7ab0", "sets": "#1f7a3d"}


def picture(figures: Figures) -> str:
    """Bytes of the index and row groups that are left, over the number of distinct values, of shuffled rows."""
    shuffled = curves_of(figures, is_sorted=False)
    left = _panel(
        "row groups left, of a value that occurs",
        [(kind, [(one["cardinality"], one[kind]["kept"][0]) for one in shuffled]) for kind in KINDS],
        figures["row_groups"],
        is_log=False,
    )
    sizes = _panel(
        "bytes of the index (tenfold steps)",
        [(kind, [(one["cardinality"], one[kind]["bytes"]) for one in shuffled]) for kind in ADDED],
        max(one[kind]["bytes"] for one in shuffled for kind in KINDS),
        is_log=True,
    )
    legend = "".join(
        f'<rect x="{MARGIN + 150 * place}" y="{HEIGHT + 8}" width="12" height="4" fill="{COLORS[kind]}"/>'
        f'<text x="{MARGIN + 150 * place + 18}" y="{HEIGHT + 14}">{words}</text>'
        for place, (kind, words) in enumerate(KINDS.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT + 24}" role="img" aria-label="{DESCRIPTION}" font-family="sans-serif" font-size="11">'
        f'<rect width="{2 * WIDTH}" height="{HEIGHT + 24}" fill="#ffffff"/>{left}<g transform="translate({WIDTH},0)">{sizes}</g>{legend}</svg>\n'
    )


def _panel(
    title: str, lines: Sequence[tuple[str, Sequence[tuple[int, float]]]], most: float, *, is_log: bool
) -> str:
    powers = 6

    def x(cardinality: int) -> float:
        return MARGIN + (WIDTH - 1.5 * MARGIN) * math.log10(cardinality) / powers

    def y(value: float) -> float:
        share = math.log10(max(value, 1)) / math.log10(max(most, 10)) if is_log else value / most
        return HEIGHT - MARGIN - (HEIGHT - 1.8 * MARGIN) * share

    parts = [f'<text x="{MARGIN}" y="18" font-weight="bold">{title}</text>']
    parts += [
        f'<text x="{x(10**power):.0f}" y="{HEIGHT - MARGIN + 16}" text-anchor="middle">{10**power:,}</text>'
        for power in range(0, powers + 1, 2)
    ]
    parts.append(
        f'<text x="{MARGIN - 6}" y="{y(most) + 4:.0f}" text-anchor="end">{size(most) if is_log else f"{most:g}"}</text>'
    )
    parts.append(
        f'<path d="M{MARGIN} {y(most):.0f}V{HEIGHT - MARGIN}H{WIDTH - MARGIN / 2:.0f}" fill="none" stroke="#444"/>'
    )
    for kind, points in lines:
        path = " ".join(f"{x(cardinality):.1f},{y(value):.1f}" for cardinality, value in points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{COLORS[kind]}" stroke-width="2" opacity="0.85"/>'
        )
    return "".join(parts)


PICTURES = {"docs/assets/which-index.svg": picture}
"""What draws each picture."""
