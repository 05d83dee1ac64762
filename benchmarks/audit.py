"""Speed of the audit of all values of a file: `pqassay.check` at tier ``values`` against reading them with pyarrow.

    python benchmarks/audit.py [--rows 10485760] [--rounds 3]

One file of about 500 MB in row groups of a million rows: numbers, floats, text with and without dictionary, decimals,
timestamps, booleans and a list, with nulls, statistics, page index and bloom filters.  ``pyarrow.parquet.read_table`` with all its threads,
which checks nothing, is compared with a check of all claims about the values: page headers, checksums, levels, bounds, counts,
and every value against the bloom filters.  Memory is measured in processes of their own.

Goals: tier ``values`` at most twice as long as `read_table`, tier ``index`` at most 1/20 of it; and a check needs no more
memory than four row groups take as a table, above what it needs for a small file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from _measure import cached, goal, print_table, seconds

import pqassay

VALUES_RATIO, INDEX_RATIO = 2.0, 1 / 20
"""Goals, in times the time of `read_table`."""

ROW_GROUPS_IN_MEMORY = 4.0
"""Goal, in times the size of one row group as a table."""

GROUP_ROWS = 1 << 20
CITIES = [f"city {number:05}" for number in range(5_000)]


def group_of(number: int, rows: int) -> pa.Table:
    """The rows of one row group, the same at every call."""
    random = np.random.default_rng(number)
    first = number * GROUP_ROWS
    ids = np.arange(first, first + rows)
    prices = random.normal(100, 30, rows)
    prices[::1_000] = np.nan
    codes: Any = pa.array(np.char.mod("%x", random.integers(0, 1 << 40, rows)))
    cities: Any = pa.array(
        random.integers(0, len(CITIES), rows).astype(np.int32), mask=random.random(rows) < 0.05
    )
    lengths = random.integers(0, 4, rows // 4)
    offsets: Any = pa.array(
        np.concatenate(([0], np.cumsum(lengths), np.full(rows - rows // 4, lengths.sum()))), pa.int32()
    )
    items: Any = pa.array(random.integers(0, 1_000, int(lengths.sum())).astype(np.int32))
    columns: dict[str, pa.Array[Any]] = {
        "id": pa.array(ids),
        "day": pa.array((ids // 50_000).astype(np.int32), pa.date32()),
        "moment": pa.array(ids * 1_000 + random.integers(0, 1_000, rows), pa.timestamp("us")),
        "city": pa.DictionaryArray.from_arrays(cities, pa.array(CITIES)).cast(pa.string()),
        "customer": pc.binary_join_element_wise(codes, "customer", "-"),
        "price": pa.array(prices, mask=random.random(rows) < 0.1),
        "weight": pa.array(random.random(rows).astype(np.float32)),
        "amount": pa.array(random.integers(-(10**9), 10**9, rows)).cast(pa.decimal128(19, 0)),
        "count": pa.array(random.integers(0, 1 << 32, rows, dtype=np.uint32), mask=random.random(rows) < 0.2),
        "flag": pa.array(random.random(rows) < 0.3),
        "marks": pa.ListArray.from_arrays(offsets, items),
    }
    return pa.table(columns)


def make_file(path: Path, rows: int) -> None:
    """Write the file, one row group after the other."""
    dictionaries: Any = ["city", "day", "marks.list.element"]
    blooms: Any = {name: {"ndv": GROUP_ROWS, "fpp": 0.01} for name in ("id", "city", "customer")}
    with pq.ParquetWriter(
        path,
        group_of(0, 1).schema,
        compression="snappy",
        write_page_index=True,
        write_page_checksum=True,
        use_dictionary=dictionaries,
        bloom_filter_options=blooms,
    ) as writer:
        for number, start in enumerate(range(0, rows, GROUP_ROWS)):
            writer.write_table(group_of(number, min(GROUP_ROWS, rows - start)), row_group_size=GROUP_ROWS)


MEASURED = """
import sys
import pqassay

def peak():  # of this process alone, in bytes: getrusage begins with that of the parent
    with open("/proc/self/status") as status:
        [line] = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

pqassay.check({warm!r}, tier="values")
before = peak()
[file] = pqassay.check(sys.argv[1], tier="values").files
assert file.outcome == "conformant", file
print(peak() - before)
"""
"""Prints by how many bytes a check raises the memory of its process; on Linux."""


def megabytes_of_a_check(path: Path, small: Path) -> float:
    """The greatest resident size of a process that checks the file, above what checking a small one takes."""
    program = MEASURED.format(warm=str(small))
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True
    )
    return int(done.stdout) / 1e6


def main() -> int:
    """Measure, print, and return 0 if the goals are reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=10 * GROUP_ROWS, help="rows of the file")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of measuring")
    options = parser.parse_args()
    path = cached(f"audit-{options.rows}-v1.parquet", lambda unfinished: make_file(unfinished, options.rows))
    small = cached("audit-1000-v1.parquet", lambda unfinished: make_file(unfinished, 1_000))

    works = {
        "pyarrow.parquet.read_table": lambda: pq.read_table(path),
        "pqassay.check, tier values": lambda: pqassay.check(path, tier="values"),
        "pqassay.check, tier index": lambda: pqassay.check(path, tier="index"),
    }
    [judged] = pqassay.check(path, tier="values").files
    if judged.outcome != "conformant":
        print(judged.error or judged.findings[0].message)
        return 1
    taken = seconds(works, options.rounds)
    base = taken["pyarrow.parquet.read_table"]
    megabytes = path.stat().st_size / 1e6
    print(f"{megabytes:.0f} MB, {options.rows:,} rows, {len(group_of(0, 1).schema)} columns\n")
    print_table(
        ("", "seconds", "MB/s", "times pyarrow"),
        [
            (name, f"{time:.3f}", f"{megabytes / time:,.0f}", f"{time / base:.3f}")
            for name, time in taken.items()
        ],
    )
    memory = megabytes_of_a_check(path, small)
    row_group = pq.ParquetFile(path).read_row_group(0).nbytes / 1e6
    print(
        f"\nmemory of a check: {memory:.0f} MB more than for a small file; a row group as a table: {row_group:.0f} MB"
    )
    values, index = (taken[f"pqassay.check, tier {tier}"] / base for tier in ("values", "index"))
    goals = (
        (
            values <= VALUES_RATIO,
            f"tier values takes at most {VALUES_RATIO:.0f} times as long as pyarrow; it takes {values:.2f}",
        ),
        (
            index <= INDEX_RATIO,
            f"tier index takes at most 1/20 of the time of pyarrow; it takes 1/{1 / index:.0f}",
        ),
        (
            memory <= ROW_GROUPS_IN_MEMORY * row_group,
            f"a check needs at most {ROW_GROUPS_IN_MEMORY:.0f} row groups; it needs {memory / row_group:.1f}",
        ),
    )
    for reached, sentence in goals:
        print(goal(sentence, reached=reached))
    return 0 if all(reached for reached, _ in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
