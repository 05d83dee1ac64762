"""Delta tables whose state is said more than once: Parquet checkpoints in both forms, and sound ones that differ as they may."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from places import GOLDEN_FILES

PLAIN = GOLDEN_FILES / "dlt/plain/table"
STATS = json.loads(
    json.loads((PLAIN / f"_delta_log/{0:020}.json").read_text().splitlines()[3])["add"]["stats"]
)
MOMENT = dt.datetime(1970, 1, 1, 0, 0, 8, 641_969, tzinfo=dt.UTC)


def rules_of(report: pqassay.Report) -> list[str]:
    return sorted({finding.rule for file in report.files for finding in file.findings})


def parsed(**changed: Any) -> dict[str, Any]:
    """The statistics of the first file in the types of its columns."""
    least = {"id": 0, "metal": "copper", "price": Decimal("0.00"), "day": dt.date(2022, 1, 8), "at": dt.datetime(1970, 1, 1, tzinfo=dt.UTC), "mass": 0.0}  # fmt: skip
    greatest = {"id": 7, "metal": "zinc", "price": Decimal("6.93"), "day": dt.date(2022, 1, 15), "at": MOMENT, "mass": 1.25}  # fmt: skip
    return {
        "numRecords": 8,
        "minValues": least,
        "maxValues": {**greatest, **changed},
        "nullCount": STATS["nullCount"],
    }


def checkpointed(folder: Path, *, text: bool = True, log: bool = False, **changed: Any) -> Path:
    """The plain table with a checkpoint in Parquet, statistics as a struct and, if asked for, as a text as well."""
    table = Path(shutil.copytree(PLAIN, folder / "t"))
    path = table / f"_delta_log/{0:020}.json"
    actions = [json.loads(line) for line in path.read_text().splitlines()]
    columns = pa.struct(
        [
            ("id", pa.int64()),
            ("metal", pa.string()),
            ("price", pa.decimal128(9, 2)),
            ("day", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("mass", pa.float64()),
        ]
    )
    counts = pa.struct([(name, pa.int64()) for name in STATS["nullCount"]])
    stats = pa.struct([("numRecords", pa.int64()), ("minValues", columns), ("maxValues", columns), ("nullCount", counts)])  # fmt: skip
    add = pa.struct([("path", pa.string()), ("partitionValues", pa.map_(pa.string(), pa.string())), ("size", pa.int64()), ("modificationTime", pa.int64()), ("dataChange", pa.bool_()), ("stats", pa.string()), ("stats_parsed", stats)])  # fmt: skip
    rows: list[dict[str, Any]] = [{key: one[key]} for one in actions for key in ("protocol", "metaData") if key in one]  # fmt: skip
    for one in (action["add"] for action in actions if "add" in action):
        held = {**one, "partitionValues": []}
        if one["path"] == "part-0.parquet":
            held["stats_parsed"] = parsed(**changed)
            held["stats"] = one["stats"] if text else None
        rows.append({"add": held})
    texts = pa.map_(pa.string(), pa.string())
    how = pa.struct([("provider", pa.string()), ("options", texts)])
    described = pa.struct([("id", pa.string()), ("format", how), ("schemaString", pa.string()), ("partitionColumns", pa.list_(pa.string())), ("configuration", texts)])  # fmt: skip
    for one in (row["metaData"] for row in rows if "metaData" in row):
        one |= {"format": {"provider": "parquet", "options": []}, "configuration": []}
    versions = pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())])
    written = pa.Table.from_pylist(
        rows, pa.schema([("protocol", versions), ("metaData", described), ("add", add)])
    )
    pq.write_table(written, table / f"_delta_log/{0:020}.checkpoint.parquet")
    if not log:
        path.unlink()
    return table


@pytest.mark.parametrize("text", [True, False], ids=["both forms", "the struct alone"])
def test_a_sound_checkpoint_is_conformant(tmp_path: Path, text: bool) -> None:
    report = pqassay.check(checkpointed(tmp_path, text=text, log=text), tier="values")
    meta = report.coverages[report.files[0].coverage].checked

    assert ([], ["conformant"] * 3) == (rules_of(report), [file.outcome for file in report.files])
    assert ("DLT-036" in meta, "DLT-020" in meta) == (text, text)


def test_a_struct_alone_is_compared_with_the_values(tmp_path: Path) -> None:
    table = checkpointed(tmp_path, text=False, price=Decimal("6.92"))
    assert ["DLT-027"] == rules_of(pqassay.check(table, tier="values"))
    assert ["DLT-025"] == rules_of(pqassay.check(table, tier="footer"))


@pytest.mark.parametrize(
    ("column", "value", "rules"),
    [
        ("at", MOMENT.replace(microsecond=641_000), []),
        ("at", MOMENT.replace(microsecond=640_000), ["DLT-036"]),
        ("day", dt.date(2022, 1, 14), ["DLT-036"]),
        ("price", Decimal("6.90"), ["DLT-036"]),
    ],
    ids=["cut to milliseconds", "a millisecond less", "a day less", "a digit less"],
)
def test_the_struct_says_what_the_text_says(
    tmp_path: Path, column: str, value: Any, rules: list[str]
) -> None:
    assert rules == rules_of(pqassay.check(checkpointed(tmp_path, **{column: value}), tier="meta"))


def test_a_checkpoint_is_compared_with_the_log_as_long_as_that_is_there(tmp_path: Path) -> None:
    table = checkpointed(tmp_path, text=False, log=True, id=6)
    beside = rules_of(pqassay.check(table, tier="meta"))
    (table / f"_delta_log/{0:020}.json").unlink()

    assert (["DLT-020"], []) == (beside, rules_of(pqassay.check(table, tier="meta")))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"numFiles":null}', '{"fileSizeHistogram":{"sortedBinBoundaries":[0],"fileCounts":[1,2]}}'],
)  # fmt: skip
def test_no_checksum_file_is_a_mistake_of_the_judge(tmp_path: Path, text: str) -> None:
    table = Path(shutil.copytree(PLAIN, tmp_path / "t"))
    (table / f"_delta_log/{0:020}.crc").write_text(text)
    report = pqassay.check(table, tier="meta")

    assert [None] == [file.error for file in report.files]
    assert rules_of(report) == (["DLT-062"] if text.startswith('{"') else ["DLT-021"])


CHECKSUMMED = GOLDEN_FILES / "dlt/checksummed/table"


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (lambda held: held["allFiles"].reverse(), []),
        (lambda held: held["allFiles"][0].update(dataChange=True), []),
        (lambda held: held.pop("allFiles"), []),
        (lambda held: held["allFiles"].pop(), ["DLT-061"]),
        (lambda held: held["allFiles"].append(None), ["DLT-061"]),
        (lambda held: held["allFiles"][1].update(stats="{"), ["DLT-061"]),
        (lambda held: held["allFiles"][1].pop("stats"), ["DLT-061"]),
        (lambda held: held["allFiles"][1].update(modificationTime=1), ["DLT-061"]),
        (lambda held: held["allFiles"][1].update(path="part%2D1.parquet"), []),
        (lambda held: held["metadata"]["format"].update(provider="orc"), ["DLT-049"]),
        (lambda held: held["metadata"]["format"].pop("options"), []),
    ],
)  # fmt: skip
def test_the_files_that_a_checksum_file_lists_are_the_live_ones(
    tmp_path: Path, change: Callable[[Any], Any], rules: list[str]
) -> None:
    table = Path(shutil.copytree(CHECKSUMMED, tmp_path / "t"))
    path = table / f"_delta_log/{0:020}.crc"
    held = json.loads(path.read_text())
    change(held)
    path.write_text(json.dumps(held))

    assert rules == rules_of(pqassay.check(table, tier="meta"))


@pytest.mark.parametrize(
    ("held", "rules"),
    [
        ('{"version":0,"size":4}', []),
        ('{"version":0,"size":4,"parts":null,"tags":{"a":"b"}}', []),
        ('{"version":-3,"size":99}', []),  # of a checkpoint that is gone; a later one is there
        ('{"version":0,"size":4,"sizeInBytes":1}', ["DLT-065"]),
        ('{"version":0,"size":4,"parts":2}', ["DLT-065"]),
        ('{"version":0}', ["DLT-065"]),
        ('{"version":1,"size":4}', ["DLT-059"]),
        ('{"size":4}', ["DLT-059"]),
        ('{"version":"0","size":4,"checksum":7}', ["DLT-059", "DLT-060"]),
        ("[]", ["DLT-059"]),
        ("{", ["DLT-059"]),
        ("", ["DLT-059"]),
    ],
)
def test_the_last_checkpoint_is_one_that_the_log_has(tmp_path: Path, held: str, rules: list[str]) -> None:
    table = checkpointed(tmp_path)
    (table / "_delta_log/_last_checkpoint").write_text(held)
    report = pqassay.check(table, tier="meta")

    assert (rules, [None]) == (rules_of(report), [file.error for file in report.files])


def test_a_last_checkpoint_without_any_checkpoint_is_a_mistake(tmp_path: Path) -> None:
    table = Path(shutil.copytree(PLAIN, tmp_path / "t"))
    (table / "_delta_log/_last_checkpoint").write_text('{"version":0,"size":4}')

    assert ["DLT-059"] == rules_of(pqassay.check(table, tier="meta"))
