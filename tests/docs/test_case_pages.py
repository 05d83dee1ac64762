"""The pages of golden files: every byte has a field, what differs is marked, and the answers of everybody are there."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pages.page import case_page

import processes
from built_site import shown
from damage import SUGGESTED
from places import GOLDEN_FILES, ROOT
from pqassay_spec.golden.case import MANIFEST

pytestmark = pytest.mark.slow

CASES = sorted(path.parent.relative_to(GOLDEN_FILES).as_posix() for path in GOLDEN_FILES.rglob(MANIFEST))

RUN = re.compile(r"<[bi] data-f=(\d+)[^>]*>(<mark[^>]*>)?([0-9a-f ]+)<")
"""A run of bytes in a hex view: the number of its field, its mark, and its digits."""

ROW_OF_FIELD = re.compile(
    r"<tr id=f(\d+)(?: class=x)?><td>(\d+)<td>(\d+)<td>[^<]+<td>[^<]*<td>(.*?)<td>([^<]*)"
)
"""The row of a field: its number, offset, length, value and meaning."""


class CasePage(NamedTuple):
    """The page of a golden file as it was built: its manifest, its text, and that of its first hex view."""

    case: dict[str, Any]
    text: str

    @property
    def view(self) -> str:
        return self.text.partition('<pre class="hex-bytes"')[2].partition("</pre>")[0]

    @property
    def file(self) -> Path:
        mutation = self.case.get("mutation", {}).get("path", "")
        name = "data.parquet" if mutation.startswith("data.") else self.case["input"]["file"]
        folder: str = self.case["id"]
        return GOLDEN_FILES / folder / name

    @property
    def is_whole(self) -> bool:
        return "left out<" not in self.text and "fields left out" not in self.text


@pytest.fixture(scope="module")
def case_pages(site: Path) -> list[CasePage]:
    cases = [json.loads((GOLDEN_FILES / name / MANIFEST).read_text()) for name in CASES]
    return [
        CasePage(case, (site / page).read_text())
        for case in cases
        if (page := case_page(case["id"])) in shown() or SUGGESTED == 1
    ]


def test_a_hex_view_shows_the_bytes_of_the_file_each_with_a_field_of_the_table(
    case_pages: list[CasePage],
) -> None:
    whole = [one for one in case_pages if one.is_whole]
    assert len(whole) > len(case_pages) * 0.93
    for one in whole:
        runs = RUN.findall(one.view)
        assert b"".join(bytes.fromhex(digits) for _, _, digits in runs) == one.file.read_bytes(), one.case[
            "id"
        ]
        rows = {number: (offset, told) for number, offset, _, *told in ROW_OF_FIELD.findall(one.text)}
        unexplained = [number for number, _, _ in runs if not any(rows.get(number, ("", [""]))[1])]
        assert unexplained == [], one.case["id"]


def test_marked_are_the_bytes_that_differ_from_the_parent(case_pages: list[CasePage]) -> None:
    compared = 0
    for one in case_pages:
        if "mutation" not in one.case or not one.is_whole or ", 0 moved," not in one.text:
            continue
        old = (GOLDEN_FILES / one.case["parent"] / one.file.name).read_bytes()
        new = one.file.read_bytes()
        if len(old) != len(new):
            continue
        compared += 1
        marks = [bool(mark) for _, mark, digits in RUN.findall(one.view) for _ in bytes.fromhex(digits)]
        assert marks == [before != after for before, after in zip(old, new, strict=True)], one.case["id"]
    assert compared > (350 if SUGGESTED == 1 else 30)


def test_the_page_of_a_case_tells_what_everybody_answered(case_pages: list[CasePage]) -> None:
    one = next(one for one in case_pages if one.case["id"] == "sta/max-too-small")
    for part in ("STA-041", "rows lost", "../implementations/duckdb.html", '"op": "scan"', "../museum/"):
        assert part in html.unescape(one.text), part


# ------------------------------------------------------------------------------------------------ in a browser

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

WALK = """<script>
const press = (box, key) => document.querySelector(box).dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const lit = () => [...document.querySelectorAll(".on")].map((one) => one.id || `${one.textContent}@${one.dataset.f}`).join(" ");
const seen = [];
addEventListener("load", () => {
  document.querySelector("#f1").dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
  seen.push(lit());
  press(".hex-bytes", "Home");
  seen.push(lit());
  press(".hex-bytes", "ArrowRight");
  press(".hex-fields", "ArrowDown");
  seen.push(lit());
  document.querySelector(".hex-bytes [data-f='1']").dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
  seen.push(document.querySelector(".hex-told").textContent);
  document.title = JSON.stringify(seen);
});
</script>"""
"""Points at a field, walks with keys, points at a byte, and says what lit up."""


def test_bytes_and_fields_light_up_together(site: Path, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"there is no browser: none of {', '.join(BROWSERS)}")
    view = re.search(
        r'<div class="hex-view">.*?</table></div>\n</div>',
        (site / "cases/pqf-plain.html").read_text(),
        re.DOTALL,
    )
    assert view is not None
    script = (ROOT / "docs" / "assets" / "hex-view.js").read_text()
    page = tmp_path / "page.html"
    page.write_text(f"<meta charset='utf-8'>{view[0]}<script>{script}</script>{WALK}")
    asked = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    dumped = processes.run(asked, capture_output=True, text=True, check=True).stdout
    title = re.search("<title>(.*?)</title>", dumped)
    assert title is not None, dumped
    assert json.loads(html.unescape(title[1])) == [
        "15@1 00@1 f1",
        "50 41 52 31@0 f0",
        "15@2 82 01@2 f2",
        "offset 4, 2 bytes: row_groups[0].columns[0].pages[0].header · type (PageType) = 0 (DATA_PAGE). Which of the headers below is set.",
    ]
