"""Write the tables of ``docs/guide/scan-speed.md``, and one of README, from measured figures: ``python tools/write_scan_tables.py``.

The figures are those of ``benchmarks/scan.py --json benchmarks/scan_figures.json``.  Each table is stored between two comments,
the first of which names it; all else on the page is written by people.  A test compares them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from page_tables import IN_README, grid, with_tables

from pqassay_spec.base.sources import write_whole

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "benchmarks" / "scan_figures.json"
PAGE = ROOT / "docs" / "guide" / "scan-speed.md"
README = ROOT / "README.md"

OURS = "pqassay"
MEGA = 1e6

QUESTIONS = {
    "point": "one key",
    "absent": "an absent key",
    "range": "5,000 neighbouring keys",
    "20 points": "20 keys far apart",
    "unsorted": "one value of a random column",
    "1 % at random": "1 % of the rows, at random",
}
"""What the benchmark calls a question, and what the page calls it."""

Figures = Mapping[str, Any]


def milliseconds(seconds: float) -> str:
    """Two digits are what such a measurement holds.

    >>> milliseconds(0.00123), milliseconds(0.0716), milliseconds(1.234)
    ('1.2', '72', '1,200')
    """
    return f"{float(f'{seconds * 1e3:.1e}'):,.{1 if seconds < 0.00995 else 0}f}"


def megabytes(count: float) -> str:
    """Bytes in millions.

    >>> megabytes(641_234), megabytes(30_390_000)
    ('0.64', '30')
    """
    return f"{count / MEGA:.2f}" if count < 10 * MEGA else f"{count / MEGA:,.0f}"


def _times(by_question: Figures) -> Iterator[str]:
    """First and again, a row for each reader."""
    names = list(next(iter(by_question.values())))
    rows = [
        [name, *(f"{milliseconds(one[name]['first'])}, {milliseconds(one[name]['again'])}" for one in by_question.values())]
        for name in names
    ]  # fmt: skip
    yield from grid(["", *(QUESTIONS[question] for question in by_question)], rows)


def local_table(figures: Figures) -> Iterator[str]:
    """Milliseconds on a local file."""
    yield from _times(figures["local"])


def store_table(figures: Figures) -> Iterator[str]:
    """Milliseconds behind a store."""
    yield from _times(figures["store"]["times"])


def bytes_table(figures: Figures) -> Iterator[str]:
    """Megabytes and requests."""
    counted = figures["counted"]
    rows = [
        [name, *(f"{megabytes(one[name]['length'])} in {one[name]['requests']}" for one in counted.values())]
        for name in next(iter(counted.values()))
    ]
    yield from grid(["", *(QUESTIONS[question] for question in counted)], rows)


def gap_table(figures: Figures) -> Iterator[str]:
    """What the gap changes."""
    header = ("", "gap", "MB", "requests", "local, ms", f"{figures['gaps']['pace']}, ms")
    rows = [
        (
            QUESTIONS[question],
            f"{int(gap) >> 10} KiB",
            megabytes(one["length"]),
            str(one["requests"]),
            milliseconds(one["local"]),
            milliseconds(one["store"]),
        )
        for question, by_gap in figures["gaps"]["by gap"].items()
        for gap, one in by_gap.items()
    ]
    yield from grid(header, rows)


def ladder_table(figures: Figures) -> Iterator[str]:
    """Each rung off, for two questions."""
    ladder = figures["ladder"]
    header = ["without"]
    for question in ladder:
        header += [f"{QUESTIONS[question]}: MB", "requests", "ms"]
    names = {"": "nothing", "all": "everything"}
    rows: list[list[str]] = []
    for rung in next(iter(ladder.values())):
        row = [names.get(rung, f"`{rung}`")]
        for measured in ladder.values():
            one = measured[rung]
            row += [
                megabytes(one["metadata"] + one["data"]),
                str(one["requests"]),
                milliseconds(one["seconds"]),
            ]
        rows.append(row)
    yield from grid(header, rows)


def dictionaries_table(figures: Figures) -> Iterator[str]:
    """With dictionaries kept and without."""
    header = ("dictionaries", "ms", "result, MB", "memory at most, MB")
    rows = [
        (name, milliseconds(one["seconds"]), megabytes(one["length"]), megabytes(one["most"]))
        for name, one in figures["dictionaries"].items()
    ]
    yield from grid(header, rows)


def wide_table(figures: Figures) -> Iterator[str]:
    """One value of a file of many columns."""
    rows = [
        (name, milliseconds(taken["first"]), milliseconds(taken["again"]))
        for name, taken in figures["wide"]["value"].items()
    ]
    yield from grid(("", "first, ms", "again, ms"), rows)


def goals_table(figures: Figures) -> Iterator[str]:
    """What was to be reached."""
    rows = [(sentence, "yes" if reached else "no") for sentence, reached in figures["goals"].items()]
    yield from grid(("goal", "reached"), rows)


def short_table(figures: Figures) -> Iterator[str]:
    """One key of a sorted file: what each reader reads, and how long it takes."""
    counted, store = figures["counted"]["point"], figures["store"]["times"]["point"]
    local = figures["local"]["point"]
    rows: list[tuple[str, ...]] = []
    for name, taken in store.items():
        # DuckDB reads a local file by itself, and a store through a file system in Python.
        here = local[name.partition(" through ")[0]]
        read = megabytes(counted[name]["length"]), str(counted[name]["requests"])
        rows.append((name, *read, milliseconds(here["first"]), milliseconds(taken["first"])))
    yield from grid(("", "MB read", "requests", "ms, local file", f"ms, {figures['store']['pace']}"), rows)


def file_table(figures: Figures) -> Iterator[str]:
    """The file that was asked."""
    yield (
        f"{figures['rows']:,} rows in {figures['row_groups']} row groups and {figures['size'] / MEGA:,.0f} MB, "
        f"on {figures['processors']} processors; behind the store, {figures['store']['pace']}."
    )


TABLES: dict[str, Callable[[Figures], Iterator[str]]] = {
    "file": file_table,
    "local": local_table,
    "bytes": bytes_table,
    "store": store_table,
    "gap": gap_table,
    "ladder": ladder_table,
    "dictionaries": dictionaries_table,
    "wide": wide_table,
    "goals": goals_table,
}


def written(figures: Figures) -> str:
    """The page with its tables made anew."""
    made = {name: partial(table, figures) for name, table in TABLES.items()}
    return with_tables(PAGE.read_text(encoding="utf-8"), made)


def readme_written(figures: Figures) -> str:
    """README with its table made anew."""
    made = {"scan in short": partial(short_table, figures)}
    of_others = [name for name in IN_README if name not in made]
    return with_tables(README.read_text(encoding="utf-8"), made, of_others=of_others)


def read_figures() -> Figures:
    """What was measured last."""
    figures: Figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    return figures


if __name__ == "__main__":
    write_whole(PAGE, written(read_figures()).encode())
    write_whole(README, readme_written(read_figures()).encode())
