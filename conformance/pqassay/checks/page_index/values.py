"""Checks of the page index against the values of each page, tier ``values``."""

from __future__ import annotations

from pqassay.checks.by_values import by_audit


@by_audit("PIX-050", "claims.pages.PageClaims._judge_index_bounds")
def no_value_is_less_than_its_lower_bound() -> None:
    """A reader skips the page when it looks for the value."""


@by_audit("PIX-051", "claims.pages.PageClaims._judge_index_bounds")
def no_value_is_greater_than_its_upper_bound() -> None:
    """A reader skips the page when it looks for the value."""


@by_audit("PIX-052", "claims.pages.PageClaims._judge_null_pages")
def null_pages_hold_nothing_but_nulls() -> None:
    """A reader skips a page of nothing but nulls whatever value it looks for."""


@by_audit("PIX-053", "claims.pages.PageClaims._judge_page_nulls")
def nulls_of_pages_are_counted() -> None:
    """A reader that looks for nulls skips a page that has none."""


@by_audit("PIX-056", "claims.pages.PageClaims._judge_page_nans")
def nan_values_of_pages_are_counted() -> None:
    """A reader that looks for NaN skips a page that has none."""


@by_audit("PIX-057", "claims.pages.PageClaims._judge_all_nan")
def no_page_of_nothing_but_nan_is_indexed() -> None:
    """Such a page has no bounds, and any that it is given exclude its values or mislead."""


@by_audit("PIX-059", "claims.pages.PageClaims._judge_page_bytes")
def bytes_of_pages_are_counted() -> None:
    """Readers size buffers by it."""


@by_audit("PIX-037", "claims.pages.PageClaims._judge_page_zeros")
def zeros_lie_within_the_bounds_of_pages() -> None:
    """A reader that tells the zeros apart skips the page when it looks for the other one."""


@by_audit("PIX-060", "claims.pages.PageClaims.claim_column_index")
def no_value_is_outside_bounds_without_an_order() -> None:
    """DataFusion and Spark take the order of the type, and skip the page when they look for the value."""


@by_audit("PIX-070", "claims.pages.PageClaims._judge_page_nulls")
def empty_lists_count_as_nulls_of_pages() -> None:
    """Some writers count the nulls among the values alone."""
