"""The search of the built site, in a browser: what people look for is found at the first place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser import Browser, Tab
from built_site import searched

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tab(browser: Browser, address: str) -> Iterator[Tab]:
    with browser.open(f"{address}index.html") as opened:
        yield opened
        assert ([], []) == (opened.complaints, opened.outside(address))


@pytest.mark.parametrize(
    ("words", "pages"),
    [
        ("STA-041", ["rules/sta-041.html"]),
        ("zeroed", ["cases/blm-zeroed.html"]),
        ("rows lost", ["index.html"]),
        ("DLT-005", ["rules/dlt-005.html"]),
        ("quarantine", ["guide/repair.html"]),
        ("sta/max-too-small", ["cases/sta-max-too-small.html"]),
        ("polars", ["implementations/polars.html"]),
        ("truncated maximum", ["rules/sta-041.html", "cases/sta-upper-bound-cut-not-raised.html"]),
        ("byte 29 descriptor", ["spec/pm.html", "spec/pm.html#columndescriptor-byte-29"]),
        ("byte 29 of a _pm descriptor", ["spec/pm.html", "spec/pm.html#columndescriptor-byte-29"]),
    ],
)
def test_what_people_look_for_is_at_the_first_place(tab: Tab, words: str, pages: list[str]) -> None:
    assert pages == searched(tab, words)[: len(pages)]


def test_the_same_search_again_finds_the_same(tab: Tab) -> None:
    assert searched(tab, "rows lost") == searched(tab, "rows lost")


def test_the_row_that_a_search_leads_to_is_in_sight(browser: Browser, address: str) -> None:
    with browser.open(f"{address}index.html") as tab:  # of its own, since it goes to another page
        assert searched(tab, "byte 29 descriptor")[1] == "spec/pm.html#columndescriptor-byte-29"
        tab.follow('document.querySelectorAll(".md-search-result__list a")[1].click()')
        row, header = tab.measured(
            """[document.querySelector(":target").closest("tr"), document.querySelector(".md-header")].map((one) => one.getBoundingClientRect().toJSON())"""
        )
        assert "max_rep_level" in tab.evaluate("document.querySelector(':target').closest('tr').innerText")
        assert header["bottom"] <= row["top"] < row["bottom"] <= tab.evaluate("innerHeight")
        assert [] == tab.complaints
