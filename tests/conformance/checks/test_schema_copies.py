"""Copies of the schema: what writers write is right, and what contradicts it is found, beside the golden cases."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from each import each
from idx1_files import edited
from pqassay.report.coverage import unchecked
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_spec.parquet.thrift import FileMetaData, GeographyType, GeometryType, KeyValue, LogicalType

ARROW, SPARK, PANDAS, GEO = ("ARROW:schema", "org.apache.spark.sql.parquet.row.metadata", "pandas", "geo")
RULES = frozenset(f"PQF-{number}" for number in range(111, 125))


def written(table: pa.Table, **options: Any) -> bytes:
    """A table as pyarrow writes it."""
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def with_key(data: bytes, key: str, value: str) -> bytes:
    """The file with another value for a key."""

    def change(footer: FileMetaData) -> None:
        others = [pair for pair in footer.key_value_metadata or [] if pair.key != key]
        footer.key_value_metadata = [*others, KeyValue(key=key, value=value)]

    return edited(data, change)


def with_types(data: bytes, *fields: tuple[str, pa.DataType]) -> bytes:
    """The file with another schema for Arrow."""
    return with_key(data, ARROW, base64.b64encode(pa.schema(fields).serialize().to_pybytes()).decode())


def found(data: bytes) -> list[str]:
    """The rules of copies and names that are broken."""
    report = pqassay.check(data, tier="footer")
    findings = report.files[0].findings
    return sorted({rule for finding in findings for rule in (finding.rule, *finding.also)} & RULES)


COLUMN = {
    "i": pa.array([1, 2]),
    "s": pa.array(["a", "b"]),
    "t": pa.array([1, 2], pa.timestamp("us")),
    "d": pa.array([1, 2], pa.decimal128(12, 2)),
    "g": pa.array([{"a": 1, "b": 2}] * 2),
    "l": pa.array([[1], [2]]),
    "m": pa.array([[("k", 1)]] * 2, pa.map_(pa.string(), pa.int64())),
}

TYPES: list[tuple[str, pa.DataType, list[str]]] = [
    ("i", pa.duration("s"), []),
    ("i", pa.timestamp("s"), []),
    ("i", pa.timestamp("us"), ["PQF-113"]),
    ("i", pa.time64("us"), ["PQF-113"]),
    ("i", pa.uint64(), []),
    ("i", pa.string(), ["PQF-114"]),
    ("i", pa.list_(pa.int64()), ["PQF-114"]),
    ("i", pa.dictionary(pa.int8(), pa.int64()), []),
    ("i", pa.run_end_encoded(pa.int32(), pa.string()), ["PQF-114"]),
    ("s", pa.large_string(), []),
    ("s", pa.binary(), ["PQF-113"]),
    ("t", pa.timestamp("s"), []),
    ("t", pa.timestamp("us", "UTC"), ["PQF-113"]),
    ("t", pa.timestamp("ns", "UTC"), ["PQF-114"]),
    ("t", pa.int64(), ["PQF-114"]),
    ("d", pa.decimal64(12, 2), []),
    ("d", pa.decimal128(12, 3), ["PQF-114"]),
    ("d", pa.decimal256(40, 3), ["PQF-113"]),
    ("d", pa.decimal32(9, 2), ["PQF-113"]),
    ("g", pa.struct([("a", pa.int64()), ("b", pa.duration("s"))]), []),
    ("g", pa.struct([("b", pa.int64()), ("a", pa.int64())]), ["PQF-112"]),
    ("g", pa.struct([("a", pa.int64())]), ["PQF-112"]),
    ("g", pa.list_(pa.int64()), ["PQF-112"]),
    ("l", pa.list_(pa.field("whatever", pa.int64())), []),
    ("l", pa.large_list(pa.int64()), []),
    ("l", pa.list_(pa.string()), ["PQF-114"]),
    ("l", pa.map_(pa.string(), pa.int64()), ["PQF-112"]),
    ("m", pa.map_(pa.string(), pa.timestamp("us")), ["PQF-113"]),
    ("m", pa.list_(pa.struct([("key", pa.string()), ("value", pa.int64())])), ["PQF-112"]),
]


@each(("column", "kind", "rules"), TYPES)
def test_types_of_arrow(column: str, kind: pa.DataType, rules: list[str]) -> None:
    data = written(pa.table({column: COLUMN[column]}))
    assert [] == found(data)
    assert rules == found(with_types(data, (column, kind)))


def test_a_copy_that_was_sound_in_one_schema_is_judged_in_another() -> None:
    data = written(pa.table({"i": COLUMN["i"]}))

    def change(footer: FileMetaData) -> None:
        footer.schema[1].name = "j"

    other = edited(data, change)
    assert [[], []] == [found(data), found(data)]
    assert ["PQF-112"] == found(other)
    assert [] == found(data)


def spark(*fields: tuple[str, Any]) -> str:
    """A schema as Spark keeps it."""
    members: list[dict[str, Any]] = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in fields
    ]
    return json.dumps({"type": "struct", "fields": members})


def array(kind: Any) -> dict[str, Any]:
    """A list of Spark."""
    return {"type": "array", "elementType": kind, "containsNull": True}


SPARK_TYPES: list[tuple[str, Any, list[str]]] = [
    ("i", "long", []),
    ("i", "interval day to second", []),
    ("i", "integer", ["PQF-117"]),
    ("i", "of a later version", []),
    ("i", {"type": "udt", "class": "a.B"}, []),
    ("s", "varchar(10)", []),
    ("s", "string", []),
    ("s", "date", ["PQF-117"]),
    ("t", "timestamp_ntz", []),
    ("t", "timestamp", ["PQF-117"]),
    ("d", "decimal(12,2)", []),
    ("d", "decimal(18,2)", []),
    ("d", "decimal(18,3)", ["PQF-117"]),
    ("d", "long", ["PQF-117"]),
    ("g", json.loads(spark(("A", "long"), ("b", "long"))), []),
    ("g", json.loads(spark(("a", "long"))), ["PQF-116"]),
    ("g", "string", ["PQF-117"]),
    ("l", array("long"), []),
    ("l", array("short"), ["PQF-117"]),
    ("m", {"type": "map", "keyType": "string", "valueType": "long"}, []),
    ("m", {"type": "map", "keyType": "string", "valueType": "short"}, ["PQF-117"]),
    ("l", {"type": "map", "keyType": "string", "valueType": "long"}, ["PQF-117"]),
    ("l", {}, ["PQF-115"]),
]


@each(("column", "kind", "rules"), SPARK_TYPES)
def test_types_of_spark(column: str, kind: Any, rules: list[str]) -> None:
    data = written(pa.table({column: COLUMN[column]}))
    assert rules == found(with_key(data, SPARK, spark((column, kind))))


def test_columns_that_differ_in_case_alone_are_two() -> None:
    data = written(pa.table({"a": COLUMN["i"], "A": COLUMN["i"]}))
    assert [] == found(with_key(data, SPARK, spark(("A", "long"), ("a", "long"))))
    assert ["PQF-116"] == found(with_key(data, SPARK, spark(("a", "long"), ("a", "long"))))


RANGE: dict[str, Any] = {"kind": "range", "name": None, "start": 0, "stop": 2, "step": 1}

FRAMES: list[tuple[Any, list[str]]] = [
    ({"index_columns": [RANGE], "columns": []}, []),
    ({"index_columns": [RANGE | {"step": 0}], "columns": []}, ["PQF-118"]),
    ({"index_columns": [RANGE | {"start": "0"}], "columns": []}, ["PQF-118"]),
    ({"index_columns": [7], "columns": []}, ["PQF-118"]),
    ({"index_columns": [], "columns": [7]}, ["PQF-118"]),
    ({"index_columns": [], "columns": [{"name": "i", "pandas_type": "int64"}]}, ["PQF-118"]),
    ({"columns": []}, ["PQF-118"]),
    ([], ["PQF-118"]),
]


@each(("frame", "rules"), FRAMES)
def test_frames_of_pandas(frame: Any, rules: list[str]) -> None:
    data = written(pa.table({"i": COLUMN["i"]}))
    assert rules == found(with_key(data, PANDAS, json.dumps(frame)))


POINTS: dict[str, Any] = {"encoding": "WKB", "geometry_types": []}
DOCUMENT: dict[str, Any] = {"version": "1.1.0", "primary_column": "s", "columns": {"s": POINTS}}

DOCUMENTS: list[tuple[Any, list[str]]] = [
    (DOCUMENT, []),
    (DOCUMENT | {"version": 1}, ["PQF-120"]),
    (DOCUMENT | {"columns": {"s": 1}}, ["PQF-120"]),
    (DOCUMENT | {"columns": {"s": POINTS | {"crs": "EPSG:4326"}}}, ["PQF-120"]),
    (DOCUMENT | {"columns": {"s": POINTS | {"crs": None}}}, []),
    (DOCUMENT | {"columns": {"s": POINTS | {"encoding": "point"}}}, ["PQF-121"]),
    (DOCUMENT | {"columns": {"s": POINTS | {"bbox": [1, 2, 3]}}}, ["PQF-121"]),
    (DOCUMENT | {"columns": {"s": POINTS | {"bbox": [170, 0, -170, 1]}}}, []),
    (DOCUMENT | {"columns": {"s": POINTS | {"bbox": [0, 1, 1, 0]}}}, ["PQF-121"]),
    (DOCUMENT | {"primary_column": "other"}, ["PQF-121"]),
    *((DOCUMENT | {"columns": {"s": POINTS | {name: 5}}}, ["PQF-120"]) for name in ("edges", "orientation")),
    *(
        (DOCUMENT | {"columns": {"s": POINTS | {"epoch": epoch}}}, ["PQF-120"])
        for epoch in ("2020", True, float("nan"))
    ),
    (DOCUMENT | {"columns": {"s": POINTS | {"geometry_types": [1]}}}, ["PQF-120"]),
    (DOCUMENT | {"columns": {"s": POINTS | {"edges": None, "orientation": None, "epoch": None}}}, []),
    (
        DOCUMENT
        | {
            "columns": {
                "s": POINTS | {"edges": "spherical", "orientation": "counterclockwise", "epoch": 2020.5}
            }
        },
        [],
    ),
]


@each(("document", "rules"), DOCUMENTS)
def test_documents_of_geoparquet(document: Any, rules: list[str]) -> None:
    data = written(pa.table({"s": COLUMN["s"]}))
    assert rules == found(with_key(data, GEO, json.dumps(document)))


def test_what_a_later_geoparquet_may_define_is_not_checked_and_each_of_it_is_named() -> None:
    described = POINTS | {
        "edges": "karney",
        "orientation": "clockwise",
        "geometry_types": ["Point", "Circle Z"],
    }
    data = with_key(
        written(pa.table({"s": COLUMN["s"]})), GEO, json.dumps(DOCUMENT | {"columns": {"s": described}})
    )
    report = pqassay.check(data, tier="footer")
    (gap,) = report.files[0].gaps
    assert (["PQF-121"], ["s"]) == (gap.rules, gap.columns)
    unknown = ["edges 'karney'", "orientation 'clockwise'", "geometry type 'Circle Z'"]
    reasons = [why.reason for why in unchecked(report) if why.rules == ["PQF-121"]]
    wording = "geo: column 's' has {}, which is unknown, possibly from a later version of GeoParquet"
    assert sorted(map(wording.format, unknown)) == reasons


@pytest.mark.parametrize(
    ("kind", "edges", "rules"),
    [
        (LogicalType(GEOMETRY=GeometryType()), "spherical", {"PQF-121"}),
        (LogicalType(GEOGRAPHY=GeographyType()), "planar", {"PQF-121"}),
        (LogicalType(GEOMETRY=GeometryType()), "planar", set()),
        (LogicalType(GEOGRAPHY=GeographyType()), "spherical", set()),
    ],
)
def test_edges_are_those_of_the_type(kind: LogicalType, edges: str, rules: set[str]) -> None:
    document = DOCUMENT | {"columns": {"s": POINTS | {"edges": edges}}}

    def change(metadata: FileMetaData) -> None:
        metadata.schema[1].logicalType, metadata.schema[1].converted_type = kind, None

    data = edited(with_key(written(pa.table({"s": COLUMN["s"]})), GEO, json.dumps(document)), change)
    findings = pqassay.check(data, tier="footer", only=["PQF-12?"]).files[0].findings
    assert rules == {finding.rule for finding in findings}


@pytest.mark.parametrize("key", [ARROW, SPARK, PANDAS, GEO])
@pytest.mark.parametrize("value", ["", "\0", "\udcff", "[" * 100_000, "1" * 100_000, "null", '{"fields": 1}'])
def test_no_value_raises(key: str, value: str) -> None:
    report = pqassay.check(with_key(written(pa.table({"i": COLUMN["i"]})), key, value), tier="footer")
    assert "errored" != report.files[0].outcome
    assert 1 == len({finding.rule for finding in report.files[0].findings} & RULES)


def test_a_value_that_is_too_long_is_not_read() -> None:
    report = pqassay.check(
        with_key(written(pa.table({"i": COLUMN["i"]})), GEO, "[" * (1 << 24) + "["), tier="footer"
    )
    assert [] == report.files[0].findings


def with_ids(data: bytes, first: int, second: int) -> bytes:
    """The file with ids for two columns."""

    def change(footer: FileMetaData) -> None:
        footer.schema[1].field_id, footer.schema[2].field_id = first, second

    return edited(data, change)


@pytest.mark.parametrize(
    ("first", "second", "rules"), [(1, 2, []), (1, 1, ["PQF-123"]), (0, 0, []), (-1, -1, [])]
)
def test_ids_that_say_nothing_may_be_equal(first: int, second: int, rules: list[str]) -> None:
    data = TinyParquet((Column("a", "int64", [1]), Column("b", "int64", [1]))).build()
    assert rules == found(with_ids(data, first, second))
