"""The time of `pqassay check` on Delta and Iceberg tables of many files: ``python benchmarks/check_table.py [FILES]``.

A table has 20 columns, each with both bounds and its nulls.  Its data files are one file under many names.  At tier ``meta``, which
opens none of them, a file may take 150 µs, and the command may take 2 s for 10,000 files, its start included; at tier ``footer`` a file may take 1.1
of the time that the check of the files alone takes, which is measured on a tenth of them.  Other libraries that read the same metadata are
measured in the same run: fastavro, pyiceberg and deltalake where they are installed (``pip install fastavro pyiceberg deltalake``), and
pyarrow reading every footer.

What is compared is measured in turns, and of each the least time counts: that of a processor, which other work on the machine changes
less, and beside it that of the clock.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import pqassay
from pqassay_golden.iceberg.files import (
    data_file,
    double,
    entry,
    int32,
    int64,
    listed,
    manifest_list,
    metadata,
)
from pqassay_golden.iceberg.files import manifest as made_manifest
from pqassay_golden.tiny.avro import MARKER
from pqassay_spec.rules.catalogue import Tier
from pqassay_spec.table.avro import BLOCK_HEADER, CONTAINER_HEADER, grammar_of

FILES = 10_000
COLUMNS = 20
ROWS = 100
GOAL = 150.0
"""Microseconds for each file at tier ``meta``, at most."""

COMMAND = 2.0
"""Seconds of the command for `FILES` files, its start included, at most."""

TURNS = 5
"""How often each of those that are compared is measured."""

RATIO = 1.1
"""Time of the footer tier of a table, at most, as a multiple of that of the files alone."""

BLOCK = 100
"""Entries in a block of a manifest."""

DAY = dt.date(2024, 1, 1)
KINDS = ("long", "double", "string", "date", "timestamp")
NAMES = [f"c{number}" for number in range(COLUMNS)]

MICROSECOND = 1_000_000
MIDNIGHT = int(dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp()) * MICROSECOND


def kind_of(number: int) -> str:
    """The type of a column, as both formats name it."""
    return KINDS[number % len(KINDS)]


def name_of(number: int) -> str:
    """The name of a data file; all have one length."""
    return f"part-{number:08}.parquet"


def data() -> bytes:
    """The data file."""
    columns: dict[str, Any] = {
        "long": pa.array(range(ROWS), pa.int64()),
        "double": pa.array([number / 4 for number in range(ROWS)]),
        "string": pa.array([f"text {number:03}" for number in range(ROWS)]),
        "date": pa.array([DAY + dt.timedelta(number) for number in range(ROWS)]),
        "timestamp": pa.array(
            [MIDNIGHT + number * MICROSECOND for number in range(ROWS)], pa.timestamp("us", "UTC")
        ),
    }
    fields = [
        pa.field(name, columns[kind_of(number)].type, metadata={"PARQUET:field_id": str(number + 1)})
        for number, name in enumerate(NAMES)
    ]
    arrays = [columns[kind_of(number)] for number in range(COLUMNS)]
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, schema=pa.schema(fields)), out)
    return out.getvalue().to_pybytes()


def make_files(folder: Path, content: bytes, files: int) -> None:
    """Give the data file many names."""
    folder.mkdir(parents=True, exist_ok=True)
    first = folder / name_of(0)
    first.write_bytes(content)
    for number in range(1, files):
        os.link(first, folder / name_of(number))


def make_delta(folder: Path, content: bytes, files: int) -> None:
    """Write a Delta table."""
    make_files(folder, content, files)
    log = folder / "_delta_log"
    log.mkdir()
    fields = [
        {"name": name, "type": kind_of(number), "nullable": True, "metadata": {}}
        for number, name in enumerate(NAMES)
    ]
    low = {
        "long": 0,
        "double": 0,
        "string": "text 000",
        "date": str(DAY),
        "timestamp": f"{DAY}T00:00:00.000Z",
    }
    high = {
        "long": ROWS - 1,
        "double": (ROWS - 1) / 4,
        "string": f"text {ROWS - 1:03}",
        "date": str(DAY + dt.timedelta(ROWS - 1)),
        "timestamp": f"{DAY}T00:01:39.000Z",
    }
    stats = json.dumps(
        {
            "numRecords": ROWS,
            "minValues": {name: low[kind_of(number)] for number, name in enumerate(NAMES)},
            "maxValues": {name: high[kind_of(number)] for number, name in enumerate(NAMES)},
            "nullCount": dict.fromkeys(NAMES, 0),
        }
    )
    description = {
        "id": "t",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": {},
    }
    said = {"partitionValues": {}, "size": len(content), "modificationTime": 0, "dataChange": True}
    with (log / f"{0:020}.json").open("w") as out:
        out.write('{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}\n')
        out.write(json.dumps({"metaData": description}) + "\n")
        for number in range(files):
            out.write(json.dumps({"add": {"path": name_of(number), **said, "stats": stats}}) + "\n")


def make_iceberg(folder: Path, content: bytes, files: int) -> None:
    """Write an Iceberg table with one manifest, compressed as writers do by default."""
    make_files(folder / "data", content, files)
    low = (int64(0), double(0), b"text 000", int32((DAY - dt.date(1970, 1, 1)).days), int64(MIDNIGHT))
    high = (
        int64(ROWS - 1),
        double((ROWS - 1) / 4),
        f"text {ROWS - 1:03}".encode(),
        int32((DAY - dt.date(1970, 1, 1)).days + ROWS - 1),
        int64(MIDNIGHT + (ROWS - 1) * MICROSECOND),
    )
    numbers = range(1, COLUMNS + 1)
    chunks = pq.ParquetFile(pa.BufferReader(content)).metadata.row_group(0)
    location = folder.resolve().as_uri()
    sample = entry(
        data_file(
            "",
            content,
            ROWS,
            file_path=f"{location}/data/{name_of(0)}",
            split_offsets=[4],
            column_sizes={number: chunks.column(number - 1).total_compressed_size for number in numbers},
            value_counts=dict.fromkeys(numbers, ROWS),
            null_value_counts=dict.fromkeys(numbers, 0),
            lower_bounds={number: low[(number - 1) % len(low)] for number in numbers},
            upper_bounds={number: high[(number - 1) % len(high)] for number in numbers},
        )
    )
    kinds = {"timestamp": "timestamptz"}
    columns = [
        {"id": number, "name": NAMES[number - 1], "required": False, "type": kinds.get(kind, kind)}
        for number in numbers
        for kind in (kind_of(number - 1),)
    ]
    # Entries differ by the name of the file alone, so that one is encoded and the name replaced.
    empty = made_manifest([], columns=columns, codec="deflate")
    header = CONTAINER_HEADER.parse(empty)
    encoded = grammar_of(json.loads(header["metadata"]["avro.schema"])).build(sample)
    parts = [empty]
    for start in range(0, files, BLOCK):
        some = range(start, min(start + BLOCK, files))
        plain = b"".join(encoded.replace(name_of(0).encode(), name_of(number).encode()) for number in some)
        packed = zlib.compress(plain, 9, -zlib.MAX_WBITS)
        parts += [BLOCK_HEADER.build({"count": len(some), "size": len(packed)}), packed, MARKER]
    written = b"".join(parts)
    counted = listed("", written, [sample], manifest_path=f"{location}/metadata/manifest.avro")
    counted |= {"added_files_count": files, "added_rows_count": files * ROWS}
    described = json.loads(metadata(columns, rows=files * ROWS))
    described["location"] = location
    described["snapshots"][0]["manifest-list"] = f"{location}/metadata/snap.avro"
    out = folder / "metadata"
    out.mkdir()
    (out / "manifest.avro").write_bytes(written)
    (out / "snap.avro").write_bytes(manifest_list([counted]))
    (out / "v1.metadata.json").write_text(json.dumps(described))


MAKERS: dict[str, Callable[[Path, bytes, int], None]] = {"Delta": make_delta, "Iceberg": make_iceberg}


# ----------------------------------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Took:
    """Seconds of a processor, worker processes included, and of the clock."""

    processor: float
    clock: float


def in_turns(works: Mapping[str, Callable[[], object]]) -> dict[str, Took | None]:
    """The least times of some works, each measured in its turn; ``None`` of those for which a library is missing."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(TURNS):
        for name, work in works.items():
            begun, clock = processor_time(), time.perf_counter()
            try:
                work()
            except ImportError:
                continue
            taken[name].append((processor_time() - begun, time.perf_counter() - clock))
    return {
        name: Took(*(min(one) for one in zip(*times, strict=True))) if times else None
        for name, times in taken.items()
    }


def processor_time() -> float:
    """What this process and its children that have ended took of a processor."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def checked(target: Path, tier: Tier) -> None:
    """Check something in which there is nothing to find."""
    report = pqassay.check(target, tier=tier, jobs=1)
    told = next((file for file in report.files if file.findings or file.outcome != "conformant"), None)
    if told is not None:
        raise SystemExit(f"{told.path} is {told.outcome}: {[one.message for one in told.findings][:3]}")


def command(table: Path) -> None:
    """Run `pqassay check` at tier ``meta`` in a process of its own."""
    subprocess.run(
        [sys.executable, "-m", "pqassay", "check", "--tier", "meta", str(table)],
        check=True,
        stdout=subprocess.DEVNULL,
        # As an installed program, which was compiled before.
        env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    )


def read_by_fastavro(table: Path) -> None:
    """Every record of the manifest."""
    fastavro = import_module("fastavro")
    with (table / "metadata" / "manifest.avro").open("rb") as file:
        for _ in fastavro.reader(file):
            pass


def read_by_pyiceberg(table: Path) -> None:
    """Every live entry, as scans get it."""
    tables = import_module("pyiceberg.table")
    found = tables.StaticTable.from_metadata(str(table / "metadata" / "v1.metadata.json"))
    snapshot = found.current_snapshot()
    for one in snapshot.manifests(found.io):
        one.fetch_manifest_entry(found.io)


def read_by_deltalake(table: Path) -> None:
    """Every live file with its statistics."""
    deltalake = import_module("deltalake")
    deltalake.DeltaTable(str(table)).get_add_actions(flatten=True)


def read_footers(table: Path) -> None:
    """Every footer, by pyarrow."""
    for path in table.glob("*.parquet"):
        pq.read_metadata(path)


PEERS = {
    "fastavro, the manifest": ("Iceberg", read_by_fastavro),
    "pyiceberg, the entries": ("Iceberg", read_by_pyiceberg),
    "deltalake, the log": ("Delta", read_by_deltalake),
    "pyarrow, every footer": ("Delta", read_footers),
}


def print_time(what: str, took: Took | None, files: int, more: str = "") -> None:
    """Print a time."""
    if took is None:
        print(f"{what:<32} missing: it is not installed")
        return
    each = took.processor / files * 1e6
    print(f"{what:<32} {took.processor:7.2f} s  {each:7.0f} µs a file  {took.clock:7.2f} s{more}", flush=True)


def measured(folder: Path, files: int, few: int) -> list[str]:
    """Measure, print, and return which goals were missed."""
    missed: list[str] = []
    works: dict[str, Callable[[], object]] = {}
    for kind in MAKERS:
        works[f"pqassay, {kind}, tier meta"] = partial(checked, folder / kind, "meta")
        works[f"the command on it, {kind}"] = partial(command, folder / kind)
    for what, (kind, read) in PEERS.items():
        works[what] = partial(read, folder / kind)
    for what, took in in_turns(works).items():
        goal = (
            GOAL * files / 1e6
            if what.startswith("pqassay")
            else COMMAND
            if files == FILES and what.startswith("the command")
            else 0.0
        )
        print_time(what, took, files, f"  (goal {goal:.2f} s)" if goal else "")
        if goal and took is not None and took.processor > goal:
            missed.append(what)
    alone = f"pqassay, {few:,} files, tier footer"
    footers = {alone: "files", **{f"the same in a table, {kind}": f"few {kind}" for kind in MAKERS}}
    times = in_turns({what: partial(checked, folder / name, "footer") for what, name in footers.items()})
    base = times[alone]
    for what, took in times.items():
        if took is None or base is None:
            continue
        ratio = took.processor / base.processor
        print_time(what, took, few, "" if took is base else f"  {ratio:.2f} of it (goal {RATIO})")
        if ratio > RATIO:
            missed.append(what)
    return missed


def main() -> None:
    """Make the tables, and measure."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    few = max(files // 10, 1)
    content = data()
    print(f"{files:,} files, {COLUMNS} columns; of a processor, of that for each file, and of the clock:")
    with tempfile.TemporaryDirectory() as name:
        for kind, make in MAKERS.items():
            make(Path(name, kind), content, files)
            make(Path(name, f"few {kind}"), content, few)
        make_files(Path(name, "files"), content, few)
        missed = measured(Path(name), files, few)
    if missed:
        print(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
