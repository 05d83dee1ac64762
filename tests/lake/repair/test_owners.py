"""Plans name who wrote a file of a table, as the commit says that added it; and remedies know the table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pqassay
from places import GOLDEN_FILES
from pqassay_lake.repair.open_tables import open_table


def test_a_file_of_a_delta_table_has_the_owner_of_its_commit(tmp_path: Path) -> None:
    table = Path(shutil.copytree(GOLDEN_FILES / "dlt/plain/table", tmp_path / "t"))
    log = table / "_delta_log"
    first = next(log.glob("*.json"))
    info = {"commitInfo": {"jobName": "load\nprices", "engineInfo": "Spark"}}
    others = [line for line in first.read_text().splitlines() if "commitInfo" not in line]
    first.write_text("".join(f"{line}\n" for line in [json.dumps(info), *others]))

    opened = open_table(str(table), "delta", "", "")

    owners = opened.owners(["part-0.parquet", "part-9.parquet"])
    assert {"part-0.parquet": "load prices (commit 0, engine Spark)"} == owners


def test_a_file_of_an_iceberg_table_has_the_owner_of_its_snapshot(tmp_path: Path) -> None:
    table = Path(shutil.copytree(GOLDEN_FILES / "ice/plain/table", tmp_path / "t"))
    pointer = next(table.glob("metadata/*.metadata.json"))
    content = json.loads(pointer.read_text())
    for snapshot in content["snapshots"]:
        snapshot["summary"]["engine-name"] = "trino"
    pointer.write_text(json.dumps(content))

    opened = open_table(str(table), "iceberg", "", "lake")

    (owner,) = opened.owners(["data/part-0.parquet"]).values()
    assert ("trino", "lake.`t`") == (owner.split(" (")[0], opened.name)


def test_in_a_table_no_remedy_is_a_command_that_refuses_there(tmp_path: Path) -> None:
    """A file with a false bound in its footer: alone it is stripped; in a table the table has to rewrite it."""
    table = Path(shutil.copytree(GOLDEN_FILES / "dlt/plain/table", tmp_path / "t"))
    false = GOLDEN_FILES / "sta/max-too-small/data.parquet"
    shutil.copy(false, table / "part-0.parquet")

    (alone,) = pqassay.check(str(false)).files
    files = {Path(file.path).name: file for file in pqassay.check(str(table), tier="values").files}

    assert all((one.remedy or "").startswith("pqassay strip") for one in alone.findings)
    found = [one for one in files["part-0.parquet"].findings if one.rule == "STA-041"]
    assert [True] == [(one.remedy or "").startswith("MERGE of the table") for one in found]
