"""Checks of statistics against the values of their chunks and pages, tier ``values``."""

from __future__ import annotations

from pqassay.checks.by_values import by_audit


@by_audit("STA-040", "claims.statistics.StatisticsClaims._judge_bound")
def no_value_is_less_than_min_value() -> None:
    """A reader skips the row group when it looks for the value."""


@by_audit("STA-041", "claims.statistics.StatisticsClaims._judge_bound")
def no_value_is_greater_than_max_value() -> None:
    """A reader skips the row group when it looks for the value."""


@by_audit("STA-042", "claims.statistics.StatisticsClaims._judge_bound")
def exact_bounds_occur() -> None:
    """A reader may answer min() and max() from an exact bound."""


@by_audit("STA-089", "claims.statistics.StatisticsClaims._judge_nan_bounds")
def no_nan_leaves_out_numbers() -> None:
    """A reader that compares NaN as the greatest value skips the numbers, and takes two equal bounds for all values."""


@by_audit("STA-043", "claims.statistics.StatisticsClaims._judge_nulls")
def nulls_are_counted() -> None:
    """A reader that looks for nulls skips a chunk that has none."""


@by_audit("STA-044", "claims.statistics.StatisticsClaims._judge_nans")
def nan_values_are_counted() -> None:
    """A reader that looks for NaN, or for what is no number, skips a chunk by it."""


@by_audit("STA-045", "claims.statistics.StatisticsClaims._judge_distinct")
def distinct_values_are_counted() -> None:
    """A reader may answer count(distinct) from it."""


@by_audit("STA-047", "claims.statistics.StatisticsClaims._judge_bytes")
def bytes_of_byte_arrays_are_counted() -> None:
    """Readers size buffers by it."""


@by_audit("STA-048", "claims.statistics.StatisticsClaims._judge_deprecated")
def no_value_is_outside_the_deprecated_bounds() -> None:
    """Readers fall back to them where there are no others."""


@by_audit("STA-049", "claims.statistics.StatisticsClaims._judge_box")
def the_box_holds_every_coordinate() -> None:
    """A reader skips the row group when it looks for what lies there."""


@by_audit("STA-072", "claims.statistics.StatisticsClaims._judge_box")
def the_box_holds_every_coordinate_exactly() -> None:
    """A reader compares the numbers as they are."""


@by_audit("STA-050", "claims.page_headers.PageHeaderClaims.claim_page_headers")
def statistics_of_page_headers_are_true() -> None:
    """A reader without page index skips pages by them."""


@by_audit("STA-009", "claims.statistics.StatisticsClaims._judge_zero")
def zeros_lie_within_the_bounds() -> None:
    """A reader that tells the zeros apart skips the row group when it looks for the other one."""


@by_audit("STA-051", "claims.statistics.StatisticsClaims._claim_by_type")
def no_value_is_outside_bounds_without_an_order() -> None:
    """Some readers take the order of the type, and skip the row group when they look for the value."""


@by_audit("STA-052", "claims.page_headers.PageHeaderClaims._judge_deprecated_pages")
def no_value_is_outside_the_deprecated_bounds_of_its_page() -> None:
    """Filters of pages fall back to them where there are no others."""


@by_audit("STA-054", "claims.page_headers.PageHeaderClaims._judge_header_distinct")
def distinct_values_of_pages_are_counted() -> None:
    """Nobody is known to look at it."""


@by_audit("STA-055", "claims.page_headers.PageHeaderClaims._claim_header_bounds")
def no_value_is_outside_bounds_of_its_page_without_an_order() -> None:
    """Readers that hand the bounds of pages to a filter do not look for an order first."""


@by_audit("STA-056", "claims.page_headers.PageHeaderClaims._judge_header_nans")
def nan_values_are_counted_in_page_headers() -> None:
    """A filter of pages that looks for NaN skips a page that has none."""


@by_audit("STA-057", "claims.page_headers.PageHeaderClaims._judge_exact")
def exact_bounds_of_pages_occur() -> None:
    """A reader may answer min() and max() from exact bounds."""


@by_audit("STA-061", "claims.statistics.StatisticsClaims._judge_axes")
def boxes_bound_axes_that_are_there() -> None:
    """A box of places on the plane says nothing of their height."""


@by_audit("STA-063", "claims.statistics.StatisticsClaims._judge_types")
def the_type_of_every_geometry_is_listed() -> None:
    """A reader that looks for geometries of a type skips the row group."""


@by_audit("STA-065", "claims.statistics.StatisticsClaims._judge_types_listed")
def every_listed_type_occurs() -> None:
    """A reader that looks for geometries of the type reads the row group in vain."""


@by_audit("STA-071", "claims.statistics.StatisticsClaims._judge_nulls")
def empty_lists_count_as_nulls() -> None:
    """Some writers count the nulls among the values alone."""
