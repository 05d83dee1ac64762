"""Histories: what runs append, and the views on it, in every place where a history is kept."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pyarrow import fs
from typer.testing import CliRunner, Result

from folder_catalog import FolderCatalog
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.stores import remote
from pqassay_lake.history.columns import COLUMNS, SCHEMA
from pqassay_lake.history.run import Run
from pqassay_lake.history.stores import History, Selection, history_at
from pqassay_lake.history.views import findings_view, json_schema, runs_view
from store_server import store_server

NIGHT = dt.datetime(2026, 11, 20, 3, tzinfo=dt.UTC)

Finding = tuple[str, str]
"""File and rule."""


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def rows(run: Run, *findings: Finding, **more: Any) -> pa.Table:
    common = {"run": run.id, "at": run.at, "scope": run.scope, "partial": run.partial}
    made: list[dict[str, Any]] = [
        {**common, "kind": "run", "files": 9, "nonconformant": len(findings), "errored": 0, "exit_code": 1},
        {**common, "kind": "writer", "writer": "w", "files": 9},
    ]
    for path, rule in findings:
        row = {"path": path, "rule": rule, "verdict": "FAIL", "could": "rows lost", "message": "it is broken"}
        made.append(
            {**common, "kind": "finding", "counts": True, "known": False, "writer": "w", **row, **more}
        )
    return pa.Table.from_pylist(made, schema=SCHEMA)


def night(number: int, scope: str = "lake", *, partial: bool = False) -> Run:
    return Run(NIGHT + dt.timedelta(days=number), scope, partial, f"night-{number}")


class Catalog(FolderCatalog):
    """The catalog of tests, with names for tables as a configured one has them."""

    tables: dict[Any, str] = {}  # noqa: RUF012 - shared on purpose
    folder = Path()

    def __init__(self) -> None:
        super().__init__()
        self._newest = self.tables

    def create_namespace_if_not_exists(self, *_: Any, **__: Any) -> None:
        """Folders need none."""

    def load_table(self, identifier: Any) -> Any:
        return super().load_table(self._place(identifier))

    def table_exists(self, identifier: Any) -> bool:
        return self._place(identifier) in self._newest

    def create_table_if_not_exists(self, identifier: Any, schema: Any, *_: Any, **__: Any) -> Any:
        place = self._place(identifier)
        return self.load_table(place) if place in self._newest else self.made(Path(place[0]), schema)

    def _place(self, identifier: Any) -> Any:
        return identifier if isinstance(identifier, tuple) else (str(self.folder / identifier),)


@pytest.fixture
def iceberg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(Catalog, "tables", {})
    monkeypatch.setattr(Catalog, "folder", tmp_path)
    monkeypatch.setattr("pyiceberg.catalog.load_catalog", {"folders": Catalog()}.__getitem__)
    return "iceberg:folders:ops.findings"


@pytest.fixture(params=["folder", "delta", "iceberg"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "iceberg":
        return str(request.getfixturevalue("iceberg"))
    return f"{'delta:' if request.param == 'delta' else ''}{tmp_path / 'history'}"


def test_runs_are_appended_and_told_the_same_wherever_they_are_kept(place: str) -> None:
    kept = history_at(place)
    for number, found in enumerate([[("a", "X-1")], [("a", "X-1"), ("b", "X-2")]]):
        kept.append(night(number).id, rows(night(number), *found, owner="nightly"))
    assert [("night-1", 2, 1), ("night-0", 1, 1)] == [
        (one.run, one.findings, one.new) for one in runs_view(kept, 9).runs
    ]
    view = findings_view(kept, by="owner")
    assert [("nightly", 2, 1, "2026-11-20 03:00:00")] == [
        (one.name, one.files, one.new, one.first) for one in view.groups
    ]


def test_a_delta_table_is_one_commit_for_each_run_and_recognised_by_its_log(tmp_path: Path) -> None:
    place = tmp_path / "history"
    for number in range(2):
        history_at(f"delta:{place}").append(night(number).id, rows(night(number)))
    commits = sorted((place / "_delta_log").glob("*.json"))
    assert ["night-0", "night-1"] == [
        json.loads(line)["commitInfo"]["pqassay.run"]
        for commit in commits
        for line in commit.read_text().splitlines()
        if "commitInfo" in line
    ]
    assert 2 == len(runs_view(history_at(str(place)), 9).runs)


def test_columns_that_an_older_version_did_not_write_are_null(tmp_path: Path) -> None:
    kept = history_at(str(tmp_path))
    old = rows(night(0), ("a", "X-1")).drop_columns(["owner_user", "remedy"])
    kept.append("night-0", old)
    kept.append("night-1", rows(night(1), ("a", "X-1"), owner_user="ada"))
    assert [None, "ada"] == [findings_view(kept, run).findings[0].user for run in ("night-0", "night-1")]


def kept_in(folder: Path, *runs: tuple[Run, list[Finding]]) -> History:
    kept = history_at(str(folder))
    for run, found in runs:
        kept.append(run.id, rows(run, *found))
    return kept


def new(kept: History) -> list[Finding]:
    return [(one.path, one.rule) for one in findings_view(kept, only_new=True).findings]


A, B, C = ("a", "X-1"), ("b", "X-1"), ("c", "X-2")


def test_what_a_run_between_did_not_look_at_is_not_new(tmp_path: Path) -> None:
    kept = kept_in(
        tmp_path,
        (night(0), [A]),
        (night(1, partial=True), [B]),
        (night(2, "elsewhere"), []),
        (night(3), [A, B, C]),
    )
    assert [C] == new(kept)


def test_what_was_mended_and_is_broken_again_is_new(tmp_path: Path) -> None:
    assert [A] == new(kept_in(tmp_path, (night(0), [A]), (night(1), []), (night(2), [A])))


def test_what_a_baseline_knows_or_does_not_count_is_not_told_as_new(tmp_path: Path) -> None:
    kept = history_at(str(tmp_path))
    kept.append("night-0", rows(night(0)))
    known = rows(night(1), A, known=True)
    lesser = rows(night(1), B, counts=False).slice(2)
    kept.append("night-1", pa.concat_tables([known, lesser]))
    assert [] == new(kept)
    assert ["a"] == [one.path for one in findings_view(kept).findings]
    assert ["a", "b"] == [one.path for one in findings_view(kept, lesser=True).findings]


class InParts(NamedTuple):
    """A history whose rows come a few at a time, those of several runs together, as those of a table may."""

    rows: pa.Table

    def append(self, run: str, rows: pa.Table) -> None:
        raise NotImplementedError

    def batches(self, selection: Selection) -> Iterator[pa.RecordBatch]:
        yield from self.rows.filter(selection.condition).select(selection.columns).to_batches(max_chunksize=3)


FINDINGS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(("X-1", "X-2")), st.sampled_from((None, "", "c"))),
    max_size=5,
    unique=True,
)
RUNS = st.lists(
    st.tuples(st.sampled_from(("lake", "part")), st.booleans(), FINDINGS, st.booleans()),
    min_size=1,
    max_size=6,
)


@settings(max_examples=20)
@given(RUNS, st.randoms(use_true_random=False))
def test_what_is_new_and_since_when_is_what_a_comparison_of_sets_says(
    past: list[tuple[str, bool, list[tuple[str, str, str | None]], bool]], random: Random
) -> None:
    tables = [
        pa.concat_tables(
            [rows(night(number, scope, partial=partial))]
            + [
                rows(night(number, scope), (path, rule), column=column, known=known).slice(2)
                for path, rule, column in found
            ]
        )
        for number, (scope, partial, found, known) in enumerate(past)
    ]
    mixed = pa.concat_tables(tables)
    kept = InParts(mixed.take(random.sample(range(len(mixed)), len(mixed))))

    for number, line in zip(reversed(range(len(past))), runs_view(kept, 9).runs, strict=True):
        scope, _, found, known = past[number]
        earlier: set[Any] = set()
        for theirs, partial, keys, _ in reversed(past[:number]):
            earlier |= set(keys)
            if theirs == scope and not partial:
                break
        new = set() if known else set(found) - earlier
        first = {key: next(n for n, one in enumerate(past) if key in one[2]) for key in found}
        view = findings_view(kept, f"night-{number}")

        assert (len(new), len(found) * known) == (line.new, line.known)
        assert line == view.runs[0]
        assert new == {(one.path, one.rule, one.column) for one in view.findings if one.new}
        assert {key: f"{NIGHT + dt.timedelta(days=at):%Y-%m-%d %H:%M:%S}" for key, at in first.items()} == {
            (one.path, one.rule, one.column): one.first for one in view.findings
        }
        groups = findings_view(kept, f"night-{number}", "rule").groups
        assert {rule: len({path for path, one, _ in found if one == rule}) for _, rule, _ in found} == {
            one.name: one.files for one in groups
        }
        assert len(new) == sum(one.new for one in groups)


def test_views_keep_their_schema(tmp_path: Path) -> None:
    kept = kept_in(tmp_path, (night(0), [A, C]))
    check = Draft202012Validator(json_schema())
    for view in (runs_view(kept, 9), findings_view(kept), findings_view(kept, by="writer", only_new=True)):
        check.validate(json.loads(view.to_json()))
    assert 9 == findings_view(kept, by="writer").groups[0].judged


def test_every_column_says_what_it_holds() -> None:
    assert len(SCHEMA) == len({column.name for column in COLUMNS if column.doc})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("iceberg:findings", "an Iceberg table is named as iceberg:CATALOG:NAMESPACE.TABLE"),
        ("ftp://host/x", "there is no access to ftp://"),
    ],
)
def test_a_name_of_no_history_is_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        history_at(name)


def test_what_is_no_history_is_told_in_one_line(tmp_path: Path) -> None:
    for name in ("nowhere", "empty", "damaged", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "nowhere").rmdir()
    (tmp_path / "damaged" / "run-1.parquet").write_bytes(b"PAR1")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other" / "run-1.parquet")
    for name, reason in (
        ("nowhere", "no such folder"),
        ("empty", "there is no run in it"),
        ("damaged", "run-1.parquet: "),
        ("other", "it is not a run of a history"),
    ):
        result = invoke("history", tmp_path / name)
        assert 2 == result.exit_code
        assert reason in result.stderr
        assert 1 == len(result.stderr.splitlines())


def test_checks_append_runs_that_the_command_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(GOLDEN_FILES / "dlt/maximum-lowered/table", "sales")
    common = ["check", "--config", "none", "--tier", "footer", "--history", "findings"]
    assert [1, 1] == [invoke(*common, "sales").exit_code for _ in range(2)]
    assert 2 == len(list(Path("findings").iterdir()))
    assert 0 == invoke("history", "findings", "--new").exit_code
    text = invoke("history", "findings", "--findings").stdout
    assert "FAIL DLT-025 sales/part-0.parquet, column id\n" in text
    assert "owner     pqassay-reference (commit 0)\n" in text
    first = min(one.name for one in Path("findings").iterdir()).removeprefix("run-")[:22]
    assert 1 == invoke("history", "findings", "--new", "--run", first).exit_code
    groups = json.loads(invoke("history", "findings", "--by", "owner", "--format", "json").stdout)["groups"]
    assert [("pqassay-reference", ["DLT-025"])] == [(one["name"], one["rules"]) for one in groups]
    assert 2 == invoke("history", "findings", "--run", "night").exit_code


def test_a_check_of_its_own_history_says_how_to_leave_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN_FILES / "pqf/plain/data.parquet", "a.parquet")
    check = ["check", ".", "--config", "none", "--tier", "footer", "--history", "findings"]
    first, second, third = invoke(*check), invoke(*check), invoke(*check, "--exclude", "findings")
    assert "the history's own" not in first.stderr + third.stderr
    assert (
        "note: 1 of the files that were checked is the history's own; --exclude findings leaves them out\n"
        in second.stderr
    )


def test_a_history_that_cannot_be_written_costs_no_report(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bad = GOLDEN_FILES / "dlt/maximum-lowered/table"
    result = invoke("check", "--config", "none", "--tier", "footer", "--history", tmp_path / "file", bad)
    assert 2 == result.exit_code
    assert "1 untrue" in result.stdout
    assert "is not a folder; a history of Parquet files is one" in result.stderr


def test_a_history_is_kept_in_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    with store_server() as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        remote.filesystem.cache_clear()
        fs.FileSystem.from_uri("s3://kept/?allow_bucket_creation=true")[0].create_dir("kept")
        kept = history_at("s3://kept/ops/findings")
        with pytest.raises(UsageError, match="there is no run in it"):
            runs_view(kept, 9)
        kept.append("night-0", rows(night(0), A))
        assert ["night-0"] == [one.run for one in runs_view(kept, 9).runs]
    remote.filesystem.cache_clear()


def test_history_and_metrics_may_be_said_in_the_file_of_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    defaults = '[check]\nhistory = "delta:findings"\nmetrics = "lake.json"\ntier = "footer"\n'
    (tmp_path / "pqassay.toml").write_text(defaults)
    assert 0 == invoke("check", GOLDEN_FILES / "pqf/plain/data.parquet").exit_code
    assert 1 == len(runs_view(history_at(str(tmp_path / "findings")), 9).runs)
    assert "metrics" == json.loads((tmp_path / "lake.json").read_text())["kind"]
