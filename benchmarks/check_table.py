"""The time of `pqassay check --tier meta` on tables of many files, one of Delta and one of Iceberg: ``python benchmarks/check_table.py [FILES]``.

A table has 20 columns, each with both bounds and its nulls, and empty data files, which this tier does not open. What is measured is the
time on a processor, in one process, which other work on the machine does not change much.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pqassay
from pqassay_reference.golden import iceberg_files

FILES = 10_000
COLUMNS = 20
GOAL = 150.0
"""Microseconds for each file, at most."""


def make_delta(folder: Path, files: int) -> None:
    """Write a table of files without content."""
    log = folder / "_delta_log"
    log.mkdir()
    kinds = ["long", "double", "string", "date", "timestamp"]
    fields = [
        {"name": f"c{n}", "type": kinds[n % len(kinds)], "nullable": True, "metadata": {}}
        for n in range(COLUMNS)
    ]
    schema = json.dumps({"type": "struct", "fields": fields})
    low = {
        "long": 1,
        "double": 0.5,
        "string": "aa",
        "date": "2024-01-01",
        "timestamp": "2024-01-01T00:00:00.000Z",
    }
    high = {
        "long": 9,
        "double": 9.5,
        "string": "zz",
        "date": "2024-02-01",
        "timestamp": "2024-02-01T00:00:00.000Z",
    }
    stats = json.dumps(
        {
            "numRecords": 1000,
            "minValues": {one["name"]: low[str(one["type"])] for one in fields},
            "maxValues": {one["name"]: high[str(one["type"])] for one in fields},
            "nullCount": {one["name"]: 0 for one in fields},
        }
    )
    description = {
        "id": "t",
        "format": {"provider": "parquet"},
        "schemaString": schema,
        "partitionColumns": [],
    }
    with (log / f"{0:020}.json").open("w") as out:
        out.write('{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}\n')
        out.write(json.dumps({"metaData": description}) + "\n")
        for number in range(files):
            name = f"part-{number:05}.parquet"
            (folder / name).touch()
            entry = {"path": name, "partitionValues": {}, "size": 0, "dataChange": True, "stats": stats}
            out.write(json.dumps({"add": entry}) + "\n")


def make_iceberg(folder: Path, files: int) -> None:
    """Write the same as an Iceberg table of one manifest, compressed as writers do."""
    kinds = ["long", "double", "string", "date", "timestamptz"]
    low = {
        "long": iceberg_files.int64(1),
        "double": iceberg_files.double(0.5),
        "string": b"aa",
        "date": iceberg_files.int32(19_723),
        "timestamptz": iceberg_files.int64(1_704_067_200_000_000),
    }
    high = {**low, "string": b"zz"}
    numbers = range(1, COLUMNS + 1)
    type_of = {number: kinds[number % len(kinds)] for number in numbers}
    metrics: dict[str, Any] = {
        "column_sizes": dict.fromkeys(numbers, 5000),
        "value_counts": dict.fromkeys(numbers, 1000),
        "null_value_counts": dict.fromkeys(numbers, 0),
        "lower_bounds": {number: low[kind] for number, kind in type_of.items()},
        "upper_bounds": {number: high[kind] for number, kind in type_of.items()},
    }
    (folder / "metadata").mkdir()
    (folder / "data").mkdir()
    entries: list[dict[str, Any]] = []
    for number in range(files):
        name = f"data/part-{number:05}.parquet"
        (folder / name).touch()
        entries.append(
            iceberg_files.entry(iceberg_files.data_file(name, b"", 1000, split_offsets=None, **metrics))
        )
    manifest = iceberg_files.manifest(entries, codec="deflate")
    listed = [iceberg_files.listed(iceberg_files.MANIFEST, manifest, entries)]
    columns = [
        {"id": number, "name": f"c{number}", "required": False, "type": kind}
        for number, kind in type_of.items()
    ]
    (folder / iceberg_files.MANIFEST).write_bytes(manifest)
    (folder / iceberg_files.LIST).write_bytes(iceberg_files.manifest_list(listed, codec="deflate"))
    (folder / iceberg_files.METADATA).write_bytes(iceberg_files.metadata(columns))


def main() -> None:
    """Make tables, check them, and print the time for each file."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    for title, make_table in (("Delta", make_delta), ("Iceberg", make_iceberg)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_table(folder, files)
            pqassay.check(folder, tier="meta")  # what is imported and prepared once
            begun = time.process_time()
            report = pqassay.check(folder, tier="meta")
            seconds = time.process_time() - begun
        if report.exit_code:
            raise SystemExit(f"the table is {report.files[0].outcome}")
        each = seconds / files * 1e6
        print(
            f"{title}, {files:,} files: {seconds:.2f} s of a processor, {each:.0f} µs a file (goal {GOAL:.0f})"
        )


if __name__ == "__main__":
    main()
