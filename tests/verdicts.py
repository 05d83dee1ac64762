"""What a report holds against a file, as opposed to what it only remarks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pqassay

if TYPE_CHECKING:
    from pqassay.report.model import FileReport, Finding


def serious(file: FileReport) -> list[Finding]:
    """The findings of verdict FAIL, WARN and POLICY; INFO is worth knowing and not a fault."""
    return [finding for finding in file.findings if finding.verdict != "INFO"]


def rules_of(target: Path) -> list[str]:
    """The rules that a file breaks, those about values among them, each as often as it has findings."""
    return [finding.rule for finding in pqassay.check(target, tier="values").files[0].findings]
