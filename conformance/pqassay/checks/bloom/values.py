"""Checks of bloom filters against the values of their chunks, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.audit import audited


@rule("BLM-020", of=FILE)
def every_value_is_held(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the row group when it looks for the value."""
    return audited(file, "BLM-020")


@rule("BLM-021", of=FILE)
def zeros_and_nan_are_held_by_their_bytes(file: FileUnderTest) -> Iterator[Violation]:
    """A reader hashes what it looks for as it would be stored."""
    return audited(file, "BLM-021")
