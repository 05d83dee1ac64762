"""Folders of small Parquet files with indexes, good, bad and missing, whose rows the tests know."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from idx1_files import parquet
from pqassay_reader.lake.index_table import Entry, next_run, write_part
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.file import read_footer, read_framing

Values = Sequence[str | None]


def lake_table(values: Values, number: int = 0, kind: pa.DataType | None = None) -> pa.Table:
    """A table with a column ``nation`` of these values and an ``id`` that tells the file and the row."""
    count = len(values)
    return pa.table(
        {
            "id": pa.array(range(number * 100, number * 100 + count), pa.int64()),
            "nation": pa.array(values, pa.string()).cast(kind or pa.string()),
            "amount": pa.array(
                [float("nan") if row % 3 == 1 else row / 2 for row in range(count)], pa.float64()
            ),
        }
    )


def write_lake(
    folder: Path, files: Mapping[str, Values], *, index: bool = True, kind: pa.DataType | None = None
) -> Path:
    """Write one file for each name, with an index of ``nation`` where IDX1 can hold its values."""
    for number, (name, values) in enumerate(files.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(lake_table(values, number, kind), path)
        if index:
            embed_file(path, "nation")
    return folder


def published(data: pa.Table, values: Sequence[str]) -> bytes:
    """A file with an index as the published writer makes it: values in any order, no companion record."""
    from idx1_files import Idx1File

    return Idx1File(data=parquet(data), payload=idx1.published_payload(values)).build()


def with_record(data: pa.Table, values: Sequence[str], **changes: Any) -> bytes:
    """A file with index and companion record, some members of which are changed."""
    from idx1_files import Idx1File

    content = parquet(data)
    file = Idx1File(data=content, payload=idx1.published_payload(values))
    source = BytesSource(content)
    framing = read_framing(source)
    rows = read_footer(source, framing)[0].num_rows
    record = idx1_companion.make_companion(
        file.blob(),
        offset=framing.footer_start,
        column=("nation",),
        row_count=rows,
        value_count=len(set(values)),
        null_count=data.column("nation").null_count,
    )
    text = idx1_companion.Companion(**{**vars(record), **changes}).to_json()
    file.keys = ((idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, text))
    return file.build()


def entry(root: Path, name: str, column: str, values: Values, **changes: Any) -> Entry:
    """What an index table says about a file as it is now, some of it changed."""
    found = os.stat(root / name)  # noqa: PTH116 - the time in nanoseconds
    members: dict[str, Any] = {
        "path": name,
        "size": found.st_size,
        "modified": found.st_mtime_ns,
        "column": column,
        "row_count": len(values),
        "null_count": sum(value is None for value in values),
        "values": tuple(sorted({value for value in values if value is not None})),
    }
    return Entry(**{**members, **changes})


def write_index_table(folder: Path, *entries: Entry, task: int = 0, run: int | None = None) -> Path:
    """Add a part to a table, by default as a run of its own."""
    return write_part(folder, next_run(folder) if run is None else run, task, entries)
