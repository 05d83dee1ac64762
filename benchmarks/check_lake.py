"""Speed of checking many small files: `pqassay.check` against reading their footers with pyarrow.

    python benchmarks/check_lake.py [--files 1000] [--rounds 5] [--jobs 2]

1,000 files of 5 columns and 1 row group, with statistics and page index, as pyarrow writes them.  `pqassay.check` at
tier ``index`` in one process is compared with ``pyarrow.parquet.read_metadata`` of each file, which is C++, opens the
file, decodes the footer, and checks nothing.  Then the command's workers: files per second with one and with
several of them, starting them included, which matters less the more files there are.

Goals: at most 10 times the time of pyarrow in one process.  Workers have no goal here: what they gain depends on
the processors that are free.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from _measure import cached, goal, print_table, seconds

import pqassay

RATIO = 10.0
"""Goal, in times the time of pyarrow."""


def make_lake(folder: Path, files: int) -> None:
    """Write files of five columns and one row group."""
    folder.mkdir()
    for number in range(files):
        rows = range(number, number + 20)
        table = pa.table(
            {
                "id": pa.array(rows, pa.int64()),
                "name": [f"name {row % 7}" for row in rows],
                "price": [row / 3 for row in rows],
                "day": pa.array(rows, pa.date32()),
                "flag": [row % 2 == 0 for row in rows],
            }
        )
        pq.write_table(table, folder / f"part-{number:05}.parquet", write_page_index=True)


def read_footers(paths: list[Path]) -> int:
    """Read all footers with pyarrow; return the number of rows."""
    return sum(pq.read_metadata(path).num_rows for path in paths)


def main() -> int:
    """Measure and print; the exit status says whether the goal was reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folder = cached(f"lake-{options.files}-of-5-columns", lambda path: make_lake(path, options.files))
    paths = sorted(folder.glob("*.parquet"))
    report = pqassay.check(folder, tier="index")
    if report.summary.conformant != options.files:
        raise SystemExit(f"the files are not what they should be: {report.summary}")

    jobs = options.jobs
    works = {
        "pyarrow.parquet.read_metadata": lambda: read_footers(paths),
        "pqassay.check, in process": lambda: pqassay.check(folder, tier="index"),
        "pqassay.check, 1 worker": lambda: pqassay.check(folder, tier="index", jobs=1, timeout=60),
        f"pqassay.check, {jobs} workers": lambda: pqassay.check(folder, tier="index", jobs=jobs),
    }
    taken = seconds(works, options.rounds)
    base = taken["pyarrow.parquet.read_metadata"]
    print(f"{options.files} files of 5 columns and 1 row group, tier index, {os.cpu_count()} processors\n")
    print_table(
        ("", "seconds", "files/s", "times pyarrow"),
        [
            (name, f"{time:.3f}", f"{options.files / time:,.0f}", f"{time / base:.1f}")
            for name, time in taken.items()
        ],
    )
    ratio = taken["pqassay.check, in process"] / base
    speedup = taken["pqassay.check, 1 worker"] / taken[f"pqassay.check, {jobs} workers"]
    print(f"\n{jobs} workers are {speedup:.2f} times as fast as one")
    reached = ratio <= RATIO
    print(
        goal(
            f"check takes at most {RATIO:.0f} times as long as pyarrow; it takes {ratio:.1f}", reached=reached
        )
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
