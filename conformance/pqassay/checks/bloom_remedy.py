"""The command against a bloom filter that excludes too much: without it the file reads equal, only slower."""

from __future__ import annotations

from pqassay.checks import remedies_of
from pqassay.checks.idx1_remedy import strip_command
from pqassay.file_under_test import FileUnderTest

NOT_FALSE = ("BLM-006", "BLM-008", "BLM-010")
"""Rules that speak of a bloom filter which is true, and which its reader is better off with."""


@remedies_of("BLM")
def remedy(file: FileUnderTest, rule: str) -> str:
    """Remove the references to all bloom filters: one writer wrote them all."""
    return "" if rule in NOT_FALSE else strip_command(file, "--bloom-filters")
