"""The search of the built site, in a browser: what people look for is found at the first place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser, Tab, served

pytestmark = pytest.mark.slow

RESULTS = (
    """[...document.querySelectorAll(".md-search-result__list a")].map((link) => link.getAttribute("href"))"""
)


@pytest.fixture(scope="module")
def tab(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with served(site) as address, Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser.open(f"{address}index.html")


def found(tab: Tab, words: str) -> list[str]:
    """The addresses within the site that a search for words gives, the best first; a section behind its page."""
    tab.evaluate(
        f"""(() => {{
          document.querySelector("#__search").checked = true;
          document.querySelector("#__search").dispatchEvent(new Event("change"));
          document.querySelector(".md-search-result__list").replaceChildren();
          const query = document.querySelector("[data-md-component=search-query]");
          query.value = {json.dumps(words)};
          query.dispatchEvent(new Event("focus"));
          query.dispatchEvent(new KeyboardEvent("keyup"));
        }})()"""
    )
    tab.wait("document.querySelector('.md-search-result__item')", seconds=30)
    root = tab.evaluate("location.href").rpartition("/")[0] + "/"
    return [re.sub(r"\?[^#]*", "", link.removeprefix(root)) for link in tab.evaluate(RESULTS)]


@pytest.mark.parametrize(
    ("words", "pages"),
    [
        ("STA-041", ["rules/sta-041.html"]),
        ("zeroed", ["cases/blm-zeroed.html"]),
        ("rows lost", ["index.html"]),
        ("truncated maximum", ["rules/sta-041.html", "cases/sta-upper-bound-cut-not-raised.html"]),
        ("byte 29 descriptor", ["spec/pm.html", "spec/pm.html#columndescriptor-byte-29"]),
        ("byte 29 of a _pm descriptor", ["spec/pm.html", "spec/pm.html#columndescriptor-byte-29"]),
    ],
)
def test_what_people_look_for_is_at_the_first_place(tab: Tab, words: str, pages: list[str]) -> None:
    assert found(tab, words)[: len(pages)] == pages


def test_the_row_that_a_search_leads_to_is_in_sight(tab: Tab) -> None:
    assert found(tab, "byte 29 descriptor")[1] == "spec/pm.html#columndescriptor-byte-29"
    tab.follow('document.querySelectorAll(".md-search-result__list a")[1].click()')
    row, header = tab.evaluate(
        """[document.querySelector(":target").closest("tr"), document.querySelector(".md-header")].map((one) => one.getBoundingClientRect().toJSON())"""
    )
    assert "max_rep_level" in tab.evaluate("document.querySelector(':target').closest('tr').innerText")
    assert header["bottom"] <= row["top"] < row["bottom"] <= tab.evaluate("innerHeight")
