"""Generated parts of the site for readers of files: their rules, the rules that a decision to skip rests on, and mistakes in documents.

    <!-- reader rules: PIX -->         the rules of one family for readers, each row an anchor, with the golden files that test it
    <!-- relied on: PIX-050,PIX-051 -->     these rules, with what breaking each of them could do
    <!-- errata: page-index -->        mistakes in a document of ``docs/data/errata.toml``, each with what shows it
    <!-- errata: pm -->                the table of the chapter on ``_pm``, with its links as seen from another page

A comment that looks like one of these and names nothing fails the build. See `site_hooks` for the other comments.
"""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mkdocs.exceptions import PluginError
from site_hooks import GOLDEN_FILES, obligation, rule_cell
from site_markdown import Link, case_link, rule_link, table

from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.rules import catalogue
from pqassay_spec.rules.reader_cases import cases_of

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent

ERRATA = ROOT / "docs" / "data" / "errata.toml"
"""Mistakes in documents."""

PM_CHAPTER = ROOT / "spec" / "chapters" / "pm.md"

CONTRADICTIONS = "## Where the document contradicts itself or real files"
"""The section of that chapter with the table."""

PLACEHOLDER = re.compile(r"^<!-- (?P<what>reader rules|relied on|errata): (?P<name>\S+) -->$", re.MULTILINE)

CASES_SHOWN = 8
"""Golden files that the table of rules for readers names beside each."""


class Mistake(NamedTuple):
    """A mistake in a document.

    Attributes:
        place: Where it stands.
        says: What the document says there.
        right: What is so instead.
        golden: Id of the golden case that shows it.
        test: The test that shows it, as pytest calls it.
    """

    place: str
    says: str
    right: str
    golden: str
    test: str


class Document(NamedTuple):
    """A document with mistakes: its title, where it can be read, and they."""

    title: str
    address: str
    mistakes: Sequence[Mistake]


def documents() -> dict[str, Document]:
    """The documents of ``errata.toml``, by the names that pages call them."""
    read = tomllib.loads(ERRATA.read_text(encoding="utf-8"))
    return {
        name: Document(one["title"], one["address"], [Mistake(**mistake) for mistake in one["mistake"]])
        for name, one in read.items()
    }


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Replace the placeholders of a page. MkDocs calls this."""
    here = page.file.src_uri

    def link(target: str, anchor: str) -> str:
        path = "" if target == here else posixpath.relpath(target, posixpath.dirname(here) or ".")
        return f"{path}#{anchor}"

    def replacement(found: re.Match[str]) -> str:
        try:
            return "\n".join(generated(found["what"], found["name"], link))
        except LookupError as error:
            raise PluginError(f"{here}: {found[0]}: {error}") from error

    return PLACEHOLDER.sub(replacement, markdown)


def generated(what: str, name: str, link: Link) -> Iterator[str]:
    """Yield the Markdown lines that stand for a placeholder."""
    if what == "reader rules":
        yield from reader_rules(name, link)
    elif what == "relied on":
        yield from relied_on(name.split(","), link)
    elif name == "pm":
        yield from contradictions(link)
    else:
        yield from errata(documents()[name], link)


def reader_rules(prefix: str, link: Link) -> Iterator[str]:
    """Yield one family's rules for readers. Raises `LookupError` if it has none."""
    mine = [rule for rule in catalogue.reader_rules().values() if rule.id.startswith(f"{prefix}-")]
    if not mine:
        raise LookupError(f"no rules for readers in {prefix}")
    rows = (
        (rule_cell(rule), obligation(rule), f"<small>could: {rule.could}</small>", _tested_by(rule.id, link))
        for rule in mine
    )
    yield from table(("Rule", "Obligation", "Could", "Tested by"), rows)


def _tested_by(rule_id: str, link: Link) -> str:
    families = _families_of_cases()
    found = cases_of(rule_id, families)
    shown = [case_link(case, families[case], link) for case in found[:CASES_SHOWN]]
    more = [f"and {len(found) - CASES_SHOWN:,} more"] if len(found) > CASES_SHOWN else []
    return "<br>".join(f"<small>{line}</small>" for line in (*shown, *more))


@cache
def _families_of_cases() -> Mapping[str, str]:
    """Every golden case by its id, with its family."""
    manifests = (json.loads(path.read_text("utf-8")) for path in sorted(GOLDEN_FILES.rglob(MANIFEST)))
    return {case["id"]: case["family"] for case in manifests}


def relied_on(ids: Sequence[str], link: Link) -> Iterator[str]:
    """Yield a table of rules that have to be kept for a decision to be right."""
    rows = (
        (rule_link(rule.id, link), rule.sentence, rule.could)
        for rule in (catalogue.rules()[rule_id] for rule_id in ids)
    )
    yield from table(("Relies on", "What has to be true", "If it is not, there could be"), rows)


def errata(document: Document, link: Link) -> Iterator[str]:
    """Yield the mistakes of a document, each with the golden file and the test that show it."""
    yield f"[{document.title}]({document.address})"
    rows = (
        (mistake.place, mistake.says, mistake.right, _shown_by(mistake, link))
        for mistake in document.mistakes
    )
    yield from table(("Place", "It says", "It is so", "Shown by"), rows)


def _shown_by(mistake: Mistake, link: Link) -> str:
    family, _, _ = mistake.golden.partition("/")
    page = link(f"golden_files/{family}.md", mistake.golden.replace("/", "-"))
    path, _, name = mistake.test.partition("::")
    return f"[`{mistake.golden}`]({page})<br><small>`{path}`: {name.removeprefix('test_').replace('_', ' ')}</small>"


def contradictions(link: Link) -> Iterator[str]:
    """Yield the table of the chapter on ``_pm``. Raises `LookupError` if the chapter has none."""
    _, found, rest = PM_CHAPTER.read_text(encoding="utf-8").partition(CONTRADICTIONS)
    rows = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    if not found or not rows:
        raise LookupError(f"{PM_CHAPTER.name} has no table in a section {CONTRADICTIONS[3:]}")
    yield from (
        "",
        *(re.sub(r"\]\(#([^)]+)\)", lambda to: f"]({link('spec/pm.md', to[1])})", row) for row in rows),
        "",
    )
