"""Golden Delta tables: logs written by hand beside tiny Parquet files, and logs with one false claim."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pqassay_golden.tables import BadTable, GoodTable, parquet
from pqassay_golden.tiny.columns import Column, decimal, timestamp
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.layout import DELTA_LOG, commit_name

DAY_MICROSECONDS = 86_400_000_000

Json = dict[str, Any]


def compact(value: Any) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(*actions: Json) -> bytes:
    """A commit with these actions, one on a line."""
    return "".join(f"{compact(action)}\n" for action in actions).encode()


def commit(version: int) -> str:
    """The path of a commit."""
    return f"{DELTA_LOG}/{commit_name(version)}"


def schema(**columns: Any) -> str:
    """A schema, as the log stores it."""
    fields: list[Json] = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in columns.items()
    ]
    return compact({"type": "struct", "fields": fields})


def metadata(schema_string: str, partition: Sequence[str] = (), **configuration: str) -> Json:
    """A ``metaData`` action."""
    return {
        "metaData": {
            "id": "6d1b9e4c-0f0a-4d0e-9a58-3f2a5c7b1e00",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema_string,
            "partitionColumns": list(partition),
            "configuration": configuration,
        }
    }


PROTOCOL: Json = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
INFO: Json = {"commitInfo": {"operation": "WRITE", "engineInfo": "pqassay-reference"}}


def add(
    path: str, data: bytes, stats: Json | None, partition: Mapping[str, str | None] | None = None, **more: Any
) -> Json:
    """An ``add`` action."""
    action: Json = {
        "path": path,
        "partitionValues": dict(partition or {}),
        "size": len(data),
        "modificationTime": 1_700_000_000_000,
        "dataChange": True,
    }
    if stats is not None:
        action["stats"] = compact(stats)
    return {"add": {**action, **more}}


def stats_of(rows: int, least: Json, greatest: Json, nulls: Json, **more: Any) -> Json:
    """The statistics of a data file."""
    return {"numRecords": rows, "minValues": least, "maxValues": greatest, "nullCount": nulls, **more}


# ------------------------------------------------------------------------------------------------------- tables

COLUMNS = {
    "id": "long",
    "metal": "string",
    "price": "decimal(9,2)",
    "day": "date",
    "at": "timestamp",
    "mass": "double",
}
METALS = ["gold", "iron", "lead", "silver", "tin", "zinc", None, "copper"]


def part(first: int) -> bytes:
    """A data file of eight rows, with ids from a number on."""
    return parquet(
        Column("id", "int64", list(range(first, first + 8))),
        Column("metal", "string", METALS),
        Column("price", decimal(9, 2), [first + 99 * number for number in range(8)]),
        Column("day", "date", [19_000 + first + number for number in range(8)]),
        Column(
            "at", timestamp("micros"), [first * DAY_MICROSECONDS + 1_234_567 * number for number in range(8)]
        ),
        Column("mass", "double", [None, None, *(first + number / 4 for number in range(6))]),
    )


PARTS = [part(0), part(100)]
FILES = {f"part-{number}.parquet": data for number, data in enumerate(PARTS)}

STATS = [
    stats_of(
        8,
        {"id": 0, "metal": "copper", "price": 0, "day": "2022-01-08", "at": "1970-01-01T00:00:00.000Z", "mass": 0},
        {"id": 7, "metal": "zinc", "price": 6.93, "day": "2022-01-15", "at": "1970-01-01T00:00:08.641Z", "mass": 1.25},
        {"id": 0, "metal": 1, "price": 0, "day": 0, "at": 0, "mass": 2},
    ),
    stats_of(
        8,
        {"id": 100, "metal": "copper", "price": 1, "day": "2022-04-18", "at": "1970-04-11T00:00:00.000Z", "mass": 100},
        {"id": 107, "metal": "zinc", "price": 7.93, "day": "2022-04-25", "at": "1970-04-11T00:00:08.641969Z", "mass": 101.25},
        {"id": 0, "metal": 1, "price": 0, "day": 0, "at": 0, "mass": 2},
    ),
]  # fmt: skip

PLAIN = {
    commit(0): lines(
        INFO,
        PROTOCOL,
        metadata(schema(**COLUMNS)),
        add("part-0.parquet", PARTS[0], STATS[0]),
        add("part-1.parquet", PARTS[1], STATS[1]),
    ),
    **FILES,
}

UNMEASURED = {
    commit(0): lines(
        PROTOCOL,
        metadata(schema(**COLUMNS)),
        add("part%200.parquet", PARTS[0], None),
        add("part-1.parquet", PARTS[1], {"numRecords": 8}),
    ),
    "part 0.parquet": PARTS[0],
    "part-1.parquet": PARTS[1],
}


def city_part() -> bytes:
    """A data file of three rows, without the columns that the log has."""
    return parquet(Column("id", "int64", [1, 2, 3]))


CITIES = [("city=Oslo/year=2024", "Oslo", "2024"), ("city=Rome/year=2023", "Rome", "2023")]
ID_STATS = stats_of(3, {"id": 1}, {"id": 3}, {"id": 0})
PARTITIONED = {
    commit(0): lines(PROTOCOL, metadata(schema(id="long", city="string", year="integer"), ("city", "year"))),
    commit(1): lines(
        INFO,
        *(
            add(f"{folder}/part-0.parquet", city_part(), ID_STATS, {"city": city, "year": year})
            for folder, city, year in CITIES
        ),
        add("part-0.parquet", city_part(), ID_STATS, {"city": None, "year": ""}),
    ),
    **{f"{folder}/part-0.parquet": city_part() for folder, _, _ in CITIES},
    "part-0.parquet": city_part(),
}

EVOLVED = {
    commit(0): lines(
        PROTOCOL,
        metadata(schema(id="long", town="string")),
        add("part-0.parquet", city_part(), stats_of(3, {"id": 1}, {"id": 3}, {"id": 0, "town": 3})),
    ),
    "part-0.parquet": city_part(),
}

CHECKPOINT = f"{DELTA_LOG}/{1:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
CHECKPOINTED = {
    CHECKPOINT: lines(
        {"checkpointMetadata": {"version": 1}},
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}},
        metadata(schema(**COLUMNS)),
        add("part-0.parquet", PARTS[0], STATS[0]),
    ),
    commit(2): lines(INFO, add("part-1.parquet", PARTS[1], STATS[1])),
    commit(3): lines(INFO, {"remove": {"path": "part-0.parquet", "deletionTimestamp": 1_700_000_000_000, "dataChange": True}}),
    **FILES,
}  # fmt: skip

GOOD_TABLES = (
    GoodTable("dlt/plain", "Two files with statistics of numbers, text, dates and timestamps", PLAIN),
    GoodTable("dlt/unmeasured", "A file without statistics, and one with its rows counted alone", UNMEASURED),
    GoodTable(
        "dlt/partitioned", "Values of two columns are in the log, null and empty ones among them", PARTITIONED
    ),
    GoodTable(
        "dlt/evolved",
        "A column that was added later is not in the file, and all its rows count as null",
        EVOLVED,
    ),
    GoodTable(
        "dlt/checkpointed", "A checkpoint of JSON lines, and commits that add and remove a file", CHECKPOINTED
    ),
)

# ------------------------------------------------------------------------------------------------------- damages

ROWS_LOST = "Queries skip the file, and rows are missing."
READ_FAILS = "Queries fail."
WRONG_COUNT = "Engines that count rows by the log give a wrong number."


def bad(
    name: str,
    title: str,
    effect: str,
    mutation: TableMutation,
    *rules: str,
    of: str = "plain",
    tier: Any = "meta",
) -> BadTable:
    """A table with one mutation that breaks some rules of this family."""
    return BadTable(
        f"dlt/{name}", title, effect, f"dlt/{of}", mutation, tuple(f"DLT-{one}" for one in rules), tier
    )


def change(path: str, to: Any, line: int = 3, file: str = commit(0)) -> TableMutation:
    """A mutation that gives a member another value."""
    return TableMutation(file=file, op="set", line=line, path=path, to=to)


footer, values = partial(bad, tier="footer"), partial(bad, tier="values")

BAD_TABLES = (
    bad("line-twice-a-member", "An action has a member twice", READ_FAILS, TableMutation(file=commit(0), op="write", line=1, to='{"protocol":{"minReaderVersion":1,"minReaderVersion":3,"minWriterVersion":2}}'), "001"),
    bad("line-cut", "The last action is cut", READ_FAILS, TableMutation(file=commit(0), op="write", line=4, to='{"add":{"path":"part-1.par'), "001"),
    bad("commit-missing", "A commit between the checkpoint and the newest one is missing", "Queries fail, or show an older state.", TableMutation(file=commit(2), op="drop"), "002", of="checkpointed"),
    bad("checkpoint-broken", "A line of the checkpoint is not JSON", READ_FAILS, TableMutation(file=CHECKPOINT, op="write", line=3, to="{"), "003", of="checkpointed"),
    bad("no-protocol", "Nothing says which version of the protocol the table needs", READ_FAILS, TableMutation(file=commit(0), op="write", line=1, to=""), "004"),
    bad("schema-broken", "The schema is cut", READ_FAILS, change("metaData.schemaString", '{"type":"struct"', line=2), "005"),
    bad("partitioned-by-nothing", "A partition column is not in the schema", READ_FAILS, change("metaData.partitionColumns", ["town"], line=2), "005"),
    bad("table-without-id", "The metadata of the table have no id", READ_FAILS, TableMutation(file=commit(0), op="remove", line=2, path="metaData.id"), "056"),
    bad("format-of-no-parquet", "The files of the table are said to be in another format", "Readers that go by it take the files for what they are not.", change("metaData.format.provider", "orc", line=2), "063"),
    bad("added-twice", "A commit adds a file twice, with other statistics", "Every reader decides for itself which of the two entries counts.", TableMutation(file=commit(0), op="insert", line=3, to=compact(add("part-0.parquet", PARTS[0], {"numRecords": 8}))), "006"),
    bad("file-missing", "A live file was deleted", READ_FAILS, TableMutation(file="part-1.parquet", op="drop"), "007"),
    bad("size-less", "A size is 100 bytes less than the file's", READ_FAILS, change("add.size", len(PARTS[0]) - 100), "008"),
    bad("statistics-cut", "The text of statistics is cut", READ_FAILS, change("add.stats", '{"numRecords":8,'), "009"),
    bad("rows-as-text", "The number of rows is a text", READ_FAILS, change("add.stats.numRecords", "8"), "009"),
    bad("bound-of-another-type", "The upper bound of a whole number is a text", "Readers make another number of it, or fail.", change("add.stats.maxValues.id", "7"), "010"),
    bad("no-such-day", "A bound is 30 February", READ_FAILS, change("add.stats.minValues.day", "2022-02-30"), "010"),
    bad("bounds-inverted", "The lower bound of a column is above the upper one", ROWS_LOST, change("add.stats.minValues.id", 8), "012"),
    bad("nulls-beyond-the-rows", "More nulls than rows are counted", ROWS_LOST, change("add.stats.nullCount.metal", 9), "013"),
    bad("partition-value-missing", "A file has no value of a partition column", "The rows of the file have null instead.", TableMutation(file=commit(1), op="remove", line=1, path="add.partitionValues.city"), "016", of="partitioned"),
    bad("partition-value-no-number", "The value of a partition column of numbers is a word", "The rows of the file have null instead, or queries fail.", change("add.partitionValues.year", "last", line=1, file=commit(1)), "017", of="partitioned"),
    footer("rows-none", "A file of 8 rows is said to have none", ROWS_LOST, change("add.stats", compact({**STATS[0], "numRecords": 0, "nullCount": {}})), "023"),
    footer("nulls-all", "A column without nulls is said to have nothing else", ROWS_LOST, change("add.stats.nullCount.id", 8), "024"),
    footer("maximum-below-the-footers", "The greatest value of a column is above the upper bound in the log", ROWS_LOST, change("add.stats.maxValues.id", 5), "025"),
    footer("decimal-maximum-cut", "The upper bound of a decimal lost a digit", ROWS_LOST, change("add.stats.maxValues.price", 6.9), "025"),
    footer("bounds-of-no-column", "A file lacks a column of which the log has bounds", "Queries find null where the statistics promise values.", change("add.stats", compact(stats_of(3, {"id": 1, "town": "Oslo"}, {"id": 3, "town": "Rome"}, {"id": 0})), line=2), "026", of="evolved"),
    values("maximum-lowered", "The upper bound of a column is below its values", ROWS_LOST, change("add.stats.maxValues.id", 5), "027"),
    values("text-maximum-cut", "The upper bound of a text is its first letter", ROWS_LOST, change("add.stats.maxValues.metal", "z"), "027"),
    values("nulls-not-counted", "A column with two nulls is said to have none", "A query for nulls skips the file.", change("add.stats.nullCount.mass", 0), "028"),
)  # fmt: skip
