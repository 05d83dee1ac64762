"""The two lakes of `prune_lake.py`: one whose bounds say nothing, and one whose bounds and bloom filters say a lot.

A file of either has `ROWS` rows in four columns, of which one of text is indexed; few files hold the value that is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import cached

from pqassay_reader.lake.index_table import Entry, write_part
from pqassay_reference.rewrite.embed import IndexingWriter

ROWS = 20_000
MATCHING = 10
WANTED = "Singapore"
NATIONS = 10
"""Nations in one file of the first lake."""

ITEMS = 250
"""Items in one file of the second lake, ..."""

REACH = 1000
"""... drawn from this number, ..."""

STEP = 25
"""... which begin this far after those of the file before: the bounds of 40 files hold an item, and of those 10 hold it."""

RATE = 0.01
"""False positives of the bloom filters."""


@dataclass(frozen=True)
class Lake:
    """Files that hold the same rows, and the question to them.

    Attributes:
        indexed: Folder of the files with an index; an index table is beside it.
        plain: Folder of files without index and bloom filters.
        column: The column that is asked for, and indexed.
        value: What it should be.
    """

    indexed: Path
    plain: Path
    column: str
    value: str

    @property
    def files(self) -> list[Path]:
        """The files with an index."""
        return sorted(self.indexed.iterdir())


def spread_lake(files: int) -> Lake:
    """The first lake. Its minimum and maximum exclude no file, and it has no bloom filters."""
    home = cached(f"pruned-{files}-of-{ROWS}-rows", lambda path: make_lake(path, files))
    return Lake(home / "lake", home / "lake", "nation", WANTED)


def clustered_lake(files: int) -> Lake:
    """The second lake, of files that were written one after another, in about the order of the items."""
    home = cached(f"clustered-{files}-of-{ROWS}-rows", lambda path: make_clustered_lake(path, files))
    return Lake(home / "lake", home / "plain", "item", item(_middle(files)))


def make_lake(folder: Path, files: int) -> None:
    """Write the files of the first lake, and an index table beside their folder."""
    choice = random.Random(0)
    every = max(1, files // MATCHING)

    def rows(number: int) -> pa.Table:
        # From A to Z in every file, so that bounds exclude none.
        nations = [
            "Aruba",
            "Zimbabwe",
            *(f"Nation {choice.randrange(10_000):04}" for _ in range(NATIONS - 3)),
        ]
        nations.append(WANTED if number % every == 0 and number // every < MATCHING else "Suriname")
        return pa.table(
            {
                "id": pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64()),
                "nation": pa.array(choice.choices(nations, k=ROWS)),
                "amount": pa.array([choice.random() for _ in range(ROWS)]),
                "customer": pa.array([choice.randrange(1 << 62) for _ in range(ROWS)], pa.int64()),
            }
        )

    _write(folder, files, "nation", rows)


def make_clustered_lake(folder: Path, files: int) -> None:
    """Write the files of the second lake twice: with bloom filters and an index, and with neither."""
    plain = folder / "plain"
    plain.mkdir(parents=True)
    draw = np.random.default_rng(0)

    def rows(number: int) -> pa.Table:
        items = number * STEP + draw.choice(REACH, ITEMS, replace=False)
        names = pa.array([item(one) for one in items.tolist()])
        table = pa.table(
            {
                "id": pa.array(np.arange(number * ROWS, (number + 1) * ROWS)),
                "item": names.take(draw.integers(0, ITEMS, ROWS)),
                "amount": pa.array(draw.random(ROWS)),
                "customer": pa.array(draw.integers(0, 1 << 62, ROWS)),
            }
        )
        pq.write_table(table, plain / file_name(number), write_page_index=True)
        return table

    bloom: Any = {"item": {"ndv": ITEMS, "fpp": RATE}}
    _write(folder, files, "item", rows, bloom_filter_options=bloom)


def _write(folder: Path, files: int, column: str, rows: Callable[[int], pa.Table], **options: Any) -> None:
    root = folder / "lake"
    root.mkdir(parents=True)
    entries: list[Entry] = []
    for number in range(files):
        table = rows(number)
        path = root / file_name(number)
        with IndexingWriter(path, table.schema, column, write_page_index=True, **options) as writer:
            writer.write(table)
        found = path.stat()
        held: list[Any] = table.column(column).unique().to_pylist()
        entries.append(
            Entry(path.name, found.st_size, found.st_mtime_ns, column, ROWS, 0, tuple(sorted(held)))
        )
    write_part(folder / "lake.index", 1, 0, entries)


def file_name(number: int) -> str:
    """Rows of a file."""
    return f"part-{number:05}.parquet"


def item(number: int) -> str:
    """The name of an item; names are ordered as numbers are."""
    return f"item {number:06}"


def _middle(files: int) -> int:
    """An item that lies between the bounds of as many files as any."""
    return files // 2 * STEP + REACH // 2
