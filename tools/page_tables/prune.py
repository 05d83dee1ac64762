"""What indexes save: the figures of ``benchmarks/prune_lake.py --write``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from page_tables import Figures, columns, duration, grid, not_alone, size

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


def engines(figures: Figures, lake: str) -> Iterator[str]:
    """How long each engine takes, and how many times as fast as by itself that is."""
    times: dict[str, dict[str, float]] = figures[lake]["engines"]
    ways = [way for way in WAYS if way in times["DuckDB"]]
    yield from grid(
        ("", *(WAYS[way] for way in ways)),
        ((engine, *(_cell(times[engine], way) for way in ways)) for engine in times),
    )


def _cell(times: Mapping[str, float], way: str) -> str:
    taken = duration(times[way])
    return taken if way == "native" else f"{taken} ({times['native'] / times[way]:.1f} times as fast)"


def opening(figures: Figures) -> Iterator[str]:
    """How long it takes to load the indexes of both lakes."""
    yield from columns(
        (figures[lake] for lake in ("spread", "clustered")),
        {
            "A lake of": lambda lake: f"{lake['files']:,} files, {size(lake['bytes'])}",
            "index of a file": lambda lake: size(lake["index_bytes"]),
            "from the ends": lambda lake: duration(lake["opening"]["ends"]),
            "from the index table": lambda lake: duration(lake["opening"]["table"]),
            "listing, without indexes": lambda lake: duration(lake["opening"]["listing"]),
        },
    )


def pieces(figures: Figures) -> Iterator[str]:
    """What each piece of metadata keeps in the second lake."""
    lake, measured = figures["clustered"], figures["pieces"]
    attached = {"bloom": size(lake["bloom_bytes"]), "set": size(lake["index_bytes"])}
    yield from columns(
        PIECES,
        {
            "Left over by": lambda name: PIECES[name],
            "Files": lambda name: f"{measured[name]['files']:,}",
            "of which hold no such row": lambda name: f"{measured[name]['files'] - lake['holding']:,}",
            "Bytes in a file": lambda name: attached.get(name, ""),
            "To decide": lambda name: "" if name == "nothing" else duration(measured[name]["decided"]),
            "DuckDB reads them in": lambda name: duration(measured[name]["read"]),
        },
    )


def measured_on(figures: Figures) -> Iterator[str]:
    """What ran, and on what."""
    yield f"Measured on {figures['machine']}; the fastest of {figures['rounds']} rounds."
    yield from not_alone(figures)


TABLES = {
    "pruning": partial(engines, lake="spread"),
    "pruning beside bounds and bloom filters": partial(engines, lake="clustered"),
    "opening": opening,
    "pieces": pieces,
    "pruning measured on": measured_on,
}
