"""The HTML report: self-contained, proof against what it shows, and usable in a browser, with JavaScript and without."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser import Browser, Tab
from places import ROOT
from pqassay.report.formats import FormatName
from pqassay.report.model import Report, summarise
from pqassay.report.order import gravest_first, observed_effect
from pqassay.report.run.model import RunReport
from report_samples import WICKED, museum, rendered, run_report, wicked

VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """The elements of a page, checked to be nested properly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.marked: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "mark":
            self.marked.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data
        if self.open and self.open[-1] == "mark":
            self.marked[-1] += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.parametrize("report", [museum(), wicked(), run_report(WICKED)], ids=["museum", "wicked", "run"])
def test_nothing_is_loaded_or_run_but_the_pages_own(report: Report | RunReport) -> None:
    text = rendered(report, FormatName.HTML)
    page = Page(text)

    assert {"html", "body", "main"} <= {tag for tag, _ in page.elements}
    assert not {"img", "link", "iframe", "object", "b-else"} & {tag for tag, _ in page.elements}
    assert 1 == len(page.named("script"))
    assert 1 == len(page.named("style"))
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")} | ({"src", "style"} & names)
    policy = next(each["content"] or "" for each in page.named("meta") if "content" in each)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    hrefs = [each.get("href") or "" for each in page.named("a")]
    assert hrefs
    assert all(
        href.startswith(("#", "https://github.com/", "https://datafusion.apache.org/")) for href in hrefs
    )
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x85\u2028\u202e\ufffe\udc80-\udcff]", text)
    assert "alert(1)" in page.text or report is museum()


def test_links_within_the_page_lead_somewhere_and_ids_are_unique() -> None:
    page = Page(rendered(museum(), FormatName.HTML))
    ids = [each["id"] for _, each in page.elements if "id" in each]

    assert len(ids) == len(set(ids))
    targets = {
        (each["href"] or "")[1:] for each in page.named("a") if (each.get("href") or "").startswith("#")
    }
    assert targets <= set(ids)
    for _, each in page.elements:
        assert each.get("aria-labelledby") is None or each["aria-labelledby"] in ids


def test_the_marked_bytes_are_those_of_the_finding() -> None:
    report = museum()
    finding = next(
        each for file in report.files for each in file.findings if each.at[0].length > 1 and each.hexdump
    )
    files = [dataclasses.replace(report.files[1], path="one.parquet", findings=[finding])]
    page = Page(rendered(dataclasses.replace(report, files=files, summary=summarise(files)), FormatName.HTML))
    first = finding.at[0]
    data = (ROOT / finding.path).read_bytes()[first.offset : first.offset + first.length]

    hexadecimal = " ".join(text for text in page.marked if re.fullmatch(r"[0-9a-f]{2}( [0-9a-f]{2})*", text))
    assert data.hex(" ").startswith(hexadecimal)
    assert hexadecimal


def test_everything_is_there_without_javascript() -> None:
    report = museum()
    page = Page(rendered(report, FormatName.HTML))

    (form,) = page.named("form")
    assert "hidden" in form
    findings = [each for file in gravest_first(report.files) for each in file.findings]
    items = [each for each in page.named("details") if "item" in (each.get("class") or "").split()]
    assert [(f.verdict, f.could, observed_effect(f), "yes" if f.known else "no") for f in findings] == [
        (each["data-verdict"], each["data-could"], each["data-observed"], each["data-known"])
        for each in items
    ]
    for finding in findings:
        assert finding.message in page.text


# ------------------------------------------------------------------------------------------------ a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


def shown(tab: Tab) -> str:
    return str(tab.evaluate("document.getElementById('shown').textContent"))


def filtered(tab: Tab, name: str, value: str, count: str) -> None:
    """Reset the filters, set one, and wait until the page says what is shown."""
    tab.evaluate(
        f"""(() => {{
          const form = document.getElementById("filters"), field = form.elements[{json.dumps(name)}];
          form.reset();
          field.value = {json.dumps(value)};
          field.dispatchEvent(new Event("input", {{bubbles: true}}));
        }})()"""
    )
    tab.wait(f"document.getElementById('shown').textContent === {json.dumps(count)}")


def test_a_browser_shows_it_without_complaint_and_filters(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(rendered(museum(), FormatName.HTML), "utf-8")
    count = sum(len(file.findings) for file in museum().files)
    with browser.open(page.as_uri()) as tab:
        assert f"{count} of {count} shown" == shown(tab)
        filtered(tab, "known", "yes", f"1 of {count} shown")
        filtered(tab, "text", "no such thing", f"0 of {count} shown")
        assert 0 == tab.evaluate("document.querySelectorAll('.group:not([hidden])').length")
        tab.evaluate("document.getElementById('filters').reset()")
        tab.wait(f"document.getElementById('shown').textContent === '{count} of {count} shown'")
        tab.evaluate("location.hash = '#rule-BLM-004'")
        tab.wait("document.getElementById('rule-BLM-004').closest('details').open")
        assert [] == tab.complaints


def test_a_browser_runs_nothing_that_comes_out_of_files(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "wicked.html"
    page.write_text(rendered(wicked(), FormatName.HTML), "utf-8")
    with browser.open(page.as_uri()) as tab:
        assert f"{len(WICKED)} of {len(WICKED)} shown" == shown(tab)
        assert [] == tab.complaints
