"""Which index when: size, cost of writing and what is left over, for one to a million distinct values, sorted and shuffled.

    python benchmarks/which_index.py [--rows 1000000] [--rounds 3] [--write]

A column of text in four files of five row groups each.  It has 1, 10, … 1,000,000 distinct values, in ascending order through all files, or in
random order.  Four kinds of metadata are set against each other: minimum and maximum, which every file has; a bloom filter for each chunk
(1 % false positives); IDX1, the distinct values of each file; and distinct sets of the index directory, those of each row group.

One value that occurs and one that does not, between others, are looked up; what is counted is the row groups that are left over, of IDX1 those of the files
that are.  The time to decide is that of the reference with everything in memory.  The fastest of all rounds counts for each time.

``--write`` keeps the figures in ``which_index_figures.json``, from which the site makes the tables of the guide, and `make generate` the picture.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from _measure import print_table, share
from _pieces import by_bloom, by_bounds

from pqassay_reader.lake.indexed_dataset import IndexWarning, open_indexed
from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.query.facts.footer_facts import read_facts
from pqassay_reference.columns.chunk_structures import read_bloom_filter
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spec.base.sources import FileSource, write_whole
from pqassay_spec.directory.codes import Granularity, IndexType

FIGURES = Path(__file__).resolve().parent / "which_index_figures.json"

FILES, GROUPS = 4, 5
"""Files, and row groups of each."""

CARDINALITIES = [10**power for power in range(7)]

SETS = Request(IndexType.DISTINCT_SET, (("value",),), Granularity.ROW_GROUP)

LARGEST = 1 << 30
"""Bytes of an index that is made whatever it takes."""


def texts(numbers: Any) -> Any:
    """Numbers as text that is ordered like them; every second one, so that others lie between."""
    return pa.array([f"value {2 * number:08}" for number in numbers.tolist()])


def rows_of(cardinality: int, rows: int, *, is_sorted: bool) -> Any:
    """The values of all rows."""
    numbers = np.arange(rows) * cardinality // rows
    return numbers if is_sorted else np.random.default_rng(cardinality).permutation(numbers)


def write_files(folder: Path, values: Any, **options: Any) -> float:
    """Write the files; return the seconds that it took."""
    tables = [pa.table({"value": texts(part)}) for part in np.array_split(values, FILES)]
    started = time.perf_counter()
    for number, table in enumerate(tables):
        size = -(-len(table) // GROUPS)
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=size, **options)
    return time.perf_counter() - started


def timed(work: Callable[[], Any]) -> float:
    """Seconds of a piece of work."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def total(folder: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.iterdir())


def claims_of(folder: Path, stack: ExitStack) -> list[ChunkClaims]:
    """The claims of all chunks, with their filters in memory."""
    found: list[ChunkClaims] = []
    for path in sorted(folder.iterdir()):
        source = stack.enter_context(FileSource(path))
        facts = read_facts(source)
        found += [facts.claims_of(source, number, 0) for number in range(len(facts.row_counts))]
    return found


def _ask_all(
    chunks: list[ChunkClaims], piece: Callable[[ChunkClaims, bytes], bool], value: str
) -> list[bool]:
    return [piece(chunk, value.encode()) for chunk in chunks]


def asked(folder: Path, piece: Callable[[ChunkClaims, bytes], bool], values: list[str]) -> dict[str, Any]:
    """Row groups that bounds or filters leave for each value, and how long it took."""
    with ExitStack() as stack:
        chunks = claims_of(folder, stack)
        counts = [sum(piece(chunk, value.encode()) for chunk in chunks) for value in values]
        taken = min(timed(partial(_ask_all, chunks, piece, value)) for value in values for _ in range(3))
    return {"kept": counts, "decide": taken}


def pruned(folder: Path, values: list[str]) -> dict[str, Any]:
    """The same of a dataset that prunes by the indexes in its files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndexWarning)
        dataset = open_indexed(folder)
    counts: list[int] = []
    times: list[float] = []
    for value in values:
        condition = pc.field("value") == value
        started = time.perf_counter()
        pruning = dataset.prune(condition)
        times.append(time.perf_counter() - started)
        fragments: list[Any] = list(dataset.get_fragments(condition)) if pruning.kept else []
        counts.append(sum(len(fragment.row_groups) for fragment in fragments))
    return {"kept": counts, "decide": min(times)}


def measured(cardinality: int, rows: int, *, is_sorted: bool, rounds: int) -> dict[str, Any]:
    """All kinds of metadata, for one number of distinct values in one order."""
    values = rows_of(cardinality, rows, is_sorted=is_sorted)
    middle = 2 * (cardinality // 3)
    asks = [f"value {middle:08}", f"value {abs(middle - 1):08}"]  # one that occurs, one between others
    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: Path(scratch, name) for name in ("plain", "bloom", "idx1", "sets")}
        for folder in folders.values():
            folder.mkdir()
        bloom: Any = {"value": {"ndv": max(1, min(cardinality, rows // FILES // GROUPS)), "fpp": 0.01}}
        writing = min(write_files(folders["plain"], values) for _ in range(rounds))
        filtering = min(
            write_files(folders["bloom"], values, bloom_filter_options=bloom) for _ in range(rounds)
        )
        for name in ("idx1", "sets"):
            shutil.copytree(folders["plain"], folders[name], dirs_exist_ok=True)
        plain = total(folders["plain"])

        def embed() -> None:
            for path in folders["idx1"].iterdir():
                embed_file(path, "value", limit=LARGEST)

        def add() -> None:
            for path in folders["sets"].iterdir():
                add_indexes(path, [SETS])

        embedding = min(timed(embed) for _ in range(rounds))
        adding = min(timed(add) for _ in range(rounds))
        with ExitStack() as stack:
            filters = [
                read_bloom_filter(part.source, part.body, part.facts)
                for part in claims_of(folders["bloom"], stack)
            ]
        return {
            "cardinality": cardinality,
            "sorted": is_sorted,
            "bytes": plain,
            "write": writing,
            "bounds": {"bytes": 0, "cost": 0.0, **asked(folders["plain"], by_bounds, asks)},
            "bloom": {
                "bytes": sum(part.length for part in filters if part),
                "cost": filtering - writing,
                **asked(folders["bloom"], by_bloom, asks),
            },
            "idx1": {
                "bytes": total(folders["idx1"]) - plain,
                "cost": embedding,
                **pruned(folders["idx1"], asks),
            },
            "sets": {
                "bytes": total(folders["sets"]) - plain,
                "cost": adding,
                **pruned(folders["sets"], asks),
            },
        }


def main() -> None:
    """Measure, print a table, and keep the figures if they are wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    free = share(os.cpu_count() or 1)
    curves = [
        measured(min(cardinality, options.rows), options.rows, is_sorted=is_sorted, rounds=options.rounds)
        for is_sorted in (True, False)
        for cardinality in CARDINALITIES
    ]
    rows = [
        [
            f"{curve['cardinality']:,} {'sorted' if curve['sorted'] else 'shuffled'}",
            *(
                f"{curve[kind]['bytes'] / 1e3:,.0f} kB {curve[kind]['cost'] * 1e3:,.0f} ms {'/'.join(map(str, curve[kind]['kept']))} "
                f"{curve[kind]['decide'] * 1e6:,.0f} µs"
                for kind in ("bounds", "bloom", "idx1", "sets")
            ),
        ]
        for curve in curves
    ]
    print_table(["values", "bounds", "bloom filter", "IDX1", "distinct sets"], rows)
    print(f"share of the processors that was free: {free:.0%}")
    if options.write:
        record = {
            "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}, pyarrow {pa.__version__}",
            "share": free,
            "rounds": options.rounds,
            "rows": options.rows,
            "files": FILES,
            "row_groups": FILES * GROUPS,
            "curves": curves,
        }
        write_whole(FIGURES, (json.dumps(record, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
