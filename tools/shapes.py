"""The shapes of violations in golden files, for rules that engines were asked about: ``spec/pqassay_spec/rules/shapes.json``."""

from __future__ import annotations

import json
from pathlib import Path

import pqassay
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.golden.table_case import TABLE_MANIFEST
from pqassay_spec.rules.observed import SHAPES, observations

ROOT = Path(__file__).resolve().parent.parent
GOLDEN_FILES = ROOT / "golden_files"
SHAPES_FILE = f"spec/pqassay_spec/rules/{SHAPES}"


def shape(rule: str, case: str) -> str | None:
    """The shape in which a golden file or table breaks a rule; ``None`` if no check finds it."""
    folder = GOLDEN_FILES / case
    is_table = (folder / TABLE_MANIFEST).is_file()
    path = folder / (
        "table" if is_table else json.loads((folder / MANIFEST).read_text("utf-8"))["input"]["file"]
    )
    report = pqassay.check(str(path), tier="values", only=[rule])
    return next((finding.shape for file in report.files for finding in file.findings), None)


def contents() -> dict[str, str]:
    """The text of the file."""
    known = {
        rule: {case: found for case in seen.cases if (found := shape(rule, case)) is not None}
        for rule, seen in sorted(observations().items())
        if seen.cases
    }
    return {SHAPES_FILE: json.dumps(known, indent=1, ensure_ascii=False) + "\n"}
