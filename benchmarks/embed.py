"""Cost of embedding an index into a finished file, against the size of the file.

    python benchmarks/embed.py [--megabytes 1 10 100] [--rounds 7]

The files hold random numbers in most columns, a column of notes, and one of 200 different statuses, which is indexed.
Every byte before the footer is copied, so that a kill leaves the old file or the new one; so the cost should be that
of reading one column, of copying the file and syncing it, and a constant.  All three are measured in turns, in one
process, on the same files: `embed_file`, which each time replaces the index of the time before; pyarrow reading the
one column; and `shutil.copyfile` with an fsync.  The constant is embedding into a file of one row.

Goal: in the largest file, embedding takes at most twice as long as reading the column and copying the file.
Most of what it takes longer goes into the set of distinct values.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import cached, goal, print_table, seconds

from pqassay_reference.rewrite.embed import embed_file

RATIO = 2.0
"""Goal, in times the cost of reading the column and copying the file."""

ROW_BYTES = 40
"""About as many bytes a row takes: four columns of random doubles, and some for the rest."""

ROW_GROUP = 100_000


def make_file(path: Path, *, rows: int) -> None:
    """Write a file of random numbers, notes and statuses."""
    random = np.random.default_rng(7)
    columns: dict[str, Any] = {f"measure_{n}": random.random(rows) for n in range(4)}
    columns["note"] = pa.array([f"note {n % 5000}" for n in range(rows)])
    columns["status"] = [f"status {n}" for n in random.integers(0, 200, rows)]
    pq.write_table(pa.table(columns), path, row_group_size=ROW_GROUP, write_page_index=True)


def copy_and_sync(path: Path) -> None:
    """Copy a file as people do, and wait until it is on disk."""
    target = path.with_suffix(".copy")
    shutil.copyfile(path, target)
    descriptor = os.open(target, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    target.unlink()


def main(arguments: list[str]) -> int:
    """Measure and print; exit 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)

    counts = [1, *(size * 1_000_000 // ROW_BYTES for size in sorted(options.megabytes))]
    paths = [
        cached(f"embed-{rows}-pyarrow-{pa.__version__}.parquet", partial(make_file, rows=rows))
        for rows in counts
    ]
    works: dict[str, Callable[[], Any]] = {}
    for path in paths:
        works[f"embed {path}"] = partial(embed_file, path, "status")
        works[f"read {path}"] = partial(pq.read_table, path, columns=["status"])
        works[f"copy {path}"] = partial(copy_and_sync, path)
    measured = seconds(works, options.rounds)

    rows: list[list[str]] = []
    ratio = 0.0
    for path in paths:
        embed, read, copy = (measured[f"{work} {path}"] for work in ("embed", "read", "copy"))
        ratio = embed / (read + copy)  # that of the last and largest file counts
        times = [f"{taken * 1000:.1f}" for taken in (embed, read, copy)]
        rows.append([f"{path.stat().st_size / 1e6:.2f} MB", *times, f"{embed / copy:.2f}", f"{ratio:.2f}"])
    print_table(["file", "embed ms", "read ms", "copy ms", "embed / copy", "embed / (read + copy)"], rows)

    reached = ratio <= RATIO
    print()
    print(
        goal(f"embedding costs at most {RATIO:.0f} times reading and copying ({ratio:.2f})", reached=reached)
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
