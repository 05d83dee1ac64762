"""Golden tables with one more false fact, which an engine believes or refuses, and odd ones that are right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import pqassay
from pqassay_golden.delta import columns, states, table, vectors
from pqassay_golden.iceberg.files import METADATA, data_file, double, entry
from pqassay_golden.iceberg.files import table as iceberg_table
from pqassay_golden.iceberg.table import PLAIN
from pqassay_golden.tables import parquet
from pqassay_golden.tiny.columns import Column, ListOf
from pqassay_spec.mutation.table_mutations import TableMutation

FIRST, SECOND = table.commit(0), table.commit(1)
Files = Mapping[str, bytes]
ALONE = {name: data for name, data in states.BESIDE_ITS_LOG.items() if name not in (FIRST, SECOND)}
"""A checkpoint without the log before it."""

GONE, AGAIN = (
    {"remove": {"path": "part-0.parquet"}},
    table.add("part-0.parquet", table.PARTS[0], table.STATS[0]),
)
MAPPED = {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}


def changed(files: Files, path: str, to: Any, line: int = 0, file: str = FIRST) -> Files:
    return TableMutation(file=file, op="set", line=line, path=path, to=to).applied(files)


def longer(action: Any) -> Files:
    return {**ALONE, table.CHECKPOINT: ALONE[table.CHECKPOINT] + table.lines(action)}


def compacted(first: bytes, second: bytes = table.lines(GONE)) -> Files:
    """The plain table without a file, and a log compaction of both commits."""
    log = {SECOND: table.lines(GONE), FIRST.replace(".json", f".{1:020}.compacted.json"): first + second}
    return {**table.PLAIN, **log}


NEVER = b"".join(
    line for line in table.PLAIN[FIRST].splitlines(keepends=True) if b"part-0.parquet" not in line
)
"""The first commit, as if it had not added that file."""


def identified(*ids: Any, required: bool = True, kind: Any = "int64") -> Files:
    """An Iceberg table whose rows are identified by columns."""
    files = iceberg({}, kind)
    schema = json.loads(files[METADATA])["schemas"][0]
    schema["fields"][0]["required"] = required
    return changed(files, "schemas.[0]", {**schema, "identifier-field-ids": [*ids]}, file=METADATA)


def delta(data: bytes, described: Any, protocol: Any = table.PROTOCOL, **more: Any) -> Files:
    add = table.add("p.parquet", data, more.get("stats"), more.get("partition"))
    return {FIRST: table.lines(protocol, described, add), "p.parquet": data}


def priced(price: str) -> Files:
    return delta(columns.ID_DATA, table.metadata(table.schema(id="long", k="decimal(5,2)"), ("k",)), partition={"k": price})  # fmt: skip


def mapped(second: int, physical: str, protocol: Any = MAPPED) -> Files:
    fields = [
        {"name": name, "type": "long", "nullable": True, "metadata": {"delta.columnMapping.id": key, "delta.columnMapping.physicalName": own}}
        for name, key, own in (("x", 1, "id"), ("y", second, physical))
    ]  # fmt: skip
    schema = table.compact({"type": "struct", "fields": fields})
    return delta(columns.ID_DATA, table.metadata(schema, **{"delta.columnMapping.mode": "name"}), protocol)


def listed(nulls: int) -> Files:
    data = parquet(Column("tags", ListOf("string"), [["a", None], None, []]))
    kind = {"type": "array", "elementType": "string", "containsNull": True}
    return delta(data, table.metadata(table.schema(tags=kind)), stats={"numRecords": 3, "nullCount": {"tags": nulls}})  # fmt: skip


def iceberg(change: dict[str, Any], of: Any = "int64", least: float = 1, **column: Any) -> Files:
    """An Iceberg table of version 3 with a column, and one that its file does not have."""
    data = parquet(Column("c", of, [least, 2], field_id=1))
    fields = [{"id": 1, "name": "c", "required": False, "type": "long" if of == "int64" else of}, {"id": 2, "name": "k", "required": False, "type": "long", **column}]  # fmt: skip
    entries = [entry(data_file("p.parquet", data, 2, **change), sequence=column.get("sequence"))]
    more: Any = {"manifests_of": 3, "version": 3, "next_row_id": 2, "of_list": {"first_row_id": 0}, "rows": 2}
    return iceberg_table(fields, entries, {"p.parquet": data}, **more)


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        (ALONE, []),
        (longer(states.ENTRIES[0]), ["DLT-006"]),
        (longer({"remove": {"path": states.PATHS[0]}}), ["DLT-006"]),
        (longer(states.V2), ["DLT-048"]),
        ({**ALONE, table.CHECKPOINT.replace("80a0", "80a1"): ALONE[table.CHECKPOINT]}, []),
        ({**ALONE, table.CHECKPOINT.replace("80a0", "80a1"): ALONE[table.CHECKPOINT].rpartition(b'{"add"')[0]}, ["DLT-020"]),
        (compacted(NEVER), []),
        (compacted(table.PLAIN[FIRST]), ["DLT-020"]),
        (compacted(table.PLAIN[FIRST], b""), ["DLT-020"]),
        (compacted(NEVER.rpartition(b'{"add"')[0]), ["DLT-020"]),
        (compacted(NEVER.replace(b"part-1.parquet", b"part-2.parquet")), ["DLT-020"]),
        (compacted(NEVER.replace(b'"id":"', b'"id":"0')), ["DLT-044"]),
        (longer({"sidecar": {"sizeInBytes": 7}}), ["DLT-003"]),
        ({**table.PLAIN, SECOND: table.lines(GONE, AGAIN)}, ["DLT-006"]),
        ({**table.PLAIN, SECOND: table.lines({**GONE, **AGAIN})}, ["DLT-001"]),
        (changed(ALONE, "protocol", table.PROTOCOL["protocol"], 1, table.CHECKPOINT), ["DLT-058"]),
        (changed(table.PLAIN, "add.stats.minValues.mass", "NaN", 3), ["DLT-027"]),
        (changed(table.PLAIN, "add.stats.maxValues.mass", "NaN", 3), []),
        (changed(table.PLAIN, "add.stats", table.STATS[0], 3), ["DLT-009"]),
        (changed(table.PLAIN, "protocol.minReaderVersion", "1", 1), ["DLT-056"]),
        (changed(vectors.DELETED, "protocol.readerFeatures", "deletionVectors", 1), ["DLT-057"]),
        (changed(states.TRACKED, "add.baseRowId", -1, 3), ["DLT-040"]),
        *((priced(price), []) for price in ("1.50", "1.500", "-999.99")),
        *((priced(price), ["DLT-017"]) for price in ("1.505", "1e300", "1000", "1_0")),
        (mapped(2, "b"), []),
        *((mapped(*how), ["DLT-005"]) for how in ((1, "b"), (2, "id"))),
        (mapped(2, "b", table.PROTOCOL), ["DLT-058"]),
        (listed(1), []),
        (listed(0), ["DLT-028"]),
        (iceberg({"nan_value_counts": {1: 0}}), []),
        (iceberg({"nan_value_counts": {1: 2}}), ["ICE-042"]),
        (iceberg({"file_format": "ORC"}), ["ICE-068"]),
        (iceberg({}, sequence=9), ["ICE-010"]),
        (iceberg({"lower_bounds": {1: double(0.0)}}, "double", -0.0), ["ICE-040"]),
        (iceberg({"lower_bounds": {1: double(-0.0)}}, "double", 0.0), []),
        (iceberg({"null_value_counts": {2: 0}}), ["ICE-062"]),
        (iceberg({"null_value_counts": {2: 0}}, **{"initial-default": 5}), []),
        (iceberg({"null_value_counts": {2: 2}}, **{"initial-default": 5}), ["ICE-062"]),
        (iceberg({}, **{"initial-default": True}), ["ICE-075"]),
        (changed(PLAIN, "schemas.[0].fields.[1].name", "id", file=METADATA), ["ICE-081"]),
        (identified(1), []),
        *((identified(1, **how), ["ICE-081"]) for how in ({"required": False}, {"kind": "double"})),
        *((identified(1, more), ["ICE-081"]) for more in (2, 3, "1")),
        (changed(PLAIN, "schemas.[0].schema-id", [1], file=METADATA), ["ICE-001"]),
        (changed(PLAIN, "schemas.[0].fields", None, file=METADATA), ["ICE-001"]),
        (changed(PLAIN, "schemas", [], file=METADATA), ["ICE-069"]),
        (changed(PLAIN, "snapshots", json.loads(PLAIN[METADATA])["snapshots"] * 2, file=METADATA), ["ICE-069"]),
    ],
)  # fmt: skip
def test_a_false_fact_of_a_table_is_found(tmp_path: Path, files: Files, broken: list[str]) -> None:
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    report = pqassay.check(tmp_path, tier="values")
    assert broken == sorted({one.rule for file in report.files for one in file.findings if one.verdict == "FAIL"})  # fmt: skip


@pytest.mark.parametrize(("hint", "notes"), [("1", 0), ("0", 1), ("7\n", 1), ("x", 0), ("", 0)])
def test_a_hint_of_another_version_is_noted(tmp_path: Path, hint: str, notes: int) -> None:
    for name, data in {**PLAIN, "metadata/version-hint.text": hint.encode()}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (table_report, *_) = pqassay.check(tmp_path, tier="meta").files
    assert ("conformant", notes) == (
        table_report.outcome,
        sum("version-hint.text" in note for note in table_report.notes),
    )
