"""What a scan reads and how long it takes, beside other readers: the figures of ``benchmarks/scan.py --json benchmarks/scan_figures.json``."""

from __future__ import annotations

from collections.abc import Iterator

from page_tables import Figures, columns, grid

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
    asked = list(by_question.values())
    rows = (
        [name, *(f"{milliseconds(one[name]['first'])}, {milliseconds(one[name]['again'])}" for one in asked)]
        for name in asked[0]
    )
    yield from grid(["", *(QUESTIONS[question] for question in by_question)], rows)


def bytes_read(figures: Figures) -> Iterator[str]:
    """Megabytes and requests."""
    asked = list(figures["counted"].values())
    rows = (
        [name, *(f"{megabytes(one[name]['length'])} in {one[name]['requests']}" for one in asked)]
        for name in asked[0]
    )
    yield from grid(["", *(QUESTIONS[question] for question in figures["counted"])], rows)


def gap(figures: Figures) -> Iterator[str]:
    """What the gap changes."""
    rows = (
        (question, gap, one)
        for question, by_gap in figures["gaps"]["by gap"].items()
        for gap, one in by_gap.items()
    )
    yield from columns(
        rows,
        {
            "": lambda row: QUESTIONS[row[0]],
            "gap": lambda row: f"{int(row[1]) >> 10} KiB",
            "MB": lambda row: megabytes(row[2]["length"]),
            "requests": lambda row: str(row[2]["requests"]),
            "local, ms": lambda row: milliseconds(row[2]["local"]),
            f"{figures['gaps']['pace']}, ms": lambda row: milliseconds(row[2]["store"]),
        },
    )


def ladder(figures: Figures) -> Iterator[str]:
    """Each rung off, for two questions."""
    measured = figures["ladder"]
    header = ["without"]
    for question in measured:
        header += [f"{QUESTIONS[question]}: MB", "requests", "ms"]
    names = {"": "nothing", "all": "everything"}
    rows: list[list[str]] = []
    for rung in next(iter(measured.values())):
        row = [names.get(rung, f"`{rung}`")]
        for one in (by_rung[rung] for by_rung in measured.values()):
            read = megabytes(one["metadata"] + one["data"])
            row += [read, str(one["requests"]), milliseconds(one["seconds"])]
        rows.append(row)
    yield from grid(header, rows)


def dictionaries(figures: Figures) -> Iterator[str]:
    """With dictionaries kept and without."""
    yield from columns(
        figures["dictionaries"].items(),
        {
            "dictionaries": lambda row: row[0],
            "ms": lambda row: milliseconds(row[1]["seconds"]),
            "result, MB": lambda row: megabytes(row[1]["length"]),
            "memory at most, MB": lambda row: megabytes(row[1]["most"]),
        },
    )


def wide(figures: Figures) -> Iterator[str]:
    """One value of a file of many columns."""
    yield from columns(
        figures["wide"]["value"].items(),
        {
            "": lambda row: row[0],
            "first, ms": lambda row: milliseconds(row[1]["first"]),
            "again, ms": lambda row: milliseconds(row[1]["again"]),
        },
    )


def goals(figures: Figures) -> Iterator[str]:
    """What was to be reached."""
    rows = ((sentence, "yes" if reached else "no") for sentence, reached in figures["goals"].items())
    yield from grid(("goal", "reached"), rows)


def file(figures: Figures) -> Iterator[str]:
    """The file that was asked."""
    yield (
        f"{figures['rows']:,} rows in {figures['row_groups']} row groups and {figures['size'] / MEGA:,.0f} MB, "
        f"on {figures['processors']} processors; behind the store, {figures['store']['pace']}."
    )


TABLES = {
    "file": file,
    "local": lambda figures: _times(figures["local"]),
    "bytes": bytes_read,
    "store": lambda figures: _times(figures["store"]["times"]),
    "gap": gap,
    "ladder": ladder,
    "dictionaries": dictionaries,
    "wide": wide,
    "goals": goals,
}
