"""Every golden file is what its manifest says, and is judged as its manifest says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import pqassay
from damage import EXAMPLES, require_report
from places import GOLDEN_FILES
from pqassay.checks import asking, registry
from pqassay.judge import file_check
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.field_paths import get
from pqassay_spec.mutation.mutations import FORMS, IN_DATA, Mutation, form_of, mutate_files
from pqassay_spec.pm import grammar as pm
from pqassay_spec.rules.catalogue import families, file_rules, rules
from report_samples import lines_of_files

MANIFESTS = sorted(GOLDEN_FILES.rglob("case.json"))
CASES: dict[str, dict[str, Any]] = {
    path.parent.relative_to(GOLDEN_FILES).as_posix(): json.loads(path.read_text()) for path in MANIFESTS
}
MUTATED = [name for name, case in CASES.items() if "mutation" in case]


OF_TABLES = {rule.id for family in families() if family.is_about_tables for rule in family.rules}
"""Rules of which `test_golden_tables` speaks."""


def content(name: str) -> bytes:
    return place(name).read_bytes()


def place(name: str) -> Path:
    return GOLDEN_FILES.joinpath(name, CASES[name]["input"]["file"])


def contents(name: str) -> dict[str, bytes]:
    """The bytes of the input and of what is beside it, by name."""
    given = CASES[name]["input"]
    names = [file["file"] for file in (given, *given.get("beside", ()))]
    return {file: (GOLDEN_FILES / name / file).read_bytes() for file in names}


@cache
def judged(name: str) -> pqassay.Report:
    """The report on a case, which is opened where it is: what is beside it may matter."""
    check = CASES[name]["expect"]["check"]
    return pqassay.check(place(name), tier=check["tier"], **check.get("options", {}))


def found(name: str) -> list[str]:
    """The rules that are reported, each once, in the order of the report."""
    return list(dict.fromkeys(finding.rule for finding in judged(name).files[0].findings))


def outcome(name: str) -> str:
    """The outcome; `test_gaps` tests what could not be looked at."""
    return judged(name).files[0].outcome.removesuffix(" where checked")


def test_exactly_the_expected_rules_are_reported() -> None:
    expected = {name: case["expect"]["check"]["rules"] for name, case in CASES.items()}

    assert expected == {name: found(name) for name in CASES}


def test_the_text_about_a_file_has_at_most_25_lines() -> None:
    assert {} == {name: count for name in CASES for count in lines_of_files(judged(name)) if count > 25}


OLDER = {"pix/bound-not-a-number", "pix/half-bound-not-a-number", "pix/page-of-nan"}
"""Files that would fail if they showed that their writer knew the release from which a rule obliges."""


def test_a_manifest_names_its_place_and_the_digests_of_its_files() -> None:
    for name, case in CASES.items():
        files = [case["input"], *case["input"].get("beside", [])]
        digests = [
            hashlib.sha256((GOLDEN_FILES / name / one["file"]).read_bytes()).hexdigest() for one in files
        ]
        assert (name, digests) == (case["id"], [one["sha256"] for one in files])
        assert ("read" in case["expect"]) is (case["family"] != "PM"), name


def test_the_kind_of_a_case_and_what_a_lint_answers_follow_from_its_verdicts() -> None:
    for name, case in CASES.items():
        fails = any(finding.verdict == "FAIL" for finding in judged(name).files[0].findings)
        foreign = "parent" not in case and case["provenance"]["by"] not in ("generator", "hand")
        against = [rule for rule in case["expect"]["check"]["rules"] if "parent" in case or rule != "PQF-081"]
        reported = [rules()[rule].verdict for rule in against]
        broken = bool(set(reported) - {"INFO", "POLICY"}) if foreign else bool(reported)
        assert ("invalid" if broken else "valid") == case["kind"], name
        sources = {
            rules()[one.rule].origin.kind for one in judged(name).files[0].findings if one.verdict == "FAIL"
        }
        broken_as = "nonconformant" if "stated" in sources else "untrue"
        assert (broken_as if fails else "conformant") == outcome(name), name
        assert (fails is not ("FAIL" in reported)) == (name in OLDER), name
        assert fails == (case["expect"].get("lint") == "reject"), name


def test_an_invalid_file_is_its_conformant_parent_with_one_mutation() -> None:
    for number, name in enumerate(MUTATED):
        case = CASES[name]
        before, after = contents(case["parent"]), contents(name)
        assert before != after, name
        if number % EXAMPLES == 0:
            mutation = Mutation.from_json(case["mutation"])
            assert after == mutate_files(before, case["input"]["file"], mutation), name
        assert "conformant" == outcome(case["parent"]), name
        assert not set(case["expect"]["check"]["rules"]) <= set(found(case["parent"])), name


def test_nothing_else_is_wrong_than_what_the_mutation_names() -> None:
    for name in MUTATED[::EXAMPLES]:
        mutation = CASES[name]["mutation"]
        if mutation["op"] in ("set", "add", "prepend") and "raw" not in mutation:
            assert (name, set()) == (name, wrong_elsewhere(name, Mutation.from_json(mutation)))


def wrong_elsewhere(name: str, mutation: Mutation) -> set[str]:
    """What a file holds that does not follow from the rest of it, but for the field of the mutation and what is in it."""
    wrong: set[str] = set()
    for file, data in contents(name).items():
        form, beside = FORMS[form_of(file)], file != CASES[name]["input"]["file"]
        try:
            tree = form.take_apart(data)
        except FormatError:
            continue  # damaged too badly to be taken apart: that is seen in the findings
        places = {path for path, value in form.derived(tree) if get(tree, path) != value}
        wrong |= {f"{IN_DATA}{path}" if beside else path for path in places}

    field = mutation.path.removesuffix(":header")
    below = (f"{field}.", f"{field}[")
    return {path for path in wrong if path != field and not path.startswith(below)}


BROKEN = {
    "pqf/footer-length-short": "FileMetaData lacks its required field 1, version",
    "pqf/schema-no-tree": "3 children among 3 elements",
    "pqf/required-field-missing": "FileMetaData lacks its required field 2, schema",
    "pqf/text-too-long": "a value of 1048575 bytes with 193 bytes left",
    "pqf/nested-without-end": "nesting deeper than 100 levels",
    "pqf/list-too-long": "2147483647 elements with 210 bytes left",
}


def test_a_footer_is_broken_in_the_way_that_its_case_says() -> None:
    names = [name for name, case in CASES.items() if "PQF-004" in case["expect"]["check"]["rules"]]

    assert BROKEN == {name: judged(name).files[0].findings[0].message for name in names}


@pytest.mark.parametrize("name", [name for name in CASES if (GOLDEN_FILES / name / "data.hex").exists()])
def test_what_was_typed_by_hand_is_what_stands_in_the_file(name: str) -> None:
    typed = (GOLDEN_FILES / name / "data.hex").read_text()
    lines = [line.partition("#")[0] for line in typed.splitlines()]

    assert bytes.fromhex("".join(lines)) == content(name)


def test_every_rule_is_kept_by_a_valid_file() -> None:
    kept = {
        rule
        for name, case in CASES.items()
        if case["kind"] == "valid"
        for coverage in judged(name).coverages.values()
        for rule in coverage.checked
    }

    excluded = {rule.id for rule in file_rules().values() if rule.excluded}
    assert {*KEPT_ELSEWHERE, *excluded, OF_ENCRYPTED} - OF_TABLES == set(file_rules()) - kept - OF_TABLES


OF_ENCRYPTED = "PQF-170"
"""Kept by files that no driver without keys can read; ``tests/conformance/checks/test_undefined_members.py`` writes them."""

# Nothing has the structure that one of these rules is about without a remark by another rule.
KEPT_ELSEWHERE = {
    "IDX1-031": "idx1/draft-g1",
    "STA-051": "sta/no-column-orders",
    "STA-055": "sta/page-statistics-no-column-orders",
    "PIX-060": "pix/no-column-orders",
    "PM-085": "pm/scratchpad",
    "PM-086": "pm/covering-index",
    "PM-087": "pm/squash-tracker",
}


@pytest.mark.parametrize("rule", KEPT_ELSEWHERE)
def test_a_rule_that_no_valid_file_keeps_is_kept_by_one_with_a_remark(rule: str) -> None:
    (coverage,) = judged(KEPT_ELSEWHERE[rule]).coverages.values()

    assert rule in coverage.checked
    assert rule not in found(KEPT_ELSEWHERE[rule])


def test_every_rule_is_reported_of_a_golden_file() -> None:
    reported = {rule for name in CASES for rule in found(name)}

    assert (
        reported - OF_TABLES == {rule.id for rule in file_rules().values() if not rule.excluded} - OF_TABLES
    )


STEP = 3 * EXAMPLES - 2
"""One of this number of rules and early cases is looked at; all by `make damages`."""

RAISED_ELSEWHERE = {"PM-013", "PM-040", "PM-041", "PM-085"}
"""Rules that reading raises: whatever else reads the structure reports them, too."""


@pytest.mark.parametrize("rule", sorted({*registry()} - RAISED_ELSEWHERE - OF_TABLES)[::STEP])
def test_taking_a_check_away_changes_a_verdict(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of the rules; all by `make damages`."""
    name = next(name for name, case in CASES.items() if rule in case["expect"]["check"]["rules"])
    expected = set(found(name)) - {rule}
    monkeypatch.setitem(registry(), rule, replace(registry()[rule], test=lambda _: None))
    monkeypatch.setattr(file_check, "by_subject", asking.by_subject.__wrapped__)
    monkeypatch.setattr(file_check, "_planned", cache(file_check._planned.__wrapped__))
    unchecked = judged.__wrapped__(name)

    revealed = spoken_for(judged(name)) - expected
    assert expected == {finding.rule for finding in unchecked.files[0].findings} - revealed


@pytest.mark.slow
def test_what_an_early_tier_finds_is_no_mistake_of_a_later_one() -> None:
    early = [name for name, case in CASES.items() if case["expect"]["check"]["tier"] != "values"]
    for name in early[::STEP]:
        (file,) = pqassay.check(place(name), tier="values").files
        require_report(file)
        told = {rule for finding in file.findings for rule in (finding.rule, *finding.also)}
        assert (name, []) == (name, [rule for rule in found(name) if rule not in told])


def spoken_for(report: pqassay.Report) -> set[str]:
    """The rules for which findings speak."""
    return {rule for file in report.files for finding in file.findings for rule in finding.also}


def test_every_rule_is_accounted_for_exactly_once() -> None:
    for name in CASES:
        for coverage in judged(name).coverages.values():
            accounted = [*coverage.checked, *coverage.not_checked, *coverage.not_applicable]
            assert sorted(file_rules()) == sorted(accounted), name


def test_a_rule_that_blocks_others_is_itself_reported() -> None:
    for name in CASES:
        (coverage,) = judged(name).coverages.values()
        blocking = {why.split()[0] for why in coverage.reasons.values() if " is broken" in why}
        assert (name, set()) == (name, blocking - set(found(name)) - spoken_for(judged(name)))


def test_every_invalid_case_says_what_it_costs() -> None:
    silent = [name for name, case in CASES.items() if case["kind"] == "invalid" and not case["effect"]]

    assert [] == silent


def test_every_finding_says_where_and_what() -> None:
    for name in CASES:
        for finding in judged(name).files[0].findings:
            assert finding.message
            assert finding.count >= len(finding.at) >= 1
            beside = finding.at[0].field.startswith(IN_DATA)
            data = contents(name)[pm.DATA_NAME] if beside else content(name)
            assert -1 <= finding.at[0].offset <= len(data)
            assert len(finding.hexdump) <= 6
