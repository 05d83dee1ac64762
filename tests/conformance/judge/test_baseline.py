"""Baselines: what is known does not count, what is new counts, what is gone is said."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import pqassay
from idx1_files import Idx1File, parquet, table
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.judge.baseline import Baseline, KnownEntry, json_schema
from pqassay.report.model import json_schema as report_schema
from pqassay_spec.rules.catalogue import RELEASES

pytestmark = pytest.mark.slow

GOOD = Idx1File().build()
BAD = Idx1File(payload=b"Peru\nSingapura").build()
ABC = parquet(table(["a", "b", "c"]))

run = CliRunner().invoke


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a good and a bad file below it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "good.parquet").write_bytes(GOOD)
    (tmp_path / "data" / "bad.parquet").write_bytes(BAD)
    return tmp_path


def check(*arguments: str) -> Any:
    return run(app, ["check", "--tier", "values", *arguments])


@pytest.mark.usefixtures("lake")
def test_a_written_baseline_makes_the_next_check_pass() -> None:
    written = check("data", "--write-baseline", "known.json")
    again = check("data", "--baseline", "known.json")

    assert (0, 0) == (written.exit_code, again.exit_code)
    assert written.stdout == again.stdout
    assert "data/bad.parquet: conformant (1 known)\n  FAIL IDX1-016 known, could: rows lost" in again.stdout
    assert "2 files: 2 conformant, 0 nonconformant, 0 errored; 1 known finding" in again.stdout
    assert "baseline known.json: 1 known, 0 not looked at, 0 stale" in again.stdout
    assert 1 == check("data").exit_code


def test_a_known_finding_stays_in_the_report_and_is_marked(lake: Path) -> None:
    check("data", "--write-baseline", "known.json")
    report = pqassay.check(lake / "data", tier="values", baseline=lake / "known.json")
    bad, good = report.files

    assert [True] == [finding.known for finding in bad.findings]
    assert ("conformant", "conformant") == (bad.outcome, good.outcome)
    assert ({}, 1, 0) == (report.summary.findings, report.summary.known, report.exit_code)
    jsonschema.validate(json.loads(report.to_json()), report_schema())


@pytest.mark.usefixtures("lake")
def test_new_findings_count_beside_known_ones() -> None:
    check("data", "--write-baseline", "known.json")
    Path("data/bad.parquet").write_bytes(Idx1File(magic=b"IDX?").build())
    Path("data/new.parquet").write_bytes(BAD)
    result = check("data", "--baseline", "known.json")

    assert 1 == result.exit_code
    assert "data/new.parquet: nonconformant (1 FAIL)" in result.stdout
    assert "data/bad.parquet: nonconformant" in result.stdout
    assert "0 known, 1 not looked at, 0 stale" in result.stdout


def test_a_finding_with_more_places_than_are_known_counts_again(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(Idx1File(data=ABC, payload=b"a\nb\nc\nx").build())
    known = Baseline.of(pqassay.check(path), tmp_path / "known.json")
    known.write()
    path.write_bytes(Idx1File(data=ABC, payload=b"a\nb\nc\nx\ny").build())
    more = pqassay.check(path, baseline=known.path)
    path.write_bytes(Idx1File(data=ABC, payload=b"a\nb\nc\nz").build())
    same = pqassay.check(path, baseline=known.path)

    assert [("IDX1-017", 2, False)] == [(f.rule, f.count, f.known) for f in more.files[0].findings]
    assert [("IDX1-017", 1, True)] == [(f.rule, f.count, f.known) for f in same.files[0].findings]


@pytest.mark.usefixtures("lake")
def test_what_no_longer_occurs_is_stale_and_exits_3() -> None:
    check("data", "--write-baseline", "known.json")
    Path("data/bad.parquet").write_bytes(GOOD)
    result = check("data", "--baseline", "known.json")

    assert 3 == result.exit_code
    assert (
        "stale IDX1-016 data/bad.parquet, column nation: the file no longer breaks the rule" in result.stdout
    )
    Path("data/bad.parquet").unlink()
    result = check("data", "--baseline", "known.json")
    assert 3 == result.exit_code
    assert "stale IDX1-016 data/bad.parquet, column nation: the file is gone" in result.stdout


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize(
    "arguments",
    [
        ["--tier", "footer", "data"],
        ["--rule", "PQF-*", "data"],
        ["--skip-rule", "IDX1-016", "data"],
        ["data/good.parquet"],
    ],
)
def test_what_was_not_looked_at_is_not_stale(arguments: list[str]) -> None:
    check("data", "--write-baseline", "known.json")
    result = run(app, ["check", "--baseline", "known.json", *arguments])

    assert 0 == result.exit_code
    assert "0 known, 1 not looked at, 0 stale" in result.stdout


@pytest.mark.usefixtures("lake")
def test_a_file_that_could_not_be_judged_wins_over_stale_entries() -> None:
    check("data", "--write-baseline", "known.json")
    Path("data/bad.parquet").write_bytes(GOOD)
    Path("data/link.parquet").symlink_to("nowhere")

    assert 4 == check("data", "--baseline", "known.json").exit_code


@pytest.mark.usefixtures("lake")
def test_writing_over_a_baseline_drops_what_is_stale_and_keeps_what_was_not_looked_at() -> None:
    Path("data/worse.parquet").write_bytes(BAD)
    check("data", "--write-baseline", "known.json")
    Path("data/bad.parquet").write_bytes(GOOD)
    result = check("data/bad.parquet", "--baseline", "known.json", "--write-baseline", "known.json")

    assert 0 == result.exit_code
    assert ["data/worse.parquet"] == [
        entry["path"] for entry in json.loads(Path("known.json").read_text())["findings"]
    ]


def test_paths_are_relative_to_the_baseline_wherever_it_is_used(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lake / "ci").mkdir()
    check(str(lake / "data"), "--write-baseline", "ci/known.json")
    content = json.loads((lake / "ci" / "known.json").read_text())

    assert {
        "schema_version": 1,
        "kind": "baseline",
        "pqassay": pqassay.__version__,
        "findings": [{"path": "../data/bad.parquet", "rule": "IDX1-016", "count": 1, "column": "nation"}],
        "rules": RELEASES[-1],
    } == {**content, "findings": [{**content["findings"][0], "count": 1}]}
    jsonschema.validate(content, json_schema())
    monkeypatch.chdir("data")
    assert 0 == check(".", "--baseline", "../ci/known.json").exit_code


ENTRY = {"path": "a", "rule": "IDX1-016", "count": 1}
HEAD = {"schema_version": 1, "kind": "baseline", "pqassay": "0.1.0"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "known.json: No such file or directory"),
        ("", "Invalid JSON"),
        ("{", "Invalid JSON"),
        ("[]", "known.json: "),
        ({**HEAD, "schema_version": 2, "findings": []}, "schema_version: "),
        ({**HEAD, "kind": "check", "findings": []}, "kind: "),
        ({**HEAD, "findings": [{"path": "a"}]}, "findings.0.rule: "),
        ({**HEAD, "findings": [{**ENTRY, "count": "many"}]}, "findings.0.count: "),
        ({**HEAD, "findings": [{**ENTRY, "rule": "nonsense"}]}, "'nonsense' is not a rule id"),
        ({**HEAD, "findings": [ENTRY, ENTRY]}, "IDX1-016 of a is listed twice"),
    ],
)
def test_a_file_that_is_no_baseline_is_wrong_usage(content: Any, words: str, lake: Path) -> None:
    if content is not None:
        (lake / "known.json").write_text(content if isinstance(content, str) else json.dumps(content))
    result = check("data", "--baseline", "known.json")

    assert (2, "") == (result.exit_code, result.stdout)
    assert words in result.stderr
    assert 1 == len(result.stderr.splitlines())
    with pytest.raises(UsageError):
        pqassay.check("data", baseline="known.json")


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=9)


@settings(deadline=None)  # files are written and synced: how long that takes is the machine's matter
@given(st.lists(st.tuples(TEXT, st.sampled_from(["PQF-001", "IDX1-016"]), st.none() | TEXT), unique=True))
def test_a_baseline_that_is_written_reads_back_the_same(keys: list[tuple[str, str, str | None]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = Baseline(f"{folder}/known.json")
        made.entries = {key: KnownEntry(key[0], key[1], 3, key[2]) for key in keys}
        made.write()

        assert made == Baseline.read(made.path)


def written_by(path: Path) -> str:
    (file,) = pqassay.check(str(path)).files
    assert file.created_by is not None
    return file.created_by


def with_writers(folder: Path, **entry: Any) -> str:
    path = folder / "known.json"
    content = {"schema_version": 1, "kind": "baseline", "pqassay": "0", "findings": [], "writers": [entry]}
    path.write_text(json.dumps(content))
    return str(path)


LOSING = GOLDEN_FILES / "sta" / "max-too-small" / "data.parquet"


def test_what_is_known_of_a_writer_holds_for_files_to_come(tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    shutil.copy(LOSING, tmp_path / "monday.parquet")
    first = check(str(tmp_path), "--write-baseline", str(known), "--by-writer")
    shutil.copy(LOSING, tmp_path / "tuesday.parquet")
    second = check(str(tmp_path), "--baseline", str(known))

    assert [0, 0] == [first.exit_code, second.exit_code]
    assert "2 known findings" in second.stdout
    assert [written_by(LOSING)] == [one["created_by"] for one in json.loads(known.read_text())["writers"]]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({}, 0),
        ({"created_by": "*"}, 0),
        ({"created_by": "somebody else*"}, 1),
        ({"rule": "STA-042"}, 1),
        ({"column": "grade"}, 0),
        ({"column": "metal"}, 1),
        ({"expires": "9999-12-31"}, 0),
        ({"expires": "2020-12-31"}, 3),
    ],
)
def test_an_entry_about_a_writer_covers_what_it_says(
    entry: dict[str, str], code: int, tmp_path: Path
) -> None:
    whole = {"created_by": written_by(LOSING), "rule": "STA-041", "reason": "reported upstream", **entry}
    done = check(str(LOSING), "--baseline", with_writers(tmp_path, **whole))

    assert code == done.exit_code
    assert ("it expired after 2020-12-31" in done.stdout) is (code == 3)


@pytest.mark.parametrize(("today", "known"), [(dt.date(2026, 5, 31), True), (dt.date(2026, 6, 1), False)])
def test_the_day_of_a_baseline_decides_what_has_expired(today: dt.date, known: bool, tmp_path: Path) -> None:
    about = {"created_by": "*", "rule": "STA-041", "reason": "reported upstream", "expires": "2026-05-31"}
    baseline = replace(Baseline.read(with_writers(tmp_path, **about)), today=today)
    marked = baseline.applied(pqassay.check(str(LOSING), tier="values"), "must")

    assert [known] == [one.known for one in marked.files[0].findings if one.rule == "STA-041"]
    assert marked.baseline is not None
    assert ([] if known else ["it expired after 2026-05-31"]) == [one.reason for one in marked.baseline.stale]


def test_what_has_expired_is_not_kept_where_a_baseline_is_written_anew(tmp_path: Path) -> None:
    about = {"created_by": written_by(LOSING), "rule": "STA-041", "reason": "reported upstream"}
    known = with_writers(tmp_path, **about, expires="2020-12-31")
    done = check(str(LOSING), "--baseline", known, "--write-baseline", known, "--by-writer")

    assert 0 == done.exit_code, done.output
    assert [None] == [one.get("expires") for one in json.loads(Path(known).read_text())["writers"]]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"expires": "soon"}, "'soon' is not a date such as 2027-01-31"),
        ({"reason": " "}, "STA-041 of w has no reason"),
        ({"rule": "*"}, "'*' is not a rule id"),
    ],
)
def test_an_entry_about_a_writer_that_says_too_little_is_wrong_usage(
    entry: dict[str, str], words: str, tmp_path: Path
) -> None:
    whole = {"created_by": "w", "rule": "STA-041", "reason": "r", **entry}
    done = check(str(LOSING), "--baseline", with_writers(tmp_path, **whole))

    assert (2, True) == (done.exit_code, words in done.stderr)


def test_by_writer_needs_a_baseline_to_write() -> None:
    assert 2 == check(str(LOSING), "--by-writer").exit_code
