"""What follows from the metrics of an Iceberg entry without a look into the file: partition values, points, and types that were widened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pqassay
from each import each
from pqassay_golden.iceberg.evolved import point, sites
from pqassay_golden.iceberg.files import (
    LIST,
    MANIFEST,
    METADATA,
    data_file,
    entry,
    listed,
    manifest,
    manifest_list,
    metadata,
)
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_tables.metadata.delta.widening import is_widened
from pqassay_tables.metadata.iceberg.transforms import transformed

NEAR_ALL = (1 << 31) - 1
"""As many buckets as there are hashes without their sign, less one."""


@each(
    ("kind", "raw", "hashed"),
    [
        ("int", (34).to_bytes(4, "little"), 2_017_239_379),
        ("long", (34).to_bytes(8, "little"), 2_017_239_379),
        ("decimal(9, 2)", (1420).to_bytes(2, "big"), -500_754_589),
        ("decimal(9, 2)", (1420).to_bytes(7, "big"), -500_754_589),
        ("date", (17_486).to_bytes(4, "little"), -653_330_422),
        ("timestamp", (1_510_871_468_000_001).to_bytes(8, "little"), -1_207_196_810),
        ("timestamp_ns", (1_510_871_468_000_001_001).to_bytes(8, "little"), -1_207_196_810),
        ("string", b"iceberg", 1_210_000_089),
        ("uuid", bytes.fromhex("f79c3e09677c4bbda4793f349cb785e7"), 1_488_055_340),
        ("binary", b"\0\1\2\3", -188_683_207),
    ],
)
def test_a_bucket_is_that_of_the_hashes_in_the_specification(kind: str, raw: bytes, hashed: int) -> None:
    assert (hashed & NEAR_ALL) % NEAR_ALL == transformed("bucket", NEAR_ALL, kind, raw)


@pytest.mark.parametrize(
    ("transform", "width", "kind", "raw", "expected"),
    [
        ("truncate", 10, "int", (-1).to_bytes(4, "little", signed=True), -10),
        ("truncate", 3, "string", "ab\U0001f600d".encode(), "ab\U0001f600".encode()),
        ("year", 0, "date", (-1).to_bytes(4, "little", signed=True), -1),
        ("month", 0, "timestamptz", (-1).to_bytes(8, "little", signed=True), -1),
        ("day", 0, "timestamp_ns", (-1).to_bytes(8, "little", signed=True), -1),
        ("hour", 0, "timestamp", (3_600_000_000).to_bytes(8, "little"), 1),
    ],
)
def test_a_transform_is_that_of_the_specification(
    transform: str, width: int, kind: str, raw: bytes, expected: object
) -> None:
    assert expected == transformed(transform, width, kind, raw)


@pytest.mark.parametrize(
    ("column", "least", "rules"),
    [
        (3, point(-10.0, 61.0), ["ICE-017"]),
        (4, point(-10.0, 61.0), ["ICE-017"]),
        (3, point(6.0, 45.0), ["ICE-017"]),
        (4, point(6.0, 45.0), []),  # from 6 eastwards around the globe to 5.5
    ],
)
def test_points_are_in_order_but_for_longitudes(
    column: int, least: bytes, rules: list[str], tmp_path: Path
) -> None:
    for name, data in sites({column: least}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    report = pqassay.check(tmp_path, tier="meta")

    assert rules == [finding.rule for file in report.files for finding in file.findings]


@each(
    ("old", "new", "allowed"),
    [
        ("byte", "long", True),
        ("long", "integer", False),
        ("integer", "double", True),
        ("long", "double", False),
        ("date", "timestamp_ntz", True),
        ("integer", "decimal(10,0)", True),
        ("integer", "decimal(11,2)", False),
        ("long", "decimal(22,2)", True),
        ("decimal(6,2)", "decimal(10,4)", True),
        ("decimal(6,2)", "decimal(6,2)", False),
        ("string", "long", False),
    ],
)
def test_types_are_widened_as_the_protocol_lets_them(old: str, new: str, allowed: bool) -> None:
    assert allowed is is_widened(old, new)


def migrated(folder: Path, bounds: dict[str, Any], *, transform: str = "identity", **of_column: Any) -> Path:
    """A table of one file, which does not hold the column ``city`` of the table, with the value Oslo in its partition."""
    columns = [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "city", "required": False, "type": "string", **of_column},
    ]
    data = TinyParquet((Column("id", "int64", [1, 2], field_id=1),)).build()
    spec = [{"source-id": 2, "field-id": 1000, "name": "city_part", "transform": transform}]
    spec = [] if of_column else spec
    value = {"identity": "Oslo", "bucket[4]": 0}[transform]
    kind = {"identity": "string", "bucket[4]": "int"}[transform]
    values = {"city_part": value} if spec else {}
    entries = [entry(data_file("data/part-0.parquet", data, 2, values, **bounds))]
    avro = [(1000, "city_part", kind)] if spec else []
    raw = manifest(entries, avro, columns=columns, partitioned_by=spec)
    of_part = {
        "contains_null": False,
        "contains_nan": None,
        "lower_bound": b"Oslo" if transform == "identity" else bytes(4),
        "upper_bound": b"Oslo" if transform == "identity" else bytes(4),
    }
    version = 3 if of_column else 2
    files = {
        METADATA: metadata(
            columns, spec, rows=2, version=version, **({"next_row_id": 0} if of_column else {})
        ),
        LIST: manifest_list([listed(MANIFEST, raw, entries, partitions=[of_part] if spec else [])]),
        MANIFEST: raw,
        "data/part-0.parquet": data,
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


OSLO = {"lower_bounds": {2: b"Oslo"}, "upper_bounds": {2: b"Oslo"}}


@pytest.mark.parametrize(
    ("bounds", "transform", "rules"),
    [
        (OSLO, "identity", []),
        ({"lower_bounds": {2: b"Oslo"}}, "identity", []),
        ({"lower_bounds": {2: b"P"}, "upper_bounds": {2: b"Q"}}, "identity", ["ICE-057"]),
        (OSLO, "bucket[4]", ["ICE-057", "ICE-033"]),
    ],
)
def test_a_column_that_is_constant_in_its_partition_need_not_be_in_the_file(
    bounds: dict[str, Any], transform: str, rules: list[str], tmp_path: Path
) -> None:
    report = pqassay.check(migrated(tmp_path, bounds, transform=transform))

    assert rules == [finding.rule for file in report.files for finding in file.findings]


def test_bounds_of_a_default_are_not_checked(tmp_path: Path) -> None:
    report = pqassay.check(migrated(tmp_path, OSLO, **{"initial-default": "Oslo"}))
    reasons = [coverage.not_checked.get("ICE-033") for coverage in report.coverages.values()]

    assert [] == [
        finding.rule for file in report.files for finding in file.findings if finding.rule == "ICE-033"
    ]
    assert ["bounds of city in data/part-0.parquet are of a default value; they are not compared"] == [
        gap.reason for gap in reasons if gap is not None
    ]
