"""Partition transforms: the hashes of the Iceberg specification, and every transform against one written for a single value."""

from __future__ import annotations

import datetime as dt
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import EXAMPLES
from pqassay_golden.iceberg import files
from pqassay_golden.tiny.columns import Column, Scalar, decimal, fixed, timestamp
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.table.murmur3 import murmur3
from pqassay_tables.values.murmur3 import hashes_of_bytes, hashes_of_decimals, hashes_of_numbers

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MOMENT = (dt.datetime(2017, 11, 16, 22, 31, 8, tzinfo=dt.UTC) - EPOCH) // dt.timedelta(microseconds=1)
DAY = (dt.date(2017, 11, 16) - EPOCH.date()).days


def test_numbers_hash_as_the_specification_shows() -> None:
    numbers = {
        34: 2017239379,
        DAY: -653330422,
        81_068_000_000: -662762989,
        MOMENT: -2047944441,
        MOMENT + 1: -1207196810,
    }
    nanoseconds = {MOMENT * 1000: -737750069, MOMENT * 1000 + 1000: -976603392, MOMENT * 1000 + 1: -160215926}
    every = numbers | nanoseconds
    assert list(every.values()) == hashes_of_numbers(np.array(list(every), np.int64)).tolist()


def test_bytes_hash_as_the_specification_shows() -> None:
    unique = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes
    array = pa.array([b"skipped", b"iceberg", unique, b"\0\1\2\3", b""], pa.binary())[1:]
    assert [1210000089, 1488055340, -188683207, 0] == hashes_of_bytes(array).tolist()
    assert [1210000089, 1488055340, -188683207, 0] == hashes_of_bytes(array.cast(pa.large_binary())).tolist()


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_many_values_hash_as_each_by_itself(values: list[bytes]) -> None:
    assert [murmur3(value) for value in values] == hashes_of_bytes(pa.array(values, pa.binary())).tolist()


def test_decimals_hash_by_their_fewest_bytes() -> None:
    for width in (2, 4, 8, 16):
        rows = np.frombuffer((1420).to_bytes(width, "big"), np.uint8).reshape(1, width)
        assert [-500754589] == hashes_of_decimals(rows).tolist()
    for number in (0, 127, 128, -128, -129, 255, -1):
        fewest = number.to_bytes(1 if -128 <= number < 128 else 2, "big", signed=True)
        wide = np.frombuffer(number.to_bytes(9, "big", signed=True), np.uint8).reshape(1, 9)
        assert hashes_of_bytes(pa.array([fewest], pa.binary())).tolist() == hashes_of_decimals(wide).tolist()


# -------------------------------------------------------------------------------------- a file in its partition

MICROSECONDS = timestamp("micros")
FLOORED = [-62_135_596_800_000_000, -86_400_000_001, -1, 0, 1, 3_599_999_999, 86_400_000_000, MOMENT]


def month(moment: int) -> int:
    at = EPOCH + dt.timedelta(microseconds=moment)
    return (at.year - 1970) * 12 + at.month - 1


CASES: list[tuple[str, str, str | Scalar, Any, Any, Any]] = [
    *(("timestamptz", "hour", MICROSECONDS, value, "int", value // 3_600_000_000) for value in FLOORED),
    *(("timestamptz", "day", MICROSECONDS, value, "int", value // 86_400_000_000) for value in FLOORED),
    *(("timestamptz", "month", MICROSECONDS, value, "int", month(value)) for value in FLOORED),
    *(("timestamptz", "year", MICROSECONDS, value, "int", month(value) // 12) for value in FLOORED),
    ("timestamp_ns", "day", timestamp("nanos", utc=False), -1, "int", -1),
    ("timestamp", "hour", timestamp("millis", utc=False), -1, "int", -1),
    ("date", "month", "date", -1, "int", -1),
    ("date", "year", "date", -366, "int", -2),
    ("date", "day", "date", -366, "int", -366),
    ("int", "truncate[10]", "int32", -1, "int", -10),
    ("long", "truncate[10]", "int64", -(1 << 63) + 8, "long", -(1 << 63) + 8),
    ("int", "truncate[3]", "int32", -(1 << 31), "int", (1 << 31) - 1),
    ("string", "truncate[3]", "string", "i\U0001F600éberg".encode(), "string", "i\U0001F600é"),
    ("binary", "truncate[3]", "binary", b"\1\2\3\4\5", "bytes", b"\1\2\3"),
    ("decimal(9, 2)", "truncate[50]", decimal(9, 2), 1065, "bytes", (1050).to_bytes(4, "big")),
    ("decimal(38, 2)", "truncate[50]", decimal(38, 2, Type.FIXED_LEN_BYTE_ARRAY, 16), (-1).to_bytes(16, "big", signed=True), "bytes", (-50).to_bytes(16, "big", signed=True)),
    ("decimal(38, 0)", "bucket[100]", decimal(38, 0, Type.FIXED_LEN_BYTE_ARRAY, 16), (1420).to_bytes(16, "big"), "int", (-500754589 & 0x7FFFFFFF) % 100),
    ("fixed[4]", "bucket[100]", fixed(4), b"\0\1\2\3", "int", (-188683207 & 0x7FFFFFFF) % 100),
    ("uuid", "identity", fixed(16), bytes(range(16)), "bytes", bytes(range(16))),
    ("uuid", "identity", fixed(16), bytes(16), {"type": "string", "logicalType": "uuid"}, str(uuid.UUID(int=0))),
    ("string", "bucket[100]", "string", b"iceberg", "int", 1210000089 % 100),
    ("double", "identity", "double", float("nan"), "double", float("nan")),
    ("boolean", "identity", "boolean", True, "boolean", True),
    ("string", "void", "string", b"x", "string", None),
]  # fmt: skip


def table_of(folder: Path, case: tuple[str, str, Any, Any, Any, Any], value: Any) -> Path:
    """A table of one file whose rows all have the value of a case, listed in a partition."""
    kind, transform, stored, held, avro, _ = case
    data = TinyParquet((Column("x", stored, [held] * 3, field_id=1),)).build()
    entries = [files.entry(files.data_file("data/p.parquet", data, 3, {"part": value}, split_offsets=None))]
    columns = [{"id": 1, "name": "x", "required": False, "type": kind}]
    spec = [{"source-id": 1, "field-id": 1000, "name": "part", "transform": transform}]
    manifest = files.manifest(entries, [(1000, "part", avro)], columns=columns, partitioned_by=spec)
    contents = {
        files.METADATA: files.metadata(columns, spec, rows=3),
        files.LIST: files.manifest_list([files.listed(files.MANIFEST, manifest, entries)]),
        files.MANIFEST: manifest,
        "data/p.parquet": data,
    }
    for name, raw in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    return folder


def another(value: Any) -> Any:
    if isinstance(value, bytes):
        return value[:-1] + bytes([value[-1] ^ 1])
    if isinstance(value, str):
        return f"{value}!"
    return not value if isinstance(value, bool) else 7.0 if isinstance(value, float) else value + 1


@pytest.mark.parametrize("case", CASES, ids=[f"{kind} {transform} {value!r}"[:50] for kind, transform, _, value, _, _ in CASES])  # fmt: skip
def test_a_row_has_the_partition_value_of_its_transform(tmp_path: Path, case: Any) -> None:
    right = case[-1]
    report = pqassay.check(table_of(tmp_path / "good", case, right), tier="values")
    data = report.files[-1]
    assert ("p.parquet", [], []) == (Path(data.path).name, data.findings, data.gaps)
    if right is None:
        return
    turn = CASES.index(case) % 2
    for number, wrong in enumerate(
        (another(right), None) if EXAMPLES == 1 else (another(right), None)[turn:][:1]
    ):
        report = pqassay.check(table_of(tmp_path / str(number), case, wrong), tier="values")
        found = [finding.rule for file in report.files for finding in file.findings]
        assert ["ICE-043"] == [rule for rule in found if rule != "ICE-075"]  # nanoseconds are of version 3


@pytest.mark.parametrize(
    "transform", ["truncate[5x]", "truncate", "bucket[]", "bucket[99999999999]", "decade"]
)
def test_a_transform_that_is_not_known_is_not_judged(tmp_path: Path, transform: str) -> None:
    case = ("decimal(9, 2)", transform, decimal(9, 2), 1065, "int", 7)
    data = pqassay.check(table_of(tmp_path, case, 7), tier="values").files[-1]
    assert [] == data.findings
    assert ["ICE-043"] == [rule for gap in data.gaps if transform in gap.reason for rule in gap.rules]
