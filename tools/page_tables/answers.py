"""What an answer costs, beside DuckDB: the figures of ``benchmarks/answer.py --write``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from page_tables import Figures, duration, grid, not_alone

ALONE = 0.5
"""Share of the processors below which times by the clock are those of other programs, and are not shown."""

KINDS = {"processor": "processor time", "clock": "by the clock"}
"""The times, as the tables call them."""

LAKES = {
    "clustered": "some files have the nation",
    "everywhere": "every file has it; half have no sums",
}
"""The lakes, as the tables call them."""


def kinds_of(figures: Figures) -> Mapping[str, str]:
    """The times that are shown."""
    return {kind: called for kind, called in KINDS.items() if kind != "clock" or figures["share"] >= ALONE}


def times_of(ratio: float) -> str:
    """A ratio, for people."""
    return f"{ratio:.1f}x" if ratio < 10 else f"{ratio:.0f}x"


def answers(figures: Figures) -> Iterator[str]:
    """The time of an answer and of DuckDB, in each lake by both times."""
    rows: list[list[str]] = []
    for name, words in LAKES.items():
        lake = figures["lakes"][name]
        effort = lake["effort"]
        files = [effort[which] for which in ("files_from_metadata", "files_skipped", "files_read")]
        for kind, called in kinds_of(figures).items():
            mine, theirs = (lake[who]["least"][kind] for who in ("answer", "duckdb"))
            read = [" / ".join(map(str, files)), f"{effort['data_bytes'] / 1e6:.1f} MB"]
            rows.append([words, *read, called, duration(mine), duration(theirs), times_of(theirs / mine)])
    header = ("Lake", "files answered / skipped / read", "data read", "time", "answer", "DuckDB", "faster")
    yield from grid(header, rows)


def measured_on(figures: Figures) -> Iterator[str]:
    """What ran, and on what."""
    clustered = figures["lakes"]["clustered"]
    opening = f", in {duration(clustered['opening'])}" if figures["share"] >= ALONE else ""
    yield (
        f"Measured on {figures['machine']}, DuckDB {figures['duckdb_version']}: {figures['files']:,} files of {figures['rows'] // figures['files']:,} rows in "
        f"four row groups each; the fastest of {figures['rounds']} rounds that take turns, with metadata loaded. To load it, the answerer read "
        f"{clustered['effort']['metadata_bytes'] / 1e6:.0f} MB once{opening}."
    )
    yield from of_processors(figures)


def of_processors(figures: Figures) -> Iterator[str]:
    """A warning where other programs ran beside it."""
    is_clock_shown = figures["share"] >= ALONE
    yield from not_alone(
        figures, "" if is_clock_shown else ", so that times by the clock say nothing and are left out"
    )


TABLES = {"answers": answers, "answers measured on": measured_on}
