"""Checks of bloom filters against the values of their chunks, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import check
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.audit import audited


@check("BLM-020")
def every_value_is_held(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the row group when it looks for the value."""
    return audited(file, "BLM-020")


@check("BLM-021")
def zeros_and_nan_are_held_by_their_bytes(file: FileUnderTest) -> Iterator[Violation]:
    """A reader hashes what it looks for as it would be stored."""
    return audited(file, "BLM-021")
