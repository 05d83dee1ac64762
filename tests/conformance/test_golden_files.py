"""Every golden file is what its manifest says, and is judged as its manifest says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import pqassay
from pqassay_spec.catalogue import families, rules

GOLDEN_FILES = Path(__file__).parents[2] / "golden_files"
CASES = sorted(GOLDEN_FILES.rglob("case.json"))


def manifest(case: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(case.read_text())
    return loaded


def test_there_are_cases_and_no_two_share_an_id() -> None:
    ids = [manifest(case)["id"] for case in CASES]

    assert len(ids) >= 3
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.parent.relative_to(GOLDEN_FILES)))
def test_a_case_is_judged_as_its_manifest_says(case: Path) -> None:
    record = manifest(case)
    path = case.parent / record["input"]["file"]
    report = pqassay.check(path, tier=record["expect"]["check"]["tier"])

    assert record["input"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert record["expect"]["check"]["rules"] == [finding.rule for finding in report.files[0].findings]
    assert ("conformant" if record["kind"] == "valid" else "nonconformant") == report.files[0].outcome
    assert record["family"] in {family.prefix for family in families()}
    assert set(record["rules"]) <= set(rules())
