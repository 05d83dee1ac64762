"""The site: it builds strictly, and what it generates repeats the specification completely."""

from __future__ import annotations

import functools
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import page_tables.options
import pyarrow.parquet as pq
import pytest
import typer.main
from mkdocs.exceptions import PluginError
from pages import hooks

import pqassay
from places import GOLDEN_FILES, ROOT
from pqassay.cli.main import app
from pqassay.cli.main import spark as spark_app
from pqassay_lake.history.findings_table import FIELDS
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.grammar.field_tables import construct_rows
from pqassay_spec.idx1.blob import BLOB
from pqassay_spec.idx1.companion import COMPANION_FIELDS
from pqassay_spec.pm.from_parquet.questdb_key import COLUMN_FIELDS, QUESTDB_FIELDS
from pqassay_spec.rules.catalogue import families, rules
from pqassay_spec.rules.observed import observed
from pqassay_spec.rules.reader_cases import cases_of

CHAPTERS = ROOT / "spec" / "chapters"

CASES = sorted(path.parent.relative_to(GOLDEN_FILES).as_posix() for path in GOLDEN_FILES.rglob(MANIFEST))


class Page(HTMLParser):
    """A page's anchors, the cells of its tables by row, its boxes of rules by anchor, and everything that it would load."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.rows: list[list[str]] = []
        self.boxes: dict[str, str] = {}
        self.text = ""
        self._in_cell = False
        self._box = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if anchor := values.get("id"):
            self.anchors.add(anchor)
        if tag in ("script", "img", "link", "iframe") and (source := values.get("src") or values.get("href")):
            self.loaded.append(source)
        if tag == "section" and values.get("class") == "rule":
            self._box = values["id"] or ""
            self.boxes[self._box] = ""
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._in_cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False
        elif tag == "section":
            self._box = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._box:
            self.boxes[self._box] += data
        if self._in_cell:
            self.rows[-1][-1] += data


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


def test_a_rules_box_shows_everything_that_the_catalogue_knows(site: Path) -> None:
    for family in families():
        boxes = page(site, f"spec/{family.module}.html").boxes
        assert list(boxes) == [
            rule.id.lower() for rule in sorted(family.rules, key=lambda rule: not rule.judges_files)
        ]
        for rule in family.rules:
            shown = boxes[rule.id.lower()]
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
    shown = {row[0]: row[-1] for row in page(site, "guide/spark.html").rows if row}
    assert {field.name: shown.get(field.name) for field in FIELDS} == {
        field.name: field.doc.replace("`", "") for field in FIELDS
    }


PLACEHOLDER = re.compile(
    r"<!-- (rules|reader rules|all rules|all cases|museum|fields|layout|stepper|enum|members|companion|all footer|upstream|results)"
)


def test_no_placeholder_and_no_snippet_mark_is_left(site: Path) -> None:
    left = [
        str(path.relative_to(site))
        for path in site.rglob("*.html")
        if "8&lt;--" in (text := path.read_text()) or PLACEHOLDER.search(text)
    ]
    assert left == []


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


def options(command: Any) -> set[str]:
    """The options of a command; what is hidden only answers those who know an old name."""
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    return {option for parameter in shown for option in parameter.opts if option[:2] == "--"}


def test_the_page_of_options_has_every_option_of_every_command() -> None:
    shown = page_tables.tables_in("options", page_tables.options.figures())["options"]
    sections = re.split(r"^## `pqassay (.+)`$", shown, flags=re.MULTILINE)
    listed = {
        name: set(re.findall(r"(--[a-z0-9-]+)", "\n".join(re.findall(r"^\| (`-.*?) \|", text, re.MULTILINE))))
        for name, text in zip(sections[1::2], sections[2::2], strict=True)
    }
    commands = dict(page_tables.options.commands(typer.main.get_group(app)))
    shared = listed["check"]

    assert commands.keys() == listed.keys()
    assert {} == {
        name: lacking for name in commands if (lacking := options(commands[name]) - listed[name] - shared)
    }


def test_a_check_on_spark_has_all_options_but_the_number_of_workers() -> None:
    here, there = (typer.main.get_group(one).commands["check"] for one in (app, spark_app))

    assert {"--jobs"} == options(here) - options(there)


def test_every_family_has_a_chapter_with_its_rules() -> None:
    wanted = {family.chapter: f"<!-- rules: {family.prefix} -->" for family in families()}
    found = {path.name: path.read_text() for path in CHAPTERS.glob("*.md")}
    assert {name for name, placeholder in wanted.items() if placeholder not in found.get(name, "")} == set()


def test_every_example_of_a_chapter_is_in_a_listing() -> None:
    """Outside of one it is prose to the site, and a list that it prints a reference that leads nowhere."""
    outside = [
        f"{path.name}: {line}"
        for path in CHAPTERS.glob("*.md")
        for text in re.split(r"^```.*?^```$", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        for line in text.splitlines()
        if line.startswith(">>>")
    ]
    assert outside == []


def test_every_placeholder_of_rules_names_a_family() -> None:
    named = {
        prefix
        for path in CHAPTERS.glob("*.md")
        for prefix in re.findall(r"^<!-- rules: (\S+) -->$", path.read_text(), re.MULTILINE)
    }
    assert named == {family.prefix for family in families()}


def test_a_placeholder_that_names_nothing_fails_the_build() -> None:
    page: Any = SimpleNamespace(file=SimpleNamespace(src_uri="index.md", generated_by=None), meta={})
    with pytest.raises(PluginError, match=r"index\.md: <!-- fields: idx1\.NOTHING -->"):
        hooks.on_page_markdown("# Page\n\n<!-- fields: idx1.NOTHING -->\n", page=page)
