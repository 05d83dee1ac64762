"""The site: it builds strictly, and what it generates repeats the specification completely."""

from __future__ import annotations

import functools
import html
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow.parquet as pq
import pytest
import typer.main

import pqassay
from places import GOLDEN_FILES, GUIDES, ROOT
from pqassay.cli.main import app
from pqassay_spark.check.findings_table import FIELDS
from pqassay_spark.cli.main import app as spark_app
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.grammar.field_tables import construct_rows
from pqassay_spec.idx1.blob import BLOB
from pqassay_spec.idx1.companion import COMPANION_FIELDS
from pqassay_spec.pm.json import COLUMN_FIELDS, QUESTDB_FIELDS
from pqassay_spec.rules.catalogue import families, rules
from pqassay_spec.rules.observed import observed
from pqassay_spec.rules.reader_cases import cases_of

CHAPTERS = ROOT / "spec" / "chapters"

CASES = sorted(path.parent.relative_to(GOLDEN_FILES).as_posix() for path in GOLDEN_FILES.rglob(MANIFEST))

IMPORT_ROOTS = [str(ROOT / room) for room in ("spec", "reference_impl", "conformance", "pipeline")]


class Page(HTMLParser):
    """A page's anchors, the cells of its tables by row, and everything that it would load."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if anchor := values.get("id"):
            self.anchors.add(anchor)
        if tag in ("script", "img", "link", "iframe") and (source := values.get("src") or values.get("href")):
            self.loaded.append(source)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._in_cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell:
            self.rows[-1][-1] += data


def build(folder: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    """Build the site into ``folder``."""
    path = os.pathsep.join([*IMPORT_ROOTS, os.environ.get("PYTHONPATH", "")])
    # The banner of the theme about its own future would look like a warning.
    environment = {**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(folder)]
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    result = build(folder)
    assert result.returncode == 0, result.stdout
    assert "WARNING" not in result.stdout, result.stdout
    return folder


@functools.cache
def page(site: Path, name: str) -> Page:
    return Page((site / name).read_text())


def test_every_rule_is_an_anchor_in_its_chapter(site: Path) -> None:
    missing = [
        rule.id
        for family in families()
        for rule in family.rules
        if rule.id.lower() not in page(site, f"spec/{family.module}.html").anchors
    ]
    assert missing == []


def test_the_page_of_all_rules_has_a_row_and_an_anchor_for_each(site: Path) -> None:
    found = page(site, "rules/index.html")
    assert {row[0] for row in found.rows[1:]} == set(rules())
    assert {rule_id.lower() for rule_id in rules()} <= found.anchors


def test_a_rules_row_shows_everything_that_the_catalogue_knows(site: Path) -> None:
    for family in families():
        rows = [row for row in page(site, f"spec/{family.module}.html").rows if row]
        for rule in family.rules:
            (shown,) = (" ".join(row) for row in rows if row[0].startswith(rule.id))
            known = [rule.level, rule.role, rule.sentence, rule.could, rule.field]
            if rule.judges_files:
                known += [rule.verdict, rule.tier, observed(rule.id).effect]
            else:
                known += cases_of(rule.id, CASES)[:1]
            origin = (rule.origin.document, rule.origin.section, rule.practice, rule.reading, rule.excluded)
            parts = [part.replace("`", "") for part in (*known, *origin)]
            assert [part for part in parts if part not in shown.replace("\xa0", " ")] == [], rule.id


def test_the_chapter_of_idx1_shows_the_fields_of_the_blob(site: Path) -> None:
    rows = page(site, "spec/idx1.html").rows
    places = ["bytes\xa00\xa0to\xa03", "bytes\xa04\xa0to\xa011", "from\xa0byte\xa012"]
    expected = [
        [place, row.size or "-", row.name, row.type, row.doc]
        for place, row in zip(places, construct_rows(BLOB), strict=True)
    ]
    start = rows.index(expected[0])
    assert rows[start : start + len(expected)] == expected


def test_the_chapter_of_idx1_shows_every_member_of_the_companion_record(site: Path) -> None:
    shown = {row[0]: row[-1] for row in page(site, "spec/idx1.html").rows if row}
    assert {field.name: shown.get(field.name) for field in COMPANION_FIELDS} == {
        field.name: field.doc for field in COMPANION_FIELDS
    }


def test_the_chapter_of_pm_shows_every_member_of_questdbs_key(site: Path) -> None:
    shown = {row[0]: row[-1] for row in page(site, "spec/pm.html").rows if row}
    members = (*QUESTDB_FIELDS, *COLUMN_FIELDS)
    assert {field.name: shown.get(field.name) for field in members} == {
        field.name: field.doc for field in members
    }


def test_the_guide_of_checks_on_spark_shows_every_column_of_the_findings_table(site: Path) -> None:
    shown = {row[0]: row[-1] for row in page(site, "guide/spark-check.html").rows if row}
    assert {field.name: shown.get(field.name) for field in FIELDS} == {
        field.name: field.doc.replace("`", "") for field in FIELDS
    }


def test_every_link_of_a_picture_and_of_a_stepper_leads_somewhere(site: Path) -> None:
    """MkDocs looks at links of Markdown alone."""
    drawn = re.compile(r'<figure class="drawn.*?</figure>|<section class="stepper.*?</section>', re.DOTALL)
    found: set[tuple[str, str]] = set()
    for path in sorted((site / "spec").glob("*.html")):
        for part in drawn.findall(path.read_text()):
            for target in re.findall(r'href="([^"]+)"', part):
                name, _, anchor = target.partition("#")
                found.add((os.path.normpath(path.parent / name) if name else str(path), anchor))
    assert len(found) > 100
    files = {name for name, _ in found}
    anchors = {name: Page(Path(name).read_text()).anchors for name in files}
    assert [one for one in sorted(found) if one[1] and one[1] not in anchors[one[0]]] == []


def test_no_placeholder_and_no_snippet_mark_is_left(site: Path) -> None:
    left = [
        str(path.relative_to(site))
        for path in site.rglob("*.html")
        if re.search(
            r"<!-- (rules|reader rules|all rules|all cases|museum|fields|layout|stepper|enum|members|companion|all footer|upstream|results)|8&lt;--",
            path.read_text(),
        )
    ]
    assert left == []


LOADS = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*?\s(?:src|href)=["']?([^"'\s>]+)""")


def test_no_page_loads_anything_from_the_network(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert pages
    loaded = {source for path in pages for source in LOADS.findall(path.read_text())}
    assert {source for source in loaded if source.startswith(("http:", "https:", "//"))} == set()


# ---------------------------------------------------------------------------------- golden files and the museum


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
        CasePage(case, (site / "cases" / f"{case['id'].replace('/', '-')}.html").read_text())
        for case in cases
    ]


def test_every_file_of_every_case_can_be_downloaded(site: Path, case_pages: list[CasePage]) -> None:
    different = [
        path
        for one in case_pages
        for path in (GOLDEN_FILES / one.case["id"]).iterdir()
        if (site / "cases" / "files" / one.case["id"] / path.name).read_bytes() != path.read_bytes()
        or f'href="files/{one.case["id"]}/{path.name}"' not in one.text
    ]
    assert different == []


def test_a_hex_view_shows_the_bytes_of_the_file_each_with_a_field_of_the_table(
    case_pages: list[CasePage],
) -> None:
    whole = [one for one in case_pages if one.is_whole]
    assert len(whole) > len(case_pages) * 0.9
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
    assert compared > 350


def test_the_page_of_a_case_tells_what_everybody_answered(case_pages: list[CasePage]) -> None:
    one = next(one for one in case_pages if one.case["id"] == "sta/max-too-small")
    for part in ("STA-041", "rows lost", "../implementations/duckdb.html", '"op": "scan"', "../museum/"):
        assert part in html.unescape(one.text), part


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
    dumped = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout
    title = re.search("<title>(.*?)</title>", dumped)
    assert title is not None, dumped
    assert json.loads(html.unescape(title[1])) == [
        "15@1 00@1 f1",
        "50 41 52 31@0 f0",
        "15@2 82 01@2 f2",
        "offset 4, 2 bytes: row_groups[0].columns[0].pages[0].header · type (PageType) = 0 (DATA_PAGE). Which of the headers below is set.",
    ]


PENDING = ("check/index.html",)
"""Pages that others are to make."""


@pytest.mark.parametrize("folder", ["cases", "museum"])
def test_every_link_of_generated_pages_leads_somewhere(site: Path, folder: str) -> None:
    targets = {
        target
        for path in (site / folder).glob("*.html")
        for target in re.findall(r"""href=["']?([^"'\s>#?]+)""", path.read_text())
        if "://" not in target
    }
    missing = [target for target in targets if not (site / folder / target).resolve().exists()]
    assert [target for target in missing if not target.endswith(PENDING)] == []


def worked_example() -> bytes:
    """The file that the chapter of IDX1 spells out in hex."""
    chapter = (CHAPTERS / "idx1.md").read_text()
    commented = chapter.partition("## A worked example")[2].partition('>>> commented = """\n')[2]
    rows = commented.partition('... """')[0].splitlines()
    return bytes.fromhex("".join(row.removeprefix("... ").partition("#")[0] for row in rows))


def test_the_worked_example_is_a_parquet_file_to_other_readers(tmp_path: Path) -> None:
    path = tmp_path / "example.parquet"
    path.write_bytes(worked_example())
    expected = ["tin", "lead", "tin"]
    assert pq.read_table(path).to_pydict() == {"metal": expected}
    assert duckdb.read_parquet(str(path)).fetchall() == [(value,) for value in expected]


def test_the_worked_example_is_conformant() -> None:
    report = pqassay.check(worked_example(), tier="values", level="should")
    assert [finding.rule for file in report.files for finding in file.findings] == []


def test_the_guide_describes_every_option_of_check() -> None:
    guide = (GUIDES / "check.md").read_text()
    described = set(re.findall(r"^\| `(--[a-z0-9-]+)", guide, re.MULTILINE))
    command = typer.main.get_group(app).commands["check"]
    assert described == {
        option for parameter in command.params for option in parameter.opts if option[:2] == "--"
    }


def test_the_guide_names_every_option_that_checks_on_spark_have_beside() -> None:
    guide = (GUIDES / "spark-check.md").read_text()
    commands = [typer.main.get_group(one).commands["check"] for one in (spark_app, app)]
    on_spark, here = (
        {option for parameter in command.params for option in parameter.opts if option[:2] == "--"}
        for command in commands
    )
    assert {"--engine", "--jobs", "--prove"} == here - on_spark
    assert [] == [option for option in on_spark - here if option not in guide]


def test_every_family_has_a_chapter_with_its_rules() -> None:
    wanted = {family.chapter: f"<!-- rules: {family.prefix} -->" for family in families()}
    found = {path.name: path.read_text() for path in CHAPTERS.glob("*.md")}
    assert {name for name, placeholder in wanted.items() if placeholder not in found.get(name, "")} == set()


def test_every_placeholder_of_rules_names_a_family() -> None:
    named = {
        prefix
        for path in CHAPTERS.glob("*.md")
        for prefix in re.findall(r"^<!-- rules: (\S+) -->$", path.read_text(), re.MULTILINE)
    }
    assert named == {family.prefix for family in families()}


def test_a_placeholder_that_names_nothing_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Page\n\n<!-- fields: idx1.NOTHING -->\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"site_name: test\nhooks: [{ROOT / 'tools' / 'site_hooks.py'}]\n")
    result = build(tmp_path / "site", config)
    assert result.returncode != 0
    assert "<!-- fields: idx1.NOTHING -->" in result.stdout
