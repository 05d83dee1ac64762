"""The command against a false page index: the file reads equal without it, only slower."""

from __future__ import annotations

from pqassay.checks import remedies_of
from pqassay.checks.idx1_remedy import strip_command
from pqassay.file_under_test import FileUnderTest

NOT_FALSE = ("PIX-003", "PIX-027", "PIX-036", "PIX-044")
"""Rules that speak of a page index which is true, and which its reader is better off with."""


@remedies_of("PIX")
def remedy(file: FileUnderTest, rule: str) -> str:
    """Remove the references to all page indexes: one that is false makes the others suspicious."""
    return "" if rule in NOT_FALSE else strip_command(file, "--page-index")
