"""Checks of the page index against the values of each page, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import check
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.audit import audited


@check("PIX-050")
def no_value_is_less_than_its_lower_bound(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the page when it looks for the value."""
    return audited(file, "PIX-050")


@check("PIX-051")
def no_value_is_greater_than_its_upper_bound(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the page when it looks for the value."""
    return audited(file, "PIX-051")


@check("PIX-052")
def null_pages_hold_nothing_but_nulls(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips a page of nothing but nulls whatever value it looks for."""
    return audited(file, "PIX-052")


@check("PIX-053")
def nulls_of_pages_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that looks for nulls skips a page that has none."""
    return audited(file, "PIX-053")


@check("PIX-056")
def nan_values_of_pages_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that looks for NaN skips a page that has none."""
    return audited(file, "PIX-056")


@check("PIX-057")
def no_page_of_nothing_but_nan_is_indexed(file: FileUnderTest) -> Iterator[Violation]:
    """Such a page has no bounds, and any that it is given exclude its values or mislead."""
    return audited(file, "PIX-057")


@check("PIX-059")
def bytes_of_pages_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """Readers size buffers by it."""
    return audited(file, "PIX-059")


@check("PIX-037")
def zeros_lie_within_the_bounds_of_pages(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that tells the zeros apart skips the page when it looks for the other one."""
    return audited(file, "PIX-037")
