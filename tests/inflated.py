"""A great Parquet file with holes: a small one whose pages lie behind many megabytes that were never written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_inflated(path: Path, size: int) -> None:
    """Write a file of at least ``size`` bytes whose column chunks are long and whose metadata is short."""
    # One value of many bytes in each page: stored plain and not compressed, the file is as long as they are.
    rows = 10
    value = bytes(size // rows + 1)
    table = pa.table(
        {"number": pa.array(range(rows), pa.int64()), "blob": pa.array([value] * rows, pa.binary())}
    )
    pq.write_table(
        table,
        path,
        compression="none",
        use_dictionary=False,
        write_statistics=["number"],
        write_page_index=True,
        row_group_size=5,
    )
