"""Write the tables of what indexes save, in README and ``docs/guide/pruning-saves.md``: ``python tools/write_prune_tables.py``.

They are made of the figures that ``python benchmarks/prune_lake.py --write`` measures and keeps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from page_tables import IN_README, duration, grid, size, with_tables

from pqassay_spec.base.sources import write_whole

ROOT = Path(__file__).resolve().parent.parent

FIGURES = ROOT / "benchmarks" / "prune_figures.json"

QUIET = 0.9
"""Share of the processors below which a measurement says that it was not alone."""

PAGES = (ROOT / "README.md", ROOT / "docs" / "guide" / "pruning-saves.md")

WAYS = {
    "native": "by itself",
    "bloom": "by itself, with bloom filters",
    "warm": "indexes loaded",
    "cold": "loading included",
    "table": "loading included, from the index table",
}
"""How the rows were found, as the tables call it."""

PIECES = {
    "nothing": "nothing",
    "bounds": "minimum and maximum",
    "bloom": "bloom filter",
    "both": "bounds, then bloom filter",
    "set": "index, from the ends of the files",
    "table": "index, from the index table",
}
"""What leaves the files over."""

IN_SHORT = ("DuckDB", "DataFusion", "Polars", "pyarrow")
"""Rows of the table in the README."""


def engines_table(figures: Mapping[str, Any], lake: str, *engines: str) -> Iterator[str]:
    """How long each engine takes, and how many times as fast as by itself that is."""
    times: dict[str, dict[str, float]] = figures[lake]["engines"]
    ways = [way for way in WAYS if way in times["DuckDB"]]
    yield from grid(
        ("", *(WAYS[way] for way in ways)),
        ((engine, *(_cell(times[engine], way) for way in ways)) for engine in (engines or times)),
    )


def _cell(times: Mapping[str, float], way: str) -> str:
    taken = duration(times[way])
    return taken if way == "native" else f"{taken} ({times['native'] / times[way]:.1f} times as fast)"


def opening_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """How long it takes to load the indexes of both lakes."""
    header = (
        "A lake of",
        "index of a file",
        "from the ends",
        "from the index table",
        "listing, without indexes",
    )
    rows = (
        (
            f"{figures[lake]['files']:,} files, {size(figures[lake]['bytes'])}",
            size(figures[lake]["index_bytes"]),
            *(duration(figures[lake]["opening"][way]) for way in ("ends", "table", "listing")),
        )
        for lake in ("spread", "clustered")
    )
    yield from grid(header, rows)


def pieces_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """What each piece of metadata leaves over in the second lake."""
    lake = figures["clustered"]
    attached = {"bloom": lake["bloom_bytes"], "set": lake["index_bytes"]}
    yield from grid(
        (
            "Left over by",
            "Files",
            "of which hold no such row",
            "Bytes in a file",
            "To decide",
            "DuckDB reads them in",
        ),
        (
            (
                words,
                f"{figures['pieces'][name]['files']:,}",
                f"{figures['pieces'][name]['files'] - lake['holding']:,}",
                size(attached[name]) if name in attached else "",
                duration(figures["pieces"][name]["decided"]) if name != "nothing" else "",
                duration(figures["pieces"][name]["read"]),
            )
            for name, words in PIECES.items()
        ),
    )


def measured_on(figures: Mapping[str, Any]) -> Iterator[str]:
    """What ran, and on what."""
    yield f"Measured on {figures['machine']}; the fastest of {figures['rounds']} rounds."
    if figures["share"] < QUIET:
        yield f"Other programs left {figures['share']:.0%} of the processors to it: repeat it on a machine that does nothing else."


def tables(figures: Mapping[str, Any]) -> dict[str, Any]:
    """What makes the tables, by the name in the comment."""
    return {
        "pruning in short": partial(engines_table, figures, "spread", *IN_SHORT),
        "pruning": partial(engines_table, figures, "spread"),
        "pruning beside bounds and bloom filters": partial(engines_table, figures, "clustered"),
        "opening": partial(opening_table, figures),
        "pieces": partial(pieces_table, figures),
        "pruning measured on": partial(measured_on, figures),
    }


def written(page: Path) -> str:
    """A page with its tables made anew."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    made = tables(figures)
    of_others = [name for name in IN_README if name not in made]
    return with_tables(page.read_text(encoding="utf-8"), made, of_others=of_others)


def main() -> None:
    """Write them."""
    for page in PAGES:
        write_whole(page, written(page).encode())
        print(page)


if __name__ == "__main__":
    main()
