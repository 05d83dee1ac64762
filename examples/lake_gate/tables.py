"""The same sales in a Delta table and in an Iceberg table: write a night, and say in the tables what its file holds.

    python tables.py [--night 2026-11-20] [--rows 20000] [--careless]

A table says of each of its files how many rows it has and what its columns lie between, and queries open only files that can
hold what they look for.  ``--careless`` makes a mistake in what is said, none in a file.  A night that is there already is not
written again: what the tables say of it is replaced, which is also how to mend it.

Real tables are written by an engine.  Here they are made by hand, so that nothing needs to be installed and each claim is in
sight: put your own writer in the place of `add_to_delta` and `add_to_iceberg`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.golden.iceberg_files import (
    data_file,
    double,
    entry,
    int64,
    listed,
    manifest,
    manifest_list,
)

DELTA = Path("lake", "delta_sales")
ICEBERG = Path("lake", "iceberg_sales")

COLUMNS = {1: "id", 2: "nation", 3: "amount"}
"""Names of the columns, by the numbers that Iceberg knows them by."""

NATIONS = ("Argentina", "Canada", "Kenya", "Perú", "日本")

Claims = dict[str, dict[str, Any]]


def write_file(path: Path, rows: int) -> None:
    """Write the sales of a night as one file of two row groups."""
    kinds = (pa.int64(), pa.string(), pa.float64())
    fields = [
        pa.field(name, kind, metadata={"PARQUET:field_id": str(number)})
        for (number, name), kind in zip(COLUMNS.items(), kinds, strict=True)
    ]
    ids = range(rows)
    columns: list[Any] = [ids, [NATIONS[n % len(NATIONS)] for n in ids], [n % 97 / 4 for n in ids]]
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table([pa.array(one) for one in columns], schema=pa.schema(fields))
    pq.write_table(table, path, row_group_size=-(-rows // 2))


def claims_of(path: Path, *, is_careless: bool) -> Claims:
    """What a table says of the columns of a file: least and greatest values, and how many are null.

    The mistake is one that writers have made: the first row group is taken for the whole file.
    """
    footer = pq.read_metadata(path)
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    claims: Claims = {"least": {}, "greatest": {}, "nulls": {}}
    for position, name in enumerate(COLUMNS.values()):
        found: list[Any] = [group.column(position).statistics for group in groups]
        bounded = found[:1] if is_careless else found
        claims["least"][name] = min(one.min for one in bounded)
        claims["greatest"][name] = max(one.max for one in bounded)
        claims["nulls"][name] = sum(one.null_count for one in found)
    return claims


# -------------------------------------------------------------------------------------------------------- Delta


def add_to_delta(table: Path, path: Path, claims: Claims) -> Path:
    """Commit a file to a Delta table: one more file in its log, one line of JSON for each action."""
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    version = len(list(log.iterdir()))
    actions: list[dict[str, Any]] = []
    if version == 0:
        kinds = zip(COLUMNS.values(), ("long", "string", "double"), strict=True)
        fields: list[dict[str, Any]] = [
            {"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in kinds
        ]
        schema = json.dumps({"type": "struct", "fields": fields})
        form = {"provider": "parquet", "options": {}}
        described = {"id": "sales", "format": form, "schemaString": schema, "partitionColumns": []}
        actions.append({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}})
        actions.append({"metaData": {**described, "configuration": {}}})
    stats = {
        "numRecords": pq.read_metadata(path).num_rows,
        "minValues": claims["least"],
        "maxValues": claims["greatest"],
        "nullCount": claims["nulls"],
    }
    said = {"path": path.name, "partitionValues": {}, "size": path.stat().st_size, "modificationTime": 0}
    actions.append({"add": {**said, "dataChange": True, "stats": json.dumps(stats)}})
    commit = log / f"{version:020}.json"
    commit.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
    return commit


# ------------------------------------------------------------------------------------------------------ Iceberg


def _as_bounds(values: dict[str, Any]) -> dict[int, bytes]:
    encoders: dict[type, Callable[[Any], bytes]] = {int: int64, float: double, str: str.encode}
    return {number: encoders[type(values[name])](values[name]) for number, name in COLUMNS.items()}


def _own_entry(path: Path, location: str, claims: Claims, snapshot: int) -> dict[str, Any]:
    rows = pq.read_metadata(path).num_rows
    nulls = {number: claims["nulls"][name] for number, name in COLUMNS.items()}
    said = data_file(
        "",
        path.read_bytes(),
        rows,
        file_path=f"{location}/data/{path.name}",
        value_counts=dict.fromkeys(COLUMNS, rows),
        null_value_counts=nulls,
        lower_bounds=_as_bounds(claims["least"]),
        upper_bounds=_as_bounds(claims["greatest"]),
    )
    return {**entry(said), "snapshot_id": snapshot}


def add_to_iceberg(table: Path, path: Path, claims: Claims) -> Path:
    """Commit a file to an Iceberg table: a manifest with its entry, a list of all manifests, and a new metadata file.

    Each night has a manifest of its own; the newest one of a night counts.
    """
    location = f"file://{table.resolve()}"
    folder = table / "metadata"
    folder.mkdir(parents=True, exist_ok=True)
    version = 1 + len(list(folder.glob("v*.metadata.json")))
    said = _own_entry(path, location, claims, version)
    (folder / f"{path.stem}.v{version}.avro").write_bytes(manifest([said]))

    newest: dict[str, tuple[int, Path]] = {}
    for found in folder.glob("*.v*.avro"):
        stem, _, since = found.stem.rpartition(".v")
        newest[stem] = max(newest.get(stem, (0, found)), (int(since), found))
    manifests, rows = [], 0
    for stem, (at, found) in sorted(newest.items()):
        held = pq.read_metadata(table / "data" / f"{stem}.parquet").num_rows
        rows += held
        one = {"status": 1, "data_file": {"record_count": held}}
        numbers = {"sequence_number": at, "min_sequence_number": at, "added_snapshot_id": at}
        place = f"{location}/metadata/{found.name}"
        manifests.append(listed("", found.read_bytes(), [one], manifest_path=place, **numbers))
    (folder / f"snap-{version}.avro").write_bytes(manifest_list(manifests))

    kinds = zip(COLUMNS.items(), ("long", "string", "double"), strict=True)
    fields = [{"id": number, "name": name, "required": False, "type": kind} for (number, name), kind in kinds]
    now = 1_700_000_000_000 + version
    snapshot = {
        "snapshot-id": version,
        "sequence-number": version,
        "timestamp-ms": now,
        "manifest-list": f"{location}/metadata/snap-{version}.avro",
        "schema-id": 0,
        "summary": {"operation": "append", "total-records": str(rows)},
    }
    content = {
        "format-version": 2,
        "table-uuid": "6d1b9e4c-0f0a-4d0e-9a58-3f2a5c7b1e00",
        "location": location,
        "last-sequence-number": version,
        "last-updated-ms": now,
        "last-column-id": len(COLUMNS),
        "current-schema-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": fields}],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "current-snapshot-id": version,
        "refs": {"main": {"snapshot-id": version, "type": "branch"}},
        "snapshots": [snapshot],
    }
    metadata = folder / f"v{version}.metadata.json"
    metadata.write_text(json.dumps(content))
    return metadata


def main(arguments: list[str]) -> int:
    """Add a night to both tables."""
    yesterday = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--night", type=dt.date.fromisoformat, default=yesterday, help="YYYY-MM-DD")
    parser.add_argument("--rows", type=int, default=20_000, help="how many sales, 2 at least")
    parser.add_argument(
        "--careless", action="store_true", help="take the bounds of the first row group alone"
    )
    options = parser.parse_args(arguments)
    for table, folder, add in ((DELTA, DELTA, add_to_delta), (ICEBERG, ICEBERG / "data", add_to_iceberg)):
        path = folder / f"night-{options.night}.parquet"
        if not path.exists():
            write_file(path, options.rows)
        written = add(table, path, claims_of(path, is_careless=options.careless))
        print(f"{path}: {pq.read_metadata(path).num_rows} rows, as {written} says")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
