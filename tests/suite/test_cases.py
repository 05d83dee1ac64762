from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from golden_cases import ROWS, broken_case, valid_case, write_case
from pqassay_suite.cases.case import (
    CaseError,
    golden_folder,
    inputs_digest,
    load,
    manifests_digest,
    matches,
    select,
)
from pqassay_suite.cases.manifest import file_kind, handed_over


def edited(home: Path, **members: Any) -> None:
    """Change members of a manifest; ``None`` removes one."""
    path = home / "case.json"
    manifest = {**json.loads(path.read_text()), **members}
    path.write_text(json.dumps({name: value for name, value in manifest.items() if value is not None}))


def test_cases_are_loaded_in_the_order_of_their_ids(tmp_path: Path) -> None:
    for name in ("z/last", "a/first", "a/deeper/case"):
        valid_case(tmp_path, name)

    assert ["a/deeper/case", "a/first", "z/last"] == [golden.case.id for golden in load(tmp_path)]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"id": "made/other"}, "its id is made/other, its folder made/good"),
        ({"kind": "invalid"}, "kind must be invalid exactly if"),
        ({"title": 5}, "title: Input should be a valid string"),
        ({"titel": "x"}, "titel: Unexpected"),
        ({"effect": None}, "effect: "),
        ({"column": None}, "encode needs rows and a column"),
        ({"parent": "made/gone"}, "its parent made/gone does not exist"),
        ({"input": {"file": "../x", "sha256": ""}}, "an input outside its folder"),
    ],
)
def test_a_wrong_manifest_is_named_with_what_is_wrong(
    members: dict[str, Any], message: str, tmp_path: Path
) -> None:
    edited(valid_case(tmp_path), **members)
    with pytest.raises(CaseError, match=message):
        load(tmp_path)


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ({"decode": "accept"}, "decode needs a value"),
        ({"scan": "same-rows", "rows": ROWS}, "scan needs rows and a predicate"),
        ({"scan": "exposure"}, "scan needs rows and a predicate"),
        ({"read": {"rows": "own", "refusal": "never"}}, "read needs its expected rows"),
        ({"read": {"rows": "parent", "refusal": "never"}, "rows": ROWS}, "rows of a parent need a parent"),
        ({"read": {"rows": "own", "refusal": "demanded"}, "rows": ROWS}, "a case that demands a refusal"),
        ({"read": {"rows": "all", "refusal": "never"}}, r"read.rows: Input should be"),
        ({"predicate": ["=", "gone", 1], "rows": ROWS}, "there is no column gone"),
        ({"predicate": ["like", "nation", "x"], "rows": ROWS}, "not a predicate"),
        ({"rows": {"columns": ROWS["columns"], "rows": [["a"]]}, "predicate": ["is null", "year"]}, "rows"),
    ],
)
def test_an_expectation_that_cannot_be_judged_is_an_error(
    expect: dict[str, Any], message: str, tmp_path: Path
) -> None:
    write_case(tmp_path, "made/case", expect)
    with pytest.raises(CaseError, match=message):
        load(tmp_path)


PAIR = golden_folder() / "interop" / "questdb-9.4.3" / "o3-chain-1"


def pair(tmp_path: Path) -> Path:
    """A case of a _pm with a Parquet file beside it, below ``tmp_path``."""
    return shutil.copytree(PAIR, tmp_path / "interop" / "questdb-9.4.3" / "o3-chain-1")


def test_the_files_beside_an_input_are_read_and_compared_like_the_input(tmp_path: Path) -> None:
    home = pair(tmp_path)
    (golden,) = load(tmp_path)
    digest = inputs_digest([golden])

    assert ("pm", "_pm") == (file_kind(golden.case), handed_over(golden.case))
    assert {"data.parquet": (home / "data.parquet").read_bytes()} == golden.beside()
    (home / "data.parquet").write_bytes(b"PAR1")
    with pytest.raises(CaseError, match=r"data.parquet is not the expected file"):
        golden.beside()
    (home / "data.parquet").unlink()
    with pytest.raises(CaseError, match=r"data.parquet: No such file"):
        golden.beside()

    manifest = json.loads((home / "case.json").read_text())
    manifest["input"]["beside"][0]["sha256"] = "00"
    edited(home, input=manifest["input"])
    assert digest != inputs_digest(load(tmp_path))


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        (["../data.parquet"], "an input outside its folder"),
        ([".."], "an input outside its folder"),
        (["case.json"], "an input outside its folder"),
        (["_pm"], "two files of one name"),
        (["a", "a"], "two files of one name"),
    ],
)
def test_files_beside_an_input_stay_in_its_folder(beside: list[str], message: str, tmp_path: Path) -> None:
    home = pair(tmp_path)
    given = json.loads((home / "case.json").read_text())["input"]
    edited(home, input={**given, "beside": [{"file": name, "sha256": ""} for name in beside]})

    with pytest.raises(CaseError, match=message):
        load(tmp_path)


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ({"decode": "accept", "value": {"columns": []}}, "value: designated_timestamp: missing"),
        ({"encode": "accept"}, "encode needs the value of a file with one snapshot"),
        ({"snapshots": [{"parquet_file_size": 1, "answer": "accept"}]}, r"snapshots\[0\] needs a value"),
        ({"prune": [{"predicate": ["=", "l", 1], "must_keep": [1], "kept": [0]}]}, "kept lacks row groups"),
        ({"prune": [{"predicate": [], "must_keep": [], "kept": []}]}, r"prune\[0\]: "),
        ({"prune": [{"predicate": ["~", "l"], "must_keep": [], "kept": []}]}, r"prune\[0\]: "),
        ({"plan": [{"columns": ["l"]}]}, r"plan\[0\] needs ranges"),
        ({"read": {"rows": "unspecified", "refusal": "allowed"}}, "only Parquet files are read"),
    ],
)
def test_an_expectation_about_a_pm_that_cannot_be_judged_is_an_error(
    expect: dict[str, Any], message: str, tmp_path: Path
) -> None:
    edited(pair(tmp_path), kind="valid", expect={"check": {"rules": [], "tier": "values"}, **expect})
    with pytest.raises(CaseError, match=message):
        load(tmp_path)


def test_only_a_pm_is_asked_for_snapshots(tmp_path: Path) -> None:
    write_case(tmp_path, "made/case", {"plan": [{"columns": ["l"], "ranges": []}]})
    with pytest.raises(CaseError, match="only a _pm has snapshots"):
        load(tmp_path)


def test_an_input_that_was_changed_is_noticed(tmp_path: Path) -> None:
    home = valid_case(tmp_path)
    (golden,) = load(tmp_path)
    (home / "data.parquet").write_bytes(b"PAR1")

    with pytest.raises(CaseError, match="SHA-256"):
        golden.content()


@pytest.mark.parametrize(
    ("name", "pattern", "matching"),
    [
        ("idx1/plain", "idx1/plain", True),
        ("idx1/plain", "idx1/*", True),
        ("idx1/plain", "*", False),
        ("idx1/plain", "idx1", False),
        ("interop/a-1.0/b", "interop/*", False),
        ("interop/a-1.0/b", "interop/*/b", True),
        ("interop/a-1.0/b", "interop/**", True),
        ("interop/a-1.0/b", "**/b", True),
        ("idx1/plain", "idx1/[op]lain", True),
    ],
)
def test_a_star_stays_within_a_name(name: str, pattern: str, matching: bool) -> None:
    assert matching is matches(name, pattern)


def test_a_selection_takes_parents_along(tmp_path: Path) -> None:
    valid_case(tmp_path)
    valid_case(tmp_path, "made/other")
    broken_case(tmp_path, parent="made/good")
    chosen = select(load(tmp_path), ["made/b*"])

    assert ["made/broken", "made/good"] == [golden.case.id for golden in chosen]
    with pytest.raises(CaseError, match="no case matches 'nothing/"):
        select(load(tmp_path), ["made/*", "nothing/*"])


def test_digests_tell_suites_apart(tmp_path: Path) -> None:
    home = valid_case(tmp_path)
    before = load(tmp_path)
    edited(home, title="Another title")
    after = load(tmp_path)

    assert manifests_digest(before) != manifests_digest(after)
    assert inputs_digest(before) == inputs_digest(after)
