"""Write the tables and the picture of ``docs/guide/which-index.md``: ``python tools/write_which_index_tables.py``.

They are made of the figures that ``python benchmarks/which_index.py --write`` measures and keeps.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from page_tables import duration, grid, size, with_tables

from pqassay_spec.base.sources import write_whole

ROOT = Path(__file__).resolve().parent.parent

FIGURES = ROOT / "benchmarks" / "which_index_figures.json"

PAGE = ROOT / "docs" / "guide" / "which-index.md"

PICTURE = ROOT / "docs" / "assets" / "which-index.svg"

QUIET = 0.9
"""Share of the processors below which a measurement says that it was not alone."""

KINDS = {"bounds": "bounds", "bloom": "bloom filter", "idx1": "IDX1", "sets": "distinct sets"}
"""The kinds of metadata, as the tables call them."""

Curve = Mapping[str, Any]


def curves_of(figures: Mapping[str, Any], *, is_sorted: bool) -> list[Curve]:
    """The figures of one order, by the number of distinct values."""
    return [one for one in figures["curves"] if one["sorted"] is is_sorted]


def kept_table(figures: Mapping[str, Any], *, is_sorted: bool) -> Iterator[str]:
    """Row groups that are left for a value that occurs, and for one that does not."""
    header = ("Distinct values", *KINDS.values())
    yield from grid(
        header,
        (
            (f"{one['cardinality']:,}", *(" / ".join(map(str, one[kind]["kept"])) for kind in KINDS))
            for one in curves_of(figures, is_sorted=is_sorted)
        ),
    )


def size_table(figures: Mapping[str, Any], *, is_sorted: bool) -> Iterator[str]:
    """Bytes of each kind, as a share of the files."""
    kinds = [kind for kind in KINDS if kind != "bounds"]
    yield from grid(
        ("Distinct values", "files", *(KINDS[kind] for kind in kinds)),
        (
            (
                f"{one['cardinality']:,}",
                size(one["bytes"]),
                *(f"{size(one[kind]['bytes'])} ({one[kind]['bytes'] / one['bytes']:.1%})" for kind in kinds),
            )
            for one in curves_of(figures, is_sorted=is_sorted)
        ),
    )


def time_table(figures: Mapping[str, Any], *, is_sorted: bool) -> Iterator[str]:
    """Time to write each kind, and to decide by it."""
    kinds = [kind for kind in KINDS if kind != "bounds"]
    yield from grid(
        (
            "Distinct values",
            "files alone",
            *(f"{KINDS[kind]}, more" for kind in kinds),
            *(f"{KINDS[kind]} decide" for kind in KINDS),
        ),
        (
            (
                f"{one['cardinality']:,}",
                duration(one["write"]),
                *(duration(max(one[kind]["cost"], 0.0)) for kind in kinds),
                *(duration(one[kind]["decide"]) for kind in KINDS),
            )
            for one in curves_of(figures, is_sorted=is_sorted)
        ),
    )


def measured_on(figures: Mapping[str, Any]) -> Iterator[str]:
    """What ran, and on what."""
    yield (
        f"Measured on {figures['machine']}: {figures['rows']:,} rows of one column of text in {figures['files']} files and "
        f"{figures['row_groups']} row groups; the fastest of {figures['rounds']} rounds."
    )
    if figures["share"] < QUIET:
        yield f"Other programs left {figures['share']:.0%} of the processors to it: repeat it on a machine that does nothing else."


# ------------------------------------------------------------------------------------------------------- the picture

DESCRIPTION = (
    "Row groups that are left and bytes of the index, over the number of distinct values, of shuffled rows"
)
"""What the picture shows, for those who do not see it."""

WIDTH, HEIGHT, MARGIN = 360, 220, 44
COLORS = {"bounds": "#888888", "bloom": "#d08a1e", "idx1": "#2a7ab0", "sets": "#1f7a3d"}


def picture(figures: Mapping[str, Any]) -> str:
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
        [
            (kind, [(one["cardinality"], one[kind]["bytes"]) for one in shuffled])
            for kind in KINDS
            if kind != "bounds"
        ],
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


def written(page: Path, figures: Mapping[str, Any]) -> str:
    """The page with its tables made anew."""
    tables = {
        f"{name} {'sorted' if is_sorted else 'shuffled'}": partial(table, figures, is_sorted=is_sorted)
        for name, table in (("kept", kept_table), ("size", size_table), ("time", time_table))
        for is_sorted in (True, False)
    }
    return with_tables(
        page.read_text(encoding="utf-8"), {**tables, "which index measured on": partial(measured_on, figures)}
    )


def main() -> None:
    """Write them."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    write_whole(PAGE, written(PAGE, figures).encode())
    write_whole(PICTURE, picture(figures).encode())


if __name__ == "__main__":
    main()
