"""The pages of golden tables and of their rules: what is false, every byte of the file that says it, who believes it, and what can be downloaded."""

from __future__ import annotations

import html
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pages.page import Site, case_page
from pages.rules.rule_pages import rule_page_of
from pages.tables import table_matrix, table_pages
from pages.tables.engine_answers import Engine, TableAnswer, Trial, engines_of, measured
from pages.tables.golden_tables import in_folder, kind_of_table, mutation_sentence
from pages.tables.lessons import lessons_of, sufferers

from built_site import shown
from damage import SUGGESTED
from places import GOLDEN_FILES
from pqassay_spec.rules.catalogue import family_of, rules

RUN = re.compile(r"<[bi] data-f=\d+[^>]*>(?:<mark[^>]*>)?([0-9a-f ]+)<")

VIEW = re.compile(r'<pre class="hex-bytes"[^>]* aria-label="Bytes of ([^"]+)">(.*?)</pre>', re.DOTALL)

SITE = Site()

DUCK = Engine("DuckDB", "2.0.0")


@pytest.mark.slow
def test_a_page_shows_every_byte_of_the_file_that_was_changed_and_marks_what_differs(site: Path) -> None:
    compared = 0
    for table in SITE.tables.values():
        page = case_page(table["id"])
        if page not in shown() and SUGGESTED > 1:
            continue
        text = (site / page).read_text()
        views = VIEW.findall(text)
        if "mutation" in table:
            assert [table["mutation"]["file"]] * (table["mutation"]["op"] != "drop") == [
                name for name, _ in views
            ]
        for name, view in views:
            data = (GOLDEN_FILES / table["id"] / in_folder(name)).read_bytes()
            if "bytes left out" not in view:  # the schema in the header of a manifest is long
                assert b"".join(bytes.fromhex(digits) for digits in RUN.findall(view)) == data, table["id"]
                compared += 1
            if "mutation" in table:
                old = (GOLDEN_FILES / table["parent"] / in_folder(name)).read_bytes()
                assert "<mark" in view or len(data) < len(old), table["id"]
    assert compared > (70 if SUGGESTED == 1 else 10)


@pytest.mark.parametrize("path", ["rules/dlt-027.html", "rules/ice-040.html"])
def test_the_page_of_a_rule_for_tables_shows_its_pair_who_loses_rows_and_how_to_see_it(path: str) -> None:
    rule = rules()[path[6:-5].upper()]
    text = html.unescape(rule_page_of(rule, family_of(rule.id), SITE).body)
    pair = lessons_of(rule, SITE).pair
    assert pair is not None
    for part in (
        "observed: rows lost",
        f"pqassay prove golden_files/{pair['id']}/table",
        f"../cases/files/{pair['id']}/{pair['id'].replace('/', '-')}.zip",
        f"../cases/files/{pair['parent']}/{pair['parent'].replace('/', '-')}.zip",
        "It says: the upper bound of column",
        "<figcaption>good</figcaption>",
    ):
        assert part in text, part


def test_a_page_says_what_each_engine_answered() -> None:
    text = html.unescape(table_pages.page_of(SITE.tables["dlt/maximum-lowered"], SITE).body)
    mine = next(one for one in SITE.trials if one.table == "dlt/maximum-lowered")
    assert len(mine.answers) >= 5
    for engine, answer in mine.answers.items():
        assert re.search(
            rf"{re.escape(engine.name)} <small>{engine.version}</small></th><td>{answer.summary}</td>", text
        ), engine
    assert mine.query in text
    assert ("rows lost", "deltalake") in sufferers("dlt/maximum-lowered", SITE)


def test_every_answer_is_about_a_golden_table_and_in_the_matrix() -> None:
    trials = measured()
    assert {one.table for one in trials} <= set(SITE.tables)
    matrix = "".join(table_matrix.lines(SITE, "implementations/index.html"))
    assert all(f"../cases/{one.table.replace('/', '-')}.html#answers" in matrix for one in trials)
    delta, iceberg = table_matrix.headline(SITE)
    assert re.fullmatch(r"- \d+ Delta tables .* come from .* for \d+\.", delta)
    assert re.fullmatch(r"- \d+ Iceberg tables .* come from .* for \d+\.", iceberg)


def test_an_engine_of_two_versions_is_one_column_and_counted_once() -> None:
    newer = Engine("DuckDB", "2.0.1")
    answers = [{DUCK: TableAnswer("rows lost", 8, 2)}, {newer: TableAnswer("rows lost", 8, 1)}]
    trials = [Trial("DLT-027", "dlt/plain", "SELECT 1", 10, "pqassay", one) for one in answers]
    assert engines_of(trials) == [Engine("DuckDB", "2.0.0/2.0.1")]
    assert [one.answer_of("DuckDB") for one in trials] == [*answers[0].values(), *answers[1].values()]
    engines = [engine.name for engine in engines_of(SITE.trials)]
    assert len(engines) == len(set(engines))


def test_the_kind_of_a_table_says_whether_its_metadata_alone_show_what_is_wrong() -> None:
    kinds = {
        name: kind_of_table(SITE.tables[f"dlt/{name}"]) for name in ("plain", "maximum-lowered", "line-cut")
    }
    assert {"plain": "valid", "maximum-lowered": "lie", "line-cut": "invalid"} == kinds


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"op": "write", "line": 2, "to": "{"}, "**replace** line 2 of `a` by `{`"),
        ({"op": "insert", "line": 2, "to": "x" * 200}, f"**insert** `{'x' * 120}…` before line 2 of `a`"),
        ({"op": "drop"}, "**remove** the file `a`"),
        ({"op": "remove", "line": 1, "path": "add.size"}, "in line 1 of `a`, **remove** `add.size`"),
    ],
    ids=["write", "insert", "drop", "remove"],
)
def test_a_change_is_told_in_words(change: dict[str, Any], told: str) -> None:
    assert told == mutation_sentence({"mutation": {"file": "a", **change}})


@pytest.mark.slow
def test_a_golden_table_can_be_downloaded_as_a_whole_and_file_by_file(site: Path) -> None:
    for name in SITE.tables:
        folder = site / "cases" / "files" / name
        with zipfile.ZipFile(folder / f"{name.replace('/', '-')}.zip") as packed:
            held = {one.partition("/")[2]: packed.read(one) for one in packed.namelist()}
        described = json.loads(held["table.json"])
        assert {"table.json", *(in_folder(one["file"]) for one in described["files"])} == set(held)
        assert held == {one: (GOLDEN_FILES / name / one).read_bytes() for one in held}
        assert held == {one: (folder / one).read_bytes() for one in held}
        assert (site / "cases" / f"{name.replace('/', '-')}.html").exists()
