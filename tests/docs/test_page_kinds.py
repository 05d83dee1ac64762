"""A page of every kind in a browser: everybody can use it, light and dark, on a screen and on a phone, and it asks no other host."""

from __future__ import annotations

import pytest

from axe import BY_COLOUR, grave, shorten
from browser import Browser
from built_site import WITHOUT_SEARCH
from damage import EXAMPLES

pytestmark = pytest.mark.slow

KINDS = {
    "home": "index.html",
    "checker": "check/index.html",
    "rule": "rules/sta-041.html",
    "golden file": "cases/blm-zeroed.html",
    "golden table": "cases/ice-maximum-lowered.html",
    "museum": "museum/index.html",
    "exhibit": "museum/16-sta-max-too-small.html",
    "implementations": "implementations/index.html",
    "implementation": "implementations/polars.html",
    "status": "status.html",
    "data": "data/index.html",
    "chapter": "spec/bloom.html",
    "guide": "guide/repair.html",
    "module": "reference/pqassay.errors.html",
}

SEARCHED = {KINDS["home"], KINDS["rule"]}
"""Where the search runs as well: it is the same in all pages of a folder, and the ways to it are the same in all folders."""

DARK = list(KINDS.values())[::EXAMPLES]
"""Whose colours are measured in the dark as well: all of them by `make damages`."""

PHONE = 390
"""Width of a phone in pixels."""


@pytest.mark.parametrize("page", KINDS.values(), ids=list(KINDS))
def test_everybody_can_use_it_in_light_and_dark_on_a_screen_and_on_a_phone(
    browser: Browser, address: str, page: str
) -> None:
    with browser.open(address + page, begins="" if page in SEARCHED else WITHOUT_SEARCH) as tab:
        assert "default" == tab.evaluate("document.body.dataset.mdColorScheme")
        shorten(tab)
        assert [] == grave(tab)

        tab.resize(PHONE, 844)
        tab.evaluate("document.querySelector('label[title=\"Switch to dark mode\"]').click()")
        tab.wait("document.body.dataset.mdColorScheme === 'slate'")
        assert PHONE == tab.measured("document.documentElement.scrollWidth")
        if page in DARK:
            assert [] == grave(tab, BY_COLOUR)

        assert ([], []) == (tab.complaints, tab.outside(address))


def test_nothing_moves_for_who_wants_it_still(browser: Browser, address: str) -> None:
    with browser.open(address + KINDS["rule"], begins=WITHOUT_SEARCH) as tab:
        tab.evaluate("document.adoptedStyleSheets = []")  # what holds every page of the tests still
        moving = tab.measured(
            """[...document.querySelectorAll("*")].flatMap((one) => ["", "::before", "::after"].map((part) => getComputedStyle(one, part)))
            .flatMap((style) => [style.transitionDuration, style.animationName, style.scrollBehavior])"""
        )
    assert {"0s", "none", "auto"} == set(moving)


LAPTOP = (1440, 900)
"""Width and height of the screen of a laptop in pixels."""

FONTS = 40
"""By how many pixels the fonts of two machines may differ."""


def test_the_guide_for_a_wrong_result_is_one_screen_of_a_laptop(browser: Browser, address: str) -> None:
    width, height = LAPTOP
    with browser.open(
        f"{address}guide/wrong-result.html", width=width, height=height, begins=WITHOUT_SEARCH
    ) as tab:
        steps = tab.evaluate("[...document.querySelectorAll('article strong')].map((one) => one.innerText)")
        assert ["1. Check the file", "2. Prove it.", "3. Strip", "4. Report it"] == steps
        end = tab.measured(
            "document.querySelector('article').lastElementChild.getBoundingClientRect().bottom"
        )
    assert end <= height + FONTS


def test_who_wants_it_dark_gets_it_dark(browser: Browser, address: str) -> None:
    schemes = []
    for dark in (False, True):
        with browser.open(f"{address}faq.html", dark=dark, begins=WITHOUT_SEARCH) as tab:
            schemes.append(tab.evaluate("document.body.dataset.mdColorScheme"))
    assert ["default", "slate"] == schemes


def test_a_long_list_shows_50_rows_and_more_on_demand_and_the_row_of_an_address(
    browser: Browser, address: str
) -> None:
    page, rows = f"{address}rules/index.html", "#all-rules tbody tr:not([hidden])"
    shown = f"document.querySelectorAll('{rows}').length"
    with browser.open(page, begins=WITHOUT_SEARCH) as tab:
        first = tab.evaluate(shown)
        tab.evaluate("document.querySelector('.more-rows').click()")
        assert (50, 100) == (first, tab.evaluate(shown))

        find = "document.querySelector('form.filter [name=q]')"
        tab.evaluate(f"{find}.value = 'sta-041'; {find}.dispatchEvent(new Event('input', {{bubbles: true}}))")
        assert (1, True) == (tab.evaluate(shown), tab.evaluate("document.querySelector('.more-rows').hidden"))
    with browser.open(f"{page}#sta-041", begins=WITHOUT_SEARCH) as tab:
        assert tab.evaluate("document.getElementById('sta-041').checkVisibility()")
