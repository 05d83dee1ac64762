"""Every rule for readers is tested by a golden file, and a damage that readers can see is called by the rule that it tests."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase

import pytest

from each import each
from places import GOLDEN_FILES
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.rules.catalogue import reader_rules, rules
from pqassay_spec.rules.reader_cases import cases_of, patterns, reader_rules_of

BROKEN: dict[str, list[str]] = {
    path.parent.relative_to(GOLDEN_FILES).as_posix(): json.loads(path.read_text())["expect"]["check"]["rules"]
    for path in sorted(GOLDEN_FILES.rglob(MANIFEST))
}
"""The rules for files that each golden case breaks."""

GENERAL = {"PQF-145", "PQF-146", "PQF-152"}
"""Rules that every case of a family tests."""

SKIPPED_BY = ("STA-", "PIX-", "BLM-", "IDX1-")
"""Families of what readers skip by."""

HARM = ("rows lost", "wrong rows", "read fails")

WELL_FORMED = "BLM-007"
"""A filter of zeros is what a filter of no values looks like: readers may believe it."""


def test_the_table_has_every_rule_for_readers_and_no_rule_for_writers() -> None:
    for_both = {rule.id for rule in rules().values() if rule.role == "both"}

    assert {*reader_rules(), *for_both} == set(patterns())


@each("rule", patterns())
def test_every_pattern_fits_a_golden_case(rule: str) -> None:
    assert [] == [
        pattern for pattern in patterns()[rule] if not any(fnmatchcase(case, pattern) for case in BROKEN)
    ]
    assert cases_of(rule, BROKEN)


def test_every_case_tests_a_rule_for_readers() -> None:
    assert [] == [case for case in BROKEN if not reader_rules_of(case)]


def test_a_damage_that_readers_can_see_is_tested_by_a_rule_of_its_own() -> None:
    """Damage to what readers skip by; a damage that only the values show is a lie that misleads every reader."""
    visible = [
        case
        for case, broken in BROKEN.items()
        if any(
            rule.startswith(SKIPPED_BY)
            and rules()[rule].tier != "values"
            and rules()[rule].could in HARM
            and rule != WELL_FORMED
            for rule in broken
        )
    ]

    assert len(visible) > 100
    assert [] == [case for case in visible if GENERAL.issuperset(reader_rules_of(case))]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("blm/unknown-hash", ("BLM-025", "PQF-145", "PQF-152", "PQF-146")),
        ("pix/nulls-called-values", ("PIX-081", "PQF-153", "PQF-145", "PQF-152", "PQF-146")),
        ("pix/byte-arrays-of-negative-size", ("PQF-147", "PQF-153", "PQF-145", "PQF-152", "PQF-146")),
        ("pqf/plain", ("PQF-145", "PQF-146")),
        ("pm/header-required-bit", ("PM-004", "PQF-146")),
        ("of-nobody", ("PQF-146",)),
    ],
)
def test_rules_that_few_cases_test_come_first(case: str, expected: tuple[str, ...]) -> None:
    assert expected == reader_rules_of(case)


def test_a_rule_for_writers_has_no_cases_of_readers() -> None:
    assert [] == cases_of("PIX-025", BROKEN)
