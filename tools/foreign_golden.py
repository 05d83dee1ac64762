"""Write the golden cases of foreign software again, or compare their manifests with the judge's reports.

    python tools/foreign_golden.py write                      write the cases of all installed software
    python tools/foreign_golden.py write golden_files duckdb  write those of DuckDB
    python tools/foreign_golden.py remarks                    list manifests that differ from the report or the museum
    python tools/foreign_golden.py remarks --accept           update these manifests

``write`` repeats the steps in the manifests of the newest version of each software, with the installed version. Each version has a
folder of its own, because golden files are never replaced. Software that is not installed is named and skipped. arrow-rs is written
through the package ``arro3-io``. To add a case, begin with a manifest that has rows and steps. Spark orders the encodings of a chunk
in the footer differently in each Java process.

``--accept`` rejects a new FAIL or WARN: that is an error of a rule or a discovery, so a person has to look at it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import importlib.metadata
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import pqassay
from pqassay_golden.museum import defects as museum
from pqassay_reference.columns.literals import python_value
from pqassay_spark.jobs.session import spark_session
from pqassay_spec.golden.case import MANIFEST, OWN, to_json
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.rules.catalogue import rules
from pqassay_suite.cases.manifest import REMARKS

GOLDEN_FILES = Path(__file__).resolve().parent.parent / "golden_files"
DATA = "data.parquet"

MODULES = {
    **{name: name for name in ("duckdb", "polars", "datafusion", "fastparquet")},
    "pyarrow": "pyarrow.parquet",
    "arrow-rs": "arro3.io",
    "spark": "pyspark",
}
"""The writing module of each software, by name."""

OTHERWISE_CALLED = {"arrow-rs": "arro3-io", "spark": "pyspark"}
"""Distributions whose names differ from the software's."""

INSIDE = "parquet-rs version "
"""The writer's name in files of the software that ``arro3-io`` wraps; its version is the relevant one."""

# ------------------------------------------------------------------------------------------------------- the rows

KINDS: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "timestamp_micros": pa.timestamp("us"),
    "timestamp_nanos": pa.timestamp("ns"),
}
"""Names of types in manifests, with the Arrow types."""


def kind_of(name: str) -> pa.DataType:
    """The Arrow type with a manifest's type name.

    >>> kind_of("decimal(9,2)"), kind_of("struct<city: string, height: int32>")
    (Decimal128Type(decimal128(9, 2)), StructType(struct<city: string, height: int32>))
    """
    outer, _, inner = name.removesuffix(">").partition("<")
    if outer.startswith("decimal"):
        precision, scale = map(int, re.findall(r"\d+", outer))
        return pa.decimal128(precision, scale)
    if outer == "list":
        return pa.list_(kind_of(inner))
    if outer == "struct":
        return pa.struct([(member, kind_of(kind)) for member, kind in re.findall(r"(\w+): (\w+)", inner)])
    return KINDS[name]


def arrow_value(written: Any, kind: Any) -> Any:
    """The Arrow input for a value of a manifest."""
    match written:
        case {"timestamp": text}:
            return int(text) // {"us": 1000, "ns": 1}[kind.unit]
        case {"list": items}:
            return [arrow_value(item, kind.value_type) for item in items]
        case {"struct": members}:
            return {name: arrow_value(member, kind.field(name).type) for name, member in members.items()}
        case _:
            return python_value(written)


def table_of(rows: Mapping[str, Any]) -> pa.Table:
    """The rows of a manifest as an Arrow table."""
    kinds = {column["name"]: kind_of(column["type"]) for column in rows["columns"]}
    return pa.table(
        {
            name: pa.array([arrow_value(row[place], kind) for row in rows["rows"]], kind)
            for place, (name, kind) in enumerate(kinds.items())
        }
    )


# ------------------------------------------------------------------------------------------------------ the steps


def newest(software: str) -> tuple[str, list[dict[str, Any]]]:
    """The newest version whose cases have steps, and their manifests."""
    versions: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((GOLDEN_FILES / "interop").glob(f"{software}-*/*/{MANIFEST}")):
        record = json.loads(path.read_text())
        steps = record["provenance"].get("steps", ())
        if steps and not any(step.startswith("pqassay index") for step in steps):  # those were made once
            versions.setdefault(path.parent.parent.name.removeprefix(f"{software}-"), []).append(record)
    version = max(versions, key=lambda text: [int(number) for number in re.findall(r"\d+", text)])
    return version, sorted(versions[version], key=lambda record: "parent" in record)


def names_of(software: str, table: pa.Table) -> dict[str, Any]:
    """The names that are available in the steps of a software."""
    names: dict[str, Any] = {"pa": pa, "pq": pq, "table": table, "blob": b""}
    importlib.import_module(MODULES[software])
    root = MODULES[software].partition(".")[0]
    module = names[root] = sys.modules[root]
    if software == "pyarrow" and "city" in table.column_names:
        names["blob"] = idx1.build_blob(set(table.column("city").drop_null().to_pylist()))  # type: ignore[arg-type]  # texts
    elif software == "duckdb":
        names["copy"] = module.connect().register("data", table).execute
    elif software == "datafusion":
        context = module.SessionContext(module.SessionConfig().with_target_partitions(1))
        names |= {"context": context, "ParquetWriterOptions": module.ParquetWriterOptions}
    elif software == "fastparquet":
        pandas = importlib.import_module("pandas")
        names["types"] = {pa.bool_(): pandas.BooleanDtype(), pa.int64(): pandas.Int64Dtype()}
    return names


def run(step: str, folder: Path, names: dict[str, Any]) -> None:
    """Run a step in a folder; Spark writes into a subfolder."""
    with contextlib.chdir(folder):
        if step.startswith("pqassay "):
            _, *words = shlex.split(step)
            subprocess.run([Path(sys.executable).with_name("pqassay"), *words], check=True, stdout=sys.stderr)
        elif step.startswith("COPY "):
            names["copy"](step)
        else:
            exec(step.replace("types_mapper=...", "types_mapper=types.get"), names)
    for path in folder.glob("spark/*.parquet"):
        path.rename(folder / DATA)


def write(folder: Path, names: Sequence[str]) -> None:
    """Write the cases of some software, or of all that is installed."""
    for software in names or MODULES:
        distribution = OTHERWISE_CALLED.get(software, software)
        try:
            version = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            print(f"{software}: {distribution} is not installed, nothing written", file=sys.stderr)
            continue
        before, records = newest(software)
        files: dict[str, bytes] = {}
        with spark_session() if software == "spark" else contextlib.nullcontext() as spark:
            for record in records:
                data = files[record["id"]] = written(software, record, files, spark)
                if software == "arrow-rs":
                    made = pq.read_metadata(pa.BufferReader(data)).created_by
                    version = made.removeprefix(INSIDE).strip()
                store(folder, record, data, before, version)


def written(software: str, record: Mapping[str, Any], files: Mapping[str, bytes], spark: Any) -> bytes:
    """The file that a software writes by a manifest's steps, or the mutation of another file."""
    if "parent" in record:
        return mutate(files[record["parent"]], Mutation.from_json(record["mutation"]))
    table = table_of(record["expect"]["rows"])
    with tempfile.TemporaryDirectory() as scratch:
        rows = [tuple(row.values()) for row in table.to_pylist()]
        names = names_of(software, table) | {
            "spark": spark,
            "rows": rows,
            "folder": f"file://{scratch}/spark",
        }
        for step in record["provenance"]["steps"]:
            run(step, Path(scratch), names)
        return Path(scratch, DATA).read_bytes()


def store(folder: Path, record: Mapping[str, Any], data: bytes, before: str, version: str) -> None:
    """Store a case of a version, with the manifest of the previous version under new names and a new digest."""
    manifest, provenance = dict(record), dict(record["provenance"])
    manifest["input"] = {"file": DATA, "sha256": hashlib.sha256(data).hexdigest()}
    provenance["by"] = provenance["by"].replace(before, version)
    manifest |= {
        name: manifest[name].replace(before, version) for name in ("id", "parent") if name in manifest
    }
    home = folder / manifest["id"]
    home.mkdir(parents=True, exist_ok=True)
    (home / DATA).write_bytes(data)
    save(home / MANIFEST, manifest | {"provenance": provenance})
    print(f"{manifest['id']}: {len(data)} bytes")


def save(path: Path, record: Mapping[str, Any]) -> None:
    """Write a manifest, with the museum's text about its case."""
    exhibit = exhibit_of(record["id"])
    members = {name: member for name, member in record.items() if name != "exhibit"}
    path.write_text(f"{json.dumps(members | exhibit, indent=2)}\n")


def exhibit_of(case_id: str) -> dict[str, Any]:
    """The manifest member that makes its case an exhibit; empty for most cases."""
    found = museum.exhibits().get(case_id)
    return {} if found is None else {"exhibit": to_json(found)}


# ----------------------------------------------------------------------------------------------------- the remarks


def foreign_cases(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The manifests of cases that foreign software wrote unchanged."""
    for path in sorted(folder.rglob(MANIFEST)):
        record = json.loads(path.read_text())
        if record["provenance"]["by"] not in OWN and "parent" not in record:
            yield path, record


def remarks(folder: Path, *, accept: bool) -> int:
    """Print, and with ``accept`` store, what is reported; return the number of cases whose manifest differs."""
    left = 0
    for path, record in foreign_cases(folder):
        check = record["expect"]["check"]
        report = pqassay.check(
            path.parent / record["input"]["file"], tier=check["tier"], **check.get("options", {})
        )
        broken = list(dict.fromkeys(finding.rule for finding in report.files[0].findings))
        shown = exhibit_of(record["id"]).get("exhibit")
        if broken == check["rules"] and shown == record.get("exhibit"):
            continue
        if shown != record.get("exhibit"):
            print(f"{record['id']}: the museum says something else")
        print(
            f"{record['id']}: {', '.join(broken) or 'nothing'}, and not {', '.join(check['rules']) or 'nothing'}"
        )
        worse = [rule for rule in broken if rules()[rule].verdict not in REMARKS]
        new = [rule for rule in worse if rule not in check["rules"]]
        if new:
            print(f"  {', '.join(new)} would make it invalid: look at the file and at the rule")
        if accept and not new and bool(worse) == (record["kind"] == "invalid"):
            check["rules"] = broken
            save(path, record)
        else:
            left += 1
    return left


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the files and their manifests")
    writing.add_argument("folder", nargs="?", type=Path, default=GOLDEN_FILES)
    writing.add_argument("software", nargs="*", help=", ".join(MODULES))
    judging = commands.add_parser("remarks", help="compare the manifests with what is reported")
    judging.add_argument(
        "--accept", action="store_true", help="write down what is reported, but for new FAIL and WARN"
    )
    told = parser.parse_args()
    if told.command == "write":
        write(told.folder, told.software)
    else:
        sys.exit(1 if remarks(GOLDEN_FILES, accept=told.accept) else 0)


if __name__ == "__main__":
    main()
