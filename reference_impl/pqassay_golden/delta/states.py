"""Golden Delta tables with redundant state: checkpoints beside their log, version checksum files, row ids; also NaN and zeros."""

from __future__ import annotations

import json
import math
from typing import Any

from pqassay_golden.delta.table import (
    CHECKPOINT,
    COLUMNS,
    FILES,
    ID_STATS,
    INFO,
    PARTS,
    PROTOCOL,
    READ_FAILS,
    ROWS_LOST,
    STATS,
    WRONG_COUNT,
    Json,
    add,
    bad,
    change,
    city_part,
    commit,
    compact,
    lines,
    metadata,
    schema,
    stats_of,
    values,
)
from pqassay_golden.tables import GoodTable, parquet
from pqassay_golden.tiny.columns import Column
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.delta import ENABLE_ROW_TRACKING, HIGH_WATER_MARK, ROW_TRACKING, ROW_TRACKING_DOMAIN
from pqassay_spec.table.last_checkpoint import checksum_of
from pqassay_spec.table.layout import DELTA_LAST_CHECKPOINT, DELTA_LOG, checksum_name


def protocol(reader: list[str], writer: list[str]) -> Json:
    """A ``protocol`` action that lists features."""
    features: dict[str, Any] = {"readerFeatures": reader} if reader else {}
    return {"protocol": {"minReaderVersion": 3 if reader else 1, "minWriterVersion": 7, **features, "writerFeatures": writer}}  # fmt: skip


V2 = protocol(["v2Checkpoint"], ["v2Checkpoint"])
PARTITION = {"city": "Oslo", "year": "2024"}
DESCRIBED = metadata(schema(id="long", city="string", year="integer"), ("city", "year"))
PATHS = ["city=Oslo/part-0.parquet", "city=Oslo/part-1.parquet"]
ENTRIES = [add(path, city_part(), ID_STATS, PARTITION) for path in PATHS]
PARSED = {"stats_parsed": ID_STATS, "partitionValues_parsed": {"city": "Oslo", "year": 2024}}

BESIDE_ITS_LOG = {
    commit(0): lines(V2, DESCRIBED, ENTRIES[0]),
    commit(1): lines(INFO, ENTRIES[1]),
    CHECKPOINT: lines(
        {"checkpointMetadata": {"version": 1}},
        V2,
        DESCRIBED,
        *({"add": {**entry["add"], "dataChange": False, **PARSED}} for entry in ENTRIES),
    ),
    **dict.fromkeys(PATHS, city_part()),
}

LAST = f"{DELTA_LOG}/{DELTA_LAST_CHECKPOINT}"
_POINTER: Json = {
    "version": 1,
    "size": len(BESIDE_ITS_LOG[CHECKPOINT].splitlines()),
    "sizeInBytes": len(BESIDE_ITS_LOG[CHECKPOINT]),
    "numOfAddFiles": len(ENTRIES),
}
POINTED = {**BESIDE_ITS_LOG, LAST: compact({**_POINTER, "checksum": checksum_of(_POINTER)}).encode()}

CHECKSUM = f"{DELTA_LOG}/{checksum_name(0)}"
SIZES = [len(data) for data in PARTS]
CHECKSUMMED = {
    commit(0): lines(
        PROTOCOL,
        metadata(schema(**COLUMNS)),
        *(add(f"part-{number}.parquet", PARTS[number], STATS[number]) for number in (0, 1)),
    ),
    CHECKSUM: compact(
        {
            "tableSizeBytes": sum(SIZES),
            "numFiles": 2,
            "numMetadata": 1,
            "numProtocol": 1,
            "numDeletedRecordsOpt": 0,
            "fileSizeHistogram": {
                "sortedBinBoundaries": [0, 1024, 8192],
                "fileCounts": [0, 2, 0],
                "totalBytes": [0, sum(SIZES), 0],
            },
            "metadata": metadata(schema(**COLUMNS))["metaData"],
            **PROTOCOL,
            "allFiles": [
                {**add(f"part-{number}.parquet", PARTS[number], STATS[number])["add"], "dataChange": False}
                for number in (0, 1)
            ],
        }
    ).encode(),
    **FILES,
}

TRACKED = {
    commit(0): lines(
        protocol([], [ROW_TRACKING, "domainMetadata"]),
        metadata(schema(**COLUMNS), **{ENABLE_ROW_TRACKING: "true"}),
        {"domainMetadata": {"domain": ROW_TRACKING_DOMAIN, "configuration": json.dumps({HIGH_WATER_MARK: 15}), "removed": False}},
        add("part-0.parquet", PARTS[0], STATS[0], baseRowId=0, defaultRowCommitVersion=0),
        add("part-1.parquet", PARTS[1], STATS[1], baseRowId=8, defaultRowCommitVersion=0),
    ),
    **FILES,
}  # fmt: skip


def floating_part() -> bytes:
    """Three rows with NaN, zeros of both signs and a number."""
    return parquet(
        Column("ratio", "double", [1.5, math.nan, 2.5]), Column("change", "double", [-0.0, 0.0, -1.5])
    )


FLOATING = {
    commit(0): lines(
        PROTOCOL,
        metadata(schema(ratio="double", change="double")),
        add("part-0.parquet", floating_part(), stats_of(3, {"ratio": 1.5, "change": -1.5}, {"ratio": "NaN", "change": 0.0}, {"ratio": 0, "change": 0})),
    ),
    "part-0.parquet": floating_part(),
}  # fmt: skip

GOOD_TABLES = (
    GoodTable("dlt/beside-its-log", "A checkpoint, with statistics and partition values in both forms, beside the commits before it", BESIDE_ITS_LOG),
    GoodTable("dlt/pointed", "A file that points to the newest checkpoint, with a checksum of its own", POINTED),
    GoodTable("dlt/checksummed", "A version checksum file with a histogram of sizes", CHECKSUMMED),
    GoodTable("dlt/tracked", "Two files whose rows have ids", TRACKED),
    GoodTable("dlt/floating", "NaN beside a bound of NaN, and zeros of both signs below zero", FLOATING),
)  # fmt: skip


def _without_statistics(entry: Json) -> str:
    """The entry of a checkpoint, without statistics in either form."""
    kept = {name: value for name, value in entry["add"].items() if name != "stats"}
    parsed = {name: value for name, value in PARSED.items() if name != "stats_parsed"}
    return compact({"add": {**kept, "dataChange": False, **parsed}})


def _pointer(**other: int) -> str:
    """The last checkpoint file with other members, and their checksum."""
    content = {**_POINTER, **other}
    return compact({**content, "checksum": checksum_of(content)})


def _checkpoint(path: str, to: Any) -> TableMutation:
    return change(path, to, line=3, file=CHECKPOINT)


BAD_TABLES = (
    bad("beside-another-log", "The statistics of a checkpoint are not those of the log before it", ROWS_LOST, _checkpoint("add.stats", compact({**ID_STATS, "maxValues": {"id": 2}, "numRecords": 3})), "020", "036", of="beside-its-log"),
    bad("checkpoint-of-one-file", "A checkpoint lacks a file that is live by the log", ROWS_LOST, TableMutation(file=CHECKPOINT, op="write", line=4, to=""), "020", of="beside-its-log"),
    bad("parsed-maximum-lowered", "The upper bound of a column is lower in one of the two forms of statistics", ROWS_LOST, _checkpoint("add.stats_parsed.maxValues.id", 2), "036", of="beside-its-log"),
    bad("parsed-partition-value", "A partition value is another one in one of its two forms", ROWS_LOST, _checkpoint("add.partitionValues_parsed.year", 2023), "037", of="beside-its-log"),
    bad("checkpoint-without-statistics", "A checkpoint lacks the statistics of a file", "Queries read the file without need.", TableMutation(file=CHECKPOINT, op="write", line=4, to=_without_statistics(ENTRIES[1])), "043", of="beside-its-log"),
    bad("checkpoint-of-another-table", "A checkpoint has a property that the log does not have", "Readers see another table once the log is gone.", change("metaData.configuration", {"delta.appendOnly": "true"}, line=2, file=CHECKPOINT), "044", of="beside-its-log"),
    bad("checksum-of-another-table", "A version checksum file has a property that the log does not have", "Readers that compare refuse the table.", change("metadata.configuration", {"delta.appendOnly": "true"}, line=0, file=CHECKSUM), "049", of="checksummed"),
    bad("checksum-of-one-file", "A version checksum file counts a file less than there are", WRONG_COUNT, change("numFiles", 1, line=0, file=CHECKSUM), "021", of="checksummed"),
    bad("checksum-of-another-file", "A version checksum file lists a file that the table does not have", WRONG_COUNT, change("allFiles.[1].path", "part-2.parquet", line=0, file=CHECKSUM), "061", of="checksummed"),
    bad("checksum-without-protocol", "A version checksum file does not count protocols", "Readers that compare have nothing to compare.", TableMutation(file=CHECKSUM, op="remove", line=0, path="numProtocol"), "062", of="checksummed"),
    bad("pointer-to-no-checkpoint", "The last checkpoint is said to be of a version that has none", READ_FAILS, TableMutation(file=LAST, op="write", line=0, to=_pointer(version=2)), "059", of="pointed"),
    bad("pointer-of-other-actions", "The last checkpoint is said to hold another action", "Readers reserve more than they need.", TableMutation(file=LAST, op="write", line=0, to=_pointer(size=_POINTER["size"] + 1)), "065", of="pointed"),
    bad("pointer-of-another-checksum", "The last checkpoint file has a checksum that is not its own", "Readers list the whole log.", change("checksum", "0" * 32, line=0, file=LAST), "060", of="pointed"),
    bad("row-ids-twice", "Rows of two files have one id", "Two rows are taken for one.", change("add.baseRowId", 7, line=4), "022", of="tracked"),
    bad("row-ids-missing", "Rows are tracked, and those of one file have no ids", "Queries for row ids fail.", TableMutation(file=commit(0), op="remove", line=4, path="add.baseRowId"), "040", of="tracked"),
    bad("high-water-mark-low", "The high water mark is below a row id", "The next rows get ids that are taken.", change("domainMetadata.configuration", json.dumps({HIGH_WATER_MARK: 14}), line=2), "041", of="tracked"),
    bad("rows-of-a-later-version", "Rows come from a version that there is not", "Queries for changes give rows that did not change.", change("add.defaultRowCommitVersion", 1, line=3), "042", of="tracked"),
    values("nan-above-the-maximum", "A column with NaN has a finite upper bound", "Engines that order NaN above all numbers skip the file for it.", change("add.stats.maxValues.ratio", 2.5, line=2), "038", of="floating"),
    values("zero-above-the-maximum", "An upper bound of -0.0 leaves out 0.0", "Engines that order the zeros skip the file for one of them.", change("add.stats.maxValues.change", -0.0, line=2), "039", of="floating"),
)  # fmt: skip
