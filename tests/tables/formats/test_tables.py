"""Tables among the targets: what is judged, what is counted, and what no log can do to the judge."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import pqassay
from each import each
from places import GOLDEN_FILES
from pqassay.errors import UsageError
from pqassay.judge.options import CheckOptions

PLAIN = GOLDEN_FILES / "dlt/plain/table"
CHECKPOINTED = GOLDEN_FILES / "dlt/checkpointed/table"
DELETED = GOLDEN_FILES / "dlt/deleted/table"
LOG = "_delta_log/00000000000000000000.json"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PLAIN, tmp_path / "t"))


def names(report: pqassay.Report) -> list[str]:
    return [Path(file.path).name for file in report.files]


def rules_of(report: pqassay.Report) -> list[str]:
    return [finding.rule for file in report.files for finding in file.findings]


def rewritten(table: Path, old: str, new: str) -> None:
    text = (table / LOG).read_text()
    assert old in text
    (table / LOG).write_text(text.replace(old, new, 1))


def test_a_table_is_judged_with_its_live_files_and_the_others_are_counted(table: Path) -> None:
    shutil.copy(table / "part-0.parquet", table / "orphan.parquet")
    report = pqassay.check(table)

    assert ["t", "part-0.parquet", "part-1.parquet"] == names(report)
    assert ["delta", "parquet", "parquet"] == [file.kind for file in report.files]
    assert [("not in the table", 1)] == [(one.reason, one.count) for one in report.ignored]
    assert ("pqassay-reference", 0) == (report.files[0].created_by, report.exit_code)
    assert (table / LOG).stat().st_size == report.files[0].size


def test_the_same_is_found_in_worker_processes(table: Path) -> None:
    rewritten(table, r"\"maxValues\":{\"id\":7", r"\"maxValues\":{\"id\":5")
    alone = pqassay.check(table, tier="values")

    assert alone.to_json() == pqassay.check(table, tier="values", jobs=2).to_json()
    assert ["DLT-027"] == [finding.rule for file in alone.files for finding in file.findings]


def test_a_table_can_be_judged_as_files(table: Path) -> None:
    assert ["part-0.parquet", "part-1.parquet"] == names(pqassay.check(table, as_files=True))


def test_at_tier_meta_no_data_file_is_opened(table: Path) -> None:
    size = (table / "part-0.parquet").stat().st_size
    (table / "part-0.parquet").write_bytes(bytes(size))

    report = pqassay.check(table, tier="meta")
    assert (["t"], "conformant", []) == (names(report), report.files[0].outcome, report.ignored)


def test_a_lake_may_hold_tables_and_files(table: Path) -> None:
    shutil.copy(table / "part-0.parquet", table.parent / "alone.parquet")
    assert ["alone.parquet", "t", "part-0.parquet", "part-1.parquet"] == names(pqassay.check(table.parent))


def test_an_older_version_is_judged_where_it_is_asked_for() -> None:
    at = {version: names(pqassay.check(CHECKPOINTED, version=version))[1:] for version in (1, 2, 3)}
    named = pqassay.check(CHECKPOINTED / "_delta_log/00000000000000000002.json")

    assert at == {version: names(pqassay.check(CHECKPOINTED, at=version))[1:] for version in (1, 2, 3)}
    assert {1: ["part-0.parquet"], 2: ["part-0.parquet", "part-1.parquet"], 3: ["part-1.parquet"]} == at
    assert at[2] == names(named)[1:]


@each(
    ("options", "message"),
    [
        ({"version": 9}, "there is no version 9; the log has 1 to 3"),
        ({"snapshot": 9}, "is a Delta table: give a version, such as 12"),
        ({"at": "main"}, "is a Delta table: give a version, such as 12"),
        ({"at": "9"}, "there is no version 9; the log has 1 to 3"),
        ({"at": 1, "version": 2}, "at and version exclude each other"),
        ({"version": -1}, "version must not be negative, but is -1"),
        ({"version": "1"}, "version must be a whole number, not '1'"),
        ({"version": True}, "version must be a whole number, not True"),
        ({"ref": 3}, "ref must be the name of a branch or tag, not 3"),
        ({"version": 1, "as_files": True}, "version needs a table; do not judge tables as files with it"),
        ({"version": 1, "ref": "main"}, "version and ref exclude each other"),
    ],
)
def test_a_state_that_there_is_not_is_wrong_usage(options: CheckOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pqassay.check(CHECKPOINTED, **options)


@pytest.mark.parametrize("asked", [{"version": 0}, {"snapshot": 1}, {"ref": "main"}, {"at": "main"}])
def test_a_state_of_what_is_no_table_is_wrong_usage(asked: CheckOptions) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(asked))} needs a table, but no path is a table"):  # fmt: skip
        pqassay.check(CHECKPOINTED / "part-0.parquet", **asked)


def test_a_file_outside_of_the_table_is_not_reachable_and_no_finding(table: Path) -> None:
    rewritten(table, '"path":"part-0.parquet"', '"path":"s3://elsewhere/part-0.parquet"')
    report = pqassay.check(table)

    assert ["conformant", "errored", "conformant"] == [file.outcome for file in report.files]
    assert "not reachable: it is outside of the folder of the table" == report.files[1].error
    assert 4 == report.exit_code


def test_an_absolute_path_into_the_table_is_reachable(table: Path) -> None:
    rewritten(table, '"path":"part-0.parquet"', f'"path":"file://{table}/part-0.parquet"')
    assert 0 == pqassay.check(table).exit_code


def test_a_table_that_changed_is_read_anew(table: Path) -> None:
    before = pqassay.check(table).exit_code
    rewritten(table, r"\"maxValues\":{\"id\":7", r"\"maxValues\":{\"id\":5")
    assert (0, 1) == (before, pqassay.check(table).exit_code)


@pytest.mark.parametrize(
    ("greatest", "rules"),
    [(6, []), (5, ["DLT-027"])],
    ids=["the one value beyond it is deleted", "another one is not"],
)
def test_a_value_beyond_a_bound_may_be_in_a_deleted_row(
    tmp_path: Path, greatest: int, rules: list[str]
) -> None:
    table = Path(shutil.copytree(DELETED, tmp_path / "t"))
    rewritten(table, r"\"maxValues\":{\"id\":7", rf"\"maxValues\":{{\"id\":{greatest}")
    assert rules == rules_of(pqassay.check(table, tier="values"))


@pytest.mark.parametrize(
    ("nulls", "rules"),
    [(2, []), (1, []), (0, ["DLT-028"]), (8, ["DLT-028"])],
    ids=["all", "neither none nor all", "none", "all rows"],
)
def test_beside_deleted_rows_a_count_of_nulls_says_all_or_none(
    tmp_path: Path, nulls: int, rules: list[str]
) -> None:
    table = Path(shutil.copytree(DELETED, tmp_path / "t"))
    rewritten(table, r"\"mass\":2}", rf"\"mass\":{nulls}}}")
    assert rules == rules_of(pqassay.check(table, tier="values"))


def test_a_vector_elsewhere_is_not_reachable_and_no_finding(tmp_path: Path) -> None:
    table = Path(shutil.copytree(DELETED, tmp_path / "t"))
    name = next(path.name for path in table.glob("*.bin"))
    old = json.loads((table / LOG).read_text().splitlines()[3])["add"]["deletionVector"]["pathOrInlineDv"]
    rewritten(table, '"storageType":"u"', '"storageType":"p"')
    rewritten(table, json.dumps(old)[1:-1], f"file://{table}/{name}")
    inside = pqassay.check(table)
    rewritten(table, f"file://{table}/{name}", "s3://elsewhere/vector.bin")
    elsewhere = pqassay.check(table)

    assert ([], []) == (rules_of(inside), rules_of(elsewhere))
    assert ["conformant"] * 3 == [file.outcome for file in inside.files]
    (file,) = (file for file in elsewhere.files if file.path.endswith("part-0.parquet"))
    assert "errored" == file.outcome
    assert file.error is not None
    assert "s3://elsewhere/vector.bin is outside of the folder of the table" in file.error


HOSTILE = [
    "[" * 100_000,
    '{"add":' * 50_000,
    '{"add":{"path":"part-0.parquet","size":' + "9" * 5000 + "}}",
    '{"add":{"path":"part-0.parquet","size":1e999999999,"stats":"{}"}}',
    '{"add":{"path":"part-0.parquet","stats":"' + "[" * 50_000 + '"}}',
    json.dumps(
        {"add": {"path": "p", "stats": '{"numRecords":1e999999999,"minValues":{"price":1e999999999}}'}}
    ),
    json.dumps({"add": {"path": "p", "stats": '{"maxValues":{"metal":"\\ud800","day":"999999-12-31"}}'}}),
    json.dumps({"add": {"path": "p", "deletionVector": {"storageType": "u", "pathOrInlineDv": "é" * 30}}}),
    json.dumps({"add": {"path": "../../etc/passwd", "partitionValues": [1], "size": True}}),
    json.dumps({"metaData": {"schemaString": '{"type":"struct","fields":' * 500}}),
    "\0",
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_no_line_of_a_log_is_a_mistake_of_the_judge(table: Path, line: str) -> None:
    with (table / LOG).open("a") as log:
        log.write(f"{line}\n")

    report = pqassay.check(table, tier="values")
    assert [] == [file.error for file in report.files if file.error and "mistake" in file.error]


def test_of_a_table_in_two_formats_it_is_said_which_is_judged(tmp_path: Path) -> None:
    table = tmp_path / "both"
    shutil.copytree(GOLDEN_FILES / "dlt/plain/table", table)
    shutil.copytree(GOLDEN_FILES / "ice/plain/table", table, dirs_exist_ok=True)
    (judged,) = pqassay.check(table, tier="meta").files
    (named,) = pqassay.check(table / "metadata/v1.metadata.json", tier="meta").files
    (note,) = [note for note in judged.notes if "Iceberg" in note]

    assert note.endswith("metadata/v1.metadata.json")
    assert ("conformant", []) == (named.outcome, named.notes)


@pytest.mark.parametrize("marker", ["_delta_log", "metadata"])
def test_a_folder_that_is_no_table_is_explained_at_tier_meta(marker: str, tmp_path: Path) -> None:
    (tmp_path / marker).mkdir()
    shutil.copy(GOLDEN_FILES / "dlt/plain/table/part-0.parquet", tmp_path)

    with pytest.raises(UsageError, match="tier meta is about tables, and a folder is one with a commit"):
        pqassay.check(tmp_path, tier="meta")
