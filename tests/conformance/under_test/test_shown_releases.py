"""What a file shows of the releases that its writer knew, and what that does to a verdict."""

from __future__ import annotations

import pytest

import pqassay
from each import each
from places import GOLDEN_FILES
from pqassay.report.model import Finding
from pqassay.under_test.file import FileUnderTest, Options
from pqassay.under_test.schemas import shown_releases
from pqassay.under_test.schemas.shown_releases import ShownReleases
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.rules.catalogue import Tier, rules


def content(name: str) -> bytes:
    return (GOLDEN_FILES / name / "data.parquet").read_bytes()


def shows(name: str, tier: Tier, version: str) -> bool:
    return FileUnderTest(BytesSource(content(name)), Options(tier)).part(ShownReleases).shows(version)


def finding(name: str, rule: str, **options: str) -> Finding:
    (report,) = pqassay.check(content(name), **options).files  # type: ignore[arg-type]
    return next(found for found in report.findings if found.rule == rule)


@each(
    ("name", "tier", "version", "expected"),
    [
        ("pix/one-page", "footer", "2.3.1", True),  # which all writers know
        ("pix/one-page", "footer", "2.4.0", True),  # FileMetaData.column_orders
        ("pix/one-page", "footer", "2.13.0", False),
        ("pix/nan-counted", "footer", "2.13.0", True),  # Statistics.nan_count
        ("pix/nan-counted", "footer", "2.12.0", True),  # a later one
        ("pix/nan-counted", "footer", "2.14.0", False),
        ("pix/timestamp-order", "footer", "2.14.0", True),  # ColumnOrder.INT96_TIMESTAMP_ORDER
        ("pix/histograms", "index", "2.10.0", True),  # ColumnIndex.definition_level_histograms
    ],
)
def test_a_mark_shows_a_release_and_all_before_it(
    name: str, tier: Tier, version: str, expected: bool
) -> None:
    assert expected == shows(name, tier, version)


def test_where_the_footer_cannot_be_read_every_release_is_taken_as_known() -> None:
    file = FileUnderTest(BytesSource(b"PAR1" * 4), Options("values"))

    assert file.part(ShownReleases).shows("2.14.0")


@pytest.mark.parametrize(
    ("older", "younger", "rule"),
    [
        ("pix/bound-not-a-number", "pix/bound-not-a-number-counted", "PIX-030"),
        ("pix/page-of-nan", "pix/page-of-nan-counted", "PIX-057"),
        ("pix/int96-without-order", "pix/one-timestamp-without-order", "PIX-031"),
        ("sta/int96-bounds-by-type", "pix/one-timestamp-without-order", "STA-016"),
        ("pix/zero-of-the-wrong-sign", "pix/exact-zero-of-the-wrong-sign", "PIX-037"),
        ("sta/zero-bound-positive", "pix/exact-zero-of-the-chunk", "STA-009"),
    ],
)
def test_a_rule_that_is_younger_than_all_a_file_shows_is_a_remark(
    older: str, younger: str, rule: str
) -> None:
    release = rules()[rule].obliged_since
    said = (
        f"(required since parquet-format {release}; the file has no feature of that release or a later one)"
    )

    assert ("INFO", True) == (finding(older, rule).verdict, finding(older, rule).message.endswith(said))
    assert "INFO" == finding(older, rule, profile="strict").verdict
    assert rules()[rule].verdict == finding(younger, rule).verdict
    assert "obliged since" not in finding(younger, rule).message


@pytest.mark.parametrize(
    ("name", "asked"),
    [("pix/nan-counted", True), ("pix/audited-no-nan", False), ("sta/total-order-of-text", False)],
)
def test_counts_of_nan_are_asked_for_only_where_the_footer_shows_that_they_were_known(
    name: str, asked: bool
) -> None:
    (coverage,) = pqassay.check(content(name)).coverages.values()

    assert asked == ("STA-080" in coverage.checked)
    assert asked != ("STA-080" in coverage.not_applicable)


def test_no_mark_is_looked_for_in_a_file_that_breaks_no_young_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(_: object) -> object:
        raise AssertionError("a needless walk")

    monkeypatch.setattr(shown_releases, "marks_of", unexpected)

    assert [] == pqassay.check(content("pix/audited-no-nan")).files[0].findings
    assert "conformant" == pqassay.check(content("sta/nan-bound"), only=["STA-00[1-6]"]).files[0].outcome
