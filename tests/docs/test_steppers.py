"""Steppers: each state is what the library answers, and everything is there without JavaScript."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest
import xxhash
from pages.stepwise.bloom_steps import CELL, GUTTER
from pages.stepwise.bloom_steps import TOP as FIRST_WORD
from pages.stepwise.scan_steps import GUIDE, left, rungs
from pages.stepwise.steppers import STEPPERS, lines
from pm_update_picture import states

from browser import Browser
from places import GOLDEN_FILES, ROOT

SCRIPT = ROOT / "docs" / "assets" / "stepper.js"


def link(page: str, anchor: str) -> str:
    """A link as from a chapter."""
    return f"{page.removeprefix('spec/')}#{anchor}"


@cache
def html(name: str) -> str:
    """The stepper without the line of Markdown behind it."""
    whole = "\n".join(lines(name, link))
    return whole[: whole.index("</section>") + len("</section>")].strip()


def steps(name: str) -> list[ET.Element]:
    """Its steps; it is XML, or this fails."""
    return ET.fromstring(html(name)).findall("ol/li")


def words(element: ET.Element) -> str:
    """All text of an element."""
    return " ".join("".join(element.itertext()).split())


def rows(step: ET.Element) -> list[list[str]]:
    """The cells of the table of a step."""
    return [[words(cell) for cell in row] for row in step.iterfind(".//tbody/tr")]


@pytest.mark.parametrize("name", STEPPERS)
def test_a_stepper_is_one_piece_of_html_whose_steps_have_an_anchor_and_a_title(name: str) -> None:
    assert "\n\n" not in html(name)
    found = steps(name)
    prefix = ET.fromstring(html(name)).get("id")
    assert [f"{prefix}-{number}" for number in range(1, len(found) + 1)] == [step.get("id") for step in found]
    assert all(step.findtext("p[@class='step-title']") for step in found)
    assert not [one for step in found for one in step.iter() if one.tag in ("script", "button", "image")]


# ------------------------------------------------------------------------------------------------------- the chain


@pytest.mark.parametrize("number", range(6))
def test_the_bytes_of_a_state_of_pm_are_those_at_their_offsets(number: int) -> None:
    content = states()[number].pm
    shown = [row for row in rows(steps("pm-chain")[number]) if len(row) == 4]
    assert len(shown) >= 4
    for offset, stored, _, _ in shown:
        found = bytes.fromhex(stored.removesuffix(" …"))
        assert content[int(offset) :][: len(found)] == found


def test_what_a_reader_finds_changes_at_the_last_step_only() -> None:
    told = [words(step) for step in steps("pm-chain")[:6]]
    assert ["the old snapshot" in each for each in told] == [True] * 5 + [False]
    assert [each.count("not the snapshot that is wanted") for each in told] == [0, 0, 0, 0, 1, 0]
    assert ["torn tail of 177 bytes" in each for each in told] == [False, False, True, False, False, False]


def test_the_chain_is_that_of_questdbs_last_file() -> None:
    chain, old = steps("pm-chain")[6:]
    sizes = [int(row[0]) for row in rows(chain)]
    assert sizes == [3400, 3060, 2708, 1812, 1471, 1116]
    assert [row[4] for row in rows(chain)] == ["3060", "2708", "1812", "1471", "1116", "0: the first"]
    for committed, start in ((int(row[0]), int(row[1])) for row in rows(chain)):
        content = (GOLDEN_FILES / "interop/questdb-9.4.3/o3-chain-5/_pm").read_bytes()
        assert committed - 4 - int.from_bytes(content[committed - 4 : committed], "little") == start
    assert rows(old)[-1] == ["5", "3540", "has found it"]


# -------------------------------------------------------------------------------------------------------- the search


def pages(step: ET.Element) -> dict[str, list[str]]:
    """The hints of the pages of a picture, by how they are drawn."""
    found: dict[str, list[str]] = {}
    for one in step.iterfind(".//figure//rect"):
        found.setdefault(one.get("class", ""), []).append(one.findtext("title", ""))
    return found


def test_the_search_leaves_the_pages_of_the_chapters_example() -> None:
    whole, of_a, of_b, both, needed, fetched, result = steps("page-search")
    assert {kind: len(found) for kind, found in pages(whole).items()} == {"open": 8}
    assert pages(of_a)["kept"] == ["page 1, rows 200 to 299: 30 to 40; kept"]
    assert pages(of_a)["rows"] == ["rows 200 to 299 are left"]
    assert pages(of_b)["rows"] == ["rows 100 to 249 are left"]
    assert pages(both)["rows"] == ["rows 200 to 249 are left"]
    assert [each.partition(",")[0] for each in pages(needed)["kept"]] == ["page 1", "page 1", "page 2"]
    assert [row[:2] + row[4:] for row in rows(fetched)[:3]] == [
        ["A", "1", "0 to 49"],
        ["B", "1", "100 to 149"],
        ["C", "2", "0 to 49"],
    ]
    assert rows(fetched)[-1] == ["2,027 bytes of the 5,306 that all pages take"]
    assert rows(result) == [["205", "37", "F", "205"], ["238", "36", "F", "238"]]


# -------------------------------------------------------------------------------------------------------- the filter

TIN = [5, 3, 21, 14, 28, 21, 7, 4]
"""The bits of ``tin``, as the chapter computes them."""


def bits(step: ET.Element, kind: str) -> list[tuple[int, int]]:
    """Word and bit of the squares of a kind."""
    found = [one for one in step.iterfind(".//rect") if one.get("class", "").startswith(kind)]
    return [
        (
            round((float(one.get("y", "")) - FIRST_WORD) / (CELL + 4)),
            round((float(one.get("x", "")) - GUTTER) / CELL),
        )
        for one in found
    ]


def test_the_bits_of_a_value_are_those_that_the_chapter_computes() -> None:
    _, hashed, block, salted, inserted, every, probed, absent, _ = steps("bloom")
    assert rows(hashed)[2][1] == f"{xxhash.xxh64_intdigest(b'tin'):016x}" == "7eff7b65a6eff507"
    assert rows(block)[-1][1] == "0"
    assert [int(row[3]) for row in rows(salted)] == TIN
    assert bits(inserted, "set") == bits(inserted, "probed") == list(enumerate(TIN))
    assert set(bits(probed, "probed")) == set(enumerate(TIN)) <= set(bits(probed, "set"))
    assert len(rows(every)) == 6
    assert not probed.findall(".//rect[@class='probed missing']")
    missing = set(bits(absent, "probed missing"))
    assert missing
    assert not missing & set(bits(absent, "set"))


def test_the_picture_of_the_filter_has_the_bits_of_the_file() -> None:
    first = steps("bloom")[0]
    content = (GOLDEN_FILES / "blm" / "two-blocks" / "data.parquet").read_bytes()
    bitset = content[110 : 110 + 64]
    words_of = [int.from_bytes(bitset[at : at + 4], "little") for at in range(0, 64, 4)]
    expected = [(at % 8, bit) for at, word in enumerate(words_of) for bit in range(32) if word >> bit & 1]
    assert bits(first, "set") == expected


def test_a_value_that_passes_wrongly_is_not_among_those_inserted() -> None:
    last = steps("bloom")[-1]
    assert len(bits(last, "probed")) == 8
    assert set(bits(last, "probed")) <= set(bits(last, "set"))
    assert not last.findall(".//rect[@class='probed missing']")


# ---------------------------------------------------------------------------------------------------------- the scan


def test_what_each_rung_leaves_is_what_the_guide_prints() -> None:
    printed = re.findall(
        r"^([a-z-]+) +1 +(\d+) +([\d,]+) +(\d+) +([\d,]+) +(\d+) ", GUIDE.read_text(), re.MULTILINE
    )
    shown = [rows(step)[-1] for step in steps("scan-waterfall")]
    assert [[f"after {one[0]}", *one[1:]] for one in printed] == shown
    assert len(shown) == 11


def test_the_pages_that_a_picture_calls_left_are_as_many_as_the_rung_counts() -> None:
    made = rungs()
    for number, step in enumerate(made.steps):
        found = [
            len(page.place)
            for group, columns in enumerate(made.pages)
            for column, own in enumerate(columns)
            for page in own
            if left(made, number, page)
        ]
        dictionaries = 5 * 42 if number < 2 else 0  # those of the stations, which go with the projection
        assert (len(found), sum(found) + dictionaries) == (step.left.pages, step.left.length), step.name


# -------------------------------------------------------------------------------------------------------- the script


def test_the_script_is_short_and_asks_for_nothing() -> None:
    script = SCRIPT.read_text()
    assert len(script.splitlines()) < 150
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|https?:", script)


def test_with_the_script_one_step_is_shown_and_a_link_opens_its_own(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<meta charset='utf-8'>{html('page-search')}<script>{SCRIPT.read_text()}</script>")
    with browser.open(f"{page.as_uri()}#page-search-steps-3") as tab:
        shown = tab.evaluate("[...document.querySelectorAll('li')].map((one) => one.className)")
        assert ["step", "step", "step now", "step", "step", "step", "step"] == shown
        assert "Step 3 of 7" == tab.evaluate("document.querySelector('.where').textContent")
        assert 3 == tab.evaluate("document.querySelectorAll('button').length")
        assert [] == tab.complaints
