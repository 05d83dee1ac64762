"""Write the tables of what answers and indexes cost: ``python tools/write_directory_tables.py``.

They are made of the figures that ``python benchmarks/answer.py --write`` and ``python benchmarks/index_write.py --write`` measure and keep, and are in
``docs/guide/answer.md`` and ``docs/guide/indexes.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from page_tables import duration, grid, with_tables

from pqassay_spec.base.sources import write_whole

ROOT = Path(__file__).resolve().parent.parent

BENCHMARKS = ROOT / "benchmarks"

ANSWERS, WRITING = BENCHMARKS / "answer_figures.json", BENCHMARKS / "index_write_figures.json"

QUIET = 0.9
"""Share of the processors below which a measurement says that it was not alone."""

ALONE = 0.5
"""Share of the processors below which times by the clock are those of other programs, and are not shown."""

KINDS = {"processor": "processor time", "clock": "by the clock"}
"""The times, as the tables call them."""

LAKES = {
    "clustered": "some files have the nation",
    "everywhere": "every file has it; half have no sums",
}
"""The lakes, as the tables call them."""

INDEXES = {
    "distinct set": "distinct sets of nations",
    "zone sums": "sums of amounts",
    "zone sums by nation and year": "sums of amounts by nation and year",
    "the same, of whole numbers": "sums of units by nation and year",
    "the same, of the whole file": "sums of amounts by nation and year, of the file",
}
"""The indexes likewise."""

Figures = Mapping[str, Any]


def kinds_of(figures: Figures) -> Mapping[str, str]:
    """The times that are shown."""
    return {kind: called for kind, called in KINDS.items() if kind != "clock" or figures["share"] >= ALONE}


def times_of(ratio: float) -> str:
    """A ratio, for people."""
    return f"{ratio:.1f}x" if ratio < 10 else f"{ratio:.0f}x"


def answer_table(figures: Figures) -> Iterator[str]:
    """What a question takes, and what it takes DuckDB, in each lake by both times."""
    yield from grid(
        ("Lake", "files answered / skipped / read", "data read", "time", "answer", "DuckDB", "faster"),
        (
            (
                words,
                " / ".join(
                    str(one["effort"][name])
                    for name in ("files_from_metadata", "files_skipped", "files_read")
                ),
                f"{one['effort']['data_bytes'] / 1e6:.1f} MB",
                called,
                duration(one["answer"]["least"][kind]),
                duration(one["duckdb"]["least"][kind]),
                times_of(one["duckdb"]["least"][kind] / one["answer"]["least"][kind]),
            )
            for name, words in LAKES.items()
            for one in [figures["lakes"][name]]
            for kind, called in kinds_of(figures).items()
        ),
    )


def answer_measured_on(figures: Figures) -> Iterator[str]:
    """What ran, and on what."""
    clustered = figures["lakes"]["clustered"]
    opening = f", in {duration(clustered['opening'])}" if figures["share"] >= ALONE else ""
    yield (
        f"Measured on {figures['machine']}, DuckDB {figures['duckdb_version']}: {figures['files']:,} files of {figures['rows'] // figures['files']:,} rows in "
        f"four row groups each; the fastest of {figures['rounds']} rounds that take turns, with metadata loaded. To load it, the answerer read "
        f"{clustered['effort']['metadata_bytes'] / 1e6:.0f} MB once{opening}."
    )
    yield from _not_alone(figures)


def writing_table(figures: Figures) -> Iterator[str]:
    """What each index takes, as a multiple of IDX1, and of IDX1 and of decoding the columns that IDX1 does not read."""
    taken, kinds = figures["taken"], kinds_of(figures)
    idx1 = taken["IDX1"]
    header = ["Index"]
    for called in kinds.values():
        header += [called, "of IDX1", "of IDX1 and of decoding the other columns"]
    rows: list[list[str]] = []
    for name, words in {"IDX1": "IDX1 of nations", **INDEXES}.items():
        columns: list[str] = [] if name == "zone sums" else figures["besides"].get(name, [])
        row = [words]
        for kind in kinds:
            more = taken[f"decoding {', '.join(columns)}"][kind] if columns else 0.0
            time = taken[name][kind]
            together = times_of(time / (idx1[kind] + more)) if columns else ""
            row += [duration(time), times_of(time / idx1[kind]), together]
        rows.append(row)
    yield from grid(header, rows)


def writing_measured_on(figures: Figures) -> Iterator[str]:
    """What ran, and on what."""
    yield (
        f"Measured on {figures['machine']}: a file of {figures['rows']:,} rows in ten row groups; the fastest of {figures['rounds']} rounds that take turns."
    )
    yield from _not_alone(figures)


def _not_alone(figures: Figures) -> Iterator[str]:
    if figures["share"] < QUIET:
        shown = (
            "" if figures["share"] >= ALONE else ", so that times by the clock say nothing and are left out"
        )
        yield (
            f"Other programs left {figures['share']:.0%} of the processors to it{shown}: repeat it on a machine that does nothing else."
        )


PAGES = {
    ROOT / "docs" / "guide" / "answer.md": (
        ANSWERS,
        {"answers measured on": answer_measured_on, "answers": answer_table},
    ),
    ROOT / "docs" / "guide" / "indexes.md": (
        WRITING,
        {"writing measured on": writing_measured_on, "writing": writing_table},
    ),
}
"""For each page its figures, and what makes its tables."""


def written(page: Path) -> str:
    """A page with its tables made anew."""
    file, tables = PAGES[page]
    figures = json.loads(file.read_text(encoding="utf-8"))
    made = {name: partial(table, figures) for name, table in tables.items()}
    return with_tables(page.read_text(encoding="utf-8"), made)


def main() -> None:
    """Write them."""
    for page in PAGES:
        write_whole(page, written(page).encode())


if __name__ == "__main__":
    main()
