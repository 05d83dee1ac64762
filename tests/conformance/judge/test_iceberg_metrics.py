"""What follows from the metrics of an Iceberg entry without a look into the file: partition values, points, and types that were widened."""

from __future__ import annotations

from pathlib import Path

import pytest

import pqassay
from pqassay.tables.delta.widening import is_widened
from pqassay.tables.iceberg.transforms import transformed
from pqassay_reference.golden.iceberg.evolved import point, sites

NEAR_ALL = (1 << 31) - 1
"""As many buckets as there are hashes without their sign, less one."""


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
