"""What the README and the guides say in numbers is so: figures are those of the data."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Collection

import pytest
import run_checks
import run_elsewhen

import scheduling
from places import GOLDEN_FILES, GUIDES, ROOT
from pqassay_spec.golden.table_case import TABLE_MANIFEST
from pqassay_spec.rules.catalogue import file_rules


def test_the_readme_is_short_and_leads_to_every_command() -> None:
    text = (ROOT / "README.md").read_text()

    assert 600 >= len(text.replace("|", " ").split())
    assert "(docs/guide/commands.md)" in text


@pytest.mark.parametrize(
    "named", [run_elsewhen.TESTS, scheduling.LONG, run_checks.ROOMS], ids=["elsewhen", "long", "fast"]
)
def test_tests_that_are_named_exist(named: Collection[str]) -> None:
    assert [] == [path for path in named if not (ROOT / path).exists()]


def test_each_rule_that_is_tested_has_a_golden_file_that_breaks_it() -> None:
    cases = [json.loads(path.read_text()) for path in GOLDEN_FILES.rglob("case.json")]
    tables = [json.loads(path.read_text()) for path in GOLDEN_FILES.rglob(TABLE_MANIFEST)]
    broken = {rule for case in cases for rule in case["expect"].get("check", {}).get("rules", [])}
    broken |= {rule for table in tables for rule in table["rules"]}

    assert [] == [rule.id for rule in file_rules().values() if not rule.excluded and rule.id not in broken]


def test_the_guide_says_what_programs_score_that_do_nothing_right() -> None:
    scores = tomllib.loads((ROOT / "conformance" / "implementations" / "null_scores.toml").read_text())
    asked, passed = Counter[str](), Counter[str]()
    for name, counts in scores["accept_all"].items():
        if isinstance(counts, dict):
            kind = "lint" if name.endswith(" lint") else "elsewhere"
            asked[kind] += counts["asked"]
            passed[kind] += counts.get("passed", 0)
    refused = [counts for counts in scores["reject_all"].values() if isinstance(counts, dict)]

    assert (
        "Accepting everything earns about a third of `lint` and almost nothing elsewhere; refusing everything earns nothing."
        in " ".join((GUIDES / "run.md").read_text().split())
    )
    assert 1 / 3 == pytest.approx(passed["lint"] / asked["lint"], abs=0.05)
    assert 0 == pytest.approx(passed["elsewhere"] / asked["elsewhere"], abs=0.05)
    assert [] == [counts for counts in refused if "passed" in counts]
