"""Data files beside the schema of their table: types, names and ids that are as they may be, and others."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.report.model import Finding
from pqassay_golden.delta.table import INFO, Json, add, commit, compact, lines, metadata
from pqassay_golden.iceberg.files import (
    LIST,
    MANIFEST,
    METADATA,
    data_file,
    entry,
    listed,
    manifest,
    manifest_list,
)
from pqassay_golden.iceberg.files import metadata as iceberg_metadata
from pqassay_golden.iceberg.schemas import one_file
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.iceberg import NAME_MAPPING

UTC = dt.UTC


def findings(folder: Path, files: Mapping[str, bytes]) -> list[Finding]:
    """What is found in a table, which is written to a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    report = pqassay.check(folder, tier="values")
    assert [] == [file.error for file in report.files if file.error]
    return [finding for file in report.files for finding in file.findings if finding.verdict != "INFO"]


def made(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """The rules that a table breaks."""
    return sorted({finding.rule for finding in findings(folder, files)})


Kinds = list[tuple[str, pa.DataType, list[str]]]
"""Types of columns, those as which they are stored, and the rules that this breaks."""


def of_delta(folder: Path, kinds: Kinds, *features: str) -> list[tuple[str | None, str]]:
    """The columns of tables that have one of each kind, and the rules that they break: where one is worse, others are not judged."""
    found: list[tuple[str | None, str]] = []
    for rule in ("DLT-066", "DLT-071"):
        chosen = {f"c{number}": one for number, one in enumerate(kinds) if one[2] in ([], [rule])}
        data = stored(pa.table({name: column(held) for name, (_, held, _) in chosen.items()}))
        fields = [field(name, kind) for name, (kind, _, _) in chosen.items()]
        found += [
            (one.column, one.rule) for one in findings(folder / rule, delta_files(fields, data, *features))
        ]
    return sorted(found)


def expected(kinds: Kinds) -> list[tuple[str | None, str]]:
    return sorted((f"c{number}", rule) for number, (_, _, rules) in enumerate(kinds) for rule in rules)


def stored(table: pa.Table, **options: Any) -> bytes:
    data = BytesIO()
    pq.write_table(table, data, store_schema=False, **options)
    return data.getvalue()


def field(name: str, kind: Any, *, nullable: bool = True, **about: Any) -> Json:
    return {"name": name, "type": kind, "nullable": nullable, "metadata": {f"delta.columnMapping.{key}": value for key, value in about.items()}}  # fmt: skip


def struct(*fields: Json) -> Json:
    return {"type": "struct", "fields": list(fields)}


def array(element: Any) -> Json:
    return {"type": "array", "elementType": element, "containsNull": True}


def delta(
    folder: Path, fields: Json | list[Json], data: bytes, *features: str, partition: Mapping[str, str] | None = None, **properties: str
) -> list[str]:  # fmt: skip
    """The rules that a table of one file breaks."""
    return made(folder, delta_files(fields, data, *features, partition=partition, **properties))


def delta_files(
    fields: Json | list[Json], data: bytes, *features: str, partition: Mapping[str, str] | None = None, **properties: str
) -> dict[str, bytes]:  # fmt: skip
    """A table of one file."""
    schema = struct(*fields) if isinstance(fields, list) else fields
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": list(features), "writerFeatures": list(features)}  # fmt: skip
    plain = {"minReaderVersion": 1, "minWriterVersion": 2}
    described = metadata(compact(schema), tuple(partition or ()), **properties)
    added = add("part-0.parquet", data, None, partition)
    log = lines(INFO, {"protocol": protocol if features else plain}, described, added)
    return {commit(0): log, "part-0.parquet": data}


def column(kind: pa.DataType) -> pa.Array[Any]:
    """Two values of a type, one of which is null."""
    samples: list[tuple[Any, Any]] = [
        (pa.types.is_decimal, Decimal(1)),
        (pa.types.is_temporal, dt.datetime(2020, 1, 1, tzinfo=UTC) if pa.types.is_timestamp(kind) else dt.date(2020, 1, 1)),
        (pa.types.is_fixed_size_binary, b"abcd"),
        (pa.types.is_binary, b"ab"),
        (pa.types.is_string, "ab"),
        (pa.types.is_boolean, True),
        (pa.types.is_null, None),
    ]  # fmt: skip
    value = next((sample for test, sample in samples if test(kind)), 1)
    return pa.array([value, None], kind)


STORED: Kinds = [
    ("long", pa.int64(), []),
    ("long", pa.int32(), ["DLT-071"]),
    ("long", pa.uint16(), ["DLT-071"]),
    ("long", pa.string(), ["DLT-066"]),
    ("integer", pa.int64(), ["DLT-066"]),
    ("integer", pa.uint64(), ["DLT-066"]),
    ("integer", pa.date32(), ["DLT-066"]),
    ("short", pa.int8(), []),
    ("byte", pa.int32(), ["DLT-071"]),
    ("byte", pa.int8(), []),
    ("double", pa.float32(), ["DLT-071"]),
    ("double", pa.float16(), ["DLT-071"]),
    ("double", pa.int32(), ["DLT-066"]),
    ("float", pa.float64(), ["DLT-066"]),
    ("decimal(9,2)", pa.decimal128(9, 2), []),
    ("decimal(9,2)", pa.decimal128(7, 2), ["DLT-071"]),
    ("decimal(9,2)", pa.decimal128(9, 1), ["DLT-066"]),
    ("decimal(9,2)", pa.decimal128(12, 2), ["DLT-066"]),
    ("decimal(9,2)", pa.int32(), ["DLT-066"]),
    ("date", pa.date32(), []),
    ("date", pa.int32(), ["DLT-066"]),
    ("timestamp", pa.timestamp("us", "UTC"), []),
    ("timestamp", pa.timestamp("ms", "UTC"), []),
    ("timestamp", pa.timestamp("ns", "UTC"), ["DLT-071"]),
    ("timestamp", pa.timestamp("us"), ["DLT-071"]),
    ("timestamp", pa.int64(), ["DLT-066"]),
    ("string", pa.binary(), []),
    ("string", pa.binary(4), ["DLT-066"]),
    ("string", pa.null(), []),
    ("binary", pa.string(), ["DLT-071"]),
    ("binary", pa.binary(4), ["DLT-071"]),
    ("boolean", pa.bool_(), []),
    ("boolean", pa.int32(), ["DLT-066"]),
]
"""Types of Delta."""


def test_a_type_of_delta_is_stored_as_it_may_be(tmp_path: Path) -> None:
    assert expected(STORED) == of_delta(tmp_path, STORED)


def test_a_type_of_a_later_version_is_none(tmp_path: Path) -> None:
    data = stored(pa.table({"n": column(pa.int32())}))
    assert ["DLT-054"] == delta(tmp_path, [field("n", "int of a later version")], data)


def test_features_that_are_drafts_are_named(tmp_path: Path) -> None:
    data = stored(pa.table({"n": column(pa.int64())}))
    assert [] == delta(
        tmp_path, [field("n", "long")], data, "timestampNanos", "voidType", "timestampNtz", "other"
    )
    notes = [note for file in pqassay.check(tmp_path).files for note in file.notes if "features" in note]

    assert ["other"] == [note.rpartition(": ")[2] for note in notes if "does not know" in note]
    (drafts,) = [note for note in notes if "draft reader features" in note]
    assert ["timestampNanos", "voidType"] == [
        word for word in drafts.split() if word.isalpha() and not word.islower()
    ]


def test_old_timestamps_of_delta_are_right(tmp_path: Path) -> None:
    data = stored(pa.table({"n": column(pa.timestamp("us"))}), use_deprecated_int96_timestamps=True)
    assert [] == delta(tmp_path, [field("n", "timestamp")], data)


WIDENED: Kinds = [
    ("long", pa.int32(), []),
    ("double", pa.int32(), []),
    ("double", pa.float32(), []),
    ("decimal(12,2)", pa.int32(), []),
    ("decimal(9,3)", pa.decimal128(8, 2), []),
    ("decimal(9,3)", pa.decimal128(9, 2), ["DLT-066"]),
    ("timestamp_ntz", pa.date32(), []),
    ("timestamp", pa.date32(), ["DLT-066"]),
    ("integer", pa.int64(), ["DLT-066"]),
    ("long", pa.uint16(), ["DLT-071"]),
]


def test_a_type_of_delta_may_have_been_widened(tmp_path: Path) -> None:
    assert expected(WIDENED) == of_delta(tmp_path, WIDENED, "typeWidening", "timestampNtz")


DEEP = pa.array([{"tags": [{"n": 1}], "sizes": [("a", [2])]}], pa.struct([("tags", pa.list_(pa.struct([("n", pa.int64())]))), ("sizes", pa.map_(pa.string(), pa.list_(pa.int32())))]))  # fmt: skip


def deep(n: Any = "long", name: str = "n", size: Any = "integer") -> list[Json]:
    sizes = {"type": "map", "keyType": "string", "valueType": array(size), "valueContainsNull": True}
    return [field("all", struct(field("tags", array(struct(field(name, n)))), field("sizes", sizes)))]


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        (deep(), []),
        (deep(n="string"), ["DLT-066"]),
        (deep(size="boolean"), ["DLT-066"]),
        (deep(size=struct(field("x", "long"))), ["DLT-066"]),
        (deep(name="N"), ["DLT-068"]),
        ([field("all", array("long"))], ["DLT-066"]),
        ([field("all", struct(field("tags", "string")))], ["DLT-066"]),
        ([field("all", struct(field("other", "string")))], ["DLT-069"]),
        ([field("all", struct(field("tags", {"type": "array"}), field("sizes", array({"type": 7}))))], ["DLT-066"]),
        ([field("all", "variant")], []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_compliant", [True, False])
def test_what_is_in_structs_lists_and_maps_of_delta_is_compared(
    tmp_path: Path, fields: list[Json], broken: list[str], is_compliant: bool
) -> None:
    data = stored(pa.table({"all": DEEP}), use_compliant_nested_type=is_compliant)
    known = [rule for rule in delta(tmp_path, fields, data) if rule not in ("DLT-054", "DLT-058")]
    assert broken == known


ONE = pa.table({"a": pa.array([1, 2])})
WITH_ID = pa.table({"a": pa.array([1, 2])}, schema=pa.schema([pa.field("a", pa.int64(), metadata={"PARQUET:field_id": "3"})]))  # fmt: skip
NAMED, NUMBERED = ({"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "5"} for mode in ("name", "id"))  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "table", "properties", "broken"),
    [
        ([field("b", "long", physicalName="a", id=3)], ONE, NAMED, []),
        ([field("b", "string", physicalName="a", id=3)], ONE, NAMED, ["DLT-066"]),
        ([field("a", "long", physicalName="b", id=4)], ONE, NAMED, ["DLT-069"]),
        ([field("a", "long", physicalName="b", id=4)], WITH_ID, NAMED, []),  # it was dropped, and added again
        ([field("b", "long", physicalName="x", id=3)], WITH_ID, NUMBERED, []),
        ([field("b", "string", physicalName="x", id=3)], WITH_ID, NUMBERED, ["DLT-066"]),
        ([field("a", "long", physicalName="a", id=4)], WITH_ID, NUMBERED, []),
        ([field("a", "long", physicalName="a", id=9)], WITH_ID, {**NUMBERED, "delta.columnMapping.maxColumnId": "2"}, ["DLT-069"]),
        ([field("a", "long", physicalName="a", id=3)], ONE, NUMBERED, ["DLT-069"]),
    ],
)  # fmt: skip
def test_columns_of_delta_are_looked_for_as_their_table_says(
    tmp_path: Path, fields: list[Json], table: pa.Table, properties: dict[str, str], broken: list[str]
) -> None:
    assert broken == delta(tmp_path, fields, stored(table), "columnMapping", partition=None, **properties)


@pytest.mark.parametrize(
    ("fields", "table", "broken"),
    [
        ([field("a", "long"), field("b", "long", nullable=False)], ONE, ["DLT-067"]),
        ([field("a", "long"), field("b", "long", nullable=False)], ONE.slice(0, 0), []),
        ([field("a", "long"), field("b", struct(field("c", "long")), nullable=False)], ONE, ["DLT-067"]),
        ([field("a", "long"), field("b", struct(field("c", "long", nullable=False)))], ONE, []),
        ([field("a", "long", nullable=False), field("z", "long")], ONE, []),
        ([field("z", "long")], ONE, ["DLT-069"]),
        ([field("z", "long")], ONE.slice(0, 0), []),
        ([field("A", "long", nullable=False)], ONE, ["DLT-068"]),
    ],
)
def test_columns_of_delta_may_be_absent_where_they_may_be_null(
    tmp_path: Path, fields: list[Json], table: pa.Table, broken: list[str]
) -> None:
    assert broken == delta(tmp_path, fields, stored(table))


def test_a_partition_column_that_is_stored_with_another_type_is_no_more_than_strange(tmp_path: Path) -> None:
    fields = [field("a", "long"), field("year", "integer", nullable=False)]
    data = stored(pa.table({"a": [1], "year": ["2024"]}))
    assert ["DLT-071"] == delta(tmp_path, fields, data, partition={"year": "2024"})


def test_a_partition_column_need_not_be_stored(tmp_path: Path) -> None:
    fields = [field("a", "long"), field("year", "integer", nullable=False)]
    assert [] == delta(tmp_path, fields, stored(pa.table({"a": [1]})), partition={"year": "2024"})


# ------------------------------------------------------------------------------------------------------------- Iceberg


def numbered(kind: pa.DataType, number: int | None = 1, name: str = "n") -> pa.Table:
    about = None if number is None else {"PARQUET:field_id": str(number)}
    return pa.table([column(kind)], schema=pa.schema([pa.field(name, kind, metadata=about)]))


def iceberg(
    folder: Path, columns: list[Json], table: pa.Table, *, version: int = 2, **more: Any
) -> list[str]:
    """The rules that a table of one file breaks."""
    rows = {"first": 0, "next_row_id": len(table)} if version == 3 else {}
    data = stored(table)
    return made(
        folder, one_file(columns, data, len(table), version=version, **rows, **{"last_column_id": 9, **more})
    )


def of_type(kind: Any, *, required: bool = False, **more: Any) -> Json:
    return {"id": 1, "name": "n", "required": required, "type": kind, **more}


@pytest.mark.parametrize(
    ("kind", "held", "version", "broken"),
    [
        ("int", pa.int32(), 2, []),
        ("int", pa.int16(), 2, []),
        ("int", pa.int64(), 2, ["ICE-094"]),
        ("long", pa.int32(), 2, []),
        ("long", pa.float64(), 2, ["ICE-094"]),
        ("long", pa.uint32(), 2, ["ICE-104"]),
        ("double", pa.float32(), 1, []),
        ("double", pa.float16(), 1, ["ICE-104"]),
        ("double", pa.int32(), 2, ["ICE-094"]),
        ("float", pa.float64(), 2, ["ICE-094"]),
        ("decimal(9, 2)", pa.decimal128(5, 2), 2, []),
        ("decimal(9, 2)", pa.decimal128(5, 1), 2, ["ICE-094"]),
        ("decimal(9, 2)", pa.decimal128(12, 2), 2, ["ICE-094"]),
        ("timestamp", pa.timestamp("us"), 2, []),
        ("timestamp", pa.timestamp("us", "UTC"), 2, ["ICE-104"]),
        ("timestamptz", pa.timestamp("us", "UTC"), 2, []),
        ("timestamp", pa.timestamp("ns"), 2, ["ICE-104"]),
        ("timestamp", pa.date32(), 2, ["ICE-094"]),
        ("timestamp", pa.date32(), 3, []),
        ("timestamp_ns", pa.date32(), 3, []),
        ("timestamptz", pa.date32(), 3, ["ICE-094"]),
        ("string", pa.binary(), 2, []),
        ("binary", pa.string(), 2, ["ICE-104"]),
        ("fixed[4]", pa.binary(4), 2, []),
        ("fixed[5]", pa.binary(4), 2, ["ICE-094"]),
        ("uuid", pa.binary(4), 2, ["ICE-094"]),
        ("boolean", pa.bool_(), 2, []),
        ("date", pa.timestamp("us"), 2, ["ICE-094"]),
        ("unknown", pa.null(), 3, []),
    ],
)
def test_a_type_of_iceberg_is_stored_as_it_may_be(
    tmp_path: Path, kind: str, held: pa.DataType, version: int, broken: list[str]
) -> None:
    assert broken == iceberg(tmp_path, [of_type(kind)], numbered(held), version=version)


MAPPING = {"properties": {NAME_MAPPING: json.dumps([{"field-id": 1, "names": ["old", "n"]}])}}
SECOND = {"id": 2, "name": "m", "required": False, "type": "string"}


@pytest.mark.parametrize(
    ("columns", "table", "more", "broken"),
    [
        ([of_type("int")], numbered(pa.int32(), None), {}, ["ICE-096"]),
        ([of_type("int")], numbered(pa.int32(), None).slice(0, 0), {}, []),
        ([of_type("int")], numbered(pa.int32(), None), MAPPING, []),
        ([of_type("string")], numbered(pa.int32(), None), MAPPING, ["ICE-094"]),
        ([of_type("int")], numbered(pa.int32(), None, "other"), MAPPING, ["ICE-096"]),
        ([of_type("int", required=True)], numbered(pa.int32(), None), {}, ["ICE-095"]),
        ([of_type("int", required=True)], numbered(pa.int32(), None), MAPPING, []),
        ([of_type("int")], numbered(pa.int32(), 7), {}, []),  # a column that was dropped
        ([of_type("int")], numbered(pa.int32(), 12), {}, ["ICE-096"]),
        ([of_type("int", required=True)], numbered(pa.int32(), 7), {}, ["ICE-095"]),
        ([of_type("int", required=True, **{"initial-default": 5})], numbered(pa.int32(), 7), {"version": 3}, []),
        ([of_type("int"), SECOND], numbered(pa.int32()), {}, []),
        ([of_type("int"), {**SECOND, "required": True}], numbered(pa.int32()), {}, ["ICE-095"]),
        ([{**SECOND, "id": 1}], numbered(pa.string(), 1, "renamed"), {}, []),
    ],
)  # fmt: skip
def test_columns_of_iceberg_are_looked_for_by_ids_then_by_names(
    tmp_path: Path, columns: list[Json], table: pa.Table, more: dict[str, Any], broken: list[str]
) -> None:
    assert broken == iceberg(tmp_path, columns, table, **more)


ROW_ID = 2_147_483_540


@pytest.mark.parametrize(
    ("ids", "first", "following", "broken"),
    [
        ([5, 6, None], 0, 9, []),
        ([5, 5, 6], 0, 9, ["ICE-102"]),
        ([None, None, 1], 0, 9, ["ICE-102"]),
        ([-1, 2, 3], 0, 9, ["ICE-101"]),
        ([5, 6, 9], 0, 9, ["ICE-101"]),
        ([None, None, None], 0, 9, []),
        ([3, 2, 1], 0, 9, []),
        ([3, None, 1], None, 9, ["ICE-099"]),
    ],
)
@pytest.mark.parametrize("in_group", [1, 2, 3])
def test_stored_row_ids_are_those_of_one_row_each(
    tmp_path: Path, ids: list[int | None], first: int | None, following: int, broken: list[str], in_group: int
) -> None:
    about = [("n", pa.int64(), "1"), ("_row_id", pa.int64(), str(ROW_ID))]
    schema = pa.schema([pa.field(name, kind, metadata={"PARQUET:field_id": number}) for name, kind, number in about])  # fmt: skip
    data = stored(pa.table({"n": [1, 2, 3], "_row_id": ids}, schema=schema), row_group_size=in_group)
    files = one_file([of_type("long")], data, 3, version=3, first=first, next_row_id=following)
    assert broken == made(tmp_path, files)


# ------------------------------------------------------------------------------------------- one damage, one finding


@pytest.mark.parametrize(
    ("case", "rule"), [("dlt/bounds-inverted", "DLT-012"), ("ice/bounds-inverted", "ICE-017")]
)
def test_bounds_that_changed_places_are_one_finding(case: str, rule: str) -> None:
    report = pqassay.check(GOLDEN_FILES / case / "table", tier="values")
    assert [rule] == [finding.rule for file in report.files for finding in file.findings]


COMMIT, LATER = (f"_delta_log/{version:020}.json" for version in (0, 1))
CHECKPOINT = "_delta_log/00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"


@pytest.mark.parametrize(
    ("table", "mutation", "also"),
    [
        ("partitioned", TableMutation(file=LATER, op="remove", line=1, path="add.partitionValues"), ["DLT-016", "DLT-056"]),
        ("deleted", TableMutation(file=COMMIT, op="remove", line=1, path="protocol.readerFeatures"), ["DLT-057", "DLT-058"]),
        ("beside-its-log", TableMutation(file=CHECKPOINT, op="remove", line=1, path="protocol.readerFeatures"), ["DLT-044", "DLT-057", "DLT-058"]),
        ("beside-its-log", TableMutation(file=CHECKPOINT, op="set", line=1, path="protocol.minWriterVersion", to=2), ["DLT-044", "DLT-057"]),
        ("beside-its-log", TableMutation(file=CHECKPOINT, op="remove", line=2, path="metaData.format"), ["DLT-044", "DLT-056"]),
        ("beside-its-log", TableMutation(file=CHECKPOINT, op="set", line=2, path="metaData.schemaString.fields.[1].type", to="date"), ["DLT-044", "DLT-017"]),
        ("beside-its-log", TableMutation(file=CHECKPOINT, op="set", line=2, path="metaData.schemaString.fields.[0].type", to="date"), ["DLT-044", "DLT-010"]),
    ],
)  # fmt: skip
def test_one_damage_of_a_log_is_one_finding(
    tmp_path: Path, table: str, mutation: TableMutation, also: list[str]
) -> None:
    folder = GOLDEN_FILES / "dlt" / table / "table"
    good = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    for name, data in {**good, **mutation.applied(good)}.items():
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_bytes(data)
    report = pqassay.check(tmp_path / "t", tier="meta")

    assert [also] == [[finding.rule, *finding.also] for file in report.files for finding in file.findings]


@pytest.mark.parametrize("path", ["file:/warehouse/metals/data/part-0.parquet", "/warehouse/metals/data/part-0.parquet"])  # fmt: skip
def test_a_file_that_is_named_in_two_ways_is_live_twice(tmp_path: Path, path: str) -> None:
    data = stored(numbered(pa.int32()))
    entries = [entry(data_file("data/part-0.parquet", data, 2)), entry(data_file("data/part-0.parquet", data, 2, file_path=path))]  # fmt: skip
    files = one_file([of_type("int")], data, 2)
    of_data = manifest(entries, columns=[of_type("int")])
    assert ["ICE-011"] == made(
        tmp_path,
        {
            **files,
            METADATA: iceberg_metadata([of_type("int")], rows=4),
            LIST: manifest_list([listed(MANIFEST, of_data, entries)]),
            MANIFEST: of_data,
        },
    )
