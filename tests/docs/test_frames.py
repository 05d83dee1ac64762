"""Generated pages: they are in the frame of their folder's index page, under paths of their own, and the search finds them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pages.frame import search_index
from pages.frame.chapters import numbered, with_rules
from pages.frame.console import painted
from pages.frame.frames import write_pages
from pages.page import Page, case_page, inline, relative, rule_page
from pages.rules.rule_tables import family_called, status_of_family

from pqassay_spec.rules import documents
from pqassay_spec.rules.catalogue import rules

INDEX = """<a href="#all-rules" class="md-skip">Skip</a><head><!-- frame:head --><link rel="next" href="x.html"><!-- /frame:head -->
<!-- frame:title --><title>Rules - kit</title><!-- /frame:title --></head>
<div data-md-component="header-topic"> <span class="md-ellipsis"> All rules </span></div>
<nav>Rules</nav><!-- frame:content --><h1>All rules</h1><!-- /frame:content --><footer>Licence</footer>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "index.html").write_text(INDEX)
    return tmp_path


def test_a_page_has_its_own_head_title_topic_and_content_and_all_else_of_the_frame(site: Path) -> None:
    page = Page("rules/a-1.html", "A-1: is 1 < 2?", 'It is "1".', "<h1>A-1</h1>")
    write_pages([page], site, "kit", "https://kit.example/")
    head = '<meta name="description" content="It is &quot;1&quot;.">'
    canonical = '<link rel="canonical" href="https://kit.example/rules/a-1.html">'
    assert (site / "rules" / "a-1.html").read_text() == (
        '<a href="#generated" class="md-skip">Skip</a>'
        f"<head>{head}{canonical}\n<title>A-1: is 1 &lt; 2? - kit</title></head>\n"
        '<div data-md-component="header-topic"> <span class="md-ellipsis">A-1: is 1 &lt; 2?</span></div>\n'
        '<nav>Rules</nav><div id="generated"><h1>A-1</h1></div><footer>Licence</footer>'
    )


def test_the_index_page_loses_its_marks_and_nothing_else(site: Path) -> None:
    write_pages([Page("rules/a-1.html", "A-1", "", "")], site, "kit", "")
    assert (site / "rules" / "index.html").read_text() == (
        '<a href="#all-rules" class="md-skip">Skip</a><head><link rel="next" href="x.html">'
        "<title>Rules - kit</title></head>\n"
        '<div data-md-component="header-topic"> <span class="md-ellipsis"> All rules </span></div>\n'
        "<nav>Rules</nav><h1>All rules</h1><footer>Licence</footer>"
    )


def test_two_pages_of_one_path_are_refused(site: Path) -> None:
    with pytest.raises(ValueError, match=r"two pages are called rules/a-1\.html"):
        write_pages([Page("rules/a-1.html", "A-1", "", "")] * 2, site, "kit", "")


@pytest.mark.parametrize(("folder", "reason"), [("other", "No such file"), ("rules", "no part title")])
def test_a_page_without_a_frame_is_refused(site: Path, folder: str, reason: str) -> None:
    (site / "rules" / "index.html").write_text(INDEX.replace("frame:title", "frame:name"))
    with pytest.raises(ValueError, match=reason):
        write_pages([Page(f"{folder}/a-1.html", "A-1", "", "")], site, "kit", "")


def test_the_search_finds_pages_by_title_summary_and_words(site: Path) -> None:
    (site / "search").mkdir()
    path = site / "search" / "search_index.json"
    long = "word " * 1000
    docs = [
        {"location": "index.html", "title": "Home", "text": "<p>1 &lt; 2</p><pre><code>listing</code></pre>"},
        {"location": "index.html#long", "title": "Long", "text": f"<table>{long}</table>"},
        {"location": "reference/a.html", "title": "a", "text": ""},
    ]
    path.write_text(json.dumps({"config": {}, "docs": docs}))
    field = {"location": "spec/pm.html#byte-29", "title": "Byte 29", "text": ""}
    search_index.write(site, [Page("rules/a-1.html", "A-1", "1 < 2", "<h1>A-1</h1>", "zeroed", 2)], [field])

    found = json.loads(path.read_text())["docs"]
    expected = {
        "location": "rules/a-1.html",
        "title": "A-1",
        "text": "<p>1 &lt; 2</p><p>zeroed</p>",
        "boost": 2,
    }
    assert [{**docs[0], "text": "<p>1 &lt; 2</p>"}, found[1], expected, field] == found
    assert len(found[1]["text"]) <= search_index.MOST + len("<p> …</p>")
    assert f"var __index = {path.read_text()}" == (site / "search" / "search_index.js").read_text()


def test_links_are_relative_to_the_page_that_they_are_on() -> None:
    assert relative(rule_page("STA-041"), case_page("blm/zeroed")) == "../rules/sta-041.html"
    assert relative("rules/a-1.html#bytes", "rules/a-1.html") == "#bytes"
    assert relative("data/rules.json", "index.html") == "data/rules.json"


def test_code_and_links_of_a_sentence_become_html() -> None:
    text = "at most `a < b` & **not** [`c`](d.html)"
    html = 'at most <code>a &lt; b</code> &amp; <strong>not</strong> <a href="d.html"><code>c</code></a>'
    assert inline(text) == html


def test_sections_of_a_chapter_are_numbered_and_keep_their_anchors() -> None:
    page = '<h1 id="t">T</h1><h2 id="a">A</h2><h3 id="b">B</h3><h3 id="c">C</h3><h4 id="x">X</h4><h2 id="d">D</h2><h3 id="e">E</h3>'
    assert numbered(page) == (
        '<h1 id="t">T</h1><h2 id="a">1 A</h2><h3 id="b">1.1 B</h3><h3 id="c">1.2 C</h3><h4 id="x">X</h4>'
        '<h2 id="d">2 D</h2><h3 id="e">2.1 E</h3>'
    )


def test_a_section_ends_with_the_rules_that_it_is_the_first_to_name() -> None:
    page = (
        '<h2 id="a">A</h2><p>STA-041 and PIX-070</p><h3 id="b">B</h3><p>STA-041, STA-042</p>'
        '<h2 id="r">R</h2><div class="rules">STA-043</div>'
    )
    told = with_rules(page, ["STA"])
    first, second = re.findall(r'<ul class="rules".*?</ul>', told)
    assert told == page.replace("</p><h3", f"</p>{first}\n<h3").replace("</p><h2", f"</p>{second}\n<h2")
    sentence = rules()["STA-041"].sentence
    assert [f'<a href="../rules/sta-041.html">STA-041</a> <b class="must">MUST</b> {sentence}'] == re.findall(
        r"<li[^>]*>(.*?)</li>", first
    )
    assert re.findall(r"[A-Z]+-\d+", second) == ["STA-042"]
    assert with_rules(page, []) == page


def test_the_status_of_a_chapter_names_version_documents_rules_errata_and_how_to_cite_it() -> None:
    document = documents.document("Iceberg table spec")
    revision = "" if document is None else document.revision
    assert " of 20" in revision
    (told,) = status_of_family(family_called("ICE"), lambda page, _: f"../{page}")
    for part in (
        "<dt>Version</dt><dd>0.",
        f">Iceberg table spec</a> {revision}, branch main",
        '<a href="../rules/index.html?family=ice">',
        'href="../errata.html"',
        'href="../changelog.html"',
        "(release 1.11.0 was built from this commit, and its build properties name commit, branch and date",
        "version 0.9.0",
        "“Iceberg table”, with the number",
    ):
        assert part in told, part
    assert "no document" in next(iter(status_of_family(family_called("DIR"), lambda page, _: page)))


def test_a_count_of_no_files_is_not_painted_as_a_failure() -> None:
    shown = painted('<span class="go">3 files: 2 conformant, 1 nonconformant, 0 errored</span>')
    assert ">nonconformant</b>" in shown or "nonconformant</span>" in shown
    assert "<" not in painted('<span class="go">, 0 nonconformant, </span>').removeprefix(
        '<span class="go">'
    ).removesuffix("</span>")
