"""Golden Iceberg tables that have changed, or have types of version 3, and copies with one false claim."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow.parquet as pq

from pqassay_golden.iceberg.files import (
    LIST,
    MANIFEST,
    METADATA,
    SNAPSHOT,
    Files,
    Json,
    data_file,
    decimal,
    entry,
    int32,
    int64,
    listed,
    manifest,
    manifest_list,
    metadata,
    table,
)
from pqassay_golden.iceberg.table import GOOD_TABLES as PLAIN_TABLES
from pqassay_golden.iceberg.table import (
    HOUR_MICROSECONDS,
    OTHER,
    READ_FAILS,
    ROWS_LOST,
    bad,
    change,
    metals,
    metrics,
)
from pqassay_golden.tables import GoodTable, parquet
from pqassay_golden.tiny import columns as tiny
from pqassay_golden.tiny.columns import AnyType, Column, ListOf
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.avro import LONG
from pqassay_spec.table.iceberg_field_ids import COLUMN_SIZES

WRONG_COUNT = "Engines that count rows by the snapshot give a wrong number."

OLDER = 5_000_000_000_000_000_000
"""The id of the snapshot before the current one."""

# ------------------------------------------------------------------------------------------------------- evolved

PARTITIONS = [
    [
        {"source-id": 2, "field-id": 1000, "name": "city", "transform": "identity"},
        {"source-id": 3, "field-id": 1001, "name": "at_hour", "transform": "hour"},
    ],
    [
        {"source-id": 2, "field-id": 1000, "name": "city", "transform": "identity"},
        {"source-id": 3, "field-id": 1002, "name": "at_day", "transform": "day"},
    ],
]
AVRO: list[list[tuple[int, str, Any]]] = [
    [(1000, "city", "string"), (1001, "at_hour", "int")],
    [(1000, "city", "string"), (1002, "at_day", {"type": "int", "logicalType": "date"})],
]
HOUR = 400_000
DAY = HOUR // 24


def _fields(kind: str, *more: Json) -> list[Json]:
    return [
        {"id": 1, "name": "id", "required": True, "type": kind},
        {"id": 2, "name": "city", "required": False, "type": "string"},
        {"id": 3, "name": "at", "required": False, "type": "timestamp"},
        *more,
    ]


NOTE = {"id": 4, "name": "note", "required": False, "type": "string"}


def _file(kind: AnyType, ids: list[int], *more: Column, rows: int = 2) -> bytes:
    start = HOUR * HOUR_MICROSECONDS
    return parquet(
        Column("id", kind, ids, optional=False, field_id=1),
        Column("city", "string", ["Oslo"] * len(ids), field_id=2),
        Column("at", tiny.timestamp("micros", utc=False), [start + number for number in range(len(ids))], field_id=3),
        *more,
        row_group_rows=rows,
    )  # fmt: skip


OLD = _file("int32", [1, 2])
NEW = _file("int64", [3, 4, 5, 6], Column("note", "string", ["a", None, "c", "d"], field_id=4))


def starts_of(data: bytes) -> list[int]:
    """The offsets of the row groups of a file."""
    footer = pq.read_metadata(io.BytesIO(data))
    return [footer.row_group(number).column(0).data_page_offset for number in range(footer.num_row_groups)]


def sizes_of(data: bytes, ids: list[int]) -> dict[int, int]:
    """Bytes of the columns of a file, by their ids."""
    footer = pq.read_metadata(io.BytesIO(data))
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    return {
        key: sum(group.column(place).total_compressed_size for group in groups)
        for place, key in enumerate(ids)
    }


SUMMARIES: list[Json] = [
    {"contains_null": False, "contains_nan": None, "lower_bound": b"Oslo", "upper_bound": b"Oslo"},
    {"contains_null": False, "contains_nan": None, "lower_bound": int32(0), "upper_bound": int32(HOUR + 9)},
]


def _bounds(rows: int, first: bytes, last: bytes) -> Json:
    start = HOUR * HOUR_MICROSECONDS
    return {
        "lower_bounds": {1: first, 2: b"Oslo", 3: int64(start)},
        "upper_bounds": {1: last, 2: b"Oslo", 3: int64(start + rows - 1)},
    }


def evolved(
    of_old: Json | None = None,
    of_new: Json | None = None,
    of_maps: Mapping[str, Mapping[int, Any]] | None = None,
    of_lists: tuple[Json, Json] = ({}, {}),
) -> Files:
    """A table whose columns and partitions changed between its two files.

    Args:
        of_old, of_new: Other claims about the first and the second file.
        of_maps: Other values in maps of the first file.
        of_lists: Other claims of the manifest list.
    """
    old: Json = {
        "column_sizes": sizes_of(OLD, [1, 2, 3]),
        "value_counts": dict.fromkeys(range(1, 5), 2),
        "null_value_counts": {1: 0, 2: 0, 3: 0, 4: 2},
        **_bounds(2, int32(1), int32(2)),
    }
    for name, values in (of_maps or {}).items():
        old[name] = {**old[name], **values}
    new: Json = {
        "split_offsets": starts_of(NEW),
        "value_counts": dict.fromkeys(range(1, 5), 4),
        "null_value_counts": {1: 0, 2: 0, 3: 0, 4: 1},
        **_bounds(4, int64(3), int64(6)),
    }
    old["partition"] = {"city": "Oslo", "at_hour": HOUR}
    new["partition"] = {"city": "Oslo", "at_day": DAY}
    first = {**data_file("data/part-0.parquet", OLD, 2), **old, **(of_old or {})}
    second = {**data_file("data/part-1.parquet", NEW, 4), **new, **(of_new or {})}
    entries = [[entry(first, status=0, sequence=1)], [entry(second)]]
    columns = _fields("int"), _fields("long", NOTE)
    manifests = [
        manifest(
            entries[number],
            AVRO[number],
            columns=columns[number],
            partitioned_by=PARTITIONS[number],
            spec=number,
            schema=1 - number,
        )
        for number in (0, 1)
    ]
    content: Json = json.loads(metadata(_fields("long", NOTE), rows=6, sequence=2))
    content["schemas"] = [
        {"type": "struct", "schema-id": 1, "fields": _fields("int")},
        {"type": "struct", "schema-id": 0, "fields": _fields("long", NOTE)},
    ]
    content["partition-specs"] = [{"spec-id": number, "fields": PARTITIONS[number]} for number in (0, 1)]
    content.update({"default-spec-id": 1, "last-partition-id": 1002})
    content["snapshots"][0]["summary"] |= {"added-data-files": "1", "added-records": "4", "added-files-size": str(len(NEW))}  # fmt: skip
    older = {**content["snapshots"][0], "snapshot-id": OLDER, "sequence-number": 1, "summary": {"operation": "append"}}  # fmt: skip
    content["snapshots"].insert(0, older)
    return {
        METADATA: f"{json.dumps(content, separators=(',', ':'))}\n".encode(),
        LIST: manifest_list(
            [
                listed(MANIFEST, manifests[0], entries[0], **{"sequence_number": 2, "partitions": SUMMARIES, **of_lists[0]}),
                listed(OTHER, manifests[1], entries[1], **{"sequence_number": 2, "min_sequence_number": 2, "partition_spec_id": 1, "partitions": SUMMARIES, **of_lists[1]}),
            ]
        ),
        MANIFEST: manifests[0],
        OTHER: manifests[1],
        "data/part-0.parquet": OLD,
        "data/part-1.parquet": NEW,
    }  # fmt: skip


EVOLVED = evolved()
_SEQUENCE = EVOLVED[MANIFEST].index(b"\x02\x02" * 2 + b"\x00")
"""Offset of the sequence number of the existing file: it precedes an equal file sequence number and the content."""

# -------------------------------------------------------------------------------------------------------- shapes

SITE = "data/sites.parquet"
SITES = [
    {"id": 1, "name": "area", "required": False, "type": "decimal(9, 2)"},
    {"id": 2, "name": "name", "required": False, "type": "string"},
    {"id": 3, "name": "site", "required": False, "type": "geometry"},
    {"id": 4, "name": "home", "required": False, "type": "geography"},
    {
        "id": 5,
        "name": "tags",
        "required": False,
        "type": {"type": "list", "element-id": 6, "element": "string", "element-required": False},
    },
]


def shape(x: float, y: float) -> bytes:
    """A point as well-known binary."""
    return struct.pack("<bI2d", 1, 1, x, y)


def point(x: float, y: float) -> bytes:
    """A point as a bound."""
    return struct.pack("<2d", x, y)


PLACES = [(-10.0, 45.0), (5.5, 60.0)]
SITE_DATA = parquet(
    Column("area", tiny.decimal(9, 2), [15_000, 20_000], field_id=1),
    Column("name", "string", ["elm", "oak"], field_id=2),
    Column("site", "geometry", [shape(*place) for place in PLACES], field_id=3),
    Column("home", "geography", [shape(*place) for place in PLACES], field_id=4),
    Column("tags", ListOf("string"), [["a", "b"], []], field_id=5),
)


def sites(of_lower: Mapping[int, bytes] | None = None, key: int = 2) -> Files:
    """A table of version 3 with decimals, shapes and lists.

    Args:
        of_lower: Other lower bounds.
        key: The id of the lower bound of the name.
    """
    lower = {1: decimal(15_000), key: b"elm", 3: point(-10.0, 45.0), 4: point(-10.0, 45.0)}
    site = data_file(
        SITE,
        SITE_DATA,
        2,
        value_counts={1: 2, 2: 2, 3: 2, 4: 2, 6: 2},
        null_value_counts={1: 0, 2: 0, 3: 0, 4: 0, 6: 0},
        lower_bounds={**lower, **(of_lower or {})},
        upper_bounds={1: decimal(20_000), 2: b"oak", 3: point(5.5, 60.0), 4: point(5.5, 60.0)},
    )
    entries = [entry(site)]
    more: Json = {"rows": 2, "version": 3, "next_row_id": 2, "last_column_id": 6}
    return table(SITES, entries, {SITE: SITE_DATA}, manifests_of=3, of_list={"first_row_id": 0}, **more)


SHAPES = sites()

GOOD_TABLES = (
    GoodTable("ice/evolved", "Two snapshots, between which columns and partitions changed: a widened column, a new one, a day in place of an hour", EVOLVED),
    GoodTable("ice/shapes", "Bounds of decimals and points, and a list, of which there are none", SHAPES),
)  # fmt: skip

# ------------------------------------------------------------------------------------------------------- damages


_bad = partial(bad, (*PLAIN_TABLES, *GOOD_TABLES), of="evolved")
_footer = partial(_bad, tier="footer")


def of_no_column() -> Files:
    """The plain table with a lower bound of a column that never existed."""
    lower = {(63 if key == 6 else key): raw for key, raw in metrics(0)["lower_bounds"].items()}
    return metals({"lower_bounds": lower})


def misnumbered() -> Files:
    """The evolved table with another id of the field ``column_sizes`` in the first manifest."""
    old, new = (f'"field-id":{one}'.encode() for one in (COLUMN_SIZES, 900 + COLUMN_SIZES % 100))
    return {**EVOLVED, MANIFEST: EVOLVED[MANIFEST].replace(old, new)}


def of_another_snapshot() -> Files:
    """The evolved table with another snapshot id in the added entry."""
    return {**EVOLVED, OTHER: EVOLVED[OTHER].replace(LONG.build(SNAPSHOT), LONG.build(SNAPSHOT + 1))}


BAD_TABLES = (
    _bad("manifest-of-another-schema", "The schema in the header of a manifest has a column of another name", "A reader of the manifest alone takes its files for files with other columns.", TableMutation(file=MANIFEST, op="bytes", offset=EVOLVED[MANIFEST].index(b'"id":2,"name":"city"') + len(b'"id":2,"name":"'), to=b"town".hex()), "083"),
    _bad("snapshot-without-time", "A snapshot does not say when it was made", READ_FAILS, TableMutation(file=METADATA, op="remove", line=0, path="snapshots.[0].timestamp-ms"), "085"),
    _bad("operation-unknown", "A snapshot did what the format does not have", READ_FAILS, change("snapshots.[0].summary.operation", "merge"), "086"),
    _bad("added-other-records", "A snapshot is said to have added more rows than its entries", "A reader of what the snapshot did counts rows that do not exist.", change("snapshots.[1].summary.added-records", "5"), "087"),
    _bad("field-of-another-number", "A field of a manifest has another number than the format gives it", READ_FAILS, misnumbered(), "088"),
    _bad("entry-of-another-snapshot", "An entry that was added names another snapshot than its manifest", "Readers of what a snapshot added do not find the file.", of_another_snapshot(), "089"),
    _bad("existing-without-file-number", "An existing file has no file sequence number", "Readers of changes do not know when the file was added.", TableMutation(file=MANIFEST, op="bytes", offset=_SEQUENCE + 2, to="8000"), "090"),
    _bad("snapshot-of-another-schema", "A snapshot has a schema that the metadata do not have", "Readers of the snapshot do not know its columns.", change("snapshots.[0].schema-id", 7), "091"),
    _bad("existing-without-number", "An existing file has no sequence number", "Deletes are not applied, or applied to rows that are newer.", TableMutation(file=MANIFEST, op="bytes", offset=_SEQUENCE, to="8000"), "010"),
    _bad("main-at-another-snapshot", "The branch main is at a snapshot that is not the current one", "Readers that follow the branch see an older state.", change("refs.main.snapshot-id", OLDER), "050"),
    _bad("last-column-id-low", "A column has an id above the last one", "The next column gets an id that is taken.", change("last-column-id", 3), "051"),
    _bad("last-sequence-number-low", "A snapshot has a sequence number above the last one", "The next deletes do not reach older files.", change("last-sequence-number", 1), "052"),
    _bad("bound-of-no-column", "There is a lower bound of a column that there never was", "Queries read the file without need.", of_no_column(), "053", of="plain"),
    _bad("bound-of-a-list", "There is a lower bound of the elements of lists", "Queries read the file without need.", sites(key=6), "054", of="shapes"),
    _bad("bounds-without-values", "A column of nothing but nulls has bounds", ROWS_LOST, metals(of_map={"null_value_counts": {2: 8}}), "055", of="plain"),
    _bad("total-of-other-rows", "The summary of a snapshot counts rows that are not there", WRONG_COUNT, change("snapshots.[0].summary.total-records", "99"), "056", of="plain"),
    _bad("hour-beyond-the-bounds", "A file is listed in an hour in which no value between its bounds is", ROWS_LOST, evolved(of_old={"partition": {"city": "Oslo", "at_hour": HOUR + 1}}), "057"),
    _bad("decimal-filled-up", "A bound of a decimal has a byte more than it needs", "None of the readers that are known takes another number of it.", sites({1: bytes([0, 100])}), "058", of="shapes"),
    _footer("column-size", "A column is said to have a byte more than its chunks", "Planners guess wrongly what a query costs.", evolved(of_maps={"column_sizes": {1: sizes_of(OLD, [1])[1] + 1}}), "059"),
    _footer("split-within-a-row-group", "A split begins one byte behind a row group", "Tasks read other row groups than was planned.", evolved(of_new={"split_offsets": [starts_of(NEW)[0], starts_of(NEW)[1] + 1]}), "060"),
    _bad("point-without-x", "The lower bound of a geometry has no x", ROWS_LOST, sites({3: point(float("nan"), 45.0)}), "061", of="shapes"),
    _footer("nulls-of-an-absent-column", "A column that a file does not have is said to have a value there", "A query for nulls skips the file.", evolved(of_maps={"null_value_counts": {4: 1}}), "062"),
    _bad("spec-unknown", "A manifest has a partition spec that the table does not have", READ_FAILS, evolved(of_lists=({"partition_spec_id": 7}, {})), "063"),
    _bad("spec-of-another-manifest", "A manifest is listed with another partition spec than its own", ROWS_LOST, evolved(of_lists=({"partition_spec_id": 1}, {})), "064"),
    _bad("manifest-of-the-future", "A manifest has a sequence number above its snapshot's", "Deletes are not applied to files that are older.", evolved(of_lists=({}, {"sequence_number": 3})), "065"),
    _bad("manifest-older-than-its-snapshot", "A manifest has a lower sequence number than the snapshot that added it", "Deletes are applied to rows that are newer.", evolved(of_lists=({"sequence_number": 1}, {})), "065"),
    _bad("partition-field-of-another-id", "A partition spec gives a field another id than the entries of its manifest", ROWS_LOST, change("partition-specs.[0].fields.[1].field-id", 1002), "073"),
    _bad("last-partition-id-low", "A partition field has an id above the last one", "The next partition field gets an id that is taken.", change("last-partition-id", 1001), "074"),
    _bad("manifest-without-its-spec", "The header of a manifest has another key in place of the partition spec", READ_FAILS, TableMutation(file=MANIFEST, op="bytes", offset=EVOLVED[MANIFEST].index(b"partition-spec") + 1, to=b"ortition-spec".hex()), "079"),
    _bad("manifest-of-another-spec", "The partition spec in the header of a manifest is by another column", ROWS_LOST, TableMutation(file=MANIFEST, op="bytes", offset=EVOLVED[MANIFEST].index(b'"source-id":3') + len(b'"source-id":'), to=b"1".hex()), "082"),
    _bad("reference-of-no-kind", "A reference is neither a branch nor a tag", READ_FAILS, change("refs.main.type", "trunk"), "080"),
    _bad("id-twice", "Two columns have one id", "Readers find the values of one column in the other.", change("schemas.[0].fields.[1].id", 1), "081"),
    _bad("type-unknown", "A column has a type that the format does not have", READ_FAILS, change("schemas.[1].fields.[3].type", "text"), "075"),
    _bad("transform-unknown", "A partition field has a transform that the format does not have", READ_FAILS, change("partition-specs.[1].fields.[1].transform", "week"), "076"),
    _bad("required-and-null", "A required column is said to have a null", "A query for nulls finds none.", evolved(of_maps={"null_value_counts": {1: 1}}), "066"),
    _bad("point-off-the-globe", "The lower bound of a geography is west of all longitudes", "Readers compare with what there is not.", sites({4: point(-200.0, 45.0)}), "067", of="shapes"),
    _bad("format-unknown", "A file is of a format that there is not", READ_FAILS, metals({"file_format": "PARQUEE"}), "068", of="plain"),
    _bad("schema-unknown", "The current schema is not in the metadata", READ_FAILS, change("current-schema-id", 7), "069"),
)  # fmt: skip
