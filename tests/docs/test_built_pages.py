"""The pages of the built site, the generated ones above all: they are all there, lead somewhere, and weigh little."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from built_site import kinds, shown
from damage import SUGGESTED
from places import GOLDEN_FILES
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.rules.catalogue import rules

pytestmark = pytest.mark.slow

CASES = sorted(path.parent.relative_to(GOLDEN_FILES).as_posix() for path in GOLDEN_FILES.rglob(MANIFEST))

HEAVIEST = 300_000
"""Bytes, compressed, that a page may have, and the home page with all that it loads and the index of the search."""

LINKS = (re.compile(r' href="([^"]+)"'), re.compile(r' src="([^"]+)"'))
"""Each begins with letters that are looked for at once: in a hundred megabytes a choice takes twenty times as long."""

LOADED = re.compile(r'<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)="([^"]+)"')

ANCHOR = re.compile(r' id="([^"]+)"')

CONTENT = '<div id="generated">'
"""Begins the content of a generated page."""

EMPTY = f"{CONTENT}</div>"
"""The content of a page that is not shown in this build: which anchors it has is not known."""

ELSEWHERE = re.compile(r"[a-z]+:|//")

LACKING = "check/"
"""Where the checker would be, of a site that was built without it."""


@cache
def texts(site: Path) -> Mapping[Path, str]:
    """The HTML of every page; that of a missing page is served below any address and has absolute links."""
    return {path: path.read_text() for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_link_leads_to_something_that_is_there(site: Path) -> None:
    anchors = {
        path: set(map(html.unescape, ANCHOR.findall(text)))
        for path, text in texts(site).items()
        if EMPTY not in text
    }
    # The pages of a folder have most links in common: each is followed once.
    links: dict[tuple[Path, str], Path] = {}
    for path, text in texts(site).items():
        for link in {found for links_of in LINKS for found in links_of.findall(text)}:
            links.setdefault((path if link.startswith("#") else path.parent, html.unescape(link)), path)
    broken: set[str] = set()
    for (_, link), path in links.items():
        if ELSEWHERE.match(link):
            continue
        name, _, anchor = link.partition("#")
        target = Path(os.path.normpath(path.parent / name.partition("?")[0])) if name else path
        known = anchors.get(target)
        if not target.exists() or (anchor and known is not None and anchor not in known):
            broken.add(f"{path.relative_to(site)}: {link}")
    assert {one for one in broken if f" ../{LACKING}" not in one and f" {LACKING}" not in one} == set()


def test_the_pages_that_are_shown_have_content_and_no_others(site: Path) -> None:
    empty = {path.relative_to(site).as_posix() for path, text in texts(site).items() if EMPTY in text}
    generated = {page for _, page in kinds()}
    assert empty == (set() if SUGGESTED == 1 else generated - shown())


def test_every_rule_has_a_page_with_its_sentence(site: Path) -> None:
    missing = []
    for rule in rules().values():
        text = texts(site)[site / f"rules/{rule.id.lower()}.html"]
        where = text if EMPTY in text else text.partition(CONTENT)[2]
        if rule.sentence.replace("`", "") not in html.unescape(re.sub(r"</?code>", "", where)):
            missing.append(rule.id)
    assert missing == []


def test_every_golden_file_has_a_page_and_can_be_downloaded(site: Path) -> None:
    for case in CASES:
        assert site / f"cases/{case.replace('/', '-')}.html" in texts(site)
        for path in (GOLDEN_FILES / case).iterdir():
            if path.is_file():
                assert path.read_bytes() == (site / "cases" / "files" / case / path.name).read_bytes()


def test_every_rule_is_in_the_data_with_its_golden_files(site: Path) -> None:
    told = {rule["id"]: rule for rule in json.loads((site / "data" / "rules.json").read_text())["rules"]}
    assert set(told) == set(rules())
    assert "sta/max-too-small" in told["STA-041"]["golden_files"]
    assert {case for rule in told.values() for case in rule["golden_files"]} <= set(CASES)
    assert "dlt/maximum-lowered" in told["DLT-027"]["golden_tables"]
    assert {"rows lost"} == set(told["DLT-027"]["engines"]["deltalake 1.6.6"]["dlt/maximum-lowered"].values())


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loaded = {link for text in texts(site).values() for link in LOADED.findall(text)}
    assert {link for link in loaded if ELSEWHERE.match(link) and not link.startswith("data:")} == set()


def test_no_page_is_heavy(site: Path) -> None:
    heavy = {
        str(path.relative_to(site)): size
        for path, text in texts(site).items()
        if len(text) > HEAVIEST and (size := len(gzip.compress(text.encode()))) > HEAVIEST
    }
    assert heavy == {}


def test_the_home_page_and_the_index_of_the_search_are_light(site: Path) -> None:
    home = texts(site)[site / "index.html"]
    parts = {"index.html", "search/search_index.json"}
    parts |= {link for link in LOADED.findall(home) if not link.startswith("data:")}
    parts |= {str(path.relative_to(site)) for path in site.glob("assets/javascripts/workers/search.*.js")}
    weights = {
        part: len(gzip.compress((site / part).read_bytes()))
        for part in sorted(parts)
        if (site / part).is_file()
    }
    assert len(weights) == len(parts - {""})
    assert sum(weights.values()) <= HEAVIEST, weights


@pytest.mark.parametrize(
    ("asked", "page"), [("STA-041", "rules/sta-041.html"), ("zeroed", "cases/blm-zeroed.html")]
)
def test_the_index_of_the_search_knows_what_people_look_for_by_title(
    site: Path, asked: str, page: str
) -> None:
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    assert page in {one["location"] for one in found if asked in f"{one['title']} {one['text']}"}
