"""What index tables say, and what they must say about the files of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pqassay_reader.lake import index_table


def table_rows(folder: Path) -> dict[tuple[str, str], tuple[int, int, int, int, set[str | None]]]:
    """What the latest run says about each path and column: size, time, rows, nulls, values."""
    found: dict[tuple[str, str], tuple[int, Any]] = {}
    for run, part in index_table.parts(folder):
        for row in index_table.read_part(part).to_pylist():
            key = row["path"], row["column"]
            said = row["size"], row["modified"], row["row_count"], row["null_count"]
            if key not in found or found[key][0] < run:
                found[key] = run, (*said, set[str | None]())
            assert found[key][1][:4] == said
            found[key][1][4].add(row["value"])
    return {key: said for key, (_, said) in found.items()}


def expected_rows(root: Path, column: str = "nation") -> dict[tuple[str, str], Any]:
    """What the table must say about every file, as the files themselves say it."""
    expected: dict[tuple[str, str], Any] = {}
    for path in sorted(root.rglob("*.parquet")):
        values = pq.read_table(path, columns=[column], partitioning=None).column(0)
        distinct = set(values.to_pylist()) - {None}
        found = path.stat()
        name = path.relative_to(root).as_posix()
        said = found.st_size, found.st_mtime_ns, len(values), values.null_count, distinct or {None}
        expected[name, column] = said
    return expected
