"""Golden Iceberg tables: manifests of our own Avro writer beside tiny Parquet files, and manifests with one false claim.

A false claim has as many bytes as the true one, so lengths in other files stay true.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pqassay_golden.iceberg.files import (
    EARLIER,
    LIST,
    LOCATION,
    MANIFEST,
    METADATA,
    REQUIRED,
    Files,
    Json,
    data_file,
    decimal,
    double,
    entry,
    int32,
    int64,
    listed,
    manifest,
    manifest_list,
    metadata,
    parts_of,
    table,
)
from pqassay_golden.tables import BadTable, GoodTable, parquet
from pqassay_golden.tiny import columns as tiny
from pqassay_golden.tiny.columns import Column
from pqassay_reference.errors import Refused
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.iceberg import DELETE_FILE_PATH, DELETE_POSITION

EMPTY: Json = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "file:///nowhere",
    "last-sequence-number": 0,
    "last-updated-ms": 1_700_000_000_000,
    "last-column-id": 1,
    "current-schema-id": 0,
    "schemas": [
        {
            "type": "struct",
            "schema-id": 0,
            "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}],
        }
    ],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "last-partition-id": 999,
    "default-sort-order-id": 0,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "current-snapshot-id": -1,
    "snapshots": [],
}
"""A table that was created and never written to."""

DAY_MICROSECONDS = 86_400_000_000
HOUR_MICROSECONDS = 3_600_000_000


def _field(identifier: int, name: str, kind: str) -> Json:
    return {"id": identifier, "name": name, "required": False, "type": kind}


# ------------------------------------------------------------------------------------------------------- metals

COLUMNS = [
    _field(1, "id", "long"),
    _field(2, "metal", "string"),
    _field(3, "price", "decimal(9, 2)"),
    _field(4, "day", "date"),
    _field(5, "at", "timestamptz"),
    _field(6, "mass", "double"),
]
METALS = ["gold", "iron", "lead", "silver", "tin", "zinc", None, "copper"]
ROWS = 8


def part(first: int, *, field_id: int = 1) -> bytes:
    """A data file of eight rows, with ids from a number on, in a column with this field id."""
    numbers = range(ROWS)
    masses = [None, None, b"\0\0\0\0\0\0\xf8\x7f", *(first + number / 4 for number in range(5))]
    return parquet(
        Column("id", "int64", list(range(first, first + ROWS)), field_id=field_id),
        Column("metal", "string", METALS, field_id=2),
        Column("price", tiny.decimal(9, 2), [first + 99 * number for number in numbers], field_id=3),
        Column("day", "date", [19_000 + first + number for number in numbers], field_id=4),
        Column("at", tiny.timestamp("micros"), [first * DAY_MICROSECONDS + 1_234_567 * number for number in numbers], field_id=5),
        Column("mass", "double", masses, field_id=6),
    )  # fmt: skip


FIRSTS = (0, 100)
PARTS = [part(first) for first in FIRSTS]


def metrics(first: int) -> Json:
    """The true claims about the columns of a part."""
    last = ROWS - 1
    return {
        "value_counts": dict.fromkeys(range(1, 7), ROWS),
        "null_value_counts": {1: 0, 2: 1, 3: 0, 4: 0, 5: 0, 6: 2},
        "nan_value_counts": {6: 1},
        "lower_bounds": {
            1: int64(first),
            2: b"copper",
            3: decimal(first),
            4: int32(19_000 + first),
            5: int64(first * DAY_MICROSECONDS),
            6: double(first),
        },
        "upper_bounds": {
            1: int64(first + last),
            2: b"zinc",
            3: decimal(first + 99 * last),
            4: int32(19_000 + first + last),
            5: int64(first * DAY_MICROSECONDS + 1_234_567 * last),
            6: double(first + 1),
        },
    }


def metals(
    change: Json | None = None, of_map: Mapping[str, Mapping[int, Any]] | None = None, **of_list: Any
) -> Files:
    """The plain table, with other claims about its first file, in its maps, and in its manifest list."""
    claims = [metrics(first) for first in FIRSTS]
    for name, values in (of_map or {}).items():
        claims[0][name] = {**claims[0][name], **values}
    files = [
        data_file(f"data/part-{number}.parquet", data, ROWS, **claims[number])
        for number, data in enumerate(PARTS)
    ]
    files[0].update(change or {})
    entries = [entry(one) for one in files]
    return table(COLUMNS, entries, parts_of(PARTS), of_list=of_list)


# ------------------------------------------------------------------------------------------------------ readings

READINGS = [
    _field(1, "id", "long"),
    _field(2, "city", "string"),
    _field(3, "at", "timestamp"),
    _field(4, "amount", "decimal(9, 2)"),
]
PARTITION = [
    {"source-id": 2, "field-id": 1000, "name": "city", "transform": "identity"},
    {"source-id": 1, "field-id": 1001, "name": "id_bucket", "transform": "bucket[4]"},
    {"source-id": 3, "field-id": 1002, "name": "hour", "transform": "hour"},
    {"source-id": 4, "field-id": 1003, "name": "amount_trunc", "transform": "truncate[500]"},
]
FIXED = {
    "type": "fixed",
    "name": "decimal_9_2",
    "size": 4,
    "logicalType": "decimal",
    "precision": 9,
    "scale": 2,
}
AVRO = [
    (1000, "city", "string"),
    (1001, "id_bucket", "int"),
    (1002, "hour", "int"),
    (1003, "amount_trunc", FIXED),
]

PLACES: list[tuple[str | None, list[int], int]] = [("Oslo", [34, 3], -1), (None, [0, 15], 400_000)]
"""For each file: the city, ids that share a bucket, and the hour since 1970."""

BUCKETS = [3, 0]


def reading(city: str | None, ids: list[int], hour: int) -> bytes:
    """A data file with the rows of one partition."""
    moments = [hour * HOUR_MICROSECONDS, hour * HOUR_MICROSECONDS + HOUR_MICROSECONDS - 1]
    return parquet(
        Column("id", "int64", ids, field_id=1),
        Column("city", "string", [city, city], field_id=2),
        Column("at", tiny.timestamp("micros", utc=False), moments, field_id=3),
        Column("amount", tiny.decimal(9, 2), [-1, -500], field_id=4),
    )


def _summary(low: bytes | None, high: bytes | None, *, null: bool = False, nan: bool | None = None) -> Json:
    return {"contains_null": null, "contains_nan": nan, "lower_bound": low, "upper_bound": high}


SUMMARIES = [
    _summary(b"A", b"Oslo", null=True),
    _summary(int32(0), int32(3)),
    _summary(int32(-1), int32(400_000)),
    _summary(decimal(-500), decimal(99_999_999)),
]


def readings(
    of_first: Json | None = None, of_second: Json | None = None, summaries: Mapping[int, Json] | None = None
) -> Files:
    """The partitioned table, with other partition values, and other summaries by their numbers."""
    datas = [reading(*place) for place in PLACES]
    files: list[Json] = []
    for number, (data, place, other) in enumerate(zip(datas, PLACES, (of_first, of_second), strict=True)):
        values = {
            "city": place[0],
            "id_bucket": BUCKETS[number],
            "hour": place[2],
            "amount_trunc": (-500).to_bytes(4, "big", signed=True),
            **(other or {}),
        }
        files.append(data_file(f"data/part-{number}.parquet", data, 2, values))
    entries = [entry(one) for one in files]
    kept = [{**one, **(summaries or {}).get(number, {})} for number, one in enumerate(SUMMARIES)]
    of_list = {"partitions": kept}
    return table(READINGS, entries, parts_of(datas), partition=PARTITION, avro=AVRO, of_list=of_list, rows=4)


# ------------------------------------------------------------------------------------------------------ rewritten

OTHER = "metadata/manifest-1.avro"


def rewritten() -> Files:
    """A table after two changes: an existing file, an added file, and a deleted file."""
    files = [data_file(f"data/part-{number}.parquet", data, ROWS) for number, data in enumerate(PARTS)]
    gone = entry(
        {**files[0], "file_path": "file:///warehouse/metals/data/gone.parquet"}, status=2, sequence=1
    )
    old = [entry(files[0], status=0, sequence=1), gone]
    new = [entry(files[1])]
    first, second = manifest(old, columns=COLUMNS, codec="deflate"), manifest(new, columns=COLUMNS)
    return {
        METADATA: metadata(COLUMNS, sequence=2),
        LIST: manifest_list(
            [
                listed(MANIFEST, first, old, sequence_number=2),
                listed(OTHER, second, new, sequence_number=2, min_sequence_number=2),
            ],
            codec="deflate",
        ),
        MANIFEST: first,
        OTHER: second,
        **parts_of(PARTS),
    }


# ------------------------------------------------------------------------------------------------- first version

UNCOUNTED = dict.fromkeys(name for name in REQUIRED if name != "added_snapshot_id")
"""Members that a manifest list of version 1 may omit."""


def first_version(rows: int = ROWS) -> Files:
    """A table of version 1, without metrics and without counts in the manifest list."""
    entries = [entry(data_file("data/part-0.parquet", PARTS[0], rows, content=None))]
    data = manifest(entries, columns=COLUMNS, version=1)
    return {
        METADATA: metadata(COLUMNS, version=1, rows=None),
        LIST: manifest_list([listed(MANIFEST, data, entries, **UNCOUNTED)], version=1),
        MANIFEST: data,
        "data/part-0.parquet": PARTS[0],
    }


# ------------------------------------------------------------------------------------------------------- deletes

ADDED = [entry(data_file(path, data, ROWS), snapshot=EARLIER) for path, data in parts_of(PARTS).items()]
"""The entries of both data files, which an earlier snapshot added."""

BY_EARLIER = {"added_snapshot_id": EARLIER}
NAMED = f"{LOCATION}/data/part-0.parquet"


def deletes(bound: bytes | None = None, compared: int | Sequence[int] = 1, sequence: int = 2) -> Files:
    """A table with position deletes of one data file, and an equality delete.

    Args:
        bound: Both bounds of the path in the position deletes.
        compared: The id or ids of the columns that the equality delete compares; its columns have the ids 1 and 2.
        sequence: The sequence number of the deletes.
    """
    positions = parquet(
        Column("file_path", "string", [NAMED, NAMED], optional=False, field_id=DELETE_FILE_PATH),
        Column("pos", "int64", [1, 6], optional=False, field_id=DELETE_POSITION),
    )
    by = [compared] if isinstance(compared, int) else list(compared)
    keys = (Column("id", "int64", [100], field_id=1), Column("metal", "string", ["gold"], field_id=2))
    equal = parquet(*keys[: len(by)])
    raw = NAMED.encode() if bound is None else bound
    bounds = {DELETE_POSITION: int64(1), DELETE_FILE_PATH: raw}
    entries = [
        entry(
            data_file(
                "data/positions.parquet",
                positions,
                2,
                content=1,
                lower_bounds=bounds,
                upper_bounds={DELETE_POSITION: int64(6), DELETE_FILE_PATH: raw},
                referenced_data_file=NAMED,
            ),
            snapshot=EARLIER,
        ),
        entry(data_file("data/equal.parquet", equal, 1, content=2, equality_ids=by), snapshot=EARLIER),
    ]
    files = {"data/positions.parquet": positions, "data/equal.parquet": equal, **parts_of(PARTS)}
    of_deletes = {"sequence_number": sequence, "min_sequence_number": sequence, **BY_EARLIER}
    return table(
        COLUMNS, ADDED, files, of_list=BY_EARLIER, deletes=entries, of_deletes=of_deletes, sequence=3
    )


PLAIN = metals()
PARTITIONED = readings()
FIRST_VERSION = first_version()
DELETING = deletes()

GOOD_TABLES = (
    GoodTable("ice/empty", "A table without snapshots", {METADATA: f"{json.dumps(EMPTY)}\n".encode()}),
    GoodTable("ice/plain", "Two files with metrics of numbers, text, decimals, dates and timestamps", PLAIN),
    GoodTable("ice/partitioned", "Two files in partitions by text, bucket, hour and truncated decimal, a null among them", PARTITIONED),
    GoodTable("ice/rewritten", "Two manifests, one of them compressed, with an existing, an added and a deleted file", rewritten()),
    GoodTable("ice/first-version", "A table of version 1, whose manifest list counts nothing", FIRST_VERSION),
    GoodTable("ice/deletes", "Position deletes of one data file, and an equality delete", DELETING),
)  # fmt: skip

# ------------------------------------------------------------------------------------------------------- damages

ROWS_LOST = "Queries skip the file, and rows are missing."
READ_FAILS = "Queries fail."


def difference(good: Files, bad: Files) -> TableMutation:
    """The only range of bytes in which two tables differ, as a mutation. Raises `Refused` if there is no such range, or several."""
    names = [name for name in good if good[name] != bad[name]]
    if len(names) != 1 or len(good[names[0]]) > len(bad[names[0]]):
        raise Refused(f"not one range of one file differs, but {names}")
    old, new = good[names[0]], bad[names[0]]
    places = [place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other]
    start, end = places[0], places[-1] + 1 if len(old) == len(new) else len(new)
    return TableMutation(file=names[0], op="bytes", offset=start, to=new[start:end].hex())


def bad(
    tables: Iterable[GoodTable],
    name: str,
    title: str,
    effect: str,
    damage: TableMutation | Files,
    *rules: str,
    of: str,
    tier: Any = "meta",
) -> BadTable:
    """A table that breaks some rules of this family, with one mutation, or one byte range of another table.

    Args:
        tables: The valid tables.
        name, title, effect, rules, tier: See `BadTable`.
        damage: The mutation, or the files of the damaged table.
        of: The name of the valid table to damage.
    """
    if not isinstance(damage, TableMutation):
        damage = difference(next(dict(one.files) for one in tables if one.id == f"ice/{of}"), damage)
    broken = tuple(f"ICE-{one}" for one in rules)
    return BadTable(f"ice/{name}", title, effect, f"ice/{of}", damage, broken, tier)


def change(path: str, to: Any) -> TableMutation:
    """A mutation that gives a member of the metadata another value."""
    return TableMutation(file=METADATA, op="set", line=0, path=path, to=to)


_bad = partial(bad, GOOD_TABLES, of="plain")
_footer, _values = partial(_bad, tier="footer"), partial(_bad, tier="values")


def bound(side: str, identifier: int, raw: bytes) -> Files:
    """The plain table with another bound of a column of the first file."""
    return metals(of_map={f"{side}_bounds": {identifier: raw}})


def listed_twice() -> Files:
    """The plain table with the path of the first file in both entries."""
    return {**PLAIN, MANIFEST: PLAIN[MANIFEST].replace(b"data/part-1.parquet", b"data/part-0.parquet")}


def _numbered() -> str:
    """The metadata of version 1 with an added sequence number of its snapshot."""
    content: Json = json.loads(FIRST_VERSION[METADATA])
    content["snapshots"][0]["sequence-number"] = 1
    return json.dumps(content, separators=(",", ":"))


BAD_TABLES = (
    _bad("version-of-the-future", "The metadata say that they are of version 9", READ_FAILS, change("format-version", 9), "001", of="empty"),
    _bad("snapshot-missing", "The current snapshot is not in the metadata", READ_FAILS, change("current-snapshot-id", 7), "002"),
    _bad("list-no-avro", "The manifest list does not begin as Avro does", READ_FAILS, TableMutation(file=LIST, op="bytes", offset=0, to="50"), "003"),
    _bad("manifest-missing", "A manifest was deleted", READ_FAILS, TableMutation(file=MANIFEST, op="drop"), "004"),
    _bad("manifest-marker", "The bytes behind a block are not those of the header", READ_FAILS, TableMutation(file=MANIFEST, op="bytes", offset=len(PLAIN[MANIFEST]) - 1, to="00"), "004"),
    _bad("manifest-longer", "The manifest list gives a manifest one byte more than it has", "Readers that ask for that many bytes fail.", metals(manifest_length=len(PLAIN[MANIFEST]) + 1), "005"),
    _bad("no-added-files", "The manifest list says that a manifest has no new files", ROWS_LOST, metals(added_files_count=0), "006"),
    _bad("rows-added-wrong", "The manifest list counts rows that are not there", "Engines that count rows by the list give a wrong number.", metals(added_rows_count=17), "006"),
    _bad("summary-without-null", "A summary says that no partition value is null, and one is", ROWS_LOST, readings(summaries={0: {"contains_null": False}}), "007", of="partitioned"),
    _bad("summary-too-low", "The upper bound of a summary is below a partition value", ROWS_LOST, readings(summaries={1: {"upper_bound": int32(2)}}), "007", of="partitioned"),
    _bad("summary-of-too-many-digits", "A bound of a summary has more digits than its type", READ_FAILS, readings(summaries={3: {"upper_bound": decimal(2_000_000_000)}}), "008", of="partitioned"),
    _bad("sequence-number-too-new", "The least sequence number of a manifest is greater than that of its files", "Deletes are not applied, and deleted rows come back.", metals(min_sequence_number=2), "009"),
    _bad("listed-twice", "Two entries have the path of one file", "Every row of the file is there twice.", listed_twice(), "011"),
    _bad("content-deletes", "The list says that a manifest of data files holds deletes", ROWS_LOST, metals(content=1), "012"),
    _bad("file-missing", "A live file was deleted", READ_FAILS, TableMutation(file="data/part-1.parquet", op="drop"), "013"),
    _bad("size-less", "A length is 100 bytes less than the file's", READ_FAILS, metals({"file_size_in_bytes": len(PARTS[0]) - 100}), "014"),
    _bad("split-before-the-file", "A file is split at a place before it", "Readers read the file as one.", metals({"split_offsets": [-4]}), "015"),
    _bad("text-cut-in-a-character", "The upper bound of a text ends within a character", READ_FAILS, bound("upper", 2, b"zin\xc3"), "016"),
    _bad("bounds-inverted", "The lower bound of a column is above the upper one", ROWS_LOST, bound("lower", 1, int64(9)), "017"),
    _bad("bound-nan", "The upper bound of a column is NaN", ROWS_LOST, bound("upper", 6, double(float("nan"))), "018"),
    _bad("nulls-beyond-the-values", "More nulls than values are counted", ROWS_LOST, metals(of_map={"null_value_counts": {2: 9}}), "019"),
    _bad("values-without-nulls", "Nulls are not counted among the values", ROWS_LOST, metals(of_map={"value_counts": {2: 7}}), "020"),
    _bad("deletes-of-another-path", "The bounds of position deletes leave out the file whose rows they delete", "Deleted rows come back.", deletes(bound=NAMED.replace("file:", "zile:").encode()), "021", of="deletes"),
    _bad("equality-of-no-column", "An equality delete compares a column that the table does not have", "Deleted rows come back, or queries fail.", deletes(compared=9), "022", of="deletes"),
    _bad("schema-twice", "The older form of the current schema has a column of another name", "Readers that know version 1 alone see another column.", change("schema.fields.[0].name", "number"), "084", of="first-version"),
    _bad("number-in-version-1", "A snapshot of version 1 has a sequence number", READ_FAILS, TableMutation(file=METADATA, op="write", line=0, to=_numbered()), "093", of="first-version"),
    _footer("rows-too-many", "A file of 8 rows is said to have 9", "Engines that count rows by manifests give a wrong number.", first_version(9), "030", of="first-version"),
    _footer("nulls-all", "A column without nulls is said to have nothing else", ROWS_LOST, metals(of_map={"null_value_counts": {1: 8}}), "055", "031"),
    _footer("nulls-too-many", "A column without nulls is said to have five", "Readers that estimate by it plan badly.", metals(of_map={"null_value_counts": {1: 5}}), "031"),
    _footer("maximum-below-the-footers", "The greatest value of a column is above the upper bound", ROWS_LOST, bound("upper", 1, int64(5)), "032"),
    _footer("column-of-another-id", "The file has another id for a column of which there are bounds", "Queries find null where the bounds promise values.", {**PLAIN, "data/part-0.parquet": part(0, field_id=9)}, "033"),
    _footer("split-behind-the-first-rows", "The first split begins behind the first row group", ROWS_LOST, metals({"split_offsets": [5]}), "034"),
    _values("maximum-lowered", "The upper bound of a column is below its values", ROWS_LOST, bound("upper", 1, int64(5)), "040"),
    _values("text-maximum-cut", "The upper bound of a text is not the greatest", ROWS_LOST, bound("upper", 2, b"zina"), "040"),
    _values("nulls-not-counted", "A column with two nulls is said to have none", "A query for nulls skips the file.", metals(of_map={"null_value_counts": {6: 0}}), "041"),
    _values("nan-not-counted", "A column with a NaN is said to have none", "A query for NaN skips the file.", metals(of_map={"nan_value_counts": {6: 0}}), "042"),
    _values("another-bucket", "A file is listed in a bucket that its ids are not in", ROWS_LOST, readings({"id_bucket": 2}), "043", of="partitioned"),
    _values("another-hour", "A file is listed in an hour that its rows are not in", ROWS_LOST, readings({"hour": 0}), "043", of="partitioned"),
    _values("another-city", "A file is listed in a city that its rows are not in", ROWS_LOST, readings({"city": "Olso"}), "043", of="partitioned"),
    _values("another-amount", "A file is listed with an amount that its rows are not truncated to", ROWS_LOST, readings({"amount_trunc": (-499).to_bytes(4, "big", signed=True)}), "043", of="partitioned"),
)  # fmt: skip
