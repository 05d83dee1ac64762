"""What a report holds against a file, as opposed to what it only remarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pqassay.report.model import FileReport, Finding


def serious(file: FileReport) -> list[Finding]:
    """The findings of verdict FAIL, WARN and POLICY; INFO is worth knowing and not a fault."""
    return [finding for finding in file.findings if finding.verdict != "INFO"]
