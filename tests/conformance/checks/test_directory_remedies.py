"""The commands that findings about an index directory name: each repairs its file, and leaves the rows as they are."""

from __future__ import annotations

import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from damage import EXAMPLES
from golden_cases import golden_cases
from pqassay.cli.main import app
from pqassay.report.model import Finding

DEAD = {"PQF-037"}
"""The message about a blob that no entry points at any more."""

SEVERAL = {"dir/rows-reordered"}
"""Files of which more than one index is false; a finding names the command for the first."""

NOTHING = {"dir/reserved", "dir/type-name"}
"""Files that no command repairs: a directory is left as it is as long as nothing is wrong with an entry, and a wrong name is its owner's."""


BROKEN = [
    golden
    for number, golden in enumerate(golden_cases())
    if golden.case.family == "DIR" and golden.case.kind == "invalid"
    if number % EXAMPLES == 0 or golden.case.id in SEVERAL | NOTHING
]


def findings_on(path: Path) -> list[Finding]:
    """The findings on a file."""
    return pqassay.check(path, tier="values").files[0].findings


@pytest.mark.slow
def test_each_command_leaves_a_file_without_findings_and_the_same_rows_and_every_rule_has_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a file's name.parquet"
    repaired: set[str] = set()
    for golden in BROKEN:
        path.write_bytes(golden.content())
        findings = [finding for finding in findings_on(path) if finding.remedy]
        repaired |= {finding.rule for finding in findings}
        rows = repr(pq.read_table(path).to_pylist())  # NaN equals nothing
        for finding in findings:
            program, *arguments = shlex.split(finding.remedy or "")
            result = CliRunner().invoke(app, arguments + ["--values-are-right"] * ("strip" in arguments))
            assert ("pqassay", 0) == (program, result.exit_code), (golden.case.id, result.output)
        left = {finding.rule for finding in findings_on(path)} - DEAD

        assert bool(left) == (golden.case.id in SEVERAL | NOTHING), golden.case.id
        assert (golden.case.id, rows) == (golden.case.id, repr(pq.read_table(path).to_pylist()))
    repairable = [golden for golden in BROKEN if golden.case.id not in SEVERAL | NOTHING]
    rules = {rule for golden in repairable for rule in golden.case.rules if rule.startswith("DIR")}
    assert set() == rules - {"DIR-049"} - repaired
    assert "DIR-049" not in repaired
