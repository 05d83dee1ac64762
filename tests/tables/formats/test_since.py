"""Only the files that were added to tables since a version, a snapshot, a time or the last run."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.judge.selection.since import Since, parse_since
from pqassay.stores.table_files import TableAt
from pqassay_spec.table.layout import commit_name
from pqassay_tables.under_test.states import iceberg_state

DELTA = GOLDEN_FILES / "interop/spark-4.1.4/delta-plain/table"
ICEBERG = GOLDEN_FILES / "interop/spark-4.1.4/iceberg-position-deletes/table"

UTC = dt.UTC


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def judged(table: Path, since: str | Since, **options: Any) -> set[str]:
    """The data files that are judged; the table itself always is."""
    first, *files = pqassay.check(table, since=since, tier="footer", **options).files
    assert str(table) == first.path
    return {Path(file.path).name for file in files}


def commits() -> list[dict[str, Any]]:
    names = sorted((DELTA / "_delta_log").glob("*.json"))
    return [
        {key: value for line in name.read_text().splitlines() for key, value in json.loads(line).items()}
        for name in names
    ]


def added(*versions: int) -> set[str]:
    return {commits()[version]["add"]["path"] for version in versions}


def time_of(version: int) -> str:
    milliseconds = commits()[version]["commitInfo"]["timestamp"]
    return dt.datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()


@pytest.mark.parametrize(("version", "newer"), [(0, (1, 2, 3)), (2, (3,)), (3, ())])
def test_files_of_a_delta_table_are_judged_that_later_versions_added(
    version: int, newer: tuple[int, ...]
) -> None:
    assert added(*newer) == judged(DELTA, str(version)) == judged(DELTA, time_of(version))


def test_what_was_there_before_is_counted_with_its_reason_and_not_as_left_over() -> None:
    report = pqassay.check(DELTA, since="2", tier="footer")
    assert [("in the table at 2", 2)] == [
        (one.reason, one.count) for one in report.ignored if "table" in one.reason
    ]


def test_a_version_in_between_is_the_end() -> None:
    assert added(2) == judged(DELTA, "1", version=2)
    with pytest.raises(UsageError, match="--since 3 is after version 2, which is judged"):
        judged(DELTA, "3", version=2)


def test_an_entry_that_was_written_again_is_judged_again(tmp_path: Path) -> None:
    table = tmp_path / "table"
    shutil.copytree(DELTA, table)
    again = {"add": {**commits()[1]["add"], "dataChange": False}}
    (table / "_delta_log" / commit_name(4)).write_text(json.dumps(again) + "\n")
    assert added(1) == judged(table, "3")
    # A commit that does not say when it was made counts as new.
    assert added(1) == judged(table, time_of(3))


def test_a_log_that_was_cleaned_up_says_what_it_cannot_tell() -> None:
    table = GOLDEN_FILES / "dlt/checkpointed/table"
    assert set() == judged(table, "3")
    assert judged(table, "1") < {path.name for path in table.glob("*.parquet")}
    with pytest.raises(UsageError, match=r"the log no longer has 0{19}1.json.*leave out --since"):
        judged(table, "0")


def chain() -> list[tuple[int, int, int | None]]:
    """Ids, times and parents of the snapshots, the oldest first."""
    state = iceberg_state(TableAt("iceberg", str(ICEBERG), str(ICEBERG)))
    return [
        (one["snapshot-id"], one["timestamp-ms"], one.get("parent-snapshot-id"))
        for one in state.metadata["snapshots"]
    ]


def test_files_of_an_iceberg_table_are_judged_that_later_snapshots_added() -> None:
    state = iceberg_state(TableAt("iceberg", str(ICEBERG), str(ICEBERG)))
    order = [number for number, _, _ in chain()]
    for place, (number, at, _) in enumerate(chain()):
        newer = {Path(entry.path).name for entry in state.entries if order.index(entry.snapshot or 0) > place}
        moment = dt.datetime.fromtimestamp(at / 1000, UTC).isoformat()
        assert newer == judged(ICEBERG, str(number)) == judged(ICEBERG, moment)
    assert len(judged(ICEBERG, "2000-01-01")) == len({entry.path for entry in state.entries})


def test_a_snapshot_that_led_not_to_the_current_one_is_refused() -> None:
    with pytest.raises(UsageError, match="snapshot 17 is not among those that led to the current one"):
        judged(ICEBERG, "17")


@pytest.mark.parametrize("text", ["yesterday", "", "1.5", "9" * 30])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a version, a snapshot id or a time"):
        parse_since(text)


def test_files_of_no_table_are_all_judged() -> None:
    path = GOLDEN_FILES / "pqf/plain/data.parquet"
    assert 1 == len(pqassay.check(path, since="7", tier="footer").files)


def test_the_last_run_is_found_in_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(DELTA, "lake/sales")
    last = Path("lake/sales/_delta_log") / commit_name(3)
    content = last.read_text()
    last.unlink()
    command = [
        "check",
        "--config",
        "none",
        "--tier",
        "footer",
        "--history",
        "findings",
        "--since",
        "last",
        "lake",
    ]
    assert "3 files:" in invoke(*command).stdout
    last.write_text(content)
    shutil.copytree(ICEBERG, "lake/hours")
    new = len(judged(ICEBERG, "2000-01-01"))
    assert f"{3 + new} files:" in invoke(*command).stdout
    assert "2 files:" in invoke(*command).stdout
    shown = json.loads(invoke("history", "findings", "--format", "json").stdout)["runs"]
    assert [True, True, False] == [one["partial"] for one in shown]
    result = invoke(*command[:-5], "--since", "last", "lake")
    assert (2, True) == (result.exit_code, "--since last needs a history" in result.stderr)
