"""What snapshots and headers of manifests may say without a mistake, and what not: cases beside those of golden tables."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pqassay
from places import GOLDEN_FILES

Metadata = Any


def copied(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(GOLDEN_FILES / "ice" / name / "table", folder / "t"))


def rules(table: Path) -> list[str]:
    report = pqassay.check(table, tier="meta")
    assert [None] == list({file.error for file in report.files})
    return sorted({finding.rule for file in report.files for finding in file.findings})


def changed(table: Path, change: Callable[[Metadata], Any]) -> Path:
    path = table / "metadata/v1.metadata.json"
    metadata = json.loads(path.read_text())
    change(metadata)
    path.write_text(json.dumps(metadata))
    return table


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (b'"schema-id":0', b'"schema-id":9', []),  # that schema is gone from the metadata
        (b'"type":"decimal(9, 2)"', b'"type":"decimal(9,2)" ', []),
        (b'{"type":"struct","schema-id"', b'{"type":"strukt","schema-id"', ["ICE-083"]),
        (b'{"type":"struct","schema-id"', b'!"type":"struct","schema-id"', ["ICE-083"]),
        (b'"required":false', b'"required":true ', ["ICE-083"]),
    ],
)
def test_the_schema_in_a_header_is_compared_where_the_table_has_it(
    tmp_path: Path, old: bytes, new: bytes, found: list[str]
) -> None:
    table = copied("plain", tmp_path)
    path = table / "metadata/manifest-0.avro"
    data = path.read_bytes()
    start = data.index(b'"schema-id"') - 40
    assert old in data[start:]
    path.write_bytes(data[:start] + data[start:].replace(old, new, 1))

    assert found == rules(table)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda one: one.pop("summary"), []),
        (lambda one: one["summary"].pop("operation"), ["ICE-086"]),
        (lambda one: one["summary"].update(operation=None), ["ICE-086"]),
        (lambda one: one["summary"].update({"added-records": "many"}), []),
        (lambda one: one["summary"].update({"added-records": "-4"}), ["ICE-087"]),
        (lambda one: one["summary"].update({"manifests-created": "2", "added-dvs": "0"}), []),
        (lambda one: one["summary"].update({"total-delete-files": "-1"}), ["ICE-056"]),
        (lambda one: one.pop("schema-id"), []),
        (lambda one: one.update({"timestamp-ms": "1"}), ["ICE-085"]),
    ],
)  # fmt: skip
def test_what_a_snapshot_says_of_itself(
    tmp_path: Path, change: Callable[[Any], Any], found: list[str]
) -> None:
    table = changed(copied("evolved", tmp_path), lambda metadata: change(metadata["snapshots"][1]))

    assert found == rules(table)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda one: one.pop("current-schema-id"), []),
        (lambda one: [one.pop(name) for name in ("schemas", "current-schema-id")], []),
        (lambda one: one["schema"].update(doc="of metals", **{"schema-id": 0}), []),
        (lambda one: one["schema"]["fields"].reverse(), []),
        (lambda one: one.update(schema=[]), ["ICE-084"]),
        (lambda one: one["partition-spec"].append({"name": "id", "transform": "identity", "source-id": 1, "field-id": 1000}), ["ICE-084"]),
        (lambda one: one["snapshots"][0].update({"sequence-number": 0}), []),
    ],
)  # fmt: skip
def test_what_version_1_says_twice(tmp_path: Path, change: Callable[[Any], Any], found: list[str]) -> None:
    assert found == rules(changed(copied("first-version", tmp_path), change))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda one: one.pop("first-row-id"), ["ICE-099"]),
        (lambda one: one.update({"first-row-id": -1}), ["ICE-092"]),
        (lambda one: one.update({"first-row-id": 108, "added-rows": 0}), []),
    ],
)
def test_row_ids_of_a_snapshot(tmp_path: Path, change: Callable[[Any], Any], found: list[str]) -> None:
    table = changed(copied("row-ids", tmp_path), lambda metadata: change(metadata["snapshots"][0]))

    assert found == rules(table)
