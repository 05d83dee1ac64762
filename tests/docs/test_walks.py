"""Walks through the built site, from the home page by clicks, a search or a drop: what somebody comes for is three steps away at most."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from browser import Browser, Tab
from built_site import WITHOUT_SEARCH, searched
from places import GOLDEN_FILES

pytestmark = pytest.mark.slow

MOST = 3
"""Clicks from the home page."""

CUT = "sta/upper-bound-cut-not-raised"
"""The golden file whose maximum was truncated."""


@pytest.fixture
def by() -> str:
    """How somebody goes on from the home page, where a test does not say it."""
    return "drop"


@pytest.fixture
def home(browser: Browser, address: str, by: str) -> Iterator[Tab]:
    with browser.open(f"{address}index.html", begins="" if by == "search" else WITHOUT_SEARCH) as tab:
        yield tab
        assert ([], []) == (tab.complaints, tab.outside(address))


def walk(tab: Tab, *texts: str) -> None:
    """Click one link after another, each by the text that a reader sees."""
    assert len(texts) <= MOST
    for text in texts:
        link = f"""[...document.querySelectorAll("a")].find((one) => one.checkVisibility() && one.innerText.trim() === {json.dumps(text)})"""
        assert tab.evaluate(f"Boolean({link})"), f"no link {text} on {tab.evaluate('location.pathname')}"
        before = tab.evaluate("location.pathname")
        path = tab.evaluate(f"{link}.pathname")
        if path == before:
            tab.evaluate(f"{link}.click()")
        else:
            tab.follow(f"{link}.click()")
        assert tab.evaluate("location.pathname") == path


def in_sight(tab: Tab, element: str) -> bool:
    return bool(
        tab.measured(
            f"""(() => {{ const place = {element}.getBoundingClientRect();
            return document.querySelector(".md-header").getBoundingClientRect().bottom <= place.top && place.bottom <= innerHeight; }})()"""
        )
    )


@pytest.mark.parametrize("by", ["clicks", "search"])
def test_what_byte_29_of_a_descriptor_means_is_seen(home: Tab, by: str) -> None:
    if by == "clicks":
        walk(home, "_pm", "3.2 Column descriptors")
    else:
        searched(home, "byte 29 of a _pm descriptor")
        home.follow("""document.querySelectorAll(".md-search-result__list a")[1].click()""")
    row = """[...document.querySelectorAll("tr")].find((one) => /^byte\\s29$/.test(one.cells[0].innerText))"""
    assert "Greatest repetition level" in home.evaluate(f"{row}.innerText")
    assert in_sight(home, row)


@pytest.mark.parametrize("by", ["clicks", "search"])
def test_who_loses_rows_by_a_truncated_maximum_is_told_with_the_command(home: Tab, by: str) -> None:
    if by == "clicks":
        walk(home, "The upper bound is less than a value", "STA-041", CUT)
    else:
        searched(home, "truncated maximum")
        home.follow("""document.querySelectorAll(".md-search-result__list a")[1].click()""")
    assert home.evaluate("location.pathname") == f"/cases/{CUT.replace('/', '-')}.html"
    rows = home.evaluate(
        "[...document.querySelectorAll('table.answers tbody tr')].map((one) => one.innerText)"
    )
    losers = [row for row in rows if "rows lost" in row]
    assert {"datafusion", "spark", "parquet-java"} <= {row.split()[1] for row in losers}
    assert [row for row in losers if f"--case {CUT} --operation scan" not in row] == []


@pytest.mark.parametrize("by", ["clicks", "search"])
def test_the_bytes_of_the_rule_that_failed_can_be_seen_and_downloaded(home: Tab, by: str) -> None:
    if by == "clicks":
        walk(home, "All rules")
        home.evaluate(
            """(() => {
              const filter = document.querySelector("form[data-list] input[type=search]");
              filter.value = "STA-041";
              filter.dispatchEvent(new Event("input", { bubbles: true }));
            })()"""
        )
        walk(home, "STA-041")
    else:
        searched(home, "STA-041")
        home.follow("""document.querySelector(".md-search-result__list a").click()""")
    good, bad = home.evaluate("[...document.querySelectorAll('.pair pre')].map((one) => one.innerText)")
    assert ("00 02 40" in good, "00 00 40" in bad) == (True, True)
    found = home.evaluate(
        """Promise.all([...document.querySelectorAll("a[download]")].map(async (one) =>
        [one.innerText, [...new Uint8Array(await (await fetch(one.href)).arrayBuffer())]]))"""
    )
    assert {text.lower(): bytes(content) for text, content in found} == {
        f"download the {label} file": (GOLDEN_FILES / case / "data.parquet").read_bytes()
        for label, case in (("good", "sta/counted"), ("bad", "sta/max-too-small"))
    }


SPY = """window.asked = [];
window.Worker = class {
  postMessage(message) { asked.push(message); if (message.ask === "start") setTimeout(() => this.onmessage({ data: { id: message.id } })); }
};"""
"""In place of the worker, which takes seconds to start: keeps what it is asked."""


@pytest.mark.parametrize("dropped", ["blm/zeroed/data.parquet", "dlt/size-less/table"])
def test_what_is_dropped_on_the_home_page_reaches_the_checker_whole(home: Tab, dropped: str) -> None:
    path = GOLDEN_FILES / dropped
    home.call("Page.addScriptToEvaluateOnNewDocument", source=SPY)
    home.drop_files("a.drop", path, leaves=True)
    home.wait("asked.some((one) => one.ask === 'open')")
    opened = home.evaluate(
        """asked.filter((one) => one.ask === "open").map(({ folder, files }) =>
        [folder?.name, folder ? folder.files.map(({ path, file }) => [path, file.size]) : files.map((file) => [file.name, file.size])])"""
    )
    within = [one for one in path.rglob("*") if one.is_file()] or [path]
    sizes = {str(one.relative_to(path.parent)): one.stat().st_size for one in within}
    assert [(path.name if path.is_dir() else None, sizes)] == [(name, dict(found)) for name, found in opened]
