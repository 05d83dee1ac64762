"""Speed of checking files of many column chunks: `pqassay.check` against reading the footer with pyarrow.

    python benchmarks/wide_footers.py [--chunks 10000 100000] [--rounds 5]

Files of 1,000 columns, as pyarrow writes them: numbers, texts, times and flags in turn, some of them without nulls, with
statistics and page indexes.  ``pyarrow.parquet.read_metadata`` is C++, decodes the footer, and checks nothing; beside it are the
decoding alone, into records and as the check does it, and `pqassay.check` at the tiers ``footer`` and ``index``, in one process.
Times are those of the processor, of the fastest round: what else the machine does disturbs them least.

Goals, in times the time of pyarrow at 10,000 chunks: at most 15 at tier ``footer``, and 20 at tier ``index``; 100,000 chunks take at
most 12 times as long as 10,000.  Decoding takes at most 9 µs a chunk as the check does it.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from _measure import alternating, cached, goal, least, machine, print_table

import pqassay
from pqassay.under_test.alike import CHUNKS
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import decode_footer, read_framing

COLUMNS = 1000
"""Columns of each file."""

RATIOS = {"footer": 15.0, "index": 20.0}
"""Goals by tier, in times the time of pyarrow."""

DECODING = 9.0
"""Goal, in microseconds for each column chunk."""

GROWTH = 12.0
"""Goal: how many times as long ten times as many chunks take."""

DECODED = "decoding, as the check does it"

ROWS = 20
"""Rows of a row group."""


def make_file(path: Path, *, row_groups: int) -> None:
    """Write a file of `COLUMNS` columns."""
    kinds: list[pa.DataType] = [
        pa.int64(),
        pa.float64(),
        pa.string(),
        pa.timestamp("us", "UTC"),
        pa.int32(),
        pa.bool_(),
        pa.string(),
        pa.date32(),
    ]
    fields = [
        pa.field(f"column_{number:04}", kinds[number % len(kinds)], nullable=number % 5 != 0)
        for number in range(COLUMNS)
    ]
    schema = pa.schema(fields)
    with pq.ParquetWriter(path, schema, write_page_index=True, store_schema=False) as writer:
        for turn in range(row_groups):
            arrays = [
                make_column(field, turn * ROWS + number, has_nulls=field.nullable and number % 3 == 0)
                for number, field in enumerate(fields)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def make_column(field: Any, first: int, *, has_nulls: bool) -> Any:
    """The values of a column chunk."""
    numbers = range(first, first + ROWS)
    values: list[Any]
    if pa.types.is_string(field.type):
        values = [f"{field.name} has value {number % 1000}" for number in numbers]
    elif pa.types.is_boolean(field.type):
        values = [number % 3 == 0 for number in numbers]
    elif pa.types.is_floating(field.type):
        values = [number / 7 for number in numbers]
    else:
        values = list(numbers)
    if has_nulls:
        values[first % ROWS] = None
    return pa.array(values, field.type)


def measure(chunks: int, rounds: int) -> dict[str, float]:
    """Seconds of each piece of work on a file of that many chunks."""
    row_groups = chunks // COLUMNS
    name = f"wide-{COLUMNS}x{row_groups}-pyarrow-{pa.__version__}.parquet"
    path = cached(name, partial(make_file, row_groups=row_groups))
    for tier in ("footer", "index"):
        report = pqassay.check(path, tier=tier)
        if report.summary.conformant != 1:
            raise SystemExit(f"the file is not what it should be: {report.summary}")
    with FileSource(path) as source:
        framing = read_framing(source)
        footer = source.read(framing.footer_start, framing.footer_length)
    works = {
        "pyarrow.parquet.read_metadata": lambda: pq.read_metadata(path),
        "decoding into records": lambda: decode_footer(footer, framing),
        DECODED: lambda: decode_footer(footer, framing, readers=(CHUNKS,)),
        "tier footer": lambda: pqassay.check(path, tier="footer"),
        "tier index": lambda: pqassay.check(path, tier="index"),
    }
    taken = {work: least(times).processor for work, times in alternating(works, rounds).items()}
    base = taken["pyarrow.parquet.read_metadata"]
    print(f"\n{chunks:,} column chunks, a footer of {len(footer) / 1e6:.1f} MB\n")
    print_table(
        ("", "ms", "µs a chunk", "times pyarrow"),
        [
            (work, f"{time * 1e3:.1f}", f"{time / chunks * 1e6:.1f}", f"{time / base:.1f}")
            for work, time in taken.items()
        ],
    )
    return taken


def main() -> int:
    """Measure and print; the exit status says whether all goals were reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(machine())
    sizes = {chunks: measure(chunks, options.rounds) for chunks in options.chunks}
    fewest, most = min(sizes), max(sizes)
    base = sizes[fewest]["pyarrow.parquet.read_metadata"]
    goals: dict[str, bool] = {}
    decoding = sizes[fewest][DECODED] / fewest * 1e6
    goals[f"decoding takes at most {DECODING:.0f} µs a chunk; it takes {decoding:.1f}"] = decoding <= DECODING
    for tier, most_times in RATIOS.items():
        ratio = sizes[fewest][f"tier {tier}"] / base
        sentence = (
            f"tier {tier} takes at most {most_times:.0f} times as long as pyarrow; it takes {ratio:.1f}"
        )
        goals[sentence] = ratio <= most_times
        if most > fewest:
            growth = sizes[most][f"tier {tier}"] / sizes[fewest][f"tier {tier}"]
            allowed = GROWTH * most / fewest / 10
            sentence = f"{most:,} chunks take at most {allowed:.0f} times as long as {fewest:,} at tier {tier}; they take {growth:.1f}"
            goals[sentence] = growth <= allowed
    print()
    for sentence, reached in goals.items():
        print(goal(sentence, reached=reached))
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
