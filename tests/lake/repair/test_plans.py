"""Repair plans: what a report says becomes a quarantine list and statements, whatever form the report has."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay_lake.repair.model import json_schema
from pqassay_tables.metadata import repairs

DELTA, ICEBERG = "dlt/maximum-lowered", "ice/maximum-lowered"

COLUMNS = ("id", "metal", "price", "day", "at", "mass")
"""Columns of the golden Delta table."""


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Delta table, an Iceberg table and a file of no table, each with a false bound; the current folder."""
    shutil.copytree(GOLDEN_FILES / DELTA / "table", tmp_path / "sales")
    shutil.copytree(GOLDEN_FILES / ICEBERG / "table", tmp_path / "ice")
    shutil.copy(GOLDEN_FILES / "sta/max-too-small/data.parquet", tmp_path / "plain.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, arguments)
    assert code == result.exit_code, result.output
    return result


def reported(*paths: str, tier: str = "values") -> None:
    report = pqassay.check(list(paths), tier=tier)  # type: ignore[arg-type]  # a tier
    Path("report.json").write_text(report.to_json())


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Copies a golden table into the current folder, and reports on it."""
    monkeypatch.chdir(tmp_path)

    def copied(case: str, name: str = "sales", tier: str = "values") -> None:
        shutil.copytree(GOLDEN_FILES / case / "table", name)
        reported(name, tier=tier)

    return copied


def planned(*options: str) -> dict[str, Any]:
    run("plan-repair", "report.json", *options)
    found: dict[str, Any] = json.loads(Path("repair-plan/quarantine.json").read_text())
    return found


def test_each_file_is_mended_where_it_lives(lake: Path) -> None:
    reported("sales", "ice", "plain.parquet")

    plan = planned("--name", "ice=prod.db.ice")

    jsonschema.validate(plan, json_schema())
    steps = {step.get("table", "plain"): step["statements"] for step in plan["steps"]}
    assert {
        "ice": [
            "UPDATE prod.db.ice SET `id` = `id` WHERE _file IN ('file:///warehouse/metals/data/part-0.parquet')"
        ],
        "plain": ["pqassay strip plain.parquet --statistics --column grade"],
        "sales": [merged(f"delta.`{lake}/sales`")],
    } == steps
    assert ["ice/data/part-0.parquet", "plain.parquet", "sales/part-0.parquet"] == sorted(
        file["path"] for file in plan["files"]
    )


def merged(table: str) -> str:
    """The statement that rewrites the first file of the golden Delta table."""
    names = [f"`{name}`" for name in COLUMNS]
    return (
        f"MERGE INTO {table} t USING (SELECT DISTINCT {', '.join(names)} FROM {table} WHERE _metadata.file_name IN ('part-0.parquet')) f "
        f"ON {' AND '.join(f't.{name} <=> f.{name}' for name in names)} WHEN MATCHED THEN UPDATE SET t.`id` = t.`id`"
    )


def test_the_list_is_written_as_csv_and_json_and_statements_as_files_to_run(lake: Path) -> None:
    reported("sales", "plain.parquet")

    planned()

    with Path("repair-plan/quarantine.csv").open() as file:
        rows = {row["path"]: row for row in csv.DictReader(file)}
    assert ("sales", "0", "values", "DLT-027", "rows lost") == tuple(
        rows["sales/part-0.parquet"][name] for name in ("table", "moment", "tier", "rules", "could")
    )
    statements = Path("repair-plan/repair.sql").read_text().splitlines()
    assert [f"{merged(f'delta.`{lake}/sales`')};"] == [
        line for line in statements if line and not line.startswith("--")
    ]
    assert (
        'pqassay strip plain.parquet --statistics --column grade "$@"'
        in Path("repair-plan/repair.sh").read_text().splitlines()
    )


def test_a_finding_about_a_table_names_the_files_that_it_is_about(golden: Callable[..., None]) -> None:
    golden("dlt/bounds-inverted", tier="meta")

    plan = planned()

    assert [("sales/part-0.parquet", ["DLT-012"])] == [
        (file["path"], file["rules"]) for file in plan["files"]
    ]


def test_what_no_statement_mends_is_left_to_a_person(golden: Callable[..., None]) -> None:
    golden("dlt/commit-missing", tier="meta")

    result = CliRunner().invoke(app, ["plan-repair", "report.json"])

    assert 2 == result.exit_code, "the table cannot be read"
    assert "sales: the table cannot be read" in result.stderr


def test_a_table_that_cannot_be_read_stops_no_repair_of_others(
    golden: Callable[..., None], tmp_path: Path
) -> None:
    shutil.copytree(GOLDEN_FILES / "dlt/commit-missing/table", tmp_path / "broken")
    golden("dlt/maximum-lowered")
    reported("broken", "sales")

    assert 0 == CliRunner().invoke(app, ["plan-repair", "report.json"]).exit_code
    assert "MERGE INTO" in Path("repair-plan/repair.sql").read_text()


def test_no_file_is_written_anew_that_readers_read_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a false partition value, Spark would read false rows, and write them."""
    shutil.copytree(GOLDEN_FILES / "ice/another-city/table", tmp_path / "ice")
    shutil.copytree(GOLDEN_FILES / "ice/split-behind-the-first-rows/table", tmp_path / "split")
    monkeypatch.chdir(tmp_path)
    reported("ice", "split")
    report = json.loads(Path("report.json").read_text())
    also = next(one for one in report["files"] for one in one["findings"] if one["rule"] == "ICE-043")
    also_false = {**also, "rule": "ICE-040", "remedy": repairs.ICEBERG_FILE.text}
    next(one for one in report["files"] if one["path"] == also["path"])["findings"].append(also_false)
    Path("report.json").write_text(json.dumps(report))

    plan = planned()

    assert [] == [step["statements"] for step in plan["steps"] if step.get("statements")]
    assert any(
        "where ICE-043 must be repaired first" in note
        for step in plan["steps"]
        for note in step.get("notes", [])
    )


def test_delta_does_not_count_rows_where_the_log_has_a_false_number(
    golden: Callable[..., None], tmp_path: Path
) -> None:
    golden("dlt/rows-none")

    [step] = planned()["steps"]

    assert [
        "SET spark.databricks.delta.numRecordsValidation.enabled = false",
        merged(f"delta.`{tmp_path}/sales`"),
    ] == step["statements"]


def test_a_single_manifest_is_written_anew_as_well(golden: Callable[..., None], tmp_path: Path) -> None:
    """The procedure of Iceberg leaves it as it is where manifests may become larger than it is."""
    golden("ice/rows-added-wrong", "ice", tier="meta")

    [step] = planned()["steps"]

    length = (tmp_path / "ice/metadata/manifest-0.avro").stat().st_size
    assert [
        f"ALTER TABLE lake.`ice` SET TBLPROPERTIES ('commit.manifest.target-size-bytes' = '{length // 2}')",
        "CALL lake.system.rewrite_manifests(table => '`ice`')",
        "ALTER TABLE lake.`ice` UNSET TBLPROPERTIES ('commit.manifest.target-size-bytes')",
    ] == step["statements"]


@pytest.mark.parametrize("case", ["listed-twice", "spec-of-another-manifest"])
def test_no_manifest_is_written_anew_that_is_read_wrong(case: str, golden: Callable[..., None]) -> None:
    golden(f"ice/{case}", "ice", tier="meta")

    steps = planned()["steps"]

    assert [] == [step["statements"] for step in steps if step.get("statements")]
    assert repairs.ICEBERG_MANIFESTS_READ.text in [note for step in steps for note in step["notes"]]


def test_delete_files_are_in_the_table(golden: Callable[..., None]) -> None:
    golden("ice/positions-by-another-id", "ice")

    steps = {step["repair"]: step for step in planned()["steps"]}

    assert [
        "CALL lake.system.rewrite_position_delete_files(table => '`ice`', options => map('rewrite-all', 'true'))"
    ] == steps["rewrite position deletes"]["statements"]
    assert not steps["rewrite position deletes"].get("notes")


@pytest.mark.usefixtures("lake")
def test_only_the_tables_of_a_dialect_have_statements() -> None:
    reported("sales", "ice")

    plan = planned("--dialect", "iceberg", "--name", "ice=lake.ice")

    assert {"sales": 0, "ice": 1} == {
        step["table"]: len(step.get("statements", [])) for step in plan["steps"]
    }


@pytest.mark.usefixtures("lake")
def test_findings_that_do_not_count_are_left_out_unless_they_are_asked_for() -> None:
    CliRunner().invoke(app, ["check", "sales", "--write-baseline", "known.json"])
    run("check", "sales", "--baseline", "known.json", "--format", "json", "--output", "report.json")

    assert "no finding in it counts" in run("plan-repair", "report.json", code=2).stderr
    assert 1 == len(planned("--known")["files"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.json"], "none.json: No such file"),
        (
            ["."],
            ".: a plan is made of a report; write one by `pqassay check --format json --output report.json -- .`",
        ),
        (["sales/_delta_log/00000000000000000000.json"], "not valid JSON"),
        (["plain.parquet"], "this Parquet file is not a findings table"),
        (["report.json", "--name", "ice"], "a path and a name are needed"),
        (
            ["report.json", "--name", "nowhere=t"],
            "nowhere is not a table of the report; its tables are: sales",
        ),
        (["report.json", "--output", "plain.parquet"], "there is a file of that name"),
    ],
)
@pytest.mark.usefixtures("lake")
def test_what_cannot_be_planned_is_said(arguments: list[str], said: str) -> None:
    reported("sales")

    assert said in run("plan-repair", *arguments, code=2).stderr


def test_a_table_that_is_gone_is_said(lake: Path) -> None:
    reported("sales")
    shutil.rmtree(lake / "sales")

    assert "sales" in run("plan-repair", "report.json", code=2).stderr


# ------------------------------------------------------------------------------------------------- --only-files


def commit(table: Path, version: int, *actions: dict[str, Any]) -> None:
    lines = "".join(f"{json.dumps(action)}\n" for action in actions)
    (table / f"_delta_log/{version:020}.json").write_text(lines)


def repaired(table: Path) -> None:
    """Rewrite the file of the false bound, as a writer would: another file in its place, with true bounds."""
    log = (table / "_delta_log/00000000000000000000.json").read_text().splitlines()
    add = next(
        one["add"] for line in log if (one := json.loads(line)).get("add", {}).get("path") == "part-0.parquet"
    )
    shutil.copy(table / "part-0.parquet", table / "part-9.parquet")
    stats = json.loads(add["stats"])
    stats["maxValues"]["id"] = 7
    gone = {"remove": {"path": "part-0.parquet", "dataChange": False, "deletionTimestamp": 1}}
    commit(table, 1, gone, {"add": {**add, "path": "part-9.parquet", "stats": json.dumps(stats)}})


@pytest.mark.parametrize("form", ["json", "csv"])
def test_after_the_repair_what_came_in_its_place_is_judged_and_nothing_else(lake: Path, form: str) -> None:
    reported("sales")
    planned()
    before = run("check", "--only-files", f"repair-plan/quarantine.{form}", "--format", "json", code=1)
    repaired(lake / "sales")

    after = run("check", "--only-files", f"repair-plan/quarantine.{form}", "--format", "json")

    assert {"sales": "conformant", "sales/part-0.parquet": "untrue"} == outcomes(before)
    assert {"sales": "conformant", "sales/part-9.parquet": "conformant"} == outcomes(after)
    assert {
        "not on the list": ["sales/part-1.parquet"],
        "on the list, but no longer in the table": ["sales/part-0.parquet"],
        "not in the table": ["sales/part-0.parquet"],
    } == {one["reason"]: one["examples"] for one in json.loads(after.stdout)["ignored"]}
    assert {"values"} == {one["tier"] for one in json.loads(after.stdout)["coverages"].values()}


def outcomes(result: Result) -> dict[str, str]:
    return {file["path"]: file["outcome"] for file in json.loads(result.stdout)["files"]}


@pytest.mark.usefixtures("lake")
def test_a_list_may_be_lines_of_paths() -> None:
    Path("list.txt").write_text("./plain.parquet\nsales/part-1.parquet\n")

    result = run("check", ".", "--only-files", "list.txt", "--format", "json")

    assert {"sales": "conformant", "sales/part-1.parquet": "conformant", "ice": "conformant"} == {
        path: outcome for path, outcome in outcomes(result).items() if path != "plain.parquet"
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no path is listed"),
        ('{"files": [{}]}', "not a list of files"),
        ("{", "not a list of files"),
        ("path,table,moment\na,t,b\n", "not a list of files"),
    ],
)
def test_a_list_that_cannot_be_read_is_said(lake: Path, content: str, said: str) -> None:
    (lake / "list").write_text(content)

    assert said in run("check", "sales", "--only-files", "list", code=2).stderr
