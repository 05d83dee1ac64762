"""The owners of files: what the commit that added a file says about those behind it."""

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.errors import UsageError
from pqassay.judge.checker import planned
from pqassay.stores.table_files import TableAt
from pqassay.stores.targets import find
from pqassay_lake.owners import Owners, owner_of, owner_of_metadata, owners_in
from pqassay_tables.metadata.owner import UNKNOWN, Owner, owner_of_commit, owner_of_snapshot

ICEBERG = GOLDEN_FILES / "interop/spark-4.1.4/iceberg-position-deletes/table"


def log(folder: Path, *commits: list[dict[str, Any]], first: int = 0) -> TableAt:
    (folder / "_delta_log").mkdir(parents=True)
    for number, actions in enumerate(commits, first):
        text = "".join(f"{json.dumps(action)}\n" for action in actions)
        (folder / "_delta_log" / f"{number:020}.json").write_text(text)
    return TableAt("delta", str(folder), str(folder))


def add(path: str, *, changes: bool = True) -> dict[str, Any]:
    return {"add": {"path": path, "dataChange": changes}}


def info(**members: Any) -> dict[str, Any]:
    return {"commitInfo": {"timestamp": 1_700_000_000_000, **members}}


def by(job: str) -> dict[str, Any]:
    return info(operation="WRITE", job={"jobName": job, "jobId": "17"})


def test_a_file_is_owned_by_the_commit_that_added_it_and_its_entry_by_the_newest_one(tmp_path: Path) -> None:
    table = log(
        tmp_path,
        [by("loader"), add("a%20b.parquet"), add("c.parquet")],
        [by("analyzer"), add("a%20b.parquet", changes=False)],
        [by("deleter"), {"remove": {"path": "a%20b.parquet"}}, add("a%20b.parquet")],
    )
    found = owners_in(table, ["a b.parquet", "c.parquet"])
    assert ("loader", "deleter") == (found["a b.parquet"].wrote.name, found["a b.parquet"].claimed.name)
    assert ("loader", "loader") == (found["c.parquet"].wrote.name, found["c.parquet"].claimed.name)
    assert ("0", 1_700_000_000_000) == (found["c.parquet"].wrote.commit, found["c.parquet"].wrote.at)


def test_a_commit_behind_the_version_that_is_judged_owns_nothing(tmp_path: Path) -> None:
    table = log(tmp_path, [by("loader"), add("a.parquet")], [by("later"), add("a.parquet", changes=False)])
    (target,) = (one for one in find([str(tmp_path)]).targets)
    assert target.table is not None
    assert "later" == owners_in(table, ["a.parquet"])["a.parquet"].claimed.name
    moment = type(target.table.moment)(version=0)
    earlier = TableAt("delta", table.name, table.path, moment=moment)
    assert "loader" == owners_in(earlier, ["a.parquet"])["a.parquet"].claimed.name


def test_where_the_log_was_cleaned_up_the_owner_is_unknown_and_the_reason_says_so(tmp_path: Path) -> None:
    log(tmp_path, [by("newer"), add("new.parquet")], first=7)
    assert f"{UNKNOWN} (the log does not reach back to the commit that added it)" == (
        owner_of(str(tmp_path), "old.parquet").line
    )
    assert "7" == owner_of(str(tmp_path), f"{tmp_path}/new.parquet").commit


@pytest.mark.parametrize("broken", ["{", "[]", '{"add": 7, "commitInfo": 5}', '{"add": {"path": 1}}'])
def test_a_commit_that_is_no_commit_owns_nothing(tmp_path: Path, broken: str) -> None:
    table = log(tmp_path, [by("loader"), add("a.parquet")], [])
    (tmp_path / "_delta_log" / f"{1:020}.json").write_text(broken)
    assert "loader" == owners_in(table, ["a.parquet"])["a.parquet"].wrote.name


def test_members_of_a_commit_are_those_that_engines_write() -> None:
    databricks = {
        "operation": "MERGE",
        "userName": "ada@example.org",
        "userId": "5",
        "job": {"jobId": "1", "jobName": "nightly", "jobRunId": "88"},
        "engineInfo": "Databricks-Runtime/15.4",
    }
    found = owner_of_commit(4, databricks)
    assert ("nightly", "ada@example.org", "88", "Databricks-Runtime/15.4") == (
        found.job,
        found.user,
        found.query,
        found.engine,
    )
    streaming = {"operation": "STREAMING UPDATE", "operationParameters": {"queryId": "q-1", "epochId": "3"}}
    assert "q-1" == owner_of_commit(4, streaming).query
    assert "delta-rs.py-1.6.6" == owner_of_commit(4, {"clientVersion": "delta-rs.py-1.6.6"}).name
    assert Owner("4", reason="the commit does not name its author") == owner_of_commit(4, None)


def test_members_of_a_snapshot_are_those_that_engines_write() -> None:
    trino = owner_of_snapshot({"summary": {"trino_query_id": "20261120_1", "trino_user": "ada"}})
    assert ("trino", "ada", "20261120_1", "ada") == (trino.engine, trino.user, trino.query, trino.name)
    flink = owner_of_snapshot({"summary": {"flink.job-id": "2e27"}})
    assert ("flink", "2e27") == (flink.engine, flink.name)
    assert UNKNOWN == owner_of_snapshot({"summary": 5}).name


def test_a_file_of_an_iceberg_table_is_owned_by_the_snapshot_that_added_it() -> None:
    names = sorted(path.name for path in (ICEBERG / "data").glob("*.parquet"))
    owners = [owner_of(str(ICEBERG), f"data/{name}") for name in names]
    assert {("pyspark-shell", "spark/4.1.4")} == {(one.name, one.engine) for one in owners}
    assert {"append", "delete", "overwrite"} == {one.operation for one in owners}


def test_a_snapshot_that_has_expired_is_named_without_an_owner(tmp_path: Path) -> None:
    shutil.copytree(ICEBERG, tmp_path / "table")
    newest = tmp_path / "table" / "metadata" / "v12.gz.metadata.json"
    content = json.loads(gzip.decompress(newest.read_bytes()))
    content["snapshots"] = content["snapshots"][1:]
    newest.write_bytes(gzip.compress(json.dumps(content).encode()))
    names = sorted(path.name for path in (tmp_path / "table" / "data").glob("*.parquet"))
    owners = [owner_of(str(tmp_path / "table"), f"data/{name}") for name in names]
    assert {"", "the snapshot that added it has expired"} == {one.reason for one in owners}
    assert all(one.commit for one in owners)


def test_a_finding_about_a_file_is_for_its_writer_and_one_about_the_entry_for_whoever_made_that() -> None:
    table = GOLDEN_FILES / "dlt/maximum-lowered/table"
    plan = planned(table, tier="footer")
    (finding,) = (one for file in pqassay.check(table, tier="footer").files for one in file.findings)
    owners = Owners(plan.targets, [finding.path])
    number = finding.at[0].file
    assert number is not None
    assert owner_of_metadata(plan.targets[0].table or _none(), number) == owners.of_finding(finding)
    of_bytes = replace(finding, at=[replace(finding.at[0], file=None)])
    assert owners.of_file(finding.path) == owners.of_finding(of_bytes)
    assert None is owners.of_file("elsewhere.parquet")


def _none() -> TableAt:
    raise AssertionError("there is no table")


def test_a_file_of_metadata_is_owned_by_the_commit_that_it_is(tmp_path: Path) -> None:
    table = log(tmp_path, [by("loader"), add("a.parquet")])
    assert "loader" == owner_of_metadata(table, "_delta_log/00000000000000000000.json").name
    assert "it is not a commit" == owner_of_metadata(table, "_delta_log/_last_checkpoint").reason


def test_a_folder_that_is_no_table_is_refused(tmp_path: Path) -> None:
    shutil.copy(next((ICEBERG / "data").glob("*.parquet")), tmp_path / "a.parquet")
    with pytest.raises(UsageError, match="is neither a Delta nor an Iceberg table"):
        owner_of(str(tmp_path), "a.parquet")
