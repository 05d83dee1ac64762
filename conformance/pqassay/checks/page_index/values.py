"""Checks of the page index against the values of each page, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.audit import audited


@rule("PIX-050", of=FILE)
def no_value_is_less_than_its_lower_bound(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the page when it looks for the value."""
    return audited(file, "PIX-050")


@rule("PIX-051", of=FILE)
def no_value_is_greater_than_its_upper_bound(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the page when it looks for the value."""
    return audited(file, "PIX-051")


@rule("PIX-052", of=FILE)
def null_pages_hold_nothing_but_nulls(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips a page of nothing but nulls whatever value it looks for."""
    return audited(file, "PIX-052")


@rule("PIX-053", of=FILE)
def nulls_of_pages_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that looks for nulls skips a page that has none."""
    return audited(file, "PIX-053")


@rule("PIX-056", of=FILE)
def nan_values_of_pages_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that looks for NaN skips a page that has none."""
    return audited(file, "PIX-056")


@rule("PIX-057", of=FILE)
def no_page_of_nothing_but_nan_is_indexed(file: FileUnderTest) -> Iterator[Violation]:
    """Such a page has no bounds, and any that it is given exclude its values or mislead."""
    return audited(file, "PIX-057")


@rule("PIX-059", of=FILE)
def bytes_of_pages_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """Readers size buffers by it."""
    return audited(file, "PIX-059")


@rule("PIX-037", of=FILE)
def zeros_lie_within_the_bounds_of_pages(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that tells the zeros apart skips the page when it looks for the other one."""
    return audited(file, "PIX-037")
