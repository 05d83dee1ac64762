"""Every golden table is what its manifest says, and is judged as its manifest says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import pqassay
from damage import EXAMPLES
from places import GOLDEN_FILES
from pqassay.checks import asking, registry
from pqassay.judge import file_check
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.rules.catalogue import families, file_rules
from report_samples import lines_of_files

CASES: dict[str, dict[str, Any]] = {
    path.parent.relative_to(GOLDEN_FILES).as_posix(): json.loads(path.read_text())
    for path in sorted(GOLDEN_FILES.glob("*/*/table.json"))
}
MUTATED = [name for name, case in CASES.items() if "mutation" in case]
RULES = [
    rule.id
    for family in families()
    if family.is_about_tables
    for rule in family.rules
    if rule.id in file_rules() and not rule.excluded
]


def contents(name: str) -> dict[str, bytes]:
    place = GOLDEN_FILES / name / "table"
    return {one["file"]: (place / one["file"]).read_bytes() for one in CASES[name]["files"]}


@cache
def judged(name: str) -> pqassay.Report:
    return pqassay.check(GOLDEN_FILES / name / "table", tier=CASES[name]["tier"])


def found(name: str, report: pqassay.Report | None = None) -> list[str]:
    findings = [finding for file in (report or judged(name)).files for finding in file.findings]
    return list(dict.fromkeys(finding.rule for finding in findings))


def test_exactly_the_expected_rules_are_reported() -> None:
    for name, case in CASES.items():
        also = {rule for file in judged(name).files for finding in file.findings for rule in finding.also}
        assert (name, {*case["rules"]} - also) == (name, {*found(name)})
        assert (name, []) == (name, [file.error for file in judged(name).files if file.error])
        assert (case["id"], case["kind"]) == (name, "invalid" if case["rules"] else "valid")


def test_a_manifest_names_all_files_of_its_table() -> None:
    for name, case in CASES.items():
        place = GOLDEN_FILES / name / "table"
        there = {
            path.relative_to(place).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in place.rglob("*")
            if path.is_file()
        }
        assert (name, there) == (name, {one["file"]: one["sha256"] for one in case["files"]})


def test_a_bad_table_is_its_good_parent_with_one_mutation() -> None:
    for name in MUTATED:
        case = CASES[name]
        mutated = TableMutation(**case["mutation"]).applied(contents(case["parent"]))
        assert mutated == contents(name), name
        assert [] == CASES[case["parent"]]["rules"], name


def test_what_an_early_tier_finds_is_no_mistake_of_a_later_one() -> None:
    for name in [name for name, case in CASES.items() if case["tier"] != "values"][:: 3 * EXAMPLES - 2]:
        report = pqassay.check(GOLDEN_FILES / name / "table", tier="values")
        spoken_for = {rule for file in report.files for finding in file.findings for rule in finding.also}
        assert (name, set()) == (name, {*found(name)} - {*found(name, report)} - spoken_for)


def test_every_rule_is_kept_by_a_good_table_and_broken_by_a_bad_one() -> None:
    kept = {
        rule
        for name, case in CASES.items()
        if case["kind"] == "valid"
        for coverage in judged(name).coverages.values()
        for rule in coverage.checked
    }
    broken = {rule for case in CASES.values() for rule in case["rules"]}
    assert (sorted(RULES), sorted(RULES)) == (sorted(kept & set(RULES)), sorted(broken & set(RULES)))


@pytest.mark.parametrize("rule", RULES[::EXAMPLES])
def test_taking_a_check_away_changes_a_verdict(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(name for name, case in CASES.items() if case["rules"] == [rule])
    monkeypatch.setitem(registry(), rule, replace(registry()[rule], test=lambda _: None))
    monkeypatch.setattr(file_check, "by_subject", asking.by_subject.__wrapped__)
    monkeypatch.setattr(file_check, "_planned", cache(file_check._planned.__wrapped__))

    assert rule not in found(name, judged.__wrapped__(name))


def test_the_text_about_a_file_has_at_most_25_lines() -> None:
    assert {} == {name: count for name in CASES for count in lines_of_files(judged(name)) if count > 25}


def test_every_rule_is_accounted_for_exactly_once() -> None:
    for name in CASES:
        for coverage in judged(name).coverages.values():
            accounted = [*coverage.checked, *coverage.not_checked, *coverage.not_applicable]
            assert sorted(file_rules()) == sorted(accounted), name


def test_a_finding_names_entry_bytes_and_data_file() -> None:
    (finding,) = judged("dlt/maximum-lowered").files[1].findings
    place = finding.at[0]
    log = (GOLDEN_FILES / "dlt/maximum-lowered/table/_delta_log/00000000000000000000.json").read_bytes()

    assert ("FAIL", "rows lost", "id") == (finding.verdict, finding.could, finding.column)
    assert "_delta_log/00000000000000000000.json[3].add.stats.maxValues.id" == place.field
    assert b"5" == log[place.offset : place.offset + place.length]
    assert b'maxValues\\":{\\"id\\":' == log[place.offset - 20 : place.offset]
    assert ("7 or more", "5") == (place.expected, place.actual) or "6 or more" == place.expected
    assert place.file is not None
    assert place.file.endswith("/_delta_log/00000000000000000000.json")
    assert Path(judged("dlt/maximum-lowered").files[1].path).name == "part-0.parquet"
    assert any(place.field in row for row in finding.hexdump)
