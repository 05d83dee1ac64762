"""Checks of values against the logical types of their columns, tier ``values``."""

from __future__ import annotations

from collections.abc import Callable

from pqassay.checks.by_values import by_audit
from pqassay.under_test.file import FileUnderTest
from pqassay.values.claims.audit import ValueAudit
from pqassay_spec.parquet.schema.logical_values import Allowed, allowed_by


def _kinds(file: FileUnderTest) -> frozenset[Allowed | None]:
    return frozenset(allowed_by(leaf.element) for leaf in file.leaves)


def _having(*kinds: Allowed) -> Callable[[ValueAudit], bool]:
    """Whether a file has a column of one of these kinds."""
    return lambda audit: not audit.file.part(_kinds).isdisjoint(kinds)


@by_audit("PQF-096", "claims.logical_types.LogicalTypeClaims._judge_range", only=_having(Allowed.INTEGERS))
def integers_are_as_narrow_as_annotated() -> None:
    """Most readers keep the low bits alone: of 174 in 8 signed bits, -82 is left."""


@by_audit("PQF-097", "claims.logical_types.LogicalTypeClaims._judge_digits", only=_having(Allowed.DECIMALS))
def decimals_have_no_more_digits_than_annotated() -> None:
    """A reader drops digits, refuses the value, or calculates with one that its type cannot hold."""


@by_audit("PQF-098", "claims.logical_types.LogicalTypeClaims._judge_range", only=_having(Allowed.TIMES))
def times_lie_within_a_day() -> None:
    """To some readers the time is another one, to some it is null, and some refuse it."""


@by_audit("PQF-099", "claims.logical_types.LogicalTypeClaims._judge_midnight", only=_having(Allowed.TIMES))
def times_are_earlier_than_midnight() -> None:
    """Only few readers tell the end of a day from its beginning."""


@by_audit("PQF-100", "claims.logical_types.LogicalTypeClaims._judge_range", only=_having(Allowed.CALENDAR))
def dates_lie_in_common_years() -> None:
    """Where there is no date for the number, reading or showing it fails."""


@by_audit(
    "PQF-101", "claims.logical_types.LogicalTypeClaims._judge_form", only=_having(Allowed.TEXT, Allowed.JSON)
)
def text_is_utf8() -> None:
    """Most engines refuse the column, or the whole file."""


@by_audit("PQF-102", "claims.logical_types.LogicalTypeClaims._judge_json", only=_having(Allowed.JSON))
def json_is_json() -> None:
    """An engine that has JSON as a type refuses the column; elsewhere who takes the text apart fails."""


@by_audit("PQF-103", "claims.logical_types.LogicalTypeClaims._judge_json", only=_having(Allowed.JSON))
def json_has_finite_numbers() -> None:
    """A strict parser refuses the text."""


@by_audit("PQF-104", "claims.logical_types.LogicalTypeClaims._judge_form", only=_having(Allowed.BSON))
def bson_is_framed() -> None:
    """Who takes the documents apart fails."""


@by_audit("PQF-105", "claims.logical_types.LogicalTypeClaims._judge_nothing", only=_having(Allowed.NULLS))
def unknown_columns_hold_nulls() -> None:
    """To most readers the values are null, to others they are numbers."""
