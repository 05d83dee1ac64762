"""Cost of writing each type of index into a finished file, against embedding IDX1.

    python benchmarks/index_write.py [--rows 1000000] [--rounds 15] [--write]

A file of sales with 25 nations, ten years, amounts and units, in row groups of a tenth of its rows.  Each index is added to a copy of it.  IDX1 and
the distinct set read the nations alone; zone sums by nation and year read three columns, and IDX1, which describes one column of text, has nothing that
does as much. So it is measured besides what pyarrow takes to decode the columns that IDX1 of the nations did not read, and the cost is
set against both together.

Every round does all of them once, and of each the least time counts, of the processor, which other programs disturb less, and of the clock.

Goal: distinct sets and zone sums cost at most 1.2 times as much as embedding IDX1.

``--write`` keeps the figures in ``index_write_figures.json``, from which the site makes the table of the guide.
"""

from __future__ import annotations

import argparse
import json
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
from _measure import alternating, cached, goal, least, machine, print_table, share

from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spec.base.sources import write_whole
from pqassay_spec.directory.codes import Granularity, IndexType

FIGURES = Path(__file__).resolve().parent / "index_write_figures.json"

RATIO = 1.2
"""Goal, in times the cost of IDX1."""

KEYS = (("nation",), ("year",))


def make_file(path: Path, *, rows: int) -> None:
    """Write the file."""
    random = np.random.default_rng(1)
    names: Any = pa.array([f"Nation {number}" for number in range(25)])
    columns: dict[str, Any] = {
        "nation": names.take(pa.array(random.integers(0, 25, rows))),
        "year": pa.array(random.integers(2015, 2025, rows), pa.int32()),
        "sales_amount": np.round(random.gamma(2, 50, rows), 2),
        "units": random.integers(1, 100, rows),
    }
    pq.write_table(pa.table(columns), path, row_group_size=max(rows // 10, 1), compression="zstd")


def _sums(measure: str, *keys: tuple[str], granularity: Granularity = Granularity.ROW_GROUP) -> Request:
    return Request(IndexType.ZONE_SUMS, (*keys, (measure,)), granularity)


REQUESTS = {
    "distinct set": Request(IndexType.DISTINCT_SET, (("nation",),)),
    "zone sums": _sums("sales_amount"),
    "zone sums by nation and year": _sums("sales_amount", *KEYS),
    "the same, of whole numbers": _sums("units", *KEYS),
    "the same, of the whole file": _sums("sales_amount", *KEYS, granularity=Granularity.FILE),
}


BESIDES = {
    "distinct set": [],
    "zone sums": ["sales_amount"],
    "zone sums by nation and year": ["year", "sales_amount"],
    "the same, of whole numbers": ["year", "units"],
    "the same, of the whole file": ["year", "sales_amount"],
}
"""The columns that each reads besides the nations; zone sums of the amounts read them in place of those."""


def _decoded(file: Path, columns: list[str]) -> Any:
    return pq.read_table(file, columns=columns, use_threads=False)


def main() -> int:
    """Measure and print; exit 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    path = cached(
        f"index-write-{options.rows}-pyarrow-{pa.__version__}.parquet", partial(make_file, rows=options.rows)
    )
    free = share(os.cpu_count() or 1)
    # Each has a copy of its own, to which its index is added again and again: the one before goes.
    copies = {name: path.with_suffix(f".{number}") for number, name in enumerate(["IDX1", *REQUESTS])}
    for copy in copies.values():
        shutil.copyfile(path, copy)
    works: dict[str, Callable[[], object]] = {
        "IDX1": partial(embed_file, copies["IDX1"], "nation"),
        **{
            name: partial(add_indexes, copies[name], requests=[request]) for name, request in REQUESTS.items()
        },
        **{
            f"decoding {', '.join(columns)}": partial(_decoded, path, columns)
            for columns in BESIDES.values()
            if columns
        },
    }
    taken = {name: least(times)._asdict() for name, times in alternating(works, options.rounds).items()}
    for copy in copies.values():
        copy.unlink()
    rows = [
        [
            name,
            *(
                cell
                for kind in ("processor", "clock")
                for cell in (
                    f"{seconds[kind] * 1e3:.1f} ms",
                    f"{seconds[kind] / taken['IDX1'][kind]:.2f}x",
                    f"{seconds[kind] / with_decoding(taken, name, kind):.2f}x",
                )
            ),
        ]
        for name, seconds in taken.items()
    ]
    print_table(
        ["index", "processor", "of IDX1", "and decoding", "clock", "of IDX1", "and decoding"],
        rows,
    )
    print(f"share of the processors that was free: {free:.0%}")
    reached = {name: taken[name]["processor"] <= RATIO * taken["IDX1"]["processor"] for name in REQUESTS}
    for name, is_reached in reached.items():
        print(goal(f"{name}: at most {RATIO:g} times the processor time of IDX1", reached=is_reached))
    if options.write:
        record = {
            "rows": options.rows,
            "rounds": options.rounds,
            "machine": machine(),
            "share": round(free, 2),
            "besides": BESIDES,
            "taken": taken,
        }
        write_whole(FIGURES, (json.dumps(record, indent=1) + "\n").encode())
    return 0 if all(reached.values()) else 1


def with_decoding(taken: dict[str, dict[str, float]], name: str, kind: str) -> float:
    """What IDX1 takes, and decoding of the columns that an index reads besides those that IDX1 read."""
    columns = BESIDES.get(name, [])
    more = taken[f"decoding {', '.join(columns)}"][kind] if columns and name != "zone sums" else 0.0
    return taken["IDX1"][kind] + more


if __name__ == "__main__":
    sys.exit(main())
