"""Golden tables with one more false fact, which an engine believes or refuses, and odd ones that are right."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import pqassay
from pqassay_golden.delta import columns, states, table, vectors
from pqassay_golden.iceberg.files import METADATA, data_file, double, entry, int64
from pqassay_golden.iceberg.files import table as iceberg_table
from pqassay_golden.iceberg.table import PLAIN
from pqassay_golden.tables import parquet
from pqassay_golden.tiny.columns import Column, ListOf
from pqassay_spec.mutation.table_mutations import TableMutation

FIRST, SECOND = table.commit(0), table.commit(1)
Files = Mapping[str, bytes]


def rules_of(folder: Path, files: Files) -> list[str]:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    report = pqassay.check(folder, tier="values")
    return sorted({one.rule for file in report.files for one in file.findings if one.verdict == "FAIL"})


def lines(files: Files, change: Callable[[list[Any]], list[Any]], file: str = FIRST) -> Files:
    """A table with other actions in one of its files."""
    return {**files, file: table.lines(*change([json.loads(line) for line in files[file].splitlines()]))}


def member(files: Files, path: str, to: Any, line: int, file: str = FIRST) -> Files:
    return TableMutation(file=file, op="set", line=line, path=path, to=to).applied(files)


ALONE = {name: data for name, data in states.BESIDE_ITS_LOG.items() if name not in (FIRST, SECOND)}
"""A checkpoint without the log before it."""

GONE = {"remove": {"path": "part-0.parquet", "dataChange": True}}
AGAIN = table.add("part-0.parquet", table.PARTS[0], table.STATS[0])
MAPPED = {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}
BY_NAME = {"delta.columnMapping.mode": "name"}
PRICED = {
    FIRST: table.lines(table.PROTOCOL, table.metadata(table.schema(id="long", k="decimal(5,2)"), ("k",)), table.add("p.parquet", columns.ID_DATA, None, {"k": "1.50"})),
    "p.parquet": columns.ID_DATA,
}  # fmt: skip


def mapped(second: int, physical: str, protocol: Any = MAPPED) -> Files:
    """A table of two mapped columns."""
    named = [("x", 1, "id"), ("y", second, physical)]
    fields = [{"name": name, "type": "long", "nullable": True, "metadata": {"delta.columnMapping.id": key, "delta.columnMapping.physicalName": own}} for name, key, own in named]  # fmt: skip
    described = table.metadata(table.compact({"type": "struct", "fields": fields}), **BY_NAME)
    return {**PRICED, FIRST: table.lines(protocol, described, table.add("p.parquet", columns.ID_DATA, None))}


def listed(nulls: int) -> Files:
    """A table of lists, one of which is null."""
    data = parquet(Column("tags", ListOf("string"), [["a", None], None, []]))
    kind = {"type": "array", "elementType": "string", "containsNull": True}
    stats = {"numRecords": 3, "nullCount": {"tags": nulls}}
    return {
        FIRST: table.lines(
            table.PROTOCOL, table.metadata(table.schema(tags=kind)), table.add("p.parquet", data, stats)
        ),
        "p.parquet": data,
    }


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        (ALONE, []),
        (lines(ALONE, lambda those: [*those, those[-1]], table.CHECKPOINT), ["DLT-006"]),
        (lines(ALONE, lambda those: [*those, {"remove": {"path": states.PATHS[0]}}], table.CHECKPOINT), ["DLT-006"]),
        (lines(ALONE, lambda those: [*those, those[1]], table.CHECKPOINT), ["DLT-048"]),
        (lines(ALONE, lambda those: [*those, {"sidecar": {"sizeInBytes": 7}}], table.CHECKPOINT), ["DLT-003"]),
        (lines(ALONE, lambda those: [those[0], table.PROTOCOL, *those[2:]], table.CHECKPOINT), ["DLT-058"]),
        ({**table.PLAIN, SECOND: table.lines(GONE, AGAIN)}, ["DLT-006"]),
        ({**table.PLAIN, SECOND: table.lines({**GONE, **AGAIN})}, ["DLT-001"]),
        (member(table.PLAIN, "add.stats.minValues.mass", "NaN", 3), ["DLT-027"]),
        (member(table.PLAIN, "add.stats.maxValues.mass", "NaN", 3), []),
        (member(table.PLAIN, "protocol.minReaderVersion", "1", 1), ["DLT-056"]),
        (listed(1), []),
        (listed(0), ["DLT-028"]),
        (member(vectors.DELETED, "protocol.readerFeatures", "deletionVectors", 1), ["DLT-057"]),
        (member(states.TRACKED, "add.baseRowId", -1, 3), ["DLT-040"]),
        (PRICED, []),
        (member(PRICED, "add.partitionValues.k", "1.500", 2), []),
        (member(PRICED, "add.partitionValues.k", "1.505", 2), ["DLT-017"]),
        (member(PRICED, "add.partitionValues.k", "1e300", 2), ["DLT-017"]),
        (member(PRICED, "add.partitionValues.k", "1_0", 2), ["DLT-017"]),
        (mapped(2, "b"), []),
        (mapped(1, "b"), ["DLT-005"]),
        (mapped(2, "id"), ["DLT-005"]),
        (mapped(2, "b", table.PROTOCOL), ["DLT-058"]),
    ],
)  # fmt: skip
def test_a_false_fact_of_a_log_is_found(tmp_path: Path, files: Files, broken: list[str]) -> None:
    assert broken == rules_of(tmp_path, files)


def numbers(kind: str, of: Any, change: dict[str, Any], values: list[Any], sequence: int | None = None) -> Files:  # fmt: skip
    """An Iceberg table of one file with one column."""
    data = parquet(Column("c", of, values, field_id=1))
    column = {"id": 1, "name": "c", "required": False, "type": kind}
    entries = [entry(data_file("data/p.parquet", data, len(values), **change), sequence=sequence)]
    return iceberg_table([column], entries, {"data/p.parquet": data}, rows=len(values))


def absent(default: dict[str, Any], nulls: int) -> Files:
    """An Iceberg table with a column that its file does not have."""
    fields = [
        {"id": key, "name": name, "required": False, "type": "long"} for key, name in ((1, "id"), (2, "k"))
    ]
    data = parquet(Column("id", "int64", [1, 2], field_id=1))
    entries = [entry(data_file("data/p.parquet", data, 2, null_value_counts={2: nulls}))]
    more: dict[str, Any] = {"version": 3, "next_row_id": 2, "of_list": {"first_row_id": 0}}
    return iceberg_table(
        [fields[0], {**fields[1], **default}],
        entries,
        {"data/p.parquet": data},
        rows=2,
        manifests_of=3,
        **more,
    )


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        (numbers("long", "int64", {"nan_value_counts": {1: 0}}, [1, 2]), []),
        (numbers("long", "int64", {"nan_value_counts": {1: 2}}, [1, 2]), ["ICE-042"]),
        (numbers("long", "int64", {"file_format": "ORC"}, [1, 2]), ["ICE-068"]),
        (numbers("long", "int64", {}, [1, 2], sequence=9), ["ICE-010"]),
        (numbers("double", "double", {"lower_bounds": {1: double(0.0)}}, [-0.0, 1.0]), ["ICE-040"]),
        (numbers("double", "double", {"lower_bounds": {1: double(-0.0)}}, [0.0, 1.0]), []),
        (numbers("long", "int64", {"lower_bounds": {1: int64(1)}}, [1, 2]), []),
        (absent({}, 0), ["ICE-062"]),
        (absent({"initial-default": 5}, 0), []),
        (absent({"initial-default": 5}, 2), ["ICE-062"]),
        (member(PLAIN, "schemas.[0].fields.[1].name", "id", 0, METADATA), ["ICE-081"]),
        (member(PLAIN, "schemas", [], 0, METADATA), ["ICE-069"]),
        (member(PLAIN, "snapshots", json.loads(PLAIN[METADATA])["snapshots"] * 2, 0, METADATA), ["ICE-069"]),
        ({**PLAIN, METADATA: PLAIN[METADATA].replace(b'"required":', b'"initial-default":5,"required":', 1)}, ["ICE-075"]),
    ],
)  # fmt: skip
def test_a_false_fact_of_a_manifest_or_the_metadata_is_found(
    tmp_path: Path, files: Files, broken: list[str]
) -> None:
    assert broken == rules_of(tmp_path, files)
