"""Checks of statistics against the values of their chunks and pages, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.audit import audited


@rule("STA-040", of=FILE)
def no_value_is_less_than_min_value(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the row group when it looks for the value."""
    return audited(file, "STA-040")


@rule("STA-041", of=FILE)
def no_value_is_greater_than_max_value(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the row group when it looks for the value."""
    return audited(file, "STA-041")


@rule("STA-042", of=FILE)
def exact_bounds_occur(file: FileUnderTest) -> Iterator[Violation]:
    """A reader may answer min() and max() from an exact bound."""
    return audited(file, "STA-042")


@rule("STA-043", of=FILE)
def nulls_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that looks for nulls skips a chunk that has none."""
    return audited(file, "STA-043")


@rule("STA-044", of=FILE)
def nan_values_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that looks for NaN, or for what is no number, skips a chunk by it."""
    return audited(file, "STA-044")


@rule("STA-045", of=FILE)
def distinct_values_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader may answer count(distinct) from it."""
    return audited(file, "STA-045")


@rule("STA-047", of=FILE)
def bytes_of_byte_arrays_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """Readers size buffers by it."""
    return audited(file, "STA-047")


@rule("STA-048", of=FILE)
def no_value_is_outside_the_deprecated_bounds(file: FileUnderTest) -> Iterator[Violation]:
    """Readers fall back to them where there are no others."""
    return audited(file, "STA-048")


@rule("STA-049", of=FILE)
def the_box_holds_every_coordinate(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the row group when it looks for what lies there."""
    return audited(file, "STA-049")


@rule("STA-050", of=FILE)
def statistics_of_page_headers_are_true(file: FileUnderTest) -> Iterator[Violation]:
    """A reader without page index skips pages by them."""
    return audited(file, "STA-050")


@rule("STA-009", of=FILE)
def zeros_lie_within_the_bounds(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that tells the zeros apart skips the row group when it looks for the other one."""
    return audited(file, "STA-009")
